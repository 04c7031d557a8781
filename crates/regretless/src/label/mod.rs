//! Labels: the optimal decision of every instance, computed once and stored.

use std::time::Instant;

use crate::data::{CostMatching, Dataset, Features, Matrix, NamedCosts};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::oracle::{Oracle, SolveResult};
use crate::sense::Sense;
use crate::solve::{Solution, SolveFailure, SolveStatus};
use crate::text::first_names;

mod comparison;
mod data_split;
pub(crate) mod file;
mod knn_robust;
mod label_key;
mod labeled_split;
mod no_choice;
mod segments;
mod shard;
mod store;
pub(crate) mod time_estimate;
mod training;

pub use comparison::LabelComparison;
pub(crate) use data_split::FeatureLayout;
pub use data_split::{DataPart, DataSplit, Row};
pub(crate) use knn_robust::KnnRobustCosts;
pub use labeled_split::{EncodedSplits, LabeledSplit};
pub use shard::Shard;
pub use store::{LabelReport, LabelStore};
pub(crate) use training::TrainingLabels;

/// A table with a label for every instance. Its costs are minimized: those of a maximization are
/// negated when the table is labeled.
#[derive(Debug, Clone)]
pub struct LabeledDataset {
    data: Dataset,
    sense: Sense,
    /// The label of each row, with objective, bound and status.
    labels: Vec<Solution>,
    /// Rows without a label, sorted; their entries in `labels` are empty decisions.
    failed: Vec<usize>,
    /// Measured seconds of one solve, if rows were solved just now. Never part of a result.
    solve_seconds: Option<f64>,
}

/// Labels by their proven quality.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct LabelCounts {
    /// Optimal decisions.
    pub optimal: usize,
    /// Decisions within a gap that the limits allow.
    pub within_gap: usize,
    /// Incumbents of searches that stopped at a limit of nodes or seconds, and decisions of
    /// heuristics.
    pub limit_reached: usize,
    /// The largest relative gap between the objective of a label and its dual bound; `None` where a
    /// label has no bound.
    pub max_gap: Option<f64>,
}

impl LabelCounts {
    /// Whether all labels are optimal.
    pub fn are_optimal(&self) -> bool {
        self.within_gap + self.limit_reached == 0
    }
}

impl std::fmt::Display for LabelCounts {
    /// `250 optimal, 50 within a gap; at most 0.93 % from the optimum`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} optimal", self.optimal)?;
        if self.within_gap > 0 {
            write!(f, ", {} within a gap", self.within_gap)?;
        }
        if self.limit_reached > 0 {
            write!(f, ", {} stopped at a limit", self.limit_reached)?;
        }
        match self.max_gap {
            _ if self.are_optimal() => Ok(()),
            Some(gap) => write!(f, "; at most {:.2} % from the optimum", 100.0 * gap),
            None => write!(f, "; not all have a bound"),
        }
    }
}

