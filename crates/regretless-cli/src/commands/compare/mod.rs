//! `compare`: several methods and the baselines, several seeds, one problem.
//!
//! A comparison is an [`Experiment`] with one problem. Every pair of method and seed is a cell of
//! it, here called a run, on one thread. Runs are distributed over threads, and results do not
//! depend on their number. Each run is written to disk as it finishes; after an interruption the
//! same command resumes with the missing runs. At the end the results are written as tables and as
//! a page.

use std::path::PathBuf;
use std::sync::Arc;

use regretless::baseline::Baseline;
use regretless::data::InstanceKeys;
use regretless::experiment::{
    CellData, CellId, CellMethod, CellRecord, DataFiles, DecisionLayout, Experiment,
    ExperimentResults, ExperimentRunner, ProblemResults,
};
use regretless::label::LabelCounts;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting, Normalization};
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::parallel::Threads;
use regretless::problem::Benchmark;
use regretless::train::TrainingContext;
use regretless::{Error, Result, Trainer};

use super::check::DataFindings;
use super::data_split::{DataSource, LabeledSplits, standard_split};
use super::encoding::EncodingReport;
use super::skipped_rows::SkippedRows;
use super::train::check_utf8;
use super::{CommandContext, UnusedColumns, decision_page, first_names, oracle};
use crate::args::{CompareOptions, Profile};
use crate::output::{CommandReport, write_text};
use crate::settings;

mod conclusion;
mod files;
mod page;
mod summary;

use files::{ComparisonKey, ResultFolder, RunLog};
use summary::ComparisonSummary;

/// Runs all methods on all seeds and reports.
pub fn run(options: &CompareOptions, context: &CommandContext) -> Result<CommandReport> {
    check_utf8([&options.data.data, &options.data.cost_data, &options.out])?;
    let given = GivenOptions {
        selection: options.training.select.is_some()
            || options.training.profile.is_some()
            || !options.data.is_given(),
        split: options.split.split.is_some(),
    };
    let mut options = resolved(options.clone(), context)?;
    // They change no result and are no settings of it.
    let (page_options, unit) = (std::mem::take(&mut options.page), options.unit.take());
    decision_page::check(&page_options, unit.as_deref(), context)?;
    let comparison = Comparison::new(&mut options, given, context)?;
    let spec = comparison.data[0].problem.spec();
    let layout = DecisionLayout::for_problem(spec, page_options.coordinates.as_deref())?;
    let runs = comparison.runner.cell_ids()?;
    let key = ComparisonKey {
        runs: &runs,
        settings: &settings::text(&options, "compare")?,
    };
    let (folder, earlier) =
        ResultFolder::choose(options.out.as_deref(), &name(&options), &key, context.force)?;
    if !earlier.is_empty() {
        context.warn(&format!(
            "note: resuming; {} of {} runs are finished",
            earlier.len(),
            runs.len()
        ));
    }
    let written = CompareOptions {
        out: Some(folder.path().into()),
        ..options.clone()
    };
    let settings = settings::text(&written, "compare")?;
    let _lock = folder.lock()?;
    let result = comparison.run(context, &runs, folder.runs(settings, earlier)?)?;
    let summary = ComparisonSummary::new(&comparison.methods, &result);
    let is_complete = result.failures.is_empty() && !context.progress.interrupted();
    let same_rows = comparison.shares_test_rows();
    let mut sentences = conclusion::sentences(&summary, is_complete, same_rows);
    sentences.extend(regretless::Evaluation::few_rows_warning(
        "test",
        comparison.min_test_rows(),
    ));
    let page = page::html(&page::PageInput {
        options: &options,
        unit: unit.as_deref().unwrap_or_default(),
        layout,
        comparison: &comparison,
        result: &result,
        headline: is_complete
            .then(|| conclusion::headline(&summary, same_rows))
            .flatten(),
        sentences: &sentences,
        folder: folder.path(),
        arguments: &context.arguments,
    });
    folder.finish(&result.runs, &summary, &page)?;
    if let Some(path) = &page_options.report {
        write_text(path, &page, context.force)?;
    }
    let mut report = CommandReport {
        json: summary.json(folder.path(), &folder.report_file(), &result.failures),
        ..CommandReport::default()
    };
    report.json["split"] = serde_json::json!(comparison.data[0].split.to_string());
    report.json["features"] = serde_json::json!(comparison.features());
    let encoding = comparison.encoding();
    report.json["unused_columns"] = comparison.unused_columns.with(&encoding).json();
    report.json["encoding"] = encoding.json();
    report.json["skipped_rows"] = serde_json::json!(comparison.skipped_rows);
    if let Some(findings) = &comparison.findings {
        report.json["data_check"] = findings.json()?;
    }
    report.line(comparison.title(&options));
    report.line(format!(
        "{} features: {}",
        comparison.features().len(),
        first_names(comparison.features())
    ));
    encoding.print(&mut report);
    report.line("");
    report.text.push_str(&summary.text());
    report.json["verdict"] = serde_json::json!(sentences);
    for sentence in &sentences {
        report.line(sentence);
    }
    for failure in &result.failures {
        report.line(format!("failed: {}: {}", failure.name(), failure.error));
    }
    report.line(format!("\nresults in {}", folder.path().display()));
    let written = page_options.report.unwrap_or_else(|| folder.report_file());
    decision_page::mention(&written, &mut report);
    report.failure = result
        .failures
        .into_iter()
        .next()
        .map(|failure| failure.error);
    if context.progress.interrupted() {
        let finished = result.runs.len();
        report.line(format!(
            "interrupted after {finished} of {} runs; the same command resumes",
            runs.len()
        ));
        report.failure = Some(Error::Interrupted);
    }
    Ok(report)
}

