//! `compare`: several methods and the baselines, several seeds, one problem.
//!
//! Every pair of method and seed is one run on one thread. Runs are distributed over threads, and
//! results do not depend on their number. Each run is written to disk as it finishes; after an
//! interruption the same command resumes with the missing runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use regretless::baseline::Baseline;
use regretless::data::SplitRule;
use regretless::loss::{BaseError, CostSensitiveSpec, ErrorSide, InstanceWeighting};
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::{Error, Result};

use super::CommandContext;
use super::data_split::{DataSource, DataSplit, standard_split};
use super::train::check_utf8;
use crate::args::{CompareOptions, Profile};
use crate::output::CommandReport;
use crate::settings;

mod conclusion;
mod files;
mod run;
mod summary;

use files::{ComparisonKey, ResultFolder};
use run::{ComparedMethod, RunResult, RunSettings};
use summary::ComparisonSummary;

/// Runs all methods on all seeds and reports.
pub fn run(options: &CompareOptions, session: &CommandContext) -> Result<CommandReport> {
    check_utf8([&options.data.data, &options.data.cost_data, &options.out])?;
    let options = resolved(options.clone(), session)?;
    let comparison = Comparison::new(&options, session)?;
    let keys = comparison.keys(&options)?;
    let wanted = ComparisonKey {
        keys: &keys,
        settings: &settings::text(&options, "compare")?,
    };
    let (folder, earlier) = ResultFolder::choose(
        options.out.as_deref(),
        &name(&options),
        &wanted,
        session.force,
    )?;
    if !earlier.is_empty() {
        session.warn(&format!(
            "note: resuming; {} of {} runs are finished",
            earlier.len(),
            keys.len()
        ));
    }
    let written = CompareOptions {
        out: Some(folder.path().into()),
        ..options.clone()
    };
    let settings = settings::text(&written, "compare")?;
    let _lock = folder.lock()?;
    let found = comparison.run(&options, session, &keys, &folder.runs(settings, earlier)?)?;
    let summary = ComparisonSummary::of(&comparison.methods, &found.runs);
    folder.finish(&found.runs, &summary)?;
    let mut report = CommandReport {
        json: summary.json(folder.path(), &found.failures),
        ..CommandReport::default()
    };
    report.line(comparison.title(&options));
    report.line("");
    report.text.push_str(&summary.text());
    let is_complete = found.failures.is_empty() && !session.progress.interrupted();
    let same_rows = comparison.shares_test_rows();
    let mut sentences = conclusion::sentences(&summary, is_complete, same_rows);
    sentences.extend(regretless::evaluate::few_rows_warning(
        "test",
        comparison.min_test_rows(),
    ));
    report.json["verdict"] = serde_json::json!(sentences);
    for sentence in &sentences {
        report.line(sentence);
    }
    for failure in &found.failures {
        report.line(format!("failed: {}: {}", failure.run, failure.error));
    }
    report.line(format!("\nresults in {}", folder.path().display()));
    report.failure = found
        .failures
        .into_iter()
        .next()
        .map(|failure| failure.error);
    if session.progress.interrupted() {
        let done = found.runs.len();
        report.line(format!(
            "interrupted after {done} of {} runs; the same command resumes",
            keys.len()
        ));
        report.failure = Some(Error::Interrupted);
    }
    Ok(report)
}

