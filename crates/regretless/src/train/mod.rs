//! Training: from labelled data to a model.
//!
//! [`train`] is the way in. It prepares the data, trains once or, where the loss weights instances
//! by the regret of a baseline, several rounds (`weighting.rs`); each round is the loop in
//! `fit.rs`, each step of it is in `step.rs`, and `select.rs` decides which epoch is kept and when
//! to stop.

use std::time::Instant;

use crate::data::{CostSide, Features, SplitIndices};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::loss::{Capabilities, InstanceWeighting, Loss};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveCounts, TrainingOracle};
use crate::parallel::cpu_seconds;
use crate::predict::{
    CostModel, CostScaler, FeatureScaler, ModelMetadata, Network, Predictor, PredictorSpec,
};
use crate::problem::ProblemSpec;

mod auto;
mod baseline;
mod checkpoint;
mod early_stopping;
mod epoch_runner;
mod fit;
mod fused;
mod optimizer;
mod parallel_threshold;
mod report;
mod result_files;
mod settings;
mod stage;
mod stage_overrides;
mod step;
mod trainer;
mod weighting;

pub use auto::{AutoBudget, CandidateReport, Method, ScoringKind};
pub use baseline::{Baseline, least_squares};
pub use checkpoint::{CheckpointFolder, RunLock};
pub use early_stopping::SelectionCriterion;
pub use optimizer::Optimizer;
pub use report::{EpochReport, RoundReport, StopReason, TrainReport};
pub use result_files::{ResultFile, ResultFiles};
pub use settings::TrainingSettings;
pub use stage::TrainingStage;
pub use stage_overrides::StageOverrides;
pub use trainer::{Trainer, TrainingOutcome, TrainingSummary};
pub use weighting::{instance_costs, reweighted};

use checkpoint::{Checkpoint, CheckpointWriter};
use fit::CheckpointContext;

/// What is trained on, and with whose help.
#[derive(Clone, Copy)]
pub struct TrainingContext<'a> {
    /// Instances with their best decisions.
    pub data: &'a LabeledDataset,
    /// Which of them train and validate.
    pub split: &'a SplitIndices,
    /// Solves the problem where a loss, an instance weight or the validation needs it.
    pub oracle: &'a Oracle,
    /// Watches the progress.
    pub observer: &'a dyn Observer,
}

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct StageTrainer {
    /// What is minimised, and how its questions are answered.
    pub method: TrainingStage,
    /// What is trained.
    pub predictor: PredictorSpec,
    /// How.
    pub settings: TrainingSettings,
    /// A trained model to start from; its networks and maps are used, whatever the predictor above.
    pub start: Option<CostModel>,
}

impl StageTrainer {
    /// A recipe that starts afresh.
    pub fn new(
        method: impl Into<TrainingStage>,
        predictor: PredictorSpec,
        settings: TrainingSettings,
    ) -> Self {
        Self {
            method: method.into(),
            predictor,
            settings,
            start: None,
        }
    }
}

/// A trained model and how it came about.
#[derive(Debug, Clone)]
pub struct FitResult {
    /// The model, its predictions in the user's sense.
    pub model: CostModel,
    /// What happened.
    pub report: TrainReport,
}

/// Trains a model; the same data and recipe give the same bytes, whatever the number of threads.
///
/// # Errors
/// When the recipe does not fit the data, a value is not finite, a solve fails, or the user
/// interrupts.
pub fn train(
    task: &TrainingContext<'_>,
    trainer: &StageTrainer,
    problem: &ProblemSpec,
) -> Result<FitResult> {
    StagedTraining::new(task, trainer, problem).run(None)
}

/// The same with checkpoints: a training that was stopped goes on where it was. The checkpoints
/// stay until [`Checkpoints::remove`], which is to be called once the model is safe.
///
/// # Errors
/// As [`train`], and when a checkpoint cannot be written.
pub fn train_with_checkpoints(
    task: &TrainingContext<'_>,
    trainer: &StageTrainer,
    problem: &ProblemSpec,
    checkpoints: &CheckpointFolder,
) -> Result<FitResult> {
    let keeper = CheckpointWriter::new(checkpoints, task, trainer, problem)?;
    StagedTraining::new(task, trainer, problem).run(Some(&keeper))
}

/// A whole training: methods one after the other.
struct StagedTraining<'a> {
    task: &'a TrainingContext<'a>,
    trainer: &'a StageTrainer,
    problem: &'a ProblemSpec,
    tally: CumulativeSolveCounts,
    rounds: Vec<RoundReport>,
    /// What is trained on from, and in the end the result.
    model: Option<CostModel>,
}

