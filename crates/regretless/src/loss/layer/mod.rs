//! Decision layers: the decision itself as a function of predicted costs, with a surrogate for its
//! derivative, which is 0 almost everywhere.
//!
//! A layer returns a decision (or a mean of several), a [`LayerObjective`] evaluates it, and the
//! layer propagates the gradient of that value back to the predicted costs. Each layer is one file:
//! [`blackbox`] (DBB, NID), [`perturbed`] (DPO), [`implicit`] (I-MLE), and the regularized one in
//! `loss/frank_wolfe.rs`.
//!
//! Use them when a decision is evaluated by more than its cost. For regret alone, SPO+ and PFYL are
//! convex and train better.

pub mod blackbox;
pub mod implicit;
pub mod perturbed;

use std::fmt;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossDefinition, LossInput, LossProperties, buffer};
use crate::decision::Decision;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::{Oracle, OracleWorker};

/// Evaluates a dense decision: writes the gradient with respect to it and returns the value.
pub type DecisionCriterion<'j> = dyn FnMut(&[f64], &mut [f64]) -> f64 + 'j;

/// A decision as a function of predicted costs.
pub trait DecisionLayer: Send + Sync {
    /// Decides, evaluates the decision, and writes the gradient with respect to the predicted
    /// costs; returns the value.
    ///
    /// # Errors
    /// When a solve fails.
    fn decide(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        criterion: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64>;

    /// Called after all instances of a batch, of a gradient step or an evaluation.
    fn end_batch(&self, _is_gradient_step: bool) {}

    /// State that changes from batch to batch; empty for all but adaptive layers.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores a state that [`Self::state`] returned.
    fn restore(&self, _state: &[f64]) {}
}

/// The value of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayerObjective {
    /// Its regret, c·x − c·x*.
    #[default]
    Regret,
    /// Its squared distance to the label, ‖x − x*‖².
    Distance,
}

impl LayerObjective {
    pub(super) fn read(options: &mut LossOptions) -> Self {
        if options.flag("distance") {
            Self::Distance
        } else {
            Self::Regret
        }
    }

    pub(super) fn add_to_name(self, name: LossNameBuilder) -> LossNameBuilder {
        name.flag("distance", self == Self::Distance)
    }

    /// Value of a decision; writes the gradient with respect to it.
    fn evaluate(self, input: &LossInput<'_>, decision: &[f64], gradient: &mut [f64]) -> f64 {
        match self {
            Self::Regret => {
                gradient.copy_from_slice(input.costs);
                let cost: f64 = decision.iter().zip(input.costs).map(|(x, c)| x * c).sum();
                let label = input.label.iter();
                let optimal_cost: f64 = label.map(|(j, x)| x * input.costs[j]).sum();
                cost - optimal_cost
            }
            Self::Distance => {
                gradient.copy_from_slice(decision);
                input.label.add_to(-1.0, gradient);
                let square = gradient.iter().map(|g| g * g).sum();
                gradient.iter_mut().for_each(|g| *g *= 2.0);
                square
            }
        }
    }
}

/// A layer trained for an objective.
#[derive(Debug, Clone, Copy)]
pub struct LayerLoss<L> {
    /// Decides.
    pub layer: L,
    /// Evaluates the decision.
    pub objective: LayerObjective,
}

/// A layer with its settings, before it is built for training.
pub trait LayerDefinition: fmt::Debug + Clone + Send + Sync + 'static {
    /// The layer that is built.
    type Layer: DecisionLayer + 'static;

    /// The name of the loss that trains the layer for an objective.
    fn loss_name(&self, objective: LayerObjective) -> String;

    /// The layer with its initial state.
    fn build_layer(&self) -> Self::Layer;
}

impl<D: LayerDefinition> fmt::Display for LayerLoss<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.layer.loss_name(self.objective))
    }
}

impl<D: LayerDefinition> LossDefinition for LayerLoss<D> {
    fn properties(&self) -> LossProperties {
        LossProperties::CALLS_SOLVER
    }

    fn build(&self, _: &LabeledDataset, _: &Oracle, _: &dyn Observer) -> Result<Box<dyn Loss>> {
        Ok(Box::new(LayerLoss {
            layer: self.layer.build_layer(),
            objective: self.objective,
        }))
    }
}

impl<L: DecisionLayer> Loss for LayerLoss<L> {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let mut criterion = |decision: &[f64], upstream: &mut [f64]| {
            self.objective.evaluate(input, decision, upstream)
        };
        self.layer.decide(input, worker, &mut criterion, gradient)
    }

    fn end_batch(&self, is_gradient_step: bool) {
        self.layer.end_batch(is_gradient_step);
    }

    fn state(&self) -> Vec<f64> {
        self.layer.state()
    }

    fn restore(&self, state: &[f64]) {
        self.layer.restore(state);
    }
}

/// Evaluates the mean of some decisions.
fn evaluate_mean(
    decisions: &[Decision],
    criterion: &mut DecisionCriterion<'_>,
    upstream: &mut [f64],
) -> f64 {
    let mut mean = buffer::zeros(upstream.len());
    let weight = 1.0 / decisions.len() as f64;
    decisions.iter().for_each(|x| x.add_to(weight, &mut mean));
    criterion(&mean, upstream)
}

/// Writes the finite difference between the mean decisions at two cost vectors that are `width`
/// apart along the gradient.
fn write_finite_difference(
    forward_decisions: &[Decision],
    backward_decisions: &[Decision],
    width: f64,
    gradient: &mut [f64],
) {
    let weight = 1.0 / (width * forward_decisions.len() as f64);
    gradient.fill(0.0);
    for decision in forward_decisions {
        decision.add_to(weight, gradient);
    }
    for decision in backward_decisions {
        decision.add_to(-weight, gradient);
    }
}
