//! Locks that serialize the calls of a user's function, from all threads and problems.
//!
//! A function is identified by the object that holds its state, so problems made from one function,
//! or from methods of one object, share a lock. Waiting threads get the lock in the order of their
//! requests. The lock is reentrant: a function that solves its own problem holds the lock already,
//! also on the threads that work for it.
//!
//! The table is used only by threads that hold the interpreter lock. A process is forked by such a
//! thread, so the table is never locked in the child; the child drops the locks of threads that it
//! does not have.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Thread, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often a waiting thread checks whether it should stop: fast enough for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The holders of all locks, and the threads that wait.
#[derive(Default)]
struct FunctionLocks {
    /// Identifier of the process that the table belongs to.
    process: u32,
    /// Threads that run a function, by its identity; each later one works for the one before.
    holders: BTreeMap<usize, Vec<ThreadId>>,
    /// In the order of their requests.
    waiters: Vec<Waiter>,
}

/// A thread that waits for the lock of a function.
struct Waiter {
    function: usize,
    thread: Thread,
    /// The thread and those that wait for it to end.
    dependents: Vec<ThreadId>,
}

static FUNCTION_LOCKS: Mutex<Option<FunctionLocks>> = Mutex::new(None);

/// Runs `use_locks` on the table of this process.
fn with_locks<T>(use_locks: impl FnOnce(&mut FunctionLocks) -> T) -> T {
    let mut locks: MutexGuard<'_, Option<FunctionLocks>> = FUNCTION_LOCKS
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let locks = locks.get_or_insert_default();
    locks.reset_after_fork(std::process::id());
    use_locks(locks)
}

impl FunctionLocks {
    /// Keeps only the locks of the current thread after a fork.
    fn reset_after_fork(&mut self, process: u32) {
        if self.process != process {
            let this = std::thread::current().id();
            self.process = process;
            self.waiters.clear();
            self.holders
                .values_mut()
                .for_each(|threads| threads.retain(|thread| *thread == this));
            self.holders.retain(|_, threads| !threads.is_empty());
        }
    }

    /// The thread that runs a function.
    fn holder(&self, function: usize) -> Option<ThreadId> {
        self.holders.get(&function)?.last().copied()
    }

    /// Takes a lock if it is free, or held by a thread that waits for this one anyway.
    fn try_lock(&mut self, function: usize, dependents: &[ThreadId]) -> bool {
        let this = std::thread::current().id();
        let available = match self.holder(function) {
            Some(holder) => dependents.contains(&holder),
            None => self
                .first_waiter(function)
                .is_none_or(|first| first.thread.id() == this),
        };
        if available {
            self.leave_queue(function);
            self.holders.entry(function).or_default().push(this);
        }
        available
    }

    fn first_waiter(&self, function: usize) -> Option<&Waiter> {
        self.waiters
            .iter()
            .find(|waiter| waiter.function == function)
    }

    /// Whether waiting for a lock would never end: its holder waits, possibly through other
    /// functions, for one of the dependents.
    fn would_deadlock(&self, function: usize, dependents: &[ThreadId]) -> bool {
        let (mut seen, mut next) = (Vec::new(), vec![function]);
        while let Some(function) = next.pop() {
            let Some(holder) = self.holder(function).filter(|_| !seen.contains(&function)) else {
                continue;
            };
            seen.push(function);
            for waiter in &self.waiters {
                if !waiter.dependents.contains(&holder) {
                    continue;
                }
                if self
                    .holder(waiter.function)
                    .is_some_and(|other| dependents.contains(&other))
                {
                    return true;
                }
                next.push(waiter.function);
            }
        }
        false
    }

    /// Adds the current thread to the queue, once.
    fn join_queue(&mut self, function: usize, dependents: &[ThreadId]) {
        let thread = std::thread::current();
        let is_this =
            |waiter: &Waiter| waiter.function == function && waiter.thread.id() == thread.id();
        if !self.waiters.iter().any(is_this) {
            self.waiters.push(Waiter {
                function,
                thread,
                dependents: dependents.to_vec(),
            });
        }
    }

    fn leave_queue(&mut self, function: usize) {
        let this = std::thread::current().id();
        self.waiters
            .retain(|waiter| waiter.function != function || waiter.thread.id() != this);
        self.wake_first(function);
    }

    fn wake_first(&self, function: usize) {
        if let Some(first) = self.first_waiter(function) {
            first.thread.unpark();
        }
    }
}

/// The lock of a function, until dropped. It is taken and dropped with the interpreter lock held.
pub struct FunctionLockGuard {
    function: usize,
}

impl FunctionLockGuard {
    /// Waits for the lock of a function. `dependents` are this thread and those that wait for it;
    /// an error of `check_interrupt` ends the wait.
    pub fn wait(
        py: Python<'_>,
        function: usize,
        dependents: &[ThreadId],
        check_interrupt: impl Fn(Python<'_>) -> PyResult<()>,
    ) -> PyResult<Self> {
        loop {
            if with_locks(|locks| locks.try_lock(function, dependents)) {
                return Ok(Self { function });
            }
            let waited = if with_locks(|locks| locks.would_deadlock(function, dependents)) {
                Err(PyRuntimeError::new_err(DEADLOCK_MESSAGE))
            } else {
                with_locks(|locks| locks.join_queue(function, dependents));
                py.detach(|| std::thread::park_timeout(POLL_INTERVAL));
                check_interrupt(py)
            };
            if let Err(error) = waited {
                with_locks(|locks| locks.leave_queue(function));
                return Err(error);
            }
        }
    }
}

const DEADLOCK_MESSAGE: &str = "two functions wait for each other: each is called by a thread \
    that waits for the other one; call them from one thread, or set thread_safe=True if a \
    function may be called by several threads at once";

impl Drop for FunctionLockGuard {
    fn drop(&mut self) {
        with_locks(|locks| {
            if let Some(threads) = locks.holders.get_mut(&self.function) {
                threads.pop();
                if threads.is_empty() {
                    locks.holders.remove(&self.function);
                }
            }
            locks.wake_first(self.function);
        });
    }
}
