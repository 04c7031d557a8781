//! Regret: how much a decision costs beyond the best one, and its averages.
//!
//! regret = c·x(ĉ) − c·x(c). Mean regret is what the literature's tables compare; the normalized
//! one divides the sum by the sum of best objectives, the relative one averages each instance's
//! share.

use serde::{Deserialize, Serialize};

use crate::data::{CostMatching, CostOwner, Dataset, Matrix, norm};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::predict::CostModel;
use crate::problem::{ProblemKind, match_costs};

/// Regret and prediction error over a set of instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Instances evaluated.
    pub instances: usize,
    /// Mean regret in units of the objective.
    pub regret: f64,
    /// Sum of regrets over the sum of best objectives' sizes.
    pub normalized_regret: f64,
    /// Mean of each instance's regret over the size of its best objective.
    pub relative_regret: f64,
    /// Mean squared error of the predicted costs.
    pub mse: f64,
    /// Mean absolute error of the predicted costs.
    pub mae: f64,
    /// Share of instances whose decision is as good as the best.
    pub optimal_fraction: f64,
    /// Regret of each instance.
    #[serde(skip)]
    pub regrets: Vec<f64>,
}

/// Fewest rows whose mean regret says anything about other rows: with fewer, the mean of a few
/// decisions that happen to be optimal can be low by chance.
pub const MIN_ROWS_TO_EVALUATE: usize = 10;

/// A warning where regret is averaged over so few rows that nothing can be concluded; `what` says
/// which rows.
pub fn few_rows_warning(what: &str, rows: usize) -> Option<String> {
    let plural = if rows == 1 { "row" } else { "rows" };
    (rows > 0 && rows < MIN_ROWS_TO_EVALUATE).then(|| {
        format!(
            "The regret is that of {rows} {what} {plural}: nothing can be concluded from fewer \
            than {MIN_ROWS_TO_EVALUATE}."
        )
    })
}

