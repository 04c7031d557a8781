//! Row problems from their parts, without reading the problem file again for every row.
//!
//! On a knapsack of 32 items a row problem from the template takes longer than its solve.

use std::sync::Arc;

use super::template::{PathStep, Template};
#[cfg(feature = "highs")]
use crate::problem::linear::{LinearChange, LinearSlot, LinearSlots};
use crate::problem::{Knapsack, ProblemKind, ProblemSpec};
#[cfg(feature = "highs")]
use crate::problem::{LinearFile, LinearProblem};

/// How the problem of a row is built.
#[derive(Debug)]
pub(super) enum FastPath {
    /// A knapsack in which only capacities differ: the dimension of each value.
    Capacities {
        knapsack: Knapsack,
        dimensions: Vec<usize>,
    },
    /// A linear problem: the number that each value replaces.
    #[cfg(feature = "highs")]
    Linear {
        base: LinearProblem,
        slots: Vec<LinearSlot>,
    },
}

impl FastPath {
    /// The fast path of a template, if there is one; `base` is the problem with placeholders.
    pub(super) fn new(
        template: &Template,
        spec: &ProblemSpec,
        base: &Arc<dyn ProblemKind>,
    ) -> Option<Self> {
        match spec {
            ProblemSpec::Knapsack(knapsack) => Self::capacities(template, knapsack),
            #[cfg(feature = "highs")]
            ProblemSpec::Linear(file) => Self::linear(template, file, base.as_ref()),
            _ => None,
        }
    }

    /// A wrong name or a number that is set twice is reported when a row problem is built from the
    /// template.
    #[cfg(feature = "highs")]
    fn linear(template: &Template, file: &LinearFile, base: &dyn ProblemKind) -> Option<Self> {
        let base: &dyn std::any::Any = base;
        let base = base.downcast_ref::<LinearProblem>()?;
        // Bounds of a row must not replace those of a column that is absent in all rows.
        if !file.present.is_empty() {
            return None;
        }
        let names = LinearSlots::new(base);
        let mut slots = Vec::new();
        for place in template.places() {
            let mut path = Vec::new();
            for step in &place.path {
                match step {
                    PathStep::Key(key) => path.push(key.as_str()),
                    PathStep::Index(_) => return None,
                }
            }
            if place.columns.count != 1 {
                return None;
            }
            slots.push(names.slot(&path).ok()?);
        }
        let mut all = slots.clone();
        for (path, _) in file.changes() {
            all.push(names.slot(&path).ok()?);
        }
        names.check_distinct(&all).ok()?;
        let base = base.clone();
        Some(Self::Linear { base, slots })
    }

    fn capacities(template: &Template, knapsack: &Knapsack) -> Option<Self> {
        let mut dimensions = Vec::new();
        for place in template.places() {
            match place.path.as_slice() {
                [PathStep::Key(key)] if key == "capacity" => {
                    dimensions.extend(0..place.columns.count);
                }
                [PathStep::Key(key), PathStep::Index(dimension)] if key == "capacity" => {
                    dimensions.push(*dimension);
                }
                _ => return None,
            }
        }
        let knapsack = knapsack.clone();
        Some(Self::Capacities {
            knapsack,
            dimensions,
        })
    }

    /// The problem of a row with these values.
    pub(super) fn row_problem(&self, values: &[f64]) -> Result<Arc<dyn ProblemKind>, String> {
        match self {
            Self::Capacities {
                knapsack,
                dimensions,
            } => {
                let mut capacity = knapsack.capacity().to_vec();
                for (dimension, value) in dimensions.iter().zip(values) {
                    capacity[*dimension] = *value;
                }
                let row = knapsack.with_capacity(capacity);
                Ok(Arc::new(row.map_err(|error| error.to_string())?))
            }
            #[cfg(feature = "highs")]
            Self::Linear { base, slots } => {
                let slots = slots.iter().zip(values);
                let changes: Vec<LinearChange> = slots
                    .map(|(slot, value)| LinearChange {
                        slot: *slot,
                        value: *value,
                    })
                    .collect();
                Ok(Arc::new(base.with_changes(&changes)?))
            }
        }
    }
}
