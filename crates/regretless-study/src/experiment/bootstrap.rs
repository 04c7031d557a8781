//! Test regrets over seeds, with a bootstrap interval of their mean (Efron 1979, percentile
//! method).
//!
//! Seeds are drawn with replacement. If there are few test rows, they are drawn with replacement
//! too, the same rows for all seeds, since all seeds are tested on the same rows. Draws depend on
//! nothing but the number of seeds and rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use regretless::evaluate::{Evaluation, relative_to};
use regretless::train::TrainingContext;
use regretless_base::random::{Purpose, RandomStream};
use regretless_base::statistics::{ConfidenceInterval, MeanAndDeviation};

/// Resamples of an interval: the standard error of its ends is 0.7 % of its width, by the variance
/// of a quantile of normal variables.
const RESAMPLES: usize = 10_000;

/// Most test rows whose regrets are stored, so an interval can cover them: with more rows, the
/// choice of test rows matters little. The real tasks of the scoreboard have 4 and 6.
const MAX_FEW_ROWS: usize = 20;

/// Test regret of each seed: the sum of regrets divided by the sum of best objectives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RegretSample {
    /// The regret of each finished seed.
    pub by_seed: BTreeMap<u32, f64>,
    /// Their mean and sample standard deviation.
    pub spread: MeanAndDeviation,
    /// The 95 % bootstrap interval of the mean; none for a single seed with many test rows.
    pub interval: Option<ConfidenceInterval>,
    /// Whether the interval covers the choice of test rows, not only of seeds.
    pub covers_test_rows: bool,
}

/// Regret and best objective of one test row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct RowRegret {
    regret: f64,
    optimal_objective: f64,
}

impl RowRegret {
    /// The test rows of an evaluation; empty if they are many.
    pub(super) fn of_few(test: &Evaluation, context: &TrainingContext<'_>) -> Vec<Self> {
        let rows = &context.split.test;
        if rows.len() > MAX_FEW_ROWS || test.regrets.len() != rows.len() {
            return Vec::new();
        }
        let row_regret = |(row, regret): (&usize, &f64)| Self {
            regret: *regret,
            optimal_objective: context.data.optimal_objective(*row).abs(),
        };
        rows.iter().zip(&test.regrets).map(row_regret).collect()
    }
}

impl RegretSample {
    /// Regrets whose interval covers seeds.
    pub(super) fn of_seeds(by_seed: BTreeMap<u32, f64>) -> Self {
        let values: Vec<f64> = by_seed.values().copied().collect();
        let interval = (values.len() > 1).then(|| {
            let resampled_mean = |stream: &mut RandomStream| {
                let total: f64 = (0..values.len())
                    .map(|_| values[stream.index_below(values.len())])
                    .sum();
                total / values.len() as f64
            };
            percentile_interval(MeanAndDeviation::of(&values).mean, resampled_mean)
        });
        Self {
            spread: MeanAndDeviation::of(&values),
            interval: interval.flatten(),
            covers_test_rows: false,
            by_seed,
        }
    }

    /// Regrets whose interval covers seeds and test rows, if every seed has the same test rows.
    pub(super) fn of_seeds_and_rows(by_seed: BTreeMap<u32, f64>, rows: &[&[RowRegret]]) -> Self {
        let count = rows.first().map_or(0, |rows| rows.len());
        if count < 2 || rows.iter().any(|rows| rows.len() != count) {
            return Self::of_seeds(by_seed);
        }
        let values: Vec<f64> = by_seed.values().copied().collect();
        let spread = MeanAndDeviation::of(&values);
        let resampled_mean = |stream: &mut RandomStream| {
            let drawn: Vec<usize> = (0..count).map(|_| stream.index_below(count)).collect();
            let total: f64 = (0..rows.len())
                .map(|_| normalized_regret(rows[stream.index_below(rows.len())], &drawn))
                .sum();
            total / rows.len() as f64
        };
        Self {
            spread,
            interval: percentile_interval(spread.mean, resampled_mean),
            covers_test_rows: true,
            by_seed,
        }
    }
}

