//! Regret: how much worse a decision is than the optimal one under the true costs, and its
//! aggregates.
//!
//! regret = c·x(ĉ) − c·x(c), with true costs c, predicted costs ĉ and the optimal decision x(·) for
//! a cost vector. Normalized regret divides the sum of regrets by the sum of the absolute optimal
//! objectives; relative regret is the mean over instances of their quotient.

use serde::{Deserialize, Serialize};

use crate::data::{CostMatching, Dataset, Matrix, NamedCosts, norm};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::predict::CostModel;
use crate::problem::ProblemKind;

/// Smallest absolute objective or norm that is a denominator; untuned: any value far below real
/// objectives works, since it only replaces a division by zero.
const MIN_DENOMINATOR: f64 = 1e-12;

/// Added to the sum of absolute optimal objectives in normalized regret, so that it is finite where
/// all of them are 0. Far below any sum of interest.
const NORMALIZATION_OFFSET: f64 = 1e-8;

/// Relative regret up to which a decision counts as optimal: rounding errors of an objective's sum
/// are smaller.
const OPTIMALITY_TOLERANCE: f64 = 1e-9;

/// Regret and prediction error over a set of instances.
///
/// ```
/// use regretless::{Dataset, Method, Problem, Split, Trainer};
///
/// let problem = Problem::benchmark("KS8")?;
/// let data = Dataset::generate(&problem, 60)?.split(Split::random(0))?;
/// let model = Trainer::new(Method::mse()).epochs(2).fit(&problem, &data)?;
/// let evaluation = model.evaluate(data.test())?;
/// assert_eq!(evaluation.instances, 12);
/// assert!(evaluation.regret >= 0.0 && evaluation.optimal_fraction <= 1.0);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Instances evaluated.
    pub instances: usize,
    /// Mean regret in units of the objective.
    pub regret: f64,
    /// Sum of regrets divided by the sum of the absolute optimal objectives.
    pub normalized_regret: f64,
    /// Mean over instances of the regret divided by the absolute optimal objective.
    pub relative_regret: f64,
    /// Mean squared error of the predicted costs.
    pub mse: f64,
    /// Mean absolute error of the predicted costs.
    pub mae: f64,
    /// Fraction of instances whose decision is optimal.
    pub optimal_fraction: f64,
    /// Regret of each instance.
    #[serde(skip)]
    pub regrets: Vec<f64>,
}

/// Fewest rows whose mean regret is meaningful: with fewer, a few decisions that happen to be
/// optimal make it low by chance. Untuned.
const MIN_ROWS_TO_EVALUATE: usize = 10;

impl Evaluation {
    /// Regret of a model's predictions, made a few instances at a time.
    ///
    /// # Errors
    /// When the costs of the table do not match those of the model, an instance has no decision
    /// under its predicted costs, or the user interrupts.
    pub fn of_model(
        model: &CostModel,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let predict = |part: &[usize]| model.predict_instances(data, part);
        Self::in_chunks(predict, data, instances, oracle, observer)
    }

    /// Regret of predictions (converted to minimization, one row per listed instance).
    ///
    /// # Errors
    /// When an instance has no decision under its predicted costs, or the user interrupts.
    pub fn of_predictions(
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let regrets = regrets(predictions, data, instances, oracle, observer)?;
        Ok(Self::from_regrets(regrets, predictions, data, instances))
    }

    /// Regret of predictions that are made a few instances at a time: `predict` returns those of
    /// the listed instances, converted to minimization.
    ///
    /// # Errors
    /// When predicting fails, an instance has no decision under its predicted costs, or the user
    /// interrupts.
    pub fn in_chunks(
        predict: impl Fn(&[usize]) -> Result<Matrix>,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut all_regrets = Vec::with_capacity(instances.len());
        let mut errors = CostErrorSums::default();
        for chunk in instances.chunks(rows_per_chunk(data, oracle)) {
            let predictions = predict(chunk)?;
            all_regrets.append(&mut regrets(&predictions, data, chunk, oracle, observer)?);
            errors.add(&predictions, data, chunk);
        }
        Ok(errors.summarize(all_regrets, data, instances))
    }

