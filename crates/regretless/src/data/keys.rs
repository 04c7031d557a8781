//! Keys of instances: the cells by which a user finds a row of a table in results.

use std::collections::HashMap;
use std::path::Path;

use super::layout::Layout;
use super::{CsvDialect, csv};
use crate::error::{Error, Result};

/// One key per instance of a table: the cells of one of its columns, or row numbers.
///
/// ```
/// use regretless::data::InstanceKeys;
///
/// let keys = InstanceKeys::numbered(2);
/// assert_eq!((keys.name(), keys.values()), ("instance", &["0".to_owned(), "1".to_owned()][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceKeys {
    name: String,
    values: Vec<String>,
}

impl InstanceKeys {
    /// Row numbers, counted from 0.
    pub fn numbered(count: usize) -> Self {
        Self {
            name: "instance".into(),
            values: (0..count).map(|row| row.to_string()).collect(),
        }
    }

    /// The cells of column `name`, one per instance.
    pub fn new(name: impl Into<String>, values: Vec<String>) -> Self {
        Self {
            name: name.into(),
            values,
        }
    }

    /// Reads the keys of a CSV table: the cells of `column` or, if none is named, the instances of
    /// a long table; `None` for a wide table without a named column.
    ///
    /// # Errors
    /// When the column is missing, or the rows of one instance of a long table have different keys.
    pub fn read_csv(
        path: &Path,
        layout: &Layout,
        column: Option<&str>,
        dialect: CsvDialect,
    ) -> Result<Option<Self>> {
        csv::read_keys(path, layout, column, dialect)
    }

    /// The name of the column that the keys are from; `instance` for row numbers.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One key per instance.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The keys of some instances, in the order of the list.
    #[must_use]
    pub fn select(&self, instances: &[usize]) -> Self {
        Self {
            name: self.name.clone(),
            values: instances
                .iter()
                .map(|row| self.values[*row].clone())
                .collect(),
        }
    }

    /// A key that several instances have, and their number.
    pub fn first_duplicate(&self) -> Option<(&str, usize)> {
        let mut counts: HashMap<&str, usize> = HashMap::with_capacity(self.values.len());
        for key in &self.values {
            *counts.entry(key).or_default() += 1;
        }
        let duplicate = self.values.iter().find(|key| counts[key.as_str()] > 1)?;
        Some((duplicate, counts[duplicate.as_str()]))
    }

    /// Checks that there is one key per instance.
    ///
    /// # Errors
    /// When there are more or fewer: the table changed while it was read.
    pub fn check_count(&self, instances: usize) -> Result<()> {
        let keys = self.values.len();
        if keys == instances {
            return Ok(());
        }
        Err(Error::data(format!(
            "{keys} keys for {instances} instances"
        )))
    }
}
