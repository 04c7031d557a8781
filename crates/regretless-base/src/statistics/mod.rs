//! Means, standard deviations and their confidence intervals: over seeds by Student's t (1908),
//! over rows and periods by a studentized bootstrap (`block_bootstrap.rs`).
//!
//! Differences of methods are paired by seed or row, since these differ more than methods. How
//! often the intervals hold is simulated (`tests/coverage`).

mod block_bootstrap;
mod student_t;

use serde::{Deserialize, Serialize};

pub use block_bootstrap::{
    CONFIDENCE, FOLD_ERROR_FACTOR, MIN_PERIODS, MeanInterval, RowOrder, differs_in_enough_rows,
    mean_interval, simultaneous_intervals, simultaneous_row_intervals,
};
use student_t::student_t_quantile;

/// Mean and sample standard deviation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanAndDeviation {
    /// The mean; none without values.
    pub mean: Option<f64>,
    /// The sample standard deviation; none below two values.
    pub sd: Option<f64>,
    /// Number of values.
    pub count: usize,
}

impl MeanAndDeviation {
    /// Mean and standard deviation of some values.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            mean: (!values.is_empty()).then_some(mean),
            sd: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            count: values.len(),
        }
    }

    /// The 95 % confidence interval of the mean.
    pub fn interval(&self) -> Option<ConfidenceInterval> {
        self.interval_with_error(1.0 / self.count as f64, 0.025)
    }

    /// The interval beyond each end of which the true mean lies with probability `tail`, if the
    /// variance of the mean is this fraction of that of the values.
    pub fn interval_with_error(
        &self,
        variance_fraction: f64,
        tail: f64,
    ) -> Option<ConfidenceInterval> {
        let (mean, sd) = (self.mean?, self.sd?);
        let quantile = student_t_quantile(1.0 - tail, self.count - 1);
        let half_width = quantile * sd * variance_fraction.sqrt();
        Some(ConfidenceInterval {
            mean,
            lower: mean - half_width,
            upper: mean + half_width,
        })
    }
}

/// A mean with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

#[cfg(test)]
mod tests {
    use super::MeanAndDeviation;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = MeanAndDeviation::of(&[1.0, 2.0, 4.0, 5.0]);
        assert_eq!(spread.mean, Some(3.0));
        assert!((spread.sd.unwrap() - (10.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            (
                MeanAndDeviation::of(&[7.0]).mean,
                MeanAndDeviation::of(&[7.0]).sd
            ),
            (Some(7.0), None)
        );
        assert_eq!(MeanAndDeviation::of(&[]).mean, None);
        assert_eq!(MeanAndDeviation::of(&[]).interval(), None);
    }

    #[test]
    fn the_interval_is_that_of_students_t() {
        let interval = MeanAndDeviation::of(&[1.0, 2.0, 3.0]).interval().unwrap();
        assert!((interval.upper - (2.0 + 4.303 / 3.0_f64.sqrt())).abs() < 1e-3);
    }
}
