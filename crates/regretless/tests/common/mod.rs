//! What several integration tests share: where golden files and reference data are, and how to read them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::PathBuf;

use serde_json::Value;

/// A folder named by an environment variable, or its default beside the checkout; `None`, and a word
/// about it, when it is not there.
pub fn folder(variable: &str, default: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(default);
    let path = std::env::var_os(variable).map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there; set {variable}", path.display());
    None
}

/// A golden file by name.
pub fn golden(name: &str) -> Option<Value> {
    let path = folder("REGRETLESS_GOLDEN", "golden")?.join(format!("{name}.json"));
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

/// The folder with published instances and real data.
pub fn reference_data() -> Option<PathBuf> {
    folder("REGRETLESS_DATA", "data")
}

/// A list of numbers; `"inf"` and `"-inf"` count as numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    let number = |v: &Value| v.as_f64().unwrap_or_else(|| v.as_str().unwrap().parse().unwrap());
    value.as_array().unwrap().iter().map(number).collect()
}

/// A list of lists of numbers.
pub fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// Fails unless two lists agree to a relative tolerance.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        let close = a == b || (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert!(close, "{what}[{index}]: found {a}, expected {b}");
    }
}
