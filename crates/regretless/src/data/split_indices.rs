//! The rows for training, validation and testing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::row_times::RowTimes;
use crate::error::{Error, Result};
use crate::random::{Purpose, RandomStream};
use crate::statistics::RowOrder;
use crate::text::grouped_digits;

/// Rounding error by which a sum of fractions may exceed 1, as in 0.7 + 0.2 + 0.1.
const FRACTION_SUM_TOLERANCE: f64 = 1e-9;

/// Rows for training, validation and testing.
///
/// ```
/// use regretless::data::SplitIndices;
///
/// let split = SplitIndices::in_order(2000, [1000, 400, 600])?;
/// assert_eq!(split.to_string(), "1,000/400/600 rows, in table order");
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitIndices {
    /// Rows the parameters are fitted on.
    pub train: Vec<usize>,
    /// Rows that choose the best epoch.
    pub validation: Vec<usize>,
    /// Rows that training never uses.
    pub test: Vec<usize>,
    /// How the rows were divided, in words for reports; it changes no result.
    #[serde(skip)]
    pub rule: String,
    /// Whether every row of the table is known to be later than the one before it, so the row
    /// before a test row can serve as its prediction.
    #[serde(skip)]
    pub is_chronological: bool,
}

impl fmt::Display for SplitIndices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [train, validation, test] = self
            .counts()
            .map(|count| grouped_digits(&count.to_string()));
        write!(f, "{train}/{validation}/{test} rows")?;
        if self.rule.is_empty() {
            return Ok(());
        }
        write!(f, ", {}", self.rule)
    }
}

/// How a random split is called in reports.
const RANDOM_RULE: &str = "split at random";

impl SplitIndices {
    /// Whether rows were drawn at random, so their order means nothing.
    pub(crate) fn is_random(&self) -> bool {
        self.rule == RANDOM_RULE
    }

    /// How the rows of a part follow each other.
    pub fn row_order(&self) -> RowOrder {
        if self.is_random() {
            RowOrder::Random
        } else {
            RowOrder::InTime
        }
    }

    /// Numbers of rows to train, validate and test on.
    pub fn counts(&self) -> [usize; 3] {
        [self.train.len(), self.validation.len(), self.test.len()]
    }

    /// The first rows train, the next validate, the next test, in the order of the table.
    ///
    /// # Errors
    /// When the table is too short or there is no row for training.
    pub fn in_order(rows: usize, counts: [usize; 3]) -> Result<Self> {
        let [train, validation, test] = counts;
        let total = train.saturating_add(validation).saturating_add(test);
        if train == 0 || total > rows {
            let parts = format!("{train}/{validation}/{test} rows to train/validate/test");
            return Err(Error::setting(format!(
                "{parts} cannot be taken from a table of {rows} rows"
            )));
        }
        Ok(Self {
            train: (0..train).collect(),
            validation: (train..train + validation).collect(),
            test: (train + validation..total).collect(),
            rule: "in table order".into(),
            is_chronological: true,
        })
    }

    /// The last rows test, those before them validate, in the order of the table, by these
    /// fractions; the first rows are for training.
    ///
    /// # Errors
    /// As [`Self::random`].
    pub(super) fn ordered(rows: usize, fractions: [f64; 2]) -> Result<Self> {
        let [validation, test] = part_sizes(rows, fractions)?;
        Self::in_order(rows, [rows - validation - test, validation, test])
    }

