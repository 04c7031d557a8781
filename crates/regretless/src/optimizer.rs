//! Optimizers: Adam, AdamW, and stochastic gradient descent with momentum.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::renamed::explain;

/// Default weight decay of AdamW: that of PyTorch.
const ADAMW_WEIGHT_DECAY: f64 = 0.01;

/// An optimizer with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Optimizer {
    /// Kingma and Ba 2015.
    Adam {
        /// Decay rate of the moving average of gradients.
        #[serde(default = "beta1")]
        beta1: f64,
        /// Decay rate of the moving average of squared gradients.
        #[serde(default = "beta2")]
        beta2: f64,
        /// Added to the divisor.
        #[serde(default = "epsilon")]
        epsilon: f64,
        /// Fraction by which each step shrinks the weights, per unit of learning rate (0: Adam,
        /// above: AdamW).
        #[serde(default)]
        weight_decay: f64,
    },
    /// Stochastic gradient descent with momentum.
    Sgd {
        /// Fraction of the last step that is kept.
        #[serde(default)]
        momentum: f64,
    },
}

fn beta1() -> f64 {
    0.9
}

fn beta2() -> f64 {
    0.999
}

fn epsilon() -> f64 {
    1e-8
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::Adam {
            beta1: beta1(),
            beta2: beta2(),
            epsilon: epsilon(),
            weight_decay: 0.0,
        }
    }
}

impl Optimizer {
    /// Checks the parameters.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub(crate) fn check(self) -> Result<()> {
        let check_fraction = |name: &str, value: f64| match (0.0..1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::setting(format!(
                "optimizer: {name} must be at least 0 and below 1, not {value}"
            ))),
        };
        match self {
            Self::Sgd { momentum } => check_fraction("momentum", momentum),
            Self::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => {
                check_fraction("beta1", beta1)?;
                check_fraction("beta2", beta2)?;
                if !(epsilon.is_finite() && epsilon > 0.0) {
                    return Err(Error::setting(format!(
                        "optimizer: epsilon must be above 0, not {epsilon}"
                    )));
                }
                if !(weight_decay.is_finite() && weight_decay >= 0.0) {
                    return Err(Error::setting(format!(
                        "optimizer: weight_decay must be at least 0, not {weight_decay}"
                    )));
                }
                Ok(())
            }
        }
    }

    /// Whether steps do not depend on the scale of gradients, so the loss may be rescaled.
    pub(crate) fn is_scale_invariant(self) -> bool {
        matches!(self, Self::Adam { .. })
    }
}

/// As text: `adam`, `adamw:weight_decay=0.1`, `sgd:momentum=0.9`.
impl FromStr for Optimizer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = |reason: String| Error::setting(format!("optimizer '{text}': {reason}"));
        let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
        let mut table = serde_json::Map::new();
        if kind == "adamw" {
            table.insert("weight_decay".into(), ADAMW_WEIGHT_DECAY.into());
        }
        let kind = if kind == "adamw" { "adam" } else { kind };
        if !["adam", "sgd"].contains(&kind) {
            return Err(Error::unknown("optimizer", text, &["adam", "adamw", "sgd"]));
        }
        table.insert("kind".into(), kind.into());
        for assignment in numbers.split(',').filter(|text| !text.is_empty()) {
            let pair = assignment
                .split_once('=')
                .and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
            let (name, value) = pair.ok_or_else(|| {
                invalid("numbers are written name=value, separated by commas".into())
            })?;
            table.insert(name.trim().into(), value.into());
        }
        let optimizer: Self =
            serde_json::from_value(table.into()).map_err(|e| invalid(explain(&e.to_string())))?;
        optimizer.check()?;
        Ok(optimizer)
    }
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => {
                write!(
                    f,
                    "adam:beta1={beta1},beta2={beta2},epsilon={epsilon:e},\
                    weight_decay={weight_decay}"
                )
            }
            Self::Sgd { momentum } => write!(f, "sgd:momentum={momentum}"),
        }
    }
}

