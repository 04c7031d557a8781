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

use std::borrow::Cow;
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dataset, FeatureShape, Features, Matrix, check_names, csv};
use crate::error::{Error, InputPlace, Result};
use crate::text::plural;

mod calendar;
mod fit;
mod holidays;
mod options;
mod raw;

pub use options::FeatureOptions;
use raw::FeatureTable;
pub(crate) use raw::{
    RawCells, RawColumn, RawRows, RawTable, TIME_GAP, TableOrigin, TextCollector, is_gap, no_date,
};

use calendar::{WEEKDAY_NAMES, day_of, hour_of, weekday_of, year_fraction, year_of};
use fit::{TrainingCell, TrainingCells};
use raw::{TEXT_GAP, TextCells, number_text, truth_value};

/// Days of a mean year of the Gregorian calendar, the unit of trends.
const DAYS_PER_YEAR: f64 = 365.2425;

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
/// value: where there are any, an indicator is one of the features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum ColumnCode {
    /// The number itself, or the median of the training rows.
    Numbers { fill: f32, gaps: usize },
    /// 1 for true and 0 for false; a gap is the more frequent one.
    Booleans { fill: f32, gaps: usize },
    /// A column for each value, sorted; a gap is a value too.
    Categories { values: Vec<String>, gaps: usize },
    /// The smoothed mean cost of each value, sorted.
    TargetStatistics {
        values: Vec<String>,
        means: Vec<f64>,
        /// That of gaps, if training rows have any.
        gap_mean: Option<f64>,
        /// The mean of all training rows, for values that none of them has.
        prior: f64,
    },
    /// Parts of dates.
    Dates {
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
    },
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
            if let ColumnCode::Dates {
                holidays: Some(known),
                ..
            } = &mut column.code
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

    /// How the columns are read, so that their cells are what the encoding expects.
    pub(crate) fn reading_options(&self) -> FeatureOptions {
        let mut options = FeatureOptions::default();
        for (column, kind) in self.columns.iter().zip(self.cell_kinds()) {
            match kind {
                CellKind::Numbers => {}
                CellKind::Texts => options.categories.push(column.name.clone()),
                CellKind::Times => options.dates.push(column.name.clone()),
            }
        }
        options
    }

    /// The raw columns with what their cells must be.
    pub(crate) fn cell_kinds(&self) -> Vec<CellKind> {
        let kind = |column: &ColumnEncoding| match &column.code {
            ColumnCode::Numbers { .. } => CellKind::Numbers,
            ColumnCode::Booleans { .. }
            | ColumnCode::Categories { .. }
            | ColumnCode::TargetStatistics { .. } => CellKind::Texts,
            ColumnCode::Dates { .. } => CellKind::Times,
        };
        self.columns.iter().map(kind).collect()
    }

    /// Where each feature comes from.
    pub(crate) fn sources(&self) -> Vec<FeatureSource> {
        let mut sources = Vec::new();
        for (number, column) in self.columns.iter().enumerate() {
            let count = column.feature_names().len();
            let (kind, has_indicator) = match &column.code {
                ColumnCode::Numbers { gaps, .. } | ColumnCode::Booleans { gaps, .. } => {
                    (FeatureSourceKind::Number, *gaps > 0)
                }
                ColumnCode::TargetStatistics { .. } => (FeatureSourceKind::Number, false),
                ColumnCode::Categories { gaps, .. } => (FeatureSourceKind::Category, *gaps > 0),
                ColumnCode::Dates { gaps, .. } => (FeatureSourceKind::Date, *gaps > 0),
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
        let is_sorted = |values: &[String]| values.windows(2).all(|pair| pair[0] < pair[1]);
        for column in &self.columns {
            let is_valid = match &column.code {
                ColumnCode::Numbers { fill, .. } | ColumnCode::Booleans { fill, .. } => {
                    fill.is_finite()
                }
                ColumnCode::Categories { values, .. } => is_sorted(values),
                ColumnCode::TargetStatistics {
                    values,
                    means,
                    gap_mean,
                    prior,
                } => {
                    is_sorted(values)
                        && values.len() == means.len()
                        && means
                            .iter()
                            .chain(gap_mean)
                            .chain([prior])
                            .all(|m| m.is_finite())
                }
                ColumnCode::Dates {
                    weekdays, hours, ..
                } => {
                    weekdays
                        .iter()
                        .all(|day| usize::from(*day) < WEEKDAY_NAMES.len())
                        && hours.iter().all(|hour| *hour < 24)
                }
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

impl ColumnEncoding {
    fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let with_indicator = |mut names: Vec<String>, gaps: usize| {
            if gaps > 0 {
                names.push(format!("{name} is missing"));
            }
            names
        };
        match &self.code {
            ColumnCode::Numbers { gaps, .. } | ColumnCode::Booleans { gaps, .. } => {
                with_indicator(vec![name.clone()], *gaps)
            }
            ColumnCode::Categories { values, gaps } => {
                let names = values.iter().map(|value| format!("{name}={value}"));
                with_indicator(names.collect(), *gaps)
            }
            ColumnCode::TargetStatistics { .. } => vec![format!("{name} mean cost")],
            ColumnCode::Dates {
                weekdays,
                season,
                hours,
                trend_from,
                holidays,
                gaps,
                ..
            } => {
                let days = weekdays.iter();
                let mut names: Vec<String> = days
                    .map(|day| format!("{name} weekday={}", WEEKDAY_NAMES[usize::from(*day)]))
                    .collect();
                if *season {
                    names.extend(["sin", "cos"].map(|part| format!("{name} season {part}")));
                }
                names.extend(hours.iter().map(|hour| format!("{name} hour={hour}")));
                if trend_from.is_some() {
                    names.push(format!("{name} trend"));
                }
                if holidays.is_some() {
                    names.push(format!("{name} holiday"));
                }
                with_indicator(names, *gaps)
            }
        }
    }

    /// What happens to the column, for people; `None` where its numbers are used as they are.
    fn description(&self) -> Option<String> {
        let filled = |gaps: usize, value: &str| match gaps {
            0 => String::new(),
            gaps => format!(
                "{gaps} gap{} in the training rows, filled with {value} and indicated",
                plural(gaps)
            ),
        };
        Some(match &self.code {
            ColumnCode::Numbers { gaps: 0, .. } => return None,
            ColumnCode::Numbers { fill, gaps } => filled(*gaps, &format!("the median {fill}")),
            ColumnCode::Booleans { fill, gaps } => {
                let word = if *fill > 0.5 { "true" } else { "false" };
                joined(&["true or false", &filled(*gaps, word)])
            }
            ColumnCode::Categories { values, gaps } => {
                let missing = if *gaps > 0 { " and one for gaps" } else { "" };
                format!("one-hot, {} values{missing}", values.len())
            }
            ColumnCode::TargetStatistics { values, .. } => {
                format!(
                    "mean cost of the training rows by value, {} values",
                    values.len()
                )
            }
            ColumnCode::Dates {
                weekdays,
                season,
                hours,
                trend_from,
                holidays,
                days,
                gaps,
            } => {
                let mut parts = Vec::new();
                if !weekdays.is_empty() {
                    parts.push(format!("weekday ({} values)", weekdays.len()));
                }
                if *season {
                    parts.push("season".into());
                }
                if !hours.is_empty() {
                    parts.push(format!("hour ({} values)", hours.len()));
                }
                if trend_from.is_some() {
                    parts.push("trend".into());
                }
                if let Some(holidays) = holidays {
                    parts.push(format!("holiday ({} dates)", holidays.len()));
                }
                let parts = parts.join(", ");
                let gaps = match gaps {
                    0 => String::new(),
                    gaps => format!(
                        "{gaps} gap{} in the training rows, indicated",
                        plural(*gaps)
                    ),
                };
                let short = if *season {
                    String::new()
                } else {
                    format!("no season, as the training rows span {days} days")
                };
                joined(&[&parts, &gaps, &short])
            }
        })
    }
}

/// The parts that are not empty.
fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("; ")
}

/// Encoded rows.
struct EncodedRows {
    values: Vec<f32>,
    width: usize,
    /// What was handled, for people.
    notes: Vec<String>,
}

/// Rows in which something occurs.
#[derive(Default)]
struct Occurrences {
    count: usize,
    first: Option<usize>,
}

impl Occurrences {
    fn add(&mut self, row: usize) {
        self.count += 1;
        self.first.get_or_insert(row);
    }
}

impl RawRows {
    fn column(&self, name: &str) -> Result<&RawColumn> {
        let columns = &self.table().columns;
        columns
            .iter()
            .find(|column| column.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                Error::data(format!("the model expects the column '{name}'"))
                    .with_remedy(format!("the table has {}", names.join(", ")))
            })
    }

    /// A place with the file, if there is one.
    fn in_file(&self, place: InputPlace) -> InputPlace {
        match &self.table().origin {
            None => place,
            Some(origin) => InputPlace {
                file: Some(origin.path.clone()),
                ..place
            },
        }
    }

    fn cell_error(&self, row: usize, column: &str, message: &str) -> Error {
        let counted = if self.is_in_memory() {
            " (rows counted from 0)"
        } else {
            ""
        };
        Error::input(self.place(row, column), format!("{message}{counted}"))
    }
}

/// The cells of one column and their code.
struct ColumnCells<'a> {
    column: &'a ColumnEncoding,
    raw: &'a RawColumn,
    rows: &'a RawRows,
    refuse_gaps: bool,
}

impl ColumnCells<'_> {
    /// Refuses times whose clock is not known: weekdays and hours of another zone than that of the
    /// training would be wrong without a word.
    fn check_clock(&self) -> Result<()> {
        let (RawCells::Times(_), Some(origin)) = (&self.raw.cells, &self.rows.table().origin)
        else {
            return Ok(());
        };
        let name = &self.column.name;
        let Some(zone) = csv::time_zone_before_utc(&origin.path, name) else {
            return Ok(());
        };
        let place = InputPlace::file(&origin.path).column(name);
        let message = format!(
            "the times were written in the zone {zone}, but a Parquet file holds them in UTC: what \
             the clock showed is not known"
        );
        Err(Error::input(place, message).with_remedy(
            "write the times of the clock without a zone (in pandas dt.tz_localize(None)), or \
             leave the column out",
        ))
    }

    /// Writes the features of the column behind `offset` in every row.
    fn encode(&self, out: &mut EncodedRows, offset: usize) -> Result<()> {
        self.check_clock()?;
        match &self.column.code {
            ColumnCode::Numbers { fill, gaps } => self.encode_numbers(*fill, *gaps, out, offset),
            ColumnCode::Booleans { fill, gaps } => self.encode_booleans(*fill, *gaps, out, offset),
            ColumnCode::Categories { values, gaps } => {
                self.encode_categories(values, *gaps, out, offset)
            }
            ColumnCode::TargetStatistics {
                values,
                means,
                gap_mean,
                prior,
            } => {
                let mean = |text: Option<&str>| match text {
                    None => *gap_mean,
                    Some(text) => {
                        let found = values.binary_search_by(|value| value.as_str().cmp(text));
                        found.ok().map(|index| means[index])
                    }
                };
                self.encode_statistics(mean, *prior, out, offset)
            }
            ColumnCode::Dates { .. } => self.encode_dates(out, offset),
        }
    }

    /// The rows that exist, with their rows in the raw table.
    fn existing_rows(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = 0..self.rows.len();
        rows.filter_map(|row| self.rows.row(row).map(|source| (row, source)))
    }

    fn wrong_kind(&self, found: &str, expected: &str) -> Error {
        let message = format!("the column holds {found}, but the model expects {expected}");
        let place = self
            .rows
            .in_file(InputPlace::default().column(&self.column.name));
        Error::input(place, message)
    }

    /// The error of a column of texts where the model expects numbers, with the first text that is
    /// none.
    fn no_numbers(&self, texts: &TextCells) -> Error {
        let mut cells = self.existing_rows().map(|(row, source)| {
            let text = texts.values.get(texts.codes[source] as usize);
            (row, text.map_or("", String::as_str))
        });
        let is_text = |(_, text): &(usize, &str)| !text.is_empty() && text.parse::<f64>().is_err();
        match cells.find(is_text) {
            Some((row, text)) => {
                let message = format!("'{text}' is text, but the model expects numbers");
                self.rows.cell_error(row, &self.column.name, &message)
            }
            None => self.wrong_kind("text", "numbers"),
        }
    }

    fn check_gap(&self, row: usize) -> Result<()> {
        if !self.refuse_gaps {
            return Ok(());
        }
        let error = self
            .rows
            .cell_error(row, &self.column.name, "the value is missing");
        Err(error.with_remedy("fill it in, leave the row out, or let gaps be filled"))
    }

    /// Notes gaps where the training rows had none, so that there is no indicator.
    fn note_gaps(&self, gaps: &Occurrences, filled: &str, out: &mut EncodedRows) {
        self.note(
            gaps,
            &format!("the value is missing, which it never is in the training rows: {filled}"),
            out,
        );
    }

    fn note_unseen(&self, unseen: &Occurrences, text: &str, out: &mut EncodedRows) {
        self.note(unseen, text, out);
    }

    fn note(&self, found: &Occurrences, text: &str, out: &mut EncodedRows) {
        if let Some(first) = found.first {
            let (place, rows) = (self.rows.place(first, &self.column.name), self.rows.len());
            let counted = if self.rows.is_in_memory() {
                ", rows counted from 0"
            } else {
                ""
            };
            out.notes.push(format!(
                "{place}: {text} ({} of {rows} rows{counted})",
                found.count
            ));
        }
    }

    fn encode_numbers(
        &self,
        fill: f32,
        gaps: usize,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let table = self.rows.table();
        let mut missing = Occurrences::default();
        for (row, source) in self.existing_rows() {
            let number = match &self.raw.cells {
                RawCells::Numbers { slot } => table.numbers[source * table.width + slot],
                RawCells::Texts(texts) if texts.codes[source] == TEXT_GAP => f32::NAN,
                RawCells::Texts(texts) => return Err(self.no_numbers(texts)),
                RawCells::Times(times) if times[source] == TIME_GAP => f32::NAN,
                RawCells::Times(_) => return Err(self.wrong_kind("dates", "numbers")),
            };
            let at = row * out.width + offset;
            if number.is_nan() {
                self.check_gap(row)?;
                out.values[at] = fill;
                if gaps > 0 {
                    out.values[at + 1] = 1.0;
                } else {
                    missing.add(row);
                }
            } else {
                out.values[at] = number;
            }
        }
        self.note_gaps(&missing, &format!("it is taken as the median {fill}"), out);
        Ok(())
    }

    /// The text of a cell; `None` where there is a gap.
    fn text(&self, source: usize) -> Option<Cow<'_, str>> {
        let table = self.rows.table();
        match &self.raw.cells {
            RawCells::Texts(texts) => match texts.codes[source] {
                TEXT_GAP => None,
                code => Some(Cow::Borrowed(texts.values[code as usize].as_str())),
            },
            RawCells::Numbers { slot } => {
                let number = table.numbers[source * table.width + slot];
                (!number.is_nan()).then(|| Cow::Owned(number_text(number)))
            }
            RawCells::Times(times) => {
                let time = times[source];
                (time != TIME_GAP).then(|| Cow::Owned(calendar::date_text(day_of(time))))
            }
        }
    }

    fn encode_booleans(
        &self,
        fill: f32,
        gaps: usize,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let at = row * out.width + offset;
            let text = self.text(source);
            let truth = text.as_deref().map(|text| match text {
                "1" => Some(true),
                "0" => Some(false),
                word => truth_value(word),
            });
            match truth {
                Some(Some(truth)) => out.values[at] = f32::from(u8::from(truth)),
                Some(None) => {
                    out.values[at] = fill;
                    unseen.add(row);
                }
                None => {
                    self.check_gap(row)?;
                    out.values[at] = fill;
                    if gaps > 0 {
                        out.values[at + 1] = 1.0;
                    } else {
                        missing.add(row);
                    }
                }
            }
        }
        let filled = format!(
            "it is taken as {}",
            if fill > 0.5 { "true" } else { "false" }
        );
        self.note_gaps(&missing, &filled, out);
        self.note_first_text(
            &unseen,
            &format!("is neither true nor false: {filled}"),
            out,
        );
        Ok(())
    }

    /// Notes rows with a text that is not known, with the first one.
    fn note_first_text(&self, found: &Occurrences, text: &str, out: &mut EncodedRows) {
        let first = found.first.and_then(|row| self.rows.row(row));
        if let Some(value) = first.and_then(|source| self.text(source)) {
            let shown: String = value.chars().take(40).collect();
            self.note_unseen(found, &format!("'{shown}' {text}"), out);
        }
    }

    fn encode_categories(
        &self,
        values: &[String],
        gaps: usize,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let index = |text: &str| {
            values
                .binary_search_by(|value| value.as_str().cmp(text))
                .ok()
        };
        // Every distinct text is searched once.
        let indices: Vec<Option<usize>> = match &self.raw.cells {
            RawCells::Texts(texts) => texts.values.iter().map(|text| index(text)).collect(),
            RawCells::Numbers { .. } | RawCells::Times(_) => Vec::new(),
        };
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let at = row * out.width + offset;
            let found = match &self.raw.cells {
                RawCells::Texts(texts) => match texts.codes[source] {
                    TEXT_GAP => None,
                    code => Some(indices[code as usize]),
                },
                RawCells::Numbers { .. } | RawCells::Times(_) => {
                    self.text(source).map(|text| index(&text))
                }
            };
            match found {
                Some(Some(index)) => out.values[at + index] = 1.0,
                Some(None) => unseen.add(row),
                None => {
                    self.check_gap(row)?;
                    if gaps > 0 {
                        out.values[at + values.len()] = 1.0;
                    } else {
                        missing.add(row);
                    }
                }
            }
        }
        let zeros = "all its columns are 0";
        self.note_gaps(&missing, zeros, out);
        let text = format!("is a value that no training row has: {zeros}");
        self.note_first_text(&unseen, &text, out);
        Ok(())
    }

    fn encode_statistics(
        &self,
        mean: impl Fn(Option<&str>) -> Option<f64>,
        prior: f64,
        out: &mut EncodedRows,
        offset: usize,
    ) -> Result<()> {
        let mut known: HashMap<Option<String>, Option<f64>> = HashMap::new();
        let (mut missing, mut unseen) = (Occurrences::default(), Occurrences::default());
        for (row, source) in self.existing_rows() {
            let text = self.text(source).map(Cow::into_owned);
            if text.is_none() {
                self.check_gap(row)?;
            }
            let is_gap = text.is_none();
            let found = known
                .entry(text)
                .or_insert_with_key(|text| mean(text.as_deref()));
            match found {
                Some(_) => {}
                None if is_gap => missing.add(row),
                None => unseen.add(row),
            }
            out.values[row * out.width + offset] = found.unwrap_or(prior) as f32;
        }
        let taken = "the mean cost of all training rows is taken";
        self.note_gaps(&missing, taken, out);
        let text = format!("is a value that no training row has: {taken}");
        self.note_first_text(&unseen, &text, out);
        Ok(())
    }

    /// The time of a cell; `None` where there is a gap.
    fn time(&self, row: usize, source: usize) -> Result<Option<i64>> {
        match &self.raw.cells {
            RawCells::Times(times) => Ok(Some(times[source]).filter(|time| *time != TIME_GAP)),
            RawCells::Numbers { slot } => {
                let table = self.rows.table();
                if table.numbers[source * table.width + slot].is_nan() {
                    return Ok(None);
                }
                Err(self.wrong_kind("numbers", "dates"))
            }
            RawCells::Texts(texts) => match texts.codes[source] {
                TEXT_GAP => Ok(None),
                code => {
                    let text = &texts.values[code as usize];
                    let time = super::row_times::wall_clock_seconds(text);
                    let error = || self.rows.cell_error(row, &self.column.name, &no_date(text));
                    time.map(Some).ok_or_else(error)
                }
            },
        }
    }

    fn encode_dates(&self, out: &mut EncodedRows, offset: usize) -> Result<()> {
        let ColumnCode::Dates {
            weekdays,
            season,
            hours,
            trend_from,
            holidays,
            gaps,
            ..
        } = &self.column.code
        else {
            return Ok(());
        };
        let mut missing = Occurrences::default();
        let mut unseen_day = Occurrences::default();
        let mut unseen_hour = Occurrences::default();
        let mut beyond = Occurrences::default();
        let years = holidays
            .as_ref()
            .and_then(|days| Some([year_of(*days.first()?), year_of(*days.last()?)]));
        for (row, source) in self.existing_rows() {
            let mut at = row * out.width + offset;
            let Some(time) = self.time(row, source)? else {
                self.check_gap(row)?;
                if *gaps > 0 {
                    let width = self.column.feature_names().len();
                    out.values[at + width - 1] = 1.0;
                } else {
                    missing.add(row);
                }
                continue;
            };
            let weekday = weekday_of(time);
            match weekdays.iter().position(|known| *known == weekday) {
                Some(index) => out.values[at + index] = 1.0,
                None if weekdays.is_empty() => {}
                None => unseen_day.add(row),
            }
            at += weekdays.len();
            if *season {
                let angle = TAU * year_fraction(time);
                out.values[at] = angle.sin() as f32;
                out.values[at + 1] = angle.cos() as f32;
                at += 2;
            }
            let hour = hour_of(time);
            match hours.iter().position(|known| *known == hour) {
                Some(index) => out.values[at + index] = 1.0,
                None if hours.is_empty() => {}
                None => unseen_hour.add(row),
            }
            at += hours.len();
            if let Some(first) = trend_from {
                let days = (day_of(time) - first) as f64;
                out.values[at] = (days / DAYS_PER_YEAR) as f32;
                at += 1;
            }
            if let Some(holidays) = holidays {
                let day = day_of(time);
                out.values[at] = f32::from(u8::from(holidays.binary_search(&day).is_ok()));
                if years.is_none_or(|[first, last]| !(first..=last).contains(&year_of(day))) {
                    beyond.add(row);
                }
            }
        }
        self.note_gaps(&missing, "its columns are 0", out);
        let zeros = "its columns are 0";
        self.note(
            &unseen_day,
            &format!("a weekday that no training row has: {zeros}"),
            out,
        );
        self.note(
            &unseen_hour,
            &format!("an hour that no training row has: {zeros}"),
            out,
        );
        let text = "a date in a year without any given holiday: it counts as none";
        self.note(&beyond, text, out);
        Ok(())
    }
}

