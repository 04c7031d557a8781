//! One run of a comparison: a contender, a seed, and what came of them.

use std::fmt;
use std::time::Instant;

use regretless::evaluate::Evaluation;
use regretless::loss::{BaseError, CosSpec, ErrorSide, InstanceWeighting};
use regretless::predict::PredictorSpec;
use regretless::train::{Baseline, Method, TrainReport, TrainingContext, TrainingSettings};
use regretless::{Error, Result};
use serde::{Deserialize, Serialize};

use super::super::data_split::DataSplit;
use super::super::{evaluate_model, oracle};
use crate::args::{CompareOptions, ExecutionOptions};
use crate::progress::InterruptOnlyObserver;

/// What takes part in a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparedMethod {
    /// A method that is trained, or `auto`.
    Method(Method),
    /// A prediction without training.
    Baseline(Baseline),
}

impl fmt::Display for ComparedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(method) => method.fmt(f),
            Self::Baseline(baseline) => baseline.fmt(f),
        }
    }
}

/// How a run trains.
#[derive(Debug, Clone, Serialize)]
pub struct RunSettings {
    /// What is trained.
    pub predictor: PredictorSpec,
    /// How.
    pub training: TrainingSettings,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Hash over all that the run depends on.
    pub key: String,
    /// The contender's name.
    pub loss: String,
    pub seed: u64,
    pub best_epoch: usize,
    pub epochs: usize,
    pub validation_regret: Option<f64>,
    pub test_regret: f64,
    pub test_normalized_regret: f64,
    pub test_relative_regret: f64,
    pub test_mse: f64,
    pub test_mae: f64,
    pub test_optimal_fraction: f64,
    /// Solves of training, those of all candidates for `auto`.
    pub solves: u64,
    pub seconds: f64,
    /// Whether it took no training.
    pub is_baseline: bool,
    /// Whether the training loss was clearly still falling at the end; none where that cannot be
    /// told.
    pub still_falling: Option<bool>,
}

/// A hash over rows, labels, split and problem of one seed.
pub fn task_key(data: &DataSplit, options: &CompareOptions) -> Result<String> {
    let oracle = oracle(&data.problem, &one_thread(&options.execution))?;
    task(data, &oracle).fingerprint(data.problem.spec())
}

fn one_thread(execution: &ExecutionOptions) -> ExecutionOptions {
    ExecutionOptions {
        threads: Some(1),
        ..execution.clone()
    }
}

fn task<'a>(data: &'a DataSplit, oracle: &'a regretless::oracle::Oracle) -> TrainingContext<'a> {
    TrainingContext {
        data: &data.data,
        split: &data.split,
        oracle,
        observer: &InterruptOnlyObserver,
    }
}

impl ComparedMethod {
    /// A hash over all that its run on one seed depends on.
    pub fn key(&self, task: &str, settings: &RunSettings) -> Result<String> {
        let written =
            serde_json::to_vec(&(env!("CARGO_PKG_VERSION"), task, self.to_string(), settings))
                .map_err(|error| {
                    Error::setting(format!("a run cannot be written down: {error}"))
                })?;
        Ok(blake3::hash(&written).to_hex()[..16].to_string())
    }

    /// Trains, if there is something to train, and judges on the test rows, on one thread.
    pub fn run(
        &self,
        data: &DataSplit,
        settings: &RunSettings,
        execution: &ExecutionOptions,
    ) -> Result<RunResult> {
        let oracle = oracle(&data.problem, &one_thread(execution))?;
        let (task, spec) = (task(data, &oracle), data.problem.spec());
        let seed = settings.training.seed;
        match self {
            Self::Method(method) => {
                let (trained, _) =
                    method.train(&task, (&settings.predictor, settings.training), spec)?;
                let test = evaluate_model(
                    &trained.model,
                    &data.data,
                    &data.split.test,
                    &oracle,
                    &InterruptOnlyObserver,
                )?;
                let still_falling = match method {
                    Method::Stages(_) => trained.report.is_still_falling(),
                    // Its steps shrink to nothing, so that its losses always settle.
                    Method::Auto(_) => None,
                };
                let outcome = RunResult::from_evaluation(self.to_string(), seed, &test);
                Ok(RunResult {
                    still_falling,
                    ..outcome.with_training(&trained.report)
                })
            }
            Self::Baseline(baseline) => {
                let started = Instant::now();
                let test = baseline.evaluate(&task, spec)?;
                let seconds = started.elapsed().as_secs_f64();
                Ok(RunResult {
                    is_baseline: true,
                    seconds,
                    ..RunResult::from_evaluation(self.to_string(), seed, &test)
                })
            }
        }
    }

    /// The error that its loss minimises, if that is one of predicted costs alone: squared or
    /// absolute.
    pub fn own_error(&self) -> Option<BaseError> {
        let Self::Method(Method::Stages(method)) = self else {
            return None;
        };
        match (method.loss.downcast_ref::<CosSpec>(), &method.then) {
            (
                Some(CosSpec {
                    error,
                    side: ErrorSide::Both,
                    scale_invariant: false,
                    weighting: InstanceWeighting::Equal,
                }),
                None,
            ) => Some(*error),
            _ => None,
        }
    }
}

impl RunResult {
    fn from_evaluation(loss: String, seed: u64, test: &Evaluation) -> Self {
        Self {
            key: String::new(),
            loss,
            seed,
            best_epoch: 0,
            epochs: 0,
            validation_regret: None,
            test_regret: test.regret,
            test_normalized_regret: test.normalized_regret,
            test_relative_regret: test.relative_regret,
            test_mse: test.mse,
            test_mae: test.mae,
            test_optimal_fraction: test.optimal_fraction,
            solves: 0,
            seconds: 0.0,
            is_baseline: false,
            still_falling: None,
        }
    }

    fn with_training(self, report: &TrainReport) -> Self {
        let last = report.rounds.last();
        let best = last.and_then(|round| round.epochs.get(round.best_epoch));
        Self {
            best_epoch: report.best_epoch(),
            epochs: last.map_or(0, |round| round.epochs.len().saturating_sub(1)),
            validation_regret: best.and_then(|epoch| epoch.validation_regret),
            solves: report.solves.total(),
            seconds: report.seconds,
            ..self
        }
    }
}
