//! Labels stored next to their table, so no instance is solved twice.
//!
//! The labels of `prices.csv` are in the folder `prices.csv.labels`. The label of a row is stored
//! under two hashes: one over the problem and the limits, with which the names of files begin, and
//! one over the costs of the row (`label_key`). Rows can therefore be appended, reordered and
//! removed: only rows with new costs are solved. Labels of rows that the table does not have any
//! more are kept. Files of other problems are not read; damaged ones are reported and replaced, and
//! their rows are solved again. Module `segments` reads and writes the files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::LabeledDataset;
use super::file::{LABEL_FILE_FORMAT, LabelContext};
use super::label_key::LabelKeys;
use super::segments::{LabelSegments, MergeRule, UnlabeledTable};
use super::shard::Shard;
use super::solving::{coarse_costs, refuse_unusable_costs};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::problem::ProblemSpec;
use crate::solve::SolveFailure;

/// Increased when a solver returns other decisions.
const LABEL_KEY_VERSION: u32 = 3;

/// How the labels of a table were obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelReport {
    /// Number of rows of the table.
    pub rows: usize,
    /// Rows whose label was stored by an earlier run, or by another one at the same time.
    pub stored_rows: usize,
    /// Rows that this run solved. Rows with equal costs are solved once.
    pub solved_rows: usize,
    /// Rows whose label is known now.
    pub known_rows: usize,
    /// Whether all labels are stored now; the reason why not is among the warnings.
    pub is_stored: bool,
    /// Rows that could not be solved, with the reason.
    pub failed: Vec<(usize, SolveFailure)>,
    /// Damaged files that were not used, or a folder that could not be written.
    pub warnings: Vec<String>,
}

impl LabelReport {
    /// All rows were solved, and nothing is stored.
    pub(crate) fn of_solved(rows: usize, failed: Vec<(usize, SolveFailure)>) -> Self {
        Self {
            solved_rows: rows,
            ..Self::of_known(rows, failed)
        }
    }

    /// The labels were known.
    pub(crate) fn of_known(rows: usize, failed: Vec<(usize, SolveFailure)>) -> Self {
        Self {
            rows,
            stored_rows: 0,
            solved_rows: 0,
            known_rows: rows,
            is_stored: false,
            failed,
            warnings: Vec::new(),
        }
    }
}

/// A folder of labels.
#[derive(Debug, Clone)]
pub struct LabelStore {
    folder: PathBuf,
    flush_interval: Duration,
}

impl LabelStore {
    /// The default time between writes of solved rows. Trades work that is lost when a run is
    /// killed against the number of files.
    pub const DEFAULT_FLUSH_INTERVAL: Duration = Duration::from_secs(2);

    /// The store of a table: the folder with its name and `.labels` appended.
    pub fn for_table(table: &Path) -> Self {
        let mut name = table.file_name().unwrap_or_default().to_os_string();
        name.push(".labels");
        Self {
            folder: table.with_file_name(name),
            flush_interval: Self::DEFAULT_FLUSH_INTERVAL,
        }
    }

    /// The same store with another time between writes of solved rows.
    #[must_use]
    pub fn with_flush_interval(mut self, flush_interval: Duration) -> Self {
        self.flush_interval = flush_interval;
        self
    }

