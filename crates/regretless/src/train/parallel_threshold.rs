//! Whether a batch is worth several threads: handing out work takes longer than many solves do.
//!
//! Only the speed depends on the choice, never the result, so it may depend on time.

use std::time::Instant;

use crate::parallel::Threads;

/// Seconds of work below which a batch stays on the calling thread.
const MIN_PARALLEL_SECONDS: f64 = 2e-4;
/// Seconds within which threads must have finished a batch for the next one to be tried without
/// them.
const MAX_PROBE_SECONDS: f64 = 1e-3;

/// How long batches took of late.
#[derive(Debug, Default)]
pub(super) struct ParallelThreshold {
    /// Seconds per instance of the last batch on the calling thread.
    alone: Option<f64>,
    /// Whether threads finished their last batch so soon that the calling thread is worth a try.
    short: bool,
}

impl ParallelThreshold {
    /// Runs the work of a batch on these threads, or on the calling one where that takes no longer.
    pub(super) fn run(&mut self, threads: &Threads, instances: usize, work: impl FnOnce(&Threads)) {
        let alone = self.alone.map_or(self.short, |each| {
            each * (instances as f64) < MIN_PARALLEL_SECONDS
        });
        let started = Instant::now();
        if alone || threads.count() == 1 {
            work(&Threads::single_threaded());
            self.alone = Some(started.elapsed().as_secs_f64() / instances.max(1) as f64);
        } else {
            work(threads);
            self.short = started.elapsed().as_secs_f64() < MAX_PROBE_SECONDS;
        }
    }
}
