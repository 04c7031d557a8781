//! Branch and cut agrees with the 1-tree search and with itself; its relaxations bound tours.

use super::measure::kinds;
use super::{Claims, KINDS, checked, random_costs, scale};
use regretless::problem::{Benchmark, Tsp};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::complete_graph::edges_at;
use regretless::solve::relaxation::Relaxation;
use regretless::solve::tsp::TspBranchAndBound;
use regretless::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use regretless::solve::{SearchLimits, Solution, SolveStatus, Solver};

fn solve(nodes: usize, costs: &[f64], limits: SearchLimits) -> Solution {
    checked(
        &Tsp::new(nodes).unwrap(),
        &mut TspBranchAndCut::new(nodes, limits),
        costs,
    )
}

/// Both engines on the same costs. Ties keep the 1-tree search busy for ever, so it has a limit;
/// then what it knows must at least not contradict branch and cut. Returns whether both have a
/// proof.
fn assert_agreement(nodes: usize, costs: &[f64], place: &str) -> bool {
    let other = TspBranchAndBound::new(
        nodes,
        SearchLimits {
            nodes: 3000,
            gap: 0.0,
        },
    )
    .solve(costs)
    .unwrap();
    let found = solve(nodes, costs, SearchLimits::default());
    assert_eq!(found.status, SolveStatus::Optimal, "{place}: {found:?}");
    let slack = 1e-10 * scale(costs) * nodes as f64;
    let proved = other.status == SolveStatus::Optimal;
    let (low, high) = (
        if proved { other.objective } else { other.bound },
        other.objective,
    );
    let agrees = found.objective >= low - slack && found.objective <= high + slack;
    assert!(agrees, "{place}: {} not in {low}..{high}", found.objective);
    proved
}

fn assert_agreement_on_kinds(cases: std::ops::Range<u64>) {
    let mut proved = 0;
    for case in cases.clone() {
        let mut stream = RandomStream::new(Purpose::Benchmark, 21, [case, 0]);
        let (nodes, kind) = (5 + (case as usize * 7) % 56, case as usize % KINDS);
        let costs = random_costs(nodes, kind, &mut stream);
        proved += usize::from(assert_agreement(
            nodes,
            &costs,
            &format!("case {case}, kind {kind}, {nodes} nodes"),
        ));
    }
    assert!(proved as f64 >= 0.8 * cases.count() as f64, "{proved}");
}

#[test]
fn both_exact_searches_find_the_same_cost() {
    assert_agreement_on_kinds(0..120);
}

#[test]
#[ignore = "takes a minute"]
fn both_exact_searches_find_the_same_cost_on_many_instances() {
    assert_agreement_on_kinds(120..1000);
}

/// The costs that training asks for: true, predicted, and 2·predicted − true, of which most are
/// negative.
#[test]
fn both_exact_searches_find_the_same_cost_on_the_papers_data() {
    let (mut seen, mut negative) = (0, 0);
    for nodes in 5..=60 {
        for (kind, rows) in kinds(Benchmark::Tsp { nodes }, 4).1 {
            for (row, costs) in rows.iter().enumerate() {
                assert!(assert_agreement(
                    nodes,
                    costs,
                    &format!("TSP{nodes} {kind} {row}")
                ));
                seen += 1;
                negative += usize::from(costs.iter().any(|cost| *cost < 0.0));
            }
        }
    }
    assert!(seen >= 500 && negative >= 250, "{negative} of {seen}");
}

#[test]
fn relaxations_bound_the_tour_and_keep_their_rules() {
    for case in 0..60 {
        let nodes = 5 + case as usize % 30;
        let costs = random_costs(
            nodes,
            case as usize % KINDS,
            &mut RandomStream::new(Purpose::Benchmark, 31, [case, 0]),
        );
        let tour = solve(nodes, &costs, SearchLimits::default()).objective;
        let scale = scale(&costs);
        let [plain, tight] = [Relaxation::Plain, Relaxation::Tight].map(|kind| {
            let relaxed = TspRelaxation::new(nodes, kind).solve(&costs).unwrap();
            let mut dense = vec![0.0; costs.len()];
            relaxed.solution.decision.write_dense(&mut dense);
            assert!(dense.iter().all(|value| (0.0..=1.0).contains(value)));
            let degree = |node: usize| edges_at(nodes, node).map(|edge| dense[edge]).sum::<f64>();
            assert!((0..nodes).all(|node| (degree(node) - 2.0).abs() < 1e-7));
            assert!(relaxed.solution.objective - relaxed.solution.bound <= 1e-8 * scale);
            relaxed.solution.objective
        });
        assert!(
            plain <= tight + 1e-8 * scale && tight <= tour + 1e-8 * scale,
            "case {case}: {plain} {tight} {tour}"
        );
    }
}

#[test]
fn within_its_range_a_cost_leaves_the_relaxed_decision_optimal() {
    let mut finite = [0; 2];
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
        let mut engine = TspRelaxation::new(nodes, kind);
        let relaxed = engine.solve(&costs).unwrap().solution;
        let ranges = engine.ranges().unwrap();
        let mut moved = costs.clone();
        for edge in 0..costs.len() {
            assert!(ranges.lower[edge] <= costs[edge] && costs[edge] <= ranges.upper[edge]);
            for (limit, far) in [
                (ranges.lower[edge], -3.0 * scale),
                (ranges.upper[edge], 3.0 * scale),
            ] {
                finite[case as usize % 2] += usize::from(limit.is_finite());
                let limit = if limit.is_finite() {
                    limit
                } else {
                    costs[edge] + far
                };
                moved[edge] = costs[edge] + (1.0 - 1e-6) * (limit - costs[edge]);
                let best = TspRelaxation::new(nodes, kind)
                    .solve(&moved)
                    .unwrap()
                    .solution
                    .objective;
                let kept = relaxed.decision.dot(&moved);
                assert!(
                    (kept - best).abs() <= 1e-7 * scale,
                    "case {case}, edge {edge} at {limit}: {kept} not {best}"
                );
            }
            moved[edge] = costs[edge];
        }
    }
    assert!(
        finite.iter().all(|finite| *finite > 2000),
        "only {finite:?} ends were looked at"
    );
}

#[test]
fn an_engine_used_again_answers_as_a_fresh_one() {
    let mut reused = TspBranchAndCut::new(40, SearchLimits::default());
    let mut relaxing = TspRelaxation::new(40, Relaxation::Tight);
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
        assert_eq!(relaxing.solve(&costs).unwrap(), fresh);
    }
}

#[test]
fn limits_leave_a_tour_and_a_valid_bound() {
    let mut claims = Claims::new();
    for case in 0..20 {
        let costs = random_costs(
            60,
            3,
            &mut RandomStream::new(Purpose::Benchmark, 61, [case, 0]),
        );
        let optimum = solve(60, &costs, SearchLimits::default()).objective;
        claims.hold(
            &solve(60, &costs, SearchLimits { nodes: 1, gap: 0.0 }),
            optimum,
            (0.0, 1e-9),
        );
        let wide = solve(
            60,
            &costs,
            SearchLimits {
                nodes: 1000,
                gap: 0.01,
            },
        );
        assert_ne!(wide.status, SolveStatus::LimitReached);
        claims.hold(&wide, optimum, (0.01, 1e-9));
    }
    assert!(claims.limited > 0 && claims.gaps > 0);
}
