//! A problem that is implemented in the user's program, such as a Python function: the part of it
//! that can be serialized.
//!
//! A model trained for it records it in its file; a program that decides with the model must
//! provide the problem again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::family::{KindDefinition, ProblemFamily};
use super::{ProblemKind, Sense};
use crate::data::CostNames;
use crate::error::{Error, Result};

/// Name, sense and size of a problem that only the user's program can solve.
///
/// ```
/// use regretless::problem::{ExternalProblem, ProblemSpec};
/// use regretless::{Problem, Sense};
///
/// let problem = Problem::from_solver("all items", Sense::Minimize, 2, |costs| {
///     Some(vec![1.0; costs.len()])
/// })?;
/// let spec = ProblemSpec::External(ExternalProblem {
///     name: "all items".into(),
///     sense: Sense::Minimize,
///     costs: 2,
///     cost_names: None,
/// });
/// assert_eq!(*problem.spec(), spec);
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalProblem {
    /// Its name.
    pub name: String,
    /// The objective sense.
    pub sense: Sense,
    /// Number of predicted costs.
    pub costs: usize,
    /// Names of the costs, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_names: Option<CostNames>,
}

/// The kind, which programs write into models.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "external",
    summary: "A problem that the user's program solves.",
    is_stored_only: true,
    ..ProblemFamily::NEW
};

impl KindDefinition for ExternalProblem {
    /// Fails: the problem must be provided by the program.
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let name = &self.name;
        Err(Error::setting(format!(
            "the problem '{name}' is implemented by the program that trained the model"
        ))
        .with_remedy(
            "pass it again in that program (problem=... in Python); the command line cannot call \
             it",
        ))
    }
}

impl ExternalProblem {
    /// Whether a problem has this name, sense and size.
    pub fn matches(&self, problem: &dyn ProblemKind) -> bool {
        (self.name.as_str(), self.sense, self.costs)
            == (&problem.name(), problem.sense(), problem.num_costs())
    }
}
