//! The rows for training, validation and testing.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::random::{Purpose, RandomStream};

/// Rounding error by which a sum of fractions may exceed 1, as in 0.7 + 0.2 + 0.1.
const FRACTION_SUM_TOLERANCE: f64 = 1e-9;

/// Rows for training, validation and testing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitIndices {
    /// Rows the parameters are fitted on.
    pub train: Vec<usize>,
    /// Rows that choose the best epoch.
    pub validation: Vec<usize>,
    /// Rows that training never uses.
    pub test: Vec<usize>,
}

impl SplitIndices {
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
        })
    }

    /// A random split by these fractions of the rows; the remaining rows are for training.
    ///
    /// # Errors
    /// When a fraction is not between 0 and 1 or no row is left for training.
    pub fn random(rows: usize, validation: f64, test: f64, seed: u64) -> Result<Self> {
        let valid = |fraction: f64| (0.0..1.0).contains(&fraction);
        if !valid(validation) || !valid(test) || validation + test >= 1.0 {
            let message = format!(
                "fractions {validation} for validation and {test} for testing must be at least 0 \
                 and add up to less than 1"
            );
            return Err(Error::setting(message));
        }
        let mut order: Vec<usize> = (0..rows).collect();
        RandomStream::new(Purpose::Split, seed, [0, 0]).shuffle(&mut order);
        let count = |fraction: f64| (fraction * rows as f64).round() as usize;
        let (validation, test) = (count(validation), count(test));
        if validation + test >= rows {
            return Err(Error::setting(format!(
                "a table of {rows} rows is too short to be split"
            )));
        }
        let test_rows = order.split_off(rows - test);
        let validation_rows = order.split_off(rows - test - validation);
        Ok(Self {
            train: order,
            validation: validation_rows,
            test: test_rows,
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

#[cfg(test)]
mod tests {
    use super::SplitIndices;

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
