//! Costs, regrets and decisions of every method by period.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use super::cell::{DecidedRow, FoldRecord};
use super::method::{BacktestMethod, GivenMethod};
use super::runner::{Backtest, BacktestTable};
use super::savings::{MethodSaving, savings_of};
use crate::text::grouped;
use regretless::data::{CostNames, RowParameters};
use regretless::notes::{negative_regret_sentence, negative_regrets};
use regretless::sense::Sense;
use regretless_base::error::{Error, Result};

/// Outcome of a backtest. Costs are objectives under the true costs, in the user's sense.
#[derive(Debug, Clone)]
pub struct BacktestResults {
    /// The decided periods, from the earliest to the latest.
    pub periods: Vec<String>,
    /// Whether costs are minimized or maximized.
    pub sense: Sense,
    /// The unit of costs.
    pub unit: Option<String>,
    /// The best possible objective of each period.
    pub best: Vec<f64>,
    /// All methods without failures; the first is least squares, the reference.
    pub methods: Vec<MethodHistory>,
    /// Methods that failed on a fold, with the reason; they are not compared.
    pub failures: Vec<FailedMethod>,
    /// Trainings of each method that is fitted.
    pub trainings: usize,
    /// Mean number of days from one period to the next, if times are dates.
    pub days_per_period: Option<f64>,
    /// Whether periods follow each other in time; rows of a cross-validation do not.
    pub are_ordered: bool,
    /// Decided rows that equal another one in features and costs, if they are so many that models
    /// of a cross-validation have seen what they decide.
    pub repeated_rows: usize,
    /// Names of the columns of decisions.
    pub columns: CostNames,
    /// What all methods but the reference save, in their order.
    pub savings: Vec<MethodSaving>,
    /// The verdict in a sentence, if more was asked than [`BacktestResults::verdict`] answers.
    pub stated_verdict: Option<String>,
    /// The method of the model that follows, which pages are then about.
    pub delivered: Option<String>,
    /// What limits the verdict, in sentences.
    pub remarks: Vec<String>,
    /// Names of items that differ between rows, if they do.
    pub(super) parameters: Option<Arc<RowParameters>>,
    /// The rows of the user's table that those of the results are, if they are those of a copy.
    pub(crate) rows_of_table: Option<Vec<usize>>,
}

/// What a method would have cost in each period.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodHistory {
    /// Its name.
    pub name: String,
    /// The cost paid in each period.
    pub costs: Vec<f64>,
    /// The regret of each period.
    pub regrets: Vec<f64>,
    /// The decisions of all decided rows, from the earliest period to the latest.
    pub decisions: Vec<BacktestDecision>,
    /// Decisions that are not proven optimal for the predicted costs.
    pub unproven: usize,
    /// Trainings whose loss was still decreasing at the end.
    pub not_converged: usize,
    /// What `auto` chose in each training; empty for other methods.
    pub chosen: Vec<ChosenCandidates>,
    /// The epochs that the validation rows of the trainings chose, where there is one number.
    pub epochs: Vec<usize>,
    /// Decisions that are better than the optimal ones of the user's solver, though it is said to
    /// be exact.
    pub negative_regrets: usize,
    /// Whether its decisions were given, such as those of the present practice.
    pub is_given: bool,
}

/// The candidates of `auto` that became part of the model of a training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChosenCandidates {
    /// The first period that the model decided.
    pub first_period: String,
    /// Predictors and methods.
    pub candidates: Vec<String>,
}

/// The decision of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct BacktestDecision {
    /// The period, by its position in [`BacktestResults::periods`].
    pub period: usize,
    /// The row of the table, counted from 0.
    pub row: usize,
    /// Columns that are not 0, by their position in [`BacktestResults::columns`].
    pub columns: Vec<u32>,
    /// Their values; none if all are 1.
    pub values: Option<Vec<f64>>,
    /// Its regret.
    pub regret: f64,
    /// Predicted costs of the columns that it or the optimal decision has: column and cost. Empty
    /// if decisions are given.
    pub predicted: Vec<(u32, f32)>,
}

/// A method that is not compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedMethod {
    /// Its name.
    pub name: String,
    /// Why a cell of it failed.
    pub error: String,
}

/// The records of a method's cells so far.
pub(super) struct FinishedMethod {
    name: String,
    is_reference: bool,
    has_given_decisions: bool,
    records: Vec<FoldRecord>,
    error: Option<String>,
}

