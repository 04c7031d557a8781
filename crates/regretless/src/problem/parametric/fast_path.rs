//! Row problems from their parts, without reading the problem file again for every row.
//!
//! On a knapsack of 32 items a row problem from the template takes longer than its solve.

use std::sync::Arc;

use super::template::{PathStep, Template};
#[cfg(feature = "highs")]
use crate::error::Error;
use crate::error::Result;
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
    ///
    /// # Errors
    /// When a linear problem, which has no other path, does not have the named rows and columns, or
    /// a number is set twice.
    #[cfg_attr(
        not(feature = "highs"),
        expect(unused_variables, reason = "linear problems need HiGHS")
    )]
    pub(super) fn new(
        template: &Template,
        spec: &ProblemSpec,
        base: &Arc<dyn ProblemKind>,
    ) -> Result<Option<Self>> {
        match spec {
            ProblemSpec::Knapsack(knapsack) => Ok(Self::capacities(template, knapsack)),
            #[cfg(feature = "highs")]
            ProblemSpec::Linear(file) => Self::linear(template, file, base.as_ref())
                .map(Some)
                .map_err(Error::setting),
            _ => Ok(None),
        }
    }

    /// The file of a linear problem is read once: a model holds its content, and the file may be
    /// gone when rows are decided.
    #[cfg(feature = "highs")]
    fn linear(
        template: &Template,
        file: &LinearFile,
        base: &dyn ProblemKind,
    ) -> std::result::Result<Self, String> {
        let base: &dyn std::any::Any = base;
        let Some(base) = base.downcast_ref::<LinearProblem>() else {
            return Err("the problem is not linear".into());
        };
        let names = LinearSlots::new(base);
        let mut slots = Vec::new();
        for place in template.places() {
            let mut path = Vec::new();
            for step in &place.path {
                match step {
                    PathStep::Key(key) => path.push(key.as_str()),
                    PathStep::Index(_) => {
                        return Err("a linear problem has names, not lists".into());
                    }
                }
            }
            match path.as_slice() {
                ["present"] => slots.extend((0..base.num_costs()).map(LinearSlot::Present)),
                path => slots.push(names.slot(path)?),
            }
        }
        let mut all = slots.clone();
        for (path, _) in file.changes() {
            all.push(names.slot(&path)?);
        }
        names.check_distinct(&all)?;
        let changes_columns = |slot: &LinearSlot| {
            matches!(
                slot,
                LinearSlot::Lower(_)
                    | LinearSlot::Upper(_)
                    | LinearSlot::Fixed(_)
                    | LinearSlot::Present(_)
            )
        };
        // Bounds of a row would replace those of a column that is absent in all rows.
        if !file.present.is_empty() && slots.iter().any(changes_columns) {
            return Err(
                "some columns are absent in all rows, and columns of the table change \
                bounds; take `present` from columns of the table too"
                    .into(),
            );
        }
        let base = base.clone();
        Ok(Self::Linear { base, slots })
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
    pub(super) fn row_problem(
        &self,
        values: &[f64],
    ) -> std::result::Result<Arc<dyn ProblemKind>, String> {
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
