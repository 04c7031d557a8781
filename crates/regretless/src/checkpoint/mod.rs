//! Checkpoints and result files of a training.
//!
//! An interrupted training resumes after the last epoch that was saved and finishes with
//! byte-identical output. The folder of a training holds its lock, the checkpoint of the running
//! round (`file.rs`), the model of every finished stage, and a manifest of the results it is about
//! to write (`result_files.rs`).

pub(crate) mod file;
mod result_files;

pub(crate) use file::{
    BestEpoch, Checkpoint, CheckpointPosition, CheckpointStore, EpochRunnerState,
};
pub use result_files::ResultFiles;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::data::atomic_write::{fail_point, lock_file};
use crate::error::{Error, InputPlace, Result};
use result_files::MANIFEST_FILE_NAME;

/// Name of the lock file in the checkpoint folder.
const LOCK_FILE_NAME: &str = "lock";

/// Where checkpoints are stored and how often they are written.
#[derive(Debug, Clone)]
pub struct CheckpointFolder {
    path: PathBuf,
    interval: Duration,
}

impl CheckpointFolder {
    /// Default minimum time between two checkpoints: at most this much work is lost.
    pub const DEFAULT_CHECKPOINT_INTERVAL: Duration = Duration::from_secs(2);

    /// Suffix that turns the name of a model file into that of its checkpoint folder.
    pub const CHECKPOINT_FOLDER_SUFFIX: &str = ".checkpoints";

    /// Checkpoints in the folder named like a model file, with `.checkpoints` added.
    pub fn for_model(model: &Path) -> Self {
        let mut name = model.file_name().unwrap_or_default().to_os_string();
        name.push(Self::CHECKPOINT_FOLDER_SUFFIX);
        Self {
            path: model.with_file_name(name),
            interval: Self::DEFAULT_CHECKPOINT_INTERVAL,
        }
    }

    /// The same with another minimum time between two checkpoints.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// Ends a run whose results are written and reported: removes its checkpoints, its lock and, as
    /// the last file, the manifest of its results. While that exists, the same command completes
    /// the run and reports it.
    ///
    /// # Errors
    /// When files cannot be removed.
    pub fn remove(&self, lock: impl Drop) -> Result<()> {
        let unless_missing = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(Error::io(&self.path)(error)),
        };
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) => return unless_missing(error),
        };
        for entry in entries {
            let entry = entry.map_err(Error::io(&self.path))?;
            if entry.file_name() != MANIFEST_FILE_NAME && entry.file_name() != LOCK_FILE_NAME {
                fs::remove_file(entry.path()).or_else(unless_missing)?;
                fail_point();
            }
        }
        drop(lock);
        fs::remove_file(self.path.join(MANIFEST_FILE_NAME)).or_else(unless_missing)?;
        fail_point();
        let removed = fs::remove_dir(&self.path);
        fail_point();
        match removed {
            // Files of others, or the lock of another run that has just begun.
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            Err(error) => unless_missing(error),
            Ok(()) => Ok(()),
        }
    }

    /// Removes the lock file of a run that was killed, and the folder if nothing else is in it.
    pub fn remove_stale_lock(&self) {
        if self.path.is_dir() {
            drop(self.lock());
        }
    }

    /// Takes the lock of this training: no other process writes these checkpoints or their model
    /// while it is held. It is an advisory lock of the operating system, which is released when the
    /// process ends, however it ends.
    ///
    /// # Errors
    /// When another process holds the lock, or the folder cannot be written.
    pub fn lock(&self) -> Result<impl Drop + use<>> {
        fs::create_dir_all(&self.path).map_err(Error::io(&self.path))?;
        let path = self.path.join(LOCK_FILE_NAME);
        match lock_file(&path).map_err(Error::io(&path))? {
            Some(file) => Ok(RunLock {
                folder: self.path.clone(),
                _file: file,
            }),
            None => {
                let message = "another training writes there at this moment";
                Err(Error::input(InputPlace::file(&self.path), message)
                    .with_remedy("wait until it ends, or choose another path"))
            }
        }
    }
}

/// The lock of a running training; see [`CheckpointFolder::lock`].
#[derive(Debug)]
struct RunLock {
    folder: PathBuf,
    /// Closing it releases the lock.
    _file: fs::File,
}

impl Drop for RunLock {
    /// Removes the lock file while the lock is held, and the folder if nothing else is in it.
    fn drop(&mut self) {
        // A file that cannot be removed is empty and does no harm.
        let _ = fs::remove_file(self.folder.join(LOCK_FILE_NAME));
        fail_point();
        let _ = fs::remove_dir(&self.folder);
    }
}
