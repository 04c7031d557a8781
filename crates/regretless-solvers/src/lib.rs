//! Solvers: the optimal decision for one cost vector.
//!
//! Every solver minimizes, depends on its problem only through the numbers it was built from, and
//! is used by one thread at a time. Its result depends on the cost vector only, never on earlier
//! solves: a [`WarmStart`] may change the time of a solve, not its result.

pub use cone::NormalCone;
pub use regretless_base::error::SolveFailure;

use self::warm_start::WarmStart;
use regretless_base::cancellation;
use regretless_base::decision::Decision;
use regretless_base::error::Error;

pub mod assignment;
pub mod complete_graph;
pub mod cone;
#[cfg(feature = "highs")]
mod cutting_plane;
#[cfg(feature = "highs")]
pub mod cvrp;
mod dense_tableau;
pub mod graph_path;
pub mod grid_path;
#[cfg(feature = "highs")]
pub mod highs;
pub mod knapsack;
#[cfg(feature = "highs")]
pub mod linear;
pub mod multiple_choice;
pub mod network_flow;
pub mod newsvendor;
mod pruning;
pub mod relaxation;
mod rounding;
mod simplex_dictionary;
pub mod spanning_tree;
pub mod storage;
pub mod top_k;
pub mod tsp;
pub mod warm_start;

/// Finds optimal decisions; one solver per thread.
pub trait Solver: Send + std::any::Any {
    /// Branch-and-bound nodes of the last solve, if the solver counts them.
    fn nodes(&self) -> Option<u64> {
        None
    }

    /// Work of the last solve in nanoseconds, estimated from counts (simplex iterations, nodes) and
    /// never from a clock: the same on every machine. Calibrated to the processor time of the
    /// reference machine that the documentation names. `None` for solvers without counts, whose
    /// time follows from the size of the problem.
    fn work(&self) -> Option<u64> {
        None
    }

    /// Values of the columns without predicted costs at the last solution that [`Solver::solve`]
    /// returned, in the order of `ModelParts::auxiliary_names`; empty for problems without such
    /// columns. Only decisions that leave the library need them: no training calls it.
    fn auxiliary_values(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The decision with the lowest objective.
    ///
    /// # Errors
    /// When there is no decision to return; the failure says why.
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure>;

    /// The result of [`Solver::solve`], faster if `warm_start` holds the state of an earlier solve
    /// of the same instance, which it replaces. Solvers without warm starts ignore it.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    fn solve_warm(
        &mut self,
        costs: &[f64],
        _warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }

    /// The decision of the warm start, if its certificate proves, without a solve, that it is also
    /// optimal under these costs.
    fn certify(&mut self, _costs: &[f64], _warm_start: &WarmStart) -> Option<Solution> {
        None
    }

    /// The local optimum reached from a decision, for local searches; exact solvers ignore the
    /// start.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    fn solve_from(&mut self, costs: &[f64], _start: &Decision) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }

    /// The optimum of a relaxation under costs for which [`Solver::solve`] has just proven no
    /// decision optimal, where the problem has none then, such as a shortest path in a graph with a
    /// negative cycle; `None` for other solvers. Entries need not be those of a decision.
    fn relax_unproven(&mut self, _costs: &[f64]) -> Option<Result<Solution, SolveFailure>> {
        None
    }

    /// As [`Solver::solve`], written over an earlier solution; solvers that are faster than an
    /// allocation reuse its buffers.
    ///
    /// # Errors
    /// As [`Solver::solve`]; the contents of `solution` are then unspecified.
    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        *solution = self.solve(costs)?;
        Ok(())
    }
}

/// Ends a search that was canceled or reached its time limit.
///
/// # Errors
/// [`SolveFailure::Interrupted`] when the work of this thread is to stop.
pub fn check_not_stopped() -> Result<(), SolveFailure> {
    if cancellation::requested() {
        Err(SolveFailure::Interrupted)
    } else {
        Ok(())
    }
}

