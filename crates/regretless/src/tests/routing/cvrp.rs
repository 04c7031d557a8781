//! CVRP solutions equal brute force and golden optima; the relaxations are lower bounds.

use super::{EUCLIDEAN, KINDS, LimitChecks, assert_golden, random_costs, scale, solve_checked};
use crate::tests::common::{golden, numbers, rows};
use regretless::problem::{
    Cvrp, LinearBuilder, LinearProblem, ProblemKind, ProblemSpec, Sense, VariableDomain,
};
use regretless::random::{Purpose, RandomStream};
use regretless::solve::complete_graph::{EdgeCostMatrix, edges_at, num_edges};
use regretless::solve::relaxation::Relaxation;
use regretless::solve::{SearchLimits, Solution, SolveFailure, SolveStatus};

/// A problem of 5 to 8 nodes, sometimes infeasible.
fn random_problem(single_customer_routes: bool, stream: &mut RandomStream) -> Cvrp {
    let customers = 4 + stream.index_below(4);
    let factor = if stream.index_below(2) == 0 {
        1.0
    } else {
        stream.uniform(0.1, 3.0)
    };
    let demands: Vec<f64> = (0..customers)
        .map(|_| factor * stream.index_below(9) as f64)
        .collect();
    let vehicles = 1 + stream.index_below(4);
    let min = demands.iter().copied().fold(factor, f64::max);
    let mean_load = demands.iter().sum::<f64>() / vehicles as f64;
    let capacity = (factor * (mean_load * stream.uniform(0.95, 1.6) / factor).round()).max(min);
    Cvrp::new(demands, capacity, vehicles)
        .unwrap()
        .with_single_customer_routes(single_customer_routes)
}

/// The optimum by dynamic programming over subsets, first for single routes, then for sets of
/// routes.
fn brute_force(problem: &Cvrp, costs: &[f64]) -> Option<f64> {
    let customers = problem.demands().len();
    let table = EdgeCostMatrix::new(customers + 1, costs);
    let sets = 1 << customers;
    let members = |set: usize| (0..customers).filter(move |i| set >> i & 1 == 1);
    let mut paths = vec![vec![f64::INFINITY; customers]; sets];
    let mut route = vec![f64::INFINITY; sets];
    for set in 1..sets {
        for last in members(set) {
            let others = set & !(1 << last);
            let node = last as u32 + 1;
            paths[set][last] = match others {
                0 => table.between(0, node),
                _ => members(others)
                    .map(|i| paths[others][i] + table.between(i as u32 + 1, node))
                    .fold(f64::INFINITY, f64::min),
            };
        }
        let load: f64 = members(set).map(|i| problem.demands()[i]).sum();
        let is_forbidden_single = set.count_ones() == 1 && !problem.allows_single_customer_routes();
        if load <= problem.capacity() * (1.0 + 1e-9) && !is_forbidden_single {
            let closed = members(set).map(|i| paths[set][i] + table.between(i as u32 + 1, 0));
            route[set] = closed.fold(f64::INFINITY, f64::min);
        }
    }
    let mut min_cost = vec![vec![f64::INFINITY; sets]; problem.vehicles() + 1];
    min_cost[0][0] = 0.0;
    for used in 1..=problem.vehicles() {
        for set in 0..sets {
            let mut min = min_cost[used - 1][set];
            let mut subset = set;
            while subset > 0 {
                min = min.min(min_cost[used - 1][set & !subset] + route[subset]);
                subset = (subset - 1) & set;
            }
            min_cost[used][set] = min;
        }
    }
    Some(min_cost[problem.vehicles()][sets - 1]).filter(|cost| cost.is_finite())
}

fn solve(problem: &Cvrp, costs: &[f64], limits: SearchLimits) -> Solution {
    solve_checked(problem, problem.solver(&limits).as_mut(), costs)
}

#[test]
fn the_optimal_routes_equal_brute_force_with_and_without_single_customer_routes() {
    let (mut feasible, mut infeasible) = (0, 0);
    for case in 0..700 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 13, [case, 0]);
        let problem = random_problem(case % 2 == 0, &mut stream);
        let kind = (case as usize / 2) % KINDS;
        let costs = random_costs(problem.nodes(), kind, &mut stream);
        let Some(expected) = brute_force(&problem, &costs) else {
            let actual = problem.solver(&SearchLimits::default()).solve(&costs);
            assert_eq!(
                actual,
                Err(SolveFailure::Infeasible),
                "case {case}: {problem:?}"
            );
            infeasible += 1;
            continue;
        };
        feasible += 1;
        let actual = solve(&problem, &costs, SearchLimits::default());
        let tolerance = 2e-12 * scale(&costs) * problem.nodes() as f64;
        assert_eq!(actual.status, SolveStatus::Optimal, "case {case}");
        assert!(
            (actual.objective - expected).abs() <= tolerance,
            "case {case}, kind {kind}: {} not {expected}: {problem:?}",
            actual.objective
        );
    }
    assert!(feasible > 400 && infeasible > 20, "{feasible} {infeasible}");
}