/// Normalized regret of some rows, as [`Evaluation`] defines it.
fn normalized_regret(rows: &[RowRegret], drawn: &[usize]) -> f64 {
    let (mut regrets, mut objectives) = (0.0, 0.0);
    for row in drawn {
        regrets += rows[*row].regret;
        objectives += rows[*row].optimal_objective;
    }
    relative_to(regrets, objectives)
}

/// The 2.5 % and 97.5 % quantiles of a statistic over resamples, around the value of the sample.
fn percentile_interval(
    mean: Option<f64>,
    resampled: impl Fn(&mut RandomStream) -> f64,
) -> Option<ConfidenceInterval> {
    let mut stream = RandomStream::new(Purpose::Bootstrap, 0, [0, 0]);
    let mut values: Vec<f64> = (0..RESAMPLES).map(|_| resampled(&mut stream)).collect();
    values.sort_by(f64::total_cmp);
    let quantile = |fraction: f64| values[(fraction * (RESAMPLES - 1) as f64).round() as usize];
    Some(ConfidenceInterval {
        mean: mean?,
        lower: quantile(0.025),
        upper: quantile(0.975),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{RegretSample, RowRegret};

    fn by_seed(values: &[f64]) -> BTreeMap<u32, f64> {
        (0..).zip(values.iter().copied()).collect()
    }

    fn row(regret: f64, optimal_objective: f64) -> RowRegret {
        RowRegret {
            regret,
            optimal_objective,
        }
    }

    #[test]
    fn the_interval_is_reproducible_and_that_of_the_normal_distribution_for_many_seeds() {
        // 0 and 1 equally often: standard error 0.5 / √400 = 0.025.
        let values: Vec<f64> = (0..400).map(|seed| f64::from(seed % 2)).collect();
        let sample = RegretSample::of_seeds(by_seed(&values));
        assert_eq!(sample, RegretSample::of_seeds(by_seed(&values)));
        let interval = sample.interval.unwrap();
        assert_eq!(interval.mean, 0.5);
        assert!(
            (interval.lower - (0.5 - 1.96 * 0.025)).abs() < 0.005,
            "{interval:?}"
        );
        assert!(
            (interval.upper - (0.5 + 1.96 * 0.025)).abs() < 0.005,
            "{interval:?}"
        );
        assert!(!sample.covers_test_rows);
    }

    #[test]
    fn one_seed_has_no_interval_over_seeds() {
        assert_eq!(RegretSample::of_seeds(by_seed(&[0.3])).interval, None);
        assert_eq!(RegretSample::of_seeds(by_seed(&[])).spread.mean, None);
    }

    #[test]
    fn few_test_rows_widen_the_interval() {
        // Both seeds have the regret 0.5; a resample of both rows has 0.1, 0.5 or 0.9.
        let rows = [row(0.1, 1.0), row(0.9, 1.0)];
        let sample = RegretSample::of_seeds_and_rows(by_seed(&[0.5, 0.5]), &[&rows, &rows]);
        let interval = sample.interval.unwrap();
        assert!(sample.covers_test_rows);
        assert!((interval.lower - 0.1).abs() < 1e-6 && (interval.upper - 0.9).abs() < 1e-6);
        let seeds = RegretSample::of_seeds(by_seed(&[0.5, 0.5]))
            .interval
            .unwrap();
        assert_eq!((seeds.lower, seeds.upper), (0.5, 0.5));
    }

    #[test]
    fn an_interval_over_rows_needs_the_rows_of_all_seeds() {
        let rows = [row(0.1, 1.0), row(0.9, 1.0)];
        let sample = RegretSample::of_seeds_and_rows(by_seed(&[0.5, 0.5]), &[&rows, &[]]);
        assert!(!sample.covers_test_rows);
    }
}
