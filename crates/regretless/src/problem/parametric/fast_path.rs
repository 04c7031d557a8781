//! Row problems from their parts, without reading the problem file again for every row.
//!
//! On a knapsack of 32 items a row problem from the template takes longer than its solve.

use std::sync::Arc;

use super::template::{PathStep, Template};
use crate::problem::{Knapsack, ProblemKind, ProblemSpec};

/// How the problem of a row is built.
#[derive(Debug)]
pub(super) enum FastPath {
    /// A knapsack in which only capacities differ: the dimension of each value.
    Capacities {
        knapsack: Knapsack,
        dimensions: Vec<usize>,
    },
}

impl FastPath {
    /// The fast path of a template, if there is one; `base` is the problem with placeholders.
    pub(super) fn new(
        template: &Template,
        spec: &ProblemSpec,
        _base: &Arc<dyn ProblemKind>,
    ) -> Option<Self> {
        match spec {
            ProblemSpec::Knapsack(knapsack) => Self::capacities(template, knapsack),
            _ => None,
        }
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
        }
    }
}