impl<'a> StagedTraining<'a> {
    fn new(
        task: &'a TrainingContext<'a>,
        trainer: &'a StageTrainer,
        problem: &'a ProblemSpec,
    ) -> Self {
        let tally = CumulativeSolveCounts {
            resumed: SolveCounts::default(),
            start: task.oracle.counts(),
        };
        Self {
            task,
            trainer,
            problem,
            tally,
            rounds: Vec::new(),
            model: trainer.start.clone(),
        }
    }

    fn run(mut self, keeper: Option<&CheckpointWriter<'_>>) -> Result<FitResult> {
        self.trainer.settings.check(self.task.split)?;
        let (started, spent) = (Instant::now(), cpu_seconds());
        let split = self.trainer.settings.rows(self.task.split);
        let mut snapshot = keeper.and_then(|keeper| load_checkpoint(keeper, self.task.observer));
        for (position, method) in self.trainer.method.stages().enumerate() {
            let here = snapshot.take_if(|snapshot| snapshot.position[0] <= position);
            match (&here, &snapshot, keeper) {
                (None, Some(_), Some(keeper)) => {
                    self.model = Some(keeper.read_stage_model(position)?)
                }
                _ => self.stage(position, method, &split, (here, keeper))?,
            }
        }
        let mut model = self
            .model
            .ok_or_else(|| Error::setting("nothing to train"))?;
        model.about.loss = match &self.trainer.start {
            Some(start) => format!("{} then {}", start.about.loss, self.trainer.method),
            None => self.trainer.method.to_string(),
        };
        let solves = self.tally.counts(self.task.oracle);
        let report = TrainReport {
            rounds: self.rounds,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds().zip(spent).map(|(now, before)| now - before),
            solves,
            timed_solve_seconds: None,
        };
        Ok(FitResult { model, report })
    }

    fn stage(
        &mut self,
        position: usize,
        method: &TrainingStage,
        split: &SplitIndices,
        kept: ResumePoint<'_>,
    ) -> Result<()> {
        let (task, settings) = (self.task, self.trainer.settings);
        let settings = method
            .budget
            .apply_to(if position == 0 {
                settings
            } else {
                settings.for_later_stage()
            })
            .with_batch_at_most(split.train.len());
        let labels = method.labels.apply(
            task.data,
            &split.train,
            &method.stage_name(),
            task.oracle,
            task.observer,
        )?;
        let task = TrainingContext {
            data: labels.as_ref().unwrap_or(task.data),
            split,
            ..*task
        };
        let start = self.model.take();
        let stage = StageRun {
            method,
            predictor: &self.trainer.predictor,
            settings,
            start: start.as_ref(),
        };
        let model = stage.run(&task, self, (position, kept.0, kept.1))?;
        if let Some(keeper) = kept.1
            && position + 1 < self.trainer.method.stages().count()
        {
            keeper.write_stage_model(position, &model)?;
        }
        self.model = Some(model);
        Ok(())
    }
}

/// Where an earlier run was, and where this one is written down.
type ResumePoint<'a> = (Option<Checkpoint>, Option<&'a CheckpointWriter<'a>>);

/// The checkpoint of an earlier run, if there is one that can be used.
fn load_checkpoint(keeper: &CheckpointWriter<'_>, observer: &dyn Observer) -> Option<Checkpoint> {
    match keeper.load() {
        Ok(Some(snapshot)) => {
            observer.warn(&format!(
                "going on after epoch {} of an earlier run",
                snapshot.position[2]
            ));
            Some(snapshot)
        }
        Ok(None) => None,
        Err(reason) => {
            observer.warn(&format!(
                "a checkpoint is not used, training starts afresh: {reason}"
            ));
            None
        }
    }
}

/// Solves of this training: those of earlier runs and those since.
#[derive(Debug, Clone, Copy)]
struct CumulativeSolveCounts {
    resumed: SolveCounts,
    start: SolveCounts,
}

impl CumulativeSolveCounts {
    fn counts(&self, oracle: &Oracle) -> SolveCounts {
        self.resumed + (oracle.counts() - self.start)
    }
}

/// One method of those a recipe trains one after the other.
#[derive(Clone, Copy)]
struct StageRun<'a> {
    method: &'a TrainingStage,
    predictor: &'a PredictorSpec,
    settings: TrainingSettings,
    start: Option<&'a CostModel>,
}

