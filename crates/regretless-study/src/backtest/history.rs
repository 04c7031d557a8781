//! [`BacktestHistory`]: a labeled table with its periods and folds.

use std::sync::Arc;

use super::folds::BacktestFold;
use super::periods::Periods;
use super::runner::BacktestTable;
use regretless::data::SplitIndices;
use regretless::label::{LabeledDataset, LabeledSplit};
use regretless::oracle::Oracle;
use regretless::problem::Problem;
use regretless_base::error::Result;

/// A labeled table with its periods and folds, in which rows without a label have no part.
pub struct BacktestHistory {
    /// What is decided.
    pub problem: Problem,
    /// All rows. Columns of text, dates and gaps are not encoded yet.
    pub data: Arc<LabeledDataset>,
    /// The periods of the rows that have a label.
    pub periods: Periods,
    /// Trainings and the rows they decide.
    pub folds: Vec<BacktestFold>,
    /// The earlier half of the rows as training rows, the later one as test rows.
    halves: SplitIndices,
}

impl BacktestHistory {
    /// The history of a table whose rows have these periods; `folds` divides those that have a
    /// label. `halves` has the earlier half of the rows as training rows and the later one as test
    /// rows.
    ///
    /// # Errors
    /// Those of `folds`.
    pub fn new(
        problem: Problem,
        data: Arc<LabeledDataset>,
        periods: Periods,
        halves: SplitIndices,
        folds: impl FnOnce(&Periods) -> Result<Vec<BacktestFold>>,
    ) -> Result<Self> {
        // Before the folds: a period without a labeled row would be one that nobody can decide.
        let periods = periods.keeping_rows(&data.rows());
        let folds = folds(&periods)?;
        Ok(Self {
            problem,
            data,
            periods,
            folds,
            halves,
        })
    }

    /// The history as a backtest runs on it.
    pub fn table<'a>(&'a self, oracle: &'a Oracle) -> BacktestTable<'a> {
        BacktestTable {
            spec: self.problem.spec(),
            data: &self.data,
            oracle,
            periods: &self.periods,
            folds: &self.folds,
        }
    }

    /// The history as notes see it: each training encodes its own rows, the notes are about the
    /// later half of all rows, encoded by the earlier one.
    pub(super) fn encoded_halves(&self) -> Result<LabeledSplit> {
        let (problem, data) = (self.problem.clone(), Arc::clone(&self.data));
        LabeledSplit::new(problem, data, self.halves.clone())?.encoded()
    }
}
