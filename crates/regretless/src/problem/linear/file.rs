//! A linear problem by its model file and the columns whose costs are predicted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::problem::family::{
    At, EntryNames, FieldSize, InfinityRule, KindDefinition, KindField, NumberRange, ProblemFamily,
    RowPlace, TemplateRules,
};
#[cfg(feature = "highs")]
use crate::problem::parametric::{RowBuilder, Template};
use crate::problem::{ProblemKind, Sense};
use crate::text::{first_names, matches_pattern, nearest_name};

/// A model file (`.mps` or `.lp`), its predicted columns, and the numbers in which the problem
/// differs from the file, by the names of rows and columns. A bound may be infinite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearFile {
    /// The file.
    pub file: PathBuf,
    /// The columns whose costs are predicted.
    #[serde(default)]
    pub costs: CostColumns,
    /// Objective sense, if other than in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<Sense>,
    /// Right-hand sides of rows: the upper bound of a ≤ row, the lower bound of a ≥ row, both of
    /// an = row.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub rhs: BTreeMap<String, f64>,
    /// Lower bounds of rows.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub row_lower: BTreeMap<String, f64>,
    /// Upper bounds of rows.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub row_upper: BTreeMap<String, f64>,
    /// Lower bounds of columns.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub lower: BTreeMap<String, f64>,
    /// Upper bounds of columns.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub upper: BTreeMap<String, f64>,
    /// Values of columns that are fixed.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed: BTreeMap<String, f64>,
    /// Coefficients of columns, by row; one that is missing in the file is added.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coefficients: BTreeMap<String, BTreeMap<String, f64>>,
    /// Columns that are present (1) or absent (0): an absent one is 0 and has no cost. Columns with
    /// predicted costs only.
    #[serde(default, with = "numbers", skip_serializing_if = "BTreeMap::is_empty")]
    pub present: BTreeMap<String, f64>,
}

/// Maps of numbers in which JSON can express infinity: as `"inf"` and `"-inf"`.
mod numbers {
    use std::collections::BTreeMap;

    use serde::ser::SerializeMap;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "a number is expected, or \"inf\" or \"-inf\" for no bound"
    )]
    enum Number {
        Finite(f64),
        Infinite(Infinity),
    }

    #[derive(Deserialize)]
    enum Infinity {
        #[serde(rename = "inf")]
        Positive,
        #[serde(rename = "-inf")]
        Negative,
    }

    impl Number {
        fn value(&self) -> f64 {
            match self {
                Self::Finite(value) => *value,
                Self::Infinite(Infinity::Positive) => f64::INFINITY,
                Self::Infinite(Infinity::Negative) => f64::NEG_INFINITY,
            }
        }
    }

    pub(super) fn serialize<S: Serializer>(
        values: &BTreeMap<String, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(values.len()))?;
        for (name, value) in values {
            if *value == f64::INFINITY {
                map.serialize_entry(name, "inf")?;
            } else if *value == f64::NEG_INFINITY {
                map.serialize_entry(name, "-inf")?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        let numbers = BTreeMap::<String, Number>::deserialize(deserializer)?;
        let values = numbers
            .into_iter()
            .map(|(name, number)| (name, number.value()));
        Ok(values.collect())
    }
}

/// Numbers of rows of the model, by their names.
const fn of_rows(numbers: NumberRange) -> RowPlace {
    RowPlace::left_out(numbers)
        .at(&[At::Key])
        .named(EntryNames::Rows)
}

/// Numbers of columns of the model, by their names.
const fn of_columns(numbers: NumberRange) -> RowPlace {
    of_rows(numbers).named(EntryNames::Columns)
}

/// The kind, as problem files see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "linear",
    summary: "Any linear model with continuous and integer variables, from a file.",
    fields: &[
        KindField::in_files("file"),
        KindField::in_files("costs"),
        KindField::in_files("sense"),
        KindField::in_files("rhs").rows(&[of_rows(NumberRange::Finite)]),
        KindField::in_files("row_lower").rows(&[of_rows(NumberRange::Bound)]),
        KindField::in_files("row_upper").rows(&[of_rows(NumberRange::Bound)]),
        KindField::in_files("lower").rows(&[of_columns(NumberRange::Bound)]),
        KindField::in_files("upper").rows(&[of_columns(NumberRange::Bound)]),
        KindField::in_files("fixed").rows(&[of_columns(NumberRange::Finite)]),
        KindField::in_files("coefficients").rows(&[RowPlace::left_out(NumberRange::Finite)
            .at(&[At::Key, At::Key])
            .named(EntryNames::RowsAndColumns)]),
        KindField::in_files("present").rows(&[
            of_columns(NumberRange::ZeroOrOne),
            RowPlace::left_out(NumberRange::ZeroOrOne)
                .sized(FieldSize::Costs)
                .named(EntryNames::Columns),
        ]),
    ],
    infinity: InfinityRule::AsText,
    template: TemplateRules {
        items_may_differ: true,
        file_key: Some("file"),
        columns_text: Some(
            "rhs, row_lower, row_upper, lower, upper, fixed, coefficients, present, each by name",
        ),
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

impl KindDefinition for LinearFile {
    #[cfg(feature = "highs")]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let problem = super::LinearProblem::read(&self.file, &self.costs, self.sense)?;
        Ok(Arc::new(self.change(problem).map_err(Error::setting)?))
    }

    #[cfg(not(feature = "highs"))]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let message =
            "model files need HiGHS, which this build was made without (cargo feature `highs`)";
        Err(Error::input(
            crate::error::InputPlace::file(&self.file),
            message,
        ))
    }

    #[cfg(feature = "highs")]
    fn build_from(&self, content: Vec<u8>) -> Result<Arc<dyn ProblemKind>> {
        let problem =
            super::LinearProblem::from_content(content, &self.file, &self.costs, self.sense)?;
        Ok(Arc::new(self.change(problem).map_err(Error::setting)?))
    }

    #[cfg(feature = "highs")]
    fn row_builder(
        &self,
        template: &Template,
        base: &dyn ProblemKind,
    ) -> Result<Option<Box<dyn RowBuilder>>> {
        let rows = super::LinearRows::new(template, self, base).map_err(Error::setting)?;
        Ok(Some(Box::new(rows)))
    }

    fn items_may_differ(&self) -> bool {
        true
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn set_file(&mut self, file: &Path) {
        self.file = file.to_path_buf();
    }
}

