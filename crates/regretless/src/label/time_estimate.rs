//! The time that labeling takes: estimated from the first rows, and announced once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use crate::observer::Observer;
use crate::text::duration;

/// Rows after which the time is estimated. Untuned: the mean of so many solves is within a factor
/// of two of the mean of all rows, even if single solves differ by a factor of ten.
const ESTIMATED_ROWS: usize = 16;
/// Seconds before which nothing is estimated: threads start, and short runs end without a word.
const MIN_SECONDS_BEFORE_ESTIMATE: f64 = 2.0;
/// Seconds after which fewer rows suffice, as many as there are threads: somebody waits.
const MAX_SECONDS_BEFORE_ESTIMATE: f64 = 30.0;
/// Shorter waits are not announced.
pub(crate) const MIN_ANNOUNCED_SECONDS: f64 = 10.0;

/// Counts solved rows and announces the time of the others.
pub(super) struct TimeEstimate<'a> {
    observer: &'a dyn Observer,
    rows: usize,
    threads: usize,
    started: Instant,
    solved: AtomicUsize,
    is_announced: AtomicBool,
}

impl<'a> TimeEstimate<'a> {
    /// For this many rows on this many threads, which begin now.
    pub(super) fn new(observer: &'a dyn Observer, rows: usize, threads: usize) -> Self {
        Self {
            observer,
            rows,
            threads,
            started: Instant::now(),
            solved: AtomicUsize::new(0),
            is_announced: AtomicBool::new(false),
        }
    }

    /// One more row is solved.
    pub(super) fn count(&self) {
        let solved = 1 + self.solved.fetch_add(1, Ordering::Relaxed);
        let seconds = self.started.elapsed().as_secs_f64();
        let is_known = (solved >= ESTIMATED_ROWS && seconds >= MIN_SECONDS_BEFORE_ESTIMATE)
            || (solved >= self.threads && seconds >= MAX_SECONDS_BEFORE_ESTIMATE);
        if !is_known || self.is_announced.swap(true, Ordering::Relaxed) {
            return;
        }
        let remaining = self.rows - solved;
        let estimate = seconds / solved as f64 * remaining as f64;
        if estimate >= MIN_ANNOUNCED_SECONDS {
            self.observer.inform(&format!(
                "labeling: {} solves to come, about {} (estimated from {solved})",
                remaining,
                duration(estimate)
            ));
        }
    }

    /// Seconds of one solve on one thread, on average; `None` if nothing was solved.
    pub(super) fn seconds_per_solve(&self) -> Option<f64> {
        let solved = self.solved.load(Ordering::Relaxed);
        let busy_threads = self.threads.min(solved);
        let seconds = self.started.elapsed().as_secs_f64() * busy_threads as f64;
        (solved > 0).then(|| seconds / solved as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    use super::{ESTIMATED_ROWS, TimeEstimate};
    use crate::observer::Observer;

    #[derive(Default)]
    struct Texts(Mutex<Vec<String>>);

    impl Observer for Texts {
        fn inform(&self, text: &str) {
            self.0.lock().unwrap().push(text.into());
        }
    }

    /// What is announced when 300 rows take this long each.
    fn announced(row: Duration, count: usize) -> Vec<String> {
        let texts = Texts::default();
        let mut estimate = TimeEstimate::new(&texts, 300, 1);
        let begun = Instant::now();
        for solved in 1..=count {
            let elapsed = row * u32::try_from(solved).unwrap();
            estimate.started = begun.checked_sub(elapsed).unwrap();
            estimate.count();
        }
        texts.0.into_inner().unwrap()
    }

    #[test]
    fn the_time_is_announced_once_and_only_if_it_is_long() {
        let found = announced(Duration::from_secs(1), 40);
        assert_eq!(
            found,
            ["labeling: 284 solves to come, about 4.7 min (estimated from 16)"]
        );
        assert!(announced(Duration::from_secs(1), ESTIMATED_ROWS - 1).is_empty());
        assert!(announced(Duration::from_millis(10), 300).is_empty());
        assert_eq!(
            announced(Duration::from_millis(50), 60),
            ["labeling: 260 solves to come, about 13 s (estimated from 40)"]
        );
    }

    #[test]
    fn slow_solves_are_estimated_from_few() {
        let found = announced(Duration::from_secs(60), 2);
        assert_eq!(
            found,
            ["labeling: 299 solves to come, about 5.0 h (estimated from 1)"]
        );
    }
}
