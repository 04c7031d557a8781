//! A rectangle of single-precision numbers, row after row, in memory, in a file, or owned by
//! somebody else.
//!
//! Numbers that were given in double precision can be kept beside the rounded ones: what trains
//! reads rows of `f32` ([`Matrix::row`]), what solves and judges reads rows of `f64`
//! ([`Matrix::read`]), exact where they are known.

use std::sync::Arc;

use super::mapped::MappedArray;
use crate::decision::Decision;
use crate::error::{Error, Result};

/// Rows and columns of `f32`, stored row after row.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    values: MatrixStorage,
    /// The same numbers before they were rounded, if they are known.
    doubles: Option<DoublePrecisionValues>,
}

/// Numbers in double precision; negated ones stay where they are.
#[derive(Debug, Clone)]
struct DoublePrecisionValues {
    numbers: Arc<dyn SharedArray<f64>>,
    negated: bool,
}

/// Where the numbers are.
#[derive(Debug, Clone)]
enum MatrixStorage {
    Owned(Vec<f32>),
    Mapped(Arc<MappedArray>),
    Shared(Arc<dyn SharedArray>),
}

/// Numbers that somebody else owns, such as an array of another language.
pub trait SharedArray<T = f32>: Send + Sync + std::fmt::Debug {
    /// All of them, row after row; always the same.
    fn numbers(&self) -> &[T];
}

impl SharedArray<f64> for Vec<f64> {
    fn numbers(&self) -> &[f64] {
        self
    }
}

impl DoublePrecisionValues {
    fn row(&self, row: usize, cols: usize) -> &[f64] {
        &self.numbers.numbers()[row * cols..][..cols]
    }

    fn sign(&self) -> f64 {
        if self.negated { -1.0 } else { 1.0 }
    }
}

impl Default for MatrixStorage {
    fn default() -> Self {
        Self::Owned(Vec::new())
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, self.cols) == (other.rows, other.cols) && self.as_slice() == other.as_slice()
    }
}

