//! Solves of linear relaxations: optima, cost ranges, adjacent vertices, normal cones.
//!
//! Each solve of a relaxation is counted once, here. A capability that the problem lacks is an
//! error that names the capability, the problem and an alternative; callers add the name of the
//! method ([`Error::for_method`]).

use super::counts::SolveKind;
use super::worker::WorkerContext;
use super::worker_solver::SolverKind;
use super::{Oracle, OracleWorker, SolveResult, check_costs};
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::problem::{EqualityConstraints, ProblemKind};
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanges, CostRanging, Relaxation, VertexDelta,
};
use crate::solve::{Solution, SolveFailure, check_not_stopped};

/// The rows of a table that are solved.
struct RowsOfCosts<'a, W> {
    costs: &'a Matrix,
    is_wanted: W,
}

impl Oracle {
    /// Solves of the linear relaxation so far.
    pub fn relaxed_solves(&self) -> u64 {
        self.counts().relaxed
    }

    /// Checks that the problem has this relaxation.
    ///
    /// # Errors
    /// When it has none.
    pub fn require_relaxation(&self, kind: Relaxation) -> Result<()> {
        match self.solver(SolverKind::Relaxed(kind)) {
            Some(solver) => {
                // Built only to see whether it exists; kept for the first row.
                self.return_solver(solver);
                Ok(())
            }
            None if cfg!(feature = "highs") => {
                Err(self.unsupported("a linear relaxation", "use the exact solver instead"))
            }
            None => Err(self.unsupported(
                "a linear relaxation in this build",
                "use the exact solver instead, or a build with HiGHS (cargo feature `highs`)",
            )),
        }
    }

