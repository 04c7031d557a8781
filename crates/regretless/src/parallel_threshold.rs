//! Whether a batch is worth several threads: distributing the work takes longer than many solves.
//!
//! The choice changes the speed, never the result, so it may depend on time.

use std::time::Instant;

use crate::parallel::Threads;

/// Seconds of work below which a batch stays on the calling thread: a few times what distributing
/// it takes.
const MIN_PARALLEL_SECONDS: f64 = 2e-4;
/// If threads finish a batch within these seconds, the next one is tried without them.
const MAX_PROBE_SECONDS: f64 = 1e-3;

/// How long recent batches took.
#[derive(Debug, Default)]
pub(crate) struct ParallelThreshold {
    /// Seconds per instance of the last batch on the calling thread.
    alone: Option<f64>,
    /// Whether threads finished their last batch so soon that the calling thread should be tried.
    short: bool,
}

impl ParallelThreshold {
    /// Runs the work of a batch on these threads, or on the calling one if that takes no longer.
    pub(crate) fn run(&mut self, threads: &Threads, instances: usize, work: impl FnOnce(&Threads)) {
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