impl StageRun<'_> {
    fn run(
        &self,
        task: &TrainingContext<'_>,
        training: &mut StagedTraining<'_>,
        (position, snapshot, keeper): (usize, Option<Checkpoint>, Option<&CheckpointWriter<'_>>),
    ) -> Result<CostModel> {
        self.method.check()?;
        let prepared = PreparedData::new(task, self)?;
        let plan = RoundSchedule::of(self.method.loss.capabilities().weighting);
        let loss = self
            .method
            .loss
            .build(task.data, task.oracle, task.observer)?;
        let mut earlier = RoundState::new(&prepared, snapshot, training);
        for round in earlier.round..=plan.count {
            let objective = WeightedLoss {
                loss: loss.as_ref(),
                capabilities: self.method.loss.capabilities(),
                weights: earlier.weights.as_deref(),
            };
            let journal = keeper.map(|keeper| CheckpointContext {
                keeper,
                position: [position, round],
                rounds: &training.rounds,
                members: &earlier.members,
                tally: &training.tally,
            });
            let start = prepared.start(&earlier.members);
            let (network, report) = fit::fit(
                &prepared,
                objective,
                start,
                (earlier.snapshot.take(), journal.as_ref()),
            )?;
            if !plan.ensemble {
                earlier.members.clear();
            }
            earlier.members.push(network);
            training.rounds.push(report);
            if round < plan.count {
                earlier.weights = Some(weighting::weights(
                    &prepared,
                    loss.as_ref(),
                    &earlier.members,
                    plan.rule,
                )?);
            }
        }
        prepared.model(earlier.members, training.problem)
    }
}

/// What earlier rounds left, of this run or of one before it.
struct RoundState {
    /// The round to begin with.
    round: usize,
    members: Vec<Network>,
    weights: Option<Vec<f64>>,
    /// Where within the round.
    snapshot: Option<Checkpoint>,
}

impl RoundState {
    fn new(
        prepared: &PreparedData<'_>,
        mut snapshot: Option<Checkpoint>,
        training: &mut StagedTraining<'_>,
    ) -> Self {
        let Some(kept) = &mut snapshot else {
            return Self {
                round: 1,
                members: Vec::new(),
                weights: None,
                snapshot: None,
            };
        };
        let member = |parameters: &Vec<f32>| {
            let mut network = prepared.start(&[]);
            network.parameters_mut().copy_from_slice(parameters);
            network
        };
        let members = kept.members.iter().map(member).collect();
        training.rounds = std::mem::take(&mut kept.rounds);
        // What building the loss solved again was counted by the run before.
        training.tally = CumulativeSolveCounts {
            resumed: kept.counts,
            start: prepared.task.oracle.counts(),
        };
        Self {
            round: kept.position[1],
            members,
            weights: kept.weights.take(),
            snapshot,
        }
    }
}

/// What a round minimises: a loss, its instances weighted or all alike.
#[derive(Clone, Copy)]
struct WeightedLoss<'a> {
    loss: &'a dyn Loss,
    capabilities: Capabilities,
    /// One factor per row of the table.
    weights: Option<&'a [f64]>,
}

impl WeightedLoss<'_> {
    fn weight(&self, instance: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[instance])
    }

    /// The factor that brings gradients to the order of 1.
    fn rescaling(&self, costs: usize) -> f64 {
        let mean = self
            .weights
            .map_or(1.0, |w| w.iter().sum::<f64>() / w.len().max(1) as f64);
        self.loss.rescaling(costs) / if mean > 0.0 { mean } else { 1.0 }
    }
}

/// How often a loss is trained, and what happens between.
#[derive(Debug, Clone, Copy)]
struct RoundSchedule {
    count: usize,
    ensemble: bool,
    rule: weighting::WeightingRule,
}

impl RoundSchedule {
    fn of(weighting: InstanceWeighting) -> Self {
        let rule = weighting::WeightingRule::RegretOverLoss;
        match weighting {
            InstanceWeighting::Equal => Self {
                count: 1,
                ensemble: false,
                rule,
            },
            InstanceWeighting::InstanceCosts => Self {
                count: 2,
                ensemble: false,
                rule,
            },
            InstanceWeighting::Reweighted(w) => Self {
                count: 2,
                ensemble: false,
                rule: weighting::WeightingRule::Reweighted(w),
            },
            InstanceWeighting::Iterative(count) => Self {
                count,
                ensemble: false,
                rule,
            },
            InstanceWeighting::Ensemble(count) => Self {
                count,
                ensemble: true,
                rule,
            },
        }
    }
}

/// A task with everything that is computed once: scaled features and the maps around the network.
struct PreparedData<'a> {
    task: &'a TrainingContext<'a>,
    stage: &'a StageRun<'a>,
    features: Features,
    input: Option<FeatureScaler>,
    output: CostScaler,
    /// Where training starts, unless afresh.
    network: Option<Network>,
}

