//! The interface of epoch runners, which the training loop calls, and the minibatch runner for
//! every loss and predictor.

use std::time::Instant;

use super::step::BatchWorkspace;
use super::{PreparedData, WeightedLoss};
pub(super) use crate::checkpoint::EpochRunnerState;
use crate::error::{Error, Result};
use crate::optimizer::{Moments, OptimizerState};
use crate::oracle::StepId;
use crate::predict::Network;

/// Runs epochs and evaluates rows. The choice of runner changes the speed, not the result.
pub(super) trait EpochRunner {
    /// Trains one pass over rows, then evaluates the loss of others under the resulting
    /// parameters.
    fn epoch(&mut self, epoch: usize, rows: EpochRows<'_>) -> Result<EpochResult>;

    /// Ends an epoch early once this time has passed; for runners whose epochs may take long.
    fn set_deadline(&mut self, _deadline: Instant) {}

    /// Ends an epoch early once the oracle's work (nanoseconds of a typical machine) has reached
    /// this; for runners whose epochs may take long.
    fn limit_work(&mut self, _work: u64) {}

    /// The network with its current parameters.
    fn network(&mut self) -> &Network;

    /// Saves the current parameters as the best.
    fn save_best(&mut self);

    /// The network with the best parameters, or the current ones if none were saved.
    fn finish(self: Box<Self>) -> Network;

    /// The state to resume from.
    fn state(&mut self) -> EpochRunnerState;

    /// Restores a state that [`Self::state`] returned; false, with nothing changed, if it does not
    /// fit this runner.
    fn restore(&mut self, state: EpochRunnerState) -> bool;
}

/// The rows of an epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct EpochRows<'a> {
    /// Training rows in the order of their steps; without any, nothing is trained.
    pub(super) order: &'a [usize],
    /// Rows whose loss is evaluated after the training.
    pub(super) evaluated: &'a [usize],
}

/// The result of an epoch.
#[derive(Debug, Clone)]
pub(super) struct EpochResult {
    /// Mean loss of the training rows, each before its gradient step; NaN without any.
    pub(super) loss: f64,
    /// Losses of the evaluated rows.
    pub(super) evaluated_losses: Vec<f64>,
}

/// Forward pass, loss, backward pass, optimizer step: for any predictor and loss.
pub(super) struct MinibatchRunner<'a> {
    prepared: &'a PreparedData<'a>,
    weighted_loss: WeightedLoss<'a>,
    network: Network,
    optimizer: OptimizerState,
    batch: BatchWorkspace<'a>,
    /// Parameters of the best epoch.
    best_parameters: Vec<f32>,
    /// When epochs end early.
    deadline: Option<Instant>,
    /// Work of the oracle at which epochs end early.
    work_limit: Option<u64>,
}

impl<'a> MinibatchRunner<'a> {
    pub(super) fn new(
        prepared: &'a PreparedData<'a>,
        weighted_loss: WeightedLoss<'a>,
        network: Network,
    ) -> Result<Self> {
        let settings = prepared.settings();
        let optimizer = OptimizerState::new(settings.optimizer, network.parameters().len());
        let batch = BatchWorkspace::new(
            prepared.rescaling(weighted_loss),
            prepared.training_oracle()?,
        );
        let batch = batch.with_sparse_gradients(prepared, weighted_loss, &network);
        Ok(Self {
            prepared,
            weighted_loss,
            network,
            optimizer,
            batch,
            best_parameters: Vec::new(),
            deadline: None,
            work_limit: None,
        })
    }

    /// One step on a batch of rows; returns the sum of their losses before it.
    pub(super) fn step(&mut self, step: StepId, rows: &[usize]) -> Result<f64> {
        self.batch.predict(self.prepared, &self.network, rows);
        let total = self
            .batch
            .evaluate(self.prepared, self.weighted_loss, step, rows)?;
        let gradient = self
            .batch
            .backpropagate(self.prepared, &self.network, rows.len());
        let training_rows = self.prepared.context.split.train.len();
        let settings = self.prepared.settings();
        let rate = settings.learning_rate_at(self.optimizer.next_step(), training_rows);
        let parameters = self.network.parameters_mut();
        self.optimizer.step(rate, parameters, gradient);
        Ok(total)
    }
}

impl EpochRunner for MinibatchRunner<'_> {
    fn epoch(&mut self, epoch: usize, rows: EpochRows<'_>) -> Result<EpochResult> {
        let (mut total, mut num_rows) = (0.0, 0);
        let batches = rows.order.chunks(self.prepared.settings().batch_size);
        for (batch, batch_rows) in batches.enumerate() {
            if self.prepared.context.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let step = StepId {
                epoch,
                batch,
                is_gradient_step: true,
            };
            total += self.step(step, batch_rows)?;
            num_rows += batch_rows.len();
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                break;
            }
            // All solves of the batch are finished here, so the work is the same for any number of
            // threads.
            if self
                .work_limit
                .is_some_and(|limit| self.prepared.context.oracle.work() >= limit)
            {
                break;
            }
        }
        let evaluated_losses = self.batch.losses(
            self.prepared,
            self.weighted_loss,
            &self.network,
            epoch,
            rows.evaluated,
        )?;
        Ok(EpochResult {
            loss: total / num_rows as f64,
            evaluated_losses,
        })
    }

    fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    fn limit_work(&mut self, work: u64) {
        self.work_limit = Some(work);
    }

    fn network(&mut self) -> &Network {
        &self.network
    }

    fn save_best(&mut self) {
        self.best_parameters.clear();
        self.best_parameters
            .extend_from_slice(self.network.parameters());
    }

    fn finish(mut self: Box<Self>) -> Network {
        if !self.best_parameters.is_empty() {
            self.network
                .parameters_mut()
                .copy_from_slice(&self.best_parameters);
        }
        self.network
    }

    fn state(&mut self) -> EpochRunnerState {
        EpochRunnerState {
            parameters: self.network.parameters().to_vec(),
            best_parameters: (!self.best_parameters.is_empty())
                .then(|| self.best_parameters.clone()),
            moments: self.optimizer.moments.clone(),
            pool: self.batch.training_oracle().pool().cloned(),
            gram: Vec::new(),
            expansion_is_accurate: true,
        }
    }

    fn restore(&mut self, state: EpochRunnerState) -> bool {
        let (current, current_moments) = (self.network.parameters_mut(), &self.optimizer.moments);
        let sizes = |moments: &Moments| [moments.mean.len(), moments.square.len()];
        if state.parameters.len() != current.len()
            || sizes(&state.moments) != sizes(current_moments)
        {
            return false;
        }
        current.copy_from_slice(&state.parameters);
        self.best_parameters = state.best_parameters.unwrap_or_default();
        self.optimizer.moments = state.moments;
        if let Some(pool) = state.pool {
            self.batch.training_oracle().replace_pool(pool);
        }
        true
    }
}