/// Which options the user has chosen, before defaults are filled in.
#[derive(Clone, Copy)]
struct GivenOptions {
    /// The criterion by which epochs are selected.
    selection: bool,
    /// The split.
    split: bool,
}

/// The options with every default filled in.
fn resolved(mut options: CompareOptions, context: &CommandContext) -> Result<CompareOptions> {
    if !options.data.is_given() && options.problem.problem.is_none() {
        options
            .problem
            .benchmark
            .get_or_insert(Benchmark::Knapsack { items: 32 });
    }
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    options.seeds.get_or_insert(5);
    options.seed.get_or_insert(0);
    options.training = options.training.resolved(standard_profile(&options));
    let listed = options.methods.take().unwrap_or_else(default_methods);
    let mut methods: Vec<Method> = Vec::new();
    for method in listed {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    if !methods.contains(&reference()) {
        context.warn("note: MSE runs too, as the reference of the ratios");
        methods.insert(0, reference());
    }
    options.methods = Some(methods);
    if options.seeds == Some(0) {
        return Err(Error::setting("seeds must be at least 1"));
    }
    Ok(options)
}

/// The default profile: `paper` for built-in data, where it reproduces the paper's tables, and
/// `default` for the user's tables, on which `paper` leaves MSE undertrained, as it does not
/// standardize features.
fn standard_profile(options: &CompareOptions) -> Profile {
    if options.problem.benchmark.is_some() {
        Profile::Paper
    } else {
        Profile::Default
    }
}

/// The name of the profile of a comparison.
fn profile_name(options: &CompareOptions) -> &'static str {
    let profile = options.training.profile;
    match profile.unwrap_or(standard_profile(options)) {
        Profile::Default => "default",
        Profile::Paper => "paper",
    }
}

/// The method whose regret is the denominator of all ratios.
fn reference() -> Method {
    Method::mse().into()
}

/// Squared and absolute error with every subset of the components C, O and S.
fn default_methods() -> Vec<Method> {
    let components = [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 1],
    ];
    let mut methods = Vec::new();
    for error in [BaseError::Squared, BaseError::Absolute] {
        for [costs, one_sided, scale_invariant] in
            components.map(|subset| subset.map(|included| included == 1))
        {
            let loss = CostSensitiveSpec {
                error,
                side: if one_sided {
                    ErrorSide::OneSided
                } else {
                    ErrorSide::Both
                },
                normalization: if scale_invariant {
                    Normalization::UnitNorm
                } else {
                    Normalization::None
                },
                weighting: if costs {
                    InstanceWeighting::InstanceCosts
                } else {
                    InstanceWeighting::Equal
                },
            };
            methods.push(Method::from(loss));
        }
    }
    methods
}

