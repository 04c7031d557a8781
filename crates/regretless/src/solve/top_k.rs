//! Top-k selection: the cheapest items, subject to bounds on their number only.
//!
//! The smallest solver of the library, and the one to read first. Ties go to the item with the
//! lower index.
//!
//! The LP relaxation is integral: all its vertices are selections. A selection is adjacent to those
//! with one item less, if fewer are allowed, one more, if more are allowed, and, if its number is
//! at a bound, one exchanged; otherwise an exchange is a sum of two edges.

use super::relaxation::{
    AdjacentVertices, CostRanges, CostRanging, MAX_ADJACENT_VERTICES, RelaxationSolver, VertexDelta,
};
use super::{Solution, SolveFailure, Solver};
use crate::decision::Decision;

/// Selects between `min` and `max` items.
#[derive(Debug, Clone)]
pub struct TopKSolver {
    min: usize,
    max: usize,
    order: Vec<u32>,
}

impl TopKSolver {
    /// A solver for `items` items of which `min..=max` are chosen.
    pub fn new(items: usize, min: usize, max: usize) -> Self {
        Self {
            min,
            max,
            order: (0..items as u32).collect(),
        }
    }

    /// Sorts the items by cost; returns the number of chosen ones.
    fn rank(&mut self, costs: &[f64]) -> Result<usize, SolveFailure> {
        if self.min > self.max.min(costs.len()) {
            return Err(SolveFailure::Infeasible);
        }
        let cost = |j: &u32| costs[*j as usize];
        self.order
            .sort_unstable_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
        let negative = self.order.partition_point(|j| cost(j) < 0.0);
        Ok(negative.clamp(self.min, self.max.min(costs.len())))
    }

    fn solution(&self, number: usize, costs: &[f64]) -> Solution {
        let decision = Decision::from_indices(self.order[..number].iter().copied());
        let objective = decision.dot(costs);
        Solution::optimal(decision, objective)
    }
}

impl Solver for TopKSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let number = self.rank(costs)?;
        Ok(self.solution(number, costs))
    }
}

impl RelaxationSolver for TopKSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}

/// A chosen item may rise to the cheapest one left out, one left out may fall to the most expensive
/// chosen one; where the number may change, neither may pass 0.
impl CostRanging for TopKSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let number = self.rank(costs)?;
        let (chosen, left) = self.order.split_at(number);
        let cost = |item: Option<&u32>| item.map(|j| costs[*j as usize]);
        let mut chosen_upper = cost(left.first()).unwrap_or(f64::INFINITY);
        let mut left_lower = cost(chosen.last()).unwrap_or(f64::NEG_INFINITY);
        if number > self.min {
            chosen_upper = chosen_upper.min(0.0);
        }
        if number < self.max {
            left_lower = left_lower.max(0.0);
        }
        let mut ranges = CostRanges::unbounded(costs.len());
        for j in chosen {
            ranges.upper[*j as usize] = chosen_upper;
        }
        for j in left {
            ranges.lower[*j as usize] = left_lower;
        }
        Ok(ranges)
    }
}

/// Exchanges are listed roughly by increasing cost: expensive chosen items against cheap others
/// first.
impl AdjacentVertices for TopKSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let number = self.rank(costs)?;
        let (chosen, left) = self.order.split_at(number);
        let mut found: Vec<VertexDelta> = Vec::new();
        if number > self.min {
            found.extend(
                chosen
                    .iter()
                    .rev()
                    .map(|j| Decision::from_entries([(*j, -1.0)])),
            );
        }
        if number < self.max {
            found.extend(left.iter().map(|j| Decision::from_entries([(*j, 1.0)])));
        }
        if number == self.min || number == self.max {
            found.extend(exchanges(chosen, left));
        }
        found.truncate(MAX_ADJACENT_VERTICES);
        Ok((self.solution(number, costs), found))
    }
}

/// One chosen item, ranked from the most expensive, for one left out, ranked from the cheapest,
/// lowest sums of the two ranks first.
fn exchanges(chosen: &[u32], left: &[u32]) -> impl Iterator<Item = VertexDelta> {
    let sums = 0..(chosen.len() + left.len()).saturating_sub(1);
    let pairs = sums.flat_map(move |sum| {
        let first = (sum + 1).saturating_sub(left.len());
        (first..chosen.len().min(sum + 1))
            .map(move |out| (chosen[chosen.len() - 1 - out], left[sum - out]))
    });
    pairs.take(MAX_ADJACENT_VERTICES).map(|(out, into)| {
        let (a, b) = ((out, -1.0), (into, 1.0));
        Decision::from_entries(if out < into { [a, b] } else { [b, a] })
    })
}
