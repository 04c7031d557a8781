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
    engine: Option<WorkerSolver>,
    help: WorkerContext<'a>,
    turn: CacheAction,
    /// What the next question is about, if somebody said so.
    spot: Option<WarmStartSlot>,
    /// What was solved since the last time somebody took it, if there is a pool.
    found: Vec<Decision>,
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
        engine: Option<WorkerSolver>,
        help: WorkerContext<'a>,
    ) -> Self {
        let (found, widened) = (Vec::new(), Vec::new());
        Self {
            oracle,
            engine,
            help,
            turn: CacheAction::Solve,
            spot: None,
            found,
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
        self.help.pool.map_or(&[], SolutionPool::decisions)
    }

    /// From now on questions are solved or answered from the pool.
    pub fn set_cache_action(&mut self, turn: CacheAction) {
        self.turn = turn;
    }

    /// From now on questions are about this row of the table; what is remembered of it may help.
    /// One thread at a time asks about a row.
    pub fn set_instance(&mut self, instance: usize) {
        self.spot = Some(WarmStartSlot {
            instance,
            question: 0,
        });
    }

    /// What was solved since the last call, for the pool.
    pub fn take_solved(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.found)
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

    /// The same answer, kept here until the next question.
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
        match self.turn {
            CacheAction::Lookup => self.lookup(costs)?,
            CacheAction::Solve => {
                self.solve_uncached((costs, start))?;
                if self.help.pool.is_some() {
                    self.found.push(self.answer.decision.clone());
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
            .help
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
        let Some(mut engine) = self.engine.take() else {
            return Err(SolveFailure::Engine("the engine is gone".into()));
        };
        let outcome = match self.help.store.zip(self.spot) {
            Some(place) => self.solve_timed(&mut engine, (costs, start), place),
            None => self.solve_cold(&mut engine, (costs, start)),
        };
        if let Some(spot) = &mut self.spot {
            spot.question += 1;
        }
        let exact = !matches!(engine, WorkerSolver::Relaxed(..));
        let work = engine.work().unwrap_or(0);
        self.engine = Some(engine);
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
        engine: &mut WorkerSolver,
        question: SolverCall<'_>,
    ) -> Result<(), SolveFailure> {
        self.oracle.counters.count(engine.kind());
        engine.solve_into(question, &mut self.answer)
    }

    /// Solves and notes how long it took, if more than one thread works.
    fn solve_timed(
        &mut self,
        engine: &mut WorkerSolver,
        question: SolverCall<'_>,
        place: (&WarmStartStore, WarmStartSlot),
    ) -> Result<(), SolveFailure> {
        let started = (self.oracle.solver_threads.count() > 1).then(Instant::now);
        let outcome = if self.help.settings.uses_warm_starts() {
            self.solve_warm(engine, question.0, place)
                .map(|solution| self.answer = solution)
        } else {
            self.solve_cold(engine, question)
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
        engine: &mut WorkerSolver,
        costs: &[f64],
        (store, spot): (&WarmStartStore, WarmStartSlot),
    ) -> SolveResult {
        let mut memory = store.take(spot);
        if self.help.settings.certify
            && let Some(solution) = engine.certify(costs, &memory)
        {
            self.oracle.counters.count(SolveKind::Certified);
            store.store(spot, memory);
            return Ok(solution);
        }
        if !self.help.settings.warm {
            memory.clear();
        }
        self.oracle.counters.count(engine.kind());
        let answer = engine.solve_again(costs, &mut memory);
        if answer.is_ok() {
            store.store(spot, memory);
        }
        answer
    }
}

impl Drop for OracleWorker<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            self.oracle.return_solver(engine);
        }
        let answer = std::mem::replace(&mut self.answer, Solution::empty());
        // A thread that is ending has no place left to keep it.
        let _ = SPARE_SOLUTION.try_with(|spare| spare.replace(answer));
    }
}
