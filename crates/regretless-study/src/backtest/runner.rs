//! Runs the cells of a backtest, one per fold and method, and stores their outcomes.
//!
//! Cells run in parallel, each on one thread, fold by fold. The rows of a fold are selected and
//! encoded when its first cell begins and released after its last one. A stored cell is not run
//! again; its key has a hash of the rows of its fold, so rows that are appended to the table leave
//! earlier cells valid.

use std::path::PathBuf;

use super::cell::{CellRun, FoldModel};
use super::fold_data::FoldData;
use super::folds::{BacktestFold, check_folds};
use super::history::BacktestHistory;
use super::method::{BacktestMethod, GivenMethod, RepeatedCosts};
use super::periods::Periods;
use super::results::{BacktestResults, FinishedMethod, MethodHistory};
use crate::experiment::CellFiles;
use regretless::data::{DataCheck, Finding};
use regretless::evaluate::UnpredictedCosts;
use regretless::job::{PreparedJob, TrainingJob};
use regretless::label::{LabeledDataset, Shard};
use regretless::method::{AutoBudget, Method};
use regretless::oracle::Oracle;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::problem::ProblemSpec;
use regretless::settings::TrainingSettings;
use regretless::trainer::Trainer;
use regretless_base::error::{Error, Result};
use regretless_base::observer::{NoopObserver, Observer};

/// Fraction of the periods of a history that select epochs, if the user states none. As in the
/// default split of a table.
const DEFAULT_VALIDATION: f64 = 0.2;

/// Shortest search of `auto` that is a default. Untuned: on small tables it tries its usual
/// candidates, on large ones only the cheapest.
const MIN_SEARCH_SECONDS: f64 = 1.0;

/// Most models that are fitted again for a page. Untuned: three weekly ones decide 21 days.
const MAX_LATEST_FITS: usize = 3;

/// Decides a history as if it were the present: every period by models of the periods before it.
///
/// ```
/// use regretless_study::backtest::{Backtest, BacktestTable, Periods, RollingOrigin};
/// use regretless::label::LabeledDataset;
/// use regretless::observer::NoopObserver;
/// use regretless::oracle::Oracle;
/// use regretless::{Dataset, Method, Problem};
///
/// let problem = Problem::benchmark("KS8")?;
/// let oracle = Oracle::new(problem.kind().clone());
/// let data = LabeledDataset::solve(Dataset::generate(&problem, 40)?, &oracle, &NoopObserver)?;
/// let days: Vec<String> = (0..40).map(|day| day.to_string()).collect();
/// let periods = Periods::from_times(&days)?;
/// let folds = RollingOrigin::default().folds(&periods)?;
/// let table = BacktestTable {
///     spec: problem.spec(),
///     data: &data,
///     oracle: &oracle,
///     periods: &periods,
///     folds: &folds,
/// };
/// let mut backtest = Backtest::new(vec![Method::mse().into()]);
/// backtest.training.epochs = 2;
/// let results = backtest.run(&table, &[], &NoopObserver)?;
/// assert_eq!(results.periods.len(), 20);
/// assert!(results.verdict().sentence().starts_with("too few periods to tell"));
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Backtest {
    /// Methods that are trained; least squares and the other baselines always run.
    pub methods: Vec<Method>,
    /// What is trained; by default a linear predictor, and for `auto` the best of several.
    pub predictor: Option<PredictorSpec>,
    /// Settings of every training.
    pub training: TrainingSettings,
    /// Fraction of the periods of a history, the latest ones, that select epochs; least squares
    /// and the other baselines use them as history.
    pub validation: f64,
    /// Whether models are trained for every fold; otherwise those of the first fold decide all.
    pub refit: bool,
    /// Whether a training starts from the parameters of the fold before. The encoding and the
    /// scalers of the first fold are kept.
    pub warm_start: bool,
    /// Periods of a season; with it the costs of a season before are a baseline.
    pub season: Option<usize>,
    /// Which earlier costs the baselines repeat that know no features.
    pub repeated: RepeatedCosts,
    /// Rows without times that equal another one in features and costs, if they are so many that
    /// models have seen what they decide; then there are no intervals.
    pub repeated_rows: usize,
    /// The unit of costs, such as EUR, for sentences.
    pub unit: Option<String>,
    /// Folder of the finished cells; without it nothing is stored.
    pub folder: Option<PathBuf>,
}

