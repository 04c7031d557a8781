//! How to train: every setting with its default.

use serde::{Deserialize, Serialize};

use super::{Optimizer, SelectionCriterion};
use crate::data::SplitIndices;
use crate::error::{Error, Result};

/// Settings of a training run.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `epochs` | 50 | most passes over the training rows |
/// | `rows_per_epoch` | all | training rows of an epoch, drawn anew for each; for answers so slow that fewer have to do |
/// | `batch_size` | 32 | rows per step |
/// | `learning_rate` | 0.005 | size of a step |
/// | `lr_decay` | false | let the size of a step fall to 0 in a straight line over the epochs |
/// | `optimizer` | adam | adam, adamw or sgd |
/// | `select` | validation-regret | which epoch is kept |
/// | `train_on_validation` | false | train on the validation rows too; `select` must do without them |
/// | `patience` | none | stop after this many epochs without improvement |
/// | `patience_seconds` | none | stop after this many seconds without improvement |
/// | `time_limit` | none | stop after this many seconds, with solves in the middle of an epoch if need be |
/// | `standardize` | true | bring features to mean 0 and deviation 1 |
/// | `scale_costs` | true | predict costs as mean + deviation · output |
/// | `rescale_loss` | true | keep gradients of the order of 1 for any number of costs |
/// | `retrain_from_baseline` | with O_S | retrain weighted losses from the baseline instead of afresh |
/// | `clip_instance_costs` | true | with O_S, no instance cost above ten times the median |
/// | `then_learning_rate` | as above | size of a step of the methods after `then`, unless they say `lr` |
/// | `then_epochs` | as above | most passes of the methods after `then`, unless they say `epochs` |
/// | `fused` | true | use the fast machinery where it fits; it changes the speed, not the result |
/// | `seed` | 0 | parameters, order of batches, noise, coins |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingSettings {
    /// Most passes over the training rows.
    pub epochs: usize,
    /// Rows of an epoch, drawn anew for each: all unless given.
    pub rows_per_epoch: Option<usize>,
    /// Rows per step.
    pub batch_size: usize,
    /// Size of a step.
    pub learning_rate: f64,
    /// Whether the size of a step falls to 0 in a straight line over the epochs.
    pub lr_decay: bool,
    /// Rule of a step.
    pub optimizer: Optimizer,
    /// Which epoch is kept.
    pub select: SelectionCriterion,
    /// Whether validation rows are trained on as well.
    pub train_on_validation: bool,
    /// Epochs without improvement before stopping.
    pub patience: Option<usize>,
    /// Seconds without improvement before stopping.
    pub patience_seconds: Option<f64>,
    /// Seconds before stopping.
    pub time_limit: Option<f64>,
    /// Solver work before stopping, in nanoseconds as [`crate::solve::Solver::work`] counts; set by
    /// `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_limit: Option<u64>,
    /// Whether features are brought to mean 0 and deviation 1 over the training rows.
    pub standardize: bool,
    /// Whether outputs pass the fixed map mean + deviation · output.
    pub scale_costs: bool,
    /// Whether the loss is rescaled so that gradients stay of the order of 1.
    pub rescale_loss: bool,
    /// Whether weighted losses retrain from their baseline; by default where O_S lets losses jump,
    /// since weights found at the baseline then say little about places far from it.
    pub retrain_from_baseline: Option<bool>,
    /// Whether instance costs are kept below ten times their median where O_S lets losses vanish.
    pub clip_instance_costs: bool,
    /// Size of a step of the methods after `then`.
    pub then_learning_rate: Option<f64>,
    /// Most passes of the methods after `then`.
    pub then_epochs: Option<usize>,
    /// Whether the fused machinery may be used where predictor, loss and optimiser allow it.
    pub fused: bool,
    /// Seed of parameters, batches, noise and coins.
    pub seed: u64,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            epochs: 50,
            rows_per_epoch: None,
            batch_size: 32,
            learning_rate: 0.005,
            lr_decay: false,
            optimizer: Optimizer::default(),
            select: SelectionCriterion::ValidationRegret,
            train_on_validation: false,
            patience: None,
            patience_seconds: None,
            time_limit: None,
            work_limit: None,
            standardize: true,
            scale_costs: true,
            rescale_loss: true,
            retrain_from_baseline: None,
            clip_instance_costs: true,
            then_learning_rate: None,
            then_epochs: None,
            fused: true,
            seed: 0,
        }
    }
}

impl TrainingSettings {
    /// The settings behind the paper's component table: features as they are, the loss not
    /// rescaled.
    pub fn paper(seed: u64) -> Self {
        Self {
            standardize: false,
            rescale_loss: false,
            seed,
            ..Self::default()
        }
    }

