//! The result folder of a comparison: runs as they finish, then the tables and the page.
//!
//! `results.jsonl` has a line per finished run, which is a cell of an experiment: its identity with
//! a hash of everything the run depends on, and its outcome. A folder that holds some runs of the
//! present comparison and no others belongs to an interrupted comparison and is resumed.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regretless::data::OutputFile;
use regretless::error::InputPlace;
use regretless::{Error, Result};

use super::cells::FailedRun;
use super::summary::ComparisonSummary;
use crate::experiment::{CellId, CellRecord, CellStore};
use crate::text::write_text;

const RESULTS_FILE_NAME: &str = "results.jsonl";
const SUMMARY_FILE_NAME: &str = "summary.csv";
const LOCK_FILE_NAME: &str = "lock";
const REPORT_FILE_NAME: &str = "report.html";
const RESULT_FILE_NAMES: [&str; 5] = [
    RESULTS_FILE_NAME,
    REPORT_FILE_NAME,
    "results.csv",
    SUMMARY_FILE_NAME,
    "settings.toml",
];

/// The folder of the results; it is created when the first run has finished.
pub struct ResultFolder {
    path: PathBuf,
}

/// Lock of the folder while a comparison runs. The operating system releases it with the process.
/// Its file is removed when the comparison has ended, which includes its report: the file shows
/// that a comparison was killed.
pub struct FolderLock {
    folder: PathBuf,
    /// Closing the file releases the lock.
    _file: File,
}

