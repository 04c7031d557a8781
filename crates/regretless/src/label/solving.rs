//! Labels of a table: all rows are solved, or known decisions are checked.

use std::time::Instant;

use super::{LabeledDataset, RowObjectives};
use crate::data::{CostMatching, Dataset, Matrix, NamedCosts};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::sense::Sense;
use crate::solve::{Solution, SolveFailure, SolveStatus};
use crate::text::first_names;

/// A warning if costs in single precision differ by so little that rounding may change decisions.
pub(super) fn coarse_costs(costs: &Matrix) -> Option<String> {
    if costs.has_f64_values() {
        return None;
    }
    let row = costs.first_coarse_row()?;
    let size = costs
        .row(row)
        .iter()
        .fold(0.0_f32, |max, cost| max.max(cost.abs()));
    Some(format!(
        "the costs of row {row} (counted from 0) are of the size {size:e} and hardly differ: \
         tables are stored in single precision, about seven digits, and rounding may change \
         decisions; subtract what all costs of a row have in common"
    ))
}

/// Measured seconds of one of the solves since `started`.
fn seconds_per_solve(started: Instant, solves: usize, oracle: &Oracle) -> Option<f64> {
    let threads = oracle.solver_threads().count().min(solves);
    (solves > 0).then(|| started.elapsed().as_secs_f64() * threads as f64 / solves as f64)
}

/// Solves every row; returns the results and the measured seconds of one solve.
fn solve_rows(
    data: &Dataset,
    oracle: &Oracle,
    observer: &dyn Observer,
) -> Result<(Vec<SolveResult>, Option<f64>)> {
    if let Some(warning) = coarse_costs(data.costs()) {
        observer.warn(&warning);
    }
    observer.begin("labeling", data.len() as u64);
    let started = Instant::now();
    let mut results = oracle.solve_all(data.costs(), observer)?;
    // Before the refusals, which solve nothing.
    let solve_seconds = seconds_per_solve(started, results.len(), oracle);
    for (row, result) in results.iter_mut().enumerate() {
        refuse_unusable_costs(data.costs(), oracle, row, result);
    }
    observer.end();
    Ok((results, solve_seconds))
}

/// Adds the known parts of costs and marks absent ones, if the problem has them. A row whose
/// parameters define no problem keeps its costs: its label will fail with the reason.
fn complete_costs(data: &mut Dataset, oracle: &Oracle, sense: Sense) -> Result<()> {
    let problem = oracle.problem();
    let cols = data.costs().cols();
    let mut values = Vec::new();
    let mut known: Option<Vec<f64>> = None;
    let mut present: Option<Vec<bool>> = None;
    let may_have_absent_costs = problem.may_have_absent_costs();
    if !may_have_absent_costs && !problem.row_problems().has_known_costs() {
        // A table of a problem whose items were not known may have been read with empty costs.
        return if oracle.has_row_problems() {
            data.check_existing_costs()
        } else {
            Ok(())
        };
    }
    for row in 0..data.len() {
        values.clear();
        if oracle.has_row_problems() {
            oracle
                .read_parameters(row, &mut values)
                .map_err(|failure| Error::solver(row, failure))?;
        }
        if let Some(mut costs) = problem.row_problems().known_costs(&values) {
            if let Some(bad) = costs.iter().position(|cost| !cost.is_finite()) {
                return Err(Error::data(format!(
                    "the known cost {bad} of instance {row} is not finite"
                )));
            }
            sense.convert_slice(&mut costs);
            let known = known.get_or_insert_with(|| Vec::with_capacity(data.len() * cols));
            known.append(&mut costs);
        }
        if may_have_absent_costs {
            let all = present.get_or_insert_with(|| Vec::with_capacity(data.len() * cols));
            match oracle.row_problem(row) {
                Ok(problem) => match problem.present_costs() {
                    Some(costs) => all.extend_from_slice(costs),
                    None => all.extend(std::iter::repeat_n(true, cols)),
                },
                Err(_) => all.extend(std::iter::repeat_n(false, cols)),
            }
        }
    }
    data.complete_costs(known, present)
}

/// Why the true quantities of a row cannot be used, if that is so.
fn unusable_quantities(values: &Matrix, oracle: &Oracle, row: usize) -> Option<String> {
    let mut quantities = Vec::new();
    values.read(row, &mut quantities);
    oracle
        .row_problem(row)
        .ok()?
        .recourse()
        .unusable_values(&quantities)
}

/// Refuses the label of a row whose true costs have no optimum, such as a negative cycle of a
/// shortest path, and names the constraints of a problem without a feasible decision.
pub(super) fn refuse_unusable_costs(
    costs: &Matrix,
    oracle: &Oracle,
    row: usize,
    result: &mut SolveResult,
) {
    if oracle.predicts_quantities()
        && let Some(reason) = unusable_quantities(costs, oracle, row)
    {
        *result = Err(SolveFailure::UnusableCosts(reason));
        return;
    }
    match result {
        Err(SolveFailure::UnboundedAlong(reason)) => {
            let reason = format!("the objective is unbounded: {reason}");
            *result = Err(SolveFailure::UnusableCosts(reason));
        }
        Err(SolveFailure::Infeasible) => {
            if let Some(reason) = oracle.infeasibility() {
                *result = Err(SolveFailure::Conflict(reason.to_owned()));
            }
        }
        _ => {}
    }
    let is_unproven = matches!(result, Ok(label) if label.status == SolveStatus::LimitReached);
    if !is_unproven {
        return;
    }
    let mut row_costs = Vec::new();
    costs.read(row, &mut row_costs);
    let problem = oracle.row_problem(row).ok();
    if let Some(reason) =
        problem.and_then(|problem| problem.failure_reasons().unusable_costs(&row_costs))
    {
        *result = Err(SolveFailure::UnusableCosts(reason));
    }
}

