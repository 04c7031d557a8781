//! Comparisons. `regretless.training.compare` has the public function; `regretless_study` has the
//! statistics, the verdict and the page, so that all interfaces return the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::Trainer;
use regretless::data::{FeatureOptions, NamedCosts, SplitIndices};
use regretless::job::TrainingJob;
use regretless::label::EncodedSplits;
use regretless::method::Method;
use regretless::parallel::Threads;
use regretless_study::comparison::{
    ComparisonFacts, ComparisonInput, compare_cells, default_methods, reference,
};
use regretless_study::decision_page::DecisionPage;
use regretless_study::experiment::CellMethod;
use regretless_study::table_report::TableReport;
use serde::Deserialize;

use crate::arrays::ArrayOwnership;
use crate::backtest::given_matrix;
use crate::call_observer::PyCall;
use crate::columns::in_features;
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::label::{given_labels, with_labels, with_parameters};
use crate::loss::parse_method;
use crate::names::{match_table, warn_about_names_beside_none};
use crate::notes::raise_notes;
use crate::parameters::{ParameterList, row_parameters};
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{check_table, dataset, parse_settings, split_by_rows, split_of};

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

/// The methods of a comparison: each once, and the reference first where it is not among them.
fn methods_of(methods: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Vec<Method>> {
    let Some(listed) = methods else {
        return Ok(default_methods());
    };
    let mut methods: Vec<Method> = Vec::new();
    for method in &listed {
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
    let plan: ComparisonPlan =
        serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let training = parse_settings(settings, &plan.profile, 0)?;
    let methods = methods_of(methods)?;
    let mut data = dataset(problem, X, C, None, None, FeatureOptions::default())?;
    let parameters = row_parameters(problem, parameters, data.len(), ArrayOwnership::Copy)?;
    data = with_parameters(data, parameters)?;
    match_table(py, problem, &mut data)?;
    problem.check_width(data.costs().cols())?;
    let has_random_split = folds.is_none();
    let splits = match folds {
        Some(folds) => {
            let splits = folds.iter().map(|fold| split_by_rows(fold, data.len()));
            splits.collect::<PyResult<Vec<_>>>()?
        }
        None => splits_of(split, times.as_deref(), data.len(), seeds, plan.seed)?,
    };
    let target = NamedCosts::new("C", data.cost_names());
    let mut given = Vec::new();
    for (name, by_seed) in &predictions {
        let mut matrices = BTreeMap::new();
        for (seed, values) in (plan.seed..).zip(by_seed) {
            warn_about_names_beside_none(values, name, problem, data.cost_names())?;
            matrices.insert(seed, given_matrix(values, name, target)?);
        }
        given.push(CellMethod::Given {
            name: name.clone(),
            predictions: Arc::new(matrices),
        });
    }
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, data.parameters())
        .map_err(to_py_err)?;
    let encoded = EncodedSplits::new(&data, splits).map_err(in_features)?;
    let data = with_labels(py, problem, &call, &oracle, data, labels)?;
    let built = problem.built(&oracle);
    let cells = encoded.with_labels(&built, &data).map_err(to_py_err)?;
    let first = &cells[0];
    let date_column = if split.is_none() && has_random_split {
        first.data.data().features().date_column()
    } else {
        None
    };
    let suggested = date_column.map(|column| format!("split=\"time:{column}\""));
    let is_selection_given = plan.profile != "default"
        || settings.is_some_and(|settings| settings.contains("select").unwrap_or(false));
    let mut trainer = Trainer::new(reference()).settings(training);
    let prepared = call.run(py, |observer| {
        let job = TrainingJob {
            time_split: suggested.as_deref(),
            ..TrainingJob::new(first, &oracle, &methods, observer)
        };
        let select = (!is_selection_given).then_some(&mut trainer);
        job.prepare(select, |check| check_table(times.as_deref(), check))
    })?;
    raise_notes(py, problem, &prepared.notes)?;
    let predictor = match &plan.predictor {
        Some(name) => Some(name.parse().map_err(to_py_err)?),
        None => None,
    };
    let facts = ComparisonFacts {
        name: "table".into(),
        table: "this table".into(),
        origin: Vec::new(),
        first_seed: plan.seed,
        profile: plan.profile.clone(),
        unit: String::new(),
    };
    let compared = call.run(py, |observer| {
        let input = ComparisonInput {
            table: TableReport::with_findings(prepared.findings),
            data: cells.clone(),
            oracle: &oracle,
            methods,
            given,
            predictor,
            training: trainer.settings,
            threads: Threads::new(options.threads.unwrap_or(0))?,
            facts,
        };
        compare_cells(input, plan.command, plan.out.as_deref(), observer)
    })?;
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
