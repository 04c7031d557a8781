//! I-MLE, implicit maximum likelihood estimation: the mean decision under Sum-of-Gamma noise ε,
//! differentiated by a step of the costs along the gradient. AI-MLE: with an adaptive step size.
//!
//! ĉ are the predicted costs, x(q) is the optimal decision under costs q; k counts samples.
//!
//! ```text
//! decision mean_k x(ĉ + σε_k), whose value has gradient g
//! I-MLE:          gradient mean_k [x(ĉ + λg + σε_k) − x(ĉ + σε_k)]/λ
//! I-MLE(central): gradient mean_k [x(ĉ + λg + σε_k) − x(ĉ − λg + σε_k)]/2λ
//! AI-MLE:         λ = α‖ĉ‖/‖g‖ in every instance; α starts at 1 and, after each training step,
//!                 grows by 0.001 if gradients have fewer than one nonzero on (moving) average
//!                 and shrinks by as much otherwise
//! ```
//!
//! Sources: Niepert, Minervini and Franceschi, "Implicit MLE: backpropagating through discrete
//! exponential family distributions" (2021); Minervini, Franceschi and Niepert, "Adaptive
//! perturbation-based gradient estimation" (2023). Solves per evaluation: two per sample, three
//! when central. Needs the labels. Use AI-MLE when a good λ is not known.
//!
//! ```
//! use regretless::loss::LossSpec;
//! use regretless::{Problem, Sense};
//!
//! // The cheapest of three items: item 0 is optimal, item 1 is predicted to be.
//! let problem = Problem::top_k(3, 1, Sense::Minimize)?;
//! let (prediction, costs) = ([2.0, 1.0, 3.0], [1.0, 2.0, 3.0]);
//! // With almost no noise item 1 is selected: regret 2 − 1 with gradient g = c. Under
//! // ĉ + 10c = (12, 21, 33) item 0 is the cheapest.
//! let spec: LossSpec = "I-MLE(samples=1,sigma=0.000001)".parse()?;
//! let loss = spec.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 1.0);
//! assert_eq!(loss.gradient, [0.1, -0.1, 0.0]);
//! // The squared distance is 2 with g = (−2, 2, 0): λ = ‖ĉ‖/‖g‖ = √(14/8).
//! let spec: LossSpec = "AI-MLE(samples=1,sigma=0.000001,distance)".parse()?;
//! let loss = spec.evaluate(&problem, &prediction, &costs)?;
//! assert_eq!(loss.value, 2.0);
//! assert!((loss.gradient[0] - (8.0_f64 / 14.0).sqrt()).abs() < 1e-9);
//! # Ok::<(), regretless::Error>(())
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{DecisionCriterion, DecisionLayer, LayerDefinition, LayerLoss, LayerObjective};
use crate::decision::Decision;
use crate::error::Result;
use crate::loss::name_options::{LossNameBuilder, LossOptions};
use crate::loss::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use crate::loss::registry::LossFamily;
use crate::loss::{LossInput, buffer};
use crate::oracle::OracleWorker;

/// The step of the costs along the gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImplicitStepSize {
    /// λ, always the same.
    Fixed(f64),
    /// α‖ĉ‖/‖g‖ with an α that adapts.
    Adaptive,
}

/// The layer before it is built for training.
#[derive(Debug, Clone, PartialEq)]
pub struct ImplicitMle {
    /// Samples per evaluation.
    pub samples: usize,
    /// σ, the size of the noise.
    pub sigma: f64,
    /// The step of the costs along the gradient.
    pub step_size: ImplicitStepSize,
    /// Whether steps are taken in both directions.
    pub central: bool,
    /// Where noise comes from.
    pub noise: NoiseSource,
}

// The defaults in their authors' code.
const DEFAULT_SAMPLES: usize = 10;
const DEFAULT_SIGMA: f64 = 1.0;
const DEFAULT_LAMBDA: f64 = 10.0;
const DEFAULT_KAPPA: f64 = 5.0;
const SUM_OF_GAMMA_TERMS: usize = 10;

