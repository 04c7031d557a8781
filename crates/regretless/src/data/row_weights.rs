//! Sample weights: how much each row counts in training.
//!
//! Training minimizes the weighted mean Σ wᵢ · lossᵢ / Σ wᵢ over the training rows. Scalers, closed
//! forms, the validation that selects an epoch and the scores by which `auto` chooses are weighted
//! alike. Evaluations of a finished model count each row once.

use super::{Dataset, SplitIndices};
use crate::error::{Error, InputPlace, Result};

impl Dataset {
    /// The same table with one weight per instance. Only ratios of weights matter; a row of weight
    /// 0 is left out of training.
    ///
    /// ```
    /// use regretless::{Dataset, Method, Problem, Split, Trainer};
    ///
    /// let problem = Problem::benchmark("SP3x3")?;
    /// let data = Dataset::generate(&problem, 200)?;
    /// // Recent rows, at the end of the table, count more.
    /// let weights = (0..200).map(|row| 0.99_f64.powi(199 - row)).collect();
    /// let data = data.with_row_weights(weights)?.split(Split::in_order(150, 25, 25))?;
    /// let model = Trainer::new(Method::mse()).epochs(5).fit(&problem, &data)?;
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is not one weight per instance, a weight is negative or not finite, or all are 0.
    pub fn with_row_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.len() {
            return Err(
                Error::data(format!("{} weights for {} rows", weights.len(), self.len()))
                    .with_remedy("give one weight per row"),
            );
        }
        for (row, weight) in weights.iter().enumerate() {
            if !weight.is_finite() || *weight < 0.0 {
                let place = InputPlace::default().row(row as u64).column("weight");
                let message =
                    format!("{weight} is not a weight: weights are finite and at least 0");
                return Err(Error::input(place, message));
            }
        }
        if weights.iter().all(|weight| *weight == 0.0) {
            return Err(
                Error::data("all rows have weight 0").with_remedy("at least one row must count")
            );
        }
        // Equal weights are no weights: the same bytes as without.
        let is_constant = weights.iter().all(|weight| *weight == weights[0]);
        self.row_weights = (!is_constant).then_some(weights);
        Ok(self)
    }

    /// Weights of the instances; `None` if all rows count alike.
    pub fn row_weights(&self) -> Option<&[f64]> {
        self.row_weights.as_deref()
    }

    /// The weights of all rows, scaled to a mean of 1 over `instances`.
    pub(crate) fn scaled_row_weights(&self, instances: &[usize]) -> Option<Vec<f64>> {
        let weights = self.row_weights()?;
        let first = weights[*instances.first()?];
        // Weights are divided by the largest before they are summed: the sum may overflow.
        let max = instances
            .iter()
            .fold(0.0_f64, |max, instance| max.max(weights[*instance]));
        let mut sum = 0.0;
        let mut is_constant = true;
        for instance in instances {
            sum += weights[*instance] / max.max(f64::MIN_POSITIVE);
            is_constant &= weights[*instance] == first;
        }
        // The mean of equal weights is exactly their value, which the rounded sum may miss.
        let mean = if is_constant {
            first
        } else {
            max * (sum / instances.len() as f64)
        };
        Some(weights.iter().map(|weight| weight / mean).collect())
    }

    /// What one observation counts among weights that are scaled to a mean of 1 over `instances`.
    /// Weights that are whole numbers say how often a row occurs, so a row of weight 2 is two
    /// observations. Other weights are ratios alone, and each row is one.
    pub(crate) fn weight_of_one_observation(&self, instances: &[usize]) -> f64 {
        let Some(weights) = self.row_weights() else {
            return 1.0;
        };
        let (mut sum, mut are_counts) = (0.0, true);
        for instance in instances {
            sum += weights[*instance];
            are_counts &= weights[*instance].fract() == 0.0;
        }
        if are_counts && sum > 0.0 {
            instances.len() as f64 / sum
        } else {
            1.0
        }
    }

    /// A split without the training and validation rows of weight 0.
    ///
    /// # Errors
    /// When no training row is left, or none of several validation rows.
    pub(crate) fn without_weightless_rows(&self, split: &SplitIndices) -> Result<SplitIndices> {
        let mut split = split.clone();
        let Some(weights) = self.row_weights() else {
            return Ok(split);
        };
        for (rows, purpose) in [
            (&mut split.train, "training"),
            (&mut split.validation, "validation"),
        ] {
            let had_rows = !rows.is_empty();
            rows.retain(|row| weights[*row] > 0.0);
            if had_rows && rows.is_empty() {
                return Err(Error::setting(format!("all {purpose} rows have weight 0"))
                    .with_remedy("choose a split that has rows with a weight among them"));
            }
        }
        Ok(split)
    }
}

#[cfg(test)]
mod tests {
    use super::Dataset;
    use crate::ErrorKind;
    use crate::data::SplitIndices;

    fn table() -> Dataset {
        let rows = [[1.0], [2.0], [3.0], [4.0]];
        Dataset::from_arrays(&rows, &rows).unwrap()
    }

    #[test]
    fn weights_are_scaled_to_mean_one_over_the_given_rows() {
        let data = table().with_row_weights(vec![1.0, 3.0, 8.0, 0.0]).unwrap();
        assert_eq!(
            data.scaled_row_weights(&[0, 1]).unwrap(),
            [0.5, 1.5, 4.0, 0.0]
        );
        let tenths = table().with_row_weights(vec![0.1, 0.1, 0.1, 7.0]).unwrap();
        let scaled = tenths.scaled_row_weights(&[0, 1, 2]).unwrap();
        assert_eq!(scaled[..3], [1.0, 1.0, 1.0]);
    }

    #[test]
    fn equal_weights_are_no_weights() {
        let data = table().with_row_weights(vec![0.3; 4]).unwrap();
        assert_eq!(data.row_weights(), None);
        assert_eq!(data, table());
    }

    #[test]
    fn invalid_weights_are_refused() {
        for weights in [
            vec![1.0; 3],
            vec![0.0; 4],
            vec![1.0, 1.0, -1.0, 1.0],
            vec![1.0, f64::NAN, 1.0, 1.0],
            vec![1.0, f64::INFINITY, 1.0, 1.0],
        ] {
            let error = table().with_row_weights(weights).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        }
    }

    #[test]
    fn rows_of_weight_zero_neither_train_nor_validate() {
        let data = table().with_row_weights(vec![1.0, 0.0, 0.0, 2.0]).unwrap();
        let split = |train: &[usize], validation: &[usize]| SplitIndices {
            train: train.to_vec(),
            validation: validation.to_vec(),
            test: vec![1],
            ..SplitIndices::default()
        };
        let kept = data.without_weightless_rows(&split(&[0, 1], &[2, 3]));
        assert_eq!(kept.unwrap(), split(&[0], &[3]));
        for (train, validation) in [(vec![1], vec![3]), (vec![0, 3], vec![2])] {
            let error = data
                .without_weightless_rows(&split(&train, &validation))
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Setting);
        }
    }
}
