//! Labels stored next to their table, so that no instance is solved twice.
//!
//! The labels of `prices.csv` are in the folder `prices.csv.labels`, one file per problem, limits
//! and costs; the name of the file is the beginning of a hash over everything labels depend on.
//! Files that belong to another table or are damaged are not used; their labels are computed again.
//! Until all rows are solved, the solved ones are in a folder of parts next to the file
//! (`label_parts`).

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::label_parts::{LabelParts, Shard};
use super::{LabeledDataset, coarse_costs, file};
use crate::data::atomic_write::write_atomically;
use crate::data::{Dataset, Matrix};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::problem::ProblemSpec;
use crate::solve::SolveFailure;

/// Increased when the file format changes, or when a solver returns other decisions.
const LABEL_KEY_VERSION: u32 = 1;

/// The origin of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    /// Some or all instances were solved.
    Solved,
    /// All labels were read from their file; nothing was solved.
    Stored,
}

/// How labels were obtained: their origin, their file, and warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelReport {
    /// Whether anything was solved.
    pub source: LabelSource,
    /// The file of the labels; it does not exist if it could not be written, which is among the
    /// warnings.
    pub file: PathBuf,
    /// Whether the labels are in the file.
    pub is_stored: bool,
    /// Number of rows that an earlier, interrupted run had solved.
    pub resumed_rows: usize,
    /// Rows that could not be solved, with the reason.
    pub failed: Vec<(usize, SolveFailure)>,
    /// A damaged file that was not used, or a folder that could not be written.
    pub warnings: Vec<String>,
}

/// A folder of labels.
#[derive(Debug, Clone)]
pub struct LabelStore {
    folder: PathBuf,
    flush_interval: Duration,
}

/// The progress of a shard of labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardReport {
    /// Rows of the shard that this run solved.
    pub solved: usize,
    /// Rows of the table that all runs together have solved.
    pub total_solved: usize,
    /// Rows of the table.
    pub rows: usize,
    /// Damaged parts, which were not used.
    pub warnings: Vec<String>,
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

    /// The labels of a table: read if they are stored, else computed and stored. Instances that
    /// cannot be solved are reported, and are not among the rows of the labeled table.
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
        check_same_problem(problem, oracle)?;
        let sense = LabeledDataset::prepare_costs(&mut data, oracle)?;
        let key = key(problem, oracle, data.costs())?;
        let parts = self.parts(&key, data.costs(), oracle);
        let file = parts.folder.with_extension("safetensors");
        let mut report = LabelReport {
            source: LabelSource::Stored,
            file,
            is_stored: true,
            resumed_rows: 0,
            failed: Vec::new(),
            warnings: coarse_costs(data.costs()).into_iter().collect(),
        };
        let results = match load(&report.file, &parts) {
            Ok(Some(results)) => {
                // A run that was killed after it merged the parts left them.
                parts.remove();
                results
            }
            Ok(None) => finish(&parts, &mut report, observer)?,
            Err(reason) => {
                let path = report.file.display();
                report.warnings.push(format!(
                    "{path}: labels could not be used and were computed again: {reason}"
                ));
                finish(&parts, &mut report, observer)?
            }
        };
        let labeled =
            LabeledDataset::from_partial_results(data, sense, results, &mut report.failed)?;
        Ok((labeled, report))
    }

    /// Solves the rows of one shard and stores them; a later call of [`Self::label`] uses them.
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
    ) -> Result<ShardReport> {
        check_same_problem(problem, oracle)?;
        LabeledDataset::prepare_costs(&mut data, oracle)?;
        let key = key(problem, oracle, data.costs())?;
        let parts = self.parts(&key, data.costs(), oracle);
        let rows = data.len();
        if let Ok(Some(_)) = load(&parts.folder.with_extension("safetensors"), &parts) {
            parts.remove();
            return Ok(ShardReport {
                solved: 0,
                total_solved: rows,
                rows,
                warnings: Vec::new(),
            });
        }
        let (known, warnings) = parts.load();
        let shard_rows = (shard.index..rows).step_by(shard.count);
        let missing: Vec<usize> = shard_rows.filter(|row| !known.contains_key(row)).collect();
        observer.begin("labeling", missing.len() as u64);
        let (_, write_error) = parts.solve(&missing, true, observer)?;
        observer.end();
        match write_error {
            Some(error) => Err(error),
            None => Ok(ShardReport {
                solved: missing.len(),
                total_solved: known.len() + missing.len(),
                rows,
                warnings,
            }),
        }
    }

    fn parts<'a>(&self, key: &'a str, costs: &'a Matrix, oracle: &'a Oracle) -> LabelParts<'a> {
        LabelParts {
            folder: self.folder.join(format!("{}.parts", &key[..16])),
            key,
            costs,
            oracle,
            flush_interval: self.flush_interval,
        }
    }
}

