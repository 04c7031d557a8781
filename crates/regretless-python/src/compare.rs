//! Comparisons. `regretless.training.compare` has the public function; `regretless_study` has the
//! statistics, the verdict and the page, so all interfaces return the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::Trainer;
use regretless::data::{CostNames, NamedCosts, SplitIndices};
use regretless::job::TrainingJob;
use regretless::method::Method;
use regretless::observer::NoopObserver;
use regretless::parallel::Threads;
use regretless::predict::PredictorSpec;
use regretless_study::comparison::{
    ComparedCells, ComparisonFacts, ComparisonInput, compare_cells, default_methods, paper_methods,
    reference,
};
use regretless_study::decision_page::DecisionPage;
use regretless_study::experiment::CellMethod;
use regretless_study::table_report::TableReport;
use serde::Deserialize;

use crate::backtest::given_matrix;
use crate::call_observer::PyCall;
use crate::columns::in_features;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::label::{given_labels, labeled_table};
use crate::loss::parse_method;
use crate::names::warn_about_names_beside_none;
use crate::notes::raise_notes;
use crate::parameters::ParameterList;
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{
    check_table, names_selection, parse_settings, split_by_rows, split_of, study_table,
    suggested_split,
};

/// The scalar settings of a comparison, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComparisonPlan {
    predictor: Option<String>,
    profile: String,
    seed: u32,
    /// The call, for the page.
    command: String,
    out: Option<PathBuf>,
}

