//! Names of costs: a list, or only a count if they are c0, c1, c2, …
//!
//! Twelve million names would take more memory than the costs themselves. Numbered names are
//! therefore never listed in memory, and in files only while there are few of them.
//!
//! Explicit names (of a CSV header, a model file, a list) identify costs, even if they happen to be
//! c0, c1, c2, …; placeholders for missing names do not.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Prefix of numbered names.
const NUMBERED_NAME_PREFIX: &str = "c";
/// Most numbered names that a file lists. Untuned: keeps headers of files below a megabyte.
const MAX_LISTED_NAMES: usize = 100_000;

/// Names of costs, in order. Two are equal if all names are the same, explicit or placeholders.
#[derive(Debug, Clone)]
pub struct CostNames(CostNamesRepr);

#[derive(Debug, Clone)]
enum CostNamesRepr {
    /// Names that are not all numbered. Shared: a hundred thousand of them take milliseconds to
    /// copy.
    Listed(Arc<[String]>),
    /// c0, c1, c2, …
    Numbered {
        count: usize,
        /// Whether these names are explicit; otherwise they are placeholders.
        explicit: bool,
    },
}

impl CostNames {
    /// The placeholders c0, c1, … of `count` costs without names.
    pub fn numbered(count: usize) -> Self {
        Self(CostNamesRepr::Numbered {
            count,
            explicit: false,
        })
    }

    /// Whether these names are explicit, so they identify costs.
    pub fn are_explicit(&self) -> bool {
        match &self.0 {
            CostNamesRepr::Listed(_) => true,
            CostNamesRepr::Numbered { explicit, .. } => *explicit,
        }
    }

    /// Whether they are c0, c1, c2, …, like placeholders.
    pub fn are_numbered(&self) -> bool {
        match &self.0 {
            CostNamesRepr::Listed(_) => false,
            CostNamesRepr::Numbered { .. } => true,
        }
    }

    /// The same names, marked as explicit.
    #[must_use]
    pub fn marked_as_explicit(&self) -> Self {
        match &self.0 {
            CostNamesRepr::Listed(_) => self.clone(),
            CostNamesRepr::Numbered { count, .. } => Self(CostNamesRepr::Numbered {
                count: *count,
                explicit: true,
            }),
        }
    }

    /// Whether both contain the same names in any order.
    pub fn same_set(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // The usual case, which needs no list of all names.
        if self == other {
            return true;
        }
        let names: HashSet<Cow<'_, str>> = self.iter().collect();
        other.iter().all(|name| names.contains(&name))
    }

    /// Checks that names are unique and not empty; `what` is what they name, such as "cost".
    ///
    /// # Errors
    /// When a name is empty or duplicated.
    pub fn check(&self, what: &str) -> Result<()> {
        match &self.0 {
            CostNamesRepr::Listed(names) => check_names(names, what),
            CostNamesRepr::Numbered { .. } => Ok(()),
        }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        match &self.0 {
            CostNamesRepr::Listed(names) => names.len(),
            CostNamesRepr::Numbered { count, .. } => *count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name with this number, counted from 0.
    pub fn get(&self, number: usize) -> Cow<'_, str> {
        match &self.0 {
            CostNamesRepr::Listed(names) => names
                .get(number)
                .map_or_else(|| numbered_name(number).into(), |name| name.as_str().into()),
            CostNamesRepr::Numbered { .. } => numbered_name(number).into(),
        }
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// These names, followed by others; the same names if there are no others.
    #[must_use]
    pub fn followed_by(&self, others: &[String]) -> Self {
        if others.is_empty() {
            return self.clone();
        }
        let mut names = self.to_vec();
        names.extend_from_slice(others);
        names.into()
    }

    /// All names as a list.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(Cow::into_owned).collect()
    }
}

/// Checks that names are unique and not empty; `what` is what they name, such as "feature".
///
/// # Errors
/// When a name is empty or duplicated.
pub fn check_names(names: &[String], what: &str) -> Result<()> {
    let mut seen = HashSet::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::data(format!(
                "{what} {number} (counted from 0) has an empty name"
            ))
            .with_remedy("name it"));
        }
        if !seen.insert(name.as_str()) {
            return Err(
                Error::data(format!("two {what}s are named '{name}'")).with_remedy("rename one")
            );
        }
    }
    Ok(())
}

fn numbered_name(number: usize) -> String {
    format!("{NUMBERED_NAME_PREFIX}{number}")
}

impl PartialEq for CostNames {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (CostNamesRepr::Listed(names), CostNamesRepr::Listed(other)) => {
                Arc::ptr_eq(names, other) || names == other
            }
            (
                CostNamesRepr::Numbered { count, .. },
                CostNamesRepr::Numbered { count: other, .. },
            ) => count == other,
            (CostNamesRepr::Listed(_), CostNamesRepr::Numbered { .. })
            | (CostNamesRepr::Numbered { .. }, CostNamesRepr::Listed(_)) => false,
        }
    }
}

impl Eq for CostNames {}

impl From<Vec<String>> for CostNames {
    fn from(names: Vec<String>) -> Self {
        let are_numbered = names
            .iter()
            .enumerate()
            .all(|(number, name)| *name == numbered_name(number));
        Self(if are_numbered {
            CostNamesRepr::Numbered {
                count: names.len(),
                explicit: true,
            }
        } else {
            CostNamesRepr::Listed(names.into())
        })
    }
}

/// Names as files contain them.
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
            SerializedCostNames::Counted { counted } => {
                Self::numbered(counted).marked_as_explicit()
            }
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
    fn few_names_are_listed_and_many_numbered_ones_are_counted() {
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
    fn explicit_names_are_distinguished_from_placeholders() {
        let named = CostNames::from(vec!["c0".to_string(), "c1".to_string()]);
        assert!(named.are_explicit() && !CostNames::numbered(2).are_explicit());
        assert!(CostNames::numbered(2).marked_as_explicit().are_explicit());
        assert_eq!(named, CostNames::numbered(2), "the names are the same");
        let reversed = CostNames::from(vec!["c1".to_string(), "c0".to_string()]);
        assert!(reversed.same_set(&named) && !reversed.same_set(&CostNames::numbered(3)));
        assert!(named.are_numbered() && !reversed.are_numbered());
    }

    #[test]
    fn empty_and_duplicate_names_are_refused() {
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
