//! Simultaneous intervals of mean differences in time series: the studentized circular block
//! bootstrap (Politis and Romano 1992, 1994; Götze and Künsch 1996) with the maximum over methods
//! (max-t, Romano and Wolf 2005).
//!
//! Consecutive periods are alike, so that single periods must not be drawn independently. Blocks of
//! b consecutive periods are drawn with replacement, the same blocks for all methods; periods
//! are thought of as a circle. With k = ⌊n/b⌋ drawn blocks, a resample has the statistic
//! t* = (mean* − mean) / se*, where se* is the standard error of k block means. Let u be the 97.5 %
//! quantile of the largest t* among all methods and l the 2.5 % quantile of the smallest: the
//! intervals from mean − u · se to mean − l · se contain the true mean differences of all methods
//! in 95 % of histories. Both ends have a quantile of their own, since costs are skewed.
//!
//! Block length: twice the automatic one of Politis and White (2004, with the correction of Patton,
//! Politis and White 2009), the longest among the methods. The automatic length minimizes the
//! error of the variance, which is then too small on average. Of 1,000 simulated
//! histories of 250 periods with autocorrelation 0.3 and skewed costs, intervals of 95 % covered
//! 92.3 % with it and 93.9 % with twice that; a saving of one of five methods that are all alike
//! was claimed in 3.9 % and 2.9 % (the test below that is ignored by default). The factor was
//! chosen on these histories, so that 93.9 % may be slightly too good.

use crate::random::{Purpose, RandomStream};

/// Resamples of an interval: the coverage then differs by 0.3 % (standard error) from that of
/// infinitely many.
const RESAMPLES: usize = 5_000;
/// Coverage of all intervals together.
pub(super) const CONFIDENCE: f64 = 0.95;
/// Fewest periods in which a method must differ for an interval: resamples of fewer may have no
/// difference at all, and then no standard error. The chance that 250 draws miss ten is e^-10.
const MIN_DIFFERING_PERIODS: usize = 10;
/// Factor of the automatic block length; see above.
const BLOCK_LENGTH_FACTOR: usize = 2;
/// Fewest autocorrelations in a row that must be insignificant, and their bound, as in Politis and
/// White (2004).
const MIN_INSIGNIFICANT_LAGS: usize = 5;
const SIGNIFICANCE_FACTOR: f64 = 2.0;

/// Mean differences of several methods with simultaneous intervals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SimultaneousIntervals {
    /// Lower and upper end for each method; none where a method differs in too few periods.
    pub intervals: Vec<Option<[f64; 2]>>,
    /// Length of the blocks, in periods; none without an interval.
    pub block_length: Option<usize>,
}

impl SimultaneousIntervals {
    /// Intervals of the means of some series of equal length.
    pub fn new(differences: &[Vec<f64>]) -> Self {
        let resampled: Vec<&Vec<f64>> = differences
            .iter()
            .filter(|series| SeriesKind::of(series) == SeriesKind::Varying)
            .collect();
        let block_length = block_length(&resampled);
        let length = block_length.unwrap_or(1);
        let blocks = resampled.iter();
        let blocks: Vec<BlockMeans> = blocks
            .map(|series| BlockMeans::new(series, length))
            .collect();
        let quantiles = TQuantiles::new(&blocks);
        let mut blocks = blocks.iter();
        let mut intervals = Vec::with_capacity(differences.len());
        for series in differences {
            intervals.push(match SeriesKind::of(series) {
                SeriesKind::TooFewDifferences => None,
                SeriesKind::Constant(difference) => Some([difference; 2]),
                SeriesKind::Varying => blocks.next().and_then(|all| all.interval(quantiles)),
            });
        }
        Self {
            intervals,
            block_length,
        }
    }
}

/// How the interval of a series is found.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SeriesKind {
    /// Not at all.
    TooFewDifferences,
    /// It is this number.
    Constant(f64),
    /// By resampling.
    Varying,
}

impl SeriesKind {
    fn of(series: &[f64]) -> Self {
        let differing = series.iter().filter(|difference| **difference != 0.0);
        match series.first() {
            Some(first) if differing.count() >= MIN_DIFFERING_PERIODS => {
                if series.iter().all(|difference| difference == first) {
                    Self::Constant(*first)
                } else {
                    Self::Varying
                }
            }
            Some(_) | None => Self::TooFewDifferences,
        }
    }
}

