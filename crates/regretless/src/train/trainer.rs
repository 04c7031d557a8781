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
use crate::predict::{Model, PredictorSpec};
use crate::problem::ProblemSpec;

/// What to train and how.
#[derive(Debug, Clone)]
pub struct Trainer {
    /// One method, or a race of several.
    pub approach: Method,
    /// What is trained.
    pub predictor: PredictorSpec,
    /// How.
    pub settings: TrainingSettings,
    /// A trained model to start from.
    pub start: Option<Model>,
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
    pub decided_by: Option<Heuristic>,
}

/// What reports say about a training.
#[derive(Debug, Serialize)]
pub struct TrainingSummary<'a> {
    loss: &'a Method,
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
    processor_seconds: Option<f64>,
    decided_by: Option<Heuristic>,
    /// Seconds of one solve by the clock, where `auto` planned from that.
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_solve: Option<f64>,
    /// Whether the same command gives the same model again.
    reproducible: bool,
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
            let judged = || evaluate_in_chunks(predict, task.data, rows, (task.oracle, task.watch));
            (!rows.is_empty()).then(judged).transpose()
        };
        let (validation, test) = (part(&task.split.validation)?, part(&task.split.test)?);
        Ok(TrainingOutcome {
            trained,
            tried,
            validation,
            test,
            decided_by: task.oracle.heuristic(),
        })
    }

    fn train(
        &self,
        task: &TrainingContext<'_>,
        problem: &ProblemSpec,
        kept: Option<&CheckpointFolder>,
    ) -> Result<(FitResult, Vec<CandidateReport>)> {
        let Self {
            approach,
            predictor,
            settings,
            start,
        } = self;
        match approach {
            Method::Stages(method) => {
                let recipe =
                    StageTrainer::new(method.as_ref().clone(), predictor.clone(), *settings);
                let recipe = StageTrainer {
                    start: start.clone(),
                    ..recipe
                };
                let trained = match kept {
                    Some(checkpoints) => {
                        train_with_checkpoints(task, &recipe, problem, checkpoints)?
                    }
                    None => train(task, &recipe, problem)?,
                };
                Ok((trained, Vec::new()))
            }
            Method::Auto(_) if start.is_some() => Err(Error::setting(
                "auto starts afresh; leave out the model to start from, or choose a loss",
            )),
            Method::Auto(_) => approach.train(task, (predictor, *settings), problem),
        }
    }

    /// What reports say about an outcome of this plan.
    pub fn summary<'a>(&'a self, outcome: &'a TrainingOutcome) -> TrainingSummary<'a> {
        let report = &outcome.trained.report;
        TrainingSummary {
            loss: &self.approach,
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
            processor_seconds: report.processor_seconds,
            decided_by: outcome.decided_by,
            timed_solve: report.timed_solve,
            reproducible: report.timed_solve.is_none() && !self.settings.stops_by_clock(),
        }
    }
}
