//! Settings of a training with their defaults.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::SplitIndices;
use crate::error::{Error, Result};
use crate::method::{StageOverrides, TrainingStage};
use crate::optimizer::Optimizer;
use crate::random::{Purpose, RandomStream};

/// Settings of a training run.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `epochs` | 50 | maximum number of epochs |
/// | `rows_per_epoch` | all | training rows of an epoch, drawn again for each; for slow solves |
/// | `batch_size` | 32 | rows of one gradient step |
/// | `learning_rate` | 0.005 | learning rate |
/// | `lr_decay` | false | let the learning rate fall linearly to 0 over the epochs |
/// | `optimizer` | adam | adam, adamw or sgd |
/// | `select` | validation-regret | which epoch is kept |
/// | `train_on_validation` | false | train on validation rows too; `select` must not need them |
/// | `patience` | none | stop after this many epochs without improvement |
/// | `patience_seconds` | none | stop after this many seconds without improvement |
/// | `time_limit` | none | stop after this many seconds, also within an epoch that solves |
/// | `standardize` | true | scale features to mean 0 and standard deviation 1 |
/// | `scale_costs` | true | predict costs as mean + deviation · output |
/// | `rescale_loss` | true | keep gradients of the order of 1 for any number of costs |
/// | `retrain_from_baseline` | with O_S | start weighted rounds from the baseline |
/// | `clip_instance_costs` | true | with O_S, no instance cost above ten times the median |
/// | `then_learning_rate` | as above | learning rate of the stages after `then` without `lr` |
/// | `then_epochs` | as above | epochs of the stages after `then` without `epochs` |
/// | `fused` | true | use fused training where it applies: faster, same result |
/// | `seed` | 0 | parameters, batch order, noise, cache draws |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingSettings {
    /// Maximum number of epochs.
    pub epochs: usize,
    /// Training rows of an epoch, drawn again for each; all by default.
    pub rows_per_epoch: Option<usize>,
    /// Rows of one gradient step.
    pub batch_size: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Whether the learning rate falls linearly to 0 over the epochs.
    pub lr_decay: bool,
    /// The optimizer.
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
    /// Solver work before stopping, in nanoseconds as `Solver::work` counts; set by `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_limit: Option<u64>,
    /// Whether features are scaled to mean 0 and standard deviation 1 over the training rows.
    pub standardize: bool,
    /// Whether costs are predicted as mean + standard deviation · output.
    pub scale_costs: bool,
    /// Whether the loss is rescaled to keep gradients of the order of 1.
    pub rescale_loss: bool,
    /// Whether weighted rounds start from the baseline; by default with O_S, whose losses jump, so
    /// weights of the baseline mean little far from it.
    pub retrain_from_baseline: Option<bool>,
    /// Whether instance costs are at most ten times their median with O_S, whose losses can vanish.
    pub clip_instance_costs: bool,
    /// Learning rate of the stages after `then`.
    pub then_learning_rate: Option<f64>,
    /// Maximum number of epochs of the stages after `then`.
    pub then_epochs: Option<usize>,
    /// Whether fused training may be used if predictor, loss and optimizer allow it.
    pub fused: bool,
    /// Seed of parameters, batch order, noise and cache draws.
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

    /// The settings behind the paper's table of large problems: epochs are selected by their
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

    /// The same, training on all rows and selecting epochs by their training loss, as the paper
    /// does for SPO+ on large problems.
    #[must_use]
    pub fn with_validation_rows(self) -> Self {
        Self {
            train_on_validation: true,
            select: SelectionCriterion::TrainingLoss,
            ..self
        }
    }

    /// Shuffles the rows of an epoch into the order in which training visits them; it depends on
    /// the seed and the epoch only.
    pub fn shuffle_rows(&self, rows: &mut [usize], epoch: usize) {
        RandomStream::new(Purpose::BatchOrder, self.seed, [epoch as u64, 0]).shuffle(rows);
    }

    /// Whether training may stop by the clock, so another run may train another model.
    pub fn stops_by_clock(&self) -> bool {
        self.time_limit.is_some() || self.patience_seconds.is_some()
    }

    /// How many of these training rows an epoch has.
    pub fn rows_of_epoch(&self, rows: usize) -> usize {
        self.rows_per_epoch.map_or(rows, |max| max.min(rows))
    }

    /// The learning rate of this step, counted from 1, with this many training rows.
    pub(crate) fn learning_rate_at(&self, step: i32, rows: usize) -> f64 {
        let steps = self
            .epochs
            .saturating_mul(self.rows_of_epoch(rows).div_ceil(self.batch_size));
        let remaining = 1.0 - f64::from(step - 1) / steps.max(1) as f64;
        if self.lr_decay {
            self.learning_rate * remaining.max(0.0)
        } else {
            self.learning_rate
        }
    }

    /// The same with a batch of at most the rows of an epoch, since buffers are allocated for a
    /// full batch.
    pub(crate) fn with_batch_at_most(self, rows: usize) -> Self {
        Self {
            batch_size: self.batch_size.min(self.rows_of_epoch(rows)).max(1),
            ..self
        }
    }

    /// The settings of a stage of the training, the first of which is number 0, with this many
    /// training rows.
    #[must_use]
    pub fn for_stage(&self, stage: &TrainingStage, index: usize, training_rows: usize) -> Self {
        let settings = if index == 0 {
            *self
        } else {
            self.for_later_stage()
        };
        settings
            .with_overrides(&stage.overrides)
            .with_batch_at_most(training_rows)
    }

    /// The same with the overrides of a stage.
    pub(crate) fn with_overrides(self, overrides: &StageOverrides) -> Self {
        Self {
            learning_rate: overrides.learning_rate.unwrap_or(self.learning_rate),
            epochs: overrides.epochs.unwrap_or(self.epochs),
            rows_per_epoch: overrides.rows_per_epoch.or(self.rows_per_epoch),
            batch_size: overrides.batch_size.unwrap_or(self.batch_size),
            lr_decay: overrides.lr_decay || self.lr_decay,
            ..self
        }
    }

    /// The settings of the stages after the first.
    pub(crate) fn for_later_stage(&self) -> Self {
        let learning_rate = self.then_learning_rate.unwrap_or(self.learning_rate);
        Self {
            learning_rate,
            epochs: self.then_epochs.unwrap_or(self.epochs),
            ..*self
        }
    }

    /// The rows that train and those that validate.
    pub(crate) fn rows(&self, split: &SplitIndices) -> SplitIndices {
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
            return Err(Error::setting(message).with_remedy("use select = training-loss or last"));
        }
        if self.select.needs_validation() && split.validation.is_empty() {
            let message = format!("select = {} needs validation rows", self.select);
            return Err(Error::setting(message).with_remedy("give some, or use select = last"));
        }
        Ok(())
    }
}

