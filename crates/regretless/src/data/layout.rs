//! The roles of the columns of a table.
//!
//! Columns are selected by name or by patterns in which `*` matches any characters. The columns of
//! a list are in the order of its patterns, the matches of one pattern in the order of the file,
//! each column once. Names to ignore take precedence over all others.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, InputPlace, Result};

/// How a table with a header is laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum Layout {
    /// One row per instance.
    Wide(WideColumns),
    /// One row per instance and cost.
    Long(LongColumns),
}

/// Columns of a table with one row per instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WideColumns {
    /// Names or patterns of the features; empty means every other column that holds numbers.
    pub features: Vec<String>,
    /// Names or patterns of the costs.
    pub costs: Vec<String>,
    /// Names or patterns of columns to leave out.
    pub ignore: Vec<String>,
}

/// Columns of a table with one row per instance and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LongColumns {
    /// The column that names the instance.
    pub instance: String,
    /// The column that names the item; without one, rows of an instance must follow each other.
    pub item: Option<String>,
    /// The order of the items; empty means their order in the first instance.
    pub items: Vec<String>,
    /// The column with the cost.
    pub cost: String,
    /// Names or patterns of the features; empty means every other column that holds numbers.
    pub features: Vec<String>,
    /// Names or patterns of columns to leave out.
    pub ignore: Vec<String>,
}

impl Default for LongColumns {
    fn default() -> Self {
        Self {
            instance: "instance".into(),
            item: None,
            items: Vec::new(),
            cost: "cost".into(),
            features: Vec::new(),
            ignore: Vec::new(),
        }
    }
}

/// Columns of one file by number.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnSelection {
    /// Features, in the order they are used.
    pub features: Vec<usize>,
    /// Costs, in the order they are used.
    pub costs: Vec<usize>,
    /// Whether the features are all remaining columns, so that columns of text are dropped.
    pub all_remaining: bool,
}

/// The header of one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CsvHeader<'a> {
    /// The file.
    pub path: &'a Path,
    /// Names of its columns.
    pub names: &'a [String],
}

impl CsvHeader<'_> {
    /// The number of a column.
    pub fn column(&self, name: &str) -> Result<usize> {
        let missing = || {
            let place = InputPlace::file(self.path).row(1).column(name);
            Error::input(
                place,
                format!(
                    "there is no such column; the file has: {}",
                    listed(self.names)
                ),
            )
        };
        self.names
            .iter()
            .position(|found| found == name)
            .ok_or_else(missing)
    }

    /// The columns that a list of patterns names, without those to ignore.
    pub fn matching(&self, patterns: &[String], ignore: &[String]) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for pattern in patterns {
            let wanted = |j: &usize| {
                matches(pattern, &self.names[*j]) && !matches_any(ignore, &self.names[*j])
            };
            let columns: Vec<usize> = (0..self.names.len()).filter(wanted).collect();
            if columns.is_empty() {
                return Err(self.no_match(pattern));
            }
            found.extend(columns);
        }
        let mut seen = vec![false; self.names.len()];
        found.retain(|j| !std::mem::replace(&mut seen[*j], true));
        Ok(found)
    }

    /// Features: the listed ones, or all that are neither taken nor ignored.
    pub fn features(
        &self,
        listed: &[String],
        ignore: &[String],
        taken: &[usize],
    ) -> Result<Vec<usize>> {
        let mut is_taken = vec![false; self.names.len()];
        for j in taken {
            is_taken[*j] = true;
        }
        let features = if listed.is_empty() {
            let free = |j: &usize| !is_taken[*j] && !matches_any(ignore, &self.names[*j]);
            (0..self.names.len()).filter(free).collect()
        } else {
            self.matching(listed, ignore)?
        };
        if let Some(both) = features.iter().find(|j| is_taken[**j]) {
            let place = InputPlace::file(self.path)
                .row(1)
                .column(&self.names[*both]);
            return Err(Error::input(
                place,
                "a column cannot be a feature and something else; name it once",
            ));
        }
        match features.iter().find(|j| self.names[**j].is_empty()) {
            None => Ok(features),
            Some(unnamed) => {
                let place = InputPlace::file(self.path)
                    .row(1)
                    .column((unnamed + 1).to_string());
                Err(Error::input(
                    place,
                    "the column has no name; name it, or leave it out (it may be a row index)",
                ))
            }
        }
    }

    /// Fails when a name to ignore is in none of the headers: probably a typing error.
    pub fn check_ignored(headers: &[Self], ignore: &[String]) -> Result<()> {
        let known = |pattern: &&String| {
            headers
                .iter()
                .any(|h| h.names.iter().any(|name| matches(pattern, name)))
        };
        match (
            ignore.iter().find(|pattern| !known(pattern)),
            headers.first(),
        ) {
            (Some(pattern), Some(header)) => Err(header.no_match(pattern)),
            (None, _) | (Some(_), None) => Ok(()),
        }
    }

    fn no_match(&self, pattern: &str) -> Error {
        let names = listed(self.names);
        Error::input(
            InputPlace::file(self.path).row(1),
            format!("no column matches '{pattern}'; the file has: {names}"),
        )
    }
}

/// The first names of a list, and the number of the others.
fn listed(names: &[String]) -> String {
    const MAX_LISTED_NAMES: usize = 12;
    let shown = names[..names.len().min(MAX_LISTED_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_LISTED_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Whether a name matches a pattern; each `*` matches any characters or none.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let mut parts = rest.split('*');
    let end = parts.next_back().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::{listed, matches};

    #[test]
    fn a_star_matches_any_characters_or_none() {
        for (pattern, name) in [
            ("c*", "c"),
            ("c*", "c12"),
            ("*", ""),
            ("*_eur", "x_eur"),
            ("a*b*c", "a1b2b3c"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("c", "c1"),
            ("c*", "xc"),
            ("*_eur", "eur"),
            ("a*b*c", "acb"),
            ("ab*ba", "aba"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..20).map(|j| format!("x{j}")).collect();
        assert!(listed(&names).ends_with("x11 and 8 more"));
        assert_eq!(listed(&names[..2]), "x0, x1");
    }
}
