//! The folder of a comparison: runs as they finish, then the tables.
//!
//! `results.jsonl` has a line per finished run, with a key over all that the run depends on. A
//! folder whose runs all belong to the present comparison and of which some are missing is one that
//! was interrupted: it is gone on with.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use regretless::data::atomic_write::lock_file;
use regretless::error::Place;
use regretless::{Error, Result};

use super::run::RunResult;
use super::summary::ComparisonSummary;
use crate::output::write_text;

const RESULTS_FILE_NAME: &str = "results.jsonl";
const LOCK_FILE_NAME: &str = "lock";
const RESULT_FILE_NAMES: [&str; 4] = [
    RESULTS_FILE_NAME,
    "results.csv",
    "summary.csv",
    "settings.toml",
];

/// A folder that will hold results; nothing is made before the first run has finished.
pub struct ResultFolder {
    path: PathBuf,
}

/// Held while a comparison runs. The lock is one of the operating system, which ends with the
/// process.
pub struct FolderLock {
    folder: PathBuf,
    /// Closing it ends the lock.
    _file: File,
}

impl Drop for FolderLock {
    /// Removes the lock's file while the lock is held, and the folder if nothing was written to it.
    fn drop(&mut self) {
        // What stays behind is empty and in nobody's way.
        let _ = fs::remove_file(self.folder.join(LOCK_FILE_NAME));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The comparison that a folder is for.
pub struct ComparisonKey<'a> {
    /// What each run depends on.
    pub keys: &'a [String],
    /// Its settings, in writing.
    pub settings: &'a str,
}

/// What a folder holds, seen from a comparison.
enum FolderState {
    /// No results.
    Empty,
    /// Some of the comparison's runs, and nothing else.
    Resumable(Vec<RunResult>),
    /// All of its runs, or something else: the file that shows it.
    Other(PathBuf),
}

impl ResultFolder {
    /// The given folder, or else one under `runs`: the last one if it holds an interrupted run of
    /// the same comparison, or the first free one. Returns the runs that it holds already.
    ///
    /// # Errors
    /// When the given folder holds other results, or all of these, and `force` is false.
    pub fn choose(
        given: Option<&Path>,
        name: &str,
        wanted: &ComparisonKey<'_>,
        force: bool,
    ) -> Result<(Self, Vec<RunResult>)> {
        if let Some(path) = given {
            if path.exists() && !path.is_dir() {
                return Err(Error::Exists(path.to_path_buf()));
            }
            let folder = Self {
                path: path.to_path_buf(),
            };
            return match folder.state(wanted)? {
                FolderState::Empty => Ok((folder, Vec::new())),
                FolderState::Resumable(outcomes) => Ok((folder, outcomes)),
                FolderState::Other(_) if force => Ok((folder, Vec::new())),
                FolderState::Other(file) => Err(Error::Exists(file)),
            };
        }
        let numbered = |number: u64| Self {
            path: Path::new("runs").join(format!("{name}-{number}")),
        };
        let mut number = 1;
        while numbered(number).path.exists() {
            number += 1;
        }
        if number > 1
            && let FolderState::Resumable(outcomes) = numbered(number - 1).state(wanted)?
        {
            return Ok((numbered(number - 1), outcomes));
        }
        Ok((numbered(number), Vec::new()))
    }

