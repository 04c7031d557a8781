//! The checkpoint file: the state of a training at the end of an epoch.
//!
//! The file is replaced as a whole and has a checksum. A damaged file, or one of another training,
//! is not used; training then starts from the beginning and warns. Results do not depend on when
//! checkpoints are written: all state that changes during training is in them, and noise and batch
//! order follow from seed and epoch.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::CheckpointFolder;
use crate::checksummed_file::ChecksummedFile;
use crate::data::atomic_write::write_atomically;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::optimizer::Moments;
use crate::oracle::{SolutionPool, SolveCounts};
use crate::predict::CostModel;
use crate::report::{EpochReport, RoundReport, StopReason};

/// Kind and version of the file.
const CHECKPOINT_FILE_FORMAT: &str = "checkpoint 4";
/// Minimum time between two checkpoints, as a multiple of the time it takes to write one: at most a
/// twentieth of the time is spent on writing.
const MIN_INTERVAL_PER_WRITE_TIME: u32 = 20;
/// Numbers that an epoch's report is stored as.
const NUMBERS_PER_EPOCH: usize = 5;

/// The state of an epoch runner: all that is needed to resume from there. The layout of the
/// numbers is that of the runner.
#[derive(Debug, Clone, Default)]
pub(crate) struct EpochRunnerState {
    pub(crate) parameters: Vec<f32>,
    /// Parameters of the best epoch so far.
    pub(crate) best_parameters: Option<Vec<f32>>,
    pub(crate) moments: Moments,
    /// The solution pool, if the stage has one.
    pub(crate) pool: Option<SolutionPool>,
    /// The Gram matrix of a fused linear predictor, which recomputed would be rounded differently.
    pub(crate) gram: Vec<f64>,
    /// Whether fused squared errors are still expanded; see `train/fused/expanded_squares.rs`.
    pub(crate) expansion_is_accurate: bool,
}

/// The progress of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckpointPosition {
    /// Index of the stage, from 0.
    pub(crate) stage: usize,
    /// Round of the stage, from 1.
    pub(crate) round: usize,
    /// Epochs that are finished.
    pub(crate) epoch: usize,
}

/// The best epoch so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BestEpoch {
    pub(crate) epoch: usize,
    /// Its score; lower is better, infinite if epochs are not scored.
    pub(crate) score: f64,
}

/// A training at the end of an epoch.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) position: CheckpointPosition,
    pub(crate) state: EpochRunnerState,
    pub(crate) best: Option<BestEpoch>,
    /// Epochs of the running round.
    pub(crate) epochs: Vec<EpochReport>,
    /// Finished rounds of all stages.
    pub(crate) rounds: Vec<RoundReport>,
    /// Parameters of the networks of earlier rounds of the stage.
    pub(crate) networks: Vec<Vec<f32>>,
    /// Instance weights, if the round is weighted.
    pub(crate) weights: Option<Vec<f64>>,
    /// State of the loss; empty unless the loss changes from batch to batch, as the step size of
    /// AI-MLE does.
    pub(crate) loss_state: Vec<f64>,
    pub(crate) counts: SolveCounts,
}

/// The header of the file. Numbers that are not integers are in arrays, where no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointHeader {
    key: String,
    position: CheckpointPosition,
    optimizer_steps: i32,
    best_epoch: Option<usize>,
    num_networks: usize,
    pool: Option<PoolHeader>,
    rounds: Vec<RoundHeader>,
    expansion_is_accurate: bool,
    counts: SolveCounts,
}

/// Capacity of a solution pool and the decision it replaces next.
#[derive(Debug, Serialize, Deserialize)]
struct PoolHeader {
    capacity: usize,
    oldest: usize,
}

/// A finished round; the reports of its epochs are in an array.
#[derive(Debug, Serialize, Deserialize)]
struct RoundHeader {
    method: String,
    num_epochs: usize,
    best_epoch: usize,
    stopped: StopReason,
}

/// The checkpoints of one training: writes them, and loads the last one.
pub(crate) struct CheckpointStore<'a> {
    folder: &'a CheckpointFolder,
    /// Hash of everything the training depends on.
    key: String,
    last_write: Mutex<LastWrite>,
}

/// When a checkpoint was written and how long that took.
#[derive(Clone, Copy)]
struct LastWrite {
    finished: Instant,
    duration: Duration,
}

