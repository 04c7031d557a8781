//! Memory needed to label a table of large tours, on two threads.
//!
//! `cargo bench -p regretless --bench memory`, optionally with the number of rows of the table and
//! of rows to solve after `--` (default 12 and 12): `-- 200 12` holds a full table and solves a
//! part of it. Costs are linear in five features, as predicted costs are, or, with the word `true`,
//! those of the paper, which take longer. With the word `warm` warm starts are kept, as in
//! training; labeling keeps none. Prints the memory in use and its peak as rows are solved.

#![allow(clippy::print_stdout, reason = "a benchmark reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

#[path = "measure/random.rs"]
#[allow(dead_code, reason = "each benchmark uses its own part")]
mod random;

use std::sync::Arc;

use random::SplitMix64;
use regretless::Method;
use regretless::data::Matrix;
use regretless::data::SyntheticSpec;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless::problem::{Benchmark, ProblemKind, Tsp};

const NODES: usize = 1000;
const FEATURES: usize = 5;
/// Rows solved between two reports.
const TOGETHER: usize = 4;

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let (rows, solved) = (
        numbers.first().map_or(12, |rows| *rows),
        numbers.get(1).map_or(12, |solved| *solved),
    );
    let problem = Tsp::new(NODES).unwrap();
    let word = |name: &str| std::env::args().any(|word| word == name);
    let costs = match word("true") {
        true => Benchmark::Tsp { nodes: NODES }
            .generate(SyntheticSpec::paper(rows, 135))
            .unwrap()
            .1
            .costs()
            .clone(),
        false => predicted(rows, problem.num_costs()),
    };
    println!("{rows} rows of {} costs: {}", problem.num_costs(), memory());
    let oracle = Oracle::new(Arc::new(problem)).with_threads(Threads::new(2).unwrap());
    let method = if word("warm") { "SPO+ warm" } else { "SPO+" };
    let stage = method.parse::<Method>().unwrap().into_single_stage();
    let training_oracle = stage
        .unwrap()
        .training_oracle(&oracle, 0)
        .unwrap()
        .with_warm_starts(rows);
    let mut results = Vec::new();
    let all: Vec<usize> = (0..rows.min(solved)).collect();
    for rows in all.chunks(TOGETHER) {
        let part = part(&costs, rows);
        results.extend(
            training_oracle
                .solve_rows(&part, rows, &NoopObserver)
                .unwrap(),
        );
        println!("{:3} rows solved: {}", results.len(), memory());
    }
    assert!(results.iter().all(Result::is_ok));
}

/// Some rows of a table.
fn part(costs: &Matrix, rows: &[usize]) -> Matrix {
    let mut part = Matrix::zeros(rows.len(), costs.cols());
    rows.iter()
        .enumerate()
        .for_each(|(place, row)| part.row_mut(place).copy_from_slice(costs.row(*row)));
    part
}

/// Costs that are linear in features: like those of the paper's data after a least-squares fit.
fn predicted(rows: usize, count: usize) -> Matrix {
    let mut stream = SplitMix64::new(135);
    let mut costs = Matrix::zeros(rows, count);
    let features: Vec<[f64; FEATURES]> = (0..rows)
        .map(|_| [(); FEATURES].map(|()| stream.normal()))
        .collect();
    for cost in 0..count {
        let (base, weights) = (
            stream.uniform(4.0, 8.0),
            [(); FEATURES].map(|()| stream.uniform(-4.0, 4.0)),
        );
        for (row, features) in features.iter().enumerate() {
            let sum: f64 = features
                .iter()
                .zip(weights)
                .map(|(feature, weight)| feature * weight)
                .sum();
            costs.row_mut(row)[cost] = (base + sum) as f32;
        }
    }
    costs
}

/// Memory in use and its peak, if the system reports them.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| {
        status
            .lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split(' ').nth_back(1))
    };
    let megabytes = |name| {
        of(name)
            .and_then(|text| text.parse::<f64>().ok())
            .map_or(f64::NAN, |kb| kb / 1024.0)
    };
    format!(
        "{:.0} MB in use, {:.0} MB at most",
        megabytes("VmRSS"),
        megabytes("VmHWM")
    )
}
