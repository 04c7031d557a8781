//! What the columns of a table hold, from which their roles are guessed.

use super::TableSource;
use super::csv;
use crate::error::{Error, Result};

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// All cells are gaps.
    Empty,
    /// Numbers, and gaps.
    Number,
    /// Dates or date-times, and gaps.
    Date,
    /// Anything else.
    Text,
}

/// What one column holds.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    /// Its name.
    pub name: String,
    /// What its cells are.
    pub kind: ValueKind,
    /// Number of gaps.
    pub gaps: usize,
    /// Number of different cells, up to 10,000.
    pub distinct: usize,
    /// Whether no two of the counted cells are equal and none is a gap.
    pub names_rows: bool,
    /// Share of the numbers that are 0.
    pub zero_share: f64,
    /// Whether all numbers are 0 or 1.
    pub is_binary: bool,
    /// Whether all numbers are whole.
    pub is_integral: bool,
    /// Whether a number is negative.
    pub has_negatives: bool,
    /// Whether all cells look like dates in a notation that is not read.
    pub has_other_dates: bool,
    /// A hash of all cells in order: equal columns have equal ones.
    pub content: u64,
}

impl ColumnProfile {
    /// Whether all cells are the same.
    pub fn is_constant(&self) -> bool {
        self.distinct <= 1
    }
}

/// What the columns of a table hold.
#[derive(Debug, Clone, PartialEq)]
pub struct TableProfile {
    /// Number of rows.
    pub rows: usize,
    /// The columns in the order of the file.
    pub columns: Vec<ColumnProfile>,
}

impl TableSource {
    /// Reads the table once and says what its columns hold.
    ///
    /// # Errors
    /// When the file cannot be read, and for tables in two files or arrays, whose columns have
    /// their roles already.
    pub fn profile(&self) -> Result<TableProfile> {
        match self {
            Self::Csv { file, dialect, .. } => csv::profile(file, *dialect),
            Self::CsvPair { .. } | Self::Npy { .. } => Err(several_files()),
        }
    }

    /// The cells of all columns as text, column by column in the order of the file; numbers have a
    /// decimal point.
    ///
    /// # Errors
    /// When the file cannot be read, and for tables in two files or arrays.
    pub fn read_texts(&self) -> Result<Vec<Vec<String>>> {
        match self {
            Self::Csv { file, dialect, .. } => csv::texts(file, *dialect),
            Self::CsvPair { .. } | Self::Npy { .. } => Err(several_files()),
        }
    }

    /// Passes the cells of some columns to a function, row by row. Numbers have a decimal point,
    /// whatever precedes decimals in the file.
    ///
    /// # Errors
    /// When the file cannot be read or lacks a column, for tables in two files or arrays, and those
    /// of the function.
    pub fn visit_rows(
        &self,
        columns: &[String],
        visit: &mut dyn FnMut(&[String]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Csv { file, dialect, .. } => csv::visit_rows(file, *dialect, columns, visit),
            Self::CsvPair { .. } | Self::Npy { .. } => Err(Error::setting(
                "the rows of several files are not read together",
            )),
        }
    }
}

fn several_files() -> Error {
    Error::setting("the columns of several files have their roles already")
}
