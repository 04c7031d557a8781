//! Tours and routes are exact: they equal brute force, golden optima, published optima, and each
//! other, whatever the costs.
//!
//! What takes longer is ignored; `cargo test --release -p regretless --test tours --
//! --include-ignored` runs all of it, on every published instance.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "highs")]
#[path = "../../benches/measure/mod.rs"]
mod measure;

#[cfg(feature = "highs")]
mod cut;
#[cfg(feature = "highs")]
mod published;
#[cfg(feature = "highs")]
mod route;
mod search;

use regretless::problem::ProblemKind;
use regretless::random::RandomStream;
use regretless::solve::complete_graph::num_edges;
use regretless::solve::{Solution, SolveStatus, Solver};
use serde_json::Value;

const KINDS: usize = 10;

/// Costs of one of several kinds: real, with ties, negative, metric, mixed, shifted, decimal,
/// large, alike to the paper's, and of very different sizes.
fn random_costs(nodes: usize, kind: usize, stream: &mut RandomStream) -> Vec<f64> {
    let edges = num_edges(nodes);
    let places: Vec<(f64, f64)> = (0..nodes).map(|_| (stream.unit(), stream.unit())).collect();
    let potentials: Vec<f64> = (0..nodes).map(|_| stream.uniform(-30.0, 30.0)).collect();
    let pairs: Vec<_> = (0..nodes)
        .flat_map(|i| (i + 1..nodes).map(move |j| (i, j)))
        .collect();
    let euclidean =
        |(i, j): (usize, usize)| (places[i].0 - places[j].0).hypot(places[i].1 - places[j].1);
    match kind {
        0 => (0..edges).map(|_| stream.unit()).collect(),
        1 => (0..edges).map(|_| stream.index_below(4) as f64).collect(),
        2 => (0..edges).map(|_| stream.uniform(-9.0, -1.0)).collect(),
        3 => pairs.into_iter().map(euclidean).collect(),
        4 => (0..edges)
            .map(|_| 2.0 * stream.uniform(-3.0, 1.0) - stream.unit().powi(6) * 40.0)
            .collect(),
        5 => pairs
            .into_iter()
            .map(|(i, j)| potentials[i] + potentials[j] + stream.unit())
            .collect(),
        6 => pairs
            .into_iter()
            .map(|pair| (euclidean(pair) * 6.0).round() * 0.1)
            .collect(),
        7 => pairs
            .into_iter()
            .map(|pair| (euclidean(pair) * 1e6).round())
            .collect(),
        8 => pairs
            .into_iter()
            .map(|pair| euclidean(pair) * 3.0 + (1.0 + stream.unit()).powi(6) - 20.0)
            .collect(),
        _ => (0..edges)
            .map(|_| stream.index_below(2) as f64 * 1e6 - stream.unit() * 1e-3)
            .collect(),
    }
}

/// Largest absolute cost.
fn scale(costs: &[f64]) -> f64 {
    costs
        .iter()
        .fold(1e-300, |max: f64, cost| cost.abs().max(max))
}

/// An engine's answer, which must be feasible, cost what it says, and not lie below its own bound.
fn checked(problem: &dyn ProblemKind, engine: &mut dyn Solver, costs: &[f64]) -> Solution {
    let solution = engine.solve(costs).unwrap();
    problem.check(&solution.decision).unwrap();
    assert!(
        (solution.objective - solution.decision.dot(costs)).abs()
            <= 1e-9 * (1.0 + solution.objective.abs())
    );
    assert!(solution.bound <= solution.objective);
    solution
}

/// Engines with limits tell the truth: what they claim holds for an optimum that is known.
struct Claims {
    limited: usize,
    gaps: usize,
}

impl Claims {
    fn new() -> Self {
        Self {
            limited: 0,
            gaps: 0,
        }
    }

    fn hold(&mut self, solution: &Solution, optimum: f64, (gap, noise): (f64, f64)) {
        assert!(
            solution.bound <= optimum + noise && optimum <= solution.objective + noise,
            "{solution:?} {optimum}"
        );
        match solution.status {
            SolveStatus::Optimal => assert!((solution.objective - optimum).abs() <= noise),
            SolveStatus::WithinGap(found) => {
                self.gaps += 1;
                assert!(found <= gap + 1e-9, "{found} for {gap}");
            }
            SolveStatus::LimitReached => self.limited += 1,
        }
    }
}

/// Compares decisions with golden ones.
fn assert_golden(found: &[Solution], expected: &Value, tolerance: f64) {
    let objectives: Vec<f64> = found.iter().map(|solution| solution.objective).collect();
    common::assert_close(
        &objectives,
        &common::numbers(&expected["objectives"]),
        tolerance,
        "objectives",
    );
    for (solution, expected) in found.iter().zip(common::rows(&expected["solutions"])) {
        let mut dense = vec![0.0; expected.len()];
        solution.decision.write_dense(&mut dense);
        assert_eq!(dense, expected);
    }
}