    /// Unambiguous regret (Elmachtoub and Grigas 2022): among decisions whose predicted costs tie,
    /// the one with the highest true cost counts.
    ///
    /// # Errors
    /// When an instance has no decision, or the user interrupts.
    pub fn unambiguous(
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let regrets = unambiguous_regrets(predictions, data, instances, oracle, observer)?;
        Ok(Self::from_regrets(regrets, predictions, data, instances))
    }

    /// Aggregates of known regrets.
    pub(crate) fn from_regrets(
        regrets: Vec<f64>,
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Self {
        let mut errors = CostErrorSums::default();
        errors.add(predictions, data, instances);
        errors.summarize(regrets, data, instances)
    }

    /// A warning if regret is averaged over fewer rows than `MIN_ROWS_TO_EVALUATE`; `part` is the
    /// part of the table, such as "test".
    pub fn few_rows_warning(part: &str, rows: usize) -> Option<String> {
        let noun = if rows == 1 { "row" } else { "rows" };
        (rows > 0 && rows < MIN_ROWS_TO_EVALUATE).then(|| {
            format!(
                "The regret is that of {rows} {part} {noun}: nothing can be concluded from fewer \
                than {MIN_ROWS_TO_EVALUATE}."
            )
        })
    }
}

impl CostModel {
    /// Predictions for some rows of a labeled table, to be minimized.
    ///
    /// # Errors
    /// When the costs of the table do not match those of the model.
    pub fn predict_instances(&self, data: &LabeledDataset, rows: &[usize]) -> Result<Matrix> {
        let matching = self.matching(NamedCosts::new("the table", data.data().cost_names()))?;
        let mut predictions =
            self.predict_matched(&data.data().features().select_rows(rows), &matching)?;
        data.sense().convert_single(predictions.as_mut_slice());
        Ok(predictions)
    }

    /// Maps the predicted costs to those of a problem.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn match_problem(&self, problem: &dyn ProblemKind) -> Result<CostMatching> {
        CostMatching::with_problem(self.named_costs(problem.cost_names()), problem)
    }

    /// Reorders the costs of a table that the model is evaluated on: to the order of the problem's
    /// costs or, where the problem has no names, of the model's. Returns warnings for the user.
    ///
    /// # Errors
    /// When names differ between the table or the model and the problem.
    pub fn match_table(
        &self,
        data: &mut Dataset,
        problem: &dyn ProblemKind,
    ) -> Result<Vec<String>> {
        let model_matching = self.match_problem(problem)?;
        let table = NamedCosts::new("the table", data.cost_names());
        let table_matching = match problem.cost_names() {
            Some(_) => CostMatching::with_problem(table, problem)?,
            None => CostMatching::new(table, self.named_costs(table.cost_names))?,
        };
        data.apply(&table_matching)?;
        let warnings = [model_matching.warning(), table_matching.warning()];
        Ok(warnings.into_iter().flatten().map(String::from).collect())
    }
}

impl LabeledDataset {
    /// Known predictions in the user's sense for some rows, to be minimized.
    ///
    /// # Errors
    /// When a table on disk cannot be read.
    pub fn select_predictions(&self, all: &Matrix, rows: &[usize]) -> Result<Matrix> {
        let mut predictions = all.select_rows(rows);
        self.sense().convert_matrix(&mut predictions)?;
        Ok(predictions)
    }
}

/// Costs predicted at a time, 128 MB in single precision: trades memory against the number of
/// parallel passes.
const MAX_PREDICTIONS_PER_CHUNK: usize = 1 << 25;

