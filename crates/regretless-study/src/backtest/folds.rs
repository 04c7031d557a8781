//! Rolling origin (Tashman 2000): a training window moves through time, and the periods after it
//! are decided by models that have seen the window only.
//!
//! ```text
//! periods   0 1 2 3 4 5 6 7 8 9
//! fold 0    h h h h · t t              4 periods of history, a gap of 1, 2 to decide
//! fold 1        h h h h · t t          moved by a step of 2
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

use super::periods::Periods;
use regretless_base::error::{Error, Result};

/// Most trainings per method if the user states no step. Untuned: enough that models follow slow
/// changes, few enough for a first answer.
const MAX_DEFAULT_FOLDS: usize = 20;

/// The name of a window of all earlier periods.
const EXPANDING: &str = "expanding";

/// Which periods a model is trained on, and which ones it decides.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RollingOrigin {
    /// The periods of history that a model is trained on.
    pub window: TrainingWindow,
    /// Periods by which the window moves; by default so many that there are at most 20 trainings.
    pub step: Option<usize>,
    /// Periods that one model decides; by default those of a step. Fewer than those leave periods
    /// that are not decided.
    pub horizon: Option<usize>,
    /// Periods between the history and the first decided one, whose costs are not yet known when
    /// it is decided.
    pub gap: usize,
}

/// The periods of history that a model is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainingWindow {
    /// All earlier ones; the first model has this many, by default half of the table.
    Expanding(Option<usize>),
    /// The latest ones, always this many.
    Rolling(usize),
}

impl Default for TrainingWindow {
    fn default() -> Self {
        Self::Expanding(None)
    }
}

impl fmt::Display for TrainingWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expanding(_) => f.write_str(EXPANDING),
            Self::Rolling(periods) => periods.fmt(f),
        }
    }
}

impl FromStr for TrainingWindow {
    type Err = Error;

    /// `expanding`, or a number of periods.
    fn from_str(text: &str) -> Result<Self> {
        match text.trim() {
            EXPANDING => Ok(Self::default()),
            number => number.parse().map(Self::Rolling).map_err(|_| {
                Error::setting(format!("'{text}' is no training window"))
                    .with_remedy("write a number of periods, or expanding")
            }),
        }
    }
}

/// The rows of one training and of the decisions that follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacktestFold {
    /// Rows whose costs are known, from the earliest period to the latest.
    pub history: Vec<usize>,
    /// Rows that are decided, from the earliest period to the latest.
    pub test: Vec<usize>,
}

/// Folds of rows without times: each part of the rows is decided by models of all others.
///
/// # Errors
/// When there are fewer rows than folds, or fewer than two folds.
pub fn cross_validation(periods: &Periods, folds: usize) -> Result<Vec<BacktestFold>> {
    let count = periods.len();
    if folds < 2 || folds > count {
        return Err(Error::setting(format!("{folds} folds of {count} rows"))
            .with_remedy("cross-validation needs at least two folds, and a row for each of them"));
    }
    let mut found = Vec::with_capacity(folds);
    for fold in 0..folds {
        // Multiplied before it is divided: the parts differ by one row at most.
        let (start, end) = (fold * count / folds, (fold + 1) * count / folds);
        found.push(BacktestFold {
            history: periods.rows_of((0..start).chain(end..count)),
            test: periods.rows_of(start..end),
        });
    }
    Ok(found)
}

impl RollingOrigin {
    /// The folds of a table, from the earliest to the latest. The last one may decide fewer periods
    /// than the others.
    ///
    /// # Errors
    /// When a number is 0, a period would be decided twice, or no period is left to decide.
    pub fn folds(&self, periods: &Periods) -> Result<Vec<BacktestFold>> {
        let count = periods.len();
        let first = self.first_test_period(count)?;
        let remaining = count - first;
        let step = self.step.unwrap_or(remaining.div_ceil(MAX_DEFAULT_FOLDS));
        let horizon = self.horizon.unwrap_or(step);
        for (name, number) in [("step", step), ("horizon", horizon)] {
            if number == 0 {
                return Err(Error::setting(format!("the {name} is 0 periods"))
                    .with_remedy("it must be at least 1"));
            }
        }
        if horizon > step {
            return Err(Error::setting(format!(
                "a horizon of {horizon} periods is longer than a step of {step}: periods would be \
                 decided more than once"
            ))
            .with_remedy("choose a horizon of at most one step"));
        }
        let mut folds = Vec::new();
        let mut start = first;
        while start < count {
            // The first start is the window plus the gap, so neither difference is below 0.
            let end = start - self.gap;
            let begin = match self.window {
                TrainingWindow::Expanding(_) => 0,
                TrainingWindow::Rolling(window) => end - window,
            };
            folds.push(BacktestFold {
                history: periods.rows_of(begin..end),
                test: periods.rows_of(start..count.min(start.saturating_add(horizon))),
            });
            start = start.saturating_add(step);
        }
        Ok(folds)
    }