/// The state of features that are or will be encoded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawFeatures {
    pub rows: RawRows,
    /// The encoding that the values were made with; none before the table is divided.
    pub encoding: Option<Arc<FeatureEncoding>>,
    /// Whether training rows have target statistics of the other folds, not those of the encoding.
    is_cross_fitted: bool,
    notes: Arc<Vec<String>>,
}

impl RawFeatures {
    /// The listed rows of features.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            rows: self.rows.select(rows),
            ..self.clone()
        }
    }
}

impl Features {
    /// Columns of numbers, texts and dates in memory, from which the features of a table or of a
    /// row are made.
    ///
    /// ```
    /// use regretless::data::{FeatureOptions, Features};
    ///
    /// let features = Features::builder()
    ///     .numbers("temperature", vec![12.5, f32::NAN])
    ///     .texts("shop", [Some("north"), Some("south")])
    ///     .dates("date", [Some("2026-01-30"), Some("2026-01-31")])?
    ///     .features(FeatureOptions::default())?;
    /// assert_eq!(features.instances(), 2);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    pub fn builder() -> FeatureTable {
        FeatureTable::default()
    }

    /// Features of raw columns; they are plain features where all columns are numbers without gaps.
    pub(crate) fn from_raw_table(table: RawTable, shape: FeatureShape) -> Result<Self> {
        let names: Vec<String> = table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        check_names(&names, "feature")?;
        if let Some(pattern) = table.options.unmatched_pattern(&names) {
            return Err(Error::setting(format!("no feature is named '{pattern}'"))
                .with_remedy(format!("the features are {}", names.join(", "))));
        }
        if table.columns.is_empty() || table.is_plain() {
            let values = Matrix::new(table.rows, table.width, table.numbers)?;
            return Self::new(values, shape, Some(names));
        }
        Ok(Self::from_raw_rows(RawRows::all(table), shape))
    }

    /// The raw columns that are not encoded yet, or else the features themselves.
    pub(crate) fn into_raw_rows(self) -> std::result::Result<RawRows, Self> {
        match self.raw {
            Some(raw) if raw.encoding.is_none() => Ok(raw.rows),
            raw => Err(Self { raw, ..self }),
        }
    }

    /// The values alone.
    pub(crate) fn into_values(self) -> Matrix {
        self.values
    }

    pub(crate) fn from_raw_rows(rows: RawRows, shape: FeatureShape) -> Self {
        Self {
            values: Matrix::zeros(rows.len(), 0),
            shape,
            names: Vec::new(),
            raw: Some(Box::new(RawFeatures {
                rows,
                encoding: None,
                is_cross_fitted: false,
                notes: Arc::new(Vec::new()),
            })),
        }
    }

    /// Whether the features are raw columns that are not encoded yet.
    pub fn are_raw(&self) -> bool {
        self.raw.as_ref().is_some_and(|raw| raw.encoding.is_none())
    }

    /// Names of the columns of the table: those of the raw ones, if there are any.
    pub fn column_names(&self) -> Vec<String> {
        match &self.raw {
            None => self.names.clone(),
            Some(raw) => {
                let columns = raw.rows.table().columns.iter();
                columns.map(|column| column.name.clone()).collect()
            }
        }
    }

    /// The encoding that the features were made with.
    pub fn encoding(&self) -> Option<&Arc<FeatureEncoding>> {
        self.raw.as_ref().and_then(|raw| raw.encoding.as_ref())
    }

    /// Where each feature comes from.
    pub(crate) fn sources(&self) -> Vec<FeatureSource> {
        let plain = |column: usize| FeatureSource {
            column,
            kind: FeatureSourceKind::Number,
        };
        match self.encoding() {
            None => (0..self.names.len()).map(plain).collect(),
            Some(encoding) => encoding.sources(),
        }
    }

    /// Values that no training row has and gaps that were handled in encoding, for people: one
    /// sentence for each column with the number of rows and the place of the first.
    pub fn encoding_notes(&self) -> &[String] {
        self.raw.as_ref().map_or(&[], |raw| raw.notes.as_slice())
    }

    /// The same raw columns, encoded; plain features may be the columns of an encoding whose
    /// columns are numbers.
    ///
    /// # Errors
    /// When a column is missing or holds something else, or a cell is a gap where none is allowed.
    pub fn encode_by(&self, encoding: &Arc<FeatureEncoding>) -> Result<Self> {
        let rows = match &self.raw {
            Some(raw) => raw.rows.clone(),
            None => self.as_raw_rows(),
        };
        let encoded = encoding.encode(&rows)?;
        self.with_encoded(rows, encoding, encoded)
    }

    fn with_encoded(
        &self,
        rows: RawRows,
        encoding: &Arc<FeatureEncoding>,
        encoded: EncodedRows,
    ) -> Result<Self> {
        let values = Matrix::new(rows.len(), encoded.width, encoded.values)?;
        let mut features = Self::new(values, self.shape, Some(encoding.feature_names()))?;
        features.raw = Some(Box::new(RawFeatures {
            rows,
            encoding: Some(Arc::clone(encoding)),
            is_cross_fitted: false,
            notes: Arc::new(encoded.notes),
        }));
        Ok(features)
    }

    /// Plain numbers as raw columns.
    fn as_raw_rows(&self) -> RawRows {
        let columns = self.names.iter().enumerate();
        let columns = columns.map(|(slot, name)| RawColumn {
            name: name.clone(),
            cells: RawCells::Numbers { slot },
        });
        RawRows::all(RawTable {
            columns: columns.collect(),
            numbers: self.values.as_slice().to_vec(),
            width: self.values.cols(),
            rows: self.values.rows(),
            options: FeatureOptions::default(),
            origin: None,
        })
    }

    /// The features under another encoding, or that of a model without one; borrowed where they
    /// are those already.
    ///
    /// # Errors
    /// As [`Features::encode_by`], and when raw columns are given to a model of numbers.
    pub(crate) fn encoded_for(
        &self,
        encoding: Option<&Arc<FeatureEncoding>>,
    ) -> Result<Cow<'_, Self>> {
        match (&self.raw, encoding) {
            (None, None) => Ok(Cow::Borrowed(self)),
            (Some(raw), Some(encoding)) => {
                let is_same = !raw.is_cross_fitted
                    && raw
                        .encoding
                        .as_ref()
                        .is_some_and(|known| Arc::ptr_eq(known, encoding) || known == encoding);
                if is_same {
                    return Ok(Cow::Borrowed(self));
                }
                self.encode_by(encoding).map(Cow::Owned)
            }
            // Plain features under the encoded names are encoded already.
            (None, Some(encoding)) if self.names == encoding.feature_names() => {
                Ok(Cow::Borrowed(self))
            }
            (None, Some(encoding)) => self.encode_by(encoding).map(Cow::Owned),
            (Some(raw), None) if raw.encoding.is_some() => Ok(Cow::Borrowed(self)),
            (Some(raw), None) => self.plain_columns(raw).map(Cow::Owned),
        }
    }

    /// Raw columns for a model that was trained on numbers alone: gaps and texts are errors.
    fn plain_columns(&self, raw: &RawFeatures) -> Result<Self> {
        let table = raw.rows.table();
        let mut slots = Vec::new();
        for column in &table.columns {
            match &column.cells {
                RawCells::Numbers { slot } => slots.push(*slot),
                RawCells::Texts(_) | RawCells::Times(_) => {
                    let place = InputPlace::default().column(&column.name);
                    return Err(Error::input(
                        raw.rows.in_file(place),
                        "the column holds text or dates, but the model was trained on numbers",
                    ));
                }
            }
        }
        let mut values = Vec::with_capacity(raw.rows.len() * slots.len());
        for row in 0..raw.rows.len() {
            let source = raw.rows.row(row);
            for (slot, column) in slots.iter().zip(&table.columns) {
                let number = source.map_or(0.0, |row| table.numbers[row * table.width + slot]);
                if number.is_nan() {
                    let message = "the value is missing, but the model was trained without gaps";
                    return Err(raw.rows.cell_error(row, &column.name, message));
                }
                values.push(number);
            }
        }
        let values = Matrix::new(raw.rows.len(), slots.len(), values)?;
        Self::new(values, self.shape, Some(self.column_names()))
    }

    /// The features of a model's raw columns as numbers in their order.
    pub(crate) fn from_raw_numbers(
        values: &[f64],
        shape: FeatureShape,
        encoding: &Arc<FeatureEncoding>,
    ) -> Result<Self> {
        if !encoding.has_numbers_only() {
            let kinds = encoding
                .cell_kinds()
                .into_iter()
                .zip(encoding.column_names());
            let others: Vec<String> = kinds
                .filter(|(kind, _)| *kind != CellKind::Numbers)
                .map(|(_, name)| name)
                .collect();
            return Err(Error::data(format!(
                "the model has columns that are no numbers: {}",
                others.join(", ")
            ))
            .with_remedy("build the row with `Features::builder`"));
        }
        let names = encoding.column_names();
        let values = Matrix::from_f64(shape.rows_per_instance(), names.len(), values)?;
        let plain = Self {
            values,
            shape,
            names,
            raw: None,
        };
        plain.encode_by(encoding)
    }
}

