//! Threads: a pool per process, and parallel loops whose results do not depend on the number of
//! threads.
//!
//! Rayon's global pool does not survive `fork()`: its threads do not exist in the child, which then
//! waits for them forever. Pools are therefore stored per process ID; a forked child builds its
//! own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::cancellation;
use crate::error::{Error, Result};

/// Maximum number of threads per core. More threads only take turns, and thousands of them slow
/// down other programs.
const MAX_THREADS_PER_CORE: usize = 8;
/// Threads that are allowed on any machine, so one command works on machines of different sizes.
const MIN_THREAD_LIMIT: usize = 64;

/// A number of threads and their source.
#[derive(Debug, Clone)]
pub struct Threads {
    source: ThreadSource,
}

#[derive(Debug, Clone)]
enum ThreadSource {
    /// The calling thread.
    Caller,
    /// The threads of a pool.
    Pool(Arc<ThreadPool>),
    /// Threads that are started for each call.
    Spawned(usize),
}

/// A thread pool and the process that started it.
struct ProcessPool {
    process: u32,
    pool: Arc<ThreadPool>,
}

static POOLS: Mutex<Vec<ProcessPool>> = Mutex::new(Vec::new());

impl Threads {
    /// Work on the calling thread only.
    pub fn single_threaded() -> Self {
        Self {
            source: ThreadSource::Caller,
        }
    }

    /// The same number of threads, started for each call instead of taken from the pool. For work
    /// that may itself wait for the pool: a pool whose threads all wait for it deadlocks.
    #[must_use]
    pub fn without_pool(&self) -> Self {
        match self.count() {
            1 => Self::single_threaded(),
            count => Self {
                source: ThreadSource::Spawned(count),
            },
        }
    }

    /// A number of threads; 0 means one per core.
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
            return Err(Error::setting(message).with_remedy("0 takes one per core"));
        }
        if count == 1 {
            return Ok(Self::single_threaded());
        }
        let process = std::process::id();
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |entry: &&ProcessPool| {
            entry.process == process && entry.pool.current_num_threads() == count
        };
        if let Some(entry) = pools.iter().find(is_same) {
            return Ok(Self {
                source: ThreadSource::Pool(Arc::clone(&entry.pool)),
            });
        }
        let built = ThreadPoolBuilder::new().num_threads(count).build();
        let pool = Arc::new(
            built.map_err(|e| Error::setting(format!("cannot start {count} threads: {e}")))?,
        );
        pools.push(ProcessPool {
            process,
            pool: Arc::clone(&pool),
        });
        Ok(Self {
            source: ThreadSource::Pool(pool),
        })
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        match &self.source {
            ThreadSource::Caller => 1,
            ThreadSource::Pool(pool) => pool.current_num_threads(),
            ThreadSource::Spawned(count) => *count,
        }
    }

    /// Runs `work` on all states concurrently, each on its own thread; they may wait for each
    /// other. There must not be more states than threads, and the caller must not be one of the
    /// threads.
    pub fn run_on_each<S: Send>(
        &self,
        mut states: Vec<S>,
        work: impl Fn(usize, &mut S) + Sync + Send,
    ) {
        match (&self.source, states.as_mut_slice()) {
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

    /// Fills `slots` independently, in any order; `init` creates the scratch of one worker.
    ///
    /// What `work` writes must depend on the slot and its index only; then the result is the same
    /// for any number of threads.
    pub fn fill_slots<S, T: Send>(
        &self,
        slots: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize, &mut T) + Sync + Send,
    ) {
        self.distribute(slots.iter_mut().enumerate(), init, work);
    }

    /// The same, slots with the most expected work first: a long one that starts last would leave
    /// the other threads idle. Ties go to the lower index.
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

    /// Free workers take the next slots of the queue: one at a time, a few if very many are left,
    /// so no thread is idle for longer than one slot takes.
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
            let mut taken = Vec::with_capacity(MAX_SLOTS_PER_TAKE);
            loop {
                take_next(&queue, workers, &mut taken);
                if taken.is_empty() {
                    return;
                }
                for (index, slot) in taken.drain(..) {
                    work(&mut scratch, index, slot);
                }
            }
        };
        match &self.source {
            ThreadSource::Caller => worker(),
            ThreadSource::Pool(pool) => {
                pool.scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| worker())));
            }
            ThreadSource::Spawned(_) => std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(worker);
                }
            }),
        }
    }
}

/// Slots with their indices, most expected work first.
fn longest_first<T>(slots: &mut [T], expected: impl Fn(usize) -> f64) -> Vec<(usize, &mut T)> {
    let slots = slots.iter_mut().enumerate();
    let mut queue: Vec<(f64, (usize, &mut T))> =
        slots.map(|slot| (expected(slot.0), slot)).collect();
    queue.sort_by(|a, b| b.0.total_cmp(&a.0));
    queue.into_iter().map(|(_, slot)| slot).collect()
}

/// Maximum number of slots that a worker takes at once. Larger values reduce locking and balance
/// the load less.
const MAX_SLOTS_PER_TAKE: usize = 64;
/// A worker takes the remaining slots per worker divided by this, at least one: the lock of a long
/// queue is rarely contended, and the last slots are distributed one by one.
const TAKE_DIVISOR: usize = 1024;

fn take_next<I: ExactSizeIterator>(queue: &Mutex<I>, workers: usize, taken: &mut Vec<I::Item>) {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let count = (queue.len() / (TAKE_DIVISOR * workers)).clamp(1, MAX_SLOTS_PER_TAKE);
    taken.extend(queue.by_ref().take(count));
}

#[cfg(unix)]
const SECONDS_PER_NANOSECOND: f64 = 1e-9;

/// CPU time of all threads of this process so far, if the operating system reports it.
#[cfg(unix)]
pub fn cpu_seconds() -> Option<f64> {
    let cpu_time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(cpu_time.tv_sec as f64 + SECONDS_PER_NANOSECOND * cpu_time.tv_nsec as f64)
}

/// CPU time of all threads of this process so far, if the operating system reports it.
#[cfg(not(unix))]
pub(crate) fn cpu_seconds() -> Option<f64> {
    None
}

/// Measures the time and the CPU time of all threads since it was started.
pub struct Timer {
    started: Instant,
    cpu_started: Option<f64>,
}

impl Timer {
    /// Starts to measure.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            cpu_started: cpu_seconds(),
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// CPU seconds of all threads, if the operating system reports them; other work of the same
    /// process counts too.
    pub fn cpu_seconds(&self) -> Option<f64> {
        Some(cpu_seconds()? - self.cpu_started?)
    }
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

    /// Every work item waits for the pool. The items run on threads outside the pool, so they
    /// cannot block it.
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
    fn the_longest_slot_starts_first_and_every_slot_is_filled_once() {
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

    /// One slot waits until all others are filled: the test ends only if no thread has taken
    /// another slot together with it.
    #[test]
    fn a_long_slot_delays_no_other_slot() {
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