impl LabeledDataset {
    /// Solves every instance.
    ///
    /// # Errors
    /// When the table does not fit the problem, an instance cannot be solved, or the observer
    /// interrupts.
    pub fn solve(mut data: Dataset, oracle: &Oracle, observer: &dyn Observer) -> Result<Self> {
        Self::prepare_costs(&mut data, oracle)?;
        let (results, solve_seconds) = solve_rows(&data, oracle, observer)?;
        let mut labels = Vec::with_capacity(results.len());
        for (instance, result) in results.into_iter().enumerate() {
            labels.push(result.map_err(|failure| Error::solver(instance, failure))?);
        }
        Ok(Self {
            solve_seconds,
            ..Self::of_labels(data, oracle, labels)
        })
    }

    /// Solves every instance; those that cannot be solved are returned with the reason, and are not
    /// among the [`LabeledDataset::rows`].
    ///
    /// # Errors
    /// When the table does not fit the problem, no instance can be solved, or the observer
    /// interrupts.
    pub fn solve_feasible(
        mut data: Dataset,
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<(usize, SolveFailure)>)> {
        Self::prepare_costs(&mut data, oracle)?;
        let (results, solve_seconds) = solve_rows(&data, oracle, observer)?;
        let mut failed = Vec::new();
        let mut labeled = Self::from_partial_results(data, oracle, results, &mut failed)?;
        labeled.solve_seconds = solve_seconds;
        Ok((labeled, failed))
    }

    /// A table whose costs are minimized, with the results of all its rows; failures are appended
    /// to `failed`.
    pub(super) fn from_partial_results(
        data: Dataset,
        oracle: &Oracle,
        results: Vec<SolveResult>,
        failed: &mut Vec<(usize, SolveFailure)>,
    ) -> Result<Self> {
        let mut labels = Vec::with_capacity(results.len());
        for (row, result) in results.into_iter().enumerate() {
            labels.push(result.unwrap_or_else(|failure| {
                failed.push((row, failure));
                // Keeps the rows in their places; nobody reads it, as failed rows are not listed.
                Solution::optimal(Decision::from_indices([]), 0.0)
            }));
        }
        if let Some((_, failure)) = failed.first()
            && failed.len() == labels.len()
        {
            return Err(Error::all_failed(labels.len(), failure.clone()));
        }
        Ok(Self {
            failed: failed.iter().map(|(row, _)| *row).collect(),
            ..Self::of_labels(data, oracle, labels)
        })
    }

    /// A table whose costs are minimized, with a label for every row.
    fn of_labels(data: Dataset, oracle: &Oracle, labels: Vec<Solution>) -> Self {
        Self {
            objectives: RowObjectives::new(oracle, labels.len()),
            data,
            sense: oracle.problem().sense(),
            labels,
            failed: Vec::new(),
            solve_seconds: None,
        }
    }

    /// A table with known labels, in the order of the problem's costs; each is checked.
    ///
    /// # Errors
    /// When the numbers of labels and instances differ or a decision is not feasible.
    pub fn from_decisions(
        mut data: Dataset,
        oracle: &Oracle,
        labels: Vec<Solution>,
    ) -> Result<Self> {
        Self::prepare_costs(&mut data, oracle)?;
        if labels.len() != data.len() {
            let message = format!("{} labels for {} instances", labels.len(), data.len());
            return Err(Error::data(message));
        }
        for (instance, solution) in labels.iter().enumerate() {
            let invalid = |message| Error::data(format!("label of instance {instance}: {message}"));
            oracle
                .row_problem(instance)
                .map_err(|failure| failure.to_string())
                .and_then(|problem| problem.check(&solution.decision))
                .map_err(invalid)?;
        }
        Ok(Self::of_labels(data, oracle, labels))
    }

    /// Reorders the costs by the names of the problem, checks the width of the table, and negates
    /// the costs of a maximization.
    pub(super) fn prepare_costs(data: &mut Dataset, oracle: &Oracle) -> Result<Sense> {
        let problem = oracle.problem();
        let matching = CostMatching::with_problem(
            NamedCosts::new("the table", data.cost_names()),
            problem.as_ref(),
        )?;
        data.apply(&matching)?;
        if data.costs().cols() != problem.num_costs() {
            let (present, required) = (data.costs().cols(), problem.num_costs());
            let message = format!(
                "the table has {present} costs per instance, {} needs {required}",
                problem.name()
            );
            return Err(Error::data(message).with_remedy(format!(
                "the costs are: {}; the problem has one variable per cost, such as one per weight \
                 of a knapsack",
                first_names(data.cost_names().iter())
            )));
        }
        oracle.check_parameters(data)?;
        let sense = problem.sense();
        sense.convert_matrix(data.costs_mut())?;
        complete_costs(data, oracle, sense)?;
        Ok(sense)
    }
}
