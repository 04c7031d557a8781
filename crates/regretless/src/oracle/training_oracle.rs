//! The oracle of one training: handles solver calls by its settings and holds the solution pool and
//! the warm starts.
//!
//! Losses call an [`OracleWorker`]; whether it solves or takes a decision from the pool makes no
//! difference to their code. The pool does not change within a batch; new solutions are added
//! afterwards, in the order of the instances, so results do not depend on threads.

use super::warm_start_store::WarmStartStore;
use super::worker::{OracleWorker, WorkerContext};
use super::worker_solver::{SolverKind, WorkerSolver};
use super::{
    CacheGranularity, CacheSettings, CompleteResult, Heuristic, LOCAL_SEARCH_REMEDY, Oracle,
    OracleSettings, SolutionPool, SolveResult,
};
use crate::data::{CostNames, Matrix};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::random::{Purpose, RandomStream};
use crate::solve::SolveFailure;

/// Whether a solver call is solved or looked up in the solution pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheAction {
    /// The solver of the settings runs.
    Solve,
    /// The cheapest decision of the solution pool is returned.
    Lookup,
}

/// Position of a solver call in a training; cache draws depend on it and the seed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepId {
    /// Epoch, counted from 1.
    pub epoch: usize,
    /// Batch of the epoch, counted from 0.
    pub batch: usize,
    /// Whether the call is part of a gradient step. With a cache, the calls of evaluations are
    /// looked up in the solution pool.
    pub is_gradient_step: bool,
}

/// An oracle with settings, a solution pool and warm starts.
#[derive(Debug)]
pub struct TrainingOracle<'a> {
    oracle: &'a Oracle,
    settings: OracleSettings,
    pool: Option<SolutionPool>,
    store: Option<WarmStartStore>,
    seed: u64,
    /// The names of the costs, if NaN is a cost without a prediction.
    unpredicted: Option<&'a CostNames>,
}

impl<'a> TrainingOracle<'a> {
    /// Solves every solver call exactly.
    pub fn exact(oracle: &'a Oracle) -> Self {
        Self {
            oracle,
            settings: OracleSettings::default(),
            pool: None,
            store: None,
            seed: 0,
            unpredicted: None,
        }
    }

    /// Handles solver calls by these settings; `seed` keys the draws between solve and lookup.
    ///
    /// # Errors
    /// When the settings contradict each other, or the problem has no such relaxation or heuristic.
    pub(crate) fn new(oracle: &'a Oracle, settings: OracleSettings, seed: u64) -> Result<Self> {
        settings.check()?;
        if let Some(heuristic @ Heuristic::NodeLimit(_)) = settings.heuristic {
            oracle.check_search_setting(&format!("'{heuristic}'"))?;
        }
        if settings.uses_warm_starts() {
            oracle.check_search_setting("'warm' or 'certify'")?;
        }
        if let Some(heuristic) = oracle.heuristic.filter(|_| settings.uses_warm_starts()) {
            return Err(Error::setting(format!(
                "'warm' and 'certify' speed up exact solves, but '{heuristic}' replaces the exact \
                 solver"
            ))
            .with_remedy("leave one of them out"));
        }
        if let (Some(_), Some(_), true) = (
            settings.cache,
            settings.relaxation,
            oracle.has_row_problems(),
        ) {
            return Err(oracle.unsupported(
                "the same feasible set for all rows, which 'relax' with 'cache' needs: relaxed \
                 decisions cannot be checked against the set of another row",
                "leave out 'relax' or 'cache'",
            ));
        }
        let pool = settings
            .cache
            .map(|cache| SolutionPool::new(cache.capacity));
        let training_oracle = Self {
            oracle,
            settings,
            pool,
            store: None,
            seed,
            unpredicted: None,
        };
        // A solver is built once to find out whether there is one: better here than in the first
        // batch.
        match (training_oracle.solver(), training_oracle.solver_kind()) {
            (Some(solver), _) => oracle.return_solver(solver),
            (None, SolverKind::Heuristic(_)) => {
                return Err(oracle.unsupported("a local search", LOCAL_SEARCH_REMEDY));
            }
            (None, SolverKind::Relaxed(_) | SolverKind::Exact) => {
                let remedy = "leave out 'relax', or use another problem";
                return Err(oracle.unsupported("a linear relaxation", remedy));
            }
        }
        Ok(training_oracle)
    }