/// Solves the rows that are in no part and writes all labels to one file.
fn finish(
    parts: &LabelParts<'_>,
    report: &mut LabelReport,
    observer: &dyn Observer,
) -> Result<Vec<SolveResult>> {
    report.source = LabelSource::Solved;
    let (mut known, mut warnings) = parts.load();
    report.warnings.append(&mut warnings);
    report.resumed_rows = known.len();
    let missing: Vec<usize> = (0..parts.costs.rows())
        .filter(|row| !known.contains_key(row))
        .collect();
    observer.begin("labeling", parts.costs.rows() as u64);
    observer.advance(known.len() as u64);
    let (results, _) = parts.solve(&missing, false, observer)?;
    observer.end();
    known.extend(missing.into_iter().zip(results));
    let results: Vec<SolveResult> = known.into_values().collect();
    match write_labels(&report.file, parts.context(), &results) {
        Ok(()) => parts.remove(),
        Err(error) => {
            report.is_stored = false;
            report.warnings.push(format!(
                "labels could not be stored and will be computed again next time: {error}"
            ));
        }
    }
    Ok(results)
}

fn write_labels(
    path: &Path,
    context: file::LabelContext<'_>,
    results: &[SolveResult],
) -> Result<()> {
    let bytes = file::encode(context, None, results).map_err(Error::data)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    write_atomically(path, true, |out| out.write_all(&bytes))
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

/// A hash over everything labels depend on.
fn key(problem: &ProblemSpec, oracle: &Oracle, costs: &Matrix) -> Result<String> {
    let fingerprint = oracle.problem().fingerprint();
    let serialized = serde_json::to_vec(&(
        LABEL_KEY_VERSION,
        problem,
        fingerprint,
        oracle.limits(),
        costs.rows(),
        costs.cols(),
    ));
    let serialized = serialized
        .map_err(|error| Error::setting(format!("the problem cannot be serialized: {error}")))?;
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&(serialized.len() as u64).to_le_bytes())
        .update(&serialized);
    let mut bytes = Vec::new();
    for row in 0..costs.rows() {
        bytes.clear();
        bytes.extend(costs.row(row).iter().flat_map(|cost| cost.to_le_bytes()));
        hasher.update(&bytes);
    }
    // The key of exact labels does not mention heuristics.
    if let Some(heuristic) = oracle.heuristic() {
        hasher.update(format!("decided by {heuristic}").as_bytes());
    }
    costs.check_unchanged()?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// The results in a file, each checked against the problem and its costs; `None` without a file.
fn load(path: &Path, parts: &LabelParts<'_>) -> Result<Option<Vec<SolveResult>>, String> {
    let costs = parts.costs;
    let Some(bytes) = read(path, file::max_bytes(costs.rows(), costs.cols()))? else {
        return Ok(None);
    };
    let results = file::decode(&bytes, parts.context(), costs.rows(), costs.cols())?;
    if !results.iter().map(|(row, _)| *row).eq(0..costs.rows()) {
        return Err("it holds only some of the rows".into());
    }
    check_results(&results, costs, parts.oracle)?;
    let results = results.into_iter().map(|(_, result)| result).collect();
    Ok(Some(results))
}

/// Checks stored results against the problem and its costs.
pub(super) fn check_results(
    results: &[(usize, SolveResult)],
    costs: &Matrix,
    oracle: &Oracle,
) -> Result<(), String> {
    for (row, result) in results {
        let Ok(label) = result else { continue };
        oracle
            .problem()
            .check(&label.decision)
            .map_err(|reason| format!("instance {row}: {reason}"))?;
        if label.decision.dot(costs.row(*row)) != label.objective {
            return Err(format!(
                "instance {row}: the objective does not match the costs"
            ));
        }
    }
    Ok(())
}

/// The bytes of a file of at most `max` bytes; `None` if it does not exist.
pub(super) fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>, String> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| error.to_string())?,
    };
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max {
        return Err(format!(
            "the file is longer than the {max} bytes that labels of this table can have"
        ));
    }
    Ok(Some(bytes))
}
