//! Labels: the optimal decision of every row, found once.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use regretless::Decision;
use regretless::data::{CostNames, Dataset, FeatureShape, Features, Matrix, RowParameters};
use regretless::job::{LabeledTable, MatchedTable, RowLabels};
use regretless::label::{LabelStore, LabeledDataset, Shard};
use regretless::oracle::Oracle;
use regretless::solve::{SearchLimits, Solution, SolveFailure};

use crate::arrays::{ArrayOwnership, array1, array2, exact_matrix, finite_matrix};
use crate::call_observer::{PyCall, detached, warn};
use crate::error::to_py_err;
use crate::keywords::SolveOptions;
use crate::names::{column_names, open_table, reorder_to_costs};
use crate::notes::raise_notes;
use crate::parameters::{ParameterList, row_parameters};
use crate::problem::Problem;
use crate::solutions::{dense_rows, failure_text};
use crate::solver_function::SolverFunction;

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
        let data = costs_only(problem, C, parameters, ArrayOwnership::Copy)?.into_data();
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
            let minimized = oracle.minimized_totals(data.costs().clone())?;
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
        Self::of_rows(problem, Arc::new(labeled), Vec::new())
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

    /// Names of the columns of decisions; numbers if the costs have no names.
    #[getter]
    #[pyo3(name = "_column_names")]
    fn column_names(&self) -> Vec<String> {
        self.labeled.data().cost_names().to_vec()
    }

    /// Names of the columns of `decisions`, or None if the costs have no names.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        let names = self.labeled.data().cost_names();
        names.are_explicit().then(|| names.to_vec())
    }

    /// The optimal objectives; NaN if there is no decision.
    #[getter]
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let data = &self.labeled;
        let objective = |row| {
            if self.has(row) {
                data.stated_optimal_objective(row)
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
    fn has(&self, row: usize) -> bool {
        self.failed
            .binary_search_by_key(&row, |(failed, _)| *failed)
            .is_err()
    }

    /// Labels of a table of costs.
    fn of_table(problem: &Problem, table: LabeledTable) -> PyResult<Self> {
        Self::of_rows(problem, table.rows, table.report.failed)
    }

    fn of_rows(
        problem: &Problem,
        labeled: Arc<LabeledDataset>,
        failed: FailedRows,
    ) -> PyResult<Self> {
        Ok(Self {
            labeled,
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

/// Costs in the order of a problem's and the parameters of the rows, as a table with a placeholder
/// feature.
pub fn costs_only(
    problem: &Problem,
    costs: &Bound<'_, PyAny>,
    parameters: Option<ParameterList<'_>>,
    ownership: ArrayOwnership,
) -> PyResult<MatchedTable> {
    let data = costs_in_column_order(problem, costs, parameters, ownership)?;
    open_table(costs.py(), problem, data)
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

/// A table with these labels or, without labels, after its rows are solved; what the user should
/// know about them raises warnings.
pub fn labeled_table(
    py: Python<'_>,
    problem: &Problem,
    call: &PyCall,
    oracle: &Oracle,
    table: MatchedTable,
    labels: Option<&Bound<'_, Labels>>,
) -> PyResult<LabeledTable> {
    let Some(labels) = labels else {
        return found_labels(py, problem, call, oracle, table, RowLabels::Solved);
    };
    let labels = labels.get();
    if !labels.is_for_problem(problem)? {
        return Err(PyValueError::new_err(
            "the labels are the optimal decisions of another problem; find those of this one: \
             regretless.label(problem, C)",
        ));
    }
    let known = RowLabels::Known {
        rows: &labels.labeled,
        failed: &labels.failed,
    };
    let built = problem.built(oracle);
    let labeled = call.run(py, |observer| table.label(&built, oracle, known, observer))?;
    raise_notes(py, problem, &labeled.notes)?;
    Ok(labeled)
}

/// Rows without a decision, and why.
pub type FailedRows = Vec<(usize, SolveFailure)>;

/// Finds labels, and solves one or two rows of a function again.
fn found_labels(
    py: Python<'_>,
    problem: &Problem,
    call: &PyCall,
    oracle: &Oracle,
    table: MatchedTable,
    labels: RowLabels<'_>,
) -> PyResult<LabeledTable> {
    let built = problem.built(oracle);
    let labeled = call.run(py, |observer| {
        let labeled = table.label(&built, oracle, labels, observer)?;
        if !observer.interrupted() {
            problem.check_repeated_answers(oracle, &labeled.rows, observer)?;
        }
        Ok(labeled)
    })?;
    warn_all(py, &labeled.report.warnings)?;
    warn_about_failed_rows(py, &labeled.report.failed)?;
    raise_notes(py, problem, &labeled.notes)?;
    Ok(labeled)
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
    let table = costs_only(problem, C, parameters, ArrayOwnership::Copy)?;
    problem.check_width(table.data().costs().cols())?;
    let call = PyCall::new(options.progress);
    let oracle = options
        .oracle(problem, &call, table.data().parameters())
        .map_err(to_py_err)?;
    let Some(store) = store else {
        if shard.is_some() {
            return Err(PyValueError::new_err(
                "a shard is written to a store; give its path: store='costs.npy'",
            ));
        }
        let labeled = found_labels(py, problem, &call, &oracle, table, RowLabels::Solved)?;
        return Ok(Bound::new(py, Labels::of_table(problem, labeled)?)?.into_any());
    };
    problem.check_storable()?;
    let store = LabelStore::for_table(&store);
    // Label files are the same for Python and the command line, which reads costs in single
    // precision only.
    let (data, exact) = table.into_data().into_single_precision();
    let shard: Option<Shard> = shard.map(str::parse).transpose().map_err(to_py_err)?;
    if let Some(shard) = shard {
        let report = call.run(py, |observer| {
            store.label_shard(data, &problem.spec, &oracle, shard, observer)
        })?;
        warn_all(py, &report.warnings)?;
        return Ok(report.known_rows.into_pyobject(py)?.into_any());
    }
    let (table, stored) = (MatchedTable::new(data), RowLabels::Stored(&store));
    let mut labeled = found_labels(py, problem, &call, &oracle, table, stored)?;
    if let Some(exact) = exact {
        labeled.rows = Arc::new(detached(py, || labeled.rows.with_dataset(exact, &oracle))?);
    }
    Ok(Bound::new(py, Labels::of_table(problem, labeled)?)?.into_any())
}

fn warn_all(py: Python<'_>, warnings: &[String]) -> PyResult<()> {
    warnings.iter().try_for_each(|warning| warn(py, warning))
}
