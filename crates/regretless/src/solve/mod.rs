//! Engines: the cheapest decision for one cost vector.
//!
//! Every engine minimises, knows nothing of the problem it serves beyond the numbers it was built
//! from, and is used by one thread at a time. What it answers may depend on the cost vector only,
//! never on what it solved before: a warm start from a [`Memory`] is allowed to change the time,
//! not the answer.

pub use crate::error::SolveFailure;

use self::warm_start::WarmStart;
use crate::cancellation;
use crate::decision::Decision;

pub mod complete_graph;
pub mod cone;
#[cfg(feature = "highs")]
mod cutting_plane;
#[cfg(feature = "highs")]
pub mod cvrp;
mod dense_tableau;
pub mod grid_path;
#[cfg(feature = "highs")]
pub mod highs;
pub mod knapsack;
#[cfg(feature = "highs")]
pub mod linear;
mod pruning;
pub mod relaxation;
mod simplex_dictionary;
pub mod top_k;
pub mod tsp;
pub mod warm_start;

/// Finds cheapest decisions; one per thread.
pub trait Solver: Send {
    /// Nodes of the last search, if the engine counts them.
    fn nodes(&self) -> Option<u64> {
        None
    }

    /// Work of the last solve in nanoseconds, estimated from what was counted (simplex iterations,
    /// nodes), never from a clock: the same on every machine. About the processor time of the
    /// machine that the documentation names. None where the solver counts nothing, since its time
    /// follows from the size of the problem.
    fn work(&self) -> Option<u64> {
        None
    }

    /// The decision with the lowest total cost.
    ///
    /// # Errors
    /// When there is no decision to return; the failure says why.
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure>;

    /// As good an answer as [`Solver::solve`]'s, sooner where `memory` holds what was found for
    /// earlier costs of the same instance; what is found now takes its place. Most engines have no
    /// use for one.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    fn solve_warm(
        &mut self,
        costs: &[f64],
        _memory: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }

    /// The decision in memory, if what is kept with it proves, without a solve, that it is the
    /// cheapest under these costs as well.
    fn certify(&mut self, _costs: &[f64], _memory: &WarmStart) -> Option<Solution> {
        None
    }

    /// A decision found by going downhill from another one, for searches that need not find the
    /// best; others have no use for it.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    fn solve_from(&mut self, costs: &[f64], _start: &Decision) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }

    /// The cheapest decision, written over an earlier solution; engines that answer in less time
    /// than memory takes to find use its memory.
    ///
    /// # Errors
    /// As above; what is left in `solution` then means nothing.
    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        *solution = self.solve(costs)?;
        Ok(())
    }
}

/// Ends a search that was cancelled.
///
/// # Errors
/// [`Failure::Interrupted`] when somebody asked this thread's work to stop.
pub(crate) fn check_not_cancelled() -> Result<(), SolveFailure> {
    if cancellation::requested() {
        Err(SolveFailure::Interrupted)
    } else {
        Ok(())
    }
}

/// How far a search may go. Limits count work, not seconds, so that answers are reproducible.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchLimits {
    /// Most nodes of a search tree.
    pub nodes: u64,
    /// Relative gap between decision and bound at which a search may stop.
    pub gap: f64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            nodes: 10_000_000,
            gap: 0.0,
        }
    }
}

/// How good a decision is known to be.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SolveStatus {
    /// No decision is cheaper.
    Optimal,
    /// No decision is cheaper by more than this share of the objective.
    WithinGap(f64),
    /// The search stopped at its limit; the solution's bound says how far off it may be.
    LimitReached,
}

/// A decision and what is known about it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The decision.
    pub decision: Decision,
    /// Its cost.
    pub objective: f64,
    /// No decision costs less than this.
    pub bound: f64,
    /// How good it is known to be.
    pub status: SolveStatus,
    /// What it took to find, as [`Solver::work`] counts; 0 where nobody counted.
    pub work: u64,
}

/// What it took to find a solution does not make it another one.
impl PartialEq for Solution {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            decision,
            objective,
            bound,
            status,
            work: _,
        } = self;
        (decision, objective, bound, status)
            == (
                &other.decision,
                &other.objective,
                &other.bound,
                &other.status,
            )
    }
}

impl Solution {
    /// A decision proved to be the cheapest.
    pub fn optimal(decision: Decision, objective: f64) -> Self {
        Self {
            decision,
            objective,
            bound: objective,
            status: SolveStatus::Optimal,
            work: 0,
        }
    }

    /// No decision yet; for whoever keeps a place for solutions.
    pub fn empty() -> Self {
        Self::optimal(Decision::default(), 0.0)
    }
}