/// A warning where costs in single precision differ by so little that rounding may change
/// decisions.
fn coarse_costs(costs: &Matrix) -> Option<String> {
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

/// Adds the known parts of costs and marks absent ones, where the problem has them. A row whose
/// parameters define no problem keeps its costs: its label will fail with the reason.
fn complete_costs(data: &mut Dataset, oracle: &Oracle, sense: Sense) -> Result<()> {
    let problem = oracle.problem();
    let cols = data.costs().cols();
    let mut values = Vec::new();
    let mut known: Option<Vec<f64>> = None;
    let mut present: Option<Vec<bool>> = None;
    let may_have_absent_costs = problem.may_have_absent_costs();
    if !may_have_absent_costs && !problem.has_known_costs() {
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
        if let Some(mut costs) = problem.known_costs(&values) {
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

/// Refuses the label of a row whose true costs have no optimum, such as a negative cycle of a
/// shortest path, and names the constraints of a problem without a feasible decision.
fn refuse_unusable_costs(costs: &Matrix, oracle: &Oracle, row: usize, result: &mut SolveResult) {
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
    if let Some(reason) = problem.and_then(|problem| problem.unusable_costs(&row_costs)) {
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
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if let Some(warning) = coarse_costs(data.costs()) {
            observer.warn(&warning);
        }
        observer.begin("labeling", data.len() as u64);
        let started = Instant::now();
        let mut results = oracle.solve_all(data.costs(), observer)?;
        let solve_seconds = seconds_per_solve(started, results.len(), oracle);
        for (row, result) in results.iter_mut().enumerate() {
            refuse_unusable_costs(data.costs(), oracle, row, result);
        }
        observer.end();
        let mut labels = Vec::with_capacity(results.len());
        for (instance, result) in results.into_iter().enumerate() {
            labels.push(result.map_err(|failure| Error::solver(instance, failure))?);
        }
        Ok(Self {
            data,
            sense,
            labels,
            failed: Vec::new(),
            solve_seconds,
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
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if let Some(warning) = coarse_costs(data.costs()) {
            observer.warn(&warning);
        }
        observer.begin("labeling", data.len() as u64);
        let started = Instant::now();
        let mut results = oracle.solve_all(data.costs(), observer)?;
        let solve_seconds = seconds_per_solve(started, results.len(), oracle);
        for (row, result) in results.iter_mut().enumerate() {
            refuse_unusable_costs(data.costs(), oracle, row, result);
        }
        observer.end();
        let mut failed = Vec::new();
        let mut labeled = Self::from_partial_results(data, sense, results, &mut failed)?;
        labeled.solve_seconds = solve_seconds;
        Ok((labeled, failed))
    }

    /// A table whose costs are minimized, with the results of all its rows; failures are appended
    /// to `failed`.
    fn from_partial_results(
        data: Dataset,
        sense: Sense,
        results: Vec<SolveResult>,
        failed: &mut Vec<(usize, SolveFailure)>,
    ) -> Result<Self> {
        let mut labels = Vec::with_capacity(results.len());
        for (row, result) in results.into_iter().enumerate() {
            labels.push(result.unwrap_or_else(|failure| {
                failed.push((row, failure));
                Solution::optimal(Decision::from_indices([]), 0.0)
            }));
        }
        if let Some((_, failure)) = failed.first()
            && failed.len() == labels.len()
        {
            return Err(Error::all_failed(labels.len(), failure.clone()));
        }
        Ok(Self {
            data,
            sense,
            labels,
            failed: failed.iter().map(|(row, _)| *row).collect(),
            solve_seconds: None,
        })
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
        let sense = Self::prepare_costs(&mut data, oracle)?;
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
        Ok(Self {
            data,
            sense,
            labels,
            failed: Vec::new(),
            solve_seconds: None,
        })
    }

    /// The same labels for a table with the same costs; its features may differ.
    ///
    /// # Errors
    /// When the costs differ; the error has the first such row.
    pub fn with_dataset(&self, mut data: Dataset, oracle: &Oracle) -> Result<Self> {
        let sense = Self::prepare_costs(&mut data, oracle)?;
        if data.len() != self.len() {
            return Err(Error::data(format!(
                "{} labels for {} instances",
                self.len(),
                data.len()
            )));
        }
        if !oracle.reads_same_parameters(self.data.parameters(), data.parameters()) {
            return Err(
                Error::data("the labels belong to other parameters of the rows")
                    .with_remedy("label the table with the parameters that it has now"),
            );
        }
        // Where both have values in double precision, these must be equal too.
        let exact = data.costs().has_f64_values() && self.data.costs().has_f64_values();
        let (mut labeled_costs, mut new_costs) = (Vec::new(), Vec::new());
        let mut has_same_costs = |row: &usize| {
            if exact {
                self.data.costs().read(*row, &mut labeled_costs);
                data.costs().read(*row, &mut new_costs);
                return labeled_costs == new_costs;
            }
            data.costs().row(*row) == self.data.costs().row(*row)
        };
        match (0..data.len()).find(|row| !has_same_costs(row)) {
            Some(row) => Err(Error::data(format!(
                "the labels belong to other costs: row {row} differs"
            ))),
            None => Ok(Self {
                data,
                sense,
                labels: self.labels.clone(),
                failed: self.failed.clone(),
                solve_seconds: self.solve_seconds,
            }),
        }
    }

    /// The same rows with other features.
    ///
    /// # Errors
    /// When the number of instances differs.
    pub fn with_features(&self, features: Features) -> Result<Self> {
        if features.instances() != self.len() {
            let (found, rows) = (features.instances(), self.len());
            return Err(Error::data(format!(
                "features of {found} instances for {rows} labels"
            )));
        }
        let mut changed = self.clone();
        changed.data = changed.data.with_features(features);
        Ok(changed)
    }

    /// The listed rows with their labels, in the order of the list.
    ///
    /// # Panics
    /// When a row does not exist.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let positions = 0..rows.len();
        Self {
            data: self.data.select_rows(rows),
            sense: self.sense,
            labels: rows.iter().map(|row| self.labels[*row].clone()).collect(),
            failed: positions
                .filter(|place| !self.has_label(rows[*place]))
                .collect(),
            solve_seconds: self.solve_seconds,
        }
    }

    /// Reorders the costs by the names of the problem, checks the width of the table, and negates
    /// the costs of a maximization.
    fn prepare_costs(data: &mut Dataset, oracle: &Oracle) -> Result<Sense> {
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

    /// The table; its costs are minimized.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Whether some rows lack some costs.
    pub fn has_absent_costs(&self) -> bool {
        self.data.has_absent_costs()
    }

    /// The objective sense of the user's problem.
    pub fn sense(&self) -> Sense {
        self.sense
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The rows that have a label: all except those that could not be solved.
    pub fn rows(&self) -> Vec<usize> {
        (0..self.len())
            .filter(|row| self.failed.binary_search(row).is_err())
            .collect()
    }

    /// Whether a row exists and has a label.
    pub fn has_label(&self, row: usize) -> bool {
        row < self.len() && self.failed.binary_search(&row).is_err()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of an instance: its optimal decision.
    pub fn optimal_decision(&self, instance: usize) -> &Decision {
        &self.labels[instance].decision
    }

    /// The label of an instance with objective, bound and status.
    pub fn solution(&self, instance: usize) -> &Solution {
        &self.labels[instance]
    }

    /// All labels.
    pub fn solutions(&self) -> &[Solution] {
        &self.labels
    }

    /// The minimized best objective of every row; NaN where a row has no label.
    pub fn best_objectives(&self) -> Vec<f64> {
        let mut objectives = vec![f64::NAN; self.len()];
        for row in self.rows() {
            objectives[row] = self.optimal_objective(row);
        }
        objectives
    }

    /// The labels of these rows by their proven quality.
    pub fn label_counts(&self, rows: &[usize]) -> LabelCounts {
        let mut counts = LabelCounts {
            max_gap: Some(0.0),
            ..LabelCounts::default()
        };
        for row in rows.iter().filter(|row| self.has_label(**row)) {
            let label = &self.labels[*row];
            let gap = match label.status {
                SolveStatus::Optimal => {
                    counts.optimal += 1;
                    continue;
                }
                SolveStatus::WithinGap(gap) => {
                    counts.within_gap += 1;
                    gap
                }
                SolveStatus::LimitReached => {
                    counts.limit_reached += 1;
                    let difference = (label.objective - label.bound).max(0.0);
                    difference / label.objective.abs().max(f64::MIN_POSITIVE)
                }
            };
            let larger = counts.max_gap.map(|max| max.max(gap));
            counts.max_gap = larger.filter(|_| gap.is_finite());
        }
        counts
    }

    /// Measured seconds of one solve on one thread, if rows were solved just now.
    pub(crate) fn solve_seconds(&self) -> Option<f64> {
        self.solve_seconds
    }

    /// Mean work of solving these rows in nanoseconds, as counted by
    /// [`crate::solve::Solver::work`]; `None` where the solver does not count.
    pub fn mean_work(&self, rows: &[usize]) -> Option<f64> {
        let total: u64 = rows.iter().map(|row| self.labels[*row].work).sum();
        (total > 0).then(|| total as f64 / rows.len() as f64)
    }

    /// The objective of an instance's label, recomputed from the table.
    pub fn optimal_objective(&self, instance: usize) -> f64 {
        self.data
            .costs()
            .objective_of(self.optimal_decision(instance), instance)
    }
}
