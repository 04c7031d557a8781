//! Predictions for the rows of a table, and the order of costs of model, table and problem.

use super::unpredicted::MissingPredictions;
use crate::data::{CostMatching, Dataset, Matrix, NamedCosts};
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::predict::CostModel;
use crate::problem::{ProblemKind, ProblemSpec};

impl CostModel {
    /// What its predictions that are NaN mean.
    pub fn missing_predictions(&self) -> MissingPredictions {
        if self.has_unobserved_costs() {
            MissingPredictions::LeftOut
        } else {
            MissingPredictions::Refused
        }
    }

    /// Predictions for some rows of a labeled table, to be minimized.
    ///
    /// # Errors
    /// When the costs of the table do not match those of the model.
    pub fn predict_instances(&self, data: &LabeledDataset, rows: &[usize]) -> Result<Matrix> {
        let matching = self.matching(NamedCosts::new("the table", data.data().cost_names()))?;
        let features = data.data().features().select_rows(rows);
        data.minimized_predictions(rows, self.predict_matched(&features, &matching)?)
    }

    /// Maps the predicted costs to those of a problem.
    ///
    /// # Errors
    /// When both have names and the sets differ.
    pub fn match_problem(&self, problem: &dyn ProblemKind) -> Result<CostMatching> {
        CostMatching::with_problem(self.named_costs(problem.names().cost_names()), problem)
    }

    /// A message for the user if numbers of a problem, such as weights, belong to the model's costs
    /// by position. The problem that the model was trained for needs none: the training had it.
    pub fn position_note(&self, spec: &ProblemSpec, problem: &dyn ProblemKind) -> Option<String> {
        let trained_for = &self.metadata.problem;
        if serde_json::to_value(spec).is_ok_and(|spec| spec == *trained_for) {
            return None;
        }
        problem.names().position_note(&self.metadata.costs)
    }

    /// Reorders the costs of a table that the model is evaluated on: to the order of the problem's
    /// costs or, if the problem has no names, of the model's. Returns warnings for the user.
    ///
    /// # Errors
    /// When names differ between the table or the model and the problem.
    pub fn match_table(
        &self,
        data: &mut Dataset,
        problem: &dyn ProblemKind,
    ) -> Result<Vec<String>> {
        let model_matching = self.match_problem(problem)?;
        let table = NamedCosts::new("the table", data.cost_names());
        let table_matching = match problem.names().cost_names() {
            Some(_) => CostMatching::with_problem(table, problem)?,
            None => CostMatching::new(table, self.named_costs(table.cost_names))?,
        };
        data.apply(&table_matching)?;
        let warnings = [model_matching.warning(), table_matching.warning()];
        Ok(warnings.into_iter().flatten().map(String::from).collect())
    }
}

impl LabeledDataset {
    /// Known predictions in the user's sense for some rows, to be minimized.
    ///
    /// # Errors
    /// When a table on disk cannot be read.
    pub fn select_predictions(&self, all: &Matrix, rows: &[usize]) -> Result<Matrix> {
        self.minimized_predictions(rows, all.select_rows(rows))
    }

    /// Predictions in the user's sense of some rows, to be minimized.
    ///
    /// # Errors
    /// When a table on disk cannot be read.
    pub fn minimized_predictions(&self, rows: &[usize], mut stated: Matrix) -> Result<Matrix> {
        self.sense().convert_matrix(&mut stated)?;
        self.data().complete_predictions(rows, stated)
    }
}
