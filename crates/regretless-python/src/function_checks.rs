//! Checks of what a user's function promises: decisions that depend on the costs alone and, unless
//! it is declared to be a heuristic, are optimal; parts of its objective besides costs times
//! decision that do not depend on the costs. A function that breaks this would otherwise give wrong
//! numbers without any message.

use std::collections::{HashMap, VecDeque};

use regretless::label::LabeledDataset;
use regretless::notes::Note;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::SolveFailure;
use regretless::{Error, Result};

use crate::problem::Problem;
use crate::solutions::SolveResult;
use crate::solver_function::SolverFunction;

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

/// Most rows that are solved again once a function has returned another decision of the same
/// objective. Functions that break ties in the same way every time never need them; with costs that
/// are small whole numbers, the first rows may be ties. Untuned.
const MAX_DOUBTED_ROWS: usize = 10;

/// Factor of the costs of a row that is solved once more to see whether the known cost of its
/// decision changes with the costs. Small enough to get the same decision for most rows, large
/// enough that a tax of a few percent is no rounding.
const PROBED_COST_FACTOR: f64 = 1.25;

impl Problem {
    /// Solves one or two labeled rows of a function again: the first one and, in larger tables, one
    /// in the middle.
    ///
    /// # Errors
    /// When the objective differs, unless the function is a heuristic, which gets a warning; when
    /// the known cost of a decision depends on the costs; and when the user interrupts.
    pub fn check_repeated_answers(
        &self,
        oracle: &Oracle,
        labeled: &LabeledDataset,
        observer: &dyn Observer,
    ) -> Result<()> {
        let Some(function) = self.function() else {
            return Ok(());
        };
        let rows = labeled.rows();
        let mut repeated = repeated_rows(&rows, function.exact);
        let mut has_more_rows = false;
        while let Some(row) = repeated.pop_front() {
            let message = match repeat_answer(oracle, labeled, row, observer)? {
                RepeatedAnswer::SameDecision => continue,
                RepeatedAnswer::OtherDecision => {
                    if !has_more_rows {
                        repeated.extend(doubted_rows(&rows));
                        has_more_rows = true;
                    }
                    continue;
                }
                RepeatedAnswer::OtherObjective(message) => message,
            };
            if function.exact {
                let remedy = "for a heuristic, pass exact=False to Problem.from_solver";
                return Err(Error::data(message).with_remedy(remedy));
            }
            observer.warn(&message);
            // One warning about a heuristic is enough.
            return Ok(());
        }
        let error = known_costs_error(function, oracle, labeled, observer)?;
        if !function.exact {
            if let Some(error) = error {
                observer.warn(&error.message());
            }
            return Ok(());
        }
        match error {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Solves one or two rows whose decisions are given and not found by the function.
    ///
    /// # Errors
    /// When the function returns an objective with a part that decisions do not contain; when it
    /// fails; and when the user interrupts.
    pub fn check_given_decisions(
        &self,
        oracle: &Oracle,
        labeled: &LabeledDataset,
        observer: &dyn Observer,
    ) -> Result<()> {
        if self.function().is_none() {
            return Ok(());
        }
        for row in rows_of_different_decisions(labeled) {
            let Ok(solution) = solve_scaled(oracle, labeled, row, 1.0, observer)? else {
                continue;
            };
            let fixed = labeled.solution(row).decision.fixed();
            let scale = size_of_terms(labeled, row);
            if !is_same_amount(solution.decision.fixed(), fixed, scale) {
                let message = format!(
                    "the function returns objectives that are more than costs times decision (row \
                     {row}: by {}), and given decisions do not contain the difference",
                    labeled.stated_fixed_cost(&solution.decision)
                );
                let remedy = "find the labels with regretless.label(problem, C)";
                return Err(Error::data(message).with_remedy(remedy));
            }
        }
        if let Some(note) = Note::of_worse_labels(labeled, oracle) {
            observer.warn(&note.text);
        }
        Ok(())
    }
}

/// The rows of repeated solves, in their order.
fn repeated_rows(rows: &[usize], is_exact: bool) -> VecDeque<usize> {
    let most = if is_exact { MAX_REPEATED_ROWS } else { 1 };
    let count = (rows.len() / ROWS_PER_REPEATED_ROW).clamp(1, most);
    let repeats = if count == 1 {
        REPEATS_OF_SINGLE_ROW
    } else {
        REPEATS_PER_ROW
    };
    let distance = (rows.len() / count).max(1);
    let mut repeated = VecDeque::with_capacity(count * repeats);
    for row in rows.iter().step_by(distance).take(count) {
        repeated.extend(std::iter::repeat_n(*row, repeats));
    }
    repeated
}

/// What is wrong with a function whose known costs, the part of its objective besides costs times
/// decision, depend on the costs.
fn known_costs_error(
    function: &SolverFunction,
    oracle: &Oracle,
    labeled: &LabeledDataset,
    observer: &dyn Observer,
) -> Result<Option<Error>> {
    let rows = labeled.rows();
    let has_known_costs = |row: &usize| labeled.solution(*row).decision.fixed() != 0.0;
    let Some(row) = rows.iter().copied().find(has_known_costs) else {
        return Ok(None);
    };
    // Known costs may differ between rows with parameters of their own.
    if function.parameters.is_empty()
        && let Some((first, second)) = rows_with_other_known_costs(labeled, &rows)
    {
        let amount = |row: usize| labeled.stated_fixed_cost(&labeled.solution(row).decision);
        return Ok(Some(changing_known_costs(&format!(
            "rows {first} and {second} have the same decision, and {} and {}",
            amount(first),
            amount(second)
        ))));
    }
    let Ok(scaled) = solve_scaled(oracle, labeled, row, PROBED_COST_FACTOR, observer)? else {
        return Ok(None);
    };
    let label = &labeled.solution(row).decision;
    let (fixed, other) = (label.fixed(), scaled.decision.fixed());
    let amounts = [label, &scaled.decision].map(|decision| labeled.stated_fixed_cost(decision));
    let is_same_decision = *label == scaled.decision.with_fixed(fixed);
    let scale = PROBED_COST_FACTOR * size_of_terms(labeled, row);
    if is_same_decision && !is_same_amount(fixed, other, scale) {
        return Ok(Some(changing_known_costs(&format!(
            "row {row} has {}, and the same decision has {} if all costs are \
             {PROBED_COST_FACTOR} times as high",
            amounts[0], amounts[1]
        ))));
    }
    Ok(None)
}

fn changing_known_costs(found: &str) -> Error {
    let message = format!(
        "the function returns an objective that is more than costs times decision, and the \
         difference depends on the costs: {found}"
    );
    Error::data(message).with_remedy(
        "return costs times decision plus parts that do not depend on the costs; rounding and \
         taxes on the costs belong into the costs",
    )
}

/// Two rows with the same decision and different known costs.
fn rows_with_other_known_costs(labeled: &LabeledDataset, rows: &[usize]) -> Option<(usize, usize)> {
    let mut first_rows = HashMap::new();
    for row in rows {
        let solution = labeled.solution(*row);
        let decision = &solution.decision;
        let entries: Vec<(usize, u64)> = decision
            .iter()
            .map(|(index, value)| (index, value.to_bits()))
            .collect();
        let first = *first_rows.entry(entries).or_insert(*row);
        let expected = labeled.solution(first).decision.fixed();
        if !is_same_amount(expected, decision.fixed(), size_of_terms(labeled, *row)) {
            return Some((first, *row));
        }
    }
    None
}

/// Whether two amounts are equal up to the gap of a solver, relative to them and to a scale.
fn is_same_amount(first: f64, second: f64, scale: f64) -> bool {
    let scale = first.abs().max(second.abs()).max(scale);
    (first - second).abs() <= REPEATED_OBJECTIVE_TOLERANCE * scale
}

/// The absolute size of the terms of a label's objective, whose sum may cancel.
fn size_of_terms(labeled: &LabeledDataset, row: usize) -> f64 {
    let mut costs = Vec::new();
    labeled.data().costs().read(row, &mut costs);
    let terms = labeled.solution(row).decision.iter();
    terms.map(|(cost, value)| (costs[cost] * value).abs()).sum()
}

/// The first row and, if there is one, the first with another decision.
fn rows_of_different_decisions(labeled: &LabeledDataset) -> Vec<usize> {
    let rows = labeled.rows();
    let Some((first, others)) = rows.split_first() else {
        return Vec::new();
    };
    let decision = &labeled.solution(*first).decision;
    let is_other = |row: &&usize| labeled.solution(**row).decision != *decision;
    let other = others.iter().find(is_other);
    [Some(first), other]
        .into_iter()
        .flatten()
        .copied()
        .collect()
}

/// Solves a labeled row with costs times a factor.
///
/// # Errors
/// When the user interrupts; that the row has no decision is a result.
fn solve_scaled(
    oracle: &Oracle,
    labeled: &LabeledDataset,
    row: usize,
    factor: f64,
    observer: &dyn Observer,
) -> Result<SolveResult> {
    let mut costs = Vec::new();
    labeled.data().costs().read(row, &mut costs);
    for cost in &mut costs {
        *cost *= factor;
    }
    let mut worker = oracle.worker();
    worker.set_instance(row);
    let solved = worker.solve(&costs);
    drop(worker);
    if observer.interrupted() || matches!(solved, Err(SolveFailure::Interrupted)) {
        return Err(Error::Interrupted);
    }
    Ok(solved)
}

/// Rows that are solved again, each twice, once a function has returned another decision of the
/// same objective.
fn doubted_rows(rows: &[usize]) -> impl Iterator<Item = usize> {
    let distance = rows.len().div_ceil(MAX_DOUBTED_ROWS).max(1);
    let spaced = rows.iter().step_by(distance);
    spaced.flat_map(|row| std::iter::repeat_n(*row, REPEATS_PER_ROW))
}

/// What a function returns for a row that it has solved before.
enum RepeatedAnswer {
    /// The same decision.
    SameDecision,
    /// Another decision of the same objective: a tie that is broken at random, or a function with
    /// state.
    OtherDecision,
    /// Another objective, or no decision, as a message.
    OtherObjective(String),
}

/// Solves a labeled row again.
fn repeat_answer(
    oracle: &Oracle,
    labeled: &LabeledDataset,
    row: usize,
    observer: &dyn Observer,
) -> Result<RepeatedAnswer> {
    let label = labeled.solution(row);
    let first = label.objective;
    let again = solve_scaled(oracle, labeled, row, 1.0, observer)?;
    if let Ok(again) = &again
        && is_same_amount(first, again.objective, 0.0)
    {
        return Ok(if again.decision == label.decision {
            RepeatedAnswer::SameDecision
        } else {
            RepeatedAnswer::OtherDecision
        });
    }
    let then = match again {
        Ok(again) => labeled.stated_objective(&again.decision, row).to_string(),
        Err(failure) => failure.to_string(),
    };
    Ok(RepeatedAnswer::OtherObjective(format!(
        "the function returned another decision for the same costs (row {row}: {}, then \
         {then}): its answer must depend on the costs alone",
        labeled.stated_optimal_objective(row)
    )))
}