/// Limits of a search. Those of nodes and gap give the same results on every machine; a time limit
/// does not.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchLimits {
    /// Maximum number of branch-and-bound nodes.
    pub nodes: u64,
    /// Relative gap between objective and dual bound at which a search may stop.
    pub gap: f64,
    /// Time limit of a solve. Results then depend on the speed of the machine: they are not
    /// reproducible. Solvers of the user's program are not stopped by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl Default for SearchLimits {
    /// Exact solves; the node limit guards against endless searches.
    fn default() -> Self {
        Self {
            nodes: 10_000_000,
            gap: 0.0,
            seconds: None,
        }
    }
}

impl SearchLimits {
    /// Checks the values.
    ///
    /// # Errors
    /// When the gap is negative or not finite, or the time limit is not positive.
    pub fn check(&self) -> Result<(), Error> {
        if !(self.gap >= 0.0 && self.gap.is_finite()) {
            return Err(
                Error::setting(format!("the gap {} is not a number >= 0", self.gap))
                    .with_remedy("0.01 stops within 1 % of the optimum"),
            );
        }
        match self.seconds {
            Some(seconds) if !(seconds > 0.0 && seconds.is_finite()) => Err(Error::setting(
                format!("the time limit of {seconds} seconds is not a positive number"),
            )),
            _ => Ok(()),
        }
    }

    /// Whether searches may stop before the optimum is proven, at a point that depends on their
    /// course: warm starts would then change results.
    pub(crate) fn may_stop_early(&self) -> bool {
        self.gap > 0.0 || self.seconds.is_some()
    }
}

/// Proven quality of a decision.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SolveStatus {
    /// Optimal.
    Optimal,
    /// Within this relative gap of the optimum.
    WithinGap(f64),
    /// The search stopped at its limit; the remaining gap follows from the solution's bound.
    LimitReached,
}

impl SolveStatus {
    /// The status in results: `optimal`, `within 0.50 %`, `limit reached`, or `heuristic` for a
    /// decision of a heuristic that is not
    /// proven to be optimal.
    pub fn describe(self, is_heuristic: bool) -> String {
        match self {
            Self::WithinGap(_) | Self::LimitReached if is_heuristic => "heuristic".into(),
            Self::Optimal | Self::WithinGap(_) | Self::LimitReached => self.to_string(),
        }
    }
}

impl std::fmt::Display for SolveStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Optimal => f.write_str("optimal"),
            // Two decimals would show a small gap as 0.
            Self::WithinGap(gap) if *gap > 0.0 && *gap < 1e-4 => {
                write!(f, "within {:.0e} %", 100.0 * gap)
            }
            Self::WithinGap(gap) => write!(f, "within {:.2} %", 100.0 * gap),
            Self::LimitReached => f.write_str("limit reached"),
        }
    }
}

/// A decision with its objective and dual bound.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The decision.
    pub decision: Decision,
    /// Its objective.
    pub objective: f64,
    /// Dual bound: no decision has a lower objective.
    pub bound: f64,
    /// Its proven quality.
    pub status: SolveStatus,
    /// Work of the solve, as [`Solver::work`] counts; 0 if it was not counted.
    pub work: u64,
}

/// The comparison ignores the work.
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
    /// An optimal decision.
    pub fn optimal(decision: Decision, objective: f64) -> Self {
        Self {
            decision,
            objective,
            bound: objective,
            status: SolveStatus::Optimal,
            work: 0,
        }
    }

    /// A decision with the proven bound and status of a search.
    pub(crate) fn of_search(
        decision: Decision,
        objective: f64,
        bound: f64,
        status: SolveStatus,
    ) -> Self {
        Self {
            decision,
            objective,
            bound,
            status,
            work: 0,
        }
    }

    /// A placeholder to be overwritten.
    pub fn empty() -> Self {
        Self::optimal(Decision::default(), 0.0)
    }
}
