//! `compare`: several losses, several seeds, one problem.
//!
//! Every pair of loss and seed is one run on one thread; runs are spread over threads, and what
//! they find does not depend on how many. Each run is written down as it finishes, so that an
//! interrupted comparison keeps what it has.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use regretless::loss::{BaseError, Cos, LossSpec, Side, Weighting};
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless::problem::Benchmark;
use regretless::train::{Method, Recipe, Task, train};
use regretless::watch::Watch;
use regretless::{Error, Result};

use super::ground::{Ground, Source, standard_split};
use super::{Session, judge, oracle};
use crate::args::{CompareOptions, Machine, Profile};
use crate::output::Report;
use crate::progress::Quiet;
use crate::settings;

mod files;
mod summary;

use files::Folder;
use summary::{Outcome, Summary};

/// Runs everything and reports.
pub fn run(options: &CompareOptions, session: &Session) -> Result<Report> {
    let options = resolved(options.clone(), session)?;
    let folder = Folder::choose(options.out.as_deref(), &name(&options), session.force)?;
    let plan = Plan::new(&options, session)?;
    let settings = settings::text(&CompareOptions { out: Some(folder.path().into()), ..options.clone() }, "compare")?;
    let (outcomes, failures) = plan.run(&options, session, |outcome| folder.append(outcome, &settings))?;
    let summary = Summary::of(&plan.losses, &outcomes);
    folder.finish(&outcomes, &summary)?;
    let mut report = Report { json: summary.json(folder.path(), &failures), ..Report::default() };
    report.line(plan.title(&options));
    report.line("");
    report.text.push_str(&summary.text());
    for (run, error) in &failures {
        report.line(format!("failed: {run}: {error}"));
    }
    report.line(format!("\nresults in {}", folder.path().display()));
    report.failure = failures.into_iter().next().map(|(_, error)| error);
    if session.progress.interrupted() {
        report.line(format!("interrupted after {} of {} runs", outcomes.len(), plan.losses.len() * plan.seeds.len()));
        report.failure = Some(Error::Interrupted);
    }
    Ok(report)
}

/// The options with every default written out.
fn resolved(mut options: CompareOptions, session: &Session) -> Result<CompareOptions> {
    if !options.data.is_given() && options.problem.problem.is_none() {
        options.problem.benchmark.get_or_insert(Benchmark::Knapsack { items: 32 });
    }
    let split = standard_split(&options.data, &options.problem)?;
    options.split.split.get_or_insert(split);
    options.split.predictor.get_or_insert(PredictorSpec::Linear);
    options.seeds.get_or_insert(5);
    options.seed.get_or_insert(0);
    options.training = options.training.resolved(Profile::Paper);
    let given = options.losses.take().unwrap_or_else(all_losses);
    let mut losses: Vec<Method> = Vec::new();
    given.into_iter().for_each(|loss| {
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    });
    if !losses.contains(&reference()) {
        session.remark("note: MSE runs too, as the reference of the ratios");
        losses.insert(0, reference());
    }
    options.losses = Some(losses);
    if options.seeds == Some(0) {
        return Err(Error::setting("seeds must be at least 1"));
    }
    Ok(options)
}

/// The loss all others are measured against.
fn reference() -> Method {
    LossSpec::Cos(Cos::plain(BaseError::Squared)).into()
}

/// Squared and absolute error with every choice of C, O and S.
fn all_losses() -> Vec<Method> {
    let component = |c, o, s| (c, o, s);
    let choices = [
        component(false, false, false),
        component(true, false, false),
        component(false, true, false),
        component(false, false, true),
        component(true, true, false),
        component(true, false, true),
        component(false, true, true),
        component(true, true, true),
    ];
    let loss = |error, (costs, one_sided, scale_invariant)| {
        LossSpec::Cos(Cos {
            error,
            side: if one_sided { Side::OneSided } else { Side::Both },
            scale_invariant,
            weighting: if costs { Weighting::InstanceCosts } else { Weighting::Equal },
        })
    };
    let errors = [BaseError::Squared, BaseError::Absolute];
    errors.into_iter().flat_map(|error| choices.map(|choice| loss(error, choice).into())).collect()
}

/// What the comparison is called.
fn name(options: &CompareOptions) -> String {
    match (options.problem.benchmark, &options.data.data) {
        (Some(benchmark), _) => benchmark.to_string(),
        (None, Some(path)) => path.file_stem().map_or("table".into(), |stem| stem.to_string_lossy().into_owned()),
        (None, None) => "table".into(),
    }
}

