//! Solutions of one row of costs, or of many.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::data::CostNames;
use regretless::problem::ProblemKind;
use regretless::solve::SolveFailure;

use crate::arrays::{array1, array2};

/// The result of one solve.
pub type SolveResult = Result<regretless::solve::Solution, SolveFailure>;

/// The result of one solve for a user: a solution and the values of all columns.
pub type CompleteResult = Result<(regretless::solve::Solution, regretless::Decision), SolveFailure>;

/// A decision with its objective, bound and status.
#[pyclass(frozen, module = "regretless")]
pub struct Solution {
    /// In the user's sense.
    pub solution: regretless::solve::Solution,
    /// Number of values of the decision.
    pub width: usize,
    /// Names of its values, if they have any.
    pub cost_names: Option<CostNames>,
    /// The values of all columns.
    pub complete: regretless::Decision,
    /// Names of all columns.
    pub column_names: CostNames,
    /// Whether the decision need not be optimal.
    pub is_heuristic: bool,
}

#[pymethods]
impl Solution {
    /// The decision, one value per cost.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        let mut values = vec![0.0; self.width];
        write_decision(&self.solution.decision, &mut values);
        array1(py, values)
    }

    /// Names of the decision's values, or None if the problem has no names for its costs.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.cost_names.as_ref().map(CostNames::to_vec)
    }

    /// The objective of the decision.
    #[getter]
    fn objective(&self) -> f64 {
        self.solution.objective
    }

    /// The dual bound: no decision has a better objective.
    #[getter]
    fn bound(&self) -> f64 {
        self.solution.bound
    }

    /// "optimal", "within" a relative gap, "limit reached", or "heuristic".
    #[getter]
    fn status(&self) -> String {
        self.solution.status.describe(self.is_heuristic)
    }

    /// The values of all columns of the problem (float64): those of `decision`, then those of the
    /// columns with known costs.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut values = vec![0.0; self.column_names.len()];
        self.complete.write_dense(&mut values);
        array1(py, values)
    }

    /// Names of `values`.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.column_names.to_vec()
    }

    fn __repr__(&self) -> String {
        format!(
            "<regretless.Solution {}: objective {}>",
            self.status(),
            self.objective()
        )
    }
}

/// Decisions of many rows of costs, in their order; `regretless.Solutions` is its class in Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Solutions")]
#[derive(Clone)]
pub struct Solutions {
    /// In the user's sense.
    results: Arc<[CompleteResult]>,
    width: usize,
    cost_names: Option<CostNames>,
    column_names: CostNames,
    is_heuristic: bool,
}

impl Solutions {
    /// Results of an oracle for a problem, which are minimized; `cost_names` are the names of the
    /// costs, if they have any.
    pub fn new(
        results: Vec<CompleteResult>,
        problem: &dyn ProblemKind,
        cost_names: Option<CostNames>,
        is_heuristic: bool,
    ) -> Self {
        let width = problem.num_costs();
        let numbered = CostNames::numbered(width);
        let stated = |(solution, complete)| (problem.sense().convert_solution(solution), complete);
        let results = results.into_iter().map(|result| result.map(stated));
        Self {
            results: results.collect(),
            width,
            column_names: cost_names
                .as_ref()
                .unwrap_or(&numbered)
                .followed_by(problem.model_parts().auxiliary_names()),
            cost_names,
            is_heuristic,
        }
    }
}

#[pymethods]
impl Solutions {
    #[new]
    fn copy(solutions: &Bound<'_, Self>) -> Self {
        solutions.get().clone()
    }