    /// Makes the folder and keeps other comparisons out of it, for as long as the lock is held.
    pub fn lock(&self) -> Result<FolderLock> {
        fs::create_dir_all(&self.path).map_err(Error::io(&self.path))?;
        let path = self.path.join(LOCK_FILE_NAME);
        match lock_file(&path).map_err(Error::io(&path))? {
            Some(file) => Ok(FolderLock {
                folder: self.path.clone(),
                _file: file,
            }),
            None => {
                let message = "another comparison writes there at this moment; wait until it ends, \
                    or give another --out";
                Err(Error::input(Place::file(&self.path), message))
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state(&self, wanted: &ComparisonKey<'_>) -> Result<FolderState> {
        let results = self.path.join(RESULTS_FILE_NAME);
        let Some(other) = RESULT_FILE_NAMES
            .iter()
            .map(|file| self.path.join(file))
            .find(|file| file.exists())
        else {
            return Ok(FolderState::Empty);
        };
        if !self.has_settings(wanted)? {
            return Ok(FolderState::Other(other));
        }
        let text = match fs::read(&results) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            // A run that was killed before its first line leaves its settings alone.
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::io(&results)(error)),
        };
        let mut outcomes = Vec::new();
        for line in text.split_inclusive('\n') {
            match serde_json::from_str::<RunResult>(line) {
                Ok(outcome) if wanted.keys.contains(&outcome.key) => outcomes.push(outcome),
                // Cut off when the program was killed; its run is done again.
                Err(_) if !line.ends_with('\n') => {}
                Ok(_) | Err(_) => return Ok(FolderState::Other(results)),
            }
        }
        Ok(if outcomes.len() >= wanted.keys.len() {
            FolderState::Other(results)
        } else {
            FolderState::Resumable(outcomes)
        })
    }

    /// Whether the folder was made with the same settings, the number of threads aside, which
    /// changes no result.
    fn has_settings(&self, wanted: &ComparisonKey<'_>) -> Result<bool> {
        let path = self.path.join("settings.toml");
        let written = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let read = |text: &str| {
            let mut table = text.parse::<toml::Table>().ok()?;
            for indifferent in ["threads", "out"] {
                table.remove(indifferent);
            }
            Some(table)
        };
        let (written, wanted) = (read(&written), read(wanted.settings));
        Ok(written.is_some() && written == wanted)
    }

    /// The list of runs, to be added to.
    pub fn runs(&self, settings: String, earlier: Vec<RunResult>) -> Result<RunLog> {
        let runs = RunLog {
            folder: self.path.clone(),
            settings,
            earlier,
            file: Mutex::new(None),
        };
        if !runs.earlier.is_empty() {
            // Lines that were cut off go, so that what is appended stands on lines of its own.
            write_text(
                &self.path.join(RESULTS_FILE_NAME),
                &lines(&runs.earlier)?,
                true,
            )?;
        }
        Ok(runs)
    }

    /// Writes the tables, and the runs in their order.
    pub fn finish(&self, outcomes: &[RunResult], summary: &ComparisonSummary) -> Result<()> {
        write_text(&self.path.join(RESULTS_FILE_NAME), &lines(outcomes)?, true)?;
        write_text(
            &self.path.join("results.csv"),
            &summary.runs_csv(outcomes)?,
            true,
        )?;
        write_text(&self.path.join("summary.csv"), &summary.csv()?, true)
    }
}

/// Finished runs, each a line of a file.
pub struct RunLog {
    folder: PathBuf,
    settings: String,
    earlier: Vec<RunResult>,
    file: Mutex<Option<File>>,
}

impl RunLog {
    /// A run that was finished earlier.
    pub fn find(&self, key: &str) -> Option<RunResult> {
        self.earlier
            .iter()
            .find(|outcome| outcome.key == key)
            .cloned()
    }

    /// Writes down a run that has finished, the settings before the first.
    pub fn append(&self, outcome: &RunResult) -> Result<()> {
        let path = self.folder.join(RESULTS_FILE_NAME);
        let mut kept = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match kept.take() {
            Some(file) => file,
            None => {
                fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
                write_text(&self.folder.join("settings.toml"), &self.settings, true)?;
                if self.earlier.is_empty() {
                    File::create(&path).map_err(Error::io(&path))?
                } else {
                    File::options()
                        .append(true)
                        .open(&path)
                        .map_err(Error::io(&path))?
                }
            }
        };
        file.write_all(lines(std::slice::from_ref(outcome))?.as_bytes())
            .map_err(Error::io(&path))?;
        *kept = Some(file);
        Ok(())
    }
}

/// Outcomes as lines of JSON.
fn lines(outcomes: &[RunResult]) -> Result<String> {
    let mut text = String::new();
    for outcome in outcomes {
        let line = serde_json::to_string(outcome);
        text += &line
            .map_err(|error| Error::setting(format!("a run cannot be written down: {error}")))?;
        text.push('\n');
    }
    Ok(text)
}
