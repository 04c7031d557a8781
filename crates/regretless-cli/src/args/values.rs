//! Values of options: times, formats, the optimizer, lists.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use regretless::method::Method;
use regretless::optimizer::Optimizer;
use regretless::solve::relaxation::Relaxation;
use regretless::{Error, Result};
use regretless_study::backtest::TrainingWindow;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Seconds(f64);

impl Seconds {
    /// About eleven days; any bound works that `Duration` can hold.
    const MAX_SECONDS: f64 = 1e6;

    /// As a standard duration.
    pub fn duration(self) -> Duration {
        // Validated by `try_from`, so this cannot panic.
        Duration::from_secs_f64(self.0)
    }
}

impl TryFrom<f64> for Seconds {
    type Error = Error;

    fn try_from(seconds: f64) -> Result<Self> {
        // NaN is in no range.
        if (0.0..=Self::MAX_SECONDS).contains(&seconds) {
            return Ok(Self(seconds));
        }
        Err(Error::setting(format!("{seconds} is not a time"))
            .with_remedy(format!("give seconds from 0 to {}", Self::MAX_SECONDS)))
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

impl FromStr for Seconds {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number: f64 = text
            .parse()
            .map_err(|_| Error::setting(format!("'{text}' is not a number of seconds")))?;
        number.try_into()
    }
}

/// What happens to gaps in features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MissingArg {
    /// They are filled.
    Impute,
    /// They are an error.
    Error,
}

/// Format of generated tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GeneratedFormat {
    /// One CSV file with features and costs
    Csv,
    /// Two NPY files
    Npy,
}

/// Formats of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultFormat {
    /// Text with values separated by commas
    Csv,
    /// A numpy array: numbers only
    Npy,
    /// JSON lines: one object per instance
    Jsonl,
}

/// Formats of problem files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// TSPLIB and CVRPLIB: TSP and CVRP
    Tsplib,
    /// OR-Library: multi-dimensional knapsacks
    Knapsack,
    /// MPS and LP models
    Linear,
}

/// LP relaxations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RelaxationArg {
    /// Without integrality, no cuts added
    Plain,
    /// With the cuts of the problem
    Tight,
}

impl From<FileFormat> for regretless::problem::FileFormat {
    fn from(kind: FileFormat) -> Self {
        match kind {
            FileFormat::Tsplib => Self::Tsplib,
            FileFormat::Knapsack => Self::Knapsack,
            FileFormat::Linear => Self::Linear,
        }
    }
}

impl From<RelaxationArg> for Relaxation {
    fn from(kind: RelaxationArg) -> Self {
        match kind {
            RelaxationArg::Plain => Self::Plain,
            RelaxationArg::Tight => Self::Tight,
        }
    }
}

/// Optimizer as text: `adam`, `adamw:weight_decay=0.1`, `sgd:momentum=0.9`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizerSpec(pub Optimizer);

impl FromStr for OptimizerSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self)
    }
}

impl fmt::Display for OptimizerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for OptimizerSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OptimizerSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        words(&toml::Value::deserialize(deserializer)?, ',')
            .join(",")
            .parse()
            .map_err(de::Error::custom)
    }
}

/// The training window of a backtest, written as it is on the command line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowArg(pub TrainingWindow);

impl FromStr for WindowArg {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self)
    }
}

impl Serialize for WindowArg {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WindowArg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let text = words(&value, ',').join(",");
        text.parse().map_err(de::Error::custom)
    }
}

/// The entries of a list, or the parts of a text between separators.
fn words(value: &toml::Value, separator: char) -> Vec<String> {
    match value {
        toml::Value::Array(entries) => entries
            .iter()
            .flat_map(|entry| words(entry, separator))
            .collect(),
        toml::Value::String(text) => text
            .split(separator)
            .map(|word| word.trim().to_owned())
            .collect(),
        other => vec![other.to_string()],
    }
}

/// Reads a list of names, or a single one.
pub fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    // Names in a list are not split: a column name may contain a comma.
    Ok(Some(match toml::Value::deserialize(deserializer)? {
        toml::Value::Array(entries) => entries
            .into_iter()
            .map(|entry| {
                entry
                    .as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| de::Error::custom("names must be text"))
            })
            .collect::<std::result::Result<_, _>>()?,
        single => words(&single, ','),
    }))
}

/// Reads a list of paths, or a single one, which may have a comma.
pub fn one_or_many_paths<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<PathBuf>>, D::Error> {
    let paths = match toml::Value::deserialize(deserializer)? {
        toml::Value::Array(paths) => paths,
        single => vec![single],
    };
    let mut read = Vec::with_capacity(paths.len());
    for path in paths {
        let path = path.as_str().map(PathBuf::from);
        read.push(path.ok_or_else(|| de::Error::custom("paths must be text"))?);
    }
    Ok(Some(read))
}

/// Reads a list of methods, or one text with methods separated by semicolons.
pub fn one_or_many_methods<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<Method>>, D::Error> {
    let names = words(&toml::Value::deserialize(deserializer)?, ';');
    let mut methods = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        methods.push(name.parse().map_err(de::Error::custom)?);
    }
    Ok(Some(methods))
}
