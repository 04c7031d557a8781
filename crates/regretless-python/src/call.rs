//! One call of Python into the library while it lasts: whether it should stop, what the user's
//! function raised, and the solver calls that wait for the calling thread.
//!
//! A user's function runs on the thread that made the call, as any Python code would: Ctrl-C
//! reaches it there, and none of the library's threads ever waits for Python. Functions that may
//! run on several threads at once (`thread_safe=True`) run on threads of their own. What a function
//! raises belongs to the call that led to it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use regretless::oracle::SolveResult;
use regretless::solve::SolveFailure;

use crate::function_locks::FunctionLockGuard;
use crate::function_problem::SolverFunction;

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The call whose function this thread is running.
    static ENCLOSING_CALL: RefCell<Option<Arc<CallState>>> = const { RefCell::new(None) };
}

/// A call that has begun.
#[derive(Debug)]
pub struct CallState {
    stop: AtomicBool,
    failed: AtomicBool,
    /// The first exception of the user's function.
    exception: Mutex<Option<PyErr>>,
    /// The thread that made the call.
    caller: ThreadId,
    /// The call whose function made this one, if one did.
    enclosing: Option<Arc<CallState>>,
    requests: Mutex<RequestQueue>,
    arrived: Condvar,
}

/// What waits for the calling thread.
#[derive(Debug, Default)]
struct RequestQueue {
    /// Whether the calling thread looks.
    open: bool,
    requests: VecDeque<SolverRequest>,
    finished: bool,
}

/// A solver call that the calling thread should make.
#[derive(Debug)]
pub struct SolverRequest {
    function: Arc<SolverFunction>,
    costs: Vec<f64>,
    answer: SyncSender<SolveResult>,
}

/// What the calling thread finds when it looks.
pub enum CallEvent {
    /// A solver call.
    Request(SolverRequest),
    /// The work is done.
    Finished,
    /// Time has passed.
    Nothing,
}

impl CallState {
    /// A call by this thread.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            stop: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            exception: Mutex::new(None),
            caller: std::thread::current().id(),
            enclosing: ENCLOSING_CALL.with_borrow(Clone::clone),
            requests: Mutex::default(),
            arrived: Condvar::new(),
        })
    }

    /// Asks the work to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the work should end: by Ctrl-C or an exception, here or in the call whose function
    /// made this one.
    pub fn interrupted(&self) -> bool {
        let here = self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed);
        here || self
            .enclosing
            .as_ref()
            .is_some_and(|enclosing| enclosing.interrupted())
    }

    fn store_exception(&self, error: PyErr) {
        locked(&self.exception).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }

    /// What the user's function raised.
    pub fn take_exception(&self) -> Option<PyErr> {
        self.failed
            .swap(false, Ordering::Acquire)
            .then(|| locked(&self.exception).take())
            .flatten()
    }

    /// The calling thread and all that wait for this call to end.
    fn waiting_threads(&self) -> Vec<ThreadId> {
        let mut line = vec![self.caller];
        let mut call = self;
        while let Some(enclosing) = &call.enclosing {
            line.push(enclosing.caller);
            call = enclosing;
        }
        line
    }

    /// The calling thread looks from now on.
    pub fn open(&self) {
        *locked(&self.requests) = RequestQueue {
            open: true,
            ..RequestQueue::default()
        };
    }

    /// Tells the calling thread that the work is done.
    pub fn finish(&self) {
        locked(&self.requests).finished = true;
        self.arrived.notify_all();
    }

    /// The calling thread looks no longer; whoever still asks hears that.
    pub fn close(&self) {
        *locked(&self.requests) = RequestQueue::default();
    }

    /// Waits for a request or the end of the work, for so long.
    pub fn wait(&self, time: Duration) -> CallEvent {
        let requests = locked(&self.requests);
        let quiet =
            |requests: &mut RequestQueue| requests.requests.is_empty() && !requests.finished;
        let mut requests = self
            .arrived
            .wait_timeout_while(requests, time, quiet)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        match requests.requests.pop_front() {
            Some(request) => CallEvent::Request(request),
            None if requests.finished => CallEvent::Finished,
            None => CallEvent::Nothing,
        }
    }

    /// Has the calling thread call a function; waits for the answer without the interpreter's lock.
    pub fn call_on_main_thread(
        &self,
        function: &Arc<SolverFunction>,
        costs: &[f64],
    ) -> SolveResult {
        let (answer, answered) = sync_channel(1);
        let request = SolverRequest {
            function: Arc::clone(function),
            costs: costs.to_vec(),
            answer,
        };
        {
            let mut requests = locked(&self.requests);
            if !requests.open {
                return Err(SolveFailure::Engine(
                    "nobody is there to call the function".into(),
                ));
            }
            requests.requests.push_back(request);
        }
        self.arrived.notify_all();
        answered.recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// Calls the function of a request on this thread, when it is its turn, and hands the answer
    /// back.
    pub fn handle_request(self: &Arc<Self>, py: Python<'_>, request: SolverRequest) {
        let SolverRequest {
            function,
            costs,
            answer,
        } = request;
        let go_on = |py: Python<'_>| {
            py.check_signals()?;
            if self.interrupted() {
                Err(PyKeyboardInterrupt::new_err(()))
            } else {
                Ok(())
            }
        };
        let found = match FunctionLockGuard::wait(
            py,
            function.identity(),
            &self.waiting_threads(),
            go_on,
        ) {
            Ok(_turn) => self.call(py, &function, &costs),
            Err(error) => self.failing(error),
        };
        // Whoever asked is gone only where the whole call has ended.
        let _ = answer.send(found);
    }

    /// Calls a function on this thread; keeps what it raises.
    pub fn call(
        self: &Arc<Self>,
        py: Python<'_>,
        function: &SolverFunction,
        costs: &[f64],
    ) -> SolveResult {
        if self.interrupted() {
            return Err(stopped());
        }
        let _enclosed = NestedCallGuard::by(Arc::clone(self));
        function
            .call(py, costs)
            .unwrap_or_else(|error| self.failing(error))
    }

    fn failing(&self, error: PyErr) -> SolveResult {
        self.store_exception(error);
        Err(SolveFailure::Engine(
            "the function raised an exception".into(),
        ))
    }
}

fn stopped() -> SolveFailure {
    SolveFailure::Engine("the call was stopped".into())
}

/// Calls made by this thread belong to a function of another call, until dropped.
struct NestedCallGuard {
    before: Option<Arc<CallState>>,
}

impl NestedCallGuard {
    fn by(call: Arc<CallState>) -> Self {
        Self {
            before: ENCLOSING_CALL.replace(Some(call)),
        }
    }
}

impl Drop for NestedCallGuard {
    fn drop(&mut self) {
        ENCLOSING_CALL.set(self.before.take());
    }
}