impl Matrix {
    /// A matrix from its rows, one after the other.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn new(rows: usize, cols: usize, values: Vec<f32>) -> Result<Self> {
        check_size(rows, cols, values.len())?;
        Ok(Self {
            rows,
            cols,
            values: MatrixStorage::Owned(values),
            doubles: None,
        })
    }

    /// A matrix whose numbers stay in their file.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn mapped(rows: usize, cols: usize, values: MappedArray) -> Result<Self> {
        check_size(rows, cols, values.as_slice().len())?;
        Ok(Self {
            rows,
            cols,
            values: MatrixStorage::Mapped(Arc::new(values)),
            doubles: None,
        })
    }

    /// A matrix of numbers that somebody else owns; they are copied only if they are to be changed.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn shared(rows: usize, cols: usize, values: Arc<dyn SharedArray>) -> Result<Self> {
        check_size(rows, cols, values.numbers().len())?;
        Ok(Self {
            rows,
            cols,
            values: MatrixStorage::Shared(values),
            doubles: None,
        })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            values: MatrixStorage::Owned(vec![0.0; rows * cols]),
            doubles: None,
        }
    }

    /// A matrix from double precision, rounded.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn from_f64(rows: usize, cols: usize, values: &[f64]) -> Result<Self> {
        Self::new(rows, cols, values.iter().map(|v| *v as f32).collect())
    }

    /// The same with what the numbers were before they were rounded.
    ///
    /// # Errors
    /// When there are not as many of them.
    pub fn with_f64_values(mut self, numbers: Arc<dyn SharedArray<f64>>) -> Result<Self> {
        check_size(self.rows, self.cols, numbers.numbers().len())?;
        self.doubles = Some(DoublePrecisionValues {
            numbers,
            negated: false,
        });
        Ok(self)
    }

    /// Whether it is known what the numbers were before they were rounded.
    pub fn has_f64_values(&self) -> bool {
        self.doubles.is_some()
    }

    /// The same, rounded numbers alone.
    #[must_use]
    pub fn into_single_precision(mut self) -> Self {
        self.doubles = None;
        self
    }

    /// Writes a row over `out` in double precision: as it was given, else widened.
    pub fn read(&self, row: usize, out: &mut Vec<f64>) {
        out.clear();
        match &self.doubles {
            None => out.extend(self.row(row).iter().map(|number| f64::from(*number))),
            Some(doubles) => {
                let sign = doubles.sign();
                out.extend(
                    doubles
                        .row(row, self.cols)
                        .iter()
                        .map(|number| sign * number),
                );
            }
        }
    }

    /// What a decision costs under a row, in double precision.
    pub fn objective_of(&self, decision: &Decision, row: usize) -> f64 {
        match &self.doubles {
            None => decision.dot(self.row(row)),
            Some(doubles) => {
                let (sign, costs) = (doubles.sign(), doubles.row(row, self.cols));
                decision.dot_by(|place| sign * costs[place])
            }
        }
    }

    /// The first row whose numbers differ by so little beside their size that single precision
    /// tells fewer than a hundred of them apart.
    pub fn first_coarse_row(&self) -> Option<usize> {
        (0..self.rows()).find(|row| {
            let (mut min, mut max, mut size) = (f32::INFINITY, f32::NEG_INFINITY, 0.0_f32);
            for value in self.row(*row) {
                (min, max, size) = (min.min(*value), max.max(*value), size.max(value.abs()));
            }
            // Rows of equal small numbers are meant so; equal large ones have probably lost their
            // digits.
            let suspicious = max > min || size >= Self::LARGE;
            self.cols() > 1 && suspicious && max - min < Self::MIN_LEVELS * f32::EPSILON * size
        })
    }

    /// With fewer steps between the least and the greatest cost of a row, rounding changes
    /// decisions.
    const MIN_LEVELS: f32 = 100.0;
    /// Whole numbers beyond this size begin to lose digits in single precision.
    const LARGE: f32 = 1.6e7;

    /// The first number that is not finite, as it was given: row, column, number.
    pub fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        let found = match &self.doubles {
            None => {
                first_not_finite(self.as_slice()).map(|at| (at, f64::from(self.as_slice()[at])))
            }
            Some(doubles) => {
                let numbers = doubles.numbers.numbers();
                first_not_finite(numbers).map(|at| (at, doubles.sign() * numbers[at]))
            }
        };
        found.map(|(at, number)| (at / self.cols, at % self.cols, number))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Whether the numbers are in a file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.values, MatrixStorage::Mapped(_))
    }

    /// Asks whether the file, if the numbers are in one, is still what it was.
    ///
    /// # Errors
    /// When somebody wrote to it or cut it off.
    pub fn check_unchanged(&self) -> Result<()> {
        match &self.values {
            MatrixStorage::Owned(_) | MatrixStorage::Shared(_) => Ok(()),
            MatrixStorage::Mapped(values) => values.check_unchanged(),
        }
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.as_slice()[row * self.cols..][..self.cols]
    }

    /// One row, to be changed; numbers in a file are taken into memory first, unrounded ones are
    /// forgotten.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let cols = self.cols;
        &mut self.as_mut_slice()[row * cols..][..cols]
    }

    /// The listed rows, in the order of the list.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.cols);
        rows.iter()
            .for_each(|row| values.extend_from_slice(self.row(*row)));
        let doubles = self.doubles.as_ref().map(|doubles| {
            let mut numbers = Vec::with_capacity(values.len());
            rows.iter()
                .for_each(|row| numbers.extend_from_slice(doubles.row(*row, self.cols)));
            DoublePrecisionValues {
                numbers: Arc::new(numbers),
                negated: doubles.negated,
            }
        });
        Self {
            rows: rows.len(),
            cols: self.cols,
            values: MatrixStorage::Owned(values),
            doubles,
        }
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f32] {
        match &self.values {
            MatrixStorage::Owned(values) => values,
            MatrixStorage::Mapped(values) => values.as_slice(),
            MatrixStorage::Shared(values) => values.numbers(),
        }
    }

    /// All values, to be changed; numbers in a file or of somebody else are copied first, unrounded
    /// ones are forgotten.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        self.doubles = None;
        if !matches!(self.values, MatrixStorage::Owned(_)) {
            self.values = MatrixStorage::Owned(self.as_slice().to_vec());
        }
        match &mut self.values {
            MatrixStorage::Owned(values) => values,
            MatrixStorage::Mapped(_) | MatrixStorage::Shared(_) => &mut [],
        }
    }

    /// Changes the sign of all values: in memory, or in a temporary file where they are in a file.
    ///
    /// # Errors
    /// When there is no room for that file.
    pub fn negate(&mut self) -> Result<()> {
        if let Some(doubles) = &mut self.doubles {
            doubles.negated = !doubles.negated;
        }
        match &mut self.values {
            MatrixStorage::Owned(values) => values.iter_mut().for_each(|value| *value = -*value),
            MatrixStorage::Mapped(values) => *values = Arc::new(values.negated()?),
            MatrixStorage::Shared(values) => {
                self.values =
                    MatrixStorage::Owned(values.numbers().iter().map(|value| -value).collect());
            }
        }
        Ok(())
    }

    /// Puts the columns in another order: the new column j is the old column `order[j]`. In memory,
    /// or in a temporary file where the values are in a file.
    ///
    /// # Errors
    /// When the order does not have as many columns, or there is no room for that file.
    pub fn reorder_columns(&mut self, order: &[usize]) -> Result<()> {
        let cols = self.cols;
        if order.len() != cols || order.iter().any(|old| *old >= cols) {
            return Err(Error::data(format!(
                "an order of {} columns does not fit {cols} columns",
                order.len()
            )));
        }
        if let Some(doubles) = &mut self.doubles {
            let numbers = with_columns_reordered(doubles.numbers.numbers(), order);
            doubles.numbers = Arc::new(numbers);
        }
        match &mut self.values {
            MatrixStorage::Mapped(values) => {
                *values = Arc::new(values.with_columns_reordered(order)?)
            }
            MatrixStorage::Shared(values) => {
                self.values = MatrixStorage::Owned(with_columns_reordered(values.numbers(), order))
            }
            MatrixStorage::Owned(values) => {
                // Row by row, so that there is no second copy of a large table.
                let mut before = vec![0.0; cols];
                for row in values.chunks_exact_mut(cols.max(1)) {
                    before.copy_from_slice(row);
                    order
                        .iter()
                        .zip(row)
                        .for_each(|(old, new)| *new = before[*old]);
                }
            }
        }
        Ok(())
    }

    /// All values, given away.
    pub fn into_vec(self) -> Vec<f32> {
        match self.values {
            MatrixStorage::Owned(values) => values,
            MatrixStorage::Mapped(values) => values.as_slice().to_vec(),
            MatrixStorage::Shared(values) => values.numbers().to_vec(),
        }
    }
}

