//! The row whose decision is explained.

use std::sync::Arc;

use super::NamedValue;
use super::limit::SolveLimit;
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::{ChoiceFixing, ColumnDomain, FixedChoices, ProblemKind};
use crate::solve::{Solution, SolveStatus};
use crate::text::{first_names, nearest_name};

/// The row whose decision is explained; costs are minimized and complete.
pub(super) struct RowCase<'a> {
    /// The problem of the row.
    pub(super) problem: Arc<dyn ProblemKind>,
    /// An oracle for it.
    pub(super) oracle: Oracle,
    /// Predicted costs.
    pub(super) costs: Vec<f64>,
    /// The decision.
    pub(super) solution: Solution,
    /// The decision, followed by the columns whose whole cost is known.
    pub(super) complete: Decision,
    /// The values that the columns can take, if single ones can be restricted; empty otherwise.
    pub(super) domains: Vec<ColumnDomain>,
    pub(super) names: &'a CostNames,
    pub(super) limit: SolveLimit,
    pub(super) observer: &'a dyn Observer,
}

impl RowCase<'_> {
    /// A minimized cost or objective of the row in the user's sense.
    pub(super) fn stated(&self, minimized: f64) -> f64 {
        self.problem.sense().convert(minimized)
    }

    /// The costs that exist.
    pub(super) fn present(&self) -> Vec<usize> {
        let present = self.problem.present_costs();
        let exists = |cost: &usize| present.is_none_or(|present| present[*cost]);
        (0..self.costs.len()).filter(exists).collect()
    }

    /// Why nothing can be said about other decisions, if that is so.
    pub(super) fn unproven(&self) -> Option<String> {
        match self.solution.status {
            SolveStatus::Optimal => None,
            SolveStatus::WithinGap(_) | SolveStatus::LimitReached => Some(format!(
                "the decision is not proven optimal ({})",
                self.status()
            )),
        }
    }

    /// The proven quality of the decision in words.
    pub(super) fn status(&self) -> String {
        self.solution.status.describe(self.oracle.is_heuristic())
    }

    /// Whether the decision consists of choices.
    pub(super) fn is_binary(&self) -> bool {
        let fixing = self.problem.choices().fix_choices(&FixedChoices::default());
        !matches!(fixing, ChoiceFixing::NotBinary) && self.solution.decision.is_binary()
    }

    /// The error for a part that needs binary decisions.
    pub(super) fn not_binary(&self, method: &str) -> Error {
        Error::Capability {
            method: method.to_owned(),
            capability: "binary decisions",
            problem: self.problem.name(),
            remedy: "leave it out; the cost ranges say how firm the decision is".into(),
        }
    }

    /// The absolute size of the objective's terms, for tolerances.
    pub(super) fn scale(&self) -> f64 {
        let terms = self.solution.decision.iter();
        let sum: f64 = terms
            .map(|(cost, value)| (self.costs[cost] * value).abs())
            .sum();
        sum.max(self.solution.objective.abs())
    }

    /// The name of a cost.
    pub(super) fn name(&self, cost: usize) -> String {
        self.names.get(cost).into_owned()
    }

    /// The number of the column with this name in complete decisions.
    pub(super) fn column_named(&self, name: &str) -> Result<u32> {
        let place = self.names.iter().position(|other| other == name);
        let auxiliary = self.problem.model_parts().auxiliary_names();
        let place = place.or_else(|| {
            let place = auxiliary.iter().position(|other| other == name);
            place.map(|place| self.costs.len() + place)
        });
        let place = place.ok_or_else(|| {
            let mut all = self.names.to_vec();
            all.extend_from_slice(auxiliary);
            let meant = nearest_name(name, all.iter().map(String::as_str));
            let meant = meant.map(|meant| format!("did you mean '{meant}'? "));
            let what = if auxiliary.is_empty() {
                "cost"
            } else {
                "column"
            };
            Error::setting(format!("no {what} is called '{name}'")).with_remedy(format!(
                "{}the {what}s are {}",
                meant.unwrap_or_default(),
                first_names(&all)
            ))
        })?;
        Ok(place as u32)
    }

    /// The values of a decision that are not 0, by name.
    pub(super) fn named_values(&self, decision: &Decision) -> Vec<NamedValue> {
        let named = |(cost, value): (usize, f64)| NamedValue {
            name: self.name(cost),
            value,
        };
        decision.iter().map(named).collect()
    }
}
