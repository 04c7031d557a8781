//! [`Trainer`]: trains a model by any method and evaluates it.
//!
//! [`Trainer::fit`], in `model.rs`, labels the rows, trains, and returns the public `Model`.
//! [`Trainer::train`] trains on rows that are already labeled, can resume from checkpoints, and
//! returns the parameters with a report. A training of stages is `StagedTraining::run`, whose
//! rounds are the loop in `train/fit.rs`; `auto` compares several such trainings.

use serde::Serialize;

use crate::auto::AutoSearch;
use crate::baseline::Baseline;
use crate::checkpoint::CheckpointFolder;
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::label::{LabelCounts, LabeledDataset};
use crate::method::Method;
use crate::note::Note;
use crate::oracle::{Heuristic, SolveCounts};
use crate::parallel::Timer;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::{ProblemKind, ProblemSpec};
use crate::report::{CandidateReport, SearchReport, StopReason, TrainReport};
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::text::first_names;
use crate::train::{FitResult, StagedTraining, TrainingContext, linear_fit};

mod planned_solves;

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
    /// How parameters are fitted: one method, or `auto`, which compares several.
    pub method: Method,
    /// What is trained; by default a linear predictor, and for `auto` the best of several.
    pub predictor: Option<PredictorSpec>,
    /// Settings of the training.
    pub settings: TrainingSettings,
    /// A trained model whose parameters are the initial ones: a network, or an ensemble of them,
    /// with its scalers.
    pub start: Option<CostModel>,
    /// Threads; 0 means one per core. Results do not depend on it.
    pub threads: usize,
}

/// A trained model and its evaluation.
#[derive(Debug, Clone)]
pub struct TrainingOutcome {
    /// The model and the report of its training.
    pub trained: FitResult,
    /// On the validation rows, if there are any.
    pub validation: Option<Evaluation>,
    /// On the test rows, if there are any.
    pub test: Option<Evaluation>,
    /// Of the decision for the mean of the training costs, on the test rows: the regret without a
    /// model.
    pub training_mean: Option<Evaluation>,
    /// Of least squares, on the test rows; none where their solves take long.
    pub least_squares: Option<Evaluation>,
    /// Of decisions for the costs of the row before, on the test rows; none where rows are not in
    /// order of time, and where their solves take long.
    pub previous_row: Option<Evaluation>,
    /// The heuristic that made decisions, if they were not exact.
    pub heuristic: Option<Heuristic>,
    /// The labels of all rows by their proven quality.
    pub labels: LabelCounts,
    /// Whether solves had a time limit, so that results are not reproducible.
    pub has_time_limit: bool,
    /// Numbers of rows and how they were divided, in words.
    pub split: String,
    /// What the user should know about it.
    pub notes: Vec<Note>,
}

impl TrainingOutcome {
    /// The evaluation of a baseline on the test rows, if it was compared.
    pub fn baseline(&self, baseline: Baseline) -> Option<&Evaluation> {
        match baseline {
            Baseline::LeastSquares => self.least_squares.as_ref(),
            Baseline::TrainingMean => self.training_mean.as_ref(),
            Baseline::PreviousRow => self.previous_row.as_ref(),
        }
    }

    /// The evaluation of a baseline that decides better than the model.
    pub fn better_baseline(&self, baseline: Baseline) -> Option<&Evaluation> {
        let test = self.test.as_ref()?;
        let evaluation = self.baseline(baseline)?;
        (evaluation.regret < test.regret).then_some(evaluation)
    }
}

/// The summary of a training in reports.
#[derive(Debug, Serialize)]
struct TrainingSummary<'a> {
    method: &'a Method,
    seed: u64,
    /// Numbers of rows and how they were divided, in words.
    split: &'a str,
    /// Names of the features.
    features: &'a [String],
    /// The method of the model: for `auto` that of the best candidate.
    chosen_method: &'a str,
    candidates: &'a [CandidateReport],
    /// What `auto` expects of its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a SearchReport>,
    best_epoch: usize,
    stopped: Option<StopReason>,
    validation: Option<&'a Evaluation>,
    test: Option<&'a Evaluation>,
    /// On the test rows, for the mean of the training costs.
    training_mean: Option<&'a Evaluation>,
    solves: u64,
    solves_by_kind: SolveCounts,
    seconds: f64,
    cpu_seconds: Option<f64>,
    heuristic: Option<Heuristic>,
    labels: LabelCounts,
    /// How the epoch was selected.
    select: SelectionCriterion,
    /// Measured seconds of one solve, if `auto` planned with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_solve_seconds: Option<f64>,
    /// Whether the same command trains the same model again.
    reproducible: bool,
}

