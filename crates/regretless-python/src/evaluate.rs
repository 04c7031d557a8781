//! Regret of predictions.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{Dataset, Matrix, RowParameters};
use regretless::evaluate::{Evaluation, MissingPredictions, TrainingOverlap};
use regretless::label::LabeledDataset;
use regretless::notes::Note;
use regretless::observer::Observer;
use regretless::predict::CostModel;
use regretless::solve::SearchLimits;

use crate::arrays::{ArrayOwnership, array1};
use crate::call_observer::{PyCall, detached, warn};
use crate::columns::model_features;
use crate::error::to_py_err;
use crate::frames::FrameTemplate;
use crate::keywords::{refuse_unknown, search_limits};
use crate::label::{
    FailedRows, Labels, check_same_rows, costs_in_column_order, costs_only, with_labels,
    with_labels_and_failures, with_parameters,
};
use crate::names::{match_table_of_model, reorder_to_costs};
use crate::notes::raise_notes;
use crate::parameters::ParameterArgs;
use crate::predict::Model;
use crate::problem::Problem;
use crate::results::{result_object, to_python};

/// Arguments of all evaluations.
pub struct EvaluationArgs<'a, 'py> {
    /// The problem.
    pub problem: &'a Problem,
    /// Optimal decisions under the true costs, where they are known.
    pub labels: Option<&'a Bound<'py, Labels>>,
    /// Parameters of the rows.
    pub parameters: Option<&'a Bound<'py, PyAny>>,
    /// Number of threads.
    pub threads: Option<usize>,
    /// Whether to show progress.
    pub progress: bool,
    /// The heuristic that makes the decisions.
    pub heuristic: Option<&'a str>,
    /// Limits of labels and decisions.
    pub limits: SearchLimits,
}

impl<'py> EvaluationArgs<'_, 'py> {
    /// Evaluates predictions.
    fn evaluate(
        &self,
        predictions: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<EvaluatedTable> {
        check_same_rows(predictions, costs, "predictions", "C")?;
        let parameters = ParameterArgs::of_costs(self.parameters, costs);
        let data = costs_only(self.problem, costs, &parameters, ArrayOwnership::Borrow)?;
        let names = data.cost_names();
        let predictions = reorder_to_costs(predictions, "predictions", self.problem, names)?;
        self.evaluate_matrix(costs, &predictions, MissingPredictions::Refused, data)
    }

    /// Evaluates a model.
    pub fn evaluate_model(
        &self,
        model: &CostModel,
        x: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<EvaluatedTable> {
        let py = x.py();
        check_same_rows(x, costs, "X", "C")?;
        let parameters = ParameterArgs {
            features: Some(x),
            ..ParameterArgs::of_costs(self.parameters, costs)
        };
        let mut data =
            costs_in_column_order(self.problem, costs, &parameters, ArrayOwnership::Borrow)?;
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
        let evaluated = self.evaluate_matrix(costs, &predictions, missing, data)?;
        let names = evaluated.data.data().cost_names();
        if let Some(note) = evaluated.evaluation.unpredicted.note(names) {
            warn(py, &note)?;
        }
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
        &self,
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
        check_same_rows(x, costs, "X", "C")?;
        let parameters = ParameterArgs {
            features: Some(x),
            ..ParameterArgs::of_costs(self.parameters, costs)
        };
        let mut data =
            costs_in_column_order(self.problem, costs, &parameters, ArrayOwnership::Borrow)?;
        match_table_of_model(py, self.problem, model, &mut data)?;
        let data = with_features(data, x, model)?;
        self.problem.check_width(data.costs().cols())?;
        let call = PyCall::new(self.progress);
        let oracle = self
            .problem
            .oracle(
                &call,
                self.threads,
                self.heuristic,
                self.limits,
                data.parameters(),
            )
            .map_err(to_py_err)?;
        let data = with_labels(py, self.problem, &call, &oracle, data, self.labels)?;
        call.run(py, |observer: &dyn Observer| {
            let rows = data.rows();
            model.permutation_importance(&data, &rows, &oracle, repeats, seed, observer)
        })
    }

    fn evaluate_matrix(
        &self,
        costs: &Bound<'py, PyAny>,
        predictions: &Matrix,
        missing: MissingPredictions,
        data: Dataset,
    ) -> PyResult<EvaluatedTable> {
        let py = costs.py();
        self.problem.check_width(predictions.cols())?;
        if predictions.rows() != data.len() {
            return Err(PyValueError::new_err(format!(
                "{} rows of predictions for {} instances",
                predictions.rows(),
                data.len()
            )));
        }
        let call = PyCall::new(self.progress);
        let oracle = self
            .problem
            .oracle(
                &call,
                self.threads,
                self.heuristic,
                self.limits,
                data.parameters(),
            )
            .map_err(to_py_err)?;
        let (data, failed) =
            with_labels_and_failures(py, self.problem, &call, &oracle, data, self.labels)?;
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
            frame: FrameTemplate::of(costs, Vec::new())?,
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
    /// The DataFrame of the costs, if they are one.
    frame: Option<FrameTemplate>,
}

impl EvaluatedTable {
    /// The Python object of the evaluation.
    pub fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = to_python(py, &self.evaluation)?;
        fields.set_item("rows", self.rows(py)?)?;
        result_object("Evaluation", &fields)
    }

    /// One entry per row of the table; NaN where a row has no label.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
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
            optimal_objective[row] = self.data.sense().convert(best);
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
        let frames = py.import("regretless.tables.frames")?;
        frames.call_method1("row_table", (self.template(py), columns))
    }

    /// The regret of each row with a label: an array, or a Series where the costs are a DataFrame.
    fn regrets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows: Vec<i64> = self.data.rows().iter().map(|row| *row as i64).collect();
        let values = array1(py, self.evaluation.regrets.clone());
        let frames = py.import("regretless.tables.frames")?;
        let arguments = (self.template(py), values, "regret", array1(py, rows));
        frames.call_method1("series", arguments)
    }

    fn template<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let frame = self.frame.as_ref()?;
        Some(frame.template().bind(py).clone())
    }
}

