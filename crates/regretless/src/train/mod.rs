//! Training: from labeled data to a model.
//!
//! `StagedTraining::run` trains the stages of a method one after the other. A stage has one round
//! or, if its loss weights instances by the regret of a baseline, several (`weighting.rs`). Each
//! round is the loop over epochs in `fit.rs`; an epoch is run by an `EpochRunner`, either the
//! minibatch runner (`epoch_runner.rs`, one gradient step in `step.rs`) or the fused one
//! (`fused/`), and `early_stopping.rs` decides which epoch is kept and when to stop.

use crate::checkpoint::{Checkpoint, CheckpointFolder, CheckpointStore};
use crate::data::SplitIndices;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::method::TrainingStage;
use crate::observer::Observer;
use crate::optimizer;
use crate::optimizer::Optimizer;
use crate::oracle::{Oracle, SolveCounts};
use crate::parallel::Timer;
use crate::predict::{CostModel, Network, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::report::{RoundReport, TrainReport};
use crate::settings::TrainingSettings;

mod closed_form;
mod early_stopping;
mod epoch_runner;
mod fingerprint;
mod fit;
mod fused;
mod parallel_threshold;
mod prepared_data;
mod record;
mod shared;
mod step;
mod weighting;

pub use closed_form::linear_fit;
pub(crate) use shared::SharedView;
#[cfg(test)]
pub(crate) use weighting::instance_costs;

use fit::RoundContext;
use prepared_data::PreparedData;
use weighting::WeightedLoss;

/// The data that is trained on and the oracle that solves for it.
#[derive(Clone, Copy)]
pub struct TrainingContext<'a> {
    /// Instances with their labels.
    pub data: &'a LabeledDataset,
    /// Which of them train and validate.
    pub split: &'a SplitIndices,
    /// Solves the problem if a loss, an instance weight or the validation needs it.
    pub oracle: &'a Oracle,
    /// Receives progress and may interrupt.
    pub observer: &'a dyn Observer,
}

/// Stages to train one after the other, each from the model of the one before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StagedTraining<'a> {
    /// The stages of a method.
    pub stages: &'a [TrainingStage],
    /// What is trained.
    pub predictor: &'a PredictorSpec,
    /// Settings of all stages.
    pub settings: TrainingSettings,
    /// A trained model to start from, with its networks and scalers instead of the predictor's.
    pub start: Option<&'a CostModel>,
    /// The problem, as the model file stores it.
    pub problem: &'a ProblemSpec,
}

/// The rounds and solves of a training so far, in this run and the runs that it resumes.
struct TrainingProgress {
    /// Finished rounds of all stages.
    rounds: Vec<RoundReport>,
    /// Solves of the runs that this one resumes.
    resumed_solves: SolveCounts,
    /// Counts of the oracle when this run started.
    initial_counts: SolveCounts,
}

impl TrainingProgress {
    fn solves(&self, oracle: &Oracle) -> SolveCounts {
        self.resumed_solves + (oracle.counts() - self.initial_counts)
    }
}

impl StagedTraining<'_> {
    /// Trains a model; the same data and settings result in the same bytes on any number of
    /// threads.
    ///
    /// With a checkpoint folder, an interrupted training resumes with the same call and finishes
    /// with byte-identical output. The checkpoints stay until [`CheckpointFolder::remove`], to be
    /// called once the model is saved.
    ///
    /// # Errors
    /// When the settings do not fit the data, a value is not finite, a solve fails, a checkpoint
    /// cannot be written, or the user interrupts.
    pub fn run(
        &self,
        context: &TrainingContext<'_>,
        checkpoints: Option<&CheckpointFolder>,
    ) -> Result<(CostModel, TrainReport)> {
        let store = match checkpoints {
            Some(folder) => Some(CheckpointStore::new(folder, self.key(context)?)),
            None => None,
        };
        let weighted_split = context.data.data().without_weightless_rows(context.split)?;
        self.settings.check(&weighted_split)?;
        let timer = Timer::start();
        let split = self.settings.rows(&weighted_split);
        let mut checkpoint = store
            .as_ref()
            .and_then(|store| load_checkpoint(store, context.observer));
        let mut progress = TrainingProgress {
            rounds: Vec::new(),
            resumed_solves: SolveCounts::default(),
            initial_counts: context.oracle.counts(),
        };
        let mut model = self.start.cloned();
        for (index, stage) in self.stages.iter().enumerate() {
            let resumed = checkpoint.take_if(|checkpoint| checkpoint.position.stage <= index);
            if let (Some(_), Some(store)) = (&checkpoint, &store) {
                model = Some(store.read_stage_model(index)?);
                continue;
            }
            let labels = stage.labels.apply(
                context.data,
                &split.train,
                &stage.to_string(),
                context.oracle,
                context.observer,
            )?;
            let context = TrainingContext {
                data: labels.as_ref().unwrap_or(context.data),
                split: &split,
                ..*context
            };
            stage.check()?;
            let settings = self.settings.for_stage(stage, index, split.train.len());
            let prepared =
                PreparedData::new(&context, stage, settings, self.predictor, model.as_ref())?;
            let networks = train_stage(&prepared, index, resumed, store.as_ref(), &mut progress)?;
            let trained = prepared.into_model(networks, self.problem)?;
            if let Some(store) = &store
                && index + 1 < self.stages.len()
            {
                store.write_stage_model(index, &trained)?;
            }
            model = Some(trained);
        }
        let mut model = model.ok_or_else(|| Error::setting("the method has no stage"))?;
        model.metadata.method = self.method_name();
        let solves = progress.solves(context.oracle);
        Ok((model, TrainReport::new(progress.rounds, solves, &timer)))
    }

    /// The stages by their names, preceded by the method of the model they start from.
    fn method_name(&self) -> String {
        let start = self.start.map(|model| model.metadata.method.clone());
        let stages = self.stages.iter().map(TrainingStage::to_string);
        start
            .into_iter()
            .chain(stages)
            .collect::<Vec<_>>()
            .join(" then ")
    }
}

