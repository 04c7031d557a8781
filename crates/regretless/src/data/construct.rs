//! Tables from a CSV file or from rows of numbers, in one call.

use std::path::Path;
use std::sync::Arc;

use super::{CsvDialect, Dataset, FeatureShape, Features, Layout, Matrix, WideColumns, csv};
use crate::error::{Error, Result};

impl Dataset {
    /// A CSV table with one row per instance. `costs` names the cost columns, in patterns such as
    /// `c*` separated by commas; every other column that holds numbers is a feature.
    ///
    /// # Errors
    /// When the file cannot be read or a cell is no number; names file, row and column.
    pub fn from_csv(path: impl AsRef<Path>, costs: &str) -> Result<Self> {
        let costs = costs
            .split(',')
            .map(|pattern| pattern.trim().to_owned())
            .collect();
        let columns = WideColumns {
            costs,
            ..WideColumns::default()
        };
        csv::read(path.as_ref(), &Layout::Wide(columns), CsvDialect::default())
    }

    /// Rows of features and rows of costs, one of each per instance. The digits of double
    /// precision of the costs are kept for objectives and regrets.
    ///
    /// ```
    /// use regretless::Dataset;
    ///
    /// let features = [[0.1, 1.0], [0.7, 2.0], [0.4, 0.5]];
    /// let costs = [[3.0, 5.0, 4.0], [2.5, 6.0, 4.5], [3.5, 4.0, 4.0]];
    /// let data = Dataset::from_arrays(&features, &costs)?;
    /// assert_eq!((data.len(), data.cost_names().len()), (3, 3));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When rows have different lengths, there are no rows, or a number is not finite.
    pub fn from_arrays<F: AsRef<[f64]>, C: AsRef<[f64]>>(
        features: &[F],
        costs: &[C],
    ) -> Result<Self> {
        let features = Features::new(matrix(features, "features")?, FeatureShape::Wide, None)?;
        Self::new(features, matrix(costs, "costs")?, None)
    }
}

#[cfg(test)]
impl Dataset {
    /// As [`Dataset::from_arrays`]; a cost that is NaN does not exist.
    pub(crate) fn from_arrays_with_missing_costs<F: AsRef<[f64]>, C: AsRef<[f64]>>(
        features: &[F],
        costs: &[C],
    ) -> Result<Self> {
        let features = Features::new(matrix(features, "features")?, FeatureShape::Wide, None)?;
        Self::from_finite_parts(features, matrix(costs, "costs")?, None)
    }
}

/// Rows of equal length as a matrix that keeps double precision.
fn matrix<R: AsRef<[f64]>>(rows: &[R], what: &str) -> Result<Matrix> {
    let cols = rows.first().map_or(0, |row| row.as_ref().len());
    let mut values = Vec::with_capacity(rows.len() * cols);
    for (number, row) in rows.iter().enumerate() {
        let row = row.as_ref();
        if row.len() != cols {
            return Err(Error::data(format!(
                "row {number} has {} {what}, the first row has {cols}",
                row.len()
            )));
        }
        values.extend_from_slice(row);
    }
    Matrix::from_f64(rows.len(), cols, &values)?.with_f64_values(Arc::new(values))
}
