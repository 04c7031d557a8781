//! Numbers of flow problems as problem files write them: capacities that may be missing, and lists
//! that may be one number for all.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::error::{Error, Result};

/// A bound of a flow: a number, or infinite if it is `"inf"`, missing or `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FlowBound(pub Option<f64>);

impl Serialize for FlowBound {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) if number.is_finite() => serializer.serialize_f64(number),
            _ => serializer.serialize_str("inf"),
        }
    }
}

impl<'de> Deserialize<'de> for FlowBound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(FlowBoundVisitor)
    }
}

struct FlowBoundVisitor;

impl Visitor<'_> for FlowBoundVisitor {
    type Value = FlowBound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or \"inf\" if there is no limit")
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<FlowBound, E> {
        Ok(FlowBound(None))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<FlowBound, E> {
        match text {
            "inf" => Ok(FlowBound(None)),
            _ => Err(E::custom(format!(
                "'{text}' is no bound of a flow: a number, or \"inf\" if there is no limit"
            ))),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<FlowBound, E> {
        Ok(FlowBound(Some(number as f64)))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<FlowBound, E> {
        Ok(FlowBound(Some(number as f64)))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> std::result::Result<FlowBound, E> {
        let is_unlimited = number == f64::INFINITY;
        Ok(FlowBound((!is_unlimited).then_some(number)))
    }
}

/// Bounds of all arcs: one each, or one for all.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FlowBounds {
    All(FlowBound),
    Each(Vec<FlowBound>),
}

impl Serialize for FlowBounds {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::All(bound) => bound.serialize(serializer),
            Self::Each(bounds) => bounds.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FlowBounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let bounds = if value.is_array() {
            serde_json::from_value(value).map(Self::Each)
        } else {
            serde_json::from_value(value).map(Self::All)
        };
        bounds.map_err(D::Error::custom)
    }
}

impl FlowBounds {
    /// Bounds as problem files write them; `None` if all are `missing`.
    pub(super) fn from_numbers(numbers: &[f64], missing: f64) -> Option<Self> {
        let bound = |number: &f64| FlowBound(number.is_finite().then_some(*number));
        let is_needed = numbers.iter().any(|number| *number != missing);
        is_needed.then(|| Self::Each(numbers.iter().map(bound).collect()))
    }

    /// The bounds of this many arcs; `missing` stands for those without one. `field` is the name in
    /// the problem file.
    pub(super) fn into_numbers(
        self,
        count: usize,
        missing: f64,
        field: &str,
        item: &str,
    ) -> Result<Vec<f64>> {
        match self {
            Self::All(bound) => Ok(vec![bound.0.unwrap_or(missing); count]),
            Self::Each(bounds) if bounds.len() == count => Ok(bounds
                .into_iter()
                .map(|bound| bound.0.unwrap_or(missing))
                .collect()),
            Self::Each(bounds) => Err(Error::setting(format!(
                "`{field}` has {} values for {count} {item}s",
                bounds.len()
            ))),
        }
    }
}

/// Checks a supply, a demand or a bound: finite or, if `may_be_infinite`, infinite, and at least
/// `least`.
pub(super) fn check_number(
    number: f64,
    least: f64,
    may_be_infinite: bool,
    what: impl Fn() -> String,
) -> Result<()> {
    let is_number = number.is_finite() || (may_be_infinite && number == f64::INFINITY);
    if is_number && number >= least {
        return Ok(());
    }
    let needed = if least == f64::NEG_INFINITY {
        "a finite number".to_owned()
    } else {
        format!("a number >= {least}")
    };
    Err(Error::setting(format!(
        "{} is {number}, not {needed}",
        what()
    )))
}