#[test]
fn golden_optima_are_found() {
    let file = golden("solvers");
    let expected = &file["problems"]["CVRP8"];
    let parameters = &expected["problem"];
    let problem = Cvrp::new(
        numbers(&parameters["demands"]),
        parameters["capacity"].as_f64().unwrap(),
        parameters["vehicles"].as_u64().unwrap() as usize,
    )
    .unwrap();
    let actual: Vec<_> = rows(&expected["costs"])
        .iter()
        .map(|costs| solve(&problem, costs, SearchLimits::default()))
        .collect();
    assert_golden(&actual, expected, 1e-7);
}

#[test]
fn a_reused_solver_returns_the_same_as_a_new_one() {
    let mut stream = RandomStream::new(Purpose::Benchmark, 17, [0, 0]);
    let demands: Vec<f64> = (0..13)
        .map(|_| 1.0 + stream.index_below(9) as f64)
        .collect();
    let problem = Cvrp::new(demands, 25.0, 4).unwrap();
    let mut reused = problem.solver(&SearchLimits::default());
    for case in 0..2 * KINDS {
        let costs = random_costs(14, case % KINDS, &mut stream);
        assert_eq!(
            reused.solve(&costs).unwrap(),
            solve(&problem, &costs, SearchLimits::default()),
            "case {case}"
        );
    }
}

#[test]
fn a_search_stopped_at_a_limit_returns_routes_and_a_valid_bound() {
    let mut checks = LimitChecks::new();
    for case in 0..10 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 19, [case, 0]);
        let demands: Vec<f64> = (0..15)
            .map(|_| 1.0 + stream.index_below(9) as f64)
            .collect();
        let problem = Cvrp::new(demands, 25.0, 5).unwrap();
        let costs = random_costs(16, EUCLIDEAN, &mut stream);
        let optimum = solve(&problem, &costs, SearchLimits::default()).objective;
        let limited = solve(
            &problem,
            &costs,
            SearchLimits {
                nodes: 0,
                gap: 0.0,
                ..SearchLimits::default()
            },
        );
        checks.check(&limited, optimum, 0.0, 1e-9);
        let within_gap = solve(
            &problem,
            &costs,
            SearchLimits {
                nodes: 1000,
                gap: 0.02,
                ..SearchLimits::default()
            },
        );
        assert_ne!(within_gap.status, SolveStatus::LimitReached);
        checks.check(&within_gap, optimum, 0.02, 1e-9);
    }
    assert!(checks.limited > 0 && checks.within_gap > 0);
}

/// The relaxation with degree constraints, as a linear problem.
fn degree_relaxation(problem: &Cvrp) -> LinearProblem {
    let nodes = problem.nodes();
    let mut build = LinearBuilder::new("degrees", Sense::Minimize);
    for edge in 0..num_edges(nodes) {
        let max = if edge + 1 < nodes && problem.allows_single_customer_routes() {
            2.0
        } else {
            1.0
        };
        build.predicted(format!("x{edge}"), VariableDomain::Continuous([0.0, max]));
    }
    for node in 0..nodes {
        let bounds = if node == 0 {
            [f64::NEG_INFINITY, 2.0 * problem.vehicles() as f64]
        } else {
            [2.0; 2]
        };
        build.row(bounds, edges_at(nodes, node).map(|edge| (edge, 1.0)));
    }
    build.build().unwrap()
}

#[test]
fn relaxations_are_lower_bounds_and_the_plain_one_is_the_degree_relaxation() {
    let mut tighter = 0;
    for case in 0..120 {
        let mut stream = RandomStream::new(Purpose::Benchmark, 23, [case, 0]);
        let problem = random_problem(case % 2 == 0, &mut stream);
        let costs = random_costs(problem.nodes(), case as usize % KINDS, &mut stream);
        let tolerance = 1e-8 * scale(&costs);
        let Some(optimum) = brute_force(&problem, &costs) else {
            continue;
        };
        let relaxed = |problem: &dyn ProblemKind, kind| {
            let solver = problem
                .sensitivity()
                .relaxation_solver(kind, &SearchLimits::default());
            let solution = solver.unwrap().relax(&costs).unwrap();
            assert!(solution.objective - solution.bound <= tolerance);
            assert!(solution.bound <= solution.objective);
            solution.objective
        };
        let [plain, tight] =
            [Relaxation::Plain, Relaxation::Tight].map(|kind| relaxed(&problem, kind));
        assert!(
            plain <= tight + tolerance && tight <= optimum + tolerance,
            "case {case}: {plain} {tight} {optimum}"
        );
        let expected = relaxed(&degree_relaxation(&problem), Relaxation::Plain);
        assert!(
            (plain - expected).abs() <= tolerance,
            "case {case}: {plain} not {expected}"
        );
        tighter += usize::from(tight > plain + tolerance);
    }
    assert!(tighter > 50, "{tighter}");
}

#[test]
fn a_serialized_problem_builds_the_same_problem() {
    let text = r#"{"kind": "cvrp", "demands": [1.0, 2.0, 2.5], "capacity": 4, "vehicles": 2}"#;
    let spec: ProblemSpec = serde_json::from_str(text).unwrap();
    let problem = spec.build().unwrap();
    assert_eq!(
        (problem.name(), problem.num_costs()),
        ("CVRP4".to_string(), 6)
    );
    let back: ProblemSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(back, spec);
}
