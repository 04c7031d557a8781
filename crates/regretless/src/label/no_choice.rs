//! Rows that leave no choice: all their feasible decisions cost the same, most often since there is
//! only one. Every prediction decides there without regret, so nothing can be learned from them.
//!
//! They are found by solving a row for the negated costs, whose optimum is the worst decision. That
//! is done for a few rows of every table in which it could be so, and for more where no prediction
//! has regret at all, or these few rows leave no choice.

use std::sync::Arc;

use super::LabeledDataset;
use crate::data::Matrix;
use crate::error::Result;
use crate::observer::{InterruptOnlyObserver, Observer};
use crate::oracle::Oracle;
use crate::solve::{SearchLimits, SolveStatus};

/// Most rows that are solved again, evenly spaced: the share of rows without a choice is known up
/// to a standard error of 0.05 then.
const MAX_CHECKED_ROWS: usize = 100;

/// Rows that are solved again first: tables of problems that leave a choice do so in most rows.
const FIRST_CHECKED_ROWS: usize = 3;

/// Limit of the search for a worst decision: it may be far harder to find than the best one, as
/// for tours. Rows with few decisions need fewer nodes. Untuned.
const MAX_SEARCH_NODES: u64 = 1000;

/// Fewest rows from which something can be concluded if they leave a choice: with fewer, the same
/// decision is often the best in all of them by chance. Untuned.
const MIN_ROWS_TO_CONCLUDE: usize = 10;

/// Differences of objectives, relative to their size, that are rounding errors of a sum.
const OBJECTIVE_TOLERANCE: f64 = 1e-9;

/// What is known of rows on which no compared prediction has regret.
struct CheckedRows {
    checked: usize,
    without_choice: usize,
}

impl CheckedRows {
    fn leave_no_choice(&self) -> bool {
        self.checked > 0 && self.without_choice == self.checked
    }
}

fn no_choice_text(checked: usize, oracle: &Oracle) -> String {
    let hint = if oracle.problem().may_have_absent_costs() {
        "; `present` must mark everything that could have been chosen, not what was chosen"
    } else {
        ""
    };
    format!(
        "the rows leave no choice: in all {checked} rows that were checked, every feasible \
         decision costs the same, so any prediction has regret 0 and nothing can be \
         learned{hint}"
    )
}

impl LabeledDataset {
    /// Whether this mean regret of rows is 0, up to rounding.
    pub fn is_without_regret(&self, rows: &[usize], mean_regret: f64) -> bool {
        let objectives = rows.iter().map(|row| self.optimal_objective(*row).abs());
        let mean = objectives.sum::<f64>() / rows.len().max(1) as f64;
        mean_regret.abs() <= OBJECTIVE_TOLERANCE * mean
    }

    /// What follows if no prediction that was compared has regret on these rows, the mean of the
    /// training rows included: the rows leave no choice, or nothing can be concluded from them.
    /// `None` if a few rows leave a choice. Solves up to 100 rows.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn no_regret_note(
        &self,
        rows: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Option<String>> {
        let found = self.check_choices(rows, MAX_CHECKED_ROWS, oracle, observer)?;
        let CheckedRows {
            checked,
            without_choice,
        } = found;
        if found.leave_no_choice() {
            return Ok(Some(no_choice_text(checked, oracle)));
        }
        if rows.len() < MIN_ROWS_TO_CONCLUDE && without_choice == 0 {
            return Ok(None);
        }
        let few_choices = if without_choice > 0 {
            format!("; {without_choice} of {checked} rows that were checked leave no choice")
        } else {
            String::new()
        };
        Ok(Some(format!(
            "no prediction has regret on these {} rows, not even the mean of the training rows: \
             nothing can be concluded about models{few_choices}",
            rows.len()
        )))
    }

    /// What follows where the rows that have a label leave no choice; `None` where one leaves a
    /// choice, or rows are few. Solves 3 rows or, where these leave no choice, up to 100.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn no_choice_note(
        &self,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Option<String>> {
        let rows = self.rows();
        if rows.len() < MIN_ROWS_TO_CONCLUDE || self.have_several_decisions(&rows, oracle) {
            return Ok(None);
        }
        let mut checked = 0;
        for most in [FIRST_CHECKED_ROWS, MAX_CHECKED_ROWS] {
            let found = self.check_choices(&rows, most, oracle, observer)?;
            if !found.leave_no_choice() {
                return Ok(None);
            }
            checked = found.checked;
        }
        Ok(Some(no_choice_text(checked, oracle)))
    }

    /// Whether two rows with the same feasible decisions have different ones as their labels. One
    /// of them need not be better than the other, which the table then leaves open.
    fn have_several_decisions(&self, rows: &[usize], oracle: &Oracle) -> bool {
        let Some((first, others)) = rows.split_first() else {
            return false;
        };
        let first = self.optimal_decision(*first);
        !oracle.has_row_problems()
            && others
                .iter()
                .any(|row| self.optimal_decision(*row) != first)
    }

    /// Solves at most this many of the rows for their worst decision.
    fn check_choices(
        &self,
        rows: &[usize],
        most: usize,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<CheckedRows> {
        let problem = oracle.problem();
        // A function need not be made for negated costs, and known costs of other columns, which
        // would not be negated, hide the worst decision.
        let has_worst_decisions = problem.solver_traits().has_search_settings()
            && problem.solver_traits().has_exact_solver()
            && problem.model_parts().fixed_cost().is_some()
            && problem.model_parts().auxiliary_names().is_empty()
            && oracle.heuristic().is_none()
            && !oracle.predicts_quantities();
        let mut found = CheckedRows {
            checked: 0,
            without_choice: 0,
        };
        if !has_worst_decisions {
            return Ok(found);
        }
        let sample = evenly_spaced(rows, most);
        let (mut costs, mut negated) = (Vec::new(), Vec::new());
        for row in &sample {
            self.data().costs().read(*row, &mut costs);
            negated.extend(costs.iter().map(|cost| -cost));
        }
        let negated = Matrix::from_f64(sample.len(), self.data().costs().cols(), &negated)?;
        let limits = SearchLimits {
            nodes: MAX_SEARCH_NODES.min(oracle.limits().nodes),
            ..*oracle.limits()
        };
        let worst_oracle = Oracle::new(Arc::clone(problem))
            .with_threads(oracle.threads().clone())
            .with_limits(limits)
            .with_parameters(oracle.parameters())?;
        let observer = InterruptOnlyObserver(observer);
        let worst = worst_oracle.solve_instances(&negated, &sample, &observer)?;
        for (row, result) in sample.iter().zip(worst) {
            found.checked += 1;
            let Ok(solution) = result else {
                // Without a worst decision there are others than the best one.
                continue;
            };
            let costs = self.data().costs();
            let worst = costs.objective_of(&solution.decision, *row);
            let best = self.optimal_objective(*row);
            let is_equal = (worst - best).abs() <= OBJECTIVE_TOLERANCE * best.abs();
            if is_equal && solution.status == SolveStatus::Optimal {
                found.without_choice += 1;
            }
        }
        Ok(found)
    }
}

/// At most this many of some rows, from the first to the last.
fn evenly_spaced(rows: &[usize], most: usize) -> Vec<usize> {
    let count = rows.len().min(most);
    (0..count).map(|i| rows[i * rows.len() / count]).collect()
}
