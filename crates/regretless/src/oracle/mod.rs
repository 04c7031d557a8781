//! The one front of all engines: whole tables of costs in, decisions out, every solve counted.
//!
//! An oracle knows how many threads may work and how far a search may go, checks each answer with
//! code of its own, and keeps idle engines for the next batch. One failed instance does not stop
//! the others; its place in the answers says why. `facts` asks linear relaxations the same way.
//!
//! During training an [`Answering`] stands between losses and oracle: by its [`OracleSettings`] a question is
//! solved, answered from the linear relaxation, or answered from a [`Pool`] of known decisions.

use std::sync::{Arc, Mutex, PoisonError};

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::parallel::Threads;
use crate::problem::Problem;
use crate::solve::relax::Relaxation;
use crate::solve::{Failure, Limits, Solution};
use crate::watch::Watch;

mod answering;
mod asker;
mod counts;
mod facts;
mod pool;
mod settings;

pub use answering::{Answering, Occasion, Turn};
pub use asker::Asker;
pub use counts::SolveCounts;
pub use pool::Pool;
pub use settings::{Cache, Coin, OracleSettings};

use asker::Engine;
use counts::Counters;

/// What an oracle says about one cost vector.
pub type Answer = std::result::Result<Solution, Failure>;

/// Solves a problem for many cost vectors.
pub struct Oracle {
    problem: Arc<dyn Problem>,
    limits: Limits,
    threads: Threads,
    counters: Counters,
    idle: Mutex<Vec<Engine>>,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Oracle");
        shown.field("problem", &self.problem).field("limits", &self.limits);
        shown.field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Oracle {
    /// An oracle on the calling thread with the default limits.
    pub fn new(problem: Arc<dyn Problem>) -> Self {
        Self {
            problem,
            limits: Limits::default(),
            threads: Threads::one(),
            counters: Counters::default(),
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

    /// Solves done so far, by kind.
    pub fn counts(&self) -> SolveCounts {
        self.counters.read()
    }

    /// An engine for the calling thread; it goes back when dropped.
    pub fn asker(&self) -> Asker<'_> {
        Asker::new(self, Some(self.engine()), None)
    }

    /// An engine for the problem itself, an idle one if there is one.
    fn engine(&self) -> Engine {
        let idle = self.idle_engine(|engine| matches!(engine, Engine::Exact(_)));
        idle.unwrap_or_else(|| Engine::Exact(self.problem.solver(&self.limits)))
    }

    /// An engine for this relaxation, if the problem has it.
    fn relaxing_engine(&self, kind: Relaxation) -> Option<Engine> {
        let idle = self.idle_engine(|engine| matches!(engine, Engine::Relaxed(other, _) if *other == kind));
        idle.or_else(|| self.problem.relaxer(kind, &self.limits).map(|relaxer| Engine::Relaxed(kind, relaxer)))
    }

    fn idle_engine(&self, fits: impl Fn(&Engine) -> bool) -> Option<Engine> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().rposition(fits).map(|place| idle.swap_remove(place))
    }

    /// Keeps an engine for whoever asks next.
    fn take_back(&self, engine: Engine) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(engine);
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
        self.solve_each(costs, rows, watch, |_, _| ())
    }

    /// The same; `done` hears of each row and its answer as soon as it is there, on whichever thread.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_each(
        &self,
        costs: &Matrix,
        rows: &[usize],
        watch: &dyn Watch,
        done: impl Fn(usize, &Answer) + Sync + Send,
    ) -> Result<Vec<Answer>> {
        let mut answers: Vec<Option<Answer>> = rows.iter().map(|_| None).collect();
        self.threads.fill(
            &mut answers,
            || self.asker(),
            |asker, index, slot| {
                if !watch.interrupted() {
                    done(rows[index], slot.insert(asker.solve_row(costs.row(rows[index]))));
                    watch.advance(1);
                }
            },
        );
        answers.into_iter().collect::<Option<_>>().ok_or(Error::Interrupted)
    }
}

/// Engines may take for granted that costs are numbers.
fn check_finite(costs: &[f64]) -> std::result::Result<(), Failure> {
    match costs.iter().position(|cost| !cost.is_finite()) {
        Some(bad) => Err(Failure::Engine(format!("cost {bad} is not finite"))),
        None => Ok(()),
    }
}
