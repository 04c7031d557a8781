//! The rows of one fold, and nothing else: no row after its last decided period is in memory of a
//! cell. Encodings, scalers and targets are fitted to its history.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::folds::BacktestFold;
use super::periods::Periods;
use super::runner::BacktestTable;
use crate::data::{Dataset, Features, Matrix, SplitIndices};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::NoopObserver;
use crate::oracle::Oracle;
use crate::predict::CostModel;
use crate::train::TrainingContext;

/// Labeled rows of a fold: its history, then the rows to decide.
pub(super) struct FoldData {
    /// Encoded by the rows that are trained on; the last part of the history validates.
    pub validated: SplitData,
    /// Encoded by the whole history.
    pub whole: SplitData,
    /// Positions of the rows of each period of the history, by the number of the period.
    history: BTreeMap<usize, Vec<usize>>,
    /// The period of each row that is decided, in order.
    test_periods: Vec<usize>,
    /// Hash of the rows, their labels, the problem and the limits of its solver.
    pub hash: String,
    /// For the rows of this fold, on one thread.
    pub oracle: Oracle,
}

/// The rows of a fold and how they are used.
pub(super) struct SplitData {
    pub data: Arc<LabeledDataset>,
    pub split: SplitIndices,
}

impl FoldData {
    pub fn new(
        table: &BacktestTable<'_>,
        fold: &BacktestFold,
        validation: f64,
    ) -> Result<Self> {
        let history = fold.history.len();
        let rows: Vec<usize> = [fold.history.as_slice(), &fold.test].concat();
        let data = table.data.select_rows(&rows);
        let raw_table = if data.data().features().are_raw() {
            Some(with_stated_costs(&data)?)
        } else {
            None
        };
        let oracle = Oracle::new(table.problem.kind().clone())
            .with_limits(*table.oracle.limits())
            .with_heuristic(table.oracle.heuristic())?
            .with_parameters(data.data().parameters())?;
        let validation_rows = fold.validation_rows(table.periods, validation)?;
        let data = Arc::new(data);
        let validated = SplitData::new(&data, raw_table.as_ref(), history, validation_rows)?;
        let whole = SplitData::new(&data, raw_table.as_ref(), history, 0)?;
        let hash = {
            let [validated, whole] = [&validated, &whole].map(|part| {
                let context = TrainingContext {
                    data: &part.data,
                    split: &part.split,
                    oracle: &oracle,
                    observer: &NoopObserver,
                };
                context.fingerprint(table.problem.spec())
            });
            format!("{}{}", validated?, whole?)
        };
        Ok(Self {
            validated,
            whole,
            history: history_by_period(fold, table.periods),
            test_periods: test_periods(fold, table.periods),
            hash,
            oracle,
        })
    }

    /// The rows that are decided, by their position in the fold.
    pub fn test(&self) -> &[usize] {
        &self.whole.split.test
    }

    /// The mean costs of the last period of the history for every decided row, minimized.
    pub fn last_period(&self) -> Result<Matrix> {
        let last = self.history.keys().next_back().copied();
        self.repeat_periods(|_| last)
    }

    /// The mean costs of the last period of the history that is a multiple of `season` periods
    /// before the decided one, minimized.
    pub fn last_season(&self, season: usize) -> Result<Matrix> {
        let latest = self.history.keys().next_back().copied().unwrap_or(0);
        self.repeat_periods(|period| {
            let seasons = (period - latest).div_ceil(season);
            period.checked_sub(seasons.checked_mul(season)?)
        })
    }

    /// The mean costs of a period of the history for every decided row.
    fn repeat_periods(&self, source: impl Fn(usize) -> Option<usize>) -> Result<Matrix> {
        let data = self.whole.data.data();
        if data.has_absent_costs() {
            return Err(Error::setting(
                "an item need not exist in an earlier period: earlier costs cannot be repeated",
            ));
        }
        let costs = data.predicted_part();
        let mut values = Vec::with_capacity(self.test().len() * costs.cols());
        for period in &self.test_periods {
            let rows = source(*period).and_then(|source| self.history.get(&source));
            let rows = rows.ok_or_else(|| {
                Error::setting("the history of a fold is shorter than a season")
                    .with_remedy("choose a longer training window or a shorter season")
            })?;
            values.extend(mean_of_rows(&costs, rows));
        }
        let costs = Matrix::from_f64(self.test().len(), costs.cols(), &values)?;
        data.complete_predictions(self.test(), costs)
    }
}

/// The table with its costs as the user states them, by which columns are encoded: in the user's
/// sense, without known parts, and missing where an item does not exist.
fn with_stated_costs(labeled: &LabeledDataset) -> Result<Dataset> {
    let data = labeled.data();
    let mut costs = data.predicted_part().into_owned();
    labeled.sense().convert_matrix(&mut costs)?;
    for row in 0..data.len() {
        let Some(present) = data.present_costs(row) else {
            break;
        };
        for (cost, exists) in costs.row_mut(row).iter_mut().zip(present) {
            if !exists {
                *cost = f32::NAN;
            }
        }
    }
    Dataset::with_missing_costs(data.features().clone(), costs, None)
}

fn mean_of_rows(costs: &Matrix, rows: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; costs.cols()];
    for row in rows {
        for (sum, cost) in mean.iter_mut().zip(costs.row(*row)) {
            *sum += f64::from(*cost);
        }
    }
    mean.iter().map(|sum| sum / rows.len() as f64).collect()
}

fn history_by_period(fold: &BacktestFold, periods: &Periods) -> BTreeMap<usize, Vec<usize>> {
    let by_row = periods.by_row();
    let mut history: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (position, row) in fold.history.iter().enumerate() {
        history.entry(by_row[row]).or_default().push(position);
    }
    history
}

fn test_periods(fold: &BacktestFold, periods: &Periods) -> Vec<usize> {
    let by_row = periods.by_row();
    fold.test.iter().map(|row| by_row[row]).collect()
}

impl SplitData {
    /// The first rows are the history, of which the last ones validate; the others test.
    fn new(
        data: &Arc<LabeledDataset>,
        raw_table: Option<&Dataset>,
        history: usize,
        validation: usize,
    ) -> Result<Self> {
        let test = data.len() - history;
        let split = SplitIndices::in_order(data.len(), [history - validation, validation, test])?;
        let encoded = match raw_table {
            Some(raw_table) => raw_table.encoded_features(&split.train)?,
            None => None,
        };
        let data = match encoded {
            Some(features) => Arc::new(data.with_features(features)?),
            None => Arc::clone(data),
        };
        Ok(Self { data, split })
    }

    /// The same rows with features as a model expects them.
    pub fn encoded_for(&self, model: &CostModel) -> Result<Self> {
        let features: &Features = self.data.data().features();
        let data = match &model.metadata.encoding {
            Some(encoding) => Arc::new(self.data.with_features(features.encode_by(encoding)?)?),
            None => Arc::clone(&self.data),
        };
        Ok(Self {
            data,
            split: self.split.clone(),
        })
    }
}
