//! The loss of one instance of a batch, and its gradient.

use super::super::WeightedLoss;
use crate::data::first_not_finite;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::loss::{LossInput, SparseGradient};
use crate::oracle::OracleWorker;

/// The loss of one instance.
#[derive(Debug)]
pub(super) struct InstanceResult {
    pub(super) value: Result<f64>,
    /// Gradient of the loss with respect to the predicted costs, dense or sparse.
    pub(super) gradient: Vec<f64>,
    pub(super) entries: SparseGradient,
    /// Decisions that were solved for during the evaluation.
    pub(super) solved: Vec<Decision>,
}

impl Default for InstanceResult {
    fn default() -> Self {
        Self {
            value: Ok(0.0),
            gradient: Vec::new(),
            entries: SparseGradient::default(),
            solved: Vec::new(),
        }
    }
}

impl InstanceResult {
    /// Evaluates the weighted loss with a dense gradient.
    pub(super) fn evaluate_dense(
        &mut self,
        weighted_loss: WeightedLoss<'_>,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
    ) -> Result<f64> {
        self.gradient.resize(input.prediction.len(), 0.0);
        let value = weighted_loss
            .loss
            .evaluate(input, worker, &mut self.gradient)?;
        let weight = weighted_loss.weight(input.instance);
        if weighted_loss.weights.is_some() {
            self.gradient.iter_mut().for_each(|g| *g *= weight);
        }
        Ok(weight * value)
    }

    /// Evaluates the weighted loss with a sparse gradient.
    pub(super) fn evaluate_sparse(
        &mut self,
        weighted_loss: WeightedLoss<'_>,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
    ) -> Result<f64> {
        let loss = weighted_loss.loss;
        let value = loss.evaluate_sparse(input, worker, &mut self.entries)?;
        let weight = weighted_loss.weight(input.instance);
        self.entries.scale(weight);
        Ok(weight * value)
    }

    /// Leaves absent costs out of the gradient and, if the loss is a mean over costs, out of the
    /// mean: their errors are 0, but they were counted.
    pub(super) fn leave_out_absent(&mut self, present: &[bool], is_mean_over_costs: bool) {
        let count = present.iter().filter(|exists| **exists).count();
        let factor = if is_mean_over_costs {
            present.len() as f64 / count.max(1) as f64
        } else {
            1.0
        };
        if let Ok(value) = &mut self.value {
            *value *= factor;
        }
        for (g, exists) in self.gradient.iter_mut().zip(present) {
            *g = if *exists { factor * *g } else { 0.0 };
        }
    }

    /// The value; an error unless the value, the prediction and the gradient are finite.
    pub(super) fn take_finite_value(
        &mut self,
        prediction: &[f64],
        epoch: usize,
        instance: usize,
    ) -> Result<f64> {
        let not_finite = |what, output| {
            Err(Error::NonFinite {
                quantity: what,
                epoch,
                instance,
                output,
            })
        };
        if let Some(output) = first_not_finite(prediction) {
            return not_finite("prediction", Some(output));
        }
        let value = std::mem::replace(&mut self.value, Ok(0.0))?;
        let mut entries = self.entries.as_slice().iter();
        let sparse = entries.find(|(_, g)| !g.is_finite());
        let sparse = sparse.map(|(j, _)| *j as usize);
        if let Some(output) = sparse.or_else(|| first_not_finite(&self.gradient)) {
            return not_finite("gradient", Some(output));
        }
        if value.is_finite() {
            Ok(value)
        } else {
            not_finite("loss", None)
        }
    }
}
