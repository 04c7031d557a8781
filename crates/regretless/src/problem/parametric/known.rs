//! The known part of costs: objective = (known + predicted)·x.
//!
//! `factor` multiplies the numbers of a column: a purchase price reduces the value of a house,
//! `known = { column = "price", factor = -1 }`.

use serde_json::Value;

use super::json::ColumnReference;
use super::patterns::{check_stars, is_pattern, matched_part, no_match};
use crate::data::{CostNames, ParameterColumns};
use crate::error::{Error, Result};
use crate::problem::ProblemKind;

/// Known costs of a problem: fixed numbers, and numbers of the row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnownCosts {
    /// The fixed part of each cost.
    fixed: Vec<f64>,
    /// The columns of the row's part.
    columns: Vec<ParameterColumns>,
    /// The cost that each number of a row is added to, times its factor.
    targets: Vec<Target>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Target {
    cost: usize,
    factor: f64,
}

/// A reference to columns whose numbers are multiplied by a factor.
struct ScaledReference {
    reference: ColumnReference,
    factor: f64,
}

impl ScaledReference {
    fn from_value(value: &Value) -> Option<Self> {
        let mut object = value.as_object()?.clone();
        let factor = match object.remove("factor") {
            Some(factor) => factor.as_f64()?,
            None => 1.0,
        };
        let reference = ColumnReference::from_value(&Value::Object(object))?;
        Some(Self { reference, factor })
    }
}

impl KnownCosts {
    /// Reads `known`: a list of numbers and columns, one per cost; columns for all costs; or
    /// numbers and columns by the names of costs.
    pub(super) fn new(known: &Value, problem: &dyn ProblemKind) -> Result<Self> {
        let count = problem.num_costs();
        let mut this = Self {
            fixed: vec![0.0; count],
            columns: Vec::new(),
            targets: Vec::new(),
        };
        if let Some(ScaledReference { reference, factor }) = ScaledReference::from_value(known) {
            // Costs with names have the columns of their names, in whatever order the table has
            // them.
            let names = problem.names().cost_names();
            let is_pattern = reference.is_plural && reference.pattern.matches('*').count() == 1;
            if let Some(names) = names.filter(|_| is_pattern) {
                for (cost, name) in names.iter().enumerate() {
                    this.targets.push(Target { cost, factor });
                    this.columns.push(ParameterColumns {
                        pattern: reference.pattern.replace('*', &name),
                        count: 1,
                        names: None,
                    });
                }
                return Ok(this);
            }
            this.targets = (0..count).map(|cost| Target { cost, factor }).collect();
            this.columns.push(ParameterColumns {
                pattern: reference.pattern,
                count,
                names: None,
            });
            return Ok(this);
        }
        match known {
            Value::Array(values) if values.len() == count => {
                for (cost, value) in values.iter().enumerate() {
                    this.add(cost, value)?;
                }
            }
            Value::Array(values) => {
                let (found, name) = (values.len(), problem.name());
                return Err(Error::setting(format!(
                    "known has {found} costs, {name} has {count}"
                )));
            }
            Value::Object(by_name) => {
                let Some(names) = problem.names().cost_names() else {
                    return Err(Error::setting("known has names, but the costs have none")
                        .with_remedy("write a list with one number per cost"));
                };
                for (name, value) in by_name {
                    this.add_named(name, value, names)?;
                }
                this.check_distinct(names)?;
            }
            other => {
                return Err(
                    Error::setting(format!("known = {other} is not a list of costs"))
                        .with_remedy("write numbers, { columns = \"...\" }, or names with numbers"),
                );
            }
        }
        Ok(this)
    }

    /// Adds what is known of the cost with a name, or of all costs that match a pattern.
    fn add_named(&mut self, name: &str, value: &Value, names: &CostNames) -> Result<()> {
        if !is_pattern(name) {
            let Some(cost) = names.iter().position(|cost| cost == name) else {
                return Err(Error::setting(format!("known: no cost is called '{name}'")));
            };
            return self.add(cost, value);
        }
        let shown = format!("known.{name}");
        let Some(ScaledReference { reference, factor }) = ScaledReference::from_value(value) else {
            return Err(Error::setting(format!(
                "'{shown}' is a pattern, and its value is no column"
            ))
            .with_remedy("write { column = \"...\" } with a *, or name the costs one by one"));
        };
        check_stars(&shown, name, &reference.pattern)?;
        let before = self.targets.len();
        for (cost, cost_name) in names.iter().enumerate() {
            if let Some(part) = matched_part(name, &cost_name) {
                self.targets.push(Target { cost, factor });
                self.columns.push(ParameterColumns {
                    pattern: reference.pattern.replace('*', part),
                    count: 1,
                    names: None,
                });
            }
        }
        if self.targets.len() == before {
            return Err(no_match(&shown, names.iter()));
        }
        Ok(())
    }

    /// Checks that no cost has several columns, by its name and by patterns.
    fn check_distinct(&self, names: &CostNames) -> Result<()> {
        let mut has_column = vec![false; self.fixed.len()];
        for target in &self.targets {
            if std::mem::replace(&mut has_column[target.cost], true) {
                let name = names.get(target.cost);
                return Err(
                    Error::setting(format!("known: the cost '{name}' is stated twice"))
                        .with_remedy("name it by one entry"),
                );
            }
        }
        Ok(())
    }

    fn add(&mut self, cost: usize, value: &Value) -> Result<()> {
        let reference = ScaledReference::from_value(value);
        if let Some(ScaledReference { reference, factor }) =
            reference.filter(|scaled| !scaled.reference.is_plural)
        {
            self.targets.push(Target { cost, factor });
            self.columns.push(ParameterColumns {
                pattern: reference.pattern,
                count: 1,
                names: None,
            });
            return Ok(());
        }
        match value.as_f64() {
            Some(number) => {
                self.fixed[cost] = number;
                Ok(())
            }
            None => Err(Error::setting(format!(
                "known: {value} is neither a number nor {{ column = \"...\" }}"
            ))),
        }
    }

    pub(super) fn columns(&self) -> &[ParameterColumns] {
        &self.columns
    }

    /// The known costs of a row with these values of the columns.
    pub(super) fn of_row(&self, values: &[f64]) -> Vec<f64> {
        let mut known = self.fixed.clone();
        for (target, value) in self.targets.iter().zip(values) {
            known[target.cost] += target.factor * value;
        }
        known
    }
}

/// The columns that `known` refers to; the count of a reference for all costs is 0.
pub(super) fn collect_columns(known: &Value, out: &mut Vec<ParameterColumns>) {
    if let Some(scaled) = ScaledReference::from_value(known) {
        out.push(ParameterColumns {
            pattern: scaled.reference.pattern,
            count: 0,
            names: None,
        });
        return;
    }
    let mut add = |value: &Value| {
        if let Some(scaled) = ScaledReference::from_value(value) {
            out.push(ParameterColumns {
                pattern: scaled.reference.pattern,
                count: 1,
                names: None,
            });
        }
    };
    match known {
        Value::Array(values) => values.iter().for_each(&mut add),
        Value::Object(by_name) => by_name.values().for_each(&mut add),
        _ => {}
    }
}
