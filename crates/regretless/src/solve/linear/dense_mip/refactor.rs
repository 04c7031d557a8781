//! Computing a [`Tableau`] anew from the data, so that the rounding errors of many pivots do not
//! add up.

use super::DenseModel;
use super::tableau::DenseTableau;
use crate::solve::knapsack::invert;

/// The entry of a variable in a row of the system `activity − Σ entry · column = 0`.
fn entry(data: &DenseModel, variable: usize, row: usize) -> f64 {
    match variable.checked_sub(data.columns) {
        None => -data.row(row)[variable],
        Some(own) => f64::from(u8::from(own == row)),
    }
}

impl DenseTableau {
    /// Computes every number anew for the basis as it is. False, and nothing is changed, when the
    /// basis is numerically singular.
    pub(super) fn refactor(&mut self, data: &DenseModel, costs: &[f64]) -> bool {
        let row = |row: usize| {
            self.basic
                .iter()
                .map(|variable| entry(data, *variable as usize, row))
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
                .map(|row| entry(data, variable as usize, row))
                .collect();
            let mut reduced = cost(variable);
            for (row, line) in inverse.iter().enumerate() {
                let cell: f64 = line.iter().zip(&column).map(|(a, b)| a * b).sum();
                reduced -= basic_costs[row] * cell;
                self.cells[row * self.stride + position] = cell;
            }
            self.cells[self.rows * self.stride + position] = reduced;
        }
        self.refresh_values(&inverse, data, costs);
        self.age = 0;
        true
    }

    fn refresh_values(&mut self, inverse: &[Vec<f64>], data: &DenseModel, costs: &[f64]) {
        let place = self.nonbasic_values(self.bounds.len());
        let right = |row: usize| {
            let columns = data
                .row(row)
                .iter()
                .zip(&place)
                .map(|(entry, value)| entry * value)
                .sum::<f64>();
            columns - place[data.columns + row]
        };
        let right: Vec<f64> = (0..self.rows).map(right).collect();
        for (row, line) in inverse.iter().enumerate() {
            self.values[row] = line.iter().zip(&right).map(|(a, b)| a * b).sum();
        }
        let point = self.point(data.columns);
        self.objective = costs
            .iter()
            .zip(&point)
            .map(|(cost, value)| cost * value)
            .sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tableau::{DenseTableau, TableauStatus};
    use super::DenseModel;

    #[test]
    fn a_tableau_computed_anew_equals_the_one_that_was_pivoted() {
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
        let data = DenseModel {
            columns: 3,
            rows: 3,
            matrix,
            bounds,
            integer: vec![false; 6],
        };
        let costs = [2.0, -1.0, 3.0];
        let mut tableau = DenseTableau::default();
        assert!(tableau.start(&data, &costs));
        assert_eq!(tableau.solve(infinite, &mut 0), TableauStatus::Solved);
        assert!(tableau.age > 0);
        let mut anew = tableau.clone();
        assert!(anew.refactor(&data, &costs));
        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12;
        for row in 0..=3 {
            assert!(
                anew.row(row)
                    .iter()
                    .zip(tableau.row(row))
                    .all(|(a, b)| close(a, b))
            );
        }
        assert!(
            anew.values
                .iter()
                .zip(&tableau.values)
                .all(|(a, b)| close(a, b))
        );
        // x + y + z = 3 and x + 2y + 1.5z ≥ 2.5 with x − y + z/2 ≤ 1/4: as little z and as much y
        // as there may be.
        assert!(
            close(&tableau.objective, &-4.0) && close(&anew.objective, &-4.0),
            "{tableau:?}"
        );
    }
}