    /// The settings behind the paper's table of large problems: epochs are judged by their
    /// validation loss.
    pub fn paper_large(seed: u64) -> Self {
        Self {
            learning_rate: 0.01,
            epochs: 100,
            select: SelectionCriterion::ValidationLoss,
            patience_seconds: Some(300.0),
            time_limit: Some(3600.0),
            ..Self::paper(seed)
        }
    }

    /// The same, training on all rows and judging epochs by their training loss, as the paper does
    /// for SPO+ on large problems.
    #[must_use]
    pub fn with_validation_rows(self) -> Self {
        Self {
            train_on_validation: true,
            select: SelectionCriterion::TrainingLoss,
            ..self
        }
    }

    /// Whether training may stop by the clock, so that another run may give another model.
    pub fn stops_by_clock(&self) -> bool {
        self.time_limit.is_some() || self.patience_seconds.is_some()
    }

    /// How many of these training rows an epoch has.
    pub(super) fn rows_of_epoch(&self, rows: usize) -> usize {
        self.rows_per_epoch.map_or(rows, |max| max.min(rows))
    }

    /// The size of this step, counted from 1, with this many training rows.
    pub(super) fn learning_rate_at(&self, step: i32, rows: usize) -> f64 {
        let steps = self
            .epochs
            .saturating_mul(self.rows_of_epoch(rows).div_ceil(self.batch_size));
        let left = 1.0 - f64::from(step - 1) / steps.max(1) as f64;
        if self.lr_decay {
            self.learning_rate * left.max(0.0)
        } else {
            self.learning_rate
        }
    }

    /// The same with no more rows per step than an epoch has: buffers are made for whole batches.
    pub(super) fn with_batch_at_most(self, rows: usize) -> Self {
        Self {
            batch_size: self.batch_size.min(self.rows_of_epoch(rows)).max(1),
            ..self
        }
    }

    /// The settings of a method after `then`.
    pub(super) fn for_later_stage(&self) -> Self {
        let learning_rate = self.then_learning_rate.unwrap_or(self.learning_rate);
        Self {
            learning_rate,
            epochs: self.then_epochs.unwrap_or(self.epochs),
            ..*self
        }
    }

    /// The rows that train and those that validate.
    pub(super) fn rows(&self, split: &SplitIndices) -> SplitIndices {
        let mut split = split.clone();
        if self.train_on_validation {
            split.train.append(&mut split.validation);
        }
        split
    }

    /// Checks the settings by themselves and against the rows of a split.
    ///
    /// # Errors
    /// When a setting makes no sense, or needs rows that the split does not have.
    pub fn check(&self, split: &SplitIndices) -> Result<()> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        self.optimizer.check()?;
        if self.batch_size == 0 || self.rows_per_epoch == Some(0) {
            return Err(Error::setting(
                "batch_size and rows_per_epoch must be at least 1",
            ));
        }
        for rate in [Some(self.learning_rate), self.then_learning_rate]
            .into_iter()
            .flatten()
        {
            if !positive(rate) {
                return Err(Error::setting(format!(
                    "learning_rate must be above 0, not {rate}"
                )));
            }
        }
        let limits = [
            ("patience_seconds", self.patience_seconds),
            ("time_limit", self.time_limit),
        ];
        if let Some((name, _)) = limits
            .iter()
            .find(|(_, value)| value.is_some_and(|v| !positive(v)))
        {
            return Err(Error::setting(format!("{name} must be above 0 seconds")));
        }
        if split.train.is_empty() {
            return Err(Error::setting("no rows to train on"));
        }
        if self.select.needs_validation() && self.train_on_validation {
            let message = format!(
                "select = {} needs the validation rows that train_on_validation trains on",
                self.select
            );
            return Err(Error::setting(format!(
                "{message}; use select = training-loss or last"
            )));
        }
        if self.select.needs_validation() && split.validation.is_empty() {
            let message = format!(
                "select = {} needs validation rows; give some or use select = last",
                self.select
            );
            return Err(Error::setting(message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::TrainingSettings;

    #[test]
    fn shrinking_steps_fall_in_a_straight_line_to_the_last_step_of_all_epochs() {
        let settings = TrainingSettings {
            epochs: 5,
            batch_size: 8,
            learning_rate: 0.1,
            lr_decay: true,
            ..TrainingSettings::default()
        };
        let rate = |step| settings.learning_rate_at(step, 9);
        assert_eq!(
            (rate(1), rate(6), rate(11)),
            (0.1, 0.05, 0.0),
            "two steps per epoch of nine rows"
        );
        assert_eq!(
            TrainingSettings {
                lr_decay: false,
                ..settings
            }
            .learning_rate_at(11, 9),
            0.1
        );
        let fewer = TrainingSettings {
            rows_per_epoch: Some(9),
            ..settings
        };
        assert_eq!(
            (fewer.learning_rate_at(6, 900), fewer.rows_of_epoch(4)),
            (0.05, 4)
        );
    }
}