    /// The decisions, one row each (float32); a row without a decision is NaN.
    #[pyo3(name = "_decision_array")]
    fn decision_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = self
            .results
            .iter()
            .map(|result| result.as_ref().ok().map(|(solution, _)| &solution.decision));
        let values = dense_rows(rows, self.width);
        array2(py, values, self.results.len(), self.width)
    }

    /// Names of the columns of `decisions`, or None if the costs have no names.
    #[getter]
    fn cost_names(&self) -> Option<Vec<String>> {
        self.cost_names.as_ref().map(CostNames::to_vec)
    }

    /// The objectives of the decisions; NaN if there is none.
    #[getter]
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let mut objectives = Vec::with_capacity(self.results.len());
        for result in self.results.iter() {
            objectives.push(match result {
                Ok((solution, _)) => solution.objective,
                Err(_) => f64::NAN,
            });
        }
        array1(py, objectives)
    }

    /// The status of each decision ("optimal", "within" a gap, "limit reached", "heuristic"), or
    /// why there is none.
    #[getter]
    fn statuses(&self) -> Vec<String> {
        self.results
            .iter()
            .map(|result| match result {
                Ok((solution, _)) => solution.status.describe(self.is_heuristic),
                Err(failure) => failure_text(failure),
            })
            .collect()
    }

    /// Names of all columns of the problem: those with predicted costs, then those with known
    /// costs.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.column_names.to_vec()
    }

    /// The values of all columns of the problem, one row each (float64); a row without a decision
    /// is NaN.
    #[pyo3(name = "_value_array")]
    fn value_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = self.column_names.len();
        let mut values = vec![0.0; self.results.len() * width];
        for (result, row) in self.results.iter().zip(values.chunks_exact_mut(width)) {
            match result {
                Ok((_, complete)) => complete.write_dense(row),
                Err(_) => row.fill(f64::NAN),
            }
        }
        array2(py, values, self.results.len(), width)
    }

    /// Return the nonzero values of the decisions in CSR format.
    ///
    /// Returns
    /// -------
    /// tuple of three ndarrays
    ///     Values, column numbers and row starts, as `scipy.sparse.csr_array` takes them.
    ///
    /// Examples
    /// --------
    /// >>> shape = (len(solutions), problem.num_costs)
    /// >>> scipy.sparse.csr_array(solutions.sparse(), shape=shape)
    fn sparse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (mut values, mut columns, mut starts) = (Vec::new(), Vec::new(), vec![0_i64]);
        for result in self.results.iter() {
            if let Ok((solution, _)) = result {
                for index in solution.decision.indices() {
                    columns.push(i64::from(*index));
                }
                values.extend(solution.decision.iter().map(|(_, value)| value as f32));
            }
            starts.push(columns.len() as i64);
        }
        let parts = (array1(py, values), array1(py, columns), array1(py, starts));
        parts.into_pyobject(py)
    }

    fn __len__(&self) -> usize {
        self.results.len()
    }

    fn __repr__(&self) -> String {
        let solved = self.results.iter().filter(|result| result.is_ok()).count();
        format!(
            "<regretless.Solutions: {solved} of {} rows solved>",
            self.results.len()
        )
    }
}

fn write_decision(decision: &regretless::Decision, out: &mut [f32]) {
    decision
        .iter()
        .for_each(|(position, value)| out[position] = value as f32);
}

/// Dense rows of decisions; rows without one are NaN.
pub fn dense_rows<'a>(
    decisions: impl ExactSizeIterator<Item = Option<&'a regretless::Decision>>,
    width: usize,
) -> Vec<f32> {
    let mut values = vec![0.0; decisions.len() * width];
    for (decision, row) in decisions.zip(values.chunks_exact_mut(width)) {
        match decision {
            Some(decision) => write_decision(decision, row),
            None => row.fill(f32::NAN),
        }
    }
    values
}

/// The reason of a missing decision. Infeasible and unbounded are properties of the problem; all
/// else is an error of the solver.
pub fn failure_text(failure: &SolveFailure) -> String {
    match failure {
        SolveFailure::Infeasible => "infeasible".into(),
        SolveFailure::Unbounded | SolveFailure::UnboundedAlong(_) => "unbounded".into(),
        other => format!("failed: {other}"),
    }
}
