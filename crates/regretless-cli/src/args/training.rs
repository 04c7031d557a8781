//! Training options: one per field of the library's [`TrainingSettings`].

use clap::{Args, ValueEnum};
use regretless::settings::{SelectionCriterion, TrainingSettings};
use serde::{Deserialize, Serialize};

use super::values::OptimizerSpec;

/// Defaults of the training settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Features standardized, loss rescaled
    Default,
    /// As in the paper's component table: features not standardized, loss not rescaled
    Paper,
}

/// Training settings; the profile gives the defaults.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Training")]
pub struct TrainingOptions {
    /// Defaults of the training settings: default, or paper (features not standardized, loss not
    /// rescaled, as in the paper's component table) [default: default; for compare --benchmark:
    /// paper]
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true)]
    pub profile: Option<Profile>,
    /// Number of epochs [default: 50]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Training rows per epoch, redrawn for each epoch; fewer than all if solver calls are slow
    /// [default: all]
    #[arg(long, value_name = "N")]
    pub rows_per_epoch: Option<usize>,
    /// Batch size [default: 32]
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
    /// Learning rate [default: 0.005]
    #[arg(long, value_name = "RATE")]
    pub learning_rate: Option<f64>,
    /// Decay the learning rate linearly to 0 [default: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub lr_decay: Option<bool>,
    /// Optimizer: adam, adamw or sgd, with parameters if needed: adamw:weight_decay=0.1,
    /// sgd:momentum=0.9 [default: adam]
    #[arg(long, value_name = "OPTIMIZER")]
    pub optimizer: Option<OptimizerSpec>,
    /// Criterion for the best epoch: validation-regret, validation-loss, training-loss or last
    /// [default: validation-regret]
    #[arg(long, value_name = "CRITERION")]
    pub select: Option<SelectionCriterion>,
    /// Train on the validation rows too; needs --select training-loss or last [default: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub train_on_validation: Option<bool>,
    /// Learning rate of the stages after 'then' that do not set 'lr' [default: --learning-rate]
    #[arg(long, value_name = "RATE")]
    pub then_learning_rate: Option<f64>,
    /// Number of epochs of the stages after 'then' that do not set 'epochs' [default: --epochs]
    #[arg(long, value_name = "N")]
    pub then_epochs: Option<usize>,
    /// Early stopping: epochs without improvement
    #[arg(long, value_name = "EPOCHS")]
    pub patience: Option<usize>,
    /// Early stopping: seconds without improvement
    #[arg(long, value_name = "SECONDS")]
    pub patience_seconds: Option<f64>,
    /// Time limit of the training
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Scale features to mean 0 and standard deviation 1 [default: true; profile paper: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub standardize: Option<bool>,
    /// Scale predicted costs: mean + standard deviation x output [default: true]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub scale_costs: Option<bool>,
    /// Rescale the loss to keep gradients of order 1 for any number of costs [default: true;
    /// profile paper: false]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub rescale_loss: Option<bool>,
    /// Retrain weighted losses from the baseline model instead of from scratch [default: only with
    /// O_S]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub retrain_from_baseline: Option<bool>,
    /// With O_S, clip instance costs at ten times their median [default: true]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub clip_instance_costs: Option<bool>,
    /// Use the fused training kernel where it applies; the result is the same [default: true]
    #[arg(
        long,
        num_args = 0..=1,
        default_missing_value = "true",
        value_name = "BOOL",
        hide_possible_values = true
    )]
    pub fused: Option<bool>,
}

impl TrainingOptions {
    /// The library's settings; `profile` is used unless the options name one.
    pub fn settings(&self, profile: Profile, seed: u64) -> TrainingSettings {
        let standard = match self.profile.unwrap_or(profile) {
            Profile::Default => TrainingSettings {
                seed,
                ..TrainingSettings::default()
            },
            Profile::Paper => TrainingSettings::paper(seed),
        };
        TrainingSettings {
            epochs: self.epochs.unwrap_or(standard.epochs),
            rows_per_epoch: self.rows_per_epoch.or(standard.rows_per_epoch),
            batch_size: self.batch_size.unwrap_or(standard.batch_size),
            learning_rate: self.learning_rate.unwrap_or(standard.learning_rate),
            lr_decay: self.lr_decay.unwrap_or(standard.lr_decay),
            optimizer: self.optimizer.map_or(standard.optimizer, |spec| spec.0),
            select: self.select.unwrap_or(standard.select),
            train_on_validation: self
                .train_on_validation
                .unwrap_or(standard.train_on_validation),
            then_learning_rate: self.then_learning_rate.or(standard.then_learning_rate),
            then_epochs: self.then_epochs.or(standard.then_epochs),
            patience: self.patience.or(standard.patience),
            patience_seconds: self.patience_seconds.or(standard.patience_seconds),
            time_limit: self.time_limit.or(standard.time_limit),
            work_limit: standard.work_limit,
            standardize: self.standardize.unwrap_or(standard.standardize),
            scale_costs: self.scale_costs.unwrap_or(standard.scale_costs),
            rescale_loss: self.rescale_loss.unwrap_or(standard.rescale_loss),
            retrain_from_baseline: self
                .retrain_from_baseline
                .or(standard.retrain_from_baseline),
            clip_instance_costs: self
                .clip_instance_costs
                .unwrap_or(standard.clip_instance_costs),
            fused: self.fused.unwrap_or(standard.fused),
            seed,
        }
    }

    /// The same options with every default written out.
    #[must_use]
    pub fn resolved(&self, profile: Profile) -> Self {
        let settings = self.settings(profile, 0);
        Self {
            profile: Some(self.profile.unwrap_or(profile)),
            epochs: Some(settings.epochs),
            rows_per_epoch: settings.rows_per_epoch,
            batch_size: Some(settings.batch_size),
            learning_rate: Some(settings.learning_rate),
            lr_decay: Some(settings.lr_decay),
            optimizer: Some(OptimizerSpec(settings.optimizer)),
            select: Some(settings.select),
            train_on_validation: Some(settings.train_on_validation),
            then_learning_rate: settings.then_learning_rate,
            then_epochs: settings.then_epochs,
            patience: settings.patience,
            patience_seconds: settings.patience_seconds,
            time_limit: settings.time_limit,
            standardize: Some(settings.standardize),
            scale_costs: Some(settings.scale_costs),
            rescale_loss: Some(settings.rescale_loss),
            retrain_from_baseline: settings.retrain_from_baseline,
            clip_instance_costs: Some(settings.clip_instance_costs),
            fused: Some(settings.fused),
        }
    }
}
