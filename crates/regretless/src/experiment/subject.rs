//! What an experiment runs on: named benchmarks, and real data from files the user brings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::housing::Houses;
use crate::data::synthetic::Recipe;
use crate::data::{Dataset, Split};
use crate::error::{Error, Result};
use crate::problem::{Benchmark, Knapsack, ProblemSpec, paper_weights};

/// Dimensions of a knapsack of houses.
const HOUSE_DIMENSIONS: usize = 4;

/// Files that real data come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// California housing, as scikit-learn's loader or the classic file gives it.
    pub california: Option<PathBuf>,
}

/// A problem with data, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Subject {
    /// Synthetic data.
    Benchmark(Benchmark),
    /// `CAKSn`: the most valuable of n Californian houses within four budgets.
    Houses {
        /// Houses per instance.
        houses: usize,
    },
}

impl Subject {
    /// The problem, its rows and how they are divided.
    ///
    /// # Errors
    /// When a file is missing or cannot be used.
    pub fn make(self, split: [usize; 3], seed: u32, files: &Files) -> Result<(ProblemSpec, Dataset, Split)> {
        let rows = split.iter().sum();
        let (problem, data) = match self {
            Self::Benchmark(benchmark) => benchmark.generate(Recipe::paper(rows, seed))?,
            Self::Houses { houses } => {
                let missing = || Error::setting(format!("{self} needs California housing; give --california FILE"));
                let file = files.california.as_ref().ok_or_else(missing)?;
                let data = Houses::read(file)?.instances(houses, split, seed)?;
                let weights = paper_weights(houses, HOUSE_DIMENSIONS, seed);
                (ProblemSpec::Knapsack(Knapsack::with_capacity_share(weights, 0.1).checked()?), data)
            }
        };
        Ok((problem, data, Split::in_order(rows, split)?))
    }

    /// The same kind of problem, small enough for a trial of seconds.
    #[must_use]
    pub fn tiny(self) -> Self {
        match self {
            Self::Benchmark(Benchmark::Tour { nodes }) => Self::Benchmark(Benchmark::Tour { nodes: nodes.min(8) }),
            Self::Benchmark(Benchmark::Routes { nodes }) => Self::Benchmark(Benchmark::Routes { nodes: nodes.min(12) }),
            Self::Benchmark(Benchmark::Knapsack { items }) => {
                Self::Benchmark(Benchmark::Knapsack { items: items.min(16) })
            }
            Self::Benchmark(Benchmark::ShortestPath { .. }) => self,
            Self::Houses { houses } => Self::Houses { houses: houses.min(20) },
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Benchmark(benchmark) => benchmark.fmt(f),
            Self::Houses { houses } => write!(f, "CAKS{houses}"),
        }
    }
}

impl FromStr for Subject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let houses = text.to_ascii_uppercase().strip_prefix("CAKS").map(str::parse::<usize>);
        match houses {
            Some(Ok(houses)) if houses > 0 => Ok(Self::Houses { houses }),
            Some(_) => Err(Error::unknown("problem", text, &["CAKS100 (any number of houses)"])),
            None => text.parse().map(Self::Benchmark),
        }
    }
}

impl TryFrom<String> for Subject {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Subject> for String {
    fn from(subject: Subject) -> Self {
        subject.to_string()
    }
}
