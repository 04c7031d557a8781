//! An oracle at the service of one training: it answers by its settings and keeps pool and
//! memories.
//!
//! Losses ask an [`OracleWorker`] and do not know where the answer comes from. Within a batch the pool
//! does not change; what was found joins it afterwards, in the order of the instances, so that
//! results do not depend on threads.

use super::warm_start_store::WarmStartStore;
use super::worker::{OracleWorker, WorkerContext};
use super::worker_solver::{SolverRole, WorkerSolver};
use super::{
    CacheGranularity, CacheSettings, NO_LOCAL_SEARCH, Oracle, OracleSettings, SolutionPool,
    SolveResult,
};
use crate::data::Matrix;
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::random::{Purpose, RandomStream};
use crate::solve::SolveFailure;

/// Whether a question is solved or answered from the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAction {
    /// Solved, exactly or relaxed.
    Solve,
    /// Answered with the cheapest known decision.
    Lookup,
}

/// Where in a training a question is asked; coins depend on this and the seed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepId {
    /// Epoch, counted from 1.
    pub epoch: usize,
    /// Batch of the epoch, counted from 0.
    pub batch: usize,
    /// Whether the answer trains. Questions that only judge are answered from the pool if there is
    /// one.
    pub training: bool,
}

/// An oracle with settings, a pool and memories.
#[derive(Debug)]
pub struct TrainingOracle<'a> {
    oracle: &'a Oracle,
    settings: OracleSettings,
    pool: Option<SolutionPool>,
    store: Option<WarmStartStore>,
    seed: u64,
}

impl<'a> TrainingOracle<'a> {
    /// Every question is solved exactly.
    pub fn exact(oracle: &'a Oracle) -> Self {
        Self {
            oracle,
            settings: OracleSettings::default(),
            pool: None,
            store: None,
            seed: 0,
        }
    }

    /// Questions are answered by these settings; `method` is who asks, for messages.
    ///
    /// # Errors
    /// When the settings contradict each other, or the problem has no such relaxation or heuristic.
    pub fn new(
        oracle: &'a Oracle,
        settings: OracleSettings,
        (method, seed): (&str, u64),
    ) -> Result<Self> {
        settings.check()?;
        if let Some(heuristic) = oracle.heuristic.filter(|_| settings.uses_warm_starts()) {
            return Err(Error::setting(format!(
                "'warm' and 'certify' speed up exact answers; all decisions are made by \
                    '{heuristic}'; leave one of them out"
            )));
        }
        let pool = settings
            .cache
            .map(|cache| SolutionPool::new(cache.capacity));
        let training = Self {
            oracle,
            settings,
            pool,
            store: None,
            seed,
        };
        match (training.solver(), training.role()) {
            (Some(solver), _) => oracle.return_solver(solver),
            (None, SolverRole::Heuristic(_)) => {
                return Err(oracle.unsupported(method, "a local search", NO_LOCAL_SEARCH));
            }
            (None, SolverRole::Relaxed(_) | SolverRole::Exact) => {
                let instead = "leave out 'relax', or use another problem";
                return Err(oracle.unsupported(method, "a linear relaxation", instead));
            }
        }
        Ok(training)
    }

    /// The same with memories for this many rows of the table, if the settings want them; how long
    /// their solves take is noted in any case.
    #[must_use]
    pub fn with_warm_starts(mut self, rows: usize) -> Self {
        self.store = Some(WarmStartStore::new(
            rows,
            self.settings.warm_start_bytes(),
            self.settings.certify,
        ));
        self
    }

