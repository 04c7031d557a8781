//! Fits of tables in files. `regretless.training.fit` has the public function.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::Result;
use regretless::data::{FeatureOptions, LongColumns};
use regretless::problem::ProblemSpec;
use regretless_study::fit::{
    ExampleColumns, FitCommand, FitExample, FitFiles, FitPlan, FitSettings, FitTable, StatedRoles,
};
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
    tables: Vec<PathBuf>,
    delimiter: Option<String>,
    decimal: Option<String>,
    /// The problem file, if the problem was given as one.
    problem: Option<PathBuf>,
    folder: PathBuf,
    /// Whether results of other settings are replaced.
    force: bool,
    costs: Vec<String>,
    time: Option<String>,
    decisions: Vec<String>,
    forecasts: Vec<String>,
    features: Vec<String>,
    ignore: Vec<String>,
    keys: Vec<String>,
    instance_column: Option<String>,
    item_column: Option<String>,
    cost_column: Option<String>,
    /// Files of row parameters.
    parameters: Vec<String>,
    categories: Vec<String>,
    target_statistics: Vec<String>,
    dates: Vec<String>,
    holidays: Option<PathBuf>,
    names: Option<PathBuf>,
    missing: String,
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

impl FitCall {
    fn read(call: &str) -> PyResult<Self> {
        let found: Self =
            serde_json::from_str(call).map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some(file) = &found.problem {
            ProblemSpec::check_filled_in(file).map_err(to_py_err)?;
        }
        Ok(found)
    }
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

impl FitCall {
    /// The settings of a problem but for its method and how it is solved; reads the holidays.
    fn settings(self, problem: ProblemSpec) -> Result<FitSettings> {
        let files = FitFiles {
            tables: self.tables,
            delimiter: self.delimiter,
            decimal: self.decimal,
            problem: self.problem,
            holidays: self.holidays,
            names: self.names,
        };
        let (file, dialect) = files.table(&self.folder, self.force, self.rows_only)?;
        let holidays = match &files.holidays {
            Some(file) => FeatureOptions::read_holidays(file)?,
            None => Vec::new(),
        };
        let features = FeatureOptions {
            categories: self.categories,
            target_statistics: self.target_statistics,
            dates: self.dates,
            holidays,
            refuse_gaps: self.missing == "error",
        };
        features.check()?;
        let is_long = self.instance_column.is_some()
            || self.item_column.is_some()
            || self.cost_column.is_some();
        let standard = LongColumns::default();
        let long = LongColumns {
            instance: self.instance_column.unwrap_or(standard.instance),
            item: self.item_column,
            cost: self.cost_column.unwrap_or(standard.cost),
            ..LongColumns::default()
        };
        Ok(FitSettings {
            files,
            dialect,
            parameters: self.parameters,
            features,
            roles: StatedRoles {
                costs: self.costs,
                time: self.time,
                decisions: self.decisions,
                forecasts: self.forecasts,
                features: self.features,
                ignore: self.ignore,
                keys: self.keys,
                long: is_long.then_some(long),
            },
            budget: self.budget.unwrap_or(FitSettings::DEFAULT_BUDGET),
            season: self.season,
            lags: FitSettings::lags_of(&self.lags)?,
            horizon: self.horizon,
            seed: self.seed,
            unit: self.unit,
            title: self.title,
            ..FitSettings::new(file, problem, self.folder, FitCommand::Python(self.command))
        })
    }
}

/// An example that was written, and what a fit of it is called with.
#[derive(Serialize)]
struct WrittenExample {
    table: PathBuf,
    problem: PathBuf,
    names: Option<PathBuf>,
    columns: ExampleColumns,
    unit: &'static str,
    title: &'static str,
}

/// Writes table and problem of an example into a folder.
#[pyfunction]
#[pyo3(name = "_write_fit_example")]
pub fn write_fit_example<'py>(
    py: Python<'py>,
    name: &str,
    folder: PathBuf,
) -> PyResult<Bound<'py, PyAny>> {
    let example = FitExample::named(name).map_err(to_py_err)?;
    let files = example.write(&folder).map_err(to_py_err)?;
    let written = WrittenExample {
        table: files.table,
        problem: files.problem,
        names: files.names,
        columns: example.columns,
        unit: example.unit,
        title: example.title,
    };
    to_python(py, &written)
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
    let call = FitCall::read(call)?;
    let (force, rows_only) = (call.force, call.rows_only);
    let spec = (*problem.spec).clone();
    let mut settings = call.settings(spec).map_err(to_py_err)?;
    if method.is_some() {
        settings.method = Some(parse_method(method)?);
    }
    let py_call = PyCall::new(options.progress);
    settings.threads = options.threads.unwrap_or(0);
    settings.limits = options.limits;
    let heuristic = options.heuristic.as_deref().map(str::parse);
    settings.heuristic = heuristic.transpose().map_err(to_py_err)?;
    let table = py_call.run(py, |_| FitTable::read(&settings))?;
    raise_notes(py, problem, &table.notes)?;
    let checked = settings.check_folder(&table.roles, force, rows_only);
    checked.map_err(to_py_err)?;
    if rows_only {
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
