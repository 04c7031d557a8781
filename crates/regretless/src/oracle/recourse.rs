//! Problems whose predicted values are quantities: objectives after recourse, and what such
//! problems do not have.

use super::Oracle;
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::problem::ProblemKind;

impl Oracle {
    /// Whether the predicted values are quantities, such as demands, and not objective
    /// coefficients.
    pub fn predicts_quantities(&self) -> bool {
        self.predicts_quantities
    }

    /// Checks that predicted values are objective coefficients; `what` needs them, and `remedy`
    /// does not.
    ///
    /// # Errors
    /// When they are quantities.
    pub fn require_costs(&self, what: &str, remedy: &str) -> Result<()> {
        if !self.predicts_quantities {
            return Ok(());
        }
        Err(Error::setting(format!(
            "{what} needs predicted objective coefficients, but {} predicts quantities",
            self.problem.name()
        ))
        .with_remedy(remedy))
    }

    /// Checks that predicted values are quantities; `what` needs them.
    ///
    /// # Errors
    /// When they are objective coefficients.
    pub fn require_quantities(&self, what: &str) -> Result<()> {
        if self.predicts_quantities {
            return Ok(());
        }
        Err(Error::setting(format!(
            "{what} weighs errors of predicted quantities, but {} predicts objective coefficients",
            self.problem.name()
        ))
        .with_remedy("use MAE(O,S), or a problem with unknown quantities such as newsvendor"))
    }

    /// The objective of a decision of a problem under these minimized values.
    pub(super) fn objective(
        &self,
        problem: &dyn ProblemKind,
        decision: &Decision,
        values: &[f64],
    ) -> f64 {
        if self.predicts_quantities {
            problem.recourse().objective(decision, values)
        } else {
            decision.dot(values)
        }
    }

    /// The objective of a decision under the true minimized values of a row; NaN where the row has
    /// no problem.
    pub(crate) fn objective_of(&self, decision: &Decision, values: &Matrix, row: usize) -> f64 {
        if !self.predicts_quantities {
            return values.objective_of(decision, row);
        }
        let mut quantities = Vec::new();
        values.read(row, &mut quantities);
        match self.row_problem(row) {
            Ok(problem) => problem.recourse().objective(decision, &quantities),
            Err(_) => f64::NAN,
        }
    }
}
