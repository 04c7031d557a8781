//! Reading and writing of tables in CSV files.
//!
//! The first row names the columns. Numbers are rounded once, to single precision, and written with
//! the fewest digits that read back as the same bits. Errors have the file, the row as a
//! spreadsheet shows it, and the column.

use std::path::Path;

use super::layout::{Layout, WideColumns};
use super::row_times::RowTimes;
use super::{CsvDialect, Dataset, Features, InstanceKeys};
use crate::error::Result;

mod long;
mod number;
mod row_numbers;
mod table;
mod unused;
mod wide;
mod write;

pub(crate) use number::shortest;
pub(super) use unused::{ColumnChoice, FirstRow};
pub(crate) use write::name_cell;
pub use write::{write, write_predictions};

/// Reads features and costs from one file.
///
/// # Errors
/// When a column is missing or duplicated, a cell is not a finite number, or an instance is
/// incomplete.
pub fn read(path: &Path, layout: &Layout, dialect: CsvDialect) -> Result<Dataset> {
    match layout {
        Layout::Wide(columns) => wide::read(path, columns, dialect),
        Layout::Long(columns) => long::read(path, columns, dialect),
    }
}

/// Reads features from one file and costs from another, one row per instance in both. Without
/// patterns for the costs, every column of their file is one.
///
/// # Errors
/// As [`read`], and when the files have different numbers of rows.
pub fn read_pair(
    features: &Path,
    costs: &Path,
    columns: &WideColumns,
    dialect: CsvDialect,
) -> Result<Dataset> {
    wide::read_pair(features, costs, columns, dialect)
}

/// Reads the features that a model expects, in its order, and ignores all other columns except
/// those that name instances and items.
///
/// # Errors
/// When a column is missing, a cell is not a finite number, or an instance is incomplete.
pub fn read_features(
    path: &Path,
    layout: &Layout,
    wanted: &[String],
    dialect: CsvDialect,
) -> Result<Features> {
    match layout {
        Layout::Wide(_) => wide::read_features(path, wanted, dialect),
        Layout::Long(columns) => long::read_features(path, columns, wanted, dialect),
    }
}

/// Reads the time of every instance from a column.
///
/// # Errors
/// When there is no such column, a cell is no time, or the rows of an instance have different
/// times.
pub(super) fn read_times(
    path: &Path,
    layout: &Layout,
    column: &str,
    dialect: CsvDialect,
) -> Result<RowTimes> {
    match layout {
        Layout::Wide(_) => wide::read_times(path, column, dialect),
        Layout::Long(columns) => long::read_times(path, columns, column, dialect),
    }
}

/// Reads the keys of the instances: the cells of `column` or, where none is named, the instances of
/// a long table; `None` for a wide table without a named column.
///
/// # Errors
/// When the column is missing, or the rows of one instance of a long table have different keys.
pub fn read_keys(
    path: &Path,
    layout: &Layout,
    column: Option<&str>,
    dialect: CsvDialect,
) -> Result<Option<InstanceKeys>> {
    match (layout, column) {
        (Layout::Wide(_), None) => Ok(None),
        (Layout::Wide(_), Some(column)) => wide::read_keys(path, column, dialect).map(Some),
        (Layout::Long(columns), column) => {
            long::read_keys(path, columns, column, dialect).map(Some)
        }
    }
}
