//! Top-k choice: exactly k of the items, or at most k of those worth taking.
//!
//! The smallest problem of the house; read it first when you write your own.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::top_k::TopKSolver;
use crate::solve::{SearchLimits, Solver};

/// Choose k of the items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopK {
    /// How many items there are.
    pub items: usize,
    /// How many are chosen; `items` with `at_most` is the free choice.
    pub k: usize,
    /// Whether fewer may be chosen when the rest is not worth it.
    #[serde(default)]
    pub at_most: bool,
    /// Whether costs are paid or earned.
    pub sense: Sense,
}

impl TopK {
    /// The problem, if its numbers make one.
    ///
    /// # Errors
    /// When there are no items, fewer than k, or more than [`sizes::MOST_COSTS`].
    pub fn validate(self) -> Result<Self> {
        size_limits::checked_product("items", &[self.items], size_limits::MAX_COSTS)?;
        if self.items == 0 || self.k > self.items {
            let message = format!("top_k cannot choose k = {} of {} items", self.k, self.items);
            return Err(Error::setting(message));
        }
        Ok(self)
    }
}

impl TopK {
    fn min_selected(&self) -> usize {
        if self.at_most { 0 } else { self.k }
    }

    fn top_k_solver(&self) -> Box<TopKSolver> {
        Box::new(TopKSolver::new(self.items, self.min_selected(), self.k))
    }
}

impl ProblemKind for TopK {
    fn name(&self) -> String {
        format!("top {} of {}", self.k, self.items)
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn num_costs(&self) -> usize {
        self.items
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.top_k_solver()
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.top_k_solver())
    }

    /// The exact ranges are as good as any basis could give, so they serve both.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(self.top_k_solver())
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(self.top_k_solver())
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.items);
        let chosen = decision.indices().len() as f64;
        cone.row(
            [self.min_selected() as f64, self.k as f64],
            chosen,
            (0..self.items).map(|item| (item, 1.0)),
        );
        Some(cone)
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.items)?;
        let chosen = decision.indices().len();
        match chosen.cmp(&self.k) {
            std::cmp::Ordering::Greater => {
                Err(format!("{chosen} items chosen, at most {} allowed", self.k))
            }
            std::cmp::Ordering::Less if !self.at_most => {
                Err(format!("{chosen} items chosen, {} needed", self.k))
            }
            _ => Ok(()),
        }
    }
}