    /// The latest rows test, those before them validate, by these fractions; the earliest rows are
    /// for training. Rows of one time stay in one part: the parts are as close to their fractions
    /// as that allows.
    ///
    /// # Errors
    /// As [`Self::random`], and when there are fewer different times than parts.
    pub(super) fn by_time(times: &RowTimes, column: &str, fractions: [f64; 2]) -> Result<Self> {
        let rows = times.len();
        let [validation, test] = part_sizes(rows, fractions)?;
        let sorted = times.sorted_rows();
        // Positions at which a later time begins.
        let mut starts = Vec::new();
        for position in 1..rows {
            if times
                .compare(sorted[position - 1], sorted[position])
                .is_ne()
            {
                starts.push(position);
            }
        }
        let parts = 1 + usize::from(validation > 0) + usize::from(test > 0);
        if starts.len() + 1 < parts {
            return Err(Error::setting(format!(
                "column '{column}' has too few different times for {parts} parts: {}",
                starts.len() + 1
            )));
        }
        let nearest = |starts: &[usize], wanted: usize| {
            let distance = |start: &usize| start.abs_diff(wanted);
            (0..starts.len()).min_by_key(|number| distance(&starts[*number]))
        };
        // The test rows first, then the validation rows before them.
        let mut test_start = rows;
        if test > 0 {
            let first = usize::from(validation > 0);
            let number = first + nearest(&starts[first..], rows - test).unwrap_or(0);
            test_start = starts[number];
            starts.truncate(number);
        }
        let mut validation_start = test_start;
        if validation > 0 {
            let number = nearest(&starts, rows - test - validation).unwrap_or(0);
            validation_start = starts[number];
        }
        let [train, validation, test] = [
            &sorted[..validation_start],
            &sorted[validation_start..test_start],
            &sorted[test_start..],
        ];
        let mut borders = Vec::new();
        borders.extend(
            train
                .last()
                .map(|row| format!("training until {}", times.text(*row))),
        );
        for (name, part) in [("validation", validation), ("test", test)] {
            borders.extend(
                part.first()
                    .map(|row| format!("{name} from {}", times.text(*row))),
            );
        }
        Ok(Self {
            train: train.to_vec(),
            validation: validation.to_vec(),
            test: test.to_vec(),
            rule: format!("split by {column}: {}", borders.join(", ")),
            is_chronological: times.are_increasing(),
        })
    }

    /// A random split by these fractions of the rows; the remaining rows are for training.
    ///
    /// # Errors
    /// When a fraction is not between 0 and 1 or no row is left for training.
    pub fn random(rows: usize, validation: f64, test: f64, seed: u64) -> Result<Self> {
        let [validation, test] = part_sizes(rows, [validation, test])?;
        let mut order: Vec<usize> = (0..rows).collect();
        RandomStream::new(Purpose::Split, seed, [0, 0]).shuffle(&mut order);
        let test_rows = order.split_off(rows - test);
        let validation_rows = order.split_off(rows - test - validation);
        Ok(Self {
            train: order,
            validation: validation_rows,
            test: test_rows,
            rule: RANDOM_RULE.into(),
            is_chronological: false,
        })
    }

