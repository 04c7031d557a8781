//! Objectives of decisions under the true values of their rows.

use std::sync::Arc;

use crate::data::Matrix;
use crate::decision::Decision;
use crate::oracle::Oracle;
use crate::problem::ProblemKind;

/// How the objective of a decision follows from the true values of its row.
#[derive(Debug, Clone, Default)]
pub(crate) enum RowObjectives {
    /// Values are costs: their inner product with the decision.
    #[default]
    Linear,
    /// Values are quantities: the cost after recourse, in the same problem for all rows.
    Shared(Arc<dyn ProblemKind>),
    /// The same, in a problem of its own for each row; none where its parameters define no problem,
    /// and the row has no label.
    PerRow(Vec<Option<Arc<dyn ProblemKind>>>),
}

impl RowObjectives {
    /// Those of a table with this number of rows.
    pub(crate) fn new(oracle: &Oracle, rows: usize) -> Self {
        if !oracle.predicts_quantities() {
            Self::Linear
        } else if oracle.has_row_problems() {
            Self::PerRow((0..rows).map(|row| oracle.row_problem(row).ok()).collect())
        } else {
            Self::Shared(Arc::clone(oracle.problem()))
        }
    }

    /// Those of the listed rows.
    pub(super) fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Self::PerRow(problems) => {
                Self::PerRow(rows.iter().map(|row| problems[*row].clone()).collect())
            }
            Self::Linear | Self::Shared(_) => self.clone(),
        }
    }

    /// The objective of a decision under the minimized values of a row.
    pub(crate) fn of_decision(&self, decision: &Decision, values: &Matrix, row: usize) -> f64 {
        let problem = match self {
            Self::Linear => return values.objective_of(decision, row),
            Self::Shared(problem) => Some(problem),
            Self::PerRow(problems) => problems[row].as_ref(),
        };
        let mut quantities = Vec::new();
        values.read(row, &mut quantities);
        problem.map_or(f64::NAN, |problem| {
            problem.recourse().objective(decision, &quantities)
        })
    }

    /// Whether predicted values are quantities.
    pub(crate) fn are_after_recourse(&self) -> bool {
        !matches!(self, Self::Linear)
    }
}
