//! The TSP and CVRP solvers are exact: their optima equal brute force, golden values, published
//! optima, and each other, for all kinds of costs.
//!
//! Slow tests are ignored; `cargo test --release -p regretless --lib -- tests::routing
//! --include-ignored` runs all of them.

#[cfg(feature = "highs")]
mod cvrp;
#[cfg(feature = "highs")]
mod published;
mod tsp_branch_and_bound;
#[cfg(feature = "highs")]
mod tsp_branch_and_cut;

use crate::tests::common;
use regretless::problem::ProblemKind;
use regretless::random::RandomStream;
use regretless::solve::complete_graph::num_edges;
use regretless::solve::{Solution, SolveStatus, Solver};
use serde_json::Value;

/// Number of kinds of [`random_costs`].
const KINDS: usize = 10;
/// The kind of [`random_costs`] with Euclidean distances of random points.
const EUCLIDEAN: usize = 3;

/// Costs of the edges of a complete graph, of one of [`KINDS`] kinds.
fn random_costs(nodes: usize, kind: usize, stream: &mut RandomStream) -> Vec<f64> {
    let edges = num_edges(nodes);
    let points: Vec<(f64, f64)> = (0..nodes)
        .map(|_| (stream.standard_uniform(), stream.standard_uniform()))
        .collect();
    let potentials: Vec<f64> = (0..nodes).map(|_| stream.uniform(-30.0, 30.0)).collect();
    let pairs: Vec<_> = (0..nodes)
        .flat_map(|i| (i + 1..nodes).map(move |j| (i, j)))
        .collect();
    let euclidean =
        |(i, j): (usize, usize)| (points[i].0 - points[j].0).hypot(points[i].1 - points[j].1);
    match kind {
        // Real numbers.
        0 => (0..edges).map(|_| stream.standard_uniform()).collect(),
        // Small integers, with many ties.
        1 => (0..edges).map(|_| stream.index_below(4) as f64).collect(),
        // Negative.
        2 => (0..edges).map(|_| stream.uniform(-9.0, -1.0)).collect(),
        EUCLIDEAN => pairs.into_iter().map(euclidean).collect(),
        // Of both signs, as 2·predicted − true.
        4 => (0..edges)
            .map(|_| 2.0 * stream.uniform(-3.0, 1.0) - stream.standard_uniform().powi(6) * 40.0)
            .collect(),
        // Shifted by node potentials, which do not change the optimal tour.
        5 => pairs
            .into_iter()
            .map(|(i, j)| potentials[i] + potentials[j] + stream.standard_uniform())
            .collect(),
        // Decimal, with ties.
        6 => pairs
            .into_iter()
            .map(|pair| (euclidean(pair) * 6.0).round() * 0.1)
            .collect(),
        // Large integers.
        7 => pairs
            .into_iter()
            .map(|pair| (euclidean(pair) * 1e6).round())
            .collect(),
        // Similar to the synthetic costs of the paper.
        8 => pairs
            .into_iter()
            .map(|pair| euclidean(pair) * 3.0 + (1.0 + stream.standard_uniform()).powi(6) - 20.0)
            .collect(),
        // Of very different magnitudes.
        _ => (0..edges)
            .map(|_| stream.index_below(2) as f64 * 1e6 - stream.standard_uniform() * 1e-3)
            .collect(),
    }
}

/// Largest absolute cost, at least a tiny positive number, so tolerances are positive.
fn scale(costs: &[f64]) -> f64 {
    costs
        .iter()
        .fold(1e-300, |max: f64, cost| cost.abs().max(max))
}

/// Solves; the solution must be feasible, have the stated objective, and a bound not above it.
fn solve_checked(problem: &dyn ProblemKind, solver: &mut dyn Solver, costs: &[f64]) -> Solution {
    let solution = solver.solve(costs).unwrap();
    problem.check(&solution.decision).unwrap();
    assert!(
        (solution.objective - solution.decision.dot(costs)).abs()
            <= 1e-9 * (1.0 + solution.objective.abs())
    );
    assert!(solution.bound <= solution.objective);
    solution
}

/// Checks bound and status of solutions found within limits against known optima, and counts them.
struct LimitChecks {
    limited: usize,
    within_gap: usize,
}

impl LimitChecks {
    fn new() -> Self {
        Self {
            limited: 0,
            within_gap: 0,
        }
    }

    fn check(&mut self, solution: &Solution, optimum: f64, max_gap: f64, tolerance: f64) {
        assert!(
            solution.bound <= optimum + tolerance && optimum <= solution.objective + tolerance,
            "{solution:?} {optimum}"
        );
        match solution.status {
            SolveStatus::Optimal => assert!((solution.objective - optimum).abs() <= tolerance),
            SolveStatus::WithinGap(gap) => {
                self.within_gap += 1;
                assert!(gap <= max_gap + 1e-9, "{gap} above {max_gap}");
            }
            SolveStatus::LimitReached => self.limited += 1,
        }
    }
}

/// Compares solutions with golden ones.
fn assert_golden(solutions: &[Solution], expected: &Value, tolerance: f64) {
    let objectives: Vec<f64> = solutions
        .iter()
        .map(|solution| solution.objective)
        .collect();
    common::assert_close(
        &objectives,
        &common::numbers(&expected["objectives"]),
        tolerance,
        "objectives",
    );
    for (solution, expected) in solutions.iter().zip(common::rows(&expected["solutions"])) {
        let mut dense = vec![0.0; expected.len()];
        solution.decision.write_dense(&mut dense);
        assert_eq!(dense, expected);
    }
}
