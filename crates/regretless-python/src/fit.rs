//! Fits of tables in files. `regretless.training.fit` has the public function.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless_study::fit::{FitCommand, FitPlan, FitSettings, FitTable, StatedRoles};
use serde::{Deserialize, Serialize};

use crate::call_observer::PyCall;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::loss::parse_method;
use crate::notes::raise_notes;
use crate::problem::Problem;
use crate::results::to_python;

/// The scalar settings of a fit, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FitCall {
    file: PathBuf,
    folder: PathBuf,
    costs: Vec<String>,
    time: Option<String>,
    decisions: Vec<String>,
    forecasts: Vec<String>,
    features: Vec<String>,
    ignore: Vec<String>,
    budget: Option<f64>,
    season: Option<usize>,
    lags: Vec<String>,
    horizon: usize,
    /// Whether only the rows of the next decision are written.
    rows_only: bool,
    seed: u32,
    unit: Option<String>,
    title: Option<String>,
    /// The call without its closing bracket.
    command: String,
}

/// What a fit found, for Python; model and page are files.
#[derive(Serialize)]
struct FoundFit {
    verdict: String,
    remarks: Vec<String>,
    method: String,
    epochs: Option<usize>,
    roles: serde_json::Value,
    summary: serde_json::Value,
    page: String,
}

/// Fits a table in a file and writes the results into a folder.
#[pyfunction]
#[pyo3(name = "_run_fit")]
pub fn run_fit<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    method: Option<&Bound<'py, PyAny>>,
    call: &str,
    options: SolveOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = problem.get();
    let found: FitCall =
        serde_json::from_str(call).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let command = FitCommand::Python(found.command);
    let spec = (*problem.spec).clone();
    let mut settings = FitSettings::new(found.file, spec, found.folder, command);
    settings.roles = StatedRoles {
        costs: found.costs,
        time: found.time,
        decisions: found.decisions,
        forecasts: found.forecasts,
        features: found.features,
        ignore: found.ignore,
        ..StatedRoles::default()
    };
    if method.is_some() {
        settings.method = Some(parse_method(method)?);
    }
    settings.budget = found.budget.unwrap_or(FitSettings::DEFAULT_BUDGET);
    settings.season = found.season;
    settings.lags = FitSettings::lags_of(&found.lags).map_err(to_py_err)?;
    settings.horizon = found.horizon;
    settings.seed = found.seed;
    settings.unit = found.unit;
    settings.title = found.title;
    let py_call = PyCall::new(options.progress);
    settings.threads = options.threads.unwrap_or(0);
    settings.limits = options.limits;
    let heuristic = options.heuristic.as_deref().map(str::parse);
    settings.heuristic = heuristic.transpose().map_err(to_py_err)?;
    let table = py_call.run(py, |_| FitTable::read(&settings))?;
    raise_notes(py, problem, &table.notes)?;
    if found.rows_only {
        table.write_new_rows(&settings).map_err(to_py_err)?;
        return Ok(py.None().into_bound(py));
    }
    let plan = FitPlan::new(&table, &settings).map_err(to_py_err)?;
    let results = py_call.run(py, |observer| {
        let results = table.fit(&plan, &settings, observer)?;
        results.write(&table, &settings)?;
        Ok(results)
    })?;
    raise_notes(py, problem, &results.notes)?;
    let roles = serde_json::to_value(&table.roles);
    let roles = roles.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let found = FoundFit {
        verdict: results.verdict.sentence.clone(),
        remarks: results.verdict.remarks.clone(),
        method: results.verdict.chosen.clone(),
        epochs: results.epochs,
        roles,
        summary: results.results.summary().map_err(to_py_err)?,
        page: results.page.html,
    };
    to_python(py, &found)
}
