//! A linear problem by its coefficients, which needs no file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::problem::family::{
    At, InfinityRule, KindDefinition, KindField, NumberRange, ProblemFamily, RowPlace,
    TemplateRules,
};
use crate::problem::{ProblemKind, Sense};

/// Columns and rows; a missing bound is infinite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearArrays {
    /// Its name.
    pub name: String,
    /// The objective sense.
    pub sense: Sense,
    /// All columns, in order.
    pub columns: Vec<LinearColumn>,
    /// All rows, in order.
    pub rows: Vec<LinearRow>,
}

/// A column of [`LinearArrays`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearColumn {
    /// Its name. Either all columns with predicted costs have names, and costs of tables are
    /// matched by name, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Whether it is integer.
    #[serde(default)]
    pub integer: bool,
    /// Its cost if that is known; otherwise its cost is predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A row of [`LinearArrays`]: the sum of its entries is within the bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRow {
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Column and coefficient of each entry.
    pub entries: Vec<(usize, f64)>,
}

/// The kind, as problem files see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "linear_arrays",
    summary: "Any linear problem by its coefficients.",
    fields: &[
        KindField::in_files("name"),
        KindField::in_files("sense"),
        KindField::in_files("columns").rows(&[
            RowPlace::left_out(NumberRange::Bound).at(&[At::Index, At::Named("lower")]),
            RowPlace::left_out(NumberRange::Bound).at(&[At::Index, At::Named("upper")]),
            RowPlace::number(0.0).at(&[At::Index, At::Named("cost")]),
        ]),
        KindField::in_files("rows").rows(&[
            RowPlace::left_out(NumberRange::Bound).at(&[At::Index, At::Named("lower")]),
            RowPlace::left_out(NumberRange::Bound).at(&[At::Index, At::Named("upper")]),
            RowPlace::number(1.0).at(&[At::Index, At::Named("entries"), At::Index, At::Entry(1)]),
        ]),
    ],
    infinity: InfinityRule::AsMissingBound,
    template: TemplateRules {
        columns_text: Some("lower and upper bounds, costs of columns, entries of rows"),
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

impl KindDefinition for LinearArrays {
    #[cfg(feature = "highs")]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
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
            let message = "some columns with predicted costs have names and some have none";
            return Err(
                crate::error::Error::setting(format!("{}: {message}", self.name))
                    .with_remedy("name all or none"),
            );
        }
        if !first_is_named {
            build.without_names();
        }
        Ok(Arc::new(build.build()?))
    }

    #[cfg(not(feature = "highs"))]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        let message =
            "linear problems need HiGHS, which this build was made without (cargo feature `highs`)";
        Err(crate::error::Error::setting(message))
    }
}
