//! Refactorization: recomputes a [`KnapsackTableau`] from the data, so the rounding errors of many
//! pivots do not accumulate.

use super::tableau::{KnapsackTableau, TableauInput, TableauVariable};
use crate::dense_tableau::{dot, invert};

impl KnapsackTableau {
    /// The entry of a variable in a row of the original system.
    fn entry(&self, variable: TableauVariable, row: usize, input: TableauInput) -> f64 {
        match variable.index().checked_sub(self.first_slack) {
            None => {
                let weight = input.items.column(variable.index())[row];
                if variable.is_complemented() {
                    // A complemented item contributes 1 − x: its column changes sign, and its
                    // weight moves to the right side.
                    -weight
                } else {
                    weight
                }
            }
            Some(slack_row) => f64::from(u8::from(slack_row == row)),
        }
    }

    fn cost(&self, variable: TableauVariable, input: TableauInput) -> f64 {
        match (self.is_item(variable), variable.is_complemented()) {
            (false, _) => 0.0,
            (true, false) => input.costs[variable.index()],
            (true, true) => -input.costs[variable.index()],
        }
    }

    /// Recomputes the tableau of the current basis from the data. Returns false, and changes
    /// nothing, if the basis is numerically singular.
    pub(super) fn refactor(&mut self, input: TableauInput) -> bool {
        let Some(inverse) = self.inverse(input) else {
            return false;
        };
        for position in 0..self.width {
            self.refresh_column(position, &inverse, input);
        }
        self.refresh_values(&inverse, input);
        self.age = 0;
        true
    }

    fn inverse(&self, input: TableauInput) -> Option<Vec<Vec<f64>>> {
        let row = |i: usize| {
            self.basics
                .iter()
                .map(|variable| self.entry(*variable, i, input))
                .collect()
        };
        invert((0..self.rows).map(row).collect())
    }

    fn refresh_column(&mut self, position: usize, inverse: &[Vec<f64>], input: TableauInput) {
        let variable = self.nonbasics[position];
        let mut reduced = self.cost(variable, input);
        for (row, inverse_row) in inverse.iter().enumerate() {
            let cell: f64 = inverse_row
                .iter()
                .enumerate()
                .map(|(i, entry)| entry * self.entry(variable, i, input))
                .sum();
            reduced -= self.cost(self.basics[row], input) * cell;
            self.cells[row * self.stride + position] = cell;
        }
        // Rounding may leave a reduced cost slightly negative; the basis is dual feasible.
        self.cells[self.rows * self.stride + position] = reduced.max(0.0);
    }

    fn refresh_values(&mut self, inverse: &[Vec<f64>], input: TableauInput) {
        let mut right_side = self.residual_rhs.clone();
        let mut objective = self.fixed_cost;
        for variable in self.nonbasics().iter().chain(&self.basics) {
            // Complemented variables are at 1 in the original terms.
            if !self.is_item(*variable) || !variable.is_complemented() {
                continue;
            }
            objective += input.costs[variable.index()];
            for (rhs, weight) in right_side
                .iter_mut()
                .zip(input.items.column(variable.index()))
            {
                *rhs -= weight;
            }
        }
        for (row, inverse_row) in inverse.iter().enumerate() {
            self.values[row] = dot(inverse_row, &right_side);
            objective += self.cost(self.basics[row], input) * self.values[row];
        }
        self.objective = objective;
    }
}

#[cfg(test)]
mod tests {
    use super::super::dual_simplex::DualSimplex;
    use super::super::items::KnapsackItems;
    use super::{KnapsackTableau, TableauInput};
    use crate::dense_tableau::TableauStatus;

    #[test]
    fn a_refactored_tableau_equals_the_pivoted_one() {
        let weights = [
            vec![3.0, 5.5, 4.0, 7.0, 2.0, 6.0],
            vec![6.0, 2.0, 4.5, 3.0, 5.0, 7.0],
        ];
        let items = KnapsackItems::new(&weights, &[13.0, 14.0]);
        let costs = [-0.5, -0.7, -0.6, -0.9, -0.4, -0.8];
        let input = TableauInput {
            items: &items,
            costs: &costs,
        };
        let mut tableau = KnapsackTableau::default();
        tableau.clear_fixings(items.rhs(), items.count());
        tableau.start(input, 0..6);
        assert_eq!(
            DualSimplex::default().solve(&mut tableau, f64::INFINITY),
            TableauStatus::Solved
        );
        assert!(tableau.age() > 0);
        let mut refactored = tableau.clone();
        assert!(refactored.refactor(input));
        assert_eq!(refactored.age(), 0);
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        let all_close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| close(a, b));
        assert!(all_close(&refactored.cells, &tableau.cells));
        assert!(all_close(&refactored.values, &tableau.values));
        assert!(close(&refactored.objective, &tableau.objective));
    }
}
