//! Labels: the optimal decision of every row, found once.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use regretless::Decision;
use regretless::data::{CostNames, Dataset, FeatureShape, Features, Matrix, RowParameters};
use regretless::label::{LabelStore, LabeledDataset, Shard};
use regretless::notes::Note;
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::{SearchLimits, Solution, SolveFailure};

use crate::arrays::{ArrayOwnership, array1, array2, exact_matrix, finite_matrix};
use crate::call_observer::{PyCall, detached, warn};
use crate::error::to_py_err;
use crate::function_problem::SolverFunction;
use crate::keywords::SolveOptions;
use crate::names::{column_names, match_table, reorder_to_costs};
use crate::notes::raise_notes;
use crate::parameters::{ParameterList, row_parameters};
use crate::problem::Problem;
use crate::solutions::{dense_rows, failure_text};

/// The optimal decision of every row of costs; `regretless.Labels` is its class in Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Labels")]
#[derive(Clone)]
pub struct Labels {
    /// Minimized costs and decisions.
    pub labeled: Arc<LabeledDataset>,
    failed: Arc<[(usize, SolveFailure)]>,
    /// Identity of the problem, and its function if it is one.
    problem: String,
    function: Option<Arc<SolverFunction>>,
}

#[pymethods]
impl Labels {
    #[new]
    fn new(labels: &Bound<'_, Self>) -> Self {
        labels.get().clone()
    }

    /// Labels of costs whose optimal decisions are known.
    #[staticmethod]
    #[pyo3(name = "_from_decisions")]
    fn from_decisions(
        py: Python<'_>,
        problem: &Bound<'_, Problem>,
        C: &Bound<'_, PyAny>,
        decisions: &Bound<'_, PyAny>,
        parameters: Option<ParameterList<'_>>,
    ) -> PyResult<Self> {
        let problem = problem.get();
        let data = costs_only(problem, C, parameters, ArrayOwnership::Copy)?;
        problem.check_width(data.costs().cols())?;
        let decisions = reorder_to_costs(decisions, "decisions", problem, data.cost_names())?;
        problem.check_width(decisions.cols())?;
        let call = PyCall::new(false);
        let oracle = problem
            .oracle(
                &call,
                Some(1),
                None,
                SearchLimits::default(),
                data.parameters(),
            )
            .map_err(to_py_err)?;
        let labeled = call.run(py, |observer| {
            let minimized = problem.minimized_costs(&oracle, data.costs().clone())?;
            let mut solutions = Vec::with_capacity(data.len());
            for row in 0..decisions.rows().min(data.len()) {
                let row_problem = oracle.row_problem(row);
                let row_problem =
                    row_problem.map_err(|failure| regretless::Error::solver(row, failure))?;
                let fixed = row_problem
                    .model_parts()
                    .fixed_cost()
                    .ok_or_else(unknown_fixed_cost)?;
                let values: Vec<f64> = decisions.row(row).iter().map(|v| f64::from(*v)).collect();
                let decision = Decision::from_dense(&values);
                let objective = minimized.objective_of(&decision, row) + fixed;
                let decision = decision.with_fixed(fixed);
                solutions.push(match problem.function() {
                    Some(function) => function.solution(decision, objective),
                    None => Solution::optimal(decision, objective),
                });
            }
            let labeled = LabeledDataset::from_decisions(data, &oracle, solutions)?;
            problem.check_given_decisions(&oracle, &labeled, observer)?;
            Ok(labeled)
        })?;
        Self::of_problem(problem, labeled, Vec::new())
    }

    /// The decisions, one row each (float32); a row without a decision is NaN.
    #[pyo3(name = "_decision_array")]
    fn decision_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let data = &self.labeled;
        let width = data.data().costs().cols();
        let mut rows = Vec::with_capacity(data.len());
        for row in 0..data.len() {
            rows.push(self.has(row).then(|| data.optimal_decision(row)));
        }
        array2(py, dense_rows(rows.into_iter(), width), data.len(), width)
    }

    /// Names of the columns of decisions; numbers where the costs have no names.
    #[getter]
    #[pyo3(name = "_column_names")]
    fn column_names(&self) -> Vec<String> {
        self.labeled.data().cost_names().to_vec()
    }

    /// Names of the columns of `decisions`, or None where the costs have no names.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        let names = self.labeled.data().cost_names();
        names.are_explicit().then(|| names.to_vec())
    }

    /// The optimal objectives; NaN where there is no decision.
    #[getter]
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let data = &self.labeled;
        let objective = |row| {
            if self.has(row) {
                data.sense().convert(data.optimal_objective(row))
            } else {
                f64::NAN
            }
        };
        array1(py, (0..data.len()).map(objective).collect())
    }

    /// Rows without a decision and the reason, as a dict; they are left out of training.
    #[getter]
    fn failed(&self) -> std::collections::BTreeMap<usize, String> {
        self.failed
            .iter()
            .map(|(row, failure)| (*row, failure_text(failure)))
            .collect()
    }

    fn __len__(&self) -> usize {
        self.labeled.len()
    }

    /// The labels of these rows.
    #[pyo3(name = "_select")]
    fn select(&self, rows: Vec<usize>) -> Self {
        let mut failed = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let found = self.failed.binary_search_by_key(row, |(failed, _)| *failed);
            if let Ok(found) = found {
                failed.push((place, self.failed[found].1.clone()));
            }
        }
        Self {
            labeled: Arc::new(self.labeled.select_rows(&rows)),
            failed: failed.into(),
            problem: self.problem.clone(),
            function: self.function.clone(),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Labels of {} rows, {} without a decision>",
            self.labeled.len(),
            self.failed.len()
        )
    }
}

