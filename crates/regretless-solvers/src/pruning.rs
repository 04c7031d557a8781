//! The cutoff of branch and bound, and the status of a solution when the search ends.

use super::complete_graph::EdgeCostMatrix;
use super::{SearchLimits, Solution, SolveStatus};
use regretless_base::decision::Decision;

/// A subproblem is pruned when its lower bound is above the *cutoff*: the incumbent's cost minus
/// the rounding tolerance; if all costs are multiples of one unit, minus that unit plus twice the
/// tolerance; or minus the gap that the limits allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct PruningRule {
    /// Differences of total costs up to this are rounding.
    pub(super) tolerance: f64,
    /// The unit that all costs are multiples of, if there is one.
    pub(super) granularity: Option<f64>,
    pub(super) limits: SearchLimits,
}

impl PruningRule {
    /// The rule for tours with these costs.
    pub(super) fn new(edge_costs: &EdgeCostMatrix, limits: SearchLimits) -> Self {
        Self {
            tolerance: edge_costs.tolerance(),
            granularity: edge_costs.granularity(),
            limits,
        }
    }

    /// The cutoff for an incumbent of this cost: no better decision has a lower bound above it.
    pub(super) fn cutoff(&self, cost: f64) -> f64 {
        let exact = self.exact_cutoff(cost);
        // `to_solution` subtracts the tolerance again before it reports a bound.
        if self.limits.gap > 0.0 {
            exact.min(cost - self.limits.gap * cost.abs() + self.tolerance)
        } else {
            exact
        }
    }

    fn exact_cutoff(&self, cost: f64) -> f64 {
        cost - self.granularity.map_or(self.tolerance, |granularity| {
            (granularity - 2.0 * self.tolerance).max(self.tolerance)
        })
    }

    /// A decision of this objective with its proven bound and status, given that all other
    /// decisions cost at least `lower_bound`, and whether the search was complete.
    pub(super) fn to_solution(
        self,
        decision: Decision,
        objective: f64,
        lower_bound: f64,
        complete: bool,
    ) -> Solution {
        if lower_bound > self.exact_cutoff(objective) {
            return Solution::optimal(decision, objective);
        }
        let bound = (lower_bound - self.tolerance).min(objective);
        let gap = (objective - bound) / objective.abs().max(f64::MIN_POSITIVE);
        let status = if complete || gap <= self.limits.gap {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::LimitReached
        };
        Solution::of_search(decision, objective, bound, status)
    }
}

#[cfg(test)]
mod tests {
    use super::PruningRule;
    use crate::{SearchLimits, SolveStatus};
    use regretless_base::decision::Decision;

    #[test]
    fn a_solution_is_optimal_when_no_cost_fits_between_it_and_the_lower_bound() {
        let limits = SearchLimits {
            nodes: 1,
            gap: 0.1,
            ..SearchLimits::default()
        };
        let status = |granularity, lower_bound| {
            let pruning = PruningRule {
                tolerance: 1e-9,
                granularity,
                limits,
            };
            pruning
                .to_solution(Decision::default(), 10.0, lower_bound, false)
                .status
        };
        assert_eq!(
            (status(None, 10.0), status(Some(1.0), 9.5)),
            (SolveStatus::Optimal, SolveStatus::Optimal)
        );
        assert_eq!(
            (status(None, 8.0), status(Some(1.0), 8.5)),
            (SolveStatus::LimitReached, SolveStatus::LimitReached)
        );
        assert!(
            matches!(status(None, 9.5), SolveStatus::WithinGap(gap) if (gap - 0.05).abs() < 1e-6)
        );
    }
}
