//! Candidates of the search: what is trained, and the results of the folds so far.

use super::training_time::TrainingTime;
use crate::error::Result;
use crate::method::{StageOverrides, TrainingStage};
use crate::oracle::Oracle;
use crate::predict::{CostModel, PredictorSpec};
use crate::report::RoundReport;

/// Losses without solves, the first candidates for every predictor. On eleven tables no other
/// member of the family was among the best four.
pub(super) const LOSSES_WITHOUT_SOLVES: [&str; 12] = [
    "MSE",
    "MAE",
    "MSE(S)",
    "MSE(O,S)",
    "MAE(O,S)",
    "MSE(E)",
    "MSE(O,E)",
    "MAE(O,E)",
    // For predicted quantities, from duals to one quantile per output; MSE weighs large errors.
    "MAE(D(0.05))",
    "MAE(D(0.5))",
    "MAE(D(1))",
    "MSE(D(0.25))",
];
/// Losses with a few solves or relaxations per row, once, before training.
pub(super) const LOSSES_WITH_FEW_SOLVES: [&str; 3] = ["MSE(C,O,S)", "MAE(C,O,S)", "MSE(C,O,E)"];
/// The same when exact solves are slow, as on tours and routes. Elsewhere it was never among the
/// best, and cost ranges take longer than solves.
pub(super) const SENSITIVITY_LOSS: &str = "MSE(O_S)";
/// Hidden layers of the network that is tried next to the linear predictor. With 32, 64 and 128
/// units the normalized regret was 0.0587, 0.0583 and 0.0585 on six tables of SP5x5, and 0.0670,
/// 0.0669 and 0.0666 on two of KS32 (seeds from 400 on, 20,000 rows each that took no part in the
/// search).
const HIDDEN_SIZES: [usize; 1] = [64];
/// Penalties of ridge regression, relative to the variance of a feature.
const RIDGE_PENALTIES: [f64; 2] = [0.03, 0.3];

/// How a candidate is trained.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CandidateKind {
    /// In closed form; with a penalty it is ridge regression.
    ClosedForm {
        /// Relative to the variance of a feature; 0 for least squares.
        penalty: f64,
    },
    /// By gradient descent.
    Trained {
        stage: TrainingStage,
        /// The candidate whose model the stage starts from.
        start: Option<usize>,
    },
}

/// A candidate and what is known about it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) kind: CandidateKind,
    pub(super) predictor: PredictorSpec,
    /// Whether all costs share the predictor.
    pub(super) is_shared: bool,
    /// Its name in reports.
    pub(super) name: String,
    /// Planned seconds of training on one fold.
    pub(super) planned_seconds: f64,
    /// Results of the folds so far, in their order.
    pub(super) folds: Vec<FoldResult>,
    /// Measured seconds of training and scoring.
    pub(super) seconds: f64,
    /// Whether training or scoring failed.
    pub(super) has_failed: bool,
}

/// A model of one fold.
#[derive(Debug)]
pub(super) struct FoldResult {
    pub(super) model: CostModel,
    /// Regret of each scored row; empty if candidates are not scored.
    pub(super) regrets: Vec<f64>,
    /// The weight of each scored row, if rows have weights.
    pub(super) row_weights: Option<Vec<f64>>,
    /// What predictions are multiplied by, so their mean norm is that of the costs.
    pub(super) norm_factor: f64,
    pub(super) rounds: Vec<RoundReport>,
}

impl Candidate {
    pub(super) fn new(
        kind: CandidateKind,
        predictor: PredictorSpec,
        name: String,
        planned_seconds: f64,
    ) -> Self {
        Self {
            kind,
            predictor,
            is_shared: false,
            name,
            planned_seconds,
            folds: Vec::new(),
            seconds: 0.0,
            has_failed: false,
        }
    }

    /// The same with a predictor that all costs share.
    pub(super) fn shared(self) -> Self {
        Self {
            is_shared: true,
            name: format!("shared {}", self.name),
            ..self
        }
    }

    /// Regrets of all scored rows of the first folds, each times the weight of its row.
    pub(super) fn regrets(&self, num_folds: usize) -> Vec<f64> {
        let (mut regrets, mut weights) = (Vec::new(), Vec::new());
        for fold in self.folds.iter().take(num_folds) {
            regrets.extend_from_slice(&fold.regrets);
            weights.extend(fold.row_weights.iter().flatten());
        }
        times_row_weights(&mut regrets, &weights);
        regrets
    }

    /// Mean regret over the scored rows of the first folds; infinite if one of them is missing.
    pub(super) fn mean_regret(&self, num_folds: usize) -> f64 {
        let regrets = self.regrets(num_folds);
        if self.has_failed || self.folds.len() < num_folds || regrets.is_empty() {
            return f64::INFINITY;
        }
        // The values are weighted already, with a mean weight of 1.
        regrets.iter().sum::<f64>() / regrets.len() as f64
    }

    /// Whether its predictor is linear and in closed form.
    pub(super) fn is_closed_form(&self) -> bool {
        matches!(self.kind, CandidateKind::ClosedForm { .. })
    }
}

