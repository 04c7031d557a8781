//! Fits an encoding on the training rows, and on no others.
//!
//! Target statistics are means of the training costs, drawn towards the mean of all training rows
//! if a value is rare (Micci-Barreca 2001, "A preprocessing scheme for high-cardinality categorical
//! attributes"). A training row must not see its own cost in its features: its value is the mean
//! over the other folds of the training rows (cross-fitting, as in scikit-learn's `TargetEncoder`).

use std::collections::{BTreeMap, BTreeSet};

use super::calendar::{day_of, day_of_month, hour_of, weekday_of};
use super::options::DateParts;
use super::raw::{RawCells, RawColumn, RawRows, TEXT_GAP, TIME_GAP, number_text, truth_value};
use super::{
    ColumnCode, ColumnEncoding, DatesCode, FeatureEncoding, NumberCode, TargetStatisticsCode,
    UnencodedColumn,
};
use crate::error::{Error, InputPlace, Result};

/// Most values of a text that become categories without being asked for. Untuned: more columns
/// than that are rarely worth their parameters, and identifiers have more values.
const MAX_AUTOMATIC_CATEGORIES: usize = 100;
/// Training rows per value that a text needs on average to become categories without being asked
/// for. Untuned: with fewer, most values occur once, as those of an identifier do.
const MIN_ROWS_PER_CATEGORY: usize = 2;
/// Most categories that users can ask for: bounds the memory, as each one is a column.
const MAX_CATEGORIES: usize = 1000;
/// Training rows that the mean of all rows counts as in the mean of a value. Untuned; 10 is the
/// default of common implementations.
const PRIOR_ROWS: f64 = 10.0;
/// Folds of the training rows for target statistics, as in scikit-learn.
const FOLDS: usize = 5;
/// Days between the first and the last training row from which seasons are used: with less than a
/// year, a season cannot be told from a trend, and the rest of the year is extrapolated.
const MIN_SEASON_DAYS: i64 = 365;
/// Different training days from which weekdays are used: two weeks.
const MIN_WEEKDAY_DAYS: usize = 14;

/// The training rows that an encoding is fitted on.
pub(super) struct TrainingCells<'a> {
    pub rows: &'a RawRows,
    /// Rows of features.
    pub train: Vec<TrainingCell>,
}

/// One training row of features.
pub(super) struct TrainingCell {
    /// Its number among all rows of features.
    pub row: usize,
    /// Its row in the raw table.
    pub source: usize,
    /// The position of its instance among the training instances.
    pub position: usize,
    /// The mean of its costs; for a long table, its cost. NaN if it has none.
    pub target: f64,
}

