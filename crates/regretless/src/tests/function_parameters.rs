//! A user's function that gets the parameters of the row.

use std::sync::Arc;

use regretless::data::{Dataset, FeatureShape, Features, Matrix, RowParameters};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::{Error, ErrorKind, Problem, Sense, Split, Trainer};

const ROWS: usize = 12;

/// The cheapest items, as many as needed, none of which is forbidden.
fn cheapest(costs: &[f64], needed: f64, forbidden: &[f64]) -> Option<Vec<f64>> {
    let mut order: Vec<usize> = (0..costs.len())
        .filter(|item| forbidden[*item] == 0.0)
        .collect();
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
    let mut decision = vec![0.0; costs.len()];
    for item in order.iter().take(needed as usize) {
        decision[*item] = 1.0;
    }
    Some(decision)
}

fn problem() -> Problem {
    let parameters = [("needed", 1), ("forbidden", 3)];
    Problem::from_solver_with_parameters(
        "cheapest",
        Sense::Minimize,
        3,
        &parameters,
        |costs, row| cheapest(costs, row[0], &row[1..]),
    )
    .unwrap()
}

fn needed(row: usize) -> f64 {
    (1 + row % 2) as f64
}

fn forbidden(row: usize) -> [f64; 3] {
    let mut flags = [0.0; 3];
    flags[row % 3] = 1.0;
    flags
}

fn data(extra_needed: f64) -> Dataset {
    let costs = (0..ROWS).flat_map(|row| [5.0, 1.0 + row as f32, 12.0 - row as f32]);
    let x = Matrix::new(ROWS, 1, (0..ROWS).map(|row| row as f32).collect()).unwrap();
    let features = Features::new(x, FeatureShape::Wide, None).unwrap();
    let costs = Matrix::new(ROWS, 3, costs.collect()).unwrap();
    let needed: Vec<f64> = (0..ROWS).map(|row| needed(row) + extra_needed).collect();
    let forbidden: Vec<f64> = (0..ROWS).flat_map(forbidden).collect();
    // The order of the table's columns does not matter.
    let parameters = RowParameters::new(ROWS)
        .with_column("forbidden", 3, Arc::new(forbidden))
        .and_then(|parameters| parameters.with_column("needed", 1, Arc::new(needed)))
        .unwrap();
    let data = Dataset::new(features, costs, None).unwrap();
    data.with_parameters(parameters).unwrap()
}

fn oracle(data: &Dataset) -> Oracle {
    let oracle = Oracle::new(problem().kind().clone());
    oracle.for_dataset(data).unwrap()
}

#[test]
fn the_function_gets_the_parameters_of_each_row() {
    let labeled = LabeledDataset::solve(data(0.0), &oracle(&data(0.0)), &NoopObserver).unwrap();
    for row in 0..ROWS {
        let costs: Vec<f64> = labeled
            .data()
            .costs()
            .row(row)
            .iter()
            .map(|c| (*c).into())
            .collect();
        let own = Problem::from_solver("own", Sense::Minimize, 3, move |costs| {
            cheapest(costs, needed(row), &forbidden(row))
        })
        .unwrap();
        let own = own.solve(&costs).unwrap();
        assert_eq!(*labeled.optimal_decision(row), own.decision);
    }
}

#[test]
fn labels_of_other_parameters_are_refused() {
    let labeled = LabeledDataset::solve(data(0.0), &oracle(&data(0.0)), &NoopObserver).unwrap();
    assert!(labeled.with_dataset(data(0.0), &oracle(&data(0.0))).is_ok());
    let error = labeled
        .with_dataset(data(1.0), &oracle(&data(1.0)))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("other parameters"), "{error}");
}

#[test]
fn methods_that_offer_decisions_of_other_rows_are_refused() {
    let split = data(0.0)
        .split(Split::random(0).train(0.5).validation(0.3))
        .unwrap();
    // Two functions are never the same problem: the labels of one are not those of the other.
    let problem = problem();
    for name in ["MAP", "NCE", "SPO+ cache 5%"] {
        let method: Method = name.parse().unwrap();
        let error = Trainer::new(method).epochs(1).fit(&problem, &split);
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Capability { .. }), "{name}: {error}");
    }
    let method: Method = "SPO+".parse().unwrap();
    Trainer::new(method)
        .epochs(1)
        .fit(&problem, &split)
        .unwrap();
}

#[test]
fn a_single_row_without_its_parameters_is_refused() {
    let error = problem().solve(&[1.0, 2.0, 3.0]).unwrap_err();
    assert!(error.to_string().contains("'needed'"), "{error}");
    let twice = [("needed", 1), ("needed", 1)];
    let refused =
        Problem::from_solver_with_parameters("p", Sense::Minimize, 3, &twice, |_, _| None);
    assert!(refused.is_err());
}
