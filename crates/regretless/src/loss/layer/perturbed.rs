//! DPO: the mean decision under perturbed costs, differentiated by the score of the noise.
//!
//! ```text
//! decision mean_k x_k, x_k = x(ĉ + σξ_k), judged with gradient g; v_k = x_k·g
//! gradient = Σ_k ξ_k (v_k − b_k)/(nσ)       b_k = mean of the other v, or 0 (`plain`)
//! multiplicative (`mul`): x_k = x(ĉ ⊙ exp(σξ_k − σ²/2)), gradient divided by ĉ
//! ```
//!
//! The leave-one-out baseline b_k changes the variance of the gradient, not its mean.
//!
//! Source: Berthet, Blondel, Teboul, Cuturi, Vert and Bach, "Learning with differentiable perturbed
//! optimizers" (2020). Solves per evaluation: one per sample.

use std::fmt;

use super::{DecisionCriterion, DecisionLayer, LayerObjective};
use crate::error::Result;
use crate::loss::name_options::LossOptions;
use crate::loss::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use crate::loss::{LossInput, buffer};
use crate::oracle::OracleWorker;

/// The layer and its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbedOptimizer {
    /// Noise and its size.
    pub perturbed: PerturbedSettings,
    /// Whether the mean of the other samples is subtracted.
    pub baseline: bool,
}

/// Least size of a predicted cost that a multiplicative perturbation divides by.
const MIN_ABS_COST: f64 = 1e-7;

impl PerturbedOptimizer {
    pub(in crate::loss) fn read(options: &mut LossOptions) -> Result<Self> {
        let perturbation = Perturbation::read(options)?;
        let perturbed = PerturbedSettings {
            perturbation,
            noise: NoiseSource::Drawn(NoiseDistribution::Normal),
        };
        Ok(Self {
            perturbed,
            baseline: !options.flag("plain"),
        })
    }

    pub(in crate::loss) fn label(&self, goal: LayerObjective) -> String {
        let name = self
            .perturbed
            .perturbation
            .label()
            .flag("plain", !self.baseline);
        goal.write(name).with_name("DPO")
    }
}

impl fmt::Display for PerturbedOptimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label(LayerObjective::Regret))
    }
}

impl DecisionLayer for PerturbedOptimizer {
    fn decide(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        judge: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let PerturbedSettings {
            perturbation,
            noise,
        } = &self.perturbed;
        let decisions = self
            .perturbed
            .decisions((query, query.prediction), worker)?;
        let (mut upstream, mut row) =
            (buffer::zeros(gradient.len()), buffer::zeros(gradient.len()));
        let value = super::evaluate_mean(&decisions, judge, &mut upstream);
        let worth = buffer::filled(
            decisions
                .iter()
                .map(|x| x.iter().map(|(j, x)| x * upstream[j]).sum()),
        );
        let (count, total) = (decisions.len() as f64, worth.iter().sum::<f64>());
        // The same noise once more: rows of it are too long to keep them all.
        let mut rows = noise.rows(query);
        gradient.fill(0.0);
        for v in worth.iter() {
            rows.next(&mut row);
            let others = if self.baseline && count > 1.0 {
                (total - v) / (count - 1.0)
            } else {
                0.0
            };
            let factor = (v - others) / (count * perturbation.sigma);
            gradient
                .iter_mut()
                .zip(row.iter())
                .for_each(|(g, xi)| *g += factor * xi);
        }
        if perturbation.multiplicative {
            let divide = |(g, p): (&mut f64, &f64)| {
                *g /= if p.abs() < MIN_ABS_COST {
                    MIN_ABS_COST.copysign(*p)
                } else {
                    *p
                }
            };
            gradient.iter_mut().zip(query.prediction).for_each(divide);
        }
        Ok(value)
    }
}
