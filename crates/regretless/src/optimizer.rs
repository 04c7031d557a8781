//! Optimizers: Adam, AdamW, and stochastic gradient descent with momentum.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::renamed::explain;

/// An optimizer with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Optimizer {
    /// Kingma and Ba 2015.
    Adam {
        /// Decay rate of the mean of gradients.
        #[serde(default = "beta1")]
        beta1: f64,
        /// Decay rate of the mean of squared gradients.
        #[serde(default = "beta2")]
        beta2: f64,
        /// Added to the divisor.
        #[serde(default = "epsilon")]
        epsilon: f64,
        /// Share of each weight lost per unit of learning rate and step (0: Adam, above: AdamW).
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
        let share = |name: &str, value: f64| match (0.0..1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::setting(format!(
                "optimizer: {name} must be at least 0 and below 1, not {value}"
            ))),
        };
        match self {
            Self::Sgd { momentum } => share("momentum", momentum),
            Self::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => {
                share("beta1", beta1)?;
                share("beta2", beta2)?;
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

    /// Whether steps do not depend on the scale of gradients, so that the loss may be rescaled.
    pub(crate) fn is_scale_invariant(self) -> bool {
        matches!(self, Self::Adam { .. })
    }
}

/// As text: `adam`, `adamw:weight_decay=0.1`, `sgd:momentum=0.9`.
impl FromStr for Optimizer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: String| Error::setting(format!("optimizer '{text}': {what}"));
        let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
        let mut table = serde_json::Map::new();
        if kind == "adamw" {
            table.insert("weight_decay".into(), 0.01.into());
        }
        let kind = if kind == "adamw" { "adam" } else { kind };
        if !["adam", "sgd"].contains(&kind) {
            return Err(Error::unknown("optimizer", text, &["adam", "adamw", "sgd"]));
        }
        table.insert("kind".into(), kind.into());
        for part in numbers.split(',').filter(|part| !part.is_empty()) {
            let pair = part
                .split_once('=')
                .and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
            let (name, value) = pair.ok_or_else(|| {
                wrong("numbers are written name=value, separated by commas".into())
            })?;
            table.insert(name.trim().into(), value.into());
        }
        let rule: Self =
            serde_json::from_value(table.into()).map_err(|e| wrong(explain(&e.to_string())))?;
        rule.check()?;
        Ok(rule)
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
    /// Mean of gradients, or the last step.
    pub(crate) mean: Vec<f32>,
    /// Mean of squared gradients; empty for gradient descent.
    pub(crate) square: Vec<f32>,
}

/// An optimizer with its state for one vector of parameters.
#[derive(Debug, Clone)]
pub(crate) struct OptimizerState {
    rule: Optimizer,
    pub(crate) moments: Moments,
}

impl OptimizerState {
    pub(crate) fn new(rule: Optimizer, parameters: usize) -> Self {
        let square = if rule.is_scale_invariant() {
            vec![0.0; parameters]
        } else {
            Vec::new()
        };
        Self {
            rule,
            moments: Moments {
                steps: 0,
                mean: vec![0.0; parameters],
                square,
            },
        }
    }

    /// The number of the next step, from 1.
    pub(crate) fn next(&self) -> i32 {
        self.moments.steps + 1
    }

    /// Updates the parameters by one step with this learning rate.
    pub(crate) fn step(&mut self, rate: f64, parameters: &mut [f32], gradient: &[f32]) {
        self.moments.steps += 1;
        match self.rule {
            Optimizer::Adam {
                beta1,
                beta2,
                epsilon,
                weight_decay,
            } => {
                let keep = (1.0 - rate * weight_decay) as f32;
                if weight_decay != 0.0 {
                    parameters.iter_mut().for_each(|p| *p *= keep);
                }
                self.adam(rate, beta1, beta2, epsilon, parameters, gradient);
            }
            Optimizer::Sgd { momentum } => {
                let (rate, momentum) = (rate as f32, momentum as f32);
                for ((p, g), kept) in parameters
                    .iter_mut()
                    .zip(gradient)
                    .zip(&mut self.moments.mean)
                {
                    *kept = momentum * *kept + g;
                    *p -= rate * *kept;
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
        let root = (1.0 - beta2.powi(self.moments.steps)).sqrt() as f32;
        let (beta1, beta2, epsilon) = (beta1 as f32, beta2 as f32, epsilon as f32);
        let moments = self.moments.mean.iter_mut().zip(&mut self.moments.square);
        for ((p, g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *mean += (1.0 - beta1) * (g - *mean);
            *square = beta2 * *square + (1.0 - beta2) * g * g;
            *p -= rate * *mean / (square.sqrt() / root + epsilon);
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
            let rule: Optimizer = text.parse().unwrap();
            assert_eq!(rule.to_string().parse::<Optimizer>().unwrap(), rule);
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
            let told = text.parse::<Optimizer>().unwrap_err().to_string();
            assert!(told.contains(word), "{text}: {told}");
        }
    }
}
