//! DPO, the differentiable perturbed optimizer: the mean decision under perturbed costs,
//! differentiated by the score function of the noise.
//!
//! ĉ are the predicted costs, x(q) is the optimal decision under costs q; k counts the n samples of
//! the noise ξ.
//!
//! ```text
//! decision mean_k x_k, x_k = x(ĉ + σξ_k), whose value has gradient g; v_k = x_k·g
//! gradient = Σ_k ξ_k (v_k − b_k)/(nσ)       b_k = mean of the other v, or 0 (`plain`)
//! multiplicative (`mul`): x_k = x(ĉ ⊙ exp(σξ_k − σ²/2)), gradient divided by ĉ
//! ```
//!
//! The leave-one-out baseline b_k changes the variance of the gradient, not its mean.
//!
//! Source: Berthet, Blondel, Teboul, Cuturi, Vert and Bach, "Learning with differentiable perturbed
//! optimizers" (2020). Solves per evaluation: one per sample. Needs the labels. Use it when a
//! decision is evaluated by more than its cost and an unbiased gradient is worth its variance.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // With almost no noise every sample selects item 1, whose regret is 2 − 1.
//! let loss = "DPO(sigma=0.000001)".parse::<LossSpec>()?.evaluate(&problem, &prediction, &costs)?;
//! assert!((loss.value - 1.0).abs() < 1e-9);
//! # Ok::<(), regretless::Error>(())
//! ```

use super::{DecisionCriterion, DecisionLayer, LayerDefinition, LayerLoss, LayerObjective};
use crate::decision::Decision;
use crate::error::Result;
use crate::loss::name_options::LossOptions;
use crate::loss::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use crate::loss::registry::LossFamily;
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

/// Minimum magnitude of a predicted cost that a multiplicative perturbation divides by. Untuned:
/// any small value works.
const MIN_ABS_COST: f64 = 1e-7;

pub(in crate::loss) static FAMILY: LossFamily = LossFamily {
    names: &["DPO"],
    usage: &["DPO"],
    parse: |_, options| {
        let layer = PerturbedOptimizer::read(options)?;
        let objective = LayerObjective::read(options);
        Ok(LayerLoss { layer, objective }.into())
    },
    examples: &["DPO", "DPO(mul,plain)"],
};

impl PerturbedOptimizer {
    fn read(options: &mut LossOptions) -> Result<Self> {
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
}

impl LayerDefinition for PerturbedOptimizer {
    type Layer = Self;

    fn loss_name(&self, objective: LayerObjective) -> String {
        let options = self.perturbed.perturbation.name_options();
        let options = options.flag("plain", !self.baseline);
        objective.add_to_name(options).with_name("DPO")
    }

    fn build_layer(&self) -> Self {
        self.clone()
    }
}

impl DecisionLayer for PerturbedOptimizer {
    fn decide(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        criterion: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let PerturbedSettings {
            perturbation,
            noise,
        } = &self.perturbed;
        let decisions = self.perturbed.decisions(input, input.prediction, worker)?;
        let (mut upstream, mut row) =
            (buffer::zeros(gradient.len()), buffer::zeros(gradient.len()));
        let value = super::evaluate_mean(&decisions, criterion, &mut upstream);
        let directional = |x: &Decision| x.iter().map(|(j, x)| x * upstream[j]).sum();
        let scores = buffer::filled(decisions.iter().map(directional));
        let (count, total) = (decisions.len() as f64, scores.iter().sum::<f64>());
        // The same noise is drawn again: keeping all rows would take too much memory.
        let mut rows = noise.rows(input);
        gradient.fill(0.0);
        for v in scores.iter() {
            rows.next(&mut row);
            let mean_of_others = if self.baseline && count > 1.0 {
                (total - v) / (count - 1.0)
            } else {
                0.0
            };
            let factor = (v - mean_of_others) / (count * perturbation.sigma);
            for (g, xi) in gradient.iter_mut().zip(row.iter()) {
                *g += factor * xi;
            }
        }
        if perturbation.multiplicative {
            for (g, p) in gradient.iter_mut().zip(input.prediction) {
                *g /= if p.abs() < MIN_ABS_COST {
                    MIN_ABS_COST.copysign(*p)
                } else {
                    *p
                };
            }
        }
        Ok(value)
    }
}
