//! What the training loop asks of the machinery below it, and the plain machinery that serves every
//! loss and predictor.

use super::optimizer::{Moments, Stepper};
use super::step::Batch;
use super::{Objective, Ready};
use crate::error::{Error, Result};
use crate::oracle::{Occasion, Pool};
use crate::predict::{Network, Predictor};

/// All that changes from step to step.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub parameters: Vec<f32>,
    pub moments: Moments,
    /// Known decisions, where a method keeps them.
    pub pool: Option<Pool>,
    /// What an engine would otherwise compute again with other rounding.
    pub sums: Vec<f64>,
}

/// Runs epochs and evaluates losses; which one runs changes the speed, not the result.
pub(super) trait Engine {
    /// One pass over the rows in this order; returns their mean loss, each at its own step.
    fn epoch(&mut self, epoch: usize, order: &[usize]) -> Result<f64>;

    /// Losses of rows under the present parameters.
    fn losses(&mut self, epoch: usize, rows: &[usize]) -> Result<Vec<f64>>;

    /// The network with its present parameters.
    fn network(&mut self) -> &Network;

    /// All that must be known to go on from here.
    fn state(&mut self) -> State;

    /// Goes on from there.
    fn restore(&mut self, state: State);
}

/// Predict, evaluate, send back, step: for any predictor and loss.
pub(super) struct Plain<'a> {
    ready: &'a Ready<'a>,
    objective: Objective<'a>,
    network: Network,
    stepper: Stepper,
    batch: Batch<'a>,
}

impl<'a> Plain<'a> {
    pub(super) fn new(ready: &'a Ready<'a>, objective: Objective<'a>, network: Network) -> Result<Self> {
        let settings = ready.settings();
        let stepper = Stepper::new(settings.optimizer, settings.learning_rate, network.parameters().len());
        let batch = Batch::new(ready.rescaling(objective), ready.answering(objective.loss)?);
        Ok(Self { ready, objective, network, stepper, batch })
    }

    /// One step on a batch of rows; returns the sum of their losses before it.
    pub(super) fn step(&mut self, occasion: Occasion, rows: &[usize]) -> Result<f64> {
        self.batch.predict(self.ready, &self.network, rows);
        let total = self.batch.evaluate(self.ready, self.objective, (occasion, rows))?;
        let gradient = self.batch.backpropagate(self.ready, &self.network, rows.len());
        self.stepper.step(self.network.parameters_mut(), gradient);
        Ok(total)
    }
}

impl Engine for Plain<'_> {
    fn epoch(&mut self, epoch: usize, order: &[usize]) -> Result<f64> {
        let mut total = 0.0;
        for (batch, rows) in order.chunks(self.ready.settings().batch).enumerate() {
            if self.ready.task.watch.interrupted() {
                return Err(Error::Interrupted);
            }
            total += self.step(Occasion { epoch, batch, training: true }, rows)?;
        }
        Ok(total / order.len() as f64)
    }

    fn losses(&mut self, epoch: usize, rows: &[usize]) -> Result<Vec<f64>> {
        self.batch.losses(self.ready, self.objective, &self.network, (epoch, rows))
    }

    fn network(&mut self) -> &Network {
        &self.network
    }

    fn state(&mut self) -> State {
        let pool = self.batch.answering().pool().cloned();
        State {
            parameters: self.network.parameters().to_vec(),
            moments: self.stepper.moments.clone(),
            pool,
            sums: Vec::new(),
        }
    }

    fn restore(&mut self, state: State) {
        self.network.parameters_mut().copy_from_slice(&state.parameters);
        self.stepper.moments = state.moments;
        if let Some(pool) = state.pool {
            self.batch.answering().replace_pool(pool);
        }
    }
}
