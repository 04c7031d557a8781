//! The model for new rows: a method of a backtest, fitted to the whole history.

use super::cell::CellRun;
use super::fold_data::FoldData;
use super::folds::BacktestFold;
use super::method::BacktestMethod;
use super::results::{BacktestResults, MethodHistory};
use super::runner::{Backtest, BacktestTable};
use regretless::loss::{CostSensitiveSpec, ErrorSide};
use regretless::method::{Method, TrainingStage};
use regretless::predict::CostModel;
use regretless::report::TrainReport;
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;

/// A model of all rows, and how it came about.
#[derive(Debug, Clone)]
pub struct ProductionModel {
    /// The model.
    pub model: CostModel,
    /// Epochs of its training: the median of those that the validation rows of the folds chose.
    pub epochs: Option<usize>,
    /// Features that the last training of the backtest did not have: more rows have more seasons
    /// and categories.
    pub new_features: Vec<String>,
}

impl Backtest {
    /// Fits a method to all rows of a history, with the median of the epochs that its folds chose.
    /// The searches of `auto` and methods of several rounds divide the rows themselves: the latest
    /// ones choose between candidates or rounds.
    ///
    /// # Errors
    /// As [`Backtest::run`], and when the method is not one that is fitted.
    pub fn fit_history(
        &self,
        table: &BacktestTable<'_>,
        results: &BacktestResults,
        method: &str,
        observer: &dyn Observer,
    ) -> Result<ProductionModel> {
        let methods = BacktestMethod::all(&self.methods, self.season, table.periods, &[])?;
        let mut fitted = methods.iter().filter(|known| known.is_model());
        let method = fitted
            .find(|known| known.to_string() == method)
            .ok_or_else(|| Error::setting(format!("'{method}' is not fitted to rows")))?;
        let name = method.to_string();
        let compared = results.methods.iter().find(|known| known.name == name);
        let epochs = compared.and_then(MethodHistory::median_epochs);
        let last = table.folds.last();
        let fold = BacktestFold {
            history: table.periods.rows_of(0..table.periods.len()),
            // Rows to decide belong to every fold; these are not used.
            test: last.map_or_else(Vec::new, |fold| fold.test.clone()),
        };
        let data = FoldData::new(table, &fold, self.validation)?;
        let cell = CellRun {
            backtest: self,
            table,
            method,
            fold: 0,
            data: &data,
            start: None,
            observer,
        };
        let compared = match last {
            Some(last) => FoldData::new(table, last, self.validation)?.feature_names(),
            None => Vec::new(),
        };
        let mut new_features = data.feature_names();
        new_features.retain(|name| !compared.contains(name));
        Ok(ProductionModel {
            model: cell.fit_history(epochs)?,
            epochs,
            new_features,
        })
    }
}

/// The epoch that the validation rows of a training chose; none for searches, for methods of
/// several rounds, whose rounds have epochs of their own, and where validation rows choose more
/// than the epoch. If no epoch was chosen, 1: epoch 0 has the initial parameters.
pub(super) fn chosen_epochs(method: &Method, report: &TrainReport) -> Option<usize> {
    let Method::Stages(stages) = method else {
        return None;
    };
    let has_one_round = report.rounds.len() == 1 && !stages.iter().any(chooses_shrinkage);
    has_one_round.then(|| report.best_epoch().max(1))
}

/// Whether validation rows choose the shrinkage of the prices of `D`.
fn chooses_shrinkage(stage: &TrainingStage) -> bool {
    let loss = stage.loss.downcast_ref::<CostSensitiveSpec>();
    loss.is_some_and(|loss| loss.side == ErrorSide::DualWeighted(None))
}
