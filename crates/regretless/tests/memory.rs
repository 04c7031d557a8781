//! Checking a table keeps no copy of it in memory: tables may be larger than the memory.
//!
//! One test in a process of its own, since the peak is that of the process.

#![cfg(target_os = "linux")]

use std::fs;

use regretless::Dataset;
use regretless::data::DataCheck;

const ROWS: usize = 100;
const COSTS: usize = 200_000;

/// A figure of /proc/self/status, in bytes.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kibibytes = line.split_whitespace().nth(1).unwrap();
    1024 * kibibytes.parse::<usize>().unwrap()
}

#[test]
fn checking_a_table_of_many_costs_takes_less_memory_than_a_copy_of_it() {
    let features: Vec<[f64; 1]> = (0..ROWS).map(|row| [(row as f64).sin()]).collect();
    let costs: Vec<Vec<f64>> = (0..ROWS)
        .map(|row| {
            let cost = |column: usize| ((1 + row * 7919 + column * 104_729) % 1009) as f64;
            (0..COSTS).map(cost).collect()
        })
        .collect();
    let data = Dataset::from_arrays(&features, &costs).unwrap();
    drop(costs);
    // Sets the peak to what is in use now.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS");
    assert!(DataCheck::new(&data).run().is_empty());
    let growth = memory("VmHWM").saturating_sub(before);
    let table = ROWS * COSTS * size_of::<f64>();
    assert!(growth < table, "{growth} bytes for a table of {table}");
}
