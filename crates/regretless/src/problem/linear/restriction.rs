//! Linear problems with fewer decisions, for explanations.

use std::sync::Arc;

use super::LinearProblem;
use crate::problem::{ColumnDomain, ExcludedPattern, Restriction};
use crate::solve::highs::LinearModel;

/// The name of rows that exclude the values of binary columns.
const EXCLUDING_ROW: &str = "another pattern";

impl LinearProblem {
    /// The column of the model with this number in complete decisions.
    fn model_column(&self, number: u32) -> usize {
        let (number, predicted) = (number as usize, self.predicted());
        match number.checked_sub(predicted.len()) {
            None => predicted[number],
            Some(auxiliary) => self.auxiliary_columns()[auxiliary],
        }
    }

    /// The domains of all columns, in the order of complete decisions.
    pub(super) fn domains(&self) -> Vec<ColumnDomain> {
        let model = self.model();
        let columns = self.predicted().iter().chain(self.auxiliary_columns());
        columns
            .map(|column| ColumnDomain {
                bounds: model.column_bounds[*column],
                is_integer: model.integer[*column],
            })
            .collect()
    }

    /// The same problem with fewer decisions; none if bounds contradict each other.
    pub(super) fn with_restriction(&self, restriction: &Restriction) -> Option<Self> {
        let mut model = LinearModel::clone(self.model());
        for narrower in &restriction.bounds {
            let bounds = &mut model.column_bounds[self.model_column(narrower.column)];
            bounds[0] = bounds[0].max(narrower.bounds[0]);
            bounds[1] = bounds[1].min(narrower.bounds[1]);
            if bounds[0] > bounds[1] {
                return None;
            }
        }
        for pattern in &restriction.excluded {
            self.exclude(&mut model, pattern);
        }
        Some(self.with_model(model, None))
    }

    /// Adds a row: the columns that are 1 and become 0, and those that are 0 and become 1, are at
    /// least one.
    fn exclude(&self, model: &mut LinearModel, pattern: &ExcludedPattern) {
        let ones = pattern.ones.iter().map(|column| (*column, -1.0));
        let zeros = pattern.zeros.iter().map(|column| (*column, 1.0));
        let mut entries: Vec<(usize, f64)> = ones
            .chain(zeros)
            .map(|(column, entry)| (self.model_column(column), entry))
            .collect();
        entries.sort_unstable_by_key(|(column, _)| *column);
        Arc::make_mut(&mut model.rows).push(entries);
        Arc::make_mut(&mut model.row_names).push(EXCLUDING_ROW.into());
        let least = 1.0 - pattern.ones.len() as f64;
        model.row_bounds.push([least, f64::INFINITY]);
    }

    /// The same problem with known costs of 0.
    pub(super) fn with_free_auxiliary_columns(&self) -> Self {
        let mut model = LinearModel::clone(self.model());
        model.cost.fill(0.0);
        model.offset = 0.0;
        self.with_model(model, None)
    }
}
