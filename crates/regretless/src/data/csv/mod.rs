//! Tables in CSV files, in and out.
//!
//! The first row names the columns. Numbers are rounded once, to single precision; on the way out
//! they are written with as many digits as it takes to read the same bits back. Errors name the
//! file, the row as a spreadsheet shows it, and the column.

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
/// When a column is missing or named twice, a cell is not a finite number, or rows do not make
/// whole instances.
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

/// Reads the features a model wants, in its order, whatever else the file holds. Of the layout only
/// the columns that name instances and items count.
///
/// # Errors
/// When a wanted column is missing, a cell is not a finite number, or rows do not make whole
/// instances.
pub fn read_features(path: &Path, layout: &Layout, wanted: &[String]) -> Result<Features> {
    match layout {
        Layout::Wide(_) => wide::read_features(path, wanted),
        Layout::Long(columns) => long::read_features(path, columns, wanted),
    }
}
