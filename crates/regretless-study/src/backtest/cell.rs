//! One cell of a backtest: a method on a fold. It is run once and stored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fold_data::{FoldData, SplitData};
use super::method::{BacktestMethod, GivenMethod, divide_columns};
use super::production::chosen_epochs;
use super::repeated::Repetition;
use super::runner::{Backtest, BacktestTable};
use crate::experiment::{CellFiles, CellId, StoredCell, cell_key, shown_predictions};
use regretless::baseline::mean_costs;
use regretless::data::Matrix;
use regretless::evaluate::MissingPredictions;
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::predict::{CostModel, PredictorSpec};
use regretless::report::CandidateReport;
use regretless::settings::{SelectionCriterion, TrainingSettings};
use regretless::solve::SolveStatus;
use regretless::train::{TrainingContext, linear_fit};
use regretless::trainer::Trainer;
use regretless_base::decision::Decision;
use regretless_base::error::{Error, Result};
use regretless_base::observer::Observer;

/// Increased when the content or meaning of cell files changes.
const FOLD_CELL_VERSION: u32 = 4;

/// A cell and its outcome, as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldRecord {
    /// The cell; its seed is the number of the fold.
    #[serde(flatten)]
    pub id: CellId,
    /// Hash of the parameters that decided; none if nothing is fitted.
    pub model_hash: Option<String>,
    /// Whether the training loss was still decreasing at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_not_converged: bool,
    /// The candidates of `auto` that are part of its model: predictors and methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// The epoch that the validation rows chose, where the training has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// The decided rows, in the order of the fold.
    pub rows: Vec<DecidedRow>,
}

impl StoredCell for FoldRecord {
    fn id(&self) -> &CellId {
        &self.id
    }
}

/// The decision of one row and its true cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DecidedRow {
    /// Objective under the true costs, in the user's sense.
    pub cost: f64,
    pub regret: f64,
    /// Whether the decision is proven optimal for the predicted costs.
    pub is_proven: bool,
    /// Columns that are not 0, of all columns of the problem.
    pub columns: Vec<u32>,
    /// Their values; none if all are 1.
    pub values: Option<Vec<f64>>,
    /// Predicted costs, in the user's sense, of the columns that this or the optimal decision has:
    /// column and cost. Empty if decisions are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<(u32, f32)>,
}

impl DecidedRow {
    /// A decision of a row: `decision` has the columns with predicted costs, `complete` all.
    pub fn new(
        data: &LabeledDataset,
        row: usize,
        decision: &Decision,
        complete: &Decision,
        is_proven: bool,
    ) -> Self {
        let objective = data.objective_of(decision, row);
        Self {
            cost: data.stated_objective(decision, row),
            regret: objective - data.optimal_objective(row),
            is_proven,
            columns: complete.indices().to_vec(),
            values: complete.values().map(<[f64]>::to_vec),
            predicted: Vec::new(),
        }
    }
}

/// Everything that the outcome of a cell depends on.
#[derive(Serialize)]
struct FoldCell<'a> {
    version: u32,
    name: &'a str,
    data_hash: &'a str,
    /// What is trained; none for other methods.
    training: Option<FoldTraining<'a>>,
    /// Hash of the user's predictions, or of costs that are repeated.
    given_hash: Option<String>,
    /// The cell whose model the training starts from.
    start_key: Option<&'a str>,
}

#[derive(Serialize)]
struct FoldTraining<'a> {
    loss_fingerprints: Vec<String>,
    predictor: Option<&'a PredictorSpec>,
    settings: &'a TrainingSettings,
}

/// The model of a fold, with the key of its cell, for the training of the next fold.
pub(super) struct FoldModel {
    pub key: String,
    pub model: CostModel,
}

/// The cells of a backtest that are run one after the other: a single one, or those of a method
/// whose trainings start from the fold before.
pub(super) struct CellRun<'a> {
    pub backtest: &'a Backtest,
    pub table: &'a BacktestTable<'a>,
    pub method: &'a BacktestMethod,
    pub fold: usize,
    pub data: &'a FoldData,
    pub start: Option<&'a FoldModel>,
    pub observer: &'a dyn Observer,
}