/// Rows of numbers with their columns in another order.
fn with_columns_reordered<T: Copy>(numbers: &[T], order: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(numbers.len());
    for row in numbers.chunks_exact(order.len().max(1)) {
        out.extend(order.iter().map(|old| row[*old]));
    }
    out
}

fn check_size(rows: usize, cols: usize, count: usize) -> Result<()> {
    if rows.checked_mul(cols) == Some(count) {
        return Ok(());
    }
    Err(Error::data(format!(
        "{count} values do not make {rows} rows of {cols}"
    )))
}

/// Euclidean length of a row, summed in eight lanes so that no sum waits for the one before.
pub(crate) fn norm(row: &[f32]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = row.chunks_exact(8);
    let rest: f64 = chunks
        .remainder()
        .iter()
        .map(|value| f64::from(*value).powi(2))
        .sum();
    for chunk in chunks {
        lanes
            .iter_mut()
            .zip(chunk)
            .for_each(|(lane, value)| *lane += f64::from(*value).powi(2));
    }
    (lanes.iter().sum::<f64>() + rest).sqrt()
}

/// The first number that is not finite. The common case, all are, is found without a branch per
/// number.
pub(crate) fn first_not_finite<T: Copy + Into<f64>>(values: &[T]) -> Option<usize> {
    let bad = |value: &T| !(*value).into().is_finite();
    if values.iter().fold(false, |any, value| any | bad(value)) {
        values.iter().position(bad)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::{MappedArray, Matrix, SharedArray};
    use crate::decision::Decision;

    #[derive(Debug)]
    struct Theirs(Vec<f32>);

    impl SharedArray for Theirs {
        fn numbers(&self) -> &[f32] {
            &self.0
        }
    }

    #[test]
    fn unrounded_numbers_are_read_until_the_matrix_changes() {
        let given = vec![0.1, 0.7, -3.0, 1e-3];
        let mut matrix = Matrix::from_f64(2, 2, &given)
            .unwrap()
            .with_f64_values(Arc::new(given.clone()))
            .unwrap();
        let row = |matrix: &Matrix, row: usize| {
            let mut out = vec![9.0];
            matrix.read(row, &mut out);
            out
        };
        let first = Decision::from_indices([0]);
        assert_eq!(
            (row(&matrix, 0), matrix.objective_of(&first, 0)),
            (vec![0.1, 0.7], 0.1)
        );
        assert_eq!(row(&matrix.select_rows(&[1, 0]), 0), [-3.0, 1e-3]);
        matrix.negate().unwrap();
        assert_eq!(
            (row(&matrix, 1), matrix.objective_of(&first, 0)),
            (vec![3.0, -1e-3], -0.1)
        );
        assert_eq!(
            row(&matrix.clone().into_single_precision(), 0),
            [f64::from(-0.1_f32), f64::from(-0.7_f32)]
        );
        matrix.row_mut(0)[1] = 2.0;
        assert_eq!(row(&matrix, 0), [f64::from(-0.1_f32), 2.0]);
        let bad = Matrix::zeros(1, 2)
            .with_f64_values(Arc::new(vec![1.0, f64::INFINITY]))
            .unwrap();
        assert_eq!(bad.first_not_finite(), Some((0, 1, f64::INFINITY)));
        assert!(
            Matrix::zeros(2, 2)
                .with_f64_values(Arc::new(vec![1.0]))
                .is_err()
        );
    }

    #[test]
    fn numbers_of_somebody_else_are_copied_only_when_they_change() {
        let theirs = Arc::new(Theirs(vec![1.0, 2.0, 3.0, 4.0]));
        let mut matrix = Matrix::shared(2, 2, theirs.clone()).unwrap();
        assert_eq!(matrix.as_slice().as_ptr(), theirs.0.as_ptr());
        matrix.row_mut(1)[0] = 9.0;
        assert_eq!(
            (matrix.as_slice(), &theirs.0[..]),
            (&[1.0, 2.0, 9.0, 4.0][..], &[1.0, 2.0, 3.0, 4.0][..])
        );
        let mut negated = Matrix::shared(2, 2, theirs.clone()).unwrap();
        negated.negate().unwrap();
        assert_eq!(
            (negated.as_slice(), theirs.0[0]),
            (&[-1.0, -2.0, -3.0, -4.0][..], 1.0)
        );
        assert!(Matrix::shared(3, 2, theirs).is_err());
    }

    #[test]
    fn columns_change_their_order_wherever_the_numbers_are() {
        let numbers = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut file = tempfile::NamedTempFile::new().unwrap();
        numbers
            .iter()
            .for_each(|number| file.write_all(&number.to_le_bytes()).unwrap());
        let mapped = MappedArray::open(file.reopen().unwrap(), file.path(), 0, 6)
            .unwrap()
            .unwrap();
        let theirs = Arc::new(Theirs(numbers.to_vec()));
        let kinds = [
            Matrix::new(2, 3, numbers.to_vec()).unwrap(),
            Matrix::shared(2, 3, theirs).unwrap(),
            Matrix::mapped(2, 3, mapped).unwrap(),
        ];
        for mut matrix in kinds {
            let was_mapped = matrix.is_mapped();
            matrix.reorder_columns(&[2, 0, 1]).unwrap();
            assert_eq!(matrix.as_slice(), [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
            assert_eq!(matrix.is_mapped(), was_mapped);
            assert!(
                matrix.reorder_columns(&[0, 1]).is_err()
                    && matrix.reorder_columns(&[0, 1, 3]).is_err()
            );
        }
        let exact: Vec<f64> = numbers
            .iter()
            .map(|number| f64::from(*number) + 1e-12)
            .collect();
        let mut precise = Matrix::new(2, 3, numbers.to_vec())
            .unwrap()
            .with_f64_values(Arc::new(exact))
            .unwrap();
        precise.negate().unwrap();
        precise.reorder_columns(&[2, 0, 1]).unwrap();
        let mut row = Vec::new();
        precise.read(1, &mut row);
        assert_eq!(
            row,
            [-(6.0 + 1e-12), -(4.0 + 1e-12), -(5.0 + 1e-12)],
            "unrounded numbers move too"
        );
        assert_eq!(
            std::fs::read(file.path()).unwrap()[..4],
            1.0_f32.to_le_bytes(),
            "the user's file stays as it was"
        );
    }
}