/// Minimum norm of a gradient that a step size is divided by. Untuned: any small value works.
const MIN_GRADIENT_NORM: f64 = 1e-7;
/// Smaller entries of a gradient count as 0. Untuned: any small value works.
const ZERO_TOLERANCE: f64 = 1e-12;

pub(in crate::loss) static FAMILY: LossFamily = LossFamily {
    names: &["I-MLE", "IMLE", "AI-MLE", "AIMLE"],
    usage: &["I-MLE", "AI-MLE"],
    parse: |name, options| {
        let layer = ImplicitMle::read(options, name.starts_with("AI"))?;
        let objective = LayerObjective::read(options);
        Ok(LayerLoss { layer, objective }.into())
    },
    examples: &[
        "I-MLE(samples=3)",
        "I-MLE(central,samples=2,distance)",
        "AI-MLE(samples=3)",
    ],
};

impl ImplicitMle {
    fn read(options: &mut LossOptions, adaptive: bool) -> Result<Self> {
        let step_size = if adaptive {
            ImplicitStepSize::Adaptive
        } else {
            ImplicitStepSize::Fixed(options.positive("lambda", DEFAULT_LAMBDA)?)
        };
        let kappa = options.positive("kappa", DEFAULT_KAPPA)?;
        Ok(Self {
            samples: options.count("samples", DEFAULT_SAMPLES)?,
            sigma: options.positive("sigma", DEFAULT_SIGMA)?,
            step_size,
            central: options.flag("central"),
            noise: NoiseSource::Drawn(NoiseDistribution::SumOfGamma {
                kappa,
                terms: SUM_OF_GAMMA_TERMS,
            }),
        })
    }
}

impl LayerDefinition for ImplicitMle {
    type Layer = ImplicitLayer;

    fn loss_name(&self, objective: LayerObjective) -> String {
        let name = LossNameBuilder::default().flag("central", self.central);
        let name = name
            .number("samples", self.samples, DEFAULT_SAMPLES)
            .number("sigma", self.sigma, DEFAULT_SIGMA);
        let (family, name) = match self.step_size {
            ImplicitStepSize::Fixed(lambda) => {
                ("I-MLE", name.number("lambda", lambda, DEFAULT_LAMBDA))
            }
            ImplicitStepSize::Adaptive => ("AI-MLE", name),
        };
        let name = match self.noise {
            NoiseSource::Drawn(NoiseDistribution::SumOfGamma { kappa, .. }) => {
                name.number("kappa", kappa, DEFAULT_KAPPA)
            }
            NoiseSource::Drawn(NoiseDistribution::Normal) => name,
            #[cfg(test)]
            NoiseSource::Supplied(_) => name,
        };
        objective.add_to_name(name).with_name(family)
    }

    fn build_layer(&self) -> ImplicitLayer {
        let perturbation = Perturbation {
            samples: self.samples,
            sigma: self.sigma,
            multiplicative: false,
        };
        ImplicitLayer {
            perturbed: PerturbedSettings {
                perturbation,
                noise: self.noise.clone(),
            },
            step_size: self.step_size,
            central: self.central,
            adaptive: AdaptiveStepSize::default(),
        }
    }
}

/// The layer, built for training.
#[derive(Debug)]
pub struct ImplicitLayer {
    perturbed: PerturbedSettings,
    step_size: ImplicitStepSize,
    central: bool,
    adaptive: AdaptiveStepSize,
}

impl ImplicitLayer {
    /// Decisions after a step of the prediction along `direction`, one per row of noise.
    fn decisions(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        step: f64,
        direction: &[f64],
    ) -> Result<Vec<Decision>> {
        let pairs = input.prediction.iter().zip(direction);
        let center = buffer::filled(pairs.map(|(p, g)| p + step * g));
        self.perturbed.decisions(input, &center, worker)
    }

