//! Threads: an own pool per process, and maps whose results never depend on the number of threads.
//!
//! Rayon's global pool does not survive `fork()`: its threads do not exist in the child, which then
//! waits for them for ever. Pools are therefore kept per process id; a forked child builds its own.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cancellation;
use crate::error::{Error, Result};

/// More threads than this per core only take turns, and thousands of them starve the rest of the
/// machine.
const MAX_THREADS_PER_CORE: usize = 8;
/// So many are allowed on any machine, so that one command serves machines of different sizes.
const MIN_THREAD_LIMIT: usize = 64;

/// A number of threads and where they come from.
#[derive(Debug, Clone)]
pub struct Threads {
    workers: ThreadSource,
}

#[derive(Debug, Clone)]
enum ThreadSource {
    /// The calling thread.
    Caller,
    /// The threads of a pool.
    Pool(Arc<ThreadPool>),
    /// This many threads, started for each piece of work.
    Spawned(usize),
}

static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

impl Threads {
    /// Work on the calling thread only.
    pub fn single_threaded() -> Self {
        Self {
            workers: ThreadSource::Caller,
        }
    }

    /// As many threads, started for each piece of work instead of taken from the pool. For work
    /// that may itself wait for the pool: a pool whose threads all wait for the pool never goes on.
    #[must_use]
    pub fn without_pool(&self) -> Self {
        match self.count() {
            1 => Self::single_threaded(),
            count => Self {
                workers: ThreadSource::Spawned(count),
            },
        }
    }

    /// This many threads; 0 means as many as the machine has.
    ///
    /// # Errors
    /// When there are more than eight per core (64 are always allowed), or when the operating
    /// system refuses to start threads.
    pub fn new(count: usize) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = if count == 0 { cores } else { count };
        let max = (MAX_THREADS_PER_CORE * cores).max(MIN_THREAD_LIMIT);
        if count > max {
            let message = format!(
                "{count} threads are more than the {max} allowed on a machine with {cores} cores"
            );
            return Err(Error::setting(format!("{message}; 0 takes one per core")));
        }
        if count == 1 {
            return Ok(Self::single_threaded());
        }
        let process = std::process::id();
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., pool)) = pools.iter().find(|(p, n, _)| (*p, *n) == (process, count)) {
            return Ok(Self {
                workers: ThreadSource::Pool(Arc::clone(pool)),
            });
        }
        let built = ThreadPoolBuilder::new().num_threads(count).build();
        let pool = Arc::new(
            built.map_err(|e| Error::setting(format!("cannot start {count} threads: {e}")))?,
        );
        pools.push((process, count, Arc::clone(&pool)));
        Ok(Self {
            workers: ThreadSource::Pool(pool),
        })
    }

    /// How many threads work.
    pub fn count(&self) -> usize {
        match &self.workers {
            ThreadSource::Caller => 1,
            ThreadSource::Pool(pool) => pool.current_num_threads(),
            ThreadSource::Spawned(count) => *count,
        }
    }

    /// Runs `work` on every state at the same time, each on a thread of its own; they may wait for
    /// each other. There must not be more states than threads, and the caller must not be one of
    /// the threads.
    pub fn run_on_each<S: Send>(
        &self,
        mut states: Vec<S>,
        work: impl Fn(usize, &mut S) + Sync + Send,
    ) {
        match (&self.workers, states.as_mut_slice()) {
            (_, [only]) => work(0, only),
            (ThreadSource::Caller, all) => all
                .iter_mut()
                .enumerate()
                .for_each(|(index, state)| work(index, state)),
            (ThreadSource::Spawned(_), all) => std::thread::scope(|scope| {
                for (index, state) in all.iter_mut().enumerate() {
                    let (work, cancellation) = (&work, cancellation::current());
                    scope.spawn(move || {
                        let _scope = cancellation::inherit(cancellation);
                        work(index, state);
                    });
                }
            }),
            (ThreadSource::Pool(pool), all) => {
                assert!(
                    all.len() <= pool.current_num_threads(),
                    "more states than threads"
                );
                let all: Vec<Mutex<&mut S>> = all.iter_mut().map(Mutex::new).collect();
                let cancellation = cancellation::current();
                pool.broadcast(|thread| {
                    let _scope = cancellation::inherit(cancellation.clone());
                    if let Some(state) = all.get(thread.index()) {
                        work(
                            thread.index(),
                            &mut state.lock().unwrap_or_else(PoisonError::into_inner),
                        );
                    }
                });
            }
        }
    }

    /// Fills `slots`, each by itself, in any order; `init` makes the scratch of one worker.
    ///
    /// What `work` writes may depend on the slot and its index only; then the outcome is the same
    /// for any number of threads.
    pub fn fill_slots<S, T: Send>(
        &self,
        slots: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize, &mut T) + Sync + Send,
    ) {
        self.distribute(slots.iter_mut().enumerate(), init, work);
    }

    /// The same, slots of which more work is expected first: a long piece that starts last would
    /// leave the other threads idle. Of equals the lower index comes first.
    pub fn fill_longest_first<S, T: Send>(
        &self,
        slots: &mut [T],
        expected: impl Fn(usize) -> f64,
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize, &mut T) + Sync + Send,
    ) {
        if self.count() == 1 {
            return self.fill_slots(slots, init, work);
        }
        self.distribute(longest_first(slots, expected).into_iter(), init, work);
    }

    /// Whoever is free takes the next slots of the queue: one at a time, a few where very many are
    /// left, so that no thread waits for longer than one piece of work takes another.
    fn distribute<'t, S, T: Send + 't>(
        &self,
        queue: impl ExactSizeIterator<Item = (usize, &'t mut T)> + Send,
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize, &mut T) + Sync + Send,
    ) {
        let workers = self.count().min(queue.len());
        if workers <= 1 {
            let mut scratch = init();
            return queue.for_each(|(index, slot)| work(&mut scratch, index, slot));
        }
        let queue = Mutex::new(queue);
        let cancellation = cancellation::current();
        let worker = || {
            let _scope = cancellation::inherit(cancellation.clone());
            let mut scratch = init();
            let mut taken = Vec::with_capacity(MAX_SLOTS_PER_CLAIM);
            loop {
                take_next(&queue, workers, &mut taken);
                if taken.is_empty() {
                    return;
                }
                taken
                    .drain(..)
                    .for_each(|(index, slot)| work(&mut scratch, index, slot));
            }
        };
        match &self.workers {
            ThreadSource::Caller => worker(),
            ThreadSource::Pool(pool) => {
                pool.scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| worker())))
            }
            ThreadSource::Spawned(_) => std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(worker);
                }
            }),
        }
    }
}

