//! A problem that is a Python function: costs in, decision out.
//!
//! Costs are handed over and the decision is read in the user's sense. The function is called once
//! at a time (`turns.rs`), on the thread that made the call (`call.rs`), unless the user says that
//! several threads may call it. An exception stops the whole call and arrives as it was raised;
//! `None` says that no decision is feasible.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::Decision;
use regretless::data::CostNames;
use regretless::oracle::SolveResult;
use regretless::problem::{ExternalProblem, ProblemKind, Sense, SolverThreading, VariableBounds};
use regretless::solve::{SearchLimits, Solution, SolveFailure, Solver};

use crate::arrays::{row, vector};
use crate::call::CallState;

/// A user's function and what is known about it.
pub struct SolverFunction {
    /// The function.
    pub solve: Py<PyAny>,
    /// Name, sense and size.
    pub given: ExternalProblem,
    /// Whether its decisions are zeros and ones.
    pub binary: bool,
    /// Whether several threads may call it at the same time.
    pub thread_safe: bool,
    /// Address of the object that holds its state; alive as long as the function.
    identity: usize,
}

impl fmt::Debug for SolverFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({:?})", self.given)
    }
}

/// A function as a problem, during one call of Python.
#[derive(Debug)]
pub struct FunctionProblem {
    /// The function.
    pub function: Arc<SolverFunction>,
    /// The call that leads to it; without one nothing can be solved.
    pub call: Option<Arc<CallState>>,
}

impl ProblemKind for FunctionProblem {
    fn name(&self) -> String {
        self.function.given.name.clone()
    }

    fn sense(&self) -> Sense {
        self.function.given.sense
    }

    fn num_costs(&self) -> usize {
        self.function.given.costs
    }

    fn cost_names(&self) -> Option<&CostNames> {
        self.function.given.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }

    fn bounds(&self) -> VariableBounds {
        if self.function.binary {
            return VariableBounds::Binary;
        }
        let costs = self.function.given.costs;
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

    /// What is feasible is known to the function alone; only the form is checked.
    fn check(&self, decision: &Decision) -> Result<(), String> {
        match decision.indices().last() {
            Some(last) if *last as usize >= self.function.given.costs => {
                Err(format!("variable {last} does not exist"))
            }
            _ => Ok(()),
        }
    }
}

/// Has the function called.
struct FunctionSolver {
    function: Arc<SolverFunction>,
    call: Option<Arc<CallState>>,
}

impl Solver for FunctionSolver {
    fn solve(&mut self, costs: &[f64]) -> SolveResult {
        match &self.call {
            None => Err(SolveFailure::Engine(
                "a function can be called only within a call of Python".into(),
            )),
            Some(call) if self.function.thread_safe => {
                Python::attach(|py| call.call(py, &self.function, costs))
            }
            Some(call) => call.call_on_main_thread(&self.function, costs),
        }
    }
}

impl SolverFunction {
    /// A function; methods of one object count as one function, since they share its state.
    pub fn new(
        solve: &Bound<'_, PyAny>,
        given: ExternalProblem,
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
            given,
            binary,
            thread_safe,
            identity,
        })
    }

    /// Tells functions apart that do not share their state.
    pub fn identity(&self) -> usize {
        self.identity
    }

    /// Calls the function on this thread.
    pub fn call(&self, py: Python<'_>, costs: &[f64]) -> PyResult<SolveResult> {
        let sense = self.given.sense;
        let users: Vec<f64> = costs.iter().map(|cost| sense.convert(*cost)).collect();
        let answer = self.solve.bind(py).call1((row(py, users),))?;
        if answer.is_none() {
            return Ok(Err(SolveFailure::Infeasible));
        }
        let (decision, claimed) = match answer.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => {
                (pair.get_item(0)?, Some(pair.get_item(1)?.extract::<f64>()?))
            }
            _ => (answer, None),
        };
        if let Some(claimed) = claimed.filter(|claimed| !claimed.is_finite()) {
            let message = format!(
                "the function returned the objective {claimed}, which is not a finite number"
            );
            return Err(PyValueError::new_err(format!(
                "{message}; return None where no decision is feasible"
            )));
        }
        let decision = self.decision(&vector(&decision, "the decision")?, costs.len())?;
        let objective = decision.dot(costs);
        // What the objective holds beyond the costs is fixed, as with columns of known cost.
        let fixed = claimed.map_or(0.0, |claimed| sense.convert(claimed) - objective);
        let fixed = if fixed.abs() <= 1e-6 * objective.abs().max(1.0) {
            0.0
        } else {
            fixed
        };
        Ok(Ok(Solution::optimal(
            decision.with_fixed(fixed),
            objective + fixed,
        )))
    }

    fn decision(&self, values: &[f64], costs: usize) -> PyResult<Decision> {
        if values.len() != costs {
            let message = format!(
                "the function returned a decision of {} values for {costs} costs",
                values.len()
            );
            return Err(PyValueError::new_err(message));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!(
                "value {bad} of the decision is not a finite number"
            )));
        }
        if !self.binary {
            return Ok(Decision::from_dense(values));
        }
        // Solvers answer with 0.9999999 for 1.
        let rounded: Vec<f64> = values.iter().map(|value| value.round()).collect();
        let off = values
            .iter()
            .zip(&rounded)
            .position(|(v, r)| (v - r).abs() > 1e-5 || !(0.0..=1.0).contains(r));
        match off {
            None => Ok(Decision::from_dense(&rounded)),
            Some(bad) => Err(PyValueError::new_err(format!(
                "value {bad} of the decision is {}, neither 0 nor 1; say binary=False if that is \
                    right",
                values[bad]
            ))),
        }
    }
}
