//! Tests that combine several modules and use internals.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot continue should fail at once"
)]

use std::path::PathBuf;

mod backtest;
mod coverage;

/// The folder with golden files, published instances and real data. A test whose file is missing
/// fails.
pub fn reference_data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}
