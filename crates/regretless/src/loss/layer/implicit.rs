//! I-MLE: the mean decision under Sum-of-Gamma noise, differentiated by moving the costs along the
//! gradient.
//!
//! ```text
//! decision mean_k x(ĉ + σε_k), judged with gradient g
//! I-MLE:          gradient mean_k [x(ĉ + λg + σε_k) − x(ĉ + σε_k)]/λ
//! I-MLE(central): gradient mean_k [x(ĉ + λg + σε_k) − x(ĉ − λg + σε_k)]/2λ
//! AI-MLE:         λ = α‖ĉ‖/‖g‖ in every instance; α starts at 1 and after each training step grows by 0.001 where
//!                 gradients have fewer than one entry on (moving) average, and shrinks by as much otherwise
//! ```
//!
//! Sources: Niepert, Minervini and Franceschi, "Implicit MLE: backpropagating through discrete
//! exponential family distributions" (2021); Minervini, Franceschi and Niepert, "Adaptive
//! perturbation-based gradient estimation" (2023). Solves per evaluation: two per sample, three
//! when central.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{DecisionCriterion, DecisionLayer, LayerObjective};
use crate::decision::Decision;
use crate::error::Result;
use crate::loss::name_options::{LossNameBuilder, LossOptions};
use crate::loss::noise::{NoiseDistribution, NoiseSource, Perturbation, PerturbedSettings};
use crate::loss::{LossInput, buffer};
use crate::oracle::OracleWorker;

/// How far costs are moved along the gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ImplicitStepSize {
    /// λ, always the same.
    Fixed(f64),
    /// α‖ĉ‖/‖g‖ with an α that adapts.
    Adaptive,
}

/// The layer in writing.
#[derive(Debug, Clone, PartialEq)]
pub struct ImplicitMle {
    /// Samples per evaluation.
    pub samples: usize,
    /// σ, the size of the noise.
    pub sigma: f64,
    /// How far costs are moved.
    pub reach: ImplicitStepSize,
    /// Whether they are moved both ways.
    pub central: bool,
    /// Where noise comes from.
    pub noise: NoiseSource,
}

const SAMPLES: usize = 10;
const SIGMA: f64 = 1.0;
const LAMBDA: f64 = 10.0;
const KAPPA: f64 = 5.0;
const TERMS: usize = 10;

impl ImplicitMle {
    pub(in crate::loss) fn read(options: &mut LossOptions, adaptive: bool) -> Result<Self> {
        let reach = if adaptive {
            ImplicitStepSize::Adaptive
        } else {
            ImplicitStepSize::Fixed(options.positive("lambda", LAMBDA)?)
        };
        let kappa = options.positive("kappa", KAPPA)?;
        Ok(Self {
            samples: options.count("samples", SAMPLES)?,
            sigma: options.positive("sigma", SIGMA)?,
            reach,
            central: options.flag("central"),
            noise: NoiseSource::Drawn(NoiseDistribution::SumOfGamma {
                kappa,
                terms: TERMS,
            }),
        })
    }

    pub(in crate::loss) fn label(&self, goal: LayerObjective) -> String {
        let name = LossNameBuilder::default().flag("central", self.central);
        let name = name
            .number("samples", self.samples, SAMPLES)
            .number("sigma", self.sigma, SIGMA);
        let (family, name) = match self.reach {
            ImplicitStepSize::Fixed(lambda) => ("I-MLE", name.number("lambda", lambda, LAMBDA)),
            ImplicitStepSize::Adaptive => ("AI-MLE", name),
        };
        let name = match self.noise {
            NoiseSource::Drawn(NoiseDistribution::SumOfGamma { kappa, .. }) => {
                name.number("kappa", kappa, KAPPA)
            }
            NoiseSource::Drawn(NoiseDistribution::Normal) | NoiseSource::Given(_) => name,
        };
        goal.write(name).with_name(family)
    }

    /// The layer ready for training.
    pub fn build(&self) -> ImplicitLayer {
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
            reach: self.reach,
            central: self.central,
            adapting: AdaptiveStepSize::default(),
        }
    }
}

