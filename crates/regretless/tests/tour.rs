//! Tours are exact: they equal brute force, golden optima and published optima, whatever the costs.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first error")]

mod common;

use common::{golden, numbers, rows};
use regretless::data::synthetic::Recipe;
use regretless::data::tsplib::{self, Instance};
use regretless::problem::{Benchmark, Problem, Tsp};
use regretless::random::{Purpose, Stream};
use regretless::solve::tour::edges::{Distances, num_edges};
use regretless::solve::{Limits, Solution, Status};

fn solve_within(nodes: usize, costs: &[f64], limits: Limits) -> Solution {
    let problem = Tsp { nodes };
    let solution = problem.solver(&limits).solve(costs).unwrap();
    problem.check(&solution.decision).unwrap();
    assert!((solution.objective - solution.decision.dot(costs)).abs() <= 1e-9 * (1.0 + solution.objective.abs()));
    assert!(solution.bound <= solution.objective);
    solution
}

fn solve(nodes: usize, costs: &[f64]) -> Solution {
    let solution = solve_within(nodes, costs, Limits::default());
    assert_eq!(solution.status, Status::Optimal);
    solution
}

/// The optimum by dynamic programming over subsets (Held and Karp 1962).
fn brute_force(nodes: usize, costs: &[f64]) -> f64 {
    let table = Distances::new(nodes, costs);
    let (inner, full) = (nodes - 1, (1 << (nodes - 1)) - 1);
    let mut best = vec![f64::INFINITY; (full + 1) * inner];
    (0..inner).for_each(|last| best[(1 << last) * inner + last] = table.between(inner as u32, last as u32));
    for set in 1..=full {
        for last in (0..inner).filter(|last| set >> last & 1 == 1) {
            let here = best[set * inner + last];
            for next in (0..inner).filter(|next| set >> next & 1 == 0) {
                let slot = &mut best[(set | 1 << next) * inner + next];
                *slot = slot.min(here + table.between(last as u32, next as u32));
            }
        }
    }
    (0..inner)
        .map(|last| best[full * inner + last] + table.between(last as u32, inner as u32))
        .fold(f64::INFINITY, f64::min)
}

const KINDS: usize = 8;

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
        _ => (0..edges).map(|_| stream.below(2) as f64 * 1e6 - stream.unit() * 1e-3).collect(),
    }
}

#[test]
fn the_cheapest_tour_equals_brute_force_on_all_kinds_of_costs() {
    for case in 0..600 {
        let mut stream = Stream::new(Purpose::Benchmark, 11, [case, 0]);
        let (nodes, kind) = (3 + (case as usize / KINDS) % 9, case as usize % KINDS);
        let costs = random_costs(nodes, kind, &mut stream);
        let (found, expected) = (solve(nodes, &costs).objective, brute_force(nodes, &costs));
        let scale = costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        assert!(
            (found - expected).abs() <= 2e-12 * scale * nodes as f64,
            "case {case}, kind {kind}, {nodes} nodes: {found} not {expected}"
        );
    }
}

#[test]
fn golden_optima_are_found() {
    let Some(file) = golden("solvers") else { return };
    let expected = &file["problems"]["TSP9"];
    let found: Vec<_> = rows(&expected["costs"]).iter().map(|costs| solve(9, costs)).collect();
    let objectives: Vec<f64> = found.iter().map(|solution| solution.objective).collect();
    common::assert_close(&objectives, &numbers(&expected["objectives"]), 1e-12, "objectives");
    for (solution, expected) in found.iter().zip(rows(&expected["solutions"])) {
        let mut dense = vec![0.0; expected.len()];
        solution.decision.write_dense(&mut dense);
        assert_eq!(dense, expected);
    }
}

#[test]
fn one_solver_used_again_answers_as_a_fresh_one() {
    let problem = Tsp { nodes: 14 };
    let mut reused = problem.solver(&Limits::default());
    for case in 0..60 {
        let costs = random_costs(14, case % KINDS, &mut Stream::new(Purpose::Benchmark, 5, [case as u64, 1]));
        assert_eq!(reused.solve(&costs).unwrap(), solve(14, &costs));
    }
}

#[test]
fn three_and_four_nodes_work() {
    assert_eq!(solve(3, &[1.0, 2.0, 3.0]).objective, 6.0);
    assert_eq!(solve(4, &[9.0, 1.0, 1.0, 1.0, 1.0, 9.0]).objective, 4.0);
}

/// Published instances with their optima.
fn published(folder: &str, column: &str) -> Vec<(String, Instance, f64)> {
    let Some(data) = common::reference_data() else { return Vec::new() };
    let extension = if folder == "cvrp" { "vrp" } else { "tsp" };
    let table = std::fs::read_to_string(data.join(folder).join("optima.csv")).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = lines.next().unwrap().iter().position(|name| *name == column).unwrap();
    let instance = |name: &str| tsplib::read(&data.join(folder).join(format!("{name}.{extension}"))).unwrap();
    lines.map(|line| (line[0].to_string(), instance(line[0]), line[column].parse().unwrap())).collect()
}

#[test]
fn small_published_instances_are_solved_to_their_optima() {
    for (name, instance, optimum) in published("tsplib", "optimum") {
        if instance.nodes <= 52 {
            assert_eq!(solve(instance.nodes, &instance.costs).objective, optimum, "{name}");
        }
    }
}

