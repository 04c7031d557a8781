//! The training loop: epochs of gradient steps. Each epoch is scored; the parameters of the best
//! one are the result.

use super::early_stopping::EarlyStopping;
use super::epoch_runner::{EpochRows, EpochRunner, MinibatchRunner};
use super::fused::fused;
use super::step::BatchWorkspace;
use super::{PreparedData, TrainingProgress, WeightedLoss};
use crate::checkpoint::{Checkpoint, CheckpointPosition, CheckpointStore};
use crate::error::Result;
use crate::evaluate::{regrets_from_results, rows_per_chunk};
use crate::observer::InterruptOnlyObserver;
use crate::oracle::TrainingOracle;
use crate::predict::Network;
use crate::report::{EpochReport, RoundReport, StopReason};
use crate::settings::SelectionCriterion;

/// Trains a network on one loss and returns it with the parameters of its best epoch; epoch 0 is
/// the untrained network. Resumes from a checkpoint if one is given.
pub(super) fn fit(
    prepared: &PreparedData<'_>,
    weighted_loss: WeightedLoss<'_>,
    network: Network,
    checkpoint: Option<Checkpoint>,
    round: &RoundContext<'_>,
) -> Result<(Network, RoundReport)> {
    let settings = prepared.settings();
    let mut run = FitState::new(prepared, weighted_loss, network)?;
    let task_name = format!("training {}", prepared.stage);
    prepared
        .context
        .observer
        .begin(&task_name, settings.epochs as u64);
    let mut epoch = 0;
    match checkpoint.and_then(|checkpoint| run.restore(checkpoint)) {
        Some(finished) => epoch = finished,
        None => run.epoch(0)?,
    }
    prepared.context.observer.advance(epoch as u64);
    if let Some(deadline) = run.selection.deadline(settings) {
        run.runner.set_deadline(deadline);
    }
    let work_limit = settings
        .work_limit
        .map(|max| prepared.context.oracle.work().saturating_add(max));
    if let Some(limit) = work_limit {
        run.runner.limit_work(limit);
    }
    let stopped = loop {
        if epoch > 0 && work_limit.is_some_and(|limit| prepared.context.oracle.work() >= limit) {
            break StopReason::WorkLimit;
        }
        if epoch > 0
            && let Some(reason) = run.selection.stop(epoch, settings)
        {
            break reason;
        }
        if epoch >= settings.epochs {
            break StopReason::Epochs;
        }
        epoch += 1;
        run.epoch(epoch)?;
        prepared.context.observer.advance(1);
        round.write_checkpoint_if_due(&mut run, epoch)?;
    };
    prepared.context.observer.end();
    Ok(run.finish(stopped))
}

/// Which round of a training this is, the results of earlier rounds, and the checkpoint store.
pub(super) struct RoundContext<'a> {
    pub(super) store: Option<&'a CheckpointStore<'a>>,
    /// Index of the stage, from 0.
    pub(super) stage: usize,
    /// Round of the stage, from 1.
    pub(super) round: usize,
    /// Networks of the earlier rounds of the stage.
    pub(super) networks: &'a [Network],
    pub(super) progress: &'a TrainingProgress,
}

impl RoundContext<'_> {
    fn write_checkpoint_if_due(&self, run: &mut FitState<'_>, epoch: usize) -> Result<()> {
        let Some(store) = self.store.filter(|store| store.is_due()) else {
            return Ok(());
        };
        let parameters = |network: &Network| network.parameters().to_vec();
        store.write(Checkpoint {
            position: CheckpointPosition {
                stage: self.stage,
                round: self.round,
                epoch,
            },
            state: run.runner.state(),
            best: run.selection.best(),
            epochs: run.epochs.clone(),
            rounds: self.progress.rounds.clone(),
            networks: self.networks.iter().map(parameters).collect(),
            weights: run.weighted_loss.weights.map(<[f64]>::to_vec),
            loss_state: run.weighted_loss.loss.state(),
            counts: self.progress.solves(run.prepared.context.oracle),
        })
    }
}

/// The state of a training loop.
struct FitState<'a> {
    prepared: &'a PreparedData<'a>,
    weighted_loss: WeightedLoss<'a>,
    runner: Box<dyn EpochRunner + 'a>,
    /// Predicts the validation rows.
    batch: BatchWorkspace<'a>,
    /// Solves for the validation rows.
    validation_oracle: TrainingOracle<'a>,
    selection: EarlyStopping,
    epochs: Vec<EpochReport>,
}

