//! Reports of a training: epochs, rounds, solves, and the candidates of `auto`.

use serde::{Deserialize, Serialize};

use crate::oracle::SolveCounts;

/// Why a round of training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All epochs were run.
    Epochs,
    /// No improvement within the patience.
    Patience,
    /// The time limit was reached.
    TimeLimit,
    /// The limit of solver work was reached.
    WorkLimit,
}

/// One epoch. Losses are those of the loss itself, not rescaled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpochReport {
    /// 0 is the untrained model.
    pub epoch: usize,
    /// Mean loss over the rows of the epoch, each before its gradient step.
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
    pub stopped: StopReason,
}

/// A whole training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainReport {
    /// Its rounds; the model is that of the last one.
    pub rounds: Vec<RoundReport>,
    /// Total seconds.
    pub seconds: f64,
    /// CPU seconds of all threads, where the operating system reports them; other work of the same
    /// process counts too.
    pub cpu_seconds: Option<f64>,
    /// Solves by kind, without labeling; for `auto` those of all candidates.
    pub solves: SolveCounts,
    /// Measured seconds of one solve, if `auto` based its plan on them: another run may then plan
    /// differently and train another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_solve_seconds: Option<f64>,
}

/// Fraction of the total decrease of the training loss that may lie in the last tenth of the epochs
/// of a training that has converged. A loss that decays exponentially towards its limit is then
/// within about 10 % of its total decrease.
const CONVERGED_DECREASE_THRESHOLD: f64 = 0.03;

impl RoundReport {
    /// Whether the training loss was no longer clearly decreasing when the round ended; `None` if
    /// fewer than two epochs were run.
    pub fn has_converged(&self) -> Option<bool> {
        let losses: Vec<f64> = self
            .epochs
            .iter()
            .filter_map(|epoch| epoch.training_loss)
            .collect();
        let (first, last) = (losses.first()?, losses.last()?);
        if losses.len() < 2 {
            return None;
        }
        let tenth = losses.len().div_ceil(10);
        let before = losses[losses.len() - 1 - tenth.min(losses.len() - 1)];
        let is_decreasing =
            first > last && before - last > CONVERGED_DECREASE_THRESHOLD * (first - last);
        Some(!is_decreasing)
    }
}

impl TrainReport {
    /// Whether the training loss of the last round has converged.
    pub fn has_converged(&self) -> Option<bool> {
        self.rounds.last()?.has_converged()
    }

    /// The epoch whose parameters were kept, in the last round.
    pub fn best_epoch(&self) -> usize {
        self.rounds.last().map_or(0, |round| round.best_epoch)
    }
}

/// One candidate of `auto`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateReport {
    /// What was trained.
    pub method: String,
    /// Its mean regret on the scored validation rows; none if it failed or scoring was not
    /// affordable.
    pub regret: Option<f64>,
    /// How the regret was computed.
    #[serde(default)]
    pub scoring: ScoringKind,
    /// Seconds it took.
    pub seconds: f64,
}

/// How a candidate was scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoringKind {
    /// By the regret of its decisions.
    #[default]
    Exact,
    /// By the regret of decisions of the linear relaxation, as exact solves take too long.
    Relaxed,
    /// Not scored: even the linear relaxation takes too long.
    Unscored,
    /// It could not be trained or scored.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::{EpochReport, RoundReport, StopReason};

    fn round(losses: &[f64]) -> RoundReport {
        let report = |epoch: usize, loss: &f64| EpochReport {
            epoch,
            training_loss: (epoch > 0).then_some(*loss),
            validation_loss: None,
            validation_regret: None,
            seconds: 0.0,
        };
        let numbered = losses.iter().enumerate();
        let epochs = numbered.map(|(epoch, loss)| report(epoch, loss)).collect();
        RoundReport {
            method: "MSE".into(),
            epochs,
            best_epoch: 0,
            stopped: StopReason::Epochs,
        }
    }

    #[test]
    fn a_loss_that_decreases_to_the_end_has_not_converged() {
        let straight: Vec<f64> = (0..=50).map(|epoch| 100.0 - f64::from(epoch)).collect();
        assert_eq!(round(&straight).has_converged(), Some(false));
        let settled: Vec<f64> = (0..=50)
            .map(|epoch| 100.0 * (-0.2 * f64::from(epoch)).exp())
            .collect();
        assert_eq!(round(&settled).has_converged(), Some(true));
        assert_eq!(
            round(&[9.0, 9.0, 5.0]).has_converged(),
            Some(false),
            "two epochs"
        );
        assert_eq!(
            round(&[9.0, 5.0]).has_converged(),
            None,
            "one epoch has no trend"
        );
        let rising: Vec<f64> = (0..=20).map(f64::from).collect();
        assert_eq!(round(&rising).has_converged(), Some(true));
    }
}
