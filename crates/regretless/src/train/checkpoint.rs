//! Checkpoints: a training that was stopped goes on after the last epoch that was written down, and
//! ends with the same bytes as one that was never stopped.
//!
//! The folder holds one file for the running round, replaced whole after an epoch now and then, and
//! the model of every stage that is over. Files are sealed: a damaged one is not used, nor one that
//! belongs to another training; then training starts afresh and says so. Nothing depends on when
//! checkpoints are written, since all that changes during training is in them, and noise and
//! batches follow from seed and epoch.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::epoch_runner::TrainerState;
use super::optimizer::Moments;
use super::result_files::MANIFEST_FILE_NAME;
use super::{EpochReport, RoundReport, StageTrainer, StopReason, TrainingContext};
use crate::checksummed_file::ChecksummedFile;
use crate::data::atomic_write::{lock_file, write_atomically};
use crate::decision::Decision;
use crate::error::{Error, Place, Result};
use crate::oracle::{SolutionPool, SolveCounts};
use crate::predict::CostModel;
use crate::problem::ProblemSpec;

/// Kind and version of the file.
const CHECKPOINT_FILE_FORMAT: &str = "checkpoint 2";
/// The lock's name in the folder of checkpoints.
const LOCK_FILE_NAME: &str = "lock";

/// Where checkpoints lie and how often they are written.
#[derive(Debug, Clone)]
pub struct CheckpointFolder {
    folder: PathBuf,
    every: Duration,
}

impl CheckpointFolder {
    /// How often unless told otherwise.
    pub const DEFAULT_CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);

    /// What is added to the name of a model for the folder of its checkpoints.
    pub const CHECKPOINT_FOLDER_SUFFIX: &str = ".checkpoints";

    /// Checkpoints in the folder named like a model file, with `.checkpoints` added.
    pub fn for_model(model: &Path) -> Self {
        let mut name = model.file_name().unwrap_or_default().to_os_string();
        name.push(Self::CHECKPOINT_FOLDER_SUFFIX);
        Self {
            folder: model.with_file_name(name),
            every: Self::DEFAULT_CHECKPOINT_INTERVAL,
        }
    }

    /// The same, written this often at most.
    #[must_use]
    pub fn with_interval(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A training at the end of an epoch.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    /// Which of the methods of a recipe, which round of it, which epoch.
    pub position: [usize; 3],
    pub state: TrainerState,
    /// Epoch and score of the best epoch so far.
    pub best: Option<(usize, f64)>,
    pub epochs: Vec<EpochReport>,
    /// Rounds that are over, of all methods.
    pub rounds: Vec<RoundReport>,
    /// Parameters of networks of earlier rounds.
    pub members: Vec<Vec<f32>>,
    pub weights: Option<Vec<f64>>,
    /// What the loss learned from batches.
    pub loss: Vec<f64>,
    pub counts: SolveCounts,
}

/// What stands in the description of the file; everything that is not a whole number or a word is
/// in arrays, where no digit is lost.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointHeader {
    key: String,
    position: [usize; 3],
    steps: i32,
    squares_resolved: bool,
    best: Option<usize>,
    members: usize,
    pool: Option<(usize, usize)>,
    rounds: Vec<(String, usize, usize, StopReason)>,
    counts: SolveCounts,
}

/// Writes and reads the checkpoints of one training.
pub(super) struct CheckpointWriter<'a> {
    at: &'a CheckpointFolder,
    key: String,
    /// When the last one was written and how long that took.
    last: Mutex<(Instant, Duration)>,
}

impl<'a> CheckpointWriter<'a> {
    pub(super) fn new(
        at: &'a CheckpointFolder,
        task: &TrainingContext<'_>,
        trainer: &StageTrainer,
        problem: &ProblemSpec,
    ) -> Result<Self> {
        let last = Mutex::new((Instant::now(), Duration::ZERO));
        Ok(Self {
            at,
            key: key(task, trainer, problem)?,
            last,
        })
    }

