//! Linear relaxations and their sensitivity analysis: optimum, cost ranges, adjacent vertices.
//!
//! A problem implements the traits that its structure allows; the oracle reports a missing one as
//! an error that names the capability.
//!
//! A problem has up to two relaxations, see [`Relaxation`]: the *plain* one without cuts, and the
//! *tight* one, the strongest that its solver can compute.

use serde::{Deserialize, Serialize};

use super::warm_start::WarmStart;
use super::{Solution, SolveFailure};
use regretless_base::decision::Decision;

/// Strength of a relaxation. Problems without cuts have the same plain and tight relaxation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relaxation {
    /// Integrality dropped and no cuts added: for the TSP the degree constraints only.
    Plain,
    /// The strongest relaxation that the solver of the problem computes: for the TSP with all
    /// subtour elimination constraints, for the CVRP with rounded capacity cuts.
    Tight,
}

/// Method of cost ranging.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostRangeKind {
    /// Ranges within which the optimal basis stays optimal. Valid, but on degenerate problems
    /// narrower than necessary, and dependent on the basis.
    Basis,
    /// The largest ranges within which the decision stays optimal, by a combinatorial algorithm;
    /// they do not depend on the LP solver.
    Exact,
}

/// The interval within which each cost may change, the others fixed, while the relaxed optimum
/// stays optimal.
#[derive(Debug, Clone, PartialEq)]
pub struct CostRanges {
    /// Lower end of each range; may be −∞.
    pub lower: Vec<f64>,
    /// Upper end of each range; may be +∞.
    pub upper: Vec<f64>,
}

impl CostRanges {
    /// Unbounded ranges.
    pub fn unbounded(count: usize) -> Self {
        Self {
            lower: vec![f64::NEG_INFINITY; count],
            upper: vec![f64::INFINITY; count],
        }
    }
}

/// Solves a relaxation; one solver per thread. The result depends on the costs only.
pub trait RelaxationSolver: Send {
    /// The optimum of the relaxation; entries may be fractional.
    ///
    /// # Errors
    /// When there is no optimum.
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure>;

    /// Work of the last solve, as [`crate::Solver::work`] counts.
    fn work(&self) -> Option<u64> {
        None
    }

    /// The result of [`RelaxationSolver::relax`], faster if `warm_start` holds the state of an
    /// earlier solve of the same instance, which it replaces.
    ///
    /// # Errors
    /// As [`RelaxationSolver::relax`].
    fn relax_warm(
        &mut self,
        costs: &[f64],
        _warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.relax(costs)
    }

    /// The point of the warm start, if its certificate proves, without a solve, that it is also
    /// optimal under these costs.
    fn certify(&mut self, _costs: &[f64], _warm_start: &WarmStart) -> Option<Solution> {
        None
    }
}

/// Cost ranging; one solver per thread. The result depends on the costs only.
pub trait CostRanging: Send {
    /// The ranges of all costs.
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure>;
}

/// The difference of two vertices, fixed cost included, so `dot` is the difference of their
/// objectives.
pub type VertexDelta = Decision;

/// Maximum number of adjacent vertices that are listed: bounds memory on problems with very many.
pub(crate) const MAX_ADJACENT_VERTICES: usize = 10_000;

/// Finds the vertices adjacent to the relaxed optimum; one solver per thread. The result depends on
/// the costs only.
pub trait AdjacentVertices: Send {
    /// The relaxed optimum and the difference to each adjacent vertex, at most
    /// `MAX_ADJACENT_VERTICES`.
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure>;
}

/// A solver that has all of the plain relaxation: its optimum, the cost ranges of its basis, and
/// adjacent vertices.
pub trait VertexSolver: RelaxationSolver + CostRanging + AdjacentVertices {}

impl<S: RelaxationSolver + CostRanging + AdjacentVertices> VertexSolver for S {}