/// Slots and their indices, those of which most is expected first.
fn longest_first<T>(slots: &mut [T], expected: impl Fn(usize) -> f64) -> Vec<(usize, &mut T)> {
    let slots = slots.iter_mut().enumerate();
    let mut queue: Vec<(f64, (usize, &mut T))> =
        slots.map(|slot| (expected(slot.0), slot)).collect();
    queue.sort_by(|a, b| b.0.total_cmp(&a.0));
    queue.into_iter().map(|(_, slot)| slot).collect()
}

/// Most slots that a thread takes at once, and the share of what is left for its threads that it
/// takes.
const MAX_SLOTS_PER_CLAIM: usize = 64;
const CLAIM_FRACTION: usize = 1024;

fn take_next<I: ExactSizeIterator>(queue: &Mutex<I>, workers: usize, taken: &mut Vec<I::Item>) {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let count = (queue.len() / (CLAIM_FRACTION * workers)).clamp(1, MAX_SLOTS_PER_CLAIM);
    taken.extend(queue.by_ref().take(count));
}

/// What all threads of this program have spent on processors so far, where the system tells it.
#[cfg(unix)]
pub fn cpu_seconds() -> Option<f64> {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(spent.tv_sec as f64 + 1e-9 * spent.tv_nsec as f64)
}

/// What all threads of this program have spent on processors so far, where the system tells it.
#[cfg(not(unix))]
pub fn cpu_seconds() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::{Threads, longest_first};

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let squares = |threads: usize| {
            let mut out = vec![0_usize; 1000];
            Threads::new(threads).unwrap().fill_slots(
                &mut out,
                || (),
                |(), index, slot| *slot = index * index,
            );
            out
        };
        assert_eq!(squares(1), squares(2));
        assert_eq!(squares(1), squares(3));
    }

    /// Work on every thread of a pool asks the pool for more: outside the pool that ends.
    #[test]
    fn work_outside_the_pool_may_wait_for_the_pool() {
        let pool = Threads::new(2).unwrap();
        let mut sums = vec![0_usize; 20];
        let inner = |_: &mut (), index: usize, slot: &mut usize| {
            let mut parts = vec![0_usize; 10];
            pool.fill_slots(&mut parts, || (), |(), part, slot| *slot = index + part);
            *slot = parts.iter().sum();
        };
        pool.without_pool().fill_slots(&mut sums, || (), inner);
        assert_eq!(
            sums,
            (0..20).map(|index| 10 * index + 45).collect::<Vec<_>>()
        );
        assert_eq!(
            (
                pool.without_pool().count(),
                Threads::single_threaded().without_pool().count()
            ),
            (2, 1)
        );
    }

    #[test]
    fn the_longest_piece_starts_first_and_every_slot_is_filled_once() {
        let mut out = vec![0; 9];
        let expected = [1.0, 5.0, 2.0, 5.0, 0.0, 9.0, 1.0, 1.0, 3.0];
        let order: Vec<usize> = longest_first(&mut out, |i| expected[i])
            .into_iter()
            .map(|(index, _)| index)
            .collect();
        assert_eq!(order, [5, 1, 3, 8, 2, 0, 6, 7, 4]);
        Threads::single_threaded().fill_longest_first(
            &mut out,
            |i| expected[i],
            || (),
            |(), _, slot| *slot += 1,
        );
        Threads::new(3).unwrap().fill_longest_first(
            &mut out,
            |i| expected[i],
            || (),
            |(), _, slot| *slot += 1,
        );
        assert_eq!(out, [2; 9]);
    }

    /// One slot waits until all others are filled: that ends only if none of them stands behind it
    /// in the hands of the same thread.
    #[test]
    fn a_long_piece_holds_up_no_other() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let done = AtomicUsize::new(0);
        let mut out = vec![false; 500];
        Threads::new(2).unwrap().fill_slots(
            &mut out,
            || (),
            |(), index, slot| {
                while index == 3 && done.load(Ordering::SeqCst) < 499 {
                    std::thread::yield_now();
                }
                done.fetch_add(1, Ordering::SeqCst);
                *slot = true;
            },
        );
        assert!(out.into_iter().all(|filled| filled));
    }
}
