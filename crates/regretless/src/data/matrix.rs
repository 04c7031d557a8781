//! A rectangle of single-precision numbers, row after row.

use crate::error::{Error, Result};

/// Rows and columns of `f32`, stored row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// A matrix from its rows, one after the other.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn new(rows: usize, cols: usize, values: Vec<f32>) -> Result<Self> {
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::data(format!("{} values do not make {rows} rows of {cols}", values.len())));
        }
        Ok(Self { rows, cols, values })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![0.0; rows * cols] }
    }

    /// A matrix from double precision, rounded.
    ///
    /// # Errors
    /// When the number of values is not rows × columns.
    pub fn from_f64(rows: usize, cols: usize, values: &[f64]) -> Result<Self> {
        Self::new(rows, cols, values.iter().map(|v| *v as f32).collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.cols..][..self.cols]
    }

    /// One row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.cols..][..self.cols]
    }

    /// The listed rows, in the order of the list.
    #[must_use]
    pub fn chosen(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.cols);
        rows.iter().for_each(|row| values.extend_from_slice(self.row(*row)));
        Self { rows: rows.len(), cols: self.cols, values }
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f32] {
        &self.values
    }

    /// All values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// All values, given away.
    pub fn into_vec(self) -> Vec<f32> {
        self.values
    }
}

/// The first number that is not finite. The common case, all are, is found without a branch per number.
pub(crate) fn first_not_finite<T: Copy + Into<f64>>(values: &[T]) -> Option<usize> {
    let bad = |value: &T| !(*value).into().is_finite();
    if values.iter().fold(false, |any, value| any | bad(value)) { values.iter().position(bad) } else { None }
}
