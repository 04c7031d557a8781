//! SCE, self-contrastive estimation: the label compared with the optimal decision under the
//! predicted costs.
//!
//! c are the true and ĉ the predicted costs, x* is the label, x(ĉ) the optimal decision under ĉ.
//!
//! ```text
//! SCE   = ĉ·(x* − x(ĉ))            gradient x* − x(ĉ)
//! SCE_c = (ĉ − c)·(x* − x(ĉ))      gradient x* − x(ĉ), x(ĉ) held constant
//! ```
//!
//! SCE is convex, never below 0, and 0 when the label is optimal under ĉ, but also at ĉ = 0; its
//! gradient is that of the optimal value (Danskin). SCE_c adds the regret c·(x(ĉ) − x*), which is
//! piecewise constant and leaves the gradient as it is. MAP is SCE with the minimum over a solution
//! pool in place of a solve.
//!
//! Source: Mandi, Mahmutoğulları, Berden and Guns, "Minimizing surrogate losses for
//! decision-focused learning using differentiable optimization" (2025), after Mulamba et al.
//! (2021). Solves per evaluation: one, at ĉ. Needs the labels; SCE needs no true costs. Use it when
//! only decisions were observed and PFYL takes too many solves; SPO+ keeps a margin around the
//! decision and usually trains better when costs are known.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! let loss = "SCE".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 2.0 - 1.0);
//! assert_eq!(loss.gradient, [1.0, -1.0, 0.0]);
//! // The errors of the prediction are 1, −1, 0.
//! let loss = "SCE_c".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 1.0 - -1.0);
//! assert_eq!(loss.gradient, [1.0, -1.0, 0.0]);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::registry::LossFamily;
use super::{
    DecisionGradient, GradientAccumulator, Loss, LossDefinition, LossInput, LossProperties,
};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// The self-contrastive loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfContrastive {
    /// Whether errors ĉ − c are compared instead of predictions.
    pub shifted: bool,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["SCE", "SCE_c"],
    usage: &["SCE", "SCE_c"],
    parse: |name, _| {
        let shifted = name == "SCE_C";
        Ok(SelfContrastive { shifted }.into())
    },
    examples: &["SCE", "SCE_c"],
};

impl fmt::Display for SelfContrastive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.shifted { "SCE_c" } else { "SCE" })
    }
}

impl LossDefinition for SelfContrastive {
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

impl DecisionGradient for SelfContrastive {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let solution = input.solve(worker, input.prediction)?;
        gradient.add_decision(1.0, input.label);
        gradient.add_decision(-1.0, &solution.decision);
        let value = input.label.dot(input.prediction) - solution.objective;
        if self.shifted {
            let regret = solution.decision.dot(input.costs) - input.label.dot(input.costs);
            Ok(value + regret)
        } else {
            Ok(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SelfContrastive;
    use crate::decision::Decision;
    use crate::loss::{Loss, LossInput, NoiseKey};
    use crate::oracle::Oracle;
    use crate::problem::TopK;
    use crate::sense::Sense;

    /// Costs 1, 2, 4 predicted as 3, 1, 2: one item is selected, the first by the label and the
    /// second under the prediction.
    #[test]
    fn values_and_gradients_equal_those_computed_by_hand() {
        let problem = TopK::new(3, 1, Sense::Minimize).unwrap();
        let oracle = Oracle::new(Arc::new(problem));
        let label = Decision::from_indices([0]);
        let input = LossInput {
            instance: 0,
            costs: &[1.0, 2.0, 4.0],
            prediction: &[3.0, 1.0, 2.0],
            label: &label,
            noise: NoiseKey::default(),
        };
        for (shifted, expected) in [(false, 3.0 - 1.0), (true, (3.0 - 1.0) - (1.0 - 2.0))] {
            let mut gradient = [0.0; 3];
            let loss = SelfContrastive { shifted };
            let value = loss
                .evaluate(&input, &mut oracle.worker(), &mut gradient)
                .unwrap();
            assert_eq!((value, gradient), (expected, [1.0, -1.0, 0.0]));
            let correct = LossInput {
                prediction: &[1.0, 2.0, 4.0],
                ..input
            };
            let value = loss
                .evaluate(&correct, &mut oracle.worker(), &mut gradient)
                .unwrap();
            assert_eq!((value, gradient), (0.0, [0.0; 3]));
        }
    }
}
