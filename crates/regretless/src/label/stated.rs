//! Costs and objectives of labeled rows in the user's sense. Inside the library they are minimized.

use super::LabeledDataset;
use crate::data::Matrix;
use crate::decision::Decision;

impl LabeledDataset {
    /// The objective of the label of a row.
    pub fn stated_optimal_objective(&self, row: usize) -> f64 {
        self.turned(self.optimal_objective(row))
    }

    /// The objective of a decision of a row.
    pub fn stated_objective(&self, decision: &Decision, row: usize) -> f64 {
        self.turned(self.objective_of(decision, row))
    }

    /// The objective of a decision of a row with this regret.
    pub fn stated_objective_with_regret(&self, row: usize, regret: f64) -> f64 {
        self.turned(self.optimal_objective(row) + regret)
    }

    /// The part of the objective of a decision that is not costs times decision.
    pub fn stated_fixed_cost(&self, decision: &Decision) -> f64 {
        self.turned(decision.fixed())
    }

    /// One cost of a row, with its known part.
    pub fn stated_cost(&self, row: usize, cost: usize) -> f64 {
        self.turned(f64::from(self.data.costs().row(row)[cost]))
    }

    /// The costs of a row, with their known parts.
    pub fn stated_costs(&self, row: usize) -> Vec<f64> {
        self.stated_row(self.data.costs(), row)
    }

    /// The costs of a row without their known parts, as models predict them.
    pub fn stated_predicted_part(&self, row: usize) -> Vec<f64> {
        self.stated_row(&self.data.predicted_part(), row)
    }

    /// Turns predicted costs of a row in the user's sense into minimized ones, with known parts.
    pub fn minimize_prediction(&self, row: usize, prediction: &mut [f64]) {
        for cost in prediction.iter_mut() {
            *cost = self.turned(*cost);
        }
        self.data.complete_prediction(row, prediction);
    }

    fn stated_row(&self, costs: &Matrix, row: usize) -> Vec<f64> {
        let mut values = Vec::new();
        costs.read(row, &mut values);
        self.sense.convert_slice(&mut values);
        values
    }

    fn turned(&self, value: f64) -> f64 {
        self.sense.convert(value)
    }
}