impl<'a> FitState<'a> {
    fn new(
        prepared: &'a PreparedData<'a>,
        weighted_loss: WeightedLoss<'a>,
        network: Network,
    ) -> Result<Self> {
        let runner = match fused(prepared, weighted_loss, &network) {
            Some(runner) => runner,
            None => Box::new(MinibatchRunner::new(prepared, weighted_loss, network)?),
        };
        let batch = BatchWorkspace::new(1.0, TrainingOracle::exact(prepared.context.oracle));
        let names = prepared.context.data.data().cost_names();
        let validation_oracle = prepared.validation_oracle()?.leaving_out_unpredicted(names);
        Ok(Self {
            prepared,
            weighted_loss,
            runner,
            batch,
            validation_oracle,
            selection: EarlyStopping::new(),
            epochs: Vec::new(),
        })
    }

    /// Restores a checkpoint; returns its epoch, or `None` if it does not fit this runner.
    fn restore(&mut self, checkpoint: Checkpoint) -> Option<usize> {
        let seconds = checkpoint.epochs.last().map_or(0.0, |epoch| epoch.seconds);
        if !self.runner.restore(checkpoint.state) {
            return None;
        }
        self.selection = EarlyStopping::restored(checkpoint.best, seconds);
        self.epochs = checkpoint.epochs;
        self.weighted_loss.loss.restore(&checkpoint.loss_state);
        Some(checkpoint.position.epoch)
    }

    /// One pass over the training rows (or as many as an epoch has) in random order, none in epoch
    /// 0; scores the network and keeps its parameters if they are the best so far.
    fn epoch(&mut self, epoch: usize) -> Result<()> {
        let (context, settings) = (self.prepared.context, self.prepared.settings());
        let select = settings.select;
        let mut order = if epoch == 0 {
            Vec::new()
        } else {
            context.split.train.clone()
        };
        settings.shuffle_rows(&mut order, epoch);
        order.truncate(settings.rows_of_epoch(order.len()));
        let evaluated_rows = if select == SelectionCriterion::ValidationLoss {
            context.split.validation.as_slice()
        } else {
            &[]
        };
        let rows = EpochRows {
            order: &order,
            evaluated: evaluated_rows,
        };
        let result = self.runner.epoch(epoch, rows)?;
        // Costs may be in a memory-mapped file that another process can write to.
        let table = context.data.data();
        table.costs().check_unchanged()?;
        if let Some(parameters) = table.parameters() {
            parameters.check_unchanged()?;
        }
        let mut report = EpochReport {
            epoch,
            training_loss: (epoch > 0).then_some(result.loss),
            validation_loss: None,
            validation_regret: None,
            seconds: 0.0,
        };
        let score = match select {
            SelectionCriterion::ValidationRegret => {
                report.validation_regret = Some(self.validation_regret(epoch)?);
                report.validation_regret
            }
            SelectionCriterion::ValidationLoss => {
                let total: f64 = result.evaluated_losses.iter().sum();
                report.validation_loss = Some(total / self.prepared.total_weight(evaluated_rows));
                report.validation_loss
            }
            SelectionCriterion::TrainingLoss => Some(report.training_loss.unwrap_or(f64::INFINITY)),
            SelectionCriterion::Last => None,
        };
        self.record_epoch(report, score);
        Ok(())
    }

    /// Keeps the parameters if their score is the best so far.
    fn record_epoch(&mut self, mut report: EpochReport, score: Option<f64>) {
        if self.selection.update(report.epoch, score) {
            self.runner.save_best();
        }
        report.seconds = self.selection.seconds();
        if let Some(score) = score {
            let select = self.prepared.settings().select;
            let message = format!("epoch {}, {select} {score:.6}", report.epoch);
            self.prepared.context.observer.message(&message);
        }
        self.epochs.push(report);
    }

    fn validation_regret(&mut self, epoch: usize) -> Result<f64> {
        let context = self.prepared.context;
        let rows = &context.split.validation;
        let observer = InterruptOnlyObserver(context.observer);
        let network = self.runner.network();
        let mut regrets = Vec::with_capacity(rows.len());
        for chunk in rows.chunks(rows_per_chunk(context.data, context.oracle)) {
            let mut predictions = self
                .batch
                .predictions(self.prepared, network, epoch, chunk)?;
            self.prepared.clear_unobserved(&mut predictions, chunk)?;
            let solutions = self
                .validation_oracle
                .solve_rows(&predictions, chunk, &observer)?;
            regrets.append(&mut regrets_from_results(solutions, context.data, chunk)?);
        }
        if let Some(weights) = &self.prepared.row_weights {
            for (regret, row) in regrets.iter_mut().zip(rows) {
                *regret *= weights[*row];
            }
        }
        Ok(regrets.iter().sum::<f64>() / self.prepared.total_weight(rows))
    }

