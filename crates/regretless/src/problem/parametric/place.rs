//! A place of a problem file that is filled with the numbers of a row.

use serde_json::{Value, json};

use super::json::{PathStep, ShownPath, replace};
use super::patterns::is_pattern;
use crate::data::ParameterColumns;
use crate::problem::ProblemKind;
use crate::problem::family::{FieldSize, NumberRange, RowPlace, Step};

/// A place of the template that is filled with the numbers of a row.
#[derive(Debug, Clone)]
pub(in crate::problem) struct Place {
    pub(super) path: Vec<PathStep>,
    pub(in crate::problem) columns: ParameterColumns,
    /// Its rule, with the size that the file states.
    pub(super) rule: RowPlace,
}

impl Place {
    /// The field of the problem file.
    pub(in crate::problem) fn field(&self) -> &str {
        match self.path.first() {
            Some(PathStep::Key(key)) => key,
            Some(PathStep::Index(_)) | None => "",
        }
    }

    /// The steps below the field.
    pub(in crate::problem) fn steps(&self) -> Vec<Step<'_>> {
        self.path.iter().skip(1).map(PathStep::as_step).collect()
    }

    /// Whether this is an entry of a list.
    pub(in crate::problem) fn is_entry(&self) -> bool {
        matches!(self.path.as_slice(), [_, PathStep::Index(_)])
    }

    /// The index of the first value in the list of the field; `None` for entries of tables and
    /// nested lists.
    pub(in crate::problem) fn first_index(&self) -> Option<usize> {
        match self.path.as_slice() {
            [_] => Some(0),
            [_, PathStep::Index(index)] => Some(*index),
            _ => None,
        }
    }

    /// Whether this has patterns of names.
    pub(super) fn has_pattern(&self) -> bool {
        let is_pattern = |step: &PathStep| matches!(step, PathStep::Key(name) if is_pattern(name));
        self.path.iter().any(is_pattern)
    }

    /// What stands here in the problem with placeholders; `None` if it is left out.
    pub(super) fn placeholder(&self) -> Option<Value> {
        let number = self.rule.placeholder.value()?;
        Some(if self.is_one_number() {
            number
        } else {
            json!(vec![number; self.columns.count.max(1)])
        })
    }

    /// A list with one number per cost of a linear problem: each cost has the column whose name has
    /// that of the cost in place of `*`. Other places stay as they are.
    pub(super) fn of_costs(mut self, base: &dyn ProblemKind) -> Vec<Self> {
        if !matches!(self.rule.size, FieldSize::Costs) {
            return vec![self];
        }
        let names = base.names().cost_names();
        match names.filter(|_| self.columns.pattern.matches('*').count() == 1) {
            Some(names) => names
                .iter()
                .map(|name| Self {
                    path: [self.path.clone(), vec![PathStep::Key(name.to_string())]].concat(),
                    columns: ParameterColumns {
                        pattern: self.columns.pattern.replace('*', &name),
                        count: 1,
                        names: None,
                    },
                    rule: self.rule.sized(FieldSize::One),
                })
                .collect(),
            None => {
                self.columns.count = base.num_costs();
                vec![self]
            }
        }
    }

    /// Whether this is one number of a row.
    pub(super) fn is_one_number(&self) -> bool {
        matches!(self.rule.size, FieldSize::One)
    }

    /// The name of the node that a number of this parameter stands for.
    fn node_name(&self, value: f64) -> Option<&str> {
        let names = self.columns.names.as_ref()?;
        let place = names.place_of_number(value)?;
        names.list().get(place as usize).map(String::as_str)
    }

    /// The column of the parameter and its numbers in a row, for messages.
    pub(super) fn describe(&self, values: &[f64]) -> String {
        let (path, column) = (ShownPath(&self.path), &self.columns.pattern);
        match values {
            [value] => match self.node_name(*value) {
                Some(name) => format!("{path} = '{name}' (column {column})"),
                None => format!("{path} = {value} (column {column})"),
            },
            _ => format!("{path} from {column}"),
        }
    }

    /// Checks the numbers of a row.
    ///
    /// # Errors
    /// When a number cannot stand in this place, as a message.
    pub(super) fn check(&self, values: &[f64]) -> Result<(), String> {
        // A lower bound that is infinite is −∞, an upper bound ∞.
        let is_lower = self
            .path
            .iter()
            .any(|step| matches!(step, PathStep::Key(key) if key == "lower" || key == "row_lower"));
        let impossible = if is_lower {
            f64::INFINITY
        } else {
            f64::NEG_INFINITY
        };
        let needed = |value: f64| match self.rule.numbers {
            NumberRange::Bound if value == impossible => Some("a bound of any number"),
            NumberRange::Finite if !value.is_finite() => Some("a finite number"),
            NumberRange::Whole if !(value >= 0.0 && value.fract() == 0.0 && value < 1e15) => {
                Some("a whole number of 0 or more")
            }
            NumberRange::ZeroOrOne if value != 0.0 && value != 1.0 => Some("0 or 1"),
            _ => None,
        };
        for value in values {
            if let Some(kind) = needed(*value) {
                let (path, column) = (ShownPath(&self.path), &self.columns.pattern);
                return Err(format!("{path} = {value} (column {column}) is not {kind}"));
            }
        }
        Ok(())
    }

    /// Writes the numbers of a row into a problem file.
    ///
    /// # Errors
    /// When a file cannot hold a number, as a message.
    pub(super) fn write(&self, spec: &mut Value, values: &[f64]) -> Result<(), String> {
        let mut numbers = Vec::with_capacity(values.len());
        for value in values {
            numbers.push(match self.rule.numbers {
                // A missing bound is infinite.
                NumberRange::Bound if value.is_infinite() => Value::Null,
                NumberRange::Whole | NumberRange::ZeroOrOne => json!(*value as u64),
                NumberRange::Bound | NumberRange::Finite => json!(*value),
            });
        }
        let value = match numbers.as_slice() {
            [] => return Err("a parameter without values".into()),
            [number] if self.is_one_number() => number.clone(),
            _ => Value::Array(numbers),
        };
        replace(spec, &self.path, Some(value));
        Ok(())
    }
}
