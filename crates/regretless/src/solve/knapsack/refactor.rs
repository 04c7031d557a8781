//! Computing a [`Tableau`] anew from the data, so that the rounding errors of many pivots do not
//! add up.

use super::tableau::{KnapsackTableau, TableauInput, VariableCode};

impl KnapsackTableau {
    /// The number of a variable's own column entry in a row of the original system.
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

    /// Computes every number anew from the data, for the basis as it is. False, and nothing is
    /// changed, when the basis is numerically singular.
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
        let mut objective = self.spent;
        let held = self.codes().iter().chain(&self.basics).copied();
        for code in held.filter(|code| self.is_item(*code) && code.complemented()) {
            objective += source.costs[code.variable()];
            right
                .iter_mut()
                .zip(source.items.column(code.variable()))
                .for_each(|(r, w)| *r -= w);
        }
        for (row, line) in inverse.iter().enumerate() {
            self.values[row] = line.iter().zip(&right).map(|(a, b)| a * b).sum();
            objective += self.cost(self.basics[row], source) * self.values[row];
        }
        self.objective = objective;
    }
}

/// The inverse of a small matrix by Gauss and Jordan; `None` when it has none to working precision.
pub(in crate::solve) fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|j| f64::from(u8::from(i == j))));
    }
    for column in 0..size {
        let largest = (column..size).max_by(|a, b| {
            matrix[*a][column]
                .abs()
                .total_cmp(&matrix[*b][column].abs())
        })?;
        matrix.swap(column, largest);
        let inverse = 1.0 / matrix[column][column];
        if !inverse.is_finite() || inverse.abs() > 1e10 {
            return None;
        }
        matrix[column]
            .iter_mut()
            .for_each(|entry| *entry *= inverse);
        let own = matrix[column].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column];
            row.iter_mut()
                .zip(&own)
                .for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    matrix.iter_mut().for_each(|row| {
        row.drain(..size);
    });
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::super::dual_simplex::{DualSimplex, TableauStatus};
    use super::super::items::KnapsackItems;
    use super::{KnapsackTableau, TableauInput};

    #[test]
    fn a_tableau_computed_anew_equals_the_one_that_was_pivoted() {
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
        tableau.clear_decisions(items.rhs(), items.count());
        tableau.start(source, 0..6);
        assert_eq!(
            DualSimplex::default().solve(&mut tableau, f64::INFINITY),
            TableauStatus::Solved
        );
        assert!(tableau.age() > 0);
        let mut anew = tableau.clone();
        assert!(anew.refactor(source));
        assert_eq!(anew.age(), 0);
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        assert!(
            anew.cells
                .iter()
                .zip(&tableau.cells)
                .all(|(a, b)| close(a, b))
        );
        assert!(
            anew.values
                .iter()
                .zip(&tableau.values)
                .all(|(a, b)| close(a, b))
        );
        assert!(close(&anew.objective, &tableau.objective));
    }
}
