//! One cell: a problem, a seed, a method, and its outcome.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cell_data::CellData;
use super::example::{ExampleDecision, example_decisions};
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem};
use crate::data::atomic_write::write_atomically;
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, predict_rows, regrets_from_results, summarize};
use crate::method::Method;
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveCounts};
use crate::parallel::cpu_seconds;
use crate::report::{CandidateReport, EpochReport, StopReason, TrainReport};
use crate::settings::TrainingSettings;
use crate::text::file_name_part;
use crate::train::{FitResult, TrainingContext};
use crate::trainer::Trainer;

/// Increased when the content or meaning of cell files changes.
const CELL_VERSION: u32 = 3;

/// Specification of a cell; its hash identifies the outcome.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ExperimentCell {
    format: u32,
    pub(super) problem: String,
    split: [usize; 3],
    pub(super) seed: u32,
    pub(super) name: String,
    recipe: CellSpec,
}

#[derive(Debug, Clone, Serialize)]
struct CellSpec {
    method: String,
    predictor: crate::predict::PredictorSpec,
    settings: TrainingSettings,
}

/// A cell and its outcome, as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Hash of everything the outcome depends on.
    pub key: String,
    /// The problem.
    pub problem: String,
    /// The name of the method in tables.
    pub name: String,
    /// The seed.
    pub seed: u32,
    /// The outcome.
    pub outcome: CellOutcome,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellOutcome {
    /// A model was trained and evaluated.
    Done(Box<CellMetrics>),
    /// The error message.
    Failed(String),
}

/// Quality of a trained model and cost of its training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellMetrics {
    /// Evaluation on the test rows.
    #[serde(flatten)]
    pub test: Evaluation,
    /// The selected epoch of the last round.
    pub best_epoch: usize,
    /// Seconds of training, without labeling and test.
    pub seconds: f64,
    /// CPU seconds of training over all cores, where the system reports them. Other programs
    /// affect them less than `seconds`; they are meaningless for cells that run in parallel, which
    /// are counted together.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Solves by kind, without labeling and test.
    pub solves: SolveCounts,
    /// Why the last round stopped.
    pub stopped: Option<StopReason>,
    /// The epochs of the last round.
    pub curve: Vec<CurvePoint>,
    /// Decisions of some test rows, of the first seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ExampleDecision>,
    /// Candidates of `auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<CandidateReport>,
}

/// One epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Seconds since the round began.
    pub seconds: f64,
    /// Mean loss over the training rows.
    pub training_loss: Option<f64>,
    /// Mean loss over the validation rows.
    pub validation_loss: Option<f64>,
    /// Mean regret over the validation rows.
    pub validation_regret: Option<f64>,
}

impl ExperimentCell {
    pub(super) fn new(
        experiment: &Experiment,
        problem: &ExperimentProblem,
        method: &ExperimentMethod,
        seed: u32,
    ) -> Result<Self> {
        let settings = experiment.settings(problem, method, seed)?;
        let predictor = experiment.predictor.clone();
        let recipe = CellSpec {
            method: method.method.to_string(),
            predictor,
            settings,
        };
        let (problem_name, name) = (problem.name.to_string(), method.name.clone());
        Ok(Self {
            format: CELL_VERSION,
            problem: problem_name,
            split: problem.split,
            seed,
            name,
            recipe,
        })
    }

    /// Rough estimate of the run time: solver calls per training row, which dominate it.
    pub(super) fn estimated_solver_calls(&self) -> f64 {
        let settings = &self.recipe.settings;
        match self.recipe.method.parse() {
            Ok(Method::Stages(stages)) => stages
                .iter()
                .map(|stage| stage.estimated_solver_calls(settings.epochs))
                .sum(),
            Ok(Method::Auto(_)) => settings.epochs as f64,
            Err(_) => 0.0,
        }
    }