impl TrainingCells<'_> {
    /// The encoding of all columns.
    ///
    /// # Errors
    /// When options name columns that do not exist or do not fit, or no feature is left.
    pub fn fit(&self) -> Result<FeatureEncoding> {
        let table = self.rows.table();
        let mut encoding = FeatureEncoding {
            columns: Vec::new(),
            unused: Vec::new(),
            refuse_gaps: table.options.refuse_gaps,
        };
        for column in &table.columns {
            match self.fit_column(column)? {
                Fitted::Used(code) => encoding.columns.push(ColumnEncoding {
                    name: column.name.clone(),
                    code,
                }),
                Fitted::Unused(reason) => encoding.unused.push(UnencodedColumn {
                    column: column.name.clone(),
                    reason,
                }),
            }
        }
        if encoding.columns.is_empty() {
            let reasons: Vec<String> = encoding
                .unused
                .iter()
                .map(|unused| format!("{} ({})", unused.column, unused.reason))
                .collect();
            return Err(Error::data("no column is left for the features")
                .with_remedy(format!("not used: {}", reasons.join(", "))));
        }
        Ok(encoding)
    }

    fn fit_column(&self, column: &RawColumn) -> Result<Fitted> {
        let options = &self.rows.table().options;
        match &column.cells {
            RawCells::Numbers { slot } if !options.is_text(&column.name) => {
                Ok(self.fit_numbers(*slot))
            }
            RawCells::Times(times) if !options.is_text(&column.name) => {
                self.fit_dates(&column.name, times)
            }
            RawCells::Numbers { .. } | RawCells::Texts(_) | RawCells::Times(_) => {
                self.fit_texts(column)
            }
        }
    }

    /// Median of the training rows; the lower one of two, which is a value that occurs.
    fn fit_numbers(&self, slot: usize) -> Fitted {
        let table = self.rows.table();
        let number = |cell: &TrainingCell| table.numbers[cell.source * table.width + slot];
        let mut known: Vec<f32> = self.train.iter().map(number).collect();
        known.retain(|number| !number.is_nan());
        let gaps = self.train.len() - known.len();
        if known.is_empty() {
            return Fitted::empty();
        }
        // Without gaps the median is needed for gaps of later rows.
        let middle = (known.len() - 1) / 2;
        let (_, median, _) = known.select_nth_unstable_by(middle, f32::total_cmp);
        Fitted::Used(ColumnCode::Numbers(NumberCode {
            fill: *median,
            gaps,
        }))
    }

    fn fit_texts(&self, column: &RawColumn) -> Result<Fitted> {
        let options = &self.rows.table().options;
        let texts = self.texts_of(column);
        let gaps = texts.iter().filter(|text| text.is_none()).count();
        let values: BTreeSet<&str> = texts.iter().flatten().map(String::as_str).collect();
        if values.is_empty() {
            return Ok(Fitted::empty());
        }
        if options.has_target_statistics(&column.name) {
            let code = self.fit_statistics(&texts).full();
            return Ok(Fitted::Used(ColumnCode::TargetStatistics(code)));
        }
        let is_chosen = options.is_category(&column.name);
        // One value and gaps are two cases, of which a model can learn.
        if values.len() == 1 && gaps == 0 {
            return Ok(Fitted::Unused("one value only".into()));
        }
        if !is_chosen && values.iter().all(|value| truth_value(value).is_some()) {
            let truths = texts.iter().flatten().filter_map(|text| truth_value(text));
            let known = self.train.len() - gaps;
            let is_mostly_true = 2 * truths.filter(|truth| *truth).count() > known;
            return Ok(Fitted::Used(ColumnCode::Booleans(NumberCode {
                fill: f32::from(u8::from(is_mostly_true)),
                gaps,
            })));
        }
        let count = values.len();
        if is_chosen && count > MAX_CATEGORIES {
            let place = InputPlace::default().column(&column.name);
            return Err(Error::input(
                self.rows.in_file(place),
                format!(
                    "{count} different values are too many for categories, of which there are at \
                     most {MAX_CATEGORIES}"
                ),
            )
            .with_remedy("use `target_statistics` for this column"));
        }
        // Names of rows would be learned by heart, and say nothing about new rows.
        let is_identifier =
            count > MAX_AUTOMATIC_CATEGORIES || count * MIN_ROWS_PER_CATEGORY > self.train.len();
        if !is_chosen && is_identifier {
            let rows = self.train.len();
            return Ok(Fitted::Unused(format!(
                "text with {count} values in {rows} training rows, as an identifier; \
                 `target_statistics` or `categories` uses it"
            )));
        }
        let values = values.into_iter().map(str::to_owned).collect();
        Ok(Fitted::Used(ColumnCode::Categories { values, gaps }))
    }

    /// The texts of the training rows; `None` if there is a gap.
    fn texts_of(&self, column: &RawColumn) -> Vec<Option<String>> {
        let table = self.rows.table();
        let text = |cell: &TrainingCell| match &column.cells {
            RawCells::Texts(texts) => match texts.codes[cell.source] {
                TEXT_GAP => None,
                code => Some(texts.values[code as usize].clone()),
            },
            RawCells::Numbers { slot } => {
                let number = table.numbers[cell.source * table.width + slot];
                (!number.is_nan()).then(|| number_text(number))
            }
            RawCells::Times(times) => {
                let time = times[cell.source];
                (time != TIME_GAP).then(|| super::calendar::date_text(day_of(time)))
            }
        };
        self.train.iter().map(text).collect()
    }

    fn fit_statistics(&self, texts: &[Option<String>]) -> TargetStatistics {
        let mut statistics = TargetStatistics::default();
        for (cell, text) in self.train.iter().zip(texts) {
            if cell.target.is_finite() {
                // Position modulo folds, not a draw: an encoding does not depend on the seed of a
                // training.
                let fold = cell.position % FOLDS;
                statistics.all[fold].add(cell.target);
                let folds = statistics.values.entry(text.clone()).or_default();
                folds[fold].add(cell.target);
            }
        }
        statistics
    }

    /// The values of the training rows in a column of target statistics, each from the other folds;
    /// `None` for other columns.
    pub fn cross_fitted(&self, column: &ColumnEncoding) -> Option<Vec<(usize, f32)>> {
        let ColumnCode::TargetStatistics(_) = &column.code else {
            return None;
        };
        let raw = self.rows.table().columns.iter();
        let raw = raw.clone().find(|raw| raw.name == column.name)?;
        let texts = self.texts_of(raw);
        let statistics = self.fit_statistics(&texts);
        let value = |(cell, text): (&TrainingCell, &Option<String>)| {
            let value = statistics.without_fold(text, cell.position % FOLDS);
            (cell.row, value as f32)
        };
        Some(self.train.iter().zip(&texts).map(value).collect())
    }

    fn fit_dates(&self, name: &str, times: &[i64]) -> Result<Fitted> {
        let options = &self.rows.table().options;
        let known: Vec<i64> = self.train.iter().map(|cell| times[cell.source]).collect();
        let known: Vec<i64> = known.into_iter().filter(|time| *time != TIME_GAP).collect();
        let gaps = self.train.len() - known.len();
        let days: BTreeSet<i64> = known.iter().map(|time| day_of(*time)).collect();
        let (Some(first), Some(last)) = (days.first(), days.last()) else {
            return Ok(Fitted::empty());
        };
        let hours: BTreeSet<u8> = known.iter().map(|time| hour_of(*time)).collect();
        let weekdays: BTreeSet<u8> = known.iter().map(|time| weekday_of(*time)).collect();
        let chosen = options.date_parts(name);
        let parts = chosen.unwrap_or_else(|| {
            let months: BTreeSet<i64> = days.iter().map(|day| day_of_month(*day)).collect();
            DateParts {
                // Dates on one day of the month are those of months.
                weekday: days.len() >= MIN_WEEKDAY_DAYS && months.len() > 1 && weekdays.len() > 1,
                season: last - first >= MIN_SEASON_DAYS,
                hour: hours.len() > 1,
                // It extrapolates beyond all training rows: used only if it is asked for.
                trend: false,
                holiday: !options.holidays.is_empty(),
            }
        });
        if parts == DateParts::default() {
            return Ok(Fitted::Unused(format!(
                "dates of {} days, too few for weekdays and seasons",
                days.len()
            )));
        }
        let holidays = options.holiday_days()?;
        Ok(Fitted::Used(ColumnCode::Dates(DatesCode {
            weekdays: if parts.weekday {
                weekdays.into_iter().collect()
            } else {
                Vec::new()
            },
            season: parts.season,
            hours: if parts.hour {
                hours.into_iter().collect()
            } else {
                Vec::new()
            },
            trend_from: parts.trend.then_some(*first),
            holidays: parts.holiday.then_some(holidays),
            days: last - first + 1,
            gaps,
        })))
    }
}

