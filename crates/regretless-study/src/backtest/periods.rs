//! Periods: the distinct times of a table, from the earliest to the latest. The rows of one time
//! are one period.

use std::collections::HashMap;

use regretless::data::{RowTimes, TableSource};
use regretless_base::error::{Error, InputPlace, Result};
use regretless_base::random::{Purpose, RandomStream};
use regretless_base::text::plural;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// A distance between two times that is more than this many usual ones has periods without rows
/// in it. Months differ by a tenth; half a period is far from both one and two.
const MIN_MISSING_DISTANCE: f64 = 1.5;

/// The periods of a table.
///
/// ```
/// use regretless_study::backtest::Periods;
///
/// let periods = Periods::from_times(&["2026-01-02", "2026-01-01", "2026-01-02", "2026-01-05"])?;
/// assert_eq!(periods.len(), 3);
/// assert_eq!(periods.name(1), "2026-01-02");
/// assert_eq!(periods.rows(1), [0, 2]);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Periods {
    periods: Vec<Period>,
    /// Whether the times are dates, so amounts per day follow from them.
    are_dates: bool,
    /// Whether periods follow each other in time; rows without a time have no order.
    are_ordered: bool,
    /// Rows that are earlier than the row before them in the table.
    unordered_rows: usize,
}

/// The rows of one time.
#[derive(Debug, Clone)]
struct Period {
    /// The time as the first of its rows states it.
    name: String,
    /// Seconds since 1970 or, if times are numbers, the number.
    time: f64,
    /// In the order of the table.
    rows: Vec<usize>,
}

impl Periods {
    /// The periods of rows with these times: dates such as `2026-01-31`, date-times such as
    /// `2026-01-31T18:30`, or numbers.
    ///
    /// # Errors
    /// When a text is no time (the error has its row, counted from 0), or there is no row.
    pub fn from_times<T: AsRef<str>>(times: &[T]) -> Result<Self> {
        let mut parsed = RowTimes::default();
        for (row, time) in times.iter().enumerate() {
            parsed.push(time.as_ref()).map_err(|message| {
                let place = InputPlace::default().row(row as u64);
                Error::input(place, format!("{message} (rows counted from 0)"))
            })?;
        }
        Self::new(&parsed)
    }

    /// The periods of a table by one of its columns.
    ///
    /// # Errors
    /// When there is no such column or a cell is no time; the error has its place.
    pub fn read(source: &TableSource, column: &str) -> Result<Self> {
        Self::new(&source.read_times(column)?)
    }

