//! Regret metrics against golden values.

use std::sync::Arc;

use crate::tests::common::{assert_close, golden, numbers, rows};
use regretless::Decision;
use regretless::data::{Dataset, FeatureShape, Features, Matrix};
use regretless::evaluate::{Evaluation, MissingPredictions};
use regretless::label::LabeledDataset;
use regretless::observer::NoopObserver;
use regretless::oracle::Oracle;
use regretless::problem::{GridPath, Knapsack, ProblemKind, Sense, TopK};
use regretless::solve::Solution;

const REFUSED: MissingPredictions = MissingPredictions::Refused;

fn problem(value: &serde_json::Value) -> Option<Arc<dyn ProblemKind>> {
    let integer = |name: &str| value[name].as_u64().unwrap() as usize;
    match value["kind"].as_str().unwrap() {
        "shortest_path_grid" => Some(Arc::new(
            GridPath::new(integer("rows"), integer("cols")).unwrap(),
        )),
        "knapsack" => {
            let (weights, capacity) = (rows(&value["weights"]), numbers(&value["capacity"]));
            Some(Arc::new(Knapsack::new(weights, capacity).unwrap()))
        }
        _ => None,
    }
}

fn table(costs: &[Vec<f64>]) -> Dataset {
    let features = Features::new(Matrix::zeros(costs.len(), 1), FeatureShape::Wide, None).unwrap();
    Dataset::new(
        features,
        Matrix::from_f64(costs.len(), costs[0].len(), &costs.concat()).unwrap(),
        None,
    )
    .unwrap()
}

#[test]
fn regrets_equal_the_golden_ones() {
    for name in ["losses_sp4x5_min", "losses_ks10_max"] {
        let file = golden(name);
        let Some(problem) = problem(&file["problem"]) else {
            continue;
        };
        let oracle = Oracle::new(problem);
        let labels = rows(&file["inputs"]["true_sol"]);
        let labels = labels
            .iter()
            .map(|x| Solution::optimal(Decision::from_dense(x), 0.0))
            .collect();
        let data = LabeledDataset::from_decisions(
            table(&rows(&file["inputs"]["true_cost"])),
            &oracle,
            labels,
        )
        .unwrap();
        let predictions = rows(&file["inputs"]["pred"]);
        let mut predictions = Matrix::from_f64(
            predictions.len(),
            predictions[0].len(),
            &predictions.concat(),
        )
        .unwrap();
        data.sense().convert_single(predictions.as_mut_slice());
        let all: Vec<usize> = (0..data.len()).collect();
        let evaluation =
            Evaluation::of_predictions(&predictions, &data, &all, &oracle, &NoopObserver).unwrap();
        let expected = &file["metrics"];
        // Costs are stored in single precision, so regrets agree up to its rounding.
        assert_close(
            &evaluation.regrets,
            &numbers(&expected["regret_none"]),
            1e-5,
            name,
        );
        let number = |key: &str| expected[key].as_f64().unwrap();
        let pairs = [
            (evaluation.regret, "regret_mean"),
            (evaluation.normalized_regret, "regret_normalized"),
            (evaluation.mse, "mse"),
        ];
        for (value, key) in pairs {
            assert_close(&[value], &[number(key)], 1e-5, key);
        }
        let unambiguous =
            Evaluation::unambiguous(&predictions, REFUSED, &data, &all, &oracle, &NoopObserver);
        let worst: f64 = unambiguous.unwrap().regrets.iter().sum();
        let total: f64 = all.iter().map(|i| data.optimal_objective(*i).abs()).sum();
        assert_close(
            &[worst / total],
            &[number("unamb_regret_normalized")],
            1e-5,
            "unambiguous",
        );
    }
}

#[test]
fn the_unambiguous_regret_is_that_of_the_worst_tied_decision() {
    let oracle = Oracle::new(Arc::new(TopK::new(3, 1, Sense::Minimize).unwrap()));
    let data =
        LabeledDataset::solve(table(&[vec![1.0, 5.0, 9.0]]), &oracle, &NoopObserver).unwrap();
    let tied_predictions = Matrix::new(1, 3, vec![2.0, 2.0, 7.0]).unwrap();
    let evaluation =
        Evaluation::of_predictions(&tied_predictions, &data, &[0], &oracle, &NoopObserver).unwrap();
    assert_eq!((evaluation.regret, evaluation.optimal_fraction), (0.0, 1.0));
    assert_eq!(
        Evaluation::unambiguous(
            &tied_predictions,
            REFUSED,
            &data,
            &[0],
            &oracle,
            &NoopObserver
        )
        .unwrap()
        .regrets,
        [4.0]
    );
}

/// Evaluates predictions for the choice of the two cheapest items.
fn evaluated(costs: &[Vec<f64>], predictions: &[Vec<f64>]) -> Evaluation {
    let items = costs[0].len();
    let oracle = Oracle::new(Arc::new(TopK::new(items, 2, Sense::Minimize).unwrap()));
    let data = LabeledDataset::solve(table(costs), &oracle, &NoopObserver).unwrap();
    let predictions = Matrix::from_f64(costs.len(), costs[0].len(), &predictions.concat()).unwrap();
    let all: Vec<usize> = (0..data.len()).collect();
    Evaluation::of_predictions(&predictions, &data, &all, &oracle, &NoopObserver).unwrap()
}

#[test]
fn regret_relative_to_the_objective_does_not_depend_on_the_unit_of_costs() {
    let costs: Vec<Vec<f64>> = (0..6)
        .map(|row| {
            (0..7)
                .map(|j| 1.0 + f64::from((7 * row + 3 * j) % 11))
                .collect()
        })
        .collect();
    let predictions: Vec<Vec<f64>> = costs.iter().rev().cloned().collect();
    let expected = evaluated(&costs, &predictions);
    assert!(expected.normalized_regret > 0.0 && expected.optimal_fraction < 1.0);
    for unit in [1e-12, 1e-6, 1e9] {
        let scaled = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let scale = |row: &Vec<f64>| row.iter().map(|cost| unit * cost).collect();
            rows.iter().map(scale).collect()
        };
        let found = evaluated(&scaled(&costs), &scaled(&predictions));
        assert_close(
            &[found.normalized_regret, found.relative_regret],
            &[expected.normalized_regret, expected.relative_regret],
            1e-5,
            &unit.to_string(),
        );
        assert_eq!(
            found.optimal_fraction.to_bits(),
            expected.optimal_fraction.to_bits()
        );
    }
}

#[test]
fn regret_relative_to_objectives_of_zero_is_not_a_number() {
    let costs = vec![vec![0.0, 0.0, 1.0, 2.0]; 2];
    let other = vec![vec![1.0, 2.0, 0.0, 0.0]; 2];
    let free = evaluated(&costs, &costs);
    assert!(free.normalized_regret.abs() <= 0.0 && free.relative_regret.abs() <= 0.0);
    let wrong = evaluated(&costs, &other);
    assert!(wrong.regret > 0.0);
    assert!(wrong.normalized_regret.is_nan() && wrong.relative_regret.is_nan());
    // JSON has no such number; it is read back from a file of results.
    let text = serde_json::to_string(&wrong).unwrap();
    let read: Evaluation = serde_json::from_str(&text).unwrap();
    assert!(read.normalized_regret.is_nan() && read.relative_regret.is_nan());
}