/// Number of instances to predict and solve at a time, at least one per thread, so that
/// predictions of a large table never are in memory as a whole.
pub(crate) fn rows_per_chunk(data: &LabeledDataset, oracle: &Oracle) -> usize {
    (MAX_PREDICTIONS_PER_CHUNK / data.data().costs().cols().max(1))
        .max(oracle.threads().count())
        .max(1)
}

/// Regret of each listed instance under predictions (to be minimized, one row each).
///
/// # Errors
/// When an instance has no decision under its predicted costs, or the user interrupts.
pub(crate) fn regrets(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    regrets_from_results(oracle.solve_all(predictions, observer)?, data, instances)
}

/// Regret of each listed instance under the decisions of an oracle.
///
/// # Errors
/// When an instance has no decision.
pub(crate) fn regrets_from_results(
    results: Vec<SolveResult>,
    data: &LabeledDataset,
    instances: &[usize],
) -> Result<Vec<f64>> {
    let mut regrets = Vec::with_capacity(instances.len());
    for (instance, result) in instances.iter().zip(results) {
        let solution = result.map_err(|failure| Error::solver(*instance, failure))?;
        let costs = data.data().costs();
        let objective = costs.objective_of(&solution.decision, *instance);
        regrets.push(objective - data.optimal_objective(*instance));
    }
    Ok(regrets)
}

/// Unambiguous regret (Elmachtoub and Grigas 2022): regret with pessimistic tie-breaking.
///
/// Among all decisions whose predicted cost is minimal up to a relative millionth, the one with the
/// highest true cost counts, so that a prediction with ties has no advantage. It is found by a
/// solve in which the predicted costs are perturbed slightly against the true costs.
///
/// # Errors
/// When an instance has no decision, or the user interrupts.
pub(crate) fn unambiguous_regrets(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    /// Relative difference of predicted objectives that counts as a tie, and the relative size
    /// of the perturbation: larger than rounding errors, smaller than real differences.
    const TIE_TOLERANCE: f64 = 1e-6;
    let mut worker = oracle.worker();
    let mut regrets = Vec::with_capacity(instances.len());
    for (row, instance) in instances.iter().enumerate() {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let failed = |failure| Error::solver(*instance, failure);
        let (predicted, costs) = (predictions.row(row), data.data().costs().row(*instance));
        let factor = TIE_TOLERANCE * norm(predicted) / norm(costs).max(MIN_DENOMINATOR);
        let perturbed: Vec<f64> = predicted
            .iter()
            .zip(costs)
            .map(|(predicted, cost)| f64::from(*predicted) - factor * f64::from(*cost))
            .collect();
        let decision = worker.solve_row(predicted).map_err(failed)?.decision;
        let worst = worker.solve(&perturbed).map_err(failed)?.decision;
        let min = decision.dot(predicted);
        let is_tied = worst.dot(predicted) <= min + TIE_TOLERANCE * min.abs().max(1.0);
        let cost = if is_tied {
            worst.dot(costs).max(decision.dot(costs))
        } else {
            decision.dot(costs)
        };
        regrets.push(cost - data.optimal_objective(*instance));
    }
    Ok(regrets)
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
        let (mut total, mut objectives, mut relative) = (0.0, 0.0, 0.0);
        let mut optimal = 0_usize;
        for (regret, instance) in regrets.iter().zip(instances) {
            let objective = data.optimal_objective(*instance).abs();
            total += regret;
            objectives += objective;
            relative += regret / objective.max(MIN_DENOMINATOR);
            optimal += usize::from(*regret <= OPTIMALITY_TOLERANCE * objective.max(1.0));
        }
        let num_costs = count * data.data().costs().cols().max(1) as f64;
        Evaluation {
            instances: instances.len(),
            regret: total / count,
            normalized_regret: total / (objectives + NORMALIZATION_OFFSET),
            relative_regret: relative / count,
            mse: self.squared / num_costs,
            mae: self.absolute / num_costs,
            optimal_fraction: optimal as f64 / count,
            regrets,
        }
    }
}
