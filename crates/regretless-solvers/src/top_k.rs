//! Top-k selection: the cheapest items, subject to bounds on their number only.
//!
//! The smallest solver of the library, and the one to read first. Ties go to the item with the
//! lower index.
//!
//! The LP relaxation is integral: all its vertices are selections. A selection is adjacent to those
//! with one item less, if fewer are allowed, one more, if more are allowed, and, if its number of
//! items is at a bound, one item exchanged; otherwise an exchange is a sum of two edges.

use super::relaxation::{
    AdjacentVertices, CostRanges, CostRanging, MAX_ADJACENT_VERTICES, RelaxationSolver, VertexDelta,
};
use super::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Selects between `min` and `max` items.
#[derive(Debug, Clone)]
pub struct TopKSolver {
    min: usize,
    max: usize,
    order: Vec<u32>,
}

impl TopKSolver {
    /// A solver for `items` items of which `min..=max` are selected.
    pub fn new(items: usize, min: usize, max: usize) -> Self {
        Self {
            min,
            max,
            order: (0..items as u32).collect(),
        }
    }

    /// Sorts the items by cost; returns the number of selected items.
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

    fn solution(&self, count: usize, costs: &[f64]) -> Solution {
        let decision = Decision::from_indices(self.order[..count].iter().copied());
        let objective = decision.dot(costs);
        Solution::optimal(decision, objective)
    }
}

impl Solver for TopKSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let count = self.rank(costs)?;
        Ok(self.solution(count, costs))
    }
}

impl RelaxationSolver for TopKSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}

/// The cost of a selected item may rise to that of the cheapest unselected item, and the cost of an
/// unselected item may fall to that of the most expensive selected item. If the number of items may
/// change, neither may cross 0.
impl CostRanging for TopKSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let count = self.rank(costs)?;
        let (selected, unselected) = self.order.split_at(count);
        let cost = |item: Option<&u32>| item.map(|j| costs[*j as usize]);
        let mut selected_upper = cost(unselected.first()).unwrap_or(f64::INFINITY);
        let mut unselected_lower = cost(selected.last()).unwrap_or(f64::NEG_INFINITY);
        if count > self.min {
            selected_upper = selected_upper.min(0.0);
        }
        if count < self.max {
            unselected_lower = unselected_lower.max(0.0);
        }
        let mut ranges = CostRanges::unbounded(costs.len());
        for j in selected {
            ranges.upper[*j as usize] = selected_upper;
        }
        for j in unselected {
            ranges.lower[*j as usize] = unselected_lower;
        }
        Ok(ranges)
    }
}

/// Exchanges are listed roughly by increasing cost: expensive selected items against cheap
/// unselected items first.
impl AdjacentVertices for TopKSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let count = self.rank(costs)?;
        let (selected, unselected) = self.order.split_at(count);
        let mut deltas: Vec<VertexDelta> = Vec::new();
        if count > self.min {
            let expensive_first = selected.iter().rev();
            deltas.extend(expensive_first.map(|j| Decision::from_entries([(*j, -1.0)])));
        }
        if count < self.max {
            deltas.extend(
                unselected
                    .iter()
                    .map(|j| Decision::from_entries([(*j, 1.0)])),
            );
        }
        if count == self.min || count == self.max {
            deltas.extend(exchanges(selected, unselected));
        }
        deltas.truncate(MAX_ADJACENT_VERTICES);
        Ok((self.solution(count, costs), deltas))
    }
}

/// All exchanges of a selected item, ranked from the most expensive, for an unselected item, ranked
/// from the cheapest: lowest sums of the two ranks first.
fn exchanges(selected: &[u32], unselected: &[u32]) -> impl Iterator<Item = VertexDelta> {
    let rank_sums = 0..(selected.len() + unselected.len()).saturating_sub(1);
    let pairs = rank_sums.flat_map(move |sum| {
        let first = (sum + 1).saturating_sub(unselected.len());
        (first..selected.len().min(sum + 1))
            .map(move |rank| (selected[selected.len() - 1 - rank], unselected[sum - rank]))
    });
    pairs.take(MAX_ADJACENT_VERTICES).map(|(removed, added)| {
        let (minus, plus) = ((removed, -1.0), (added, 1.0));
        Decision::from_entries(if removed < added {
            [minus, plus]
        } else {
            [plus, minus]
        })
    })
}
