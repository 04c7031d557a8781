//! Encoding of raw columns as features: one-hot columns of categories, target statistics, parts of
//! dates, filled gaps with indicators.
//!
//! A table with other columns than numbers without gaps is read raw (`raw.rs`). When it is divided,
//! the encoding is fitted on the training rows alone (`fit.rs`) and applied to all rows. It is part
//! of the model and is applied to every raw row that the model predicts for.
//!
//! All values of a category have a column, none is left out as a reference: a value that no
//! training row has is then encoded as zeros, which no known value is. The collinearity with the
//! bias is no obstacle for gradient steps, and least squares are regularized.

use serde::{Deserialize, Serialize};

use self::calendar::WEEKDAY_NAMES;
use self::cells::{ColumnCells, EncodedRows};
use super::check_names;
use crate::error::{Error, Result};

mod calendar;
mod categories;
mod cells;
mod dates;
mod description;
mod features;
mod fit;
mod holidays;
mod numbers;
mod options;
mod raw;
mod table;

pub(super) use features::RawFeatures;
pub use options::FeatureOptions;
pub(crate) use raw::{
    RawCells, RawColumn, RawRows, RawTable, TIME_GAP, TableOrigin, TextCollector, is_gap, no_date,
};

/// How the raw columns of a table become features, fitted on training rows.
///
/// ```
/// use regretless::data::{FeatureOptions, Features};
/// use regretless::{Dataset, Split};
///
/// let features = Features::builder()
///     .numbers("temperature", vec![3.0, 5.0, f32::NAN, 4.0, 6.0])
///     .texts("shop", ["a", "b", "a", "b", "c"].map(Some))
///     .features(FeatureOptions::default())?;
/// let costs = regretless::data::Matrix::new(5, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0])?;
/// let data = Dataset::new(features, costs, None)?.split(Split::in_order(4, 0, 1))?;
/// let encoding = data.encoding().expect("the table has a gap and a text");
/// let names = ["temperature", "temperature is missing", "shop=a", "shop=b"];
/// assert_eq!(encoding.feature_names(), names);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureEncoding {
    columns: Vec<ColumnEncoding>,
    /// Columns that are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unused: Vec<UnencodedColumn>,
    /// Whether a gap is an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    refuse_gaps: bool,
}

/// One column and its code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnEncoding {
    name: String,
    code: ColumnCode,
}

/// A column that is not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnencodedColumn {
    column: String,
    reason: String,
}

/// How the cells of a column become features. `gaps` is the number of training rows without a
/// value: if there are any, an indicator is one of the features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum ColumnCode {
    /// The number itself, or the median of the training rows.
    Numbers(NumberCode),
    /// 1 for true and 0 for false; a gap is the more frequent one.
    Booleans(NumberCode),
    /// A column for each value, sorted; a gap is a value too.
    Categories { values: Vec<String>, gaps: usize },
    /// The smoothed mean cost of each value.
    TargetStatistics(TargetStatisticsCode),
    /// Parts of dates.
    Dates(DatesCode),
}

/// One number per cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberCode {
    /// The number of a gap.
    fill: f32,
    gaps: usize,
}

/// Mean costs of the values of a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetStatisticsCode {
    /// Sorted.
    values: Vec<String>,
    means: Vec<f64>,
    /// That of gaps, if training rows have any.
    gap_mean: Option<f64>,
    /// The mean of all training rows, for values that none of them has.
    prior: f64,
}

/// Parts of dates that are features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatesCode {
    /// From 0 for Monday; a column for each.
    weekdays: Vec<u8>,
    /// Sine and cosine of the time of the year.
    season: bool,
    /// A column for each hour of the day.
    hours: Vec<u8>,
    /// The day, counted from 1970-01-01, from which years are counted.
    trend_from: Option<i64>,
    /// Days of the holidays, sorted.
    holidays: Option<Vec<i64>>,
    /// Days from the first to the last training row.
    days: i64,
    gaps: usize,
}

/// Where a feature comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeatureSource {
    /// The number of the column of the table, among those that are used.
    pub column: usize,
    pub kind: FeatureSourceKind,
}

/// What a feature says about its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FeatureSourceKind {
    /// A number, a truth value, or a mean cost.
    Number,
    /// One value of a category.
    Category,
    /// A part of a date.
    Date,
    /// Whether the value is missing.
    Indicator,
}

/// What the cells of a column must be for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellKind {
    Numbers,
    Texts,
    Times,
}

impl FeatureEncoding {
    /// Names of the raw columns that are used, in the order of the features.
    pub fn column_names(&self) -> Vec<String> {
        let columns = self.columns.iter();
        columns.map(|column| column.name.clone()).collect()
    }

