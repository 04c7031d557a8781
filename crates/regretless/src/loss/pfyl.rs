//! PFYL: the perturbed Fenchel–Young loss.
//!
//! ĉ are the predicted costs, x* is the label, x(q) the optimal decision under costs q; k counts
//! samples of the noise ξ.
//!
//! ```text
//! loss = ĉ·x* − mean_k q_k·x_k      q_k = ĉ + σξ_k,  x_k = x(q_k),  ξ ~ N(0, I)
//! gradient = x* − mean_k x_k
//! ```
//!
//! Multiplicative (`mul`): q_k = ĉ ⊙ exp(σξ_k − σ²/2), which keeps the signs of costs; the gradient
//! is then x* − mean_k exp(σξ_k − σ²/2) ⊙ x_k.
//!
//! Source: Berthet, Blondel, Teboul, Cuturi, Vert and Bach, "Learning with differentiable perturbed
//! optimizers" (2020); the multiplicative form: Dalle, Baty, Bouvier and Parmentier (2022). Solves
//! per evaluation: one per sample. Needs the labels, but no true costs. Use it when only decisions
//! were observed, or as a smoother alternative to SPO+ at ten times its cost; σ should be of the
//! order of the errors of ĉ.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // With almost no noise, item 1 is the cheapest in every sample.
//! let spec: LossSpec = "PFYL(samples=1,sigma=0.000001)".parse()?;
//! let loss = spec.evaluate(&problem, &prediction, &costs)?;
//! assert!((loss.value - (2.0 - 1.0)).abs() < 1e-4);
//! assert_eq!(loss.gradient, [1.0, -1.0, 0.0]);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use super::registry::LossFamily;
use super::{
    DecisionGradient, GradientAccumulator, Loss, LossDefinition, LossInput, LossProperties,
};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// The loss and its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Pfyl(pub PerturbedSettings);

pub(super) static FAMILY: LossFamily = LossFamily {
    names: &["PFYL"],
    usage: &["PFYL", "PFYL(mul)"],
    parse: |_, options| Ok(Pfyl::new(Perturbation::read(options)?).into()),
    examples: &["PFYL", "PFYL(mul,samples=4,sigma=0.5)"],
};

impl Pfyl {
    /// With noise drawn from the normal distribution.
    pub fn new(perturbation: Perturbation) -> Self {
        Self(PerturbedSettings {
            perturbation,
            noise: NoiseSource::Drawn(NoiseDistribution::Normal),
        })
    }
}

impl Perturbation {
    /// Options `mul` (multiplicative noise), `samples` and `sigma`.
    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            // "mul" is short for "multiplicative".
            multiplicative: options.flag("mul"),
            samples: options.count("samples", Self::DEFAULT.samples)?,
            sigma: options.positive("sigma", Self::DEFAULT.sigma)?,
        })
    }

    pub(super) fn name_options(&self) -> LossNameBuilder {
        let name = LossNameBuilder::default().flag("mul", self.multiplicative);
        name.number("samples", self.samples, Self::DEFAULT.samples)
            .number("sigma", self.sigma, Self::DEFAULT.sigma)
    }
}

impl fmt::Display for Pfyl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.perturbation.name_options().with_name("PFYL"))
    }
}

impl LossDefinition for Pfyl {
    fn properties(&self) -> LossProperties {
        LossProperties {
            gradient_decisions: Some(self.0.perturbation.samples + 1),
            ..LossProperties::CALLS_SOLVER
        }
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(self.clone()))
    }
}

impl DecisionGradient for Pfyl {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let perturbation = self.0.perturbation;
        let weight = 1.0 / perturbation.samples as f64;
        gradient.add_decision(1.0, input.label);
        let mut value = input.label.dot(input.prediction);
        let add_sample = |noise: &[f64], costs: &[f64]| {
            let sample = input.minimize(worker, costs)?;
            value -= weight * sample.objective;
            for (j, x) in sample.decision.iter() {
                let factor = if perturbation.multiplicative {
                    noise[j]
                } else {
                    1.0
                };
                gradient.add(j, -weight * x * factor);
            }
            Ok(())
        };
        self.0
            .for_each_sample(input, input.prediction, add_sample)?;
        Ok(value)
    }
}
