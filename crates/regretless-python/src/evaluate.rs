//! Regret of predictions and its averages.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostSide, Dataset, Matrix, check_finite};
use regretless::evaluate::{Evaluation, match_model};
use regretless::observer::Observer;

use crate::arrays::{ArrayOwnership, features, row};
use crate::call_observer::{PyCall, detached};
use crate::error::to_py_err;
use crate::label::{Labels, check_same_rows, costs_as_given, costs_only, with_labels};
use crate::names::{in_order, match_table_of_model};
use crate::predict::Model;
use crate::problem::Problem;
use crate::train::python;

/// How calls that judge are made.
struct EvaluationArgs<'a, 'py> {
    problem: &'a Bound<'py, Problem>,
    labels: Option<&'a Bound<'py, Labels>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&'a str>,
}

impl<'py> EvaluationArgs<'_, 'py> {
    /// What predictions are worth that somebody made.
    fn evaluate(
        &self,
        predictions: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluation> {
        check_same_rows(predictions, costs, ["predictions", "C"])?;
        let data = costs_only(self.problem.get(), costs, ArrayOwnership::Borrow)?;
        let predictions = in_order(
            predictions,
            "predictions",
            CostSide::new("C", data.cost_names()),
        )?;
        self.evaluate_matrix(costs.py(), &predictions, data)
    }

    /// What the predictions of a model are worth.
    fn evaluate_model(
        &self,
        model: &regretless::predict::CostModel,
        x: &Bound<'py, PyAny>,
        costs: &Bound<'py, PyAny>,
    ) -> PyResult<Evaluation> {
        let (py, problem) = (x.py(), self.problem.get());
        check_same_rows(x, costs, ["X", "C"])?;
        let mut data = costs_as_given(costs, ArrayOwnership::Borrow)?;
        match_table_of_model(py, problem, model, &mut data)?;
        let table = features(x, None, Some(&model.about.features))?;
        let matching = match_model(model, problem.problem.as_ref()).map_err(to_py_err)?;
        let predictions = detached(py, || model.predict_matched(&table, &matching))?;
        check_finite(&predictions, |column| {
            data.cost_names().get(column).into_owned()
        })
        .map_err(|error| PyValueError::new_err(format!("predictions: {error}")))?;
        self.evaluate_matrix(py, &predictions, data)
    }

    fn evaluate_matrix(
        &self,
        py: Python<'py>,
        predictions: &Matrix,
        data: Dataset,
    ) -> PyResult<Evaluation> {
        let problem = self.problem.get();
        problem.check_width(predictions.cols())?;
        if predictions.rows() != data.len() {
            let message = format!(
                "{} rows of predictions for {} instances",
                predictions.rows(),
                data.len()
            );
            return Err(PyValueError::new_err(message));
        }
        let call = PyCall::new(self.progress);
        let oracle = problem
            .oracle(&call, self.threads, self.heuristic)
            .map_err(to_py_err)?;
        let data = with_labels(py, problem, (&call, &oracle), data, self.labels)?;
        call.run(py, |observer: &dyn Observer| {
            let rows = data.rows();
            let predict =
                |part: &[usize]| regretless::evaluate::known_predictions(&predictions, &data, part);
            observer.begin("deciding", rows.len() as u64);
            let found =
                regretless::evaluate::evaluate_in_chunks(predict, &data, &rows, &oracle, observer)?;
            observer.end();
            Ok(found)
        })
    }
}

/// What predictions, or those of a model, are worth: a dict of regret (mean), normalized_regret
/// (sum of regrets over sum of best objectives), relative_regret (mean share), optimal_fraction, mse,
/// mae and instances.
///
/// * `predictions`: an array of predicted costs (X is then not needed), or a Model.
/// * `C`: true costs. DataFrames of predictions and costs are matched to the problem's costs by
///   name, arrays by position.
/// * `labels`: their best decisions; found now unless given.
#[pyfunction]
#[pyo3(signature = (problem, predictions, X=None, C=None, *, labels=None, threads=None, progress=false, heuristic=None))]
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
) -> PyResult<Bound<'py, PyAny>> {
    let costs = C.ok_or_else(|| PyValueError::new_err("C is missing: the true costs"))?;
    let judging = EvaluationArgs {
        problem,
        labels,
        threads,
        progress,
        heuristic,
    };
    let found = match predictions.cast::<Model>() {
        Err(_) => judging.evaluate(predictions, costs)?,
        Ok(model) => {
            let x = X.ok_or_else(|| {
                PyValueError::new_err("X is missing: the features a model predicts from")
            })?;
            judging.evaluate_model(&model.get().model, x, costs)?
        }
    };
    python(py, &found)
}

/// The regret of each row of predictions: what its decision costs beyond the best one. Beside exact
/// labels it is never negative but for rounding; beside labels within a gap or found by a heuristic
/// it can be.
///
/// Rows whose true costs have no decision are left out. Arguments as in `evaluate`.
#[pyfunction]
#[pyo3(signature = (problem, predictions, C, *, labels=None, threads=None, progress=false, heuristic=None))]
pub fn regret<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    predictions: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, Labels>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let found = EvaluationArgs {
        problem,
        labels,
        threads,
        progress,
        heuristic,
    }
    .evaluate(predictions, C)?;
    Ok(row(py, found.regrets))
}
