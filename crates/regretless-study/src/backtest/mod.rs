//! Backtests: what methods would have cost on the user's own history.
//!
//! A rolling origin (`folds.rs`) moves through the periods of a table (`periods.rs`). For every
//! fold, models are trained on its history only and decide the periods after it; a method on a
//! fold is a *cell*, which is run once and stored like the cells of experiments (`cell.rs`,
//! `runner.rs`). A fold's data are a copy of its rows (`fold_data.rs`), so nothing later can be
//! seen. [`BacktestResults`] has costs, regrets and decisions by period. Savings (`savings.rs`) are
//! paired differences against least squares with intervals of a block bootstrap
//! (`statistics/block_bootstrap.rs`); the best of them is the verdict.

mod cell;
mod chains;
mod files;
mod fold_data;
mod folds;
mod history;
mod method;
mod periods;
mod production;
mod repeated;
mod results;
mod runner;
mod savings;

pub use folds::{BacktestFold, RollingOrigin, TrainingWindow, cross_validation};
pub use history::BacktestHistory;
pub use method::{GivenMethod, RepeatedCosts};
pub use periods::Periods;
pub use production::ProductionModel;
pub use results::{
    BacktestDecision, BacktestResults, ChosenCandidates, FailedMethod, MethodHistory,
};
pub(crate) use runner::LatestFit;
pub use runner::{Backtest, BacktestTable};
pub use savings::MethodSaving;