impl fmt::Display for ImplicitMle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label(LayerObjective::Regret))
    }
}

/// The layer at work.
#[derive(Debug)]
pub struct ImplicitLayer {
    perturbed: PerturbedSettings,
    reach: ImplicitStepSize,
    central: bool,
    adapting: AdaptiveStepSize,
}

impl ImplicitLayer {
    /// Decisions at the prediction moved along `direction`, one per row of noise.
    fn decisions(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        (reach, direction): (f64, &[f64]),
    ) -> Result<Vec<Decision>> {
        let moved = buffer::filled(
            query
                .prediction
                .iter()
                .zip(direction)
                .map(|(p, g)| p + reach * g),
        );
        self.perturbed.decisions((query, &moved), worker)
    }

    fn step_size(&self, query: &LossInput<'_>, upstream: &[f64]) -> f64 {
        let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        match self.reach {
            ImplicitStepSize::Fixed(lambda) => lambda,
            ImplicitStepSize::Adaptive => {
                self.adapting.alpha() * norm(query.prediction) / norm(upstream).max(1e-7)
            }
        }
    }
}

impl DecisionLayer for ImplicitLayer {
    fn decide(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        judge: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let mut upstream = buffer::zeros(gradient.len());
        let here = self.decisions(query, worker, (0.0, &upstream))?;
        let value = super::evaluate_mean(&here, judge, &mut upstream);
        let reach = self.step_size(query, &upstream);
        gradient.fill(0.0);
        if reach > 0.0 {
            let ahead = self.decisions(query, worker, (reach, &upstream))?;
            let behind = if self.central {
                self.decisions(query, worker, (-reach, &upstream))?
            } else {
                here
            };
            let width = if self.central { 2.0 * reach } else { reach };
            super::write_finite_difference((&ahead, &behind), width, gradient);
        }
        self.adapting.record_gradient(gradient);
        Ok(value)
    }

    fn end_batch(&self, training: bool) {
        self.adapting.end_batch(training);
    }

    fn state(&self) -> Vec<f64> {
        let (alpha, average) = *self
            .adapting
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        vec![alpha, average]
    }

    fn restore(&self, state: &[f64]) {
        if let [alpha, average] = state {
            *self
                .adapting
                .state
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = (*alpha, *average);
        }
    }
}

/// The α of the adaptive form and what it adapts to. Entries are counted in whole numbers, so that
/// their sum does not depend on the order in which threads add them.
#[derive(Debug)]
struct AdaptiveStepSize {
    entries: AtomicU64,
    instances: AtomicU64,
    /// α and the moving average of entries per instance.
    state: Mutex<(f64, f64)>,
}

impl Default for AdaptiveStepSize {
    fn default() -> Self {
        Self {
            entries: AtomicU64::new(0),
            instances: AtomicU64::new(0),
            state: Mutex::new((1.0, 1.0)),
        }
    }
}

impl AdaptiveStepSize {
    const ADAPTATION_RATE: f64 = 1e-3;
    const MOMENTUM: f64 = 0.9;

    fn alpha(&self) -> f64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn record_gradient(&self, gradient: &[f64]) {
        let entries = gradient.iter().filter(|g| g.abs() > 1e-12).count();
        self.entries.fetch_add(entries as u64, Ordering::Relaxed);
        self.instances.fetch_add(1, Ordering::Relaxed);
    }

    fn end_batch(&self, training: bool) {
        let instances = self.instances.swap(0, Ordering::Relaxed);
        let entries = self.entries.swap(0, Ordering::Relaxed);
        if training && instances > 0 {
            let (alpha, average) = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *average = Self::MOMENTUM * *average
                + (1.0 - Self::MOMENTUM) * entries as f64 / instances as f64;
            *alpha = (*alpha
                + if *average < 1.0 {
                    Self::ADAPTATION_RATE
                } else {
                    -Self::ADAPTATION_RATE
                })
            .max(0.0);
        }
    }
}
