//! Cancellation of running solves.
//!
//! Solvers do not depend on observers or signals. The caller enters a [`Cancellation`] on its
//! thread; every solver that may take long polls `requested`, and workers inherit the
//! cancellation of the thread that started them (`parallel.rs`). A canceled search ends as fast as
//! it can; the oracle discards its result and reports an interrupted solve. A request can therefore
//! end a solve, but never change a result, unless the caller asked for incumbents.
//!
//! A time limit uses the same polls: a search whose deadline has passed ends with its incumbent.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A cancellation flag; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

thread_local! {
    /// The cancellation of the work on this thread.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
    /// When the current solve on this thread reaches its time limit.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

impl Cancellation {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests all work that entered this cancellation to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the work on this thread should stop, for custom solvers. Takes one or two
    /// nanoseconds: cheap enough for every node of a search.
    pub fn is_current_requested() -> bool {
        requested()
    }

    /// Makes this the cancellation of the work on this thread, until the scope ends.
    #[must_use = "the scope ends when it is dropped"]
    pub fn enter(&self) -> impl Drop + use<> {
        inherit(Some(self.clone()))
    }
}

/// Restores the previous cancellation of the thread when dropped.
#[derive(Debug)]
pub(crate) struct CancellationScope {
    previous: Option<Cancellation>,
    /// Makes the scope neither `Send` nor `Sync`: it belongs to one thread.
    _not_send: PhantomData<*const ()>,
}

impl Drop for CancellationScope {
    fn drop(&mut self) {
        let previous = self.previous.take();
        // Thread-local storage is gone while a thread ends; then nothing polls it either.
        let _ = CURRENT.try_with(|current| *current.borrow_mut() = previous);
    }
}

/// The cancellation of the work on this thread, for its workers.
pub(crate) fn current() -> Option<Cancellation> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .ok()
        .flatten()
}

/// Makes a worker use the cancellation of the thread that started it.
#[must_use = "the scope ends when it is dropped"]
pub(crate) fn inherit(cancellation: Option<Cancellation>) -> CancellationScope {
    let previous = CURRENT
        .try_with(|current| current.replace(cancellation))
        .ok()
        .flatten();
    CancellationScope {
        previous,
        _not_send: PhantomData,
    }
}

/// Whether the work on this thread should stop: it was canceled, or its time limit is reached.
/// Takes one or two nanoseconds without a time limit: cheap enough for every node of a search.
pub fn requested() -> bool {
    is_canceled() || is_past_deadline()
}

/// Whether the work on this thread was canceled.
pub fn is_canceled() -> bool {
    let is_requested = |current: &RefCell<Option<Cancellation>>| {
        current
            .borrow()
            .as_ref()
            .is_some_and(Cancellation::is_requested)
    };
    CURRENT.try_with(is_requested).unwrap_or(false)
}

fn is_past_deadline() -> bool {
    let deadline = DEADLINE.try_with(Cell::get).ok().flatten();
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Restores the previous deadline of the thread when dropped.
pub struct DeadlineScope {
    previous: Option<Instant>,
}

impl Drop for DeadlineScope {
    fn drop(&mut self) {
        let _ = DEADLINE.try_with(|deadline| deadline.set(self.previous));
    }
}

/// Makes searches on this thread stop at a deadline, until the scope ends.
#[must_use = "the scope ends when it is dropped"]
pub fn enter_deadline(deadline: Instant) -> DeadlineScope {
    let previous = DEADLINE
        .try_with(|current| current.replace(Some(deadline)))
        .ok()
        .flatten();
    DeadlineScope { previous }
}

/// Whether the work on this thread may be told to stop, for which HiGHS then polls.
pub fn is_possible() -> bool {
    let has_cancellation = CURRENT
        .try_with(|current| current.borrow().is_some())
        .unwrap_or(false);
    has_cancellation || DEADLINE.try_with(Cell::get).ok().flatten().is_some()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Cancellation, enter_deadline, is_canceled, is_possible, requested};
    use crate::parallel::Threads;

    #[test]
    fn a_request_takes_effect_within_its_scope_only() {
        let (outer, inner) = (Cancellation::new(), Cancellation::new());
        inner.request();
        assert!(!requested() && !is_possible());
        let scope = outer.enter();
        assert!(!requested() && is_possible());
        {
            let _scope = inner.enter();
            assert!(requested());
        }
        assert!(!requested());
        outer.request();
        assert!(requested());
        drop(scope);
        assert!(!requested() && !is_possible());
    }

    #[test]
    fn a_deadline_takes_effect_within_its_scope_and_is_no_cancellation() {
        let now = Instant::now();
        let later = enter_deadline(now + Duration::from_secs(3600));
        assert!(!requested() && is_possible());
        {
            let _passed = enter_deadline(now);
            assert!(requested() && !is_canceled());
        }
        assert!(!requested() && is_possible());
        drop(later);
        assert!(!is_possible());
    }

    #[test]
    fn workers_inherit_the_cancellation_of_their_caller() {
        let cancellation = Cancellation::new();
        cancellation.request();
        for threads in [
            Threads::single_threaded(),
            Threads::new(2).unwrap(),
            Threads::new(3).unwrap().without_pool(),
        ] {
            let poll = |requests: &mut Vec<bool>| {
                threads.fill_slots(requests, || (), |(), _, slot| *slot = requested());
            };
            let mut inside = vec![false; 50];
            let scope = cancellation.enter();
            poll(&mut inside);
            let mut each = vec![false; threads.count()];
            threads.run_on_each(each.iter_mut().collect(), |_, slot| **slot = requested());
            drop(scope);
            assert!(inside.iter().chain(&each).all(|requested| *requested));
            let mut outside = vec![true; 50];
            poll(&mut outside);
            assert!(
                outside.iter().all(|requested| !requested),
                "no worker keeps a cancellation after its scope"
            );
        }
    }
}
