//! What solves behind an oracle: the problem itself, its relaxation, or a heuristic.

use super::counts::SolveKind;
use super::{Heuristic, SolveResult};
use crate::decision::Decision;
use crate::solve::relaxation::{Relaxation, RelaxationSolver};
use crate::solve::warm_start::WarmStart;
use crate::solve::{Solution, SolveFailure, Solver};

/// Who answers when a question is not answered from a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SolverRole {
    /// The problem itself.
    Exact,
    /// Its relaxation.
    Relaxed(Relaxation),
    /// Something that need not find the best.
    Heuristic(Heuristic),
}

/// Costs, and a decision to start from if there is one.
pub(super) type SolverCall<'q> = (&'q [f64], Option<&'q Decision>);

/// An engine of one thread.
pub(super) enum WorkerSolver {
    Exact(Box<dyn Solver>),
    Relaxed(Relaxation, Box<dyn RelaxationSolver>),
    Heuristic(Heuristic, Box<dyn Solver>),
}

impl WorkerSolver {
    pub(super) fn role(&self) -> SolverRole {
        match self {
            Self::Exact(_) => SolverRole::Exact,
            Self::Relaxed(kind, _) => SolverRole::Relaxed(*kind),
            Self::Heuristic(kind, _) => SolverRole::Heuristic(*kind),
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

    /// Solves, downhill from a decision where that is what the engine is for.
    pub(super) fn solve_into(
        &mut self,
        (costs, start): SolverCall<'_>,
        solution: &mut Solution,
    ) -> Result<(), SolveFailure> {
        match (self, start) {
            (Self::Heuristic(Heuristic::LocalSearchFromLabel, solver), Some(start)) => {
                *solution = solver.solve_from(costs, start)?
            }
            (Self::Exact(solver) | Self::Heuristic(_, solver), _) => {
                solver.solve_into(costs, solution)?
            }
            (Self::Relaxed(_, relaxer), _) => *solution = relaxer.relax(costs)?,
        }
        Ok(())
    }

    pub(super) fn solve_again(&mut self, costs: &[f64], warm_start: &mut WarmStart) -> SolveResult {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => {
                solver.solve_warm(costs, warm_start)
            }
            Self::Relaxed(_, relaxer) => relaxer.relax_warm(costs, warm_start),
        }
    }

    /// Work of the last solve.
    pub(super) fn work(&self) -> Option<u64> {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => solver.work(),
            Self::Relaxed(_, relaxer) => relaxer.work(),
        }
    }

    pub(super) fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        match self {
            Self::Exact(solver) | Self::Heuristic(_, solver) => solver.certify(costs, warm_start),
            Self::Relaxed(_, relaxer) => relaxer.certify(costs, warm_start),
        }
    }
}
