//! Refactorization: recomputes a [`DenseTableau`] from the data, so the rounding errors of many
//! pivots do not accumulate.

use super::DenseModel;
use super::tableau::DenseTableau;
use crate::dense_tableau::{dot, invert};

/// The entry of a variable in a row of the system `activity − Σ entry · column = 0`.
fn entry(model: &DenseModel, variable: usize, row: usize) -> f64 {
    match variable.checked_sub(model.columns) {
        None => -model.row(row)[variable],
        Some(activity_row) => f64::from(u8::from(activity_row == row)),
    }
}

impl DenseTableau {
    /// Recomputes the tableau of the current basis from the data. Returns false, and changes
    /// nothing, if the basis is numerically singular.
    pub(super) fn refactor(&mut self, model: &DenseModel, costs: &[f64]) -> bool {
        let row = |row: usize| {
            self.basic
                .iter()
                .map(|variable| entry(model, *variable as usize, row))
                .collect()
        };
        let Some(inverse) = invert((0..self.rows).map(row).collect()) else {
            return false;
        };
        let cost = |variable: u32| costs.get(variable as usize).copied().unwrap_or(0.0);
        let basic_costs: Vec<f64> = self.basic.iter().map(|variable| cost(*variable)).collect();
        for position in 0..self.width {
            let variable = self.nonbasic[position];
            let column: Vec<f64> = (0..self.rows)
                .map(|row| entry(model, variable as usize, row))
                .collect();
            let mut reduced = cost(variable);
            for (row, inverse_row) in inverse.iter().enumerate() {
                let cell: f64 = inverse_row.iter().zip(&column).map(|(a, b)| a * b).sum();
                reduced -= basic_costs[row] * cell;
                self.cells[row * self.stride + position] = cell;
            }
            self.cells[self.rows * self.stride + position] = reduced;
        }
        self.refresh_values(&inverse, model, costs);
        self.age = 0;
        true
    }

    fn refresh_values(&mut self, inverse: &[Vec<f64>], model: &DenseModel, costs: &[f64]) {
        let values = self.nonbasic_values(self.bounds.len());
        let right_side = |row: usize| {
            let terms = model.row(row).iter().zip(&values);
            let activity: f64 = terms.map(|(entry, value)| entry * value).sum();
            activity - values[model.columns + row]
        };
        let right_side: Vec<f64> = (0..self.rows).map(right_side).collect();
        for (row, inverse_row) in inverse.iter().enumerate() {
            self.values[row] = dot(inverse_row, &right_side);
        }
        let point = self.point(model.columns);
        let terms = costs.iter().zip(&point);
        self.objective = terms.map(|(cost, value)| cost * value).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tableau::DenseTableau;
    use super::DenseModel;
    use crate::dense_tableau::TableauStatus;

    #[test]
    fn a_refactored_tableau_equals_the_pivoted_one() {
        let matrix = vec![1.0, 2.0, 1.5, 1.0, -1.0, 0.5, 1.0, 1.0, 1.0];
        let infinite = f64::INFINITY;
        let bounds = vec![
            [0.0, 4.0],
            [0.0, 3.0],
            [-1.0, 2.0],
            [2.5, 7.0],
            [-infinite, 0.25],
            [3.0, 3.0],
        ];
        let model = DenseModel {
            columns: 3,
            rows: 3,
            matrix,
            bounds,
            integer: vec![false; 6],
        };
        let costs = [2.0, -1.0, 3.0];
        let mut tableau = DenseTableau::default();
        assert!(tableau.start(&model, &costs));
        assert_eq!(tableau.solve(infinite, &mut 0), TableauStatus::Solved);
        assert!(tableau.age > 0);
        let mut refactored = tableau.clone();
        assert!(refactored.refactor(&model, &costs));
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        let all_close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| close(a, b));
        for row in 0..=3 {
            assert!(all_close(refactored.row(row), tableau.row(row)));
        }
        assert!(all_close(&refactored.values, &tableau.values));
        // x + y + z = 3 and x + 2y + 1.5z ≥ 2.5 with x − y + z/2 ≤ 1/4: the optimum has the
        // smallest z and the largest y.
        assert!(
            close(&tableau.objective, &-4.0) && close(&refactored.objective, &-4.0),
            "{tableau:?}"
        );
    }
}
