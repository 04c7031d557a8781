//! Regret as a sum over the costs, once the true costs are known.
//!
//! With true costs c, predicted costs ĉ, the decision x̂ and the best decision x* in hindsight,
//!
//! regret = c·x̂ − c·x* = Σ_j (c_j − ĉ_j)(x̂_j − x*_j) − (ĉ·x* − ĉ·x̂),
//!
//! where the last difference is not negative, because x̂ is optimal under ĉ. An error of a cost on
//! which both decisions agree contributes nothing. The costs of auxiliary columns are part of all
//! four objectives and cancel.

use serde::Serialize;

use super::{RowCase, RowPrediction, total_costs};
use crate::error::{Error, Result, SolveFailure};
use crate::solve::SolveStatus;

/// Where the regret of a decision comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegretSplit {
    /// How much worse the decision is than the best one in hindsight.
    pub regret: f64,
    /// Objective of the decision under the true costs.
    pub objective: f64,
    /// Objective of the best decision in hindsight under the true costs.
    pub optimal_objective: f64,
    /// How much worse the best decision in hindsight looked under the predicted costs. The shares
    /// of all costs minus this gap are the regret.
    pub gap: f64,
    /// The share of each cost on which the two decisions differ, the largest first.
    pub shares: Vec<RegretShare>,
    /// Why the regret is not exact, if one of the two decisions is not proven optimal.
    pub reason: Option<String>,
}

/// The share of one cost in the regret.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegretShare {
    /// The name of the cost.
    pub name: String,
    /// Its number in the problem.
    pub index: usize,
    /// The true cost, without its known part.
    pub true_cost: f64,
    /// The predicted cost, without its known part.
    pub predicted: f64,
    /// The value of its variable in the decision.
    pub value: f64,
    /// The value of its variable in the best decision in hindsight.
    pub best_value: f64,
    /// What it adds to the regret: positive if the error favored the decision.
    pub share: f64,
}

impl RegretSplit {
    /// Whether one of the two decisions of a row is better where the other one should be optimal.
    pub(super) fn is_contradiction(&self, case: &RowCase<'_>) -> bool {
        let true_scale = self.objective.abs() + self.optimal_objective.abs();
        self.gap < -case.price_tolerance() || self.regret < -case.rounding() * true_scale
    }
}

/// Regret, relative to the objectives, that is rounding of their sums.
const REGRET_ROUNDING: f64 = 1e-12;

impl RowCase<'_> {
    /// Splits the regret; `true_costs` are those of the user, without known ones.
    ///
    /// # Errors
    /// When the true costs are not as many finite numbers as the problem has costs, or have no
    /// optimum.
    pub(super) fn split_regret(
        &self,
        prediction: &RowPrediction<'_>,
        true_costs: &[f64],
    ) -> Result<RegretSplit> {
        self.check_true_costs(true_costs)?;
        let present = self.present();
        let mut given = true_costs.to_vec();
        for (cost, value) in given.iter_mut().enumerate() {
            if present.binary_search(&cost).is_err() {
                *value = 0.0;
            }
        }
        let totals = total_costs(prediction.oracle, &given)?;
        let best = self.oracle.worker().solve(&totals);
        let best = best.map_err(Error::single_solve)?;
        if best.status != SolveStatus::Optimal
            && let Some(message) = self.problem.failure_reasons().unusable_costs(&totals)
        {
            return Err(Error::single_solve(SolveFailure::UnusableCosts(message)));
        }
        let own = &self.solution.decision;
        let objective = own.dot(&totals);
        let mut shares = Vec::new();
        for cost in present {
            let difference = own.value(cost) - best.decision.value(cost);
            if difference != 0.0 {
                let error = totals[cost] - self.costs[cost];
                shares.push(RegretShare {
                    name: self.name(cost),
                    index: cost,
                    true_cost: true_costs[cost],
                    predicted: prediction.predicted[cost],
                    value: own.value(cost),
                    best_value: best.decision.value(cost),
                    share: error * difference,
                });
            }
        }
        shares.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.index.cmp(&b.index)));
        let gap = best.decision.dot(&self.costs) - self.solution.objective;
        let unproven = self.unproven();
        let reason = unproven.or_else(|| match best.status {
            SolveStatus::Optimal => None,
            SolveStatus::WithinGap(_) | SolveStatus::LimitReached => Some(format!(
                "the best decision in hindsight is not proven optimal ({})",
                best.status
            )),
        });
        let regret = objective - best.objective;
        let rounding = REGRET_ROUNDING * objective.abs().max(best.objective.abs());
        Ok(RegretSplit {
            regret: if regret.abs() <= rounding {
                0.0
            } else {
                regret
            },
            objective: self.stated(objective),
            optimal_objective: self.stated(best.objective),
            gap,
            shares,
            reason,
        })
    }

    fn check_true_costs(&self, true_costs: &[f64]) -> Result<()> {
        let (found, expected) = (true_costs.len(), self.costs.len());
        if found != expected {
            return Err(Error::data(format!(
                "{found} true costs were given, {} needs {expected}",
                self.problem.name()
            )));
        }
        let present = self.present();
        let bad = present
            .into_iter()
            .find(|cost| !true_costs[*cost].is_finite());
        match bad {
            None => Ok(()),
            Some(cost) => Err(Error::data(format!(
                "the true cost '{}' is missing or not finite",
                self.name(cost)
            ))),
        }
    }
}