    /// Checks that the problem has cost ranges of this kind.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn require_ranges(&self, kind: CostRangeKind) -> Result<()> {
        match self.problem.sensitivity().cost_ranging(kind, &self.limits) {
            Some(_) => Ok(()),
            None => Err(self.missing_ranges(kind)),
        }
    }

    /// Checks that the problem, or that of the first row, has equality constraints.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn require_equality_constraints(&self) -> Result<()> {
        // A row without a problem is reported where its label is missing.
        let problem = self.row_problem(0);
        let constraints = problem.map(|problem| problem.geometry().equality_constraints());
        match constraints {
            Ok(EqualityConstraints::None) => Err(self.missing_equality_constraints()),
            _ => Ok(()),
        }
    }

    pub(crate) fn missing_equality_constraints(&self) -> Error {
        let remedy = if self.problem.model_parts().fixed_cost_columns().is_empty() {
            "no equality constraint has predicted costs alone: use S instead of E"
        } else {
            "no equality constraint has predicted costs alone: leave out E; S does not replace it, \
             since the level of predictions matters beside known costs of other columns"
        };
        self.unsupported("equality constraints", remedy)
    }

    /// Checks that the problem has adjacent vertices.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn require_adjacent_vertices(&self) -> Result<()> {
        match self.problem.sensitivity().adjacent_vertices(&self.limits) {
            Some(_) => Ok(()),
            None => {
                Err(self.unsupported("adjacent vertices", "use another loss, such as MAE(O,S)"))
            }
        }
    }

    /// Checks that the problem has normal cones.
    ///
    /// # Errors
    /// When it has none.
    pub(crate) fn require_cones(&self) -> Result<()> {
        if self.problem.geometry().has_cones() {
            Ok(())
        } else {
            Err(self.missing_cones())
        }
    }

    /// The optimum of the relaxation for each row of costs (to be minimized), in row order.
    ///
    /// # Errors
    /// When the problem has no such relaxation or the user interrupts; failures of single instances
    /// are among the results.
    pub fn relax_all(
        &self,
        costs: &Matrix,
        kind: Relaxation,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.relax_rows(costs, &rows, kind, observer)
    }

    /// The optimum of the relaxation for each listed row of costs, in the order of the list.
    ///
    /// # Errors
    /// As [`Self::relax_all`].
    pub fn relax_rows(
        &self,
        costs: &Matrix,
        rows: &[usize],
        kind: Relaxation,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        let read = |index: usize, row: &mut Vec<f64>| costs.read(rows[index], row);
        self.relax_each(rows, read, kind, observer)
    }

    /// The optimum of the relaxation for each row of costs, of which row i belongs to
    /// `instances[i]` of the table.
    ///
    /// # Errors
    /// As [`Self::relax_all`].
    pub(crate) fn relax_instances(
        &self,
        costs: &Matrix,
        instances: &[usize],
        kind: Relaxation,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        let read = |index: usize, row: &mut Vec<f64>| costs.read(index, row);
        self.relax_each(instances, read, kind, observer)
    }

    /// Solves the relaxation of all instances; `read` writes the costs of the instance at an index
    /// into a buffer.
    fn relax_each(
        &self,
        instances: &[usize],
        read: impl Fn(usize, &mut Vec<f64>) + Sync + Send,
        kind: Relaxation,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.require_relaxation(kind)?;
        let mut results: Vec<Option<SolveResult>> = instances.iter().map(|_| None).collect();
        // Empty slots are rows that were not solved: the user interrupted.
        self.solver_threads.fill_slots(
            &mut results,
            || {
                self.solver(SolverKind::Relaxed(kind))
                    .map(|solver| OracleWorker::new(self, Some(solver), WorkerContext::default()))
            },
            |worker, index, slot| {
                if let Some(worker) = worker.as_mut().filter(|_| !observer.interrupted()) {
                    worker.set_instance(instances[index]);
                    let result = worker.solve_with(|row| read(index, row));
                    // An interrupted solve says nothing about the row.
                    if result != Err(SolveFailure::Interrupted) {
                        *slot = Some(result);
                        observer.advance(1);
                    }
                }
            },
        );
        let results: Option<Vec<SolveResult>> = results.into_iter().collect();
        results.ok_or(Error::Interrupted)
    }

    /// Computes the cost ranges of each row of costs (to be minimized) that `is_wanted` by one
    /// solve of the relaxation and passes them to `store` with the row number and the row's slot.
    ///
    /// # Errors
    /// When the problem has no such ranges, a relaxation has no optimum, or the user interrupts.
    pub fn ranges_all<T: Send>(
        &self,
        costs: &Matrix,
        kind: CostRangeKind,
        slots: &mut [T],
        is_wanted: impl Fn(usize) -> bool + Sync + Send,
        store: impl Fn(usize, &CostRanges, &mut T) + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<()> {
        self.require_ranges(kind)?;
        let make =
            |problem: &dyn ProblemKind| problem.sensitivity().cost_ranging(kind, &self.limits);
        let solve = |solver: &mut Box<dyn CostRanging>, costs: &[f64]| solver.ranges(costs);
        let store = |row: usize, ranges: CostRanges, slot: &mut T| store(row, &ranges, slot);
        let rows = RowsOfCosts { costs, is_wanted };
        self.run_on_rows(&rows, slots, make, solve, store, observer)
    }

    /// Computes the relaxed optimum of each row of costs (to be minimized) and the differences to
    /// its adjacent vertices by one solve of the relaxation, and passes them to `store` with the
    /// row number and the row's slot.
    ///
    /// # Errors
    /// When the problem has no adjacent vertices, a relaxation has no optimum, or the user
    /// interrupts.
    pub fn adjacent_vertices_all<T: Send>(
        &self,
        costs: &Matrix,
        slots: &mut [T],
        is_wanted: impl Fn(usize) -> bool + Sync + Send,
        store: impl Fn(usize, Solution, Vec<VertexDelta>, &mut T) + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<()> {
        self.require_adjacent_vertices()?;
        let make =
            |problem: &dyn ProblemKind| problem.sensitivity().adjacent_vertices(&self.limits);
        let solve =
            |solver: &mut Box<dyn AdjacentVertices>, costs: &[f64]| solver.adjacent_vertices(costs);
        let store = |row: usize, result: (Solution, Vec<VertexDelta>), slot: &mut T| {
            store(row, result.0, result.1, slot);
        };
        let rows = RowsOfCosts { costs, is_wanted };
        self.run_on_rows(&rows, slots, make, solve, store, observer)
    }

    /// The normal cone of a decision, computed without a solve.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision) -> Result<NormalCone> {
        self.problem
            .geometry()
            .cone(decision)
            .ok_or_else(|| self.missing_cones())
    }

    pub(super) fn missing_cones(&self) -> Error {
        let remedy = if self.problem.model_parts().auxiliary_names().is_empty() {
            "use another loss, such as MAE(O,S)"
        } else if self.problem.model_parts().fixed_cost_columns().is_empty() {
            "every column of the linear problem would need a predicted cost; use another loss, \
             such as MAE(O,S)"
        } else {
            // The level of predicted costs matters beside known ones, and S ignores it.
            "every column of the linear problem would need a predicted cost; use another loss, \
             such as MAE(O)"
        };
        self.unsupported("the cone of binding constraints", remedy)
    }

    /// Runs one solver per thread on the rows of costs, or one per row if rows have problems of
    /// their own: `make` builds a solver, `solve` runs it on one row, `store` writes its result to
    /// the row's slot.
    fn run_on_rows<S, R, T: Send, W: Fn(usize) -> bool + Sync + Send>(
        &self,
        rows: &RowsOfCosts<'_, W>,
        slots: &mut [T],
        make: impl Fn(&dyn ProblemKind) -> Option<S> + Sync + Send,
        solve: impl Fn(&mut S, &[f64]) -> Result<R, SolveFailure> + Sync + Send,
        store: impl Fn(usize, R, &mut T) + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut outcomes: Vec<Result<()>> = Vec::new();
        // Rows that no thread reaches count as interrupted.
        outcomes.resize_with(slots.len(), || Err(Error::Interrupted));
        let mut pairs: Vec<(&mut T, &mut Result<()>)> =
            slots.iter_mut().zip(&mut outcomes).collect();
        self.solver_threads.fill_slots(
            &mut pairs,
            || (make(self.problem.as_ref()), Vec::new()),
            |(solver, costs_f64), row, (slot, outcome)| {
                let Some(solver) = solver.as_mut().filter(|_| !observer.interrupted()) else {
                    return;
                };
                if !(rows.is_wanted)(row) {
                    **outcome = Ok(());
                    return;
                }
                rows.costs.read(row, costs_f64);
                let prepared = self.prepare_for_row(row, solver, &make);
                let result = prepared.and_then(|()| {
                    self.count_relaxed_solve(costs_f64, |costs| solve(solver, costs))
                });
                **outcome = match result {
                    Ok(result) => {
                        store(row, result, slot);
                        Ok(())
                    }
                    Err(failure) => Err(Error::solver(row, failure)),
                };
                observer.advance(1);
            },
        );
        // The first error by row number, whatever the order of the threads.
        outcomes.into_iter().collect()
    }

    /// Replaces a solver by one of the row's problem, if rows have problems of their own.
    fn prepare_for_row<S>(
        &self,
        row: usize,
        solver: &mut S,
        make: impl Fn(&dyn ProblemKind) -> Option<S>,
    ) -> Result<(), SolveFailure> {
        if self.has_row_problems() {
            let problem = self.row_problem(row)?;
            let missing = || SolveFailure::SolverError("the row's problem has no solver".into());
            *solver = make(problem.as_ref()).ok_or_else(missing)?;
        }
        Ok(())
    }

    /// Counts a solve of the relaxation and runs it.
    fn count_relaxed_solve<R>(
        &self,
        costs: &[f64],
        solve: impl FnOnce(&[f64]) -> Result<R, SolveFailure>,
    ) -> Result<R, SolveFailure> {
        self.counters.count(SolveKind::Relaxed);
        check_costs(costs)?;
        let result = solve(costs)?;
        check_not_stopped()?;
        Ok(result)
    }

    fn missing_ranges(&self, kind: CostRangeKind) -> Error {
        let has_ranges = |kind| {
            self.problem
                .sensitivity()
                .cost_ranging(kind, &self.limits)
                .is_some()
        };
        match kind {
            CostRangeKind::Basis if has_ranges(CostRangeKind::Exact) => self.unsupported(
                "cost ranges of a basis",
                "use O_S(exact) instead of O_S, or build with HiGHS",
            ),
            CostRangeKind::Exact if has_ranges(CostRangeKind::Basis) => {
                self.unsupported("exact cost ranges", "use O_S instead of O_S(exact)")
            }
            CostRangeKind::Basis | CostRangeKind::Exact => {
                self.unsupported("cost ranges", "use O instead of O_S")
            }
        }
    }

    /// The error for a capability that this problem lacks; the caller may add the method's name.
    pub(super) fn unsupported(&self, capability: &'static str, remedy: &str) -> Error {
        Error::Capability {
            method: "this method".to_owned(),
            capability,
            problem: self.problem.name(),
            remedy: remedy.to_owned(),
        }
    }
}
