//! Losses: how wrong a prediction is, and in which direction to change it.
//!
//! Every loss is a function of one instance and one prediction that returns value and gradient
//! together, in closed form. Adding one is one file here, one variant of [`LossSpec`], and one line in
//! [`LossSpec::examples`], which puts it under the gradient, scale, determinism and training tests.

use std::fmt;
use std::str::FromStr;

use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::label::Labelled;
use crate::oracle::{Asker, Oracle};
use crate::watch::Watch;

pub mod cos;

pub use cos::{BaseError, Cos, Side, Weighting};

/// One instance and what is predicted for it; costs are to be minimised.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Row of the table.
    pub instance: usize,
    /// True costs.
    pub costs: &'a [f64],
    /// Predicted costs.
    pub prediction: &'a [f64],
    /// Best decision under the true costs.
    pub best: &'a Decision,
}

/// Value and gradient of one instance.
pub trait Loss: Send + Sync {
    /// The loss of a prediction; writes its gradient with respect to the predicted costs.
    ///
    /// # Errors
    /// When a solve that the loss needs has no answer.
    fn evaluate(&self, query: &Query<'_>, asker: &mut Asker<'_>, gradient: &mut [f64]) -> Result<f64>;

    /// The factor that brings gradients to the order of 1, whatever the number of costs.
    ///
    /// Adam forgets gradients smaller than its ε; under scale-invariant losses they shrink with the
    /// number of costs. Training minimises the loss times this factor and reports the loss itself.
    fn rescaling(&self, _costs: usize) -> f64 {
        1.0
    }

    /// Whether an evaluation asks the oracle, so that a batch is worth spreading over threads.
    fn solves(&self) -> bool {
        false
    }
}

/// A loss in writing, by the label the literature prints.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LossSpec {
    /// The cost-sensitive family.
    Cos(Cos),
}

impl LossSpec {
    /// The loss itself, for one table. What it needs beyond the best decisions is computed here, once.
    ///
    /// # Errors
    /// When the problem cannot give what the loss needs, or the user interrupts.
    pub fn build(&self, data: &Labelled, oracle: &Oracle, watch: &dyn Watch) -> Result<Box<dyn Loss>> {
        match self {
            Self::Cos(cos) => Ok(Box::new(cos.build(data, oracle, watch)?)),
        }
    }

    /// How instances are weighted by the regret of a baseline.
    pub fn weighting(&self) -> Weighting {
        match self {
            Self::Cos(cos) => cos.weighting,
        }
    }

    /// Whether the loss can be zero although there is regret.
    pub fn may_vanish(&self) -> bool {
        match self {
            Self::Cos(cos) => matches!(cos.side, Side::Sensitive(_)),
        }
    }

    /// One or more of every kind, for tests that all losses must pass.
    pub fn examples() -> Vec<Self> {
        Cos::examples().into_iter().map(Self::Cos).collect()
    }
}

impl fmt::Display for LossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cos(cos) => cos.fmt(f),
        }
    }
}

impl FromStr for LossSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self::Cos)
    }
}

impl TryFrom<String> for LossSpec {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<LossSpec> for String {
    fn from(spec: LossSpec) -> Self {
        spec.to_string()
    }
}
