//! State of one call from Python into the library: cancellation, the exception of the user's
//! function, and the queue of solver calls for the calling thread.
//!
//! A user's function runs on the thread that made the call, like any Python code: Ctrl-C reaches it
//! there, and no thread of the library waits for the interpreter lock. Functions that may run on
//! several threads at once (`thread_safe=True`) run on their own threads. An exception of a
//! function belongs to the call that led to it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use regretless::solve::SolveFailure;

use crate::function_locks::FunctionLockGuard;
use crate::loss::LossRequest;
use crate::solver_function::{FunctionResult, FunctionTask, SolverFunction};

/// How often a user's function that waits for an answer checks for Ctrl-C.
const ANSWER_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Locks a mutex; a panic of another holder is reported elsewhere.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The call whose function this thread is running.
    static ENCLOSING_CALL: RefCell<Option<Arc<CallState>>> = const { RefCell::new(None) };
    /// The call that this thread of the library works for.
    static WORKING_CALL: RefCell<Option<Arc<CallState>>> = const { RefCell::new(None) };
}

/// A running call.
#[derive(Debug)]
pub struct CallState {
    stop: AtomicBool,
    failed: AtomicBool,
    /// The first exception of the user's function.
    exception: Mutex<Option<PyErr>>,
    /// The thread that made the call.
    caller: ThreadId,
    /// The call whose function made this one, if there is one.
    enclosing: Option<Arc<CallState>>,
    requests: Mutex<RequestQueue>,
    /// Signals a new request or the end of the work.
    changed: Condvar,
}

/// Calls of the user's functions for the calling thread.
#[derive(Debug, Default)]
struct RequestQueue {
    /// Whether the calling thread handles requests.
    open: bool,
    pending: VecDeque<FunctionRequest>,
    /// Whether the work is done.
    finished: bool,
}

/// A call of a user's function that the calling thread makes.
#[derive(Debug)]
pub enum FunctionRequest {
    /// Of a solver or its check.
    Solver(SolverRequest),
    /// Of a loss.
    Loss(Box<LossRequest>),
}

/// A call of a user's solver.
#[derive(Debug)]
pub struct SolverRequest {
    function: Arc<SolverFunction>,
    task: FunctionTask,
    response: SyncSender<FunctionResult>,
}

/// What the calling thread receives when it polls.
pub enum CallEvent {
    /// A call of a user's function.
    Request(FunctionRequest),
    /// The work is done.
    Finished,
    /// The poll interval has passed.
    Nothing,
}

