//! Component E: equality constraints of problems, their projections, and the losses that use them.

use std::sync::Arc;

use regretless::Problem;
use regretless::data::{Dataset, Matrix, RowParameters};
use regretless::label::LabeledDataset;
use regretless::loss::{Loss, LossInput, LossSpec, NoiseKey};
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::{
    EqualityConstraints, EqualityProjection, ProblemKind, ProblemSpec, ProjectionScratch,
};
use regretless::random::{Purpose, RandomStream};
use serde_json::{Value, json};

use crate::tests::common::{assert_close, golden, numbers};

/// Problems with equality constraints of every kind.
fn problems() -> Vec<Value> {
    let arcs = json!([
        ["a", "b"],
        ["a", "c"],
        ["b", "d"],
        ["c", "d"],
        ["a", "d"],
        ["b", "c"]
    ]);
    let mut all = vec![
        json!({"kind": "grid_path", "grid": [3, 4]}),
        json!({"kind": "grid_path", "grid": [3, 3], "source": 1, "present":
            [1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]}),
        json!({"kind": "graph_path", "arcs": arcs, "source": "a", "target": "d"}),
        json!({"kind": "spanning_tree", "nodes": 5}),
        json!({"kind": "spanning_tree", "nodes": 4, "present": [1, 1, 0, 1, 1, 1]}),
        json!({"kind": "top_k", "items": 6, "k": 2, "sense": "maximize"}),
        json!({"kind": "top_k", "items": 6, "k": 2, "sense": "minimize",
            "present": [1, 0, 1, 1, 1, 1]}),
        json!({"kind": "assignment", "agents": 4, "tasks": 4}),
        json!({"kind": "assignment", "agents": 2, "tasks": 4}),
        json!({"kind": "assignment", "agents": 4, "tasks": 3}),
        json!({"kind": "assignment", "agents": 4, "tasks": 4, "forbidden": [[0, 1], [2, 2]]}),
        json!({"kind": "assignment", "agents": 3, "tasks": 4, "forbidden": [[0, 1], [2, 2]]}),
        json!({"kind": "multiple_choice_knapsack", "weights": [[1, 3], [2, 4, 1], [5, 1]],
            "capacity": 8}),
        json!({"kind": "multiple_choice_knapsack", "weights": [[1, 3], [2, 4, 1], [5, 1]],
            "capacity": 8, "present": [1, 1, 1, 0, 1, 1, 1]}),
        json!({"kind": "transport", "supply": [4, 5], "demand": [2, 1, 3]}),
        json!({"kind": "transport", "supply": [4, 3], "demand": [3, 1, 3], "capacity": 3}),
        json!({"kind": "transport", "supply": [4, 3], "demand": [3, 1, 3],
            "present": [1, 1, 1, 1, 0, 1]}),
        json!({"kind": "min_cost_flow", "arcs": arcs, "supply": {"a": 3, "d": -3}, "capacity": 2}),
        json!({"kind": "min_cost_flow", "arcs": arcs, "supply": {"a": 3, "d": -3}, "capacity": 3,
            "present": [1, 1, 1, 1, 1, 0]}),
        json!({"kind": "tsp", "nodes": 7}),
        json!({"kind": "tsp", "nodes": 7, "present": [1, 1, 0, 1, 1, 1, 1]}),
    ];
    if cfg!(feature = "highs") {
        all.extend([
            json!({"kind": "cvrp", "demands": [3, 4, 2, 3, 3], "capacity": 8, "vehicles": 2}),
            json!({"kind": "cvrp", "demands": [3, 4, 2, 3, 1], "capacity": 8, "vehicles": 3,
                "single_customer_routes": true}),
            json!({"kind": "cvrp", "demands": [3, 4, 2, 3, 3, 1], "capacity": 8, "vehicles": 3,
                "present": [1, 1, 1, 1, 0, 1]}),
            linear(),
        ]);
    }
    all
}

