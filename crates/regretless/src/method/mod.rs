//! Methods: how a model is trained, as typed values.
//!
//! A method is one or more stages, each a loss with its oracle settings, training labels and
//! overrides of the training settings; or `auto`, which trains several candidates within a budget
//! and returns the average of those with the lowest validation regret; or least squares in closed
//! form. `grammar.rs` parses and prints the names of methods, such as
//! `MAE(O,S) then SPO+ cache 5% lr 0.001 epochs 5`.
//!
//! ```
//! use regretless::method::Method;
//!
//! let method = Method::mae()
//!     .one_sided()
//!     .scale_invariant()
//!     .then(Method::spo_plus().cache(0.05).epochs(5));
//! assert_eq!(method.to_string(), "MAE(O,S) then SPO+ cache 5% epochs 5");
//! assert_eq!(method, "MAE(O,S) then SPO+ cache 5% epochs 5".parse()?);
//! # Ok::<(), regretless::Error>(())
//! ```

mod builder;
mod grammar;
mod stage;

pub use builder::CostSensitive;
pub(crate) use stage::StageOverrides;
pub use stage::TrainingStage;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::{CostSensitiveSpec, ErrorSide};
use crate::oracle::Oracle;

/// How a model is trained.
///
/// ```
/// use regretless::Method;
///
/// let method: Method = "MAE(O,S) then SPO+ epochs 5".parse()?;
/// assert_eq!(method.to_string(), "MAE(O,S) then SPO+ epochs 5");
/// assert!("no such loss".parse::<Method>().is_err());
/// # Ok::<(), regretless::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Method {
    /// Trains several candidates within a budget and returns the average of those with the lowest
    /// validation regret.
    Auto {
        /// What the search may take.
        budget: AutoBudget,
        /// Methods that are tried next to those of the search, each as its stages.
        candidates: Vec<Vec<TrainingStage>>,
    },
    /// Stages, each starting from the model of the one before.
    Stages(Vec<TrainingStage>),
    /// Linear regression in closed form, the baseline of all comparisons; ridge regression with a
    /// penalty above 0.
    LeastSquares {
        /// The weight of the squared coefficients, relative to the variance of a feature.
        penalty: f64,
        /// Whether all costs share one set of coefficients, by which the columns of the own cost
        /// and those that belong to none are multiplied.
        is_shared: bool,
    },
    /// The name of a combination of `auto` or least squares with stages or settings, which they do
    /// not have; training refuses it.
    InvalidCombination(String),
}

/// The budget of `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoBudget {
    /// Planned processor seconds of training, without labeling and the final evaluation.
    pub seconds: f64,
    /// Seconds of one solve, stated by the user; needed only for a user-defined solver.
    pub solve_seconds: Option<f64>,
}

impl AutoBudget {
    /// Default budget, also of all searches of a fit or a backtest together: about as long as a
    /// user waits at a terminal.
    pub const DEFAULT_SECONDS: f64 = 20.0;
}

impl Default for AutoBudget {
    fn default() -> Self {
        Self {
            seconds: Self::DEFAULT_SECONDS,
            solve_seconds: None,
        }
    }
}

/// `auto`, as in every interface: no single loss is the best one on all tables, and which one is
/// cannot be known beforehand.
impl Default for Method {
    fn default() -> Self {
        Self::auto()
    }
}

impl Method {
    /// MAE(O,S), the method of the paper for its benchmarks: the strongest loss that needs no solve
    /// beyond the labels. It is their default, so their published numbers are reproduced.
    pub fn of_paper() -> Self {
        Self::mae().one_sided().scale_invariant().into()
    }

    /// Checks that the problem has what every stage needs, before anything is solved. Of its own
    /// candidates `auto` only takes those that the problem allows.
    ///
    /// # Errors
    /// When the problem lacks something, which the error names, or settings of a stage contradict
    /// each other.
    pub fn check_problem(&self, oracle: &Oracle) -> Result<()> {
        self.named_stages()
            .into_iter()
            .try_for_each(|stage| stage.check_problem(oracle))
    }

    /// Hashes of the custom losses, in the order of the stages; none for losses that are built in.
    pub fn loss_fingerprints(&self) -> Vec<String> {
        self.named_stages()
            .into_iter()
            .filter_map(|stage| stage.loss.fingerprint())
            .collect()
    }

