//! What a linear relaxation knows: its optimum, how far each cost may move, which vertices lie next to it,
//! and which cone of costs keeps a decision best.
//!
//! Every problem offers what it can; a method asks, and gets an error that names the missing part.

use serde::{Deserialize, Serialize};

use super::{Failure, Solution};

/// Which relaxation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relaxation {
    /// Integrality dropped and nothing added: for tours the degree constraints alone.
    Plain,
    /// The strongest one the problem has: for tours all subtour constraints, for routes capacity cuts.
    Tight,
}

/// Where a cost range comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RangeKind {
    /// The optimal basis the simplex method ends with. Valid, but on degenerate problems narrower than
    /// necessary, and dependent on the basis.
    Basis,
    /// The true tolerance of the decision, from a combinatorial routine; the same whoever computes it.
    Exact,
}

/// The interval within which each cost may move, alone, while the relaxed optimum stays optimal.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges {
    /// Least value of each cost; may be −∞.
    pub lower: Vec<f64>,
    /// Greatest value of each cost; may be +∞.
    pub upper: Vec<f64>,
}

/// Solves the relaxation; one per thread. The answer depends on the costs only.
pub trait Relaxer: Send {
    /// The cheapest point of the relaxation; entries may be fractional.
    ///
    /// # Errors
    /// When there is no such point.
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, Failure>;
}

/// Finds cost ranges; one per thread. The answer depends on the costs only.
pub trait Ranger: Send {
    /// The ranges of all costs around their present values.
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn ranges(&mut self, costs: &[f64]) -> Result<Ranges, Failure>;
}

/// A vertex next to another, as the difference between the two: sparse, indices increasing.
pub type Delta = Vec<(u32, f64)>;

/// Finds the vertices next to the relaxed optimum; one per thread. The answer depends on the costs only.
pub trait Neighbours: Send {
    /// The relaxed optimum and the way to each vertex adjacent to it.
    ///
    /// # Errors
    /// When the relaxation has no optimum.
    fn neighbours(&mut self, costs: &[f64]) -> Result<(Solution, Vec<Delta>), Failure>;
}
