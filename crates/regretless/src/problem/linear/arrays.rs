//! A linear problem in writing, with all its numbers: no file is needed to build it again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::problem::{ProblemKind, Sense};

/// Columns and rows by their numbers; a bound that is missing is infinite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearArrays {
    /// What it is called.
    pub name: String,
    /// Whether costs are paid or earned.
    pub sense: Sense,
    /// All columns, in their order.
    pub columns: Vec<LinearColumn>,
    /// All rows, in their order.
    pub rows: Vec<LinearRow>,
}

/// A column of [`LinearArrays`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearColumn {
    /// Its name. Columns whose costs are predicted have names all of them or none: costs of tables
    /// are then matched by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Whether it takes whole numbers only.
    #[serde(default)]
    pub integer: bool,
    /// Its cost where that is known; without one, its cost is predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A row of [`LinearArrays`]: the sum of its entries lies within the bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRow {
    /// Least value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Column and coefficient of each entry.
    pub entries: Vec<(usize, f64)>,
}

impl LinearArrays {
    /// The problem itself.
    ///
    /// # Errors
    /// When the numbers make no problem, or only some of the predicted columns have names; names
    /// the column or row.
    #[cfg(feature = "highs")]
    pub fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        use super::{LinearBuilder, VariableDomain};
        let bounds = |lower: Option<f64>, upper: Option<f64>| {
            [
                lower.unwrap_or(f64::NEG_INFINITY),
                upper.unwrap_or(f64::INFINITY),
            ]
        };
        let mut build = LinearBuilder::new(self.name.clone(), self.sense);
        for (number, column) in self.columns.iter().enumerate() {
            let bounds = bounds(column.lower, column.upper);
            let domain = if column.integer {
                VariableDomain::Integer(bounds)
            } else {
                VariableDomain::Continuous(bounds)
            };
            let name = column.name.clone().unwrap_or_else(|| format!("x{number}"));
            match column.cost {
                None => build.predicted(name, domain),
                Some(cost) => build.auxiliary(name, domain, cost),
            };
        }
        for row in &self.rows {
            build.row(bounds(row.lower, row.upper), row.entries.iter().copied());
        }
        let mut predicted = self.columns.iter().filter(|column| column.cost.is_none());
        let first_is_named = predicted
            .clone()
            .next()
            .is_some_and(|column| column.name.is_some());
        if predicted.any(|column| column.name.is_some() != first_is_named) {
            let message =
                "some columns with predicted costs have names and some have none; name all or none";
            return Err(crate::error::Error::setting(format!(
                "{}: {message}",
                self.name
            )));
        }
        if !first_is_named {
            build.without_names();
        }
        Ok(Arc::new(build.build()?))
    }

    /// Says that this build cannot solve linear problems.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "highs"))]
    pub fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let message =
            "linear problems need HiGHS, which this build was made without (cargo feature `highs`)";
        Err(crate::error::Error::setting(message))
    }
}