/// The warning that models of predictors of the user's own raise where they were trained or
/// validated on `seen` of the `compared` rows of a table.
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

/// Evaluate predictions, or a model, by the decisions that follow from them.
///
/// Parameters
/// ----------
/// problem : Problem
///     The problem.
/// predictions : array_like or DataFrame of shape (n, d), or Model
///     Predicted costs, or a model that predicts them from `X`.
/// X : array_like or DataFrame of shape (n, p), optional
///     Features; only for a model.
/// C : array_like or DataFrame of shape (n, d)
///     True costs. Columns with names are matched to the problem's costs by name, arrays by
///     position.
/// labels : Labels, optional
///     Optimal decisions under the true costs; solved here by default.
/// parameters : mapping, DataFrame or list of str, optional
///     Parameters of the rows, as in `Problem.solve_all`, or names of columns of `X`; by default
///     the columns of `X` that the problem reads.
/// threads, progress, heuristic, gap, nodes, seconds : optional
///     As in `Problem.solve_all`.
///
/// Returns
/// -------
/// Evaluation
///     Regret, normalized regret, errors of the predicted costs, fraction of optimal decisions, and
///     regret and objectives of each row in `rows`.
///
/// Raises
/// ------
/// ValueError
///     Where `C`, or `X` for a model, is missing, or tables do not belong together.
///
/// Notes
/// -----
/// Rows whose true costs have no feasible decision are left out, with a warning.
///
/// Examples
/// --------
/// >>> rl.evaluate(problem, predictions, C=C_test).normalized_regret
/// >>> rl.evaluate(problem, model, X_test, C_test)
#[pyfunction]
#[pyo3(
    signature = (
        problem, predictions, X=None, C=None, *, labels=None, parameters=None, threads=None,
        progress=false, heuristic=None, gap=None, nodes=None, seconds=None, **unknown
    ),
    text_signature = "(problem, predictions, X=None, C=None, *, labels=None, parameters=None, \
        threads=None, progress=False, heuristic=None, gap=None, nodes=None, seconds=None)"
)]
pub fn evaluate<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    X: Option<&Bound<'py, PyAny>>,
    C: Option<&Bound<'py, PyAny>>,
    labels: Option<&Bound<'py, Labels>>,
    parameters: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_unknown("evaluate", unknown)?;
    let costs = C.ok_or_else(|| {
        PyValueError::new_err(if X.is_some() && !predictions.is_instance_of::<Model>() {
            "an array of predictions needs C=; the third argument is X, for models"
        } else {
            "C is missing: the true costs"
        })
    })?;
    let args = EvaluationArgs {
        problem: problem.get(),
        labels,
        parameters,
        threads,
        progress,
        heuristic,
        limits: search_limits(gap, nodes, seconds)?,
    };
    let evaluation = match predictions.cast::<Model>() {
        Err(_) => args.evaluate(predictions, costs)?,
        Ok(model) => {
            let x = X.ok_or_else(|| {
                PyValueError::new_err("X is missing: the features that the model predicts from")
            })?;
            args.evaluate_model(&model.get().model, x, costs)?
        }
    };
    evaluation.object(py)
}

/// Return the regret of each row of predictions.
///
/// Parameters
/// ----------
/// problem : Problem
///     The problem.
/// predictions : array_like or DataFrame of shape (n, d)
///     Predicted costs.
/// C : array_like or DataFrame of shape (n, d)
///     True costs.
/// labels : Labels, optional
///     Optimal decisions under the true costs; solved here by default.
/// parameters : mapping or DataFrame, optional
///     Parameters of the rows, as in `Problem.solve_all`.
/// threads, progress, heuristic, gap, nodes, seconds : optional
///     As in `Problem.solve_all`.
///
/// Returns
/// -------
/// ndarray or Series of shape (n,)
///     How much worse each decision is than the optimal one under the true costs; a Series with the
///     index of `C` where that is a DataFrame. Rows whose true costs have no feasible decision are
///     left out.
///
/// Notes
/// -----
/// With exact labels regret is never negative but for rounding; with labels within a gap, or found
/// by a heuristic, it can be.
#[pyfunction]
#[pyo3(
    signature = (
        problem, predictions, C, *, labels=None, parameters=None, threads=None, progress=false,
        heuristic=None, gap=None, nodes=None, seconds=None, **unknown
    ),
    text_signature = "(problem, predictions, C, *, labels=None, parameters=None, threads=None, \
        progress=False, heuristic=None, gap=None, nodes=None, seconds=None)"
)]
pub fn regret<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, Labels>>,
    parameters: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_unknown("regret", unknown)?;
    let args = EvaluationArgs {
        problem: problem.get(),
        labels,
        parameters,
        threads,
        progress,
        heuristic,
        limits: search_limits(gap, nodes, seconds)?,
    };
    args.evaluate(predictions, C)?.regrets(py)
}