/// Name of the comparison: the benchmark or the table.
fn name(options: &CompareOptions) -> String {
    match (options.problem.benchmark, &options.data.data) {
        (Some(benchmark), _) => benchmark.to_string(),
        (None, Some(path)) => path
            .file_stem()
            .map_or("table".into(), |stem| stem.to_string_lossy().into_owned()),
        (None, None) => "table".into(),
    }
}

/// An experiment with one problem, and the data of each seed.
struct Comparison {
    methods: Vec<CellMethod>,
    data: Vec<CellData>,
    runner: ExperimentRunner,
    unused_columns: UnusedColumns,
    skipped_rows: SkippedRows,
    /// Findings of the check of the user's table.
    findings: Option<DataFindings>,
    /// How the user calls the rows of the table.
    keys: Option<InstanceKeys>,
}

/// A run and its error.
pub struct FailedRun {
    pub run: CellId,
    pub error: Error,
}

impl FailedRun {
    /// The run, for people.
    pub fn name(&self) -> String {
        format!("{}, seed {}", self.run.name, self.run.seed)
    }
}

/// Results of all runs, in order, and their statistics by method.
pub struct ComparisonResult {
    pub runs: Vec<CellRecord>,
    pub failures: Vec<FailedRun>,
    pub statistics: ProblemResults,
    /// What the page shows, without its problem, which is `statistics`.
    experiment: ExperimentResults,
}

impl Comparison {
    /// Reads and labels the data. Where the user did not choose how epochs are selected, the
    /// options get the criterion that is affordable. They also get the names of the features, so
    /// that the settings that are written do not depend on the columns of the table.
    fn new(
        options: &mut CompareOptions,
        given: GivenOptions,
        context: &CommandContext,
    ) -> Result<Self> {
        let (first, count) = (options.seed.unwrap_or(0), options.seeds.unwrap_or(1));
        let past = first
            .checked_add(count)
            .ok_or_else(|| Error::setting("seeds must stay below 4294967296"))?;
        let source = DataSource::open(
            &options.data,
            &options.problem,
            options.split.split.clone(),
            &options.execution,
            context,
        )?;
        if !given.split {
            source.suggest_time_split()?;
        }
        if options.data.features.is_none() {
            options.data.features = source.feature_names();
        }
        let unused_columns = source.unused_columns();
        let keys = source.row_keys()?;
        let LabeledSplits {
            cells: data,
            skipped_rows,
            findings,
        } = source.data_splits(first..past)?;
        if data.iter().any(|data| data.split.test.is_empty()) {
            return Err(Error::setting("compare needs test rows")
                .with_remedy("give --split a fraction or a number of test rows"));
        }
        let oracle = oracle(&data[0].problem, data[0].data.data(), &options.execution)?;
        let mut training = options.training.settings(standard_profile(options), 0);
        for data in &data {
            training.check(&data.split)?;
        }
        if !given.selection {
            // The reference decides for all methods, so that they are compared on equal terms.
            let mut trainer = Trainer::new(reference()).settings(training);
            let note = trainer.avoid_expensive_validation(&TrainingContext {
                data: &data[0].data,
                split: &data[0].split,
                oracle: &oracle,
                observer: &context.progress,
            });
            if let Some(note) = note {
                context.warn(&format!("note: {note}"));
                training = trainer.settings;
                options.training.select = Some(training.select);
            }
        }
        let trained = options.methods.clone().unwrap_or_default();
        let has_auto = trained
            .iter()
            .any(|method| matches!(method, Method::Auto { .. }));
        if has_auto && data.iter().any(|data| data.split.validation.is_empty()) {
            return Err(Error::setting("auto needs validation rows")
                .with_remedy("give --split a fraction or a number of them"));
        }
        let mut methods: Vec<CellMethod> = trained.into_iter().map(CellMethod::Trained).collect();
        for baseline in [Baseline::LeastSquares, Baseline::TrainingMean] {
            methods.push(CellMethod::Baseline(baseline));
        }
        // Elsewhere the row before a test row need not be known when the test row is decided, or
        // need not have the same items.
        let has_previous_rows =
            |data: &CellData| data.split.is_chronological && !data.data.has_absent_costs();
        if data.iter().all(has_previous_rows) {
            methods.push(CellMethod::Baseline(Baseline::PreviousRow));
        }
        let experiment = Experiment::comparison(
            name(options),
            first,
            data.clone(),
            &oracle,
            &methods,
            options.split.predictor.clone(),
            &training,
        )?;
        let runner = ExperimentRunner {
            experiment,
            folder: PathBuf::new(),
            labels: PathBuf::new(),
            files: DataFiles::default(),
            time_budget: None,
            shard: None,
            threads: Threads::new(options.execution.threads.unwrap_or(0))?,
        };
        Ok(Self {
            methods,
            data,
            runner,
            unused_columns,
            skipped_rows,
            findings,
            keys,
        })
    }

