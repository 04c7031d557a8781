//! Regret of predictions.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{Dataset, Matrix, NamedCosts, RowParameters};
use regretless::evaluate::{Evaluation, MissingPredictions, TrainingOverlap};
use regretless::job::MatchedTable;
use regretless::label::LabeledDataset;
use regretless::notes::Note;
use regretless::observer::Observer;
use regretless::predict::CostModel;

use crate::arrays::{ArrayOwnership, array1};
use crate::backtest::given_matrix;
use crate::call_observer::{PyCall, detached, warn};
use crate::columns::model_features;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::label::{
    FailedRows, Labels, costs_in_column_order, costs_only, given_labels, labeled_table,
    with_parameters,
};
use crate::names::{match_table_of_model, reorder_to_costs};
use crate::notes::raise_notes;
use crate::observed_costs::missing_predictions;
use crate::parameters::ParameterList;
use crate::predict::Model;
use crate::problem::Problem;
use crate::results::to_python;

/// Arguments of all evaluations.
pub struct EvaluationArgs<'a, 'py> {
    /// The problem.
    pub problem: &'a Problem,
    /// Optimal decisions under the true costs, if they are known.
    pub labels: Option<&'a Bound<'py, Labels>>,
    /// Parameters of the rows.
    pub parameters: Option<ParameterList<'py>>,
    /// How labels and decisions are solved.
    pub options: SolveOptions,
}

impl<'a, 'py> EvaluationArgs<'a, 'py> {
    /// The arguments as Python passes them.
    pub fn new(
        problem: &'a Bound<'py, Problem>,
        labels: Option<&'a Bound<'py, PyAny>>,
        parameters: Option<ParameterList<'py>>,
        options: SolveOptions,
    ) -> PyResult<Self> {
        Ok(Self {
            problem: problem.get(),
            labels: given_labels(labels)?,
            parameters,
            options,
        })
    }
}

