//! Methods built in code.

use super::{AutoBudget, Method, TrainingStage};
use crate::loss::pfyl::Pfyl;
use crate::loss::spo_plus::SpoPlus;
use crate::loss::{BaseError, CostSensitiveSpec, InstanceWeighting, LossSpec, noise};
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

    /// Also removes what the equality constraints of the problem absorb (E, instead of S).
    #[must_use]
    pub fn equality_invariant(self) -> Self {
        Self(self.0.equality_invariant())
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

/// Setters change the last stage. `auto` chooses its stages and their settings itself: training
/// refuses `auto` that is combined with stages or settings.
impl Method {
    /// Mean squared error; add components with the methods of [`CostSensitive`].
    ///
    /// ```
    /// use regretless::Method;
    ///
    /// let method: Method = Method::mse().scale_invariant().into();
    /// assert_eq!(method.to_string(), "MSE(S)");
    /// ```
    pub fn mse() -> CostSensitive {
        CostSensitive(CostSensitiveSpec::plain(BaseError::Squared))
    }

    /// Mean absolute error; add components with the methods of [`CostSensitive`].
    ///
    /// ```
    /// use regretless::Method;
    ///
    /// let method = Method::mae().one_sided().scale_invariant().epochs(5);
    /// assert_eq!(method.to_string(), "MAE(O,S) epochs 5");
    /// ```
    pub fn mae() -> CostSensitive {
        CostSensitive(CostSensitiveSpec::plain(BaseError::Absolute))
    }

    /// The SPO+ loss (Elmachtoub and Grigas 2022).
    ///
    /// ```
    /// use regretless::Method;
    ///
    /// assert_eq!(Method::spo_plus().warm_starts().to_string(), "SPO+ warm");
    /// ```
    pub fn spo_plus() -> Self {
        SpoPlus.into()
    }

    /// The perturbed Fenchel–Young loss (Berthet et al. 2020) with its default noise.
    ///
    /// ```
    /// use regretless::Method;
    ///
    /// assert_eq!(Method::pfyl().cache(0.05).to_string(), "PFYL cache 5%");
    /// ```
    pub fn pfyl() -> Self {
        Pfyl::new(noise::Perturbation::DEFAULT).into()
    }

    /// Trains several candidates within the default budget and returns the average of those with
    /// the lowest validation regret.
    pub fn auto() -> Self {
        Self::Auto {
            budget: AutoBudget::default(),
            candidates: Vec::new(),
        }
    }

    /// Linear regression in closed form.
    pub fn least_squares() -> Self {
        Self::LeastSquares {
            penalty: 0.0,
            is_shared: false,
        }
    }

    /// Continues with the stages of another method, each starting from the model of the one before.
    /// Training refuses the result if one of the two is `auto` or least squares.
    #[must_use]
    pub fn then(self, next: impl Into<Self>) -> Self {
        match (self, next.into()) {
            (Self::Stages(mut stages), Self::Stages(next_stages)) => {
                stages.extend(next_stages);
                Self::Stages(stages)
            }
            (first, next) => Self::InvalidCombination(format!("{first} then {next}")),
        }
    }

    /// Solves a fraction `solve_ratio` of the solver calls; the others return the cheapest decision
    /// of a solution pool.
    #[must_use]
    pub fn cache(self, solve_ratio: f64) -> Self {
        self.with_last_stage(|stage| stage.oracle.cache = Some(CacheSettings::new(solve_ratio)))
    }

    /// Solves a linear relaxation instead of the problem.
    #[must_use]
    pub fn relax(self, relaxation: Relaxation) -> Self {
        self.with_last_stage(|stage| stage.oracle.relaxation = Some(relaxation))
    }

    /// Solves by a heuristic.
    #[must_use]
    pub fn heuristic(self, heuristic: Heuristic) -> Self {
        self.with_last_stage(|stage| stage.oracle.heuristic = Some(heuristic))
    }

    /// Starts each solve from the state of the previous solve of the same instance.
    #[must_use]
    pub fn warm_starts(self) -> Self {
        self.with_last_stage(|stage| stage.oracle.warm = true)
    }

    /// Overrides the number of epochs.
    #[must_use]
    pub fn epochs(self, epochs: usize) -> Self {
        self.with_last_stage(|stage| stage.overrides.epochs = Some(epochs))
    }

    /// Overrides the learning rate.
    #[must_use]
    pub fn learning_rate(self, rate: f64) -> Self {
        self.with_last_stage(|stage| stage.overrides.learning_rate = Some(rate))
    }

    /// Overrides the number of rows of one gradient step.
    #[must_use]
    pub fn batch_size(self, rows: usize) -> Self {
        self.with_last_stage(|stage| stage.overrides.batch_size = Some(rows))
    }

    fn with_last_stage(mut self, change: impl FnOnce(&mut TrainingStage)) -> Self {
        match &mut self {
            Self::Stages(stages) => {
                if let Some(stage) = stages.last_mut() {
                    change(stage);
                }
                self
            }
            Self::Auto { .. } | Self::LeastSquares { .. } | Self::InvalidCombination(_) => {
                // A placeholder stage, used only to format the changed settings.
                let mut stage = TrainingStage::from(SpoPlus);
                change(&mut stage);
                let TrainingStage {
                    oracle,
                    labels,
                    overrides,
                    ..
                } = stage;
                Self::InvalidCombination(format!("{self}{oracle}{labels}{overrides}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, ErrorKind, Method, Problem, Split, Trainer};

    #[test]
    fn auto_combined_with_stages_or_settings_is_refused_by_fit() {
        let problem = Problem::benchmark("KS8").unwrap();
        let split = Split::random(0).train(0.5).validation(0.2);
        let data = Dataset::generate(&problem, 40)
            .unwrap()
            .split(split)
            .unwrap();
        for (method, name) in [
            (Method::auto().then(Method::mse()), "auto then MSE"),
            (Method::mse().then(Method::auto()), "MSE then auto"),
            (
                Method::mse().then(Method::auto()).then(Method::pfyl()),
                "MSE then auto then PFYL",
            ),
            (Method::auto().epochs(5), "auto epochs 5"),
            (Method::auto().cache(0.05), "auto cache 5%"),
        ] {
            assert_eq!(method.to_string(), name);
            assert!(name.parse::<Method>().is_err(), "{name}");
            let error = Trainer::new(method).fit(&problem, &data).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Setting);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
