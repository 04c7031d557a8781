//! Costs that no training row has: decisions are those of the problem without what they belong to,
//! in every kind and both senses, and averages of models know them.

use std::sync::Arc;

use regretless::data::{CostNames, Dataset, FeatureShape, Features, Matrix};
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::ProblemKind;
use regretless::random::{Purpose, RandomStream};
use serde_json::{Value, json};

use crate::decision::Decision;
use crate::error::SolveFailure;
use crate::problem::{Problem, ProblemSpec, Sense};

/// A problem, and the same without the variable of one cost.
struct Case {
    name: &'static str,
    full: Value,
    without: Value,
    costs: usize,
    /// The cost that has no prediction.
    missing: usize,
}

fn flags(count: usize, absent: usize) -> Value {
    let flags: Vec<u8> = (0..count).map(|item| u8::from(item != absent)).collect();
    json!(flags)
}

/// A problem whose `present` list says which costs exist.
fn case(name: &'static str, full: Value, costs: usize, missing: usize) -> Case {
    let mut without = full.clone();
    without["present"] = flags(costs, missing);
    Case {
        name,
        full,
        without,
        costs,
        missing,
    }
}

fn cases(sense: &str) -> Vec<Case> {
    let arcs = json!([
        ["a", "b"],
        ["a", "c"],
        ["b", "d"],
        ["c", "d"],
        ["b", "c"],
        ["a", "d"]
    ]);
    let mut cases = vec![
        case(
            "top_k",
            json!({"kind": "top_k", "items": 6, "k": 2, "sense": sense}),
            6,
            3,
        ),
        case(
            "assignment",
            json!({"kind": "assignment", "agents": 3, "tasks": 4, "sense": sense}),
            12,
            5,
        ),
        case(
            "multiple_choice_knapsack",
            json!({"kind": "multiple_choice_knapsack", "capacity": 7.0, "sense": sense,
                "weights": [[1.0, 3.0, 2.0], [2.0, 1.0], [4.0, 1.0]]}),
            7,
            2,
        ),
        case(
            "spanning_tree",
            json!({"kind": "spanning_tree", "nodes": 4, "sense": sense}),
            6,
            1,
        ),
        case(
            "transport",
            json!({"kind": "transport", "supply": [5.0, 6.0], "demand": [3.0, 4.0],
                "sense": sense}),
            4,
            2,
        ),
        case(
            "min_cost_flow",
            json!({"kind": "min_cost_flow", "arcs": arcs, "supply": {"a": 4.0, "d": -4.0},
                "capacity": [3.0, 3.0, 3.0, 3.0, 3.0, 2.0], "sense": sense}),
            6,
            5,
        ),
    ];
    if sense == "minimize" {
        cases.push(case(
            "grid_path",
            json!({"kind": "grid_path", "grid": [3, 3]}),
            12,
            0,
        ));
        cases.push(case(
            "graph_path",
            json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "d"}),
            6,
            5,
        ));
    } else {
        cases.push(case(
            "knapsack",
            json!({"kind": "knapsack", "weights": [2.0, 3.0, 4.0, 1.0, 2.5], "capacity": 6.0}),
            5,
            4,
        ));
    }
    cases
}

fn build(spec: &Value) -> Arc<dyn ProblemKind> {
    let spec: ProblemSpec = serde_json::from_value(spec.clone()).unwrap();
    spec.build().unwrap()
}

/// The decision under costs of which some are NaN, to be minimized.
fn decide(problem: &Arc<dyn ProblemKind>, costs: &[f64]) -> Result<Solved, SolveFailure> {
    let names = CostNames::numbered(costs.len());
    let costs = Matrix::from_f64(1, costs.len(), costs).unwrap();
    let oracle = Oracle::new(Arc::clone(problem));
    let results = oracle
        .decide_complete(&costs, &names, &NoopObserver)
        .unwrap();
    let (solution, complete) = results.into_iter().next().unwrap()?;
    assert_eq!(complete.value(0), solution.decision.value(0));
    Ok(Solved {
        objective: solution.objective,
        decision: solution.decision,
    })
}

struct Solved {
    objective: f64,
    decision: Decision,
}

#[test]
fn decisions_leave_out_what_has_no_prediction_in_every_kind() {
    for sense in ["minimize", "maximize"] {
        for case in cases(sense) {
            let (full, without) = (build(&case.full), build(&case.without));
            for seed in 0..20 {
                let mut stream = RandomStream::new(Purpose::Benchmark, seed, [7, 7]);
                let mut costs: Vec<f64> =
                    (0..case.costs).map(|_| stream.uniform(1.0, 9.0)).collect();
                let mut minimized = costs.clone();
                full.sense().convert_slice(&mut minimized);
                costs.clone_from(&minimized);
                costs[case.missing] = f64::NAN;
                minimized[case.missing] = 0.0;
                let found = decide(&full, &costs);
                let found = found.unwrap_or_else(|error| panic!("{} {sense}: {error}", case.name));
                let expected = decide(&without, &minimized).ok().unwrap();
                let what = format!("{} {sense}, seed {seed}", case.name);
                assert!(
                    (found.objective - expected.objective).abs() < 1e-4,
                    "{what}: {} {}",
                    found.objective,
                    expected.objective
                );
                assert_eq!(found.decision.value(case.missing), 0.0, "{what}");
            }
        }
    }
}