    /// The first period that is decided.
    fn first_test_period(&self, count: usize) -> Result<usize> {
        let initial = match self.window {
            TrainingWindow::Expanding(initial) => initial.unwrap_or(count / 2),
            TrainingWindow::Rolling(window) => window,
        };
        if initial == 0 {
            return Err(Error::setting("the first training has no period")
                .with_remedy("it needs at least 1; more, to learn from"));
        }
        let first = initial.saturating_add(self.gap);
        if first >= count {
            return Err(Error::setting(format!(
                "the table has {count} periods; a first training on {initial} and a gap of {} \
                 leave none to decide",
                self.gap
            ))
            .with_remedy("shorten the window or the gap, or use a longer table"));
        }
        Ok(first)
    }
}

impl BacktestFold {
    /// The part of the history that selects epochs: the latest periods, by this fraction of all of
    /// them, rounded; at least one and not all, unless the fraction is 0.
    ///
    /// # Errors
    /// When the fraction is not below 1, or the history is a single period.
    pub(super) fn validation_rows(&self, periods: &Periods, fraction: f64) -> Result<usize> {
        if !(0.0..1.0).contains(&fraction) {
            return Err(
                Error::setting(format!("the validation fraction is {fraction}"))
                    .with_remedy("it must be at least 0 and below 1"),
            );
        }
        if fraction == 0.0 {
            return Ok(0);
        }
        let by_row = periods.by_row();
        let mut rows_by_period: BTreeMap<usize, usize> = BTreeMap::new();
        for row in &self.history {
            *rows_by_period.entry(by_row[row]).or_default() += 1;
        }
        let count = rows_by_period.len();
        if count < 2 {
            return Err(Error::setting(
                "a training window of one period leaves none to select epochs by",
            )
            .with_remedy(
                "choose a longer window (--initial or --window, initial= or window= in Python), or \
                 no validation periods (--validation 0, validation=0)",
            ));
        }
        let wanted = (fraction * count as f64).round() as usize;
        let latest = rows_by_period.values().rev();
        Ok(latest.take(wanted.clamp(1, count - 1)).sum())
    }
}