impl FeatureOptions {
    /// The first pattern that matches none of these names.
    fn unmatched_pattern(&self, names: &[String]) -> Option<&str> {
        let is_matched = |pattern: &str| {
            names
                .iter()
                .any(|name| crate::text::matches_pattern(pattern, name))
        };
        self.patterns().find(|pattern| !is_matched(pattern))
    }
}

impl RawTable {
    /// Whether all columns are numbers without gaps that are used as they are.
    fn is_plain(&self) -> bool {
        let is_number = |column: &RawColumn| {
            matches!(column.cells, RawCells::Numbers { .. }) && !self.options.is_text(&column.name)
        };
        self.width == self.columns.len()
            && self.columns.iter().all(is_number)
            && !self.numbers.iter().any(|number| number.is_nan())
    }
}

impl Dataset {
    /// The features of this table, encoded by what its training rows say; `None` where there is
    /// nothing to encode. `train` are the numbers of the training instances.
    ///
    /// # Errors
    /// When no feature is left, or a gap is refused.
    pub fn encoded_features(&self, train: &[usize]) -> Result<Option<Features>> {
        let Some(raw) = self
            .features
            .raw
            .as_ref()
            .filter(|raw| raw.encoding.is_none())
        else {
            return Ok(None);
        };
        let cells = TrainingCells {
            rows: &raw.rows,
            train: self.training_cells(&raw.rows, train),
        };
        let encoding = Arc::new(cells.fit()?);
        let mut encoded = encoding.encode(&raw.rows)?;
        let mut is_cross_fitted = false;
        let mut offset = 0;
        for column in &encoding.columns {
            for (row, value) in cells.cross_fitted(column).into_iter().flatten() {
                is_cross_fitted = true;
                encoded.values[row * encoded.width + offset] = value;
            }
            offset += column.feature_names().len();
        }
        let mut features = self
            .features
            .with_encoded(raw.rows.clone(), &encoding, encoded)?;
        if let Some(raw) = &mut features.raw {
            raw.is_cross_fitted = is_cross_fitted;
        }
        Ok(Some(features))
    }