    /// Rows without times, each of them a period, in random order: consecutive ones are as
    /// independent as any others.
    ///
    /// # Errors
    /// When there is no row.
    pub fn without_times(rows: usize, seed: u64) -> Result<Self> {
        if rows == 0 {
            return Err(Error::data("there is no row"));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        // Tables are often sorted by something: in table order, folds would be groups of similar
        // rows.
        RandomStream::new(Purpose::Folds, seed, [0, 0]).shuffle(&mut order);
        let mut periods = Vec::with_capacity(rows);
        for (position, row) in order.into_iter().enumerate() {
            periods.push(Period {
                name: format!("row {row}"),
                time: position as f64,
                rows: vec![row],
            });
        }
        Ok(Self {
            periods,
            are_dates: false,
            are_ordered: false,
            unordered_rows: 0,
        })
    }

    /// Rows without times under names of their own, one for each row of the table.
    #[must_use]
    pub fn with_row_names(mut self, names: &[String]) -> Self {
        for period in &mut self.periods {
            let name = period.rows.first().and_then(|row| names.get(*row));
            if let Some(name) = name {
                period.name.clone_from(name);
            }
        }
        self
    }

    /// Whether periods follow each other in time.
    pub fn are_ordered(&self) -> bool {
        self.are_ordered
    }

    fn new(times: &RowTimes) -> Result<Self> {
        let sorted = times.sorted_rows();
        if sorted.is_empty() {
            return Err(Error::data("there is no row").with_remedy("a backtest needs a history"));
        }
        let mut periods: Vec<Period> = Vec::new();
        for (position, row) in sorted.iter().enumerate() {
            // Compared as times, not as texts: 2026-01-01 and 2026-01-01T00:00 are one period.
            let is_later = position == 0 || times.compare(sorted[position - 1], *row).is_ne();
            match periods.last_mut().filter(|_| !is_later) {
                Some(last) => last.rows.push(*row),
                None => periods.push(Period {
                    name: times.text(*row).to_owned(),
                    time: times.number(*row),
                    rows: vec![*row],
                }),
            }
        }
        let is_earlier = |row: &usize| times.compare(*row, row - 1).is_lt();
        Ok(Self {
            periods,
            are_dates: times.are_dates(),
            are_ordered: true,
            unordered_rows: (1..sorted.len()).filter(is_earlier).count(),
        })
    }

    /// Keeps these rows, which are sorted, and the periods that have one of them.
    #[must_use]
    pub fn keeping_rows(mut self, rows: &[usize]) -> Self {
        for period in &mut self.periods {
            period.rows.retain(|row| rows.binary_search(row).is_ok());
        }
        self.periods.retain(|period| !period.rows.is_empty());
        self
    }

    /// Number of periods.
    pub fn len(&self) -> usize {
        self.periods.len()
    }

    /// Whether no period is left.
    pub fn is_empty(&self) -> bool {
        self.periods.is_empty()
    }

    /// The time of a period as the table states it.
    pub fn name(&self, period: usize) -> &str {
        &self.periods[period].name
    }

    /// The rows of a period, in the order of the table.
    pub fn rows(&self, period: usize) -> &[usize] {
        &self.periods[period].rows
    }

    /// The rows of several periods, from the earliest period to the latest.
    pub(super) fn rows_of(&self, periods: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut rows = Vec::new();
        for period in periods {
            rows.extend_from_slice(self.rows(period));
        }
        rows
    }

    /// The period of every row that has one.
    pub(super) fn by_row(&self) -> HashMap<usize, usize> {
        let mut periods = HashMap::new();
        for (number, period) in self.periods.iter().enumerate() {
            periods.extend(period.rows.iter().map(|row| (*row, number)));
        }
        periods
    }

    /// For every row of this table the row of another one that has the same time: the first row of
    /// a period is the first of the other's, and so on. None for periods that the other lacks.
    /// `rows` is the number of rows of this table.
    ///
    /// # Errors
    /// When a period has several rows, and the other one has another number of them.
    pub fn match_rows(&self, other: &Self, rows: usize) -> Result<Vec<Option<usize>>> {
        let mut matched = vec![None; rows];
        for period in &self.periods {
            let found = other
                .periods
                .binary_search_by(|other| other.time.total_cmp(&period.time));
            let Ok(found) = found else {
                continue;
            };
            let others = &other.periods[found].rows;
            if others.len() != period.rows.len() {
                return Err(Error::data(format!(
                    "{} has {} rows, the table has {}",
                    period.name,
                    others.len(),
                    period.rows.len()
                ))
                .with_remedy("rows of one time are matched in their order; give one for each"));
            }
            for (row, other) in period.rows.iter().zip(others) {
                matched[*row] = Some(*other);
            }
        }
        Ok(matched)
    }

    /// Mean number of days from one period to the next; none if times are numbers or there is one
    /// period.
    pub(super) fn days_per_period(&self) -> Option<f64> {
        let (first, last) = (self.periods.first()?, self.periods.last()?);
        let steps = self.len() - 1;
        let days = (last.time - first.time) / SECONDS_PER_DAY;
        (self.are_dates && steps > 0).then(|| days / steps as f64)
    }

    /// What a user should know about the times: rows that are not in their order, periods of
    /// several rows, and periods without rows.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.are_ordered {
            return notes;
        }
        if self.unordered_rows > 0 {
            notes.push(match self.unordered_rows {
                1 => "1 row is earlier than the row before it; rows are sorted by time".into(),
                count => format!(
                    "{count} rows are earlier than the row before them; rows are sorted by time"
                ),
            });
        }
        let shared = self.periods.iter().filter(|period| period.rows.len() > 1);
        let count = shared.count();
        if count > 0 {
            let total: usize = self.periods.iter().map(|period| period.rows.len()).sum();
            let verb = if count == 1 { "has" } else { "have" };
            notes.push(format!(
                "{count} of {} periods {verb} several rows ({total} rows in all); the costs of a \
                 period are the sum over its rows",
                self.len()
            ));
        }
        let missing = self.missing_periods();
        if missing > 0 {
            notes.push(format!(
                "about {missing} period{} between {} and {} without rows; they count as if they \
                 did not exist",
                plural(missing),
                self.name(0),
                self.name(self.len() - 1)
            ));
        }
        notes
    }

    /// Periods that are missing if all distances were the usual one, their median.
    fn missing_periods(&self) -> usize {
        let pairs = self.periods.windows(2);
        let distances: Vec<f64> = pairs.map(|pair| pair[1].time - pair[0].time).collect();
        let mut sorted = distances.clone();
        sorted.sort_by(f64::total_cmp);
        // The median: gaps, which are what is looked for, would lift the mean.
        let Some(usual) = sorted.get(sorted.len() / 2) else {
            return 0;
        };
        let mut missing = 0;
        for distance in distances {
            let ratio = distance / usual;
            if ratio > MIN_MISSING_DISTANCE {
                missing += ratio.round() as usize - 1;
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::Periods;

    #[test]
    fn rows_of_one_time_are_one_period_and_unordered_rows_are_sorted_and_counted() {
        let periods = Periods::from_times(&["3", "1", "2", "1"]).unwrap();
        assert_eq!(periods.len(), 3);
        assert_eq!(periods.rows(0), [1, 3]);
        assert_eq!(periods.rows_of([0, 2]), [1, 3, 0]);
        assert_eq!(periods.days_per_period(), None);
        let notes = periods.notes();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("2 rows are earlier"), "{notes:?}");
        assert!(
            notes[1].starts_with("1 of 3 periods has several rows"),
            "{notes:?}"
        );
    }

    #[test]
    fn periods_without_rows_are_counted_and_months_are_not_missing_days() {
        let days = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-06"];
        let periods = Periods::from_times(&days).unwrap();
        assert!(periods.notes()[0].starts_with("about 2 periods between 2026-01-01"));
        assert!((periods.days_per_period().unwrap() - 5.0 / 3.0).abs() < 1e-12);
        let months = ["2026-01", "2026-02", "2026-03", "2026-04"];
        assert!(Periods::from_times(&months).unwrap().notes().is_empty());
    }

    #[test]
    fn a_text_that_is_no_time_is_refused_with_its_row() {
        let error = Periods::from_times(&["2026-01-01", "monday"]).unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
        assert!(Periods::from_times::<&str>(&[]).is_err());
    }

    #[test]
    fn rows_of_another_file_are_matched_by_their_times() {
        let periods = Periods::from_times(&["2026-01-02", "2026-01-01", "2026-01-02"]).unwrap();
        let other = ["2026-01-02T00:00", "2026-01-02T00:00", "2026-01-05"];
        let other = Periods::from_times(&other).unwrap();
        let matched = periods.match_rows(&other, 3).unwrap();
        assert_eq!(matched, [Some(0), None, Some(1)]);
        let short = Periods::from_times(&["2026-01-02"]).unwrap();
        let error = periods.match_rows(&short, 3).unwrap_err();
        assert!(error.to_string().contains("has 1 rows"), "{error}");
    }

    #[test]
    fn periods_without_a_labeled_row_are_left_out() {
        let periods = Periods::from_times(&["1", "2", "2", "3"]).unwrap();
        let kept = periods.keeping_rows(&[0, 2]);
        assert_eq!((kept.len(), kept.rows(1)), (2, [2].as_slice()));
    }
}
