//! Labels kept beside their table, so that no instance is solved twice.
//!
//! The labels of `prices.csv` live in the folder `prices.csv.labels`, one file per problem, limits
//! and costs; the file's name is the beginning of a hash over all that labels depend on. Whatever
//! does not belong to the table, or was damaged, is computed again and never used. Until all rows
//! are solved, those that are lie in a folder of parts beside it (`parts`).

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

/// Raised when the form of the file changes, or when an engine begins to give other answers.
const LABEL_KEY_VERSION: u32 = 1;

/// Where labels came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    /// Some or all instances were solved.
    Solved,
    /// The labels lay beside the table; nothing was solved.
    Found,
}

/// Where labels came from, where they are, and what the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelReport {
    /// Whether anything was solved.
    pub source: LabelSource,
    /// The file of the labels; missing only if it could not be written, which is among the
    /// warnings.
    pub file: PathBuf,
    /// Whether the labels are in the file.
    pub kept: bool,
    /// Rows that an earlier or another run had solved.
    pub continued: usize,
    /// Rows without a decision, and why.
    pub failed: Vec<(usize, SolveFailure)>,
    /// A damaged file that was not used, or a folder that could not be written.
    pub warnings: Vec<String>,
}

/// A folder of labels.
#[derive(Debug, Clone)]
pub struct LabelStore {
    folder: PathBuf,
    patience: Duration,
}

/// How far a shard of labels is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardReport {
    /// Rows of the shard that this run solved.
    pub solved: usize,
    /// Rows of the whole table that are solved now, by whomever.
    pub known: usize,
    /// Rows of the table.
    pub rows: usize,
    /// Damaged parts, which were not used.
    pub warnings: Vec<String>,
}

impl LabelStore {
    /// How long solved rows wait before they are written down, unless told otherwise.
    pub const FLUSH_INTERVAL: Duration = Duration::from_secs(2);

    /// The store beside a table: the folder named like it, with `.labels` added.
    pub fn for_table(table: &Path) -> Self {
        let mut name = table.file_name().unwrap_or_default().to_os_string();
        name.push(".labels");
        Self {
            folder: table.with_file_name(name),
            patience: Self::FLUSH_INTERVAL,
        }
    }

