//! Checks of a table before it is used: columns without information, target leakage, rows that
//! dominate a loss, rows out of time order, and drift.
//!
//! A finding is a hint, not an error: a feature that determines a cost may be a known tariff. By
//! the thresholds, a table of independent rows without these defects has no finding.

use std::fmt;

use serde::Serialize;

use super::row_times::RowTimes;
use super::{Dataset, FeatureShape, SplitIndices};
use crate::error::{Error, Result};

mod columns;
mod drift;
mod leaks;
mod outliers;
mod past_decisions;
mod statistics;

/// Share of rows with the time of another row up to which they look like mistakes. A table with
/// several rows per time by design has more of them.
const MAX_REPEATED_TIME_SHARE: f64 = 0.05;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// No training row, or very few of them, have some costs, which cannot be predicted well.
    RareCost,
    /// A feature is a cost in disguise, or may be known only after the decision.
    Leak,
    /// Features look like decisions that were made.
    PastDecisions,
    /// The rows leave no choice.
    NoChoice,
    /// A feature has the same value in all rows.
    Constant,
    /// Two features are equal in all rows.
    Duplicate,
    /// Two features are almost perfectly correlated.
    NearDuplicate,
    /// A feature counts the rows.
    RowNumber,
    /// A row dominates squared losses, or a value is far from all others.
    Outlier,
    /// Rows are not in the order of their times.
    TimeOrder,
    /// A few rows have the time of another row.
    RepeatedTime,
    /// Training and test rows have different distributions.
    Drift,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RareCost => "rare cost",
            Self::Leak => "leak",
            Self::PastDecisions => "past decisions",
            Self::NoChoice => "no choice",
            Self::Constant => "constant",
            Self::Duplicate => "duplicate",
            Self::NearDuplicate => "near-duplicate",
            Self::RowNumber => "row number",
            Self::Outlier => "outlier",
            Self::TimeOrder => "time order",
            Self::RepeatedTime => "repeated time",
            Self::Drift => "drift",
        })
    }
}

/// One finding of a [`DataCheck`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The columns it is about; empty if it is about rows.
    pub columns: Vec<String>,
    /// The row it is about, counted from 0: an instance or, for a value of a long table, a row of
    /// the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// One sentence.
    pub message: String,
}

/// Checks a table for defects that make training useless or its results too good to be true.
///
/// ```
/// use regretless::data::DataCheck;
/// use regretless::{Dataset, Problem};
///
/// let data = Dataset::generate(&Problem::benchmark("SP3x3")?, 200)?;
/// assert!(DataCheck::new(&data).run().is_empty());
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DataCheck<'a> {
    data: &'a Dataset,
    /// The same rows after labeling, when it is known which costs exist.
    labeled: Option<&'a Dataset>,
    split: Option<&'a SplitIndices>,
    objectives: Option<&'a [f64]>,
    times: Option<&'a RowTimes>,
    /// Whether the split divides a history into halves, neither of which is for training.
    are_halves: bool,
}

impl<'a> DataCheck<'a> {
    /// A check of features and costs.
    pub fn new(data: &'a Dataset) -> Self {
        Self {
            data,
            labeled: None,
            split: None,
            objectives: None,
            times: None,
            are_halves: false,
        }
    }

    /// Compares training rows with test rows too, or with validation rows if there are none.
    #[must_use]
    pub fn with_split(self, split: &'a SplitIndices) -> Self {
        Self {
            split: Some(split),
            ..self
        }
    }

    /// The split divides a history into an earlier and a later half, and findings call them so.
    #[must_use]
    pub fn of_halves(self) -> Self {
        Self {
            are_halves: true,
            ..self
        }
    }

    /// Tells absent costs by the problem that the same rows were labeled for, not by gaps.
    #[must_use]
    pub fn with_labeled(self, labeled: &'a Dataset) -> Self {
        Self {
            labeled: Some(labeled),
            ..self
        }
    }

