//! Checking a table keeps no copy of it in memory: tables may be larger than the memory. A leak is
//! found wherever it is.
//!
//! One test in a process of its own, since the peak is that of the process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use regretless::Dataset;
use regretless::data::DataCheck;

const ROWS: usize = 100;
const COSTS: usize = 200_000;
/// Not among the first that are compared at a time.
const LEAKED_COST: usize = 150_000;

/// A figure of /proc/self/status, in bytes.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kibibytes = line.split_whitespace().nth(1).unwrap();
    1024 * kibibytes.parse::<usize>().unwrap()
}

/// Pseudorandom, so no two columns are alike (the mixing step of SplitMix64).
fn cost(row: usize, column: usize) -> f64 {
    let mut bits = (row * COSTS + column) as u64;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) % 1_000_003) as f64
}

#[test]
fn checking_a_table_of_many_costs_takes_less_memory_than_a_copy_of_it() {
    let features: Vec<[f64; 2]> = (0..ROWS)
        .map(|row| [(row as f64).sin(), (1.0 + cost(row, LEAKED_COST)).ln()])
        .collect();
    let costs: Vec<Vec<f64>> = (0..ROWS)
        .map(|row| (0..COSTS).map(|column| cost(row, column)).collect())
        .collect();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    drop(costs);
    // Sets the peak to what is in use now.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS");
    let found = DataCheck::new(&data).run();
    let growth = memory("VmHWM").saturating_sub(before);
    assert_eq!(found.len(), 1, "{found:?}");
    let named = format!("with cost c{LEAKED_COST}:");
    assert!(found[0].message.contains(&named), "{found:?}");
    let table = ROWS * COSTS * size_of::<f32>();
    assert!(growth < table, "{growth} bytes for a table of {table}");
}