/// Trains the rounds of a stage and returns the networks of the model: one, or one per round for an
/// ensemble.
fn train_stage(
    prepared: &PreparedData<'_>,
    stage_index: usize,
    mut checkpoint: Option<Checkpoint>,
    store: Option<&CheckpointStore<'_>>,
    progress: &mut TrainingProgress,
) -> Result<Vec<Network>> {
    let TrainingContext {
        data,
        oracle,
        observer,
        ..
    } = *prepared.context;
    let properties = prepared.stage.loss.properties();
    let loss = prepared.stage.loss.build(data, oracle, observer)?;
    if properties.checks_gradient {
        let (rows, seed) = (&prepared.context.split.train, prepared.settings().seed);
        let spec = &prepared.stage.loss;
        spec.check_built_gradient(loss.as_ref(), data, rows, oracle, seed)?;
    }
    let (mut networks, mut first_round) = (Vec::new(), 1);
    let mut weights = prepared.row_weights.clone();
    if let Some(checkpoint) = &mut checkpoint {
        for parameters in &checkpoint.networks {
            let mut network = prepared.initial_network(&[]);
            network.parameters_mut().copy_from_slice(parameters);
            networks.push(network);
        }
        weights = checkpoint.weights.take();
        first_round = checkpoint.position.round;
        progress.rounds = std::mem::take(&mut checkpoint.rounds);
        // The solves of building the loss again were counted by the run that is resumed.
        progress.resumed_solves = checkpoint.counts;
        progress.initial_counts = oracle.counts();
    }
    let num_rounds = properties.weighting.num_rounds();
    for round in first_round..=num_rounds {
        // Row weights, those of the first round, have a mean of 1.
        let mean_weight = match &weights {
            Some(weights) if round > 1 => weights.iter().sum::<f64>() / weights.len().max(1) as f64,
            Some(_) | None => 1.0,
        };
        let weighted_loss = WeightedLoss {
            loss: loss.as_ref(),
            properties,
            weights: weights.as_deref(),
            mean_weight,
        };
        let round_context = RoundContext {
            store,
            stage: stage_index,
            round,
            networks: &networks,
            progress,
        };
        let start = prepared.initial_network(&networks);
        let resumed = checkpoint.take();
        let (network, report) = fit::fit(prepared, weighted_loss, start, resumed, &round_context)?;
        if !properties.weighting.is_ensemble() {
            networks.clear();
        }
        networks.push(network);
        progress.rounds.push(report);
        if round < num_rounds {
            weights = Some(weighting::weights(prepared, loss.as_ref(), &networks)?);
        }
    }
    Ok(networks)
}

/// The checkpoint of an earlier run, if there is one that can be used.
fn load_checkpoint(store: &CheckpointStore<'_>, observer: &dyn Observer) -> Option<Checkpoint> {
    match store.load() {
        Ok(Some(checkpoint)) => {
            let epoch = checkpoint.position.epoch;
            observer.inform(&format!("resuming after epoch {epoch} of an earlier run"));
            Some(checkpoint)
        }
        Ok(None) => None,
        Err(reason) => {
            observer.warn(&format!(
                "a checkpoint is not used, training starts from the beginning: {reason}"
            ));
            None
        }
    }
}
