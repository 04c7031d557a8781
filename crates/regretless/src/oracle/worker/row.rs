//! The problem of the current row, if rows have problems of their own.

use std::sync::Arc;

use super::super::worker_solver::WorkerSolver;
use super::OracleWorker;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::solve::SolveFailure;

/// The problem of the current row and the one that the solver was made for, if rows have problems
/// of their own.
#[derive(Debug, Default)]
pub(super) struct RowState {
    pub(super) instance: Option<usize>,
    /// The row's parameters.
    pub(super) values: Vec<f64>,
    pub(super) problem: Option<Result<Arc<dyn ProblemKind>, SolveFailure>>,
    /// Whether the decisions of the pool have the same known cost.
    pub(super) has_comparable_pool: bool,
    /// The parameters that the solver was made for; none for a solver without a row.
    pub(super) solver_values: Option<Vec<f64>>,
}

impl OracleWorker<'_> {
    /// Builds the problem of a row, unless it has the parameters of the last row.
    pub(super) fn enter_row(&mut self, instance: usize) {
        let before = std::mem::take(&mut self.row.values);
        let read = self.oracle.read_parameters(instance, &mut self.row.values);
        // Rows with the same parameters share a problem, and the solver that was made for it.
        let is_same = matches!(self.row.problem, Some(Ok(_))) && before == self.row.values;
        if !is_same || read.is_err() {
            self.row.problem = Some(read.and_then(|()| {
                self.oracle
                    .problem
                    .row_problems()
                    .row_problem(&self.row.values)
                    .map_err(SolveFailure::InvalidParameters)
            }));
        }
        self.row.instance = Some(instance);
    }

    /// Takes the solver, made for the current row.
    pub(super) fn take_solver(&mut self) -> Result<WorkerSolver, SolveFailure> {
        let missing = || SolveFailure::SolverError("the worker has no solver".into());
        let mut solver = self.solver.take().ok_or_else(missing)?;
        if !self.oracle.has_row_problems() {
            return Ok(solver);
        }
        let problem = match &self.row.problem {
            Some(Ok(problem)) => problem,
            Some(Err(failure)) => {
                let failure = failure.clone();
                // The solver is put back: the failure is that of the row.
                self.solver = Some(solver);
                return Err(failure);
            }
            None => {
                self.solver = Some(solver);
                let message = "a solver call without a row, whose parameters it depends on";
                return Err(SolveFailure::InvalidParameters(message.into()));
            }
        };
        if self.row.solver_values.as_ref() == Some(&self.row.values) {
            return Ok(solver);
        }
        if !solver.reuse_for(problem.as_ref()) {
            let kind = solver.solver_kind();
            solver = self
                .oracle
                .new_solver(kind, problem.as_ref())
                .ok_or_else(missing)?;
        }
        self.row.solver_values = Some(self.row.values.clone());
        Ok(solver)
    }

    /// Adds the infeasible subsystem, or the unbounded direction, to a failed solve.
    pub(super) fn explain(&self, failure: SolveFailure, costs: &[f64]) -> SolveFailure {
        match (&failure, &self.row.problem) {
            (SolveFailure::Unbounded, _) => self
                .problem()
                .failure_reasons()
                .unboundedness(costs)
                .map_or(failure, SolveFailure::UnboundedAlong),
            (SolveFailure::Infeasible, Some(Ok(problem))) => problem
                .failure_reasons()
                .infeasibility()
                .map_or(failure, SolveFailure::Conflict),
            _ => failure,
        }
    }
}
