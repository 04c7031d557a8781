//! Backtests. `regretless.training.backtest` has the public function; here is what computes.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{DataCheck, Dataset, Finding, Matrix, NamedCosts};
use regretless::label::Shard;
use regretless::method::Method;
use regretless::observer::Observer;
use regretless::{Decision, Split};
use regretless_study::backtest::{
    Backtest, BacktestFold, BacktestHistory, BacktestResults, BacktestTable, GivenMethod, Periods,
    RollingOrigin, TrainingWindow,
};
use regretless_study::decision_page::{BacktestFacts, BacktestPage};
use serde::{Deserialize, Serialize};

use crate::arrays::{ArrayOwnership, exact_matrix};
use crate::call_observer::{PyCall, warn};
use crate::compare::figures_dict;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::label::{given_labels, labeled_table};
use crate::loss::parse_method;
use crate::names::{reorder_numbers, warn_about_names_beside_none};
use crate::notes::raise_notes;
use crate::parameters::ParameterList;
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{names_selection, parse_settings, study_table};

/// The scalar settings of a backtest, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BacktestPlan {
    predictor: Option<String>,
    window: Option<String>,
    initial: Option<usize>,
    step: Option<usize>,
    horizon: Option<usize>,
    gap_periods: usize,
    validation: Option<f64>,
    refit: bool,
    warm_start: bool,
    season: Option<usize>,
    unit: Option<String>,
    out: Option<PathBuf>,
    seed: u32,
    /// The column of X with the times, if a column has them.
    time_column: Option<String>,
    /// The call, for the page.
    command: String,
}

impl BacktestPlan {
    fn parse(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn origin(&self) -> PyResult<RollingOrigin> {
        let window = match &self.window {
            Some(text) => text.parse().map_err(to_py_err)?,
            None => TrainingWindow::default(),
        };
        let window = match (window, self.initial) {
            (TrainingWindow::Expanding(_), initial) => TrainingWindow::Expanding(initial),
            (TrainingWindow::Rolling(_), Some(_)) => {
                return Err(PyValueError::new_err(
                    "initial is the first training of an expanding window",
                ));
            }
            (TrainingWindow::Rolling(periods), None) => TrainingWindow::Rolling(periods),
        };
        Ok(RollingOrigin {
            window,
            step: self.step,
            horizon: self.horizon,
            gap: self.gap_periods,
        })
    }

    fn backtest(
        &self,
        methods: Option<&[Bound<'_, PyAny>]>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Backtest> {
        let listed = methods.into_iter().flatten();
        let methods = listed.map(|method| parse_method(Some(method)));
        let mut methods: Vec<Method> = methods.collect::<PyResult<_>>()?;
        // Least squares is always compared.
        methods.retain(|method| *method != Method::least_squares());
        let mut backtest = Backtest::new(methods);
        if let Some(predictor) = &self.predictor {
            backtest.predictor = Some(predictor.parse().map_err(to_py_err)?);
        }
        backtest.training = parse_settings(settings, "default", u64::from(self.seed))?;
        if let Some(validation) = self.validation {
            backtest.validation = validation;
        }
        backtest.refit = self.refit;
        backtest.warm_start = self.warm_start;
        backtest.season = self.season;
        backtest.unit = self.unit.clone();
        backtest.folder = self.out.clone();
        Ok(backtest)
    }
}

/// Rows of the history and of the decisions of each fold.
#[pyfunction]
#[pyo3(name = "_rolling_folds")]
pub fn rolling_folds(times: Vec<String>, plan: &str) -> PyResult<Vec<(Vec<usize>, Vec<usize>)>> {
    let plan = BacktestPlan::parse(plan)?;
    let periods = Periods::from_times(&times).map_err(to_py_err)?;
    let folds = plan.origin()?.folds(&periods).map_err(to_py_err)?;
    let folds = folds.into_iter();
    Ok(folds.map(|fold| (fold.history, fold.test)).collect())
}

/// Divides the periods of a history: by the user's folds or, without them, by those of the plan.
fn divided_by(
    folds: Option<Vec<(Vec<usize>, Vec<usize>)>>,
    plan: &BacktestPlan,
) -> PyResult<impl FnOnce(&Periods) -> regretless::Result<Vec<BacktestFold>>> {
    let origin = match folds {
        Some(_) => None,
        None => Some(plan.origin()?),
    };
    Ok(move |periods: &Periods| match origin {
        Some(origin) => origin.folds(periods),
        None => Ok(folds
            .into_iter()
            .flatten()
            .map(|(history, test)| BacktestFold { history, test })
            .collect()),
    })
}

/// Results as columns of tables and a summary.
#[derive(Serialize)]
struct BacktestTables<'a> {
    summary: serde_json::Value,
    periods: Vec<PeriodRow<'a>>,
    decisions: Vec<DecisionRow<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PeriodRow<'a> {
    period: &'a str,
    method: &'a str,
    cost: f64,
    regret: f64,
    best: f64,
}

#[derive(Serialize)]
struct DecisionRow<'a> {
    period: &'a str,
    row: usize,
    method: &'a str,
    column: String,
    value: f64,
}

