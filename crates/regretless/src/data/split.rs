//! How rows are divided into training, validation and test rows.
//!
//! As text: `0.2,0.1` are fractions for validation and test, drawn at random; `1000,400,600` are
//! numbers of rows in the order of the table; `order:0.2,0.1` are fractions in the order of the
//! table; `time:date,0.2,0.1` are fractions in the order of the times in column `date`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SplitIndices;
use super::row_times::RowTimes;
use crate::error::{Error, InputPlace, Result};

/// How to divide a table.
///
/// ```
/// use regretless::Split;
///
/// let half = Split::random(0).train(0.5).validation(0.2); // the rest is for testing
/// let fixed = Split::in_order(1000, 400, 600);
/// let by_time = Split::by_time("date").test(0.1); // the latest tenth of the rows tests
/// # let _ = (half, fixed, by_time);
/// ```
#[derive(Debug, Clone, PartialEq)]
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

    /// The earliest 60 % of the rows train, the next 20 % validate and the latest 20 % test, unless
    /// the other methods say otherwise; `column` has the times.
    pub fn by_time(column: impl Into<String>) -> Self {
        let rule = SplitRule::Time {
            column: column.into(),
            fractions: DEFAULT_FRACTIONS,
        };
        Self::new(rule, 0)
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

    /// The column with the times of the rows, if they are split by time.
    pub fn time_column(&self) -> Option<&str> {
        self.rule.time_column()
    }

    /// The row numbers of each part of a table with this many rows.
    ///
    /// # Errors
    /// When fractions are not between 0 and 1 or add up to more than 1, the table is too short, no
    /// row is left for training, or the rows are split by time, which needs
    /// [`Self::apply_to_times`].
    pub fn apply(&self, rows: usize) -> Result<SplitIndices> {
        match &self.rule {
            SplitRule::Counts(counts) => {
                if self.has_fractions() {
                    return Err(Error::setting(
                        "a split by numbers of rows has no fractions",
                    ));
                }
                SplitIndices::in_order(rows, *counts)
            }
            SplitRule::Ordered(fractions) => {
                SplitIndices::ordered(rows, self.later_fractions(*fractions)?)
            }
            SplitRule::Time { column, .. } => Err(Error::setting(format!(
                "a split by time needs the times of the rows, in column '{column}'"
            ))),
            SplitRule::Fractions(fractions) => self.draw(rows, *fractions),
        }
    }

    /// The row numbers of each part of a table whose rows have these times: dates such as
    /// `2026-01-31`, date-times such as `2026-01-31T18:30`, or numbers. Rows of the same time stay
    /// in one part, so the parts can differ from their fractions.
    ///
    /// # Errors
    /// As [`Self::apply`], and when a text is no time (the error has its row, counted from 0), or
    /// there are too few different times.
    pub fn apply_to_times<T: AsRef<str>>(&self, times: &[T]) -> Result<SplitIndices> {
        let mut parsed = RowTimes::default();
        for (row, time) in times.iter().enumerate() {
            parsed.push(time.as_ref()).map_err(|message| {
                let mut place = InputPlace::default().row(row as u64);
                if let Some(column) = self.time_column() {
                    place = place.column(column);
                }
                Error::input(place, format!("{message} (rows counted from 0)"))
            })?;
        }
        self.apply_to_parsed(&parsed)
    }

    /// The same for times that are parsed; another rule ignores them.
    pub(crate) fn apply_to_parsed(&self, times: &RowTimes) -> Result<SplitIndices> {
        match &self.rule {
            SplitRule::Time { column, fractions } => {
                SplitIndices::by_time(times, column, self.later_fractions(*fractions)?)
            }
            SplitRule::Fractions(_) | SplitRule::Ordered(_) | SplitRule::Counts(_) => {
                self.apply(times.len())
            }
        }
    }

    fn has_fractions(&self) -> bool {
        self.train.is_some() || self.validation.is_some() || self.test.is_some()
    }

    /// Fractions of the later rows of a split in order, for validation and testing.
    fn later_fractions(&self, default: [f64; 2]) -> Result<[f64; 2]> {
        if self.train.is_some() {
            return Err(Error::setting(
                "a split in order has fractions for validation and testing only",
            )
            .with_remedy("all earlier rows train"));
        }
        let [validation, test] = default;
        Ok([
            self.validation.unwrap_or(validation),
            self.test.unwrap_or(test),
        ])
    }

    fn draw(&self, rows: usize, default: [f64; 2]) -> Result<SplitIndices> {
        let [default_validation, default_test] = default;
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

/// Fractions for validation and testing if the user states none. Untuned.
const DEFAULT_FRACTIONS: [f64; 2] = [0.2, 0.2];
/// Prefix of a split by time, before the name of the column.
const TIME_PREFIX: &str = "time:";
/// Name of a split in the order of the table.
const ORDER_NAME: &str = "order";

/// How rows are divided, without the seed of a random draw, as users write it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SerializedSplit", into = "String")]
pub enum SplitRule {
    /// Fractions for validation and testing, drawn at random; the other rows are for training.
    Fractions([f64; 2]),
    /// Fractions for validation and testing of the last rows, in the order of the table; the first
    /// rows are for training.
    Ordered([f64; 2]),
    /// Rows for training, validation and test, in the order of the table.
    Counts([usize; 3]),
    /// Fractions for validation and testing of the latest rows; earlier rows are for training.
    Time {
        /// The column with the times.
        column: String,
        /// Fractions for validation and testing.
        fractions: [f64; 2],
    },
}

impl SplitRule {
    /// The column with the times of the rows, if they are split by time.
    pub fn time_column(&self) -> Option<&str> {
        match self {
            Self::Time { column, .. } => Some(column),
            Self::Fractions(_) | Self::Ordered(_) | Self::Counts(_) => None,
        }
    }

    /// The split with the seed of its random draw.
    pub fn with_seed(&self, seed: u64) -> Split {
        Split::new(self.clone(), seed)
    }

    /// If the user states no split: random, with the default fractions.
    pub const DEFAULT: Self = Self::Fractions(DEFAULT_FRACTIONS);

    /// The number of rows of all parts, if the rule states numbers.
    pub fn rows(&self) -> Option<usize> {
        match self {
            Self::Fractions(_) | Self::Ordered(_) | Self::Time { .. } => None,
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
            Self::Ordered([validation, test]) => write!(f, "{ORDER_NAME}:{validation},{test}"),
            Self::Counts([train, validation, test]) => write!(f, "{train},{validation},{test}"),
            Self::Time {
                column,
                fractions: [validation, test],
            } => write!(f, "{TIME_PREFIX}{column},{validation},{test}"),
        }
    }
}

impl FromStr for SplitRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let rule = if let Some(column) = trimmed.strip_prefix(TIME_PREFIX) {
            parse_time_rule(column)
        } else if let Some(rest) = trimmed.strip_prefix(ORDER_NAME) {
            // `ordered` is the same word to most people.
            parse_order_rule(rest.strip_prefix("ed").unwrap_or(rest))
        } else {
            parse_numbers(trimmed)
        };
        let remedy = "write fractions for validation and test such as 0.2,0.2 (drawn at random), \
            order:0.2,0.2 (in table order) or time:date,0.2,0.2 (by the times in column date), or \
            rows for training, validation and test such as 1000,400,600";
        rule.ok_or_else(|| Error::setting(format!("'{text}' is no split")).with_remedy(remedy))
    }
}

