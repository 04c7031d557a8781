//! The rows of one fold, and nothing else. A training gets the rows of its history as a table of
//! their own: encodings, scalers, typical norms and whatever else a training reads from its table
//! cannot depend on later rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::folds::BacktestFold;
use super::periods::Periods;
use super::runner::BacktestTable;
use regretless::data::{Dataset, Features, SplitIndices};
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
use regretless::train::TrainingContext;
use regretless_base::error::Result;
use regretless_base::observer::NoopObserver;

/// Labeled rows of a fold. Its history and the rows that it decides are separate tables, so a
/// training cannot see the latter.
pub(super) struct FoldData {
    /// The history, encoded by the rows that are trained on; its last part validates.
    pub validated: SplitData,
    /// The history, encoded by all its rows, which are all trained on.
    pub whole: SplitData,
    /// The rows that are decided.
    pub test: LabeledDataset,
    /// Positions of the rows of each period of the history, by the number of the period.
    pub history: BTreeMap<usize, Vec<usize>>,
    /// The period of each row that is decided, in order.
    pub test_periods: Vec<usize>,
    /// Hash of the rows, their labels, the problem and the limits of its solver.
    pub hash: String,
    /// For the rows of the history, on one thread.
    pub history_oracle: Oracle,
    /// For the rows that are decided, on one thread.
    pub test_oracle: Oracle,
}

/// The history of a fold and how it is used.
pub(super) struct SplitData {
    pub data: Arc<LabeledDataset>,
    pub split: SplitIndices,
}

impl FoldData {
    pub fn new(table: &BacktestTable<'_>, fold: &BacktestFold, validation: f64) -> Result<Self> {
        let history = Arc::new(table.data.select_rows(&fold.history));
        let raw_table = if history.data().features().are_raw() {
            Some(with_stated_costs(&history)?)
        } else {
            None
        };
        let validation_rows = fold.validation_rows(table.periods, validation)?;
        // Two encodings: one has not seen the validation rows, so they can choose an epoch; the
        // other is that of methods without validation rows, and of the rows that are decided.
        let validated = SplitData::new(&history, raw_table.as_ref(), validation_rows)?;
        let whole = SplitData::new(&history, raw_table.as_ref(), 0)?;
        let mut test = table.data.select_rows(&fold.test);
        if let Some(encoding) = whole.data.data().features().encoding() {
            let encoded = test.data().features().encode_by(encoding)?;
            test = test.with_features(encoded)?;
        }
        let mut data = Self {
            history_oracle: oracle(table, &history)?,
            test_oracle: oracle(table, &test)?,
            validated,
            whole,
            test,
            history: history_by_period(fold, table.periods),
            test_periods: test_periods(fold, table.periods),
            hash: String::new(),
        };
        data.hash = data.fingerprint(table)?;
        Ok(data)
    }

    /// The trainings that select an epoch.
    pub fn validated_context(&self) -> TrainingContext<'_> {
        TrainingContext {
            data: &self.validated.data,
            split: &self.validated.split,
            oracle: &self.history_oracle,
            observer: &NoopObserver,
        }
    }

    fn fingerprint(&self, table: &BacktestTable<'_>) -> Result<String> {
        let fingerprint = |data: &LabeledDataset, split: &SplitIndices, oracle: &Oracle| {
            let context = TrainingContext {
                data,
                split,
                oracle,
                observer: &NoopObserver,
            };
            context.fingerprint(table.spec)
        };
        let all_test = SplitIndices::in_order(self.test.len(), [self.test.len(), 0, 0])?;
        let [validated, whole] = [&self.validated, &self.whole]
            .map(|part| fingerprint(&part.data, &part.split, &self.history_oracle));
        let test = fingerprint(&self.test, &all_test, &self.test_oracle)?;
        Ok(format!("{} {} {test}", validated?, whole?))
    }

    /// The features that columns of dates and texts become by all rows of the history.
    pub fn feature_names(&self) -> Vec<String> {
        let encoding = self.whole.data.data().features().encoding();
        encoding.map_or_else(Vec::new, |encoding| encoding.feature_names())
    }

    /// The rows that are decided, by their position.
    pub fn test_rows(&self) -> Vec<usize> {
        (0..self.test.len()).collect()
    }
}

/// An oracle for some rows of the table.
fn oracle(table: &BacktestTable<'_>, data: &LabeledDataset) -> Result<Oracle> {
    Oracle::new(table.oracle.problem().clone())
        .with_limits(*table.oracle.limits())
        .with_heuristic(table.oracle.heuristic())?
        .with_parameters(data.data().parameters())
}

/// The table with its costs as the user states them, by which columns are encoded: in the user's
/// sense, without known parts, and missing if an item does not exist.
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
    /// The last rows of the history validate, the others train.
    fn new(
        data: &Arc<LabeledDataset>,
        raw_table: Option<&Dataset>,
        validation: usize,
    ) -> Result<Self> {
        let train = data.len() - validation;
        let split = SplitIndices::in_order(data.len(), [train, validation, 0])?;
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