impl FinishedMethod {
    pub fn new(method: &BacktestMethod) -> Self {
        Self {
            name: method.to_string(),
            is_reference: matches!(method, BacktestMethod::LeastSquares),
            has_given_decisions: matches!(
                method,
                BacktestMethod::Given(GivenMethod::Decisions { .. })
            ),
            records: Vec::new(),
            error: None,
        }
    }

    /// Adds the outcome of some cells.
    ///
    /// # Errors
    /// When the reference failed, or a file could not be written.
    pub fn add(&mut self, outcome: Result<Vec<FoldRecord>>) -> Result<()> {
        match outcome {
            Ok(records) => self.records.extend(records),
            // A file that cannot be written concerns all methods: there is nothing to resume from.
            Err(error @ Error::Io { .. }) => return Err(error),
            // Without the reference there is nothing to compare with.
            Err(error) if self.is_reference => return Err(error.for_method(&self.name)),
            Err(error) => {
                self.error.get_or_insert(error.to_string());
            }
        }
        Ok(())
    }
}

/// One row of a method with the period it belongs to.
struct PlacedRow<'a> {
    period: usize,
    row: usize,
    decided: &'a DecidedRow,
}

impl BacktestResults {
    /// Problem, periods and trainings in a line.
    pub fn title(&self, problem: &str) -> String {
        let periods = grouped(self.periods.len() as u64);
        let range = match (self.periods.first(), self.periods.last()) {
            (Some(first), Some(last)) => format!(" from {first} to {last}"),
            _ => String::new(),
        };
        let trainings = match self.trainings {
            1 => "1 training".into(),
            count => format!("{count} trainings"),
        };
        if !self.are_ordered {
            return format!("{problem}: {periods} rows, {trainings} of each model");
        }
        format!("{problem}: {periods} periods{range}, {trainings} of each model")
    }

    /// What is saved by a cost, or gained by a gain, instead of another one.
    pub fn saving(&self, reference: f64, cost: f64) -> f64 {
        self.sense.convert(reference - cost)
    }

    /// Adds the costs of rows up by period.
    pub(super) fn collect(
        backtest: &Backtest,
        table: &BacktestTable<'_>,
        finished: Vec<FinishedMethod>,
    ) -> Result<Self> {
        let by_row = table.periods.by_row();
        let mut decided: Vec<usize> = table
            .folds
            .iter()
            .flat_map(|fold| fold.test.iter().map(|row| by_row[row]))
            .collect();
        // Several rows of a period are decided together, and folds of a cross-validation have no
        // order.
        decided.sort_unstable();
        decided.dedup();
        let sense = table.data.sense();
        let optimal = |period: &usize| -> f64 {
            let rows = table.periods.rows(*period).iter();
            rows.map(|row| table.data.stated_optimal_objective(*row))
                .sum()
        };
        let best = decided.iter().map(optimal).collect();
        let mut methods = Vec::new();
        let mut failures = Vec::new();
        for method in finished {
            match method.error {
                Some(error) => {
                    let name = method.name;
                    failures.push(FailedMethod { name, error });
                }
                None => methods.push(MethodHistory::of_records(method, table, &decided)),
            }
        }
        let names = table.data.data().cost_names();
        let mut results = Self {
            periods: decided
                .iter()
                .map(|period| table.periods.name(*period).to_owned())
                .collect(),
            sense,
            unit: backtest.unit.clone(),
            best,
            methods,
            failures,
            trainings: if backtest.refit { table.folds.len() } else { 1 },
            days_per_period: table.periods.days_per_period(),
            are_ordered: table.periods.are_ordered(),
            repeated_rows: backtest.repeated_rows,
            columns: names.followed_by(table.oracle.problem().model_parts().auxiliary_names()),
            savings: Vec::new(),
            stated_verdict: None,
            delivered: None,
            remarks: Vec::new(),
            parameters: table.data.data().parameters().cloned(),
            rows_of_table: None,
        };
        results.savings = savings_of(&results);
        results.remarks = results.limits();
        let remark = results.negative_regret_remark(table);
        results.remarks.extend(remark);
        Ok(results)
    }

    /// If the user's solver is not as exact as it is said to be: the method that shows it most.
    fn negative_regret_remark(&self, table: &BacktestTable<'_>) -> Option<String> {
        let most = self
            .methods
            .iter()
            .max_by_key(|method| method.negative_regrets)?;
        let problem = table.oracle.problem().as_ref();
        let sentence = negative_regret_sentence(most.negative_regrets, problem)?;
        Some(format!("{}: {sentence}", most.name))
    }

