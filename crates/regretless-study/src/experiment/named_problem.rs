//! Problems of experiments by name: generated benchmarks, and real data from the user's files.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::scoreboard_task::ScoreboardTask;
use regretless::data::energy::{self, EnergyPrices};
use regretless::data::housing::HousingTable;
use regretless::data::synthetic::SyntheticSpec;
use regretless::data::{Dataset, SplitIndices};
use regretless::problem::{Benchmark, Knapsack, ProblemSpec, paper_weights};
use regretless_base::error::{Error, Result};

/// Dimensions of a knapsack of houses, as in the paper.
const HOUSE_DIMENSIONS: usize = 4;
/// Capacity of each dimension, as a fraction of the total weight.
const HOUSE_CAPACITY_FRACTION: f64 = 0.1;

/// Files of real data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataFiles {
    /// California housing: the original file, or the table that scikit-learn's loader returns.
    pub california: Option<PathBuf>,
    /// Folder of Irish energy prices, loads and knapsack values.
    pub energy: Option<PathBuf>,
    /// Folders with one folder per task of the scoreboard; the first that has it is read.
    pub scoreboard: Vec<PathBuf>,
}

/// Load files of the three scheduling problems, within the folder.
const LOAD_FILES: [&str; 3] = ["load1/day01.txt", "load2/day14.txt", "load3/day08.txt"];

/// A problem with data, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum NamedProblem {
    /// Synthetic data.
    Benchmark(Benchmark),
    /// `CAKSn`: a knapsack of n Californian houses with four dimensions.
    Houses {
        /// Houses per instance.
        houses: usize,
    },
    /// `ENERGY1` to `ENERGY3`: a schedule of 10, 15 or 20 tasks at real energy prices.
    Schedule {
        /// Number of the load file, from 1.
        load: usize,
    },
    /// `ENERGYKS60`: a knapsack of 48 items whose values are derived from real energy prices.
    EnergyItems {
        /// Capacity for items of weight 3, 5 or 7.
        capacity: usize,
    },
    /// `asurv` and others: a task of a public benchmark, whose rows do not depend on the seed.
    Scoreboard(ScoreboardTask),
}

impl NamedProblem {
    /// The problem, its data and their split.
    ///
    /// # Errors
    /// When a file is missing or cannot be used.
    pub fn generate(
        self,
        split: [usize; 3],
        seed: u32,
        files: &DataFiles,
    ) -> Result<(ProblemSpec, Dataset, SplitIndices)> {
        let rows = split
            .iter()
            .fold(0, |sum: usize, count| sum.saturating_add(*count));
        let (problem, data) = match self {
            Self::Benchmark(benchmark) => benchmark.generate(SyntheticSpec::paper(rows, seed))?,
            Self::Houses { houses } => {
                let missing = || {
                    Error::setting(format!("{self} needs California housing")).with_remedy(
                        "set `california` to its file; the repository has it in \
                             testdata/california",
                    )
                };
                let file = files.california.as_ref().ok_or_else(missing)?;
                let data = HousingTable::read(file)?.instances(houses, split, seed)?;
                let weights = paper_weights(houses, HOUSE_DIMENSIONS, seed);
                (
                    ProblemSpec::Knapsack(Knapsack::with_capacity_fraction(
                        weights,
                        HOUSE_CAPACITY_FRACTION,
                    )?),
                    data,
                )
            }
            Self::Schedule { load } => {
                let prices = self.prices(files)?;
                (
                    self.schedule(load, files)?,
                    prices.instances(None, rows, seed)?,
                )
            }
            Self::EnergyItems { capacity } => {
                let (weights, values) =
                    energy::read_items(&self.energy_file(files, "knapsack48_values.csv")?)?;
                let problem = Knapsack::new(vec![weights], vec![capacity as f64])?;
                (
                    ProblemSpec::Knapsack(problem),
                    self.prices(files)?.instances(Some(&values), rows, seed)?,
                )
            }
            Self::Scoreboard(task) => {
                let data = task.read_data(&files.scoreboard)?;
                let problem = match task.problem()? {
                    Some(problem) => problem,
                    None => self.schedule(1, files)?,
                };
                (problem, data)
            }
        };
        let split = SplitIndices::in_order(data.len(), split)?;
        Ok((problem, data, split))
    }

