//! Training: the same plan as the command line's, from keywords.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use regretless::data::{CostNames, Dataset, SplitIndices, SplitRule};
use regretless::evaluate::few_rows_warning;
use regretless::renamed::new_word;
use regretless::train::{
    CheckpointFolder, Method, Optimizer, Trainer, TrainingContext, TrainingSettings,
};
use serde_json::Value;

use crate::arrays::{ArrayOwnership, features, matrix, row_numbers};
use crate::call_observer::{PyCall, warn};
use crate::error::to_py_err;
use crate::label::{Labels, check_same_rows, with_labels};
use crate::names::{column_names, match_table};
use crate::predict::Model;
use crate::problem::Problem;

/// A value of the library as Python's own: dicts, lists, numbers.
pub fn python<'py, T: serde::Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// Settings by their names, laid over a profile's.
fn settings(
    given: Option<&Bound<'_, PyDict>>,
    profile: &str,
    seed: u64,
) -> PyResult<TrainingSettings> {
    let standard = match profile {
        "default" => TrainingSettings {
            seed,
            ..TrainingSettings::default()
        },
        "paper" => TrainingSettings::paper(seed),
        _ => {
            return Err(to_py_err(regretless::Error::unknown(
                "profile",
                profile,
                &["default", "paper"],
            )));
        }
    };
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("settings: {error}"));
    let mut table = serde_json::to_value(standard).map_err(wrong)?;
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let names = table
            .as_object()
            .map(|known| known.keys().cloned().collect::<Vec<_>>())
            .unwrap_or_default();
        if !names.contains(&name) || name == "seed" {
            let is_known = |word: &str| names.iter().any(|known| known == word);
            let message = match new_word(&name, is_known) {
                Some(new) => format!("train() got '{name}'; it is called '{new}' now"),
                None => {
                    let choices = names.join(", ");
                    format!("train has no setting '{name}'; choose one of: {choices}")
                }
            };
            return Err(PyTypeError::new_err(message));
        }
        table[&name] = setting(&name, &value)?;
        serde_json::from_value::<TrainingSettings>(table.clone())
            .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    }
    serde_json::from_value(table).map_err(wrong)
}

fn setting(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("{name}: {error}"));
    if name == "optimizer" && value.is_instance_of::<PyString>() {
        let rule: Optimizer = value.extract::<String>()?.parse().map_err(to_py_err)?;
        return serde_json::to_value(rule).map_err(wrong);
    }
    // numpy's numbers know how to become Python's.
    let plain = if value.hasattr("item")? {
        value.call_method0("item")?
    } else {
        value.clone()
    };
    serde_json::from_str(&json_text(&plain, name)?).map_err(wrong)
}

/// A value of Python as JSON, which knows finite numbers only; `what` it is, for messages.
pub fn json_text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("allow_nan", false)?;
    let text = py
        .import("json")?
        .call_method("dumps", (value,), Some(&options));
    let text = text.map_err(|error| match error.is_instance_of::<PyValueError>(py) {
        true if value.extract::<f64>().is_ok() => {
            PyValueError::new_err(format!("{what}: {value} is not a finite number"))
        }
        true => PyValueError::new_err(format!(
            "{what} holds a number that is not finite: {}",
            error.value(py)
        )),
        false => error,
    })?;
    text.extract()
}

/// Shares, counts, or rows.
fn split(given: Option<&Bound<'_, PyAny>>, rows: usize, seed: u64) -> PyResult<SplitIndices> {
    let Some(given) = given else {
        return SplitRule::DEFAULT
            .with_seed(seed)
            .apply(rows)
            .map_err(to_py_err);
    };
    let spec = |text: &str| {
        text.parse::<SplitRule>()
            .and_then(|spec| spec.with_seed(seed).apply(rows))
            .map_err(to_py_err)
    };
    if let Ok(text) = given.extract::<String>() {
        return spec(&text);
    }
    if given.extract::<f64>().is_ok() {
        return spec(&given.str()?.to_string());
    }
    let parts: Vec<Bound<'_, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
    if parts.iter().all(|part| part.extract::<f64>().is_ok()) {
        let words = parts
            .iter()
            .map(|part| Ok(part.str()?.to_string()))
            .collect::<PyResult<Vec<String>>>()?;
        return spec(&words.join(","));
    }
    let mut lists = parts
        .iter()
        .map(|part| listed(part, rows))
        .collect::<PyResult<Vec<_>>>()?
        .into_iter();
    let mut next = || lists.next().unwrap_or_default();
    let found = SplitIndices {
        train: next(),
        validation: next(),
        test: next(),
    };
    if lists.next().is_some() {
        return Err(PyValueError::new_err(
            "split has rows to train, validate and test; there are more than three lists",
        ));
    }
    for (one, other, names) in [
        (&found.train, &found.validation, "train and validate"),
        (&found.train, &found.test, "train and test"),
        (&found.validation, &found.test, "validate and test"),
    ] {
        let seen: std::collections::HashSet<&usize> = one.iter().collect();
        if let Some(row) = other.iter().find(|row| seen.contains(row)) {
            return Err(PyValueError::new_err(format!(
                "split: row {row} is among the rows to {names}; what is measured on rows of both \
                    is not to be trusted"
            )));
        }
    }
    Ok(found)
}

