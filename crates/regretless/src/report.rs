//! Reports of a training: epochs, rounds, solves, and the candidates of `auto`.

use serde::{Deserialize, Serialize};

use crate::evaluate::Evaluation;
use crate::oracle::SolveCounts;
use crate::parallel::Timer;
use crate::statistics::{FOLD_ERROR_FACTOR, RowOrder, differs_in_enough_rows, mean_interval};
use crate::text::grouped_digits;

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
    /// CPU seconds of all threads, if the operating system reports them; other work of the same
    /// process counts too.
    pub cpu_seconds: Option<f64>,
    /// Solves by kind, without labeling; for `auto` those of all candidates.
    pub solves: SolveCounts,
    /// Measured seconds of one solve, if `auto` based its plan on them: another run may then plan
    /// differently and train another model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed_solve_seconds: Option<f64>,
    /// The candidates that `auto` compared; empty for other methods.
    #[serde(skip)]
    pub candidates: Vec<CandidateReport>,
    /// What `auto` expects of its model.
    #[serde(skip)]
    pub search: Option<SearchReport>,
    /// The evaluation of the validation rows by models that were not trained on them, if the model
    /// itself was.
    #[serde(skip)]
    pub(crate) held_out: Option<Evaluation>,
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
    /// The report of a training that ends now.
    pub(crate) fn new(rounds: Vec<RoundReport>, solves: SolveCounts, timer: &Timer) -> Self {
        Self {
            rounds,
            seconds: timer.seconds(),
            cpu_seconds: timer.cpu_seconds(),
            solves,
            timed_solve_seconds: None,
            candidates: Vec::new(),
            search: None,
            held_out: None,
        }
    }

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
    /// The architecture of its predictor.
    #[serde(default)]
    pub predictor: String,
    /// Folds it was trained on: 1 for most, more for the better ones.
    #[serde(default)]
    pub folds: usize,
    /// Its mean regret on the scored rows, which it was not trained on; none if it failed or
    /// scoring was not affordable.
    pub regret: Option<f64>,
    /// Mean difference from the best candidate on the same rows.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Standard error of that difference.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// Whether it is part of the model.
    #[serde(default)]
    pub is_chosen: bool,
    /// How the regret was computed.
    #[serde(default)]
    pub scoring: ScoringKind,
    /// Seconds it took.
    pub seconds: f64,
}

impl CandidateReport {
    /// Its predictor and its method.
    pub fn name(&self) -> String {
        format!("{} {}", self.predictor, self.method)
    }
}

/// What `auto` expects of its model, from rows that models were not trained on, corrected for the
/// choice among candidates on the same rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    /// Sum of regrets over the sum of absolute optimal objectives on these rows, plus what the
    /// choice among candidates adds on other rows.
    pub expected_regret: f64,
    /// The 95 % interval of the expected regret; none if it would not hold, as with few rows.
    pub interval: Option<[f64; 2]>,
    /// The same regret of least squares, if it was a candidate.
    pub least_squares_regret: Option<f64>,
    /// The 95 % interval of the regret of least squares minus the expected one; none if the model
    /// is that of least squares or the interval would not hold.
    pub improvement: Option<[f64; 2]>,
    /// Whether the model is that of least squares.
    pub is_least_squares: bool,
    /// Number of rows.
    pub rows: usize,
    /// Folds of the cross-validation; with 1 the rows are the validation rows.
    pub folds: usize,
    /// Seconds of the budget that were used, as counted.
    pub used_seconds: f64,
}

/// Regrets on the scored rows of `auto`.
pub(crate) struct ScoredRegrets<'a> {
    /// Of the model, corrected for the choice.
    pub(crate) model: &'a [f64],
    /// Of least squares, if the model is another one.
    pub(crate) least_squares: Option<&'a [f64]>,
    /// Absolute optimal objectives.
    pub(crate) objectives: &'a [f64],
    /// How the rows follow each other.
    pub(crate) order: RowOrder,
}

impl ScoredRegrets<'_> {
    /// Sum of some regrets over the sum of objectives.
    fn normalized(&self, regrets: &[f64]) -> f64 {
        let objectives = self.objectives.iter().sum::<f64>();
        regrets.iter().sum::<f64>() / objectives.max(f64::MIN_POSITIVE)
    }

    /// The interval of normalized regrets, or of differences of them: that of the mean of the
    /// linearized ratio (delta method), since the sum of objectives varies too.
    fn interval(&self, regrets: &[f64]) -> Option<[f64; 2]> {
        if !differs_in_enough_rows(regrets) {
            return None;
        }
        let ratio = self.normalized(regrets);
        let mean_objective = self.objectives.iter().sum::<f64>() / regrets.len() as f64;
        let pairs = regrets.iter().zip(self.objectives);
        let linearized: Vec<f64> = pairs
            .map(|(regret, objective)| (regret - ratio * objective) / mean_objective)
            .collect();
        let interval = mean_interval(&linearized, self.order, FOLD_ERROR_FACTOR)?;
        Some([ratio + interval.lower, ratio + interval.upper])
    }
}

impl SearchReport {
    pub(crate) fn new(
        regrets: &ScoredRegrets<'_>,
        is_least_squares: bool,
        folds: usize,
        used_seconds: f64,
    ) -> Self {
        let expected_regret = regrets.normalized(regrets.model);
        let improvement = regrets.least_squares.and_then(|least_squares| {
            let pairs = least_squares.iter().zip(regrets.model);
            let differences: Vec<f64> = pairs.map(|(linear, model)| linear - model).collect();
            regrets.interval(&differences)
        });
        let least_squares_regret = if is_least_squares {
            Some(expected_regret)
        } else {
            let regret = |least_squares| regrets.normalized(least_squares);
            regrets.least_squares.map(regret)
        };
        Self {
            expected_regret,
            interval: regrets.interval(regrets.model),
            least_squares_regret,
            improvement,
            is_least_squares,
            rows: regrets.model.len(),
            folds,
            used_seconds,
        }
    }

    /// The rows that the report is about: `cross-validation on 680 rows` or `400 validation rows`.
    #[must_use]
    pub fn basis(&self) -> String {
        let rows = grouped_digits(&self.rows.to_string());
        if self.folds > 1 {
            format!("cross-validation on {rows} rows")
        } else {
            format!("{rows} validation rows")
        }
    }
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