/// Two of the equality rows share a column with a known cost.
fn linear() -> Value {
    let file = golden("equality");
    let cases = file["cases"].as_array().unwrap();
    let found = cases
        .iter()
        .find(|case| case["problem"]["kind"] == "linear_arrays");
    found.unwrap()["problem"].clone()
}

fn build(problem: &Value) -> Arc<dyn ProblemKind> {
    let spec = ProblemSpec::from_json(problem.clone()).unwrap();
    spec.build().unwrap()
}

fn projection(problem: &dyn ProblemKind) -> EqualityProjection {
    let constraints = problem.geometry().equality_constraints();
    let projection = EqualityProjection::new(&constraints, problem.num_costs()).unwrap();
    projection.unwrap()
}

fn project(projection: &EqualityProjection, vector: &[f64]) -> Vec<f64> {
    let mut projected = vector.to_vec();
    projection.project(&mut projected, &mut ProjectionScratch::default());
    projected
}

fn random_vector(stream: &mut RandomStream, problem: &dyn ProblemKind) -> Vec<f64> {
    let present = problem.present_costs();
    (0..problem.num_costs())
        .map(|j| {
            let cost = 3.0 + stream.normal();
            if present.is_none_or(|present| present[j]) {
                cost
            } else {
                0.0
            }
        })
        .collect()
}

/// A random combination of the rows.
fn row_combination(
    stream: &mut RandomStream,
    problem: &dyn ProblemKind,
    projection: &EqualityProjection,
) -> Vec<f64> {
    let vector = random_vector(stream, problem);
    let projected = project(projection, &vector);
    vector.iter().zip(projected).map(|(v, p)| v - p).collect()
}