/// Regret of predictions (converted to minimization, one row per listed instance).
///
/// # Errors
/// When an instance has no decision under its predicted costs, or the user interrupts.
pub fn evaluate(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Evaluation> {
    let regrets = regrets(predictions, data, instances, oracle, observer)?;
    Ok(summarize(regrets, predictions, data, instances))
}

/// A model's predictions for some rows of a labeled table, to be minimized.
///
/// # Errors
/// When the costs of the table do not match those of the model.
pub fn predict_rows(model: &CostModel, data: &LabeledDataset, rows: &[usize]) -> Result<Matrix> {
    let matching = model.matching(CostOwner::new("the table", data.data().cost_names()))?;
    let mut predictions =
        model.predict_matched(&data.data().features().select_rows(rows), &matching)?;
    data.sense().convert_single(predictions.as_mut_slice());
    Ok(predictions)
}

/// Known predictions in the user's sense for some rows of a labeled table, to be minimized.
///
/// # Errors
/// When a table on disk cannot be read.
pub fn known_predictions(all: &Matrix, data: &LabeledDataset, rows: &[usize]) -> Result<Matrix> {
    let mut predictions = all.select_rows(rows);
    data.sense().convert_matrix(&mut predictions)?;
    Ok(predictions)
}

/// Maps the costs that a model predicts to the costs of a problem.
///
/// # Errors
/// When both have names and the sets differ.
pub fn match_model(model: &CostModel, problem: &dyn ProblemKind) -> Result<CostMatching> {
    match_costs(model.cost_owner(problem.cost_names()), problem)
}

/// Brings a table that a model is evaluated on into the order of the problem's costs or, where the
/// problem has no names, of the model's; returns what the user should know.
///
/// # Errors
/// When names differ between the table or the model and the problem.
pub fn match_table(
    data: &mut Dataset,
    model: &CostModel,
    problem: &dyn ProblemKind,
) -> Result<Vec<String>> {
    let of_model = match_model(model, problem)?;
    let found = CostOwner::new("the table", data.cost_names());
    let of_table = match problem.cost_names() {
        Some(_) => match_costs(found, problem)?,
        None => CostMatching::new(found, model.cost_owner(found.cost_names))?,
    };
    data.apply(&of_table)?;
    Ok([of_model, of_table]
        .iter()
        .filter_map(|matching| matching.notice().map(String::from))
        .collect())
}

/// Numbers predicted at a time where there is a choice.
const MAX_PREDICTIONS_PER_CHUNK: usize = 1 << 25;

/// How many instances to predict and decide at a time, so that predictions stay small beside the
/// table: at least one per thread.
pub fn rows_per_chunk(data: &LabeledDataset, oracle: &Oracle) -> usize {
    (MAX_PREDICTIONS_PER_CHUNK / data.data().costs().cols().max(1))
        .max(oracle.threads().count())
        .max(1)
}

/// Regret of predictions that are made a few instances at a time: `predict` gives those of the
/// listed instances, to be minimized.
///
/// # Errors
/// When predicting fails, an instance has no decision under its predicted costs, or the user
/// interrupts.
pub fn evaluate_in_chunks(
    predict: impl Fn(&[usize]) -> Result<Matrix>,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Evaluation> {
    let (mut found, mut errors) = (
        Vec::with_capacity(instances.len()),
        CostErrorSums::default(),
    );
    for part in instances.chunks(rows_per_chunk(data, oracle)) {
        let predictions = predict(part)?;
        found.append(&mut regrets(&predictions, data, part, oracle, observer)?);
        errors.add(&predictions, data, part);
    }
    Ok(errors.summarize(found, data, instances))
}

/// Regret of each listed instance under predictions (to be minimized, one row each).
///
/// # Errors
/// When an instance has no decision under its predicted costs, or the user interrupts.
pub fn regrets(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    regrets_from_results(oracle.solve_all(predictions, observer)?, data, instances)
}

/// Regret of each listed instance under decisions that an oracle gave.
///
/// # Errors
/// When an instance has no decision.
pub fn regrets_from_results(
    answers: Vec<SolveResult>,
    data: &LabeledDataset,
    instances: &[usize],
) -> Result<Vec<f64>> {
    let each = instances.iter().zip(answers).map(|(instance, answer)| {
        let solution = answer.map_err(|failure| Error::solver(*instance, failure))?;
        Ok(data
            .data()
            .costs()
            .objective_of(&solution.decision, *instance)
            - data.optimal_objective(*instance))
    });
    each.collect()
}

/// Regrets with the worst decision among those the predicted costs cannot tell apart.
///
/// Of all decisions whose predicted cost is the least, up to a millionth, the one with the highest
/// true cost counts; ties then cannot flatter a prediction.
///
/// # Errors
/// When an instance has no decision, or the user interrupts.
pub fn unambiguous_regrets(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    const TIE_TOLERANCE: f64 = 1e-6;
    let mut worker = oracle.worker();
    let mut regrets = Vec::with_capacity(instances.len());
    for (row, instance) in instances.iter().enumerate() {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let wrong = |failure| Error::solver(*instance, failure);
        let (predicted, costs) = (predictions.row(row), data.data().costs().row(*instance));
        let lean = TIE_TOLERANCE * norm(predicted) / norm(costs).max(1e-12);
        let leaning: Vec<f64> = predicted
            .iter()
            .zip(costs)
            .map(|(p, c)| f64::from(*p) - lean * f64::from(*c))
            .collect();
        let chosen = worker.solve_row(predicted).map_err(wrong)?.decision;
        let worst = worker.solve(&leaning).map_err(wrong)?.decision;
        let min = chosen.dot(predicted);
        let tied = worst.dot(predicted) <= min + TIE_TOLERANCE * min.abs().max(1.0);
        let cost = if tied {
            worst.dot(costs).max(chosen.dot(costs))
        } else {
            chosen.dot(costs)
        };
        regrets.push(cost - data.optimal_objective(*instance));
    }
    Ok(regrets)
}

/// Averages of known regrets.
pub fn summarize(
    regrets: Vec<f64>,
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
) -> Evaluation {
    let mut errors = CostErrorSums::default();
    errors.add(predictions, data, instances);
    errors.summarize(regrets, data, instances)
}

/// Sums of the errors of predicted costs, in the order of the instances.
#[derive(Debug, Clone, Copy, Default)]
struct CostErrorSums {
    squared: f64,
    absolute: f64,
}

impl CostErrorSums {
    fn add(&mut self, predictions: &Matrix, data: &LabeledDataset, instances: &[usize]) {
        let (mut predicted, mut costs) = (Vec::new(), Vec::new());
        for (row, instance) in instances.iter().enumerate() {
            predictions.read(row, &mut predicted);
            data.data().costs().read(*instance, &mut costs);
            for (p, c) in predicted.iter().zip(&costs) {
                let error = p - c;
                self.squared += error * error;
                self.absolute += error.abs();
            }
        }
    }

    fn summarize(
        self,
        regrets: Vec<f64>,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Evaluation {
        let count = instances.len().max(1) as f64;
        let best: Vec<f64> = instances
            .iter()
            .map(|i| data.optimal_objective(*i).abs())
            .collect();
        let total: f64 = regrets.iter().sum();
        let relative: f64 = regrets
            .iter()
            .zip(&best)
            .map(|(regret, best)| regret / best.max(1e-12))
            .sum();
        let optimal = regrets
            .iter()
            .zip(&best)
            .filter(|(regret, best)| **regret <= 1e-9 * best.max(1.0))
            .count();
        let numbers = count * data.data().costs().cols().max(1) as f64;
        Evaluation {
            instances: instances.len(),
            regret: total / count,
            normalized_regret: total / (best.iter().sum::<f64>() + 1e-8),
            relative_regret: relative / count,
            mse: self.squared / numbers,
            mae: self.absolute / numbers,
            optimal_fraction: optimal as f64 / count,
            regrets,
        }
    }
}
