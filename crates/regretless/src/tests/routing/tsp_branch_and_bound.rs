//! Branch and bound for the TSP on 1-trees: brute force, golden optima, limits.

use super::{KINDS, LimitChecks, assert_golden, random_costs, scale, solve_checked};
use crate::tests::common::{assert_close, golden, rows};
use regretless::data::synthetic::SyntheticSpec;
use regretless::problem::{Benchmark, ProblemKind, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::complete_graph::EdgeCostMatrix;
use regretless::solve::tsp::TspBranchAndBound;
use regretless::solve::{SearchLimits, Solution, SolveStatus};

fn solve_within(nodes: usize, costs: &[f64], limits: SearchLimits) -> Solution {
    solve_checked(
        &Tsp::new(nodes).unwrap(),
        &mut TspBranchAndBound::new(nodes, limits),
        costs,
    )
}

fn solve(nodes: usize, costs: &[f64]) -> Solution {
    let solution = solve_within(nodes, costs, SearchLimits::default());
    assert_eq!(solution.status, SolveStatus::Optimal);
    solution
}

/// The optimum by dynamic programming over subsets (Held and Karp 1962).
fn brute_force(nodes: usize, costs: &[f64]) -> f64 {
    let table = EdgeCostMatrix::new(nodes, costs);
    let (inner, full) = (nodes - 1, (1 << (nodes - 1)) - 1);
    let mut min_path_cost = vec![f64::INFINITY; (full + 1) * inner];
    for last in 0..inner {
        min_path_cost[(1 << last) * inner + last] = table.between(inner as u32, last as u32);
    }
    for set in 1..=full {
        for last in (0..inner).filter(|last| set >> last & 1 == 1) {
            let path_cost = min_path_cost[set * inner + last];
            for next in (0..inner).filter(|next| set >> next & 1 == 0) {
                let slot = &mut min_path_cost[(set | 1 << next) * inner + next];
                *slot = slot.min(path_cost + table.between(last as u32, next as u32));
            }
        }
    }
    (0..inner)
        .map(|last| min_path_cost[full * inner + last] + table.between(last as u32, inner as u32))
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn the_optimal_tour_equals_brute_force_on_all_kinds_of_costs() {
    for case in 0..600 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 11, [case, 0]);
        let (nodes, kind) = (3 + (case as usize / KINDS) % 9, case as usize % KINDS);
        let costs = random_costs(nodes, kind, &mut stream);
        let (actual, expected) = (solve(nodes, &costs).objective, brute_force(nodes, &costs));
        assert!(
            (actual - expected).abs() <= 2e-12 * scale(&costs) * nodes as f64,
            "case {case}, kind {kind}, {nodes} nodes: {actual} not {expected}"
        );
    }
}

#[test]
fn golden_optima_are_found() {
    let file = golden("solvers");
    let expected = &file["problems"]["TSP9"];
    let actual: Vec<_> = rows(&expected["costs"])
        .iter()
        .map(|costs| solve(9, costs))
        .collect();
    assert_golden(&actual, expected, 1e-12);
}

#[test]
fn a_reused_solver_returns_the_same_as_a_new_one() {
    let problem = Tsp::new(14).unwrap();
    let mut reused = problem.solver(&SearchLimits::default());
    for case in 0..60 {
        let costs = random_costs(
            14,
            case % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 5, [case as u64, 1]),
        );
        assert_eq!(reused.solve(&costs).unwrap(), solve(14, &costs));
    }
}

#[test]
fn three_and_four_nodes_are_solved() {
    assert_eq!(solve(3, &[1.0, 2.0, 3.0]).objective, 6.0);
    assert_eq!(solve(4, &[9.0, 1.0, 1.0, 1.0, 1.0, 9.0]).objective, 4.0);
}

#[test]
fn a_search_stopped_at_a_limit_returns_valid_bounds() {
    let mut checks = LimitChecks::new();
    for case in 0..40 {
        let nodes = 11;
        let costs = random_costs(
            nodes,
            case % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 3, [case as u64, 2]),
        );
        let optimum = brute_force(nodes, &costs);
        let tolerance = 1e-9 * scale(&costs).max(1.0);
        for limits in [
            SearchLimits {
                nodes: 0,
                gap: 0.0,
                ..SearchLimits::default()
            },
            SearchLimits {
                nodes: 1,
                gap: 0.0,
                ..SearchLimits::default()
            },
            SearchLimits {
                nodes: 1000,
                gap: 0.05,
                ..SearchLimits::default()
            },
        ] {
            let solution = solve_within(nodes, &costs, limits);
            assert!(solution.status != SolveStatus::LimitReached || limits.nodes <= 1);
            checks.check(&solution, optimum, limits.gap, tolerance);
        }
    }
    assert!(checks.limited > 0 && checks.within_gap > 0);
}

#[test]
fn golden_true_solutions_are_optimal_for_true_costs() {
    let file = golden("losses_tsp7_min");
    let (costs, expected) = (
        rows(&file["inputs"]["true_cost"]),
        rows(&file["inputs"]["true_obj"]).concat(),
    );
    let actual: Vec<f64> = costs
        .iter()
        .map(|costs| solve(7, costs).objective)
        .collect();
    assert_close(&actual, &expected, 1e-8, "true objectives");
}

#[test]
fn fifteen_nodes_equal_brute_force() {
    for case in 0..24 {
        let costs = random_costs(
            15,
            case % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 8, [case as u64, 15]),
        );
        let (actual, expected) = (solve(15, &costs).objective, brute_force(15, &costs));
        assert!(
            (actual - expected).abs() <= 3e-11 * scale(&costs),
            "case {case}: {actual} not {expected}"
        );
    }
}

#[test]
fn the_optimum_does_not_depend_on_the_order_of_nodes() {
    let nodes = 36;
    for case in 0..40 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 17, [case, 3]);
        let costs = random_costs(nodes, case as usize % KINDS, &mut stream);
        let mut permutation: Vec<u32> = (0..nodes as u32).collect();
        stream.shuffle(&mut permutation);
        let table = EdgeCostMatrix::new(nodes, &costs);
        let pairs = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j)));
        let permuted: Vec<f64> = pairs
            .map(|(i, j)| table.between(permutation[i], permutation[j]))
            .collect();
        let (cost, permuted_cost) = (
            solve(nodes, &costs).objective,
            solve(nodes, &permuted).objective,
        );
        assert!(
            (cost - permuted_cost).abs() <= 1e-10 * table.scale(),
            "case {case}: {cost} and {permuted_cost}"
        );
    }
}

#[test]
fn the_benchmark_and_the_serialized_problem_have_their_names() {
    let benchmark: Benchmark = "tsp12".parse().unwrap();
    let (spec, data) = benchmark.generate(SyntheticSpec::paper(2, 1)).unwrap();
    assert_eq!(benchmark.to_string(), "TSP12");
    assert_eq!(
        serde_json::to_string(&spec).unwrap(),
        r#"{"kind":"tsp","nodes":12}"#
    );
    assert_eq!(
        (spec.build().unwrap().name().as_str(), data.costs().cols()),
        ("TSP12", 66)
    );
    assert!(
        "TSP2"
            .parse::<Benchmark>()
            .unwrap()
            .generate(SyntheticSpec::paper(2, 1))
            .is_err()
    );
}
