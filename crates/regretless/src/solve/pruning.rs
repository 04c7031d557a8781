//! When a part of a search may be dropped, and what a search has proven at its end.

use super::complete_graph::DistanceMatrix;
use super::{SearchLimits, Solution, SolveStatus};
use crate::decision::Decision;

/// A part may be dropped when its bound is above the *level*: the cost of the best decision less
/// rounding noise; if all costs are multiples of one unit, less that unit and more noise; or less
/// the gap that limits allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct PruningRule {
    /// Differences below this are rounding.
    pub(super) tolerance: f64,
    /// The unit that all costs are multiples of.
    pub(super) granularity: Option<f64>,
    pub(super) limits: SearchLimits,
}

impl PruningRule {
    /// Rules for tours by these costs.
    pub(super) fn new(distances: &DistanceMatrix, limits: SearchLimits) -> Self {
        Self {
            tolerance: distances.tolerance(),
            granularity: distances.granularity(),
            limits,
        }
    }

    /// Nothing that beats a decision of this cost has a bound above the level.
    pub(super) fn cutoff(&self, cost: f64) -> f64 {
        let exact = self.exact_cutoff(cost);
        // Noise is taken off again before a bound is reported.
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

    /// What is known of a decision of this cost when all others cost at least `floor`; whether the
    /// search that says so was complete.
    pub(super) fn to_solution(
        &self,
        decision: Decision,
        objective: f64,
        (lower_bound, complete): (f64, bool),
    ) -> Solution {
        if lower_bound > self.exact_cutoff(objective) {
            return Solution::optimal(decision, objective);
        }
        let bound = (lower_bound - self.tolerance).min(objective);
        let gap = (objective - bound) / objective.abs().max(f64::MIN_POSITIVE);
        let within = complete || gap <= self.limits.gap;
        let status = if within {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::LimitReached
        };
        Solution {
            decision,
            objective,
            bound,
            status,
            work: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PruningRule;
    use crate::decision::Decision;
    use crate::solve::{SearchLimits, SolveStatus};

    #[test]
    fn an_answer_is_optimal_when_nothing_can_lie_between_it_and_the_floor() {
        let limits = SearchLimits { nodes: 1, gap: 0.1 };
        let status = |granularity, lower_bound| {
            let pruning = PruningRule {
                tolerance: 1e-9,
                granularity,
                limits,
            };
            pruning
                .to_solution(Decision::default(), 10.0, (lower_bound, false))
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
