//! Counted work of HiGHS: nanoseconds estimated from sizes and iterations.

use super::super::highs::Lp;
use super::LinearSolver;

/// Estimated work of HiGHS in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct WorkModel {
    /// Per solve.
    solve: u64,
    /// Per simplex iteration.
    iteration: u64,
}

/// Work of a mixed-integer program. The time per iteration includes all other work (cuts, probing,
/// heuristics). Measured on nine published models of 18 to 319 columns and on facility locations,
/// knapsacks and assignments of 30 to 3,600: 50 to 350 microseconds per iteration. The value is
/// high, so planned times are rarely exceeded.
const MIP_WORK_NS: WorkModel = WorkModel {
    solve: 2_000_000,
    iteration: 180_000,
};

/// Work of an LP, measured on the same models.
const LP_WORK_NS: WorkModel = WorkModel {
    solve: 100_000,
    iteration: 4_000,
};

/// Work of a solve per column in nanoseconds.
const COLUMN_WORK_NS: u64 = 300;

/// Work of an iteration per column is that of a solve per column, divided by this.
const ITERATION_WORK_DIVISOR: u64 = 10;

/// Work of a mixed-integer solve in nanoseconds, times matrix entries and entries per column: the
/// work at the root (presolve, probing, cliques, cuts) grows with the columns that meet in a row,
/// and is not counted in iterations. Measured on schedules of energy use with 459 columns and
/// 12,639 entries, which take 70 to 310 ms with about 100 iterations each; facility locations of
/// 615 columns and 1,800 entries take 12 ms, of which this is 2.
const ENTRY_PAIR_WORK_NS: u64 = 400;

/// Work of an LP per matrix entry in nanoseconds, for reading and presolving the model, which count
/// no iteration. Measured on the relaxed schedules above (6 ms with 13 iterations) and on relaxed
/// knapsacks and set covers of 2,500 to 200,000 entries, where counted and measured times now agree
/// within a factor of two; sparse models are counted up to five times too high by their iterations.
const LP_ENTRY_WORK_NS: u64 = 400;

impl LinearSolver {
    /// Adds the work of the last solve by HiGHS.
    pub(super) fn count_work(&mut self, lp: &Lp) {
        let model = if self.is_integral() {
            MIP_WORK_NS
        } else {
            LP_WORK_NS
        };
        let columns = self.model.cost.len() as u64;
        let iterations = lp.iterations().map_or(0, u64::from);
        let entries = lp.num_entries() as u64;
        let matrix = if self.is_integral() {
            // Saturating: a large model must not seem small because of an overflow.
            let entry_pairs = entries.saturating_mul(entries) / columns.max(1);
            ENTRY_PAIR_WORK_NS.saturating_mul(entry_pairs)
        } else {
            LP_ENTRY_WORK_NS * entries
        };
        let solve = (model.solve + COLUMN_WORK_NS * columns).saturating_add(matrix);
        let iteration = model.iteration + COLUMN_WORK_NS * columns / ITERATION_WORK_DIVISOR;
        self.work += solve + iteration * iterations;
    }
}