/// Means of all blocks of a series.
struct BlockMeans {
    /// The mean of the block that begins at each period.
    means: Vec<f64>,
    mean: f64,
    /// Of the mean, as resamples estimate it.
    standard_error: f64,
    /// Blocks of a resample.
    blocks: usize,
}

impl BlockMeans {
    fn new(series: &[f64], length: usize) -> Self {
        let periods = series.len();
        let mut means = Vec::with_capacity(periods);
        for start in 0..periods {
            let block = (start..start + length).map(|period| series[period % periods]);
            means.push(block.sum::<f64>() / length as f64);
        }
        let mean = series.iter().sum::<f64>() / periods as f64;
        let squares: f64 = means.iter().map(|block| (block - mean).powi(2)).sum();
        let blocks = periods / length;
        let variance = squares / periods as f64 / (blocks - 1) as f64;
        Self {
            means,
            mean,
            standard_error: variance.sqrt(),
            blocks,
        }
    }

    /// The interval of the mean; none where a quantile is infinite, because some resamples of few
    /// differing periods have no standard error.
    fn interval(&self, quantiles: TQuantiles) -> Option<[f64; 2]> {
        // The statistic is below its true value where the mean is too low.
        let ends = [quantiles.upper, quantiles.lower].map(|t| self.mean - t * self.standard_error);
        ends.iter().all(|end| end.is_finite()).then_some(ends)
    }

    /// t* of the resample with blocks that begin at these periods; none without a standard error.
    fn resampled_t(&self, starts: &[usize]) -> Option<f64> {
        let count = starts.len() as f64;
        let mean = starts.iter().map(|start| self.means[*start]).sum::<f64>() / count;
        let squares: f64 = starts
            .iter()
            .map(|start| (self.means[*start] - mean).powi(2))
            .sum();
        let standard_error = (squares / (count - 1.0) / count).sqrt();
        // Rounding leaves a tiny error where all blocks are alike.
        let has_error = standard_error > f64::EPSILON * self.standard_error;
        has_error.then(|| (mean - self.mean) / standard_error)
    }
}

/// Quantiles of the smallest and the largest t* among all methods.
#[derive(Debug, Clone, Copy)]
struct TQuantiles {
    lower: f64,
    upper: f64,
}

impl TQuantiles {
    /// Draws depend on the number of periods and blocks only.
    fn new(all: &[BlockMeans]) -> Self {
        let Some(first) = all.first() else {
            return Self {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            };
        };
        let (periods, blocks) = (first.means.len(), first.blocks);
        let mut stream = RandomStream::new(Purpose::Bootstrap, 0, [periods as u64, blocks as u64]);
        let mut starts = vec![0; blocks];
        let (mut smallest, mut largest) = (Vec::new(), Vec::new());
        for _ in 0..RESAMPLES {
            starts.fill_with(|| stream.index_below(periods));
            let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
            for series in all {
                let statistic = series.resampled_t(&starts);
                min = min.min(statistic.unwrap_or(f64::NEG_INFINITY));
                max = max.max(statistic.unwrap_or(f64::INFINITY));
            }
            smallest.push(min);
            largest.push(max);
        }
        let tail = ((1.0 - CONFIDENCE) / 2.0 * RESAMPLES as f64).floor() as usize;
        for values in [&mut smallest, &mut largest] {
            values.sort_by(f64::total_cmp);
        }
        Self {
            lower: smallest[tail],
            upper: largest[RESAMPLES - 1 - tail],
        }
    }
}

/// The longest block length among some series; none without a series.
fn block_length(all: &[&Vec<f64>]) -> Option<usize> {
    let lengths = all.iter().map(|series| automatic_block_length(series));
    let longest = BLOCK_LENGTH_FACTOR * lengths.max()?;
    Some(longest.min(max_block_length(all.first()?.len())))
}

/// The upper limit of Politis and White (2004): at least three blocks fit.
fn max_block_length(periods: usize) -> usize {
    let count = periods as f64;
    ((3.0 * count.sqrt()).min(count / 3.0).floor() as usize).max(1)
}

