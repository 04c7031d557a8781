//! Reading and writing of tables in CSV files.
//!
//! The first row names the columns. Numbers are rounded once, to single precision, and written with
//! the fewest digits that read back as the same bits. Errors have the file, the row as a
//! spreadsheet shows it, and the column.

use std::path::Path;

use super::layout::{Layout, WantedFeatures};
use super::problem_columns::ProblemColumns;
use super::row_times::RowTimes;
use super::{CsvDialect, Dataset, Features, InstanceKeys, RowParameters, TableProfile};
use crate::error::Result;

mod arcs;
#[cfg(feature = "parquet")]
mod arrow_schema;
mod coordinates;
mod feature_cells;
mod item_slots;
mod long;
mod number;
mod parameters;
#[cfg(feature = "parquet")]
mod parquet_rows;
mod profile;
mod row_numbers;
mod table;
mod unused;
mod wide;
mod write;

pub(crate) use arcs::{ArcColumns, read_arcs};
pub(crate) use coordinates::NodeCoordinates;
pub use coordinates::PlacedNode;
pub(super) use feature_cells::FeatureCells;
pub use number::shortest;
pub(super) use parameters::{ParameterTable, read_parameters};
pub(super) use table::row_number;
pub(super) use unused::{ColumnChoice, FirstRow};
pub(super) use wide::read_pair;
pub use write::name_cell;
pub use write::{write, write_predictions};

/// The time zone in which the times of a column were written, if the file holds them in UTC
/// instead: Parquet files. `None` for the zones whose clock shows UTC.
pub(super) fn time_zone_before_utc(path: &Path, column: &str) -> Option<String> {
    #[cfg(feature = "parquet")]
    if table::has_parquet_extension(path) {
        return arrow_schema::time_zone(path, column);
    }
    let _ = (path, column);
    None
}

/// What the columns of a file hold.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn profile(path: &Path, dialect: CsvDialect) -> Result<TableProfile> {
    profile::profile(table::CsvTable::open(path, dialect)?)
}

/// Passes the cells of some columns to a function, row by row; numbers have a decimal point.
///
/// # Errors
/// When the file cannot be read or lacks a column, and those of the function.
pub(super) fn visit_rows(
    path: &Path,
    dialect: CsvDialect,
    columns: &[String],
    visit: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<()> {
    profile::visit_rows(table::CsvTable::open(path, dialect)?, columns, visit)
}

/// The cells of all columns of a file, column by column; numbers have a decimal point.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn texts(path: &Path, dialect: CsvDialect) -> Result<Vec<Vec<String>>> {
    profile::texts(table::CsvTable::open(path, dialect)?)
}

/// How tables of a problem are read.
#[derive(Clone, Copy)]
pub(super) struct CsvInput<'a> {
    dialect: CsvDialect,
    /// What the problem reads from the table.
    problem: &'a ProblemColumns<'a>,
}

impl<'a> CsvInput<'a> {
    pub(super) fn new(dialect: CsvDialect, problem: &'a ProblemColumns<'a>) -> Self {
        Self { dialect, problem }
    }

    fn open(&self, path: &Path) -> Result<table::CsvTable> {
        Ok(table::CsvTable::open(path, self.dialect)?.with_nodes_of(self.problem.parameters))
    }
}

/// Reads features and costs from one file.
///
/// # Errors
/// When a column is missing or duplicated, a cell is not a finite number, or an instance is
/// incomplete.
pub fn read(path: &Path, layout: &Layout, dialect: CsvDialect) -> Result<Dataset> {
    let problem = &ProblemColumns::default();
    read_for(path, layout, CsvInput::new(dialect, problem))
}

/// The same with what a problem reads from the table.
///
/// # Errors
/// As [`read`], and when a parameter is missing or is not a number.
pub(super) fn read_for(path: &Path, layout: &Layout, input: CsvInput<'_>) -> Result<Dataset> {
    match layout {
        Layout::Wide(columns) => wide::read(path, columns, input),
        Layout::Long(columns) => long::read(path, columns, input),
    }
}

/// Whether the features of a wide table are placeholders, because only its costs and parameters
/// were read.
pub(super) fn are_placeholders(features: &Features) -> bool {
    features.names() == [wide::PLACEHOLDER_FEATURE]
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
    let (problem, wanted) = (&ProblemColumns::default(), WantedFeatures::numbers(wanted));
    let input = CsvInput::new(dialect, problem);
    read_features_for(path, layout, &wanted, input).map(|(features, _)| features)
}

/// The same with the parameters that a problem needs.
///
/// # Errors
/// As [`read_features`], and when a parameter is missing or is not a number.
pub(super) fn read_features_for(
    path: &Path,
    layout: &Layout,
    wanted: &WantedFeatures<'_>,
    input: CsvInput<'_>,
) -> Result<(Features, RowParameters)> {
    match layout {
        Layout::Wide(_) => wide::read_features(path, wanted, input),
        Layout::Long(columns) => long::read_features(path, columns, wanted, input),
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

/// Reads the keys of the instances: the cells of `column` or, if none is named, the instances of a
/// long table; `None` for a wide table without a named column.
///
/// # Errors
/// When the column is missing, or the rows of one instance of a long table have different keys.
pub(crate) fn read_keys(
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