/// The options with every default filled in.
fn resolved(mut options: CompareOptions, session: &CommandContext) -> Result<CompareOptions> {
    if !options.data.is_given() && options.problem.problem.is_none() {
        options
            .problem
            .benchmark
            .get_or_insert(Benchmark::Knapsack { items: 32 });
    }
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    options.split.predictor.get_or_insert(PredictorSpec::Linear);
    options.seeds.get_or_insert(5);
    options.seed.get_or_insert(0);
    options.training = options.training.resolved(standard_profile(&options));
    let given = options.methods.take().unwrap_or_else(default_methods);
    let mut methods: Vec<Method> = Vec::new();
    for method in given {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    if !methods.contains(&reference()) {
        session.warn("note: MSE runs too, as the reference of the ratios");
        methods.insert(0, reference());
    }
    options.methods = Some(methods);
    if options.seeds == Some(0) {
        return Err(Error::setting("seeds must be at least 1"));
    }
    Ok(options)
}

/// The paper's profile reproduces the paper's tables on built-in data. It does not standardize
/// features, which leaves MSE untrained on ordinary tables; these get the default profile.
fn standard_profile(options: &CompareOptions) -> Profile {
    if options.problem.benchmark.is_some() {
        Profile::Paper
    } else {
        Profile::Default
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
                scale_invariant,
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

/// Methods, seeds, and the data of each seed.
struct Comparison {
    methods: Vec<ComparedMethod>,
    seeds: Vec<u32>,
    data: Vec<DataSplit>,
}

/// A method on a seed: indices in the lists of a comparison.
#[derive(Debug, Clone, Copy)]
struct RunId {
    seed: usize,
    method: usize,
}

/// A run by its name, and its error.
struct FailedRun {
    run: String,
    error: Error,
}

/// Results of all runs, in order.
struct ComparisonResult {
    runs: Vec<RunResult>,
    failures: Vec<FailedRun>,
}

/// The state of a run: none before it has finished, then its result or error.
type RunSlot = Option<Result<RunResult>>;

impl Comparison {
    fn new(options: &CompareOptions, session: &CommandContext) -> Result<Self> {
        let (first, count) = (options.seed.unwrap_or(0), options.seeds.unwrap_or(1));
        let past = first
            .checked_add(count)
            .ok_or_else(|| Error::setting("seeds must stay below 4294967296"))?;
        let seeds: Vec<u32> = (first..past).collect();
        let source = DataSource::open(
            &options.data,
            &options.problem,
            options.split.split,
            &options.execution,
            session,
        )?;
        let data = source.data_splits(seeds.iter().copied())?;
        if data.iter().any(|data| data.split.test.is_empty()) {
            return Err(Error::setting(
                "compare needs test rows; give --split a fraction or a number of test rows",
            ));
        }
        for (data, seed) in data.iter().zip(&seeds) {
            options
                .training
                .settings(standard_profile(options), u64::from(*seed))
                .check(&data.split)?;
        }
        let trained = options.methods.clone().unwrap_or_default();
        let has_auto = trained
            .iter()
            .any(|method| matches!(method, Method::Auto(_)));
        if has_auto && data.iter().any(|data| data.split.validation.is_empty()) {
            return Err(Error::setting(
                "auto needs validation rows; give --split a fraction or a number of them",
            ));
        }
        let mut methods: Vec<ComparedMethod> =
            trained.into_iter().map(ComparedMethod::Method).collect();
        for baseline in [Baseline::LeastSquares, Baseline::HistoryMean] {
            methods.push(ComparedMethod::Baseline(baseline));
        }
        // In a random split the row before a test row is as likely a training row as any other.
        if matches!(options.split.split, Some(SplitRule::Counts(_))) {
            methods.push(ComparedMethod::Baseline(Baseline::PreviousRow));
        }
        Ok(Self {
            methods,
            seeds,
            data,
        })
    }

    fn title(&self, options: &CompareOptions) -> String {
        let data = &self.data[0];
        let epochs = options.training.epochs.unwrap_or(0);
        let seeds = if self.seeds.len() == 1 {
            "1 seed".into()
        } else {
            format!("{} seeds", self.seeds.len())
        };
        let (name, mut what) = (name(options), data.problem.name());
        if what != name {
            what = format!("{name}: {what}");
        }
        let profile = match options
            .training
            .profile
            .unwrap_or(standard_profile(options))
        {
            Profile::Default => "default",
            Profile::Paper => "paper",
        };
        format!(
            "{what}, {}, {seeds}, {epochs} epochs, profile {profile}",
            data.rows()
        )
    }

    /// Whether all seeds are tested on the same rows of the same table.
    fn shares_test_rows(&self) -> bool {
        let first = &self.data[0];
        // A table is read once for all seeds; built-in data are generated for each seed.
        let same = |data: &DataSplit| {
            data.split.test == first.split.test && Arc::ptr_eq(&data.data, &first.data)
        };
        self.data[1..].iter().all(same)
    }

    fn min_test_rows(&self) -> usize {
        self.data
            .iter()
            .map(|data| data.split.test.len())
            .min()
            .unwrap_or(0)
    }

    /// Seed by seed, so that an interrupted comparison has complete seeds to compare.
    fn order(&self) -> impl Iterator<Item = RunId> + '_ {
        let methods = self.methods.len();
        (0..self.seeds.len())
            .flat_map(move |seed| (0..methods).map(move |method| RunId { seed, method }))
    }

    /// Hashes of what each run depends on, in the order of the runs.
    fn keys(&self, options: &CompareOptions) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut tasks = Vec::new();
        for data in &self.data {
            tasks.push(run::task_key(data, options)?);
        }
        for run in self.order() {
            let settings = self.settings(run, options);
            keys.push(self.methods[run.method].key(&tasks[run.seed], &settings)?);
        }
        Ok(keys)
    }

    fn settings(&self, run: RunId, options: &CompareOptions) -> RunSettings {
        let seed = u64::from(self.seeds[run.seed]);
        RunSettings {
            predictor: options
                .split
                .predictor
                .clone()
                .unwrap_or(PredictorSpec::Linear),
            training: options.training.settings(standard_profile(options), seed),
        }
    }

    fn name(&self, run: RunId) -> String {
        format!(
            "{}, seed {}",
            self.methods[run.method], self.seeds[run.seed]
        )
    }

    /// Runs every method on every seed, except for runs in `finished`; each run is added to it as
    /// it finishes.
    fn run(
        &self,
        options: &CompareOptions,
        session: &CommandContext,
        keys: &[String],
        finished: &files::RunLog,
    ) -> Result<ComparisonResult> {
        let threads = Threads::new(options.execution.threads.unwrap_or(0))?;
        let runs: Vec<RunId> = self.order().collect();
        let slots: Vec<Mutex<RunSlot>> = keys
            .iter()
            .map(|key| Mutex::new(finished.find(key).map(Ok)))
            .collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= runs.len() || session.progress.interrupted() {
                return false;
            }
            let mut slot = slots[index].lock().unwrap_or_else(PoisonError::into_inner);
            if slot.is_none() {
                let (run, data) = (runs[index], &self.data[runs[index].seed]);
                let settings = self.settings(run, options);
                let result = self.methods[run.method].run(data, &settings, &options.execution);
                let result = result.map(|result| RunResult {
                    key: keys[index].clone(),
                    ..result
                });
                *slot = Some(result.and_then(|result| finished.append(&result).map(|()| result)));
            }
            session.progress.advance(1);
            true
        };
        session.progress.begin("comparing", runs.len() as u64);
        // Each worker takes the next run, so that runs start in order.
        threads.fill_slots(
            &mut vec![(); threads.count()],
            || (),
            |(), _, ()| while work() {},
        );
        session.progress.end();
        let slots = slots
            .into_iter()
            .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
        self.sorted(runs, slots)
    }

    /// Results and failures in order; the first failure where no method was trained.
    fn sorted(
        &self,
        runs: Vec<RunId>,
        slots: impl Iterator<Item = RunSlot>,
    ) -> Result<ComparisonResult> {
        let (mut results, mut failures) = (Vec::new(), Vec::new());
        for (run, slot) in runs.into_iter().zip(slots) {
            match slot {
                None | Some(Err(Error::Interrupted)) => {}
                Some(Ok(result)) => results.push(result),
                Some(Err(error)) => failures.push(FailedRun {
                    run: self.name(run),
                    error,
                }),
            }
        }
        let trained = results.iter().any(|result| !result.is_baseline);
        match (trained, failures.is_empty()) {
            (false, true) => Err(Error::Interrupted),
            (false, false) => Err(failures.swap_remove(0).error),
            (true, _) => Ok(ComparisonResult {
                runs: results,
                failures,
            }),
        }
    }
}
