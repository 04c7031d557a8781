//! Labels compared with each other: under the costs of a row, its label is at least as good as that
//! of any other row with the same feasible set. If it is not, the solver is not optimal, or its
//! objective has terms besides costs times decision.

use super::LabeledDataset;
use crate::decision::Decision;
use crate::oracle::Oracle;

/// Most rows that are compared, each with all the others. Untuned: ten thousand products of costs
/// and decision take milliseconds, and a solver that ignores a part of the objective is worse in
/// many pairs.
const MAX_COMPARED_ROWS: usize = 100;

/// Relative difference of two objectives that counts as equal: the usual gap at which MIP solvers
/// stop.
const OBJECTIVE_TOLERANCE: f64 = 1e-4;

/// What a comparison of labels found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LabelComparison {
    /// Rows that were compared.
    pub rows: usize,
    /// Rows whose label is worse, by their own costs, than that of another row, each with the best
    /// such row.
    pub worse_rows: Vec<[usize; 2]>,
    /// Pairs of a row and another row whose label is better for it.
    pub better_pairs: usize,
    /// Pairs of a row and another row whose label is worse for it.
    pub worse_pairs: usize,
}

impl LabeledDataset {
    /// Compares the labels of some rows, spread over the table. Rows with other parameters may have
    /// another feasible set and are not compared, nor are rows with absent costs.
    pub(crate) fn compare_labels(&self, oracle: &Oracle) -> LabelComparison {
        let mut comparison = LabelComparison::default();
        if self.has_absent_costs() {
            return comparison;
        }
        let all = self.rows();
        // Evenly spread, since neighboring rows may be alike.
        let distance = all.len().div_ceil(MAX_COMPARED_ROWS).max(1);
        let rows: Vec<usize> = all.into_iter().step_by(distance).collect();
        let parameters: Vec<Vec<u64>> = rows.iter().map(|row| bits_of(oracle, *row)).collect();
        comparison.rows = rows.len();
        for (row, own) in rows.iter().zip(&parameters) {
            let same = rows.iter().zip(&parameters);
            let same = same.filter(|(other, of_other)| *other != row && *of_other == own);
            let mut best: Option<(f64, usize)> = None;
            for (other, _) in same {
                let gain = self.relative_gain(*row, *other);
                comparison.better_pairs += usize::from(gain > OBJECTIVE_TOLERANCE);
                comparison.worse_pairs += usize::from(gain < -OBJECTIVE_TOLERANCE);
                if gain > OBJECTIVE_TOLERANCE && best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, *other));
                }
            }
            comparison
                .worse_rows
                .extend(best.map(|(_, other)| [*row, other]));
        }
        comparison
    }

    /// By how much the label of another row is better for a row than its own, relative to the sizes
    /// of their terms, which may cancel.
    fn relative_gain(&self, row: usize, other: usize) -> f64 {
        let (own, other) = (self.optimal_decision(row), self.optimal_decision(other));
        let gain = self.objective_of(own, row) - self.objective_of(other, row);
        let scale = self
            .size_of_terms(own, row)
            .max(self.size_of_terms(other, row));
        // Even if the scale is 0.
        if gain == 0.0 { 0.0 } else { gain / scale }
    }

    /// The sum of the absolute terms of the objective of a decision in a row.
    fn size_of_terms(&self, decision: &Decision, row: usize) -> f64 {
        let costs = self.data.costs().row(row);
        let terms = decision.iter();
        let sum: f64 = terms
            .map(|(j, value)| (f64::from(costs[j]) * value).abs())
            .sum();
        sum + decision.fixed().abs()
    }
}

/// The parameters of a row, comparable bit by bit.
fn bits_of(oracle: &Oracle, row: usize) -> Vec<u64> {
    let mut values = Vec::new();
    // A row without readable parameters has no label.
    if oracle.has_row_problems() && oracle.read_parameters(row, &mut values).is_err() {
        return Vec::new();
    }
    values.into_iter().map(f64::to_bits).collect()
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::label::LabeledDataset;
    use crate::observer::NoopObserver;
    use crate::oracle::Oracle;
    use crate::problem::Problem;
    use crate::sense::Sense;

    /// The cheapest of three, each with a rent that the returned decision does not show.
    fn compared(rents: [f64; 3], sense: Sense) -> super::LabelComparison {
        let solve = move |costs: &[f64]| {
            let total = |j: &usize| costs[*j] + rents[*j];
            let best = (0..3).min_by(|a, b| total(a).total_cmp(&total(b)))?;
            Some((0..3).map(|j| f64::from(u8::from(j == best))).collect())
        };
        let problem = Problem::from_solver("three", sense, 3, solve).unwrap();
        let costs: Vec<[f64; 3]> = (0..40)
            .map(|row| [0, 3, 5].map(|shift| 2.0 + f64::from((row * 7 + shift * row) % 11)))
            .collect();
        let features = vec![[0.0]; costs.len()];
        let data = Dataset::from_arrays(&features, &costs).unwrap();
        let oracle = Oracle::new(problem.kind().clone());
        let labeled = LabeledDataset::solve(data, &oracle, &NoopObserver).unwrap();
        labeled.compare_labels(&oracle)
    }

    #[test]
    fn labels_of_an_optimal_solver_are_never_worse_than_others() {
        let comparison = compared([0.0; 3], Sense::Minimize);
        assert_eq!((comparison.rows, comparison.better_pairs), (40, 0));
        assert!(comparison.worse_rows.is_empty() && comparison.worse_pairs > 0);
    }

    #[test]
    fn a_part_of_the_objective_that_decisions_do_not_show_makes_labels_worse() {
        let comparison = compared([0.0, 4.0, 1.0], Sense::Minimize);
        assert!(!comparison.worse_rows.is_empty());
        assert!(comparison.better_pairs < comparison.worse_pairs);
    }

    #[test]
    fn with_the_wrong_sense_other_labels_are_hardly_ever_worse() {
        let comparison = compared([0.0; 3], Sense::Maximize);
        assert_eq!(comparison.worse_pairs, 0);
        assert!(comparison.better_pairs > 0);
    }
}
