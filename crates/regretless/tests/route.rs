//! Vehicle routes are exact: they equal brute force, golden optima and published optima.

#![cfg(feature = "highs")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first error")]

mod common;

use common::{golden, numbers, rows};
use regretless::data::tsplib;
use regretless::error::Place;
use regretless::problem::{Cvrp, Domain, LinearBuilder, LinearProblem, Problem, ProblemSpec, Sense};
use regretless::random::{Purpose, Stream};
use regretless::solve::relax::Relaxation;
use regretless::solve::tour::edges::{Distances, edges_at, num_edges};
use regretless::solve::{Failure, Limits, Solution, Status};

const KINDS: usize = 7;

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
        _ => pairs.into_iter().map(|pair| (euclidean(pair) * 1e5).round()).collect(),
    }
}

/// A problem of 5 to 8 nodes, sometimes with no solution.
fn random_problem(single_customer_routes: bool, stream: &mut Stream) -> Cvrp {
    let customers = 4 + stream.below(4);
    let factor = if stream.below(2) == 0 { 1.0 } else { stream.uniform(0.1, 3.0) };
    let demands: Vec<f64> = (0..customers).map(|_| factor * stream.below(9) as f64).collect();
    let vehicles = 1 + stream.below(4);
    let least = demands.iter().copied().fold(factor, f64::max);
    let even = demands.iter().sum::<f64>() / vehicles as f64;
    let capacity = (factor * (even * stream.uniform(0.95, 1.6) / factor).round()).max(least);
    Cvrp { demands, capacity, vehicles, single_customer_routes }.checked().unwrap()
}

/// The optimum by dynamic programming over subsets, first of routes, then of sets of routes.
fn brute_force(problem: &Cvrp, costs: &[f64]) -> Option<f64> {
    let customers = problem.demands.len();
    let table = Distances::new(customers + 1, costs);
    let sets = 1 << customers;
    let members = |set: usize| (0..customers).filter(move |i| set >> i & 1 == 1);
    let mut paths = vec![vec![f64::INFINITY; customers]; sets];
    let mut route = vec![f64::INFINITY; sets];
    for set in 1..sets {
        for last in members(set) {
            let rest = set & !(1 << last);
            let node = last as u32 + 1;
            paths[set][last] = match rest {
                0 => table.between(0, node),
                _ => members(rest)
                    .map(|i| paths[rest][i] + table.between(i as u32 + 1, node))
                    .fold(f64::INFINITY, f64::min),
            };
        }
        let load: f64 = members(set).map(|i| problem.demands[i]).sum();
        let alone = set.count_ones() == 1 && !problem.single_customer_routes;
        if load <= problem.capacity * (1.0 + 1e-9) && !alone {
            let closed = members(set).map(|i| paths[set][i] + table.between(i as u32 + 1, 0));
            route[set] = closed.fold(f64::INFINITY, f64::min);
        }
    }
    let mut best = vec![vec![f64::INFINITY; sets]; problem.vehicles + 1];
    best[0][0] = 0.0;
    for used in 1..=problem.vehicles {
        for set in 0..sets {
            let mut least = best[used - 1][set];
            let mut part = set;
            while part > 0 {
                least = least.min(best[used - 1][set & !part] + route[part]);
                part = (part - 1) & set;
            }
            best[used][set] = least;
        }
    }
    Some(best[problem.vehicles][sets - 1]).filter(|cost| cost.is_finite())
}

fn checked(problem: &Cvrp, costs: &[f64], limits: Limits) -> Solution {
    let solution = problem.solver(&limits).solve(costs).unwrap();
    problem.check(&solution.decision).unwrap();
    assert!((solution.objective - solution.decision.dot(costs)).abs() <= 1e-9 * (1.0 + solution.objective.abs()));
    assert!(solution.bound <= solution.objective);
    solution
}