/// Fractions for validation and test, or one for both.
fn parse_fractions(text: &str) -> Option<[f64; 2]> {
    let parts: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
    let fraction = |part: &str| {
        let number = part.parse::<f64>().ok();
        number.filter(|fraction| (0.0..1.0).contains(fraction))
    };
    match parts[..] {
        [both] => fraction(both).map(|both| [both, both]),
        [validation, test] => Some([fraction(validation)?, fraction(test)?]),
        _ => None,
    }
}

fn parse_numbers(text: &str) -> Option<SplitRule> {
    if let Some(fractions) = parse_fractions(text) {
        return Some(SplitRule::Fractions(fractions));
    }
    let parts: Vec<&str> = text.split([',', '/']).map(str::trim).collect();
    let [train, validation, test] = parts[..] else {
        return None;
    };
    let count = |part: &str| part.parse::<usize>().ok();
    Some(SplitRule::Counts([
        count(train)?,
        count(validation)?,
        count(test)?,
    ]))
}

/// What follows `order`: nothing, or a colon or comma and fractions.
fn parse_order_rule(text: &str) -> Option<SplitRule> {
    if text.is_empty() {
        return Some(SplitRule::Ordered(DEFAULT_FRACTIONS));
    }
    let fractions = text.strip_prefix([':', ','])?;
    parse_fractions(fractions).map(SplitRule::Ordered)
}

