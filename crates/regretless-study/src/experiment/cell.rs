//! One cell of an experiment: the training of one method on one problem with one seed, and its
//! outcome.

use serde::{Deserialize, Serialize};

use super::bootstrap::RowRegret;
use super::cell_data::CellData;
use super::example::{ExampleDecision, example_decisions};
use super::method::CellMethod;
use super::spec::{Experiment, ExperimentMethod, ExperimentProblem};
use super::store::cell_key;
use regretless::baseline::Baseline;
use regretless::evaluate::{Evaluation, MissingPredictions, regrets_from_results, rows_per_chunk};
use regretless::method::Method;
use regretless::notes::{negative_regret_sentence, negative_regrets};
use regretless::oracle::{Oracle, SolveCounts};
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::ProblemKind;
use regretless::report::{CandidateReport, EpochReport, StopReason, TrainReport};
use regretless::settings::TrainingSettings;
use regretless::train::{TrainingContext, linear_fit};
use regretless::trainer::{Trainer, TrainingOutcome};
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;
use regretless_base::parallel::Timer;

/// Increased when the content or meaning of cell files changes.
const CELL_VERSION: u32 = 5;

/// Specification of a cell; its hash identifies the outcome.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ExperimentCell {
    version: u32,
    problem: String,
    split: [usize; 3],
    pub(super) seed: u32,
    name: String,
    training: CellTraining,
    /// Hash of the rows, labels, split and problem; none if problem, split and seed determine them.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_hash: Option<String>,
    /// Whether decisions of some test rows are stored, for figures.
    #[serde(skip)]
    stores_examples: bool,
}

/// What is trained in a cell.
#[derive(Debug, Clone, Serialize)]
struct CellTraining {
    method: CellMethod,
    /// Hashes of custom losses and predictions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loss_fingerprints: Vec<String>,
    /// None if `auto` chooses it.
    predictor: Option<PredictorSpec>,
    settings: TrainingSettings,
}

/// Identity of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellId {
    /// Hash of everything the outcome depends on.
    pub key: String,
    /// The problem.
    pub problem: String,
    /// The name of the method in tables.
    pub name: String,
    /// The seed.
    pub seed: u32,
}

/// A cell and its outcome, as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// The cell.
    #[serde(flatten)]
    pub id: CellId,
    /// The outcome.
    pub(super) outcome: CellOutcome,
}

impl CellRecord {
    /// The metrics of a cell that has not failed.
    pub fn metrics(&self) -> Option<&CellMetrics> {
        match &self.outcome {
            CellOutcome::Done(metrics) => Some(metrics),
            CellOutcome::Failed(_) => None,
        }
    }

    /// What to say if the user's solver is not as exact as it is said to be: the run that shows it
    /// most.
    pub fn negative_regret_remark(runs: &[Self], problem: &dyn ProblemKind) -> Option<String> {
        let negative_regrets = |run: &Self| run.metrics().map_or(0, |found| found.negative_regrets);
        let most = runs.iter().max_by_key(|run| negative_regrets(run))?;
        let sentence = negative_regret_sentence(negative_regrets(most), problem)?;
        let CellId { name, seed, .. } = &most.id;
        Some(format!("{name}, seed {seed}: {sentence}"))
    }
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CellOutcome {
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
    /// CPU seconds of training over all cores, if the system reports them. Other programs affect
    /// them less than `seconds`; they are meaningless for cells that run in parallel, which are
    /// counted together.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// Solves by kind, without labeling and test.
    pub solves: SolveCounts,
    /// Why the last round stopped.
    pub stopped: Option<StopReason>,
    /// Whether the training loss has converged; none for baselines, `auto` and trainings that are
    /// too short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converged: Option<bool>,
    /// The untrained model, then every epoch of the last round.
    pub curve: Vec<CurvePoint>,
    /// Decisions of some test rows, of the first seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ExampleDecision>,
    /// Regret of each test row, if they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) test_rows: Vec<RowRegret>,
    /// Candidates of `auto`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<CandidateReport>,
    /// Test rows whose decision is better than the optimal one of the user's solver, though it is
    /// said to be exact.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub negative_regrets: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The model after one epoch, or before the first.
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
        let training = CellTraining {
            method: method.method.clone(),
            loss_fingerprints: method.method.fingerprints(seed),
            predictor: experiment.predictor_of(method),
            settings: experiment.settings(problem, method, seed)?,
        };
        Ok(Self {
            version: CELL_VERSION,
            problem: problem.source.to_string(),
            split: problem.split,
            seed,
            name: method.name.clone(),
            training,
            data_hash: problem.source.data_hash(seed),
            stores_examples: seed == experiment.first_seed_of(problem),
        })
    }

