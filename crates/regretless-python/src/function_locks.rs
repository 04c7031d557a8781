//! One call of a user's function at a time, from whichever thread and problem.
//!
//! A function is known by the object that holds its state, so that problems made from one function,
//! or from methods of one object, share their turns. Threads that wait are served in the order they
//! came. A function that calls its own problem has its turn already: a turn belongs to a thread,
//! and with it to the threads that work for it.
//!
//! The table is touched only by threads that hold the interpreter's lock. A process is forked by
//! such a thread, so that the child never finds the table locked; it drops the turns of threads
//! that it does not have.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Thread, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often a waiting thread looks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Who calls which function, and who waits.
#[derive(Default)]
struct FunctionLocks {
    process: u32,
    /// Threads that are inside a function, by its identity; each later one works for the one
    /// before.
    inside: BTreeMap<usize, Vec<ThreadId>>,
    waiting: Vec<Waiter>,
}

struct Waiter {
    function: usize,
    thread: Thread,
    /// The thread and those that wait for it to end.
    line: Vec<ThreadId>,
}

static FUNCTION_LOCKS: Mutex<Option<FunctionLocks>> = Mutex::new(None);

/// Runs `read` on the table of this process.
fn with_table<T>(read: impl FnOnce(&mut FunctionLocks) -> T) -> T {
    let mut table: MutexGuard<'_, Option<FunctionLocks>> = FUNCTION_LOCKS
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let table = table.get_or_insert_default();
    table.reset_after_fork(std::process::id());
    read(table)
}

impl FunctionLocks {
    /// After a fork only the turns of the forking thread are left.
    fn reset_after_fork(&mut self, process: u32) {
        if self.process != process {
            let this = std::thread::current().id();
            self.process = process;
            self.waiting.clear();
            self.inside
                .values_mut()
                .for_each(|threads| threads.retain(|thread| *thread == this));
            self.inside.retain(|_, threads| !threads.is_empty());
        }
    }

    /// The thread whose call of a function has not ended.
    fn holder(&self, function: usize) -> Option<ThreadId> {
        self.inside.get(&function)?.last().copied()
    }

    /// Takes the turn if it is free, or held by a thread that waits for this one anyway.
    fn take(&mut self, function: usize, line: &[ThreadId]) -> bool {
        let this = std::thread::current().id();
        let mut queue = self
            .waiting
            .iter()
            .filter(|waiting| waiting.function == function);
        let mine = match self.holder(function) {
            Some(holder) => line.contains(&holder),
            None => queue.next().is_none_or(|first| first.thread.id() == this),
        };
        if mine {
            self.leave(function);
            self.inside.entry(function).or_default().push(this);
        }
        mine
    }

    /// Whether waiting for a function would never end: whoever is inside waits, by way of others,
    /// for this line.
    fn would_deadlock(&self, function: usize, line: &[ThreadId]) -> bool {
        let (mut seen, mut next) = (Vec::new(), vec![function]);
        while let Some(function) = next.pop() {
            let Some(holder) = self.holder(function).filter(|_| !seen.contains(&function)) else {
                continue;
            };
            seen.push(function);
            for waiting in self
                .waiting
                .iter()
                .filter(|waiting| waiting.line.contains(&holder))
            {
                if self
                    .holder(waiting.function)
                    .is_some_and(|other| line.contains(&other))
                {
                    return true;
                }
                next.push(waiting.function);
            }
        }
        false
    }

    /// Stands in the queue, once.
    fn queue(&mut self, function: usize, line: &[ThreadId]) {
        let thread = std::thread::current();
        let stands =
            |waiting: &Waiter| waiting.function == function && waiting.thread.id() == thread.id();
        if !self.waiting.iter().any(stands) {
            self.waiting.push(Waiter {
                function,
                thread,
                line: line.to_vec(),
            });
        }
    }

    fn leave(&mut self, function: usize) {
        let this = std::thread::current().id();
        self.waiting
            .retain(|waiting| waiting.function != function || waiting.thread.id() != this);
        self.wake(function);
    }

    fn wake(&self, function: usize) {
        if let Some(first) = self
            .waiting
            .iter()
            .find(|waiting| waiting.function == function)
        {
            first.thread.unpark();
        }
    }
}

/// The right to call a function, until dropped. Holds the interpreter's lock when taken and when
/// dropped.
pub struct FunctionLockGuard {
    function: usize,
}

impl FunctionLockGuard {
    /// Waits for the turn of a function; `line` is this thread and those that wait for it, `go_on`
    /// says whether to wait on.
    pub fn wait(
        py: Python<'_>,
        function: usize,
        line: &[ThreadId],
        go_on: impl Fn(Python<'_>) -> PyResult<()>,
    ) -> PyResult<Self> {
        loop {
            if with_table(|table| table.take(function, line)) {
                return Ok(Self { function });
            }
            let waits = if with_table(|table| table.would_deadlock(function, line)) {
                Err(PyRuntimeError::new_err(DEADLOCK_MESSAGE))
            } else {
                with_table(|table| table.queue(function, line));
                py.detach(|| std::thread::park_timeout(POLL_INTERVAL));
                go_on(py)
            };
            if let Err(error) = waits {
                with_table(|table| table.leave(function));
                return Err(error);
            }
        }
    }
}

const DEADLOCK_MESSAGE: &str = "two functions wait for each other: each is called by a thread that waits for \
    the other one; \
    call them from one thread, or say thread_safe=True where a function may be called by several \
    threads at once";

impl Drop for FunctionLockGuard {
    fn drop(&mut self) {
        with_table(|table| {
            if let Some(threads) = table.inside.get_mut(&self.function) {
                threads.pop();
                if threads.is_empty() {
                    table.inside.remove(&self.function);
                }
            }
            table.wake(self.function);
        });
    }
}
