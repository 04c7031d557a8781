//! Comparisons. `regretless._compare` has the public function; `regretless_study` has the
//! statistics, the verdict and the page, so that all interfaces return the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{DataCheck, FeatureOptions, NamedCosts, SplitIndices};
use regretless::label::LabeledDataset;
use regretless::method::Method;
use regretless::notes::{PlannedTraining, findings_of_split};
use regretless::oracle::Oracle;
use regretless::parallel::Threads;
use regretless_study::comparison::{
    ComparisonFacts, ComparisonInput, avoid_expensive_validation, compare_cells, default_methods,
    reference,
};
use regretless_study::decision_page::DecisionPage;
use regretless_study::experiment::{CellData, CellMethod};
use regretless_study::table_report::TableReport;
use serde::Deserialize;

use crate::arrays::ArrayOwnership;
use crate::backtest::given_matrix;
use crate::call_observer::PyCall;
use crate::columns::in_features;
use crate::error::to_py_err;
use crate::keywords::search_limits;
use crate::label::{check_same_rows, given_labels, with_labels, with_parameters};
use crate::loss::parse_method;
use crate::names::{match_table, warn_about_names_beside_none};
use crate::notes::raise_notes;
use crate::parameters::ParameterArgs;
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{TimeSplit, check_table, dataset, parse_settings, parse_split, split_by_rows};

/// The scalar settings of a comparison, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComparisonPlan {
    predictor: Option<String>,
    profile: String,
    seed: u32,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<String>,
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    /// The call, for the page.
    command: String,
    out: Option<PathBuf>,
}

/// The rows for training, validation and test of each seed.
#[pyfunction]
#[pyo3(name = "_comparison_splits")]
pub fn comparison_splits(
    X: &Bound<'_, PyAny>,
    C: &Bound<'_, PyAny>,
    split: Option<&Bound<'_, PyAny>>,
    seeds: u32,
    seed: u32,
) -> PyResult<Vec<[Vec<usize>; 3]>> {
    let time_split = TimeSplit::parse(split, X, C)?;
    let splits = splits_of(time_split.as_ref(), split, C.len()?, seeds, seed)?.into_iter();
    Ok(splits
        .map(|split| [split.train, split.validation, split.test])
        .collect())
}

fn splits_of(
    time_split: Option<&TimeSplit<'_>>,
    split: Option<&Bound<'_, PyAny>>,
    rows: usize,
    seeds: u32,
    first: u32,
) -> PyResult<Vec<SplitIndices>> {
    let past = first.checked_add(seeds).filter(|_| seeds > 0);
    let past = past.ok_or_else(|| PyValueError::new_err("seeds must be at least 1"))?;
    let divide = |seed: u32| match time_split {
        Some(by_time) => by_time.apply(rows),
        None => parse_split(split, rows, u64::from(seed)),
    };
    (first..past).map(divide).collect()
}

/// Labeled rows with the features of each seed, which are encoded by its training rows.
fn cells(
    problem: &Problem,
    oracle: &Oracle,
    data: &Arc<LabeledDataset>,
    splits: Vec<SplitIndices>,
) -> PyResult<Vec<CellData>> {
    let built = regretless::Problem::from_parts(oracle.problem().clone(), problem.spec.clone());
    let mut cells: Vec<CellData> = Vec::new();
    let mut last_train: Vec<usize> = Vec::new();
    for split in splits {
        let encoded = match cells.last() {
            // Seeds with the same rows share them.
            Some(last) if last_train == split.train => Arc::clone(&last.data),
            _ => match data
                .data()
                .encoded_features(&split.train)
                .map_err(in_features)?
            {
                Some(features) => Arc::new(data.with_features(features).map_err(to_py_err)?),
                None => Arc::clone(data),
            },
        };
        last_train.clone_from(&split.train);
        cells.push(CellData {
            problem: built.clone(),
            data: encoded,
            split: split.restrict_to(&data.rows()).map_err(to_py_err)?,
        });
    }
    Ok(cells)
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
    seeds: u32,
    folds: Option<Vec<Vec<Bound<'py, PyAny>>>>,
    predictions: Vec<(String, Vec<Bound<'py, PyAny>>)>,
    labels: Option<&Bound<'py, PyAny>>,
    parameters: Option<&Bound<'py, PyAny>>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let labels = given_labels(labels)?;
    let problem = problem.get();
    let plan: ComparisonPlan =
        serde_json::from_str(plan).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut training = parse_settings(settings, &plan.profile, 0)?;
    let methods = methods_of(methods)?;
    check_same_rows(X, C, "X", "C")?;
    let time_split = TimeSplit::parse(split, X, C)?;
    let (X, C) = match &time_split {
        Some(by_time) => (&by_time.x, &by_time.c),
        None => (X, C),
    };
    let mut data = dataset(problem, X, C, None, None, FeatureOptions::default())?;
    let parameters = ParameterArgs::of_features(parameters, X);
    let parameters = parameters.read(problem, data.len(), ArrayOwnership::Copy)?;
    data = with_parameters(data, parameters)?;
    match_table(py, problem, &mut data)?;
    problem.check_width(data.costs().cols())?;
    let has_random_split = folds.is_none();
    let splits = match folds {
        Some(folds) => {
            let splits = folds.iter().map(|fold| split_by_rows(fold, data.len()));
            splits.collect::<PyResult<Vec<_>>>()?
        }
        None => splits_of(time_split.as_ref(), split, data.len(), seeds, plan.seed)?,
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
    let call = PyCall::new(plan.progress);
    let oracle = problem
        .oracle(
            &call,
            plan.threads,
            plan.heuristic.as_deref(),
            search_limits(plan.gap, plan.nodes, plan.seconds)?,
            data.parameters(),
        )
        .map_err(to_py_err)?;
    let data = with_labels(py, problem, &call, &oracle, data, labels)?;
    let cells = cells(problem, &oracle, &data, splits)?;
    let first = &cells[0];
    let date_column = if split.is_none() && has_random_split {
        first.data.data().features().date_column()
    } else {
        None
    };
    let suggested = date_column.map(|column| format!("split=\"time:{column}\""));
    let times = time_split.as_ref().map(TimeSplit::times);
    let (findings, notes) = call.run(py, |_| {
        let check = |check: DataCheck<'_>| check_table(times, check);
        let findings = findings_of_split(&first.data, &first.split, check)?;
        let planned = PlannedTraining {
            time_split: suggested.as_deref(),
            ..PlannedTraining::new(&methods, &first.data, &oracle, &findings)
        };
        let notes = planned.notes();
        Ok((findings, notes))
    })?;
    raise_notes(py, problem, &notes)?;
    let is_selection_given = plan.profile != "default"
        || settings.is_some_and(|settings| settings.contains("select").unwrap_or(false));
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
        if !is_selection_given
            && let Some(note) = avoid_expensive_validation(&mut training, first, &oracle, observer)
        {
            observer.warn(&note);
        }
        let input = ComparisonInput {
            table: TableReport::with_findings(findings),
            data: cells.clone(),
            oracle: &oracle,
            methods,
            given,
            predictor,
            training,
            threads: Threads::new(plan.threads.unwrap_or(0))?,
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
