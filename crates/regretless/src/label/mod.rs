//! Labels: the optimal decision of every instance, computed once and stored.

use crate::data::{Dataset, Features};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::oracle::Oracle;
use crate::sense::Sense;
use crate::solve::Solution;

mod comparison;
mod data_split;
pub(crate) mod file;
mod knn_robust;
mod label_counts;
mod label_key;
mod labeled_split;
mod no_choice;
mod objectives;
mod segments;
mod shard;
mod solving;
mod stated;
mod store;
pub(crate) mod time_estimate;
mod training;

pub(crate) use data_split::FeatureLayout;
pub use data_split::{DataPart, DataSplit, Row};
pub(crate) use knn_robust::KnnRobustCosts;
pub use label_counts::LabelCounts;
pub use labeled_split::LabeledSplit;
pub(crate) use objectives::RowObjectives;
pub use shard::Shard;
pub use store::{LabelReport, LabelStore};
pub(crate) use training::TrainingLabels;

/// A table with a label for every instance. Its costs are minimized: those of a maximization are
/// negated when the table is labeled.
#[derive(Debug, Clone)]
pub struct LabeledDataset {
    data: Dataset,
    sense: Sense,
    /// The label of each row, with objective, bound and status.
    labels: Vec<Solution>,
    /// Rows without a label, sorted; their entries in `labels` are empty decisions.
    failed: Vec<usize>,
    objectives: RowObjectives,
    /// Measured seconds of one solve, if rows were solved just now. Never part of a result.
    solve_seconds: Option<f64>,
}

impl LabeledDataset {
    /// The same labels for a table with the same costs; its features may differ.
    ///
    /// # Errors
    /// When the costs differ; the error has the first such row.
    pub fn with_dataset(&self, mut data: Dataset, oracle: &Oracle) -> Result<Self> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if data.len() != self.len() {
            return Err(Error::data(format!(
                "{} labels for {} instances",
                self.len(),
                data.len()
            )));
        }
        if !oracle.reads_same_parameters(self.data.parameters(), data.parameters()) {
            return Err(
                Error::data("the labels belong to other parameters of the rows")
                    .with_remedy("label the table with the parameters that it has now"),
            );
        }
        // If both have values in double precision, these must be equal too.
        let exact = data.costs().has_f64_values() && self.data.costs().has_f64_values();
        let (mut labeled_costs, mut new_costs) = (Vec::new(), Vec::new());
        let mut has_same_costs = |row: &usize| {
            if exact {
                self.data.costs().read(*row, &mut labeled_costs);
                data.costs().read(*row, &mut new_costs);
                return labeled_costs == new_costs;
            }
            data.costs().row(*row) == self.data.costs().row(*row)
        };
        match (0..data.len()).find(|row| !has_same_costs(row)) {
            Some(row) => Err(Error::data(format!(
                "the labels belong to other costs: row {row} differs"
            ))),
            None => Ok(Self {
                data,
                sense,
                labels: self.labels.clone(),
                failed: self.failed.clone(),
                objectives: RowObjectives::new(oracle, self.len()),
                solve_seconds: self.solve_seconds,
            }),
        }
    }

    /// The same rows with other features.
    ///
    /// # Errors
    /// When the number of instances differs.
    pub fn with_features(&self, features: Features) -> Result<Self> {
        if features.instances() != self.len() {
            let (found, rows) = (features.instances(), self.len());
            return Err(Error::data(format!(
                "features of {found} instances for {rows} labels"
            )));
        }
        let mut changed = self.clone();
        changed.data = changed.data.with_features(features);
        Ok(changed)
    }

    /// The listed rows with their labels, in the order of the list.
    ///
    /// # Panics
    /// When a row does not exist.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let positions = 0..rows.len();
        Self {
            data: self.data.select_rows(rows),
            sense: self.sense,
            labels: rows.iter().map(|row| self.labels[*row].clone()).collect(),
            failed: positions
                .filter(|place| !self.has_label(rows[*place]))
                .collect(),
            objectives: self.objectives.select_rows(rows),
            solve_seconds: self.solve_seconds,
        }
    }

    /// The table; its costs are minimized.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Whether some rows lack some costs.
    pub fn has_absent_costs(&self) -> bool {
        self.data.has_absent_costs()
    }

    /// The objective sense of the user's problem.
    pub fn sense(&self) -> Sense {
        self.sense
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The rows that have a label: all except those that could not be solved.
    pub fn rows(&self) -> Vec<usize> {
        (0..self.len())
            .filter(|row| self.failed.binary_search(row).is_err())
            .collect()
    }

    /// Whether a row exists and has a label.
    pub fn has_label(&self, row: usize) -> bool {
        row < self.len() && self.failed.binary_search(&row).is_err()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of an instance: its optimal decision.
    pub fn optimal_decision(&self, instance: usize) -> &Decision {
        &self.labels[instance].decision
    }

    /// The label of an instance with objective, bound and status.
    pub fn solution(&self, instance: usize) -> &Solution {
        &self.labels[instance]
    }

    /// All labels.
    pub fn solutions(&self) -> &[Solution] {
        &self.labels
    }

    /// The minimized best objective of every row; NaN if a row has no label.
    pub fn best_objectives(&self) -> Vec<f64> {
        let mut objectives = vec![f64::NAN; self.len()];
        for row in self.rows() {
            objectives[row] = self.optimal_objective(row);
        }
        objectives
    }

    /// Measured seconds of one solve on one thread, if rows were solved just now.
    pub(crate) fn solve_seconds(&self) -> Option<f64> {
        self.solve_seconds
    }

    /// Mean work of solving these rows in nanoseconds, as counted by
    /// [`crate::solve::Solver::work`]; `None` if the solver does not count.
    pub fn mean_work(&self, rows: &[usize]) -> Option<f64> {
        let total: u64 = rows.iter().map(|row| self.labels[*row].work).sum();
        (total > 0).then(|| total as f64 / rows.len() as f64)
    }

    /// The objective of an instance's label, recomputed from the table.
    pub fn optimal_objective(&self, instance: usize) -> f64 {
        self.objective_of(self.optimal_decision(instance), instance)
    }

    /// The objective of a decision under the true values of an instance, minimized: after recourse
    /// where these are quantities.
    pub fn objective_of(&self, decision: &Decision, instance: usize) -> f64 {
        let values = self.data.costs();
        self.objectives.of_decision(decision, values, instance)
    }

    /// Whether the true values are quantities, such as demands, and not costs.
    pub fn has_quantities(&self) -> bool {
        self.objectives.are_after_recourse()
    }
}
