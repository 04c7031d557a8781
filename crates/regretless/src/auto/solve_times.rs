//! Seconds of a solve, as `auto` plans with them.
//!
//! A problem states what its solves cost (`ProblemKind::solve_cost_hint`). Linear problems count
//! their work during labeling; relaxations are solved for two rows to count theirs. The seconds of
//! a user-defined solver are stated by the user or measured.

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
/// have it. Untuned: counted work varies little between rows, and each solve costs time.
const PROBED_ROWS: usize = 2;
/// Rows that a user-defined solver is timed on. Untuned: more than one, because the first call
/// often takes longer than the others; few, because a solve may take minutes.
const TIMED_ROWS: usize = 3;
/// Seconds of the fast local search over those of an exact solve: the order of magnitude for the
/// TSP and the CVRP with 20 to 1,000 nodes.
const FAST_SEARCH_TIME_RATIO: f64 = 0.1;
/// Seconds per unit of counted work: solvers count nanoseconds ([`crate::solve::Solver::work`]).
pub(super) const SECONDS_PER_WORK_UNIT: f64 = 1e-9;
/// Measured seconds below this are those of the clock, not of the solver.
const MIN_TIMED_SECONDS: f64 = 1e-6;

/// Where the seconds of a solve come from.
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

/// Seconds of one solver call on one thread, by the solver.
#[derive(Debug, Clone, Copy)]
pub(super) struct SolveTimes {
    pub(super) source: SolveTimeSource,
    pub(super) exact: f64,
    /// Of the tight relaxation, with all cuts of the problem's solver, if the problem has one.
    pub(super) tight: Option<f64>,
    /// Of the plain relaxation, without cuts, if the problem has one.
    pub(super) plain: Option<f64>,
    /// Of the fast local search, if the problem has one.
    pub(super) fast_local_search: Option<f64>,
}

impl SolveTimes {
    /// Estimates the seconds of the solves of a training; may solve a few rows for it.
    pub(super) fn estimate(context: &TrainingContext<'_>, budget: AutoBudget) -> Result<Self> {
        let (problem, limits) = (context.oracle.problem(), SearchLimits::default());
        let hint = problem.solve_cost_hint();
        let (source, exact) = exact_seconds(context, hint, budget)?;
        let relaxation = |kind: Relaxation| -> Result<Option<f64>> {
            if problem
                .sensitivity()
                .relaxation_solver(kind, &limits)
                .is_none()
            {
                return Ok(None);
            }
            let counted = match hint.exact {
                SolveSeconds::Counted(_) => counted_seconds(context, Some(kind))?,
                SolveSeconds::Estimated(_) | SolveSeconds::Unknown => None,
            };
            Ok(Some(counted.unwrap_or(exact * hint.relaxed_ratio)))
        };
        let (tight, plain) = (
            relaxation(Relaxation::Tight)?,
            relaxation(Relaxation::Plain)?,
        );
        let fast_local_search = problem
            .solver_traits()
            .fast_local_search(&limits)
            .map(|_| exact * FAST_SEARCH_TIME_RATIO);
        Ok(Self {
            source,
            exact,
            tight,
            plain,
            fast_local_search,
        })
    }
}

fn exact_seconds(
    context: &TrainingContext<'_>,
    hint: SolveCostHint,
    budget: AutoBudget,
) -> Result<(SolveTimeSource, f64)> {
    // What the user states is used without a solve.
    if let Some(stated) = budget.solve_seconds {
        return Ok((SolveTimeSource::Stated, stated));
    }
    match hint.exact {
        SolveSeconds::Unknown => Ok((SolveTimeSource::Timed, timed_seconds(context)?)),
        SolveSeconds::Estimated(seconds) => Ok((SolveTimeSource::Size, seconds)),
        SolveSeconds::Counted(estimate) => {
            // Labels have counted their work already.
            let counted = match context.data.mean_work(&context.split.train) {
                Some(work) => Some(SECONDS_PER_WORK_UNIT * work),
                None => counted_seconds(context, None)?,
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

/// Mean seconds of counted work of a few solves, exact or relaxed; `None` if the solver does not
/// count.
fn counted_seconds(
    context: &TrainingContext<'_>,
    relaxation: Option<Relaxation>,
) -> Result<Option<f64>> {
    let (rows, costs) = first_rows(context, PROBED_ROWS);
    let settings = OracleSettings {
        relaxation,
        ..OracleSettings::default()
    };
    let before = context.oracle.work();
    let oracle = TrainingOracle::new(context.oracle, settings, 0)
        .map_err(|error| error.for_method("auto"))?;
    // Progress is not shown, as these solves belong to no step of the training.
    oracle.solve_rows(&costs, &rows, &InterruptOnlyObserver(context.observer))?;
    let work = context.oracle.work() - before;
    Ok((work > 0).then(|| SECONDS_PER_WORK_UNIT * work as f64 / rows.len() as f64))
}

/// Mean measured seconds of a few solves, rounded up to two digits, so the user can state them next
/// time.
fn timed_seconds(context: &TrainingContext<'_>) -> Result<f64> {
    let (rows, costs) = first_rows(context, TIMED_ROWS);
    let started = Instant::now();
    for (position, row) in rows.iter().enumerate() {
        // One after the other: a user-defined function is not called concurrently.
        context.oracle.solve_instances(
            &costs.select_rows(&[position]),
            &[*row],
            &InterruptOnlyObserver(context.observer),
        )?;
    }
    let mean = started.elapsed().as_secs_f64() / rows.len().max(1) as f64;
    // Two digits, rounded up: the user can state the number, and the plan is rather too careful.
    let unit = 10.0_f64.powf(mean.max(MIN_TIMED_SECONDS).log10().floor() - 1.0);
    Ok((mean / unit).ceil().max(1.0) * unit)
}