    /// The same store; what is solved waits so long at most before it is written down.
    #[must_use]
    pub fn with_flush_interval(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The folder of the labels.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The best decision of every instance: found if they were solved before, solved and kept if
    /// not. Instances without a decision are reported, and are not among the rows of the labelled
    /// table.
    ///
    /// # Errors
    /// When the table does not fit the problem, no instance has a decision, or the user interrupts,
    /// after which the next call goes on; never because labels could not be read or kept.
    pub fn label(
        &self,
        mut data: Dataset,
        problem: &ProblemSpec,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<(LabeledDataset, LabelReport)> {
        check_same(problem, oracle)?;
        let sense = LabeledDataset::prepare_costs(&mut data, oracle)?;
        let key = key(problem, oracle, data.costs())?;
        let parts = self.parts(&key, data.costs(), oracle);
        let file = parts.folder.with_extension("safetensors");
        let mut report = LabelReport {
            source: LabelSource::Found,
            file,
            kept: true,
            continued: 0,
            failed: Vec::new(),
            warnings: coarse_costs(data.costs()).into_iter().collect(),
        };
        let answers = match load(&report.file, &parts) {
            Ok(Some(answers)) => {
                // A run that was killed after it joined the parts left them.
                parts.remove();
                answers
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
        let labelled =
            LabeledDataset::from_partial_results(data, sense, answers, &mut report.failed)?;
        Ok((labelled, report))
    }

    /// Solves the rows of one shard and writes them down; the call of [`Self::label`] that follows
    /// finds them.
    ///
    /// # Errors
    /// When the table does not fit the problem, the user interrupts, or the rows cannot be written.
    pub fn label_shard(
        &self,
        mut data: Dataset,
        (problem, oracle): (&ProblemSpec, &Oracle),
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<ShardReport> {
        check_same(problem, oracle)?;
        LabeledDataset::prepare_costs(&mut data, oracle)?;
        let key = key(problem, oracle, data.costs())?;
        let parts = self.parts(&key, data.costs(), oracle);
        let rows = data.len();
        if let Ok(Some(_)) = load(&parts.folder.with_extension("safetensors"), &parts) {
            parts.remove();
            return Ok(ShardReport {
                solved: 0,
                known: rows,
                rows,
                warnings: Vec::new(),
            });
        }
        let (known, warnings) = parts.load();
        let mine = (shard.index..rows).step_by(shard.count);
        let missing: Vec<usize> = mine.filter(|row| !known.contains_key(row)).collect();
        observer.begin("labelling", missing.len() as u64);
        let (_, refused) = parts.solve(&missing, true, observer)?;
        observer.end();
        match refused {
            Some(error) => Err(error),
            None => Ok(ShardReport {
                solved: missing.len(),
                known: known.len() + missing.len(),
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
            patience: self.patience,
        }
    }
}

/// Solves what no part holds and writes all labels as one file.
fn finish(
    parts: &LabelParts<'_>,
    report: &mut LabelReport,
    observer: &dyn Observer,
) -> Result<Vec<SolveResult>> {
    report.source = LabelSource::Solved;
    let (mut known, mut warnings) = parts.load();
    report.warnings.append(&mut warnings);
    report.continued = known.len();
    let missing: Vec<usize> = (0..parts.costs.rows())
        .filter(|row| !known.contains_key(row))
        .collect();
    observer.begin("labelling", parts.costs.rows() as u64);
    observer.advance(known.len() as u64);
    let (answers, _) = parts.solve(&missing, false, observer)?;
    observer.end();
    known.extend(missing.into_iter().zip(answers));
    let answers: Vec<SolveResult> = known.into_values().collect();
    match write_labels(&report.file, parts.context(), &answers) {
        Ok(()) => parts.remove(),
        Err(error) => {
            report.kept = false;
            report.warnings.push(format!(
                "labels could not be kept and will be computed again next time: {error}"
            ));
        }
    }
    Ok(answers)
}

fn write_labels(path: &Path, to: file::LabelContext<'_>, answers: &[SolveResult]) -> Result<()> {
    let bytes = file::encode(to, None, answers).map_err(Error::data)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    write_atomically(path, true, |out| out.write_all(&bytes))
}

/// Labels of one problem must never be kept under the name of another.
fn check_same(spec: &ProblemSpec, oracle: &Oracle) -> Result<()> {
    let solved = oracle.problem();
    if let ProblemSpec::External(given) = spec
        && given.matches(solved.as_ref())
    {
        return Ok(());
    }
    let written = spec.build()?;
    if (written.name(), written.sense(), written.num_costs())
        == (solved.name(), solved.sense(), solved.num_costs())
    {
        return Ok(());
    }
    Err(Error::setting(format!(
        "labels of {} were asked of an oracle for {}",
        written.name(),
        solved.name()
    )))
}

/// A hash over all that labels depend on.
fn key(problem: &ProblemSpec, oracle: &Oracle, costs: &Matrix) -> Result<String> {
    let beyond = oracle.problem().fingerprint();
    let written = serde_json::to_vec(&(
        LABEL_KEY_VERSION,
        problem,
        beyond,
        oracle.limits(),
        costs.rows(),
        costs.cols(),
    ));
    let written = written
        .map_err(|error| Error::setting(format!("the problem cannot be written down: {error}")))?;
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(&(written.len() as u64).to_le_bytes())
        .update(&written);
    let mut bytes = Vec::new();
    for row in 0..costs.rows() {
        bytes.clear();
        bytes.extend(costs.row(row).iter().flat_map(|cost| cost.to_le_bytes()));
        hasher.update(&bytes);
    }
    // Labels of a search keep the key they had before there were others.
    if let Some(heuristic) = oracle.heuristic() {
        hasher.update(format!("decided by {heuristic}").as_bytes());
    }
    costs.check_unchanged()?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// The answers of a file, each checked against the problem and its costs; nothing if there is none.
fn load(path: &Path, parts: &LabelParts<'_>) -> Result<Option<Vec<SolveResult>>, String> {
    let costs = parts.costs;
    let Some(bytes) = read(path, file::most_bytes(costs.rows(), costs.cols()))? else {
        return Ok(None);
    };
    let answers = file::decode(&bytes, parts.context(), costs.rows(), costs.cols())?;
    if !answers.iter().map(|(row, _)| *row).eq(0..costs.rows()) {
        return Err("it holds only some of the rows".into());
    }
    checked(&answers, costs, parts.oracle)?;
    Ok(Some(
        answers.into_iter().map(|(_, answer)| answer).collect(),
    ))
}

/// Checks answers that were read against the problem and its costs.
pub(super) fn checked(
    answers: &[(usize, SolveResult)],
    costs: &Matrix,
    oracle: &Oracle,
) -> Result<(), String> {
    for (row, answer) in answers {
        let Ok(label) = answer else { continue };
        oracle
            .problem()
            .check(&label.decision)
            .map_err(|why| format!("instance {row}: {why}"))?;
        if label.decision.dot(costs.row(*row)) != label.objective {
            return Err(format!(
                "instance {row}: the objective does not match the costs"
            ));
        }
    }
    Ok(())
}

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
