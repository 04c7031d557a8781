//! [`Trainer`]: trains a model by any method and evaluates it.
//!
//! [`Trainer::fit`], in `model.rs`, labels the rows, trains, and returns the public `Model`.
//! [`Trainer::train`] trains on rows that are already labeled, can resume from checkpoints, and
//! returns the parameters with a report. A training of stages is `StagedTraining::run`, whose
//! rounds are the loop in `train/fit.rs`; `auto` compares several such trainings.

use crate::auto::AutoSearch;
use crate::baseline::Baseline;
use crate::checkpoint::CheckpointFolder;
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::label::LabeledDataset;
use crate::method::Method;
use crate::oracle::SolveCounts;
use crate::parallel::Timer;
use crate::predict::{CostModel, PredictorSpec};
use crate::problem::{ProblemKind, ProblemSpec};
use crate::report::TrainReport;
use crate::settings::{SelectionCriterion, TrainingSettings};
use crate::text::first_names;
use crate::train::{SharedView, StagedTraining, TrainingContext, linear_fit};

mod outcome;
mod planned_solves;
mod shrinkage;

pub use outcome::TrainingOutcome;

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

/// What follows if none of the evaluations of a training, each on rows that were held out, has
/// regret; `None` if one has, or there is none of a baseline.
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
    if data.no_choice_note(oracle, observer)?.is_some() {
        // Said when the rows were labeled.
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
    /// The message for methods that ignore the level of predicted costs although it matters: a
    /// linear problem weighs them against known costs of other columns.
    pub fn scale_warning(methods: &[Self], problem: &dyn ProblemKind) -> Option<String> {
        let names = scale_invariant_names(methods);
        let columns = problem.model_parts().fixed_cost_columns();
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

    /// As [`Self::scale_warning`], if decisions have known costs of their own, as those of a
    /// function that returns objectives may. `rows` of the data have optimal decisions.
    pub fn decision_scale_warning(
        methods: &[Self],
        problem: &dyn ProblemKind,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> Option<String> {
        let names = scale_invariant_names(methods);
        let has_named_columns = !problem.model_parts().fixed_cost_columns().is_empty();
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
        let mut outcome = self.train(context, problem, checkpoints)?;
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
            Evaluation::of_model(&outcome.model, data, rows, oracle, observer).map(Some)
        };
        // `auto` may train on validation rows too; it evaluates models that were not.
        let validation = match outcome.report.held_out.take() {
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
        outcome
            .model
            .record_regret(validation.as_ref(), test.as_ref());
        let evaluations = [&validation, &test, &training_mean, &least_squares];
        if let Some(note) = no_regret_note(context, evaluations.map(Option::as_ref))? {
            context.observer.warn(&note);
        }
        outcome.validation = validation;
        outcome.test = test;
        outcome.training_mean = training_mean;
        outcome.least_squares = least_squares;
        outcome.previous_row = previous_row;
        Ok(outcome)
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
    ) -> Result<TrainingOutcome> {
        let (mut model, report) = self.fit_parameters(context, problem, checkpoints)?;
        context.record_in(&mut model, &self.settings)?;
        Ok(TrainingOutcome::new(self, model, report, context))
    }

    fn fit_parameters(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<(CostModel, TrainReport)> {
        match &self.method {
            Method::Stages(stages) => {
                self.method.check_problem(context.oracle)?;
                if let Some(best) = self.fit_shrinkage(stages, context, problem)? {
                    return Ok(best);
                }
                let training = StagedTraining {
                    stages,
                    predictor: self.predictor.as_ref().unwrap_or(&PredictorSpec::Linear),
                    settings: self.settings,
                    start: self.start.as_ref(),
                    problem,
                };
                training.run(context, checkpoints)
            }
            Method::LeastSquares { .. } => self.fit_least_squares(context, problem),
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
                // Candidates that fail are left out, so wrong settings would pass unnoticed.
                self.settings.check(context.split)?;
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
    ) -> Result<(CostModel, TrainReport)> {
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
        let mut model = match self.method {
            Method::LeastSquares {
                penalty,
                is_shared: true,
            } => {
                let view = SharedView::of_table(&context)?;
                let view = view.ok_or_else(|| no_own_columns(name))?;
                view.linear_fit(&context, problem, penalty)?
            }
            Method::LeastSquares { penalty, .. } => linear_fit(&context, problem, penalty)?,
            Method::Auto { .. } | Method::Stages(_) | Method::InvalidCombination(_) => {
                return Err(Error::setting(format!("{name} has no closed form")));
            }
        };
        model.metadata.seed = self.settings.seed;
        let report = TrainReport::new(Vec::new(), SolveCounts::default(), &timer);
        Ok((model, report))
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
}

/// The error of a shared predictor of a table without columns for each cost.
fn no_own_columns(name: &Method) -> Error {
    Error::data(format!(
        "{name} needs columns that belong to one cost each, and all costs in every row"
    ))
    .with_remedy("name them after the costs, such as forecast_a and price_a, or leave it out")
}