impl<'a> CheckpointStore<'a> {
    pub(crate) fn new(folder: &'a CheckpointFolder, key: String) -> Self {
        let last_write = LastWrite {
            finished: Instant::now(),
            duration: Duration::ZERO,
        };
        Self {
            folder,
            key,
            last_write: Mutex::new(last_write),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path.join("epoch.safetensors")
    }

    fn stage_file(&self, stage: usize) -> PathBuf {
        let name = format!("{}-stage-{}.safetensors", &self.key[..16], stage + 1);
        self.folder.path.join(name)
    }

    /// The last checkpoint of this training, if there is one.
    ///
    /// # Errors
    /// The reason why an existing checkpoint cannot be used.
    pub(crate) fn load(&self) -> std::result::Result<Option<Checkpoint>, String> {
        let path = self.file();
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let file = ChecksummedFile::<CheckpointHeader>::from_bytes(&bytes, CHECKPOINT_FILE_FORMAT)?;
        // The key is a hash of everything the training depends on: another one would resume with
        // other data or settings.
        if file.header.key != self.key {
            return Err("it belongs to another training".into());
        }
        from_file(file)
            .map(Some)
            .ok_or_else(|| "its arrays are inconsistent".into())
    }

    /// Whether the next checkpoint should be written now.
    pub(crate) fn is_due(&self) -> bool {
        let last = *self
            .last_write
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Relative to how long the last one took: large models on slow disks write less often.
        let min_interval = MIN_INTERVAL_PER_WRITE_TIME * last.duration;
        last.finished.elapsed() >= self.folder.interval.max(min_interval)
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, checkpoint: Checkpoint) -> Result<()> {
        let started = Instant::now();
        fs::create_dir_all(&self.folder.path).map_err(Error::io(&self.folder.path))?;
        let file = to_file(checkpoint, self.key.clone());
        write_atomically(&self.file(), true, |out| {
            file.write_to(out, CHECKPOINT_FILE_FORMAT)
        })?;
        *self
            .last_write
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = LastWrite {
            finished: Instant::now(),
            duration: started.elapsed(),
        };
        Ok(())
    }

    /// Saves the model of a finished stage, from which the next one starts.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write_stage_model(&self, stage: usize, model: &CostModel) -> Result<()> {
        fs::create_dir_all(&self.folder.path).map_err(Error::io(&self.folder.path))?;
        model.save(&self.stage_file(stage), true)
    }

    /// The model of a finished stage.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub(crate) fn read_stage_model(&self, stage: usize) -> Result<CostModel> {
        CostModel::load(&self.stage_file(stage))
    }
}

fn to_file(checkpoint: Checkpoint, key: String) -> ChecksummedFile<CheckpointHeader> {
    let Checkpoint {
        position,
        state,
        best,
        epochs,
        rounds,
        networks,
        weights,
        loss_state,
        counts,
    } = checkpoint;
    let round_header = |round: &RoundReport| RoundHeader {
        method: round.method.clone(),
        num_epochs: round.epochs.len(),
        best_epoch: round.best_epoch,
        stopped: round.stopped,
    };
    let header = CheckpointHeader {
        key,
        position,
        optimizer_steps: state.moments.steps,
        best_epoch: best.map(|best| best.epoch),
        num_networks: networks.len(),
        pool: state.pool.as_ref().map(|pool| {
            let (capacity, oldest) = pool.eviction_state();
            PoolHeader { capacity, oldest }
        }),
        rounds: rounds.iter().map(round_header).collect(),
        expansion_is_accurate: state.expansion_is_accurate,
        counts,
    };
    let finished_epochs = rounds.iter().flat_map(|round| &round.epochs);
    let mut reports = Vec::new();
    for epoch in finished_epochs.chain(&epochs) {
        reports.extend(report_numbers(epoch));
    }
    let mut file = ChecksummedFile::new(header)
        .with_array("parameters", state.parameters)
        .with_array("mean", state.moments.mean)
        .with_array("square", state.moments.square)
        .with_array("gram", state.gram)
        .with_array("loss", loss_state)
        .with_array("epochs", reports);
    if let Some(pool) = &state.pool {
        file = add_pool(file, pool.decisions());
    }
    if let Some(best) = best {
        file = file.with_array("best.score", vec![best.score]);
    }
    if let Some(parameters) = state.best_parameters {
        file = file.with_array("best.parameters", parameters);
    }
    if let Some(weights) = weights {
        file = file.with_array("weights", weights);
    }
    for (index, network) in networks.into_iter().enumerate() {
        file = file.with_array(format!("network.{index}"), network);
    }
    file
}

/// Adds the decisions of a pool: their entries one after the other, and where each decision ends.
fn add_pool(
    file: ChecksummedFile<CheckpointHeader>,
    decisions: &[Decision],
) -> ChecksummedFile<CheckpointHeader> {
    let mut indices: Vec<u32> = Vec::new();
    let (mut values, mut fixed_costs): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut ends: Vec<u64> = Vec::new();
    for decision in decisions {
        indices.extend(decision.indices());
        values.extend(decision.iter().map(|(_, value)| value));
        fixed_costs.push(decision.fixed());
        ends.push(indices.len() as u64);
    }
    file.with_array("pool.ends", ends)
        .with_array("pool.indices", indices)
        .with_array("pool.values", values)
        .with_array("pool.fixed_costs", fixed_costs)
}