impl<'a> PreparedData<'a> {
    fn new(task: &'a TrainingContext<'a>, stage: &'a StageRun<'a>) -> Result<Self> {
        let data = task.data.data();
        let mut features = data.features().clone();
        let settings = &stage.settings;
        let (input, output, network) = match stage.start {
            Some(model) => scalers_from_model(model, task)?,
            None => {
                let input = settings
                    .standardize
                    .then(|| FeatureScaler::fit(&features, &task.split.train));
                let fitted = CostScaler::fit(data, &task.split.train);
                let output = if settings.scale_costs {
                    fitted
                } else {
                    CostScaler::identity(fitted.scale.len())
                };
                (input, output, None)
            }
        };
        if network.is_none() {
            stage
                .predictor
                .check(features.names().len(), output.scale.len())?;
        }
        if let Some(map) = &input {
            map.apply(&mut features);
        }
        Ok(Self {
            task,
            stage,
            features,
            input,
            output,
            network,
        })
    }

    fn settings(&self) -> &TrainingSettings {
        &self.stage.settings
    }

    /// The factor training multiplies the loss by.
    fn rescaling(&self, objective: WeightedLoss<'_>) -> f64 {
        let settings = self.settings();
        let rescale = settings.rescale_loss && settings.optimizer.is_scale_invariant();
        if rescale {
            objective.rescaling(self.task.data.data().costs().cols())
        } else {
            1.0
        }
    }

    /// The last network where retraining starts from the baseline, the network of the model to
    /// start from, or a fresh one.
    fn start(&self, members: &[Network]) -> Network {
        let warm = self
            .settings()
            .retrain_from_baseline
            .unwrap_or(self.stage.method.loss.capabilities().can_vanish);
        let baseline = members.last().filter(|_| warm);
        baseline
            .or(self.network.as_ref())
            .cloned()
            .unwrap_or_else(|| {
                let (features, outputs) = (self.features.names().len(), self.output.scale.len());
                self.stage
                    .predictor
                    .build(features, outputs, self.settings().seed)
            })
    }

    /// The oracle as the method wants it to answer, knowing the best decisions of the training
    /// rows.
    fn training_oracle(&self) -> Result<TrainingOracle<'a>> {
        let method = self.stage.method;
        let best = self
            .task
            .split
            .train
            .iter()
            .map(|row| self.task.data.optimal_decision(*row));
        let oracle = TrainingOracle::new(self.task.oracle, method.oracle, self.settings().seed)
            .map_err(|error| error.for_method(&method.stage_name()))?
            .with_pool(best, method.loss.capabilities().uses_pool);
        Ok(oracle.with_warm_starts(self.task.data.len()))
    }

    /// The oracle as it judges: exactly, with the help of memories where the method wants them.
    fn validation_oracle(&self) -> Result<TrainingOracle<'a>> {
        let method = self.stage.method;
        let settings = method.oracle.exactness_preserving();
        let oracle = TrainingOracle::new(self.task.oracle, settings, self.settings().seed)
            .map_err(|error| error.for_method(&method.stage_name()))?;
        Ok(oracle.with_warm_starts(self.task.data.len()))
    }

    fn model(self, members: Vec<Network>, problem: &ProblemSpec) -> Result<CostModel> {
        let data = self.task.data;
        let output = data.sense().convert_scaler(self.output);
        let problem = serde_json::to_value(problem);
        let about = ModelMetadata {
            loss: self.stage.method.to_string(),
            problem_file_hash: self.task.oracle.problem().file_hash().map(String::from),
            problem: problem
                .map_err(|e| Error::setting(format!("the problem cannot be written down: {e}")))?,
            seed: self.stage.settings.seed,
            features: self.features.names().to_vec(),
            costs: data.data().cost_names().marked_as_given(),
            shape: self.features.shape(),
        };
        Ok(CostModel {
            members,
            input: self.input,
            output,
            about,
        })
    }
}

/// The maps and the network of a model that is trained on, its costs to be minimised.
fn scalers_from_model(
    model: &CostModel,
    task: &TrainingContext<'_>,
) -> Result<(Option<FeatureScaler>, CostScaler, Option<Network>)> {
    let data = task.data.data();
    model.check(data.features())?;
    if model.about.costs.len() != data.costs().cols() {
        let (known, found) = (model.about.costs.len(), data.costs().cols());
        return Err(Error::setting(format!(
            "the model to start from predicts {known} costs, the table has {found}"
        )));
    }
    if model
        .matching(CostSide::new("the table", data.cost_names()))?
        .order()
        .is_some()
    {
        let message = "the model to start from predicts the same costs in another order; bring the \
            table into its order";
        return Err(Error::setting(message));
    }
    let [network] = model.members.as_slice() else {
        let count = model.members.len();
        return Err(Error::setting(format!(
            "the model to start from is the mean of {count} networks, which cannot be trained on; \
                start from a single one"
        )));
    };
    let output = task.data.sense().convert_scaler(model.output.clone());
    Ok((model.input.clone(), output, Some(network.clone())))
}
