//! Reports of stored results: figures show the measured values, and names are escaped.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot continue should fail at once"
)]

mod figures;
mod hostile;
mod reviews;
mod words;

use regretless_study::experiment::ExperimentResults;

/// Stored results of small runs.
const STORED: [&str; 3] = ["components", "weighting", "scale"];

fn stored(name: &str) -> ExperimentResults {
    let file = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}
