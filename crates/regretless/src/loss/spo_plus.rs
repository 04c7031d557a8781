//! SPO+ ("Smart 'Predict, then Optimize'"): a convex upper bound of regret.
//!
//! c are the true and ĉ the predicted costs, x* is the label, x(q) the optimal decision under costs
//! q, and z(q) its objective.
//!
//! ```text
//! loss = −z(2ĉ − c) + 2ĉ·x* − z*        z(q) = min_x q·x,  z* = c·x*
//! gradient = 2(x* − x(2ĉ − c))
//! ```
//!
//! Source: Elmachtoub and Grigas, "Smart 'Predict, then Optimize'" (2022). Solves per evaluation:
//! one, at 2ĉ − c. Needs the labels. Use it when a solve is cheap, or with `cache` or `relax` when
//! it is not: the strongest known surrogate on most small problems, without a setting to tune.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! let loss = "SPO+".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! // 2ĉ − c = (3, 0, 3): item 1 is the cheapest, at cost 0.
//! assert_eq!(loss.value, -0.0 + 2.0 * 2.0 - 1.0);
//! assert_eq!(loss.gradient, [2.0, -2.0, 0.0]);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::registry::LossFamily;
use super::{
    DecisionGradient, GradientAccumulator, Loss, LossDefinition, LossInput, LossProperties, buffer,
};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// The loss; it has no settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoPlus;

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["SPO+"],
    usage: &["SPO+"],
    parse: |_, _| Ok(SpoPlus.into()),
    examples: &["SPO+"],
};

impl fmt::Display for SpoPlus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SPO+")
    }
}

impl LossDefinition for SpoPlus {
    fn properties(&self) -> LossProperties {
        LossProperties {
            gradient_decisions: Some(2),
            ..LossProperties::CALLS_SOLVER
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(*self))
    }
}

impl DecisionGradient for SpoPlus {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let pairs = input.prediction.iter().zip(input.costs);
        let extrapolated = buffer::filled(pairs.map(|(p, c)| 2.0 * p - c));
        let solution = input.minimize(worker, &extrapolated)?;
        gradient.add_decision(2.0, input.label);
        gradient.add_decision(-2.0, &solution.decision);
        Ok(2.0 * input.label.dot(input.prediction)
            - input.label.dot(input.costs)
            - solution.objective)
    }
}
