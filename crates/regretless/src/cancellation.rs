//! Cancellation: a solve that takes long learns that nobody waits for it any more.
//!
//! Solvers know neither users nor signals. Whoever starts work on a thread enters a
//! [`Cancellation`] there; every solver that may take long asks [`requested`] now and then, and
//! workers inherit the cancellation of the thread that gave them work (`parallel.rs`). A search
//! that is cancelled ends in any way that is quick; the oracle throws its answer away and says that
//! the solve was interrupted. So a request can end an answer, but never change one.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked some work to stop; copies are the same question.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

thread_local! {
    /// What the work on this thread asks.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

impl Cancellation {
    /// Nobody asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all work that entered this cancellation to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Lets the work on this thread ask this cancellation, until the scope ends.
    #[must_use = "the scope ends when it is dropped"]
    pub fn enter(&self) -> CancellationScope {
        inherit(Some(self.clone()))
    }
}

/// The time in which a thread's work asks a cancellation; then the one before counts again.
#[derive(Debug)]
pub struct CancellationScope {
    before: Option<Cancellation>,
    /// The scope belongs to one thread.
    _here: PhantomData<*const ()>,
}

impl Drop for CancellationScope {
    fn drop(&mut self) {
        let before = self.before.take();
        // A thread that is ending asks nothing any more.
        let _ = CURRENT.try_with(|current| *current.borrow_mut() = before);
    }
}

/// What the work on this thread asks, for workers that do part of it.
pub fn current() -> Option<Cancellation> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .ok()
        .flatten()
}

/// Lets a worker ask what the thread that gave it work asks.
#[must_use = "the scope ends when it is dropped"]
pub fn inherit(cancellation: Option<Cancellation>) -> CancellationScope {
    let before = CURRENT
        .try_with(|current| current.replace(cancellation))
        .ok()
        .flatten();
    CancellationScope {
        before,
        _here: PhantomData,
    }
}

/// Whether the work on this thread was asked to stop. It takes a nanosecond or two: cheap enough
/// for every node of a search.
pub fn requested() -> bool {
    let asked = |current: &RefCell<Option<Cancellation>>| {
        current
            .borrow()
            .as_ref()
            .is_some_and(Cancellation::is_requested)
    };
    CURRENT.try_with(asked).unwrap_or(false)
}

/// Whether the work on this thread could be asked to stop at all.
pub fn is_possible() -> bool {
    CURRENT
        .try_with(|current| current.borrow().is_some())
        .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{Cancellation, is_possible, requested};
    use crate::parallel::Threads;

    #[test]
    fn a_request_is_heard_within_its_scope_only() {
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
    fn workers_hear_the_request_of_whoever_gave_them_work() {
        let cancellation = Cancellation::new();
        cancellation.request();
        for threads in [
            Threads::single_threaded(),
            Threads::new(2).unwrap(),
            Threads::new(3).unwrap().without_pool(),
        ] {
            let heard = |heard: &mut Vec<bool>| {
                threads.fill_slots(heard, || (), |(), _, slot| *slot = requested())
            };
            let mut inside = vec![false; 50];
            let scope = cancellation.enter();
            heard(&mut inside);
            let mut each = vec![false; threads.count()];
            threads.run_on_each(each.iter_mut().collect(), |_, slot| **slot = requested());
            drop(scope);
            assert!(inside.iter().chain(&each).all(|heard| *heard));
            let mut outside = vec![true; 50];
            heard(&mut outside);
            assert!(
                outside.iter().all(|heard| !heard),
                "no worker keeps a request that is over"
            );
        }
    }
}