/// The labeled history of a backtest. Columns of text, dates and gaps are not encoded yet.
#[derive(Clone, Copy)]
pub struct BacktestTable<'a> {
    /// The problem, as cells and models store it.
    pub spec: &'a ProblemSpec,
    /// All rows.
    pub data: &'a LabeledDataset,
    /// Solves the problem; decisions have its limits, heuristic and threads.
    pub oracle: &'a Oracle,
    /// The periods of the rows that have a label.
    pub periods: &'a Periods,
    /// Trainings and the rows they decide.
    pub folds: &'a [BacktestFold],
}

/// A model that decided some of the latest periods, with their rows.
pub(crate) struct LatestFit {
    pub model: CostModel,
    /// The rows that it decided.
    pub data: LabeledDataset,
    /// The same rows by their number in the table.
    pub rows: Vec<usize>,
    /// Solves the problem of these rows.
    pub oracle: Oracle,
}

/// Names the costs of decided rows that no earlier row has, so the models of their fold cannot
/// predict them; `None` if there are none.
fn unpredicted_remark(table: &BacktestTable<'_>) -> Option<String> {
    let data = table.data.data();
    let mut unpredicted = UnpredictedCosts::default();
    for fold in table.folds {
        let unobserved = data.unobserved_costs(&fold.history);
        if unobserved.is_empty() {
            continue;
        }
        for row in &fold.test {
            let present = data.present_costs(*row);
            let exists = |cost: &&u32| present.is_none_or(|present| present[**cost as usize]);
            let existing = unobserved.iter().filter(exists);
            unpredicted.extend(existing.map(|cost| *cost as usize));
        }
    }
    unpredicted.note(data.cost_names())
}

/// What follows if no method has regret; `None` if one has.
fn no_regret_remark(
    methods: &[MethodHistory],
    table: &BacktestTable<'_>,
    observer: &dyn Observer,
) -> Result<Option<String>> {
    let rows = table.folds.iter().flat_map(|fold| fold.test.clone());
    let rows: Vec<usize> = rows.collect();
    let count = rows.len().max(1) as f64;
    let is_without_regret = |method: &MethodHistory| {
        let mean = method.total_regret() / count;
        table.data.is_without_regret(&rows, mean)
    };
    if methods.is_empty() || !methods.iter().all(is_without_regret) {
        return Ok(None);
    }
    table.data.no_regret_note(&rows, table.oracle, observer)
}

impl Backtest {
    /// The method of a backtest whose user names none: `auto`, whose searches in all trainings and
    /// in that of the production model take its default budget together, but each of them a second
    /// at least.
    pub fn default_method(&self, folds: usize) -> Method {
        let trainings = if self.refit { folds } else { 1 };
        let least = MIN_SEARCH_SECONDS * (trainings + 1) as f64;
        Self::shared_search(trainings, AutoBudget::DEFAULT_SECONDS.max(least))
    }

    /// `auto`, whose searches in some trainings and in that of the production model take a budget
    /// together.
    pub(crate) fn shared_search(trainings: usize, budget: f64) -> Method {
        let seconds = budget / (trainings + 1) as f64;
        Method::Auto {
            budget: AutoBudget {
                // Whole tenths, so the name of the method is short.
                seconds: (10.0 * seconds).round().max(1.0) / 10.0,
                solve_seconds: None,
            },
            candidates: Vec::new(),
        }
    }

    /// A backtest of these methods with the default settings.
    pub fn new(methods: Vec<Method>) -> Self {
        Self {
            methods,
            predictor: None,
            training: TrainingSettings::default(),
            validation: DEFAULT_VALIDATION,
            refit: true,
            warm_start: false,
            season: None,
            repeated: RepeatedCosts::OfHistory,
            repeated_rows: 0,
            unit: None,
            folder: None,
        }
    }

