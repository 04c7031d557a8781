//! `new-rows.csv`: what the next decision needs.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use regretless::data::{TableProfile, TableSource};
use regretless::job::MatchedTable;
use regretless_base::error::Result;
use regretless_base::text::first_names;

use super::lags::SeriesRows;
use super::{FitSettings, TableRoles};
use crate::backtest::Periods;
use crate::text::CsvText;

/// A table to decide on.
#[derive(Debug, Clone, Default)]
pub struct NextRows {
    /// The table.
    pub text: String,
    /// The columns that are empty, because only the user knows them.
    pub fill_in: Vec<String>,
    /// The time of the first row, if there is one.
    pub time: Option<String>,
    /// The column by which a row is found in decisions.
    pub key: Option<String>,
    /// Whether the rows are the last ones of the table, for tables without periods.
    pub is_example: bool,
}

impl NextRows {
    /// Whether a file has these rows, with some of the empty cells filled in.
    pub(super) fn are_filled_in(&self, text: &str) -> bool {
        let records = |text: &str| -> Option<Vec<csv::StringRecord>> {
            let mut reader = csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).flexible(true);
            reader
                .from_reader(text.as_bytes())
                .records()
                .collect::<Result<_, _>>()
                .ok()
        };
        let (Some(own), Some(written)) = (records(&self.text), records(text)) else {
            return false;
        };
        let is_filled_in = |(own, written): (&csv::StringRecord, &csv::StringRecord)| {
            let mut cells = own.iter().zip(written);
            own.len() == written.len() && cells.all(|(own, cell)| own.is_empty() || own == cell)
        };
        own.len() == written.len() && own.iter().zip(&written).all(is_filled_in)
    }

    /// What to do with the file of these rows before they are decided.
    pub fn instruction(&self, file: &Path) -> String {
        if self.is_example {
            return format!(
                "next, with your own rows in place of those in {}, which are the last ones of the \
                 table:",
                file.display()
            );
        }
        if self.fill_in.is_empty() {
            return "next:".into();
        }
        let time = self.time.as_ref();
        let time = time.map_or_else(String::new, |time| format!(" of {time}"));
        format!(
            "next, after you have filled in {}{time} in {}:",
            first_names(&self.fill_in),
            file.display()
        )
    }
}

/// A table to decide on, row by row.
pub(super) struct NextRowsBuilder {
    text: CsvText,
    header: Vec<String>,
    /// The columns that a user may have to fill in.
    unknown: Range<usize>,
    empty: Vec<bool>,
    /// The cells of the first column.
    times: Vec<String>,
}

impl NextRowsBuilder {
    pub fn new(header: &[&str], unknown: Range<usize>) -> Result<Self> {
        Ok(Self {
            text: CsvText::new(header)?,
            empty: vec![false; header.len()],
            header: header.iter().map(|name| (*name).to_owned()).collect(),
            unknown,
            times: Vec::new(),
        })
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub fn row<'c>(&mut self, cells: impl Iterator<Item = &'c str>) -> Result<()> {
        let cells: Vec<&str> = cells.collect();
        for (is_empty, cell) in self.empty.iter_mut().zip(&cells) {
            *is_empty |= cell.is_empty();
        }
        self.times
            .push(cells.first().copied().unwrap_or_default().to_owned());
        self.text.row(&cells)
    }

    pub fn finish(self, key: String) -> Result<NextRows> {
        let is_open = |column: &usize| self.empty[*column] && self.unknown.contains(column);
        let open = (0..self.header.len()).filter(is_open);
        Ok(NextRows {
            fill_in: open.map(|column| self.header[column].clone()).collect(),
            time: self
                .times
                .into_iter()
                .next()
                .filter(|time| !time.is_empty()),
            key: Some(key),
            is_example: false,
            text: self.text.finish()?,
        })
    }
}

/// What the rows to decide next are found by.
pub(super) struct NextRowsFinder<'a> {
    pub source: &'a TableSource,
    pub profile: &'a TableProfile,
    pub roles: &'a TableRoles,
    pub periods: &'a Periods,
    pub key: Option<&'a str>,
    /// Rows with costs.
    pub known: usize,
}

impl NextRowsFinder<'_> {
    /// What deciding needs of the rows without costs, or of the next period.
    pub fn find(&self, table: &MatchedTable, settings: &FitSettings) -> Result<NextRows> {
        let time = self.roles.time.as_ref();
        let time = time.filter(|_| self.roles.instances.is_empty());
        if let Some(time) = time
            && let Ok(rows) =
                SeriesRows::read(self.source, self.profile, self.roles, time, self.known)?
        {
            return rows.next(&self.roles.lag_periods, self.roles, settings.horizon);
        }
        let columns = self.roles.columns_to_decide(self.key);
        if self.known < self.profile.rows {
            return self.later_rows(&columns);
        }
        match time {
            None => self.last_rows(&columns, table),
            // The next time is not known.
            Some(_) => {
                let names: Vec<&str> = columns.iter().map(String::as_str).collect();
                let mut next = NextRowsBuilder::new(&names, 0..columns.len())?;
                next.row(columns.iter().map(|_| ""))?;
                Ok(NextRows {
                    key: self.key.map(str::to_owned),
                    ..next.finish(String::new())?
                })
            }
        }
    }

    /// The rows without costs.
    fn later_rows(&self, columns: &[String]) -> Result<NextRows> {
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut next = NextRowsBuilder::new(&names, 0..columns.len())?;
        let mut row = 0;
        self.source.visit_rows(columns, &mut |cells| {
            row += 1;
            if row > self.known {
                next.row(cells.iter().map(String::as_str))?;
            }
            Ok(())
        })?;
        Ok(NextRows {
            key: self.key.map(str::to_owned),
            time: None,
            ..next.finish(String::new())?
        })
    }

    /// The latest instance of the table, as an example. Rows of a table need not be in the order of
    /// time; without times the last instance is as good as any.
    fn last_rows(&self, columns: &[String], table: &MatchedTable) -> Result<NextRows> {
        let last = (0..self.periods.len()).next_back();
        let last = last.filter(|_| self.periods.are_ordered());
        let latest = last.and_then(|period| self.periods.rows(period).last().copied());
        let latest = latest.unwrap_or_else(|| table.data().len().saturating_sub(1));
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = CsvText::new(&names)?;
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut row = 0;
        self.source.visit_rows(columns, &mut |cells| {
            // The first column of a long table names the instance; they count by their first rows.
            let instance = if self.roles.instances.is_empty() {
                row
            } else {
                let next = numbers.len();
                *numbers.entry(cells[0].clone()).or_insert(next)
            };
            row += 1;
            if instance == latest {
                rows.row(cells)?;
            }
            Ok(())
        })?;
        Ok(NextRows {
            text: rows.finish()?,
            key: self.key.map(str::to_owned),
            is_example: true,
            ..NextRows::default()
        })
    }
}
