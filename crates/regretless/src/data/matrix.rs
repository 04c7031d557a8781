//! A row-major matrix in single precision: owned, memory-mapped, or shared with another owner.
//!
//! Values given in double precision can be kept next to the rounded ones: training reads rows of
//! `f32` ([`Matrix::row`]), solving and evaluation read rows of `f64` ([`Matrix::read`]), exact if
//! they are known.

use std::sync::Arc;

use super::mapped::MappedArray;
use crate::decision::Decision;
use crate::error::{Error, Result};

/// A row-major matrix of `f32`.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    values: MatrixStorage,
    /// The values before they were rounded, if they are known.
    doubles: Option<DoublePrecisionValues>,
}

/// Values in double precision. They are negated on reading, not in place.
#[derive(Debug, Clone)]
struct DoublePrecisionValues {
    values: Arc<dyn SharedArray<f64>>,
    negated: bool,
}

/// Where the values are stored.
#[derive(Debug, Clone)]
enum MatrixStorage {
    Owned(Vec<f32>),
    Mapped(Arc<MappedArray>),
    Shared(Arc<dyn SharedArray>),
}

/// Values with another owner, such as an array of another language.
pub trait SharedArray<T = f32>: Send + Sync + std::fmt::Debug {
    /// All values, row by row; they never change.
    fn values(&self) -> &[T];

    /// Checks that values in a memory-mapped file have not changed.
    ///
    /// # Errors
    /// When another program wrote to the file or truncated it.
    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }
}

impl SharedArray<f64> for Vec<f64> {
    fn values(&self) -> &[f64] {
        self
    }
}

impl DoublePrecisionValues {
    fn row(&self, row: usize, cols: usize) -> &[f64] {
        &self.values.values()[row * cols..][..cols]
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
    /// A matrix from its values, row by row.
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

    /// A matrix whose values stay in a memory-mapped file.
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

    /// A matrix of shared values; they are copied only before a change.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn shared(rows: usize, cols: usize, values: Arc<dyn SharedArray>) -> Result<Self> {
        check_size(rows, cols, values.values().len())?;
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

    /// A matrix of values in double precision, rounded.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn from_f64(rows: usize, cols: usize, values: &[f64]) -> Result<Self> {
        Self::new(rows, cols, values.iter().map(|v| *v as f32).collect())
    }

    /// The same with the values before they were rounded.
    ///
    /// # Errors
    /// When their number differs.
    pub fn with_f64_values(mut self, values: Arc<dyn SharedArray<f64>>) -> Result<Self> {
        check_size(self.rows, self.cols, values.values().len())?;
        self.doubles = Some(DoublePrecisionValues {
            values,
            negated: false,
        });
        Ok(self)
    }

    /// Whether the values before rounding are known.
    pub fn has_f64_values(&self) -> bool {
        self.doubles.is_some()
    }

    /// The same with the rounded values only.
    #[must_use]
    pub fn into_single_precision(mut self) -> Self {
        self.doubles = None;
        self
    }

    /// Overwrites `out` with a row in double precision: the values before rounding, or else the
    /// rounded ones.
    pub fn read(&self, row: usize, out: &mut Vec<f64>) {
        out.clear();
        match &self.doubles {
            None => out.extend(self.row(row).iter().map(|value| f64::from(*value))),
            Some(doubles) => {
                let (sign, values) = (doubles.sign(), doubles.row(row, self.cols));
                out.extend(values.iter().map(|value| sign * value));
            }
        }
    }

    /// The objective of a decision under the costs of a row, in double precision.
    pub fn objective_of(&self, decision: &Decision, row: usize) -> f64 {
        match &self.doubles {
            None => decision.dot(self.row(row)),
            Some(doubles) => {
                let (sign, costs) = (doubles.sign(), doubles.row(row, self.cols));
                decision.dot_by(|j| sign * costs[j])
            }
        }
    }

    /// The first row whose values differ by so little compared to their size that single precision
    /// distinguishes fewer than a hundred levels.
    pub fn first_coarse_row(&self) -> Option<usize> {
        (0..self.rows()).find(|row| {
            let (mut min, mut max, mut size) = (f32::INFINITY, f32::NEG_INFINITY, 0.0_f32);
            for value in self.row(*row) {
                (min, max, size) = (min.min(*value), max.max(*value), size.max(value.abs()));
            }
            // Equal small values are intended; equal large ones have probably lost their digits.
            let suspicious = max > min || size >= Self::MIN_SUSPICIOUS_VALUE;
            self.cols() > 1 && suspicious && max - min < Self::MIN_LEVELS * f32::EPSILON * size
        })
    }

    /// Levels between the smallest and the largest cost of a row below which rounding changes
    /// decisions. Untuned: the order of magnitude matters only.
    const MIN_LEVELS: f32 = 100.0;
    /// Integers above about 2²⁴ lose digits in single precision.
    const MIN_SUSPICIOUS_VALUE: f32 = 1.6e7;

