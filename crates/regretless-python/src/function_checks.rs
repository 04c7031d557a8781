//! Checks of what a user's function promises: decisions that depend on the costs alone and, unless
//! it is declared to be a heuristic, are optimal. A function that breaks this would otherwise give
//! wrong numbers without any message.

use pyo3::prelude::*;
use regretless::evaluate::Evaluation;
use regretless::label::LabeledDataset;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::SolveFailure;
use regretless::{Error, Result, Sense};

use crate::call_observer::warn;
use crate::problem::Problem;

/// Relative difference of two objectives for the same costs that an exact solver may have: the
/// usual gap at which MIP solvers stop.
const REPEATED_OBJECTIVE_TOLERANCE: f64 = 1e-4;

/// Most rows that are solved again, and rows of the table for each of them. Few, since a solve may
/// take minutes; more than the first, since a function that keeps state may answer it alike.
const MAX_REPEATED_ROWS: usize = 2;
const ROWS_PER_REPEATED_ROW: usize = 20;

/// How often a row is solved again if it is the only one, and if there are two. Repeats follow each
/// other directly, since nothing is known of the calls before: labels may have been stored, or
/// found by several threads. Three calls for one row find a function whose answers have the period
/// 2 or 3; fewer do not. Two rows take a fourth call: the first row compares the first two answers
/// of a period of 3, the other row compares the third with the first of the next period.
const REPEATS_OF_SINGLE_ROW: usize = 3;
const REPEATS_PER_ROW: usize = 2;

/// Relative regret below 0 that is more than rounding of objectives.
const NEGATIVE_REGRET_TOLERANCE: f64 = 1e-6;

/// Share of negative regrets among all that are not 0 from which on the sense of the problem is
/// questioned. Untuned: a heuristic has regrets of both signs.
const MIN_WRONG_SENSE_RATIO: f64 = 0.9;

impl Problem {
    /// Solves one or two labeled rows of a function again: the first one and, in larger tables, one
    /// in the middle.
    ///
    /// # Errors
    /// When the objective differs, unless the function is a heuristic, which gets a warning; and
    /// when the user interrupts.
    pub fn check_repeated_answers(
        &self,
        oracle: &Oracle,
        labeled: &LabeledDataset,
        observer: &dyn Observer,
    ) -> Result<()> {
        let Some(function) = self.function() else {
            return Ok(());
        };
        for row in repeated_rows(&labeled.rows(), function.exact) {
            let Some(message) = other_answer(oracle, labeled, row, observer)? else {
                continue;
            };
            if function.exact {
                let remedy = "for a heuristic, pass exact=False to Problem.from_solver";
                return Err(Error::data(message).with_remedy(remedy));
            }
            observer.warn(&message);
            // One warning about a heuristic is enough.
            break;
        }
        Ok(())
    }

    /// Warns where a function's decision under predicted costs is better than its decision under
    /// the true ones.
    pub fn warn_about_negative_regrets(
        &self,
        py: Python<'_>,
        evaluation: &Evaluation,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> PyResult<()> {
        if !self.function().is_some_and(|function| function.exact) {
            return Ok(());
        }
        let (mut count, mut positive) = (0, 0);
        let mut has_extra_costs = false;
        for (regret, row) in evaluation.regrets.iter().zip(rows) {
            // Not a quotient, which an objective of 0 does not have.
            let tolerance = NEGATIVE_REGRET_TOLERANCE * data.optimal_objective(*row).abs();
            count += usize::from(*regret < -tolerance);
            positive += usize::from(*regret > tolerance);
            has_extra_costs |= data.solution(*row).decision.fixed() != 0.0;
        }
        if count == 0 {
            return Ok(());
        }
        let subject = if count == 1 { "row has" } else { "rows have" };
        let mut message = format!(
            "{count} {subject} negative regret: the function is not optimal there; regret is \
             relative to its own decisions; pass exact=False to Problem.from_solver if it is a \
             heuristic"
        );
        if count as f64 >= MIN_WRONG_SENSE_RATIO * (count + positive) as f64 {
            let (verb, other) = match data.sense() {
                Sense::Minimize => ("minimize", "maximize"),
                Sense::Maximize => ("maximize", "minimize"),
            };
            message += &format!(
                "; hardly any row has positive regret: does the function really {verb}, or is the \
                 sense \"{other}\"?"
            );
        }
        if has_extra_costs {
            message += "; it returns objectives that are more than costs times decision: the \
                        difference may depend on the decision and the row's parameters, not on \
                        the costs";
        }
        warn(py, &message)
    }
}

/// The rows of repeated solves, in their order.
fn repeated_rows(rows: &[usize], is_exact: bool) -> Vec<usize> {
    let most = if is_exact { MAX_REPEATED_ROWS } else { 1 };
    let count = (rows.len() / ROWS_PER_REPEATED_ROW).clamp(1, most);
    let repeats = if count == 1 {
        REPEATS_OF_SINGLE_ROW
    } else {
        REPEATS_PER_ROW
    };
    let distance = (rows.len() / count).max(1);
    let mut repeated = Vec::with_capacity(count * repeats);
    for row in rows.iter().step_by(distance).take(count) {
        repeated.extend(std::iter::repeat_n(*row, repeats));
    }
    repeated
}

/// Solves a labeled row again. Returns a message if its objective is another one.
fn other_answer(
    oracle: &Oracle,
    labeled: &LabeledDataset,
    row: usize,
    observer: &dyn Observer,
) -> Result<Option<String>> {
    let mut costs = Vec::new();
    labeled.data().costs().read(row, &mut costs);
    let mut worker = oracle.worker();
    worker.set_instance(row);
    let again = worker.solve(&costs).map(|solution| solution.objective);
    drop(worker);
    if observer.interrupted() || matches!(again, Err(SolveFailure::Interrupted)) {
        return Err(Error::Interrupted);
    }
    let first = labeled.solution(row).objective;
    let is_same = |again: &f64| {
        let scale = first.abs().max(again.abs());
        (again - first).abs() <= REPEATED_OBJECTIVE_TOLERANCE * scale
    };
    if again.as_ref().is_ok_and(is_same) {
        return Ok(None);
    }
    let sense = labeled.sense();
    let then = match again {
        Ok(objective) => sense.convert(objective).to_string(),
        Err(failure) => failure.to_string(),
    };
    Ok(Some(format!(
        "the function returned another decision for the same costs (row {row}: {}, then \
         {then}): its answer must depend on the costs alone",
        sense.convert(first)
    )))
}
