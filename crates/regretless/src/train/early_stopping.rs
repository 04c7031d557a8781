//! Which epoch is kept and when training stops.

use std::time::{Duration, Instant};

use crate::checkpoint::BestEpoch;
use crate::report::StopReason;
use crate::settings::TrainingSettings;

/// Tracks the best epoch and how long there was no improvement.
#[derive(Debug)]
pub(super) struct EarlyStopping {
    started: Instant,
    /// Time of the last improvement.
    improved: Instant,
    best: Option<BestEpoch>,
}

impl EarlyStopping {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            improved: Instant::now(),
            best: None,
        }
    }

    /// When the time limit ends training.
    pub(super) fn deadline(&self, settings: &TrainingSettings) -> Option<Instant> {
        settings.time_limit.and_then(|limit| {
            self.started
                .checked_add(Duration::try_from_secs_f64(limit).ok()?)
        })
    }

    /// The state of a resumed run that had taken this many seconds.
    pub(super) fn restored(best: Option<BestEpoch>, seconds: f64) -> Self {
        let now = Instant::now();
        // The time of the last improvement is not stored: patience in seconds starts again.
        Self {
            started: now
                .checked_sub(Duration::from_secs_f64(seconds))
                .unwrap_or(now),
            improved: now,
            best,
        }
    }

    /// The best epoch so far.
    pub(super) fn best(&self) -> Option<BestEpoch> {
        self.best
    }

    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Records an epoch; true if its parameters must be saved because their score is the lowest so
    /// far. Without scores the last epoch is the best, and nothing needs to be saved.
    pub(super) fn update(&mut self, epoch: usize, score: Option<f64>) -> bool {
        let better = match (score, &self.best) {
            (Some(score), Some(best)) => score < best.score,
            (None, _) | (_, None) => true,
        };
        if better {
            let score = score.unwrap_or(f64::INFINITY);
            self.best = Some(BestEpoch { epoch, score });
            self.improved = Instant::now();
        }
        better && score.is_some()
    }

    /// Why training should stop after this epoch, if it should.
    pub(super) fn stop(&self, epoch: usize, settings: &TrainingSettings) -> Option<StopReason> {
        let epochs_without_improvement = epoch - self.best_epoch();
        let is_exceeded = |limit: Option<f64>, since: Instant| {
            limit.is_some_and(|seconds| since.elapsed().as_secs_f64() >= seconds)
        };
        let is_out_of_patience = settings
            .patience
            .is_some_and(|patience| epochs_without_improvement >= patience);
        if is_out_of_patience || is_exceeded(settings.patience_seconds, self.improved) {
            Some(StopReason::Patience)
        } else if is_exceeded(settings.time_limit, self.started) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }

    /// The best epoch; 0 if there is none.
    pub(super) fn best_epoch(&self) -> usize {
        self.best.map_or(0, |best| best.epoch)
    }
}
