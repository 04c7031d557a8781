//! Labels: the best decision of every row, found once.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::Decision;
use regretless::data::{CostNames, CostSide, Dataset, FeatureShape, Features, Matrix};
use regretless::label::{LabelStore, LabeledDataset, Shard};
use regretless::observer::Observer;
use regretless::oracle::Oracle;
use regretless::solve::{Solution, SolveFailure};

use crate::arrays::{ArrayOwnership, finite_matrix, rectangle, row};
use crate::call_observer::{PyCall, detached, warn};
use crate::error::to_py_err;
use crate::function_problem::SolverFunction;
use crate::names::{column_names, in_order, match_table};
use crate::oracle::{dense, failed};
use crate::problem::Problem;

/// The best decision of every row of costs.
#[pyclass(frozen, module = "regretless")]
pub struct Labels {
    /// Costs, to be minimised, and decisions.
    pub labelled: Arc<LabeledDataset>,
    failed: Vec<(usize, SolveFailure)>,
    /// The problem they were found for, and its function if it is one.
    problem: String,
    function: Option<Arc<SolverFunction>>,
    dense: OnceLock<Py<PyArray2<f32>>>,
}

#[pymethods]
impl Labels {
    /// Labels of costs whose best decisions are known; each decision is checked, none is solved.
    /// Decisions with column names are matched by name, as costs are. Problems in which other
    /// columns have known costs are refused, since the decisions do not say what those cost. For a
    /// function the objective is taken to be the costs times the decision.
    #[staticmethod]
    fn from_decisions(
        py: Python<'_>,
        problem: &Bound<'_, Problem>,
        #[allow(non_snake_case, reason = "as every paper calls it")] C: &Bound<'_, PyAny>,
        decisions: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let problem = problem.get();
        check_same_rows(C, decisions, ["C", "decisions"])?;
        let data = costs_only(problem, C, ArrayOwnership::Copy)?;
        problem.check_width(data.costs().cols())?;
        let fixed = problem.problem.fixed_cost().ok_or_else(|| {
            PyValueError::new_err(
                "columns of known cost are part of the objective, and the decisions do not say \
                    where they stand; find the \
                 labels with regretless.label(problem, C)",
            )
        })?;
        let decisions = in_order(
            decisions,
            "decisions",
            CostSide::new("C", data.cost_names()),
        )?;
        problem.check_width(decisions.cols())?;
        let oracle = problem
            .oracle(&PyCall::new(false), Some(1), None)
            .map_err(to_py_err)?;
        let labelled = detached(py, || {
            let sense = problem.problem.sense();
            let best = |(row, values): (usize, &[f32])| {
                let decision = Decision::from_dense(
                    &values
                        .iter()
                        .map(|value| f64::from(*value))
                        .collect::<Vec<f64>>(),
                );
                let objective = sense.convert(data.costs().objective_of(&decision, row)) + fixed;
                Solution::optimal(decision.with_fixed(fixed), objective)
            };
            let count = decisions.rows().min(data.len());
            let best = (0..count)
                .map(|row| best((row, decisions.row(row))))
                .collect();
            LabeledDataset::from_decisions(data, &oracle, best)
        });
        Self::new(problem, labelled?, Vec::new())
    }

    /// All decisions, one row each (float32); made when first asked for. A row that has none is
    /// NaN.
    #[getter]
    fn decisions(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f32>>> {
        if let Some(known) = self.dense.get() {
            return Ok(known.clone_ref(py));
        }
        let data = &self.labelled;
        let width = data.data().costs().cols();
        let rows: Vec<_> = (0..data.len())
            .map(|row| self.has(row).then(|| data.optimal_decision(row)))
            .collect();
        let made = rectangle(py, dense(rows.into_iter(), width), [data.len(), width])?.unbind();
        Ok(self.dense.get_or_init(|| made).clone_ref(py))
    }

    /// Names of the columns of `decisions`, or None where the costs have no names.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        let names = self.labelled.data().cost_names();
        names.are_given().then(|| names.to_vec())
    }

    /// What each best decision costs or earns; NaN where there is none.
    #[getter]
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let data = &self.labelled;
        let objective = |row| {
            if self.has(row) {
                data.sense().convert(data.optimal_objective(row))
            } else {
                f64::NAN
            }
        };
        row(py, (0..data.len()).map(objective).collect())
    }

    /// Rows without a decision and why, as a dict; they are left out of training.
    #[getter]
    fn failed(&self) -> std::collections::BTreeMap<usize, String> {
        self.failed
            .iter()
            .map(|(row, failure)| (*row, failed(failure)))
            .collect()
    }

    fn __len__(&self) -> usize {
        self.labelled.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Labels of {} rows, {} without a decision>",
            self.labelled.len(),
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

    fn new(
        problem: &Problem,
        labelled: LabeledDataset,
        failed: Vec<(usize, SolveFailure)>,
    ) -> PyResult<Self> {
        let (function, problem) = (problem.function().cloned(), problem.identity()?);
        Ok(Self {
            labelled: Arc::new(labelled),
            failed,
            problem,
            function,
            dense: OnceLock::new(),
        })
    }

    /// Whether they are the best decisions of this problem.
    fn check_belongs_to(&self, problem: &Problem) -> PyResult<bool> {
        let same_function = match (&self.function, problem.function()) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs) || ours.solve.is(&theirs.solve),
            _ => false,
        };
        Ok(same_function && self.problem == problem.identity()?)
    }
}

