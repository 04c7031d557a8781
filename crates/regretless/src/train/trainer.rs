//! A whole training as programs do it: any approach, judged on validation and test rows, told as
//! one report.

use serde::Serialize;

use super::{
    CandidateReport, CheckpointFolder, FitResult, Method, StageTrainer, StopReason,
    TrainingContext, TrainingSettings, train, train_with_checkpoints,
};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, evaluate_in_chunks, predict_rows};
use crate::oracle::{Heuristic, SolveCounts};
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::ProblemSpec;

/// Trains models: a method, a predictor and the settings of the training.
///
/// Setters do not fail; [`Trainer::fit`] checks the settings.
///
/// ```
/// use regretless::{Dataset, Method, Problem, Split, Trainer};
///
/// let problem = Problem::benchmark("KS8")?;
/// let data = Dataset::generate(&problem, 120)?
///     .split(Split::random(0).train(0.5).validation(0.2))?;
/// let method: Method = "MAE(O,S)".parse()?;
/// let model = Trainer::new(method).epochs(10).learning_rate(0.05).fit(&problem, &data)?;
/// assert!(model.evaluate(data.test())?.normalized_regret < 0.5);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Trainer {
    /// How parameters are fitted: one method, or `auto`, which races several.
    pub method: Method,
    /// What is trained.
    pub predictor: PredictorSpec,
    /// Settings of the training.
    pub settings: TrainingSettings,
    /// A trained model whose parameters are the initial ones.
    pub start: Option<CostModel>,
    /// Threads; 0 means one per core. Results do not depend on it.
    pub threads: usize,
}

/// A trained model and what it is worth.
#[derive(Debug, Clone)]
pub struct TrainingOutcome {
    /// The model and its epochs.
    pub trained: FitResult,
    /// Competitors of `auto`.
    pub tried: Vec<CandidateReport>,
    /// On the validation rows, if there are any.
    pub validation: Option<Evaluation>,
    /// On the test rows, if there are any.
    pub test: Option<Evaluation>,
    /// What decided where it was not the search for the best.
    pub heuristic: Option<Heuristic>,
}

/// What reports say about a training.
#[derive(Debug, Serialize)]
pub struct TrainingSummary<'a> {
    method: &'a Method,
    seed: u64,
    chosen: &'a str,
    tried: &'a [CandidateReport],
    best_epoch: usize,
    stopped: Option<StopReason>,
    validation: Option<&'a Evaluation>,
    test: Option<&'a Evaluation>,
    solves: u64,
    solves_by_kind: SolveCounts,
    seconds: f64,
    cpu_seconds: Option<f64>,
    heuristic: Option<Heuristic>,
    /// Seconds of one solve by the clock, where `auto` planned from that.
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_solve_seconds: Option<f64>,
    /// Whether the same command gives the same model again.
    reproducible: bool,
}

/// Settings and the training of a model.
impl Trainer {
    /// A linear predictor trained with the default settings.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            predictor: PredictorSpec::Linear,
            settings: TrainingSettings::default(),
            start: None,
            threads: 0,
        }
    }

    /// What is trained: a linear predictor or a network.
    #[must_use]
    pub fn predictor(mut self, predictor: PredictorSpec) -> Self {
        self.predictor = predictor;
        self
    }

    /// Number of epochs.
    #[must_use]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.settings.epochs = epochs;
        self
    }

    /// Learning rate of the optimizer.
    #[must_use]
    pub fn learning_rate(mut self, learning_rate: f64) -> Self {
        self.settings.learning_rate = learning_rate;
        self
    }

    /// Seed of initial parameters, batches and noise.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// All settings at once.
    #[must_use]
    pub fn settings(mut self, settings: TrainingSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Number of threads; 0 means one per core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

impl Trainer {
    /// Trains and judges, from checkpoints where there are some.
    ///
    /// # Errors
    /// As [`train`], and when `auto` is asked to start from a model.
    pub fn fit_and_evaluate(
        &self,
        task: &TrainingContext<'_>,
        problem: &ProblemSpec,
        kept: Option<&CheckpointFolder>,
    ) -> Result<TrainingOutcome> {
        let (trained, tried) = self.train(task, problem, kept)?;
        let part = |rows: &[usize]| {
            let predict = |part: &[usize]| predict_rows(&trained.model, task.data, part);
            let evaluate_part =
                || evaluate_in_chunks(predict, task.data, rows, task.oracle, task.observer);
            (!rows.is_empty()).then(evaluate_part).transpose()
        };
        let (validation, test) = (part(&task.split.validation)?, part(&task.split.test)?);
        Ok(TrainingOutcome {
            trained,
            tried,
            validation,
            test,
            heuristic: task.oracle.heuristic(),
        })
    }

    pub(crate) fn train(
        &self,
        task: &TrainingContext<'_>,
        problem: &ProblemSpec,
        kept: Option<&CheckpointFolder>,
    ) -> Result<(FitResult, Vec<CandidateReport>)> {
        let Self {
            method,
            predictor,
            settings,
            start,
            threads: _,
        } = self;
        match method {
            Method::Stages(method) => {
                let trainer =
                    StageTrainer::new(method.as_ref().clone(), predictor.clone(), *settings);
                let trainer = StageTrainer {
                    start: start.clone(),
                    ..trainer
                };
                let trained = match kept {
                    Some(checkpoints) => {
                        train_with_checkpoints(task, &trainer, problem, checkpoints)?
                    }
                    None => train(task, &trainer, problem)?,
                };
                Ok((trained, Vec::new()))
            }
            Method::Auto(_) if start.is_some() => Err(Error::setting(
                "auto starts afresh; leave out the model to start from, or choose a loss",
            )),
            Method::Auto(_) => method.train(task, (predictor, *settings), problem),
        }
    }

    /// What reports say about an outcome of this plan.
    pub fn summary<'a>(&'a self, outcome: &'a TrainingOutcome) -> TrainingSummary<'a> {
        let report = &outcome.trained.report;
        TrainingSummary {
            method: &self.method,
            seed: self.settings.seed,
            chosen: &outcome.trained.model.about.loss,
            tried: &outcome.tried,
            best_epoch: report.best_epoch(),
            stopped: report.rounds.last().map(|round| round.stopped),
            validation: outcome.validation.as_ref(),
            test: outcome.test.as_ref(),
            solves: report.solves.total(),
            solves_by_kind: report.solves,
            seconds: report.seconds,
            cpu_seconds: report.cpu_seconds,
            heuristic: outcome.heuristic,
            timed_solve_seconds: report.timed_solve_seconds,
            reproducible: report.timed_solve_seconds.is_none() && !self.settings.stops_by_clock(),
        }
    }
}
