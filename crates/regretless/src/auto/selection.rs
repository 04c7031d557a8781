//! What the choice among candidates adds to the regret of the best one on rows that chose it.
//!
//! The candidate of the lowest regret on some rows has a higher regret on others: it was also
//! lucky. The scored rows are divided into parts. On every part, the regret of the candidate that
//! the other parts choose is that of a choice that has not seen the part (nested cross-validation,
//! Varma and Simon 2006); candidates are not trained again. Its excess over the regret of the
//! candidate that all rows choose is the optimism of the choice (Tibshirani and Tibshirani 2009).
//! It is added, row by row, to the regrets of the average that is returned, so the variance of the
//! choice is part of that of the mean.

use std::ops::Range;

/// Parts if all candidates are scored on one fold. As many as folds.
const PARTS_OF_ONE_FOLD: usize = 5;

/// The parts of the scored rows: the folds, or parts of the only one.
pub(super) fn parts(rows_of_folds: &[usize]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    if let [rows] = *rows_of_folds {
        // With one fold, its rows are divided as folds would be.
        for part in 0..PARTS_OF_ONE_FOLD {
            let bound = |part: usize| part * rows / PARTS_OF_ONE_FOLD;
            parts.push(bound(part)..bound(part + 1));
        }
        return parts;
    }
    let mut start = 0;
    for rows in rows_of_folds {
        parts.push(start..start + rows);
        start += rows;
    }
    parts
}

/// By how much the regret of each row is higher for the candidate that the other parts choose than
/// for the one that all rows choose. `regrets` has those of all candidates, the simplest first.
pub(super) fn optimism(regrets: &[Vec<f64>], parts: &[Range<usize>]) -> Vec<f64> {
    let rows = parts.last().map_or(0, |part| part.end);
    let lowest_without = |left_out: &Range<usize>| {
        // Sums instead of means: all candidates have the same rows.
        let total = |candidate: &Vec<f64>| -> f64 {
            let before = candidate[..left_out.start].iter().sum::<f64>();
            before + candidate[left_out.end..].iter().sum::<f64>()
        };
        regrets.iter().min_by(|a, b| total(a).total_cmp(&total(b)))
    };
    let mut optimism = vec![0.0; rows];
    let Some(best) = lowest_without(&(rows..rows)) else {
        return optimism;
    };
    for part in parts {
        let Some(chosen) = lowest_without(part) else {
            continue;
        };
        for row in part.clone() {
            // A row that did not take part in the choice: the difference is what choosing on it
            // would have hidden.
            optimism[row] = chosen[row] - best[row];
        }
    }
    optimism
}

#[cfg(test)]
mod tests {
    use super::{optimism, parts};
    use crate::random::{Purpose, RandomStream};

    #[test]
    fn the_luckiest_of_equal_candidates_is_expected_to_be_like_the_others() {
        let (tables, rows, candidates) = (200, 50, 20);
        let (mut of_choice, mut corrected) = (0.0, 0.0);
        for table in 0..tables {
            let mut stream = RandomStream::new(Purpose::Benchmark, 12, [table, 0]);
            let mut regrets = vec![vec![0.0; rows]; candidates];
            for candidate in &mut regrets {
                // The true mean is 1.
                candidate.fill_with(|| 1.0 + stream.normal());
            }
            let means = regrets
                .iter()
                .map(|candidate| candidate.iter().sum::<f64>() / rows as f64);
            let lowest = means.fold(f64::INFINITY, f64::min);
            let added = optimism(&regrets, &parts(&[rows]));
            of_choice += lowest / tables as f64;
            corrected += (lowest + added.iter().sum::<f64>() / rows as f64) / tables as f64;
        }
        assert!(of_choice < 0.8, "{of_choice}");
        assert!((corrected - 1.0).abs() < 0.05, "{corrected}");
    }

    #[test]
    fn parts_are_the_folds_or_fifths_of_the_only_one() {
        assert_eq!(parts(&[3, 2]), [0..3, 3..5]);
        assert_eq!(parts(&[10]), [0..2, 2..4, 4..6, 6..8, 8..10]);
    }

    #[test]
    fn a_candidate_that_is_best_by_luck_on_one_part_has_an_optimism_there() {
        // The first is best on all rows because of the first part alone.
        let lucky = vec![0.0, 0.0, 5.0, 5.0];
        let steady = vec![3.0, 3.0, 3.0, 3.0];
        let parts = [0..2, 2..4];
        let found = optimism(&[lucky, steady.clone()], &parts);
        assert_eq!(found, [3.0, 3.0, 0.0, 0.0]);
        assert_eq!(optimism(&[steady], &parts), [0.0; 4]);
    }
}