fn stream(seed: u64) -> RandomStream {
    RandomStream::new(Purpose::Benchmark, seed, [0, 0])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A loss for one row of costs.
struct OneRow {
    oracle: Oracle,
    data: LabeledDataset,
}

impl OneRow {
    fn new(problem: &Arc<dyn ProblemKind>, minimized: &[f64]) -> Self {
        let mut costs = minimized.to_vec();
        problem.sense().convert_slice(&mut costs);
        let oracle = Oracle::new(Arc::clone(problem));
        let table = Dataset::from_arrays(&[[1.0]], &[costs]).unwrap();
        let data = LabeledDataset::solve(table, &oracle, &NoopObserver).unwrap();
        Self { oracle, data }
    }

    fn loss(&self, name: &str) -> Box<dyn Loss> {
        let spec: LossSpec = name.parse().unwrap();
        spec.build(&self.data, &self.oracle, &NoopObserver).unwrap()
    }

    /// Value and gradient; costs are minimized.
    fn evaluate(&self, loss: &dyn Loss, prediction: &[f64], costs: &[f64]) -> (f64, Vec<f64>) {
        let input = LossInput {
            instance: 0,
            costs,
            prediction,
            label: self.data.optimal_decision(0),
            noise: NoiseKey::default(),
        };
        let mut gradient = vec![0.0; costs.len()];
        let value = loss.evaluate(&input, &mut self.oracle.worker(), &mut gradient);
        (value.unwrap(), gradient)
    }

    fn regret(&self, prediction: &[f64], costs: &[f64]) -> f64 {
        let decision = self.oracle.worker().solve(prediction).unwrap().decision;
        let label = self.data.optimal_decision(0);
        decision.dot(costs) + decision.fixed() - label.dot(costs) - label.fixed()
    }
}

#[test]
fn values_and_gradients_equal_an_independent_computation() {
    let file = golden("equality");
    for case in file["cases"].as_array().unwrap() {
        let kind = case["problem"]["kind"].as_str().unwrap();
        if kind == "linear_arrays" && cfg!(not(feature = "highs")) {
            continue;
        }
        let problem = Problem::from_spec(ProblemSpec::from_json(case["problem"].clone()).unwrap());
        let problem = problem.unwrap();
        for row in case["rows"].as_array().unwrap() {
            let [costs, prediction] = ["costs", "prediction"].map(|key| numbers(&row[key]));
            let decision = problem.solve(&costs).unwrap().decision;
            let mut dense = vec![0.0; costs.len()];
            decision.write_dense(&mut dense);
            assert_close(&dense, &numbers(&row["decision"]), 1e-7, kind);
            for (name, expected) in row["losses"].as_object().unwrap() {
                let context = format!("{name} on {kind}");
                let loss: LossSpec = name.parse().unwrap();
                let found = loss.evaluate(&problem, &prediction, &costs).unwrap();
                let value = expected["value"].as_f64().unwrap();
                assert_close(&[found.value], &[value], 1e-10, &context);
                let gradient = numbers(&expected["gradient"]);
                assert_close(&found.gradient, &gradient, 1e-10, &context);
            }
        }
    }
}

#[test]
fn differences_of_decisions_are_in_the_null_space_of_the_rows() {
    for spec in problems() {
        let problem = build(&spec);
        let projection = projection(problem.as_ref());
        let oracle = Oracle::new(Arc::clone(&problem));
        let mut stream = stream(3);
        let mut decision = || {
            let costs = random_vector(&mut stream, problem.as_ref());
            let solution = oracle.worker().solve(&costs).unwrap();
            let mut dense = vec![0.0; costs.len()];
            solution.decision.write_dense(&mut dense);
            dense
        };
        let first = decision();
        for _ in 0..20 {
            let other = decision();
            let difference: Vec<f64> = other.iter().zip(&first).map(|(a, b)| a - b).collect();
            let projected = project(&projection, &difference);
            assert_close(&projected, &difference, 1e-6, &spec.to_string());
        }
    }
}

#[test]
fn projections_are_orthogonal_and_not_trivial() {
    for spec in problems() {
        let problem = build(&spec);
        let projection = projection(problem.as_ref());
        let mut stream = stream(4);
        let [a, b] = [0, 1].map(|_| random_vector(&mut stream, problem.as_ref()));
        let [pa, pb] = [&a, &b].map(|vector| project(&projection, vector));
        let context = spec.to_string();
        assert_close(&project(&projection, &pa), &pa, 1e-10, &context);
        assert!((dot(&pa, &b) - dot(&a, &pb)).abs() < 1e-10, "{context}");
        assert!(
            dot(&pa, &pa) < 0.9 * dot(&a, &a),
            "{context}: nothing is removed"
        );
        assert!(dot(&pa, &pa) > 1e-6, "{context}: nothing is left");
    }
}

#[test]
fn losses_ignore_the_scale_and_combinations_of_rows() {
    let mut num_positive = 0;
    for spec in problems() {
        let problem = build(&spec);
        let projection = projection(problem.as_ref());
        let mut stream = stream(5);
        for name in ["MSE(E)", "MAE(E)", "MSE(O,E)", "MAE(O,E)", "MAE(tau=0.3,E)"] {
            let costs = random_vector(&mut stream, problem.as_ref());
            let prediction = random_vector(&mut stream, problem.as_ref());
            let rows = row_combination(&mut stream, problem.as_ref(), &projection);
            let other_rows = row_combination(&mut stream, problem.as_ref(), &projection);
            let row = OneRow::new(&problem, &costs);
            let loss = row.loss(name);
            let (value, gradient) = row.evaluate(loss.as_ref(), &prediction, &costs);
            let shift = |vector: &[f64], rows: &[f64]| {
                let shifted = vector.iter().zip(rows).map(|(v, r)| 7.0 * v - 2.0 * r);
                shifted.collect::<Vec<f64>>()
            };
            let (moved, _) = row.evaluate(
                loss.as_ref(),
                &shift(&prediction, &rows),
                &shift(&costs, &other_rows),
            );
            let context = format!("{name} on {spec}");
            num_positive += usize::from(value > 1e-4);
            assert!((value - moved).abs() < 1e-9, "{context}");
            assert!(dot(&gradient, &rows).abs() < 1e-9, "{context}");
            assert!(dot(&gradient, &prediction).abs() < 1e-9, "{context}");
        }
    }
    assert!(num_positive > 100, "only {num_positive} losses are not 0");
}

#[test]
fn gradients_agree_with_differences_of_values() {
    for spec in problems() {
        let problem = build(&spec);
        let mut stream = stream(6);
        let costs = random_vector(&mut stream, problem.as_ref());
        let prediction = random_vector(&mut stream, problem.as_ref());
        let row = OneRow::new(&problem, &costs);
        for name in ["MSE(E)", "MAE(E)", "MSE(O,E)", "MAE(O,E)"] {
            let loss = row.loss(name);
            let (_, gradient) = row.evaluate(loss.as_ref(), &prediction, &costs);
            for (j, actual) in gradient.iter().enumerate() {
                if problem.present_costs().is_some_and(|present| !present[j]) {
                    continue;
                }
                let value_at = |step: f64| {
                    let mut shifted = prediction.clone();
                    shifted[j] += step;
                    row.evaluate(loss.as_ref(), &shifted, &costs).0
                };
                let slope = (value_at(1e-6) - value_at(-1e-6)) / 2e-6;
                assert!(
                    (slope - actual).abs() < 1e-6,
                    "{name} on {spec}, cost {j}: {slope} and {actual}"
                );
            }
        }
    }
}

/// Decisions do not change with the scale, combinations of rows and one-sided errors. With known
/// costs of other columns the scale matters.
#[test]
fn predictions_without_a_counted_error_have_no_regret() {
    for spec in problems() {
        let problem = build(&spec);
        let projection = projection(problem.as_ref());
        let mut stream = stream(7);
        for _ in 0..20 {
            let costs = random_vector(&mut stream, problem.as_ref());
            let row = OneRow::new(&problem, &costs);
            let rows = row_combination(&mut stream, problem.as_ref(), &projection);
            let scale = if problem.model_parts().auxiliary_names().is_empty() {
                3.0
            } else {
                1.0
            };
            let mut prediction: Vec<f64> = costs
                .iter()
                .zip(&rows)
                .map(|(c, r)| scale * c + 5.0 * r)
                .collect();
            let loss = row.loss("MAE(O,E)");
            let (value, _) = row.evaluate(loss.as_ref(), &prediction, &costs);
            assert!(value < 1e-12, "{spec}: {value}");
            assert!(row.regret(&prediction, &costs).abs() < 1e-7, "{spec}");
            let bounds = problem.choices().bounds();
            for (j, cost) in prediction.iter_mut().enumerate() {
                let error = stream.normal().abs();
                *cost += match one_sided(&bounds, j, row.data.optimal_decision(0).value(j)) {
                    Some(sign) => sign * error,
                    None => 0.0,
                };
            }
            assert!(row.regret(&prediction, &costs).abs() < 1e-7, "{spec}");
        }
    }
}

/// The sign of the errors that do not count; `None` between the bounds, if all do.
fn one_sided(bounds: &regretless::problem::VariableBounds, j: usize, value: f64) -> Option<f64> {
    use regretless::problem::VariableBounds;
    let [lower, upper] = match bounds {
        VariableBounds::Binary => [0.0, 1.0],
        VariableBounds::Box { lower, upper } => [lower[j], upper[j]],
    };
    if value <= lower {
        Some(1.0)
    } else if value >= upper {
        Some(-1.0)
    } else {
        None
    }
}

/// Gradient steps reach a loss of 0 from random predictions; the decision is then optimal.
#[test]
fn a_loss_of_zero_implies_a_regret_of_zero() {
    let mut reached = 0;
    for spec in [
        json!({"kind": "assignment", "agents": 4, "tasks": 4}),
        json!({"kind": "grid_path", "grid": [4, 4]}),
        json!({"kind": "tsp", "nodes": 6}),
        json!({"kind": "top_k", "items": 8, "k": 3, "sense": "minimize"}),
    ] {
        let problem = build(&spec);
        let projection = projection(problem.as_ref());
        let mut stream = stream(8);
        for _ in 0..10 {
            let costs = random_vector(&mut stream, problem.as_ref());
            let mut prediction = random_vector(&mut stream, problem.as_ref());
            let row = OneRow::new(&problem, &costs);
            let loss = row.loss("MSE(O,E)");
            let mut value = f64::INFINITY;
            for _ in 0..3000 {
                let gradient;
                (value, gradient) = row.evaluate(loss.as_ref(), &prediction, &costs);
                if value < 1e-16 {
                    break;
                }
                let projected = project(&projection, &prediction);
                let step = 0.5 * costs.len() as f64 * dot(&projected, &projected);
                for (cost, slope) in prediction.iter_mut().zip(&gradient) {
                    *cost -= step * slope;
                }
            }
            if value < 1e-14 {
                reached += 1;
                assert!(row.regret(&prediction, &costs) < 1e-6, "{spec}");
            }
        }
    }
    assert!(
        reached >= 20,
        "only {reached} of 40 predictions reached a loss of 0"
    );
}

#[test]
fn problems_without_equality_constraints_are_refused() {
    for spec in [
        json!({"kind": "knapsack", "weights": [[1, 2, 3]], "capacity": [4]}),
        json!({"kind": "top_k", "items": 3, "k": 2, "at_most": true, "sense": "maximize"}),
        json!({"kind": "graph_path", "grid": [2, 3]}),
        json!({"kind": "multiple_choice_knapsack", "weights": [[1, 3], [2, 4]], "capacity": 8,
            "optional": true}),
        json!({"kind": "storage", "steps": 6, "capacity": 2.0, "charge_limit": 1.0,
            "discharge_limit": 1.0, "charge_efficiency": 0.9}),
    ] {
        let name = spec.to_string();
        let problem = Problem::from_spec(ProblemSpec::from_json(spec).unwrap()).unwrap();
        let costs = vec![1.0; problem.kind().num_costs()];
        let loss: LossSpec = "MSE(O,E)".parse().unwrap();
        let error = loss.evaluate(&problem, &costs, &costs).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("MSE(O,E)") && message.contains("use S instead of E"),
            "{name}: {message}"
        );
    }
}