/// Multiplies values of rows by the weights of the rows, scaled to make the mean of the products
/// the weighted mean; without weights values stay as they are.
pub(super) fn times_row_weights(values: &mut [f64], weights: &[f64]) {
    // The mean weight becomes 1, so weighted regrets keep their unit.
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    for (value, weight) in values.iter_mut().zip(weights) {
        *value *= weight / mean;
    }
}

/// The predictors that are tried: the one that was asked for, or several.
pub(super) fn predictors(asked: Option<&PredictorSpec>) -> Vec<PredictorSpec> {
    match asked {
        Some(predictor) => vec![predictor.clone()],
        None => vec![
            PredictorSpec::Linear,
            PredictorSpec::Mlp {
                hidden: HIDDEN_SIZES.to_vec(),
            },
        ],
    }
}

/// Least squares and ridge regression.
pub(super) fn closed_forms() -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for penalty in [&[0.0], RIDGE_PENALTIES.as_slice()].concat() {
        let name = if penalty == 0.0 {
            "least squares".to_string()
        } else {
            format!("ridge({penalty})")
        };
        let kind = CandidateKind::ClosedForm { penalty };
        candidates.push(Candidate::new(kind, PredictorSpec::Linear, name, 0.0));
    }
    candidates
}

/// The stages of these losses that the problem can serve.
fn stages_of(losses: &[&str], oracle: &Oracle) -> Result<Vec<TrainingStage>> {
    let mut stages = Vec::new();
    for loss in losses {
        let stage: TrainingStage = loss.parse()?;
        // Losses that the problem cannot serve are no candidates, and no error.
        if stage.check_problem(oracle).is_ok() {
            stages.push(stage);
        }
    }
    Ok(stages)
}

/// How candidates are trained: the settings of all stages.
#[derive(Debug, Clone, Copy)]
pub(super) struct LearningSchedule {
    pub(super) learning_rate: f64,
    pub(super) epochs: usize,
    pub(super) batch_size: usize,
}

impl LearningSchedule {
    /// The stage with this schedule if it has no settings of its own.
    pub(super) fn complete(self, stage: TrainingStage) -> TrainingStage {
        let given = stage.overrides;
        let mut stage = self.apply_to(stage);
        // Settings of the method are kept; the schedule fills the gaps.
        let overrides = &mut stage.overrides;
        overrides.learning_rate = given.learning_rate.or(overrides.learning_rate);
        overrides.epochs = given.epochs.or(overrides.epochs);
        overrides.batch_size = given.batch_size.or(overrides.batch_size);
        overrides.rows_per_epoch = given.rows_per_epoch;
        stage
    }

    /// The stage under this schedule.
    pub(super) fn apply_to(self, mut stage: TrainingStage) -> TrainingStage {
        stage.overrides = StageOverrides {
            learning_rate: Some(self.learning_rate),
            epochs: Some(self.epochs),
            batch_size: Some(self.batch_size),
            rows_per_epoch: None,
            lr_decay: true,
        };
        stage
    }
}

/// Epochs of the longer of two schedules over those of the shorter, and the learning rate of the
/// shorter over that of the longer: the sum of all steps is 1.2 times as long.
const LONGER_EPOCHS_RATIO: usize = 3;
const SHORTER_RATE_RATIO: f64 = 2.5;

/// The same stage with three times as many epochs and a lower learning rate.
pub(super) fn with_longer_schedule(stage: &TrainingStage) -> TrainingStage {
    let mut longer = stage.clone();
    let overrides = &mut longer.overrides;
    overrides.epochs = overrides.epochs.map(|epochs| LONGER_EPOCHS_RATIO * epochs);
    overrides.learning_rate = overrides
        .learning_rate
        .map(|rate| rate / SHORTER_RATE_RATIO);
    longer
}

/// Trained candidates for these losses and every predictor.
pub(super) fn trained(
    losses: &[&str],
    oracle: &Oracle,
    predictors: &[PredictorSpec],
    schedule: LearningSchedule,
    time: &TrainingTime,
    rows: usize,
) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for stage in stages_of(losses, oracle)? {
        let stage = schedule.apply_to(stage);
        for predictor in predictors {
            candidates.push(from_stage(stage.clone(), None, predictor, time, rows));
        }
    }
    Ok(candidates)
}

/// A candidate of one stage, which starts from another candidate or from an untrained predictor.
pub(super) fn from_stage(
    stage: TrainingStage,
    start: Option<(usize, &Candidate)>,
    predictor: &PredictorSpec,
    time: &TrainingTime,
    rows: usize,
) -> Candidate {
    let planned_seconds = time.stage(&stage, predictor, rows);
    let name = match start {
        Some((_, earlier)) => format!("{} then {stage}", earlier.name),
        None => stage.to_string(),
    };
    let start = start.map(|(index, _)| index);
    let kind = CandidateKind::Trained { stage, start };
    Candidate::new(kind, predictor.clone(), name, planned_seconds)
}
