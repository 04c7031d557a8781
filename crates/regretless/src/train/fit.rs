//! The training loop: epochs of steps, each epoch judged, the best one kept.

use super::checkpoint::{Checkpoint, CheckpointWriter};
use super::early_stopping::EarlyStopping;
use super::epoch_runner::{EpochRunner, MinibatchRunner};
use super::fused::fused;
use super::step::BatchWorkspace;
use super::{
    CumulativeSolveCounts, EpochReport, PreparedData, RoundReport, SelectionCriterion, StopReason,
    WeightedLoss,
};
use crate::error::Result;
use crate::evaluate::{regrets_from_results, rows_per_chunk};
use crate::oracle::TrainingOracle;
use crate::predict::{Network, Predictor};
use crate::random::{Purpose, RandomStream};

/// Trains a network on one loss and returns it at its best epoch. Epoch 0, untrained, counts too. A
/// snapshot is where an earlier run was; the journal is where this one is written down.
pub(super) fn fit(
    prepared: &PreparedData<'_>,
    objective: WeightedLoss<'_>,
    network: Network,
    (snapshot, journal): (Option<Checkpoint>, Option<&CheckpointContext<'_>>),
) -> Result<(Network, RoundReport)> {
    let settings = prepared.settings();
    let mut run = FitState::new(prepared, objective, network)?;
    let name = prepared.stage.method.stage_name();
    prepared
        .task
        .observer
        .begin(&format!("training {name}"), settings.epochs as u64);
    let mut epoch = 0;
    match snapshot.and_then(|snapshot| run.restore(snapshot)) {
        Some(earlier) => epoch = earlier,
        None => run.epoch(0)?,
    }
    prepared.task.observer.advance(epoch as u64);
    if let Some(deadline) = run.selection.deadline(settings) {
        run.runner.set_deadline(deadline);
    }
    let work_limit = settings
        .work_limit
        .map(|max| prepared.task.oracle.work().saturating_add(max));
    if let Some(limit) = work_limit {
        run.runner.limit_work(limit);
    }
    let stopped = loop {
        if epoch > 0 && work_limit.is_some_and(|limit| prepared.task.oracle.work() >= limit) {
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
        prepared.task.observer.advance(1);
        if let Some(journal) = journal {
            journal.write_if_due(&mut run, epoch)?;
        }
    };
    prepared.task.observer.end();
    Ok(run.finish(stopped))
}

/// Where a round is written down, and what is known about the rounds before.
pub(super) struct CheckpointContext<'a> {
    pub keeper: &'a CheckpointWriter<'a>,
    /// Which of the methods of a recipe, and which round of it.
    pub position: [usize; 2],
    pub rounds: &'a [RoundReport],
    pub members: &'a [Network],
    pub tally: &'a CumulativeSolveCounts,
}

impl CheckpointContext<'_> {
    /// Writes the run down if it is time.
    fn write_if_due(&self, run: &mut FitState<'_>, epoch: usize) -> Result<()> {
        if !self.keeper.is_due() {
            return Ok(());
        }
        let [stage, round] = self.position;
        self.keeper.write(Checkpoint {
            position: [stage, round, epoch],
            state: run.runner.state(),
            best: run.selection.best(),
            epochs: run.epochs.clone(),
            rounds: self.rounds.to_vec(),
            members: self
                .members
                .iter()
                .map(|member| member.parameters().to_vec())
                .collect(),
            weights: run.objective.weights.map(<[f64]>::to_vec),
            loss: run.objective.loss.state(),
            counts: self.tally.counts(run.prepared.task.oracle),
        })
    }
}

/// The state of a training loop.
struct FitState<'a> {
    prepared: &'a PreparedData<'a>,
    objective: WeightedLoss<'a>,
    runner: Box<dyn EpochRunner + 'a>,
    /// Predicts for validation by regret.
    batch: BatchWorkspace<'a>,
    /// Decides for validation by regret.
    validation_oracle: TrainingOracle<'a>,
    selection: EarlyStopping,
    epochs: Vec<EpochReport>,
}

impl<'a> FitState<'a> {
    fn new(
        prepared: &'a PreparedData<'a>,
        objective: WeightedLoss<'a>,
        network: Network,
    ) -> Result<Self> {
        let runner = match fused(prepared, objective, &network) {
            Some(runner) => runner,
            None => Box::new(MinibatchRunner::new(prepared, objective, network)?),
        };
        let batch = BatchWorkspace::new(1.0, TrainingOracle::exact(prepared.task.oracle));
        let validation_oracle = prepared.validation_oracle()?;
        Ok(Self {
            prepared,
            objective,
            runner,
            batch,
            validation_oracle,
            selection: EarlyStopping::new(),
            epochs: Vec::new(),
        })
    }

    /// Goes on from a snapshot; returns its epoch, if it fits.
    fn restore(&mut self, snapshot: Checkpoint) -> Option<usize> {
        let seconds = snapshot.epochs.last().map_or(0.0, |epoch| epoch.seconds);
        if !self.runner.restore(snapshot.state) {
            return None;
        }
        self.selection = EarlyStopping::restored(snapshot.best, seconds);
        self.epochs = snapshot.epochs;
        self.objective.loss.restore(&snapshot.loss);
        Some(snapshot.position[2])
    }