impl ComparisonPlan {
    fn parse(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn predictor(&self) -> PyResult<Option<PredictorSpec>> {
        let predictor = self.predictor.as_deref().map(str::parse);
        predictor.transpose().map_err(to_py_err)
    }

    fn facts(&self) -> ComparisonFacts {
        ComparisonFacts {
            name: "table".into(),
            table: "this table".into(),
            origin: Vec::new(),
            first_seed: self.seed,
            profile: self.profile.clone(),
            unit: String::new(),
            cost_names: None,
        }
    }
}

/// The rows for training, validation and test of each seed.
#[pyfunction]
#[pyo3(name = "_comparison_splits")]
pub fn comparison_splits(
    rows: usize,
    split: Option<&Bound<'_, PyAny>>,
    times: Option<Vec<String>>,
    seeds: u32,
    seed: u32,
) -> PyResult<Vec<[Vec<usize>; 3]>> {
    let splits = splits_of(split, times.as_deref(), rows, seeds, seed)?.into_iter();
    Ok(splits
        .map(|split| [split.train, split.validation, split.test])
        .collect())
}

fn splits_of(
    split: Option<&Bound<'_, PyAny>>,
    times: Option<&[String]>,
    rows: usize,
    seeds: u32,
    first: u32,
) -> PyResult<Vec<SplitIndices>> {
    let past = first.checked_add(seeds).filter(|_| seeds > 0);
    let past = past.ok_or_else(|| PyValueError::new_err("seeds must be at least 1"))?;
    let divide = |seed: u32| split_of(split, times, rows, u64::from(seed));
    (first..past).map(divide).collect()
}

/// The splits of folds that the user gives as lists of rows.
fn splits_by_rows(folds: &[Vec<Bound<'_, PyAny>>], rows: usize) -> PyResult<Vec<SplitIndices>> {
    let splits = folds.iter().map(|fold| split_by_rows(fold, rows));
    splits.collect()
}

/// The methods of a comparison: each once, and the reference first where it is not among them.
fn methods_of(listed: &[Bound<'_, PyAny>]) -> PyResult<Vec<Method>> {
    let mut methods: Vec<Method> = Vec::new();
    for method in listed {
        let method = parse_method(Some(method))?;
        // Least squares is always compared.
        if !methods.contains(&method) && method != Method::least_squares() {
            methods.push(method);
        }
    }
    if !methods.contains(&reference()) {
        methods.insert(0, reference());
    }
    Ok(methods)
}

/// The user's predictions, one table per seed, in the order of the problem's costs.
fn given_methods(
    problem: &Problem,
    predictions: &[(String, Vec<Bound<'_, PyAny>>)],
    first_seed: u32,
    costs: &CostNames,
) -> PyResult<Vec<CellMethod>> {
    let target = NamedCosts::new("C", costs);
    let mut given = Vec::new();
    for (name, by_seed) in predictions {
        let mut matrices = BTreeMap::new();
        for (seed, values) in (first_seed..).zip(by_seed) {
            warn_about_names_beside_none(values, name, problem, costs)?;
            matrices.insert(seed, given_matrix(values, name, target)?);
        }
        given.push(CellMethod::Given {
            name: name.clone(),
            predictions: Arc::new(matrices),
        });
    }
    Ok(given)
}

/// Runs a comparison; `regretless.compare` documents it.
#[pyfunction]
#[pyo3(name = "_run_comparison")]
pub fn run_comparison<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    methods: Option<Vec<Bound<'py, PyAny>>>,
    plan: &str,
    split: Option<&Bound<'py, PyAny>>,
    times: Option<Vec<String>>,
    seeds: u32,
    folds: Option<Vec<Vec<Bound<'py, PyAny>>>>,
    predictions: Vec<(String, Vec<Bound<'py, PyAny>>)>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<ParameterList<'py>>,
    settings: Option<&Bound<'py, PyDict>>,
    options: SolveOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let labels = given_labels(labels)?;
    let problem = problem.get();
    let plan = ComparisonPlan::parse(plan)?;
    let training = parse_settings(settings, &plan.profile, 0)?;
    let methods = match methods {
        Some(listed) => Some(methods_of(&listed)?),
        None => problem.is_benchmark.then(paper_methods),
    };
    let table = study_table(problem, X, C, parameters)?;
    let is_split_given = split.is_some() || folds.is_some();
    let rows = table.data().len();
    let splits = match folds {
        Some(folds) => splits_by_rows(&folds, rows)?,
        None => splits_of(split, times.as_deref(), rows, seeds, plan.seed)?,
    };
    let given = given_methods(problem, &predictions, plan.seed, table.data().cost_names())?;
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, table.data().parameters())
        .map_err(to_py_err)?;
    let table = table.divided(splits).map_err(in_features)?;
    let cells = labeled_table(py, problem, &call, &oracle, table, labels)?.splits;
    let suggested = (!is_split_given).then(|| suggested_split(&cells[0]));
    let is_selection_given = plan.profile != "default" || names_selection(settings);
    let mut trainer = Trainer::new(reference()).settings(training);
    let rows = TrainingJob::new(&cells[0], &oracle, &[], &NoopObserver).context();
    let methods = methods.unwrap_or_else(|| default_methods(&training, &rows));
    let prepared = call.run(py, |observer| {
        let job = TrainingJob {
            time_split: suggested.as_ref().and_then(Option::as_deref),
            ..TrainingJob::new(&cells[0], &oracle, &methods, observer)
        };
        let select = (!is_selection_given).then_some(&mut trainer);
        job.prepare(select, |check| check_table(times.as_deref(), check))
    })?;
    raise_notes(py, problem, &prepared.notes)?;
    let predictor = plan.predictor()?;
    let compared = call.run(py, |observer| {
        let input = ComparisonInput {
            table: TableReport::with_findings(prepared.findings),
            data: cells,
            oracle: &oracle,
            methods,
            given,
            predictor,
            training: trainer.settings,
            threads: Threads::new(options.threads.unwrap_or(0))?,
            facts: plan.facts(),
        };
        compare_cells(input, plan.command, plan.out.as_deref(), observer)
    })?;
    comparison_fields(py, compared)
}

/// The fields of `regretless.Comparison`.
fn comparison_fields<'py>(py: Python<'py>, compared: ComparedCells) -> PyResult<Bound<'py, PyAny>> {
    let result = to_python(py, &compared.json)?;
    result.set_item("text", compared.text)?;
    result.set_item("runs_csv", compared.runs_csv)?;
    result.set_item("figures", figures_dict(py, &compared.page)?)?;
    result.set_item("page", compared.page.html)?;
    Ok(result)
}

/// The figures of a page by name, as SVG.
pub fn figures_dict<'py>(py: Python<'py>, page: &DecisionPage) -> PyResult<Bound<'py, PyDict>> {
    let figures = PyDict::new(py);
    for figure in &page.figures {
        figures.set_item(&figure.name, &figure.svg)?;
    }
    Ok(figures)
}
