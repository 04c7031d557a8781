//! A problem that is a Python function: costs in, decision out.
//!
//! The interpreter's lock is taken for each solve, so that threads take turns. Costs are handed over and the
//! decision is read in the user's sense. An exception stops the whole call and arrives as it was raised; `None`
//! says that no decision is feasible.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::Decision;
use regretless::problem::{Bounds, Given, Problem, Sense};
use regretless::solve::{Failure, Limits, Solution, Solver};

use crate::arrays::{row, vector};
use crate::watch::Raised;

/// The function and what is known about it.
pub struct Callable {
    /// The function.
    pub solve: Arc<Py<PyAny>>,
    /// Name, sense and size.
    pub given: Given,
    /// Whether its decisions are zeros and ones.
    pub binary: bool,
    /// Where exceptions go.
    pub raised: Arc<Raised>,
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({:?})", self.given)
    }
}

impl Problem for Callable {
    fn name(&self) -> String {
        self.given.name.clone()
    }

    fn sense(&self) -> Sense {
        self.given.sense
    }

    fn num_costs(&self) -> usize {
        self.given.costs
    }

    fn bounds(&self) -> Bounds {
        if self.binary {
            return Bounds::Binary;
        }
        let costs = self.given.costs;
        Bounds::Box { lower: vec![f64::NEG_INFINITY; costs], upper: vec![f64::INFINITY; costs] }
    }

    fn solver(&self, _limits: &Limits) -> Box<dyn Solver> {
        let (solve, raised) = (Arc::clone(&self.solve), Arc::clone(&self.raised));
        Box::new(Caller { solve, raised, sign: self.given.sense.sign(), binary: self.binary })
    }

    /// What is feasible is known to the function alone; only the form is checked.
    fn check(&self, decision: &Decision) -> Result<(), String> {
        match decision.indices().last() {
            Some(last) if *last as usize >= self.given.costs => Err(format!("variable {last} does not exist")),
            _ => Ok(()),
        }
    }
}

/// Calls the function, one solve at a time.
struct Caller {
    solve: Arc<Py<PyAny>>,
    raised: Arc<Raised>,
    sign: f64,
    binary: bool,
}

impl Solver for Caller {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        Python::attach(|py| self.call(py, costs)).unwrap_or_else(|error| {
            self.raised.keep(error);
            Err(Failure::Engine("the function raised an exception".into()))
        })
    }
}

impl Caller {
    fn call(&self, py: Python<'_>, costs: &[f64]) -> PyResult<Result<Solution, Failure>> {
        let users = costs.iter().map(|cost| self.sign * cost + 0.0).collect::<Vec<f64>>();
        let answer = self.solve.bind(py).call1((row(py, users),))?;
        if answer.is_none() {
            return Ok(Err(Failure::Infeasible));
        }
        let (decision, claimed) = match answer.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?.extract::<f64>()?)),
            _ => (answer, None),
        };
        let decision = self.decision(&vector(&decision, "the decision")?, costs.len())?;
        let objective = decision.dot(costs);
        // What the objective holds beyond the costs is fixed, as with columns of known cost.
        let fixed = claimed.map_or(0.0, |claimed| self.sign * claimed - objective);
        let fixed = if fixed.abs() <= 1e-6 * objective.abs().max(1.0) { 0.0 } else { fixed };
        Ok(Ok(Solution::optimal(decision.with_fixed(fixed), objective + fixed)))
    }

    fn decision(&self, values: &[f64], costs: usize) -> PyResult<Decision> {
        if values.len() != costs {
            let message = format!("the function returned a decision of {} values for {costs} costs", values.len());
            return Err(PyValueError::new_err(message));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(PyValueError::new_err(format!("value {bad} of the decision is not a finite number")));
        }
        if !self.binary {
            return Ok(Decision::from_dense(values));
        }
        // Solvers answer with 0.9999999 for 1.
        let rounded: Vec<f64> = values.iter().map(|value| value.round()).collect();
        let off = values.iter().zip(&rounded).position(|(v, r)| (v - r).abs() > 1e-5 || !(0.0..=1.0).contains(r));
        match off {
            None => Ok(Decision::from_dense(&rounded)),
            Some(bad) => Err(PyValueError::new_err(format!(
                "value {bad} of the decision is {}, neither 0 nor 1; say binary=False if that is right",
                values[bad]
            ))),
        }
    }
}
