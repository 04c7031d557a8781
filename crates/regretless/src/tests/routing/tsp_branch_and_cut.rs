//! Branch and cut for the TSP agrees with branch and bound on 1-trees; its relaxations are lower
//! bounds.

use super::{EUCLIDEAN, KINDS, LimitChecks, random_costs, scale, solve_checked};
use crate::tests::common::print_suite_summary;
use crate::tests::measure;
use regretless::problem::{Benchmark, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::complete_graph::edges_at;
use regretless::solve::relaxation::Relaxation;
use regretless::solve::tsp::TspBranchAndBound;
use regretless::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use regretless::solve::{SearchLimits, Solution, SolveStatus, Solver};

fn solve(nodes: usize, costs: &[f64], limits: SearchLimits) -> Solution {
    solve_checked(
        &Tsp::new(nodes).unwrap(),
        &mut TspBranchAndCut::new(nodes, limits),
        costs,
    )
}

/// Both solvers on the same costs. With many ties branch and bound on 1-trees takes too long, so it
/// has a node limit; the optimum of branch and cut must then lie within its bounds. Returns whether
/// branch and bound proved optimality as well.
fn assert_agreement(nodes: usize, costs: &[f64], instance: &str) -> bool {
    let branch_and_bound = TspBranchAndBound::new(
        nodes,
        SearchLimits {
            nodes: 3000,
            gap: 0.0,
            ..SearchLimits::default()
        },
    )
    .solve(costs)
    .unwrap();
    let solution = solve(nodes, costs, SearchLimits::default());
    assert_eq!(
        solution.status,
        SolveStatus::Optimal,
        "{instance}: {solution:?}"
    );
    let tolerance = 1e-10 * scale(costs) * nodes as f64;
    let is_proven = branch_and_bound.status == SolveStatus::Optimal;
    let low = if is_proven {
        branch_and_bound.objective
    } else {
        branch_and_bound.bound
    };
    let (objective, high) = (solution.objective, branch_and_bound.objective);
    assert!(
        objective >= low - tolerance && objective <= high + tolerance,
        "{instance}: {objective} not in {low}..{high}"
    );
    is_proven
}

fn assert_agreement_on_kinds(cases: std::ops::Range<u64>) {
    let mut proven = 0;
    for case in cases.clone() {
        let mut stream = RandomStream::new(Purpose::Benchmark, 21, [case, 0]);
        let (nodes, kind) = (5 + (case as usize * 7) % 56, case as usize % KINDS);
        let costs = random_costs(nodes, kind, &mut stream);
        proven += usize::from(assert_agreement(
            nodes,
            &costs,
            &format!("case {case}, kind {kind}, {nodes} nodes"),
        ));
    }
    let instances = cases.count();
    assert!(proven as f64 >= 0.8 * instances as f64, "{proven}");
    print_suite_summary(instances, Some(proven));
}

#[test]
fn both_exact_solvers_find_the_same_cost() {
    assert_agreement_on_kinds(0..120);
}

#[test]
#[ignore = "takes a minute"]
fn both_exact_solvers_find_the_same_cost_on_many_instances() {
    assert_agreement_on_kinds(120..1000);
}

/// The costs of solver calls in training: true, predicted, and 2·predicted − true, of which most
/// have negative entries.
#[test]
fn both_exact_solvers_find_the_same_cost_on_the_papers_data() {
    let (mut instances, mut negative) = (0, 0);
    for nodes in 5..=60 {
        let (_, costs_by_kind) = measure::kinds(Benchmark::Tsp { nodes }, 4);
        for (kind, rows) in costs_by_kind {
            for (row, costs) in rows.iter().enumerate() {
                assert!(assert_agreement(
                    nodes,
                    costs,
                    &format!("TSP{nodes} {kind} {row}")
                ));
                instances += 1;
                negative += usize::from(costs.iter().any(|cost| *cost < 0.0));
            }
        }
    }
    assert!(
        instances >= 500 && negative >= 250,
        "{negative} of {instances}"
    );
}

#[test]
fn relaxations_are_lower_bounds_and_satisfy_the_degree_constraints() {
    for case in 0..60 {
        let nodes = 5 + case as usize % 30;
        let costs = random_costs(
            nodes,
            case as usize % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 31, [case, 0]),
        );
        let tour_cost = solve(nodes, &costs, SearchLimits::default()).objective;
        let scale = scale(&costs);
        let [plain, tight] = [Relaxation::Plain, Relaxation::Tight].map(|kind| {
            let result = TspRelaxation::new(nodes, kind).solve(&costs).unwrap();
            let mut dense = vec![0.0; costs.len()];
            result.solution.decision.write_dense(&mut dense);
            assert!(dense.iter().all(|value| (0.0..=1.0).contains(value)));
            let degree = |node: usize| edges_at(nodes, node).map(|edge| dense[edge]).sum::<f64>();
            assert!((0..nodes).all(|node| (degree(node) - 2.0).abs() < 1e-7));
            assert!(result.solution.objective - result.solution.bound <= 1e-8 * scale);
            result.solution.objective
        });
        assert!(
            plain <= tight + 1e-8 * scale && tight <= tour_cost + 1e-8 * scale,
            "case {case}: {plain} {tight} {tour_cost}"
        );
    }
}

