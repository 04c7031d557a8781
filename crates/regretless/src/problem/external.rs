//! A problem that lives in the user's own program, such as a Python function: what can be written
//! down of it.
//!
//! A model trained for it says so in its file; whoever decides with the model must bring the
//! problem again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense};
use crate::data::CostNames;
use crate::error::{Error, Result};

/// Name, sense and size of a problem that only the user's program can solve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalProblem {
    /// What it is called.
    pub name: String,
    /// Whether costs are paid or earned.
    pub sense: Sense,
    /// How many costs are predicted.
    pub costs: usize,
    /// Names of the costs, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_names: Option<CostNames>,
}

impl ExternalProblem {
    /// Says that the problem must be brought again.
    ///
    /// # Errors
    /// Always.
    pub fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let name = &self.name;
        Err(Error::setting(format!(
            "the problem '{name}' lives in the program that gave it; give it again"
        )))
    }

    /// Whether a problem is the one that is written down here, as far as can be told.
    pub fn matches(&self, problem: &dyn ProblemKind) -> bool {
        (self.name.as_str(), self.sense, self.costs)
            == (&problem.name(), problem.sense(), problem.num_costs())
    }
}