    /// The same table with its features encoded by what its training rows say.
    ///
    /// # Errors
    /// As [`Dataset::encoded_features`].
    pub fn encoded(self, train: &[usize]) -> Result<Self> {
        match self.encoded_features(train)? {
            None => Ok(self),
            Some(features) => Ok(self.with_features(features)),
        }
    }

    /// The same table with other features of its rows.
    pub(crate) fn with_features(self, features: Features) -> Self {
        Self { features, ..self }
    }

    fn training_cells(&self, rows: &RawRows, train: &[usize]) -> Vec<TrainingCell> {
        let size = self.features.shape.rows_per_instance();
        let mut cells = Vec::with_capacity(train.len() * size);
        for (position, instance) in train.iter().enumerate() {
            let costs = self.costs.row(*instance);
            for item in 0..size {
                let row = instance * size + item;
                let Some(source) = rows.row(row) else {
                    continue;
                };
                let target = match self.features.shape {
                    FeatureShape::Wide => mean_of_existing(costs),
                    FeatureShape::Long { .. } => f64::from(costs[item]),
                };
                cells.push(TrainingCell {
                    row,
                    source,
                    position,
                    target,
                });
            }
        }
        cells
    }
}

/// The mean of the costs that exist; NaN if none does.
fn mean_of_existing(costs: &[f32]) -> f64 {
    let existing = costs.iter().filter(|cost| cost.is_finite());
    let (mut sum, mut count) = (0.0, 0.0);
    for cost in existing {
        sum += f64::from(*cost);
        count += 1.0;
    }
    sum / count
}
