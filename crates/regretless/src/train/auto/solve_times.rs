//! What a solve takes, as a race plans with it.
//!
//! Linear problems count their work while labels are found; relaxations are solved for two rows to
//! count theirs. Other solvers of the library take a time that follows from the size of the
//! problem, by formulas fitted to measurements. A solver of the user's own is stated or timed.

use std::time::Instant;

use super::{AutoBudget, TrainingContext};
use crate::data::Matrix;
use crate::error::Result;
use crate::oracle::{OracleSettings, TrainingOracle};
use crate::problem::ProblemSpec;
use crate::solve::SearchLimits;
use crate::solve::relaxation::Relaxation;

/// Rows that are solved to count the work of a relaxation, or of exact solves where labels do not
/// tell it.
const PROBED_ROWS: usize = 2;
/// Rows of a user's own solver that are timed: the first call of a solver often takes longer than
/// the others.
const TIMED_ROWS: usize = 3;
/// Share of an exact solve that a quick local search takes, on tours and routes of 20 to 1,000
/// nodes.
const FAST_SEARCH_TIME_RATIO: f64 = 0.1;

/// How the time of a solve is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolveTimeSource {
    /// The solver counts its work.
    Counted,
    /// It follows from the size of the problem.
    Size,
    /// The user says so.
    Stated,
    /// By the clock: not reproducible.
    Timed,
}

/// Seconds of one solve on one thread, by how it is answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct SolveTimes {
    pub(super) source: SolveTimeSource,
    pub(super) exact: f64,
    /// Of the tight relaxation, if the problem has one.
    pub(super) tight: Option<f64>,
    /// Of the plain relaxation, if the problem has one.
    pub(super) plain: Option<f64>,
    /// Of a local search without kicks, if the problem has one.
    pub(super) quick: Option<f64>,
}

impl SolveTimes {
    /// What the solves of a task take; may solve a few rows to find out.
    pub(super) fn of(
        task: &TrainingContext<'_>,
        problem: &ProblemSpec,
        auto: AutoBudget,
    ) -> Result<Self> {
        let (source, exact) = exact_seconds(task, problem, auto)?;
        let (solved, limits) = (task.oracle.problem(), SearchLimits::default());
        let relaxation = |kind: Relaxation| -> Result<Option<f64>> {
            if solved.relaxation_solver(kind, &limits).is_none() {
                return Ok(None);
            }
            let by_size = exact * relaxed_share(problem);
            let counted = if counts_work(problem) {
                probe(task, Some(kind))?
            } else {
                None
            };
            Ok(Some(counted.unwrap_or(by_size)))
        };
        let (tight, plain) = (
            relaxation(Relaxation::Tight)?,
            relaxation(Relaxation::Plain)?,
        );
        let quick = solved
            .fast_local_search(&limits)
            .map(|_| exact * FAST_SEARCH_TIME_RATIO);
        Ok(Self {
            source,
            exact,
            tight,
            plain,
            quick,
        })
    }
}

fn exact_seconds(
    task: &TrainingContext<'_>,
    problem: &ProblemSpec,
    auto: AutoBudget,
) -> Result<(SolveTimeSource, f64)> {
    if let Some(stated) = auto.solve_seconds {
        return Ok((SolveTimeSource::Stated, stated));
    }
    if let ProblemSpec::External(_) = problem {
        return Ok((SolveTimeSource::Timed, timed(task)?));
    }
    if counts_work(problem) {
        let labelled = task
            .data
            .mean_work(&task.split.train)
            .map(|work| 1e-9 * work);
        let seconds = match labelled {
            Some(seconds) => Some(seconds),
            None => probe(task, None)?,
        };
        return Ok((
            SolveTimeSource::Counted,
            seconds.unwrap_or_else(|| seconds_by_size(problem)),
        ));
    }
    Ok((SolveTimeSource::Size, seconds_by_size(problem)))
}

/// Whether the solver of a problem counts its work.
fn counts_work(problem: &ProblemSpec) -> bool {
    match problem {
        ProblemSpec::Linear(_) | ProblemSpec::LinearArrays(_) => true,
        #[cfg(feature = "highs")]
        ProblemSpec::Schedule(_) => true,
        ProblemSpec::GridPath(_)
        | ProblemSpec::TopK(_)
        | ProblemSpec::Knapsack(_)
        | ProblemSpec::Tsp(_)
        | ProblemSpec::Cvrp(_)
        | ProblemSpec::External(_) => false,
    }
}

