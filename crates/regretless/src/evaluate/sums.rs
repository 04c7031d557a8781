//! Decisions under the true costs and errors of predicted costs, summed over rows.

use super::unpredicted::UnpredictedCosts;
use super::{Evaluation, relative_to};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::oracle::SolveResult;
use crate::solve::SolveStatus;

/// Relative regret up to which a decision counts as optimal: rounding errors of an objective's sum
/// are smaller.
const OPTIMALITY_TOLERANCE: f64 = 1e-9;

/// Regret, objective under the true costs (minimized) and status of decisions, in the order of the
/// instances.
#[derive(Debug, Default)]
pub(super) struct DecidedRows {
    pub(super) regrets: Vec<f64>,
    pub(super) objectives: Vec<f64>,
    pub(super) statuses: Vec<SolveStatus>,
}

impl DecidedRows {
    /// The decisions of an oracle for the listed instances.
    pub(super) fn new(
        results: Vec<SolveResult>,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Result<Self> {
        let mut rows = Self::default();
        for (instance, result) in instances.iter().zip(results) {
            let solution = result.map_err(|failure| Error::solver(*instance, failure))?;
            let objective = data.objective_of(&solution.decision, *instance);
            rows.regrets
                .push(objective - data.optimal_objective(*instance));
            let stated = data.stated_objective(&solution.decision, *instance);
            rows.objectives.push(stated);
            rows.statuses.push(solution.status);
        }
        Ok(rows)
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.regrets.append(&mut other.regrets);
        self.objectives.append(&mut other.objectives);
        self.statuses.append(&mut other.statuses);
    }
}

/// Sums of the errors of predicted costs, in the order of the instances.
#[derive(Debug, Clone, Default)]
pub(super) struct CostErrorSums {
    pub(super) squared: f64,
    pub(super) absolute: f64,
    pub(super) unpredicted: UnpredictedCosts,
}

impl CostErrorSums {
    pub(super) fn add(&mut self, predictions: &Matrix, data: &LabeledDataset, instances: &[usize]) {
        let (mut predicted, mut costs) = (Vec::new(), Vec::new());
        for (row, instance) in instances.iter().enumerate() {
            predictions.read(row, &mut predicted);
            data.data().costs().read(*instance, &mut costs);
            let (mut squared, mut absolute) = (self.squared, self.absolute);
            for (p, c) in predicted.iter().zip(&costs) {
                let error = p - c;
                squared += error * error;
                absolute += error.abs();
            }
            if squared.is_nan() {
                self.unpredicted.add(&predicted);
                self.add_predicted(&predicted, &costs);
            } else {
                (self.squared, self.absolute) = (squared, absolute);
            }
        }
    }

    /// Adds the errors of the costs of a row that have a prediction.
    fn add_predicted(&mut self, predicted: &[f64], costs: &[f64]) {
        let pairs = predicted.iter().zip(costs);
        for (p, c) in pairs.filter(|(p, _)| !p.is_nan()) {
            self.squared += (p - c) * (p - c);
            self.absolute += (p - c).abs();
        }
    }

    pub(super) fn summarize(
        self,
        rows: DecidedRows,
        data: &LabeledDataset,
        instances: &[usize],
    ) -> Evaluation {
        let count = instances.len().max(1) as f64;
        let (mut total, mut objectives, mut relative) = (0.0, 0.0, 0.0);
        for (regret, instance) in rows.regrets.iter().zip(instances) {
            let objective = data.optimal_objective(*instance).abs();
            total += regret;
            objectives += objective;
            relative += Evaluation::relative_regret_of(*regret, objective);
        }
        // The terms of an objective near 0 are as large as those of others.
        let mean_objective = objectives / count;
        let is_optimal = |(regret, instance): &(&f64, &usize)| {
            let objective = data.optimal_objective(**instance).abs();
            **regret <= OPTIMALITY_TOLERANCE * objective.max(mean_objective)
        };
        let optimal = rows
            .regrets
            .iter()
            .zip(instances)
            .filter(is_optimal)
            .count();
        let present = instances
            .iter()
            .map(|row| data.data().num_present_costs(*row));
        let present = present
            .sum::<usize>()
            .saturating_sub(self.unpredicted.total());
        let num_costs = present.max(1) as f64;
        Evaluation {
            instances: instances.len(),
            regret: total / count,
            normalized_regret: relative_to(total, objectives),
            relative_regret: relative / count,
            mse: self.squared / num_costs,
            mae: self.absolute / num_costs,
            optimal_fraction: optimal as f64 / count,
            regrets: rows.regrets,
            objectives: rows.objectives,
            statuses: rows.statuses,
            unpredicted: self.unpredicted,
        }
    }
}
