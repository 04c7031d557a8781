//! References to columns in problem files, and edits of these files, as JSON.

use std::fmt;

use serde_json::{Value, json};

use crate::problem::family::Step;

/// One step from the root of a problem file to a value in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

impl PathStep {
    pub(super) fn as_step(&self) -> Step<'_> {
        match self {
            Self::Key(key) => Step::Key(key),
            Self::Index(index) => Step::Index(*index),
        }
    }
}

/// A path as `weights[0]` or `rhs.demand_north`.
pub(super) struct ShownPath<'a>(pub &'a [PathStep]);

impl fmt::Display for ShownPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if position == 0 => write!(f, "{key}")?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A reference to columns in a problem file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnReference {
    pub pattern: String,
    /// `columns`, not `column`.
    pub is_plural: bool,
}

impl ColumnReference {
    /// The reference that a value is, if it is one.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (key, pattern) = object.iter().next()?;
        let is_plural = match key.as_str() {
            "column" => false,
            "columns" => true,
            _ => return None,
        };
        Some(Self {
            pattern: pattern.as_str()?.to_owned(),
            is_plural,
        })
    }
}

/// All references of a file, with their paths.
pub(super) fn collect_references(
    value: &Value,
    path: &mut Vec<PathStep>,
    found: &mut Vec<(Vec<PathStep>, ColumnReference)>,
) {
    if let Some(reference) = ColumnReference::from_value(value) {
        found.push((path.clone(), reference));
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                path.push(PathStep::Key(key.clone()));
                collect_references(value, path, found);
                path.pop();
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                path.push(PathStep::Index(index));
                collect_references(value, path, found);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Writes a value at a path that exists; `None` removes its key, and tables that are then empty.
pub(super) fn replace(root: &mut Value, path: &[PathStep], value: Option<Value>) {
    let Some((last, parents)) = path.split_last() else {
        return;
    };
    let Some(parent) = step_to(root, parents) else {
        return;
    };
    match (last, value) {
        (PathStep::Key(key), None) => {
            if let Some(object) = parent.as_object_mut() {
                object.remove(key);
                if object.is_empty() {
                    replace(root, parents, None);
                }
            }
        }
        // A list with a number that is left out is left out as a whole.
        (PathStep::Index(_), None) => replace(root, parents, None),
        (PathStep::Key(key), Some(value)) => {
            if let Some(slot) = parent.get_mut(key) {
                *slot = value;
            }
        }
        (PathStep::Index(index), Some(value)) => {
            if let Some(slot) = parent.get_mut(index) {
                *slot = value;
            }
        }
    }
}

fn step_to<'v>(root: &'v mut Value, path: &[PathStep]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(*index),
    })
}

/// Writes a value at a path of keys, creating the tables on the way.
pub(super) fn insert(root: &mut Value, path: &[PathStep], value: Value) {
    let mut node = root;
    for step in path {
        let PathStep::Key(key) = step else { return };
        if !node.is_object() {
            *node = json!({});
        }
        let Some(object) = node.as_object_mut() else {
            return;
        };
        node = object.entry(key.clone()).or_insert(Value::Null);
    }
    *node = value;
}
