//! A user's function from costs to a decision, and what it returns.
//!
//! Costs and decision have the objective sense of the user's problem. An exception stops the call
//! and is raised unchanged; `None` means that no decision is feasible. Where the user named
//! parameters of the row, the function gets them too, and so does the user's check of decisions, if
//! there is one.

use std::fmt;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use regretless::Decision;
use regretless::data::ParameterColumns;
use regretless::problem::ExternalProblem;
use regretless::solve::{Solution, SolveFailure, SolveStatus};

use crate::arrays::{array1, vector};
use crate::known_part::KnownPart;
use crate::solutions::SolveResult;

/// Relative difference between the returned objective and costs times decision that counts as
/// rounding of the user's solver.
const OBJECTIVE_TOLERANCE: f64 = 1e-6;

/// Distance of a binary value from 0 or 1 that counts as rounding of the user's solver; MIP solvers
/// accept 1e-6 to 1e-5.
const INTEGRALITY_TOLERANCE: f64 = 1e-5;

/// A call of a user's function.
#[derive(Debug)]
pub enum FunctionTask {
    /// Solve for these minimized costs.
    Solve(Vec<f64>, Option<RowValues>),
    /// Check a decision.
    Check(Vec<f64>, Option<RowValues>),
}

/// The solution of a solve; nothing after a check that finds the decision feasible.
pub type FunctionResult = Result<Option<Solution>, SolveFailure>;

/// The parameters of one row.
#[derive(Debug, Clone)]
pub struct RowValues {
    columns: Arc<[ParameterColumns]>,
    values: Arc<[f64]>,
}

impl RowValues {
    pub fn new(columns: &Arc<[ParameterColumns]>, values: &[f64]) -> Self {
        Self {
            columns: Arc::clone(columns),
            values: values.into(),
        }
    }

    /// A number or an array by name.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let mut rest = &self.values[..];
        for ParameterColumns { pattern, count, .. } in self.columns.iter() {
            let (numbers, others) = rest.split_at((*count).min(rest.len()));
            rest = others;
            match numbers {
                [number] => dict.set_item(pattern, number)?,
                numbers => dict.set_item(pattern, array1(py, numbers.to_vec()))?,
            }
        }
        Ok(dict)
    }
}

/// A user's function and its properties.
pub struct SolverFunction {
    /// The function.
    pub solve: Py<PyAny>,
    /// Calls it and returns None, an array, or a pair of array and objective.
    answer: Py<PyAny>,
    /// The user's check of decisions, if there is one.
    pub check: Option<Py<PyAny>>,
    /// Names of the row parameters that function and check get.
    pub parameters: Vec<String>,
    /// The known part of the costs, if there is one.
    pub known: Option<KnownPart>,
    /// Name, sense and size.
    pub problem: ExternalProblem,
    /// Whether its decisions are binary.
    pub binary: bool,
    /// Whether several threads may call it at the same time.
    pub thread_safe: bool,
    /// Whether its decisions are optimal.
    pub exact: bool,
    /// Address of the object that holds its state; alive as long as the function.
    identity: usize,
}

impl fmt::Debug for SolverFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SolverFunction({:?})", self.problem)
    }
}

impl SolverFunction {
    /// A function; methods of one object share a lock, since they share its state.
    pub fn new(
        solve: &Bound<'_, PyAny>,
        answer: &Bound<'_, PyAny>,
        problem: ExternalProblem,
        binary: bool,
        thread_safe: bool,
        parameters: Vec<String>,
        check: Option<&Bound<'_, PyAny>>,
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
            answer: answer.clone().unbind(),
            check: check.map(|check| check.clone().unbind()),
            parameters,
            known: None,
            problem,
            binary,
            thread_safe,
            exact: true,
            identity,
        })
    }

    /// The same function with a known part of the costs.
    pub fn with_known(&self, py: Python<'_>, known: KnownPart) -> Self {
        Self {
            solve: self.solve.clone_ref(py),
            answer: self.answer.clone_ref(py),
            check: self.check.as_ref().map(|check| check.clone_ref(py)),
            parameters: self.parameters.clone(),
            known: Some(known),
            problem: self.problem.clone(),
            binary: self.binary,
            thread_safe: self.thread_safe,
            exact: self.exact,
            identity: self.identity,
        }
    }

    /// Whether another problem has the same function, parameters, known costs and check.
    pub fn is_same(&self, other: &Self) -> bool {
        let known = |function: &Self| {
            function
                .known
                .as_ref()
                .map(|known| known.description.clone())
        };
        if known(self) != known(other) {
            return false;
        }
        let same_check = match (&self.check, &other.check) {
            (None, None) => true,
            (Some(check), Some(other)) => check.is(other),
            (None, Some(_)) | (Some(_), None) => false,
        };
        let same_properties = self.parameters == other.parameters && self.exact == other.exact;
        same_check && same_properties && self.solve.is(&other.solve)
    }

    /// Identifies the state that the function uses.
    pub fn identity(&self) -> usize {
        self.identity
    }

    /// Calls the function, or the check, on this thread.
    pub fn call(&self, py: Python<'_>, task: &FunctionTask) -> PyResult<FunctionResult> {
        match task {
            FunctionTask::Solve(costs, row) => {
                Ok(self.call_solve(py, costs, row.as_ref())?.map(Some))
            }
            FunctionTask::Check(decision, row) => self.call_check(py, decision, row.as_ref()),
        }
    }

    /// Calls with an array and, where the user named parameters, those of the row.
    fn call_with_row<'py>(
        py: Python<'py>,
        function: &Py<PyAny>,
        array: Vec<f64>,
        row: Option<&RowValues>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = array1(py, array);
        match row {
            None => function.bind(py).call1((array,)),
            Some(row) => function.bind(py).call1((array, row.as_dict(py)?)),
        }
    }

    fn call_check(
        &self,
        py: Python<'_>,
        decision: &[f64],
        row: Option<&RowValues>,
    ) -> PyResult<FunctionResult> {
        let Some(check) = &self.check else {
            return Ok(Ok(None));
        };
        let is_feasible = Self::call_with_row(py, check, decision.to_vec(), row)?;
        if is_feasible.is_truthy()? {
            return Ok(Ok(None));
        }
        let message = "the check of the problem refuses the decision";
        Ok(Err(SolveFailure::InvalidSolution(message.into())))
    }

    fn call_solve(
        &self,
        py: Python<'_>,
        costs: &[f64],
        row: Option<&RowValues>,
    ) -> PyResult<SolveResult> {
        let turned = |number: f64| self.problem.sense.convert(number);
        let original_costs: Vec<f64> = costs.iter().copied().map(turned).collect();
        let returned = Self::call_with_row(py, &self.answer, original_costs, row)?;
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
        let mut fixed = objective.map_or(0.0, |objective| turned(objective) - product);
        // Terms may cancel, and what is rounded are the terms.
        let terms = decision.iter();
        let size: f64 = terms.map(|(cost, value)| (costs[cost] * value).abs()).sum();
        if fixed.abs() <= OBJECTIVE_TOLERANCE * size.max(1.0) {
            fixed = 0.0;
        }
        Ok(Ok(
            self.solution(decision.with_fixed(fixed), product + fixed)
        ))
    }

    /// A decision of the function, which is proven to be optimal only where the user says so.
    pub fn solution(&self, decision: Decision, objective: f64) -> Solution {
        let optimal = Solution::optimal(decision, objective);
        if self.exact {
            return optimal;
        }
        Solution {
            bound: f64::NEG_INFINITY,
            status: SolveStatus::LimitReached,
            ..optimal
        }
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