impl<'a> BacktestTables<'a> {
    fn new(results: &'a BacktestResults, notes: Vec<String>) -> regretless::Result<Self> {
        let mut periods = Vec::new();
        for (number, period) in results.periods.iter().enumerate() {
            for method in &results.methods {
                periods.push(PeriodRow {
                    period,
                    method: &method.name,
                    cost: method.costs[number],
                    regret: method.regrets[number],
                    best: results.best[number],
                });
            }
        }
        let mut decisions = Vec::new();
        for method in &results.methods {
            for decision in &method.decisions {
                for (position, column) in decision.columns.iter().enumerate() {
                    let values = decision.values.as_ref();
                    decisions.push(DecisionRow {
                        period: &results.periods[decision.period],
                        row: decision.row,
                        method: &method.name,
                        column: results
                            .column_name(decision.row, *column as usize)
                            .into_owned(),
                        value: values.map_or(1.0, |values| values[position]),
                    });
                }
            }
        }
        Ok(Self {
            summary: results.summary()?,
            periods,
            decisions,
            notes,
        })
    }
}

/// Numbers for every row of the table, in the order of its costs; those of some rows may be
/// missing.
pub fn given_matrix(
    value: &Bound<'_, PyAny>,
    name: &str,
    target: NamedCosts<'_>,
) -> PyResult<Matrix> {
    let numbers = exact_matrix(value, name, ArrayOwnership::Copy)?;
    reorder_numbers(numbers, value, name, target)
}

fn decisions_of(values: &Matrix) -> Vec<Option<Decision>> {
    let mut decisions = Vec::with_capacity(values.rows());
    let mut row_values = Vec::new();
    for row in 0..values.rows() {
        values.read(row, &mut row_values);
        let is_given = row_values.iter().all(|value| value.is_finite());
        decisions.push(is_given.then(|| Decision::from_dense(&row_values)));
    }
    decisions
}

/// Runs a backtest, or the trainings of one shard of it; `regretless.backtest` documents it.
#[pyfunction]
#[pyo3(name = "_run_backtest", signature = (
    problem, X, C, times, methods, plan, folds, predictions, decisions, labels, parameters,
    settings, options, shard=None
))]
#[expect(
    clippy::too_many_arguments,
    reason = "arrays and objects; all other settings are in the plan"
)]
pub fn run_backtest<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    times: Vec<String>,
    methods: Option<Vec<Bound<'py, PyAny>>>,
    plan: &str,
    folds: Option<Vec<(Vec<usize>, Vec<usize>)>>,
    predictions: Vec<(String, Bound<'py, PyAny>)>,
    decisions: Option<(String, Bound<'py, PyAny>)>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    settings: Option<&Bound<'py, PyDict>>,
    options: SolveOptions,
    shard: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let owner = problem.clone().unbind();
    let problem = problem.get();
    let labels = given_labels(labels)?;
    let plan = BacktestPlan::parse(plan)?;
    let mut backtest = plan.backtest(methods.as_deref(), settings)?;
    let shard: Option<Shard> = shard.map(str::parse).transpose().map_err(to_py_err)?;
    let table = study_table(problem, X, C, parameters)?;
    let periods = periods_of(&times, table.data().len())?;
    let given = given_methods(problem, &predictions, decisions.as_ref(), table.data())?;
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, table.data().parameters())
        .map_err(to_py_err)?;
    let data = labeled_table(py, problem, &call, &oracle, table, labels)?.rows;
    let halves = Split::by_time("time").validation(0.0).test(0.5);
    let halves = halves.apply_to_times(&times).map_err(to_py_err)?;
    let folds = divided_by(folds, &plan)?;
    let built = problem.built(&oracle);
    let history = BacktestHistory::new(built, data, periods, halves, folds).map_err(to_py_err)?;
    if methods.is_none() {
        let default = backtest.default_method(history.folds.len());
        backtest.methods.push(default);
    }
    let notes = history.periods.notes();
    for note in &notes {
        warn(py, &format!("time: {note}"))?;
    }
    let is_selection_given = names_selection(settings);
    let prepared = call.run(py, |_| {
        let check = |check: DataCheck<'_>| check.run_with_times(&times);
        backtest.prepare(&history, &oracle, is_selection_given, check)
    })?;
    raise_notes(py, problem, &prepared.notes)?;
    let results = call.run(py, |observer| {
        let table = history.table(&oracle);
        run_cells(&backtest, &table, &given, shard, observer)
    })?;
    let Some(results) = results else {
        return Ok(py.None().into_bound(py));
    };
    let source = BacktestSource {
        problem: owner,
        plan,
        options,
        backtest,
        history,
        findings: prepared.findings,
        results,
    };
    source.into_fields(py, notes)
}

