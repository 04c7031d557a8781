//! The incumbent: the best routes found so far.

use crate::pruning::PruningRule;

/// The best routes, as the number of uses of each edge, and the cutoff that they imply.
#[derive(Debug, Clone)]
pub(super) struct CvrpIncumbent {
    /// Sorted edge indices with the number of uses; empty when there are no routes.
    pub(super) uses: Vec<(u32, f64)>,
    pub(super) cost: f64,
    /// Subtrees with a bound above this are pruned.
    pub(super) cutoff: f64,
}

impl CvrpIncumbent {
    /// No routes yet.
    pub(super) fn none() -> Self {
        Self {
            uses: Vec::new(),
            cost: f64::INFINITY,
            cutoff: f64::INFINITY,
        }
    }

    /// Replaces the incumbent if these routes are cheaper; returns whether they are.
    pub(super) fn offer(
        &mut self,
        mut uses: Vec<(u32, f64)>,
        costs: &[f64],
        pruning: &PruningRule,
    ) -> bool {
        // Sorted before the sum: equal routes then have bitwise equal costs.
        uses.sort_unstable_by_key(|(edge, _)| *edge);
        let terms = uses
            .iter()
            .map(|(edge, count)| count * costs[*edge as usize]);
        let cost: f64 = terms.sum();
        let is_better = cost < self.cost;
        if is_better {
            (self.uses, self.cost, self.cutoff) = (uses, cost, pruning.cutoff(cost));
        }
        is_better
    }
}
