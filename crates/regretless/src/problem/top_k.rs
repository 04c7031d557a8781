//! Top-k selection: exactly k of the items, or at most k.
//!
//! The smallest problem of this module, and an example for new ones.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, SolveCostHint, check_binary};
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
#[serde(try_from = "TopKFields")]
pub struct TopK {
    items: usize,
    k: usize,
    at_most: bool,
    sense: Sense,
}

/// A serialized top-k problem, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopKFields {
    items: usize,
    k: usize,
    #[serde(default)]
    at_most: bool,
    sense: Sense,
}

impl TryFrom<TopKFields> for TopK {
    type Error = Error;

    fn try_from(fields: TopKFields) -> Result<Self> {
        let TopKFields {
            items,
            k,
            at_most,
            sense,
        } = fields;
        if at_most {
            Self::at_most(items, k, sense)
        } else {
            Self::new(items, k, sense)
        }
    }
}

impl TopK {
    /// Choose exactly `k` of `items` items.
    ///
    /// # Errors
    /// When there are no items, fewer than k, or more than `size_limits::MAX_COSTS`.
    pub fn new(items: usize, k: usize, sense: Sense) -> Result<Self> {
        size_limits::checked_product("items", &[items], size_limits::MAX_COSTS)?;
        if items == 0 || k > items {
            return Err(Error::setting(format!(
                "top_k cannot choose k = {k} of {items} items"
            )));
        }
        Ok(Self {
            items,
            k,
            at_most: false,
            sense,
        })
    }

    /// Choose at most `k` of `items` items; with `k = items` every subset is feasible.
    ///
    /// # Errors
    /// As [`TopK::new`].
    pub fn at_most(items: usize, k: usize, sense: Sense) -> Result<Self> {
        Ok(Self {
            at_most: true,
            ..Self::new(items, k, sense)?
        })
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Number of chosen items, or the most that may be chosen.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Whether fewer than k items may be chosen.
    pub fn allows_fewer(&self) -> bool {
        self.at_most
    }

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

    fn solve_cost_hint(&self) -> SolveCostHint {
        SolveCostHint::estimated(1e-6, 1.0)
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

    /// Exact ranges are at least as wide as those of any basis, so that they serve both kinds.
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

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.items);
        let chosen = decision.indices().len() as f64;
        cone.add_row_if_binding(
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
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal => Ok(()),
        }
    }
}
