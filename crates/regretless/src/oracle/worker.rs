//! One thread's access to an oracle.

use std::cell::RefCell;
use std::time::Instant;

use super::counts::SolveKind;
use super::warm_start_store::{WarmStartSlot, WarmStartStore};
use super::worker_solver::{SolverCall, WorkerSolver};
use super::{CacheAction, Oracle, OracleSettings, SolutionPool, SolveResult, check_costs};
use crate::decision::Decision;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::solve::cone::NormalCone;
use crate::solve::{Solution, SolveFailure, SolveStatus, check_not_cancelled};

thread_local! {
    /// The last answer of the asker before, for its memory.
    static SPARE_SOLUTION: RefCell<Solution> = RefCell::new(Solution::empty());
}

fn take_spare_solution() -> Solution {
    SPARE_SOLUTION.with(|spare| spare.replace(Solution::empty()))
}

/// Asks an oracle; the engine goes back when dropped.
pub struct OracleWorker<'a> {
    oracle: &'a Oracle,
    /// Present until dropped.
    solver: Option<WorkerSolver>,
    context: WorkerContext<'a>,
    cache_action: CacheAction,
    /// What the next call_index is about, if somebody said so.
    slot: Option<WarmStartSlot>,
    /// What was solved since the last time somebody took it, if there is a pool.
    solved: Vec<Decision>,
    widened: Vec<f64>,
    /// The latest answer, whose memory the next one uses.
    answer: Solution,
}

/// What an asker may look at beside its engine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WorkerContext<'a> {
    pub(super) settings: OracleSettings,
    pub(super) pool: Option<&'a SolutionPool>,
    pub(super) store: Option<&'a WarmStartStore>,
}

impl<'a> OracleWorker<'a> {
    pub(super) fn new(
        oracle: &'a Oracle,
        solver: Option<WorkerSolver>,
        context: WorkerContext<'a>,
    ) -> Self {
        let (solved, widened) = (Vec::new(), Vec::new());
        Self {
            oracle,
            solver,
            context,
            cache_action: CacheAction::Solve,
            slot: None,
            solved,
            widened,
            answer: take_spare_solution(),
        }
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &dyn ProblemKind {
        self.oracle.problem.as_ref()
    }

    /// The decisions known so far; none where nobody keeps a pool.
    pub fn pool_decisions(&self) -> &'a [Decision] {
        self.context.pool.map_or(&[], SolutionPool::decisions)
    }

    /// From now on questions are solved or answered from the pool.
    pub fn set_cache_action(&mut self, cache_action: CacheAction) {
        self.cache_action = cache_action;
    }

    /// From now on questions are about this row of the table; what is remembered of it may help.
    /// One thread at a time asks about a row.
    pub fn set_instance(&mut self, instance: usize) {
        self.slot = Some(WarmStartSlot {
            instance,
            call_index: 0,
        });
    }

