//! Rows without a decision, which are left out, and why.

use regretless::data::InstanceKeys;
use regretless::solve::SolveFailure;
use serde::Serialize;

/// Rows without a decision, in order.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct SkippedRows(Vec<SkippedRow>);

/// A row without a decision.
#[derive(Debug, Clone, Serialize)]
struct SkippedRow {
    /// Counted from 0.
    row: usize,
    /// How the user calls it: a date, or an instance of a long table.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Why it has no decision.
    reason: String,
}

impl SkippedRows {
    /// Rows and failures, with the keys of all rows of the table if they have some.
    pub fn new(failed: &[(usize, SolveFailure)], keys: Option<&InstanceKeys>) -> Self {
        let rows = failed.iter().map(|(row, failure)| SkippedRow {
            row: *row,
            key: keys.map(|keys| keys.values()[*row].clone()),
            reason: failure.to_string(),
        });
        Self(rows.collect())
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}
