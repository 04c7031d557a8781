//! Whether a batch is worth several threads: distributing the work takes longer than many solves.
//!
//! The choice changes the speed, never the result, so it may depend on time.

use std::time::Instant;

use crate::parallel::Threads;

/// Seconds of work below which a batch stays on the calling thread: a few times the overhead of
/// distributing it.
const MIN_PARALLEL_SECONDS: f64 = 2e-4;
/// If threads finish a batch within these seconds, the next one runs on the calling thread, to
/// compare. Untuned: several times [`MIN_PARALLEL_SECONDS`].
const MAX_PROBE_SECONDS: f64 = 1e-3;

/// How long recent batches took.
#[derive(Debug, Default)]
pub(crate) struct ParallelThreshold {
    /// Seconds per instance of the last batch on the calling thread.
    seconds_per_instance: Option<f64>,
    /// Whether the threads finished their last batch so fast that the calling thread alone should
    /// be tried.
    try_calling_thread: bool,
}

impl ParallelThreshold {
    /// Runs the work of a batch on these threads, or on the calling one if that takes no longer.
    pub(crate) fn run(&mut self, threads: &Threads, instances: usize, work: impl FnOnce(&Threads)) {
        let on_calling_thread = match self.seconds_per_instance {
            Some(seconds) => seconds * (instances as f64) < MIN_PARALLEL_SECONDS,
            None => self.try_calling_thread,
        };
        let started = Instant::now();
        if on_calling_thread || threads.count() == 1 {
            work(&Threads::single_threaded());
            let seconds = started.elapsed().as_secs_f64();
            self.seconds_per_instance = Some(seconds / instances.max(1) as f64);
        } else {
            work(threads);
            self.try_calling_thread = started.elapsed().as_secs_f64() < MAX_PROBE_SECONDS;
        }
    }
}