/// Nothing is left of equal costs when the sum of all variables is fixed.
#[test]
fn costs_that_the_constraints_absorb_have_finite_gradients() {
    let problem = Problem::from_spec(
        ProblemSpec::from_json(json!({"kind": "top_k", "items": 5, "k": 2, "sense": "minimize"}))
            .unwrap(),
    )
    .unwrap();
    let (equal, other) = ([1e5 / 3.0; 5], [3.0, 1.0, 4.0, 1.5, 2.0]);
    for name in ["MSE(E)", "MAE(E)", "MSE(O,E)", "MAE(O,E)"] {
        let loss: LossSpec = name.parse().unwrap();
        for (prediction, costs) in [(equal, other), (other, equal), (equal, equal)] {
            let result = loss.evaluate(&problem, &prediction, &costs).unwrap();
            assert!(result.value <= 1.0, "{name}: {}", result.value);
            assert!(
                result.gradient.iter().all(|g| g.abs() < 10.0),
                "{name}: {result:?}"
            );
        }
    }
}

/// Pairs that differ between rows: each row has the projection of its own problem.
#[test]
fn rows_have_the_projection_of_their_own_problem() {
    let present = [
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
    ];
    let costs = [3.0, 1.0, 4.0, 1.5, 2.0, 6.0];
    let prediction = [2.0, 7.0, 1.0, 3.0, 2.5, 1.0];
    let template = json!({"kind": "assignment", "agents": 2, "tasks": 3,
        "present": {"columns": "may"}});
    let problem = build(&template);
    let parameters = RowParameters::new(3)
        .with_column("may", 6, Arc::new(present.concat()))
        .unwrap();
    let table = Dataset::from_arrays(&[[1.0]; 3], &[costs; 3]).unwrap();
    let table = table.with_parameters(parameters).unwrap();
    let oracle = Oracle::new(problem).for_dataset(&table).unwrap();
    let data = LabeledDataset::solve(table, &oracle, &NoopObserver).unwrap();
    let spec: LossSpec = "MSE(E)".parse().unwrap();
    let loss = spec.build(&data, &oracle, &NoopObserver).unwrap();
    for (row, present) in present.iter().enumerate() {
        let masked = |vector: [f64; 6]| -> Vec<f64> {
            vector.iter().zip(present).map(|(v, p)| v * p).collect()
        };
        let input = LossInput {
            instance: row,
            costs: &masked(costs),
            prediction: &masked(prediction),
            label: data.optimal_decision(row),
            noise: NoiseKey::default(),
        };
        let mut gradient = vec![0.0; 6];
        let value = loss.evaluate(&input, &mut oracle.worker(), &mut gradient);
        let flags: Vec<u8> = present.iter().map(|p| *p as u8).collect();
        let own = build(&json!({"kind": "assignment", "agents": 2, "tasks": 3, "present": flags}));
        let alone = OneRow::new(&own, &masked(costs));
        let expected = alone.evaluate(
            alone.loss("MSE(E)").as_ref(),
            &masked(prediction),
            &masked(costs),
        );
        assert_close(&[value.unwrap()], &[expected.0], 1e-12, "value");
        assert_close(&gradient, &expected.1, 1e-12, "gradient");
    }
}

