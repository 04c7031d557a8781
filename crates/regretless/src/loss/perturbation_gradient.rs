//! PG, the perturbation gradient: the derivative of the optimal value along the true costs, as a
//! finite difference.
//!
//! c are the true and ĉ the predicted costs, x(q) is the optimal decision under costs q, and z(q)
//! its objective.
//!
//! ```text
//! PG          = [z(ĉ) − z(ĉ − σc)]/σ               gradient [x(ĉ) − x(ĉ − σc)]/σ
//! PG(central) = [z(ĉ + σc) − z(ĉ − σc)]/2σ         gradient [x(ĉ + σc) − x(ĉ − σc)]/2σ
//! ```
//!
//! Both tend to c·x(ĉ), the true cost of the decision, as σ tends to 0; a larger σ makes the loss
//! smoother.
//!
//! Source: Huang and Gupta, "Decision-focused learning with directional gradients" (2024). Solves
//! per evaluation: two. Needs true costs, but no labels. Use it when the predictor is misspecified,
//! so minimizing SPO+ need not minimize regret.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // ĉ − 4c = (−2, −7, −9) and ĉ + 4c = (6, 9, 15): items 2 and 0 are the cheapest.
//! let loss = "PG(sigma=4)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, (1.0 + 9.0) / 4.0);
//! assert_eq!(loss.gradient, [0.0, 0.25, -0.25]);
//! let spec: LossSpec = "PG(central,sigma=4)".parse()?;
//! let loss = spec.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, (6.0 + 9.0) / 8.0);
//! assert_eq!(loss.gradient, [0.125, 0.0, -0.125]);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::registry::LossFamily;
use super::{
    DecisionGradient, GradientAccumulator, Loss, LossDefinition, LossInput, LossProperties, buffer,
};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// The loss and its step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerturbationGradient {
    /// σ, the step of the difference.
    pub sigma: f64,
    /// Whether the difference is taken on both sides.
    pub central: bool,
}

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["PG"],
    usage: &["PG"],
    parse: |_, options| Ok(PerturbationGradient::read(options)?.into()),
    examples: &["PG", "PG(central,sigma=0.5)"],
};

impl PerturbationGradient {
    /// Untuned: a small fraction of the true costs, so the difference is close to a derivative.
    const DEFAULT_SIGMA: f64 = 0.1;

    fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            central: options.flag("central"),
            sigma: options.positive("sigma", Self::DEFAULT_SIGMA)?,
        })
    }
}

impl fmt::Display for PerturbationGradient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LossNameBuilder::default()
            .flag("central", self.central)
            .number("sigma", self.sigma, Self::DEFAULT_SIGMA);
        f.write_str(&name.with_name("PG"))
    }
}

impl LossDefinition for PerturbationGradient {
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

impl DecisionGradient for PerturbationGradient {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let (forward, width) = if self.central {
            (self.sigma, 2.0 * self.sigma)
        } else {
            (0.0, self.sigma)
        };
        let mut value = 0.0;
        for (step, weight) in [(forward, 1.0 / width), (-self.sigma, -1.0 / width)] {
            let pairs = input.prediction.iter().zip(input.costs);
            let perturbed = buffer::filled(pairs.map(|(p, c)| p + step * c));
            let solution = input.minimize(worker, &perturbed)?;
            gradient.add_decision(weight, &solution.decision);
            value += weight * solution.objective;
        }
        Ok(value)
    }
}
