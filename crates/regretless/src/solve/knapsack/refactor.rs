//! Refactorization: recomputes a [`KnapsackTableau`] from the data, so that the rounding errors of
//! many pivots do not accumulate.

use super::tableau::{KnapsackTableau, TableauInput, VariableCode};
use crate::solve::dense_tableau::invert;

impl KnapsackTableau {
    /// The entry of a variable in a row of the original system.
    fn entry(&self, code: VariableCode, row: usize, source: TableauInput) -> f64 {
        match code.variable().checked_sub(self.first_slack) {
            None => {
                let weight = source.items.column(code.variable())[row];
                if code.complemented() { -weight } else { weight }
            }
            Some(own) => f64::from(u8::from(own == row)),
        }
    }

    fn cost(&self, code: VariableCode, source: TableauInput) -> f64 {
        match (self.is_item(code), code.complemented()) {
            (false, _) => 0.0,
            (true, false) => source.costs[code.variable()],
            (true, true) => -source.costs[code.variable()],
        }
    }

    /// Recomputes the tableau of the current basis from the data. Returns false, and changes
    /// nothing, if the basis is numerically singular.
    pub(super) fn refactor(&mut self, source: TableauInput) -> bool {
        let Some(inverse) = self.inverse(source) else {
            return false;
        };
        for position in 0..self.width {
            self.refresh_column(position, &inverse, source);
        }
        self.refresh_values(&inverse, source);
        self.age = 0;
        true
    }

    fn inverse(&self, source: TableauInput) -> Option<Vec<Vec<f64>>> {
        let row = |i: usize| {
            self.basics
                .iter()
                .map(|code| self.entry(*code, i, source))
                .collect()
        };
        invert((0..self.rows).map(row).collect())
    }

    fn refresh_column(&mut self, position: usize, inverse: &[Vec<f64>], source: TableauInput) {
        let code = self.codes[position];
        let mut reduced = self.cost(code, source);
        for (row, line) in inverse.iter().enumerate() {
            let cell: f64 = line
                .iter()
                .enumerate()
                .map(|(i, entry)| entry * self.entry(code, i, source))
                .sum();
            reduced -= self.cost(self.basics[row], source) * cell;
            self.cells[row * self.stride + position] = cell;
        }
        self.cells[self.rows * self.stride + position] = reduced.max(0.0);
    }

    fn refresh_values(&mut self, inverse: &[Vec<f64>], source: TableauInput) {
        let mut right = self.rest.clone();
        let mut objective = self.fixed_cost;
        for code in self.codes().iter().chain(&self.basics) {
            if !self.is_item(*code) || !code.complemented() {
                continue;
            }
            objective += source.costs[code.variable()];
            for (r, w) in right.iter_mut().zip(source.items.column(code.variable())) {
                *r -= w;
            }
        }
        for (row, line) in inverse.iter().enumerate() {
            self.values[row] = line.iter().zip(&right).map(|(a, b)| a * b).sum();
            objective += self.cost(self.basics[row], source) * self.values[row];
        }
        self.objective = objective;
    }
}

#[cfg(test)]
mod tests {
    use super::super::dual_simplex::DualSimplex;
    use super::super::items::KnapsackItems;
    use super::{KnapsackTableau, TableauInput};
    use crate::solve::dense_tableau::TableauStatus;

    #[test]
    fn a_refactored_tableau_equals_the_pivoted_one() {
        let weights = [
            vec![3.0, 5.5, 4.0, 7.0, 2.0, 6.0],
            vec![6.0, 2.0, 4.5, 3.0, 5.0, 7.0],
        ];
        let items = KnapsackItems::new(&weights, &[13.0, 14.0]);
        let costs = [-0.5, -0.7, -0.6, -0.9, -0.4, -0.8];
        let source = TableauInput {
            items: &items,
            costs: &costs,
        };
        let mut tableau = KnapsackTableau::default();
        tableau.clear_fixings(items.rhs(), items.count());
        tableau.start(source, 0..6);
        assert_eq!(
            DualSimplex::default().solve(&mut tableau, f64::INFINITY),
            TableauStatus::Solved
        );
        assert!(tableau.age() > 0);
        let mut refactored = tableau.clone();
        assert!(refactored.refactor(source));
        assert_eq!(refactored.age(), 0);
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        assert!(
            refactored
                .cells
                .iter()
                .zip(&tableau.cells)
                .all(|(a, b)| close(a, b))
        );
        assert!(
            refactored
                .values
                .iter()
                .zip(&tableau.values)
                .all(|(a, b)| close(a, b))
        );
        assert!(close(&refactored.objective, &tableau.objective));
    }
}
