//! What happened during training.

use serde::{Deserialize, Serialize};

use crate::oracle::SolveCounts;

/// Why a round of training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// All epochs were run.
    Epochs,
    /// Nothing improved for as long as the patience lasts.
    Patience,
    /// The time limit was reached.
    TimeLimit,
}

/// One epoch. Losses are the paper's values, whatever training was rescaled by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpochReport {
    /// 0 is the untrained model.
    pub epoch: usize,
    /// Mean loss over the rows of the epoch, each at its own step.
    pub training_loss: Option<f64>,
    /// Mean loss over the validation rows after the epoch.
    pub validation_loss: Option<f64>,
    /// Mean regret over the validation rows after the epoch.
    pub validation_regret: Option<f64>,
    /// Seconds since the round began.
    pub seconds: f64,
}

/// One round of training; weighted losses have several.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundReport {
    /// The method that was trained.
    pub method: String,
    /// Every epoch.
    pub epochs: Vec<EpochReport>,
    /// The epoch whose parameters were kept.
    pub best_epoch: usize,
    /// Why it ended.
    pub stopped: Stopped,
}

/// A whole training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainReport {
    /// Its rounds; the last gave the model.
    pub rounds: Vec<RoundReport>,
    /// Seconds in all.
    pub seconds: f64,
    /// Solves by kind, labelling not included.
    pub solves: SolveCounts,
}

impl TrainReport {
    /// The epoch whose parameters were kept, in the last round.
    pub fn best_epoch(&self) -> usize {
        self.rounds.last().map_or(0, |round| round.best_epoch)
    }
}
