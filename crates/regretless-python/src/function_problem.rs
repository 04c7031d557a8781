//! A problem that is solved by a Python function from costs to a decision.
//!
//! Costs and decision have the objective sense of the user's problem. Calls of the function are
//! serialized (`function_locks.rs`) and run on the thread that made the call (`call.rs`), unless
//! the user declares the function thread-safe. An exception stops the call and is raised unchanged;
//! `None` means that no decision is feasible.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::Decision;
use regretless::data::CostNames;
use regretless::problem::{ExternalProblem, ProblemKind, Sense, SolverThreading, VariableBounds};
use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};

use crate::arrays::{array1, vector};
use crate::call::CallState;
use crate::solutions::SolveResult;

/// Relative difference between the returned objective and costs times decision that counts as
/// rounding of the user's solver.
const OBJECTIVE_TOLERANCE: f64 = 1e-6;

/// Distance of a binary value from 0 or 1 that counts as rounding of the user's solver; MIP solvers
/// accept 1e-6 to 1e-5.
const INTEGRALITY_TOLERANCE: f64 = 1e-5;

/// A user's function and its properties.
pub struct SolverFunction {
    /// The function.
    pub solve: Py<PyAny>,
    /// Name, sense and size.
    pub problem: ExternalProblem,
    /// Whether its decisions are binary.
    pub binary: bool,
    /// Whether several threads may call it at the same time.
    pub thread_safe: bool,
    /// Address of the object that holds its state; alive as long as the function.
    identity: usize,
}

impl fmt::Debug for SolverFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SolverFunction({:?})", self.problem)
    }
}

/// The problem of a function, during one call from Python.
#[derive(Debug)]
pub struct FunctionProblem {
    /// The function.
    pub function: Arc<SolverFunction>,
    /// The call that uses it; without one it cannot be solved.
    pub call: Option<Arc<CallState>>,
}

impl ProblemKind for FunctionProblem {
    fn name(&self) -> String {
        self.function.problem.name.clone()
    }

    fn sense(&self) -> Sense {
        self.function.problem.sense
    }

    fn num_costs(&self) -> usize {
        self.function.problem.costs
    }

    fn cost_names(&self) -> Option<&CostNames> {
        self.function.problem.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }

    fn bounds(&self) -> VariableBounds {
        if self.function.binary {
            return VariableBounds::Binary;
        }
        let costs = self.function.problem.costs;
        VariableBounds::Box {
            lower: vec![f64::NEG_INFINITY; costs],
            upper: vec![f64::INFINITY; costs],
        }
    }

    fn solver_calls(&self) -> SolverThreading {
        if self.function.thread_safe {
            SolverThreading::OwnThreads
        } else {
            SolverThreading::Serialized
        }
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(FunctionSolver {
            function: Arc::clone(&self.function),
            call: self.call.clone(),
        })
    }

    /// Only the function can check feasibility; here only the indices are checked.
    fn check(&self, decision: &Decision) -> Result<(), String> {
        match decision.indices().last() {
            Some(last) if *last as usize >= self.function.problem.costs => {
                Err(format!("variable {last} does not exist"))
            }
            _ => Ok(()),
        }
    }
}

/// The solver that calls the function.
struct FunctionSolver {
    function: Arc<SolverFunction>,
    call: Option<Arc<CallState>>,
}

impl Solver for FunctionSolver {
    fn solve(&mut self, costs: &[f64]) -> SolveResult {
        match &self.call {
            None => Err(SolveFailure::SolverError(
                "a Python function can be called only during a call from Python".into(),
            )),
            Some(call) if self.function.thread_safe => {
                Python::attach(|py| call.call(py, &self.function, costs))
            }
            Some(call) => call.call_on_main_thread(&self.function, costs),
        }
    }
}

impl SolverFunction {
    /// A function; methods of one object share a lock, since they share its state.
    pub fn new(
        solve: &Bound<'_, PyAny>,
        problem: ExternalProblem,
        binary: bool,
        thread_safe: bool,
    ) -> PyResult<Self> {
        let method = solve.py().import("types")?.getattr("MethodType")?;
        let holder = if solve.is_instance(&method)? {
            solve.getattr("__self__")?
        } else {
            solve.clone()
        };
        let identity = holder.as_ptr() as usize;
        Ok(Self {
            solve: solve.clone().unbind(),
            problem,
            binary,
            thread_safe,
            identity,
        })
    }

    /// Identifies the state that the function uses.
    pub fn identity(&self) -> usize {
        self.identity
    }

    /// Calls the function on this thread.
    pub fn call(&self, py: Python<'_>, costs: &[f64]) -> PyResult<SolveResult> {
        let sense = self.problem.sense;
        let original_costs: Vec<f64> = costs.iter().map(|cost| sense.convert(*cost)).collect();
        let returned = self.solve.bind(py).call1((array1(py, original_costs),))?;
        if returned.is_none() {
            return Ok(Err(SolveFailure::Infeasible));
        }
        let (decision, objective) = match returned.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => {
                (pair.get_item(0)?, Some(pair.get_item(1)?.extract::<f64>()?))
            }
            _ => (returned, None),
        };
        if let Some(objective) = objective.filter(|objective| !objective.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "the function returned the objective {objective}, which is not a finite number; \
                 return None where no decision is feasible"
            )));
        }
        let decision = self.decision(&vector(&decision, "the decision")?, costs.len())?;
        let product = decision.dot(costs);
        // The difference to the objective is a fixed cost, as with columns of known cost.
        let mut fixed = objective.map_or(0.0, |objective| sense.convert(objective) - product);
        if fixed.abs() <= OBJECTIVE_TOLERANCE * product.abs().max(1.0) {
            fixed = 0.0;
        }
        Ok(Ok(Solution::optimal(
            decision.with_fixed(fixed),
            product + fixed,
        )))
    }

    fn decision(&self, values: &[f64], costs: usize) -> PyResult<Decision> {
        if values.len() != costs {
            return Err(PyValueError::new_err(format!(
                "the function returned a decision of {} values for {costs} costs",
                values.len()
            )));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "value {bad} of the decision is not a finite number"
            )));
        }
        if !self.binary {
            return Ok(Decision::from_dense(values));
        }
        // Solvers return 0.9999999 for 1.
        let rounded: Vec<f64> = values.iter().map(|value| value.round()).collect();
        for (number, value) in values.iter().enumerate() {
            let near_integer = (value - rounded[number]).abs() <= INTEGRALITY_TOLERANCE;
            if !near_integer || !(0.0..=1.0).contains(&rounded[number]) {
                return Err(PyValueError::new_err(format!(
                    "value {number} of the decision is {value}, neither 0 nor 1; set \
                     binary=False if that is right"
                )));
            }
        }
        Ok(Decision::from_dense(&rounded))
    }
}
