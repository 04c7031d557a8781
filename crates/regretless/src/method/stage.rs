//! One stage of a method: a loss with its oracle settings, training labels and overrides.

use crate::error::{Error, Result};
use crate::label::{LabeledDataset, TrainingLabels};
use crate::loss::{CostSensitiveSpec, LossSpec};
use crate::observer::Observer;
use crate::oracle::{Heuristic, Oracle, OracleSettings, TrainingOracle};

/// One stage of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingStage {
    /// What is minimized.
    pub loss: LossSpec,
    /// Which solver, cache and warm starts serve the solver calls.
    pub(crate) oracle: OracleSettings,
    /// Which labels are trained on.
    pub(crate) labels: TrainingLabels,
    /// Settings of this stage that take precedence over those of the training.
    pub(crate) overrides: StageOverrides,
}

/// Settings of one stage that take precedence over those of the training.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct StageOverrides {
    /// Learning rate.
    pub learning_rate: Option<f64>,
    /// Maximum number of epochs.
    pub epochs: Option<usize>,
    /// Training rows of an epoch.
    pub rows_per_epoch: Option<usize>,
    /// Rows of one gradient step.
    pub batch_size: Option<usize>,
    /// Whether the learning rate falls linearly to 0 over the epochs.
    pub lr_decay: bool,
}

impl<L: Into<LossSpec>> From<L> for TrainingStage {
    fn from(loss: L) -> Self {
        Self {
            loss: loss.into(),
            oracle: OracleSettings::default(),
            labels: TrainingLabels::default(),
            overrides: StageOverrides::default(),
        }
    }
}

impl TrainingStage {
    /// The same stages with each of the tried shrinkages; empty where no stage leaves it open.
    pub(crate) fn with_shrinkages(stages: &[Self]) -> Vec<Vec<Self>> {
        let shrinkages_of = |stage: &Self| {
            let spec = stage.loss.downcast_ref::<CostSensitiveSpec>();
            spec.map_or_else(Vec::new, CostSensitiveSpec::shrinkages)
        };
        let tried = stages.iter().map(|stage| shrinkages_of(stage).len()).max();
        let mut variants = Vec::new();
        for position in 0..tried.unwrap_or_default() {
            let mut variant = Vec::with_capacity(stages.len());
            for stage in stages {
                variant.push(match shrinkages_of(stage).get(position) {
                    Some(spec) => Self {
                        loss: spec.clone().into(),
                        ..stage.clone()
                    },
                    None => stage.clone(),
                });
            }
            variants.push(variant);
        }
        variants
    }

    /// Roughly how many solves per training row the stage takes, with this many epochs unless it
    /// overrides them.
    pub fn estimated_solves_per_row(&self, epochs: usize) -> f64 {
        if !self.loss.properties().calls_solver {
            return 0.0;
        }
        let solve_ratio = self.oracle.cache.map_or(1.0, |cache| cache.solve_ratio);
        solve_ratio * self.overrides.epochs.unwrap_or(epochs) as f64
    }

    /// The oracle for the solver calls of this stage's loss.
    ///
    /// # Errors
    /// When the problem lacks what the oracle settings of the stage need.
    pub fn training_oracle<'o>(&self, oracle: &'o Oracle, seed: u64) -> Result<TrainingOracle<'o>> {
        TrainingOracle::new(oracle, self.oracle, seed)
            .map_err(|error| error.for_method(&self.to_string()))
    }

    /// The table with the labels that this stage trains on; `None` if it trains on those of the
    /// table.
    ///
    /// # Errors
    /// When the problem lacks what the labels need, a solve fails, or the user interrupts.
    pub fn training_labels(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
        observer: &dyn Observer,
    ) -> Result<Option<LabeledDataset>> {
        self.labels
            .apply(data, rows, &self.to_string(), oracle, observer)
    }

    /// Checks that the problem has what loss, oracle settings and labels need, and that they are
    /// compatible, before anything is solved.
    ///
    /// # Errors
    /// As [`Self::check`], and when the problem lacks something, which the error names.
    pub fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        self.check()?;
        self.loss.check_problem(oracle)?;
        let relaxation = match self.labels.relaxed {
            Some(kind) => oracle.require_relaxation(kind),
            None => Ok(()),
        };
        relaxation.map_err(|error| error.for_method(&self.to_string()))?;
        if self.labels.robust.is_some() {
            oracle
                .require_plain_costs()
                .map_err(|error| error.for_method(&self.to_string()))?;
        }
        if self.loss.properties().uses_pool || self.oracle.cache.is_some() {
            let checks = oracle.require_checks();
            checks.map_err(|error| error.for_method(&self.to_string()))?;
        }
        self.training_oracle(oracle, 0)?;
        Ok(())
    }

    /// Checks that loss, oracle settings and labels are compatible.
    ///
    /// # Errors
    /// When oracle settings would have no effect because the loss never calls the solver (warm
    /// starts also serve validation, and so every loss), or when settings contradict each other.
    pub fn check(&self) -> Result<()> {
        self.oracle.check()?;
        let changes_solutions = self.oracle != self.oracle.exactness_preserving();
        if changes_solutions && !self.loss.properties().calls_solver {
            let settings = self.oracle.to_string();
            return Err(Error::setting(format!(
                "'{}' never calls the solver during training",
                self.loss
            ))
            .with_remedy(format!("'{}' has no effect. Remove it.", settings.trim())));
        }
        if self.oracle.heuristic == Some(Heuristic::LocalSearchFromLabel)
            && self.labels.relaxed.is_some()
        {
            return Err(Error::setting(
                "'local-search:from-label' starts from integral decisions, which 'labels relaxed' \
                 are not",
            )
            .with_remedy("remove one of them, or use 'local-search:fast'"));
        }
        Ok(())
    }
}