    /// The same with a pool of these decisions (in this order), if there is a cache or `wanted`.
    #[must_use]
    pub fn with_pool<'d>(
        mut self,
        decisions: impl IntoIterator<Item = &'d Decision>,
        wanted: bool,
    ) -> Self {
        if self.pool.is_some() || wanted {
            self.pool
                .get_or_insert_with(|| SolutionPool::new(CacheSettings::DEFAULT_CAPACITY))
                .extend(decisions);
        }
        self
    }

    /// The oracle behind.
    pub fn oracle(&self) -> &'a Oracle {
        self.oracle
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<&SolutionPool> {
        self.pool.as_ref()
    }

    fn role(&self) -> SolverRole {
        match (self.settings.relaxation, self.settings.heuristic) {
            (None, None) => self.oracle.default_role(),
            (None, Some(kind)) => SolverRole::Heuristic(kind),
            (Some(kind), _) => SolverRole::Relaxed(kind),
        }
    }

    fn solver(&self) -> Option<WorkerSolver> {
        self.oracle.solver(self.role())
    }

    /// Access for the calling thread.
    pub fn worker(&self) -> OracleWorker<'_> {
        let help = WorkerContext {
            settings: self.settings,
            pool: self.pool.as_ref(),
            store: self.store.as_ref(),
        };
        OracleWorker::new(self.oracle, self.solver(), help)
    }

    /// Seconds that questions about a row are expected to take, by what they took last time; 0
    /// where nobody knows.
    pub fn expected_seconds(&self, instance: usize) -> f64 {
        self.store
            .as_ref()
            .map_or(0.0, |store| store.expected_seconds(instance))
    }

    /// The answer for each row of costs, which belong to these instances, in their order.
    ///
    /// # Errors
    /// Only when the user interrupts; failures of single instances are among the answers.
    pub fn solve_rows(
        &self,
        costs: &Matrix,
        instances: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<SolveResult>> {
        self.solve_each(
            (instances, observer),
            |index, row| costs.read(index, row),
            |_, _| (),
        )
    }

    /// Solves all instances, those that took longest last time first; `read` writes the costs of
    /// one over a row, `done` hears of each and its answer as soon as it is there, on whichever
    /// thread.
    pub(super) fn solve_each(
        &self,
        (instances, observer): (&[usize], &dyn Observer),
        read: impl Fn(usize, &mut Vec<f64>) + Sync + Send,
        done: impl Fn(usize, &SolveResult) + Sync + Send,
    ) -> Result<Vec<SolveResult>> {
        let mut answers: Vec<Option<SolveResult>> = instances.iter().map(|_| None).collect();
        self.oracle.solver_threads().fill_longest_first(
            &mut answers,
            |index| self.expected_seconds(instances[index]),
            || self.worker(),
            |worker, index, slot| {
                if !observer.interrupted() {
                    worker.set_instance(instances[index]);
                    let answer = worker.solve_with(|row| read(index, row));
                    // An interrupted solve is no answer: nobody may keep it as one.
                    if answer != Err(SolveFailure::Interrupted) {
                        done(instances[index], slot.insert(answer));
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

    /// What the coin says for an instance on this occasion.
    pub fn cache_action(&self, step: StepId, instance: usize) -> CacheAction {
        match self.settings.cache {
            None => CacheAction::Solve,
            Some(_) if !step.training => CacheAction::Lookup,
            Some(cache) => {
                let place = match cache.granularity {
                    CacheGranularity::Batch => u64::MAX - step.batch as u64,
                    CacheGranularity::Instance => instance as u64,
                };
                let mut stream =
                    RandomStream::new(Purpose::Oracle, self.seed, [step.epoch as u64, place]);
                if stream.unit() < cache.solve_ratio {
                    CacheAction::Solve
                } else {
                    CacheAction::Lookup
                }
            }
        }
    }

    /// The best decisions under the predictions of a batch (to be minimised, one row after the
    /// other), solved where the coin says so, in the order of the instances. They are for the pool
    /// ([`Self::keep`]) of losses that compare with known decisions, before the batch is evaluated;
    /// a search that goes downhill may start from `best` of an instance.
    ///
    /// # Errors
    /// When an instance has no decision under its prediction, or the user interrupts.
    pub fn solve_for_pool<'b>(
        &self,
        (step, instances): (StepId, &[usize]),
        predictions: &[f64],
        best: impl Fn(usize) -> &'b Decision + Sync + Send,
        observer: &dyn Observer,
    ) -> Result<Vec<Decision>> {
        let width = predictions.len() / instances.len().max(1);
        let mut found: Vec<Result<Option<Decision>>> = Vec::new();
        found.resize_with(instances.len(), || Ok(None));
        self.oracle.solver_threads().fill_longest_first(
            &mut found,
            |index| self.expected_seconds(instances[index]),
            || self.worker(),
            |worker, index, slot| {
                let instance = instances[index];
                if observer.interrupted() {
                    *slot = Err(Error::Interrupted);
                } else if self.cache_action(step, instance) == CacheAction::Solve {
                    worker.set_instance(instance);
                    let answer = worker
                        .solve_from(&predictions[index * width..][..width], Some(best(instance)));
                    let wrong = |failure| Error::solver(instance, failure);
                    *slot = answer
                        .map(|solution| Some(solution.decision.clone()))
                        .map_err(wrong);
                }
            },
        );
        found.into_iter().filter_map(Result::transpose).collect()
    }

    /// Goes on with the pool of an earlier run, if this one keeps a pool.
    pub fn replace_pool(&mut self, pool: SolutionPool) {
        if self.pool.is_some() {
            self.pool = Some(pool);
        }
    }

    /// Lets decisions join the pool, if there is one.
    pub fn add_to_pool<'d>(&mut self, found: impl IntoIterator<Item = &'d Decision>) {
        if let Some(pool) = &mut self.pool {
            pool.extend(found);
        }
    }
}
