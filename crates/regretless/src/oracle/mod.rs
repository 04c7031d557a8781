//! The oracle: solves a problem for whole tables of costs and counts every solver call.
//!
//! An oracle holds the threads and the search limits, checks each solution independently of the
//! solver, and keeps idle solvers for the next batch. A failed instance does not stop the others;
//! its result holds the reason. Module `sensitivity` solves linear relaxations in the same way.
//!
//! During training, losses call a [`TrainingOracle`]: its `OracleSettings` decide whether a
//! solver call is solved exactly, by the linear relaxation or by a heuristic, or returns the
//! cheapest decision of a [`SolutionPool`]. The state of a row's last solve may warm-start its next
//! one (module `warm_start_store`). Warm starts change the time of a solve and not its result, up
//! to ties and rounding ([`crate::solve::warm_start`] has the rules), so a resumed training that
//! lost its warm starts continues with the same results.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::data::{BoundParameters, CostNames, Matrix};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::parallel::Threads;
use crate::problem::{ProblemKind, SolverThreading};
use crate::size_limits::MAX_ABS_COST;
use crate::solve::{SearchLimits, Solution, SolveFailure};

mod counts;
mod recourse;
mod row_problems;
mod sensitivity;
mod settings;
mod solution_pool;
mod training_oracle;
mod unpredicted;
mod warm_start_store;
mod worker;
mod worker_solver;

pub use counts::SolveCounts;
pub use settings::Heuristic;
pub(crate) use settings::{CacheGranularity, CacheSettings, OracleSettings};
pub use solution_pool::SolutionPool;
pub(crate) use training_oracle::CacheAction;
pub use training_oracle::{StepId, TrainingOracle};
pub use worker::OracleWorker;

use counts::SolveCounters;
use worker::WorkerContext;
use worker_solver::{SolverKind, WorkerSolver};

/// Remedy in the error for problems without a local search.
const LOCAL_SEARCH_REMEDY: &str =
    "use 'node-limit 100', branch and bound with a node limit, which every problem has";

/// The result of one solver call.
pub(crate) type SolveResult = std::result::Result<Solution, SolveFailure>;

/// A solution and the values of all columns, or the reason why there is none.
pub type CompleteResult = std::result::Result<(Solution, Decision), SolveFailure>;

/// Solves a problem for many cost vectors.
pub struct Oracle {
    problem: Arc<dyn ProblemKind>,
    limits: SearchLimits,
    heuristic: Option<Heuristic>,
    threads: Threads,
    /// The threads that may call solvers.
    solver_threads: Threads,
    counters: SolveCounters,
    /// The parameters of the rows, if the problem depends on them.
    parameters: Option<BoundParameters>,
    idle: Mutex<Vec<WorkerSolver>>,
    /// Whether a canceled search returns its incumbent.
    keeps_incumbents: bool,
    /// Whether predicted values are quantities; kept, since every solve asks.
    predicts_quantities: bool,
    /// Why a problem without row parameters has no feasible decision, once that was asked for.
    infeasibility: OnceLock<Option<String>>,
}

impl std::fmt::Debug for Oracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut output = f.debug_struct("Oracle");
        output.field("problem", &self.problem);
        output.field("limits", &self.limits);
        output.field("counts", &self.counts());
        output.finish_non_exhaustive()
    }
}

impl Oracle {
    /// An oracle on the calling thread with the default limits.
    pub fn new(problem: Arc<dyn ProblemKind>) -> Self {
        Self {
            predicts_quantities: problem.recourse().predicts_quantities(),
            problem,
            limits: SearchLimits::default(),
            heuristic: None,
            threads: Threads::single_threaded(),
            solver_threads: Threads::single_threaded(),
            counters: SolveCounters::default(),
            parameters: None,
            idle: Mutex::new(Vec::new()),
            keeps_incumbents: false,
            infeasibility: OnceLock::new(),
        }
    }

    /// Why no decision is feasible, for problems whose feasible set is that of every row: found out
    /// once, since it may take hundreds of linear programs.
    pub(crate) fn infeasibility(&self) -> Option<&str> {
        if self.has_row_problems() {
            return None;
        }
        let reason = self
            .infeasibility
            .get_or_init(|| self.problem.failure_reasons().infeasibility());
        reason.as_deref()
    }

    /// The same oracle whose canceled searches return their incumbents, for a user who watches a
    /// single solve. Everywhere else an incumbent that depends on the moment of the cancellation is
    /// no result.
    #[must_use]
    pub fn with_incumbents_on_cancellation(mut self) -> Self {
        self.keeps_incumbents = true;
        self
    }

