//! Names of costs: listed, or only counted where they are c0, c1, c2, …
//!
//! Twelve million names would take more memory than the numbers they belong to. Names that follow the count are
//! therefore never listed in memory, and in files only while there are few of them.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What counted names begin with.
const LETTER: &str = "c";
/// Most counted names that a file lists one by one.
const MOST_LISTED: usize = 100_000;

/// Names of costs, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Not all of them as they would be counted.
    Listed(Vec<String>),
    /// c0, c1, … up to this many.
    Counted(usize),
}

impl Names {
    /// c0, c1, … up to this many.
    pub fn counted(count: usize) -> Self {
        Self(Kind::Counted(count))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Listed(names) => names.len(),
            Kind::Counted(count) => *count,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name with this number, counted from 0.
    pub fn get(&self, number: usize) -> Cow<'_, str> {
        match &self.0 {
            Kind::Listed(names) => names.get(number).map_or_else(|| count(number).into(), |name| name.as_str().into()),
            Kind::Counted(_) => count(number).into(),
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

fn count(number: usize) -> String {
    format!("{LETTER}{number}")
}

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Self {
        let counted = names.iter().enumerate().all(|(number, name)| *name == count(number));
        Self(if counted { Kind::Counted(names.len()) } else { Kind::Listed(names) })
    }
}

/// Names in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Listed(Vec<String>),
    Counted { counted: usize },
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match &self.0 {
            Kind::Counted(counted) if *counted > MOST_LISTED => Written::Counted { counted: *counted },
            Kind::Counted(_) | Kind::Listed(_) => Written::Listed(self.to_vec()),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Listed(names) => names.into(),
            Written::Counted { counted } => Self::counted(counted),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_LISTED, Names};

    fn written(names: &Names) -> String {
        serde_json::to_string(names).unwrap()
    }

    #[test]
    fn few_names_are_listed_and_many_that_follow_the_count_are_counted() {
        let few = Names::from(vec!["c0".to_string(), "c1".to_string()]);
        assert_eq!(few, Names::counted(2));
        assert_eq!(written(&few), r#"["c0","c1"]"#);
        let many = Names::counted(MOST_LISTED + 1);
        assert_eq!(written(&many), r#"{"counted":100001}"#);
        assert_eq!(Names::from(many.to_vec()), many);
        let others = Names::from(vec!["c0".to_string(), "bread".to_string()]);
        for names in [few, many, others] {
            assert_eq!(serde_json::from_str::<Names>(&written(&names)).unwrap(), names);
        }
    }
}
