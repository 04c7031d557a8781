//! What the header and the first row say: columns that are not used, and why; columns by name.

use std::collections::HashSet;
use std::path::Path;

use super::table::CsvTable;
use crate::data::CsvDialect;
use crate::data::layout::matches_any;
use crate::data::row_times::is_date;
use crate::error::Result;

/// What users said about the columns of a file.
pub(in crate::data) struct ColumnChoice<'a> {
    /// Columns that have a role.
    pub used: &'a HashSet<&'a str>,
    /// Patterns of columns to leave out.
    pub ignore: &'a [String],
}

/// The header and the first row of a file.
pub(in crate::data) struct FirstRow {
    table: CsvTable,
}

impl FirstRow {
    /// Reads them; a file without rows has empty cells.
    pub fn read(path: &Path, dialect: CsvDialect) -> Result<Self> {
        let mut table = CsvTable::open(path, dialect)?;
        table.next_row()?;
        Ok(Self { table })
    }

    /// Names and reasons of the columns that are not used, in the order of the file.
    pub fn unused(&self, choice: &ColumnChoice<'_>) -> Result<Vec<(String, String)>> {
        let mut unused = Vec::new();
        for (number, name) in self.table.header().names.iter().enumerate() {
            if choice.used.contains(name.as_str()) {
                continue;
            }
            let reason = if matches_any(choice.ignore, name) {
                "ignored"
            } else if is_date(self.table.text(number)?) {
                "dates"
            } else if self.table.looks_numeric(number) {
                "not selected"
            } else {
                "text"
            };
            unused.push((name.clone(), reason.to_owned()));
        }
        Ok(unused)
    }

    /// The columns that names or patterns select, in the order of these.
    pub fn matching(&self, patterns: &[String]) -> Result<Vec<String>> {
        let header = self.table.header();
        let columns = header.matching(patterns, &[])?;
        Ok(self.table.names_of(&columns))
    }

    /// Whether the file has this column.
    pub fn has_column(&self, name: &str) -> bool {
        self.table.header().column(name).is_ok()
    }

    /// The first column whose first cell is a date.
    pub fn date_column(&self) -> Option<String> {
        let names = self.table.header().names;
        let is_date = |column: &usize| self.table.text(*column).is_ok_and(is_date);
        (0..names.len())
            .find(is_date)
            .map(|column| names[column].clone())
    }
}
