//! Labels on their way: what a run has solved is not solved again by the next, and several machines
//! can share a table.
//!
//! While a table is being labelled, parts lie in a folder beside the file they will become. A part
//! holds the answers of some rows; it is written whole, renamed into place and never changed.
//! Whoever labels the same table reads all parts first and solves the rows that are missing, so
//! that it does not matter which rows are in which part. Damaged parts and parts of other tables
//! are left alone and their rows solved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::file;
use super::store::{checked, read};
use crate::data::Matrix;
use crate::data::atomic_write::{remove_stale_temp_files, write_atomically};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};

/// One of several equal shares of the rows: row r belongs to shard r mod `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Counted from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl std::str::FromStr for Shard {
    type Err = Error;

    /// `2/7` is the second of seven.
    fn from_str(text: &str) -> Result<Self> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self {
                index: index - 1,
                count,
            }),
            _ => Err(Error::setting(format!(
                "'{text}' is no shard; the second of seven is 2/7"
            ))),
        }
    }
}

/// The table whose parts these are.
pub(super) struct LabelParts<'a> {
    pub folder: PathBuf,
    pub key: &'a str,
    pub costs: &'a Matrix,
    pub oracle: &'a Oracle,
    /// How long solved rows may wait before they are written down.
    pub patience: Duration,
}

/// Solved rows that are not written down yet.
struct UnwrittenLabels {
    rows: Vec<(usize, SolveResult)>,
    since: Instant,
    /// Why nothing can be written, once that is known.
    refused: Option<Error>,
}

impl<'a> LabelParts<'a> {
    pub(super) fn context(&self) -> file::LabelContext<'a> {
        file::LabelContext {
            key: self.key,
            heuristic: self.oracle.heuristic(),
        }
    }

    /// Answers of all rows whose parts are whole, and what is wrong with the others.
    pub(super) fn load(&self) -> (BTreeMap<usize, SolveResult>, Vec<String>) {
        let (mut known, mut warnings) = (BTreeMap::new(), Vec::new());
        for path in self.files() {
            match self.part(&path) {
                Ok(Some(answers)) => known.extend(answers),
                Ok(None) => {}
                Err(reason) => {
                    warnings.push(format!(
                        "{}: not used, its rows are solved again: {reason}",
                        path.display()
                    ));
                }
            }
        }
        (known, warnings)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let mut files: Vec<PathBuf> = entries
            .filter(|path| path.extension().is_some_and(|e| e == "part"))
            .collect();
        files.sort();
        files
    }

    fn part(&self, path: &Path) -> Result<Option<Vec<(usize, SolveResult)>>, String> {
        let (rows, cols) = (self.costs.rows(), self.costs.cols());
        let Some(bytes) = read(path, file::most_bytes(rows, cols))? else {
            return Ok(None);
        };
        let answers = file::decode(&bytes, self.context(), rows, cols)?;
        checked(&answers, self.costs, self.oracle)?;
        Ok(Some(answers))
    }

    /// Solves the rows, writing them down as they come; an interruption leaves them written.
    ///
    /// # Errors
    /// When the user interrupts. What could not be written is a warning.
    pub(super) fn solve(
        &self,
        rows: &[usize],
        keep: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<SolveResult>, Option<Error>)> {
        let pending = Mutex::new(UnwrittenLabels {
            rows: Vec::new(),
            since: Instant::now(),
            refused: None,
        });
        let done = |row: usize, answer: &SolveResult| {
            let due = {
                let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.rows.push((row, answer.clone()));
                pending.take_if_due(self.patience)
            };
            self.queue_for_writing(due, &pending);
        };
        let outcome = self.oracle.solve_each(self.costs, rows, observer, done);
        let left = {
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = keep || outcome.is_err();
            if wanted {
                std::mem::take(&mut pending.rows)
            } else {
                Vec::new()
            }
        };
        self.queue_for_writing(left, &pending);
        let refused = pending
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .refused;
        outcome.map(|answers| (answers, refused))
    }

    fn queue_for_writing(
        &self,
        mut rows: Vec<(usize, SolveResult)>,
        pending: &Mutex<UnwrittenLabels>,
    ) {
        if rows.is_empty() {
            return;
        }
        rows.sort_by_key(|(row, _)| *row);
        if let Err(error) = self.write(rows) {
            pending
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .refused
                .get_or_insert(error);
        }
    }

    fn write(&self, rows: Vec<(usize, SolveResult)>) -> Result<()> {
        let (rows, answers): (Vec<usize>, Vec<SolveResult>) = rows.into_iter().unzip();
        let bytes = file::encode(self.context(), Some(&rows), &answers).map_err(Error::data)?;
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        // Named by its content: whoever else labels this table never takes the same name for
        // something else.
        let name = format!(
            "{:08}-{}.part",
            rows[0],
            &blake3::hash(&bytes).to_hex()[..16]
        );
        write_atomically(&self.folder.join(name), true, |out| out.write_all(&bytes))
    }

    /// Removes the parts, once their rows are in the file of all labels, and temporary files that
    /// killed runs left.
    pub(super) fn remove(&self) {
        // A part that stays behind costs room, nothing else.
        let _ = fs::remove_dir_all(&self.folder);
        if let Some(labels) = self.folder.parent() {
            remove_stale_temp_files(labels);
        }
    }
}

impl UnwrittenLabels {
    fn take_if_due(&mut self, patience: Duration) -> Vec<(usize, SolveResult)> {
        if self.since.elapsed() < patience || self.refused.is_some() {
            return Vec::new();
        }
        self.since = Instant::now();
        std::mem::take(&mut self.rows)
    }
}
