//! Values that are written as one word: how rows are split, the optimiser, lists.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use regretless::data::Split;
use regretless::solve::relax::Relaxation;
use regretless::train::Method;
use regretless::train::Optimizer;
use regretless::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Format of generated tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// One CSV file with features and costs
    Csv,
    /// Two NPY files
    Npy,
}

/// Kinds of files that can be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Tours and routes as TSPLIB and CVRPLIB write them
    Tsplib,
    /// Knapsacks as the OR-Library writes them
    Knapsack,
    /// MPS and LP models
    Linear,
}

/// Linear relaxations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RelaxKind {
    /// Integrality dropped, nothing added
    Plain,
    /// With all cuts the problem knows
    Tight,
}

impl From<RelaxKind> for Relaxation {
    fn from(kind: RelaxKind) -> Self {
        match kind {
            RelaxKind::Plain => Self::Plain,
            RelaxKind::Tight => Self::Tight,
        }
    }
}

/// How rows are divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SplitSpec {
    /// Shares drawn at random to validate and test; the rest trains.
    Shares([f64; 2]),
    /// Rows to train, validate and test, in the order of the table.
    Counts([usize; 3]),
}

impl SplitSpec {
    /// The split of a table.
    pub fn apply(self, rows: usize, seed: u64) -> Result<Split> {
        match self {
            Self::Shares([validation, test]) => Split::random(rows, validation, test, seed),
            Self::Counts(counts) => Split::in_order(rows, counts),
        }
    }

    /// How many rows the split wants, where it says so.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Shares(_) => None,
            Self::Counts(counts) => Some(counts.iter().sum()),
        }
    }
}

impl fmt::Display for SplitSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shares([validation, test]) => write!(f, "{validation},{test}"),
            Self::Counts([train, validation, test]) => write!(f, "{train},{validation},{test}"),
        }
    }
}

impl FromStr for SplitSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
        let share = |part: &str| part.parse::<f64>().ok().filter(|share| (0.0..1.0).contains(share));
        let found = match parts[..] {
            [both] => share(both).map(|share| Self::Shares([share, share])),
            [validation, test] => share(validation).zip(share(test)).map(|(v, t)| Self::Shares([v, t])),
            [train, validation, test] => {
                let counts = [train, validation, test].map(|part| part.parse::<usize>().ok());
                if let [Some(train), Some(validation), Some(test)] = counts {
                    Some(Self::Counts([train, validation, test]))
                } else {
                    None
                }
            }
            _ => None,
        };
        let wanted = "write shares to validate and test such as 0.2,0.2, or rows to train, validate and test such as 1000,400,600";
        found.ok_or_else(|| Error::setting(format!("'{text}' is no split; {wanted}")))
    }
}

/// Rule of a training step, in writing: `adam`, `adamw:decay=0.1`, `sgd:momentum=0.9`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizerSpec(pub Optimizer);

impl FromStr for OptimizerSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::setting(format!("optimizer '{text}': {what}"));
        let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
        let mut table = toml::Table::new();
        if kind == "adamw" {
            table.insert("decay".into(), 0.01.into());
        }
        let kind = if kind == "adamw" { "adam" } else { kind };
        if !["adam", "sgd"].contains(&kind) {
            return Err(Error::unknown("optimizer", text, &["adam", "adamw", "sgd"]));
        }
        table.insert("kind".into(), kind.into());
        for part in numbers.split(',').filter(|part| !part.is_empty()) {
            let pair = part.split_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
            let (name, value) = pair.ok_or_else(|| wrong("numbers are written name=value, separated by commas"))?;
            table.insert(name.trim().into(), value.into());
        }
        table.try_into().map(Self).map_err(|e: toml::de::Error| wrong(e.message()))
    }
}

impl fmt::Display for OptimizerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Optimizer::Adam { beta1, beta2, epsilon, decay } => {
                write!(f, "adam:beta1={beta1},beta2={beta2},epsilon={epsilon:e},decay={decay}")
            }
            Optimizer::Sgd { momentum } => write!(f, "sgd:momentum={momentum}"),
        }
    }
}

macro_rules! written_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                words(&toml::Value::deserialize(deserializer)?, ',').join(",").parse().map_err(de::Error::custom)
            }
        }
    )*};
}

written_as_text!(SplitSpec, OptimizerSpec);

/// The words of a value: a list's entries, or a text split at its separator.
fn words(value: &toml::Value, separator: char) -> Vec<String> {
    match value {
        toml::Value::Array(entries) => entries.iter().flat_map(|entry| words(entry, separator)).collect(),
        toml::Value::String(text) => text.split(separator).map(|word| word.trim().to_owned()).collect(),
        other => vec![other.to_string()],
    }
}

/// Reads a list of names, or a single one.
pub fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Vec<String>>, D::Error> {
    // Names within a list are taken as they are: a column's name may hold a comma.
    Ok(Some(match toml::Value::deserialize(deserializer)? {
        toml::Value::Array(entries) => entries
            .into_iter()
            .map(|entry| entry.as_str().map(str::to_owned).ok_or_else(|| de::Error::custom("names must be text")))
            .collect::<std::result::Result<_, _>>()?,
        single => words(&single, ','),
    }))
}

/// Reads a list of losses, or some in one text separated by semicolons.
pub fn one_or_many_losses<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Vec<Method>>, D::Error> {
    let labels = words(&toml::Value::deserialize(deserializer)?, ';');
    let losses = labels.iter().filter(|label| !label.is_empty()).map(|label| label.parse().map_err(de::Error::custom));
    losses.collect::<std::result::Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::{OptimizerSpec, SplitSpec};

    #[test]
    fn splits_read_back_as_they_were_written() {
        for text in ["0.2,0.1", "1000,400,600", "0.25,0"] {
            assert_eq!(text.parse::<SplitSpec>().unwrap().to_string(), text);
        }
        assert_eq!("0.2".parse::<SplitSpec>().unwrap(), SplitSpec::Shares([0.2, 0.2]));
        for text in ["", "1.5", "-0.1", "a,b", "1,2,3,4", "0.5,0.2,0.3", "nan"] {
            assert!(text.parse::<SplitSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn optimizers_read_back_as_they_were_written() {
        for text in ["adam", "adamw", "sgd", "sgd:momentum=0.9", "adam:beta1=0.5,decay=0.1"] {
            let spec: OptimizerSpec = text.parse().unwrap();
            assert_eq!(spec.to_string().parse::<OptimizerSpec>().unwrap(), spec);
        }
        for text in ["", "lion", "sgd:beta1=0.1", "adam:beta1", "adam:beta1=x"] {
            assert!(text.parse::<OptimizerSpec>().is_err(), "{text}");
        }
    }
}
