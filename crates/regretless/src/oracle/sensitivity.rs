//! Asking linear relaxations: optima, cost ranges, adjacent vertices, cones.
//!
//! Every question that solves a relaxation is counted once, here. What a problem does not offer is
//! an error that names the method that asked, what it asked for, the problem, and a way out.

use super::counts::SolveKind;
use super::worker::WorkerContext;
use super::worker_solver::SolverRole;
use super::{Oracle, OracleWorker, SolveResult, check_costs};
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{CostRangeKind, CostRanges, Relaxation, VertexDelta};
use crate::solve::{Solution, SolveFailure, check_not_cancelled};

impl Oracle {
    /// Solves of the linear relaxation done so far.
    pub fn relaxed_solves(&self) -> u64 {
        self.counts().relaxed
    }

    /// Makes sure that the problem has this relaxation, before a method counts on it.
    ///
    /// # Errors
    /// When it has none.
    pub fn require_relaxation(&self, kind: Relaxation, method: &str) -> Result<()> {
        match self.solver(SolverRole::Relaxed(kind)) {
            Some(solver) => {
                self.return_solver(solver);
                Ok(())
            }
            None => Err(self.unsupported(
                method,
                "a linear relaxation",
                "use the exact solver instead",
            )),
        }
    }

    /// The best point of the relaxation for each row of costs (to be minimised), in the order of
    /// the rows.
    ///
    /// # Errors
    /// When the problem has no such relaxation or the user interrupts; failures of single instances
    /// are among the answers.
    pub fn relax_all(
        &self,
        (costs, kind): (&Matrix, Relaxation),
        context: (&str, &dyn Observer),
    ) -> Result<Vec<SolveResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.relax_rows((costs, &rows), kind, context)
    }

    /// The best point of the relaxation for each of the listed rows of costs, in the order of the
    /// list.
    ///
    /// # Errors
    /// As above.
    pub fn relax_rows(
        &self,
        (costs, rows): (&Matrix, &[usize]),
        kind: Relaxation,
        (method, observer): (&str, &dyn Observer),
    ) -> Result<Vec<SolveResult>> {
        self.require_relaxation(kind, method)?;
        let mut answers: Vec<Option<SolveResult>> = rows.iter().map(|_| None).collect();
        self.solver_threads.fill_slots(
            &mut answers,
            || {
                self.solver(SolverRole::Relaxed(kind))
                    .map(|solver| OracleWorker::new(self, Some(solver), WorkerContext::default()))
            },
            |worker, index, slot| {
                if let Some(worker) = worker.as_mut().filter(|_| !observer.interrupted()) {
                    let answer = worker.solve_with(|row| costs.read(rows[index], row));
                    if answer != Err(SolveFailure::Interrupted) {
                        *slot = Some(answer);
                        observer.advance(1);
                    }
                }
            },
        );
        answers
            .into_iter()
            .collect::<Option<_>>()
            .ok_or(Error::Interrupted)
    }

    /// Cost ranges of each row of costs (to be minimised), each handed to `keep` with its row
    /// number and slot; one solve of the relaxation per row.
    ///
    /// # Errors
    /// When the problem has no such ranges, a relaxation has no optimum, or the user interrupts.
    pub fn ranges_all<T: Send>(
        &self,
        (costs, kind): (&Matrix, CostRangeKind),
        slots: &mut [T],
        keep: impl Fn(usize, &CostRanges, &mut T) + Sync + Send,
        (method, observer): (&str, &dyn Observer),
    ) -> Result<()> {
        let ranger = || self.problem.cost_ranging(kind, &self.limits);
        if ranger().is_none() {
            return Err(self.missing_ranges(kind, method));
        }
        let keep = |row: usize, ranges: CostRanges, slot: &mut T| keep(row, &ranges, slot);
        self.run_on_rows(
            costs,
            slots,
            (
                ranger,
                |ranger, costs| self.count_relaxed_solve(costs, |c| ranger.ranges(c)),
                keep,
            ),
            observer,
        )
    }

    /// The relaxed optimum of each row of costs (to be minimised) and the ways to the vertices next
    /// to it, handed to `keep` with the row number and slot; one solve of the relaxation per row.
    ///
    /// # Errors
    /// When the problem cannot tell, a relaxation has no optimum, or the user interrupts.
    pub fn adjacent_vertices_all<T: Send>(
        &self,
        costs: &Matrix,
        slots: &mut [T],
        keep: impl Fn(usize, (Solution, Vec<VertexDelta>), &mut T) + Sync + Send,
        (method, observer): (&str, &dyn Observer),
    ) -> Result<()> {
        let neighbours = || self.problem.adjacent_vertices(&self.limits);
        if neighbours().is_none() {
            return Err(self.unsupported(
                method,
                "adjacent vertices",
                "use another loss, such as MAE(O,S)",
            ));
        }
        let ask = |solver: &mut Box<dyn crate::solve::relaxation::AdjacentVertices>,
                   costs: &[f64]| {
            self.count_relaxed_solve(costs, |costs| solver.neighbours(costs))
        };
        self.run_on_rows(costs, slots, (neighbours, ask, keep), observer)
    }

    /// The cone of a decision; solves nothing.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision, method: &str) -> Result<NormalCone> {
        let missing = || {
            self.unsupported(
                method,
                "the cone of binding constraints",
                "use another loss, such as MAE(O,S)",
            )
        };
        self.problem.cone(decision).ok_or_else(missing)
    }

    /// Asks one engine per thread about each row of costs; `parts` make an engine, ask it, and keep
    /// what it says.
    fn run_on_rows<E, X, T: Send>(
        &self,
        costs: &Matrix,
        slots: &mut [T],
        (make, ask, keep): (
            impl Fn() -> Option<E> + Sync + Send,
            impl Fn(&mut E, &[f64]) -> Result<X, SolveFailure> + Sync + Send,
            impl Fn(usize, X, &mut T) + Sync + Send,
        ),
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut outcomes: Vec<Result<()>> = Vec::new();
        outcomes.resize_with(slots.len(), || Err(Error::Interrupted));
        let mut pairs: Vec<(&mut T, &mut Result<()>)> =
            slots.iter_mut().zip(&mut outcomes).collect();
        self.solver_threads.fill_slots(
            &mut pairs,
            || (make(), Vec::new()),
            |(solver, widened), row, (slot, outcome)| {
                let Some(solver) = solver.as_mut().filter(|_| !observer.interrupted()) else {
                    return;
                };
                costs.read(row, widened);
                let answer = ask(solver, widened).map(|answer| keep(row, answer, slot));
                **outcome = answer.map_err(|failure| Error::solver(row, failure));
                observer.advance(1);
            },
        );
        outcomes.into_iter().collect()
    }

    /// Counts a relaxed solve and does it.
    fn count_relaxed_solve<X>(
        &self,
        costs: &[f64],
        solve: impl FnOnce(&[f64]) -> Result<X, SolveFailure>,
    ) -> Result<X, SolveFailure> {
        self.counters.count(SolveKind::Relaxed);
        check_costs(costs)?;
        let answer = solve(costs)?;
        check_not_cancelled()?;
        Ok(answer)
    }

    fn missing_ranges(&self, kind: CostRangeKind, method: &str) -> Error {
        let other = |kind| self.problem.cost_ranging(kind, &self.limits).is_some();
        match kind {
            CostRangeKind::Basis if other(CostRangeKind::Exact) => self.unsupported(
                method,
                "cost ranges of a basis",
                "use O_S(exact) instead of O_S, or build with HiGHS",
            ),
            CostRangeKind::Exact if other(CostRangeKind::Basis) => {
                self.unsupported(method, "exact cost ranges", "use O_S instead of O_S(exact)")
            }
            CostRangeKind::Basis | CostRangeKind::Exact => {
                self.unsupported(method, "cost ranges", "use O instead of O_S")
            }
        }
    }

    /// The error for something this problem does not offer.
    pub(super) fn unsupported(
        &self,
        method: &str,
        capability: &'static str,
        instead: &str,
    ) -> Error {
        Error::Capability {
            method: method.to_owned(),
            capability,
            problem: self.problem.name(),
            instead: instead.to_owned(),
        }
    }
}