    /// Hash of everything the outcome depends on.
    pub(super) fn key(&self) -> Result<String> {
        let text = serde_json::to_vec(&(self, env!("CARGO_PKG_VERSION")))
            .map_err(|e| Error::setting(format!("a cell cannot be written: {e}")))?;
        Ok(blake3::hash(&text).to_hex()[..16].to_string())
    }

    /// The file of its record.
    pub(super) fn file(&self, folder: &Path) -> Result<PathBuf> {
        let name = file_name_part(&self.name);
        Ok(folder.join("cells").join(&self.problem).join(format!(
            "{name}-{}-{}.json",
            self.seed,
            self.key()?
        )))
    }

    /// The record of an earlier run; damaged files are ignored.
    pub(super) fn load(&self, folder: &Path) -> Result<Option<CellRecord>> {
        let Ok(text) = std::fs::read(self.file(folder)?) else {
            return Ok(None);
        };
        let key = self.key()?;
        Ok(serde_json::from_slice::<CellRecord>(&text)
            .ok()
            .filter(|record| record.key == key))
    }

    /// Trains, evaluates and stores the record; only interruptions and file errors are errors.
    pub(super) fn run(
        &self,
        data: &CellData,
        oracle: &Oracle,
        folder: &Path,
        observer: &dyn Observer,
    ) -> Result<CellRecord> {
        let before = cpu_seconds();
        let measured = self.train(data, oracle, observer).and_then(|trained| {
            let cpu_seconds = cpu_seconds()
                .zip(before)
                .map(|(after, before)| after - before);
            let measured = self.evaluate(&trained, data, oracle, observer)?;
            Ok(CellMetrics {
                tried: trained.candidates,
                cpu_seconds,
                ..measured
            })
        });
        let outcome = match measured {
            Ok(measured) => CellOutcome::Done(Box::new(measured)),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => CellOutcome::Failed(error.to_string()),
        };
        let (problem, name) = (self.problem.clone(), self.name.clone());
        let record = CellRecord {
            key: self.key()?,
            problem,
            name,
            seed: self.seed,
            outcome,
        };
        let file = self.file(folder)?;
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
        }
        write_atomically(&file, true, |out| {
            serde_json::to_writer(out, &record).map_err(Into::into)
        })?;
        Ok(record)
    }

    fn train(
        &self,
        data: &CellData,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<FitResult> {
        let method: Method = self.recipe.method.parse()?;
        let task = TrainingContext {
            data: &data.data,
            split: &data.split,
            oracle,
            observer,
        };
        Trainer::new(method)
            .predictor(self.recipe.predictor.clone())
            .settings(self.recipe.settings)
            .train(&task, &data.problem, None)
    }

    fn evaluate(
        &self,
        trained: &FitResult,
        data: &CellData,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<CellMetrics> {
        let (data, rows) = (&data.data, &data.split.test);
        let predictions = predict_rows(&trained.model, data, rows)?;
        let solutions = oracle.solve_all(&predictions, observer)?;
        let shown = if self.seed == 0 {
            example_decisions(&solutions, data, rows)
        } else {
            Vec::new()
        };
        let regrets = regrets_from_results(solutions, data, rows)?;
        Ok(CellMetrics::new(
            &trained.report,
            summarize(regrets, &predictions, data, rows),
            shown,
        ))
    }
}

impl CellMetrics {
    fn new(report: &TrainReport, test: Evaluation, shown: Vec<ExampleDecision>) -> Self {
        let last = report.rounds.last();
        let point = |epoch: &EpochReport| CurvePoint {
            seconds: epoch.seconds,
            training_loss: epoch.training_loss,
            validation_loss: epoch.validation_loss,
            validation_regret: epoch.validation_regret,
        };
        Self {
            test,
            best_epoch: report.best_epoch(),
            seconds: report.seconds,
            cpu_seconds: None,
            solves: report.solves,
            stopped: last.map(|round| round.stopped),
            curve: last
                .map(|round| round.epochs.iter().map(point).collect())
                .unwrap_or_default(),
            shown,
            tried: Vec::new(),
        }
    }
}
