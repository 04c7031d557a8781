//! The budget of the search: what was used of it, and what the next candidates may take.

use super::super::solve_times::{SECONDS_PER_WORK_UNIT, SolveTimeSource};
use super::AutoSearch;
use super::plan::{PLANNED_SOLVER_CANDIDATES, SOLVER_SHARE};

/// Fraction of the budget after which nothing is started.
const USED_SHARE: f64 = 0.85;
/// Projections onto normal cones and cost ranges are tried if an exact solve takes longer than this
/// many projections, as on tours and routes: elsewhere they were never among the best.
const SLOW_SOLVE_RATIO: f64 = 3.0;

impl AutoSearch<'_> {
    /// How many candidates the budget allows on the other folds, from what they took so far.
    pub(super) fn affordable_candidates(&self, folds_left: usize) -> usize {
        let trained: usize = self.candidates.iter().map(|c| c.folds.len()).sum();
        // A mean over all trainings so far, closed forms included: rough, but known before the next
        // fold.
        let mean = self.used_seconds() / trained.max(1) as f64;
        let left = (USED_SHARE * self.budget - self.used_seconds()).max(0.0);
        (left / (mean * folds_left.max(1) as f64)) as usize
    }

    /// Seconds that a candidate that calls the solver may take on one fold.
    pub(super) fn solver_seconds_per_candidate(&self) -> f64 {
        let left = (USED_SHARE * self.budget - self.used_seconds()).max(0.0);
        let planned = SOLVER_SHARE * self.budget;
        let candidates = if self.has_few_candidates {
            1.0
        } else {
            PLANNED_SOLVER_CANDIDATES
        };
        // At most the planned share, also when much of the budget is left: the rest is for other
        // folds.
        planned.min(left) / (self.folds.len() as f64 * candidates)
    }

    pub(super) fn num_training_rows(&self) -> usize {
        self.folds[0].split.train.len()
    }

    /// Counted work of solves in seconds, or their number times the estimated seconds, and the
    /// planned arithmetic.
    pub(super) fn used_seconds(&self) -> f64 {
        let times = &self.time.times;
        let solves = match times.source {
            SolveTimeSource::Counted => {
                // Counted work includes that of labels and scores: whatever the solver does is paid
                // by the budget.
                SECONDS_PER_WORK_UNIT * (self.context.oracle.work() - self.initial_work) as f64
            }
            SolveTimeSource::Size | SolveTimeSource::Stated | SolveTimeSource::Timed => {
                let counts = self.context.oracle.counts() - self.initial_counts;
                // Counts do not say which relaxation it was; the tight one is the more expensive.
                let relaxed = times.tight.or(times.plain).unwrap_or(times.exact);
                let heuristic = times.fast_local_search.unwrap_or(times.exact);
                counts.exact as f64 * times.exact
                    + counts.relaxed as f64 * relaxed
                    + counts.heuristic as f64 * heuristic
            }
        };
        let counts = self.context.oracle.counts() - self.initial_counts;
        let projections = counts.projected as f64 * self.time.projection();
        self.arithmetic_seconds + projections + solves
    }

    pub(super) fn is_budget_used(&self) -> bool {
        self.used_seconds() > USED_SHARE * self.budget
    }

    /// Whether exact solves take far longer than projections and relaxations.
    pub(super) fn has_slow_solves(&self) -> bool {
        self.time.times.exact > SLOW_SOLVE_RATIO * self.time.projection()
    }
}