    /// Checks the history and says what the user should know before the trainings begin; `check` is
    /// that of [`TrainingJob::prepare`]. If the user did not choose how epochs are selected, the
    /// settings of all methods get the selection that is affordable in the first fold.
    ///
    /// # Errors
    /// Those of `check`, and when the first fold cannot be prepared.
    pub fn prepare(
        &mut self,
        history: &BacktestHistory,
        oracle: &Oracle,
        is_selection_given: bool,
        check: impl FnOnce(DataCheck<'_>) -> Result<Vec<Finding>>,
    ) -> Result<PreparedJob> {
        let table = history.table(oracle);
        let first = match table.folds.first().filter(|_| !is_selection_given) {
            Some(first) => {
                check_folds(table.folds, table.periods)?;
                Some(FoldData::new(&table, first, self.validation)?)
            }
            None => None,
        };
        let halves = history.encoded_halves()?;
        let job = TrainingJob {
            validated: first.as_ref().map(FoldData::validated_context),
            ..TrainingJob::new(&halves, oracle, &self.methods, &NoopObserver)
        };
        let mut trainer = Trainer::new(Method::mse()).settings(self.training);
        let select = first.is_some().then_some(&mut trainer);
        let prepared = job.prepare(select, |halves| check(halves.of_halves()))?;
        self.training = trainer.settings;
        Ok(prepared)
    }

    /// Runs the missing cells and returns all results. A method that fails on a fold is among the
    /// failures.
    ///
    /// # Errors
    /// When a setting is invalid, a custom decision is not feasible, least squares fails, a file
    /// cannot be written, or the user interrupts; finished cells are kept.
    pub fn run(
        &self,
        table: &BacktestTable<'_>,
        given: &[GivenMethod],
        observer: &dyn Observer,
    ) -> Result<BacktestResults> {
        let methods = self.check(table, given)?;
        let folds = self.folds(table);
        let chains = self.chains(&methods, table.folds.len());
        let table = BacktestTable {
            folds: &folds,
            ..*table
        };
        let mut finished: Vec<FinishedMethod> = methods.iter().map(FinishedMethod::new).collect();
        let outcomes = self.run_chains(&chains, &table, observer)?;
        for (chain, outcome) in chains.iter().zip(outcomes) {
            finished[chain.method_number].add(outcome)?;
        }
        let mut results = BacktestResults::collect(self, &table, finished)?;
        let no_regret = no_regret_remark(&results.methods, &table, observer)?;
        results.remarks.extend(unpredicted_remark(&table));
        results.remarks.extend(no_regret);
        Ok(results)
    }

    /// Runs the missing cells of one of several equal shards and returns their number; the results
    /// are those of [`Backtest::run`] with the same folder.
    ///
    /// # Errors
    /// As [`Backtest::run`], when a method fails, and without a folder.
    pub fn run_shard(
        &self,
        table: &BacktestTable<'_>,
        given: &[GivenMethod],
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<usize> {
        if self.folder.is_none() {
            return Err(Error::setting("a shard needs a folder for its cells"));
        }
        let methods = self.check(table, given)?;
        let folds = self.folds(table);
        let mut chains = self.chains(&methods, table.folds.len());
        let mut number = 0;
        chains.retain(|_| {
            number += 1;
            (number - 1) % shard.count == shard.index
        });
        let table = BacktestTable {
            folds: &folds,
            ..*table
        };
        let mut cells = 0;
        for outcome in self.run_chains(&chains, &table, observer)? {
            cells += outcome?.len();
        }
        Ok(cells)
    }

    /// Names of the methods that fit a model.
    pub(crate) fn fitted_methods(&self, table: &BacktestTable<'_>) -> Result<Vec<String>> {
        let methods = BacktestMethod::all(&self.methods, self.season, table.periods, &[])?;
        let fitted = methods.iter().filter(|method| method.is_model());
        Ok(fitted.map(ToString::to_string).collect())
    }

    /// Fits the models of a method that decided the latest periods again, the latest first: cells
    /// do not store models. As many as decided `min_rows` rows, up to [`MAX_LATEST_FITS`]; one if
    /// trainings start from the fold before. None if the method fits nothing.
    ///
    /// # Errors
    /// As [`Backtest::run`].
    pub(crate) fn latest_fits(
        &self,
        table: &BacktestTable<'_>,
        method: &str,
        min_rows: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<LatestFit>> {
        let methods = BacktestMethod::all(&self.methods, self.season, table.periods, &[])?;
        let is_meant = |known: &&BacktestMethod| known.is_model() && known.to_string() == method;
        let folds = self.folds(table);
        let (Some(method), Some(last)) =
            (methods.iter().find(is_meant), folds.len().checked_sub(1))
        else {
            return Ok(Vec::new());
        };
        let table = BacktestTable {
            folds: &folds,
            ..*table
        };
        // A training that starts from the fold before needs the models of all folds before it.
        let is_chain = self.refit && self.warm_start && method.can_start_warm();
        let start = if is_chain {
            self.run_chain_before(last, method, &table, observer)?
        } else {
            None
        };
        // Without refits the last fold decides the rows of all.
        let count = if is_chain || !self.refit {
            1
        } else {
            MAX_LATEST_FITS
        };
        let mut fits = Vec::new();
        let mut rows = 0;
        for fold in (0..=last).rev().take(count) {
            let data = FoldData::new(&table, &folds[fold], self.validation)?;
            let cell = CellRun {
                backtest: self,
                table: &table,
                method,
                fold,
                data: &data,
                start: start.as_ref(),
                observer,
            };
            let Some(model) = cell.fit()? else {
                break;
            };
            rows += folds[fold].test.len();
            fits.push(LatestFit {
                model,
                data: data.test,
                rows: folds[fold].test.clone(),
                oracle: data.test_oracle,
            });
            if rows >= min_rows {
                break;
            }
        }
        Ok(fits)
    }

    /// Runs the folds before one, each from the parameters of the one before, and returns the last
    /// model.
    fn run_chain_before(
        &self,
        end: usize,
        method: &BacktestMethod,
        table: &BacktestTable<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<FoldModel>> {
        let files = self.folder.clone().map(|folder| CellFiles { folder });
        let mut start = None;
        for fold in 0..end {
            let cell = CellRun {
                backtest: self,
                table,
                method,
                fold,
                data: &FoldData::new(table, &table.folds[fold], self.validation)?,
                start: start.as_ref(),
                observer,
            };
            start = cell.run(files.as_ref())?.1;
        }
        Ok(start)
    }

    /// Checks everything before anything is run.
    fn check(
        &self,
        table: &BacktestTable<'_>,
        given: &[GivenMethod],
    ) -> Result<Vec<BacktestMethod>> {
        check_folds(table.folds, table.periods)?;
        if let Some(unit) = &self.unit
            && (unit.trim().is_empty() || unit.chars().any(char::is_control))
        {
            return Err(Error::setting(format!(
                "the unit {unit:?} is empty or has control characters"
            ))
            .with_remedy("write a word such as EUR"));
        }
        for method in given {
            method.check(table)?;
        }
        BacktestMethod::all(&self.methods, self.season, table.periods, given)
    }

    /// The folds of all cells. If models are not refitted, a further one has the history of the
    /// first and decides the rows of all.
    fn folds(&self, table: &BacktestTable<'_>) -> Vec<BacktestFold> {
        let mut folds = table.folds.to_vec();
        if let Some(first) = table.folds.first().filter(|_| !self.refit) {
            let tests = table.folds.iter().map(|fold| fold.test.as_slice());
            folds.push(BacktestFold {
                history: first.history.clone(),
                test: tests.collect::<Vec<_>>().concat(),
            });
        }
        folds
    }
}
