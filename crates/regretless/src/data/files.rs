//! Tables and predictions read from and written to files, as methods of their types.
//!
//! The formats are in `csv/` and `npy/`.

use std::path::Path;

use super::csv;
use super::npy::{self, Storage};
use super::{
    CostNames, CsvDialect, Dataset, Features, Layout, Matrix, SyntheticGenerator, TableSource,
};
use crate::error::Result;
use crate::observer::Observer;

impl Features {
    /// Reads the features that a model expects from a CSV file, in the order of `wanted`, and
    /// ignores all other columns except those that name instances and items.
    ///
    /// # Errors
    /// When a column is missing, a cell is not a finite number, or an instance is incomplete.
    pub fn read_csv(
        path: &Path,
        layout: &Layout,
        wanted: &[String],
        dialect: CsvDialect,
    ) -> Result<Self> {
        csv::read_features(path, layout, wanted, dialect)
    }

    /// Reads features from an NPY file that has as many columns as `names`.
    ///
    /// # Errors
    /// When the file is not an array of finite numbers, is shorter than its header says, or has
    /// another number of columns.
    pub fn read_npy(path: &Path, names: &[String]) -> Result<Self> {
        npy::read_features(path, Some(names))
    }
}

impl Dataset {
    /// Reads costs alone from an NPY file; the table has one feature, which is always 0.
    ///
    /// # Errors
    /// When the file is not an array of finite numbers with 2 dimensions, or is shorter than its
    /// header says.
    pub fn read_costs_npy(path: &Path) -> Result<Self> {
        npy::read_costs(path, Storage::BySize)
    }

    /// Writes a CSV file: a wide table with its features and then its costs, a long one with the
    /// columns `instance` (counted from 0), `item`, the features and `cost`.
    ///
    /// # Errors
    /// When two columns would have the same name, the file exists and `force` is false, or writing
    /// fails.
    pub fn write_csv(&self, path: &Path, force: bool) -> Result<()> {
        csv::write(path, self, force)
    }

    /// Writes features and costs to two NPY files.
    ///
    /// # Errors
    /// When a file exists and `force` is false, or writing fails.
    pub fn write_npy(&self, features: &Path, costs: &Path, force: bool) -> Result<()> {
        npy::write(features, costs, self, force)
    }
}

impl TableSource {
    /// Advice for users whose large NPY file had to be converted and read into memory; `None` for
    /// other tables.
    pub fn storage_hint(&self, data: &Dataset) -> Option<String> {
        match self {
            Self::Npy { costs, .. } => npy::storage_hint(costs, data.costs()),
            Self::Csv { .. } | Self::CsvPair { .. } => None,
        }
    }
}

impl Matrix {
    /// Writes a CSV file with one row per instance under these names.
    ///
    /// # Errors
    /// When the number of names differs, the file exists and `force` is false, or writing fails.
    pub fn write_csv(&self, path: &Path, names: &CostNames, force: bool) -> Result<()> {
        csv::write_predictions(path, names, self, force)
    }

    /// Writes an NPY file with one row per instance.
    ///
    /// # Errors
    /// When the file exists and `force` is false, or writing fails.
    pub fn write_npy(&self, path: &Path, force: bool) -> Result<()> {
        npy::write_predictions(path, self, force)
    }
}

impl SyntheticGenerator {
    /// Writes the costs of all rows to an NPY file, one row at a time, so the table is never in
    /// memory as a whole.
    ///
    /// # Errors
    /// When the file exists and `force` is false, writing fails or the observer interrupts; no
    /// file is left then.
    pub fn write_costs_npy(
        mut self,
        path: &Path,
        force: bool,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (rows, cols) = (self.rows(), self.num_costs());
        let next = |row: &mut Vec<f32>| self.next_row(row);
        npy::write_rows(path, rows, cols, next, force, observer)
    }
}
