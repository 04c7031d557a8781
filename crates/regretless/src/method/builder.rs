//! Methods built in code.

use super::{AutoBudget, Method, TrainingStage};
use crate::loss::{
    BaseError, CostSensitiveSpec, InstanceWeighting, LossSpec, Pfyl, SpoPlus, noise,
};
use crate::oracle::{CacheSettings, Heuristic};
use crate::solve::relaxation::Relaxation;

/// A method with a cost-sensitive loss; see [`Method::mse`] and [`Method::mae`].
#[derive(Debug, Clone, PartialEq)]
pub struct CostSensitive(CostSensitiveSpec);

impl CostSensitive {
    /// Counts only errors that can change the decision (O).
    #[must_use]
    pub fn one_sided(self) -> Self {
        Self(self.0.one_sided())
    }

    /// Scales predicted and true costs to unit norm (S).
    #[must_use]
    pub fn scale_invariant(self) -> Self {
        Self(self.0.scale_invariant())
    }

    /// Weights instances by the regret of a baseline (C, W, IC, EIC).
    #[must_use]
    pub fn weighted(self, weighting: InstanceWeighting) -> Self {
        Self(self.0.weighted(weighting))
    }

    /// Continues with the stages of another method.
    #[must_use]
    pub fn then(self, next: impl Into<Method>) -> Method {
        Method::from(self).then(next)
    }

    /// Overrides the number of epochs.
    #[must_use]
    pub fn epochs(self, epochs: usize) -> Method {
        Method::from(self).epochs(epochs)
    }

    /// Overrides the learning rate.
    #[must_use]
    pub fn learning_rate(self, rate: f64) -> Method {
        Method::from(self).learning_rate(rate)
    }
}

impl From<CostSensitive> for LossSpec {
    fn from(method: CostSensitive) -> Self {
        method.0.into()
    }
}

/// Setters change the last stage; they have no effect on `auto`.
impl Method {
    /// Mean squared error; add components with the methods of [`CostSensitive`].
    pub fn mse() -> CostSensitive {
        CostSensitive(CostSensitiveSpec::plain(BaseError::Squared))
    }

    /// Mean absolute error; add components with the methods of [`CostSensitive`].
    pub fn mae() -> CostSensitive {
        CostSensitive(CostSensitiveSpec::plain(BaseError::Absolute))
    }

    /// The SPO+ loss (Elmachtoub and Grigas 2022).
    pub fn spo_plus() -> Self {
        SpoPlus.into()
    }

    /// The perturbed Fenchel–Young loss (Berthet et al. 2020) with its default noise.
    pub fn pfyl() -> Self {
        Pfyl::new(noise::Perturbation::DEFAULT).into()
    }

    /// A race of several methods within the default budget.
    pub fn auto() -> Self {
        Self::Auto(AutoBudget::default())
    }

    /// Continues with the stages of another method, each starting from the model of the one before.
    /// A race cannot be continued: `auto` on either side is the result.
    #[must_use]
    pub fn then(self, next: impl Into<Self>) -> Self {
        match (self, next.into()) {
            (Self::Stages(mut stages), Self::Stages(more)) => {
                stages.extend(more);
                Self::Stages(stages)
            }
            (Self::Auto(budget), _) | (Self::Stages(_), Self::Auto(budget)) => Self::Auto(budget),
        }
    }

    /// Answers solver calls from a solution pool; a fraction `solve_ratio` of them is solved.
    #[must_use]
    pub fn cache(self, solve_ratio: f64) -> Self {
        self.with_last(|stage| stage.oracle.cache = Some(CacheSettings::new(solve_ratio)))
    }

    /// Solves a linear relaxation instead of the problem.
    #[must_use]
    pub fn relax(self, relaxation: Relaxation) -> Self {
        self.with_last(|stage| stage.oracle.relaxation = Some(relaxation))
    }

    /// Solves by a heuristic.
    #[must_use]
    pub fn heuristic(self, heuristic: Heuristic) -> Self {
        self.with_last(|stage| stage.oracle.heuristic = Some(heuristic))
    }

    /// Starts solves from what earlier ones of the same instance found.
    #[must_use]
    pub fn warm_starts(self) -> Self {
        self.with_last(|stage| stage.oracle.warm = true)
    }

    /// Overrides the number of epochs.
    #[must_use]
    pub fn epochs(self, epochs: usize) -> Self {
        self.with_last(|stage| stage.overrides.epochs = Some(epochs))
    }

    /// Overrides the learning rate.
    #[must_use]
    pub fn learning_rate(self, rate: f64) -> Self {
        self.with_last(|stage| stage.overrides.learning_rate = Some(rate))
    }

    /// Overrides the number of rows of one gradient step.
    #[must_use]
    pub fn batch_size(self, rows: usize) -> Self {
        self.with_last(|stage| stage.overrides.batch_size = Some(rows))
    }

    fn with_last(mut self, change: impl FnOnce(&mut TrainingStage)) -> Self {
        if let Self::Stages(stages) = &mut self
            && let Some(stage) = stages.last_mut()
        {
            change(stage);
        }
        self
    }
}
