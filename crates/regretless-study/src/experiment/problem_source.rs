//! The source of an experiment's problem and rows: a named problem, or the user's table.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cell_data::CellData;
use super::named_problem::NamedProblem;
use super::seed_design::SeedDesign;
use regretless::oracle::{Heuristic, Oracle};
use regretless::solve::SearchLimits;
use regretless::train::TrainingContext;
use regretless_base::error::{Error, Result};
use regretless_base::observer::NoopObserver;

/// A problem with data. In files it is the name of a [`NamedProblem`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum ProblemSource {
    /// A problem whose rows are generated, or read from files of real data.
    Named(NamedProblem),
    /// The user's problem and table.
    Table(Arc<TableProblem>),
}

/// The user's problem and table, labeled and divided for each seed.
#[derive(Debug)]
pub(super) struct TableProblem {
    name: String,
    pub(super) first_seed: u32,
    heuristic: Option<Heuristic>,
    limits: SearchLimits,
    /// How the seeds depend on each other.
    pub(super) design: SeedDesign,
    seeds: Vec<TableSeed>,
}

/// The rows of one seed, and the hash of everything they consist of.
#[derive(Debug)]
struct TableSeed {
    data: CellData,
    hash: String,
}

impl TableProblem {
    /// A table under a name, with the rows of consecutive seeds. Training and evaluation have the
    /// limits and the heuristic of the oracle.
    ///
    /// # Errors
    /// When the problem cannot be stored or has no such heuristic.
    pub fn new(
        name: String,
        first_seed: u32,
        oracle: &Oracle,
        data: Vec<CellData>,
    ) -> Result<Self> {
        let mut table = Self {
            name,
            first_seed,
            heuristic: oracle.heuristic(),
            limits: *oracle.limits(),
            design: SeedDesign::of(&data),
            seeds: Vec::new(),
        };
        for data in data {
            let context = TrainingContext {
                data: &data.data,
                split: &data.split,
                oracle: &table.oracle(&data)?,
                observer: &NoopObserver,
            };
            let hash = context.fingerprint(data.problem.spec())?;
            table.seeds.push(TableSeed { data, hash });
        }
        Ok(table)
    }

    /// The rows of a seed.
    pub(super) fn data(&self, seed: u32) -> Result<&CellData> {
        Ok(&self.seed(seed)?.data)
    }

    /// A single-threaded oracle.
    pub(super) fn oracle(&self, data: &CellData) -> Result<Oracle> {
        Oracle::new(data.problem.kind().clone())
            .with_limits(self.limits)
            .with_heuristic(self.heuristic)?
            .with_parameters(data.data.data().parameters())
    }

    fn seed(&self, seed: u32) -> Result<&TableSeed> {
        let index = seed.checked_sub(self.first_seed);
        index
            .and_then(|index| self.seeds.get(index as usize))
            .ok_or_else(|| Error::setting(format!("the table has no rows of seed {seed}")))
    }
}

impl ProblemSource {
    /// Hash of rows, labels, split and problem; none for a named problem, whose name and seed
    /// determine them.
    pub(super) fn data_hash(&self, seed: u32) -> Option<String> {
        match self {
            Self::Named(_) => None,
            Self::Table(table) => Some(table.seed(seed).ok()?.hash.clone()),
        }
    }
}

impl PartialEq for ProblemSource {
    /// A table equals only itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(name), Self::Named(other)) => name == other,
            (Self::Table(table), Self::Table(other)) => Arc::ptr_eq(table, other),
            (Self::Named(_), Self::Table(_)) | (Self::Table(_), Self::Named(_)) => false,
        }
    }
}

impl fmt::Display for ProblemSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(problem) => problem.fmt(f),
            Self::Table(table) => f.write_str(&table.name),
        }
    }
}

impl TryFrom<String> for ProblemSource {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse().map(Self::Named)
    }
}

impl From<ProblemSource> for String {
    fn from(source: ProblemSource) -> Self {
        source.to_string()
    }
}
