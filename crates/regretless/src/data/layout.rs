//! The roles of the columns of a table.
//!
//! Columns are selected by name or by patterns in which `*` matches any characters. The columns of
//! a list are in the order of its patterns, the matches of one pattern in the order of the file,
//! each column once. Names to ignore take precedence over all others.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv::FeatureCells;
use super::{FeatureEncoding, FeatureOptions};
use crate::error::{Error, InputPlace, Result};
use crate::text::{UNKNOWN_QUANTITY_REMEDY, first_names, matches_pattern, nearest_name, plural};

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
    /// Names or patterns of the features; empty means every other column.
    pub features: Vec<String>,
    /// Names or patterns of the costs.
    pub costs: Vec<String>,
    /// Names or patterns of columns to leave out.
    pub ignore: Vec<String>,
    /// How texts, dates and gaps become features.
    pub options: FeatureOptions,
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
    /// Names or patterns of the features; empty means every other column.
    pub features: Vec<String>,
    /// Names or patterns of columns to leave out.
    pub ignore: Vec<String>,
    /// How texts, dates and gaps become features.
    pub options: FeatureOptions,
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
            options: FeatureOptions::default(),
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
    /// What the cells of features may be.
    pub cells: FeatureCells,
    /// Row parameters; they may be features too.
    pub parameters: Vec<usize>,
    /// Whether a cost may be absent.
    pub costs_may_be_empty: bool,
}

/// The columns that a model needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedFeatures<'a> {
    /// Their names, in the order of the model.
    names: &'a [String],
    /// How they are encoded, if they are not numbers alone.
    encoding: Option<&'a FeatureEncoding>,
}

impl<'a> WantedFeatures<'a> {
    /// Columns of numbers.
    pub fn numbers(names: &'a [String]) -> Self {
        Self {
            names,
            encoding: None,
        }
    }

    /// The columns of a model with these features.
    pub fn of_model(names: &'a [String], encoding: Option<&'a FeatureEncoding>) -> Self {
        Self { names, encoding }
    }

