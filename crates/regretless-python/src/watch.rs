//! Long work beside a live interpreter: it runs on a thread of its own without the interpreter's lock, while
//! the calling thread hears Ctrl-C and shows progress.
//!
//! Signals reach Python code on its main thread only, and the library's threads must not wait for the lock just
//! to ask whether to go on. So the calling thread looks 20 times a second, and the work reads a flag.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use regretless::Result;
use regretless::watch::Watch;

use crate::error::raise;

/// How often the calling thread looks for signals and shows progress.
const TICK: Duration = Duration::from_millis(50);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first exception of a user's function, kept until the call that led to it ends.
#[derive(Debug, Default)]
pub struct Raised {
    is: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl Raised {
    /// Keeps an exception unless there is one already.
    pub fn keep(&self, error: PyErr) {
        locked(&self.first).get_or_insert(error);
        self.is.store(true, Ordering::Release);
    }

    fn take(&self) -> Option<PyErr> {
        self.is.swap(false, Ordering::Acquire).then(|| locked(&self.first).take()).flatten()
    }
}

/// What the work tells and asks.
struct Desk<'a> {
    stop: AtomicBool,
    raised: &'a Raised,
    /// Changes with every task.
    task: Mutex<Option<(String, u64)>>,
    done: AtomicU64,
    note: Mutex<String>,
    remarks: Mutex<Vec<String>>,
}

impl Watch for Desk<'_> {
    fn begin(&self, task: &str, steps: u64) {
        *locked(&self.task) = Some((task.into(), steps));
        self.done.store(0, Ordering::Relaxed);
        locked(&self.note).clear();
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        text.clone_into(&mut locked(&self.note));
    }

    fn remark(&self, text: &str) {
        locked(&self.remarks).push(text.into());
    }

    fn end(&self) {
        *locked(&self.task) = None;
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.raised.is.load(Ordering::Relaxed)
    }
}

impl Desk<'_> {
    /// Shows the present state on `regretless.progress.Progress`.
    fn show(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let (task, steps) = locked(&self.task).clone().unwrap_or_default();
        let (done, note) = (self.done.load(Ordering::Relaxed), locked(&self.note).clone());
        progress.call_method1("show", (task, steps, done, note))?;
        Ok(())
    }

    /// Hands what was remarked to Python's warnings.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let remarks = std::mem::take(&mut *locked(&self.remarks));
        remarks.iter().try_for_each(|remark| warn(py, remark))
    }
}

/// A warning of Python's, which points at the user's line.
pub fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let kwargs = pyo3::types::PyDict::new(py);
    kwargs.set_item("stacklevel", 2)?;
    py.import("warnings")?.call_method("warn", (message,), Some(&kwargs))?;
    Ok(())
}

/// Where the finished work lies until the calling thread looks.
struct Outbox<T> {
    found: Mutex<Option<std::thread::Result<T>>>,
    ready: Condvar,
}

impl<T> Outbox<T> {
    fn put(&self, found: std::thread::Result<T>) {
        *locked(&self.found) = Some(found);
        self.ready.notify_all();
    }

    fn wait(&self) -> Option<std::thread::Result<T>> {
        let found = locked(&self.found);
        let waiting = self.ready.wait_timeout_while(found, TICK, |found| found.is_none());
        waiting.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

/// How a call is watched.
pub struct Call<'a> {
    /// Whether the user wants to see progress.
    pub progress: bool,
    /// Where exceptions of the user's own function end up.
    pub raised: &'a Arc<Raised>,
}

impl Call<'_> {
    /// Does long work without the interpreter; Ctrl-C and exceptions of the user's function stop it.
    pub fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&dyn Watch) -> Result<T> + Send) -> PyResult<T> {
        let progress = self.progress.then(|| py.import("regretless.progress")?.getattr("Progress")?.call0());
        let progress = progress.transpose()?;
        let desk = Desk {
            stop: AtomicBool::new(false),
            raised: self.raised,
            task: Mutex::new(None),
            done: AtomicU64::new(0),
            note: Mutex::default(),
            remarks: Mutex::default(),
        };
        let outbox = Outbox { found: Mutex::new(None), ready: Condvar::new() };
        let mut heard = None;
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| outbox.put(catch_unwind(AssertUnwindSafe(|| work(&desk)))));
            loop {
                if let Some(found) = py.detach(|| outbox.wait()) {
                    return found;
                }
                let shown = progress.as_ref().map_or(Ok(()), |progress| desk.show(progress));
                if let Err(error) = py.check_signals().and(shown) {
                    desk.stop.store(true, Ordering::Relaxed);
                    heard.get_or_insert(error);
                }
            }
        });
        if let Some(progress) = progress {
            progress.call_method0("close")?;
        }
        let found = settled(outcome, heard, self.raised)?;
        desk.warn(py)?;
        Ok(found)
    }
}

/// What a finished call returns or raises: Ctrl-C first, then the user's own exception, then ours.
fn settled<T>(outcome: Result<Result<T>, Box<dyn Any + Send>>, heard: Option<PyErr>, raised: &Raised) -> PyResult<T> {
    match (heard.or(raised.take()), outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(outcome)) => outcome.map_err(raise),
        (None, Err(panic)) => Err(PyRuntimeError::new_err(format!("{BUG}: {}", told(panic.as_ref())))),
    }
}

/// What is said before the words of a panic.
const BUG: &str = "regretless failed in a way it never should; please report this";

fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words were left")
}