/// The results, which are written to the folder of the backtest if it has one; none for a shard,
/// whose results are those of the call without one.
fn run_cells(
    backtest: &Backtest,
    table: &BacktestTable<'_>,
    given: &[GivenMethod],
    shard: Option<Shard>,
    observer: &dyn Observer,
) -> regretless::Result<Option<BacktestResults>> {
    if let Some(shard) = shard {
        backtest.run_shard(table, given, shard, observer)?;
        return Ok(None);
    }
    let results = backtest.run(table, given, observer)?;
    if let Some(folder) = &backtest.folder {
        results.write(folder)?;
    }
    Ok(Some(results))
}

/// The periods of the rows of a table.
fn periods_of(times: &[String], rows: usize) -> PyResult<Periods> {
    if times.len() != rows {
        return Err(PyValueError::new_err(format!(
            "time has {} entries, X has {rows} rows",
            times.len(),
        )));
    }
    Periods::from_times(times).map_err(to_py_err)
}

/// The user's predictions and decisions, in the order of the problem's costs.
fn given_methods(
    problem: &Problem,
    predictions: &[(String, Bound<'_, PyAny>)],
    decisions: Option<&(String, Bound<'_, PyAny>)>,
    data: &Dataset,
) -> PyResult<Vec<GivenMethod>> {
    let costs = data.cost_names();
    let mut given = Vec::new();
    for (name, values) in predictions {
        warn_about_names_beside_none(values, name, problem, costs)?;
        given.push(GivenMethod::Predictions {
            name: name.clone(),
            costs: Arc::new(given_matrix(values, name, NamedCosts::new("C", costs))?),
        });
    }
    if let Some((name, values)) = decisions {
        // The columns with known costs follow those with predicted costs.
        let all_names = costs.followed_by(problem.problem.model_parts().auxiliary_names());
        let target = NamedCosts::new("the problem", &all_names);
        warn_about_names_beside_none(values, name, problem, costs)?;
        let values = given_matrix(values, name, target)?;
        given.push(GivenMethod::Decisions {
            name: name.clone(),
            columns: values.cols(),
            decisions: Arc::new(decisions_of(&values)),
        });
    }
    Ok(given)
}

/// A finished backtest with everything that its page is drawn from.
#[pyclass(frozen, module = "regretless", name = "_BacktestSource")]
pub struct BacktestSource {
    problem: Py<Problem>,
    plan: BacktestPlan,
    options: SolveOptions,
    backtest: Backtest,
    history: BacktestHistory,
    findings: Vec<Finding>,
    results: BacktestResults,
}

impl BacktestSource {
    /// The results as columns of tables, with the source of the page; failures raise warnings.
    fn into_fields<'py>(self, py: Python<'py>, notes: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        for failure in &self.results.failures {
            warn(py, &format!("{} failed: {}", failure.name, failure.error))?;
        }
        let tables = BacktestTables::new(&self.results, notes).map_err(to_py_err)?;
        let found = to_python(py, &tables)?;
        found.set_item("page", Bound::new(py, self)?)?;
        Ok(found)
    }
}

#[pymethods]
impl BacktestSource {
    /// The page as HTML, and its figures by name as SVG.
    fn draw<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let problem = self.problem.get();
        let call = PyCall::new(self.options.progress);
        let parameters = self.history.data.data().parameters();
        let oracle = self
            .options
            .oracle(problem, &call, parameters)
            .map_err(to_py_err)?;
        let mut facts = BacktestFacts::default();
        facts.time_column.clone_from(&self.plan.time_column);
        facts.commands.push(self.plan.command.clone());
        let page = call.run(py, |observer| {
            let input = BacktestPage {
                results: &self.results,
                backtest: &self.backtest,
                table: self.history.table(&oracle),
                findings: &self.findings,
                facts,
            };
            input.draw(observer)
        })?;
        Ok((page.html.clone(), figures_dict(py, &page)?))
    }
}