    fn prices(self, files: &DataFiles) -> Result<EnergyPrices> {
        EnergyPrices::read(&self.energy_file(files, "prices2013.dat")?)
    }

    #[cfg(feature = "highs")]
    fn schedule(self, load: usize, files: &DataFiles) -> Result<ProblemSpec> {
        let file = self.energy_file(files, LOAD_FILES[load - 1])?;
        Ok(ProblemSpec::Schedule(regretless::problem::Schedule::read(
            &file,
        )?))
    }

    #[cfg(not(feature = "highs"))]
    fn schedule(self, _load: usize, _files: &DataFiles) -> Result<ProblemSpec> {
        Err(Error::setting(format!(
            "{self} needs HiGHS, which this build was made without (cargo feature `highs`)"
        )))
    }

    /// A file of the energy folder, uncompressed or gzipped.
    fn energy_file(self, files: &DataFiles, name: &str) -> Result<PathBuf> {
        let missing = || {
            Error::setting(format!("{self} needs Irish energy data")).with_remedy(
                "set `energy` to the folder of prices2013.dat; the repository has it in \
                     testdata/energy",
            )
        };
        let folder = files.energy.as_ref().ok_or_else(missing)?;
        let packed = folder.join(format!("{name}.gz"));
        Ok(if packed.exists() {
            packed
        } else {
            folder.join(name)
        })
    }

    /// Whether it is a schedule, which takes much longer to solve than the other problems.
    pub fn is_schedule(self) -> bool {
        matches!(
            self,
            Self::Schedule { .. } | Self::Scoreboard(ScoreboardTask::Energy)
        )
    }

    /// Whether a clone of the repository has all its data, so a smoke test can run it.
    pub fn is_in_smoke_tests(self) -> bool {
        match self {
            Self::Scoreboard(task) => task.is_bundled(),
            Self::Benchmark(_)
            | Self::Houses { .. }
            | Self::Schedule { .. }
            | Self::EnergyItems { .. } => true,
        }
    }

    /// The name under which labels of its rows are stored; seeds with the same rows share them.
    pub fn label_name(self, seed: u32) -> String {
        match self {
            Self::Scoreboard(_) => self.to_string(),
            Self::Benchmark(_)
            | Self::Houses { .. }
            | Self::Schedule { .. }
            | Self::EnergyItems { .. } => format!("{self}-{seed}"),
        }
    }

    /// The same kind of problem, small enough for a smoke test.
    #[must_use]
    pub fn smoke_version(self) -> Self {
        match self {
            Self::Benchmark(benchmark) => Self::Benchmark(benchmark.smoke_version()),
            Self::Houses { houses } => Self::Houses {
                houses: houses.min(20),
            },
            Self::Schedule { .. } | Self::EnergyItems { .. } | Self::Scoreboard(_) => self,
        }
    }
}

impl fmt::Display for NamedProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Benchmark(benchmark) => benchmark.fmt(f),
            Self::Houses { houses } => write!(f, "CAKS{houses}"),
            Self::Schedule { load } => write!(f, "ENERGY{load}"),
            Self::EnergyItems { capacity } => write!(f, "ENERGYKS{capacity}"),
            Self::Scoreboard(task) => task.fmt(f),
        }
    }
}

impl FromStr for NamedProblem {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(task) = ScoreboardTask::named(text) {
            return Ok(Self::Scoreboard(task));
        }
        let upper = text.to_ascii_uppercase();
        let number = |prefix: &str| {
            upper
                .strip_prefix(prefix)
                .map(|digits| digits.parse().ok().filter(|n| *n > 0))
        };
        let found = if let Some(capacity) = number("ENERGYKS") {
            capacity.map(|capacity| Self::EnergyItems { capacity })
        } else if let Some(load) = number("ENERGY") {
            load.filter(|load| *load <= LOAD_FILES.len())
                .map(|load| Self::Schedule { load })
        } else if let Some(houses) = number("CAKS") {
            houses.map(|houses| Self::Houses { houses })
        } else {
            return text.parse().map(Self::Benchmark);
        };
        found.ok_or_else(|| {
            Error::unknown(
                "problem",
                text,
                &["CAKS100 (any number)", "ENERGY1 to ENERGY3", "ENERGYKS60"],
            )
        })
    }
}

impl TryFrom<String> for NamedProblem {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<NamedProblem> for String {
    fn from(problem: NamedProblem) -> Self {
        problem.to_string()
    }
}
