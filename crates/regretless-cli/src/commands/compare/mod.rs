//! `compare`: several methods and the baselines, several seeds, one problem.
//!
//! Every pair of contender and seed is one run on one thread; runs are spread over threads, and
//! what they find does not depend on how many. Each run is written down as it finishes; the same
//! command after an interruption goes on with the runs that are missing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use regretless::data::SplitRule;
use regretless::loss::{BaseError, CosSpec, ErrorSide, InstanceWeighting, LossSpec};
use regretless::observer::Observer;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::train::{Baseline, Method, TrainingStage};
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

/// Runs everything and reports.
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
            "note: {} of {} runs were finished earlier",
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
    let summary = ComparisonSummary::of(&comparison.contenders, &found.outcomes);
    folder.finish(&found.outcomes, &summary)?;
    let mut report = CommandReport {
        json: summary.json(folder.path(), &found.failures),
        ..CommandReport::default()
    };
    report.line(comparison.title(&options));
    report.line("");
    report.text.push_str(&summary.text());
    let whole = found.failures.is_empty() && !session.progress.interrupted();
    let mut sentences = conclusion::sentences(&summary, whole, comparison.shares_test_rows());
    sentences.extend(regretless::evaluate::few_rows_warning(
        "test",
        comparison.least_test_rows(),
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
        let done = found.outcomes.len();
        report.line(format!(
            "interrupted after {done} of {} runs; the same command goes on with the others",
            keys.len()
        ));
        report.failure = Some(Error::Interrupted);
    }
    Ok(report)
}

/// The options with every default written out.
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
    let given = options.methods.take().unwrap_or_else(all_losses);
    let mut losses: Vec<Method> = Vec::new();
    for loss in given {
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
    if !losses.contains(&reference()) {
        session.warn("note: MSE runs too, as the reference of the ratios");
        losses.insert(0, reference());
    }
    options.methods = Some(losses);
    if options.seeds == Some(0) {
        return Err(Error::setting("seeds must be at least 1"));
    }
    Ok(options)
}

/// The paper's profile reproduces the paper's tables on built-in data. Its features are not
/// standardised, which leaves MSE untrained on the tables that people have, so these get the
/// default profile.
fn standard_profile(options: &CompareOptions) -> Profile {
    if options.problem.benchmark.is_some() {
        Profile::Paper
    } else {
        Profile::Default
    }
}

/// The loss all others are measured against.
fn reference() -> Method {
    Method::Stages(Box::new(
        LossSpec::from(CosSpec::plain(BaseError::Squared)).into(),
    ))
}

/// Squared and absolute error with every choice of C, O and S.
fn all_losses() -> Vec<Method> {
    let labels = [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 1],
    ];
    let mut losses = Vec::new();
    for error in [BaseError::Squared, BaseError::Absolute] {
        for [costs, one_sided, scale_invariant] in
            labels.map(|name| name.map(|component| component == 1))
        {
            let loss = LossSpec::from(CosSpec {
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
            });
            losses.push(Method::Stages(Box::new(TrainingStage::from(loss))));
        }
    }
    losses
}

/// What the comparison is called.
fn name(options: &CompareOptions) -> String {
    match (options.problem.benchmark, &options.data.data) {
        (Some(benchmark), _) => benchmark.to_string(),
        (None, Some(path)) => path
            .file_stem()
            .map_or("table".into(), |stem| stem.to_string_lossy().into_owned()),
        (None, None) => "table".into(),
    }
}

/// Contenders, seeds, and what each seed trains on.
struct Comparison {
    contenders: Vec<ComparedMethod>,
    seeds: Vec<u32>,
    grounds: Vec<DataSplit>,
}

/// Which contender on which seed: places in the lists of a comparison.
#[derive(Debug, Clone, Copy)]
struct RunId {
    seed: usize,
    method: usize,
}

/// A run by its name, and why it failed.
struct FailedRun {
    run: String,
    error: Error,
}

/// What came of all runs, in order.
struct ComparisonResult {
    outcomes: Vec<RunResult>,
    failures: Vec<FailedRun>,
}

