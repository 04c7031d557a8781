//! Parts of labels: rows that one run has solved are not solved again by the next, and several
//! machines can label one table.
//!
//! While a table is being labeled, parts are in a folder next to the later label file. A part
//! contains the results of some rows; it is written atomically and never changed. Every run on the
//! same table reads all parts first and solves the missing rows, so that it does not matter which
//! rows are in which part. Damaged parts and parts of other tables are ignored, and their rows are
//! solved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::file;
use super::store::{check_results, read};
use crate::data::Matrix;
use crate::data::atomic_write::{fail_point, remove_stale_temp_files, write_atomically};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};

/// One of several equal parts of the rows: row r belongs to shard r mod `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The shard, counted from 0.
    pub index: usize,
    /// Number of shards.
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
            _ => Err(Error::setting(format!("'{text}' is not a shard"))
                .with_remedy("the second of seven is 2/7")),
        }
    }
}

/// The parts of one table.
pub(super) struct LabelParts<'a> {
    pub folder: PathBuf,
    pub key: &'a str,
    pub costs: &'a Matrix,
    pub oracle: &'a Oracle,
    /// Time between writes of solved rows.
    pub flush_interval: Duration,
}

/// Solved rows that are not written yet.
struct UnwrittenLabels {
    rows: Vec<(usize, SolveResult)>,
    since: Instant,
    /// The first error of a write; nothing is written after it.
    write_error: Option<Error>,
}

impl<'a> LabelParts<'a> {
    pub(super) fn context(&self) -> file::LabelContext<'a> {
        file::LabelContext {
            key: self.key,
            heuristic: self.oracle.heuristic(),
        }
    }

    /// Results of the rows in valid parts, and warnings about the others.
    pub(super) fn load(&self) -> (BTreeMap<usize, SolveResult>, Vec<String>) {
        let (mut known, mut warnings) = (BTreeMap::new(), Vec::new());
        for path in self.files() {
            match self.part(&path) {
                Ok(Some(results)) => known.extend(results),
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
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "part") {
                files.push(path);
            }
        }
        files.sort();
        files
    }

    fn part(&self, path: &Path) -> Result<Option<Vec<(usize, SolveResult)>>, String> {
        let (rows, cols) = (self.costs.rows(), self.costs.cols());
        let Some(bytes) = read(path, file::max_bytes(rows, cols))? else {
            return Ok(None);
        };
        let results = file::decode(&bytes, self.context(), rows, cols)?;
        check_results(&results, self.costs, self.oracle)?;
        Ok(Some(results))
    }

    /// Solves the rows and writes them as they are solved; with `write_all`, or when interrupted,
    /// also the last ones. Returns the first error of a write next to the results.
    ///
    /// # Errors
    /// When the observer interrupts.
    pub(super) fn solve(
        &self,
        rows: &[usize],
        write_all: bool,
        observer: &dyn Observer,
    ) -> Result<(Vec<SolveResult>, Option<Error>)> {
        let pending = Mutex::new(UnwrittenLabels {
            rows: Vec::new(),
            since: Instant::now(),
            write_error: None,
        });
        let record = |row: usize, result: &SolveResult| {
            let due_rows = {
                let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.rows.push((row, result.clone()));
                pending.take_if_due(self.flush_interval)
            };
            self.write_or_record_error(due_rows, &pending);
        };
        let outcome = self.oracle.solve_each(self.costs, rows, observer, record);
        let remaining = {
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            if write_all || outcome.is_err() {
                std::mem::take(&mut pending.rows)
            } else {
                Vec::new()
            }
        };
        self.write_or_record_error(remaining, &pending);
        let pending = pending.into_inner();
        let write_error = pending.unwrap_or_else(PoisonError::into_inner).write_error;
        outcome.map(|results| (results, write_error))
    }

    /// Writes rows, if there are any; stores the first error for the caller.
    fn write_or_record_error(
        &self,
        mut rows: Vec<(usize, SolveResult)>,
        pending: &Mutex<UnwrittenLabels>,
    ) {
        if rows.is_empty() {
            return;
        }
        rows.sort_by_key(|(row, _)| *row);
        if let Err(error) = self.write(rows) {
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            pending.write_error.get_or_insert(error);
        }
    }

    fn write(&self, rows: Vec<(usize, SolveResult)>) -> Result<()> {
        let (rows, results): (Vec<usize>, Vec<SolveResult>) = rows.into_iter().unzip();
        let bytes = file::encode(self.context(), Some(&rows), &results).map_err(Error::data)?;
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        // Named by the hash of its content: a file of the same name has the same content.
        let name = format!(
            "{:08}-{}.part",
            rows[0],
            &blake3::hash(&bytes).to_hex()[..16]
        );
        write_atomically(&self.folder.join(name), true, |out| out.write_all(&bytes))
    }

    /// Removes the parts, once their rows are in the label file, and stale temporary files.
    pub(super) fn remove(&self) {
        // A part that cannot be removed takes space but does no harm.
        let _ = fs::remove_dir_all(&self.folder);
        fail_point();
        if let Some(labels) = self.folder.parent() {
            remove_stale_temp_files(labels);
        }
    }
}

impl UnwrittenLabels {
    fn take_if_due(&mut self, flush_interval: Duration) -> Vec<(usize, SolveResult)> {
        if self.since.elapsed() < flush_interval || self.write_error.is_some() {
            return Vec::new();
        }
        self.since = Instant::now();
        std::mem::take(&mut self.rows)
    }
}