#[test]
fn published_optimal_tours_have_the_published_length() {
    let Some(data) = common::reference_data() else { return };
    for (name, instance, optimum) in published("tsplib", "optimum") {
        let Ok(text) = std::fs::read_to_string(data.join("tsplib").join(format!("{name}.opt.tour"))) else { continue };
        let (_, list) = text.split_once("TOUR_SECTION").unwrap();
        let numbers = list.split_whitespace().map_while(|word| word.parse::<i64>().ok()).take_while(|node| *node > 0);
        let order: Vec<u32> = numbers.map(|node| node as u32 - 1).collect();
        assert_eq!(Distances::new(instance.nodes, &instance.costs).length(&order), optimum, "{name}");
    }
}

#[test]
fn local_search_comes_within_one_percent_of_published_optima() {
    for (name, instance, optimum) in published("tsplib", "optimum") {
        let nodes = instance.nodes;
        let solution = solve_within(nodes, &instance.costs, Limits { nodes: 0, gap: 0.0 });
        let excess = solution.objective / optimum - 1.0;
        assert!((0.0..0.01).contains(&excess), "{name}: {} against {optimum}", solution.objective);
        let slack = 1.0 - solution.bound / optimum;
        assert!((0.0..0.05).contains(&slack), "{name}: bound {} against {optimum}", solution.bound);
    }
}

#[test]
fn vehicle_routing_files_have_demands_and_a_depot() {
    for (name, instance, capacity) in published("cvrp", "capacity") {
        assert_eq!((instance.capacity, instance.demands.len()), (Some(capacity), instance.nodes), "{name}");
        assert_eq!((instance.depots, instance.demands[0]), (vec![0], 0.0), "{name}");
    }
}

#[test]
fn a_search_stopped_early_tells_the_truth() {
    for case in 0..40 {
        let nodes = 11;
        let costs = random_costs(nodes, case % KINDS, &mut Stream::new(Purpose::Benchmark, 3, [case as u64, 2]));
        let optimum = brute_force(nodes, &costs);
        let noise = 1e-9 * costs.iter().fold(1.0, |most: f64, cost| cost.abs().max(most));
        for limits in [Limits { nodes: 0, gap: 0.0 }, Limits { nodes: 1, gap: 0.0 }, Limits { nodes: 1000, gap: 0.05 }]
        {
            let solution = solve_within(nodes, &costs, limits);
            assert!(solution.bound <= optimum + noise && optimum <= solution.objective + noise);
            match solution.status {
                Status::Optimal => assert!((solution.objective - optimum).abs() <= noise),
                Status::WithinGap(gap) => {
                    assert!(gap <= 0.05 + 1e-9 && limits.gap > 0.0, "case {case}: {gap}, {limits:?}");
                }
                Status::LimitReached => assert!(limits.nodes <= 1),
            }
        }
    }
}

#[test]
fn golden_true_solutions_are_optimal_for_true_costs() {
    let Some(file) = golden("losses_tsp7_min") else { return };
    let (costs, expected) = (rows(&file["inputs"]["true_cost"]), rows(&file["inputs"]["true_obj"]).concat());
    let found: Vec<f64> = costs.iter().map(|costs| solve(7, costs).objective).collect();
    common::assert_close(&found, &expected, 1e-8, "true objectives");
}

#[test]
fn fifteen_nodes_equal_brute_force_too() {
    for case in 0..24 {
        let costs = random_costs(15, case % KINDS, &mut Stream::new(Purpose::Benchmark, 8, [case as u64, 15]));
        let (found, expected) = (solve(15, &costs).objective, brute_force(15, &costs));
        let scale = costs.iter().fold(1.0, |most: f64, cost| cost.abs().max(most));
        assert!((found - expected).abs() <= 3e-11 * scale, "case {case}: {found} not {expected}");
    }
}

#[test]
fn the_optimum_does_not_depend_on_how_nodes_are_numbered() {
    let nodes = 36;
    for case in 0..40 {
        let mut stream = Stream::new(Purpose::Benchmark, 17, [case, 3]);
        let costs = random_costs(nodes, case as usize % KINDS, &mut stream);
        let mut names: Vec<u32> = (0..nodes as u32).collect();
        stream.shuffle(&mut names);
        let table = Distances::new(nodes, &costs);
        let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
        let renamed: Vec<f64> = pairs.map(|(i, j)| table.between(names[i], names[j])).collect();
        let (one, other) = (solve(nodes, &costs).objective, solve(nodes, &renamed).objective);
        assert!((one - other).abs() <= 1e-10 * table.scale(), "case {case}: {one} and {other}");
    }
}

#[test]
fn the_benchmark_and_the_written_problem_go_by_their_names() {
    let benchmark: Benchmark = "tsp12".parse().unwrap();
    let (spec, data) = benchmark.generate(Recipe::paper(2, 1)).unwrap();
    assert_eq!(benchmark.to_string(), "TSP12");
    assert_eq!(serde_json::to_string(&spec).unwrap(), r#"{"kind":"tsp","nodes":12}"#);
    assert_eq!((spec.build().unwrap().name().as_str(), data.costs().cols()), ("TSP12", 66));
    assert!("TSP2".parse::<Benchmark>().unwrap().generate(Recipe::paper(2, 1)).is_err());
}