/// A column, and fractions behind commas if they are given. The name may contain commas.
fn parse_time_rule(text: &str) -> Option<SplitRule> {
    let parts: Vec<&str> = text.split(',').collect();
    let mut column = text;
    let mut fractions = DEFAULT_FRACTIONS;
    for count in [2, 1] {
        let Some(split) = parts.len().checked_sub(count).filter(|split| *split > 0) else {
            continue;
        };
        let end: Vec<Option<[f64; 2]>> = parts[split..]
            .iter()
            .map(|part| parse_fractions(part))
            .collect();
        if end.iter().all(Option::is_some) {
            fractions = parse_fractions(&parts[split..].join(","))?;
            let length = parts[..split].join(",").len();
            column = &text[..length];
            break;
        }
    }
    let column = column.trim();
    (!column.is_empty()).then(|| SplitRule::Time {
        column: column.to_owned(),
        fractions,
    })
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
        for text in [
            "order:0.2,0.1",
            "time:date,0.2,0.1",
            "time:a,b,0.25,0",
            "time:0.5,0.2,0.1",
        ] {
            assert_eq!(text.parse::<SplitRule>().unwrap().to_string(), text);
        }
        for (short, long) in [
            ("order", "order:0.2,0.2"),
            ("ordered", "order:0.2,0.2"),
            ("order,0.3,0.1", "order:0.3,0.1"),
            ("order:0.3", "order:0.3,0.3"),
            ("time:date", "time:date,0.2,0.2"),
            ("time: date ,0.1", "time:date,0.1,0.1"),
            ("time:0.5", "time:0.5,0.2,0.2"),
            ("time:a,b", "time:a,b,0.2,0.2"),
        ] {
            assert_eq!(short.parse::<SplitRule>().unwrap().to_string(), long);
        }
        assert_eq!(
            "0.2".parse::<SplitRule>().unwrap(),
            SplitRule::Fractions([0.2, 0.2])
        );
        for text in [
            "",
            "1.5",
            "-0.1",
            "a,b",
            "1,2,3,4",
            "0.5,0.2,0.3",
            "nan",
            "time",
            "time:",
            "time: ",
            "orders",
            "order:",
            "order:2",
            "order:10,5,5",
        ] {
            assert!(text.parse::<SplitRule>().is_err(), "{text}");
        }
        let read = |text: &str| serde_json::from_str::<SplitRule>(text).unwrap();
        assert_eq!(
            [read("[1000, 400, 600]"), read("0.2")],
            [SplitRule::Counts([1000, 400, 600]), SplitRule::DEFAULT]
        );
        assert_eq!(
            read("\"time:date\""),
            SplitRule::Time {
                column: "date".into(),
                fractions: [0.2, 0.2]
            }
        );
    }
}
