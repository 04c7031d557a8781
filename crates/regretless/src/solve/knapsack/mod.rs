//! Exact knapsack search.

use super::{Failure, Limits, Solution, Solver};

/// Branch and bound for one set of items.
#[derive(Debug)]
pub struct KnapsackSearch {}

impl KnapsackSearch {
    /// An engine for items with one row of weights per dimension.
    pub fn new(_weights: &[Vec<f64>], _capacity: &[f64], _limits: Limits) -> Self {
        Self {}
    }
}

impl Solver for KnapsackSearch {
    fn solve(&mut self, _costs: &[f64]) -> Result<Solution, Failure> {
        Err(Failure::Engine("being written".into()))
    }
}