    /// Row, column and value of the first value that is not finite, before rounding if known.
    pub fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        let found = match &self.doubles {
            None => {
                let values = self.as_slice();
                first_not_finite(values).map(|i| (i, f64::from(values[i])))
            }
            Some(doubles) => {
                let values = doubles.values.values();
                first_not_finite(values).map(|i| (i, doubles.sign() * values[i]))
            }
        };
        found.map(|(i, value)| (i / self.cols, i % self.cols, value))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Whether the values are memory-mapped.
    pub fn is_mapped(&self) -> bool {
        matches!(self.values, MatrixStorage::Mapped(_))
    }

    /// Checks that the file of memory-mapped values has not changed.
    ///
    /// # Errors
    /// When another program wrote to it or truncated it.
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

    /// One row, mutable; mapped or shared values are copied into memory first, values before
    /// rounding are dropped.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let cols = self.cols;
        &mut self.as_mut_slice()[row * cols..][..cols]
    }

    /// The listed rows, in the order of the list.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.cols);
        for row in rows {
            values.extend_from_slice(self.row(*row));
        }
        let doubles = self.doubles.as_ref().map(|doubles| {
            let mut selected = Vec::with_capacity(values.len());
            for row in rows {
                selected.extend_from_slice(doubles.row(*row, self.cols));
            }
            DoublePrecisionValues {
                values: Arc::new(selected),
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

    /// All values, row by row.
    pub fn as_slice(&self) -> &[f32] {
        match &self.values {
            MatrixStorage::Owned(values) => values,
            MatrixStorage::Mapped(values) => values.as_slice(),
            MatrixStorage::Shared(values) => values.values(),
        }
    }

    /// All values, mutable; mapped or shared values are copied into memory first, values before
    /// rounding are dropped.
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

    /// Negates all values: in memory, or in a temporary file if they are memory-mapped.
    ///
    /// # Errors
    /// When that file cannot be written.
    pub fn negate(&mut self) -> Result<()> {
        if let Some(doubles) = &mut self.doubles {
            doubles.negated = !doubles.negated;
        }
        match &mut self.values {
            MatrixStorage::Owned(values) => {
                for value in values {
                    *value = -*value;
                }
            }
            MatrixStorage::Mapped(values) => *values = Arc::new(values.negated()?),
            MatrixStorage::Shared(values) => {
                let negated = values.values().iter().map(|value| -value).collect();
                self.values = MatrixStorage::Owned(negated);
            }
        }
        Ok(())
    }

    /// Reorders the columns: the new column j is the old column `order[j]`. In memory, or in a
    /// temporary file if the values are memory-mapped.
    ///
    /// # Errors
    /// When the order has another number of columns, or that file cannot be written.
    pub fn reorder_columns(&mut self, order: &[usize]) -> Result<()> {
        let cols = self.cols;
        if order.len() != cols || order.iter().any(|old| *old >= cols) {
            return Err(Error::data(format!(
                "an order of {} columns does not fit {cols} columns",
                order.len()
            )));
        }
        if let Some(doubles) = &mut self.doubles {
            let values = with_columns_reordered(doubles.values.values(), order);
            doubles.values = Arc::new(values);
        }
        match &mut self.values {
            MatrixStorage::Mapped(values) => {
                *values = Arc::new(values.with_columns_reordered(order)?);
            }
            MatrixStorage::Shared(values) => {
                self.values = MatrixStorage::Owned(with_columns_reordered(values.values(), order));
            }
            MatrixStorage::Owned(values) => {
                // Row by row, so there is no second copy of a large table.
                let mut before = vec![0.0; cols];
                for row in values.chunks_exact_mut(cols.max(1)) {
                    before.copy_from_slice(row);
                    for (old, new) in order.iter().zip(row) {
                        *new = before[*old];
                    }
                }
            }
        }
        Ok(())
    }

    /// The values, row by row.
    pub fn into_vec(self) -> Vec<f32> {
        match self.values {
            MatrixStorage::Owned(values) => values,
            MatrixStorage::Mapped(values) => values.as_slice().to_vec(),
            MatrixStorage::Shared(values) => values.values().to_vec(),
        }
    }
}

/// Rows of values with their columns reordered.
fn with_columns_reordered<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(values.len());
    for row in values.chunks_exact(order.len().max(1)) {
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

/// Euclidean norm of a row, in eight partial sums, so no addition waits for the one before.
pub(crate) fn norm(row: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let chunks = row.chunks_exact(8);
    let rest: f64 = chunks
        .remainder()
        .iter()
        .map(|value| f64::from(*value).powi(2))
        .sum();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(*value).powi(2);
        }
    }
    (sums.iter().sum::<f64>() + rest).sqrt()
}

/// The index of the first value that is not finite. The common case, all are, is checked without a
/// branch per value.
pub(crate) fn first_not_finite<T: Copy + Into<f64>>(values: &[T]) -> Option<usize> {
    let not_finite = |value: &T| !(*value).into().is_finite();
    let any = values
        .iter()
        .fold(false, |any, value| any | not_finite(value));
    if any {
        values.iter().position(not_finite)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
