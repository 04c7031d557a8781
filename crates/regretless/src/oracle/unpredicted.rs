//! Decisions when some costs have no prediction, since no training row has them: the best decision
//! that leaves out what they belong to.
//!
//! Such a cost is NaN, and only solver calls that say so accept it; anywhere else it is an error.
//! What it belongs to is left out as `Choices::leave_out` says: in a smaller problem, or by a
//! penalty. A decision that has none of the penalized choices and is optimal with the penalty is
//! the best of them, whatever the penalty. A penalty above the difference of any two objectives
//! proves that there is none, if variables are whole numbers with known bounds and the objective
//! has no other terms.

use super::worker::OracleWorker;
use super::{CompleteResult, Oracle, check_costs};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::SolveFailure;
use crate::problem::{ChoiceFixing, VariableBounds};
use crate::solve::{Solution, SolveStatus};
use crate::text::first_names;

/// The largest penalty relative to the largest difference of two objectives: more than 1, so
/// rounding does not matter.
const MAX_PENALTY_FACTOR: f64 = 1.25;
/// Growth of the penalty from solve to solve. Untuned: the largest cost, the first penalty,
/// suffices for most decisions.
const PENALTY_GROWTH: f64 = 4.0;

/// The costs of a row that have no prediction.
struct Unpredicted<'a> {
    costs: Vec<u32>,
    /// The costs of the row, with 0 for those.
    known: Vec<f64>,
    names: &'a CostNames,
}

impl Unpredicted<'_> {
    /// The failure of a row that has no decision without them.
    fn failure(&self, reason: &str) -> SolveFailure {
        let names = self.costs.iter().map(|cost| self.names.get(*cost as usize));
        let names = first_names(names);
        SolveFailure::Unpredicted(format!("{names}, {reason}"))
    }

    /// The failure of a solve without them.
    fn explain(&self, failure: SolveFailure) -> SolveFailure {
        match failure {
            SolveFailure::Infeasible | SolveFailure::Conflict(_) => self.failure(NEEDED),
            failure => failure,
        }
    }

    fn are_left_out_by(&self, decision: &Decision) -> bool {
        let is_left_out = |cost: &u32| decision.value(*cost as usize) == 0.0;
        self.costs.iter().all(is_left_out)
    }
}

const NEEDED: &str = "and no feasible decision leaves this out";
const NOT_FOUND: &str = "and no decision that leaves this out was found";
const NOT_REMOVABLE: &str = "and the problem has no method to leave this out";

/// The optimum under a penalty.
struct PenalizedSolution {
    solution: Solution,
    /// What follows if it does not leave everything out.
    reason: &'static str,
}

/// The largest difference of the objectives of two decisions; `None` if bounds are not known, as
/// those of a user's function.
fn largest_difference(costs: &[f64], bounds: &VariableBounds) -> Option<f64> {
    let difference = match bounds {
        VariableBounds::Binary => costs.iter().map(|cost| cost.abs()).sum(),
        VariableBounds::Box { lower, upper } => {
            let ranges = lower.iter().zip(upper).map(|(lower, upper)| upper - lower);
            let terms = costs.iter().zip(ranges);
            terms.map(|(cost, range)| cost.abs() * range).sum::<f64>()
        }
    };
    difference.is_finite().then_some(difference)
}

/// Whether a row has costs without a prediction.
pub(super) fn has_unpredicted(costs: &[f64]) -> bool {
    costs.iter().any(|cost| cost.is_nan())
}

impl OracleWorker<'_> {
    /// The best decision that leaves out everything without a predicted cost.
    pub(super) fn solve_complete_without(
        &mut self,
        costs: &[f64],
        names: &CostNames,
    ) -> CompleteResult {
        let missing = costs.iter().zip(0..).filter(|(cost, _)| cost.is_nan());
        let unpredicted = Unpredicted {
            costs: missing.map(|(_, index)| index).collect(),
            known: costs
                .iter()
                .map(|cost| if cost.is_nan() { 0.0 } else { *cost })
                .collect(),
            names,
        };
        // The other costs must be usable; NaN marks are gone.
        check_costs(&unpredicted.known)?;
        let problem = self.row_problem()?;
        let (mut solution, complete) = match problem.choices().leave_out(&unpredicted.costs) {
            ChoiceFixing::Restricted { problem, .. } => {
                // A smaller problem has fewer costs than the row, so it has a solver of its own.
                let heuristic = self.oracle().heuristic();
                let smaller = Oracle::new(problem)
                    .with_limits(*self.oracle().limits())
                    .with_heuristic(heuristic)
                    .map_err(|error| SolveFailure::SolverError(error.to_string()))?;
                let found = smaller.worker().solve_complete(&unpredicted.known);
                self.count_decision();
                found.map_err(|failure| unpredicted.explain(failure))?
            }
            ChoiceFixing::ByCosts => {
                let found = self.solve_penalized(&unpredicted, &problem.choices().bounds());
                let PenalizedSolution { solution, reason } =
                    found.map_err(|failure| unpredicted.explain(failure))?;
                if !unpredicted.are_left_out_by(&solution.decision) {
                    return Err(unpredicted.failure(reason));
                }
                let complete = solution.decision.clone();
                (solution, complete)
            }
            ChoiceFixing::Infeasible => return Err(unpredicted.failure(NEEDED)),
            ChoiceFixing::NotBinary | ChoiceFixing::Unsupported(_) => {
                return Err(unpredicted.failure(NOT_REMOVABLE));
            }
        };
        // The restriction and the penalty are both outside of this file's control: the result is
        // checked.
        // Independently of how it was left out.
        if !unpredicted.are_left_out_by(&solution.decision) {
            return Err(unpredicted.failure(NEEDED));
        }
        problem
            .check(&solution.decision)
            .map_err(SolveFailure::InvalidSolution)?;
        // Under the known costs, without penalties.
        solution.objective = solution.decision.dot(&unpredicted.known);
        Ok((solution, complete))
    }

    /// The optimum under penalties that grow until it leaves everything out, or cannot.
    fn solve_penalized(
        &mut self,
        unpredicted: &Unpredicted<'_>,
        bounds: &VariableBounds,
    ) -> Result<PenalizedSolution, SolveFailure> {
        let known = &unpredicted.known;
        let largest = known.iter().fold(0.0, |max: f64, cost| max.max(cost.abs()));
        // Costs of 0 give no scale; any positive penalty is then large enough.
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let bounded = largest_difference(known, bounds);
        // Without bounds, the sum of all costs is a guess, and what follows from it is not proven.
        let difference = bounded.unwrap_or_else(|| known.iter().map(|cost| cost.abs()).sum());
        let max_penalty = MAX_PENALTY_FACTOR * difference.max(scale);
        let mut penalty = scale.min(max_penalty);
        loop {
            let mut costs = known.clone();
            for cost in &unpredicted.costs {
                costs[*cost as usize] = penalty;
            }
            let solution = self.solve(&costs)?;
            // Smaller penalties keep the numbers of the solver in proportion, so they are tried
            // first.
            if unpredicted.are_left_out_by(&solution.decision) || penalty >= max_penalty {
                let is_proven = bounded.is_some()
                    && solution.status == SolveStatus::Optimal
                    && solution.decision.fixed() == 0.0;
                return Ok(PenalizedSolution {
                    solution,
                    reason: if is_proven { NEEDED } else { NOT_FOUND },
                });
            }
            penalty = (PENALTY_GROWTH * penalty).min(max_penalty);
        }
    }
}