/// Which epoch is kept as the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SelectionCriterion {
    /// Lowest regret on the validation rows; one solve per row and epoch.
    ValidationRegret,
    /// Lowest loss on the validation rows; no solves beyond those of the loss.
    ValidationLoss,
    /// Lowest loss on the training rows during the epoch.
    TrainingLoss,
    /// The last epoch.
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

    /// Says when nothing was learned, or when more could be. `initial` describes the model of epoch
    /// 0, and `epochs` is what the user calls the number of epochs.
    pub fn epoch_remark(
        self,
        best: usize,
        last: usize,
        initial: &str,
        epochs: &str,
    ) -> Option<String> {
        let criterion = match self {
            Self::ValidationRegret => "regret",
            Self::ValidationLoss => "loss",
            Self::TrainingLoss | Self::Last => return None,
        };
        match best {
            _ if last == 0 => None,
            0 => Some(format!(
                "the {initial} was best: training did not lower the validation \
                 {criterion}; try more {epochs}, another learning rate or least squares"
            )),
            best if best == last => Some(format!(
                "the last epoch was the best: more {epochs} may help"
            )),
            _ => None,
        }
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
        let criterion = Self::NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(select, _)| *select);
        criterion
            .ok_or_else(|| Error::unknown("selection", text, &Self::NAMES.map(|(_, name)| name)))
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

#[cfg(test)]
mod tests {
    use super::TrainingSettings;

    #[test]
    fn the_learning_rate_decays_linearly_to_the_last_step_of_all_epochs() {
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
