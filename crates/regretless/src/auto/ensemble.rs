//! Averages of candidates: each scaled to the same norm, and over the models of all folds.

use super::candidate::Candidate;
use crate::error::Result;
use crate::predict::{CostModel, EnsembleMember};

/// Numbers of candidates whose average is tried: powers of two up to those that are kept for all
/// folds. The search chooses among them, and results hardly depend on the largest: with at most 1,
/// 4, 8 and 16 the normalized regret was 0.0587, 0.0581, 0.0583 and 0.0584 on six tables of SP5x5,
/// and 0.0660, 0.0661, 0.0669 and 0.0669 on two of KS32 (seeds from 400 on, 20,000 rows each that
/// took no part in the search).
pub(super) const AVERAGED_CANDIDATES: [usize; 4] = [1, 2, 4, 8];
/// An average of more candidates is preferred to that of fewer unless its mean regret is higher by
/// more than this many standard errors of the difference: averaging lowers the variance on new
/// rows, and the rows that candidates are scored on also chose them.
const MORE_CANDIDATES_TOLERANCE: f64 = 0.5;
/// Least squares is preferred to any other model unless its mean regret is higher by more than this
/// many standard errors of the difference.
pub(super) const LEAST_SQUARES_TOLERANCE: f64 = 0.25;
/// Most parameters of an ensemble of networks: 20 MB in its file.
const MAX_ENSEMBLE_PARAMETERS: usize = 5_000_000;

/// An average of candidates with its regret on the scored rows.
#[derive(Debug)]
pub(super) struct Average {
    /// The candidates by index.
    pub(super) members: Vec<usize>,
    /// Regret of each scored row, fold by fold.
    pub(super) regrets: Vec<f64>,
}

/// Mean and standard error of paired differences of regrets, `first` − `second`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairedDifference {
    pub(super) mean: f64,
    /// 0 for fewer than two rows.
    pub(super) standard_error: f64,
}

impl PairedDifference {
    pub(super) fn of(first: &[f64], second: &[f64]) -> Self {
        // Both models are scored on the same rows, whose difficulty cancels in the difference.
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let count = differences.len().max(1) as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        // With one row there is no spread, and no standard error.
        let standard_error = if differences.len() > 1 {
            (squares / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        Self {
            mean,
            standard_error,
        }
    }

    /// Whether the first is at most this many standard errors worse than the second.
    pub(super) fn is_within(self, tolerance: f64) -> bool {
        self.mean <= tolerance * self.standard_error
    }
}

/// The largest average that is not clearly worse than the best one; `None` without averages.
pub(super) fn choose(averages: Vec<Average>) -> Option<Average> {
    let mean = |average: &Average| {
        average.regrets.iter().sum::<f64>() / average.regrets.len().max(1) as f64
    };
    let best = averages
        .iter()
        .min_by(|a, b| mean(a).total_cmp(&mean(b)))?
        .regrets
        .clone();
    averages
        .into_iter()
        .filter(|average| {
            PairedDifference::of(&average.regrets, &best).is_within(MORE_CANDIDATES_TOLERANCE)
        })
        .max_by_key(|average| average.members.len())
}

/// The average of the models of one fold, its predictions multiplied by `factor`.
///
/// # Errors
/// When models cannot be averaged.
pub(super) fn average_of_fold(
    candidates: &[&Candidate],
    fold: usize,
    factor: f64,
) -> Result<CostModel> {
    let mut members = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let result = &candidate.folds[fold];
        members.push(EnsembleMember {
            model: &result.model,
            weight: factor * result.norm_factor / candidates.len() as f64,
        });
    }
    CostModel::weighted_sum(&members)
}

/// The average of the models of the first folds, its predictions multiplied by `factor`. If
/// networks would have too many parameters, it has fewer folds.
///
/// # Errors
/// When models cannot be averaged.
pub(super) fn average_of_folds(
    candidates: &[&Candidate],
    num_folds: usize,
    factor: f64,
) -> Result<CostModel> {
    let networks = candidates
        .iter()
        .flat_map(|candidate| &candidate.folds[0].model.networks);
    let parameters: usize = networks
        .filter(|network| !network.is_linear())
        .map(|network| network.parameters().len())
        .sum();
    let affordable = MAX_ENSEMBLE_PARAMETERS
        .checked_div(parameters)
        .unwrap_or(usize::MAX);
    let num_folds = num_folds.min(affordable).max(1);
    let num_models = (candidates.len() * num_folds) as f64;
    let mut members = Vec::new();
    for candidate in candidates {
        for result in &candidate.folds[..num_folds] {
            members.push(EnsembleMember {
                model: &result.model,
                weight: factor * result.norm_factor / num_models,
            });
        }
    }
    CostModel::weighted_sum(&members)
}

#[cfg(test)]
mod tests {
    use super::{Average, PairedDifference, choose};

    #[test]
    fn differences_are_paired() {
        let difference = PairedDifference::of(&[3.0, 5.0, 4.0], &[2.0, 3.0, 1.0]);
        assert_eq!(difference.mean, 2.0);
        assert!((difference.standard_error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(!difference.is_within(3.0) && difference.is_within(4.0));
    }

    #[test]
    fn a_larger_average_is_chosen_unless_it_is_clearly_worse() {
        let average = |count: usize, shift: f64| Average {
            members: (0..count).collect(),
            regrets: (0..10).map(|row| shift * f64::from(row % 3)).collect(),
        };
        let chosen = choose(vec![average(1, 1.0), average(2, 1.0), average(4, 2.0)]);
        assert_eq!(chosen.unwrap().members.len(), 2);
        assert!(choose(Vec::new()).is_none());
    }
}