    /// The folder of the labels.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The labels of a table: stored ones are read, the others are computed and stored. Instances
    /// that cannot be solved are reported, and are not among the rows of the labeled table.
    ///
    /// # Errors
    /// When the table does not fit the problem, no instance can be solved, or the observer
    /// interrupts, after which the next call resumes; never because labels could not be read or
    /// written.
    pub fn label(
        &self,
        mut data: Dataset,
        problem: &ProblemSpec,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<(LabeledDataset, LabelReport)> {
        LabeledDataset::prepare_costs(&mut data, oracle)?;
        let mut labeling = self.label_rows(&data, problem, oracle, Shard::ALL_ROWS, observer)?;
        labeling
            .report
            .warnings
            .splice(0..0, coarse_costs(data.costs()));
        if let Some(error) = labeling.write_error {
            labeling.report.warnings.push(format!(
                "labels could not be stored and will be computed again next time: {error}"
            ));
        }
        let results: Vec<SolveResult> = labeling.results.into_iter().flatten().collect();
        let mut report = labeling.report;
        let mut labeled =
            LabeledDataset::from_partial_results(data, oracle, results, &mut report.failed)?;
        labeled.solve_seconds = labeling.solve_seconds;
        Ok((labeled, report))
    }

    /// Solves the rows of one shard and stores them; a later call of [`Self::label`] uses them.
    /// Failed rows are not in the report.
    ///
    /// # Errors
    /// When the table does not fit the problem, the observer interrupts, or the rows cannot be
    /// written.
    pub fn label_shard(
        &self,
        mut data: Dataset,
        problem: &ProblemSpec,
        oracle: &Oracle,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<LabelReport> {
        LabeledDataset::prepare_costs(&mut data, oracle)?;
        let labeling = self.label_rows(&data, problem, oracle, shard, observer)?;
        match labeling.write_error {
            Some(error) => Err(error),
            None => Ok(labeling.report),
        }
    }

    /// Reads stored labels, solves the missing rows of a shard, and stores them.
    fn label_rows(
        &self,
        data: &Dataset,
        problem: &ProblemSpec,
        oracle: &Oracle,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Labeling> {
        check_same_problem(problem, oracle)?;
        let key = key(problem, oracle)?;
        let segments = LabelSegments {
            folder: &self.folder,
            context: LabelContext {
                key: &key,
                heuristic: oracle.heuristic(),
            },
            num_costs: data.costs().cols(),
        };
        let table = UnlabeledTable {
            costs: data.costs(),
            keys: LabelKeys::of(data.costs(), oracle)?,
            oracle,
        };
        let stored = segments.load(&table);
        segments.remove_damaged(&stored);
        let mut results = stored.results;
        let rows = results.len();
        let missing: Vec<usize> = (0..rows)
            .filter(|row| shard.contains(*row))
            .filter(|row| table.keys.representative(*row) == *row && results[*row].is_none())
            .collect();
        let stored_rows = table.num_known(&results);
        let mut write_error = None;
        let mut solve_seconds = None;
        if !missing.is_empty() {
            observer.begin("labeling", (stored_rows + missing.len()) as u64);
            observer.advance(stored_rows as u64);
            let solved = segments.solve(&table, &missing, self.flush_interval, observer)?;
            observer.end();
            for (row, result) in missing.iter().zip(solved.results) {
                results[*row] = Some(result);
            }
            write_error = solved.write_error;
            solve_seconds = solved.solve_seconds;
        }
        let known_rows = table.num_known(&results);
        if write_error.is_none() {
            let rule = if known_rows == rows {
                MergeRule::Finished
            } else {
                MergeRule::WhileSolving
            };
            segments.merge(rule);
        }
        table.complete(&mut results);
        Ok(Labeling {
            report: LabelReport {
                rows,
                stored_rows,
                solved_rows: missing.len(),
                known_rows,
                is_stored: write_error.is_none(),
                failed: Vec::new(),
                warnings: stored.warnings,
            },
            results,
            solve_seconds,
            write_error,
        })
    }
}

impl UnlabeledTable<'_> {
    /// How many rows have a result, or equal one that has.
    fn num_known(&self, results: &[Option<SolveResult>]) -> usize {
        let is_known = |row: &usize| results[self.keys.representative(*row)].is_some();
        (0..results.len()).filter(is_known).count()
    }

    /// Refuses labels of unusable costs, and copies the results of rows to equal ones.
    fn complete(&self, results: &mut [Option<SolveResult>]) {
        for row in 0..results.len() {
            // The representative of a row comes before it, so its result is final already.
            let representative = self.keys.representative(row);
            if representative != row {
                results[row] = results[representative].clone();
            } else if let Some(result) = &mut results[row] {
                refuse_unusable_costs(self.costs, self.oracle, row, result);
            }
        }
    }
}

/// Labels of a table or of a shard of it.
struct Labeling {
    /// The result of each row; `None` for rows of other shards.
    results: Vec<Option<SolveResult>>,
    report: LabelReport,
    /// Measured seconds of one solve, if there was one.
    solve_seconds: Option<f64>,
    /// The first error of writing labels.
    write_error: Option<Error>,
}

/// Checks that specification and oracle have the same problem: labels must never be stored under
/// the key of another problem.
fn check_same_problem(spec: &ProblemSpec, oracle: &Oracle) -> Result<()> {
    let solved = oracle.problem();
    if let ProblemSpec::External(external) = spec
        && external.matches(solved.as_ref())
    {
        return Ok(());
    }
    // The key of a problem from a file is a hash of its content. The file itself may be gone: a
    // model holds its content.
    if spec.file().is_some() && solved.model_parts().file_hash().is_some() {
        return Ok(());
    }
    let built = spec.build()?;
    if (built.name(), built.sense(), built.num_costs())
        == (solved.name(), solved.sense(), solved.num_costs())
    {
        return Ok(());
    }
    Err(Error::setting(format!(
        "the oracle does not solve {}, but {}",
        built.name(),
        solved.name()
    )))
}

/// A hash over everything that all labels depend on; the costs of the rows are hashed apart.
fn key(problem: &ProblemSpec, oracle: &Oracle) -> Result<String> {
    let fingerprint = oracle.problem().model_parts().fingerprint();
    // The fingerprint of a linear problem contains all of it; the path of its file does not matter.
    let is_file = problem.file().is_some() && !fingerprint.is_empty();
    let template = match problem {
        ProblemSpec::Parametric { .. } if is_file => Some(problem.clone().with_file(Path::new(""))),
        _ => None,
    };
    let spec = match &template {
        Some(template) => Some(template),
        None => (!is_file).then_some(problem),
    };
    let serialized = serde_json::to_vec(&(
        LABEL_FILE_FORMAT,
        LABEL_KEY_VERSION,
        spec,
        fingerprint,
        oracle.limits(),
        oracle.heuristic(),
    ));
    let serialized = serialized
        .map_err(|error| Error::setting(format!("the problem cannot be serialized: {error}")))?;
    Ok(blake3::hash(&serialized).to_hex().to_string())
}