/// What follows where none of the evaluations of a training, each on rows that were held out, has
/// regret; `None` where one has, or there is none of a baseline.
///
/// # Errors
/// When the user interrupts.
fn no_regret_note(
    context: &TrainingContext<'_>,
    [validation, test, training_mean, least_squares]: [Option<&Evaluation>; 4],
) -> Result<Option<String>> {
    let TrainingContext {
        data,
        split,
        oracle,
        observer,
    } = *context;
    let has_regret = |evaluation: Option<&Evaluation>, rows: &[usize]| {
        evaluation.is_some_and(|found| !data.is_without_regret(rows, found.regret))
    };
    let is_compared = training_mean.is_some();
    if !is_compared
        || has_regret(validation, &split.validation)
        || [test, training_mean, least_squares]
            .into_iter()
            .any(|found| has_regret(found, &split.test))
    {
        return Ok(None);
    }
    let rows = [split.validation.as_slice(), &split.test].concat();
    data.no_regret_note(&rows, oracle, observer)
}

/// The methods that ignore the level of predicted costs.
fn scale_invariant_names(methods: &[Method]) -> Vec<String> {
    let invariant = methods.iter().filter(|method| method.is_scale_invariant());
    invariant.map(ToString::to_string).collect()
}

fn scale_message(methods: &[String], known_costs: &str) -> String {
    let compares = if methods.len() == 1 {
        "compares"
    } else {
        "compare"
    };
    format!(
        "{} {compares} costs up to a factor, but {known_costs}: the level of the predicted costs \
         matters; consider MAE(O) or SPO+",
        first_names(methods)
    )
}

impl Method {
    /// The message for methods that ignore the level of predicted costs where it matters: a linear
    /// problem weighs them against known costs of other columns.
    pub fn scale_warning(methods: &[Self], problem: &dyn ProblemKind) -> Option<String> {
        let names = scale_invariant_names(methods);
        let columns = problem.fixed_cost_columns();
        if names.is_empty() || columns.is_empty() {
            return None;
        }
        let (count, has) = match columns.len() {
            1 => ("1 column".into(), "has"),
            count => (format!("{count} columns"), "have"),
        };
        let known_costs = format!("{count} {has} known costs ({})", first_names(&columns));
        Some(scale_message(&names, &known_costs))
    }

    /// As [`Self::scale_warning`], where decisions have known costs of their own, as those of a
    /// function that returns objectives may. `rows` of the data have optimal decisions.
    pub fn decision_scale_warning(
        methods: &[Self],
        problem: &dyn ProblemKind,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> Option<String> {
        let names = scale_invariant_names(methods);
        let has_named_columns = !problem.fixed_cost_columns().is_empty();
        if names.is_empty() || has_named_columns {
            return None;
        }
        let mut fixed = rows.iter().map(|row| data.optimal_decision(*row).fixed());
        let first = fixed.next()?;
        // A constant, the same for all decisions, changes none of them.
        let have_known_costs =
            fixed.any(|other| (other - first).abs() > f64::EPSILON * first.abs());
        have_known_costs.then(|| {
            scale_message(
                &names,
                "decisions have known costs besides the predicted ones",
            )
        })
    }

    /// The default method for a problem: where the level of predicted costs matters, without S.
    pub fn default_for(problem: &dyn ProblemKind) -> Self {
        let standard = Self::default();
        if Self::scale_warning(std::slice::from_ref(&standard), problem).is_some() {
            Self::mae().one_sided().into()
        } else {
            standard
        }
    }
}

/// Constructor and setters.
impl Trainer {
    /// A linear predictor, or for `auto` any, trained with the default settings.
    pub fn new(method: impl Into<Method>) -> Self {
        Self {
            method: method.into(),
            predictor: None,
            settings: TrainingSettings::default(),
            start: None,
            threads: 0,
        }
    }

