//! How the seeds of a comparison depend on each other, and intervals of means over them.
//!
//! Seeds with rows of their own are independent, and Student's t interval holds. Seeds that divide
//! one table at random share rows: they differ less than other tables of the same kind would. Two
//! of them have a fraction p of their test rows in common, so their correlation is at most p, which
//! it is if all models decide alike. The variance of a mean over J seeds is then (1/J + p/(1 − p))
//! times that of the seeds (after Nadeau and Bengio 2003). Without the second term, 95 % intervals
//! of 10, 20 and 40 seeds of simulated tables of 160 rows covered 89 %, 82 % and 72 %. Seeds that
//! are tested on the same rows say nothing about other rows.

use super::cell_data::CellData;
use regretless::label::LabeledDataset;
use regretless_base::statistics::{ConfidenceInterval, MeanAndDeviation};

/// How the seeds of a comparison depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SeedDesign {
    /// Every seed has rows of its own.
    OwnRows,
    /// All seeds divide the same rows, each at random.
    OneTable {
        /// Test rows divided by the other rows.
        test_ratio: f64,
    },
    /// All seeds are tested on the same rows.
    SameTestRows,
}

impl SeedDesign {
    /// That of these seeds.
    pub fn of(seeds: &[CellData]) -> Self {
        let Some((first, others)) = seeds.split_first() else {
            return Self::OwnRows;
        };
        if !others
            .iter()
            .all(|seed| have_same_costs(&seed.data, &first.data))
        {
            return Self::OwnRows;
        }
        if others
            .iter()
            .all(|seed| seed.split.test == first.split.test)
        {
            return Self::SameTestRows;
        }
        // Splits may differ in size, such as expanding folds.
        let ratio = |seed: &CellData| {
            let [train, validation, test] = seed.split.counts();
            test as f64 / (train + validation).max(1) as f64
        };
        let ratios: Vec<f64> = seeds.iter().map(ratio).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let are_equal = ratios.iter().all(|other| *other == ratios[0]);
        Self::OneTable {
            // Without rounding if the splits are alike.
            test_ratio: if are_equal { ratios[0] } else { mean },
        }
    }

    /// The 95 % interval of the mean over seeds of what was chosen as the best of so many (one, if
    /// nothing was chosen). Its lower and its upper end hold in at least 95 % of the choices, each
    /// for itself (Bonferroni): a claim is about one of them. None for a single seed, and if all
    /// seeds are tested on the same rows.
    pub fn interval(
        self,
        of_seeds: &MeanAndDeviation,
        best_of: usize,
    ) -> Option<ConfidenceInterval> {
        let tail = (0.05 / best_of.max(1) as f64).min(0.025);
        let independent = 1.0 / of_seeds.count as f64;
        let variance_fraction = match self {
            Self::OwnRows => independent,
            Self::OneTable { test_ratio } => independent + test_ratio,
            Self::SameTestRows => return None,
        };
        of_seeds.interval_with_error(variance_fraction, tail)
    }
}

/// Whether two tables have the same costs; their features may be encoded differently.
fn have_same_costs(first: &LabeledDataset, second: &LabeledDataset) -> bool {
    if std::ptr::eq(first, second) {
        return true;
    }
    let [first, second] = [first, second].map(|table| table.data().costs().as_slice());
    let mut pairs = first.iter().zip(second);
    first.len() == second.len() && pairs.all(|(a, b)| a.to_bits() == b.to_bits())
}

#[cfg(test)]
mod tests {
    use super::SeedDesign;
    use crate::experiment::MeanAndDeviation;

    #[test]
    fn seeds_that_share_a_table_have_wider_intervals() {
        let seeds = MeanAndDeviation::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let half_width = |design: SeedDesign, best_of: usize| {
            let interval = design.interval(&seeds, best_of).unwrap();
            interval.upper - interval.mean
        };
        let own = half_width(SeedDesign::OwnRows, 1);
        assert_eq!(own, seeds.interval().unwrap().upper - 3.0);
        let shared = half_width(SeedDesign::OneTable { test_ratio: 0.25 }, 1);
        // 1/5 + 1/4 of the variance instead of 1/5.
        assert!((shared / own - 1.5).abs() < 1e-9, "{shared} {own}");
        assert_eq!(half_width(SeedDesign::OwnRows, 2), own);
        let of_five = half_width(SeedDesign::OwnRows, 5);
        // Quantiles of 99 % and 97.5 % with four degrees of freedom.
        assert!(
            (of_five / own - 3.747 / 2.776).abs() < 1e-3,
            "{of_five} {own}"
        );
        assert_eq!(SeedDesign::SameTestRows.interval(&seeds, 1), None);
    }
}
