//! One thread's handle to an oracle.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::row::RowState;
use super::counts::SolveKind;
use super::unpredicted::has_unpredicted;
use super::warm_start_store::{WarmStartSlot, WarmStartStore};
use super::worker_solver::WorkerSolver;
use super::{
    CacheAction, CompleteResult, Oracle, OracleSettings, SolutionPool, SolveResult, check_costs,
};
use crate::cancellation;
use crate::data::CostNames;
use crate::decision::Decision;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::solve::cone::NormalCone;
use crate::solve::{Solution, SolveFailure, SolveStatus};

mod pool;
mod row;

thread_local! {
    /// The last solution of the thread's previous worker; its allocations are reused.
    static SPARE_SOLUTION: RefCell<Solution> = RefCell::new(Solution::empty());
}

fn take_spare_solution() -> Solution {
    SPARE_SOLUTION.with(|spare| spare.replace(Solution::empty()))
}

/// Handles the solver calls of one thread; its solver is returned to the oracle when dropped.
pub struct OracleWorker<'a> {
    oracle: &'a Oracle,
    /// Present until dropped.
    solver: Option<WorkerSolver>,
    context: WorkerContext<'a>,
    cache_action: CacheAction,
    /// The warm start of the next solver call, if an instance was set.
    slot: Option<WarmStartSlot>,
    /// Decisions solved since the last [`Self::take_solved`], if there is a pool.
    solved: Vec<Decision>,
    /// The row whose problem is solved, if rows have problems of their own.
    row: RowState,
    /// Costs converted to double precision.
    costs_f64: Vec<f64>,
    /// The latest solution; the next one reuses its allocations.
    solution: Solution,
}

/// What a worker uses beside its solver.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WorkerContext<'a> {
    pub(super) settings: OracleSettings,
    pub(super) pool: Option<&'a SolutionPool>,
    pub(super) store: Option<&'a WarmStartStore>,
    /// The names of the costs, if NaN is a cost without a prediction.
    pub(super) unpredicted: Option<&'a CostNames>,
}

impl<'a> OracleWorker<'a> {
    pub(super) fn new(
        oracle: &'a Oracle,
        solver: Option<WorkerSolver>,
        context: WorkerContext<'a>,
    ) -> Self {
        let row = RowState {
            has_comparable_pool: context.pool.is_some_and(SolutionPool::has_one_fixed_cost),
            ..RowState::default()
        };
        Self {
            oracle,
            solver,
            context,
            cache_action: CacheAction::Solve,
            slot: None,
            solved: Vec::new(),
            row,
            costs_f64: Vec::new(),
            solution: take_spare_solution(),
        }
    }

    /// The problem that is solved: that of the current row, if rows have problems of their own.
    pub fn problem(&self) -> &dyn ProblemKind {
        match &self.row.problem {
            Some(Ok(problem)) => problem.as_ref(),
            _ => self.oracle.problem.as_ref(),
        }
    }

    /// The problem that is solved, shared.
    pub(super) fn row_problem(&self) -> Result<Arc<dyn ProblemKind>, SolveFailure> {
        match &self.row.problem {
            Some(problem) => problem.clone(),
            None => Ok(Arc::clone(&self.oracle.problem)),
        }
    }

