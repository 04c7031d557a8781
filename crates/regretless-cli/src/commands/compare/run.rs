//! One run of a comparison: a method or baseline on one seed, and its result.

use std::fmt;
use std::time::Instant;

use regretless::baseline::Baseline;
use regretless::evaluate::Evaluation;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting};
use regretless::method::Method;
use regretless::predict::PredictorSpec;
use regretless::report::TrainReport;
use regretless::settings::TrainingSettings;
use regretless::train::TrainingContext;
use regretless::{Error, Result, Trainer};
use serde::{Deserialize, Serialize};

use super::super::data_split::DataSplit;
use super::super::{evaluate_model, oracle};
use crate::args::{CompareOptions, ExecutionOptions};
use crate::progress::InterruptOnlyObserver;

/// A method or a baseline of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparedMethod {
    /// A method that is trained, or `auto`.
    Method(Method),
    /// A baseline, which needs no training.
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

/// Predictor and training settings of a run.
#[derive(Debug, Clone, Serialize)]
pub struct RunSettings {
    /// The predictor.
    pub predictor: PredictorSpec,
    /// The training settings.
    pub training: TrainingSettings,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Hash of everything the run depends on.
    pub key: String,
    /// Name of the method or baseline.
    pub method: String,
    pub seed: u64,
    pub best_epoch: usize,
    pub epochs: usize,
    pub validation_regret: Option<f64>,
    /// Evaluation on the test rows.
    pub test: Evaluation,
    /// Solves of training; for `auto` those of all candidates.
    pub solves: u64,
    pub seconds: f64,
    /// Whether it is a baseline.
    pub is_baseline: bool,
    /// Whether the training loss was clearly still falling at the end; none where that is unknown.
    pub still_falling: Option<bool>,
}

/// Hash of the rows, labels, split and problem of one seed.
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
    /// Hash of everything its run on one seed depends on.
    pub fn key(&self, task: &str, settings: &RunSettings) -> Result<String> {
        let version = env!("CARGO_PKG_VERSION");
        let serialized = serde_json::to_vec(&(version, task, self.to_string(), settings))
            .map_err(|error| Error::setting(format!("a run cannot be serialized: {error}")))?;
        Ok(blake3::hash(&serialized).to_hex()[..16].to_string())
    }

    /// Trains on one thread, unless it is a baseline, and evaluates on the test rows.
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
                let trained = Trainer::new(method.clone())
                    .predictor(settings.predictor.clone())
                    .settings(settings.training)
                    .train(&task, spec, None)?;
                let test = evaluate_model(
                    &trained.model,
                    &data.data,
                    &data.split.test,
                    &oracle,
                    &InterruptOnlyObserver,
                )?;
                let still_falling = match method {
                    Method::Stages(_) => trained.report.is_still_falling(),
                    // The learning rate decays to 0, so that the loss always settles.
                    Method::Auto(_) => None,
                };
                let outcome = RunResult::from_evaluation(self.to_string(), seed, test);
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
                    ..RunResult::from_evaluation(self.to_string(), seed, test)
                })
            }
        }
    }

    /// The prediction error that its loss minimizes, squared or absolute; none for other losses.
    pub fn own_error(&self) -> Option<BaseError> {
        let Self::Method(Method::Stages(stages)) = self else {
            return None;
        };
        let [stage] = stages.as_slice() else {
            return None;
        };
        match stage.loss.downcast_ref::<CostSensitiveSpec>() {
            Some(CostSensitiveSpec {
                error,
                side: ErrorSide::Both,
                scale_invariant: false,
                weighting: InstanceWeighting::Equal,
            }) => Some(*error),
            _ => None,
        }
    }
}

impl RunResult {
    fn from_evaluation(method: String, seed: u64, test: Evaluation) -> Self {
        Self {
            key: String::new(),
            method,
            seed,
            best_epoch: 0,
            epochs: 0,
            validation_regret: None,
            test,
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
