//! Files of labels: segments of a store.
//!
//! A segment holds the labels of some rows of one problem with one set of limits, each under the
//! key of its row, sorted by key. It is written atomically and never changed. A run reads all
//! segments, solves the rows that are in none, and appends them; so it does not matter which rows
//! are in which segment, nor which run or machine wrote it.
//!
//! Small segments are merged into larger ones, as in a log-structured merge tree (O'Neil et al.
//! 1996): their number grows with the logarithm of the number of rows, and a row is written again
//! that often. A merged segment is in place before those it replaces are removed, so a run that is
//! killed in between leaves rows in two segments, never in none.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::file::{self, LabelContext};
use super::label_key::{LabelKey, LabelKeys};
use super::time_estimate::TimeEstimate;
use crate::data::Matrix;
use crate::data::atomic_write::{fail_point, write_atomically};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::size_limits::read_file;
use crate::solve::SolveFailure;

mod merge;

pub(super) use self::merge::MergeRule;

/// Times the folder is listed again because another process merged segments while they were read.
/// Untuned: every retry needs another merge in the meantime.
const MAX_LIST_ATTEMPTS: usize = 20;
/// Hex digits of a hash in the name of a file.
const NAME_DIGITS: usize = 16;

/// The segments of one problem with one set of limits.
pub(super) struct LabelSegments<'a> {
    /// The folder of the store.
    pub folder: &'a Path,
    pub context: LabelContext<'a>,
    /// Number of costs of a row.
    pub num_costs: usize,
}

/// A table whose labels are wanted.
pub(super) struct UnlabeledTable<'a> {
    pub costs: &'a Matrix,
    pub keys: LabelKeys,
    pub oracle: &'a Oracle,
}

/// What the segments contain for a table.
pub(super) struct StoredLabels {
    /// The label of each row that is stored; of rows with equal costs only the first has one.
    pub results: Vec<Option<SolveResult>>,
    /// Segments whose content cannot be used.
    pub damaged: Vec<PathBuf>,
    /// Labels of damaged segments that can be used.
    pub rescued: BTreeMap<LabelKey, SolveResult>,
    pub warnings: Vec<String>,
}

/// Rows that were solved and written.
pub(super) struct SolvedRows {
    /// The results, in the order of the rows.
    pub results: Vec<SolveResult>,
    /// Measured seconds of one solve on one thread.
    pub solve_seconds: Option<f64>,
    /// The first error of a write.
    pub write_error: Option<Error>,
}

/// What was found in place of a segment.
enum SegmentContent {
    Labels(Vec<(LabelKey, SolveResult)>),
    /// The file does not exist any more: it was merged.
    Missing,
    /// The file system does not give its bytes.
    Unreadable(String),
    /// Its bytes are not those of a segment of this problem.
    Damaged(String),
}

impl LabelSegments<'_> {
    fn name_prefix(&self) -> &str {
        &self.context.key[..NAME_DIGITS]
    }

    /// The segments in the folder, by size and name.
    fn files(&self) -> Vec<(u64, PathBuf)> {
        let mut files = Vec::new();
        for entry in fs::read_dir(self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_segment = name.to_str().is_some_and(|name| {
                name.starts_with(self.name_prefix()) && name.ends_with(".safetensors")
            });
            // A file that is removed meanwhile was merged.
            if let (true, Ok(metadata)) = (is_segment, entry.metadata()) {
                files.push((metadata.len(), entry.path()));
            }
        }
        files.sort();
        files
    }

    /// The labels of a table in all segments, each checked against the problem and the costs.
    pub(super) fn load(&self, table: &UnlabeledTable<'_>) -> StoredLabels {
        let mut stored = StoredLabels {
            results: vec![None; table.costs.rows()],
            damaged: Vec::new(),
            rescued: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let mut processed: Vec<PathBuf> = Vec::new();
        for _ in 0..MAX_LIST_ATTEMPTS {
            let mut was_merged = false;
            for (_, path) in self.files() {
                if processed.contains(&path) {
                    continue;
                }
                match self.read(&path) {
                    SegmentContent::Labels(labels) => stored.add(&path, labels, table),
                    SegmentContent::Missing => was_merged = true,
                    SegmentContent::Unreadable(reason) => stored.warn(&path, &reason),
                    SegmentContent::Damaged(reason) => stored.refuse(&path, &reason),
                }
                processed.push(path);
            }
            if !was_merged {
                break;
            }
        }
        stored
    }

    fn read(&self, path: &Path) -> SegmentContent {
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return SegmentContent::Missing;
            }
            Err(error) => return SegmentContent::Unreadable(error.to_string()),
        };
        match file::decode(&bytes, self.context, self.num_costs) {
            Ok(labels) => SegmentContent::Labels(labels),
            Err(reason) => SegmentContent::Damaged(reason),
        }
    }

    /// Writes labels as a new segment.
    ///
    /// # Errors
    /// When the folder cannot be written.
    fn write(&self, labels: &BTreeMap<LabelKey, SolveResult>) -> Result<PathBuf> {
        let bytes = file::encode(self.context, labels).map_err(Error::data)?;
        fs::create_dir_all(self.folder).map_err(Error::io(self.folder))?;
        // Named by the hash of its content: a file of the same name has the same content.
        let content = blake3::hash(&bytes).to_hex();
        let name = format!(
            "{}-{}.safetensors",
            self.name_prefix(),
            &content[..NAME_DIGITS]
        );
        let path = self.folder.join(name);
        write_atomically(&path, true, |out| out.write_all(&bytes))?;
        Ok(path)
    }

    /// Solves rows and writes them as they are solved, at least every `flush_interval`, and the
    /// last ones in the end or when the user interrupts.
    ///
    /// # Errors
    /// When the observer interrupts.
    pub(super) fn solve(
        &self,
        table: &UnlabeledTable<'_>,
        rows: &[usize],
        flush_interval: Duration,
        observer: &dyn Observer,
    ) -> Result<SolvedRows> {
        let pending = Mutex::new(UnwrittenLabels {
            labels: BTreeMap::new(),
            since: Instant::now(),
            write_error: None,
        });
        let threads = table.oracle.solver_threads().count();
        let time_estimate = TimeEstimate::new(observer, rows.len(), threads);
        let record = |row: usize, result: &SolveResult| {
            time_estimate.count();
            let due = {
                let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
                if is_property_of_row(result) {
                    pending.labels.insert(table.keys.key(row), result.clone());
                }
                pending.take_if_due(flush_interval)
            };
            self.write_or_record_error(&due, &pending);
        };
        let outcome = table.oracle.solve_each(table.costs, rows, observer, record);
        let solve_seconds = time_estimate.seconds_per_solve();
        let remaining = {
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut pending.labels)
        };
        self.write_or_record_error(&remaining, &pending);
        let pending = pending.into_inner();
        let write_error = pending.unwrap_or_else(PoisonError::into_inner).write_error;
        outcome.map(|results| SolvedRows {
            results,
            solve_seconds,
            write_error,
        })
    }

    /// Writes labels, if there are any, and merges segments. Labels that cannot be written are
    /// pending again, for the next attempt, and the error is stored for the caller.
    fn write_or_record_error(
        &self,
        labels: &BTreeMap<LabelKey, SolveResult>,
        pending: &Mutex<UnwrittenLabels>,
    ) {
        if labels.is_empty() {
            return;
        }
        let written = self.write(labels);
        let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
        match written {
            Ok(_) => pending.write_error = None,
            Err(error) => {
                pending.labels.extend(labels.clone());
                pending.write_error = Some(error);
            }
        }
        let is_written = pending.write_error.is_none();
        drop(pending);
        if is_written {
            self.merge(MergeRule::WhileSolving);
        }
    }

    /// Removes segments that cannot be used, before their rows are solved and written again: the
    /// new file may have the same name. Their labels that can be used are written first.
    pub(super) fn remove_damaged(&self, stored: &StoredLabels) {
        if !stored.rescued.is_empty() && self.write(&stored.rescued).is_err() {
            return;
        }
        for path in &stored.damaged {
            let _ = fs::remove_file(path);
            fail_point();
        }
    }
}

