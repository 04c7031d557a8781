//! Regret of predictions.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{Dataset, Matrix, NamedCosts};
use regretless::evaluate::Evaluation;
use regretless::observer::Observer;

use crate::arrays::{ArrayOwnership, array1, features};
use crate::call_observer::{PyCall, detached};
use crate::error::to_py_err;
use crate::keywords::refuse_unknown;
use crate::label::{Labels, check_same_rows, costs_in_column_order, costs_only, with_labels};
use crate::names::{match_table_of_model, reorder_to_names};
use crate::predict::Model;
use crate::problem::Problem;
use crate::results::{result_object, to_python};

/// Arguments of all evaluations.
pub struct EvaluationArgs<'a, 'py> {
    /// The problem.
    pub problem: &'a Problem,
    /// Optimal decisions under the true costs, where they are known.
    pub labels: Option<&'a Bound<'py, Labels>>,
    /// Number of threads.
    pub threads: Option<usize>,
    /// Whether to show progress.
    pub progress: bool,
    /// The heuristic that makes the decisions.
    pub heuristic: Option<&'a str>,
}

impl<'py> EvaluationArgs<'_, 'py> {
    /// Evaluates predictions.
    fn evaluate(
        &self,
        predictions: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluation> {
        check_same_rows(predictions, costs, "predictions", "C")?;
        let data = costs_only(self.problem, costs, ArrayOwnership::Borrow)?;
        let target = NamedCosts::new("C", data.cost_names());
        let predictions = reorder_to_names(predictions, "predictions", target)?;
        self.evaluate_matrix(costs.py(), &predictions, data)
    }

    /// Evaluates a model.
    pub fn evaluate_model(
        &self,
        model: &regretless::predict::CostModel,
        x: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluation> {
        let py = x.py();
        check_same_rows(x, costs, "X", "C")?;
        let mut data = costs_in_column_order(costs, ArrayOwnership::Borrow)?;
        match_table_of_model(py, self.problem, model, &mut data)?;
        let table = features(x, None, Some(&model.metadata.features))?;
        let matching = model
            .match_problem(self.problem.problem.as_ref())
            .map_err(to_py_err)?;
        let predictions = detached(py, || model.predict_matched(&table, &matching))?;
        predictions
            .check_finite(|column| data.cost_names().get(column).into_owned())
            .map_err(|error| PyValueError::new_err(format!("predictions: {error}")))?;
        self.evaluate_matrix(py, &predictions, data)
    }

    fn evaluate_matrix(
        &self,
        py: Python<'py>,
        predictions: &Matrix,
        data: Dataset,
    ) -> PyResult<Evaluation> {
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
            .oracle(&call, self.threads, self.heuristic)
            .map_err(to_py_err)?;
        let data = with_labels(py, self.problem, &call, &oracle, data, self.labels)?;
        call.run(py, |observer: &dyn Observer| {
            let rows = data.rows();
            let predict = |rows: &[usize]| data.select_predictions(predictions, rows);
            observer.begin("deciding", rows.len() as u64);
            let evaluation = Evaluation::in_chunks(predict, &data, &rows, &oracle, observer)?;
            observer.end();
            Ok(evaluation)
        })
    }
}

/// The Python object of an evaluation.
pub fn evaluation_object<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
) -> PyResult<Bound<'py, PyAny>> {
    result_object("Evaluation", &to_python(py, evaluation)?)
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
/// threads, progress, heuristic : optional
///     As in `Problem.solve_all`.
///
/// Returns
/// -------
/// Evaluation
///     Regret, normalized regret, errors of the predicted costs, and fraction of optimal decisions.
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
        problem, predictions, X=None, C=None, *, labels=None, threads=None, progress=false,
        heuristic=None, **unknown
    ),
    text_signature = "(problem, predictions, X=None, C=None, *, labels=None, threads=None, \
        progress=False, heuristic=None)"
)]
pub fn evaluate<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    X: Option<&Bound<'py, PyAny>>,
    C: Option<&Bound<'py, PyAny>>,
    labels: Option<&Bound<'py, Labels>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_unknown("evaluate", unknown)?;
    let costs = C.ok_or_else(|| PyValueError::new_err("C is missing: the true costs"))?;
    let args = EvaluationArgs {
        problem: problem.get(),
        labels,
        threads,
        progress,
        heuristic,
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
    evaluation_object(py, &evaluation)
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
/// threads, progress, heuristic : optional
///     As in `Problem.solve_all`.
///
/// Returns
/// -------
/// ndarray of shape (n,)
///     How much worse each decision is than the optimal one under the true costs. Rows whose true
///     costs have no feasible decision are left out.
///
/// Notes
/// -----
/// With exact labels regret is never negative but for rounding; with labels within a gap, or found
/// by a heuristic, it can be.
#[pyfunction]
#[pyo3(
    signature = (
        problem, predictions, C, *, labels=None, threads=None, progress=false, heuristic=None,
        **unknown
    ),
    text_signature = "(problem, predictions, C, *, labels=None, threads=None, progress=False, \
        heuristic=None)"
)]
pub fn regret<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, Labels>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    refuse_unknown("regret", unknown)?;
    let args = EvaluationArgs {
        problem: problem.get(),
        labels,
        threads,
        progress,
        heuristic,
    };
    Ok(array1(py, args.evaluate(predictions, C)?.regrets))
}
