//! Reports of kept results: what is drawn is what was measured, and names stay text.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

mod figures;
mod hostile;
mod words;

use regretless::experiment::ExperimentResults;

/// Kept results of small runs.
const KEPT: [&str; 3] = ["components", "weighting", "scale"];

fn kept(name: &str) -> ExperimentResults {
    let file = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}