/// How a method predicts the rows of a fold.
struct FoldPrediction {
    /// Minimized, one row per decided row.
    costs: Matrix,
    /// What predictions that are NaN mean.
    missing: MissingPredictions,
    model: Option<CostModel>,
    /// Whether the training loss was still decreasing at the end.
    is_not_converged: bool,
    /// What `auto` chose.
    chosen: Vec<String>,
    /// The epoch that the validation rows chose.
    epochs: Option<usize>,
}

/// A model that was trained on a fold.
struct FoldFit {
    model: CostModel,
    is_not_converged: bool,
    chosen: Vec<String>,
    epochs: Option<usize>,
}

impl CellRun<'_> {
    /// The stored outcome, or else that of a run, which is stored; with the model if the next fold
    /// starts from it.
    pub fn run(&self, files: Option<&CellFiles>) -> Result<(FoldRecord, Option<FoldModel>)> {
        let id = self.id()?;
        let keeps_model = self.backtest.warm_start && self.method.can_start_warm();
        if let Some(files) = files
            && let Some(record) = files.read::<FoldRecord>(&id)
            // The key is a hash, so a record with other rows is a damaged one.
            && record.rows.len() == self.data.test.len()
        {
            if !keeps_model {
                return Ok((record, None));
            }
            // A damaged or missing model is trained again.
            if let Ok(model) = CostModel::load(&model_file(files, &id)) {
                let key = id.key;
                return Ok((record, Some(FoldModel { key, model })));
            }
        }
        let predicted = self.predict()?;
        let record = FoldRecord {
            id,
            model_hash: predicted.model.as_ref().map(model_hash).transpose()?,
            is_not_converged: predicted.is_not_converged,
            chosen: predicted.chosen,
            epochs: predicted.epochs,
            rows: self.decide(&predicted.costs, predicted.missing)?,
        };
        let model = predicted.model.filter(|_| keeps_model);
        if let Some(files) = files {
            if let Some(model) = &model {
                let path = model_file(files, &record.id);
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
                }
                model.save(&path, true)?;
            }
            // After the model: a record whose model must be there has it.
            files.write(&record)?;
        }
        let key = record.id.key.clone();
        Ok((record, model.map(|model| FoldModel { key, model })))
    }

    fn id(&self) -> Result<CellId> {
        let name = self.method.to_string();
        let training = match self.method {
            BacktestMethod::Trained(method) => Some(FoldTraining {
                loss_fingerprints: method.loss_fingerprints(),
                predictor: self.backtest.predictor.as_ref(),
                settings: &self.backtest.training,
            }),
            BacktestMethod::LeastSquares
            | BacktestMethod::HistoryMean
            | BacktestMethod::LastPeriod
            | BacktestMethod::SeasonalNaive(_)
            | BacktestMethod::Given(_) => None,
        };
        let given_hash = match self.method {
            BacktestMethod::Given(given) => Some(self.given_hash(given)),
            BacktestMethod::LastPeriod => self.repetition().hash(1),
            BacktestMethod::SeasonalNaive(season) => self.repetition().hash(*season),
            BacktestMethod::LeastSquares
            | BacktestMethod::Trained(_)
            | BacktestMethod::HistoryMean => None,
        };
        let cell = FoldCell {
            version: FOLD_CELL_VERSION,
            name: &name,
            data_hash: &self.data.hash,
            training,
            given_hash,
            start_key: self.start.map(|start| start.key.as_str()),
        };
        Ok(CellId {
            key: cell_key(&cell)?,
            problem: "folds".into(),
            name,
            seed: u32::try_from(self.fold)
                .map_err(|_| Error::setting("there are too many folds"))?,
        })
    }

    fn given_hash(&self, given: &GivenMethod) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut values = Vec::new();
        for row in &self.table.folds[self.fold].test {
            match given {
                GivenMethod::Predictions { costs, .. } => costs.read(*row, &mut values),
                GivenMethod::Decisions { decisions, .. } => {
                    values.clear();
                    for (column, value) in decisions[*row].iter().flat_map(Decision::iter) {
                        values.extend([column as f64, value]);
                    }
                }
            }
            // The lengths too: else two rows could not be told from one with the values of both.
            hasher.update(&(values.len() as u64).to_le_bytes());
            for value in &values {
                hasher.update(&value.to_le_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    fn repetition(&self) -> Repetition<'_> {
        Repetition {
            table: self.table,
            data: self.data,
            costs: self.backtest.repeated,
        }
    }

    fn context<'d>(&'d self, part: &'d SplitData) -> TrainingContext<'d> {
        TrainingContext {
            data: &part.data,
            split: &part.split,
            oracle: &self.data.history_oracle,
            observer: self.observer,
        }
    }

    /// The model of the method on this fold, fitted again; none if nothing is fitted.
    pub fn fit(&self) -> Result<Option<CostModel>> {
        Ok(self.predict()?.model)
    }

    /// The model of the method for rows that nobody has seen, fitted to the whole history: with
    /// this number of epochs or, where the method has none, as in a fold.
    pub fn fit_history(&self, epochs: Option<usize>) -> Result<CostModel> {
        let method = match self.method {
            BacktestMethod::Trained(method) => method,
            BacktestMethod::LeastSquares
            | BacktestMethod::HistoryMean
            | BacktestMethod::LastPeriod
            | BacktestMethod::SeasonalNaive(_)
            | BacktestMethod::Given(_) => {
                return linear_fit(&self.context(&self.data.whole), self.table.spec, 0.0);
            }
        };
        let trainer = self.trainer(method);
        let (trainer, part) = match epochs {
            // Searches and methods of several rounds divide the rows themselves.
            None => (trainer, self.trained_part(method)),
            Some(epochs) => {
                let settings = TrainingSettings {
                    epochs,
                    select: SelectionCriterion::Last,
                    patience: None,
                    ..self.backtest.training
                };
                (trainer.settings(settings), &self.data.whole)
            }
        };
        let trained = trainer.train(&self.context(part), self.table.spec, None)?;
        Ok(trained.model)
    }

    /// The rows that a method is fitted to: closed forms that are compared with least squares need
    /// no validation rows either.
    fn trained_part(&self, method: &Method) -> &SplitData {
        match method {
            Method::LeastSquares {
                is_shared: true, ..
            } => &self.data.whole,
            Method::Auto { .. }
            | Method::Stages(_)
            | Method::LeastSquares { .. }
            | Method::InvalidCombination(_) => &self.data.validated,
        }
    }

    fn trainer(&self, method: &Method) -> Trainer {
        let trainer = Trainer::new(method.clone()).settings(self.backtest.training);
        match &self.backtest.predictor {
            Some(predictor) => trainer.predictor(predictor.clone()),
            None => trainer,
        }
    }

    /// Fits what the method fits and predicts the costs of the decided rows.
    fn predict(&self) -> Result<FoldPrediction> {
        let rows = &self.data.test_rows();
        // Closed forms choose no epoch: withholding rows from them would handicap the reference.
        let (whole, test) = (&self.data.whole, &self.data.test);
        let complete = |costs: Matrix| test.data().complete_predictions(rows, costs);
        let costs = match self.method {
            BacktestMethod::LeastSquares => {
                let model = linear_fit(&self.context(whole), self.table.spec, 0.0)?;
                return self.predict_by(model);
            }
            BacktestMethod::Trained(method) => {
                let fit = self.train(method)?;
                return Ok(FoldPrediction {
                    is_not_converged: fit.is_not_converged,
                    chosen: fit.chosen,
                    epochs: fit.epochs,
                    ..self.predict_by(fit.model)?
                });
            }
            BacktestMethod::HistoryMean => {
                let mean = mean_costs(&self.context(whole));
                let repeated = mean.repeat(rows.len());
                complete(Matrix::new(rows.len(), mean.len(), repeated)?)?
            }
            BacktestMethod::LastPeriod => self.repetition().predictions(1)?,
            BacktestMethod::SeasonalNaive(season) => self.repetition().predictions(*season)?,
            BacktestMethod::Given(GivenMethod::Predictions { costs, .. }) => {
                let given = costs.select_rows(&self.table.folds[self.fold].test);
                test.minimized_predictions(rows, given)?
            }
            BacktestMethod::Given(GivenMethod::Decisions { .. }) => Matrix::default(),
        };
        let missing = match self.method {
            BacktestMethod::HistoryMean => MissingPredictions::LeftOut,
            BacktestMethod::Given(GivenMethod::Predictions { .. }) => {
                let history = whole.data.data();
                let unobserved = history.unobserved_costs(&whole.split.train);
                MissingPredictions::of_given(&costs, &unobserved)
            }
            BacktestMethod::LeastSquares
            | BacktestMethod::Trained(_)
            | BacktestMethod::LastPeriod
            | BacktestMethod::SeasonalNaive(_)
            | BacktestMethod::Given(GivenMethod::Decisions { .. }) => MissingPredictions::Refused,
        };
        Ok(FoldPrediction {
            costs,
            missing,
            model: None,
            is_not_converged: false,
            chosen: Vec::new(),
            epochs: None,
        })
    }

    fn predict_by(&self, model: CostModel) -> Result<FoldPrediction> {
        let costs = model.predict_instances(&self.data.test, &self.data.test_rows())?;
        Ok(FoldPrediction {
            costs,
            missing: model.missing_predictions(),
            model: Some(model),
            is_not_converged: false,
            chosen: Vec::new(),
            epochs: None,
        })
    }

    fn train(&self, method: &Method) -> Result<FoldFit> {
        let mut trainer = self.trainer(method);
        let own = self.trained_part(method);
        let encoded;
        let part = match self.start {
            Some(start) => {
                trainer = trainer.start_from(start.model.clone());
                encoded = own.encoded_for(&start.model)?;
                &encoded
            }
            None => own,
        };
        let context = self.context(part);
        let trained = trainer.train(&context, self.table.spec, None)?;
        let chosen = trained
            .report
            .candidates
            .iter()
            .filter(|entry| entry.is_chosen);
        Ok(FoldFit {
            chosen: chosen.map(CandidateReport::name).collect(),
            epochs: chosen_epochs(method, &trained.report),
            model: trained.model,
            is_not_converged: method.reports_convergence()
                && trained.report.has_converged() == Some(false),
        })
    }

    fn decide(&self, predictions: &Matrix, missing: MissingPredictions) -> Result<Vec<DecidedRow>> {
        let rows = &self.data.test_rows();
        let data = &self.data.test;
        let given = match self.method {
            BacktestMethod::Given(GivenMethod::Decisions { decisions, .. }) => Some(decisions),
            BacktestMethod::LeastSquares
            | BacktestMethod::Trained(_)
            | BacktestMethod::HistoryMean
            | BacktestMethod::LastPeriod
            | BacktestMethod::SeasonalNaive(_)
            | BacktestMethod::Given(GivenMethod::Predictions { .. }) => None,
        };
        let table_rows = &self.table.folds[self.fold].test;
        if let Some(decisions) = given {
            let mut decided = Vec::with_capacity(rows.len());
            for (row, table_row) in rows.iter().zip(table_rows) {
                let complete = decisions[*table_row].clone().unwrap_or_default();
                let problem = self.data.test_oracle.row_problem(*row);
                let problem = problem.map_err(|failure| Error::solver(*table_row, failure))?;
                let (decision, _) = divide_columns(&complete, problem.as_ref());
                decided.push(DecidedRow::new(data, *row, &decision, &complete, true));
            }
            return Ok(decided);
        }
        let oracle = &self.data.test_oracle;
        let names = data.data().cost_names();
        let results = match missing {
            MissingPredictions::Refused => {
                oracle.solve_instances_complete(predictions, rows, self.observer)?
            }
            MissingPredictions::LeftOut => {
                oracle.decide_instances_complete(predictions, rows, names, self.observer)?
            }
        };
        let mut decided = Vec::with_capacity(rows.len());
        for ((row, table_row), result) in rows.iter().zip(table_rows).zip(results) {
            let (solution, complete) =
                result.map_err(|failure| Error::solver(*table_row, failure))?;
            let is_proven = solution.status == SolveStatus::Optimal;
            let decision = &solution.decision;
            let optimal = data.optimal_decision(*row);
            let predicted = predictions.row(*row);
            decided.push(DecidedRow {
                predicted: shown_predictions(decision, optimal, predicted, data.sense()),
                ..DecidedRow::new(data, *row, decision, &complete, is_proven)
            });
        }
        Ok(decided)
    }
}

/// The file of a cell's model.
fn model_file(files: &CellFiles, id: &CellId) -> PathBuf {
    files.path(id).with_extension("safetensors")
}

/// Hash of what a model predicts by: its parameters, scalers and encoding, not the record of its
/// training.
fn model_hash(model: &CostModel) -> Result<String> {
    let bytes = model.without_record().to_bytes()?;
    Ok(blake3::hash(&bytes).to_hex()[..16].to_string())
}
