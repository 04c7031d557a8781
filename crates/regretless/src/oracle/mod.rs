//! The one front of all engines: whole tables of costs in, decisions out, every solve counted.
//!
//! An oracle knows how many threads may work and how far a search may go, checks each answer with
//! code of its own, and keeps idle engines for the next batch. One failed instance does not stop
//! the others; its place in the answers says why. `facts` asks linear relaxations the same way.
//!
//! During training an [`TrainingOracle`] stands between losses and oracle: by its [`OracleSettings`] a
//! question is solved, answered from the linear relaxation, by a heuristic, or from a [`Pool`] of
//! known decisions. What was found for a row of the table may help with its next question
//! (`store`); it changes how long an answer takes and not what the answer is, up to ties and last
//! digits ([`crate::solve::warm_start`] has the rules), so that a training that goes on without its
//! memories goes on the same.

use std::sync::{Arc, Mutex, PoisonError};

use crate::data::Matrix;
use crate::error::Result;
use crate::observer::Observer;
use crate::parallel::Threads;
use crate::problem::{ProblemKind, SolverThreading};
use crate::size_limits::MAX_ABS_COST;
use crate::solve::{SearchLimits, Solution, SolveFailure};

mod counts;
mod sensitivity;
mod settings;
mod solution_pool;
mod training_oracle;
mod warm_start_store;
mod worker;
mod worker_solver;

pub use counts::SolveCounts;
pub(crate) use settings::renamed;
pub use settings::{CacheGranularity, CacheSettings, Heuristic, OracleSettings};
pub use solution_pool::SolutionPool;
pub use training_oracle::{CacheAction, StepId, TrainingOracle};
pub use worker::OracleWorker;

use counts::SolveCounters;
use worker::WorkerContext;
use worker_solver::{SolverRole, WorkerSolver};

/// What to do where there is no local search.
const NO_LOCAL_SEARCH: &str =
    "use 'node-limit 100', branch and bound with a node limit, which every problem has";

/// What an oracle says about one cost vector.
pub type SolveResult = std::result::Result<Solution, SolveFailure>;

