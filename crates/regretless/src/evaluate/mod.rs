//! Regret: how much worse a decision is than the optimal one under the true costs, and its
//! aggregates.
//!
//! regret = c·x(ĉ) − c·x(c), with true costs c, predicted costs ĉ and the optimal decision x(·) for
//! a cost vector. Normalized regret divides the sum of regrets by the sum of the absolute optimal
//! objectives; relative regret is the mean over instances of their quotient.

use serde::{Deserialize, Serialize};

use self::sums::{CostErrorSums, DecidedRows};
use crate::data::Matrix;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::predict::{CostModel, number_or_nan};
use crate::solve::SolveStatus;

mod importance;
mod matching;
mod overlap;
mod sums;
mod unambiguous;
mod unpredicted;

pub use self::overlap::TrainingOverlap;
use self::unambiguous::unambiguous_regrets;
pub use self::unpredicted::{MissingPredictions, UnpredictedCosts};

/// Regret relative to an objective; NaN for a regret relative to 0.
pub fn relative_to(regret: f64, objective: f64) -> f64 {
    if regret == 0.0 {
        0.0
    } else if objective == 0.0 {
        f64::NAN
    } else {
        regret / objective.abs()
    }
}

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
    /// Sum of regrets divided by the sum of the absolute optimal objectives; NaN if there is regret
    /// and all of these are 0.
    #[serde(deserialize_with = "number_or_nan")]
    pub normalized_regret: f64,
    /// Mean over instances of the regret divided by the absolute optimal objective; NaN if there is
    /// regret and this is 0.
    #[serde(deserialize_with = "number_or_nan")]
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
    /// Objective of each instance's decision under its true costs, in the user's sense.
    #[serde(skip)]
    pub objectives: Vec<f64>,
    /// Proven quality of each instance's decision under its predicted costs; empty if it was not
    /// recorded (unambiguous regret).
    #[serde(skip)]
    pub statuses: Vec<SolveStatus>,
    /// Costs without a prediction, which decisions leave out, and how many instances have them;
    /// prediction errors do not count them.
    #[serde(skip)]
    pub unpredicted: UnpredictedCosts,
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
        let missing = model.missing_predictions();
        Self::in_chunks(predict, missing, data, instances, oracle, observer)
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
        let missing = MissingPredictions::Refused;
        Self::of_partial_predictions(predictions, missing, data, instances, oracle, observer)
    }

    /// The same if some costs may have no prediction.
    ///
    /// # Errors
    /// As [`Evaluation::of_predictions`].
    pub fn of_partial_predictions(
        predictions: &Matrix,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let results = missing.decide(oracle, predictions, data, instances, observer)?;
        let rows = DecidedRows::new(results, data, instances)?;
        let mut errors = CostErrorSums::default();
        errors.add(predictions, data, instances);
        Ok(errors.summarize(rows, data, instances))
    }

    /// Regret of predictions that are made a few instances at a time: `predict` returns those of
    /// the listed instances, converted to minimization.
    ///
    /// # Errors
    /// When predicting fails, an instance has no decision under its predicted costs, or the user
    /// interrupts.
    pub fn in_chunks(
        predict: impl Fn(&[usize]) -> Result<Matrix>,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut rows = DecidedRows::default();
        let mut errors = CostErrorSums::default();
        for chunk in instances.chunks(rows_per_chunk(data, oracle)) {
            let predictions = predict(chunk)?;
            let results = missing.decide(oracle, &predictions, data, chunk, observer)?;
            rows.append(DecidedRows::new(results, data, chunk)?);
            errors.add(&predictions, data, chunk);
        }
        Ok(errors.summarize(rows, data, instances))
    }

    /// Regret when all instances have the same prediction, converted to minimization: one solve.
    ///
    /// # Errors
    /// When there is no decision under the predicted costs, or the user interrupts.
    pub fn of_constant(
        prediction: &[f32],
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let predicted = Matrix::new(1, prediction.len(), prediction.to_vec())?;
        if oracle.has_row_problems() || !data.data().has_plain_costs() {
            let predict = |part: &[usize]| {
                let predictions = predicted.select_rows(&vec![0; part.len()]);
                data.data().complete_predictions(part, predictions)
            };
            // The mean of a cost that no training row has is NaN.
            let missing = MissingPredictions::LeftOut;
            return Self::in_chunks(predict, missing, data, instances, oracle, observer);
        }
        let result = oracle.solve_all(&predicted, observer)?;
        let mut rows = DecidedRows::default();
        let mut errors = CostErrorSums::default();
        for instance in instances {
            rows.append(DecidedRows::new(result.clone(), data, &[*instance])?);
            errors.add(&predicted, data, &[*instance]);
        }
        Ok(errors.summarize(rows, data, instances))
    }

    /// Unambiguous regret (Elmachtoub and Grigas 2022): among decisions whose predicted costs tie,
    /// the one with the highest true cost counts.
    ///
    /// # Errors
    /// When an instance has no decision, or the user interrupts.
    pub fn unambiguous(
        predictions: &Matrix,
        missing: MissingPredictions,
        data: &LabeledDataset,
        instances: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Self> {
        oracle.require_costs("unambiguous regret", "use regret")?;
        let decider = missing.decider(oracle, data);
        let regrets = unambiguous_regrets(predictions, data, instances, &decider, observer)?;
        Ok(Self::from_regrets(regrets, predictions, data, instances))
    }

    /// Aggregates of known regrets.
    pub fn from_regrets(
        regrets: Vec<f64>,
        predictions: &Matrix,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Self {
        let mut objectives = Vec::with_capacity(regrets.len());
        for (regret, instance) in regrets.iter().zip(instances) {
            objectives.push(data.stated_objective_with_regret(*instance, *regret));
        }
        let rows = DecidedRows {
            regrets,
            objectives,
            statuses: Vec::new(),
        };
        let mut errors = CostErrorSums::default();
        errors.add(predictions, data, instances);
        errors.summarize(rows, data, instances)
    }

    /// Regret of one instance divided by its absolute optimal objective, as the mean in
    /// `relative_regret` counts it.
    pub fn relative_regret_of(regret: f64, optimal_objective: f64) -> f64 {
        relative_to(regret, optimal_objective.abs())
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

/// Costs predicted at a time, 128 MB in single precision: trades memory against the number of
/// parallel passes.
const MAX_PREDICTIONS_PER_CHUNK: usize = 1 << 25;

/// Number of instances to predict and solve at a time, at least one per thread, so predictions of a
/// large table never are in memory as a whole.
pub fn rows_per_chunk(data: &LabeledDataset, oracle: &Oracle) -> usize {
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
    missing: MissingPredictions,
    data: &LabeledDataset,
    instances: &[usize],
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let results = missing.decide(oracle, predictions, data, instances, observer)?;
    regrets_from_results(results, data, instances)
}

/// Regret of each listed instance under the decisions of an oracle.
///
/// # Errors
/// When an instance has no decision.
pub fn regrets_from_results(
    results: Vec<SolveResult>,
    data: &LabeledDataset,
    instances: &[usize],
) -> Result<Vec<f64>> {
    Ok(DecidedRows::new(results, data, instances)?.regrets)
}
