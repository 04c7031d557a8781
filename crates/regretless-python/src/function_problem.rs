//! A problem that is solved by a Python function from costs to a decision.
//!
//! Calls of the function are serialized (`function_locks.rs`) and run on the thread that made the
//! call (`call.rs`), unless the user declares the function thread-safe.

use std::sync::Arc;

use pyo3::prelude::*;
use regretless::Decision;
use regretless::data::{CostNames, ParameterColumns, RowParameters};
use regretless::problem::{
    Choices, CostNaming, KindCapabilities, ProblemKind, RowProblems, Sense, SolverThreading,
    SolverTraits, VariableBounds,
};
use regretless::solve::{SearchLimits, SolveFailure, Solver};

use crate::call::CallState;
use crate::solutions::SolveResult;
use crate::solver_function::{FunctionResult, FunctionTask, RowValues, SolverFunction};

/// The problem of a function, during one call from Python.
#[derive(Debug)]
pub struct FunctionProblem {
    function: Arc<SolverFunction>,
    /// The call that uses it; without one it cannot be solved.
    call: Option<Arc<CallState>>,
    /// The row parameters that the function gets, with as many numbers per row as the table of the
    /// call has.
    columns: Arc<[ParameterColumns]>,
    /// All row parameters: those of the function before those of known costs. None in the problem
    /// of a row.
    all_columns: Vec<ParameterColumns>,
    /// The parameters that the function gets, in the problem of a row.
    row: Option<RowValues>,
}

impl FunctionProblem {
    /// The problem during a call with these parameters of rows.
    pub fn new(
        function: &Arc<SolverFunction>,
        call: Option<&Arc<CallState>>,
        parameters: Option<&RowParameters>,
    ) -> Self {
        let column = |name: &String| ParameterColumns {
            pattern: name.clone(),
            count: parameters.and_then(|table| table.width(name)).unwrap_or(1),
            names: None,
        };
        let columns: Arc<[ParameterColumns]> = function.parameters.iter().map(column).collect();
        let mut all_columns = columns.to_vec();
        if let Some(known) = &function.known {
            all_columns.extend_from_slice(&known.columns);
        }
        Self {
            function: Arc::clone(function),
            call: call.cloned(),
            columns,
            all_columns,
            row: None,
        }
    }

    /// How many numbers of a row the function gets.
    fn num_function_values(&self) -> usize {
        self.columns.iter().map(|columns| columns.count).sum()
    }

    /// Runs a task of the function.
    fn run(&self, task: FunctionTask) -> FunctionResult {
        run_task(&self.function, self.call.as_ref(), task)
    }
}

fn run_task(
    function: &Arc<SolverFunction>,
    call: Option<&Arc<CallState>>,
    task: FunctionTask,
) -> FunctionResult {
    match call {
        None => Err(SolveFailure::SolverError(
            "a Python function can be called only during a call from Python".into(),
        )),
        Some(call) if function.thread_safe => Python::attach(|py| call.call(py, function, &task)),
        Some(call) => call.call_on_main_thread(function, task),
    }
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

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(FunctionSolver {
            function: Arc::clone(&self.function),
            call: self.call.clone(),
            row: self.row.clone(),
        })
    }

    /// Only the user's check knows what is feasible; without one only the indices are checked.
    fn check(&self, decision: &Decision) -> Result<(), String> {
        let costs = self.function.problem.costs;
        if let Some(last) = decision.indices().last()
            && *last as usize >= costs
        {
            return Err(format!("variable {last} does not exist"));
        }
        if self.function.check.is_none() {
            return Ok(());
        }
        let mut values = vec![0.0; costs];
        decision.write_dense(&mut values);
        match self.run(FunctionTask::Check(values, self.row.clone())) {
            Ok(_) => Ok(()),
            // The caller says that the solution is invalid.
            Err(SolveFailure::InvalidSolution(message)) => Err(message),
            Err(failure) => Err(failure.to_string()),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities {
            names: self,
            row_problems: self,
            solver_traits: self,
            choices: self,
            ..KindCapabilities::NONE
        }
    }
}

impl CostNaming for FunctionProblem {
    fn cost_names(&self) -> Option<&CostNames> {
        self.function.problem.cost_names.as_ref()
    }

    fn may_have_cost_names(&self) -> bool {
        true
    }
}

impl RowProblems for FunctionProblem {
    fn parameters(&self) -> &[ParameterColumns] {
        &self.all_columns
    }

    fn row_problem(&self, values: &[f64]) -> Result<Arc<dyn ProblemKind>, String> {
        Ok(Arc::new(Self {
            function: Arc::clone(&self.function),
            call: self.call.clone(),
            columns: Arc::clone(&self.columns),
            all_columns: Vec::new(),
            row: (!self.columns.is_empty())
                .then(|| RowValues::new(&self.columns, &values[..self.num_function_values()])),
        }))
    }

    fn has_known_costs(&self) -> bool {
        self.function.known.is_some()
    }

    fn known_costs(&self, values: &[f64]) -> Option<Vec<f64>> {
        let known = self.function.known.as_ref()?;
        Some(known.of_row(&values[self.num_function_values()..]))
    }

    fn checks_constraints(&self) -> bool {
        self.function.check.is_some() || self.function.parameters.is_empty()
    }
}

impl SolverTraits for FunctionProblem {
    fn heuristic_remedy(&self) -> Option<&'static str> {
        let remedy = "pass exact=False to Problem.from_solver if it is a heuristic";
        self.has_exact_solver().then_some(remedy)
    }

    fn has_exact_solver(&self) -> bool {
        self.function.exact
    }

    fn has_search_settings(&self) -> bool {
        false
    }

    fn solver_calls(&self) -> SolverThreading {
        if self.function.thread_safe {
            SolverThreading::OwnThreads
        } else {
            SolverThreading::Serialized
        }
    }
}

impl Choices for FunctionProblem {
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
}

/// The solver that calls the function.
struct FunctionSolver {
    function: Arc<SolverFunction>,
    call: Option<Arc<CallState>>,
    row: Option<RowValues>,
}

impl Solver for FunctionSolver {
    fn solve(&mut self, costs: &[f64]) -> SolveResult {
        let task = FunctionTask::Solve(costs.to_vec(), self.row.clone());
        let solved = run_task(&self.function, self.call.as_ref(), task)?;
        solved.ok_or_else(|| SolveFailure::SolverError("the function found no solution".into()))
    }
}
