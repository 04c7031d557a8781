//! Branch and cut agrees with the 1-tree search, with published optima, and with itself.

#![cfg(feature = "highs")]

mod common;

use regretless::problem::{Problem, Tsp};
use regretless::random::{Purpose, Stream};
use regretless::solve::tour::TourSearch;
use regretless::solve::tour::cut::TourCut;
use regretless::solve::tour::edges::num_edges;
use regretless::solve::{Limits, Solution, Solver, Status};

const KINDS: usize = 9;

/// Costs of one of several kinds.
fn random_costs(nodes: usize, kind: usize, stream: &mut Stream) -> Vec<f64> {
    let edges = num_edges(nodes);
    let places: Vec<(f64, f64)> = (0..nodes).map(|_| (stream.unit(), stream.unit())).collect();
    let potentials: Vec<f64> = (0..nodes).map(|_| stream.uniform(-30.0, 30.0)).collect();
    let pairs: Vec<_> = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j))).collect();
    let euclidean = |(i, j): (usize, usize)| (places[i].0 - places[j].0).hypot(places[i].1 - places[j].1);
    match kind {
        0 => (0..edges).map(|_| stream.unit()).collect(),
        1 => (0..edges).map(|_| stream.below(4) as f64).collect(),
        2 => (0..edges).map(|_| stream.uniform(-9.0, -1.0)).collect(),
        3 => pairs.into_iter().map(euclidean).collect(),
        4 => (0..edges).map(|_| 2.0 * stream.uniform(-3.0, 1.0) - stream.unit().powi(6) * 40.0).collect(),
        5 => pairs.into_iter().map(|(i, j)| potentials[i] + potentials[j] + stream.unit()).collect(),
        6 => pairs.into_iter().map(|pair| (euclidean(pair) * 6.0).round() * 0.1).collect(),
        7 => pairs.into_iter().map(|pair| (euclidean(pair) * 1e6).round()).collect(),
        _ => pairs.into_iter().map(|pair| euclidean(pair) * 3.0 + (1.0 + stream.unit()).powi(6) - 20.0).collect(),
    }
}

fn checked(nodes: usize, costs: &[f64], limits: Limits) -> Solution {
    let solution = TourCut::new(nodes, limits).solve(costs).unwrap();
    Tsp { nodes }.check(&solution.decision).unwrap();
    assert!((solution.objective - solution.decision.dot(costs)).abs() <= 1e-9 * (1.0 + solution.objective.abs()));
    assert!(solution.bound <= solution.objective);
    solution
}

/// Both engines on the same costs. Ties keep the 1-tree search busy for ever, so it has a limit; then
/// what it knows must at least not contradict branch and cut.
fn assert_agreement(cases: std::ops::Range<u64>) {
    let mut proved = 0;
    for case in cases.clone() {
        let mut stream = Stream::new(Purpose::Benchmark, 21, [case, 0]);
        let (nodes, kind) = (5 + (case as usize * 7) % 56, case as usize % KINDS);
        let costs = random_costs(nodes, kind, &mut stream);
        let other = TourSearch::new(nodes, Limits { nodes: 3000, gap: 0.0 }).solve(&costs).unwrap();
        let found = checked(nodes, &costs, Limits::default());
        let scale = costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        let place = format!("case {case}, kind {kind}, {nodes} nodes");
        assert_eq!(found.status, Status::Optimal, "{place}: {found:?}");
        let slack = 1e-10 * scale * nodes as f64;
        proved += usize::from(other.status == Status::Optimal);
        let low = if other.status == Status::Optimal { other.objective } else { other.bound };
        let high = other.objective;
        let agrees = found.objective >= low - slack && found.objective <= high + slack;
        assert!(agrees, "{place}: {} not in {low}..{high}", found.objective);
    }
    assert!(proved as f64 >= 0.8 * cases.count() as f64);
}

#[test]
fn both_exact_searches_find_the_same_cost() {
    assert_agreement(0..120);
}

#[test]
#[ignore = "takes a minute"]
fn both_exact_searches_find_the_same_cost_on_many_instances() {
    assert_agreement(120..1000);
}