    /// Names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        let columns = self.columns.iter();
        columns.flat_map(ColumnEncoding::feature_names).collect()
    }

    /// Names and reasons of raw columns that are not used.
    pub fn unused_columns(&self) -> impl Iterator<Item = (&str, &str)> {
        let unused = self.unused.iter();
        unused.map(|unused| (unused.column.as_str(), unused.reason.as_str()))
    }

    /// What happens to the columns that are not used as they are, for people: name and text.
    pub fn descriptions(&self) -> Vec<(String, String)> {
        let mut described = Vec::new();
        for column in &self.columns {
            if let Some(text) = column.description() {
                described.push((column.name.clone(), text));
            }
        }
        described
    }

    /// Days after which there is no holiday in the list are probably not covered by it: the same
    /// encoding with another list of holidays.
    ///
    /// # Errors
    /// When a holiday is no date, or no column uses holidays.
    pub fn with_holidays(&self, dates: &[String]) -> Result<Self> {
        let options = FeatureOptions {
            holidays: dates.to_vec(),
            ..FeatureOptions::default()
        };
        let days = options.holiday_days()?;
        let mut changed = self.clone();
        let mut has_holidays = false;
        for column in &mut changed.columns {
            if let ColumnCode::Dates(dates) = &mut column.code
                && let Some(known) = &mut dates.holidays
            {
                known.clone_from(&days);
                has_holidays = true;
            }
        }
        if has_holidays {
            Ok(changed)
        } else {
            Err(Error::setting("the model does not use holidays")
                .with_remedy("leave them out, or train with holidays"))
        }
    }

    /// How the columns are read, so their cells are what the encoding expects.
    pub(crate) fn reading_options(&self) -> FeatureOptions {
        let mut options = FeatureOptions::default();
        for (column, kind) in self.columns.iter().zip(self.cell_kinds()) {
            match kind {
                CellKind::Numbers => {}
                // Asked for by name: a file of few rows could be read otherwise, such as a text
                // column that happens to hold numbers.
                CellKind::Texts => options.categories.push(column.name.clone()),
                CellKind::Times => options.dates.push(column.name.clone()),
            }
        }
        options
    }

    /// The raw columns with what their cells must be.
    pub(crate) fn cell_kinds(&self) -> Vec<CellKind> {
        let kind = |column: &ColumnEncoding| match &column.code {
            ColumnCode::Numbers(_) => CellKind::Numbers,
            ColumnCode::Booleans(_)
            | ColumnCode::Categories { .. }
            | ColumnCode::TargetStatistics(_) => CellKind::Texts,
            ColumnCode::Dates(_) => CellKind::Times,
        };
        self.columns.iter().map(kind).collect()
    }

    /// Where each feature comes from.
    pub(crate) fn sources(&self) -> Vec<FeatureSource> {
        let mut sources = Vec::new();
        for (number, column) in self.columns.iter().enumerate() {
            let count = column.feature_names().len();
            let (kind, has_indicator) = match &column.code {
                ColumnCode::Numbers(code) | ColumnCode::Booleans(code) => {
                    (FeatureSourceKind::Number, code.gaps > 0)
                }
                ColumnCode::TargetStatistics(_) => (FeatureSourceKind::Number, false),
                ColumnCode::Categories { gaps, .. } => (FeatureSourceKind::Category, *gaps > 0),
                ColumnCode::Dates(code) => (FeatureSourceKind::Date, code.gaps > 0),
            };
            for position in 0..count {
                let is_indicator = has_indicator && position + 1 == count;
                sources.push(FeatureSource {
                    column: number,
                    kind: if is_indicator {
                        FeatureSourceKind::Indicator
                    } else {
                        kind
                    },
                });
            }
        }
        sources
    }

    /// Whether every raw column holds numbers.
    fn has_numbers_only(&self) -> bool {
        let mut kinds = self.cell_kinds().into_iter();
        kinds.all(|kind| kind == CellKind::Numbers)
    }

    /// Checks an encoding that was read from a file.
    ///
    /// # Errors
    /// A message when no training writes it.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        for column in &self.columns {
            let is_valid = match &column.code {
                ColumnCode::Numbers(code) | ColumnCode::Booleans(code) => code.fill.is_finite(),
                ColumnCode::Categories { values, .. } => is_sorted(values),
                ColumnCode::TargetStatistics(code) => code.is_valid(),
                ColumnCode::Dates(code) => code.is_valid(),
            };
            if !is_valid {
                return Err(format!("the encoding of column '{}'", column.name));
            }
        }
        check_names(&self.feature_names(), "feature").map_err(|error| error.to_string())
    }

    /// The features of raw rows.
    ///
    /// # Errors
    /// When a column is missing or holds something else, or a cell is a gap where none is allowed;
    /// the error has the place.
    fn encode(&self, rows: &RawRows) -> Result<EncodedRows> {
        let width = self
            .columns
            .iter()
            .map(|column| column.feature_names().len())
            .sum();
        // Zeros: absent items, and unknown values in one-hot columns, need no writing.
        let mut encoded = EncodedRows {
            values: vec![0.0; rows.len() * width],
            width,
            notes: Vec::new(),
        };
        let mut offset = 0;
        for column in &self.columns {
            let raw = rows.column(&column.name)?;
            let cells = ColumnCells {
                column,
                raw,
                rows,
                refuse_gaps: self.refuse_gaps,
            };
            cells.encode(&mut encoded, offset)?;
            offset += column.feature_names().len();
        }
        Ok(encoded)
    }
}

fn is_sorted(values: &[String]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
}

impl TargetStatisticsCode {
    fn is_valid(&self) -> bool {
        let mut means = self.means.iter().chain(&self.gap_mean).chain([&self.prior]);
        is_sorted(&self.values)
            && self.values.len() == self.means.len()
            && means.all(|mean| mean.is_finite())
    }
}

impl DatesCode {
    fn is_valid(&self) -> bool {
        let mut weekdays = self.weekdays.iter();
        weekdays.all(|day| usize::from(*day) < WEEKDAY_NAMES.len())
            && self.hours.iter().all(|hour| *hour < 24)
    }
}