    /// One pass over the training rows, or as many as an epoch has, in an order of its own, none in
    /// epoch 0; keeps the network if it is the best so far.
    fn epoch(&mut self, epoch: usize) -> Result<()> {
        let PreparedData { task, .. } = self.prepared;
        let select = self.prepared.settings().select;
        let mut order = if epoch == 0 {
            Vec::new()
        } else {
            task.split.train.clone()
        };
        RandomStream::new(
            Purpose::BatchOrder,
            self.prepared.settings().seed,
            [epoch as u64, 0],
        )
        .shuffle(&mut order);
        order.truncate(self.prepared.settings().rows_of_epoch(order.len()));
        let evaluated_rows = if select == SelectionCriterion::ValidationLoss {
            task.split.validation.as_slice()
        } else {
            &[]
        };
        let passed = self.runner.epoch(epoch, &order, evaluated_rows)?;
        // Costs may be in a file that somebody else can write to.
        task.data.data().costs().check_unchanged()?;
        let mut report = EpochReport {
            epoch,
            training_loss: (epoch > 0).then_some(passed.loss),
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
                report.validation_loss =
                    Some(passed.evaluated_losses.iter().sum::<f64>() / evaluated_rows.len() as f64);
                report.validation_loss
            }
            SelectionCriterion::TrainingLoss => Some(report.training_loss.unwrap_or(f64::INFINITY)),
            SelectionCriterion::Last => None,
        };
        self.record_epoch(report, score);
        Ok(())
    }

    /// Keeps the network if its score is the best so far.
    fn record_epoch(&mut self, mut report: EpochReport, score: Option<f64>) {
        if self.selection.update(report.epoch, score) {
            self.runner.save_best();
        }
        report.seconds = self.selection.seconds();
        if let Some(score) = score {
            let select = self.prepared.settings().select;
            self.prepared
                .task
                .observer
                .message(&format!("epoch {}, {select} {score:.6}", report.epoch));
        }
        self.epochs.push(report);
    }

    fn validation_regret(&mut self, epoch: usize) -> Result<f64> {
        let PreparedData { task, .. } = self.prepared;
        let rows = &task.split.validation;
        let quiet = super::step::InterruptOnlyObserver(task.observer);
        let network = self.runner.network();
        let mut regrets = Vec::with_capacity(rows.len());
        for part in rows.chunks(rows_per_chunk(task.data, task.oracle)) {
            let predictions = self
                .batch
                .predictions(self.prepared, network, (epoch, part))?;
            let answers = self
                .validation_oracle
                .solve_rows(&predictions, part, &quiet)?;
            regrets.append(&mut regrets_from_results(answers, task.data, part)?);
        }
        Ok(regrets.iter().sum::<f64>() / rows.len() as f64)
    }

    fn finish(self, stopped: StopReason) -> (Network, RoundReport) {
        let (best_epoch, method) = (
            self.selection.best_epoch(),
            self.prepared.stage.method.stage_name(),
        );
        (
            self.runner.finish(),
            RoundReport {
                method,
                epochs: self.epochs,
                best_epoch,
                stopped,
            },
        )
    }
}

#[cfg(test)]
#[path = "../../tests/common/mod.rs"]
mod common;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::common::{assert_close, golden, numbers, rows};
    use super::{EpochRunner, MinibatchRunner, Network, PreparedData, WeightedLoss};
    use crate::data::{Dataset, FeatureShape, Features, Matrix, SplitIndices};
    use crate::decision::Decision;
    use crate::label::LabeledDataset;
    use crate::observer::NoopObserver;
    use crate::oracle::Oracle;
    use crate::oracle::StepId;
    use crate::predict::{Predictor, PredictorSpec};
    use crate::problem::GridPath;
    use crate::solve::Solution;
    use crate::train::{StageRun, TrainingContext, TrainingSettings, TrainingStage};

    fn matrix(values: &[Vec<f64>]) -> Matrix {
        Matrix::from_f64(values.len(), values[0].len(), &values.concat()).unwrap()
    }

    /// Steps in single precision follow the double-precision trace to its rounding. Under absolute
    /// errors rounding can flip a sign, and one flipped sign moves a weight by a whole step: losses
    /// are then compared more loosely and weights not at all.
    #[test]
    fn steps_follow_the_golden_trace() {
        let Some(file) = golden("train_trace") else {
            return;
        };
        let inputs = &file["inputs"];
        let features =
            Features::new(matrix(&rows(&inputs["features"])), FeatureShape::Wide, None).unwrap();
        let data = Dataset::new(features, matrix(&rows(&inputs["true_cost"])), None).unwrap();
        let oracle = Oracle::new(Arc::new(GridPath::new(3, 3).unwrap()));
        let known = rows(&inputs["true_sol"])
            .iter()
            .map(|x| Solution::optimal(Decision::from_dense(x), 0.0))
            .collect();
        let data = LabeledDataset::from_decisions(data, &oracle, known).unwrap();
        let split = SplitIndices::in_order(20, [20, 0, 0]).unwrap();
        let task = TrainingContext {
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
            let stage = StageRun {
                method: &method,
                predictor: &PredictorSpec::Linear,
                settings,
                start: None,
            };
            let prepared = PreparedData::new(&task, &stage).unwrap();
            let loss = method.loss.build(&data, &oracle, &NoopObserver).unwrap();
            let objective = WeightedLoss {
                capabilities: stage.method.loss.capabilities(),
                loss: loss.as_ref(),
                weights: None,
            };
            let network = Network::with_parameters(vec![3, 12], start.clone()).unwrap();
            let mut run = MinibatchRunner::new(&prepared, objective, network).unwrap();
            let step = StepId {
                epoch: 1,
                batch: 0,
                training: true,
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
                let found: Vec<f64> = run
                    .network()
                    .parameters()
                    .iter()
                    .map(|w| f64::from(*w))
                    .collect();
                let weights = [rows(&expected["W"]).concat(), numbers(&expected["b"])].concat();
                assert_close(&found, &weights, 2e-5, &format!("{name} weights"));
            }
        }
    }
}