/// Losses, seeds, and what each seed trains on.
struct Plan {
    losses: Vec<Method>,
    seeds: Vec<u32>,
    grounds: Vec<Ground>,
}

/// What a run came to: nothing yet, or an outcome, or an error.
type Slot = Option<Result<Outcome>>;
/// A run by its name, and why it failed.
type Failed = (String, Error);

impl Plan {
    fn new(options: &CompareOptions, session: &Session) -> Result<Self> {
        let (first, count) = (options.seed.unwrap_or(0), options.seeds.unwrap_or(1));
        let past = first.checked_add(count).ok_or_else(|| Error::setting("seeds must stay below 4294967296"))?;
        let seeds: Vec<u32> = (first..past).collect();
        let source = Source::open((&options.data, &options.problem), options.split.split, &options.machine, session)?;
        let grounds = source.grounds(seeds.iter().copied())?;
        if grounds.iter().any(|ground| ground.split.test.is_empty()) {
            return Err(Error::setting("compare needs rows to test on; give --split a share or rows for the test"));
        }
        Ok(Self { losses: options.losses.clone().unwrap_or_default(), seeds, grounds })
    }

    fn title(&self, options: &CompareOptions) -> String {
        let ground = &self.grounds[0];
        let epochs = options.training.epochs.unwrap_or(0);
        let seeds = if self.seeds.len() == 1 { "1 seed".into() } else { format!("{} seeds", self.seeds.len()) };
        let (name, mut what) = (name(options), ground.decided.problem.name());
        if what != name {
            what = format!("{name}: {what}");
        }
        format!("{what}, {}, {seeds}, {epochs} epochs", ground.rows())
    }

    /// Runs every loss on every seed; `keep` is told of each run as it finishes.
    fn run(
        &self,
        options: &CompareOptions,
        session: &Session,
        keep: impl Fn(&Outcome) -> Result<()> + Sync + Send,
    ) -> Result<(Vec<Outcome>, Vec<Failed>)> {
        let threads = Threads::new(options.machine.threads.unwrap_or(0))?;
        let runs = self.seeds.len() * self.losses.len();
        let slots: Vec<Mutex<Slot>> = (0..runs).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= runs || session.progress.interrupted() {
                return false;
            }
            let outcome = self.one(index, options).and_then(|found| keep(&found).map(|()| found));
            *slots[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            session.progress.advance(1);
            true
        };
        session.progress.begin("comparing", runs as u64);
        // Each worker takes the next run in line, so that runs begin in order.
        threads.fill(&mut vec![(); threads.count()], || (), |(), _, ()| while work() {});
        session.progress.end();
        self.sorted(slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Seed by seed, so that an interrupted comparison has whole seeds to compare.
    fn place(&self, index: usize) -> (usize, usize) {
        (index / self.losses.len(), index % self.losses.len())
    }

    fn one(&self, index: usize, options: &CompareOptions) -> Result<Outcome> {
        let (seed, loss) = self.place(index);
        let ground = &self.grounds[seed];
        let seed = u64::from(self.seeds[seed]);
        let predictor = options.split.predictor.clone().unwrap_or(PredictorSpec::Linear);
        let settings = options.training.settings(Profile::Paper, seed);
        let recipe = Recipe::new(self.losses[loss].clone(), predictor, settings);
        let machine = Machine { threads: Some(1), ..options.machine.clone() };
        let oracle = oracle(&ground.decided, &machine)?;
        let task = Task { data: &ground.data, split: &ground.split, oracle: &oracle, watch: &Quiet };
        let trained = train(&task, &recipe, &ground.decided.spec)?;
        let test = judge(&trained.model, &ground.data, &ground.split.test, (&oracle, &Quiet))?;
        Ok(Outcome::new(&recipe, &trained.report, &test))
    }

    /// Outcomes and failures in order; when nothing worked, the first failure is all there is.
    fn sorted(&self, slots: impl Iterator<Item = Slot>) -> Result<(Vec<Outcome>, Vec<Failed>)> {
        let (mut outcomes, mut failures) = (Vec::new(), Vec::new());
        for (index, slot) in slots.enumerate() {
            let (seed, loss) = self.place(index);
            match slot {
                None | Some(Err(Error::Interrupted)) => {}
                Some(Ok(outcome)) => outcomes.push(outcome),
                Some(Err(error)) => failures.push((format!("{}, seed {}", self.losses[loss], self.seeds[seed]), error)),
            }
        }
        match (outcomes.is_empty(), failures.is_empty()) {
            (true, true) => Err(Error::Interrupted),
            (true, false) => Err(failures.swap_remove(0).1),
            (false, _) => Ok((outcomes, failures)),
        }
    }
}
