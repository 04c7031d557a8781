//! Threads: an own pool per process, and maps whose results never depend on the number of threads.
//!
//! Rayon's global pool does not survive `fork()`: its threads do not exist in the child, which then
//! waits for them for ever. Pools are therefore kept per process id; a forked child builds its own.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// A number of threads and the pool that runs them.
#[derive(Debug, Clone)]
pub struct Threads {
    pool: Option<Arc<ThreadPool>>,
}

static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

impl Threads {
    /// Work on the calling thread only.
    pub fn one() -> Self {
        Self { pool: None }
    }

    /// This many threads; 0 means as many as the machine has.
    ///
    /// # Errors
    /// When the operating system refuses to start threads.
    pub fn new(count: usize) -> Result<Self> {
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = if count == 0 { available() } else { count };
        if count == 1 {
            return Ok(Self::one());
        }
        let process = std::process::id();
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., pool)) = pools.iter().find(|(p, n, _)| (*p, *n) == (process, count)) {
            return Ok(Self { pool: Some(Arc::clone(pool)) });
        }
        let built = ThreadPoolBuilder::new().num_threads(count).build();
        let pool = Arc::new(built.map_err(|e| Error::setting(format!("cannot start {count} threads: {e}")))?);
        pools.push((process, count, Arc::clone(&pool)));
        Ok(Self { pool: Some(pool) })
    }

    /// How many threads work.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on every state at the same time, each on a thread of its own; they may wait for each
    /// other. There must not be more states than threads, and the caller must not be one of the threads.
    pub fn on_each<S: Send>(&self, mut states: Vec<S>, work: impl Fn(usize, &mut S) + Sync + Send) {
        match (&self.pool, states.as_mut_slice()) {
            (_, [only]) => work(0, only),
            (None, all) => all.iter_mut().enumerate().for_each(|(index, state)| work(index, state)),
            (Some(pool), all) => {
                assert!(all.len() <= pool.current_num_threads(), "more states than threads");
                let all: Vec<Mutex<&mut S>> = all.iter_mut().map(Mutex::new).collect();
                pool.broadcast(|thread| {
                    if let Some(state) = all.get(thread.index()) {
                        work(thread.index(), &mut state.lock().unwrap_or_else(PoisonError::into_inner));
                    }
                });
            }
        }
    }

    /// Fills `slots`, each by itself, in any order; `init` makes the scratch of one worker.
    ///
    /// What `work` writes may depend on the slot and its index only; then the outcome is the same
    /// for any number of threads.
    pub fn fill<S: Send, T: Send>(
        &self,
        slots: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize, &mut T) + Sync + Send,
    ) {
        match &self.pool {
            Some(pool) if slots.len() > 1 => pool.install(|| {
                let run = (slots.len() / (64 * pool.current_num_threads())).clamp(1, 64);
                let each = slots.par_iter_mut().enumerate().with_max_len(run);
                each.for_each_init(&init, |scratch, (index, slot)| work(scratch, index, slot));
            }),
            _ => {
                let mut scratch = init();
                for (index, slot) in slots.iter_mut().enumerate() {
                    work(&mut scratch, index, slot);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Threads;

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let squares = |threads: usize| {
            let mut out = vec![0_usize; 1000];
            Threads::new(threads).unwrap().fill(&mut out, || (), |(), index, slot| *slot = index * index);
            out
        };
        assert_eq!(squares(1), squares(2));
        assert_eq!(squares(1), squares(3));
    }
}