    /// Names of the features.
    fn features(&self) -> &[String] {
        self.data[0].data.data().features().names()
    }

    /// What the encoding of the first seed does to columns.
    fn encoding(&self) -> EncodingReport {
        EncodingReport::of(self.data[0].data.data().features())
    }

    /// Problem, rows, seeds and settings in a line.
    fn title(&self, options: &CompareOptions) -> String {
        let data = &self.data[0];
        let epochs = options.training.epochs.unwrap_or(0);
        let seeds = if self.data.len() == 1 {
            "1 seed".into()
        } else {
            format!("{} seeds", self.data.len())
        };
        let (name, mut title) = (name(options), data.problem.name());
        if title != name {
            title = format!("{name}: {title}");
        }
        format!(
            "{title}, {}, {seeds}, {epochs} epochs, profile {}",
            data.split,
            profile_name(options)
        )
    }

    /// Whether all seeds are tested on the same rows of the same table.
    fn shares_test_rows(&self) -> bool {
        let first = &self.data[0];
        // A table is read once for all seeds; built-in data are generated for each seed.
        let same = |data: &CellData| {
            data.split.test == first.split.test && Arc::ptr_eq(&data.data, &first.data)
        };
        self.data[1..].iter().all(same)
    }

    /// Labels of the first seed by their proven quality; those of a table are the same for all
    /// seeds.
    fn label_counts(&self) -> LabelCounts {
        let data = &self.data[0].data;
        data.label_counts(&data.rows())
    }

    fn min_test_rows(&self) -> usize {
        self.data
            .iter()
            .map(|data| data.split.test.len())
            .min()
            .unwrap_or(0)
    }

    /// Runs the missing runs of the log; sorts all of them in the order of `runs`.
    ///
    /// # Errors
    /// The first failure, or the interruption, where no method was trained.
    fn run(
        &self,
        context: &CommandContext,
        runs: &[CellId],
        log: RunLog,
    ) -> Result<ComparisonResult> {
        let mut results = match self.runner.run_in(&log, &context.progress) {
            Err(Error::Interrupted) => self.runner.results_in(&log)?,
            other => other?,
        };
        context.progress.end();
        let (mut records, mut failures) = log.into_runs();
        let position = |id: &CellId| runs.iter().position(|run| run == id);
        records.sort_by_cached_key(|record| position(&record.id));
        failures.sort_by_cached_key(|failure| position(&failure.run));
        let is_trained = |record: &CellRecord| !is_baseline(&record.id.name);
        let statistics = results.problems.pop();
        match statistics.filter(|_| records.iter().any(is_trained)) {
            Some(statistics) => Ok(ComparisonResult {
                runs: records,
                failures,
                statistics,
                experiment: results,
            }),
            None => Err(failures
                .into_iter()
                .next()
                .map_or(Error::Interrupted, |failure| failure.error)),
        }
    }
}

/// Whether a run of this name is that of a baseline.
fn is_baseline(name: &str) -> bool {
    Baseline::ALL
        .iter()
        .any(|baseline| baseline.to_string() == name)
}
