//! What the training loop asks of the machinery below it, and the plain machinery that serves every
//! loss and predictor.

use std::time::Instant;

use super::optimizer::{Moments, OptimizerState};
use super::step::BatchWorkspace;
use super::{PreparedData, WeightedLoss};
use crate::error::{Error, Result};
use crate::oracle::{SolutionPool, StepId};
use crate::predict::{Network, Predictor};

/// Where a training stands: all that must be known to go on from there. How numbers are laid out is
/// the engine's own business.
#[derive(Debug, Clone, Default)]
pub(super) struct TrainerState {
    pub parameters: Vec<f32>,
    /// Parameters remembered as the best.
    pub best_parameters: Option<Vec<f32>>,
    pub moments: Moments,
    /// Known decisions, where a method keeps them.
    pub pool: Option<SolutionPool>,
    /// The Gram matrix of a fused linear predictor, which recomputed would be rounded differently.
    pub gram: Vec<f64>,
    /// Whether fused squared errors are still expanded; see `fused::expanded_squares`.
    pub squares_resolved: bool,
}

/// Runs epochs and judges rows; which one runs changes the speed, not the result.
pub(super) trait EpochRunner {
    /// One pass over the rows in this order, none of them for no training, then the losses of the
    /// rows to be judged under the parameters it ends with.
    fn epoch(
        &mut self,
        epoch: usize,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Result<EpochResult>;

    /// Ends an epoch early once this moment has passed, where an epoch may take long.
    fn set_deadline(&mut self, _deadline: Instant) {}

    /// Ends an epoch early once the oracle's work has reached this, where an epoch may take long.
    fn limit_work(&mut self, _work: u64) {}

    /// The network with its present parameters.
    fn network(&mut self) -> &Network;

    /// Remembers the present parameters.
    fn save_best(&mut self);

    /// The network with the parameters remembered last, or else the present ones.
    fn finish(self: Box<Self>) -> Network;

    /// Where training stands.
    fn state(&mut self) -> TrainerState;

    /// Goes on from there; false, and nothing changed, when that is no standing of this engine.
    fn restore(&mut self, state: TrainerState) -> bool;
}

/// What an epoch came to.
#[derive(Debug, Clone)]
pub(super) struct EpochResult {
    /// Mean loss of the rows trained on, each at its own step; not a number without any.
    pub(super) loss: f64,
    /// Losses of the rows judged.
    pub(super) evaluated_losses: Vec<f64>,
}

/// Predict, evaluate, send back, step: for any predictor and loss.
pub(super) struct MinibatchRunner<'a> {
    prepared: &'a PreparedData<'a>,
    objective: WeightedLoss<'a>,
    network: Network,
    stepper: OptimizerState,
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
        objective: WeightedLoss<'a>,
        network: Network,
    ) -> Result<Self> {
        let settings = prepared.settings();
        let stepper = OptimizerState::new(settings.optimizer, network.parameters().len());
        let batch = BatchWorkspace::new(prepared.rescaling(objective), prepared.training_oracle()?);
        let batch = batch.with_sparse_gradients(prepared, objective, &network);
        Ok(Self {
            prepared,
            objective,
            network,
            stepper,
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
            .evaluate(self.prepared, self.objective, (step, rows))?;
        let gradient = self
            .batch
            .backpropagate(self.prepared, &self.network, rows.len());
        let rate = self
            .prepared
            .settings()
            .learning_rate_at(self.stepper.next(), self.prepared.task.split.train.len());
        self.stepper
            .step(rate, self.network.parameters_mut(), gradient);
        Ok(total)
    }
}

impl EpochRunner for MinibatchRunner<'_> {
    fn epoch(
        &mut self,
        epoch: usize,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Result<EpochResult> {
        let (mut total, mut seen) = (0.0, 0);
        for (batch, rows) in order
            .chunks(self.prepared.settings().batch_size)
            .enumerate()
        {
            if self.prepared.task.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            total += self.step(
                StepId {
                    epoch,
                    batch,
                    training: true,
                },
                rows,
            )?;
            seen += rows.len();
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                break;
            }
            // All solves of the batch are over here, so that the sum is the same for any number of
            // threads.
            if self
                .work_limit
                .is_some_and(|limit| self.prepared.task.oracle.work() >= limit)
            {
                break;
            }
        }
        let evaluated_losses = self.batch.losses(
            self.prepared,
            self.objective,
            &self.network,
            (epoch, evaluated_rows),
        )?;
        Ok(EpochResult {
            loss: total / seen as f64,
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

    fn state(&mut self) -> TrainerState {
        TrainerState {
            parameters: self.network.parameters().to_vec(),
            best_parameters: (!self.best_parameters.is_empty())
                .then(|| self.best_parameters.clone()),
            moments: self.stepper.moments.clone(),
            pool: self.batch.training_oracle().pool().cloned(),
            gram: Vec::new(),
            squares_resolved: true,
        }
    }

    fn restore(&mut self, state: TrainerState) -> bool {
        let TrainerState {
            parameters,
            best_parameters,
            moments,
            pool,
            ..
        } = state;
        let (present, known) = (self.network.parameters_mut(), &self.stepper.moments);
        let sizes = |moments: &Moments| [moments.mean.len(), moments.square.len()];
        if parameters.len() != present.len() || sizes(&moments) != sizes(known) {
            return false;
        }
        present.copy_from_slice(&parameters);
        self.best_parameters = best_parameters.unwrap_or_default();
        self.stepper.moments = moments;
        if let Some(pool) = pool {
            self.batch.training_oracle().replace_pool(pool);
        }
        true
    }
}