/// Checks folds that the user chose: each decides periods after its history, if they have an order,
/// and every period is decided as a whole and once.
///
/// # Errors
/// When they do not; the message has the fold, counted from 0, and the period.
pub(super) fn check_folds(folds: &[BacktestFold], periods: &Periods) -> Result<()> {
    let by_row = periods.by_row();
    let period_of = |row: &usize, fold: usize| {
        by_row.get(row).copied().ok_or_else(|| {
            Error::setting(format!(
                "fold {fold}: row {row} does not exist or has no label"
            ))
        })
    };
    let mut deciding_fold: BTreeMap<usize, usize> = BTreeMap::new();
    let mut is_decided = vec![false; by_row.keys().max().map_or(0, |row| row + 1)];
    for (number, fold) in folds.iter().enumerate() {
        if fold.history.is_empty() || fold.test.is_empty() {
            return Err(Error::setting(format!(
                "fold {number} has {} rows of history and {} to decide",
                fold.history.len(),
                fold.test.len()
            ))
            .with_remedy("it needs at least one of both"));
        }
        let mut latest = 0;
        let mut known = HashSet::new();
        for row in &fold.history {
            latest = latest.max(period_of(row, number)?);
            known.insert(*row);
        }
        for row in &fold.test {
            let period = period_of(row, number)?;
            let name = periods.name(period);
            if !periods.are_ordered() && known.contains(row) {
                return Err(Error::setting(format!(
                    "fold {number} decides {name}, which is in its history"
                )));
            }
            // Also the last period of the history itself: its other rows are known at the same time
            // only.
            if periods.are_ordered() && period <= latest {
                return Err(Error::setting(format!(
                    "fold {number} decides {name}, but its history reaches {}",
                    periods.name(latest)
                ))
                .with_remedy("a history must end before the first period that is decided"));
            }
            if is_decided[*row] || *deciding_fold.entry(period).or_insert(number) != number {
                return Err(Error::setting(format!("{name} is decided more than once"))
                    .with_remedy("every period may be in one fold only"));
            }
            is_decided[*row] = true;
        }
    }
    for period in deciding_fold.keys() {
        if periods.rows(*period).iter().any(|row| !is_decided[*row]) {
            return Err(Error::setting(format!(
                "only some rows of {} are decided",
                periods.name(*period)
            ))
            .with_remedy("keep the rows of a period in one fold"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BacktestFold, RollingOrigin, TrainingWindow, check_folds};
    use crate::backtest::Periods;

    fn days(count: usize) -> Periods {
        let times: Vec<String> = (0..count).map(|day| day.to_string()).collect();
        Periods::from_times(&times).unwrap()
    }

    #[test]
    fn a_rolling_window_keeps_its_length_and_the_gap() {
        let origin = RollingOrigin {
            window: TrainingWindow::Rolling(4),
            step: Some(2),
            horizon: None,
            gap: 1,
        };
        let folds = origin.folds(&days(10)).unwrap();
        assert_eq!(folds.len(), 3);
        assert_eq!(folds[0].history, [0, 1, 2, 3]);
        assert_eq!(folds[0].test, [5, 6]);
        assert_eq!(folds[1].history, [2, 3, 4, 5]);
        assert_eq!(folds[2].test, [9], "the last fold is shorter");
    }

    #[test]
    fn an_expanding_window_begins_with_half_of_the_table_and_has_at_most_twenty_folds() {
        let folds = RollingOrigin::default().folds(&days(210)).unwrap();
        assert_eq!(folds[0].history.len(), 105);
        assert_eq!(folds.len(), 18, "steps of 6 periods");
        assert_eq!(folds[17].history.len(), 105 + 17 * 6);
        let decided: usize = folds.iter().map(|fold| fold.test.len()).sum();
        assert_eq!(decided, 105);
        check_folds(&folds, &days(210)).unwrap();
    }

    #[test]
    fn one_period_too_few_and_impossible_numbers_are_refused() {
        let origin = |window, step, horizon, gap| RollingOrigin {
            window,
            step,
            horizon,
            gap,
        };
        let rolling = TrainingWindow::Rolling;
        assert!(origin(rolling(9), None, None, 0).folds(&days(10)).is_ok());
        for refused in [
            origin(rolling(9), None, None, 1),
            origin(rolling(10), None, None, 0),
            origin(rolling(0), None, None, 0),
            origin(rolling(4), Some(0), None, 0),
            origin(rolling(4), Some(1), Some(2), 0),
            origin(rolling(4), Some(1), Some(0), 0),
            origin(rolling(4), None, None, usize::MAX),
            origin(TrainingWindow::Expanding(Some(0)), None, None, 0),
        ] {
            assert!(refused.folds(&days(10)).is_err(), "{refused:?}");
        }
        let error = origin(rolling(10), None, None, 0).folds(&days(10));
        let message = error.unwrap_err().to_string();
        assert!(message.contains("the table has 10 periods"), "{message}");
    }

    #[test]
    fn a_window_is_a_number_or_expanding() {
        for text in ["expanding", "365"] {
            assert_eq!(text.parse::<TrainingWindow>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "1.5", "growing"] {
            assert!(text.parse::<TrainingWindow>().is_err(), "{text}");
        }
    }

    #[test]
    fn validation_rows_are_whole_periods_at_the_end_of_the_window() {
        let periods = Periods::from_times(&["1", "1", "2", "3", "3", "4"]).unwrap();
        let fold = BacktestFold {
            history: vec![0, 1, 2, 3, 4],
            test: vec![5],
        };
        assert_eq!(fold.validation_rows(&periods, 0.2).unwrap(), 2);
        assert_eq!(fold.validation_rows(&periods, 0.9).unwrap(), 3);
        assert_eq!(fold.validation_rows(&periods, 0.0).unwrap(), 0);
        assert!(fold.validation_rows(&periods, 1.0).is_err());
    }

    #[test]
    fn folds_of_the_user_that_see_the_future_or_decide_twice_are_refused() {
        let periods = Periods::from_times(&["1", "2", "3", "3", "4"]).unwrap();
        let fold = |history: &[usize], test: &[usize]| BacktestFold {
            history: history.to_vec(),
            test: test.to_vec(),
        };
        let check =
            |folds: &[BacktestFold]| check_folds(folds, &periods).map_err(|e| e.to_string());
        check(&[fold(&[0, 1], &[2, 3]), fold(&[0, 1, 2, 3], &[4])]).unwrap();
        for (folds, message) in [
            (vec![fold(&[0, 4], &[1])], "its history reaches 4"),
            (vec![fold(&[0, 2], &[3])], "its history reaches 3"),
            (vec![fold(&[0], &[2])], "only some rows of 3"),
            (vec![fold(&[0], &[1]), fold(&[0], &[1])], "more than once"),
            (vec![fold(&[0], &[2]), fold(&[0], &[3])], "more than once"),
            (vec![fold(&[], &[1])], "0 rows of history"),
            (vec![fold(&[0], &[9])], "row 9 does not exist"),
        ] {
            let error = check(&folds).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
