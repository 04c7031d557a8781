//! Statistics over seeds: mean, standard deviation, and confidence intervals.
//!
//! Differences are paired by seed, since seeds differ more than methods. The interval is Student's
//! (1908) at 95 %: it contains the true mean difference in 19 of 20 experiments, if differences are
//! approximately normal.

use serde::{Deserialize, Serialize};

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
        let (mean, sd) = (self.mean?, self.sd?);
        let half_width = student_t_quantile(self.count - 1) * sd / (self.count as f64).sqrt();
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

/// The 97.5 % quantile of Student's t distribution.
fn student_t_quantile(degrees_of_freedom: usize) -> f64 {
    /// The 97.5 % quantile of the normal distribution.
    const NORMAL_QUANTILE: f64 = 1.959_963_985;
    /// For 1 to 10 degrees of freedom, where the expansion below is not accurate.
    const T_QUANTILES: [f64; 10] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    let tabulated = degrees_of_freedom
        .checked_sub(1)
        .and_then(|index| T_QUANTILES.get(index));
    if let Some(quantile) = tabulated {
        return *quantile;
    }
    // Cornish–Fisher expansion around the normal quantile.
    let (z, v) = (NORMAL_QUANTILE, degrees_of_freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / v + second / (v * v) + third / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::{MeanAndDeviation, student_t_quantile};

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
    fn quantiles_are_those_of_printed_tables() {
        for (freedom, point) in [
            (1, 12.706),
            (4, 2.776),
            (10, 2.228),
            (11, 2.201),
            (19, 2.093),
            (60, 2.000),
        ] {
            assert!(
                (student_t_quantile(freedom) - point).abs() < 1e-3,
                "{freedom}: {}",
                student_t_quantile(freedom)
            );
        }
        let interval = MeanAndDeviation::of(&[1.0, 2.0, 3.0]).interval().unwrap();
        assert!((interval.upper - (2.0 + 4.303 / 3.0_f64.sqrt())).abs() < 1e-9);
    }
}