    fn step_size(&self, input: &LossInput<'_>, upstream: &[f64]) -> f64 {
        let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        match self.step_size {
            ImplicitStepSize::Fixed(lambda) => lambda,
            ImplicitStepSize::Adaptive => {
                let gradient_norm = norm(upstream).max(MIN_GRADIENT_NORM);
                self.adaptive.alpha() * norm(input.prediction) / gradient_norm
            }
        }
    }
}

impl DecisionLayer for ImplicitLayer {
    fn decide(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        criterion: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let mut upstream = buffer::zeros(gradient.len());
        let decisions = self.decisions(input, worker, 0.0, &upstream)?;
        let value = super::evaluate_mean(&decisions, criterion, &mut upstream);
        let step = self.step_size(input, &upstream);
        gradient.fill(0.0);
        if step > 0.0 {
            let forward = self.decisions(input, worker, step, &upstream)?;
            let (backward, width) = if self.central {
                let backward = self.decisions(input, worker, -step, &upstream)?;
                (backward, 2.0 * step)
            } else {
                (decisions, step)
            };
            super::write_finite_difference(&forward, &backward, width, gradient);
        }
        self.adaptive.record_gradient(gradient);
        Ok(value)
    }

    fn end_batch(&self, is_gradient_step: bool) {
        self.adaptive.end_batch(is_gradient_step);
    }

    fn state(&self) -> Vec<f64> {
        let state = self.adaptive.lock();
        vec![state.alpha, state.mean_entries]
    }

    fn restore(&self, state: &[f64]) {
        if let [alpha, mean_entries] = *state {
            *self.adaptive.lock() = AdaptiveState {
                alpha,
                mean_entries,
            };
        }
    }
}

/// The α of AI-MLE and the moving average it adapts to.
#[derive(Debug, Clone, Copy)]
struct AdaptiveState {
    alpha: f64,
    /// Moving average of nonzero gradient entries per instance.
    mean_entries: f64,
}

/// Adapts α from batch to batch. Entries are counted as integers, so their sum does not depend on
/// the order in which threads add them.
#[derive(Debug)]
struct AdaptiveStepSize {
    entries: AtomicU64,
    instances: AtomicU64,
    state: Mutex<AdaptiveState>,
}

impl Default for AdaptiveStepSize {
    fn default() -> Self {
        Self {
            entries: AtomicU64::new(0),
            instances: AtomicU64::new(0),
            state: Mutex::new(AdaptiveState {
                alpha: 1.0,
                mean_entries: 1.0,
            }),
        }
    }
}

impl AdaptiveStepSize {
    /// Both values are those of the paper.
    const ADAPTATION_RATE: f64 = 1e-3;
    const MOMENTUM: f64 = 0.9;

    fn lock(&self) -> MutexGuard<'_, AdaptiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alpha(&self) -> f64 {
        self.lock().alpha
    }

    fn record_gradient(&self, gradient: &[f64]) {
        let entries = gradient.iter().filter(|g| g.abs() > ZERO_TOLERANCE).count();
        self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        self.instances.fetch_add(1, Ordering::Relaxed);
    }

    fn end_batch(&self, is_gradient_step: bool) {
        let instances = self.instances.swap(0, Ordering::Relaxed);
        let entries = self.entries.swap(0, Ordering::Relaxed);
        if is_gradient_step && instances > 0 {
            let mut state = self.lock();
            state.mean_entries = Self::MOMENTUM * state.mean_entries
                + (1.0 - Self::MOMENTUM) * entries as f64 / instances as f64;
            let change = if state.mean_entries < 1.0 {
                Self::ADAPTATION_RATE
            } else {
                -Self::ADAPTATION_RATE
            };
            state.alpha = (state.alpha + change).max(0.0);
        }
    }
}
