//! Labels kept beside their table, so that no instance is solved twice.
//!
//! The labels of `prices.csv` live in the folder `prices.csv.labels`, one file per problem, limits
//! and costs; the file's name is the beginning of a hash over all that labels depend on. Whatever
//! does not belong to the table, or was damaged, is computed again and never used.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{Labelled, file};
use crate::data::output::write_atomically;
use crate::data::{Dataset, Matrix};
use crate::error::{Error, Result};
use crate::oracle::Oracle;
use crate::problem::ProblemSpec;
use crate::solve::Solution;
use crate::watch::Watch;

/// Raised when the form of the file changes, or when an engine begins to give other answers.
const FORMAT: u32 = 1;

/// Where labels came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelSource {
    /// Every instance was solved.
    Solved,
    /// The labels lay beside the table; nothing was solved.
    Found,
}

/// Where labels came from, where they are, and what the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelReport {
    /// Whether anything was solved.
    pub source: LabelSource,
    /// The file of the labels; missing only if it could not be written, which is among the warnings.
    pub file: PathBuf,
    /// A damaged file that was not used, or a folder that could not be written.
    pub warnings: Vec<String>,
}

/// A folder of labels.
#[derive(Debug, Clone)]
pub struct LabelStore {
    folder: PathBuf,
}

impl LabelStore {
    /// The store beside a table: the folder named like it, with `.labels` added.
    pub fn beside(table: &Path) -> Self {
        let mut name = table.file_name().unwrap_or_default().to_os_string();
        name.push(".labels");
        Self { folder: table.with_file_name(name) }
    }

    /// The folder of the labels.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The best decision of every instance: found if they were solved before, solved and kept if not.
    ///
    /// # Errors
    /// When the table does not fit the problem, an instance has no decision, or the user interrupts;
    /// never because labels could not be read or kept.
    pub fn label(
        &self,
        mut data: Dataset,
        problem: &ProblemSpec,
        oracle: &Oracle,
        watch: &dyn Watch,
    ) -> Result<(Labelled, LabelReport)> {
        check_same(problem, oracle)?;
        let sense = Labelled::turn(&mut data, oracle)?;
        let key = key(problem, oracle, data.costs())?;
        let file = self.folder.join(format!("{}.safetensors", &key[..16]));
        let mut report = LabelReport { source: LabelSource::Found, file, warnings: Vec::new() };
        let best = match load(&report.file, &key, data.costs(), oracle) {
            Ok(Some(best)) => return Ok((Labelled { data, sense, best }, report)),
            Ok(None) => Labelled::best_of(&data, oracle, watch)?,
            Err(reason) => {
                let path = report.file.display();
                report.warnings.push(format!("{path}: labels could not be used and were computed again: {reason}"));
                Labelled::best_of(&data, oracle, watch)?
            }
        };
        report.source = LabelSource::Solved;
        if let Err(error) = self.keep(&report.file, &key, &best) {
            report.warnings.push(format!("labels could not be kept and will be computed again next time: {error}"));
        }
        Ok((Labelled { data, sense, best }, report))
    }

    fn keep(&self, path: &Path, key: &str, labels: &[Solution]) -> Result<()> {
        let bytes = file::encode(key, labels).map_err(Error::data)?;
        fs::create_dir_all(&self.folder).map_err(Error::io(&self.folder))?;
        write_atomically(path, true, |out| out.write_all(&bytes))
    }
}

/// Labels of one problem must never be kept under the name of another.
fn check_same(spec: &ProblemSpec, oracle: &Oracle) -> Result<()> {
    let (written, solved) = (spec.build()?, oracle.problem());
    if (written.name(), written.sense(), written.num_costs()) == (solved.name(), solved.sense(), solved.num_costs()) {
        return Ok(());
    }
    Err(Error::setting(format!("labels of {} were asked of an oracle for {}", written.name(), solved.name())))
}

/// A hash over all that labels depend on.
fn key(problem: &ProblemSpec, oracle: &Oracle, costs: &Matrix) -> Result<String> {
    let beyond = oracle.problem().fingerprint();
    let written = serde_json::to_vec(&(FORMAT, problem, beyond, oracle.limits(), costs.rows(), costs.cols()));
    let written = written.map_err(|error| Error::setting(format!("the problem cannot be written down: {error}")))?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(written.len() as u64).to_le_bytes()).update(&written);
    let mut bytes = Vec::new();
    for row in 0..costs.rows() {
        bytes.clear();
        bytes.extend(costs.row(row).iter().flat_map(|cost| cost.to_le_bytes()));
        hasher.update(&bytes);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The labels of a file, each checked against the problem and its costs; nothing if there is none.
fn load(path: &Path, key: &str, costs: &Matrix, oracle: &Oracle) -> Result<Option<Vec<Solution>>, String> {
    let Some(bytes) = read(path, file::most_bytes(costs.rows(), costs.cols()))? else { return Ok(None) };
    let labels = file::decode(&bytes, key, costs.rows(), costs.cols())?;
    for (instance, label) in labels.iter().enumerate() {
        oracle.problem().check(&label.decision).map_err(|why| format!("instance {instance}: {why}"))?;
        if label.decision.dot(costs.row(instance)) != label.objective {
            return Err(format!("instance {instance}: the objective does not match the costs"));
        }
    }
    Ok(Some(labels))
}

fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| error.to_string())?,
    };
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("the file is longer than the {most} bytes that labels of this table can have"));
    }
    Ok(Some(bytes))
}