/// The block length of the circular bootstrap that Politis and White (2004) propose: from
/// autocovariances weighted by a trapezoidal window, up to the lag after which they are
/// insignificant.
fn automatic_block_length(series: &[f64]) -> usize {
    let periods = series.len();
    let count = periods as f64;
    let max_lag = (count.sqrt().ceil() as usize + MIN_INSIGNIFICANT_LAGS).min(periods - 1);
    let covariances = autocovariances(series, max_lag);
    if covariances[0] <= 0.0 {
        return 1;
    }
    let bound = SIGNIFICANCE_FACTOR * (count.log10() / count).sqrt() * covariances[0];
    let are_insignificant = |lag: &usize| {
        let following = covariances
            .iter()
            .skip(lag + 1)
            .take(MIN_INSIGNIFICANT_LAGS);
        following
            .map(|covariance| covariance.abs())
            .all(|size| size < bound)
    };
    let last_significant = (0..max_lag).find(are_insignificant).unwrap_or(max_lag);
    let bandwidth = (2 * last_significant.max(1)).min(max_lag);
    let (mut weighted, mut spectrum) = (0.0, covariances[0]);
    for (lag, covariance) in (1..=bandwidth).zip(&covariances[1..]) {
        let weight = (2.0 * (1.0 - lag as f64 / bandwidth as f64)).min(1.0);
        weighted += 2.0 * weight * lag as f64 * covariance;
        spectrum += 2.0 * weight * covariance;
    }
    let denominator = 4.0 / 3.0 * spectrum * spectrum;
    if denominator <= 0.0 {
        return 1;
    }
    let length = (2.0 * weighted * weighted / denominator * count).cbrt();
    (length.ceil() as usize).clamp(1, max_block_length(periods))
}

