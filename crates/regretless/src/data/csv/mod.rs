//! Reading and writing of tables in CSV files.
//!
//! The first row names the columns. Numbers are rounded once, to single precision, and written with
//! the fewest digits that read back as the same bits. Errors have the file, the row as a
//! spreadsheet shows it, and the column.

use std::path::Path;

use super::layout::{Layout, WideColumns};
use super::{Dataset, Features};
use crate::error::Result;

mod long;
mod number;
mod row_numbers;
mod table;
mod wide;
mod write;

pub use write::{DecisionFormat, write, write_decisions, write_predictions};

/// Reads features and costs from one file.
///
/// # Errors
/// When a column is missing or duplicated, a cell is not a finite number, or an instance is
/// incomplete.
pub fn read(path: &Path, layout: &Layout) -> Result<Dataset> {
    match layout {
        Layout::Wide(columns) => wide::read(path, columns),
        Layout::Long(columns) => long::read(path, columns),
    }
}

/// Reads features from one file and costs from another, one row per instance in both. Without
/// patterns for the costs, every column of their file is one.
///
/// # Errors
/// As [`read`], and when the files have different numbers of rows.
pub fn read_pair(features: &Path, costs: &Path, columns: &WideColumns) -> Result<Dataset> {
    wide::read_pair(features, costs, columns)
}

/// Reads the features that a model expects, in its order, and ignores all other columns except
/// those that name instances and items.
///
/// # Errors
/// When a column is missing, a cell is not a finite number, or an instance is incomplete.
pub fn read_features(path: &Path, layout: &Layout, wanted: &[String]) -> Result<Features> {
    match layout {
        Layout::Wide(_) => wide::read_features(path, wanted),
        Layout::Long(columns) => long::read_features(path, columns, wanted),
    }
}