    fn file(&self) -> PathBuf {
        self.at.folder.join("epoch.safetensors")
    }

    fn stage_file(&self, stage: usize) -> PathBuf {
        self.at.folder.join(format!(
            "{}-stage-{}.safetensors",
            &self.key[..16],
            stage + 1
        ))
    }

    /// The last checkpoint of this training, if there is one; why not, if there is one that cannot
    /// be used.
    pub(super) fn load(&self) -> std::result::Result<Option<Checkpoint>, String> {
        let path = self.file();
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let sealed =
            ChecksummedFile::<CheckpointHeader>::from_bytes(&bytes, CHECKPOINT_FILE_FORMAT)?;
        if sealed.about.key != self.key {
            return Err("it belongs to another training".into());
        }
        from_file(sealed)
            .map(Some)
            .ok_or_else(|| "it contradicts itself".into())
    }

    /// Whether it is time; a checkpoint that takes long to write is written less often.
    pub(super) fn is_due(&self) -> bool {
        let (last, cost) = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.elapsed() >= self.at.every.max(20 * cost)
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self, snapshot: Checkpoint) -> Result<()> {
        let begun = Instant::now();
        fs::create_dir_all(&self.at.folder).map_err(Error::io(&self.at.folder))?;
        let sealed = to_file(snapshot, self.key.clone());
        write_atomically(&self.file(), true, |out| {
            sealed.write_to(out, CHECKPOINT_FILE_FORMAT)
        })?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            (Instant::now(), begun.elapsed());
        Ok(())
    }

    /// Keeps the model of a method that is over, for the next one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write_stage_model(&self, stage: usize, model: &CostModel) -> Result<()> {
        fs::create_dir_all(&self.at.folder).map_err(Error::io(&self.at.folder))?;
        model.save(&self.stage_file(stage), true)
    }

    /// The model of a method that is over.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub(super) fn read_stage_model(&self, stage: usize) -> Result<CostModel> {
        CostModel::load(&self.stage_file(stage))
    }
}

impl CheckpointFolder {
    /// Removes the checkpoints: once the model is written nobody needs them. The claim on the
    /// results goes last: as long as anything of the run is left, the same command may go on. The
    /// lock is left to its owner.
    ///
    /// # Errors
    /// When files cannot be removed.
    pub fn remove(&self) -> Result<()> {
        let refused = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(Error::io(&self.folder)(error)),
        };
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) => return refused(error),
        };
        for entry in entries {
            let entry = entry.map_err(Error::io(&self.folder))?;
            if entry.file_name() != MANIFEST_FILE_NAME && entry.file_name() != LOCK_FILE_NAME {
                fs::remove_file(entry.path()).or_else(refused)?;
            }
        }
        fs::remove_file(self.folder.join(MANIFEST_FILE_NAME)).or_else(refused)?;
        match fs::remove_dir(&self.folder) {
            // The lock is still held; its owner removes it and the folder.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            Err(error) => refused(error),
            Ok(()) => Ok(()),
        }
    }

    /// Takes the lock of this training: nobody else writes these checkpoints or their model while
    /// it is held. It is an advisory lock of the operating system, which ends with the process,
    /// however that ends.
    ///
    /// # Errors
    /// When another process trains to the same model now, or the folder cannot be written.
    pub fn lock(&self) -> Result<RunLock> {
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        let path = self.folder.join(LOCK_FILE_NAME);
        match lock_file(&path).map_err(Error::io(&path))? {
            Some(file) => Ok(RunLock {
                folder: self.folder.clone(),
                _file: file,
            }),
            None => {
                let message = "another training writes there at this moment; wait until it ends, \
                    or choose another path";
                Err(Error::input(Place::file(&self.folder), message))
            }
        }
    }
}

/// Held while a training runs; see [`Checkpoints::lock`].
#[derive(Debug)]
pub struct RunLock {
    folder: PathBuf,
    /// Closing it ends the lock.
    _file: fs::File,
}