enum Fitted {
    Used(ColumnCode),
    /// Not used, and why.
    Unused(String),
}

impl Fitted {
    fn empty() -> Self {
        Self::Unused("empty in all training rows".into())
    }
}

/// Sums of training costs by value and fold.
#[derive(Default)]
struct TargetStatistics {
    values: BTreeMap<Option<String>, [CostSum; FOLDS]>,
    all: [CostSum; FOLDS],
}

#[derive(Debug, Clone, Copy, Default)]
struct CostSum {
    sum: f64,
    count: f64,
}

impl CostSum {
    fn add(&mut self, cost: f64) {
        self.sum += cost;
        self.count += 1.0;
    }

    /// The sum of all folds but one.
    fn of_folds(folds: &[Self; FOLDS], without: Option<usize>) -> Self {
        let mut total = Self::default();
        for (number, fold) in folds.iter().enumerate() {
            if without != Some(number) {
                total.sum += fold.sum;
                total.count += fold.count;
            }
        }
        total
    }

    fn mean(self) -> f64 {
        if self.count > 0.0 {
            self.sum / self.count
        } else {
            0.0
        }
    }

    fn smoothed(self, prior: f64) -> f64 {
        (self.sum + PRIOR_ROWS * prior) / (self.count + PRIOR_ROWS)
    }
}

impl TargetStatistics {
    fn full(&self) -> TargetStatisticsCode {
        let prior = CostSum::of_folds(&self.all, None).mean();
        let mean = |folds: &[CostSum; FOLDS]| CostSum::of_folds(folds, None).smoothed(prior);
        let (mut values, mut means, mut gap_mean) = (Vec::new(), Vec::new(), None);
        for (value, folds) in &self.values {
            match value {
                Some(value) => {
                    values.push(value.clone());
                    means.push(mean(folds));
                }
                None => gap_mean = Some(mean(folds)),
            }
        }
        TargetStatisticsCode {
            values,
            means,
            gap_mean,
            prior,
        }
    }

    fn without_fold(&self, value: &Option<String>, fold: usize) -> f64 {
        let others = CostSum::of_folds(&self.all, Some(fold));
        // With rows in one fold only, there are no others.
        let prior = if others.count > 0.0 {
            others
        } else {
            CostSum::of_folds(&self.all, None)
        };
        let known = self.values.get(value).copied().unwrap_or_default();
        CostSum::of_folds(&known, Some(fold)).smoothed(prior.mean())
    }
}