impl CallState {
    /// A call of the current thread.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            stop: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            exception: Mutex::new(None),
            caller: std::thread::current().id(),
            enclosing: ENCLOSING_CALL.with_borrow(Clone::clone),
            requests: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Requests the work to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the work should stop: after Ctrl-C or an exception, in this call or in the enclosing
    /// one.
    pub fn interrupted(&self) -> bool {
        let is_stopped = self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed);
        is_stopped
            || self
                .enclosing
                .as_ref()
                .is_some_and(|enclosing| enclosing.interrupted())
    }

    fn store_exception(&self, error: PyErr) {
        lock(&self.exception).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }

    /// The exception of the user's function.
    pub fn take_exception(&self) -> Option<PyErr> {
        self.failed
            .swap(false, Ordering::Acquire)
            .then(|| lock(&self.exception).take())
            .flatten()
    }

    /// The calling thread and all threads that wait for this call to end.
    fn waiting_threads(&self) -> Vec<ThreadId> {
        let mut threads = vec![self.caller];
        let mut call = self;
        while let Some(enclosing) = &call.enclosing {
            threads.push(enclosing.caller);
            call = enclosing;
        }
        threads
    }

    /// Accepts requests from now on.
    pub fn open(&self) {
        *lock(&self.requests) = RequestQueue {
            open: true,
            ..RequestQueue::default()
        };
    }

    /// Signals the calling thread that the work is done.
    pub fn finish(&self) {
        lock(&self.requests).finished = true;
        self.changed.notify_all();
    }

    /// Accepts no more requests; later ones fail.
    pub fn close(&self) {
        *lock(&self.requests) = RequestQueue::default();
    }

    /// Waits for a request or the end of the work, at most `timeout`.
    pub fn wait(&self, timeout: Duration) -> CallEvent {
        let idle = |queue: &mut RequestQueue| queue.pending.is_empty() && !queue.finished;
        let mut queue = self
            .changed
            .wait_timeout_while(lock(&self.requests), timeout, idle)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        match queue.pending.pop_front() {
            Some(request) => CallEvent::Request(request),
            None if queue.finished => CallEvent::Finished,
            None => CallEvent::Nothing,
        }
    }

    /// The call that this thread of the library works for, if there is one.
    pub fn of_this_thread() -> Option<Arc<Self>> {
        WORKING_CALL.with_borrow(Clone::clone)
    }

    /// Marks this thread as working for the call, to its end.
    pub fn work_on_this_thread(self: &Arc<Self>) {
        WORKING_CALL.set(Some(Arc::clone(self)));
    }

    /// Wakes the calling thread if it waits for an answer ([`Self::wait_for`]).
    pub fn wake(&self) {
        // A thread that has checked for the answer, but does not wait yet, holds the lock.
        drop(lock(&self.requests));
        self.changed.notify_all();
    }

    /// Waits on the calling thread, within a user's function, for an answer of the library, and
    /// runs the user's solver meanwhile. Ctrl-C ends the wait.
    pub fn wait_for<T: Send>(
        self: &Arc<Self>,
        py: Python<'_>,
        answers: &Mutex<Receiver<T>>,
    ) -> PyResult<T> {
        loop {
            let (answer, request) = py.detach(|| self.wait_for_answer(&lock(answers)));
            if let Some(answer) = answer {
                return Ok(answer);
            }
            if let Some(request) = request {
                self.handle_request(py, request);
            }
            if let Err(error) = py.check_signals() {
                self.stop();
                return Err(error);
            }
        }
    }

    /// An answer or a request, whichever comes first; neither after the poll interval.
    fn wait_for_answer<T>(&self, answers: &Receiver<T>) -> (Option<T>, Option<FunctionRequest>) {
        let mut answer = None;
        let idle = |queue: &mut RequestQueue| {
            answer = answers.try_recv().ok();
            answer.is_none() && queue.pending.is_empty()
        };
        let mut queue = self
            .changed
            .wait_timeout_while(lock(&self.requests), ANSWER_POLL_INTERVAL, idle)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        let request = match answer {
            Some(_) => None,
            None => queue.pending.pop_front(),
        };
        (answer, request)
    }

    /// Requests a call of a loss function; its messages go to the requesting thread.
    ///
    /// # Errors
    /// When the calling thread does not handle requests any more.
    pub fn request_loss(&self, request: LossRequest) -> regretless::Result<()> {
        if self.interrupted() {
            return Err(regretless::Error::Interrupted);
        }
        {
            let mut queue = lock(&self.requests);
            if !queue.open {
                return Err(regretless::Error::Interrupted);
            }
            let request = FunctionRequest::Loss(Box::new(request));
            queue.pending.push_back(request);
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Calls a function on the calling thread; waits for the result without the interpreter lock.
    pub fn call_on_main_thread(
        &self,
        function: &Arc<SolverFunction>,
        task: FunctionTask,
    ) -> FunctionResult {
        let (response, responses) = sync_channel(1);
        let request = SolverRequest {
            function: Arc::clone(function),
            task,
            response,
        };
        {
            let mut queue = lock(&self.requests);
            if !queue.open {
                return Err(SolveFailure::SolverError(
                    "the call that could run the function has ended".into(),
                ));
            }
            queue.pending.push_back(FunctionRequest::Solver(request));
        }
        self.changed.notify_all();
        responses.recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// Calls the function of a request on this thread once its lock is free, and sends the result.
    pub fn handle_request(self: &Arc<Self>, py: Python<'_>, request: FunctionRequest) {
        match request {
            FunctionRequest::Solver(request) => self.handle_solver(py, request),
            FunctionRequest::Loss(request) => self.handle_loss(py, &request),
        }
    }

    /// Waits for the lock of a function, until the call is interrupted.
    fn lock_function(&self, py: Python<'_>, identity: usize) -> PyResult<FunctionLockGuard> {
        let check_interrupt = |py: Python<'_>| {
            py.check_signals()?;
            if self.interrupted() {
                Err(PyKeyboardInterrupt::new_err(()))
            } else {
                Ok(())
            }
        };
        FunctionLockGuard::wait(py, identity, &self.waiting_threads(), check_interrupt)
    }

    fn handle_loss(self: &Arc<Self>, py: Python<'_>, request: &LossRequest) {
        let result = self.lock_function(py, request.function().identity());
        let error = match result {
            Ok(_guard) => {
                let _nested = NestedCallGuard::enter(Arc::clone(self));
                request.run_in_call(py)
            }
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            self.store_exception(error);
            request.fail();
        }
    }

    fn handle_solver(self: &Arc<Self>, py: Python<'_>, request: SolverRequest) {
        let SolverRequest {
            function,
            task,
            response,
        } = request;
        let result = match self.lock_function(py, function.identity()) {
            Ok(_guard) => self.call(py, &function, &task),
            Err(error) => self.fail_with(error),
        };
        // The receiver is gone only if the whole call has ended.
        let _ = response.send(result);
    }

    /// Calls a function on this thread; stores its exception.
    pub fn call(
        self: &Arc<Self>,
        py: Python<'_>,
        function: &SolverFunction,
        task: &FunctionTask,
    ) -> FunctionResult {
        if self.interrupted() {
            return Err(stopped());
        }
        let _nested = NestedCallGuard::enter(Arc::clone(self));
        function
            .call(py, task)
            .unwrap_or_else(|error| self.fail_with(error))
    }

    fn fail_with(&self, error: PyErr) -> FunctionResult {
        self.store_exception(error);
        Err(SolveFailure::SolverError(
            "the function raised an exception".into(),
        ))
    }
}

fn stopped() -> SolveFailure {
    SolveFailure::SolverError("the call was stopped".into())
}

/// Marks calls of this thread as nested in the function of another call, until dropped.
struct NestedCallGuard {
    previous: Option<Arc<CallState>>,
}

impl NestedCallGuard {
    fn enter(call: Arc<CallState>) -> Self {
        Self {
            previous: ENCLOSING_CALL.replace(Some(call)),
        }
    }
}

impl Drop for NestedCallGuard {
    fn drop(&mut self) {
        ENCLOSING_CALL.set(self.previous.take());
    }
}
