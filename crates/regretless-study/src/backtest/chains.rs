//! The cells of a backtest in parallel: chains of cells that run one after the other, and the rows
//! of folds while cells need them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use regretless_base::error::{Error, Result};
use regretless_base::observer::{InterruptOnlyObserver, Observer};

use super::cell::{CellRun, FoldModel, FoldRecord};
use super::fold_data::FoldData;
use super::method::BacktestMethod;
use super::runner::{Backtest, BacktestTable};
use crate::experiment::CellFiles;

/// The rows of a fold while its cells run.
#[derive(Default)]
struct FoldSlot {
    data: Mutex<Option<Arc<FoldData>>>,
    /// Cells that have not ended.
    remaining: AtomicUsize,
}

/// Cells that run one after the other: one method on one fold or, if trainings start from the fold
/// before, on all folds.
pub(super) struct CellChain<'a> {
    pub(super) method_number: usize,
    method: &'a BacktestMethod,
    folds: Vec<usize>,
}

/// What all cells of a run share.
struct RunState<'a> {
    backtest: &'a Backtest,
    table: &'a BacktestTable<'a>,
    files: Option<CellFiles>,
    slots: Vec<FoldSlot>,
    observer: &'a dyn Observer,
}

impl Backtest {
    /// All cells, fold by fold; `refits` is the number of the user's folds.
    pub(super) fn chains<'m>(
        &self,
        methods: &'m [BacktestMethod],
        refits: usize,
    ) -> Vec<CellChain<'m>> {
        let mut chains = Vec::new();
        let mut add = |method_number: usize, folds: Vec<usize>| {
            chains.push(CellChain {
                method_number,
                method: &methods[method_number],
                folds,
            });
        };
        // Chains of several folds first: they cannot be divided, and would else keep one thread
        // busy at the end.
        for (number, method) in methods.iter().enumerate() {
            if method.is_model() && !self.refit {
                add(number, vec![refits]);
            } else if self.warm_start && method.can_start_warm() {
                add(number, (0..refits).collect());
            }
        }
        for fold in 0..refits {
            for (number, method) in methods.iter().enumerate() {
                let is_added = (method.is_model() && !self.refit)
                    || (self.warm_start && method.can_start_warm());
                if !is_added {
                    add(number, vec![fold]);
                }
            }
        }
        chains
    }

    /// The outcomes of all chains. Only an interruption ends the others.
    pub(super) fn run_chains(
        &self,
        chains: &[CellChain<'_>],
        table: &BacktestTable<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Result<Vec<FoldRecord>>>> {
        let mut slots: Vec<FoldSlot> = table.folds.iter().map(|_| FoldSlot::default()).collect();
        let mut cells = 0;
        for fold in chains.iter().flat_map(|chain| &chain.folds) {
            *slots[*fold].remaining.get_mut() += 1;
            cells += 1;
        }
        let state = RunState {
            backtest: self,
            table,
            files: self.folder.clone().map(|folder| CellFiles { folder }),
            slots,
            observer,
        };
        observer.begin("backtesting", cells);
        let mut outcomes: Vec<Result<Vec<FoldRecord>>> =
            chains.iter().map(|_| Ok(Vec::new())).collect();
        table.oracle.threads().fill_slots(
            &mut outcomes,
            || (),
            |(), index, outcome| *outcome = state.run_chain(&chains[index]),
        );
        observer.end();
        let is_interrupted =
            |outcome: &Result<Vec<FoldRecord>>| matches!(outcome, Err(Error::Interrupted));
        if outcomes.iter().any(is_interrupted) {
            return Err(Error::Interrupted);
        }
        Ok(outcomes)
    }
}

impl RunState<'_> {
    fn run_chain(&self, chain: &CellChain<'_>) -> Result<Vec<FoldRecord>> {
        let mut records = Vec::with_capacity(chain.folds.len());
        let mut start: Option<FoldModel> = None;
        for fold in &chain.folds {
            if self.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let data = self.fold_data(*fold)?;
            let cell = CellRun {
                backtest: self.backtest,
                table: self.table,
                method: chain.method,
                fold: *fold,
                data: &data,
                start: start.as_ref(),
                observer: &InterruptOnlyObserver(self.observer),
            };
            let (record, model) = cell.run(self.files.as_ref())?;
            records.push(record);
            start = model;
            // Dropped before the slot: the last cell of a fold frees its rows at once.
            drop(data);
            self.drop_finished(*fold);
            self.observer.advance(1);
        }
        Ok(records)
    }

    /// The rows of a fold, selected by the first cell that needs them; others wait.
    fn fold_data(&self, fold: usize) -> Result<Arc<FoldData>> {
        let slot = &self.slots[fold].data;
        let mut data = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = &*data {
            return Ok(Arc::clone(data));
        }
        let rows = &self.table.folds[fold];
        let selected = Arc::new(FoldData::new(self.table, rows, self.backtest.validation)?);
        *data = Some(Arc::clone(&selected));
        Ok(selected)
    }

    fn drop_finished(&self, fold: usize) {
        let slot = &self.slots[fold];
        if slot.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            *slot.data.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}