impl LinearFile {
    /// A model file without changes.
    pub fn new(file: impl Into<PathBuf>, costs: CostColumns) -> Self {
        Self {
            file: file.into(),
            costs,
            ..Self::default()
        }
    }
}

/// What may have been meant by an unknown name of a row or column, and the first names.
pub(super) fn suggestion(wanted: &str, what: &str, names: &[String]) -> String {
    let meant = nearest_name(wanted, names.iter().map(String::as_str));
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean '{meant}'? "));
    format!("{meant}the {what}s are {}", first_names(names))
}

/// BLAKE3 of a file's bytes in hexadecimal digits.
///
/// # Errors
/// When the file cannot be read.
pub(in crate::problem) fn hash_of(path: &Path) -> Result<String> {
    let mut file = std::fs::File::open(path).map_err(Error::io(path))?;
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut file, &mut hasher).map_err(Error::io(path))?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Columns whose costs are predicted: `"all"`, one name or pattern, or a list of them. In a
/// pattern, `*` matches any characters.
///
/// Costs are in the order of the list, columns of one pattern in the order of the model; a column
/// that several patterns match counts where it is matched first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "SerializedCostColumns", into = "SerializedCostColumns")]
pub enum CostColumns {
    /// Every column.
    #[default]
    All,
    /// The columns that match one of these.
    Named(Vec<String>),
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "costs are \"all\", a column name or pattern, or a list of them"
)]
enum SerializedCostColumns {
    One(String),
    Many(Vec<String>),
}

impl From<SerializedCostColumns> for CostColumns {
    fn from(serialized: SerializedCostColumns) -> Self {
        match serialized {
            SerializedCostColumns::One(word) if word == "all" => Self::All,
            SerializedCostColumns::One(name) => Self::Named(vec![name]),
            SerializedCostColumns::Many(names) => Self::Named(names),
        }
    }
}

impl From<CostColumns> for SerializedCostColumns {
    fn from(columns: CostColumns) -> Self {
        match columns {
            CostColumns::All => Self::One("all".into()),
            CostColumns::Named(names) => Self::Many(names),
        }
    }
}

impl CostColumns {
    /// Indices of the selected columns, in the order of their costs.
    ///
    /// # Errors
    /// When a name or pattern matches no column, as a message.
    pub fn choose(&self, names: &[String]) -> Result<Vec<usize>, String> {
        let patterns = match self {
            Self::All => return Ok((0..names.len()).collect()),
            Self::Named(patterns) => patterns,
        };
        let (mut chosen, mut taken) = (Vec::new(), vec![false; names.len()]);
        for pattern in patterns {
            let matching: Vec<usize> = (0..names.len())
                .filter(|column| matches_pattern(pattern, &names[*column]))
                .collect();
            if matching.is_empty() {
                return Err(format!(
                    "no column is called '{pattern}'; {}",
                    suggestion(pattern, "column", names)
                ));
            }
            for column in matching {
                if !std::mem::replace(&mut taken[column], true) {
                    chosen.push(column);
                }
            }
        }
        if chosen.is_empty() {
            Err("no column with a predicted cost".into())
        } else {
            Ok(chosen)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CostColumns, LinearFile};

    #[test]
    fn chosen_columns_keep_the_order_of_the_list() {
        let names: Vec<String> = ["a1", "b", "a2", "c"].map(String::from).to_vec();
        let named = |list: &[&str]| {
            CostColumns::Named(list.iter().map(|name| (*name).to_string()).collect())
        };
        assert_eq!(named(&["c", "a*"]).choose(&names), Ok(vec![3, 0, 2]));
        assert_eq!(named(&["a2", "a*"]).choose(&names), Ok(vec![2, 0]));
        assert_eq!(CostColumns::All.choose(&names), Ok(vec![0, 1, 2, 3]));
        assert!(named(&["d*"]).choose(&names).unwrap_err().contains("'d*'"));
        assert!(named(&[]).choose(&names).is_err());
    }

    #[test]
    fn settings_say_all_or_name_columns() {
        let read = |text: &str| serde_json::from_str::<LinearFile>(text).map(|file| file.costs);
        assert_eq!(read(r#"{"file": "m.mps"}"#).unwrap(), CostColumns::All);
        assert_eq!(
            read(r#"{"file": "m.mps", "costs": "all"}"#).unwrap(),
            CostColumns::All
        );
        let named = CostColumns::Named(vec!["x*".into()]);
        assert_eq!(
            read(r#"{"file": "m.mps", "costs": ["x*"]}"#).unwrap(),
            named
        );
        assert_eq!(read(r#"{"file": "m.mps", "costs": "x*"}"#).unwrap(), named);
        assert!(
            read(r#"{"file": "m.mps", "costs": 3}"#)
                .unwrap_err()
                .to_string()
                .contains("costs are \"all\"")
        );
    }
}
