//! A spinning barrier for steps of a few microseconds: a waiting thread yields only when the wait
//! takes long.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Checks of a waiting thread before it yields: some tens of microseconds. Trades the latency of a
/// wake-up by the operating system against a core that is busy while spinning.
const SPIN_LIMIT: u32 = 20_000;

/// Holds threads until all of them have arrived.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    /// Set when a thread has panicked and will not arrive again.
    broken: AtomicBool,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            waiting: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits for the other threads; what they wrote before is visible afterwards.
    pub(super) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        // The last thread to arrive resets the counter before it starts the next round, so no other
        // thread can be waiting in it.
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            // Releases what all threads wrote before the barrier.
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        // Acquires what the others wrote.
        while self.round.load(Ordering::Acquire) == round {
            // Without this check the other threads would wait forever.
            assert!(
                !self.broken.load(Ordering::Relaxed),
                "another thread of this training failed"
            );
            spins += 1;
            // Steps take microseconds: spinning is faster than a wake-up by the operating system.
            if spins < SPIN_LIMIT {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// A guard that releases the other threads if its own thread panics.
    pub(super) fn guard(&self) -> BarrierGuard<'_> {
        BarrierGuard(self)
    }
}

/// Breaks the barrier when dropped by a panicking thread.
pub(super) struct BarrierGuard<'a>(&'a Barrier);

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