fn listed(part: &Bound<'_, PyAny>, rows: usize) -> PyResult<Vec<usize>> {
    let list = row_numbers(part, "split")?;
    match list.iter().find(|row| **row >= rows) {
        Some(row) => Err(PyValueError::new_err(format!(
            "split: row {row} does not exist; the table has {rows}"
        ))),
        None => Ok(list),
    }
}

/// A checked table.
fn table(
    x: &Bound<'_, PyAny>,
    c: &Bound<'_, PyAny>,
    [feature_names, cost_names]: [Option<Vec<String>>; 2],
) -> PyResult<Dataset> {
    let costs = matrix(c, "C", ArrayOwnership::Borrow)?;
    let names = cost_names
        .map_or_else(|| column_names(c), |given| Ok(Some(given)))?
        .map(CostNames::from);
    Dataset::new(features(x, feature_names, None)?, costs, names).map_err(|error| match error {
        regretless::Error::Input { ref place, .. } if place.row.is_some() => {
            PyValueError::new_err(format!("C: {error}"))
        }
        other => to_py_err(other),
    })
}

/// Trains a model for the decisions it leads to; returns (model, report).
///
/// * `problem`: what is decided.
/// * `X`: features, one row per instance (or three dimensions: instances, costs, features of each
///   cost).
/// * `C`: true costs, one row per instance; columns with names (a DataFrame, or `cost_names`) are
///   matched to the problem's costs by name, an array by position.
/// * `method`: a name such as "MAE(O,S)", "SPO+", "MAE(O,S) then SPO+ lr 0.001 epochs 5", or "auto".
/// * `labels`: best decisions of the rows; found now unless given.
/// * `split`: (train rows, validation rows) or with test rows, shares to validate and test such as
///   (0.2, 0.2), or numbers of rows (1000, 400, 600).
/// * `predictor`: "linear", "mlp" or "mlp:64,32".
/// * `init_model`: a trained Model to start from.
/// * `seed`: of split, parameters, batches and noise.
/// * `profile`: "default" or "paper".
/// * `feature_names`, `cost_names`: names of columns, unless X and C have their own.
/// * `checkpoint`: path of a model file to be; a training that was stopped goes on from what was
///   kept beside it.
/// * `threads`, `progress`, `heuristic`: as in Problem.solve_all.
///
/// * `settings`: epochs, rows_per_epoch, batch_size, learning_rate, lr_decay, optimizer, select,
///   train_on_validation, patience, patience_seconds, time_limit, standardize, scale_costs,
///   rescale_loss, retrain_from_baseline, clip_instance_costs, then_learning_rate, then_epochs,
///   fused: as on the command line.
///
/// The same settings give the same model, byte for byte, as `regretless train`, for any number of
/// threads. The report is a dict with the JSON of the command line, and "rounds" with every epoch.
#[pyfunction]
#[pyo3(signature = (problem, X, C, method=None, *, labels=None, split=None, predictor="linear", init_model=None, seed=0, profile="default", feature_names=None, cost_names=None, checkpoint=None, threads=None, progress=false, heuristic=None, **settings))]
pub fn train<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    method: Option<&str>,
    labels: Option<&Bound<'py, Labels>>,
    split: Option<&Bound<'py, PyAny>>,
    predictor: &str,
    init_model: Option<&Bound<'py, Model>>,
    seed: u32,
    profile: &str,
    feature_names: Option<Vec<String>>,
    cost_names: Option<Vec<String>>,
    checkpoint: Option<PathBuf>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let problem = problem.get();
    check_same_rows(X, C, ["X", "C"])?;
    let plan = Trainer {
        method: method
            .map(str::parse::<Method>)
            .transpose()
            .map_err(to_py_err)?
            .unwrap_or_default(),
        predictor: predictor.parse().map_err(to_py_err)?,
        settings: self::settings(settings, profile, u64::from(seed))?,
        start: init_model.map(|model| model.get().model.clone()),
        threads: 0,
    };
    let mut data = table(X, C, [feature_names, cost_names])?;
    match_table(py, problem, &mut data)?;
    let split = self::split(split, data.len(), u64::from(seed))?;
    problem.check_width(data.costs().cols())?;
    let call = PyCall::new(progress);
    let oracle = problem
        .oracle(&call, threads, heuristic)
        .map_err(to_py_err)?;
    let data = with_labels(py, problem, (&call, &oracle), data, labels)?;
    let split = split.restrict_to(&data.rows()).map_err(to_py_err)?;
    let outcome = call.run(py, |observer| {
        let task = TrainingContext {
            data: &data,
            split: &split,
            oracle: &oracle,
            observer,
        };
        let checkpoints = checkpoint.as_deref().map(CheckpointFolder::for_model);
        let _lock = checkpoints
            .as_ref()
            .map(CheckpointFolder::lock)
            .transpose()?;
        let outcome = plan.fit_and_evaluate(&task, &problem.spec, checkpoints.as_ref())?;
        checkpoints.map_or(Ok(()), |kept| kept.remove())?;
        Ok(outcome)
    })?;
    if let Some(warning) = few_rows_warning("test", split.test.len()) {
        warn(py, &warning)?;
    }
    let report = python(py, &plan.summary(&outcome))?;
    report.set_item("rounds", python(py, &outcome.trained.report.rounds)?)?;
    (Bound::new(py, Model::new(outcome.trained.model))?, report).into_pyobject(py)
}