    /// The same oracle on these threads.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.solver_threads = match self.problem.solver_traits().solver_calls() {
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

    /// The same oracle with a heuristic instead of the exact solver: for problems too large for
    /// exact solves. Its solves are counted as heuristic, and label files record the heuristic.
    ///
    /// # Errors
    /// When the problem has no local search, or is a function, which no limit and no heuristic can
    /// affect.
    pub fn with_heuristic(mut self, heuristic: Option<Heuristic>) -> Result<Self> {
        self.heuristic = heuristic;
        if self.limits != SearchLimits::default() {
            self.check_search_setting("a gap, a node limit or a time limit")?;
        }
        if let Some(heuristic @ Heuristic::NodeLimit(_)) = heuristic {
            self.check_search_setting(&format!("'{heuristic}'"))?;
        }
        // A solver is built once, so an error is reported here and not by the first row.
        match self.solver(self.default_solver_kind()) {
            Some(solver) => self.return_solver(solver),
            None => {
                let error = self.unsupported("a local search", LOCAL_SEARCH_REMEDY);
                return Err(error.for_method("the heuristic 'local-search'"));
            }
        }
        Ok(self)
    }

    /// Refuses a setting of searches if the user's own function decides: it would have no effect.
    fn check_search_setting(&self, setting: &str) -> Result<()> {
        if self.problem.solver_traits().has_search_settings() {
            return Ok(());
        }
        let name = self.problem.name();
        Err(Error::setting(format!(
            "{setting} has no effect on {name}, which is solved by your own function"
        ))
        .with_remedy("leave out this setting; a limit of the search belongs inside the function"))
    }

    /// The heuristic that replaces the exact solver, if there is one.
    pub fn heuristic(&self) -> Option<Heuristic> {
        self.heuristic
    }

    /// Whether decisions need not be optimal, because a heuristic or a user's function makes them.
    pub fn is_heuristic(&self) -> bool {
        self.heuristic.is_some() || !self.problem.solver_traits().has_exact_solver()
    }

    /// The solver of calls without other settings.
    fn default_solver_kind(&self) -> SolverKind {
        self.heuristic
            .map_or(SolverKind::Exact, SolverKind::Heuristic)
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &Arc<dyn ProblemKind> {
        &self.problem
    }

    /// The search limits.
    pub fn limits(&self) -> &SearchLimits {
        &self.limits
    }

    /// The threads for work that calls no solver.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The threads that may call solvers: fewer if the problem does not allow concurrent calls.
    pub fn solver_threads(&self) -> &Threads {
        &self.solver_threads
    }

    /// Solver calls so far, by kind.
    pub fn counts(&self) -> SolveCounts {
        self.counters.read()
    }

    /// Work of all solves so far in nanoseconds, as [`crate::solve::Solver::work`] counts. A sum of
    /// integers does not depend on the order of threads.
    pub fn work(&self) -> u64 {
        self.counters.work()
    }

    /// A worker for the calling thread; its solver is returned when it is dropped.
    pub fn worker(&self) -> OracleWorker<'_> {
        OracleWorker::new(
            self,
            self.solver(self.default_solver_kind()),
            WorkerContext::default(),
        )
    }

    /// A solver of this kind, an idle one if possible; `None` if the problem has no such solver.
    fn solver(&self, solver_kind: SolverKind) -> Option<WorkerSolver> {
        self.idle_solver(solver_kind)
            .or_else(|| self.new_solver(solver_kind, self.problem.as_ref()))
        // The problem has no such solver, which callers report in their own words.
    }

    fn new_solver(
        &self,
        solver_kind: SolverKind,
        problem: &dyn ProblemKind,
    ) -> Option<WorkerSolver> {
        Some(match solver_kind {
            SolverKind::Exact => WorkerSolver::Exact(problem.solver(&self.limits)),
            SolverKind::Relaxed(kind) => WorkerSolver::Relaxed(
                kind,
                problem
                    .sensitivity()
                    .relaxation_solver(kind, &self.limits)?,
            ),
            SolverKind::Heuristic(kind @ Heuristic::LocalSearch) => {
                WorkerSolver::Heuristic(kind, problem.solver_traits().local_search(&self.limits)?)
            }
            SolverKind::Heuristic(
                kind @ (Heuristic::FastLocalSearch | Heuristic::LocalSearchFromLabel),
            ) => WorkerSolver::Heuristic(
                kind,
                problem.solver_traits().fast_local_search(&self.limits)?,
            ),
            SolverKind::Heuristic(kind @ Heuristic::NodeLimit(nodes)) => WorkerSolver::Heuristic(
                kind,
                problem.solver(&SearchLimits {
                    nodes,
                    ..self.limits
                }),
            ),
        })
    }

