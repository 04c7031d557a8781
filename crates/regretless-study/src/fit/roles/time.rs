//! The column of times, and columns of dates that cannot be read.

use std::collections::HashSet;

use regretless::data::{ColumnProfile, ValueKind};
use regretless_base::error::{Error, InputPlace, Result};

use super::NO_COLUMN;
use super::finder::RoleFinder;
use super::names::is_any;

impl RoleFinder<'_> {
    pub fn time(&self, taken: &HashSet<usize>) -> Result<Option<usize>> {
        match self.stated.time.as_deref() {
            Some(NO_COLUMN) => return Ok(None),
            Some(name) => return self.column("time", name).map(Some),
            None => {}
        }
        let is_time = |column: &usize| {
            let profile = &self.table.columns[*column];
            // The only date is the time although it may be named as a feature, too: without a time,
            // rows would be cross-validated, so later rows are known to models of earlier ones.
            !taken.contains(column)
                && !is_any(&self.stated.ignore, &profile.name)
                && profile.kind == ValueKind::Date
                && profile.gaps == 0
                && profile.distinct > 1
        };
        let times: Vec<usize> = (0..self.table.columns.len()).filter(is_time).collect();
        match times.as_slice() {
            [] => self.no_lost_time(taken).map(|()| None),
            [only] => Ok(Some(*only)),
            several => {
                let names = several.iter().map(|column| self.name(*column).to_owned());
                Err(self.ambiguous(
                    "the time of a row could be in several columns",
                    "time",
                    names.chain([NO_COLUMN.to_owned()]),
                ))
            }
        }
    }

    /// Refuses a column that is the time in all but some cells, or in a form that is not read: rows
    /// would be cross-validated although they have an order.
    fn no_lost_time(&self, taken: &HashSet<usize>) -> Result<()> {
        let long = self.stated.long.as_ref();
        for (position, column) in self.table.columns.iter().enumerate() {
            // Instances of a long table may have numbers like dates.
            let names_rows = long.is_some_and(|long| {
                long.instance == column.name || long.item.as_deref() == Some(&column.name)
            });
            let is_other = names_rows
                || taken.contains(&position)
                || column.distinct < 2
                || is_any(&self.stated.ignore, &column.name)
                || is_any(&self.stated.keys, &column.name)
                || is_any(&self.problem.parameters, &column.name)
                || self.is_named_feature(&column.name);
            if is_other {
                continue;
            }
            if let Some((row, text)) = &column.unread_date {
                let place = InputPlace::default().row(*row).column(&column.name);
                let message = format!("'{text}' looks like a date, but is not read as one");
                return Err(self.lost_time(place, message, "write dates such as 2026-01-31"));
            }
            if let (ValueKind::Date, Some(row)) = (column.kind, column.first_gap) {
                let place = InputPlace::default().row(row).column(&column.name);
                let message = "the cell is empty in a column of dates";
                return Err(self.lost_time(place, message.into(), "fill it in"));
            }
        }
        Ok(())
    }

    fn lost_time(&self, place: InputPlace, message: String, remedy: &str) -> Error {
        let none = self.command.with_role("time", NO_COLUMN);
        Error::input(place, message)
            .with_remedy(format!(
                "{remedy}, so later rows are decided by models of earlier ones; if the order of \
                 the rows does not matter:"
            ))
            .with_commands([none])
    }

    /// Whether the column of times becomes features, too: dates do, unless the user says which
    /// columns are features, or to ignore this one.
    pub fn is_calendar(&self, time: usize) -> bool {
        let column = &self.table.columns[time];
        column.kind == ValueKind::Date && self.reason_against_feature(column).is_none()
    }
}

/// The first column of dates, read or not, of a table without a time.
pub(in crate::fit) fn dates_without_role(columns: &[ColumnProfile]) -> Option<&str> {
    let mut columns = columns.iter();
    let is_date = |column: &&ColumnProfile| {
        column.distinct > 1 && (column.kind == ValueKind::Date || column.unread_date.is_some())
    };
    columns.find(is_date).map(|column| column.name.as_str())
}
