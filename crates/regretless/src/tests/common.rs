//! Helpers of several tests: golden files and reference data, comparison of numbers.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::Decision;
use regretless::data::Matrix;
use regretless::loss::{Loss, LossInput, NoiseKey};
use regretless::oracle::Oracle;
use regretless::problem::{Sense, TopK};
use regretless::solve::complete_graph::edge_ends;

use serde_json::Value;

/// The folder with golden files, published instances and real data. A test whose file is missing
/// fails.
pub fn reference_data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A golden file by name.
pub fn golden(name: &str) -> Value {
    let path = reference_data().join(format!("golden/{name}.json"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// A list of numbers; `"inf"` and `"-inf"` count as numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    let number = |v: &Value| {
        v.as_f64()
            .unwrap_or_else(|| v.as_str().unwrap().parse().unwrap())
    };
    value.as_array().unwrap().iter().map(number).collect()
}

/// A list of lists of numbers.
pub fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// Fails unless two lists agree to a tolerance relative to the largest number in the expected one.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: lengths differ");
    let largest = expected
        .iter()
        .filter(|b| b.is_finite())
        .fold(0.0_f64, |max, b| max.max(b.abs()));
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        let close = a == b || (a - b).abs() <= tolerance * largest;
        assert!(close, "{what}[{index}]: found {a}, expected {b}");
    }
}

/// The sets of nodes behind those golden normals of a tour that forbid a ring: several entries and
/// no opposite.
pub fn rings(nodes: usize, normals: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let numbers = |row: &[f64]| {
        (0..row.len() as u32)
            .filter(|j| row[*j as usize] != 0.0)
            .collect::<Vec<_>>()
    };
    let ring = |row: &&Vec<f64>| {
        let opposite: Vec<f64> = row.iter().map(|x| 0.0 - x).collect();
        numbers(row).len() > 1 && !normals.contains(&opposite)
    };
    let ends = |row: &Vec<f64>| {
        let mut set: Vec<usize> = edge_ends(nodes, &numbers(row))
            .flat_map(|(i, j)| [i, j])
            .collect();
        set.sort_unstable();
        set.dedup();
        set
    };
    normals.iter().filter(ring).map(ends).collect()
}

/// Inputs of a golden loss file, costs and predictions turned into minimising form.
pub struct Case {
    sign: f64,
    pub predictions: Vec<Vec<f64>>,
    pub costs: Vec<Vec<f64>>,
    pub best: Vec<Decision>,
    oracle: Oracle,
}

impl Case {
    pub fn new(inputs: &Value, sense: &Value) -> Self {
        let sign = if sense == "max" { -1.0 } else { 1.0 };
        let flip = |rows: Vec<Vec<f64>>| {
            rows.iter()
                .map(|r| r.iter().map(|v| sign * v).collect())
                .collect()
        };
        let costs: Vec<Vec<f64>> = flip(rows(&inputs["true_cost"]));
        let best = rows(&inputs["true_sol"])
            .iter()
            .map(|x| Decision::from_dense(x))
            .collect();
        let items = costs[0].len();
        let free = TopK::at_most(items, items, Sense::Minimize).unwrap();
        let predictions = flip(rows(&inputs["pred"]));
        Self {
            sign,
            predictions,
            costs,
            best,
            oracle: Oracle::new(Arc::new(free)),
        }
    }

    /// The user's numbers in minimising form.
    pub fn inner(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        rows.iter()
            .map(|row| row.iter().map(|v| self.sign * v).collect())
            .collect()
    }

    /// The end of each cost's golden range on the side that can mislead.
    pub fn limits(&self, inputs: &Value) -> Matrix {
        let ends = [rows(&inputs["bounds_lower"]), rows(&inputs["bounds_upper"])]
            .map(|ends| self.inner(&ends));
        let [lower, upper] = if self.sign > 0.0 {
            ends
        } else {
            {
                let [a, b] = ends;
                [b, a]
            }
        };
        let mut limits = Vec::new();
        for (instance, best) in self.best.iter().enumerate() {
            let end = |j| {
                if best.value(j) == 1.0 {
                    upper[instance][j]
                } else {
                    lower[instance][j]
                }
            };
            limits.extend((0..lower[0].len()).map(end));
        }
        Matrix::from_f64(self.best.len(), lower[0].len(), &limits).unwrap()
    }

    pub fn best_objectives(&self) -> Vec<f64> {
        self.best
            .iter()
            .zip(&self.costs)
            .map(|(x, c)| x.dot(c))
            .collect()
    }

    /// Values and gradients of all rows.
    pub fn evaluate(&self, loss: &dyn Loss, predictions: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let each = predictions
            .iter()
            .enumerate()
            .map(|(instance, prediction)| {
                let mut gradient = vec![0.0; prediction.len()];
                let query = LossInput {
                    instance,
                    costs: &self.costs[instance],
                    prediction,
                    label: &self.best[instance],
                    noise: NoiseKey::default(),
                };
                let value = loss
                    .evaluate(&query, &mut self.oracle.worker(), &mut gradient)
                    .unwrap();
                (value, gradient)
            });
        each.unzip()
    }

    /// Compares with `per_instance` and `grad_of_mean`, which are in the user's sense.
    pub fn assert_equal(
        &self,
        expected: &Value,
        values: &[f64],
        gradients: &[Vec<f64>],
        what: &str,
    ) {
        assert_close(values, &numbers(&expected["per_instance"]), 1e-8, what);
        let count = values.len() as f64;
        let mean: Vec<f64> = gradients
            .concat()
            .iter()
            .map(|g| self.sign * g / count)
            .collect();
        assert_close(
            &mean,
            &rows(&expected["grad_of_mean"]).concat(),
            1e-8,
            &format!("{what} gradient"),
        );
    }
}
