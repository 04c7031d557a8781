//! A solver that is kept between calls, for Python loops that solve row by row.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use regretless::problem::ProblemSpec;
use regretless::solve::SearchLimits;

use crate::arrays::{array1, vector};
use crate::call_observer::catch_panic;
use crate::names::reorder_row_to_problem;
use crate::problem::Problem;

/// A solver of one problem that is kept between calls.
///
/// It solves on the calling thread, so that Ctrl-C is handled between two calls only;
/// `Problem.solve` handles it at once and has a larger overhead.
///
/// Parameters
/// ----------
/// problem : Problem
///     The problem; not one made by `Problem.from_solver`, nor one with parameters per row or
///     known costs.
///
/// Raises
/// ------
/// ValueError
///     Where the problem is a Python function, or has parameters per row or known costs.
///
/// Examples
/// --------
/// >>> solver = rl.Solver(problem)
/// >>> decision, objective = solver.solve(c)
#[pyclass(frozen, module = "regretless")]
pub struct Solver {
    problem: Py<Problem>,
    solver: Mutex<Box<dyn regretless::solve::Solver>>,
}

#[pymethods]
impl Solver {
    #[new]
    fn new(problem: &Bound<'_, Problem>) -> PyResult<Self> {
        if matches!(problem.get().spec, ProblemSpec::External(_)) {
            return Err(PyValueError::new_err(
                "a Python function is called by Problem.solve, which raises its exceptions",
            ));
        }
        let kind = &problem.get().problem;
        if !kind.parameters().is_empty() || kind.has_known_costs() {
            return Err(PyValueError::new_err(
                "rows have feasible sets or known costs of their own; use \
                 Problem.solve(c, parameters=...)",
            ));
        }
        let solver = problem.get().problem.solver(&SearchLimits::default());
        Ok(Self {
            problem: problem.clone().unbind(),
            solver: Mutex::new(solver),
        })
    }

    /// Solve for one row of costs.
    ///
    /// Parameters
    /// ----------
    /// c : array_like of shape (d,)
    ///     Costs, in the problem's order, or a Series whose names are matched.
    ///
    /// Returns
    /// -------
    /// decision : ndarray of shape (d,)
    ///     The optimal decision, float32.
    /// objective : float
    ///     Costs times decision.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     Where no decision is feasible.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        c: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64)> {
        let problem = self.problem.get();
        let mut costs = reorder_row_to_problem(c, vector(c, "c")?, problem)?;
        problem.check_width(costs.len())?;
        let sense = problem.problem.sense();
        if let Some(number) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "c: cost {number} is not a finite number"
            )));
        }
        sense.convert_slice(&mut costs);
        let solve = || {
            let solution = self
                .solver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .solve(&costs);
            let solution = solution.map_err(|failure| failure.to_string())?;
            problem.problem.check(&solution.decision)?;
            let mut decision = vec![0.0_f32; costs.len()];
            for (position, value) in solution.decision.iter() {
                decision[position] = value as f32;
            }
            Ok((decision, sense.convert(solution.decision.dot(&costs))))
        };
        let solved = catch_panic(|| Ok(py.detach(solve)))?;
        let (decision, objective) =
            solved.map_err(|message: String| PyRuntimeError::new_err(message))?;
        Ok((array1(py, decision), objective))
    }
}
