//! How rows are divided into training, validation and test rows.
//!
//! As text: `0.2,0.1` are fractions for validation and test, `1000,400,600` are numbers of rows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SplitIndices;
use crate::error::{Error, Result};

/// How to divide a table.
///
/// ```
/// use regretless::Split;
///
/// let half = Split::random(0).train(0.5).validation(0.2); // the rest is for testing
/// let fixed = Split::in_order(1000, 400, 600);
/// # let _ = (half, fixed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    rule: SplitRule,
    /// Fraction for training; by default the rows that neither validate nor test.
    train: Option<f64>,
    /// Fraction for validation; by default that of the rule.
    validation: Option<f64>,
    /// Fraction for testing; by default the rows that neither train nor validate.
    test: Option<f64>,
    seed: u64,
}

impl Split {
    /// Rows drawn at random from a seed: 60 % for training, 20 % for validation, 20 % for testing,
    /// unless the other methods say otherwise.
    pub fn random(seed: u64) -> Self {
        Self::new(SplitRule::DEFAULT, seed)
    }

    /// The first rows train, the next validate, the next test, in the order of the table.
    pub fn in_order(train: usize, validation: usize, test: usize) -> Self {
        Self::new(SplitRule::Counts([train, validation, test]), 0)
    }

    /// A rule with the seed of its random draw.
    pub fn new(rule: SplitRule, seed: u64) -> Self {
        Self {
            rule,
            train: None,
            validation: None,
            test: None,
            seed,
        }
    }

    /// Fraction of the rows for training. Without [`Split::test`], all other rows test.
    #[must_use]
    pub fn train(mut self, fraction: f64) -> Self {
        self.train = Some(fraction);
        self
    }

    /// Fraction of the rows for validation.
    #[must_use]
    pub fn validation(mut self, fraction: f64) -> Self {
        self.validation = Some(fraction);
        self
    }

    /// Fraction of the rows for testing.
    #[must_use]
    pub fn test(mut self, fraction: f64) -> Self {
        self.test = Some(fraction);
        self
    }

    /// The row numbers of each part of a table with this many rows.
    ///
    /// # Errors
    /// When fractions are not between 0 and 1 or add up to more than 1, the table is too short, or
    /// no row is left for training.
    pub fn apply(self, rows: usize) -> Result<SplitIndices> {
        let has_fractions = [self.train, self.validation, self.test]
            .iter()
            .any(Option::is_some);
        let [default_validation, default_test] = match self.rule {
            SplitRule::Counts(_) if has_fractions => {
                return Err(Error::setting(
                    "a split in the order of the table has numbers of rows, no fractions",
                ));
            }
            SplitRule::Counts(counts) => return SplitIndices::in_order(rows, counts),
            SplitRule::Fractions(fractions) => fractions,
        };
        let validation = self.validation.unwrap_or(default_validation);
        match (self.train, self.test) {
            (None, test) => {
                let test = test.unwrap_or(default_test);
                SplitIndices::random(rows, validation, test, self.seed)
            }
            (Some(train), test) => {
                SplitIndices::random_fractions(rows, train, validation, test, self.seed)
            }
        }
    }
}

/// How rows are divided, without the seed of a random draw, as users write it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SerializedSplit", into = "String")]
pub enum SplitRule {
    /// Fractions for validation and testing, drawn at random; the other rows are for training.
    Fractions([f64; 2]),
    /// Rows for training, validation and test, in the order of the table.
    Counts([usize; 3]),
}

impl SplitRule {
    /// The split with the seed of its random draw.
    pub fn with_seed(self, seed: u64) -> Split {
        Split::new(self, seed)
    }

    /// Fractions for validation and testing where the user states none. Untuned.
    pub const DEFAULT: Self = Self::Fractions([0.2, 0.2]);

    /// The number of rows of all parts, if the rule states numbers.
    pub fn rows(self) -> Option<usize> {
        match self {
            Self::Fractions(_) => None,
            // A sum that overflows is larger than any table, and refused as such.
            Self::Counts(counts) => Some(
                counts
                    .iter()
                    .fold(0, |sum, count| sum.saturating_add(*count)),
            ),
        }
    }
}

impl fmt::Display for SplitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fractions([validation, test]) => write!(f, "{validation},{test}"),
            Self::Counts([train, validation, test]) => write!(f, "{train},{validation},{test}"),
        }
    }
}

impl FromStr for SplitRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
        let fraction = |part: &str| {
            let number = part.parse::<f64>().ok();
            number.filter(|fraction| (0.0..1.0).contains(fraction))
        };
        let rule = match parts[..] {
            [both] => fraction(both).map(|both| Self::Fractions([both, both])),
            [validation, test] => match (fraction(validation), fraction(test)) {
                (Some(validation), Some(test)) => Some(Self::Fractions([validation, test])),
                (None, _) | (_, None) => None,
            },
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
        let remedy = "write fractions for validation and test such as 0.2,0.2, or rows for \
            training, validation and test such as 1000,400,600";
        rule.ok_or_else(|| Error::setting(format!("'{text}' is no split")).with_remedy(remedy))
    }
}

impl From<SplitRule> for String {
    fn from(split: SplitRule) -> Self {
        split.to_string()
    }
}

/// The forms of a split in a settings file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a split is a text such as \"0.2,0.2\", a fraction, or a list of numbers"
)]
enum SerializedSplit {
    Text(String),
    Fraction(f64),
    Numbers(Vec<f64>),
}

impl TryFrom<SerializedSplit> for SplitRule {
    type Error = Error;

    fn try_from(written: SerializedSplit) -> Result<Self> {
        match written {
            SerializedSplit::Text(text) => text.parse(),
            SerializedSplit::Fraction(fraction) => fraction.to_string().parse(),
            SerializedSplit::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
                numbers.join(",").parse()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SplitRule;

    #[test]
    fn splits_read_back_as_they_were_written() {
        for text in ["0.2,0.1", "1000,400,600", "0.25,0"] {
            assert_eq!(text.parse::<SplitRule>().unwrap().to_string(), text);
        }
        assert_eq!(
            "0.2".parse::<SplitRule>().unwrap(),
            SplitRule::Fractions([0.2, 0.2])
        );
        for text in ["", "1.5", "-0.1", "a,b", "1,2,3,4", "0.5,0.2,0.3", "nan"] {
            assert!(text.parse::<SplitRule>().is_err(), "{text}");
        }
        let read = |text: &str| serde_json::from_str::<SplitRule>(text).unwrap();
        assert_eq!(
            [read("[1000, 400, 600]"), read("0.2")],
            [SplitRule::Counts([1000, 400, 600]), SplitRule::DEFAULT]
        );
    }
}
