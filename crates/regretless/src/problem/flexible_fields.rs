//! Fields of problem files that can be written in several ways: one number or a list, zeros and
//! ones or `true` and `false`.

use std::fmt;

use serde::de::{
    Deserialize, Deserializer, Error, SeqAccess, Visitor, value::SeqAccessDeserializer,
};
use serde::ser::{Serialize, Serializer};

use super::Sense;
use crate::data::CostNames;
use crate::text::plural;

/// The sense of a field that is left out: costs are paid unless the problem file says otherwise.
pub(super) fn minimize() -> Sense {
    Sense::Minimize
}

/// Which items or nodes are present: zeros and ones, or `true` and `false`.
#[derive(Clone)]
pub(super) struct PresentList(Vec<Flag>);

impl PresentList {
    pub fn into_flags(self) -> Vec<bool> {
        self.0.into_iter().map(|flag| flag.0).collect()
    }

    pub fn from_flags(flags: &[bool]) -> Self {
        Self(flags.iter().map(|flag| Flag(*flag)).collect())
    }
}

/// Writes zeros and ones.
impl Serialize for PresentList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|flag| u8::from(flag.0)))
    }
}

impl<'de> Deserialize<'de> for PresentList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self)
    }
}

/// 0 or 1, `true` or `false`.
#[derive(Clone)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct FlagVisitor;

impl Visitor<'_> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0 or 1 in `present`")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
        Ok(Flag(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Flag, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Flag, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Flag, E> {
        if value == 0.0 {
            Ok(Flag(false))
        } else if value == 1.0 {
            Ok(Flag(true))
        } else {
            Err(E::custom(format!(
                "a value of `present` is {value}; each is 0 or 1"
            )))
        }
    }
}

/// The items of a problem: how many there are, or their names.
#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "`items` is a number, or a list of names")]
pub(super) enum ItemsField {
    Count(usize),
    Names(CostNames),
}

impl ItemsField {
    /// The names of this many items, if there are any.
    ///
    /// # Errors
    /// When the field has another number of items, or two of the same name.
    pub fn into_names(self, count: usize) -> crate::error::Result<Option<CostNames>> {
        let (stated, names) = match self {
            Self::Count(stated) => (stated, None),
            Self::Names(names) => (names.len(), Some(names)),
        };
        if stated != count {
            return Err(crate::error::Error::setting(format!(
                "`items` has {stated} item{}, but there are weights of {count}",
                plural(stated)
            )));
        }
        if let Some(names) = &names {
            names.check("item")?;
        }
        Ok(names)
    }
}

/// A number, or a list of numbers.
pub(super) struct NumberOrList(pub Vec<f64>);

impl<'de> Deserialize<'de> for NumberOrList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let single = OneOrMany::deserialize(deserializer)?;
        Ok(Self(match single {
            OneOrMany::One(number) => vec![number],
            OneOrMany::Many(numbers) => numbers,
        }))
    }
}

/// Rows of numbers, or the numbers of the only row.
pub(super) struct RowOrRows(pub Vec<Vec<f64>>);

impl<'de> Deserialize<'de> for RowOrRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries: Vec<OneOrMany> = Vec::deserialize(deserializer)?;
        let (mut numbers, mut rows) = (Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                OneOrMany::One(number) => numbers.push(number),
                OneOrMany::Many(row) => rows.push(row),
            }
        }
        if numbers.is_empty() {
            return Ok(Self(rows));
        }
        if rows.is_empty() {
            return Ok(Self(vec![numbers]));
        }
        Err(D::Error::custom("numbers and lists of numbers are mixed"))
    }
}

/// One number, or several.
enum OneOrMany {
    One(f64),
    Many(Vec<f64>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor)
    }
}

struct OneOrManyVisitor;

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a list of numbers")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, numbers: A) -> Result<OneOrMany, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(numbers)).map(OneOrMany::Many)
    }
}