/// Whether a solve of the row would have this result again.
fn is_property_of_row(result: &SolveResult) -> bool {
    result
        .as_ref()
        .map_or_else(SolveFailure::is_property_of_row, |_| true)
}

impl StoredLabels {
    /// Adds the labels of a segment that fit the table. If one does not fit, the segment counts as
    /// damaged, and its other labels are rescued.
    fn add(
        &mut self,
        path: &Path,
        labels: Vec<(LabelKey, SolveResult)>,
        table: &UnlabeledTable<'_>,
    ) {
        let mut fitting = Vec::new();
        let mut misfit = None;
        for (key, result) in &labels {
            let Some(row) = table.keys.first_row(*key) else {
                continue;
            };
            match table.check(row, result) {
                Ok(()) => fitting.push((row, result.clone())),
                Err(reason) => misfit = misfit.or(Some((*key, reason))),
            }
        }
        if let Some((_, reason)) = misfit {
            self.refuse(path, &reason);
            for (key, result) in labels {
                let row = table.keys.first_row(key);
                if row.is_none_or(|row| table.check(row, &result).is_ok()) {
                    self.rescued.insert(key, result);
                }
            }
        }
        for (row, result) in fitting {
            if !matches!(self.results[row], Some(Ok(_))) {
                self.results[row] = Some(result);
            }
        }
    }

    fn refuse(&mut self, path: &Path, reason: &str) {
        self.warn(path, reason);
        self.damaged.push(path.to_path_buf());
    }

    fn warn(&mut self, path: &Path, reason: &str) {
        let name = path.display();
        self.warnings.push(format!(
            "{name}: labels could not be used and are computed again: {reason}"
        ));
    }
}

impl UnlabeledTable<'_> {
    /// Checks a stored label against the problem and the costs of its row.
    fn check(&self, row: usize, result: &SolveResult) -> Result<(), String> {
        let Ok(label) = result else { return Ok(()) };
        self.oracle
            .row_problem(row)
            .map_err(|failure| failure.to_string())
            .and_then(|problem| problem.check(&label.decision))
            .map_err(|reason| format!("instance {row}: {reason}"))?;
        let objective = self.oracle.objective_of(&label.decision, self.costs, row);
        if objective != label.objective {
            return Err(format!(
                "instance {row}: the objective does not match the costs"
            ));
        }
        Ok(())
    }
}

/// Solved rows that are not written yet.
struct UnwrittenLabels {
    labels: BTreeMap<LabelKey, SolveResult>,
    since: Instant,
    /// The error of the last write, if it failed.
    write_error: Option<Error>,
}

impl UnwrittenLabels {
    fn take_if_due(&mut self, flush_interval: Duration) -> BTreeMap<LabelKey, SolveResult> {
        if self.since.elapsed() < flush_interval {
            return BTreeMap::new();
        }
        self.since = Instant::now();
        std::mem::take(&mut self.labels)
    }
}