/// The checkpoint of a file; `None` if its arrays are inconsistent.
fn from_file(mut file: ChecksummedFile<CheckpointHeader>) -> Option<Checkpoint> {
    let numbers = file.take_array::<Vec<f64>>("epochs")?;
    let (epochs, _) = numbers.as_chunks::<NUMBERS_PER_EPOCH>();
    let mut reports = epochs.iter().map(report);
    let mut rounds = Vec::new();
    for header in std::mem::take(&mut file.header.rounds) {
        rounds.push(RoundReport {
            method: header.method,
            epochs: reports.by_ref().take(header.num_epochs).collect(),
            best_epoch: header.best_epoch,
            stopped: header.stopped,
        });
    }
    let best = match file.header.best_epoch {
        Some(epoch) => {
            let score = *file.take_array::<Vec<f64>>("best.score")?.first()?;
            Some(BestEpoch { epoch, score })
        }
        None => None,
    };
    let mut networks = Vec::new();
    for index in 0..file.header.num_networks {
        networks.push(file.take_array::<Vec<f32>>(&format!("network.{index}"))?);
    }
    let moments = Moments {
        steps: file.header.optimizer_steps,
        mean: file.take_array("mean")?,
        square: file.take_array("square")?,
    };
    let pool = match file.header.pool.take() {
        Some(header) => Some(read_pool(&mut file, &header)?),
        None => None,
    };
    Some(Checkpoint {
        position: file.header.position,
        best,
        epochs: reports.collect(),
        rounds,
        networks,
        // Arrays that a training need not have are absent without being an error.
        weights: file.take_array("weights"),
        loss_state: file.take_array("loss")?,
        counts: file.header.counts,
        state: EpochRunnerState {
            parameters: file.take_array("parameters")?,
            best_parameters: file.take_array("best.parameters"),
            moments,
            pool,
            gram: file.take_array("gram")?,
            expansion_is_accurate: file.header.expansion_is_accurate,
        },
    })
}

fn read_pool(
    file: &mut ChecksummedFile<CheckpointHeader>,
    header: &PoolHeader,
) -> Option<SolutionPool> {
    let ends = file.take_array::<Vec<u64>>("pool.ends")?;
    let fixed_costs = file.take_array::<Vec<f64>>("pool.fixed_costs")?;
    let indices = file.take_array::<Vec<u32>>("pool.indices")?;
    let values = file.take_array::<Vec<f64>>("pool.values")?;
    let mut begin = 0;
    let mut decisions = Vec::with_capacity(ends.len());
    for (end, fixed_cost) in ends.iter().zip(fixed_costs) {
        let range = begin..usize::try_from(*end).ok()?;
        let (indices, values) = (indices.get(range.clone())?, values.get(range.clone())?);
        // `Decision` relies on sorted entries; a file may hold anything.
        if !indices.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let entries = indices.iter().copied().zip(values.iter().copied());
        decisions.push(Decision::from_entries(entries).with_fixed(fixed_cost));
        begin = range.end;
    }
    let pool = SolutionPool::from_parts(header.capacity, decisions, header.oldest);
    Some(pool)
}

/// An epoch's report as numbers; missing values are NaN.
fn report_numbers(report: &EpochReport) -> [f64; NUMBERS_PER_EPOCH] {
    let EpochReport {
        epoch,
        training_loss,
        validation_loss,
        validation_regret,
        seconds,
    } = report;
    [
        *epoch as f64,
        training_loss.unwrap_or(f64::NAN),
        validation_loss.unwrap_or(f64::NAN),
        validation_regret.unwrap_or(f64::NAN),
        *seconds,
    ]
}

/// The report that [`report_numbers`] turned into numbers.
fn report(numbers: &[f64; NUMBERS_PER_EPOCH]) -> EpochReport {
    let [
        epoch,
        training_loss,
        validation_loss,
        validation_regret,
        seconds,
    ] = *numbers;
    let unless_nan = |value: f64| (!value.is_nan()).then_some(value);
    EpochReport {
        epoch: epoch as usize,
        training_loss: unless_nan(training_loss),
        validation_loss: unless_nan(validation_loss),
        validation_regret: unless_nan(validation_regret),
        seconds,
    }
}

/// Access of the fuzzing tests to this format.
#[cfg(test)]
pub(crate) mod fuzzing {
    use super::tests::checkpoint;
    use super::{CHECKPOINT_FILE_FORMAT, CheckpointHeader, ChecksummedFile, from_file, to_file};

    /// Files that mutants are made of.
    pub(crate) fn examples() -> Vec<Vec<u8>> {
        let file = to_file(checkpoint(), "key".into());
        vec![file.to_bytes(CHECKPOINT_FILE_FORMAT).unwrap()]
    }

    pub(crate) fn with_matching_checksum(bytes: &[u8]) -> Option<Vec<u8>> {
        ChecksummedFile::<CheckpointHeader>::with_matching_checksum(bytes, CHECKPOINT_FILE_FORMAT)
    }

    /// Reads a checkpoint of any training.
    pub(crate) fn read(bytes: &[u8]) -> Result<String, String> {
        let file = ChecksummedFile::<CheckpointHeader>::from_bytes(bytes, CHECKPOINT_FILE_FORMAT)?;
        let checkpoint = from_file(file).ok_or("inconsistent")?;
        Ok(format!("{:?}", checkpoint.position))
    }
}

#[cfg(test)]
mod tests;
