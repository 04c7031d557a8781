//! What a cell runs: a method that is trained, a baseline, or predictions that exist already.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use regretless::baseline::Baseline;
use regretless::data::Matrix;
use regretless::method::Method;
use regretless_base::error::{Error, Result};

/// A method that is trained, or something that needs no training here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CellMethod {
    /// A method that is trained, or `auto`.
    Trained(Method),
    /// A baseline.
    Baseline(Baseline),
    /// Costs predicted by another forecaster. In files it is not known.
    Given {
        /// Its name in tables.
        name: String,
        /// For each seed the predicted costs, in the user's sense: one row for each row of the
        /// table. Rows that are not tested may have any values.
        predictions: Arc<BTreeMap<u32, Matrix>>,
    },
}

impl CellMethod {
    /// Hashes of what the name does not say: custom losses, and predictions.
    pub(super) fn fingerprints(&self, seed: u32) -> Vec<String> {
        match self {
            Self::Trained(method) => method.loss_fingerprints(),
            Self::Baseline(_) => Vec::new(),
            Self::Given { predictions, .. } => {
                let mut hasher = blake3::Hasher::new();
                let mut values = Vec::new();
                if let Some(costs) = predictions.get(&seed) {
                    for row in 0..costs.rows() {
                        costs.read(row, &mut values);
                        for value in &values {
                            hasher.update(&value.to_le_bytes());
                        }
                    }
                }
                vec![hasher.finalize().to_hex().to_string()]
            }
        }
    }
}

impl fmt::Display for CellMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trained(method) => method.fmt(f),
            Self::Baseline(baseline) => baseline.fmt(f),
            Self::Given { name, .. } => f.write_str(name),
        }
    }
}

impl FromStr for CellMethod {
    type Err = Error;

    /// The name of a baseline, or else a method.
    fn from_str(text: &str) -> Result<Self> {
        match Baseline::ALL
            .into_iter()
            .find(|baseline| baseline.to_string() == text)
        {
            Some(baseline) => Ok(Self::Baseline(baseline)),
            None => text.parse().map(Self::Trained),
        }
    }
}

impl TryFrom<String> for CellMethod {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<CellMethod> for String {
    fn from(method: CellMethod) -> Self {
        method.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::CellMethod;
    use regretless::baseline::Baseline;

    #[test]
    fn a_name_is_that_of_a_baseline_or_of_a_method() {
        for baseline in Baseline::ALL {
            let method: CellMethod = baseline.to_string().parse().unwrap();
            assert_eq!(method, CellMethod::Baseline(baseline));
        }
        let method: CellMethod = "MAE(O,S)".parse().unwrap();
        assert!(matches!(method, CellMethod::Trained(_)));
        assert_eq!(String::from(method), "MAE(O,S)");
        assert!("best guess".parse::<CellMethod>().is_err());
    }
}
