//! Decisions of a linear problem whose columns are restricted, with the values of all columns: what
//! a set-up costs, or a quantity that is left out.

use super::RowCase;
use super::choices::{ChoiceAnswer, ChoiceSolver, DecisionDifference, FixedChoiceEffect};
use super::{ChangedValue, NamedValue};
use crate::decision::Decision;
use crate::error::{Error, Result, SolveFailure};
use crate::oracle::Oracle;
use crate::problem::{ColumnDomain, Restriction};
use crate::solve::Solution;

/// Difference of two values that counts as rounding, relative to the larger one, at least to 1: ten
/// times the tolerance of integers and rows, since rounded integers leave quantities that are
/// slightly wrong.
const VALUE_TOLERANCE: f64 = 1e-5;

/// A decision with the values of all columns.
#[derive(Debug, Clone)]
pub(super) struct CompleteSolution {
    pub(super) solution: Solution,
    /// The decision, followed by the columns of known cost.
    pub(super) complete: Decision,
}

/// Whether two values differ by more than rounding.
pub(super) fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > VALUE_TOLERANCE * a.abs().max(b.abs()).max(1.0)
}

impl ChoiceSolver<'_> {
    /// The best decision for each restriction, on all threads; none if no decision obeys it.
    ///
    /// # Errors
    /// When a search is not exact, or the user interrupts.
    pub(super) fn solve_restricted(
        &self,
        all: &[Restriction],
    ) -> Result<Vec<Option<CompleteSolution>>> {
        self.on_all_threads(all, |_, restriction| self.best_restricted(restriction))
    }

    /// The best decision that obeys a restriction.
    ///
    /// # Errors
    /// When the search is not exact.
    pub(super) fn best_restricted(
        &self,
        restriction: &Restriction,
    ) -> Result<Option<CompleteSolution>> {
        let case = self.case();
        let Some(problem) = case.problem.model_parts().restricted(restriction) else {
            return Ok(None);
        };
        self.count_solve();
        let oracle = Oracle::new(problem).with_limits(*case.oracle.limits());
        let (mut solution, complete) = match oracle.worker().solve_complete(&case.costs) {
            Ok(found) => found,
            Err(SolveFailure::Infeasible | SolveFailure::Conflict(_)) => return Ok(None),
            Err(failure) => return Err(Error::single_solve(failure)),
        };
        self.require_proof(&solution)?;
        // Computed like the objective of the explained decision, so equal decisions have a price of
        // 0.
        solution.objective = solution.decision.dot(&case.costs);
        Ok(Some(CompleteSolution { solution, complete }))
    }

    /// What it costs to use a column or to leave it out, if its problem can restrict it.
    pub(super) fn column_effect(
        &self,
        column: u32,
        domain: ColumnDomain,
        is_forced: bool,
    ) -> Result<FixedChoiceEffect> {
        let case = self.case();
        let name = case.column_name(column as usize);
        let is_chosen = case.complete.value(column as usize) != 0.0;
        let mut effect = FixedChoiceEffect::decided(case, name, is_forced);
        if is_chosen == is_forced {
            return Ok(effect);
        }
        let bounds = if is_forced {
            // A quantity can be used as little as one likes, which costs nothing in the limit.
            if !domain.is_integer || domain.bounds[0] < 0.0 {
                return Err(no_smallest_amount(&effect.name));
            }
            [1.0, f64::INFINITY]
        } else {
            [0.0, 0.0]
        };
        let restriction = Restriction::of_column(column, bounds);
        match self.best_restricted(&restriction)? {
            Some(found) => {
                effect.answer = ChoiceAnswer::Possible;
                effect.price = Some(self.price(&found.solution)?);
                effect.objective = Some(case.stated(found.solution.objective));
                let difference = case.complete_difference(&found.complete);
                (effect.added, effect.removed) = (difference.added, difference.removed);
                effect.changed = difference.changed;
            }
            None => {
                effect.answer = ChoiceAnswer::Infeasible;
                (effect.price, effect.objective) = (None, None);
            }
        }
        Ok(effect)
    }
}

/// The error of a quantity that is to be used.
fn no_smallest_amount(name: &str) -> Error {
    Error::setting(format!(
        "choosing '{name}' has no price: it is a quantity without a smallest amount"
    ))
    .with_remedy(format!(
        "choose the set-up that it needs, if there is one; to price at least 1 unit of {name}, \
         bound it below by 1 in a copy of the problem (lower = {{ {name} = 1 }} in a problem \
         file), decide with it and compare the objectives"
    ))
}

impl RowCase<'_> {
    /// The name of a column of a complete decision.
    pub(super) fn column_name(&self, column: usize) -> String {
        match column.checked_sub(self.costs.len()) {
            None => self.name(column),
            Some(auxiliary) => self.problem.model_parts().auxiliary_names()[auxiliary].clone(),
        }
    }

    /// Whether a column tells two decisions apart: its cost is predicted, or it is a choice.
    fn is_told(&self, column: usize) -> bool {
        column < self.costs.len()
            || self
                .domains
                .get(column)
                .is_some_and(ColumnDomain::is_choice)
    }

    /// How a complete decision differs from the explained one: columns of predicted cost, and
    /// integer columns of known cost.
    pub(super) fn complete_difference(&self, other: &Decision) -> DecisionDifference {
        let own = &self.complete;
        let names = |of: &Decision, without: &Decision| {
            let only = of
                .iter()
                .filter(|(column, _)| without.value(*column) == 0.0);
            let told = only.filter(|(column, _)| self.is_told(*column));
            told.map(|(column, _)| self.column_name(column)).collect()
        };
        let mut changed = Vec::new();
        for (column, value) in own.iter() {
            let other_value = other.value(column);
            if other_value != 0.0 && differ(value, other_value) && self.is_told(column) {
                changed.push(ChangedValue {
                    name: self.column_name(column),
                    value,
                    other_value,
                });
            }
        }
        DecisionDifference {
            added: names(other, own),
            removed: names(own, other),
            changed,
        }
    }

    /// The columns of known cost of a complete decision that are not 0.
    pub(super) fn other_columns(&self, complete: &Decision) -> Vec<NamedValue> {
        let others = complete
            .iter()
            .skip_while(|(column, _)| *column < self.costs.len());
        others
            .map(|(column, value)| NamedValue {
                name: self.column_name(column),
                value,
            })
            .collect()
    }
}
