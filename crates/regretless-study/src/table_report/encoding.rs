//! What the encoding of a table does to its columns.

use regretless::data::Features;
use serde_json::{Value, json};

/// Every column that is expanded, filled or not used, and values that no training row has.
#[derive(Debug, Clone, Default)]
pub struct EncodingReport {
    /// Name of a column and what it becomes.
    columns: Vec<(String, String)>,
    /// Name of a column and why it is not used.
    unused: Vec<(String, String)>,
    notes: Vec<String>,
    /// The seed whose training rows it is about, if they differ between seeds.
    seed: Option<u32>,
}

impl EncodingReport {
    /// The report of encoded features; empty if there is nothing to encode.
    pub fn of(features: &Features) -> Self {
        let Some(encoding) = features.encoding() else {
            return Self::default();
        };
        let unused = encoding.unused_columns();
        Self {
            columns: encoding.descriptions(),
            unused: unused
                .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
                .collect(),
            notes: features.encoding_notes().to_vec(),
            seed: None,
        }
    }

    /// The same report, if training rows, and so what columns become, differ between seeds.
    pub fn of_seed(self, seed: u32) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// A sentence for every column that is not used and for values that no training row has.
    pub fn warnings(&self) -> Vec<String> {
        let unused = self.unused.iter();
        let unused = unused.map(|(name, reason)| format!("column {name} is not used: {reason}"));
        unused.chain(self.notes.iter().cloned()).collect()
    }

    /// Names of the columns that are not used, with reasons.
    pub(super) fn unused(&self) -> &[(String, String)] {
        &self.unused
    }

    /// What becomes of each column that is expanded or filled.
    pub fn texts(&self) -> Vec<String> {
        let seed = self
            .seed
            .map_or_else(String::new, |seed| format!(" (seed {seed})"));
        let columns = self.columns.iter();
        columns
            .map(|(name, text)| format!("{name}: {text}{seed}"))
            .collect()
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let columns = self.columns.iter();
        json!({
            "columns": columns
                .map(|(name, text)| json!({"column": name, "encoding": text}))
                .collect::<Vec<Value>>(),
            "notes": self.notes,
        })
    }
}
