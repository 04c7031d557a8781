//! Names of costs: listed, or only counted where they are c0, c1, c2, …
//!
//! Twelve million names would take more memory than the numbers they belong to. Names that follow
//! the count are therefore never listed in memory, and in files only while there are few of them.
//!
//! Names that somebody gave (a header, a model file, a list) decide which cost is which, even if
//! they happen to be c0, c1, c2, …; names that only stand in for missing ones do not.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What counted names begin with.
const NUMBERED_NAME_PREFIX: &str = "c";
/// Most counted names that a file lists one by one.
const MAX_LISTED_NAMES: usize = 100_000;

/// Names of costs, in their order. Two are equal if they read the same, whoever gave them.
#[derive(Debug, Clone)]
pub struct CostNames(CostNamesRepr);

#[derive(Debug, Clone)]
enum CostNamesRepr {
    /// Not all of them as they would be counted.
    Listed(Vec<String>),
    /// c0, c1, … up to this many.
    Numbered {
        count: usize,
        /// Whether somebody chose these names; otherwise they stand in for missing ones.
        given: bool,
    },
}

impl CostNames {
    /// c0, c1, … up to this many, for costs without names.
    pub fn numbered(count: usize) -> Self {
        Self(CostNamesRepr::Numbered {
            count,
            given: false,
        })
    }

    /// Whether somebody gave these names, so that they say which cost is which.
    pub fn are_given(&self) -> bool {
        match &self.0 {
            CostNamesRepr::Listed(_) => true,
            CostNamesRepr::Numbered { given, .. } => *given,
        }
    }

    /// Whether they are c0, c1, c2, …, as names are that only stand in for missing ones.
    pub fn are_numbered(&self) -> bool {
        match &self.0 {
            CostNamesRepr::Listed(_) => false,
            CostNamesRepr::Numbered { .. } => true,
        }
    }

    /// The same names, given from now on.
    #[must_use]
    pub fn marked_as_given(&self) -> Self {
        match &self.0 {
            CostNamesRepr::Listed(_) => self.clone(),
            CostNamesRepr::Numbered { count, .. } => Self(CostNamesRepr::Numbered {
                count: *count,
                given: true,
            }),
        }
    }

    /// Whether both have the same names in any order.
    pub fn same_set(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // The usual case, which needs no list of all names.
        if self == other {
            return true;
        }
        let ours: HashSet<Cow<'_, str>> = self.iter().collect();
        other.iter().all(|name| ours.contains(&name))
    }

    /// Checks that every name is there once.
    ///
    /// # Errors
    /// When a name is empty or doubled; `what` says what is named, such as "cost".
    pub fn check(&self, what: &str) -> Result<()> {
        match &self.0 {
            CostNamesRepr::Listed(names) => check_names(names, what),
            CostNamesRepr::Numbered { .. } => Ok(()),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            CostNamesRepr::Listed(names) => names.len(),
            CostNamesRepr::Numbered { count, .. } => *count,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name with this number, counted from 0.
    pub fn get(&self, number: usize) -> Cow<'_, str> {
        match &self.0 {
            CostNamesRepr::Listed(names) => names
                .get(number)
                .map_or_else(|| count(number).into(), |name| name.as_str().into()),
            CostNamesRepr::Numbered { .. } => count(number).into(),
        }
    }

    /// All of them, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// All of them at once.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(Cow::into_owned).collect()
    }
}

/// Checks that every name is there once; `what` says what is named, such as "feature".
///
/// # Errors
/// When a name is empty or doubled.
pub fn check_names(names: &[String], what: &str) -> Result<()> {
    let mut seen = HashSet::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::data(format!(
                "{what} {number} (counted from 0) has an empty name; name it"
            )));
        }
        if !seen.insert(name.as_str()) {
            return Err(Error::data(format!(
                "two {what}s are named '{name}'; rename one"
            )));
        }
    }
    Ok(())
}

fn count(number: usize) -> String {
    format!("{NUMBERED_NAME_PREFIX}{number}")
}

impl PartialEq for CostNames {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (CostNamesRepr::Listed(ours), CostNamesRepr::Listed(theirs)) => ours == theirs,
            (
                CostNamesRepr::Numbered { count: ours, .. },
                CostNamesRepr::Numbered { count: theirs, .. },
            ) => ours == theirs,
            (CostNamesRepr::Listed(_), CostNamesRepr::Numbered { .. })
            | (CostNamesRepr::Numbered { .. }, CostNamesRepr::Listed(_)) => false,
        }
    }
}

impl Eq for CostNames {}

impl From<Vec<String>> for CostNames {
    fn from(names: Vec<String>) -> Self {
        let counted = names
            .iter()
            .enumerate()
            .all(|(number, name)| *name == count(number));
        Self(if counted {
            CostNamesRepr::Numbered {
                count: names.len(),
                given: true,
            }
        } else {
            CostNamesRepr::Listed(names)
        })
    }
}

/// Names in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerializedCostNames {
    Listed(Vec<String>),
    Counted { counted: usize },
}

impl Serialize for CostNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match &self.0 {
            CostNamesRepr::Numbered { count, .. } if *count > MAX_LISTED_NAMES => {
                SerializedCostNames::Counted { counted: *count }
            }
            CostNamesRepr::Numbered { .. } | CostNamesRepr::Listed(_) => {
                SerializedCostNames::Listed(self.to_vec())
            }
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CostNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match SerializedCostNames::deserialize(deserializer)? {
            SerializedCostNames::Listed(names) => names.into(),
            SerializedCostNames::Counted { counted } => Self::numbered(counted).marked_as_given(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CostNames, MAX_LISTED_NAMES};

    fn written(names: &CostNames) -> String {
        serde_json::to_string(names).unwrap()
    }

    #[test]
    fn few_names_are_listed_and_many_that_follow_the_count_are_counted() {
        let few = CostNames::from(vec!["c0".to_string(), "c1".to_string()]);
        assert_eq!(written(&few), r#"["c0","c1"]"#);
        let many = CostNames::numbered(MAX_LISTED_NAMES + 1);
        assert_eq!(written(&many), r#"{"counted":100001}"#);
        assert_eq!(CostNames::from(many.to_vec()), many);
        let others = CostNames::from(vec!["c0".to_string(), "bread".to_string()]);
        for names in [few, many, others] {
            assert_eq!(
                serde_json::from_str::<CostNames>(&written(&names)).unwrap(),
                names
            );
        }
    }

    #[test]
    fn names_that_were_given_are_told_from_those_that_stand_in() {
        let given = CostNames::from(vec!["c0".to_string(), "c1".to_string()]);
        assert!(given.are_given() && !CostNames::numbered(2).are_given());
        assert!(CostNames::numbered(2).marked_as_given().are_given());
        assert_eq!(given, CostNames::numbered(2), "they read the same");
        let turned = CostNames::from(vec!["c1".to_string(), "c0".to_string()]);
        assert!(turned.same_set(&given) && !turned.same_set(&CostNames::numbered(3)));
        assert!(given.are_numbered() && !turned.are_numbered());
    }

    #[test]
    fn empty_and_doubled_names_are_refused() {
        let refusal = |names: [&str; 3]| {
            CostNames::from(names.map(String::from).to_vec())
                .check("cost")
                .unwrap_err()
                .to_string()
        };
        assert!(refusal(["a", "b", "a"]).contains("two costs are named 'a'"));
        assert!(refusal(["a", "", "b"]).contains("cost 1 (counted from 0) has an empty name"));
        assert!(
            CostNames::from(vec!["a".to_string(), "b".to_string()])
                .check("cost")
                .is_ok()
        );
    }
}
