//! The training loop: epochs of steps, each epoch judged, the best one kept.

use super::optimizer::Stepper;
use super::select::Selection;
use super::step::Batch;
use super::{EpochReport, Ready, RoundReport, Select, Stopped};
use crate::error::{Error, Result};
use crate::evaluate::regrets;
use crate::loss::Loss;
use crate::predict::{Network, Predictor};
use crate::random::{Purpose, Stream};

/// Trains a network on one loss and returns it at its best epoch. Epoch 0, untrained, counts too.
pub(super) fn fit(ready: &Ready<'_>, loss: &dyn Loss, network: Network) -> Result<(Network, RoundReport)> {
    let settings = &ready.recipe.settings;
    let mut run = Run::new(ready, loss, network);
    ready.task.watch.begin(&format!("training {}", ready.recipe.loss), settings.epochs as u64);
    run.judge(0, None)?;
    let mut stopped = Stopped::Epochs;
    for epoch in 1..=settings.epochs {
        let training_loss = run.epoch(epoch)?;
        run.judge(epoch, Some(training_loss))?;
        ready.task.watch.advance(1);
        if let Some(reason) = run.selection.stop(epoch, settings) {
            stopped = reason;
            break;
        }
    }
    ready.task.watch.end();
    Ok(run.finish(stopped))
}

/// The state of a training loop.
struct Run<'a> {
    ready: &'a Ready<'a>,
    loss: &'a dyn Loss,
    network: Network,
    stepper: Stepper,
    batch: Batch,
    selection: Selection,
    epochs: Vec<EpochReport>,
}

impl<'a> Run<'a> {
    fn new(ready: &'a Ready<'a>, loss: &'a dyn Loss, network: Network) -> Self {
        let settings = &ready.recipe.settings;
        let stepper = Stepper::new(settings.optimizer, settings.learning_rate, network.parameters().len());
        let costs = ready.task.data.data().costs().cols();
        let rescale = settings.rescale && settings.optimizer.ignores_scale();
        let factor = if rescale { loss.rescaling(costs) } else { 1.0 };
        Self {
            ready,
            loss,
            network,
            stepper,
            batch: Batch::new(factor),
            selection: Selection::new(),
            epochs: Vec::new(),
        }
    }

    /// One pass over the training rows in an order of its own; returns the mean loss.
    fn epoch(&mut self, epoch: usize) -> Result<f64> {
        let settings = &self.ready.recipe.settings;
        let mut order = self.ready.task.split.train.clone();
        Stream::new(Purpose::BatchOrder, settings.seed, [epoch as u64, 0]).shuffle(&mut order);
        let mut total = 0.0;
        for rows in order.chunks(settings.batch) {
            if self.ready.task.watch.interrupted() {
                return Err(Error::Interrupted);
            }
            self.batch.predict(self.ready, &self.network, rows);
            total += self.batch.evaluate(self.ready, self.loss, (epoch, rows))?;
            let gradient = self.batch.backpropagate(self.ready, &self.network, rows.len());
            self.stepper.step(self.network.parameters_mut(), gradient);
        }
        Ok(total / order.len() as f64)
    }

    /// Scores the network as it is now and keeps it if it is the best so far.
    fn judge(&mut self, epoch: usize, training_loss: Option<f64>) -> Result<()> {
        let select = self.ready.recipe.settings.select;
        let mut report =
            EpochReport { epoch, training_loss, validation_loss: None, validation_regret: None, seconds: 0.0 };
        let score = match select {
            Select::ValidationRegret => {
                report.validation_regret = Some(self.validation_regret()?);
                report.validation_regret
            }
            Select::ValidationLoss => {
                report.validation_loss = Some(self.validation_loss(epoch)?);
                report.validation_loss
            }
            Select::TrainingLoss => Some(training_loss.unwrap_or(f64::INFINITY)),
            Select::Last => None,
        };
        self.selection.offer(epoch, score, self.network.parameters());
        report.seconds = self.selection.seconds();
        if let Some(score) = score {
            self.ready.task.watch.note(&format!("epoch {epoch}, {select} {score:.6}"));
        }
        self.epochs.push(report);
        Ok(())
    }

    fn validation_regret(&mut self) -> Result<f64> {
        let Ready { task, .. } = self.ready;
        let rows = &task.split.validation;
        let predictions = self.batch.predictions(self.ready, &self.network, rows)?;
        let quiet = super::step::WithoutProgress(task.watch);
        let regrets = regrets(&predictions, task.data, rows, (task.oracle, &quiet))?;
        Ok(regrets.iter().sum::<f64>() / rows.len() as f64)
    }

    fn validation_loss(&mut self, epoch: usize) -> Result<f64> {
        let rows = &self.ready.task.split.validation;
        let losses = self.batch.losses(self.ready, self.loss, &self.network, (epoch, rows))?;
        Ok(losses.iter().sum::<f64>() / rows.len() as f64)
    }

    fn finish(self, stopped: Stopped) -> (Network, RoundReport) {
        let mut network = self.network;
        let (best_epoch, parameters) = self.selection.finish();
        if let Some(parameters) = parameters {
            network.parameters_mut().copy_from_slice(&parameters);
        }
        (network, RoundReport { epochs: self.epochs, best_epoch, stopped })
    }
}
