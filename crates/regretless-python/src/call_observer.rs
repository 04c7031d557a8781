//! Long work next to a running interpreter: it runs on its own thread without the interpreter lock,
//! while the calling thread handles Ctrl-C and shows progress.
//!
//! Signals reach Python code on its main thread only, and threads of the library must not wait for
//! the lock to find out whether to stop. So the calling thread polls 20 times a second, and the
//! work reads a flag. The calling thread also runs the user's function (`call.rs`).

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

use crate::call::{CallEvent, CallState, lock};
use crate::error::to_py_err;

/// How often the calling thread checks for signals and shows progress: fast enough for a person,
/// and without a measurable cost.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Progress, messages, warnings and cancellation of one call.
struct CallObserver<'a> {
    call: &'a CallState,
    /// The current task and the number of its steps.
    task: Mutex<Option<(String, u64)>>,
    done: AtomicU64,
    message: Mutex<String>,
    /// Information for the user, logged when the work ends.
    information: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl Observer for CallObserver<'_> {
    fn begin(&self, task: &str, steps: u64) {
        *lock(&self.task) = Some((task.into(), steps));
        self.done.store(0, Ordering::Relaxed);
        lock(&self.message).clear();
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn message(&self, text: &str) {
        text.clone_into(&mut lock(&self.message));
    }

    fn inform(&self, text: &str) {
        lock(&self.information).push(text.into());
    }

    fn warn(&self, text: &str) {
        lock(&self.warnings).push(text.into());
    }

    fn end(&self) {
        *lock(&self.task) = None;
    }

    fn interrupted(&self) -> bool {
        self.call.interrupted()
    }
}

impl CallObserver<'_> {
    /// Shows the current state with `regretless.progress.Progress`.
    fn show(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let (task, steps) = lock(&self.task).clone().unwrap_or_default();
        let done = self.done.load(Ordering::Relaxed);
        let message = lock(&self.message).clone();
        progress.call_method1("show", (task, steps, done, message))?;
        Ok(())
    }

    /// Logs the collected information and raises the collected warnings in Python.
    fn emit_texts(&self, py: Python<'_>) -> PyResult<()> {
        let information = std::mem::take(&mut *lock(&self.information));
        for text in information {
            py.import("logging")?
                .call_method1("getLogger", ("regretless",))?
                .call_method1("info", (text,))?;
        }
        let warnings = std::mem::take(&mut *lock(&self.warnings));
        warnings.iter().try_for_each(|warning| warn(py, warning))
    }
}

/// Raises a Python warning at the line of the user's call.
pub fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    py.import("regretless._user_warnings")?
        .call_method1("warn", (message,))?;
    Ok(())
}

/// A call from Python into the library; it may run several pieces of work in turn.
pub struct PyCall {
    /// Whether to show progress.
    progress: bool,
    state: Arc<CallState>,
}

impl PyCall {
    /// A call of the current thread.
    pub fn new(progress: bool) -> Self {
        Self {
            progress,
            state: CallState::new(),
        }
    }

    /// The state that the user's functions need.
    pub fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    /// Runs long work without the interpreter lock; Ctrl-C and exceptions of the user's function
    /// stop it.
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
        let observer = CallObserver {
            call: state,
            task: Mutex::new(None),
            done: AtomicU64::new(0),
            message: Mutex::default(),
            information: Mutex::default(),
            warnings: Mutex::default(),
        };
        let result = Mutex::new(None);
        let mut signal = None;
        // Checked within a long solve; the flag of the call is read between solves only.
        let cancellation = Cancellation::new();
        state.open();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _scope = cancellation.enter();
                state.work_on_this_thread();
                *lock(&result) = Some(catch_unwind(AssertUnwindSafe(|| work(&observer))));
                state.finish();
            });
            let mut polled = Instant::now();
            loop {
                match py.detach(|| state.wait(POLL_INTERVAL)) {
                    CallEvent::Finished => return,
                    CallEvent::Request(request) => state.handle_request(py, request),
                    CallEvent::Nothing => (),
                }
                if polled.elapsed() < POLL_INTERVAL {
                    continue;
                }
                polled = Instant::now();
                let shown = progress
                    .as_ref()
                    .map_or(Ok(()), |progress| observer.show(progress));
                // What is said before long work is of no use after it.
                let told = observer.emit_texts(py);
                if let Err(error) = py.check_signals().and(shown).and(told) {
                    state.stop();
                    signal.get_or_insert(error);
                }
                // Also if the enclosing call stopped, or a function raised on another thread.
                if state.interrupted() {
                    cancellation.request();
                }
            }
        });
        state.close();
        if let Some(progress) = progress {
            progress.call_method0("close")?;
        }
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        let value = finish_call(result, signal, state.take_exception())?;
        observer.emit_texts(py)?;
        Ok(value)
    }
}

/// The value or exception of a finished call: Ctrl-C first, then the exception of the user's
/// function, then the library's error.
fn finish_call<T>(
    result: Option<std::thread::Result<Result<T>>>,
    signal: Option<PyErr>,
    raised: Option<PyErr>,
) -> PyResult<T> {
    match (signal.or(raised), result) {
        (Some(error), _) => Err(error),
        (None, Some(Ok(result))) => result.map_err(to_py_err),
        (None, Some(Err(panic))) => Err(panic_error(panic.as_ref())),
        (None, None) => Err(panic_error(&"the work returned no result")),
    }
}

/// The exception for a panic.
fn panic_error(panic: &(dyn Any + Send)) -> PyErr {
    PyRuntimeError::new_err(format!("{PANIC_PREFIX}: {}", panic_message(panic)))
}

/// Runs short work that holds the interpreter lock; a panic becomes an ordinary exception, which
/// `except Exception` catches.
pub fn catch_panic<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panic_error(panic.as_ref())))
}

/// Runs short work of the library without the interpreter lock; errors and panics become ordinary
/// exceptions.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(to_py_err),
        Err(panic) => Err(panic_error(panic.as_ref())),
    }
}

/// The start of the message for a panic.
const PANIC_PREFIX: &str = "internal error in regretless; please report this";

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("the panic has no message")
}