/// What a run came to: nothing yet, or an outcome, or an error.
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
        let grounds = source.data_splits(seeds.iter().copied())?;
        if grounds.iter().any(|data| data.split.test.is_empty()) {
            return Err(Error::setting(
                "compare needs rows to test on; give --split a share or rows for the test",
            ));
        }
        for (data, seed) in grounds.iter().zip(&seeds) {
            options
                .training
                .settings(standard_profile(options), u64::from(*seed))
                .check(&data.split)?;
        }
        let races = options
            .methods
            .iter()
            .flatten()
            .any(|loss| matches!(loss, Method::Auto(_)));
        if races && grounds.iter().any(|data| data.split.validation.is_empty()) {
            return Err(Error::setting(
                "auto judges by validation rows; give --split a share or rows for them",
            ));
        }
        let methods = options
            .methods
            .clone()
            .unwrap_or_default()
            .into_iter()
            .map(ComparedMethod::Method);
        let mut contenders: Vec<ComparedMethod> = methods.collect();
        contenders
            .extend([Baseline::LeastSquares, Baseline::HistoryMean].map(ComparedMethod::Baseline));
        // In a random split the row before a test row is as likely a training row as any other.
        if matches!(options.split.split, Some(SplitRule::Counts(_))) {
            contenders.push(ComparedMethod::Baseline(Baseline::PreviousRow));
        }
        Ok(Self {
            contenders,
            seeds,
            grounds,
        })
    }

    fn title(&self, options: &CompareOptions) -> String {
        let data = &self.grounds[0];
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
        let first = &self.grounds[0];
        // A user's table is read once for all seeds; built-in data are made anew for each.
        let same = |data: &DataSplit| {
            data.split.test == first.split.test && Arc::ptr_eq(&data.data, &first.data)
        };
        self.grounds[1..].iter().all(same)
    }

    fn least_test_rows(&self) -> usize {
        self.grounds
            .iter()
            .map(|data| data.split.test.len())
            .min()
            .unwrap_or(0)
    }

    /// Seed by seed, so that an interrupted comparison has whole seeds to compare.
    fn order(&self) -> impl Iterator<Item = RunId> + '_ {
        let contenders = self.contenders.len();
        (0..self.seeds.len())
            .flat_map(move |seed| (0..contenders).map(move |method| RunId { seed, method }))
    }

    /// What each run depends on, as a hash, in the order of the runs.
    fn keys(&self, options: &CompareOptions) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut tasks = Vec::new();
        for data in &self.grounds {
            tasks.push(run::task_key(data, options)?);
        }
        for run in self.order() {
            let settings = self.settings(run, options);
            keys.push(self.contenders[run.method].key(&tasks[run.seed], &settings)?);
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
            self.contenders[run.method], self.seeds[run.seed]
        )
    }

    /// Runs every contender on every seed, but for what `kept` holds already; each run is kept as
    /// it finishes.
    fn run(
        &self,
        options: &CompareOptions,
        session: &CommandContext,
        keys: &[String],
        kept: &files::RunLog,
    ) -> Result<ComparisonResult> {
        let threads = Threads::new(options.execution.threads.unwrap_or(0))?;
        let runs: Vec<RunId> = self.order().collect();
        let slots: Vec<Mutex<RunSlot>> = keys
            .iter()
            .map(|key| Mutex::new(kept.find(key).map(Ok)))
            .collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= runs.len() || session.progress.interrupted() {
                return false;
            }
            let mut slot = slots[index].lock().unwrap_or_else(PoisonError::into_inner);
            if slot.is_none() {
                let (run, data) = (runs[index], &self.grounds[runs[index].seed]);
                let settings = self.settings(run, options);
                let outcome = self.contenders[run.method].run(data, &settings, &options.execution);
                let outcome = outcome.map(|outcome| RunResult {
                    key: keys[index].clone(),
                    ..outcome
                });
                *slot = Some(outcome.and_then(|found| kept.append(&found).map(|()| found)));
            }
            session.progress.advance(1);
            true
        };
        session.progress.begin("comparing", runs.len() as u64);
        // Each worker takes the next run in line, so that runs begin in order.
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

    /// Outcomes and failures in order; when nothing worked, the first failure is all there is.
    fn sorted(
        &self,
        runs: Vec<RunId>,
        slots: impl Iterator<Item = RunSlot>,
    ) -> Result<ComparisonResult> {
        let (mut outcomes, mut failures) = (Vec::new(), Vec::new());
        for (run, slot) in runs.into_iter().zip(slots) {
            match slot {
                None | Some(Err(Error::Interrupted)) => {}
                Some(Ok(outcome)) => outcomes.push(outcome),
                Some(Err(error)) => failures.push(FailedRun {
                    run: self.name(run),
                    error,
                }),
            }
        }
        let trained = outcomes.iter().any(|outcome| !outcome.is_baseline);
        match (trained, failures.is_empty()) {
            (false, true) => Err(Error::Interrupted),
            (false, false) => Err(failures.swap_remove(0).error),
            (true, _) => Ok(ComparisonResult { outcomes, failures }),
        }
    }
}
