//! Columns that name rows: keys of a table, and the instances and items of a long one.

use std::collections::HashSet;

use regretless::data::{ColumnProfile, ValueKind};
use regretless_base::error::{Error, Result};
use regretless_base::text::first_names;

use super::finder::RoleFinder;
use super::names::is_any;
use super::{NO_COLUMN, WHICH_PROBLEM_PAGE};

/// Beginnings and ends of names of columns that count or name rows.
const KEY_WORDS: [&str; 5] = ["id", "key", "index", "row", "number"];

impl RoleFinder<'_> {
    /// The column of a name.
    pub(super) fn column(&self, role: &str, name: &str) -> Result<usize> {
        let mut columns = 0..self.table.columns.len();
        let found = columns.find(|column| self.name(*column) == name);
        found.ok_or_else(|| self.unknown_column(role, name))
    }

    /// The columns that name the instance and the item of a row of a long table.
    pub fn instances(&self) -> Result<Vec<usize>> {
        let Some(long) = &self.stated.long else {
            return Ok(Vec::new());
        };
        for (role, columns) in [
            ("costs", &self.stated.costs),
            ("forecasts", &self.stated.forecasts),
        ] {
            if columns.iter().any(|column| column != NO_COLUMN) {
                return Err(Error::setting(format!(
                    "{role}: a long table has one row per instance and cost, so no column belongs \
                     to one cost"
                ))
                .with_remedy(format!(
                    "name the costs by the cost column; the table may also be wide, with a column \
                     for each cost; {WHICH_PROBLEM_PAGE}"
                )));
            }
        }
        let mut columns = vec![self.column("instance column", &long.instance)?];
        if let Some(item) = &long.item {
            columns.push(self.column("item column", item)?);
        }
        Ok(columns)
    }

    /// The command that reads the table as a long one, if two of its columns can name instances and
    /// items: every combination of their values is a row.
    pub(super) fn long_command(&self) -> Option<String> {
        let rows = self.table.rows;
        let columns = || {
            let columns = self.table.columns.iter();
            columns.filter(|column| column.gaps == 0 && column.distinct > 1)
        };
        let is_count = |distinct: usize| {
            let wanted = self.problem.costs.as_ref().map(Vec::len);
            wanted
                .or(self.problem.num_costs)
                .is_none_or(|wanted| wanted == distinct)
        };
        let names_items = |column: &&ColumnProfile| {
            is_count(column.distinct) && (column.kind == ValueKind::Text || column.is_integral)
        };
        for item in columns().filter(names_items) {
            let instances = columns().find(|column| column.distinct * item.distinct == rows);
            if let Some(instance) = instances.filter(|column| column.name != item.name) {
                return self.command.for_long_table(&instance.name, &item.name);
            }
        }
        None
    }

    /// The columns that have another value in every row and say nothing else: the named ones or, by
    /// default, texts, and whole numbers that are called `id` or the like.
    pub fn keys(&self, taken: &HashSet<usize>) -> Result<Vec<usize>> {
        match self.stated.keys.as_slice() {
            [none] if none == NO_COLUMN => Ok(Vec::new()),
            [] => {
                let is_free = |column: &usize| {
                    !taken.contains(column)
                        && !is_any(&self.stated.ignore, self.name(*column))
                        && !is_any(&self.stated.features, self.name(*column))
                        && !is_any(&self.problem.parameters, self.name(*column))
                };
                let columns = 0..self.table.columns.len();
                let columns = columns.filter(is_free);
                Ok(columns
                    .filter(|column| looks_like_key(&self.table.columns[*column]))
                    .collect())
            }
            patterns => {
                let columns = self.selected(patterns);
                let repeats = |column: &usize| !self.table.columns[*column].names_rows;
                if self.stated.long.is_none() && columns.iter().all(repeats) {
                    let names = columns.iter().map(|column| self.name(*column));
                    return Err(Error::setting(format!(
                        "keys: several rows have the same value of {}",
                        first_names(names)
                    ))
                    .with_remedy(
                        "a key has another value in every row; leave the column out by ignoring it",
                    ));
                }
                let mut columns = columns;
                columns.retain(|column| !taken.contains(column));
                Ok(columns)
            }
        }
    }
}

fn looks_like_key(column: &ColumnProfile) -> bool {
    let name = column.name.to_lowercase();
    let is_called_key = KEY_WORDS
        .iter()
        .any(|word| name == *word || name.ends_with(&format!("_{word}")));
    let may_be_key = match column.kind {
        ValueKind::Text => true,
        ValueKind::Number => column.is_integral && is_called_key,
        ValueKind::Date | ValueKind::Empty => false,
    };
    may_be_key && column.names_rows && !column.is_constant()
}
