//! Long work beside a live interpreter: it runs on a thread of its own without the interpreter's
//! lock, while the calling thread hears Ctrl-C and shows progress.
//!
//! Signals reach Python code on its main thread only, and the library's threads must not wait for
//! the lock just to ask whether to go on. So the calling thread looks 20 times a second, and the
//! work reads a flag. It also calls the user's function where the work needs that (`call.rs`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use regretless::Result;
use regretless::cancellation::Cancellation;
use regretless::observer::Observer;

use crate::call::{CallEvent, CallState, locked};
use crate::error::to_py_err;

/// How often the calling thread looks for signals and shows progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What the work tells and asks.
struct CallObserver<'a> {
    call: &'a CallState,
    /// Changes with every task.
    task: Mutex<Option<(String, u64)>>,
    done: AtomicU64,
    note: Mutex<String>,
    remarks: Mutex<Vec<String>>,
}

impl Observer for CallObserver<'_> {
    fn begin(&self, task: &str, steps: u64) {
        *locked(&self.task) = Some((task.into(), steps));
        self.done.store(0, Ordering::Relaxed);
        locked(&self.note).clear();
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn message(&self, text: &str) {
        text.clone_into(&mut locked(&self.note));
    }

    fn warn(&self, text: &str) {
        locked(&self.remarks).push(text.into());
    }

    fn end(&self) {
        *locked(&self.task) = None;
    }

    fn interrupted(&self) -> bool {
        self.call.interrupted()
    }
}

impl CallObserver<'_> {
    /// Shows the present state on `regretless.progress.Progress`.
    fn show(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let (task, steps) = locked(&self.task).clone().unwrap_or_default();
        let (done, note) = (
            self.done.load(Ordering::Relaxed),
            locked(&self.note).clone(),
        );
        progress.call_method1("show", (task, steps, done, note))?;
        Ok(())
    }

    /// Hands what was remarked to Python's warnings.
    fn emit_warnings(&self, py: Python<'_>) -> PyResult<()> {
        let remarks = std::mem::take(&mut *locked(&self.remarks));
        remarks.iter().try_for_each(|remark| warn(py, remark))
    }
}

/// A warning of Python's, which points at the user's line.
pub fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let kwargs = pyo3::types::PyDict::new(py);
    kwargs.set_item("stacklevel", 2)?;
    py.import("warnings")?
        .call_method("warn", (message,), Some(&kwargs))?;
    Ok(())
}

/// A call of Python into the library; it may do several pieces of work, one after the other.
pub struct PyCall {
    /// Whether the user wants to see progress.
    progress: bool,
    state: Arc<CallState>,
}

impl PyCall {
    /// A call by this thread.
    pub fn new(progress: bool) -> Self {
        Self {
            progress,
            state: CallState::new(),
        }
    }

    /// What functions that are called on its behalf need to know.
    pub fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    /// Does long work without the interpreter; Ctrl-C and exceptions of the user's function stop
    /// it.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Observer) -> Result<T> + Send,
    ) -> PyResult<T> {
        let progress = self.progress.then(|| {
            py.import("regretless.progress")?
                .getattr("Progress")?
                .call0()
        });
        let progress = progress.transpose()?;
        let state = &self.state;
        let desk = CallObserver {
            call: state,
            task: Mutex::new(None),
            done: AtomicU64::new(0),
            note: Mutex::default(),
            remarks: Mutex::default(),
        };
        let found = Mutex::new(None);
        let mut heard = None;
        // A single solve that takes long asks this; the flag of the call is read between solves
        // only.
        let cancellation = Cancellation::new();
        state.open();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _scope = cancellation.enter();
                *locked(&found) = Some(catch_unwind(AssertUnwindSafe(|| work(&desk))));
                state.finish();
            });
            let mut looked = Instant::now();
            loop {
                match py.detach(|| state.wait(POLL_INTERVAL)) {
                    CallEvent::Finished => return,
                    CallEvent::Request(request) => state.handle_request(py, request),
                    CallEvent::Nothing => (),
                }
                if looked.elapsed() < POLL_INTERVAL {
                    continue;
                }
                looked = Instant::now();
                let shown = progress
                    .as_ref()
                    .map_or(Ok(()), |progress| desk.show(progress));
                if let Err(error) = py.check_signals().and(shown) {
                    state.stop();
                    heard.get_or_insert(error);
                }
                // Also where the call whose function made this one was stopped, or another thread's
                // function raised.
                if state.interrupted() {
                    cancellation.request();
                }
            }
        });
        state.close();
        if let Some(progress) = progress {
            progress.call_method0("close")?;
        }
        let outcome = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = finish_call(outcome, heard, state.take_exception())?;
        desk.emit_warnings(py)?;
        Ok(found)
    }
}

/// What a finished call returns or raises: Ctrl-C first, then the user's own exception, then ours.
fn finish_call<T>(
    outcome: Option<std::thread::Result<Result<T>>>,
    heard: Option<PyErr>,
    raised: Option<PyErr>,
) -> PyResult<T> {
    match (heard.or(raised), outcome) {
        (Some(error), _) => Err(error),
        (None, Some(Ok(outcome))) => outcome.map_err(to_py_err),
        (None, Some(Err(panic))) => Err(panic_error(panic.as_ref())),
        (None, None) => Err(panic_error(&"the work left no result")),
    }
}

/// The exception for a panic.
fn panic_error(panic: &(dyn Any + Send)) -> PyErr {
    PyRuntimeError::new_err(format!("{PANIC_PREFIX}: {}", panic_message(panic)))
}

/// Does short work that holds the interpreter's lock; a panic becomes an ordinary exception, which
/// `except Exception` catches.
pub fn catch_panic<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panic_error(panic.as_ref())))
}

/// Does short work of the library without the interpreter's lock; errors and panics become ordinary
/// exceptions.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(found) => found.map_err(to_py_err),
        Err(panic) => Err(panic_error(panic.as_ref())),
    }
}

/// What is said before the words of a panic.
const PANIC_PREFIX: &str = "regretless failed in a way it never should; please report this";

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no words were left")
}