    fn idle_solver(&self, solver_kind: SolverKind) -> Option<WorkerSolver> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The last one of this kind: its buffers are likeliest to be in cache.
        idle.iter()
            .rposition(|solver| solver.solver_kind() == solver_kind)
            .map(|index| idle.swap_remove(index))
    }

    /// Keeps an idle solver for the next worker.
    fn return_solver(&self, solver: WorkerSolver) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(solver);
    }

    /// The optimal decision for each row of costs (to be minimized), in row order.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_all(&self, costs: &Matrix, observer: &dyn Observer) -> Result<Vec<SolveResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.solve_rows(costs, &rows, observer)
    }

    /// The optimal decision for each listed row of costs, in the order of the list.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_rows(
        &self,
        costs: &Matrix,
        rows: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.solve_each(costs, rows, observer, |_, _| ())
    }

    /// The optimal decision for each row of costs, of which row i belongs to `instances[i]` of the
    /// table.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_instances(
        &self,
        costs: &Matrix,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        TrainingOracle::exact(self).solve_rows(costs, instances, observer)
    }

    /// As [`Self::solve_instances`] for predictions of which some are NaN: there is no prediction
    /// of these costs, and decisions leave out what they belong to. `names` are those of the costs.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub(crate) fn decide_instances(
        &self,
        costs: &Matrix,
        instances: &[usize],
        names: &CostNames,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        TrainingOracle::exact(self)
            .leaving_out_unpredicted(names)
            .solve_rows(costs, instances, observer)
    }

    /// As [`Self::solve_rows`]; `done` is called with each row and its result as soon as it is
    /// solved, on any thread.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_each(
        &self,
        costs: &Matrix,
        rows: &[usize],
        observer: &dyn Observer,
        done: impl Fn(usize, &SolveResult) + Sync + Send,
    ) -> Result<Vec<SolveResult>> {
        TrainingOracle::exact(self).solve_each(
            rows,
            |index, row| costs.read(rows[index], row),
            done,
            observer,
        )
    }

    /// As [`Self::solve_all`], with the values of all columns of each solution: those of the
    /// decision, followed by the columns without predicted costs.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_complete(
        &self,
        costs: &Matrix,
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.solve_instances_complete(costs, &rows, observer)
    }

    /// As [`Self::solve_complete`] for predictions of which some are NaN: there is no prediction of
    /// these costs, and decisions leave out what they belong to. `names` are those of the costs.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn decide_complete(
        &self,
        costs: &Matrix,
        names: &CostNames,
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        let rows: Vec<usize> = (0..costs.rows()).collect();
        self.decide_instances_complete(costs, &rows, names, observer)
    }

    /// The same for rows of costs that belong to these instances of the table.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn decide_instances_complete(
        &self,
        costs: &Matrix,
        instances: &[usize],
        names: &CostNames,
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        TrainingOracle::exact(self)
            .leaving_out_unpredicted(names)
            .solve_complete(costs, instances, observer)
    }

    /// The same for rows of costs that belong to these instances of the table.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_instances_complete(
        &self,
        costs: &Matrix,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        TrainingOracle::exact(self).solve_complete(costs, instances, observer)
    }
}

/// Checks what solvers rely on: costs are finite, and their sums and squares do not overflow.
fn check_costs(costs: &[f64]) -> std::result::Result<(), SolveFailure> {
    // NaN fails every comparison. The fold has no early exit, so it vectorizes.
    let fits = |cost: &f64| cost.abs() <= MAX_ABS_COST;
    if costs.iter().fold(true, |all, cost| all & fits(cost)) {
        return Ok(());
    }
    let index = costs.iter().position(|cost| !fits(cost));
    let index = index.unwrap_or_default();
    let cost = costs.get(index).copied().unwrap_or_default();
    let message = if cost.is_finite() {
        format!(
            "cost {index} is {cost:e}; the absolute value of a cost is at most {MAX_ABS_COST:e}"
        )
    } else {
        format!("cost {index} is not finite")
    };
    Err(SolveFailure::SolverError(message))
}
