//! How rows are divided, in writing: `0.2,0.1` are shares, `1000,400,600` are rows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SplitIndices;
use crate::error::{Error, Result};

/// How rows are divided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SerializedSplit", into = "String")]
pub enum Split {
    /// Shares drawn at random to validate and test; the rest trains.
    Shares([f64; 2]),
    /// Rows to train, validate and test, in the order of the table.
    Counts([usize; 3]),
}

impl Split {
    /// Shares to validate and test on where the user brings the data and says nothing else.
    pub const DEFAULT_TABLE_SPLIT: Self = Self::Shares([0.2, 0.2]);

    /// The split of a table.
    ///
    /// # Errors
    /// When the table is too short or nothing is left to train on.
    pub fn apply(self, rows: usize, seed: u64) -> Result<SplitIndices> {
        match self {
            Self::Shares([validation, test]) => SplitIndices::random(rows, validation, test, seed),
            Self::Counts(counts) => SplitIndices::in_order(rows, counts),
        }
    }

    /// How many rows the split wants, where it says so.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Shares(_) => None,
            // A sum beyond counting is more than any table has, which is all that matters.
            Self::Counts(counts) => Some(
                counts
                    .iter()
                    .fold(0, |sum, count| sum.saturating_add(*count)),
            ),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shares([validation, test]) => write!(f, "{validation},{test}"),
            Self::Counts([train, validation, test]) => write!(f, "{train},{validation},{test}"),
        }
    }
}

impl FromStr for Split {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
        let share = |part: &str| {
            part.parse::<f64>()
                .ok()
                .filter(|share| (0.0..1.0).contains(share))
        };
        let found = match parts[..] {
            [both] => share(both).map(|share| Self::Shares([share, share])),
            [validation, test] => share(validation)
                .zip(share(test))
                .map(|(v, t)| Self::Shares([v, t])),
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
        let wanted = "write shares to validate and test such as 0.2,0.2, or rows to train, \
            validate and test such as 1000,400,600";
        found.ok_or_else(|| Error::setting(format!("'{text}' is no split; {wanted}")))
    }
}

impl From<Split> for String {
    fn from(split: Split) -> Self {
        split.to_string()
    }
}

/// How a split may stand in a file of settings.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a split is a text such as \"0.2,0.2\", a share, or a list of numbers"
)]
enum SerializedSplit {
    Text(String),
    One(f64),
    Many(Vec<f64>),
}

impl TryFrom<SerializedSplit> for Split {
    type Error = Error;

    fn try_from(written: SerializedSplit) -> Result<Self> {
        match written {
            SerializedSplit::Text(text) => text.parse(),
            SerializedSplit::One(share) => share.to_string().parse(),
            SerializedSplit::Many(numbers) => numbers
                .iter()
                .map(f64::to_string)
                .collect::<Vec<_>>()
                .join(",")
                .parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Split;

    #[test]
    fn splits_read_back_as_they_were_written() {
        for text in ["0.2,0.1", "1000,400,600", "0.25,0"] {
            assert_eq!(text.parse::<Split>().unwrap().to_string(), text);
        }
        assert_eq!("0.2".parse::<Split>().unwrap(), Split::Shares([0.2, 0.2]));
        for text in ["", "1.5", "-0.1", "a,b", "1,2,3,4", "0.5,0.2,0.3", "nan"] {
            assert!(text.parse::<Split>().is_err(), "{text}");
        }
        let read = |text: &str| serde_json::from_str::<Split>(text).unwrap();
        assert_eq!(
            [read("[1000, 400, 600]"), read("0.2")],
            [Split::Counts([1000, 400, 600]), Split::DEFAULT_TABLE_SPLIT]
        );
    }
}
