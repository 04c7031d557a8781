//! Columns of a table that are not used.

use serde_json::{Value, json};

use super::encoding::EncodingReport;
use crate::text::first_columns;

/// Names of columns that are not used, with reasons.
#[derive(Debug, Clone, Default)]
pub struct UnusedColumns(Vec<(String, String)>);

impl UnusedColumns {
    /// Columns and why they are not used.
    pub fn new(columns: Vec<(String, String)>) -> Self {
        Self(columns)
    }

    /// The first of them for people; `None` if every column is used.
    pub fn text(&self) -> Option<String> {
        let described: Vec<String> = self
            .0
            .iter()
            .map(|(name, reason)| format!("{name} ({reason})"))
            .collect();
        (!described.is_empty()).then(|| first_columns(&described))
    }

    /// All of them for machines.
    pub fn json(&self) -> Value {
        let columns = self.0.iter();
        columns
            .map(|(name, reason)| json!({"column": name, "reason": reason}))
            .collect()
    }

    /// The columns that were not read, and those that the encoding does not use.
    pub fn with(&self, encoding: &EncodingReport) -> Self {
        let mut all = self.0.clone();
        all.extend(encoding.unused().iter().cloned());
        Self(all)
    }
}