    /// Looks for features that give the best objective of a row away; one objective per row.
    #[must_use]
    pub fn with_objectives(self, objectives: &'a [f64]) -> Self {
        Self {
            objectives: (objectives.len() == self.data.len()).then_some(objectives),
            ..self
        }
    }

    /// Checks the order of the rows, and looks for features that are costs of the next row.
    #[must_use]
    pub(crate) fn with_times(self, times: &'a RowTimes) -> Self {
        Self {
            times: (times.len() == self.data.len()).then_some(times),
            ..self
        }
    }

    /// The findings of a table whose rows have these times, one per row: their order is checked,
    /// too.
    ///
    /// # Errors
    /// When a text is no time, or there is not one for each row.
    pub fn run_with_times(&self, texts: &[String]) -> Result<Vec<Finding>> {
        let mut times = RowTimes::default();
        for (row, text) in texts.iter().enumerate() {
            let refused = |message| Error::data(format!("row {row} (counted from 0): {message}"));
            times.push(text).map_err(refused)?;
        }
        if times.len() != self.data.len() {
            let (times, rows) = (times.len(), self.data.len());
            return Err(Error::data(format!("{times} times for {rows} rows")));
        }
        Ok(self.with_times(&times).run())
    }

    /// All findings, by kind and then by column.
    pub fn run(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        leaks::find(self, &mut findings);
        findings.extend(past_decisions::find(self));
        columns::find(self.data.features(), &mut findings);
        outliers::find(self.data, &mut findings);
        if let Some(times) = self.times {
            findings.extend(time_order(times));
            findings.extend(repeated_times(times));
        }
        if let Some(split) = self.split {
            findings.extend(self.rare_costs(&split.train));
            drift::find(self, split, &mut findings);
        }
        // A stable sort: findings of a kind stay in the order of the columns.
        findings.sort_by_key(|finding| finding.kind);
        findings
    }

    /// The costs that no training row, or very few of them, have.
    fn rare_costs(&self, train: &[usize]) -> Option<Finding> {
        let data = self.labeled.unwrap_or(self.data);
        let observed = data.cost_observations(train)?;
        Some(Finding {
            kind: FindingKind::RareCost,
            columns: observed.rare_names(train.len()),
            row: None,
            message: observed.note(train.len())?,
        })
    }

    fn is_long(&self) -> bool {
        matches!(self.data.features().shape(), FeatureShape::Long { .. })
    }
}

/// The first row that is earlier than the one before it, and how many are.
fn time_order(times: &RowTimes) -> Option<Finding> {
    let is_earlier = |row: &usize| times.compare(*row, row - 1).is_lt();
    let earlier: Vec<usize> = (1..times.len()).filter(is_earlier).collect();
    let first = *earlier.first()?;
    let count = earlier.len();
    Some(Finding {
        kind: FindingKind::TimeOrder,
        columns: Vec::new(),
        row: Some(first),
        message: format!(
            "rows are not in time order: {count} {} earlier than the row before, the first is row \
             {first}, counted from 0 ({} after {}); a split in table order does not test on the \
             latest rows",
            if count == 1 { "is" } else { "are" },
            times.text(first),
            times.text(first - 1)
        ),
    })
}

/// The first row that has the time of another row, and how many do, if that is rare.
fn repeated_times(times: &RowTimes) -> Option<Finding> {
    let mut repeated = Vec::new();
    for pair in times.sorted_rows().windows(2) {
        if times.compare(pair[0], pair[1]).is_eq() {
            repeated.push(pair[0].max(pair[1]));
        }
    }
    let count = repeated.len();
    let first = repeated.into_iter().min()?;
    if count as f64 > MAX_REPEATED_TIME_SHARE * times.len() as f64 {
        return None;
    }
    Some(Finding {
        kind: FindingKind::RepeatedTime,
        columns: Vec::new(),
        row: Some(first),
        message: format!(
            "{count} {} the time of another row, the first is row {first}, counted from 0 ({}): \
             rows that are in the table twice count twice, and with a split by time the previous \
             row is no baseline",
            if count == 1 { "row has" } else { "rows have" },
            times.text(first)
        ),
    })
}