/// Solves a problem for many cost vectors.
pub struct Oracle {
    problem: Arc<dyn ProblemKind>,
    limits: SearchLimits,
    heuristic: Option<Heuristic>,
    threads: Threads,
    /// Those that call engines.
    solver_threads: Threads,
    counters: SolveCounters,
    idle: Mutex<Vec<WorkerSolver>>,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Oracle");
        shown
            .field("problem", &self.problem)
            .field("limits", &self.limits);
        shown
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Oracle {
    /// An oracle on the calling thread with the default limits.
    pub fn new(problem: Arc<dyn ProblemKind>) -> Self {
        Self {
            problem,
            limits: SearchLimits::default(),
            heuristic: None,
            threads: Threads::single_threaded(),
            solver_threads: Threads::single_threaded(),
            counters: SolveCounters::default(),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The same oracle on these threads.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.solver_threads = match self.problem.solver_calls() {
            SolverThreading::ThreadPool => threads.clone(),
            SolverThreading::OwnThreads => threads.without_pool(),
            SolverThreading::Serialized => Threads::single_threaded(),
        };
        self.threads = threads;
        self
    }

    /// The same oracle with these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SearchLimits) -> Self {
        self.limits = limits;
        self.idle = Mutex::new(Vec::new());
        self
    }

    /// The same oracle, which decides by a heuristic wherever it would search for the best: for
    /// problems so large that nothing else ends. Its decisions are counted as what they are, and
    /// labels made of them say so.
    ///
    /// # Errors
    /// When the problem has no local search.
    pub fn with_heuristic(mut self, heuristic: Option<Heuristic>) -> Result<Self> {
        self.heuristic = heuristic;
        match self.solver(self.default_role()) {
            Some(solver) => self.return_solver(solver),
            None => {
                return Err(self.unsupported(
                    "the heuristic 'local-search'",
                    "a local search",
                    NO_LOCAL_SEARCH,
                ));
            }
        }
        Ok(self)
    }

    /// The heuristic by which it decides, if it does not search for the best.
    pub fn heuristic(&self) -> Option<Heuristic> {
        self.heuristic
    }

    /// Who answers where nothing else is asked for.
    fn default_role(&self) -> SolverRole {
        self.heuristic
            .map_or(SolverRole::Exact, SolverRole::Heuristic)
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &Arc<dyn ProblemKind> {
        &self.problem
    }

    /// How far a search may go.
    pub fn limits(&self) -> &SearchLimits {
        &self.limits
    }

    /// The threads for work that calls no engine.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The threads that may call engines: fewer where the problem does not allow several at a time.
    pub fn solver_threads(&self) -> &Threads {
        &self.solver_threads
    }

    /// Solves done so far, by kind.
    pub fn counts(&self) -> SolveCounts {
        self.counters.read()
    }

    /// Work of all solves so far in nanoseconds, as [`crate::solve::Solver::work`] counts. The sum
    /// of whole numbers does not depend on the order of threads.
    pub fn work(&self) -> u64 {
        self.counters.work()
    }

    /// An engine for the calling thread; it goes back when dropped.
    pub fn worker(&self) -> OracleWorker<'_> {
        OracleWorker::new(
            self,
            self.solver(self.default_role()),
            WorkerContext::default(),
        )
    }

    /// An engine for this role, an idle one if there is one; `None` when the problem has nobody for
    /// it.
    fn solver(&self, role: SolverRole) -> Option<WorkerSolver> {
        self.idle_solver(role).or_else(|| self.new_solver(role))
    }

    fn new_solver(&self, role: SolverRole) -> Option<WorkerSolver> {
        Some(match role {
            SolverRole::Exact => WorkerSolver::Exact(self.problem.solver(&self.limits)),
            SolverRole::Relaxed(kind) => {
                WorkerSolver::Relaxed(kind, self.problem.relaxation_solver(kind, &self.limits)?)
            }
            SolverRole::Heuristic(kind @ Heuristic::LocalSearch) => {
                WorkerSolver::Heuristic(kind, self.problem.local_search(&self.limits)?)
            }
            SolverRole::Heuristic(
                kind @ (Heuristic::FastLocalSearch | Heuristic::LocalSearchFromLabel),
            ) => WorkerSolver::Heuristic(kind, self.problem.fast_local_search(&self.limits)?),
            SolverRole::Heuristic(kind @ Heuristic::NodeLimit(nodes)) => WorkerSolver::Heuristic(
                kind,
                self.problem.solver(&SearchLimits {
                    nodes,
                    ..self.limits
                }),
            ),
        })
    }

    fn idle_solver(&self, role: SolverRole) -> Option<WorkerSolver> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter()
            .rposition(|solver| solver.role() == role)
            .map(|place| idle.swap_remove(place))
    }

    /// Keeps an engine for whoever asks next.
    fn return_solver(&self, solver: WorkerSolver) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(solver);
    }

    /// The best decision for each row of costs (to be minimised), in the order of the rows.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_all(&self, costs: &Matrix, observer: &dyn Observer) -> Result<Vec<SolveResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.solve_rows(costs, &rows, observer)
    }

    /// The best decision for each of the listed rows of costs, in the order of the list.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_rows(
        &self,
        costs: &Matrix,
        rows: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.solve_each(costs, rows, observer, |_, _| ())
    }

    /// The same; `done` hears of each row and its answer as soon as it is there, on whichever
    /// thread.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_each(
        &self,
        costs: &Matrix,
        rows: &[usize],
        observer: &dyn Observer,
        done: impl Fn(usize, &SolveResult) + Sync + Send,
    ) -> Result<Vec<SolveResult>> {
        TrainingOracle::exact(self).solve_each(
            (rows, observer),
            |index, row| costs.read(rows[index], row),
            done,
        )
    }
}

/// Engines may take for granted that costs are numbers, and that sums and squares of costs do not
/// overflow.
fn check_costs(costs: &[f64]) -> std::result::Result<(), SolveFailure> {
    // A number that is none fails every comparison. The fold has no early end, so that several
    // costs are compared at once.
    let fits = |cost: &f64| cost.abs() <= MAX_ABS_COST;
    if costs.iter().fold(true, |all, cost| all & fits(cost)) {
        return Ok(());
    }
    let bad = costs
        .iter()
        .position(|cost| !fits(cost))
        .unwrap_or_default();
    let cost = costs.get(bad).copied().unwrap_or_default();
    let message = match cost.is_finite() {
        true => format!("cost {bad} is {cost:e}; costs go up to {MAX_ABS_COST:e} in size"),
        false => format!("cost {bad} is not finite"),
    };
    Err(SolveFailure::Engine(message))
}
