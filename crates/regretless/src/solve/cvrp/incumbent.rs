//! The best routes known.

use crate::solve::pruning::PruningRule;

/// The best routes, as uses of edges.
#[derive(Debug, Clone)]
pub(super) struct CvrpIncumbent {
    /// Sorted numbers of edges with how often they are used.
    pub(super) uses: Vec<(u32, f64)>,
    pub(super) cost: f64,
    /// Subtrees with a bound above this are of no interest.
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

    /// Takes the routes if they are cheaper; whether they were.
    pub(super) fn offer(
        &mut self,
        mut uses: Vec<(u32, f64)>,
        costs: &[f64],
        pruning: &PruningRule,
    ) -> bool {
        uses.sort_unstable_by_key(|(edge, _)| *edge);
        let cost: f64 = uses
            .iter()
            .map(|(edge, times)| times * costs[*edge as usize])
            .sum();
        let better = cost < self.cost;
        if better {
            (self.uses, self.cost, self.cutoff) = (uses, cost, pruning.cutoff(cost));
        }
        better
    }
}
