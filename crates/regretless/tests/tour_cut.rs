//! Branch and cut agrees with the 1-tree search, with published optima, and with itself.

#![cfg(feature = "highs")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::HashMap;

use regretless::data::tsplib;
use regretless::problem::{Problem, Tsp};
use regretless::random::{Purpose, Stream};
use regretless::solve::relax::Relaxation;
use regretless::solve::tour::TourSearch;
use regretless::solve::tour::cut::{TourCut, TourRelaxation};
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

/// A column of one of the tables beside the TSPLIB files, by instance.
fn published(file: &str, column: usize) -> Option<HashMap<String, f64>> {
    let text = std::fs::read_to_string(common::reference_data()?.join("tsplib").join(file)).unwrap();
    let fields = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    Some(fields.map(|fields| (fields[0].to_string(), fields[column].parse().unwrap())).collect())
}

fn tsplib_costs(name: &str) -> (usize, Vec<f64>) {
    let folder = common::reference_data().unwrap().join("tsplib");
    let instance = tsplib::read(&folder.join(format!("{name}.tsp"))).unwrap();
    (instance.nodes, instance.costs)
}

fn assert_published(names: &[&str]) {
    let Some(optima) = published("optima.csv", 3) else { return };
    for name in names {
        let (nodes, costs) = tsplib_costs(name);
        let found = checked(nodes, &costs, Limits::default());
        assert_eq!((found.status, found.objective), (Status::Optimal, optima[*name]), "{name}");
    }
}

#[test]
fn small_published_optima_are_found() {
    assert_published(&[
        "gr17",
        "gr24",
        "bayg29",
        "bays29",
        "dantzig42",
        "att48",
        "eil51",
        "berlin52",
        "st70",
        "ulysses16",
        "lin105",
        "kroA100",
    ]);
}

#[test]
#[ignore = "takes a minute"]
fn middling_published_optima_are_found() {
    assert_published(&["ch130", "pr76"]);
}

#[test]
#[ignore = "takes minutes"]
fn large_published_optima_are_enclosed() {
    let Some(optima) = published("optima.csv", 3) else { return };
    for (name, most) in [("a280", 200), ("pcb442", 200), ("pr1002", 30)] {
        let (nodes, costs) = tsplib_costs(name);
        let found = checked(nodes, &costs, Limits { nodes: most, gap: 0.0 });
        let optimum = optima[name];
        assert!(found.bound <= optimum && optimum <= found.objective, "{name}: {found:?}");
        assert!(found.objective - found.bound <= 0.005 * optimum, "{name}: {} to {}", found.bound, found.objective);
    }
}

#[test]
fn subtour_relaxations_have_their_published_values() {
    let Some(values) = published("subtour_lp.csv", 2) else { return };
    let mut names: Vec<_> = values.keys().collect();
    names.sort();
    for name in names {
        let (nodes, costs) = tsplib_costs(name);
        let found = TourRelaxation::new(nodes, Relaxation::Tight).solve(&costs).unwrap().solution;
        assert!((found.objective - values[name]).abs() < 1e-6, "{name}: {} not {}", found.objective, values[name]);
        assert!((found.bound - values[name]).abs() < 1e-6, "{name}: bound {} not {}", found.bound, values[name]);
    }
}

