//! What the columns of a table hold, from which their roles are guessed.

use super::TableSource;
use super::csv;
use super::encoding::is_gap;
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
    /// A hash of all cells in order: equal columns have equal ones.
    pub content: u64,
    /// The row of the first gap, as a spreadsheet shows it.
    pub first_gap: Option<u64>,
    /// Of a column whose cells look like dates, but are not all written as dates of ISO 8601: the
    /// row of the first one that is not, as a spreadsheet shows it, and its text.
    pub unread_date: Option<(u64, String)>,
}

impl ColumnProfile {
    /// Whether all cells are numbers, or gaps.
    pub fn is_number(&self) -> bool {
        self.kind == ValueKind::Number
    }

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
    /// The row of the file in which a spreadsheet shows a row of the table, counted from 0.
    pub fn row_number(&self, row: usize) -> u64 {
        let record = row as u64 + 1;
        match self {
            Self::Csv { file, dialect, .. } => csv::row_number(file, record, *dialect),
            Self::CsvPair { costs, dialect, .. } => csv::row_number(costs, record, *dialect),
            Self::Npy { .. } => record,
        }
    }

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

    /// Number of rows up to the last one that has a value in one of these columns.
    ///
    /// # Errors
    /// As [`TableSource::visit_rows`].
    pub fn rows_with_values(&self, columns: &[String]) -> Result<usize> {
        let (mut row, mut last) = (0, 0);
        self.visit_rows(columns, &mut |cells| {
            row += 1;
            if !cells.iter().all(|cell| is_gap(cell)) {
                last = row;
            }
            Ok(())
        })?;
        Ok(last)
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