impl Labels {
    /// The best objective of every row; NaN where a row has no label.
    pub fn best_objectives(&self) -> Vec<f64> {
        let objective = |row: usize| {
            if self.has(row) {
                self.labeled.optimal_objective(row)
            } else {
                f64::NAN
            }
        };
        (0..self.labeled.len()).map(objective).collect()
    }

    fn has(&self, row: usize) -> bool {
        self.failed
            .binary_search_by_key(&row, |(failed, _)| *failed)
            .is_err()
    }

    /// Labels of a table of costs.
    fn of_problem(
        problem: &Problem,
        labeled: LabeledDataset,
        failed: FailedRows,
    ) -> PyResult<Self> {
        Ok(Self {
            labeled: Arc::new(labeled),
            failed: failed.into(),
            problem: problem.identity()?,
            function: problem.function().cloned(),
        })
    }

    /// Whether these are labels of this problem.
    fn is_for_problem(&self, problem: &Problem) -> PyResult<bool> {
        let same_function = match (&self.function, problem.function()) {
            (None, None) => true,
            (Some(function), Some(other)) => {
                Arc::ptr_eq(function, other) || function.is_same(other)
            }
            (None, Some(_)) | (Some(_), None) => false,
        };
        Ok(same_function && self.problem == problem.identity()?)
    }
}

fn unknown_fixed_cost() -> regretless::Error {
    regretless::Error::data(
        "columns of known cost are part of the objective, and the decisions do not contain their \
         values",
    )
    .with_remedy("find the labels with regretless.label(problem, C)")
}

/// Costs in the order of a problem's and the parameters of the rows, as a data set with a
/// placeholder feature.
pub fn costs_only(
    problem: &Problem,
    costs: &Bound<'_, PyAny>,
    parameters: Option<ParameterList<'_>>,
    ownership: ArrayOwnership,
) -> PyResult<Dataset> {
    let mut data = costs_in_column_order(problem, costs, parameters, ownership)?;
    match_table(costs.py(), problem, &mut data)?;
    Ok(data)
}

/// Costs in the order of their columns and the parameters of the rows, as a data set with a
/// placeholder feature.
pub fn costs_in_column_order(
    problem: &Problem,
    costs: &Bound<'_, PyAny>,
    parameters: Option<ParameterList<'_>>,
    ownership: ArrayOwnership,
) -> PyResult<Dataset> {
    let names = column_names(costs).map(CostNames::from);
    let may_lack_costs = problem.problem.may_have_absent_costs();
    let costs = if may_lack_costs {
        exact_matrix(costs, "C", ownership)?
    } else {
        finite_matrix(costs, "C", ownership)?
    };
    let parameters = row_parameters(problem, parameters, costs.rows(), ownership)?;
    let placeholder = Matrix::zeros(costs.rows(), 1);
    let features = Features::new(placeholder, FeatureShape::Wide, None).map_err(to_py_err)?;
    let data = if may_lack_costs {
        Dataset::with_missing_costs(features, costs, names)
    } else {
        Dataset::new(features, costs, names)
    };
    with_parameters(data.map_err(to_py_err)?, parameters)
}

