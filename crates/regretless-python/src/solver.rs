//! A solver that is kept between calls, for Python loops that solve row by row.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use regretless::oracle::Oracle;
use regretless::problem::{ProblemKind, ProblemSpec};
use regretless::solve::{SearchLimits, SolveFailure};

use crate::arrays::{array1, vector};
use crate::call_observer::catch_panic;
use crate::error::to_py_err;
use crate::names::reorder_row_to_problem;
use crate::parameters::{ParameterList, single_row};
use crate::problem::Problem;

/// A solver of one problem that is kept between calls; `regretless.Solver` is its class in Python.
#[pyclass(frozen, subclass, module = "regretless._core", name = "_Solver")]
pub struct Solver {
    problem: Py<Problem>,
    /// `None` before the first row of a problem with parameters per row.
    solver: Mutex<Option<Box<dyn regretless::solve::Solver>>>,
}

#[pymethods]
impl Solver {
    #[new]
    fn new(problem: &Bound<'_, Problem>) -> PyResult<Self> {
        if matches!(*problem.get().spec, ProblemSpec::External(_)) {
            return Err(PyValueError::new_err(
                "a Python function is called by Problem.solve, which raises its exceptions",
            ));
        }
        if problem.get().problem.row_problems().has_known_costs() {
            return Err(PyValueError::new_err(
                "rows have known costs; use Problem.solve(c, parameters=...)",
            ));
        }
        Ok(Self {
            problem: problem.clone().unbind(),
            solver: Mutex::new(None),
        })
    }

    /// The decision for one row of costs, and its objective.
    #[pyo3(name = "_solve")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        c: &Bound<'py, PyAny>,
        parameters: Option<ParameterList<'py>>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64)> {
        let problem = self.problem.get();
        let row_problem = self.row_problem(parameters)?;
        let costs = reorder_row_to_problem(c, vector(c, "c")?, problem)?;
        problem.check_width(costs.len())?;
        let sense = problem.problem.sense();
        if let Some(number) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "c: cost {number} is not a finite number"
            )));
        }
        let solve = || {
            let mut kept = self.solver.lock().unwrap_or_else(PoisonError::into_inner);
            let has_row_problems = !problem.problem.row_problems().parameters().is_empty();
            let fits = kept.as_mut().is_some_and(|solver| {
                !has_row_problems || row_problem.reuse_solver(solver.as_mut())
            });
            if !fits {
                *kept = None;
            }
            let solver = kept.get_or_insert_with(|| row_problem.solver(&SearchLimits::default()));
            let width = costs.len();
            let solution = sense.solve_stated(costs, |minimized| {
                let mut solution = solver.solve(minimized)?;
                solution.objective = solution.decision.dot(minimized);
                Ok(solution)
            });
            let solution = solution.map_err(|failure: SolveFailure| failure.to_string())?;
            row_problem.check(&solution.decision)?;
            let mut decision = vec![0.0_f32; width];
            for (position, value) in solution.decision.iter() {
                decision[position] = value as f32;
            }
            Ok((decision, solution.objective))
        };
        let solved = catch_panic(|| Ok(py.detach(solve)))?;
        let (decision, objective) =
            solved.map_err(|message: String| PyRuntimeError::new_err(message))?;
        Ok((array1(py, decision), objective))
    }
}

impl Solver {
    /// The problem of a row with these parameters.
    fn row_problem(&self, parameters: Option<ParameterList<'_>>) -> PyResult<Arc<dyn ProblemKind>> {
        let problem = self.problem.get();
        let parameters = single_row(problem, parameters)?;
        let oracle = Oracle::new(problem.problem.clone())
            .with_parameters(parameters.as_ref())
            .map_err(to_py_err)?;
        let row_problem = oracle.row_problem(0);
        row_problem.map_err(|failure| PyRuntimeError::new_err(failure.to_string()))
    }
}
