//! Decision layers: the decision itself as a function of predicted costs, with a stand-in for its
//! derivative, which is 0 almost everywhere.
//!
//! A layer answers with a decision (or a mean of several), a [`Goal`] judges it, and the layer
//! carries the gradient of that judgement back to the predicted costs. Each layer is one file:
//! [`blackbox`] (DBB, NID), [`perturbed`] (DPO), [`implicit`] (I-MLE), and the regularised one in
//! `loss/frank_wolfe.rs`.
//!
//! Use them where the judgement of a decision is more than its cost. For regret alone SPO+ or PFYL
//! train better and are convex.

pub mod blackbox;
pub mod implicit;
pub mod perturbed;

use super::name_options::{LossNameBuilder, LossOptions};
use super::{Loss, LossInput, buffer};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;

/// Judges a decision (dense): writes the gradient with respect to it and returns the value.
pub type DecisionCriterion<'j> = dyn FnMut(&[f64], &mut [f64]) -> f64 + 'j;

/// A decision as a function of predicted costs.
pub trait DecisionLayer: Send + Sync {
    /// Decides, has the decision judged, and writes the gradient with respect to the predicted
    /// costs; returns the judgement.
    ///
    /// # Errors
    /// When a solve has no answer.
    fn decide(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        judge: &mut DecisionCriterion<'_>,
        gradient: &mut [f64],
    ) -> Result<f64>;

    /// All instances of a batch were decided, for training or only to judge.
    fn end_batch(&self, _training: bool) {}

    /// What the layer has learned from the batches so far.
    fn state(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Goes on from such a state.
    fn restore(&self, _state: &[f64]) {}
}

/// What a decision is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LayerObjective {
    /// Its regret, c·x − c·x*.
    #[default]
    Regret,
    /// Its squared distance to the best decision, ‖x − x*‖².
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

    pub(super) fn write(self, name: LossNameBuilder) -> LossNameBuilder {
        name.flag("distance", self == Self::Distance)
    }

    /// Value of a decision; writes the gradient with respect to it.
    fn evaluate(self, query: &LossInput<'_>, decision: &[f64], gradient: &mut [f64]) -> f64 {
        match self {
            Self::Regret => {
                gradient.copy_from_slice(query.costs);
                let cost: f64 = decision.iter().zip(query.costs).map(|(x, c)| x * c).sum();
                cost - query
                    .best
                    .iter()
                    .map(|(j, x)| x * query.costs[j])
                    .sum::<f64>()
            }
            Self::Distance => {
                gradient.copy_from_slice(decision);
                query.best.add_to(-1.0, gradient);
                let square = gradient.iter().map(|g| g * g).sum();
                gradient.iter_mut().for_each(|g| *g *= 2.0);
                square
            }
        }
    }
}

/// A layer trained for a goal.
#[derive(Debug, Clone, Copy)]
pub struct LayerLoss<L> {
    /// Decides.
    pub layer: L,
    /// Judges.
    pub goal: LayerObjective,
}

impl<L: DecisionLayer> Loss for LayerLoss<L> {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let mut judge =
            |decision: &[f64], upstream: &mut [f64]| self.goal.evaluate(query, decision, upstream);
        self.layer.decide(query, worker, &mut judge, gradient)
    }

    fn calls_solver(&self) -> bool {
        true
    }

    fn end_batch(&self, training: bool) {
        self.layer.end_batch(training);
    }

    fn state(&self) -> Vec<f64> {
        self.layer.state()
    }

    fn restore(&self, state: &[f64]) {
        self.layer.restore(state);
    }
}

/// Has the mean of some decisions judged.
fn evaluate_mean(
    decisions: &[Decision],
    judge: &mut DecisionCriterion<'_>,
    upstream: &mut [f64],
) -> f64 {
    let mut mean = buffer::zeros(upstream.len());
    let share = 1.0 / decisions.len() as f64;
    decisions.iter().for_each(|x| x.add_to(share, &mut mean));
    judge(&mean, upstream)
}

/// Writes the slope between two lists of decisions, one from costs that lie `width` further along
/// the gradient.
fn write_finite_difference(
    (forward_decisions, backward_decisions): (&[Decision], &[Decision]),
    width: f64,
    gradient: &mut [f64],
) {
    let share = 1.0 / (width * forward_decisions.len() as f64);
    gradient.fill(0.0);
    forward_decisions
        .iter()
        .for_each(|x| x.add_to(share, gradient));
    backward_decisions
        .iter()
        .for_each(|x| x.add_to(-share, gradient));
}
