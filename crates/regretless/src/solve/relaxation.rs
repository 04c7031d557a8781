//! What a linear relaxation knows: its optimum, how far each cost may move, which vertices lie next
//! to it, and which cone of costs keeps a decision best.
//!
//! Every problem offers what it can; a method asks, and gets an error that names the missing part.

use serde::{Deserialize, Serialize};

use super::warm_start::WarmStart;
use super::{Solution, SolveFailure};
use crate::decision::Decision;

/// Which relaxation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relaxation {
    /// Integrality dropped and nothing added: for tours the degree constraints alone.
    Plain,
    /// The strongest one the problem has: for tours all subtour constraints, for routes capacity
    /// cuts.
    Tight,
}

/// Where a cost range comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostRangeKind {
    /// The optimal basis the simplex method ends with. Valid, but on degenerate problems narrower
    /// than necessary, and dependent on the basis.
    Basis,
    /// The true tolerance of the decision, from a combinatorial routine; the same whoever computes
    /// it.
    Exact,
}

/// The interval within which each cost may move, alone, while the relaxed optimum stays optimal.
#[derive(Debug, Clone, PartialEq)]
pub struct CostRanges {
    /// Least value of each cost; may be −∞.
    pub lower: Vec<f64>,
    /// Greatest value of each cost; may be +∞.
    pub upper: Vec<f64>,
}

impl CostRanges {
    /// Ranges without end.
    pub fn unbounded(count: usize) -> Self {
        Self {
            lower: vec![f64::NEG_INFINITY; count],
            upper: vec![f64::INFINITY; count],
        }
    }
}

/// Solves the relaxation; one per thread. The answer depends on the costs only.
pub trait RelaxationSolver: Send {
    /// The cheapest point of the relaxation; entries may be fractional.
    ///
    /// # Errors
    /// When there is no such point.
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure>;

    /// Work of the last solve, as [`crate::solve::Solver::work`] counts.
    fn work(&self) -> Option<u64> {
        None
    }

    /// As good a point as [`RelaxationSolver::relax`]'s, sooner where `memory` holds what was found for
    /// earlier costs of the same instance; what is found now takes its place.
    ///
    /// # Errors
    /// As [`RelaxationSolver::relax`].
    fn relax_warm(
        &mut self,
        costs: &[f64],
        _memory: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        self.relax(costs)
    }

    /// The point in memory, if what is kept with it proves, without a solve, that it is the
    /// cheapest under these costs as well.
    fn certify(&mut self, _costs: &[f64], _memory: &WarmStart) -> Option<Solution> {
        None
    }
}

/// Finds cost ranges; one per thread. The answer depends on the costs only.
pub trait CostRanging: Send {
    /// The ranges of all costs around their present values.
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure>;
}

/// The way from one vertex to another: their difference, its fixed cost included, so that `dot`
/// says what the way costs.
pub type VertexDelta = Decision;

/// Most neighbours that are listed.
pub const MAX_ADJACENT_VERTICES: usize = 10_000;

/// Finds the vertices next to the relaxed optimum; one per thread. The answer depends on the costs
/// only.
pub trait AdjacentVertices: Send {
    /// The relaxed optimum and the way to each vertex adjacent to it, at most [`MAX_ADJACENT_VERTICES`].
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure>;
}