/// Closed forms of systems equal the factorization of the same rows.
#[test]
fn closed_forms_equal_the_factorization() {
    let mut stream = stream(9);
    let sums = |runs: &[Vec<usize>]| {
        let rows = runs
            .iter()
            .map(|run| run.iter().map(|j| (*j as u32, 1.0)).collect());
        EqualityConstraints::Rows(rows.collect())
    };
    let (nodes, rows, columns) = (9, 4, 6);
    let mut edges = Vec::new();
    for i in 0..nodes {
        edges.extend((i + 1..nodes).map(|j| [i, j]));
    }
    let degrees: Vec<Vec<usize>> = (0..nodes)
        .map(|node| {
            (0..edges.len())
                .filter(|e| edges[*e].contains(&node))
                .collect()
        })
        .collect();
    let of_rows: Vec<Vec<usize>> = (0..rows)
        .map(|row| (row * columns..(row + 1) * columns).collect())
        .collect();
    let of_columns: Vec<Vec<usize>> = (0..columns)
        .map(|column| (0..rows).map(|row| row * columns + column).collect())
        .collect();
    let matrix = |with_rows| EqualityConstraints::Matrix {
        rows,
        columns,
        with_rows,
    };
    let tour = |with_depot| EqualityConstraints::Degrees { nodes, with_depot };
    for (closed, general, count) in [
        (tour(true), sums(&degrees), edges.len()),
        (tour(false), sums(&degrees[1..]), edges.len()),
        (matrix(false), sums(&of_columns), rows * columns),
        (
            matrix(true),
            sums(&[of_rows.clone(), of_columns.clone()].concat()),
            rows * columns,
        ),
        (
            EqualityConstraints::Groups(vec![columns; rows]),
            sums(&of_rows),
            rows * columns,
        ),
    ] {
        let vector: Vec<f64> = (0..count).map(|_| stream.normal()).collect();
        let [closed, general] = [closed, general].map(|constraints| {
            let projection = EqualityProjection::new(&constraints, count).unwrap();
            project(&projection.unwrap(), &vector)
        });
        assert_close(&closed, &general, 1e-12, "projection");
    }
}

/// Costs of a table are projected as in the loss, in single precision.
#[test]
fn projected_tables_equal_projected_vectors() {
    let problem = build(&json!({"kind": "tsp", "nodes": 6}));
    let projection = projection(problem.as_ref());
    let mut stream = stream(10);
    let costs = random_vector(&mut stream, problem.as_ref());
    let matrix = Matrix::from_f64(1, costs.len(), &costs).unwrap();
    let row = OneRow::new(&problem, &costs);
    let loss = row.loss("MSE(E)");
    let separable = loss.separable().unwrap();
    let table = separable.projection.unwrap().project_rows(&matrix);
    let projected: Vec<f64> = table.row(0).iter().map(|cost| f64::from(*cost)).collect();
    assert_close(&projected, &project(&projection, &costs), 1e-6, "table");
}
