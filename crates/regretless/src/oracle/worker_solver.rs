//! The solver of one worker: exact, relaxed or heuristic.

use super::counts::SolveKind;
use super::{Heuristic, SolveResult};
use crate::decision::Decision;
use crate::problem::ProblemKind;
use crate::solve::relaxation::{Relaxation, RelaxationSolver};
use crate::solve::warm_start::WarmStart;
use crate::solve::{Solution, SolveFailure, Solver};

/// Which solver runs when a solver call is not looked up in the solution pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolverKind {
    /// The exact solver of the problem.
    Exact,
    /// The solver of a relaxation.
    Relaxed(Relaxation),
    /// A heuristic.
    Heuristic(Heuristic),
}

/// A solver used by one thread.
pub(super) enum WorkerSolver {
    Exact(Box<dyn Solver>),
    Relaxed(Relaxation, Box<dyn RelaxationSolver>),
    Heuristic(Heuristic, Box<dyn Solver>),
}

impl WorkerSolver {
    pub(super) fn solver_kind(&self) -> SolverKind {
        match self {
            Self::Exact(_) => SolverKind::Exact,
            Self::Relaxed(kind, _) => SolverKind::Relaxed(*kind),
            Self::Heuristic(kind, _) => SolverKind::Heuristic(*kind),
        }
    }

    /// Makes the solver one for the problem of another row, if that is faster than a new solver.
    pub(super) fn reuse_for(&mut self, problem: &dyn ProblemKind) -> bool {
        match self {
            Self::Exact(solver) => problem.reuse_solver(solver.as_mut()),
            // Their solvers have no counterpart of `reuse_solver`; a new one is made for the row.
            Self::Relaxed(..) | Self::Heuristic(..) => false,
        }
    }

    /// How its solves are counted.
    pub(super) fn kind(&self) -> SolveKind {
        match self {
            Self::Exact(_) => SolveKind::Exact,
            Self::Relaxed(..) => SolveKind::Relaxed,
            Self::Heuristic(..) => SolveKind::Heuristic,
        }
    }

    /// Solves; a local search from the label starts from `start`, other solvers ignore it.
    pub(super) fn solve_into(
        &mut self,
        costs: &[f64],
        start: Option<&Decision>,
        solution: &mut Solution,
    ) -> Result<(), SolveFailure> {
        match (self, start) {
            (Self::Heuristic(Heuristic::LocalSearchFromLabel, solver), Some(start)) => {
                *solution = solver.solve_from(costs, start)?;
            }
            (Self::Exact(solver) | Self::Heuristic(_, solver), _) => {
                solver.solve_into(costs, solution)?;
            }
            (Self::Relaxed(_, relaxation), _) => *solution = relaxation.relax(costs)?,
        }
        Ok(())
    }

    /// As [`Solver::relax_unproven`], for exact solvers.
    pub(super) fn relax_unproven(&mut self, costs: &[f64]) -> Option<SolveResult> {
        match self {
            Self::Exact(solver) => solver.relax_unproven(costs),
            Self::Relaxed(..) | Self::Heuristic(..) => None,
        }
    }

    pub(super) fn solve_warm(&mut self, costs: &[f64], warm_start: &mut WarmStart) -> SolveResult {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => {
                solver.solve_warm(costs, warm_start)
            }
            Self::Relaxed(_, relaxation) => relaxation.relax_warm(costs, warm_start),
        }
    }

    /// Values of the columns without predicted costs at the last solution.
    pub(super) fn auxiliary_values(&self) -> Vec<f64> {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => solver.auxiliary_values(),
            Self::Relaxed(..) => Vec::new(),
        }
    }

    /// Work of the last solve.
    pub(super) fn work(&self) -> Option<u64> {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => solver.work(),
            Self::Relaxed(_, relaxation) => relaxation.work(),
        }
    }

    pub(super) fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => solver.certify(costs, warm_start),
            Self::Relaxed(_, relaxation) => relaxation.certify(costs, warm_start),
        }
    }
}
