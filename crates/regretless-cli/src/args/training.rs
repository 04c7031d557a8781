//! How to train: one option per field of the library's settings.

use clap::{Args, ValueEnum};
use regretless::train::{SelectionCriterion, TrainingSettings};
use serde::{Deserialize, Serialize};

use super::values::OptimizerSpec;

/// Where settings start from that are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Features standardised, the loss rescaled
    Default,
    /// The settings behind the paper's component table: neither
    Paper,
}

/// Training settings; what is left out comes from the profile.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Training")]
pub struct TrainingOptions {
    /// Where settings start from: default, or paper (features as they are, the loss not rescaled,
    /// as behind the paper's component table) [default: default; for compare --benchmark: paper]
    #[arg(long, value_enum, value_name = "NAME", hide_possible_values = true)]
    pub profile: Option<Profile>,
    /// Most passes over the training rows [default: 50]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Training rows of an epoch, drawn anew for each; fewer than all where every row takes a slow
    /// solve [default: all]
    #[arg(long, value_name = "N")]
    pub epoch_rows: Option<usize>,
    /// Rows per step [default: 32]
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Size of a step [default: 0.005]
    #[arg(long, value_name = "RATE")]
    pub learning_rate: Option<f64>,
    /// Let the size of a step fall to 0 in a straight line over the epochs [default: false]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub decay: Option<bool>,
    /// adam, adamw or sgd, with numbers if need be: sgd:momentum=0.9 [default: adam]
    #[arg(long, value_name = "RULE")]
    pub optimizer: Option<OptimizerSpec>,
    /// Which epoch is kept: validation-regret, validation-loss, training-loss or last
    /// [default: validation-regret]
    #[arg(long, value_name = "SCORE")]
    pub select: Option<SelectionCriterion>,
    /// Train on the validation rows too; needs --select training-loss or last [default: false]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub join_validation: Option<bool>,
    /// Size of a step of the methods after 'then' that have no 'lr' of their own [default: as
    /// before]
    #[arg(long, value_name = "RATE")]
    pub then_learning_rate: Option<f64>,
    /// Most passes of the methods after 'then' that have no 'epochs' of their own [default: as
    /// before]
    #[arg(long, value_name = "N")]
    pub then_epochs: Option<usize>,
    /// Stop after this many epochs without improvement
    #[arg(long, value_name = "EPOCHS")]
    pub patience: Option<usize>,
    /// Stop after this many seconds without improvement
    #[arg(long, value_name = "SECONDS")]
    pub patience_seconds: Option<f64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Bring features to mean 0 and deviation 1 [default: true; profile paper: false]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub standardize: Option<bool>,
    /// Predict costs as mean + deviation times output [default: true]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub output_map: Option<bool>,
    /// Keep gradients of the order of 1 for any number of costs [default: true; profile paper:
    /// false]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub rescale: Option<bool>,
    /// Retrain weighted losses from their baseline instead of afresh [default: only with O_S]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub warm_start: Option<bool>,
    /// With O_S, no instance cost above ten times the median [default: true]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub clip_costs: Option<bool>,
    /// Use the fast loop where it fits; it changes the speed, not the result [default: true]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub fused: Option<bool>,
}

impl TrainingOptions {
    /// The library's settings; a profile not given is `profile`.
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
            epoch_rows: self.epoch_rows.or(standard.epoch_rows),
            batch: self.batch.unwrap_or(standard.batch),
            learning_rate: self.learning_rate.unwrap_or(standard.learning_rate),
            decay: self.decay.unwrap_or(standard.decay),
            optimizer: self.optimizer.map_or(standard.optimizer, |spec| spec.0),
            select: self.select.unwrap_or(standard.select),
            join_validation: self.join_validation.unwrap_or(standard.join_validation),
            then_learning_rate: self.then_learning_rate.or(standard.then_learning_rate),
            then_epochs: self.then_epochs.or(standard.then_epochs),
            patience: self.patience.or(standard.patience),
            patience_seconds: self.patience_seconds.or(standard.patience_seconds),
            time_limit: self.time_limit.or(standard.time_limit),
            work_limit: standard.work_limit,
            standardize: self.standardize.unwrap_or(standard.standardize),
            output_map: self.output_map.unwrap_or(standard.output_map),
            rescale: self.rescale.unwrap_or(standard.rescale),
            warm_start: self.warm_start.or(standard.warm_start),
            clip_costs: self.clip_costs.unwrap_or(standard.clip_costs),
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
            epoch_rows: settings.epoch_rows,
            batch: Some(settings.batch),
            learning_rate: Some(settings.learning_rate),
            decay: Some(settings.decay),
            optimizer: Some(OptimizerSpec(settings.optimizer)),
            select: Some(settings.select),
            join_validation: Some(settings.join_validation),
            then_learning_rate: settings.then_learning_rate,
            then_epochs: settings.then_epochs,
            patience: settings.patience,
            patience_seconds: settings.patience_seconds,
            time_limit: settings.time_limit,
            standardize: Some(settings.standardize),
            output_map: Some(settings.output_map),
            rescale: Some(settings.rescale),
            warm_start: settings.warm_start,
            clip_costs: Some(settings.clip_costs),
            fused: Some(settings.fused),
        }
    }
}
