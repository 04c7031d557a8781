//! Choosing the cheapest items, with nothing but their number to respect.
//!
//! The smallest engine of the house, and the one to read first. Ties go to the item with the lower
//! index.

use super::{Failure, Solution, Solver};
use crate::decision::Decision;

/// Picks between `least` and `most` of the items, the cheapest ones.
#[derive(Debug, Clone)]
pub struct Choice {
    least: usize,
    most: usize,
    order: Vec<u32>,
}

impl Choice {
    /// An engine for `items` items of which `least..=most` are chosen.
    pub fn new(items: usize, least: usize, most: usize) -> Self {
        Self { least, most, order: (0..items as u32).collect() }
    }
}

impl Solver for Choice {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        if self.least > self.most.min(costs.len()) {
            return Err(Failure::Infeasible);
        }
        let cost = |j: &u32| costs[*j as usize];
        self.order.sort_unstable_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
        let worthwhile = self.order.partition_point(|j| cost(j) < 0.0);
        let chosen = &self.order[..worthwhile.clamp(self.least, self.most.min(costs.len()))];
        let decision = Decision::choosing(chosen.iter().copied());
        let objective = decision.dot(costs);
        Ok(Solution::optimal(decision, objective))
    }
}
