//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::Assignment;
use crate::error::Result;
use crate::problem::family::{
    ArgumentForm, KindConstructor, KindDefinition, KindField, ProblemFamily, TemplateRules,
};
use crate::problem::parametric::{
    NumberRows, Place, RowParametric, RowSetter, Template, stated_flags,
};
use crate::problem::{Problem, ProblemSpec};
use crate::problem::{ProblemKind, Sense};

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "assignment",
    summary: "Every member of the smaller side gets exactly one of the larger side.",
    starter: "\
# who does what: each agent one task
kind = \"assignment\"
agents = 2                 # fill in: how many, or their names
tasks = 2                  # fill in: at least as many
sense = \"minimize\"         # or \"maximize\"
# forbidden = [[0, 1]]     # optional: pairs that are not allowed
",
    fields: &[
        KindField::required("agents", "int or sequence of str", "")
            .annotated("int | Sequence[str]"),
        KindField::required(
            "tasks",
            "int or sequence of str",
            "How many there are, or their names. Costs are those of the pairs, agent by agent; \
             with names they are called \"agent-task\".",
        )
        .annotated("int | Sequence[str]"),
        KindField::sense("\"minimize\""),
        KindField::optional(
            "forbidden",
            "sequence of pairs, optional",
            "Pairs (agent, task) that are never assigned, by name, or by number if there are no \
             names.",
        )
        .annotated("Sequence[tuple[Any, Any]] | None"),
        KindField::present(
            "array_like of shape (agents, tasks) or (agents * tasks,) or columns, optional",
            "Which pairs may be assigned (1 or 0); all by default. The costs of other pairs may be \
             missing (NaN).",
        )
        .form(ArgumentForm::Cells),
    ],
    constructor: Some(KindConstructor {
        summary: "Build an assignment of agents to tasks.",
        details: "Every member of the smaller side gets exactly one of the larger side.",
        positional: 2,
        raises: "If no assignment is left; the message names agents that may do too few tasks.",
        examples: &[
            ">>> problem = rl.Problem.assignment([\"Ann\", \"Ben\"], 3, forbidden=[(\"Ann\", 0)])",
            ">>> problem.solve([1, 4, 5, 2, 3, 9]).decision.reshape(2, 3)",
            "array([[0., 1., 0.],",
            "       [1., 0., 0.]], dtype=float32)",
        ],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: pairs_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn pairs_of_file(file: &Value) -> Option<usize> {
    members_of_file(file, &["agents"])?.checked_mul(members_of_file(file, &["tasks"])?)
}

/// How many members a side has: the number, or the length of the list, under the first of the keys
/// that a file has one of.
pub(in crate::problem) fn members_of_file(file: &Value, keys: &[&str]) -> Option<usize> {
    let mut stated = keys.iter().filter_map(|key| match file.get(key)? {
        Value::Array(members) => Some(members.len()),
        value => value.as_u64().map(|count| count as usize),
    });
    stated.next()
}

impl KindDefinition for Assignment {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn number_rows(&self) -> Option<&dyn NumberRows> {
        Some(self)
    }
}

impl RowParametric for Assignment {
    /// Whether each pair is present.
    type Numbers = Vec<bool>;

    fn row_numbers(&self, _template: &Template) -> Vec<bool> {
        stated_flags(self.present.as_deref(), self.num_costs())
    }

    fn row_setter(&self, place: &Place) -> Option<RowSetter<Vec<bool>>> {
        RowSetter::of_list(place, |row, pair, value| row[pair] = value == 1.0)
    }

    fn of_row(&self, present: Vec<bool>) -> std::result::Result<Self, String> {
        self.with_present(present)
            .map_err(|error| error.to_string())
    }
}

impl Problem {
    /// Assignment of agents to tasks: every member of the smaller side gets exactly one of the
    /// larger side. Costs of pairs are predicted, agent by agent; forbidden pairs, numbered from 0,
    /// have no cost.
    ///
    /// ```
    /// use regretless::{Problem, Sense};
    ///
    /// // Two drivers, three jobs; driver 0 may not do job 0.
    /// let problem = Problem::assignment(2, 3, &[[0, 0]], Sense::Minimize)?;
    /// let solution = problem.solve(&[1.0, 4.0, 5.0, 2.0, 3.0, 9.0])?;
    /// assert_eq!((solution.objective, solution.decision.indices()), (6.0, &[1, 3][..]));
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no agent or no task, a pair does not exist, or no assignment is left.
    pub fn assignment(
        agents: usize,
        tasks: usize,
        forbidden: &[[usize; 2]],
        sense: Sense,
    ) -> Result<Self> {
        let assignment = Assignment::new(agents, tasks, forbidden, sense)?;
        Self::from_spec(ProblemSpec::Assignment(assignment))
    }
}
