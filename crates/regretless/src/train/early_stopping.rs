//! Which epoch is kept and when training stops.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{StopReason, TrainingSettings};
use crate::error::{Error, Result};

/// What the best epoch is best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SelectionCriterion {
    /// Least regret on the validation rows; one solve per row and epoch.
    ValidationRegret,
    /// Least loss on the validation rows; no solves beyond those of the loss.
    ValidationLoss,
    /// Least loss on the training rows during the epoch.
    TrainingLoss,
    /// No choice: the last epoch is kept.
    Last,
}

impl SelectionCriterion {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::ValidationRegret, "validation-regret"),
        (Self::ValidationLoss, "validation-loss"),
        (Self::TrainingLoss, "training-loss"),
        (Self::Last, "last"),
    ];

    /// Whether validation rows are needed.
    pub fn needs_validation(self) -> bool {
        matches!(self, Self::ValidationRegret | Self::ValidationLoss)
    }
}

impl fmt::Display for SelectionCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES
            .iter()
            .find(|(select, _)| select == self)
            .map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for SelectionCriterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(select, _)| *select);
        found.ok_or_else(|| Error::unknown("selection", text, &Self::NAMES.map(|(_, name)| name)))
    }
}

impl TryFrom<String> for SelectionCriterion {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<SelectionCriterion> for String {
    fn from(select: SelectionCriterion) -> Self {
        select.to_string()
    }
}

/// Remembers the best epoch, and since when nothing was better.
#[derive(Debug)]
pub(super) struct EarlyStopping {
    started: Instant,
    improved: Instant,
    /// Epoch and score of the best so far.
    best: Option<(usize, f64)>,
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

    /// Goes on where an earlier run was after so many seconds.
    pub(super) fn restored(best: Option<(usize, f64)>, seconds: f64) -> Self {
        let now = Instant::now();
        // An earlier clock cannot be told; the patience in seconds begins anew.
        Self {
            started: now
                .checked_sub(Duration::from_secs_f64(seconds))
                .unwrap_or(now),
            improved: now,
            best,
        }
    }

    /// Epoch and score of the best so far.
    pub(super) fn best(&self) -> Option<(usize, f64)> {
        self.best
    }

    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Whether the parameters of this epoch are to be kept: their score is lower than all before.
    /// Without a score the latest are best, and there is nothing to keep.
    pub(super) fn update(&mut self, epoch: usize, score: Option<f64>) -> bool {
        let better = match (score, &self.best) {
            (Some(score), Some((_, best))) => score < *best,
            _ => true,
        };
        if better {
            self.best = Some((epoch, score.unwrap_or(f64::INFINITY)));
            self.improved = Instant::now();
        }
        better && score.is_some()
    }

    /// Why training should stop after this epoch, if it should.
    pub(super) fn stop(&self, epoch: usize, settings: &TrainingSettings) -> Option<StopReason> {
        let stale = epoch - self.best_epoch();
        let beyond = |limit: Option<f64>, since: Instant| {
            limit.is_some_and(|s| since.elapsed().as_secs_f64() >= s)
        };
        if settings.patience.is_some_and(|patience| stale >= patience)
            || beyond(settings.patience_seconds, self.improved)
        {
            Some(StopReason::Patience)
        } else if beyond(settings.time_limit, self.started) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }

    /// The best epoch; 0 without any.
    pub(super) fn best_epoch(&self) -> usize {
        self.best.map_or(0, |(epoch, _)| epoch)
    }
}