    /// What is trained: a linear predictor or a network.
    #[must_use]
    pub fn predictor(mut self, predictor: PredictorSpec) -> Self {
        self.predictor = Some(predictor);
        self
    }

    /// A trained model whose parameters are the initial ones.
    #[must_use]
    pub fn start_from(mut self, model: CostModel) -> Self {
        self.start = Some(model);
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
    /// Trains and evaluates on the validation and test rows; resumes from checkpoints if there are
    /// any.
    ///
    /// # Errors
    /// As [`Self::train`].
    pub(crate) fn fit_and_evaluate(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<TrainingOutcome> {
        self.announce_solves(context);
        let mut trained = self.train(context, problem, checkpoints)?;
        let held_out = trained.validation.take();
        let evaluate_rows = |rows: &[usize]| -> Result<Option<Evaluation>> {
            if rows.is_empty() {
                return Ok(None);
            }
            let TrainingContext {
                data,
                oracle,
                observer,
                ..
            } = *context;
            Evaluation::of_model(&trained.model, data, rows, oracle, observer).map(Some)
        };
        // `auto` may train on validation rows too; it evaluates models that were not.
        let validation = match held_out {
            Some(evaluation) => Some(evaluation),
            None => evaluate_rows(&context.split.validation)?,
        };
        let test = evaluate_rows(&context.split.test)?;
        let has_test = !context.split.test.is_empty();
        let training_mean = Baseline::TrainingMean.compare_if(has_test, context, problem)?;
        let has_cheap_test = context.has_cheap_test();
        let least_squares = Baseline::LeastSquares.compare_if(has_cheap_test, context, problem)?;
        let has_previous_rows = Baseline::has_previous_rows_for(context.data.data(), context.split);
        let is_compared = has_cheap_test && has_previous_rows;
        let previous_row = Baseline::PreviousRow.compare_if(is_compared, context, problem)?;
        trained
            .model
            .record_regret(validation.as_ref(), test.as_ref());
        let evaluations = [&validation, &test, &training_mean, &least_squares];
        if let Some(note) = no_regret_note(context, evaluations.map(Option::as_ref))? {
            context.observer.warn(&note);
        }
        Ok(TrainingOutcome {
            trained,
            validation,
            test,
            training_mean,
            least_squares,
            previous_row,
            heuristic: context.oracle.heuristic(),
            labels: context.data.label_counts(&context.data.rows()),
            has_time_limit: context.oracle.limits().seconds.is_some(),
            split: context.split.to_string(),
            notes: Vec::new(),
        })
    }

    /// Trains a model; resumes from checkpoints if there are any (`auto` does not write them).
    ///
    /// # Errors
    /// As `StagedTraining::run`; when `auto` is given a model to start from or all its candidates
    /// fail.
    pub fn train(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<FitResult> {
        let mut trained = self.train_unrecorded(context, problem, checkpoints)?;
        context.record_in(&mut trained.model, &self.settings)?;
        Ok(trained)
    }

    fn train_unrecorded(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<FitResult> {
        match &self.method {
            Method::Stages(stages) => {
                self.method.check_problem(context.oracle)?;
                let training = StagedTraining {
                    stages,
                    predictor: self.predictor.as_ref().unwrap_or(&PredictorSpec::Linear),
                    settings: self.settings,
                    start: self.start.as_ref(),
                    problem,
                };
                training.run(context, checkpoints)
            }
            Method::LeastSquares { penalty } => self.fit_least_squares(context, problem, *penalty),
            Method::InvalidCombination(name) => Err(Error::setting(format!(
                "'{name}': auto and least squares have no stages and no settings of a stage"
            ))
            .with_remedy("use them alone, or name stages without them")),
            Method::Auto { .. } if self.start.is_some() => {
                Err(Error::setting("auto cannot start from a model")
                    .with_remedy("leave the model out, or name a method other than auto"))
            }
            Method::Auto { budget, candidates } => {
                self.method.check_problem(context.oracle)?;
                let (predictor, settings) = (self.predictor.as_ref(), self.settings);
                // A row of weight 0 is in no fold.
                let context = &TrainingContext {
                    split: &context.data.data().without_weightless_rows(context.split)?,
                    ..*context
                };
                AutoSearch::new(context, predictor, settings, problem, *budget)?.run(candidates)
            }
        }
    }

    /// Fits a linear regression to the training rows; with `train_on_validation` to the validation
    /// rows, too.
    fn fit_least_squares(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        penalty: f64,
    ) -> Result<FitResult> {
        let name = &self.method;
        match &self.predictor {
            None | Some(PredictorSpec::Linear) => {}
            Some(predictor) => {
                return Err(Error::setting(format!(
                    "{name} fits a linear predictor, not {predictor}"
                ))
                .with_remedy("leave out the predictor, or train it by MSE"));
            }
        }
        if self.start.is_some() {
            return Err(Error::setting(format!("{name} cannot start from a model"))
                .with_remedy("leave the model out, or name another method"));
        }
        let timer = Timer::start();
        let context = TrainingContext {
            split: &self.settings.rows(context.split),
            ..*context
        };
        let mut model = linear_fit(&context, problem, penalty)?;
        model.metadata.seed = self.settings.seed;
        let report = TrainReport {
            rounds: Vec::new(),
            seconds: timer.seconds(),
            cpu_seconds: timer.cpu_seconds(),
            solves: SolveCounts::default(),
            timed_solve_seconds: None,
        };
        Ok(FitResult {
            model,
            report,
            candidates: Vec::new(),
            validation: None,
            search: None,
        })
    }

    /// Says when nothing was learned, or when more could be; `epochs` is what the user calls the
    /// number of epochs. Epochs of `auto` are its own.
    pub fn epoch_remark(&self, report: &TrainReport, epochs: &str) -> Option<String> {
        let Method::Stages(stages) = &self.method else {
            return None;
        };
        let round = report.rounds.last()?;
        let (first, last) = (round.epochs.first()?, round.epochs.last()?);
        let initial = if stages.len() > 1 {
            "model of the stage before"
        } else if self.start.is_some() {
            "initial model"
        } else {
            "untrained model"
        };
        let select = self.settings.select;
        let is_first_perfect = first.validation_regret == Some(0.0);
        if select == SelectionCriterion::ValidationRegret && is_first_perfect && last.epoch > 0 {
            return Some(format!(
                "the {initial} has no regret on the validation rows, which cannot select an epoch \
                 therefore; select by validation-loss, or validate on more rows"
            ));
        }
        select.epoch_remark(report.best_epoch(), last.epoch, initial, epochs)
    }

    /// The summary of an outcome of this trainer.
    pub fn summary<'a>(&'a self, outcome: &'a TrainingOutcome) -> impl Serialize + 'a {
        let report = &outcome.trained.report;
        TrainingSummary {
            method: &self.method,
            seed: self.settings.seed,
            split: &outcome.split,
            features: &outcome.trained.model.metadata.features,
            chosen_method: &outcome.trained.model.metadata.method,
            candidates: &outcome.trained.candidates,
            search: outcome.trained.search.as_ref(),
            best_epoch: report.best_epoch(),
            stopped: report.rounds.last().map(|round| round.stopped),
            validation: outcome.validation.as_ref(),
            test: outcome.test.as_ref(),
            training_mean: outcome.training_mean.as_ref(),
            solves: report.solves.total(),
            solves_by_kind: report.solves,
            seconds: report.seconds,
            cpu_seconds: report.cpu_seconds,
            heuristic: outcome.heuristic,
            labels: outcome.labels,
            select: self.settings.select,
            timed_solve_seconds: report.timed_solve_seconds,
            reproducible: report.timed_solve_seconds.is_none()
                && !self.settings.stops_by_clock()
                && !outcome.has_time_limit,
        }
    }
}