impl Drop for RunLock {
    /// Removes the lock's file while the lock is held, and the folder if nothing else is in it.
    fn drop(&mut self) {
        // What stays behind is empty and in nobody's way.
        let _ = fs::remove_file(self.folder.join(LOCK_FILE_NAME));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// A hash over all that a training depends on.
fn key(
    task: &TrainingContext<'_>,
    trainer: &StageTrainer,
    problem: &ProblemSpec,
) -> Result<String> {
    let written = serde_json::to_vec(&(
        trainer.method.to_string(),
        &trainer.predictor,
        &trainer.settings,
    ));
    let written = written
        .map_err(|error| Error::setting(format!("the training cannot be written down: {error}")))?;
    let start = trainer
        .start
        .as_ref()
        .map(CostModel::to_bytes)
        .transpose()?
        .unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(task.fingerprint(problem)?.as_bytes());
    for part in [&written, &start] {
        hasher
            .update(&(part.len() as u64).to_le_bytes())
            .update(part);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

impl TrainingContext<'_> {
    /// A hash over rows, labels, split and problem: two tasks with the same one train the same
    /// models.
    ///
    /// # Errors
    /// When the problem cannot be written down.
    pub fn fingerprint(&self, problem: &ProblemSpec) -> Result<String> {
        let data = self.data.data();
        let written = serde_json::to_vec(&(
            (
                problem,
                self.oracle.problem().fingerprint(),
                self.oracle.limits(),
                self.oracle.heuristic(),
            ),
            self.split,
            (
                data.features().names(),
                data.features().shape(),
                data.len(),
                data.cost_names().len(),
            ),
        ));
        let written = written.map_err(|error| {
            Error::setting(format!("the problem cannot be written down: {error}"))
        })?;
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(&(written.len() as u64).to_le_bytes())
            .update(&written);
        for numbers in [data.features().values().as_slice(), data.costs().as_slice()] {
            let mut bytes = Vec::new();
            for chunk in numbers.chunks(1 << 16) {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|number| number.to_le_bytes()));
                hasher.update(&bytes);
            }
        }
        for row in self.data.rows() {
            hasher.update(&self.data.optimal_objective(row).to_le_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

fn to_file(snapshot: Checkpoint, key: String) -> ChecksummedFile<CheckpointHeader> {
    let Checkpoint {
        position,
        state,
        best,
        epochs,
        rounds,
        members,
        weights,
        loss,
        counts,
    } = snapshot;
    let (known, turnover) = state.pool.as_ref().map_or((&[][..], None), |p| {
        (p.decisions(), Some(p.eviction_state()))
    });
    let note = CheckpointHeader {
        key,
        position,
        steps: state.moments.steps,
        squares_resolved: state.squares_resolved,
        best: best.map(|(epoch, _)| epoch),
        members: members.len(),
        pool: turnover,
        rounds: rounds
            .iter()
            .map(|r| (r.method.clone(), r.epochs.len(), r.best_epoch, r.stopped))
            .collect(),
        counts,
    };
    let reports = rounds.iter().flat_map(|round| &round.epochs).chain(&epochs);
    let ends = known.iter().scan(0, |sum, decision| {
        *sum += decision.indices().len() as u64;
        Some(*sum)
    });
    let mut sealed = ChecksummedFile::new(note)
        .with_array("parameters", state.parameters)
        .with_array("mean", state.moments.mean)
        .with_array("square", state.moments.square)
        .with_array("gram", state.gram)
        .with_array("loss", loss)
        .with_array("epochs", reports.flat_map(numbers).collect::<Vec<f64>>())
        .with_array("pool.ends", ends.collect::<Vec<u64>>())
        .with_array(
            "pool.indices",
            known
                .iter()
                .flat_map(|d| d.indices())
                .copied()
                .collect::<Vec<u32>>(),
        )
        .with_array(
            "pool.values",
            known
                .iter()
                .flat_map(Decision::iter)
                .map(|(_, v)| v)
                .collect::<Vec<f64>>(),
        )
        .with_array(
            "pool.fixed",
            known.iter().map(Decision::fixed).collect::<Vec<f64>>(),
        );
    if let Some((_, score)) = best {
        sealed = sealed.with_array("best.score", vec![score]);
    }
    if let Some(kept) = state.best_parameters {
        sealed = sealed.with_array("best.parameters", kept);
    }
    if let Some(weights) = weights {
        sealed = sealed.with_array("weights", weights);
    }
    for (index, member) in members.into_iter().enumerate() {
        sealed = sealed.with_array(format!("member.{index}"), member);
    }
    sealed
}

fn from_file(mut sealed: ChecksummedFile<CheckpointHeader>) -> Option<Checkpoint> {
    let mut reports = sealed
        .take_array::<Vec<f64>>("epochs")?
        .chunks_exact(5)
        .map(report)
        .collect::<Vec<_>>()
        .into_iter();
    let rounds = std::mem::take(&mut sealed.about.rounds).into_iter().map(
        |(method, epochs, best_epoch, stopped)| RoundReport {
            method,
            epochs: reports.by_ref().take(epochs).collect(),
            best_epoch,
            stopped,
        },
    );
    let rounds = rounds.collect();
    let best = match sealed.about.best {
        Some(epoch) => Some((
            epoch,
            *sealed.take_array::<Vec<f64>>("best.score")?.first()?,
        )),
        None => None,
    };
    let count = sealed.about.members;
    let member = |index| sealed.take_array::<Vec<f32>>(&format!("member.{index}"));
    let members = (0..count).map(member).collect::<Option<Vec<_>>>()?;
    let moments = Moments {
        steps: sealed.about.steps,
        mean: sealed.take_array("mean")?,
        square: sealed.take_array("square")?,
    };
    Some(Checkpoint {
        position: sealed.about.position,
        best,
        epochs: reports.collect(),
        rounds,
        members,
        weights: sealed.take_array("weights"),
        loss: sealed.take_array("loss")?,
        counts: sealed.about.counts,
        state: TrainerState {
            parameters: sealed.take_array("parameters")?,
            best_parameters: sealed.take_array("best.parameters"),
            moments,
            pool: pool(&mut sealed)?,
            gram: sealed.take_array("gram")?,
            squares_resolved: sealed.about.squares_resolved,
        },
    })
}

/// The pool, if there is one; `None` when the file contradicts itself.
fn pool(sealed: &mut ChecksummedFile<CheckpointHeader>) -> Option<Option<SolutionPool>> {
    let Some((max, oldest)) = sealed.about.pool else {
        return Some(None);
    };
    let (ends, fixed) = (
        sealed.take_array::<Vec<u64>>("pool.ends")?,
        sealed.take_array::<Vec<f64>>("pool.fixed")?,
    );
    let (indices, values) = (
        sealed.take_array::<Vec<u32>>("pool.indices")?,
        sealed.take_array::<Vec<f64>>("pool.values")?,
    );
    let mut begin = 0;
    let mut decisions = Vec::with_capacity(ends.len());
    for (end, fixed) in ends.iter().zip(fixed) {
        let range = begin..usize::try_from(*end).ok()?;
        let entries = indices
            .get(range.clone())?
            .iter()
            .copied()
            .zip(values.get(range.clone())?.iter().copied());
        decisions.push(Decision::from_entries(entries).with_fixed(fixed));
        begin = range.end;
    }
    Some(Some(SolutionPool::from_parts(max, decisions, oldest)))
}

/// An epoch's report as numbers; what is missing is not a number.
fn numbers(report: &EpochReport) -> [f64; 5] {
    let or_none = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let EpochReport {
        epoch,
        training_loss,
        validation_loss,
        validation_regret,
        seconds,
    } = report;
    [
        *epoch as f64,
        or_none(*training_loss),
        or_none(*validation_loss),
        or_none(*validation_regret),
        *seconds,
    ]
}

fn report(numbers: &[f64]) -> EpochReport {
    let some = |value: f64| (!value.is_nan()).then_some(value);
    EpochReport {
        epoch: numbers[0] as usize,
        training_loss: some(numbers[1]),
        validation_loss: some(numbers[2]),
        validation_regret: some(numbers[3]),
        seconds: numbers[4],
    }
}

#[cfg(test)]
mod tests {
    use super::{CHECKPOINT_FILE_FORMAT, Checkpoint, CheckpointHeader, from_file, to_file};
    use crate::checksummed_file::ChecksummedFile;
    use crate::decision::Decision;
    use crate::oracle::{SolutionPool, SolveCounts};
    use crate::train::epoch_runner::TrainerState;
    use crate::train::optimizer::Moments;
    use crate::train::{EpochReport, RoundReport, StopReason};

    fn snapshot() -> Checkpoint {
        let epoch = |epoch, training_loss| EpochReport {
            epoch,
            training_loss,
            validation_loss: None,
            validation_regret: Some(0.1),
            seconds: 0.25,
        };
        let mut pool = SolutionPool::new(2);
        pool.extend(&[
            Decision::from_indices([1, 4]),
            Decision::from_dense(&[0.5, 0.0]),
            Decision::from_indices([7]),
        ]);
        let moments = Moments {
            steps: 9,
            mean: vec![0.5, -0.25],
            square: vec![1e-40, 2.0],
        };
        Checkpoint {
            position: [1, 2, 3],
            state: TrainerState {
                parameters: vec![1.5, -2.0],
                best_parameters: Some(vec![3.0, 4.0]),
                moments,
                pool: Some(pool),
                gram: vec![0.1],
                squares_resolved: false,
            },
            best: Some((2, f64::INFINITY)),
            epochs: vec![epoch(0, None), epoch(1, Some(0.1 + 0.2))],
            rounds: vec![RoundReport {
                method: "MSE".into(),
                epochs: vec![epoch(0, None)],
                best_epoch: 0,
                stopped: StopReason::Patience,
            }],
            members: vec![vec![7.0, 8.0]],
            weights: Some(vec![0.1, 0.7]),
            loss: vec![1.0 / 3.0],
            counts: SolveCounts {
                exact: 5,
                ..SolveCounts::default()
            },
        }
    }

    #[test]
    fn a_snapshot_reads_back_as_it_was_written() {
        let bytes = to_file(snapshot(), "key".into())
            .to_bytes(CHECKPOINT_FILE_FORMAT)
            .unwrap();
        let back = from_file(
            ChecksummedFile::<CheckpointHeader>::from_bytes(&bytes, CHECKPOINT_FILE_FORMAT)
                .unwrap(),
        )
        .unwrap();
        assert_eq!(
            to_file(back.clone(), "key".into())
                .to_bytes(CHECKPOINT_FILE_FORMAT)
                .unwrap(),
            bytes
        );
        assert_eq!(
            (back.position, back.best, back.epochs),
            ([1, 2, 3], snapshot().best, snapshot().epochs)
        );
        assert_eq!(
            (back.rounds, back.counts),
            (snapshot().rounds, snapshot().counts)
        );
        assert_eq!(back.state.moments, snapshot().state.moments);
        assert_eq!(back.state.pool.unwrap().eviction_state(), (2, 1));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let bytes = to_file(snapshot(), "key".into())
            .to_bytes(CHECKPOINT_FILE_FORMAT)
            .unwrap();
        for length in 0..bytes.len() {
            assert!(
                ChecksummedFile::<CheckpointHeader>::from_bytes(
                    &bytes[..length],
                    CHECKPOINT_FILE_FORMAT
                )
                .is_err(),
                "cut at {length}"
            );
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(
                ChecksummedFile::<CheckpointHeader>::from_bytes(&damaged, CHECKPOINT_FILE_FORMAT)
                    .is_err(),
                "bit {bit}"
            );
        }
    }
}
