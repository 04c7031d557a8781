//! The one front of all engines: whole tables of costs in, decisions out, every solve counted.
//!
//! An oracle knows how many threads may work and how far a search may go, checks each answer with
//! code of its own, and keeps idle engines for the next batch. One failed instance does not stop
//! the others; its place in the answers says why.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::parallel::Threads;
use crate::problem::Problem;
use crate::solve::relax::{RangeKind, Ranges};
use crate::solve::{Failure, Limits, Solution, Solver};
use crate::watch::Watch;

/// What an oracle says about one cost vector.
pub type Answer = std::result::Result<Solution, Failure>;

/// Solves a problem for many cost vectors.
pub struct Oracle {
    problem: Arc<dyn Problem>,
    limits: Limits,
    threads: Threads,
    solves: AtomicU64,
    relaxed: AtomicU64,
    idle: Mutex<Vec<Box<dyn Solver>>>,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Oracle");
        shown.field("problem", &self.problem).field("limits", &self.limits);
        shown.field("solves", &self.solves()).finish_non_exhaustive()
    }
}

impl Oracle {
    /// An oracle on the calling thread with the default limits.
    pub fn new(problem: Arc<dyn Problem>) -> Self {
        Self {
            problem,
            limits: Limits::default(),
            threads: Threads::one(),
            solves: AtomicU64::new(0),
            relaxed: AtomicU64::new(0),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The same oracle on these threads.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The same oracle with these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self.idle = Mutex::new(Vec::new());
        self
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &Arc<dyn Problem> {
        &self.problem
    }

    /// How far a search may go.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The threads that solve.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Exact solves done so far.
    pub fn solves(&self) -> u64 {
        self.solves.load(Ordering::Relaxed)
    }

    /// Solves of the linear relaxation done so far.
    pub fn relaxed_solves(&self) -> u64 {
        self.relaxed.load(Ordering::Relaxed)
    }

    /// Cost ranges of each row of costs (to be minimised), each handed to `keep` with its row number
    /// and slot; one solve of the relaxation per row.
    ///
    /// # Errors
    /// When the problem has no such ranges, a relaxation has no optimum, or the user interrupts.
    pub fn ranges_all<T: Send>(
        &self,
        (costs, kind): (&Matrix, RangeKind),
        slots: &mut [T],
        keep: impl Fn(usize, &Ranges, &mut T) + Sync + Send,
        (method, watch): (&str, &dyn Watch),
    ) -> Result<()> {
        let ranger = || self.problem.ranger(kind, &self.limits);
        if ranger().is_none() {
            return Err(self.missing(method, "cost ranges", "use O instead of O_S, or another problem"));
        }
        let mut failures: Vec<Result<()>> = Vec::new();
        failures.resize_with(slots.len(), || Ok(()));
        let mut pairs: Vec<(&mut T, &mut Result<()>)> = slots.iter_mut().zip(&mut failures).collect();
        self.threads.fill(
            &mut pairs,
            || (ranger(), Vec::new()),
            |(ranger, widened), row, (slot, failure)| {
                let Some(ranger) = ranger.as_mut().filter(|_| !watch.interrupted()) else {
                    **failure = Err(Error::Interrupted);
                    return;
                };
                widened.clear();
                widened.extend(costs.row(row).iter().map(|cost| f64::from(*cost)));
                self.relaxed.fetch_add(1, Ordering::Relaxed);
                match ranger.ranges(widened) {
                    Ok(ranges) => keep(row, &ranges, slot),
                    Err(failure_found) => **failure = Err(Error::Solver { instance: row, failure: failure_found }),
                }
                watch.advance(1);
            },
        );
        failures.into_iter().collect()
    }

    /// The error for something this problem does not offer.
    fn missing(&self, method: &str, capability: &'static str, instead: &str) -> Error {
        Error::Capability {
            method: method.to_owned(),
            capability,
            problem: self.problem.name(),
            instead: instead.to_owned(),
        }
    }

    /// An engine for the calling thread; it goes back when dropped.
    pub fn asker(&self) -> Asker<'_> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let solver = kept.unwrap_or_else(|| self.problem.solver(&self.limits));
        Asker { oracle: self, solver: Some(solver), widened: Vec::new() }
    }

    /// The best decision for each row of costs (to be minimised), in the order of the rows.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_all(&self, costs: &Matrix, watch: &dyn Watch) -> Result<Vec<Answer>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.solve_rows(costs, &rows, watch)
    }

    /// The best decision for each of the listed rows of costs, in the order of the list.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_rows(&self, costs: &Matrix, rows: &[usize], watch: &dyn Watch) -> Result<Vec<Answer>> {
        let mut answers: Vec<Option<Answer>> = rows.iter().map(|_| None).collect();
        self.threads.fill(
            &mut answers,
            || self.asker(),
            |asker, index, slot| {
                if !watch.interrupted() {
                    *slot = Some(asker.solve_row(costs.row(rows[index])));
                    watch.advance(1);
                }
            },
        );
        answers.into_iter().collect::<Option<_>>().ok_or(Error::Interrupted)
    }
}

/// One thread's access to an oracle.
pub struct Asker<'a> {
    oracle: &'a Oracle,
    /// Present until dropped.
    solver: Option<Box<dyn Solver>>,
    widened: Vec<f64>,
}

impl Asker<'_> {
    /// The problem that is solved.
    pub fn problem(&self) -> &dyn Problem {
        self.oracle.problem.as_ref()
    }

    /// The best decision for a row of single-precision costs.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve_row(&mut self, costs: &[f32]) -> Answer {
        let mut widened = std::mem::take(&mut self.widened);
        widened.clear();
        widened.extend(costs.iter().map(|cost| f64::from(*cost)));
        let answer = self.solve(&widened);
        self.widened = widened;
        answer
    }

    /// The best decision for these costs, counted and checked.
    ///
    /// # Errors
    /// When there is none.
    pub fn solve(&mut self, costs: &[f64]) -> Answer {
        self.oracle.solves.fetch_add(1, Ordering::Relaxed);
        let Some(solver) = self.solver.as_mut() else {
            return Err(Failure::Engine("the engine is gone".into()));
        };
        if let Some(bad) = costs.iter().position(|cost| !cost.is_finite()) {
            return Err(Failure::Engine(format!("cost {bad} is not finite")));
        }
        let mut solution = solver.solve(costs)?;
        self.problem().check(&solution.decision).map_err(Failure::WrongAnswer)?;
        solution.objective = solution.decision.dot(costs);
        Ok(solution)
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        if let Some(solver) = self.solver.take() {
            self.oracle.idle.lock().unwrap_or_else(PoisonError::into_inner).push(solver);
        }
    }
}