impl Drop for FolderLock {
    /// Removes the lock file while the lock is held, and the folder if it is empty.
    fn drop(&mut self) {
        // A failure leaves an empty file or folder, which does no harm.
        // It is the last step that changes anything: a comparison that is killed here has ended.
        let _ = fs::remove_file(self.folder.join(LOCK_FILE_NAME));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Identity of a comparison.
pub struct ComparisonKey<'a> {
    /// Its runs, with hashes of what each run depends on.
    pub runs: &'a [CellId],
    /// Its settings as TOML.
    pub settings: &'a str,
}

/// Content of a folder with respect to a comparison.
enum FolderState {
    /// No results.
    Empty,
    /// Some of the comparison's runs, and nothing else; or all runs and the summary with the lock
    /// of a comparison that was killed before it reported them.
    Resumable(Vec<CellRecord>),
    /// All of its runs and the summary.
    Complete(Vec<CellRecord>),
    /// Results of another comparison; the file that shows it.
    Other(PathBuf),
}

impl ResultFolder {
    /// The folder `out`, or else one under `runs`: the last one if it holds this comparison,
    /// interrupted, or the first unused one. Returns the runs that it already holds.
    ///
    /// # Errors
    /// When `out` holds other results and `force` is false.
    pub fn choose(
        out: Option<&Path>,
        name: &str,
        comparison: &ComparisonKey<'_>,
        force: bool,
    ) -> Result<(Self, Vec<CellRecord>)> {
        if let Some(path) = out {
            let folder = Self::at(path)?;
            return match folder.state(comparison)? {
                FolderState::Empty => Ok((folder, Vec::new())),
                FolderState::Resumable(runs) => Ok((folder, runs)),
                FolderState::Complete(_) | FolderState::Other(_) if force => {
                    Ok((folder, Vec::new()))
                }
                // It is reported again: the program may have been killed after its last step.
                FolderState::Complete(runs) => Ok((folder, runs)),
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
            && let FolderState::Resumable(runs) = numbered(number - 1).state(comparison)?
        {
            return Ok((numbered(number - 1), runs));
        }
        Ok((numbered(number), Vec::new()))
    }

    /// The folder of a path, which must not be a file.
    fn at(path: &Path) -> Result<Self> {
        if path.exists() && !path.is_dir() {
            return Err(Error::Exists(path.to_path_buf()));
        }
        Ok(Self {
            path: path.to_path_buf(),
        })
    }

    /// A folder whose runs are kept, even if the comparison is complete. Returns the runs that it
    /// already holds.
    ///
    /// # Errors
    /// When it holds other results.
    pub fn keep(path: &Path, comparison: &ComparisonKey<'_>) -> Result<(Self, Vec<CellRecord>)> {
        let folder = Self::at(path)?;
        match folder.state(comparison)? {
            FolderState::Empty => Ok((folder, Vec::new())),
            FolderState::Resumable(runs) | FolderState::Complete(runs) => Ok((folder, runs)),
            FolderState::Other(file) => Err(Error::Exists(file)),
        }
    }

    /// Creates the folder and locks it against other comparisons.
    pub fn lock(&self) -> Result<FolderLock> {
        fs::create_dir_all(&self.path).map_err(Error::io(&self.path))?;
        let path = self.path.join(LOCK_FILE_NAME);
        match OutputFile::lock(&path).map_err(Error::io(&path))? {
            Some(file) => Ok(FolderLock {
                folder: self.path.clone(),
                _file: file,
            }),
            None => {
                let message = "another comparison is writing there";
                Err(Error::input(InputPlace::file(&self.path), message)
                    .with_remedy("wait until it ends, or choose another folder"))
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state(&self, comparison: &ComparisonKey<'_>) -> Result<FolderState> {
        let results = self.path.join(RESULTS_FILE_NAME);
        let Some(other) = RESULT_FILE_NAMES
            .iter()
            .map(|file| self.path.join(file))
            .find(|file| file.exists())
        else {
            return Ok(FolderState::Empty);
        };
        if !self.has_settings(comparison)? {
            return Ok(FolderState::Other(other));
        }
        let text = match fs::read(&results) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            // A comparison that was killed before its first run leaves only its settings.
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::io(&results)(error)),
        };
        let mut runs = Vec::new();
        for line in text.split_inclusive('\n') {
            match serde_json::from_str::<CellRecord>(line) {
                Ok(run) if comparison.runs.contains(&run.id) => runs.push(run),
                // Truncated when the program was killed; the run is repeated.
                Err(_) if !line.ends_with('\n') => {}
                Ok(_) | Err(_) => return Ok(FolderState::Other(results)),
            }
        }
        // A comparison that was killed before its summary was written, or before it ended, is
        // resumed, too.
        let is_complete = self.has_summary() && runs.len() >= comparison.runs.len();
        let has_ended = !self.path.join(LOCK_FILE_NAME).exists();
        Ok(if is_complete && has_ended {
            FolderState::Complete(runs)
        } else {
            FolderState::Resumable(runs)
        })
    }

    /// Whether the last file of a comparison is there.
    pub fn has_summary(&self) -> bool {
        self.path.join(SUMMARY_FILE_NAME).exists()
    }

    /// Whether the folder was created with the same settings. The number of threads and the unit
    /// may differ, as they change no run.
    fn has_settings(&self, comparison: &ComparisonKey<'_>) -> Result<bool> {
        let path = self.path.join("settings.toml");
        let written = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let read = |text: &str| {
            let mut table = text.parse::<toml::Table>().ok()?;
            for irrelevant in ["threads", "out", "unit"] {
                table.remove(irrelevant);
            }
            Some(table)
        };
        let (written, comparison) = (read(&written), read(comparison.settings));
        Ok(written.is_some() && written == comparison)
    }

    /// The log of finished runs.
    pub fn runs(&self, settings: String, earlier: Vec<CellRecord>) -> Result<RunLog> {
        if !earlier.is_empty() {
            // Removes a truncated last line, so appended runs start on new lines.
            write_text(&self.path.join(RESULTS_FILE_NAME), &lines(&earlier)?, true)?;
            // The unit may be another one.
            write_text(&self.path.join("settings.toml"), &settings, true)?;
        }
        Ok(RunLog {
            folder: Some(self.path.clone()),
            settings,
            is_resumed: !earlier.is_empty(),
            state: Mutex::new(LogState {
                records: earlier,
                failures: Vec::new(),
                file: None,
            }),
        })
    }

    /// The page.
    pub fn report_file(&self) -> PathBuf {
        self.path.join(REPORT_FILE_NAME)
    }

    /// Writes the page, the tables, and the runs in order.
    pub fn finish(
        &self,
        runs: &[CellRecord],
        summary: &ComparisonSummary,
        page: &str,
    ) -> Result<()> {
        write_text(&self.path.join(RESULTS_FILE_NAME), &lines(runs)?, true)?;
        write_text(
            &self.path.join("results.csv"),
            &summary.runs_csv(runs)?,
            true,
        )?;
        write_text(&self.report_file(), page, true)?;
        // The last file: a folder with it is complete.
        write_text(&self.path.join(SUMMARY_FILE_NAME), &summary.csv()?, true)
    }
}

/// Finished runs, one line each. Failed runs are not stored, so the same command repeats them.
pub struct RunLog {
    /// None if runs are kept in memory only.
    folder: Option<PathBuf>,
    settings: String,
    is_resumed: bool,
    state: Mutex<LogState>,
}

struct LogState {
    records: Vec<CellRecord>,
    failures: Vec<FailedRun>,
    /// Opened when the first run of this call has finished.
    file: Option<File>,
}

impl RunLog {
    /// A log without files.
    pub fn in_memory() -> Self {
        Self {
            folder: None,
            settings: String::new(),
            is_resumed: false,
            state: Mutex::new(LogState {
                records: Vec::new(),
                failures: Vec::new(),
                file: None,
            }),
        }
    }

    /// Finished and failed runs.
    pub fn into_runs(self) -> (Vec<CellRecord>, Vec<FailedRun>) {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        (state.records, state.failures)
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a finished run; writes the settings before the first one.
    fn append(&self, record: &CellRecord, log: &mut Option<File>) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let path = folder.join(RESULTS_FILE_NAME);
        let file = match log {
            Some(file) => file,
            None => {
                fs::create_dir_all(folder).map_err(Error::io(folder))?;
                write_text(&folder.join("settings.toml"), &self.settings, true)?;
                let file = if self.is_resumed {
                    File::options().append(true).open(&path)
                } else {
                    File::create(&path)
                };
                log.insert(file.map_err(Error::io(&path))?)
            }
        };
        OutputFile::fail_point();
        file.write_all(lines(std::slice::from_ref(record))?.as_bytes())
            .map_err(Error::io(&path))?;
        OutputFile::fail_point();
        Ok(())
    }
}

impl CellStore for RunLog {
    fn load(&self, id: &CellId) -> Result<Option<CellRecord>> {
        let state = self.state();
        Ok(state
            .records
            .iter()
            .find(|record| record.id == *id)
            .cloned())
    }

    /// A run that cannot be written counts as failed; the others are run.
    fn save(&self, record: CellRecord) -> Result<()> {
        let state = &mut *self.state();
        match self.append(&record, &mut state.file) {
            Ok(()) => state.records.push(record),
            Err(error) => {
                state.failures.push(FailedRun {
                    run: record.id,
                    error,
                });
            }
        }
        Ok(())
    }

    fn save_failure(&self, record: CellRecord, error: Error) -> Result<()> {
        self.state().failures.push(FailedRun {
            run: record.id,
            error,
        });
        Ok(())
    }
}

/// Runs as lines of JSON.
fn lines(runs: &[CellRecord]) -> Result<String> {
    let mut text = String::new();
    for run in runs {
        let line = serde_json::to_string(run);
        text += &line
            .map_err(|error| Error::setting(format!("a run cannot be serialized: {error}")))?;
        text.push('\n');
    }
    Ok(text)
}