fn autocovariances(series: &[f64], max_lag: usize) -> Vec<f64> {
    let count = series.len() as f64;
    let mean = series.iter().sum::<f64>() / count;
    let centered: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let covariance = |lag: usize| {
        let products = centered.iter().zip(&centered[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / count
    };
    (0..=max_lag).map(covariance).collect()
}

#[cfg(test)]
mod tests {
    use super::{SimultaneousIntervals, automatic_block_length, max_block_length};
    use crate::random::{Purpose, RandomStream};

    /// A series with autocorrelation `correlation` and skewed steps of mean 0.
    fn skewed_series(
        periods: usize,
        correlation: f64,
        mean: f64,
        stream: &mut RandomStream,
    ) -> Vec<f64> {
        /// Steps until the start is forgotten.
        const BURN_IN: usize = 50;
        let mut value = 0.0;
        let mut series = Vec::with_capacity(periods);
        for step in 0..periods + BURN_IN {
            // A gamma variable of shape 0.5 has the skewness 2.8.
            value = correlation * value + stream.gamma(0.5) - 0.5;
            if step >= BURN_IN {
                series.push(mean + value);
            }
        }
        series
    }

    fn contains(interval: [f64; 2], value: f64) -> bool {
        interval[0] <= value && value <= interval[1]
    }

    /// Fraction of simulated histories of 250 periods whose interval contains the true saving.
    fn coverage(histories: u64) -> f64 {
        let mut covered = 0;
        for history in 0..histories {
            let mut stream = RandomStream::new(Purpose::Benchmark, 1, [history, 0]);
            let saving = skewed_series(250, 0.3, 1.0, &mut stream);
            let result = SimultaneousIntervals::new(&[saving]);
            covered += u64::from(contains(result.intervals[0].unwrap(), 1.0));
        }
        covered as f64 / histories as f64
    }

    /// Fraction of simulated histories in which one of five methods seems to save although none
    /// does: all methods and the reference have independent costs of the same distribution.
    fn false_claims(histories: u64) -> f64 {
        let mut claims = 0;
        for history in 0..histories {
            let mut stream = RandomStream::new(Purpose::Benchmark, 2, [history, 0]);
            let reference = skewed_series(250, 0.3, 10.0, &mut stream);
            let mut savings = Vec::new();
            for _ in 0..5 {
                let costs = skewed_series(250, 0.3, 10.0, &mut stream);
                let pairs = reference.iter().zip(&costs);
                savings.push(pairs.map(|(reference, cost)| reference - cost).collect());
            }
            let result = SimultaneousIntervals::new(&savings);
            let saves = |interval: &Option<[f64; 2]>| interval.is_some_and(|[low, _]| low > 0.0);
            claims += u64::from(result.intervals.iter().any(saves));
        }
        claims as f64 / histories as f64
    }

    #[test]
    fn a_smoke_sample_of_histories_is_covered_and_rarely_claims_a_saving() {
        // The standard error of 95 % over 60 histories is 2.8 %.
        let covered = coverage(60);
        assert!((0.86..=1.0).contains(&covered), "{covered}");
        let claims = false_claims(30);
        assert!(claims <= 0.17, "{claims}");
    }

    #[test]
    #[ignore = "1,000 histories; minutes without optimization"]
    fn a_thousand_histories_are_covered_as_stated_and_rarely_claim_a_saving() {
        let covered = coverage(1000);
        assert!((0.92..=0.98).contains(&covered), "{covered}");
        let claims = false_claims(1000);
        assert!(claims <= 0.07, "{claims}");
        println!("covered {covered}, claims {claims}");
    }

    #[test]
    fn blocks_are_longer_where_periods_are_more_alike() {
        let mut stream = RandomStream::new(Purpose::Benchmark, 3, [0, 0]);
        let independent = skewed_series(1000, 0.0, 0.0, &mut stream);
        let alike = skewed_series(1000, 0.8, 0.0, &mut stream);
        let [short, long] = [independent, alike].map(|series| automatic_block_length(&series));
        assert!(short <= 4, "{short}");
        assert!((12..=max_block_length(1000)).contains(&long), "{long}");
    }

    #[test]
    fn more_methods_make_intervals_wider_and_a_method_without_differences_has_none() {
        let mut stream = RandomStream::new(Purpose::Benchmark, 4, [0, 0]);
        let all: Vec<Vec<f64>> = (0..6)
            .map(|_| skewed_series(250, 0.3, 0.5, &mut stream))
            .collect();
        let width = |result: &SimultaneousIntervals| {
            let [low, high] = result.intervals[0].unwrap();
            high - low
        };
        let alone = SimultaneousIntervals::new(&all[..1]);
        let together = SimultaneousIntervals::new(&all);
        assert!(width(&together) > 1.1 * width(&alone));
        let mut with_equal = all[..1].to_vec();
        with_equal.insert(0, vec![0.0; 250]);
        let result = SimultaneousIntervals::new(&with_equal);
        assert_eq!(result.intervals, [None, alone.intervals[0]]);
        with_equal[0] = vec![5.0; 250];
        let result = SimultaneousIntervals::new(&with_equal);
        assert_eq!(result.intervals, [Some([5.0, 5.0]), alone.intervals[0]]);
        let mut sparse = vec![0.0; 250];
        sparse[..9].fill(1.0);
        assert_eq!(SimultaneousIntervals::new(&[sparse]).block_length, None);
    }

    #[test]
    fn the_interval_of_independent_periods_is_that_of_the_normal_distribution() {
        let mut stream = RandomStream::new(Purpose::Benchmark, 5, [0, 0]);
        let series: Vec<f64> = (0..2000).map(|_| 3.0 + stream.normal()).collect();
        let result = SimultaneousIntervals::new(&[series]);
        let [low, high] = result.intervals[0].unwrap();
        let expected = 2.0 * 1.96 / 2000.0_f64.sqrt();
        assert!(
            (high - low - expected).abs() < 0.12 * expected,
            "{low} {high}"
        );
    }

    #[test]
    fn very_short_series_have_an_interval_or_none_and_never_panic() {
        for periods in 1..40 {
            let mut stream = RandomStream::new(Purpose::Benchmark, 6, [periods, 0]);
            let series = skewed_series(periods as usize, 0.3, 1.0, &mut stream);
            let result = SimultaneousIntervals::new(&[series, vec![5.0; periods as usize]]);
            for [low, high] in result.intervals.into_iter().flatten() {
                assert!(low.is_finite() && high.is_finite());
            }
        }
    }
}