    /// Keeps, for each of this many rows, the time of its last solves and, if the settings use
    /// them, its warm start.
    #[must_use]
    pub fn with_warm_starts(mut self, rows: usize) -> Self {
        self.store = Some(WarmStartStore::new(
            rows,
            self.settings.warm_start_bytes(),
            self.settings.certify,
        ));
        self
    }

    /// The same for predictions of which some are NaN: there is no prediction of these costs, which
    /// have these names, and decisions leave out what they belong to.
    #[must_use]
    pub(crate) fn leaving_out_unpredicted(mut self, names: &'a CostNames) -> Self {
        self.unpredicted = Some(names);
        self
    }

    /// The same with a pool of these decisions (in this order), if there is a cache or `required`.
    #[must_use]
    pub fn with_pool<'d>(
        mut self,
        decisions: impl IntoIterator<Item = &'d Decision>,
        required: bool,
    ) -> Self {
        if self.pool.is_some() || required {
            self.pool
                .get_or_insert_with(|| SolutionPool::new(CacheSettings::DEFAULT_CAPACITY))
                .extend(decisions);
        }
        self
    }

    /// The oracle that solves.
    pub fn oracle(&self) -> &'a Oracle {
        self.oracle
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<&SolutionPool> {
        self.pool.as_ref()
    }

    fn solver_kind(&self) -> SolverKind {
        match (self.settings.relaxation, self.settings.heuristic) {
            (None, None) => self.oracle.default_solver_kind(),
            (None, Some(kind)) => SolverKind::Heuristic(kind),
            (Some(kind), _) => SolverKind::Relaxed(kind),
        }
    }

    fn solver(&self) -> Option<WorkerSolver> {
        self.oracle.solver(self.solver_kind())
    }

    /// A worker for the calling thread.
    pub fn worker(&self) -> OracleWorker<'_> {
        let context = WorkerContext {
            settings: self.settings,
            pool: self.pool.as_ref(),
            store: self.store.as_ref(),
            unpredicted: self.unpredicted,
        };
        OracleWorker::new(self.oracle, self.solver(), context)
    }

    /// Expected seconds of a row's solver calls, by the times of its last ones; 0 if unknown.
    pub fn expected_seconds(&self, instance: usize) -> f64 {
        self.store
            .as_ref()
            .map_or(0.0, |store| store.expected_seconds(instance))
    }

    /// Solves every row of `costs`; row i belongs to `instances[i]`. Results are in the same order.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the results.
    pub fn solve_rows(
        &self,
        costs: &Matrix,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.solve_each(
            instances,
            |index, row| costs.read(index, row),
            |_, _| (),
            observer,
        )
    }

    /// The same with the values of all columns of each solution.
    pub(super) fn solve_complete(
        &self,
        costs: &Matrix,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<CompleteResult>> {
        self.run_each(
            instances,
            |worker, index| {
                let mut row_costs = Vec::new();
                costs.read(index, &mut row_costs);
                worker.solve_complete(&row_costs)
            },
            |_, _| (),
            observer,
        )
    }

    /// Solves all instances, those that took longest last time first; `read` writes the costs of
    /// the instance at an index into a buffer, `done` is called with each instance and its result
    /// as soon as it is solved, on any thread.
    pub(super) fn solve_each(
        &self,
        instances: &[usize],
        read: impl Fn(usize, &mut Vec<f64>) + Sync + Send,
        done: impl Fn(usize, &SolveResult) + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.run_each(
            instances,
            |worker, index| worker.solve_with(|row| read(index, row)),
            done,
            observer,
        )
    }

    /// Calls `solve` with a worker and the index of each instance, those that took longest last
    /// time first; `done` as in [`Self::solve_each`].
    pub(super) fn run_each<T: Send>(
        &self,
        instances: &[usize],
        solve: impl Fn(&mut OracleWorker<'_>, usize) -> Result<T, SolveFailure> + Sync + Send,
        done: impl Fn(usize, &Result<T, SolveFailure>) + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Vec<Result<T, SolveFailure>>> {
        let mut results: Vec<Option<Result<T, SolveFailure>>> =
            instances.iter().map(|_| None).collect();
        self.oracle.solver_threads().fill_longest_first(
            &mut results,
            |index| self.expected_seconds(instances[index]),
            || self.worker(),
            |worker, index, slot| {
                if !observer.interrupted() {
                    worker.set_instance(instances[index]);
                    let result = solve(worker, index);
                    // An interrupted solve has no result: it must not be stored as a failure.
                    if !matches!(result, Err(SolveFailure::Interrupted)) {
                        done(instances[index], slot.insert(result));
                        observer.advance(1);
                    }
                }
            },
        );
        let results: Option<Vec<Result<T, SolveFailure>>> = results.into_iter().collect();
        results.ok_or(Error::Interrupted)
    }

    /// Prepares a worker for the solver calls of an instance in a training step: whether they are
    /// solved or looked up in the solution pool.
    pub fn prepare_worker(&self, worker: &mut OracleWorker<'_>, step: StepId, instance: usize) {
        worker.set_cache_action(self.cache_action(step, instance));
    }

    /// Draws whether the solver calls of an instance at this step are solved or looked up.
    pub(crate) fn cache_action(&self, step: StepId, instance: usize) -> CacheAction {
        match self.settings.cache {
            None => CacheAction::Solve,
            Some(_) if !step.is_gradient_step => CacheAction::Lookup,
            Some(cache) => {
                // Batches count down from the maximum: their keys differ from all instances'.
                let key = match cache.granularity {
                    CacheGranularity::Batch => u64::MAX - step.batch as u64,
                    CacheGranularity::Instance => instance as u64,
                };
                let mut stream =
                    RandomStream::new(Purpose::Oracle, self.seed, [step.epoch as u64, key]);
                if stream.standard_uniform() < cache.solve_ratio {
                    CacheAction::Solve
                } else {
                    CacheAction::Lookup
                }
            }
        }
    }

    /// The decisions under the predicted costs of a batch (to be minimized, one row after the
    /// other), solved if `Self::cache_action` says so, in the order of the instances. For losses
    /// that compare with the solution pool they are added to it ([`Self::add_to_pool`]) before the
    /// batch is evaluated; a local search may start from the instance's `label`.
    ///
    /// # Errors
    /// When an instance has no decision under its prediction, or the user interrupts.
    pub fn solve_for_pool<'l>(
        &self,
        step: StepId,
        instances: &[usize],
        predictions: &[f64],
        label: impl Fn(usize) -> &'l Decision + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Vec<Decision>> {
        let width = predictions.len() / instances.len().max(1);
        let mut decisions: Vec<Result<Option<Decision>>> = Vec::new();
        decisions.resize_with(instances.len(), || Ok(None));
        // Long solves first, so the threads finish at about the same time.
        self.oracle.solver_threads().fill_longest_first(
            &mut decisions,
            |index| self.expected_seconds(instances[index]),
            || self.worker(),
            |worker, index, slot| {
                let instance = instances[index];
                if observer.interrupted() {
                    *slot = Err(Error::Interrupted);
                } else if self.cache_action(step, instance) == CacheAction::Solve {
                    worker.set_instance(instance);
                    let costs = &predictions[index * width..][..width];
                    *slot = match worker.solve_from(costs, Some(label(instance))) {
                        Ok(solution) => Ok(Some(solution.decision.clone())),
                        Err(failure) => Err(Error::solver(instance, failure)),
                    };
                }
            },
        );
        decisions
            .into_iter()
            .filter_map(Result::transpose)
            .collect()
    }

    /// Restores the pool of an interrupted run, if this one has a pool.
    pub fn replace_pool(&mut self, pool: SolutionPool) {
        if self.pool.is_some() {
            self.pool = Some(pool);
        }
    }

    /// Adds decisions to the pool, if there is one.
    pub fn add_to_pool<'d>(&mut self, decisions: impl IntoIterator<Item = &'d Decision>) {
        if let Some(pool) = &mut self.pool {
            pool.extend(decisions);
        }
    }
}
