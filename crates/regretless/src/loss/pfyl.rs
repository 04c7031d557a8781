//! PFYL: the perturbed Fenchel–Young loss.
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
//! per evaluation: one per sample. Needs the best decisions, but no true costs. Use it where only
//! decisions were observed, or as a smoother rival of SPO+ at ten times its price; σ should be of
//! the size of the errors of ĉ.

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use super::{DecisionGradient, GradientAccumulator, LossInput};
use crate::error::Result;
use crate::oracle::OracleWorker;

/// The loss and its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Pfyl(pub PerturbedSettings);

impl Pfyl {
    /// With noise drawn from the normal distribution.
    pub fn new(perturbation: Perturbation) -> Self {
        Self(PerturbedSettings {
            perturbation,
            noise: NoiseSource::Drawn(NoiseDistribution::Normal),
        })
    }

    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self::new(Perturbation::read(options)?))
    }
}

impl Perturbation {
    /// Options `mul`, `samples` and `sigma`.
    pub(super) fn read(options: &mut LossOptions) -> Result<Self> {
        Ok(Self {
            multiplicative: options.flag("mul"),
            samples: options.count("samples", Self::DEFAULT.samples)?,
            sigma: options.positive("sigma", Self::DEFAULT.sigma)?,
        })
    }

    pub(super) fn label(&self) -> LossNameBuilder {
        let name = LossNameBuilder::default().flag("mul", self.multiplicative);
        name.number("samples", self.samples, Self::DEFAULT.samples)
            .number("sigma", self.sigma, Self::DEFAULT.sigma)
    }
}

impl fmt::Display for Pfyl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.perturbation.label().with_name("PFYL"))
    }
}

impl DecisionGradient for Pfyl {
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64> {
        let perturbation = self.0.perturbation;
        let share = 1.0 / perturbation.samples as f64;
        gradient.add_decision(1.0, query.best);
        let mut value = query.best.dot(query.prediction);
        self.0
            .solve_each((query, query.prediction), worker, |noise, sample| {
                value -= share * sample.objective;
                for (j, x) in sample.decision.iter() {
                    gradient.add(
                        j,
                        -share
                            * x
                            * if perturbation.multiplicative {
                                noise[j]
                            } else {
                                1.0
                            },
                    );
                }
            })?;
        Ok(value)
    }

    fn num_decisions(&self) -> Option<usize> {
        Some(self.0.perturbation.samples + 1)
    }
}