    /// The oracle that the worker belongs to.
    pub(super) fn oracle(&self) -> &'a Oracle {
        self.oracle
    }

    /// Counts a decision that another oracle made for this one.
    pub(super) fn count_decision(&self) {
        let kind = self
            .solver
            .as_ref()
            .map_or(SolveKind::Exact, WorkerSolver::kind);
        self.oracle.counters.count(kind);
    }

    /// Sets whether the following solver calls are solved or looked up in the solution pool.
    pub(crate) fn set_cache_action(&mut self, cache_action: CacheAction) {
        self.cache_action = cache_action;
    }

    /// Sets the row of the table that the following solver calls belong to; they use its warm
    /// starts. Only one thread at a time may work on a row.
    pub fn set_instance(&mut self, instance: usize) {
        self.set_instance_call(instance, 0);
    }

    /// As [`Self::set_instance`], after this many solver calls of the row in its training step.
    pub(crate) fn set_instance_call(&mut self, instance: usize, call_index: usize) {
        self.slot = Some(WarmStartSlot {
            instance,
            call_index,
        });
        // The row's problem is built only if rows differ, and only when the row changes.
        if self.oracle.has_row_problems() && self.row.instance != Some(instance) {
            self.enter_row(instance);
        }
    }

    /// The decisions solved since the last call, for the pool.
    pub fn take_solved(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.solved)
    }

    /// The solution for a row of single-precision costs.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_row(&mut self, costs: &[f32]) -> SolveResult {
        self.solve_with(|costs_f64| {
            costs_f64.clear();
            costs_f64.extend(costs.iter().map(|cost| f64::from(*cost)));
        })
    }

    /// The solution for the costs that `read` writes into a buffer.
    pub(super) fn solve_with(&mut self, read: impl FnOnce(&mut Vec<f64>)) -> SolveResult {
        // Taken out, as the solver borrows the worker.
        let mut costs = std::mem::take(&mut self.costs_f64);
        read(&mut costs);
        let result = self.solve(&costs);
        self.costs_f64 = costs;
        result
    }

    /// The solution for these costs: solved, counted and checked, or the cheapest of the pool.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve(&mut self, costs: &[f64]) -> SolveResult {
        self.solve_ref(costs)?;
        Ok(std::mem::replace(&mut self.solution, Solution::empty()))
    }

    /// As [`Self::solve`], with the values of all columns: those of the decision, followed by the
    /// columns without predicted costs (`ModelParts::auxiliary_names`). Both belong to one
    /// solution and are checked together.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_complete(&mut self, costs: &[f64]) -> CompleteResult {
        if let Some(names) = self.context.unpredicted
            && has_unpredicted(costs)
        {
            return self.solve_complete_without(costs, names);
        }
        let solution = self.solve(costs)?;
        // Most problems have no other columns.
        let problem = self.problem();
        if problem.model_parts().auxiliary_names().is_empty() {
            let complete = solution.decision.clone();
            return Ok((solution, complete));
        }
        let auxiliary = self
            .solver
            .as_ref()
            .map(WorkerSolver::auxiliary_values)
            .unwrap_or_default();
        problem
            .check_complete(&solution.decision, &auxiliary)
            .map_err(SolveFailure::InvalidSolution)?;
        let others = (problem.num_costs() as u32..).zip(auxiliary);
        let entries = solution
            .decision
            .iter()
            .map(|(column, value)| (column as u32, value))
            .chain(others.filter(|(_, value)| *value != 0.0));
        let complete = Decision::from_entries(entries).with_fixed(solution.decision.fixed());
        Ok((solution, complete))
    }

    /// As [`Self::solve`]; the solution stays in the worker until the next solver call.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_ref(&mut self, costs: &[f64]) -> Result<&Solution, SolveFailure> {
        self.solve_from(costs, None)
    }

    /// As [`Self::solve_ref`]; a local search may start from this decision.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_from(
        &mut self,
        costs: &[f64],
        start: Option<&Decision>,
    ) -> Result<&Solution, SolveFailure> {
        // A cost that is not finite is an error, unless it stands for one without a prediction.
        if let Err(failure) = check_costs(costs) {
            return match self.context.unpredicted {
                Some(names) if has_unpredicted(costs) => {
                    (self.solution, _) = self.solve_complete_without(costs, names)?;
                    Ok(&self.solution)
                }
                Some(_) | None => Err(failure),
            };
        }
        let is_found = self.cache_action == CacheAction::Lookup && self.lookup(costs)?;
        if !is_found {
            self.solve_uncached(costs, start)?;
            if self.context.pool.is_some() {
                self.solved.push(self.solution.decision.clone());
            }
        }
        Ok(&self.solution)
    }

    /// As [`Self::solve_from`], for losses that are defined by the least cost of a decision. If the
    /// costs leave no optimal decision, the solution is the optimum of a relaxation, whose cost is
    /// a bound ([`crate::solve::Solver::relax_unproven`]).
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn minimize_from(
        &mut self,
        costs: &[f64],
        start: &Decision,
    ) -> Result<&Solution, SolveFailure> {
        self.solve_from(costs, Some(start))?;
        // A decision of the pool is not proven either, but is what the cache asked for.
        let is_solved = self.cache_action == CacheAction::Solve;
        if is_solved
            && self.solution.status == SolveStatus::LimitReached
            && let Some(solver) = &mut self.solver
            && let Some(relaxed) = solver.relax_unproven(costs)
        {
            self.oracle.counters.count(SolveKind::Relaxed);
            self.solution = relaxed?;
        }
        Ok(&self.solution)
    }

    /// The normal cone of a decision: the costs for which it is optimal.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision) -> Result<NormalCone> {
        self.problem()
            .geometry()
            .cone(decision)
            .ok_or_else(|| self.oracle.missing_cones())
    }

    /// The value of `projection` on the normal cone of a decision, counted as a projection.
    ///
    /// # Errors
    /// When the problem has no cones.
    pub fn project<T>(
        &self,
        decision: &Decision,
        projection: impl FnOnce(&NormalCone) -> T,
    ) -> Result<T> {
        let cone = self.cone(decision)?;
        self.oracle.counters.count(SolveKind::Projection);
        Ok(projection(&cone))
    }

    /// Solves, checks the decision of an exact or heuristic solver and recomputes its objective.
    fn solve_uncached(
        &mut self,
        costs: &[f64],
        start: Option<&Decision>,
    ) -> Result<(), SolveFailure> {
        // Taken, since the solver and the rest of the worker are used at the same time.
        let mut solver = self.take_solver()?;
        let deadline = self.oracle.limits.seconds.map(|seconds| {
            // A limit beyond the range of the clock is none.
            let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            Instant::now()
                .checked_add(limit)
                .map(cancellation::enter_deadline)
        });
        let outcome = self.run_solver(&mut solver, costs, start);
        drop(deadline);
        if let Some(slot) = &mut self.slot {
            slot.call_index += 1;
        }
        // Relaxed points are not decisions: the check of these would refuse them.
        let is_integral = !matches!(solver, WorkerSolver::Relaxed(..));
        let work = solver.work().unwrap_or(0);
        self.solver = Some(solver);
        if work > 0 {
            self.oracle.counters.add_work(work);
        }
        if cancellation::is_canceled() && !self.oracle.keeps_incumbents {
            // The incumbent of a canceled search is not the result of the search.
            return Err(SolveFailure::Interrupted);
        }
        match outcome {
            // Only a time limit stops a search that was not canceled.
            Err(SolveFailure::Interrupted) if !cancellation::is_canceled() => {
                return Err(SolveFailure::TimeLimitReached);
            }
            outcome => outcome.map_err(|failure| self.explain(failure, costs))?,
        }
        self.solution.work = work;
        // The check shares no code with the solver, and the objective does not inherit the solver's
        // rounding.
        if is_integral {
            self.problem()
                .check(&self.solution.decision)
                .map_err(SolveFailure::InvalidSolution)?;
            self.solution.objective =
                self.oracle
                    .objective(self.problem(), &self.solution.decision, costs);
        }
        Ok(())
    }

    /// Counts and runs one solve, warm if the settings say so, and records its time if several
    /// threads work.
    fn run_solver(
        &mut self,
        solver: &mut WorkerSolver,
        costs: &[f64],
        start: Option<&Decision>,
    ) -> Result<(), SolveFailure> {
        let Some((store, slot)) = self.context.store.zip(self.slot) else {
            self.oracle.counters.count(solver.kind());
            return solver.solve_into(costs, start, &mut self.solution);
        };
        // Times balance the work among threads; one thread needs none.
        let started = (self.oracle.solver_threads.count() > 1).then(Instant::now);
        let outcome = if self.context.settings.uses_warm_starts() {
            self.solve_warm(solver, costs, store, slot)
                .map(|solution| self.solution = solution)
        } else {
            self.oracle.counters.count(solver.kind());
            solver.solve_into(costs, start, &mut self.solution)
        };
        if let Some(started) = started {
            store.record_seconds(slot, started.elapsed().as_secs_f32());
        }
        outcome
    }

    /// Certifies the instance's previous decision, or solves from its warm start.
    fn solve_warm(
        &self,
        solver: &mut WorkerSolver,
        costs: &[f64],
        store: &WarmStartStore,
        slot: WarmStartSlot,
    ) -> SolveResult {
        let mut warm_start = store.take(slot);
        if self.context.settings.certify
            && let Some(solution) = solver.certify(costs, &warm_start)
        {
            self.oracle.counters.count(SolveKind::Certified);
            store.store(slot, warm_start);
            return Ok(solution);
        }
        // Certificates are kept, warm starts are not used.
        if !self.context.settings.warm {
            warm_start.clear();
        }
        self.oracle.counters.count(solver.kind());
        let result = solver.solve_warm(costs, &mut warm_start);
        // After a failure the state may be inconsistent: the next solve starts cold.
        if result.is_ok() {
            store.store(slot, warm_start);
        }
        result
    }
}

impl Drop for OracleWorker<'_> {
    fn drop(&mut self) {
        if let Some(solver) = self.solver.take() {
            // The solver of a row is not one for any row: the next worker makes it its own.
            self.oracle.return_solver(solver);
        }
        let solution = std::mem::replace(&mut self.solution, Solution::empty());
        // Fails on a thread that is exiting, where nothing needs to be kept.
        let _ = SPARE_SOLUTION.try_with(|spare| spare.replace(solution));
    }
}