    fn finish(self, stopped: StopReason) -> (Network, RoundReport) {
        let report = RoundReport {
            method: self.prepared.stage.to_string(),
            epochs: self.epochs,
            best_epoch: self.selection.best_epoch(),
            stopped,
        };
        (self.runner.finish(), report)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{EpochRunner, MinibatchRunner, Network, PreparedData, WeightedLoss};
    use crate::data::{Dataset, FeatureShape, Features, Matrix, SplitIndices};
    use crate::decision::Decision;
    use crate::label::LabeledDataset;
    use crate::method::TrainingStage;
    use crate::observer::NoopObserver;
    use crate::oracle::Oracle;
    use crate::oracle::StepId;
    use crate::predict::PredictorSpec;
    use crate::problem::GridPath;
    use crate::settings::TrainingSettings;
    use crate::solve::Solution;
    use crate::tests::common::{assert_close, golden, numbers, rows};
    use crate::train::TrainingContext;

    fn matrix(values: &[Vec<f64>]) -> Matrix {
        Matrix::from_f64(values.len(), values[0].len(), &values.concat()).unwrap()
    }

    /// The table of the golden trace with its labels.
    fn golden_data(inputs: &serde_json::Value, oracle: &Oracle) -> LabeledDataset {
        let features =
            Features::new(matrix(&rows(&inputs["features"])), FeatureShape::Wide, None).unwrap();
        let data = Dataset::new(features, matrix(&rows(&inputs["true_cost"])), None).unwrap();
        let labels = rows(&inputs["true_sol"])
            .iter()
            .map(|x| Solution::optimal(Decision::from_dense(x), 0.0))
            .collect();
        LabeledDataset::from_decisions(data, oracle, labels).unwrap()
    }

    /// Steps in single precision follow the double-precision trace to its rounding. Under absolute
    /// errors rounding can flip a sign, and one flipped sign moves a weight by a whole step: losses
    /// are then compared more loosely and weights not at all.
    #[test]
    fn steps_follow_the_golden_trace() {
        let file = golden("train_trace");
        let inputs = &file["inputs"];
        let oracle = Oracle::new(Arc::new(GridPath::new(3, 3).unwrap()));
        let data = golden_data(inputs, &oracle);
        let split = SplitIndices::in_order(20, [20, 0, 0]).unwrap();
        let context = TrainingContext {
            data: &data,
            split: &split,
            oracle: &oracle,
            observer: &NoopObserver,
        };
        let start: Vec<f32> = [rows(&inputs["W0"]).concat(), numbers(&inputs["b0"])]
            .concat()
            .iter()
            .map(|w| *w as f32)
            .collect();
        for (name, expected) in file["runs"].as_object().unwrap() {
            let (name, mapped) = name
                .split_once(' ')
                .map_or((name.as_str(), false), |(name, _)| (name, true));
            let settings = TrainingSettings {
                learning_rate: 0.05,
                scale_costs: mapped,
                ..TrainingSettings::paper(0)
            };
            let method: TrainingStage = name.parse().unwrap();
            let prepared =
                PreparedData::new(&context, &method, settings, &PredictorSpec::Linear, None)
                    .unwrap();
            let loss = method.loss.build(&data, &oracle, &NoopObserver).unwrap();
            let weighted_loss = WeightedLoss {
                properties: method.loss.properties(),
                loss: loss.as_ref(),
                weights: None,
                mean_weight: 1.0,
            };
            let network = Network::with_parameters(vec![3, 12], start.clone()).unwrap();
            let mut run = MinibatchRunner::new(&prepared, weighted_loss, network).unwrap();
            let step = StepId {
                epoch: 1,
                batch: 0,
                is_gradient_step: true,
            };
            let mut losses = Vec::new();
            for order in inputs["batch_order"].as_array().unwrap() {
                let order: Vec<usize> = numbers(order).iter().map(|row| *row as usize).collect();
                for batch in order.chunks(6) {
                    losses.push(run.step(step, batch).unwrap() / batch.len() as f64);
                }
            }
            let squared = name.starts_with("MSE");
            let tolerance = if squared { 3e-6 } else { 1e-4 };
            assert_close(&losses, &numbers(&expected["step_losses"]), tolerance, name);
            if squared {
                let parameters: Vec<f64> = run
                    .network()
                    .parameters()
                    .iter()
                    .map(|w| f64::from(*w))
                    .collect();
                let weights = [rows(&expected["W"]).concat(), numbers(&expected["b"])].concat();
                assert_close(&parameters, &weights, 2e-5, &format!("{name} weights"));
            }
        }
    }
}
