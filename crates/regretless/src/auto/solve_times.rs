//! Seconds of a solve, as `auto` plans with them.
//!
//! A problem states what its solves cost (`ProblemKind::solve_cost_hint`). Linear problems count
//! their work during labeling; relaxations are solved for two rows to count theirs. The seconds of
//! a solver of the user's own are stated by the user or measured.

use std::time::Instant;

use crate::data::Matrix;
use crate::error::Result;
use crate::method::AutoBudget;
use crate::observer::InterruptOnlyObserver;
use crate::oracle::{OracleSettings, TrainingOracle};
use crate::problem::{SolveCostHint, SolveSeconds};
use crate::solve::SearchLimits;
use crate::solve::relaxation::Relaxation;
use crate::train::TrainingContext;

/// Rows that are solved to count the work of a relaxation, or of exact solves if the labels do not
/// have it.
const PROBED_ROWS: usize = 2;
/// Rows of a user's own solver that are measured: the first call often takes longer than the
/// others.
const TIMED_ROWS: usize = 3;
/// Seconds of the fast local search over those of an exact solve, for the TSP and the CVRP with 20
/// to 1,000 nodes.
const FAST_SEARCH_TIME_RATIO: f64 = 0.1;

/// How the seconds of a solve are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolveTimeSource {
    /// The solver counts its work.
    Counted,
    /// They follow from the size of the problem.
    Size,
    /// The user states them.
    Stated,
    /// Measured: not reproducible.
    Timed,
}

/// Seconds of one solver call on one thread, by how it is answered.
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
    /// The seconds of the solves of a training; may solve a few rows to find out.
    pub(super) fn of(context: &TrainingContext<'_>, auto: AutoBudget) -> Result<Self> {
        let (problem, limits) = (context.oracle.problem(), SearchLimits::default());
        let hint = problem.solve_cost_hint();
        let (source, exact) = exact_seconds(context, hint, auto)?;
        let relaxation = |kind: Relaxation| -> Result<Option<f64>> {
            if problem.relaxation_solver(kind, &limits).is_none() {
                return Ok(None);
            }
            let counted = match hint.exact {
                SolveSeconds::Counted(_) => probe(context, Some(kind))?,
                SolveSeconds::Estimated(_) | SolveSeconds::Unknown => None,
            };
            Ok(Some(counted.unwrap_or(exact * hint.relaxed_ratio)))
        };
        let (tight, plain) = (
            relaxation(Relaxation::Tight)?,
            relaxation(Relaxation::Plain)?,
        );
        let quick = problem
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
    context: &TrainingContext<'_>,
    hint: SolveCostHint,
    auto: AutoBudget,
) -> Result<(SolveTimeSource, f64)> {
    if let Some(stated) = auto.solve_seconds {
        return Ok((SolveTimeSource::Stated, stated));
    }
    match hint.exact {
        SolveSeconds::Unknown => Ok((SolveTimeSource::Timed, timed(context)?)),
        SolveSeconds::Estimated(seconds) => Ok((SolveTimeSource::Size, seconds)),
        SolveSeconds::Counted(estimate) => {
            let counted = match context.data.mean_work(&context.split.train) {
                Some(work) => Some(1e-9 * work),
                None => probe(context, None)?,
            };
            Ok((SolveTimeSource::Counted, counted.unwrap_or(estimate)))
        }
    }
}

/// The true costs of the first training rows.
fn first_rows(context: &TrainingContext<'_>, count: usize) -> (Vec<usize>, Matrix) {
    let rows: Vec<usize> = context.split.train.iter().copied().take(count).collect();
    let costs = context.data.data().costs().select_rows(&rows);
    (rows, costs)
}

/// Mean seconds of counted work of a few solves, exact or relaxed; none if none was counted.
fn probe(context: &TrainingContext<'_>, relaxation: Option<Relaxation>) -> Result<Option<f64>> {
    let (rows, costs) = first_rows(context, PROBED_ROWS);
    let settings = OracleSettings {
        relaxation,
        ..OracleSettings::default()
    };
    let before = context.oracle.work();
    let oracle = TrainingOracle::new(context.oracle, settings, 0)
        .map_err(|error| error.for_method("auto"))?;
    oracle.solve_rows(&costs, &rows, &InterruptOnlyObserver(context.observer))?;
    let work = context.oracle.work() - before;
    Ok((work > 0).then(|| 1e-9 * work as f64 / rows.len() as f64))
}

/// Mean measured seconds of a few solves, rounded up to two digits, so that the user can state
/// them next time.
fn timed(context: &TrainingContext<'_>) -> Result<f64> {
    let (rows, costs) = first_rows(context, TIMED_ROWS);
    let started = Instant::now();
    for row in 0..rows.len() {
        // One after the other: a user's function is not called concurrently.
        context
            .oracle
            .solve_rows(&costs, &[row], &InterruptOnlyObserver(context.observer))?;
    }
    let mean = started.elapsed().as_secs_f64() / rows.len().max(1) as f64;
    let unit = 10.0_f64.powf(mean.max(1e-6).log10().floor() - 1.0);
    Ok((mean / unit).ceil().max(1.0) * unit)
}