    /// Names of features that are plain numbers, for arrays without names.
    pub fn feature_names(&self) -> &'a [String] {
        self.names
    }

    /// The columns of a file, without parameters.
    pub(super) fn selection(&self, header: CsvHeader<'_>) -> Result<ColumnSelection> {
        let encoded = self.encoding.map(FeatureEncoding::column_names);
        let names = encoded.as_deref().unwrap_or(self.names);
        let columns = names.iter().map(|name| header.column(name));
        Ok(ColumnSelection {
            features: columns.collect::<Result<_>>()?,
            cells: self.cells(),
            ..ColumnSelection::default()
        })
    }

    /// What the cells of the features may be.
    fn cells(&self) -> FeatureCells {
        match self.encoding {
            None => FeatureCells::Numbers,
            Some(encoding) => FeatureCells::Known(encoding.cell_kinds()),
        }
    }
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
            Error::input(place, "there is no such column").with_remedy(self.remedy(name))
        };
        self.names
            .iter()
            .position(|known| known == name)
            .ok_or_else(missing)
    }

    /// The columns that a list of patterns names, without those to ignore.
    pub fn matching(&self, patterns: &[String], ignore: &[String]) -> Result<Vec<usize>> {
        let mut selected = Vec::new();
        for pattern in patterns {
            let is_selected = |j: &usize| {
                matches_pattern(pattern, &self.names[*j]) && !matches_any(ignore, &self.names[*j])
            };
            let columns: Vec<usize> = (0..self.names.len()).filter(is_selected).collect();
            if columns.is_empty() {
                return Err(self.no_match(pattern));
            }
            selected.extend(columns);
        }
        let mut seen = vec![false; self.names.len()];
        // A column that several patterns match stays where the first one has put it.
        selected.retain(|j| !std::mem::replace(&mut seen[*j], true));
        Ok(selected)
    }

    /// Features: those that match the patterns or, without patterns, all columns that are neither
    /// taken nor ignored.
    pub fn features(
        &self,
        patterns: &[String],
        ignore: &[String],
        taken: &[usize],
    ) -> Result<Vec<usize>> {
        let mut is_taken = vec![false; self.names.len()];
        for j in taken {
            is_taken[*j] = true;
        }
        let features = if patterns.is_empty() {
            let is_free = |j: &usize| !is_taken[*j] && !matches_any(ignore, &self.names[*j]);
            (0..self.names.len()).filter(is_free).collect()
        } else {
            self.matching(patterns, ignore)?
        };
        if let Some(both) = features.iter().find(|j| is_taken[**j]) {
            let place = InputPlace::file(self.path)
                .row(1)
                .column(&self.names[*both]);
            return Err(
                Error::input(place, "a column cannot be a feature and something else")
                    .with_remedy("name it once"),
            );
        }
        if features.is_empty() {
            let message = "no column is left for the features";
            return Err(Error::input(InputPlace::file(self.path).row(1), message)
                .with_remedy("at least one is needed"));
        }
        match features.iter().find(|j| self.names[**j].is_empty()) {
            None => Ok(features),
            Some(unnamed) => {
                let place = InputPlace::file(self.path)
                    .row(1)
                    .column((unnamed + 1).to_string());
                Err(Error::input(place, "the column has no name")
                    .with_remedy("name it, or leave it out (it may be a row index)"))
            }
        }
    }

    /// The columns of a row parameter, in the order of the file: the one of this name, or else all
    /// that match the pattern. Columns that are ignored as features are among them.
    pub fn parameter(&self, pattern: &str) -> Vec<usize> {
        match self.names.iter().position(|name| name == pattern) {
            Some(column) => vec![column],
            None => (0..self.names.len())
                .filter(|j| matches_pattern(pattern, &self.names[*j]))
                .collect(),
        }
    }

    /// The error of a row parameter that no column has.
    pub fn missing_parameter(&self, pattern: &str) -> Error {
        let place = InputPlace::file(self.path).row(1);
        let error = if pattern.contains('*') {
            let message = format!("no column matches '{pattern}', which the problem needs");
            Error::input(place, message)
        } else {
            Error::input(place.column(pattern), "the problem needs this column")
        };
        error.with_remedy(match self.shorter_name(pattern) {
            Some((column, part, prefix)) => format!(
                "the file has '{column}': name the costs and the columns by patterns, such as \
                 known = {{ \"{part}*\" = {{ column = \"{prefix}*\" }} }}"
            ),
            None => self.remedy(pattern),
        })
    }

    /// The column that a name becomes without its second word, that word, and what is before it:
    /// `now_a`, `buy_` and `now_` for `now_buy_a`. A pattern of columns for all costs stands for
    /// the whole names of costs, which often begin with a word of their own.
    fn shorter_name<'n>(&self, name: &'n str) -> Option<(String, &'n str, &'n str)> {
        let (first, rest) = name.split_once('_')?;
        let (second, _) = rest.split_once('_')?;
        let prefix = &name[..=first.len()];
        let part = &rest[..=second.len()];
        let column = format!("{prefix}{}", &rest[part.len()..]);
        let is_there = self.names.contains(&column);
        is_there.then_some((column, part, prefix))
    }

    /// Checks that no column is both a cost and a parameter.
    pub fn check_known(&self, costs: &[usize], parameters: &[usize]) -> Result<()> {
        let mut is_cost = vec![false; self.names.len()];
        for column in costs {
            is_cost[*column] = true;
        }
        let Some(both) = parameters.iter().find(|column| is_cost[**column]) else {
            return Ok(());
        };
        let place = InputPlace::file(self.path)
            .row(1)
            .column(&self.names[*both]);
        Err(Error::input(
            place,
            "a column cannot be a cost and a parameter: costs are unknown when deciding",
        )
        .with_remedy(format!(
            "leave it out of the named costs; {UNKNOWN_QUANTITY_REMEDY}"
        )))
    }

    /// Fails when a name to ignore is in none of the headers: probably a typing error.
    pub fn check_ignored(headers: &[Self], ignore: &[String]) -> Result<()> {
        let known = |pattern: &&String| {
            headers.iter().any(|header| {
                header
                    .names
                    .iter()
                    .any(|name| matches_pattern(pattern, name))
            })
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
        Error::input(
            InputPlace::file(self.path).row(1),
            format!("no column matches '{pattern}'"),
        )
        .with_remedy(self.remedy(pattern))
    }

    /// The names that the file has; first the one that was probably meant.
    fn remedy(&self, wanted: &str) -> String {
        let names = format!("the file has: {}", first_names(self.names));
        // A cost of earlier periods, as `fit` names them, which no user has.
        if let Some((_, lag)) = wanted.rsplit_once("_lag")
            && lag.parse::<usize>().is_ok()
        {
            return format!(
                "it has the costs of {lag} period{} before: `regretless fit --config SETTINGS \
                 --rows-only` writes rows with them; {names}",
                plural(lag.parse().unwrap_or(0))
            );
        }
        match nearest_name(wanted, self.names.iter().map(String::as_str)) {
            Some(name) => format!("did you mean '{name}'? {names}"),
            None => names,
        }
    }
}

pub(super) fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| matches_pattern(pattern, name))
}
