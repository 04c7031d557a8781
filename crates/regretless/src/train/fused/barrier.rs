//! A barrier for steps of a few microseconds: waits by looking, and gives way only when it takes
//! long.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Looks before a waiting thread gives way.
const SPIN_LIMIT: u32 = 20_000;

/// Holds threads until all of them have come.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    /// Set when a thread will never come again.
    broken: AtomicBool,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        let (waiting, round, broken) = Default::default();
        Self {
            threads,
            waiting,
            round,
            broken,
        }
    }

    /// Waits for the others; what they wrote before is visible afterwards.
    pub(super) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            assert!(
                !self.broken.load(Ordering::Relaxed),
                "another thread of this training failed"
            );
            looks += 1;
            if looks < SPIN_LIMIT {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        }
    }

    /// A guard that frees the others if its thread fails.
    pub(super) fn guard(&self) -> BarrierGuard<'_> {
        BarrierGuard(self)
    }
}

/// Breaks the barrier when dropped by a failing thread.
pub(super) struct BarrierGuard<'a>(&'a Barrier);

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
