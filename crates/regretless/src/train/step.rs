//! One step: a batch of rows is predicted, judged by the loss, and the blame sent back to the parameters.

use super::{Objective, Ready};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::loss::Query;
use crate::oracle::Asker;
use crate::parallel::Threads;
use crate::predict::{Network, Predictor, Tape};
use crate::watch::Watch;

/// Rows evaluated at a time outside training.
const ROWS_AT_A_TIME: usize = 256;

/// The buffers of a step, reused from step to step.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Training minimises the loss times this.
    factor: f64,
    rows: Vec<f32>,
    tape: Tape,
    predictions: Vec<f64>,
    /// Gradient of the loss with respect to the predicted costs.
    gradients: Vec<f64>,
    values: Vec<f64>,
    output_gradient: Vec<f32>,
    gradient: Vec<f32>,
}

impl Batch {
    pub(super) fn new(factor: f64) -> Self {
        Self { factor, ..Self::default() }
    }

    /// Predicts the costs of these instances.
    pub(super) fn predict(&mut self, ready: &Ready<'_>, network: &Network, instances: &[usize]) {
        self.rows.clear();
        instances.iter().for_each(|instance| self.rows.extend_from_slice(ready.features.of(*instance)));
        network.predict(&self.rows, &mut self.tape);
        self.predictions.clear();
        self.predictions.extend(ready.output.apply(self.tape.outputs()));
    }

    /// Losses and gradients of the instances predicted last; returns the sum of the losses.
    pub(super) fn evaluate(
        &mut self,
        ready: &Ready<'_>,
        objective: Objective<'_>,
        (epoch, instances): (usize, &[usize]),
    ) -> Result<f64> {
        let task = ready.task;
        let width = task.data.data().costs().cols();
        self.gradients.resize(self.predictions.len(), 0.0);
        let rows = self.predictions.chunks_exact(width).zip(self.gradients.chunks_exact_mut(width));
        let mut slots: Vec<Slot<'_>> =
            rows.map(|(prediction, gradient)| Slot { prediction, gradient, value: Ok(0.0) }).collect();
        let here = Threads::one();
        let threads = if objective.loss.solves() { task.oracle.threads() } else { &here };
        threads.fill(
            &mut slots,
            || (task.oracle.asker(), Vec::new()),
            |(asker, costs), index, slot| {
                slot.evaluate(task.data, objective, (asker, costs), instances[index]);
            },
        );
        self.values.clear();
        for (slot, instance) in slots.into_iter().zip(instances) {
            self.values.push(slot.finite(epoch, *instance)?);
        }
        Ok(self.values.iter().sum())
    }

    /// Gradient of the mean loss, times the factor, with respect to the parameters.
    pub(super) fn backpropagate(&mut self, ready: &Ready<'_>, network: &Network, instances: usize) -> &[f32] {
        let factor = self.factor / instances as f64;
        let scales = ready.output.scale.iter().cycle();
        self.output_gradient.clear();
        self.output_gradient.extend(self.gradients.iter().zip(scales).map(|(g, scale)| (factor * scale * g) as f32));
        self.gradient.resize(network.parameters().len(), 0.0);
        network.backpropagate(&self.rows, &mut self.tape, &self.output_gradient, &mut self.gradient);
        &self.gradient
    }

    /// Predicted costs of any number of instances, to be minimised.
    pub(super) fn predictions(&mut self, ready: &Ready<'_>, network: &Network, instances: &[usize]) -> Result<Matrix> {
        let width = ready.task.data.data().costs().cols();
        let mut costs = Vec::with_capacity(instances.len() * width);
        for part in instances.chunks(ROWS_AT_A_TIME) {
            self.predict(ready, network, part);
            costs.extend(self.predictions.iter().map(|cost| *cost as f32));
        }
        Matrix::new(instances.len(), width, costs)
    }

    /// Losses of any number of instances.
    pub(super) fn losses(
        &mut self,
        ready: &Ready<'_>,
        objective: Objective<'_>,
        network: &Network,
        (epoch, instances): (usize, &[usize]),
    ) -> Result<Vec<f64>> {
        let mut losses = Vec::with_capacity(instances.len());
        for part in instances.chunks(ROWS_AT_A_TIME) {
            self.predict(ready, network, part);
            self.evaluate(ready, objective, (epoch, part))?;
            losses.extend_from_slice(&self.values);
        }
        Ok(losses)
    }

    /// Losses of predictions (one row per instance) that are already known.
    pub(super) fn losses_of(
        &mut self,
        ready: &Ready<'_>,
        objective: Objective<'_>,
        predictions: &Matrix,
        instances: &[usize],
    ) -> Result<Vec<f64>> {
        self.predictions.clear();
        self.predictions.extend(predictions.as_slice().iter().map(|cost| f64::from(*cost)));
        self.evaluate(ready, objective, (0, instances))?;
        Ok(std::mem::take(&mut self.values))
    }
}

/// One instance of a batch.
struct Slot<'a> {
    prediction: &'a [f64],
    gradient: &'a mut [f64],
    value: Result<f64>,
}

impl Slot<'_> {
    fn evaluate(
        &mut self,
        data: &crate::label::Labelled,
        objective: Objective<'_>,
        (asker, costs): (&mut Asker<'_>, &mut Vec<f64>),
        instance: usize,
    ) {
        costs.clear();
        costs.extend(data.data().costs().row(instance).iter().map(|cost| f64::from(*cost)));
        let query = Query { instance, costs, prediction: self.prediction, best: data.best(instance) };
        let weight = objective.weight(instance);
        self.value = objective.loss.evaluate(&query, asker, self.gradient).map(|value| weight * value);
        if objective.weights.is_some() {
            self.gradient.iter_mut().for_each(|g| *g *= weight);
        }
    }

    /// The value, if it and its gradient are numbers.
    fn finite(self, epoch: usize, instance: usize) -> Result<f64> {
        let value = self.value?;
        let stop = |what, output| Err(Error::NonFinite { what, epoch, instance, output });
        if let Some(output) = self.prediction.iter().position(|p| !p.is_finite()) {
            return stop("prediction", Some(output));
        }
        if let Some(output) = self.gradient.iter().position(|g| !g.is_finite()) {
            return stop("gradient", Some(output));
        }
        if value.is_finite() { Ok(value) } else { stop("loss", None) }
    }
}

/// Listens for interruption only: solves within an epoch are not steps of the task on show.
pub(super) struct WithoutProgress<'a>(pub(super) &'a dyn Watch);

impl Watch for WithoutProgress<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