#[test]
fn relaxations_bound_the_tour_and_keep_their_rules() {
    for case in 0..60 {
        let nodes = 5 + case as usize % 30;
        let costs = random_costs(nodes, case as usize % KINDS, &mut Stream::new(Purpose::Benchmark, 31, [case, 0]));
        let tour = checked(nodes, &costs, Limits::default()).objective;
        let scale = costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        let [plain, tight] = [Relaxation::Plain, Relaxation::Tight].map(|kind| {
            let relaxed = TourRelaxation::new(nodes, kind).solve(&costs).unwrap();
            let mut degrees = vec![0.0; nodes];
            let mut dense = vec![0.0; costs.len()];
            relaxed.solution.decision.write_dense(&mut dense);
            let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
            for ((i, j), value) in pairs.zip(&dense) {
                assert!((0.0..=1.0).contains(value));
                degrees[i] += value;
                degrees[j] += value;
            }
            assert!(degrees.iter().all(|degree| (degree - 2.0).abs() < 1e-7));
            assert!(relaxed.solution.objective - relaxed.solution.bound <= 1e-8 * scale);
            relaxed.solution.objective
        });
        assert!(plain <= tight + 1e-8 * scale && tight <= tour + 1e-8 * scale, "case {case}: {plain} {tight} {tour}");
    }
}

#[test]
fn within_its_range_a_cost_leaves_the_relaxed_decision_optimal() {
    for case in 0..36 {
        let mut stream = Stream::new(Purpose::Benchmark, 41, [case, 0]);
        let nodes = 5 + case as usize % 18;
        let costs = random_costs(nodes, case as usize % KINDS, &mut stream);
        let kind = if case % 2 == 0 { Relaxation::Plain } else { Relaxation::Tight };
        let scale = costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        let mut engine = TourRelaxation::new(nodes, kind);
        let relaxed = engine.solve(&costs).unwrap().solution;
        let ranges = engine.ranges().unwrap();
        let mut moved = costs.clone();
        for edge in 0..costs.len() {
            assert!(ranges.lower[edge] <= costs[edge] && costs[edge] <= ranges.upper[edge]);
            for (limit, far) in [(ranges.lower[edge], -3.0 * scale), (ranges.upper[edge], 3.0 * scale)] {
                let limit = if limit.is_finite() { limit } else { costs[edge] + far };
                moved[edge] = costs[edge] + 0.999 * (limit - costs[edge]);
                let best = TourRelaxation::new(nodes, kind).solve(&moved).unwrap().solution.objective;
                let kept = relaxed.decision.dot(&moved);
                assert!((kept - best).abs() <= 1e-7 * scale, "case {case}, edge {edge} at {limit}: {kept} not {best}");
            }
            moved[edge] = costs[edge];
        }
    }
}

#[test]
fn an_engine_used_again_answers_as_a_fresh_one() {
    let mut reused = TourCut::new(40, Limits::default());
    let mut relaxing = TourRelaxation::new(40, Relaxation::Tight);
    for case in 0..20 {
        let costs = random_costs(40, case % KINDS, &mut Stream::new(Purpose::Benchmark, 51, [case as u64, 1]));
        assert_eq!(reused.solve(&costs).unwrap(), checked(40, &costs, Limits::default()));
        let fresh = TourRelaxation::new(40, Relaxation::Tight).solve(&costs).unwrap();
        assert_eq!(relaxing.solve(&costs).unwrap(), fresh);
    }
}

#[test]
fn limits_leave_a_tour_and_a_valid_bound() {
    let (mut limited, mut gaps) = (0, 0);
    for case in 0..20 {
        let costs = random_costs(60, 3, &mut Stream::new(Purpose::Benchmark, 61, [case, 0]));
        let optimum = checked(60, &costs, Limits::default()).objective;
        let few = checked(60, &costs, Limits { nodes: 1, gap: 0.0 });
        let wide = checked(60, &costs, Limits { nodes: 1000, gap: 0.01 });
        for found in [&few, &wide] {
            assert!(found.bound <= optimum + 1e-9 && optimum <= found.objective + 1e-9);
        }
        limited += usize::from(few.status == Status::LimitReached);
        match wide.status {
            Status::WithinGap(gap) => {
                gaps += 1;
                assert!(gap <= 0.01 + 1e-9);
            }
            Status::Optimal => {}
            Status::LimitReached => panic!("a thousand nodes are enough"),
        }
    }
    assert!(limited > 0 && gaps > 0, "{limited} {gaps}");
}
