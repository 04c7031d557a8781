//! The known part of the costs of a problem that a Python function solves.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::{CostNames, ParameterColumns};
use regretless::problem::ExternalProblem;
use serde_json::Value;

/// The known part of the costs of a function's problem.
#[derive(Debug, Clone)]
pub struct KnownPart {
    /// As the user gave it, in the words of problem files.
    pub description: Value,
    /// The fixed part of each cost.
    fixed: Vec<f64>,
    /// Its columns among the parameters of a row.
    pub columns: Vec<ParameterColumns>,
    /// The cost that each number of a row is added to, and its factor.
    targets: Vec<(usize, f64)>,
}

/// The column of a reference, and the factor of its numbers.
fn column_reference(value: &Value) -> Option<(&str, f64)> {
    let object = value.as_object()?;
    let name = object.get("column").or_else(|| object.get("columns"))?;
    let factor = match object.get("factor") {
        Some(factor) => factor.as_f64()?,
        None => 1.0,
    };
    Some((name.as_str()?, factor))
}

impl KnownPart {
    /// Reads known costs as problem files have them: a list of numbers and columns, columns for all
    /// costs, or numbers and columns by the names of costs.
    pub fn new(description: Value, problem: &ExternalProblem) -> PyResult<Self> {
        let count = problem.costs;
        let mut known = Self {
            description: description.clone(),
            fixed: vec![0.0; count],
            columns: Vec::new(),
            targets: Vec::new(),
        };
        if let Some((name, factor)) = column_reference(&description) {
            known.columns.push(ParameterColumns {
                pattern: name.to_owned(),
                count,
                names: None,
            });
            known.targets = (0..count).map(|cost| (cost, factor)).collect();
            return Ok(known);
        }
        match &description {
            Value::Array(entries) if entries.len() == count => {
                for (cost, entry) in entries.iter().enumerate() {
                    known.add(cost, entry)?;
                }
            }
            Value::Object(by_name) => {
                for (name, entry) in by_name {
                    let mut names = problem.cost_names.iter().flat_map(CostNames::iter);
                    let cost = names.position(|cost| cost == name.as_str());
                    let unknown =
                        || PyValueError::new_err(format!("known: no cost is called '{name}'"));
                    known.add(cost.ok_or_else(unknown)?, entry)?;
                }
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "known is one number or column per cost, and there are {count} costs"
                )));
            }
        }
        Ok(known)
    }

    fn add(&mut self, cost: usize, entry: &Value) -> PyResult<()> {
        match (column_reference(entry), entry.as_f64()) {
            (Some((name, factor)), _) => {
                self.columns.push(ParameterColumns {
                    pattern: name.to_owned(),
                    count: 1,
                    names: None,
                });
                self.targets.push((cost, factor));
            }
            (None, Some(number)) => self.fixed[cost] = number,
            (None, None) => {
                return Err(PyValueError::new_err(format!(
                    "known: {entry} is neither a number nor a column"
                )));
            }
        }
        Ok(())
    }

    pub fn of_row(&self, values: &[f64]) -> Vec<f64> {
        let mut known = self.fixed.clone();
        for ((cost, factor), value) in self.targets.iter().zip(values) {
            known[*cost] += factor * value;
        }
        known
    }
}