impl<'py> EvaluationArgs<'_, 'py> {
    /// Evaluates predictions; `missing` says what those that are NaN mean.
    fn evaluate(
        mut self,
        predictions: &Bound<'py, PyAny>,
        missing: MissingPredictions,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<EvaluatedTable> {
        let (problem, parameters) = (self.problem, self.parameters.take());
        let table = costs_only(problem, costs, parameters, ArrayOwnership::Borrow)?;
        let names = table.data().cost_names();
        let argument = "predictions";
        let predictions = match missing {
            MissingPredictions::Refused => reorder_to_costs(predictions, argument, problem, names)?,
            MissingPredictions::LeftOut => {
                given_matrix(predictions, argument, NamedCosts::new("C", names))?
            }
        };
        let evaluated = self.evaluate_matrix(costs.py(), &predictions, missing, table)?;
        evaluated.warn_about_unpredicted(costs.py())?;
        Ok(evaluated)
    }

    /// Evaluates a model.
    pub fn evaluate_model(
        mut self,
        model: &CostModel,
        x: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<EvaluatedTable> {
        let py = x.py();
        let parameters = self.parameters.take();
        let mut data =
            costs_in_column_order(self.problem, costs, parameters, ArrayOwnership::Borrow)?;
        match_table_of_model(py, self.problem, model, &mut data)?;
        let table = model_features(x, model)?;
        let matching = model
            .match_problem(self.problem.problem.as_ref())
            .map_err(to_py_err)?;
        let predictions = detached(py, || model.predict_matched(&table, &matching))?;
        let missing = model.missing_predictions();
        if missing == MissingPredictions::Refused {
            predictions
                .check_finite(|column| data.cost_names().get(column).into_owned())
                .map_err(|error| PyValueError::new_err(format!("predictions: {error}")))?;
        }
        let data = with_features(data, x, model)?;
        let table = MatchedTable::new(data);
        let evaluated = self.evaluate_matrix(py, &predictions, missing, table)?;
        evaluated.warn_about_unpredicted(py)?;
        let rows = evaluated.data.rows();
        let overlap = model.training_overlap(&evaluated.data, &rows);
        if let Some(warning) = overlap.and_then(|overlap| overlap.warning()) {
            warn(py, &warning)?;
        }
        Ok(evaluated)
    }

    /// The importance of each feature of a model on a table of features and costs: the increase of
    /// the mean regret in each repeat.
    pub fn permutation_importance(
        self,
        model: &CostModel,
        x: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
        repeats: usize,
        seed: u64,
    ) -> PyResult<Vec<Vec<f64>>> {
        let py = x.py();
        if repeats == 0 {
            return Err(PyValueError::new_err("repeats is 0; at least 1 is needed"));
        }
        let mut data =
            costs_in_column_order(self.problem, costs, self.parameters, ArrayOwnership::Borrow)?;
        match_table_of_model(py, self.problem, model, &mut data)?;
        let data = with_features(data, x, model)?;
        self.problem.check_width(data.costs().cols())?;
        let call = PyCall::new(self.options.progress);
        let oracle = self
            .options
            .oracle(self.problem, &call, data.parameters())
            .map_err(to_py_err)?;
        let table = MatchedTable::new(data);
        let data = labeled_table(py, self.problem, &call, &oracle, table, self.labels)?.rows;
        call.run(py, |observer: &dyn Observer| {
            let rows = data.rows();
            model.permutation_importance(&data, &rows, &oracle, repeats, seed, observer)
        })
    }

    fn evaluate_matrix(
        self,
        py: Python<'py>,
        predictions: &Matrix,
        missing: MissingPredictions,
        table: MatchedTable,
    ) -> PyResult<EvaluatedTable> {
        self.problem.check_width(predictions.cols())?;
        let rows = table.data().len();
        if predictions.rows() != rows {
            return Err(PyValueError::new_err(format!(
                "{} rows of predictions for {rows} instances",
                predictions.rows(),
            )));
        }
        let call = PyCall::new(self.options.progress);
        let oracle = self
            .options
            .oracle(self.problem, &call, table.data().parameters())
            .map_err(to_py_err)?;
        let labeled = labeled_table(py, self.problem, &call, &oracle, table, self.labels)?;
        let (data, failed) = (labeled.rows, labeled.report.failed);
        let evaluation = call.run(py, |observer: &dyn Observer| {
            let rows = data.rows();
            let predict = |rows: &[usize]| data.select_predictions(predictions, rows);
            observer.begin("deciding", rows.len() as u64);
            let evaluation =
                Evaluation::in_chunks(predict, missing, &data, &rows, &oracle, observer)?;
            observer.end();
            Ok(evaluation)
        })?;
        let note = Note::of_regrets(&evaluation.regrets, &data, &data.rows(), &oracle);
        raise_notes(py, self.problem, note.as_slice())?;
        Ok(EvaluatedTable {
            evaluation,
            data,
            failed,
            is_heuristic: oracle.is_heuristic(),
        })
    }
}

/// The costs of a table with the features of a model.
fn with_features(data: Dataset, x: &Bound<'_, PyAny>, model: &CostModel) -> PyResult<Dataset> {
    let table = model_features(x, model)?;
    let names = data.cost_names().clone();
    let parameters = data.parameters().map(|shared| RowParameters::clone(shared));
    // The costs were checked when they were read.
    let data = Dataset::with_missing_costs(table, data.costs().clone(), Some(names));
    with_parameters(data.map_err(to_py_err)?, parameters)
}

/// An evaluation with the rows it is of.
pub struct EvaluatedTable {
    evaluation: Evaluation,
    data: Arc<LabeledDataset>,
    failed: FailedRows,
    /// Whether decisions need not be optimal.
    is_heuristic: bool,
}

impl EvaluatedTable {
    /// Says which costs have no prediction.
    fn warn_about_unpredicted(&self, py: Python<'_>) -> PyResult<()> {
        let note = self
            .evaluation
            .unpredicted
            .note(self.data.data().cost_names());
        note.map_or(Ok(()), |note| warn(py, &note))
    }

    /// The fields of `regretless.Evaluation`.
    pub fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = to_python(py, &self.evaluation)?;
        fields.set_item("rows", self.rows(py)?)?;
        Ok(fields)
    }

    /// Columns with one entry per row of the table; NaN if a row has no label.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let count = self.data.len();
        let mut regret = vec![f64::NAN; count];
        let mut objective = vec![f64::NAN; count];
        let mut optimal_objective = vec![f64::NAN; count];
        let mut relative_regret = vec![f64::NAN; count];
        let mut decision_status = vec![String::new(); count];
        let mut label_status = vec![String::from("no label"); count];
        for (row, failure) in &self.failed {
            label_status[*row] = failure.to_string();
        }
        for (position, row) in self.data.rows().into_iter().enumerate() {
            let best = self.data.optimal_objective(row);
            let row_regret = self.evaluation.regrets[position];
            regret[row] = row_regret;
            objective[row] = self.evaluation.objectives[position];
            optimal_objective[row] = self.data.stated_optimal_objective(row);
            relative_regret[row] = Evaluation::relative_regret_of(row_regret, best);
            decision_status[row] = self.evaluation.statuses[position].describe(self.is_heuristic);
            label_status[row] = self.data.solution(row).status.describe(self.is_heuristic);
        }
        let columns = PyDict::new(py);
        columns.set_item("regret", array1(py, regret))?;
        columns.set_item("objective", array1(py, objective))?;
        columns.set_item("optimal_objective", array1(py, optimal_objective))?;
        columns.set_item("relative_regret", array1(py, relative_regret))?;
        columns.set_item("decision_status", decision_status)?;
        columns.set_item("label_status", label_status)?;
        Ok(columns)
    }

    /// The regret of each row with a label, and these rows.
    fn regrets<'py>(&self, py: Python<'py>) -> RegretArrays<'py> {
        let rows: Vec<i64> = self.data.rows().iter().map(|row| *row as i64).collect();
        (
            array1(py, self.evaluation.regrets.clone()),
            array1(py, rows),
        )
    }
}

