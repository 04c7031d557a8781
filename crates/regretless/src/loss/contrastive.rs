//! Contrastive losses, maximum a posteriori (MAP) and noise-contrastive estimation (NCE): the label
//! compared with a solution pool Γ.
//!
//! c are the true and ĉ the predicted costs, x* is the label, x a decision of Γ, and x_min the
//! cheapest one under ĉ.
//!
//! ```text
//! MAP = max_Γ  ĉ·x* − ĉ·x          gradient x* − x_min
//! NCE = mean_Γ ĉ·x* − ĉ·x          gradient x* − mean_Γ x
//! MAP_c, NCE_c: the same with ĉ − c in place of ĉ
//! ```
//!
//! MAP is never below 0 once x* is in the pool, and 0 when no decision of the pool is cheaper than
//! the label under ĉ: for a correct prediction, but also for ĉ = 0. MAP_c is 0 for a correct
//! prediction and in general not for ĉ = 0. NCE lowers the predicted cost of the label below the
//! mean of the pool. NCE and NCE_c are linear in ĉ and unbounded below; for the same pool they
//! differ by a constant and have the same gradient.
//!
//! Source: Mulamba, Mandi, Diligenti, Lombardi, Bucarey and Guns, "Contrastive losses and solution
//! caching for predict-and-optimize" (2021). Solves per evaluation: none; training refreshes the
//! pool with one solve per row and epoch (`MAP cache 5%`: with one in twenty, `MAP cache 0%`: with
//! none). Needs the labels and a pool. Use `MAP cache 0%` when solves are expensive and decisions
//! repeat; the pool must hold decisions worth comparing with.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // The pool holds items 0 and 1: predicted costs 2 and 1, errors of the prediction 1 and −1.
//! for (name, value, gradient) in [
//!     ("MAP", 2.0 - 1.0, [1.0, -1.0, 0.0]),
//!     ("MAP_c", 1.0 - -1.0, [1.0, -1.0, 0.0]),
//!     ("NCE", 2.0 - (2.0 + 1.0) / 2.0, [0.5, -0.5, 0.0]),
//!     ("NCE_c", 1.0 - (1.0 - 1.0) / 2.0, [0.5, -0.5, 0.0]),
//! ] {
//!     let loss = name.parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//!     assert_eq!(loss.value, value);
//!     assert_eq!(loss.gradient, gradient);
//! }
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::registry::LossFamily;
use super::{
    DecisionGradient, GradientAccumulator, Loss, LossDefinition, LossInput, LossProperties,
    pool_decisions,
};
use crate::decision::Decision;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// How comparisons with the pool are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolReduction {
    /// The difference to the cheapest decision of the pool, the largest difference (MAP).
    Cheapest,
    /// The mean difference over the pool (NCE).
    Mean,
}

/// A contrastive loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contrastive {
    /// How comparisons are combined.
    pub reduction: PoolReduction,
    /// Whether errors ĉ − c are compared instead of predictions.
    pub shifted: bool,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["MAP", "MAP_c", "NCE", "NCE_c"],
    usage: &["MAP", "MAP_c", "NCE", "NCE_c"],
    parse: |name, _| {
        Ok(match name {
            "MAP" => Contrastive::MAP.into(),
            "MAP_C" => Contrastive::MAP.shifted().into(),
            "NCE" => Contrastive::NCE.into(),
            _ => Contrastive::NCE.shifted().into(),
        })
    },
    examples: &["MAP", "MAP_c", "NCE", "NCE_c"],
};

impl Contrastive {
    /// MAP, on predictions.
    pub const MAP: Self = Self {
        reduction: PoolReduction::Cheapest,
        shifted: false,
    };

    /// NCE, on predictions.
    pub const NCE: Self = Self {
        reduction: PoolReduction::Mean,
        shifted: false,
    };

    /// The same on errors ĉ − c: MAP_c, NCE_c.
    #[must_use]
    pub fn shifted(self) -> Self {
        Self {
            shifted: true,
            ..self
        }
    }

    /// The objective of a decision under ĉ, or under ĉ − c.
    fn compared_objective(self, input: &LossInput<'_>, decision: &Decision) -> f64 {
        let predicted = decision.dot(input.prediction);
        if self.shifted {
            predicted - decision.dot(input.costs)
        } else {
            predicted
        }
    }
}

impl fmt::Display for Contrastive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.reduction, self.shifted) {
            (PoolReduction::Cheapest, false) => "MAP",
            (PoolReduction::Cheapest, true) => "MAP_c",
            (PoolReduction::Mean, false) => "NCE",
            (PoolReduction::Mean, true) => "NCE_c",
        })
    }
}

impl LossDefinition for Contrastive {
    fn properties(&self) -> LossProperties {
        LossProperties {
            uses_pool: true,
            gradient_decisions: match self.reduction {
                PoolReduction::Cheapest => Some(2),
                PoolReduction::Mean => None,
            },
            // Differences to the cheapest decision of the pool are 0 at least for the label.
            is_unbounded: self.reduction == PoolReduction::Mean,
            ..LossProperties::CALLS_SOLVER
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl DecisionGradient for Contrastive {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let pool = pool_decisions(input, worker, || self.to_string())?;
        gradient.add_decision(1.0, input.label);
        let compared = match self.reduction {
            PoolReduction::Cheapest => {
                let (mut cheapest, mut min) = (&pool[0], f64::INFINITY);
                for decision in pool.iter() {
                    let objective = self.compared_objective(input, decision);
                    if objective < min {
                        (cheapest, min) = (decision, objective);
                    }
                }
                gradient.add_decision(-1.0, cheapest);
                min
            }
            PoolReduction::Mean => {
                let weight = 1.0 / pool.len() as f64;
                let mut sum = 0.0;
                for decision in pool.iter() {
                    gradient.add_decision(-weight, decision);
                    sum += self.compared_objective(input, decision);
                }
                sum * weight
            }
        };
        Ok(self.compared_objective(input, input.label) - compared)
    }
}
