//! One step: a batch of rows is predicted, judged by the loss, and the blame sent back to the parameters.

use super::{Objective, Ready};
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::Labelled;
use crate::loss::{Draw, Loss, Query};
use crate::oracle::{Answering, Asker, Occasion, Turn};
use crate::parallel::Threads;
use crate::predict::{Network, Predictor, Tape};
use crate::watch::Watch;

/// Rows evaluated at a time outside training.
const ROWS_AT_A_TIME: usize = 256;

/// The buffers of a step, reused from step to step.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    /// Answers what the loss asks.
    answering: Answering<'a>,
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

impl<'a> Batch<'a> {
    /// How questions are answered.
    pub(super) fn answering(&mut self) -> &mut Answering<'a> {
        &mut self.answering
    }

    pub(super) fn new(factor: f64, answering: Answering<'a>) -> Self {
        Self {
            answering,
            factor,
            rows: Vec::new(),
            tape: Tape::default(),
            predictions: Vec::new(),
            gradients: Vec::new(),
            values: Vec::new(),
            output_gradient: Vec::new(),
            gradient: Vec::new(),
        }
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
        (occasion, instances): (Occasion, &[usize]),
    ) -> Result<f64> {
        if objective.loss.compares() && occasion.training {
            self.refresh(occasion, instances)?;
        }
        let data = ready.task.data;
        let width = data.data().costs().cols();
        let draw = Draw { seed: ready.settings().seed, epoch: if occasion.training { occasion.epoch } else { 0 } };
        self.gradients.resize(self.predictions.len(), 0.0);
        let rows = self.predictions.chunks_exact(width).zip(self.gradients.chunks_exact_mut(width));
        let mut slots: Vec<Slot<'_>> = rows.map(|(prediction, gradient)| Slot::new(prediction, gradient)).collect();
        let answering = &self.answering;
        threads_for(objective.loss, answering).fill(
            &mut slots,
            || (answering.asker(), Vec::new()),
            |(asker, costs), index, slot| {
                asker.take_turn(answering.turn(occasion, instances[index]));
                slot.evaluate((data, draw), objective, (asker, costs), instances[index]);
                slot.found = asker.take_found();
            },
        );
        self.values.clear();
        for (slot, instance) in slots.into_iter().zip(instances) {
            if occasion.training {
                self.answering.keep(&slot.found);
            }
            self.values.push(slot.finite(occasion.epoch, *instance)?);
        }
        objective.loss.batch_done(occasion.training);
        Ok(self.values.iter().sum())
    }

    /// Lets the best decisions under the predictions of a batch join the pool, where the coin says so.
    fn refresh(&mut self, occasion: Occasion, instances: &[usize]) -> Result<()> {
        let width = self.predictions.len() / instances.len().max(1);
        let mut found: Vec<Result<Option<Decision>>> = Vec::new();
        found.resize_with(instances.len(), || Ok(None));
        let (answering, predictions) = (&self.answering, &self.predictions);
        answering.oracle().threads().fill(
            &mut found,
            || answering.asker(),
            |asker, index, slot| {
                let instance = instances[index];
                if answering.turn(occasion, instance) == Turn::Solve {
                    let answer = asker.solve(&predictions[index * width..][..width]);
                    let wrong = |failure| Error::Solver { instance, failure };
                    *slot = answer.map(|solution| Some(solution.decision)).map_err(wrong);
                }
            },
        );
        for decision in found {
            self.answering.keep(&decision?);
        }
        Ok(())
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

    /// Predicted costs of any number of instances, to be minimised; all of them numbers.
    pub(super) fn predictions(
        &mut self,
        ready: &Ready<'_>,
        network: &Network,
        (epoch, instances): (usize, &[usize]),
    ) -> Result<Matrix> {
        let width = ready.task.data.data().costs().cols();
        let mut costs = Vec::with_capacity(instances.len() * width);
        for part in instances.chunks(ROWS_AT_A_TIME) {
            self.predict(ready, network, part);
            costs.extend(self.predictions.iter().map(|cost| *cost as f32));
        }
        if let Some(bad) = costs.iter().position(|cost| !cost.is_finite()) {
            let (instance, output) = (instances[bad / width], Some(bad % width));
            return Err(Error::NonFinite { what: "prediction", epoch, instance, output });
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
        let occasion = Occasion { epoch, batch: 0, training: false };
        let mut losses = Vec::with_capacity(instances.len());
        for part in instances.chunks(ROWS_AT_A_TIME) {
            self.predict(ready, network, part);
            self.evaluate(ready, objective, (occasion, part))?;
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
        let occasion = Occasion { epoch: 0, batch: 0, training: false };
        self.evaluate(ready, objective, (occasion, instances))?;
        Ok(std::mem::take(&mut self.values))
    }
}

/// Threads only where they are worth their while.
fn threads_for(loss: &dyn Loss, answering: &Answering<'_>) -> Threads {
    if loss.solves() { answering.oracle().threads().clone() } else { Threads::one() }
}

/// One instance of a batch.
struct Slot<'a> {
    prediction: &'a [f64],
    gradient: &'a mut [f64],
    value: Result<f64>,
    /// What was solved on the way.
    found: Vec<Decision>,
}

impl<'a> Slot<'a> {
    fn new(prediction: &'a [f64], gradient: &'a mut [f64]) -> Self {
        Self { prediction, gradient, value: Ok(0.0), found: Vec::new() }
    }

    fn evaluate(
        &mut self,
        (data, draw): (&Labelled, Draw),
        objective: Objective<'_>,
        (asker, costs): (&mut Asker<'_>, &mut Vec<f64>),
        instance: usize,
    ) {
        costs.clear();
        costs.extend(data.data().costs().row(instance).iter().map(|cost| f64::from(*cost)));
        let query = Query { instance, costs, prediction: self.prediction, best: data.best(instance), draw };
        let weight = objective.weight(instance);
        self.value = objective.loss.evaluate(&query, asker, self.gradient).map(|value| weight * value);
        if objective.weights.is_some() {
            self.gradient.iter_mut().for_each(|g| *g *= weight);
        }
    }

    /// The value, if it and its gradient are numbers.
    fn finite(self, epoch: usize, instance: usize) -> Result<f64> {
        let stop = |what, output| Err(Error::NonFinite { what, epoch, instance, output });
        if let Some(output) = self.prediction.iter().position(|p| !p.is_finite()) {
            return stop("prediction", Some(output));
        }
        let value = self.value?;
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