    /// Random rows for each part by its fraction; without a fraction for testing, all rows that
    /// neither train nor validate. Rows that belong to no part stay unused.
    ///
    /// # Errors
    /// When a fraction is not between 0 and 1, they add up to more than 1, or no row trains.
    pub fn random_fractions(
        rows: usize,
        train: f64,
        validation: f64,
        test: Option<f64>,
        seed: u64,
    ) -> Result<Self> {
        let parts = [train, validation, test.unwrap_or(0.0)];
        let valid = parts.iter().all(|part| (0.0..=1.0).contains(part));
        if !valid || parts.iter().sum::<f64>() > 1.0 + FRACTION_SUM_TOLERANCE {
            return Err(Error::setting(format!(
                "fractions {train} for training, {validation} for validation and {} for testing \
                 must be between 0 and 1 and add up to at most 1",
                test.map_or("the rest".to_owned(), |test| test.to_string())
            )));
        }
        let count = |fraction: f64| (fraction * rows as f64).round() as usize;
        let train_rows = count(train).min(rows);
        let validation_rows = count(validation).min(rows - train_rows);
        let remaining = rows - train_rows - validation_rows;
        let test_rows = test.map_or(remaining, |test| count(test).min(remaining));
        if train_rows == 0 {
            return Err(Error::setting(format!(
                "a training fraction of {train} selects none of the {rows} rows"
            )));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        RandomStream::new(Purpose::Split, seed, [0, 0]).shuffle(&mut order);
        order.truncate(train_rows + validation_rows + test_rows);
        let test = order.split_off(train_rows + validation_rows);
        let validation = order.split_off(train_rows);
        Ok(Self {
            train: order,
            validation,
            test,
            rule: RANDOM_RULE.into(),
            is_chronological: false,
        })
    }

    /// The same split, restricted to the rows of a sorted list.
    ///
    /// # Errors
    /// When no row is left for training.
    pub fn restrict_to(mut self, rows: &[usize]) -> Result<Self> {
        for part in [&mut self.train, &mut self.validation, &mut self.test] {
            part.retain(|row| rows.binary_search(row).is_ok());
        }
        if self.train.is_empty() {
            Err(Error::setting("no row is left to train on"))
        } else {
            Ok(self)
        }
    }
}

/// Numbers of validation and test rows by fractions of all rows.
///
/// # Errors
/// When a fraction is not between 0 and 1 or no row is left for training.
fn part_sizes(rows: usize, fractions: [f64; 2]) -> Result<[usize; 2]> {
    let [validation, test] = fractions;
    let valid = |fraction: f64| (0.0..1.0).contains(&fraction);
    if !valid(validation) || !valid(test) || validation + test >= 1.0 {
        return Err(Error::setting(format!(
            "fractions {validation} for validation and {test} for testing must be at least 0 and \
             add up to less than 1"
        )));
    }
    let sizes = fractions.map(|fraction| (fraction * rows as f64).round() as usize);
    if sizes.iter().sum::<usize>() >= rows {
        return Err(Error::setting(format!(
            "a table of {rows} rows is too short to be split"
        )));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::SplitIndices;
    use crate::data::Split;

    fn by_time(times: &[&str], validation: f64, test: f64) -> SplitIndices {
        let split = Split::by_time("day").validation(validation).test(test);
        split.apply_to_times(times).unwrap()
    }

    #[test]
    fn a_split_by_time_tests_on_the_latest_rows() {
        let split = by_time(
            &[
                "2026-01-05",
                "2026-01-01",
                "2026-01-04",
                "2026-01-02",
                "2026-01-03",
            ],
            0.2,
            0.2,
        );
        assert_eq!(
            [split.train.as_slice(), &split.validation, &split.test],
            [[1, 3, 4].as_slice(), &[2], &[0]]
        );
        assert!(!split.is_chronological, "the table is not sorted");
        assert_eq!(
            split.to_string(),
            "3/1/1 rows, split by day: training until 2026-01-03, validation from 2026-01-04, test \
             from 2026-01-05"
        );
        let sorted = by_time(&["1", "2", "10"], 0.0, 0.4);
        assert_eq!(sorted.test, [2], "10 is later than 2");
        assert!(sorted.is_chronological);
        assert_eq!(
            sorted.to_string(),
            "2/0/1 rows, split by day: training until 2, test from 10"
        );
    }

    #[test]
    fn rows_of_one_time_stay_in_one_part() {
        let times: Vec<&str> = ["1", "1", "1", "1", "2", "2", "2", "3", "3", "3"].to_vec();
        let split = by_time(&times, 0.2, 0.2);
        assert_eq!(split.counts(), [4, 3, 3]);
        assert!(
            !split.is_chronological,
            "the row before may be of the same time"
        );
        assert_eq!(by_time(&times, 0.0, 0.5).counts(), [4, 0, 6]);
        assert_eq!(by_time(&times, 0.2, 0.0).counts(), [7, 3, 0]);
        let few = Split::by_time("day").apply_to_times(&["1", "1", "1", "2", "2", "2"]);
        assert!(
            few.unwrap_err()
                .to_string()
                .contains("too few different times")
        );
    }

    #[test]
    fn a_missing_time_is_an_error_with_its_row_and_column() {
        let error = Split::by_time("day").apply_to_times(&["1", "2", " ", "3"]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("row 2") && error.contains("day"), "{error}");
    }

    #[test]
    fn a_split_in_order_takes_fractions_of_the_last_rows() {
        let split = "order:0.2,0.1".parse::<crate::data::SplitRule>().unwrap();
        let split = split.with_seed(7).apply(10).unwrap();
        assert_eq!((split.validation, split.test), (vec![7, 8], vec![9]));
        assert!(
            Split::by_time("day").apply(10).is_err(),
            "no times are given"
        );
        let training = Split::by_time("day").train(0.5);
        assert!(training.apply_to_times(&["1", "2", "3"]).is_err());
    }

    #[test]
    fn a_random_split_uses_every_row_once() {
        let split = SplitIndices::random(103, 0.2, 0.3, 5).unwrap();
        let mut all = [
            split.train.clone(),
            split.validation.clone(),
            split.test.clone(),
        ]
        .concat();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<_>>());
        assert_eq!((split.validation.len(), split.test.len()), (21, 31));
        assert_eq!(split, SplitIndices::random(103, 0.2, 0.3, 5).unwrap());
    }

    #[test]
    fn a_split_that_trains_on_nothing_is_refused() {
        assert!(SplitIndices::random(10, 0.5, 0.5, 0).is_err());
        assert!(SplitIndices::in_order(10, [0, 5, 5]).is_err());
        assert!(SplitIndices::in_order(10, [8, 2, 1]).is_err());
    }
}