    /// Whether it is a cell of the method of this name.
    pub(super) fn is_of(&self, method: &str) -> bool {
        self.name == method
    }

    /// Rough estimate of the run time: solver calls per training row, which dominate it.
    pub(super) fn estimated_solves_per_row(&self) -> f64 {
        let settings = &self.training.settings;
        match &self.training.method {
            CellMethod::Trained(Method::Stages(stages)) => stages
                .iter()
                .map(|stage| stage.estimated_solves_per_row(settings.epochs))
                .sum(),
            CellMethod::Trained(Method::Auto { .. }) => settings.epochs as f64,
            // Training refuses `InvalidCombination`.
            CellMethod::Trained(Method::LeastSquares { .. } | Method::InvalidCombination(_))
            | CellMethod::Baseline(_)
            | CellMethod::Given { .. } => 0.0,
        }
    }

    /// Its identity, with the hash of everything the outcome depends on.
    pub(super) fn id(&self) -> Result<CellId> {
        Ok(CellId {
            key: cell_key(self)?,
            problem: self.problem.clone(),
            name: self.name.clone(),
            seed: self.seed,
        })
    }

    /// Trains, if the method is trained, and evaluates on the test rows.
    pub(super) fn run(
        &self,
        data: &CellData,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<CellMetrics> {
        let context = TrainingContext {
            data: &data.data,
            split: &data.split,
            oracle,
            observer,
        };
        let metrics = self.measure(data, &context)?;
        let problem = oracle.problem().as_ref();
        let regrets = &metrics.test.regrets;
        Ok(CellMetrics {
            negative_regrets: negative_regrets(regrets, &data.data, &data.split.test, problem),
            ..metrics
        })
    }

    fn measure(&self, data: &CellData, context: &TrainingContext<'_>) -> Result<CellMetrics> {
        let TrainingContext {
            oracle, observer, ..
        } = *context;
        let timer = Timer::start();
        match &self.training.method {
            CellMethod::Trained(method) => {
                let trained = self.train(method, data, context)?;
                let cpu_seconds = timer.cpu_seconds();
                let converged = if method.reports_convergence() {
                    trained.report.has_converged()
                } else {
                    None
                };
                let (test, examples) = self.evaluate(&trained, context)?;
                Ok(CellMetrics {
                    cpu_seconds,
                    converged,
                    test_rows: RowRegret::of_few(&test, context),
                    examples,
                    ..CellMetrics::of_training(test, &trained.report)
                })
            }
            CellMethod::Baseline(baseline) => {
                let test = baseline.evaluate(context, data.problem.spec())?;
                Ok(CellMetrics {
                    test_rows: RowRegret::of_few(&test, context),
                    seconds: timer.seconds(),
                    cpu_seconds: timer.cpu_seconds(),
                    ..CellMetrics::untrained(test)
                })
            }
            CellMethod::Given { name, predictions } => {
                let predictions = predictions.get(&self.seed).ok_or_else(|| {
                    Error::setting(format!(
                        "'{name}' has no predictions for seed {}",
                        self.seed
                    ))
                })?;
                let predict = |rows: &[usize]| data.data.select_predictions(predictions, rows);
                let rows = &data.split.test;
                let unobserved = data.data.data().unobserved_costs(&data.split.train);
                let missing = match &unobserved[..] {
                    [] => MissingPredictions::Refused,
                    _ => MissingPredictions::of_given(&predict(rows)?, &unobserved),
                };
                let test =
                    Evaluation::in_chunks(predict, missing, &data.data, rows, oracle, observer)?;
                Ok(CellMetrics {
                    test_rows: RowRegret::of_few(&test, context),
                    ..CellMetrics::untrained(test)
                })
            }
        }
    }

    fn train(
        &self,
        method: &Method,
        data: &CellData,
        context: &TrainingContext<'_>,
    ) -> Result<TrainingOutcome> {
        let mut trainer = Trainer::new(method.clone()).settings(self.training.settings);
        if let Some(predictor) = &self.training.predictor {
            trainer = trainer.predictor(predictor.clone());
        }
        trainer.train(context, data.problem.spec(), None)
    }

    /// Fits the model of the cell again: records do not store models. None if the method has no
    /// model.
    pub(super) fn fit(
        &self,
        data: &CellData,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Option<CostModel>> {
        let context = TrainingContext {
            data: &data.data,
            split: &data.split,
            oracle,
            observer,
        };
        match &self.training.method {
            CellMethod::Trained(method) => Ok(Some(self.train(method, data, &context)?.model)),
            CellMethod::Baseline(Baseline::LeastSquares) => {
                linear_fit(&context, data.problem.spec(), 0.0).map(Some)
            }
            CellMethod::Baseline(Baseline::TrainingMean | Baseline::PreviousRow)
            | CellMethod::Given { .. } => Ok(None),
        }
    }

    /// Evaluation on the test rows, and the decisions of some of them.
    fn evaluate(
        &self,
        trained: &TrainingOutcome,
        context: &TrainingContext<'_>,
    ) -> Result<(Evaluation, Vec<ExampleDecision>)> {
        let (data, rows) = (context.data, &context.split.test);
        let (oracle, observer) = (context.oracle, context.observer);
        // Predictions of a large table are made a few rows at a time.
        let fits_in_memory = rows.len() <= rows_per_chunk(data, oracle);
        if !(self.stores_examples && fits_in_memory) {
            let test = Evaluation::of_model(&trained.model, data, rows, oracle, observer)?;
            return Ok((test, Vec::new()));
        }
        let predictions = trained.model.predict_instances(data, rows)?;
        let names = data.data().cost_names();
        let solutions = match trained.model.missing_predictions() {
            MissingPredictions::Refused => {
                oracle.solve_instances_complete(&predictions, rows, observer)?
            }
            MissingPredictions::LeftOut => {
                oracle.decide_instances_complete(&predictions, rows, names, observer)?
            }
        };
        let examples = example_decisions(&solutions, &predictions, data, rows);
        let decisions = solutions.into_iter();
        let solutions = decisions.map(|result| result.map(|(solution, _)| solution));
        let regrets = regrets_from_results(solutions.collect(), data, rows)?;
        Ok((
            Evaluation::from_regrets(regrets, &predictions, data, rows),
            examples,
        ))
    }
}

impl CellMetrics {
    fn untrained(test: Evaluation) -> Self {
        Self {
            test,
            best_epoch: 0,
            seconds: 0.0,
            cpu_seconds: None,
            solves: SolveCounts::default(),
            stopped: None,
            converged: None,
            curve: Vec::new(),
            examples: Vec::new(),
            test_rows: Vec::new(),
            candidates: Vec::new(),
            negative_regrets: 0,
        }
    }

    fn of_training(test: Evaluation, report: &TrainReport) -> Self {
        let point = |epoch: &EpochReport| CurvePoint {
            seconds: epoch.seconds,
            training_loss: epoch.training_loss,
            validation_loss: epoch.validation_loss,
            validation_regret: epoch.validation_regret,
        };
        let last = report.rounds.last();
        Self {
            best_epoch: report.best_epoch(),
            seconds: report.seconds,
            solves: report.solves,
            stopped: last.map(|round| round.stopped),
            candidates: report.candidates.clone(),
            curve: last
                .map(|round| round.epochs.iter().map(point).collect())
                .unwrap_or_default(),
            ..Self::untrained(test)
        }
    }

    /// Epochs of the last round, without the untrained model.
    pub fn epochs(&self) -> usize {
        self.curve.len().saturating_sub(1)
    }

    /// Mean regret over the validation rows after the selected epoch.
    pub fn validation_regret(&self) -> Option<f64> {
        self.curve.get(self.best_epoch)?.validation_regret
    }
}
