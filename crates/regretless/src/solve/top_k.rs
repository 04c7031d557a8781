//! Choosing the cheapest items, with nothing but their number to respect.
//!
//! The smallest engine of the house, and the one to read first. Ties go to the item with the lower
//! index.
//!
//! All vertices of its relaxation are choices. Next to a choice lie those with one item less, where
//! fewer are allowed, one more, where more are allowed, and one exchanged, where the number could
//! not go the other way: adding and dropping are then no two steps on the way.

use super::relaxation::{
    AdjacentVertices, CostRanges, CostRanging, MAX_ADJACENT_VERTICES, RelaxationSolver, VertexDelta,
};
use super::{Solution, SolveFailure, Solver};
use crate::decision::Decision;

/// Picks between `least` and `most` of the items, the cheapest ones.
#[derive(Debug, Clone)]
pub struct TopKSolver {
    min: usize,
    max: usize,
    order: Vec<u32>,
}

impl TopKSolver {
    /// An engine for `items` items of which `least..=most` are chosen.
    pub fn new(items: usize, min: usize, max: usize) -> Self {
        Self {
            min,
            max,
            order: (0..items as u32).collect(),
        }
    }
}

impl TopKSolver {
    /// Brings the items into order of cost; returns how many of the first are chosen.
    fn rank(&mut self, costs: &[f64]) -> Result<usize, SolveFailure> {
        if self.min > self.max.min(costs.len()) {
            return Err(SolveFailure::Infeasible);
        }
        let cost = |j: &u32| costs[*j as usize];
        self.order
            .sort_unstable_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.cmp(b)));
        let worthwhile = self.order.partition_point(|j| cost(j) < 0.0);
        Ok(worthwhile.clamp(self.min, self.max.min(costs.len())))
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

/// A chosen item may rise to the cheapest one left out, one left out may fall to the dearest
/// chosen; where the number may change, neither may pass 0.
impl CostRanging for TopKSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let number = self.rank(costs)?;
        let (chosen, left) = self.order.split_at(number);
        let cost = |item: Option<&u32>| item.map(|j| costs[*j as usize]);
        let mut ceiling = cost(left.first()).unwrap_or(f64::INFINITY);
        let mut lower_bound = cost(chosen.last()).unwrap_or(f64::NEG_INFINITY);
        if number > self.min {
            ceiling = ceiling.min(0.0);
        }
        if number < self.max {
            lower_bound = lower_bound.max(0.0);
        }
        let mut ranges = CostRanges::unbounded(costs.len());
        chosen
            .iter()
            .for_each(|j| ranges.upper[*j as usize] = ceiling);
        left.iter()
            .for_each(|j| ranges.lower[*j as usize] = lower_bound);
        Ok(ranges)
    }
}

/// Exchanges come in the order of how little they matter: dear items against cheap ones first.
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

/// One chosen item, counted from the dearest, for one left out, counted from the cheapest, lowest
/// sums of the two counts first.
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
