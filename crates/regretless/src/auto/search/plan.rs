//! Plans folds and schedule of the search within its budget.

use super::super::candidate::LearningSchedule;
use super::super::scoring::ScoringPlan;
use super::super::training_time::TrainingTime;
use super::MAX_EPOCHS;
use crate::method::TrainingStage;
use crate::predict::PredictorSpec;
use crate::settings::TrainingSettings;

/// Numbers of folds that are tried, the first that fits in the budget. Five are the usual number.
const FOLDS: [usize; 2] = [5, 3];
/// Fractions of the budget that are planned for scoring, for training without solves and for
/// training with solves. Untuned: the remainder is a reserve, since estimates are rough.
const SCORING_SHARE: f64 = 0.25;
const ARITHMETIC_SHARE: f64 = 0.25;
pub(super) const SOLVER_SHARE: f64 = 0.4;
/// Fewer scored rows in a fold do not justify several folds.
const MIN_ROWS_OF_FOLDS: usize = 50;
/// Candidates that are planned for: all of them on the first fold, and those kept on the others.
const PLANNED_CANDIDATES: f64 = 24.0;
/// Candidates of a budget that does not allow scoring so many: least squares, three losses without
/// solves, and SPO+.
const FEW_CANDIDATES: f64 = 5.0;
/// Candidates that call the solver, as planned for one fold.
pub(super) const PLANNED_SOLVER_CANDIDATES: f64 = 4.0;
/// Candidates that are kept for all folds at least.
pub(super) const KEPT_CANDIDATES: usize = 9;
/// The initial learning rate, which decays, as a multiple of the constant one of the settings.
/// Trades progress in few epochs against stability.
const RATE_FACTOR: f64 = 10.0;
/// A batch has at most one of this many parts of the rows, so small tables have enough steps.
const MIN_STEPS_PER_EPOCH: usize = 16;
/// Epochs of a solver-calling loss that several folds need, and that oracle settings need with one
/// fold. Trades the accuracy of decisions against the number of gradient steps.
const MIN_SOLVER_EPOCHS_WITH_FOLDS: f64 = 10.0;
pub(super) const MIN_SOLVER_EPOCHS: f64 = 3.0;

/// Folds and how they are scored.
pub(super) struct FoldPlan {
    pub(super) num_folds: usize,
    pub(super) scoring: ScoringPlan,
    pub(super) has_few_candidates: bool,
}

/// Plans folds and schedule within the budget.
pub(super) struct Planner<'p> {
    pub(super) budget: f64,
    /// Rows for training and validation.
    pub(super) rows: usize,
    pub(super) time: &'p TrainingTime,
    pub(super) settings: &'p TrainingSettings,
    pub(super) predictors: &'p [PredictorSpec],
}

impl Planner<'_> {
    /// Number of folds, and how they are scored: several folds if the budget allows a loss that
    /// calls the solver in each of them.
    pub(super) fn folds(&self, validation_rows: usize) -> FoldPlan {
        for num_folds in FOLDS {
            let rows_of_fold = self.rows / num_folds;
            // More folds than rows would leave some empty.
            if rows_of_fold == 0 {
                continue;
            }
            // On the other folds only the candidates that are kept are scored.
            let kept = (num_folds - 1) as f64 * KEPT_CANDIDATES as f64;
            let scoring = self.scoring(PLANNED_CANDIDATES + kept, rows_of_fold);
            let has_enough_rows = scoring.max_rows() >= rows_of_fold.min(MIN_ROWS_OF_FOLDS);
            if matches!(scoring, ScoringPlan::Exact(_))
                && has_enough_rows
                && self.allows_solver_loss(num_folds)
                && self.epochs_without_solves(num_folds) >= MAX_EPOCHS
            {
                return FoldPlan {
                    num_folds,
                    scoring,
                    has_few_candidates: false,
                };
            }
        }
        // One fold, with all candidates or only a few.
        let scoring = self.scoring(PLANNED_CANDIDATES, validation_rows);
        let has_few_candidates = !matches!(scoring, ScoringPlan::Exact(_));
        FoldPlan {
            num_folds: 1,
            scoring: if has_few_candidates {
                self.scoring(FEW_CANDIDATES, validation_rows)
            } else {
                scoring
            },
            has_few_candidates,
        }
    }

    /// How each of these candidates is scored on a fold.
    pub(super) fn scoring(&self, num_candidates: f64, rows_of_fold: usize) -> ScoringPlan {
        let seconds = SCORING_SHARE * self.budget / num_candidates;
        ScoringPlan::choose(&self.time.times, seconds, rows_of_fold)
    }

    /// Whether a solver-calling loss has enough epochs on every fold, by exact solves or by local
    /// search.
    fn allows_solver_loss(&self, num_folds: usize) -> bool {
        let times = &self.time.times;
        // The faster of both is what a candidate would use.
        let call = match times.fast_local_search {
            Some(seconds) => times.exact.min(seconds),
            None => times.exact,
        };
        let seconds = SOLVER_SHARE * self.budget / (num_folds as f64 * PLANNED_SOLVER_CANDIDATES);
        MIN_SOLVER_EPOCHS_WITH_FOLDS * call * self.rows as f64 <= seconds
    }

    /// Epochs of each candidate without solves that the budget allows.
    fn epochs_without_solves(&self, num_folds: usize) -> usize {
        let kept = (num_folds - 1) as f64 * KEPT_CANDIDATES as f64;
        let stage = TrainingStage::from(crate::loss::CostSensitiveSpec::plain(
            crate::loss::BaseError::Squared,
        ));
        let mut epoch = 0.0;
        for predictor in self.predictors {
            epoch += self.time.epoch(&stage, predictor, self.rows) / self.predictors.len() as f64;
        }
        // An epoch of the mean predictor, as both are trained for every loss.
        let epochs = ARITHMETIC_SHARE * self.budget / ((PLANNED_CANDIDATES + kept) * epoch);
        epochs.max(1.0) as usize
    }

    pub(super) fn schedule(&self, training_rows: usize) -> LearningSchedule {
        let epochs = MAX_EPOCHS
            .min(self.settings.epochs)
            // The number of epochs of the user is a limit here, too.
            .min(self.epochs_without_solves(1));
        let batch_size = (training_rows / MIN_STEPS_PER_EPOCH).clamp(1, self.settings.batch_size);
        LearningSchedule {
            learning_rate: RATE_FACTOR * self.settings.learning_rate,
            epochs,
            batch_size,
        }
    }
}