/// Regrets and the rows that they belong to.
type RegretArrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>);

/// The warning that models of custom predictors raise if they were trained or validated on `seen`
/// of the `compared` rows of a table.
#[pyfunction]
#[pyo3(name = "_overlap_warning")]
pub fn overlap_warning(rows: usize, compared: usize, seen: usize) -> Option<String> {
    let overlap = TrainingOverlap {
        rows,
        compared,
        seen,
    };
    overlap.warning()
}

/// The fields of the evaluation of predictions; `regretless.evaluate` documents it. Where
/// `leaves_out` is true, costs whose prediction is NaN have none.
#[pyfunction]
#[pyo3(name = "_evaluate", signature = (
    problem, predictions, C, labels, parameters, options, leaves_out=false
))]
pub fn evaluate<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    options: SolveOptions,
    leaves_out: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let args = EvaluationArgs::new(problem, labels, parameters, options)?;
    let missing = missing_predictions(leaves_out);
    args.evaluate(predictions, missing, C)?.fields(py)
}

/// The fields of the evaluation of a model.
#[pyfunction]
#[pyo3(name = "_evaluate_model")]
pub fn evaluate_model<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    model: &Bound<'py, Model>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    options: SolveOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let args = EvaluationArgs::new(problem, labels, parameters, options)?;
    args.evaluate_model(&model.get().model, X, C)?.fields(py)
}

/// The regret of each row of predictions with a label, and these rows; `regretless.regret`
/// documents it.
#[pyfunction]
#[pyo3(name = "_regret")]
pub fn regret<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    options: SolveOptions,
) -> PyResult<RegretArrays<'py>> {
    let args = EvaluationArgs::new(problem, labels, parameters, options)?;
    let missing = MissingPredictions::Refused;
    Ok(args.evaluate(predictions, missing, C)?.regrets(py))
}
