//! What is known about a table besides its rows: columns that are not used or encoded, rows without
//! a decision, and findings of the data check.

use regretless::data::{Finding, InstanceKeys};
use regretless::label::LabeledDataset;

use crate::text::grouped;

mod encoding;
mod findings;
mod names;
mod skipped_rows;
mod unused_columns;

pub use encoding::EncodingReport;
pub use findings::DataFindings;
pub use names::NamesFile;
pub use skipped_rows::SkippedRows;
pub use unused_columns::UnusedColumns;

/// What is known about a table besides its rows.
#[derive(Debug, Clone, Default)]
pub struct TableReport {
    /// Columns that were not read.
    pub unused_columns: UnusedColumns,
    /// Rows without a label.
    pub skipped_rows: SkippedRows,
    /// Findings of the check of the user's table.
    pub findings: Option<DataFindings>,
    /// How the user calls the rows of the table.
    pub keys: Option<InstanceKeys>,
}

impl TableReport {
    /// A table that was checked with these findings.
    pub fn with_findings(findings: Vec<Finding>) -> Self {
        Self {
            findings: Some(findings.into()),
            ..Self::default()
        }
    }
}

/// A fact about data or settings: what it is, and its value.
pub type Fact = (String, String);

/// A table and how it was read.
pub struct TableFacts<'a> {
    /// Where its rows come from.
    pub origin: Vec<Fact>,
    /// What is decided.
    pub problem: String,
    /// Its rows.
    pub table: &'a LabeledDataset,
    /// What becomes of its columns.
    pub encoding: &'a EncodingReport,
    /// Columns that were not read.
    pub unused_columns: &'a UnusedColumns,
}

impl TableFacts<'_> {
    /// All of them, for the end of a page.
    pub fn list(&self) -> Vec<Fact> {
        let mut facts = self.origin.clone();
        let mut add = |name: &str, value: String| facts.push((name.to_string(), value));
        add("problem", self.problem.clone());
        let table = self.table.data();
        let features = table.features();
        let [rows, costs] =
            [features.instances(), table.costs().cols()].map(|count| grouped(count as u64));
        add("rows", format!("{rows} rows with {costs} costs each"));
        let names = if features.are_raw() {
            features.column_names()
        } else {
            features.names().to_vec()
        };
        add("features", names.join(", "));
        if !self.encoding.texts().is_empty() {
            add("encoding", self.encoding.texts().join("; "));
        }
        if let Some(unused) = self.unused_columns.with(self.encoding).text() {
            add("columns not used", unused);
        }
        let skipped = self.table.len() - self.table.rows().len();
        if skipped > 0 {
            let count = grouped(skipped as u64);
            add("rows left out", format!("{count}, without a decision"));
        }
        facts
    }
}