/// The state of an optimizer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Moments {
    pub(crate) steps: i32,
    /// Moving average of gradients; for gradient descent the velocity of the momentum.
    pub(crate) mean: Vec<f32>,
    /// Moving average of squared gradients; empty for gradient descent.
    pub(crate) square: Vec<f32>,
}

/// An optimizer with its state for one vector of parameters.
#[derive(Debug, Clone)]
pub(crate) struct OptimizerState {
    optimizer: Optimizer,
    pub(crate) moments: Moments,
}

impl OptimizerState {
    pub(crate) fn new(optimizer: Optimizer, parameters: usize) -> Self {
        let square = if optimizer.is_scale_invariant() {
            vec![0.0; parameters]
        } else {
            Vec::new()
        };
        Self {
            optimizer,
            moments: Moments {
                steps: 0,
                mean: vec![0.0; parameters],
                square,
            },
        }
    }

    /// The number of the next step, from 1.
    pub(crate) fn next_step(&self) -> i32 {
        self.moments.steps + 1
    }

    /// Updates the parameters by one step with this learning rate.
    pub(crate) fn step(&mut self, rate: f64, parameters: &mut [f32], gradient: &[f32]) {
        self.moments.steps += 1;
        match self.optimizer {
            Optimizer::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => {
                let decay_factor = (1.0 - rate * weight_decay) as f32;
                if weight_decay != 0.0 {
                    parameters.iter_mut().for_each(|p| *p *= decay_factor);
                }
                self.adam(rate, beta1, beta2, epsilon, parameters, gradient);
            }
            Optimizer::Sgd { momentum } => {
                let (rate, momentum) = (rate as f32, momentum as f32);
                for ((p, g), velocity) in parameters
                    .iter_mut()
                    .zip(gradient)
                    .zip(&mut self.moments.mean)
                {
                    *velocity = momentum * *velocity + g;
                    *p -= rate * *velocity;
                }
            }
        }
    }

    fn adam(
        &mut self,
        rate: f64,
        beta1: f64,
        beta2: f64,
        epsilon: f64,
        parameters: &mut [f32],
        gradient: &[f32],
    ) {
        let rate = (rate / (1.0 - beta1.powi(self.moments.steps))) as f32;
        let second_correction = (1.0 - beta2.powi(self.moments.steps)).sqrt() as f32;
        let (beta1, beta2, epsilon) = (beta1 as f32, beta2 as f32, epsilon as f32);
        let moments = self.moments.mean.iter_mut().zip(&mut self.moments.square);
        for ((p, g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *mean += (1.0 - beta1) * (g - *mean);
            *square = beta2 * *square + (1.0 - beta2) * g * g;
            *p -= rate * *mean / (square.sqrt() / second_correction + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Optimizer;

    #[test]
    fn optimizers_read_back_as_they_were_written() {
        for text in [
            "adam",
            "adamw",
            "sgd",
            "sgd:momentum=0.9",
            "adam:beta1=0.5,weight_decay=0.1",
        ] {
            let optimizer: Optimizer = text.parse().unwrap();
            let printed = optimizer.to_string();
            assert_eq!(printed.parse::<Optimizer>().unwrap(), optimizer);
        }
        for text in ["", "lion", "sgd:beta1=0.1", "adam:beta1", "adam:beta1=x"] {
            assert!(text.parse::<Optimizer>().is_err(), "{text}");
        }
        for (text, word) in [
            (
                "adam:beta1=2",
                "beta1 must be at least 0 and below 1, not 2",
            ),
            ("adam:beta2=1", "beta2 must be"),
            (
                "sgd:momentum=-5",
                "momentum must be at least 0 and below 1, not -5",
            ),
            ("adam:epsilon=0", "epsilon must be above 0"),
            ("adamw:weight_decay=-1", "weight_decay must be at least 0"),
            ("adam:beta1=nan", ""),
        ] {
            let message = text.parse::<Optimizer>().unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
    }
}