    /// What was solved since the last call, for the pool.
    pub fn take_solved(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.solved)
    }

    /// The best decision for a row of single-precision costs.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_row(&mut self, costs: &[f32]) -> SolveResult {
        self.solve_with(|widened| {
            widened.clear();
            widened.extend(costs.iter().map(|cost| f64::from(*cost)));
        })
    }

    /// The best decision for the costs that `read` writes over a row.
    pub(super) fn solve_with(&mut self, read: impl FnOnce(&mut Vec<f64>)) -> SolveResult {
        let mut costs = std::mem::take(&mut self.widened);
        read(&mut costs);
        let answer = self.solve(&costs);
        self.widened = costs;
        answer
    }

    /// The answer for these costs: solved, counted and checked, or the cheapest known decision.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve(&mut self, costs: &[f64]) -> SolveResult {
        self.solve_ref(costs)?;
        Ok(std::mem::replace(&mut self.answer, Solution::empty()))
    }

    /// The same answer, kept here until the next call_index.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_ref(&mut self, costs: &[f64]) -> Result<&Solution, SolveFailure> {
        self.solve_from(costs, None)
    }

    /// The same, where a search that goes downhill may start from this decision.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_from(
        &mut self,
        costs: &[f64],
        start: Option<&Decision>,
    ) -> Result<&Solution, SolveFailure> {
        check_costs(costs)?;
        match self.cache_action {
            CacheAction::Lookup => self.lookup(costs)?,
            CacheAction::Solve => {
                self.solve_uncached((costs, start))?;
                if self.context.pool.is_some() {
                    self.solved.push(self.answer.decision.clone());
                }
            }
        }
        Ok(&self.answer)
    }

    /// The cone of costs that keep a decision best; `method` is who asks.
    ///
    /// # Errors
    /// When the problem has none.
    pub fn cone(&self, decision: &Decision, method: &str) -> Result<NormalCone> {
        self.oracle.cone(decision, method)
    }

    /// What `how` makes of the cone of a decision, counted as a projection.
    ///
    /// # Errors
    /// When the problem has no cones.
    pub fn project<T>(
        &self,
        decision: &Decision,
        method: &str,
        how: impl FnOnce(&NormalCone) -> T,
    ) -> Result<T> {
        let cone = self.cone(decision, method)?;
        self.oracle.counters.count(SolveKind::Projection);
        Ok(how(&cone))
    }

    fn lookup(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        self.oracle.counters.count(SolveKind::CacheHit);
        let (cheapest, objective) = self
            .context
            .pool
            .and_then(|pool| pool.cheapest(costs))
            .ok_or(SolveFailure::NothingKnown)?;
        self.answer.decision.clone_from(cheapest);
        self.answer.objective = objective;
        self.answer.bound = f64::NEG_INFINITY;
        self.answer.status = SolveStatus::LimitReached;
        Ok(())
    }

    fn solve_uncached(&mut self, (costs, start): SolverCall<'_>) -> Result<(), SolveFailure> {
        let Some(mut solver) = self.solver.take() else {
            return Err(SolveFailure::Engine("the engine is gone".into()));
        };
        let outcome = match self.context.store.zip(self.slot) {
            Some(place) => self.solve_timed(&mut solver, (costs, start), place),
            None => self.solve_cold(&mut solver, (costs, start)),
        };
        if let Some(slot) = &mut self.slot {
            slot.call_index += 1;
        }
        let exact = !matches!(solver, WorkerSolver::Relaxed(..));
        let work = solver.work().unwrap_or(0);
        self.solver = Some(solver);
        if work > 0 {
            self.oracle.counters.add_work(work);
        }
        outcome?;
        // What a cancelled search found so far is not what it would have found.
        check_not_cancelled()?;
        self.answer.work = work;
        if exact {
            self.oracle
                .problem
                .check(&self.answer.decision)
                .map_err(SolveFailure::WrongAnswer)?;
            self.answer.objective = self.answer.decision.dot(costs);
        }
        Ok(())
    }

    fn solve_cold(
        &mut self,
        solver: &mut WorkerSolver,
        call_index: SolverCall<'_>,
    ) -> Result<(), SolveFailure> {
        self.oracle.counters.count(solver.kind());
        solver.solve_into(call_index, &mut self.answer)
    }

    /// Solves and notes how long it took, if more than one thread works.
    fn solve_timed(
        &mut self,
        solver: &mut WorkerSolver,
        call_index: SolverCall<'_>,
        place: (&WarmStartStore, WarmStartSlot),
    ) -> Result<(), SolveFailure> {
        let started = (self.oracle.solver_threads.count() > 1).then(Instant::now);
        let outcome = if self.context.settings.uses_warm_starts() {
            self.solve_warm(solver, call_index.0, place)
                .map(|solution| self.answer = solution)
        } else {
            self.solve_cold(solver, call_index)
        };
        if let Some(started) = started {
            place
                .0
                .record_seconds(place.1, started.elapsed().as_secs_f32());
        }
        outcome
    }

    fn solve_warm(
        &self,
        solver: &mut WorkerSolver,
        costs: &[f64],
        (store, slot): (&WarmStartStore, WarmStartSlot),
    ) -> SolveResult {
        let mut warm_start = store.take(slot);
        if self.context.settings.certify
            && let Some(solution) = solver.certify(costs, &warm_start)
        {
            self.oracle.counters.count(SolveKind::Certified);
            store.store(slot, warm_start);
            return Ok(solution);
        }
        if !self.context.settings.warm {
            warm_start.clear();
        }
        self.oracle.counters.count(solver.kind());
        let answer = solver.solve_again(costs, &mut warm_start);
        if answer.is_ok() {
            store.store(slot, warm_start);
        }
        answer
    }
}

impl Drop for OracleWorker<'_> {
    fn drop(&mut self) {
        if let Some(solver) = self.solver.take() {
            self.oracle.return_solver(solver);
        }
        let answer = std::mem::replace(&mut self.answer, Solution::empty());
        // A thread that is ending has no place left to keep it.
        let _ = SPARE_SOLUTION.try_with(|spare| spare.replace(answer));
    }
}