#[test]
fn the_cheapest_routes_equal_brute_force_with_and_without_single_customers() {
    let (mut feasible, mut infeasible) = (0, 0);
    for case in 0..700 {
        let mut stream = Stream::new(Purpose::Benchmark, 13, [case, 0]);
        let problem = random_problem(case % 2 == 0, &mut stream);
        let kind = (case as usize / 2) % KINDS;
        let costs = random_costs(problem.nodes(), kind, &mut stream);
        let Some(expected) = brute_force(&problem, &costs) else {
            let found = problem.solver(&Limits::default()).solve(&costs);
            assert_eq!(found, Err(Failure::Infeasible), "case {case}: {problem:?}");
            infeasible += 1;
            continue;
        };
        feasible += 1;
        let found = checked(&problem, &costs, Limits::default());
        let scale = costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        let slack = 2e-12 * scale * problem.nodes() as f64;
        assert_eq!(found.status, Status::Optimal, "case {case}");
        assert!(
            (found.objective - expected).abs() <= slack,
            "case {case}, kind {kind}: {} not {expected}: {problem:?}",
            found.objective
        );
    }
    assert!(feasible > 400 && infeasible > 20, "{feasible} {infeasible}");
}

#[test]
fn golden_optima_are_found() {
    let Some(file) = golden("solvers") else { return };
    let expected = &file["problems"]["CVRP8"];
    let about = &expected["problem"];
    let problem = Cvrp {
        demands: numbers(&about["demands"]),
        capacity: about["capacity"].as_f64().unwrap(),
        vehicles: about["vehicles"].as_u64().unwrap() as usize,
        single_customer_routes: false,
    };
    let found: Vec<_> =
        rows(&expected["costs"]).iter().map(|costs| checked(&problem, costs, Limits::default())).collect();
    let objectives: Vec<f64> = found.iter().map(|solution| solution.objective).collect();
    common::assert_close(&objectives, &numbers(&expected["objectives"]), 1e-7, "objectives");
    for (solution, expected) in found.iter().zip(rows(&expected["solutions"])) {
        let mut dense = vec![0.0; expected.len()];
        solution.decision.write_dense(&mut dense);
        assert_eq!(dense, expected);
    }
}

/// A published instance as a general problem with the fleet of its name, its costs, and its optimum.
fn published(name: &str) -> Option<(Cvrp, Vec<f64>, f64)> {
    let folder = common::reference_data()?.join("cvrp");
    let path = folder.join(format!("{name}.vrp"));
    // One file calls its weights a column-wise triangle, but its optimum is that of the row-wise one.
    let text = std::fs::read_to_string(&path).unwrap().replace("LOWER_COL", "LOWER_ROW");
    let instance = tsplib::parse(&text, &Place::file(&path)).unwrap();
    let table = std::fs::read_to_string(folder.join("optima.csv")).unwrap();
    let line = table.lines().find(|line| line.starts_with(&format!("{name},"))).unwrap();
    let optimum = line.split(',').nth(5).unwrap().parse().unwrap();
    let problem = Cvrp::published(&instance).unwrap();
    Some((problem, instance.costs, optimum))
}

fn assert_published(names: &[&str]) {
    for name in names {
        let Some((problem, costs, optimum)) = published(name) else { return };
        let found = checked(&problem, &costs, Limits::default());
        assert_eq!((found.status, found.objective), (Status::Optimal, optimum), "{name}");
    }
}

#[test]
fn small_published_optima_are_found() {
    assert_published(&["E-n13-k4", "P-n16-k8", "P-n20-k2", "P-n22-k2", "E-n22-k4", "B-n31-k5", "A-n32-k5"]);
}

#[test]
#[ignore = "takes half a minute"]
fn middling_published_optima_are_found() {
    assert_published(&["P-n23-k8", "E-n30-k3"]);
}

#[test]
#[ignore = "takes half a minute"]
fn larger_published_optima_are_enclosed() {
    for name in ["A-n37-k5", "A-n45-k6", "E-n51-k5"] {
        let Some((problem, costs, optimum)) = published(name) else { return };
        let found = checked(&problem, &costs, Limits { nodes: 60, gap: 0.0 });
        assert!(found.bound <= optimum && optimum <= found.objective, "{name}: {found:?}");
        assert!(found.objective <= 1.02 * optimum && found.bound >= 0.98 * optimum, "{name}: {found:?}");
    }
}

#[test]
fn an_engine_used_again_answers_as_a_fresh_one() {
    let mut stream = Stream::new(Purpose::Benchmark, 17, [0, 0]);
    let demands: Vec<f64> = (0..13).map(|_| 1.0 + stream.below(9) as f64).collect();
    let problem = Cvrp { demands, capacity: 25.0, vehicles: 4, single_customer_routes: false };
    let mut reused = problem.solver(&Limits::default());
    for case in 0..2 * KINDS {
        let costs = random_costs(14, case % KINDS, &mut stream);
        assert_eq!(reused.solve(&costs).unwrap(), checked(&problem, &costs, Limits::default()), "case {case}");
    }
}

