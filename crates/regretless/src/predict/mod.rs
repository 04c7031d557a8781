//! Predictors: the forward pass from features to costs, and the backward pass for gradients.
//!
//! All predictors are a `Network`, linear or with hidden layers, which maps rows of features to
//! rows of outputs. In a wide table a row is an instance and its outputs are all costs; in a long
//! table a row is one item and the one output is its cost, so one predictor serves all items. A
//! fixed `CostScaler` turns outputs into costs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::size_limits;

mod embedded_file;
mod ensemble;
pub(crate) mod file;
mod inspection;
mod least_squares;
pub(crate) mod matmul;
mod model;
mod network;
mod record;
mod row_sketch;
mod scaler;

pub(crate) use embedded_file::EmbeddedFile;
pub(crate) use ensemble::EnsembleMember;
pub(crate) use least_squares::LinearFit;
pub use model::{CostModel, ModelMetadata};
pub(crate) use network::LEAKY_RELU_SLOPE;
pub(crate) use network::Network;
pub(crate) use record::{RecordedRegret, TrainingRecord, number_or_nan};
pub(crate) use row_sketch::{RowSketch, row_digest, row_hash};
pub(crate) use scaler::{CostScaler, FeatureScaler};

/// Sizes of the hidden layers of `mlp`. Untuned: a common choice for tables.
const DEFAULT_HIDDEN_SIZES: [usize; 2] = [256, 256];

/// Intermediate results of a forward pass for the backward pass; reused from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tape {
    /// Outputs of each layer, those of the network last.
    pub(crate) layers: Vec<Vec<f32>>,
    /// The gradients of the outputs and of the inputs of the current layer.
    pub(crate) gradients: [Vec<f32>; 2],
    /// The transposed gradient of a layer with few inputs, one row per input.
    transposed: Vec<f32>,
}

impl Tape {
    /// The outputs of the last forward pass.
    pub fn outputs(&self) -> &[f32] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }
}

/// The architecture of a predictor, written `linear`, `mlp`, or `mlp:64,32` with hidden layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PredictorSpec {
    /// Linear with bias.
    Linear,
    /// Hidden layers with leaky ReLU.
    Mlp {
        /// Sizes of the hidden layers.
        hidden: Vec<usize>,
    },
}

impl PredictorSpec {
    /// Checks that a predictor of this size can be trained: the number of parameters is limited.
    ///
    /// # Errors
    /// When it has too many parameters.
    pub fn check(&self, features: usize, outputs: usize) -> Result<()> {
        let hidden: &[usize] = match self {
            Self::Linear => &[],
            Self::Mlp { hidden } => hidden,
        };
        size_limits::check_parameters(&[&[features], hidden, &[outputs]].concat())
    }

    /// The initial parameters of a new predictor, which depend on the seed only: layer by layer,
    /// weights before biases.
    pub fn initial_parameters(&self, features: usize, outputs: usize, seed: u64) -> Vec<f32> {
        self.build(features, outputs, seed).parameters().to_vec()
    }

    /// A new predictor whose initial parameters depend on the seed only.
    pub(crate) fn build(&self, features: usize, outputs: usize, seed: u64) -> Network {
        match self {
            Self::Linear => Network::new(features, &[], outputs, seed),
            Self::Mlp { hidden } => Network::new(features, hidden, outputs, seed),
        }
    }
}

impl fmt::Display for PredictorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Mlp { hidden } => {
                let sizes: Vec<String> = hidden.iter().map(usize::to_string).collect();
                write!(f, "mlp:{}", sizes.join(","))
            }
        }
    }
}

impl FromStr for PredictorSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || {
            Error::unknown(
                "predictor",
                text,
                &["linear", "mlp", "mlp:64,32 (sizes of hidden layers)"],
            )
        };
        match text.split_once(':') {
            None if text == "linear" => Ok(Self::Linear),
            None if text == "mlp" => Ok(Self::Mlp {
                hidden: DEFAULT_HIDDEN_SIZES.to_vec(),
            }),
            Some(("mlp", sizes)) => {
                let size = |s: &str| s.trim().parse::<usize>().ok().filter(|n| *n > 0);
                let hidden = sizes
                    .split(',')
                    .map(size)
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(unknown)?;
                Ok(Self::Mlp { hidden })
            }
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for PredictorSpec {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PredictorSpec> for String {
    fn from(spec: PredictorSpec) -> Self {
        spec.to_string()
    }
}
