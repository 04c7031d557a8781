//! One question after the other to an engine that stays: for loops of Python that ask row by row.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use regretless::problem::ProblemSpec;
use regretless::solve::SearchLimits;

use crate::arrays::{row, vector};
use crate::call_observer::catch_panic;
use crate::names::row_in_order_of;
use crate::problem::Problem;

/// An engine for one problem, kept from question to question. A question is answered on the calling
/// thread, so that Ctrl-C is heard between two of them; Problem.solve hears it at once and is
/// slower to begin.
#[pyclass(frozen, module = "regretless")]
pub struct Solver {
    problem: Py<Problem>,
    engine: Mutex<Box<dyn regretless::solve::Solver>>,
}

#[pymethods]
impl Solver {
    #[new]
    fn new(problem: &Bound<'_, Problem>) -> PyResult<Self> {
        if matches!(problem.get().spec, ProblemSpec::External(_)) {
            return Err(PyValueError::new_err(
                "a function is asked by Problem.solve, which hears its exceptions",
            ));
        }
        let engine = problem.get().problem.solver(&SearchLimits::default());
        Ok(Self {
            problem: problem.clone().unbind(),
            engine: Mutex::new(engine),
        })
    }

    /// The best decision (float32) for one row of costs, and its objective.
    fn solve<'py>(
        &self,
        py: Python<'py>,
        cost: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64)> {
        let problem = self.problem.get();
        let mut costs = row_in_order_of(cost, vector(cost, "cost")?, problem)?;
        problem.check_width(costs.len())?;
        let sense = problem.problem.sense();
        if let Some(place) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "cost {place} is not a finite number"
            )));
        }
        sense.convert_slice(&mut costs);
        let solve = || {
            let solution = self
                .engine
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .solve(&costs);
            let solution = solution.map_err(|failure| failure.to_string())?;
            problem.problem.check(&solution.decision)?;
            let mut decision = vec![0.0_f32; costs.len()];
            solution
                .decision
                .iter()
                .for_each(|(place, value)| decision[place] = value as f32);
            Ok((decision, sense.convert(solution.decision.dot(&costs))))
        };
        let found = catch_panic(|| Ok(py.detach(solve)))?;
        let (decision, objective) =
            found.map_err(|message: String| PyRuntimeError::new_err(message))?;
        Ok((row(py, decision), objective))
    }
}