#[test]
fn a_relaxed_decision_stays_optimal_within_each_cost_range() {
    let mut num_finite_limits = [0; 2];
    for case in 0..72 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 41, [case, 0]);
        let nodes = 5 + case as usize % 18;
        let costs = random_costs(nodes, case as usize % KINDS, &mut stream);
        let kind = if case % 2 == 0 {
            Relaxation::Plain
        } else {
            Relaxation::Tight
        };
        let scale = scale(&costs);
        let mut solver = TspRelaxation::new(nodes, kind);
        let relaxed = solver.solve(&costs).unwrap().solution;
        let ranges = solver.ranges().unwrap();
        let mut moved = costs.clone();
        for edge in 0..costs.len() {
            assert!(ranges.lower[edge] <= costs[edge] && costs[edge] <= ranges.upper[edge]);
            for (limit, far) in [
                (ranges.lower[edge], -3.0 * scale),
                (ranges.upper[edge], 3.0 * scale),
            ] {
                num_finite_limits[case as usize % 2] += usize::from(limit.is_finite());
                let limit = if limit.is_finite() {
                    limit
                } else {
                    costs[edge] + far
                };
                moved[edge] = costs[edge] + (1.0 - 1e-6) * (limit - costs[edge]);
                let resolved = TspRelaxation::new(nodes, kind).solve(&moved).unwrap();
                let optimum = resolved.solution.objective;
                let cost = relaxed.decision.dot(&moved);
                assert!(
                    (cost - optimum).abs() <= 1e-7 * scale,
                    "case {case}, edge {edge} at {limit}: {cost} not {optimum}"
                );
            }
            moved[edge] = costs[edge];
        }
    }
    assert!(
        num_finite_limits
            .iter()
            .all(|num_finite_limits| *num_finite_limits > 2000),
        "only {num_finite_limits:?} limits were checked"
    );
}

#[test]
fn a_reused_solver_returns_the_same_as_a_new_one() {
    let mut reused = TspBranchAndCut::new(40, SearchLimits::default());
    let mut reused_relaxation = TspRelaxation::new(40, Relaxation::Tight);
    for case in 0..20 {
        let costs = random_costs(
            40,
            case % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 51, [case as u64, 1]),
        );
        assert_eq!(
            reused.solve(&costs).unwrap(),
            solve(40, &costs, SearchLimits::default())
        );
        let fresh = TspRelaxation::new(40, Relaxation::Tight)
            .solve(&costs)
            .unwrap();
        assert_eq!(reused_relaxation.solve(&costs).unwrap(), fresh);
    }
}

#[test]
fn a_search_stopped_at_a_limit_returns_a_tour_and_a_valid_bound() {
    let mut checks = LimitChecks::new();
    for case in 0..20 {
        let costs = random_costs(
            60,
            EUCLIDEAN,
            &mut RandomStream::new(Purpose::Benchmark, 61, [case, 0]),
        );
        let optimum = solve(60, &costs, SearchLimits::default()).objective;
        let limited = solve(
            60,
            &costs,
            SearchLimits {
                nodes: 1,
                gap: 0.0,
                ..SearchLimits::default()
            },
        );
        checks.check(&limited, optimum, 0.0, 1e-9);
        let within_gap = solve(
            60,
            &costs,
            SearchLimits {
                nodes: 1000,
                gap: 0.01,
                ..SearchLimits::default()
            },
        );
        assert_ne!(within_gap.status, SolveStatus::LimitReached);
        checks.check(&within_gap, optimum, 0.01, 1e-9);
    }
    assert!(checks.limited > 0 && checks.within_gap > 0);
}