/// The argument `labels` of a call.
pub fn given_labels<'a, 'py>(
    labels: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<&'a Bound<'py, Labels>>> {
    let Some(labels) = labels else {
        return Ok(None);
    };
    labels.cast::<Labels>().map(Some).map_err(|_| {
        let kind = labels.get_type().name().map(|name| name.to_string());
        PyTypeError::new_err(format!(
            "labels are made by regretless.label, or from known decisions by \
             regretless.Labels.from_decisions(problem, C, decisions), not {}",
            kind.unwrap_or_else(|_| "this object".into())
        ))
    })
}

/// The table with parameters of its rows, if there are any.
pub fn with_parameters(data: Dataset, parameters: Option<RowParameters>) -> PyResult<Dataset> {
    match parameters {
        Some(parameters) => data.with_parameters(parameters).map_err(to_py_err),
        None => Ok(data),
    }
}

/// A data set with these labels or, without labels, after its rows are solved; failed rows raise a
/// warning.
pub fn with_labels(
    py: Python<'_>,
    problem: &Problem,
    call: &PyCall,
    oracle: &Oracle,
    data: Dataset,
    labels: Option<&Bound<'_, Labels>>,
) -> PyResult<Arc<LabeledDataset>> {
    with_labels_and_failures(py, problem, call, oracle, data, labels).map(|(data, _)| data)
}

/// The same with the rows that have no decision.
pub fn with_labels_and_failures(
    py: Python<'_>,
    problem: &Problem,
    call: &PyCall,
    oracle: &Oracle,
    data: Dataset,
    labels: Option<&Bound<'_, Labels>>,
) -> PyResult<(Arc<LabeledDataset>, FailedRows)> {
    if let Some(labels) = labels {
        if !labels.get().is_for_problem(problem)? {
            return Err(PyValueError::new_err(
                "the labels are the optimal decisions of another problem; find those of this one: \
                 regretless.label(problem, C)",
            ));
        }
        let labeled = Arc::clone(&labels.get().labeled);
        let joined = detached(py, || labeled.with_dataset(data, oracle))?;
        raise_notes(py, problem, &Note::of_labels(&joined, oracle))?;
        return Ok((Arc::new(joined), labels.get().failed.to_vec()));
    }
    let work = |observer: &dyn Observer| solve_feasible(problem, data, oracle, observer);
    let (labeled, failed) = call.run(py, work)?;
    warn_about_failed_rows(py, &failed)?;
    raise_notes(py, problem, &Note::of_labels(&labeled, oracle))?;
    Ok((Arc::new(labeled), failed))
}

/// Rows without a decision, and why.
pub type FailedRows = Vec<(usize, SolveFailure)>;

/// Solves all rows, and one or two of a function again.
fn solve_feasible(
    problem: &Problem,
    data: Dataset,
    oracle: &Oracle,
    observer: &dyn Observer,
) -> regretless::Result<(LabeledDataset, FailedRows)> {
    let (labeled, failed) = LabeledDataset::solve_feasible(data, oracle, observer)?;
    if !observer.interrupted() {
        problem.check_repeated_answers(oracle, &labeled, observer)?;
    }
    Ok((labeled, failed))
}

fn warn_about_failed_rows(py: Python<'_>, failures: &[(usize, SolveFailure)]) -> PyResult<()> {
    let Some((row, failure)) = failures.first() else {
        return Ok(());
    };
    let message = match failures.len() {
        1 => format!("row {row} has no decision and is left out: {failure}"),
        count => format!(
            "{count} of the rows have no decision and are left out; the first is row {row}: \
             {failure}"
        ),
    };
    warn(py, &message)
}

/// Labels of every row of costs; with a shard, the number of rows of all shards that are labeled.
/// `regretless.label` documents it.
#[pyfunction]
#[pyo3(name = "_label")]
pub fn label<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    C: &Bound<'py, PyAny>,
    store: Option<PathBuf>,
    shard: Option<&str>,
    parameters: Option<ParameterList<'py>>,
    options: SolveOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = problem.get();
    let data = costs_only(problem, C, parameters, ArrayOwnership::Copy)?;
    problem.check_width(data.costs().cols())?;
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, data.parameters())
        .map_err(to_py_err)?;
    let Some(store) = store else {
        if shard.is_some() {
            return Err(PyValueError::new_err(
                "a shard is written to a store; give its path: store='costs.npy'",
            ));
        }
        let (labeled, failed) = call.run(py, |observer| {
            solve_feasible(problem, data, &oracle, observer)
        })?;
        warn_about_failed_rows(py, &failed)?;
        return Ok(Bound::new(py, Labels::of_problem(problem, labeled, failed)?)?.into_any());
    };
    problem.check_storable()?;
    let store = LabelStore::for_table(&store);
    // Label files are the same for Python and the command line, which reads costs in single
    // precision only.
    let (data, exact) = data.into_single_precision();
    let shard: Option<Shard> = shard.map(str::parse).transpose().map_err(to_py_err)?;
    if let Some(shard) = shard {
        let report = call.run(py, |observer| {
            store.label_shard(data, &problem.spec, &oracle, shard, observer)
        })?;
        warn_all(py, &report.warnings)?;
        return Ok(report.known_rows.into_pyobject(py)?.into_any());
    }
    let (labeled, report) = call.run(py, |observer| {
        let (labeled, report) = store.label(data, &problem.spec, &oracle, observer)?;
        problem.check_repeated_answers(&oracle, &labeled, observer)?;
        Ok((labeled, report))
    })?;
    warn_all(py, &report.warnings)?;
    warn_about_failed_rows(py, &report.failed)?;
    let labeled = match exact {
        None => labeled,
        Some(exact) => detached(py, || labeled.with_dataset(exact, &oracle))?,
    };
    Ok(Bound::new(py, Labels::of_problem(problem, labeled, report.failed)?)?.into_any())
}

fn warn_all(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    warnings.iter().try_for_each(|warning| warn(py, warning))
}