    /// The name of a column of a row's decision.
    pub fn column_name(&self, row: usize, column: usize) -> Cow<'_, str> {
        let parameters = self.parameters.as_deref();
        let own = parameters.and_then(|parameters| parameters.item_name(row, column));
        own.map_or_else(|| self.columns.get(column), Cow::Borrowed)
    }
}

/// What `auto` chose in its trainings, in the order of the folds.
fn chosen_candidates(records: &[FoldRecord], table: &BacktestTable<'_>) -> Vec<ChosenCandidates> {
    let by_row = table.periods.by_row();
    let mut records: Vec<&FoldRecord> = records.iter().collect();
    records.retain(|record| !record.chosen.is_empty());
    records.sort_by_key(|record| record.id.seed);
    let mut chosen = Vec::with_capacity(records.len());
    for record in records {
        let decided = table.folds[record.id.seed as usize].test.iter();
        let first = decided.map(|row| by_row[row]).min().unwrap_or(0);
        chosen.push(ChosenCandidates {
            first_period: table.periods.name(first).to_owned(),
            candidates: record.chosen.clone(),
        });
    }
    chosen
}

impl MethodHistory {
    /// Orders the rows of all folds by period; `decided` has the periods.
    fn of_records(method: FinishedMethod, table: &BacktestTable<'_>, decided: &[usize]) -> Self {
        let by_row = table.periods.by_row();
        let mut rows = Vec::new();
        for record in &method.records {
            let test = &table.folds[record.id.seed as usize].test;
            for (row, outcome) in test.iter().zip(&record.rows) {
                let position = decided.binary_search(&by_row[row]).unwrap_or(0);
                rows.push(PlacedRow {
                    period: position,
                    row: *row,
                    decided: outcome,
                });
            }
        }
        // Chains of cells and folds of a cross-validation are not in the order of the periods.
        rows.sort_by_key(|placed| (placed.period, placed.row));
        let mut history = Self::new(method.name, decided.len(), &rows);
        history.is_given = method.has_given_decisions;
        history.chosen = chosen_candidates(&method.records, table);
        history.epochs = method
            .records
            .iter()
            .filter_map(|cell| cell.epochs)
            .collect();
        history.negative_regrets = history.count_negative_regrets(table);
        let is_unfinished = |record: &&FoldRecord| record.is_not_converged;
        history.not_converged = method.records.iter().filter(is_unfinished).count();
        history
    }

    fn new(name: String, periods: usize, rows: &[PlacedRow<'_>]) -> Self {
        let mut history = Self {
            name,
            costs: vec![0.0; periods],
            regrets: vec![0.0; periods],
            decisions: Vec::with_capacity(rows.len()),
            unproven: 0,
            not_converged: 0,
            chosen: Vec::new(),
            epochs: Vec::new(),
            negative_regrets: 0,
            is_given: false,
        };
        for placed in rows {
            let DecidedRow {
                cost,
                regret,
                is_proven,
                columns,
                values,
                predicted,
            } = placed.decided;
            history.costs[placed.period] += cost;
            history.regrets[placed.period] += regret;
            history.unproven += usize::from(!is_proven);
            history.decisions.push(BacktestDecision {
                period: placed.period,
                row: placed.row,
                columns: columns.clone(),
                values: values.clone(),
                regret: *regret,
                predicted: predicted.clone(),
            });
        }
        history
    }

    fn count_negative_regrets(&self, table: &BacktestTable<'_>) -> usize {
        let decisions = || self.decisions.iter();
        let regrets: Vec<f64> = decisions().map(|decision| decision.regret).collect();
        let rows: Vec<usize> = decisions().map(|decision| decision.row).collect();
        negative_regrets(&regrets, table.data, &rows, table.oracle.problem().as_ref())
    }

    /// The median of the epochs of the trainings; the larger one of two in the middle.
    pub fn median_epochs(&self) -> Option<usize> {
        let mut epochs = self.epochs.clone();
        epochs.sort_unstable();
        epochs.get(epochs.len() / 2).copied()
    }

    /// Sum of the costs of all periods.
    pub fn total_cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// Sum of the regrets of all periods.
    pub fn total_regret(&self) -> f64 {
        self.regrets.iter().sum()
    }
}