/// The true costs of the first training rows.
fn first_rows(task: &TrainingContext<'_>, count: usize) -> (Vec<usize>, Matrix) {
    let rows: Vec<usize> = task.split.train.iter().copied().take(count).collect();
    let costs = task.data.data().costs().select_rows(&rows);
    (rows, costs)
}

/// Mean seconds of work of a few solves, exact or relaxed; none where they count none.
fn probe(task: &TrainingContext<'_>, relaxation: Option<Relaxation>) -> Result<Option<f64>> {
    let (rows, costs) = first_rows(task, PROBED_ROWS);
    let settings = OracleSettings {
        relaxation,
        ..OracleSettings::default()
    };
    let before = task.oracle.work();
    let oracle =
        TrainingOracle::new(task.oracle, settings, 0).map_err(|error| error.for_method("auto"))?;
    oracle.solve_rows(&costs, &rows, &InterruptOnlyObserver(task))?;
    let work = task.oracle.work() - before;
    Ok((work > 0).then(|| 1e-9 * work as f64 / rows.len() as f64))
}

/// Mean seconds of a few solves by the clock, rounded up to two digits, so that the figure can be
/// stated next time.
fn timed(task: &TrainingContext<'_>) -> Result<f64> {
    let (rows, costs) = first_rows(task, TIMED_ROWS);
    let started = Instant::now();
    for row in 0..rows.len() {
        // One after the other: a user's function is called once at a time.
        task.oracle
            .solve_rows(&costs, &[row], &InterruptOnlyObserver(task))?;
    }
    let mean = started.elapsed().as_secs_f64() / rows.len().max(1) as f64;
    let unit = 10.0_f64.powf(mean.max(1e-6).log10().floor() - 1.0);
    Ok((mean / unit).ceil().max(1.0) * unit)
}

/// Listens for interruption only.
struct InterruptOnlyObserver<'a>(&'a TrainingContext<'a>);

impl crate::observer::Observer for InterruptOnlyObserver<'_> {
    fn interrupted(&self) -> bool {
        self.0.observer.interrupted()
    }
}

/// Seconds of one exact solve on one thread, by formulas fitted to measured medians.
fn seconds_by_size(problem: &ProblemSpec) -> f64 {
    let tour = |nodes: usize| 1e-4 * (nodes as f64 / 20.0).powf(2.3);
    match problem {
        ProblemSpec::GridPath(path) => 1e-8 * (path.rows() * path.cols()) as f64 + 3e-7,
        ProblemSpec::TopK(_) => 1e-6,
        ProblemSpec::Knapsack(sack) => {
            let (items, rows) = (
                sack.weights().first().map_or(0, Vec::len) as f64,
                sack.weights().len() as f64,
            );
            1e-5 * (items / 32.0).powf(1.8) * rows.max(2.0) / 2.0
        }
        ProblemSpec::Tsp(tsp) => tour(tsp.nodes()),
        ProblemSpec::Cvrp(cvrp) => 0.04 * (cvrp.nodes() as f64 / 20.0).powf(2.0),
        // Only where nothing was counted or timed, which no path through `exact_seconds` leaves.
        ProblemSpec::Linear(_) | ProblemSpec::LinearArrays(_) | ProblemSpec::External(_) => 1e-2,
        #[cfg(feature = "highs")]
        ProblemSpec::Schedule(_) => 0.3,
    }
}

/// What a relaxed solve takes of an exact one.
fn relaxed_share(problem: &ProblemSpec) -> f64 {
    match problem {
        ProblemSpec::GridPath(_) | ProblemSpec::TopK(_) => 1.0,
        ProblemSpec::Knapsack(_)
        | ProblemSpec::Linear(_)
        | ProblemSpec::LinearArrays(_)
        | ProblemSpec::External(_) => 0.2,
        ProblemSpec::Tsp(tsp) => {
            if tsp.nodes() <= 64 {
                1.0
            } else {
                0.3
            }
        }
        ProblemSpec::Cvrp(_) => 0.03,
        #[cfg(feature = "highs")]
        ProblemSpec::Schedule(_) => 0.05,
    }
}