    /// All stages that the user named: those of the method, or those of the candidates of `auto`.
    fn named_stages(&self) -> Vec<&TrainingStage> {
        match self {
            Self::Stages(stages) => stages.iter().collect(),
            Self::Auto { candidates, .. } => candidates.iter().flatten().collect(),
            Self::LeastSquares { .. } | Self::InvalidCombination(_) => Vec::new(),
        }
    }

    /// Whether predictions times a positive factor have the same loss: predicted costs are then
    /// correct up to a per-row scale factor. The last stage decides, of `auto` any named candidate.
    pub fn is_scale_invariant(&self) -> bool {
        let is_last_invariant = |stages: &[TrainingStage]| {
            let last = stages.last();
            last.is_some_and(|stage| stage.loss.properties().is_scale_invariant)
        };
        match self {
            Self::Stages(stages) => is_last_invariant(stages),
            Self::Auto { candidates, .. } => {
                candidates.iter().any(|stages| is_last_invariant(stages))
            }
            Self::LeastSquares { .. } | Self::InvalidCombination(_) => false,
        }
    }

    /// Whether a training loss that still decreases at the end says something: not if it has no
    /// lower bound.
    pub fn reports_convergence(&self) -> bool {
        match self {
            Self::Stages(stages) => stages
                .last()
                .is_some_and(|stage| !stage.loss.properties().is_unbounded),
            // The learning rate of `auto` decays to 0, so the loss always settles, and its
            // candidates are chosen by their regret.
            Self::Auto { .. } | Self::LeastSquares { .. } | Self::InvalidCombination(_) => false,
        }
    }

    /// What follows for predicted costs if the method of this name, as a model states it, is scale
    /// invariant. `auto` states the candidates of its average.
    pub fn scale_note(name: &str) -> Option<String> {
        let candidate = find_candidate(name, Self::is_scale_invariant)?;
        Some(format!(
            "with {candidate} predicted costs are correct up to a per-row scale factor: objectives \
             and prices are not amounts in the unit of the costs"
        ))
    }

    /// What follows for predicted costs if the method of this name, as a model states it, counts
    /// errors on one side only and is not scale invariant.
    pub fn bias_note(name: &str) -> Option<String> {
        if find_candidate(name, Self::is_scale_invariant).is_some() {
            return None;
        }
        let candidate = find_candidate(name, Self::is_one_sided)?;
        Some(format!(
            "with {candidate} predicted costs may have a bias, to the side that does not change \
             the decision: objectives and prices are no estimates of amounts"
        ))
    }

    /// Whether the last stage counts only the errors that can change the decision.
    fn is_one_sided(&self) -> bool {
        let Self::Stages(stages) = self else {
            return false;
        };
        let last = stages.last();
        let spec = last.and_then(|stage| stage.loss.downcast_ref::<CostSensitiveSpec>());
        spec.is_some_and(|spec| match spec.side {
            ErrorSide::OneSided | ErrorSide::Sensitive(_) => true,
            ErrorSide::Both | ErrorSide::Pinball(_) | ErrorSide::DualWeighted(_) => false,
        })
    }

    /// The only stage of a method.
    ///
    /// # Errors
    /// When the method is `auto` or has several stages.
    pub fn into_single_stage(self) -> Result<TrainingStage> {
        let name = self.to_string();
        match self {
            Self::Stages(mut stages) if stages.len() == 1 => Ok(stages.remove(0)),
            Self::Stages(_) => Err(Error::setting(format!("'{name}' is not a single loss"))
                .with_remedy("give one stage, without 'then'")),
            Self::Auto { .. } | Self::LeastSquares { .. } | Self::InvalidCombination(_) => {
                Err(Error::setting(format!("'{name}' is a method, not a loss"))
                    .with_remedy("name a loss, such as MAE(O,S)"))
            }
        }
    }
}

impl<S: Into<TrainingStage>> From<S> for Method {
    fn from(stage: S) -> Self {
        Self::Stages(vec![stage.into()])
    }
}

/// The first method with a property among those that a model states: one, or the candidates of an
/// average of `auto`.
fn find_candidate(name: &str, has_property: impl Fn(&Method) -> bool) -> Option<&str> {
    let candidates = match name.split_once(": ") {
        Some((mean, candidates)) if mean.starts_with("mean of ") => candidates,
        _ => name,
    };
    candidates.split("; ").find(|candidate| {
        // Without the predictor, which is named unless it is linear.
        let method = candidate.split(" (").next().unwrap_or_default();
        let method = method.strip_prefix(grammar::SHARED).unwrap_or(method);
        method
            .parse::<Method>()
            .is_ok_and(|method| has_property(&method))
    })
}