#[test]
fn limits_leave_routes_and_a_valid_bound() {
    let (mut limited, mut gaps) = (0, 0);
    for case in 0..10 {
        let mut stream = Stream::new(Purpose::Benchmark, 19, [case, 0]);
        let demands: Vec<f64> = (0..15).map(|_| 1.0 + stream.below(9) as f64).collect();
        let problem = Cvrp { demands, capacity: 25.0, vehicles: 5, single_customer_routes: false };
        let costs = random_costs(16, 3, &mut stream);
        let optimum = checked(&problem, &costs, Limits::default()).objective;
        let few = checked(&problem, &costs, Limits { nodes: 0, gap: 0.0 });
        let wide = checked(&problem, &costs, Limits { nodes: 1000, gap: 0.02 });
        for found in [&few, &wide] {
            assert!(found.bound <= optimum + 1e-9 && optimum <= found.objective + 1e-9);
        }
        limited += usize::from(few.status == Status::LimitReached);
        match wide.status {
            Status::WithinGap(gap) => {
                gaps += 1;
                assert!(gap <= 0.02 + 1e-9);
            }
            Status::Optimal => {}
            Status::LimitReached => panic!("a thousand nodes are enough"),
        }
    }
    assert!(limited > 0 && gaps > 0, "{limited} {gaps}");
}

/// The relaxation by degrees, written down as any linear problem.
fn by_degrees(problem: &Cvrp) -> LinearProblem {
    let nodes = problem.nodes();
    let mut build = LinearBuilder::new("degrees", Sense::Minimize);
    for edge in 0..num_edges(nodes) {
        let most = if edge + 1 < nodes && problem.single_customer_routes { 2.0 } else { 1.0 };
        build.predicted(format!("x{edge}"), Domain::Continuous([0.0, most]));
    }
    for node in 0..nodes {
        let bounds = if node == 0 { [f64::NEG_INFINITY, 2.0 * problem.vehicles as f64] } else { [2.0; 2] };
        build.row(bounds, edges_at(nodes, node).map(|edge| (edge, 1.0)));
    }
    build.build().unwrap()
}

#[test]
fn relaxations_bound_the_routes_and_the_plain_one_has_the_value_of_its_degrees() {
    let mut tighter = 0;
    for case in 0..120 {
        let mut stream = Stream::new(Purpose::Benchmark, 23, [case, 0]);
        let problem = random_problem(case % 2 == 0, &mut stream);
        let costs = random_costs(problem.nodes(), case as usize % KINDS, &mut stream);
        let slack = 1e-8 * costs.iter().fold(1e-300, |most: f64, cost| cost.abs().max(most));
        let Some(optimum) = brute_force(&problem, &costs) else { continue };
        let relaxed = |problem: &dyn Problem, kind| {
            let found = problem.relaxer(kind, &Limits::default()).unwrap().relax(&costs).unwrap();
            assert!(found.objective - found.bound <= slack && found.bound <= found.objective);
            found.objective
        };
        let [plain, tight] = [Relaxation::Plain, Relaxation::Tight].map(|kind| relaxed(&problem, kind));
        assert!(plain <= tight + slack && tight <= optimum + slack, "case {case}: {plain} {tight} {optimum}");
        let expected = relaxed(&by_degrees(&problem), Relaxation::Plain);
        assert!((plain - expected).abs() <= slack, "case {case}: {plain} not {expected}");
        tighter += usize::from(tight > plain + slack);
    }
    assert!(tighter > 50, "{tighter}");
}

#[test]
fn a_problem_in_writing_is_the_problem() {
    let text = r#"{"kind": "cvrp", "demands": [1.0, 2.0, 2.5], "capacity": 4, "vehicles": 2}"#;
    let spec: ProblemSpec = serde_json::from_str(text).unwrap();
    let problem = spec.build().unwrap();
    assert_eq!((problem.name(), problem.num_costs()), ("CVRP4".to_string(), 6));
    let back: ProblemSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(back, spec);
}