/// Costs in the order of a problem's, as a table whose features mean nothing.
pub fn costs_only(
    problem: &Problem,
    costs: &Bound<'_, PyAny>,
    keep: ArrayOwnership,
) -> PyResult<Dataset> {
    let mut data = costs_as_given(costs, keep)?;
    match_table(costs.py(), problem, &mut data)?;
    Ok(data)
}

/// Costs in the order of their columns, as a table whose features mean nothing.
pub fn costs_as_given(costs: &Bound<'_, PyAny>, keep: ArrayOwnership) -> PyResult<Dataset> {
    let names = column_names(costs)?.map(CostNames::from);
    let costs = finite_matrix(costs, "C", keep)?;
    let nothing = Features::new(Matrix::zeros(costs.rows(), 1), FeatureShape::Wide, None)
        .map_err(to_py_err)?;
    Dataset::new(nothing, costs, names).map_err(to_py_err)
}

/// The same table with known labels, or with those found now; failed rows are told as a warning.
pub fn with_labels(
    py: Python<'_>,
    problem: &Problem,
    (call, oracle): (&PyCall, &Oracle),
    data: Dataset,
    labels: Option<&Bound<'_, Labels>>,
) -> PyResult<Arc<LabeledDataset>> {
    if let Some(labels) = labels {
        if !labels.get().check_belongs_to(problem)? {
            return Err(PyValueError::new_err(
                "the labels are the best decisions of another problem; find those of this one: \
                    regretless.label(problem, C)",
            ));
        }
        let known = Arc::clone(&labels.get().labelled);
        let joined = detached(py, || known.with_dataset(data, oracle))?;
        return Ok(Arc::new(joined));
    }
    let work = |observer: &dyn Observer| LabeledDataset::solve_feasible(data, oracle, observer);
    let (labelled, failed) = call.run(py, work)?;
    warn_about_failed_rows(py, &failed)?;
    Ok(Arc::new(labelled))
}

fn warn_about_failed_rows(py: Python<'_>, failures: &[(usize, SolveFailure)]) -> PyResult<()> {
    let Some((row, failure)) = failures.first() else {
        return Ok(());
    };
    let count = failures.len();
    let message = format!(
        "{count} of the rows have no decision and are left out; the first is row {row}: {failure}"
    );
    warn(py, &message)
}

/// Refuses two tables whose row labels are the same in another order: rows are matched by position.
pub fn check_same_rows(
    first: &Bound<'_, PyAny>,
    second: &Bound<'_, PyAny>,
    names: [&str; 2],
) -> PyResult<()> {
    let [one, other] = names;
    first
        .py()
        .import("regretless._frames")?
        .call_method1("check_same_rows", (first, second, (one, other)))?;
    Ok(())
}

fn shard_of(shard: &Bound<'_, PyAny>) -> PyResult<Shard> {
    if let Ok(text) = shard.extract::<String>() {
        return text.parse().map_err(to_py_err);
    }
    let (index, count): (usize, usize) = shard.extract()?;
    format!("{index}/{count}").parse().map_err(to_py_err)
}

/// The best decision of every row of costs, found once.
///
/// * `problem`: what is decided.
/// * `C`: costs, one row per instance; a DataFrame is matched to the problem's costs by name, an
///   array by position.
/// * `store`: a file beside which labels are kept, in the same folder and files as the command line
///   keeps for a table of that name; labels that are there are not solved again, a run that was
///   stopped goes on, and several processes can share the work.
/// * `shard`: "2/7" or (2, 7) solves the second of seven shares, writes it to the store, and
///   returns how many rows of all are known; the call without it joins them.
/// * `threads`, `progress`, `heuristic`: as in Problem.solve_all.
#[pyfunction]
#[pyo3(signature = (problem, C, *, store=None, shard=None, threads=None, progress=false, heuristic=None))]
pub fn label<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    C: &Bound<'py, PyAny>,
    store: Option<PathBuf>,
    shard: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: bool,
    heuristic: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = problem.get();
    let data = costs_only(problem, C, ArrayOwnership::Copy)?;
    problem.check_width(data.costs().cols())?;
    let call = PyCall::new(progress);
    let oracle = problem
        .oracle(&call, threads, heuristic)
        .map_err(to_py_err)?;
    let Some(store) = store else {
        if shard.is_some() {
            return Err(PyValueError::new_err(
                "a shard is written to a store; say where: store='costs.npy'",
            ));
        }
        let (labelled, failed) = call.run(py, |observer| {
            LabeledDataset::solve_feasible(data, &oracle, observer)
        })?;
        warn_about_failed_rows(py, &failed)?;
        return Ok(Bound::new(py, Labels::new(problem, labelled, failed)?)?.into_any());
    };
    problem.check_storable()?;
    let store = LabelStore::for_table(&store);
    // Files of labels are the same from both doors; the program knows costs in single precision
    // alone.
    let (data, given) = data.into_single_precision();
    if let Some(shard) = shard.map(shard_of).transpose()? {
        let done = call.run(py, |observer| {
            store.label_shard(data, &problem.spec, &oracle, shard, observer)
        })?;
        done.warnings
            .iter()
            .try_for_each(|warning| warn(py, warning))?;
        return Ok(done.known.into_pyobject(py)?.into_any());
    }
    let (labelled, report) = call.run(py, |observer| {
        store.label(data, &problem.spec, &oracle, observer)
    })?;
    report
        .warnings
        .iter()
        .try_for_each(|warning| warn(py, warning))?;
    warn_about_failed_rows(py, &report.failed)?;
    let labelled = match given {
        None => labelled,
        Some(given) => detached(py, || labelled.with_dataset(given, &oracle))?,
    };
    Ok(Bound::new(py, Labels::new(problem, labelled, report.failed)?)?.into_any())
}
