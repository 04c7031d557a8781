//! What a cell runs: a method that is trained, or a baseline.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::error::{Error, Result};
use crate::method::Method;

/// A method that is trained, or a baseline, which needs no training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CellMethod {
    /// A method that is trained, or `auto`.
    Trained(Method),
    /// A baseline.
    Baseline(Baseline),
}

impl fmt::Display for CellMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trained(method) => method.fmt(f),
            Self::Baseline(baseline) => baseline.fmt(f),
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
    use crate::baseline::Baseline;

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
