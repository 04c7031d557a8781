//! What a model was trained on and how, as its file records it.

use serde::{Deserialize, Deserializer, Serialize};

/// Reads a number that JSON has no value for as NaN.
pub(crate) fn number_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// The record of a training. Nothing in it depends on the time, the machine or the number of
/// threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrainingRecord {
    /// Version of the program.
    pub(crate) program_version: String,
    /// BLAKE3 over features, costs and weights of all rows for training, validation and test, in
    /// this order.
    pub(crate) data_hash: String,
    /// Whether rows had weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_row_weights: bool,
    /// Rows for training, validation and test.
    pub(crate) rows: [usize; 3],
    /// How the rows were divided.
    pub(crate) split: String,
    /// The settings of the training.
    pub(crate) settings: serde_json::Value,
    /// The limits of labels and decisions.
    pub(crate) limits: serde_json::Value,
    /// The heuristic that made labels and decisions, if they are not exact.
    pub(crate) heuristic: Option<String>,
    /// Regret on the validation rows, if it was measured.
    pub(crate) validation: Option<RecordedRegret>,
    /// Regret on the test rows, if it was measured.
    pub(crate) test: Option<RecordedRegret>,
    /// Whether the sketch of the rows (array `training.sketch`) has all of them.
    pub(crate) sketch_is_complete: bool,
}

/// Regret that was measured after the training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedRegret {
    /// Number of rows.
    pub(crate) instances: usize,
    /// Mean regret in units of the objective.
    pub(crate) regret: f64,
    /// Sum of regrets divided by the sum of the absolute optimal objectives; NaN if there is regret
    /// and all of these are 0.
    #[serde(deserialize_with = "number_or_nan")]
    pub(crate) normalized_regret: f64,
}