#[test]
fn a_tour_avoids_an_edge_without_a_prediction_and_a_needed_one_is_refused() {
    let tour = build(&json!({"kind": "tsp", "nodes": 5}));
    let mut stream = RandomStream::new(Purpose::Benchmark, 3, [7, 7]);
    let mut costs: Vec<f64> = (0..10).map(|_| stream.uniform(1.0, 9.0)).collect();
    costs[0] = 1000.0;
    let expected = decide(&tour, &costs).ok().unwrap();
    costs[0] = f64::NAN;
    let found = decide(&tour, &costs).ok().unwrap();
    assert!((found.objective - expected.objective).abs() < 1e-4);
    // A tour of three nodes has all edges.
    let triangle = build(&json!({"kind": "tsp", "nodes": 3}));
    let failure = decide(&triangle, &[1.0, f64::NAN, 2.0]).err().unwrap();
    assert!(failure.to_string().contains("c1"), "{failure}");
}

#[cfg(feature = "highs")]
#[test]
fn routes_avoid_an_edge_without_a_prediction() {
    let spec = json!({
        "kind": "cvrp", "demands": [3, 4, 5, 2], "capacity": 12.0, "vehicles": 2,
        "single_customer_routes": true,
    });
    let problem = build(&spec);
    let mut costs = vec![2.0, 3.0, 2.5, 4.0, 1.0, 1.5, 2.0, 1.2, 2.2, 0.5];
    for edge in 0..costs.len() {
        let known = costs[edge];
        costs[edge] = f64::NAN;
        let without = decide(&problem, &costs).unwrap();
        // Above every sum of the others.
        costs[edge] = 1e3;
        let penalized = decide(&problem, &costs).unwrap();
        costs[edge] = known;
        assert!(
            (without.objective - penalized.objective).abs() < 1e-4,
            "edge {edge}"
        );
    }
}

#[test]
fn a_function_without_known_bounds_proves_nothing() {
    // Ten units of the first choice, or a hundred of the second.
    let solve = |costs: &[f64]| {
        let is_first = 10.0 * costs[0] <= 100.0 * costs[1];
        Some(if is_first {
            vec![10.0, 0.0]
        } else {
            vec![0.0, 100.0]
        })
    };
    let problem = Problem::from_solver("amounts", Sense::Minimize, 2, solve).unwrap();
    let failure = decide(problem.kind(), &[f64::NAN, 3.0]).err().unwrap();
    let text = failure.to_string();
    assert!(
        text.contains("no decision that leaves this out was found"),
        "{text}"
    );
}

#[test]
fn a_prediction_that_is_not_a_number_stays_an_error_where_nothing_says_that_it_is_missing() {
    let problem = build(&json!({"kind": "top_k", "items": 3, "k": 1, "sense": "minimize"}));
    let costs = Matrix::from_f64(1, 3, &[1.0, f64::NAN, 2.0]).unwrap();
    let results = Oracle::new(problem)
        .solve_all(&costs, &NoopObserver)
        .unwrap();
    let failure = results[0].as_ref().unwrap_err().to_string();
    assert!(failure.contains("not finite"), "{failure}");
}

#[cfg(feature = "highs")]
#[test]
fn quantities_without_a_prediction_are_0_in_linear_problems() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.lp");
    let model = "Minimize\n cost: 2 set_up\nSubject To\n need: a + b + d >= 4\n \
                 link: d - 9 set_up <= 0\nBounds\n a <= 3\n b <= 3\n d <= 9\n\
                 Binary\n set_up\nEnd\n";
    std::fs::write(&path, model).unwrap();
    let problem = build(&json!({"kind": "linear", "file": path, "costs": ["a", "b", "d"]}));
    let found = decide(&problem, &[5.0, 6.0, f64::NAN]).ok().unwrap();
    assert!((found.objective - 21.0).abs() < 1e-6, "{}", found.objective);
    assert_eq!(found.decision.value(2), 0.0);
    let failure = decide(&problem, &[5.0, f64::NAN, f64::NAN]).err().unwrap();
    assert!(failure.to_string().contains("no prediction"), "{failure}");
}

#[test]
fn rows_of_weight_0_do_not_count_as_observations() {
    let rows = 12;
    let x: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let features = Features::new(
        Matrix::from_f64(rows, 1, &x).unwrap(),
        FeatureShape::Wide,
        None,
    );
    let costs: Vec<f64> = (0..rows)
        .flat_map(|row| [1.0, if row == 0 { 3.0 } else { f64::NAN }])
        .collect();
    let costs = Matrix::from_f64(rows, 2, &costs).unwrap();
    let data = Dataset::with_missing_costs(features.unwrap(), costs, None).unwrap();
    let all: Vec<usize> = (0..rows).collect();
    let observed = data.cost_observations(&all).unwrap();
    assert_eq!(observed.counts, [rows, 1]);
    let mut weights = vec![1.0; rows];
    weights[0] = 0.0;
    let data = data.with_row_weights(weights).unwrap();
    assert_eq!(data.cost_observations(&all).unwrap().counts, [rows - 1, 0]);
}
