//! Costs that are not predicted as a whole in every row: known parts, and items that do not exist.
//!
//! The costs of a labeled table are totals, known + predicted, and 0 if an item is absent.
//! Predictors predict the rest; [`Dataset::complete_prediction`] makes totals of their predictions.
//! Losses, norms and regret then act on totals, and absent items never count: both vectors are 0
//! there.

use std::borrow::Cow;
use std::sync::Arc;

use super::cost_gaps::CostGaps;
use super::{Dataset, Matrix};
use crate::error::{Error, InputPlace, Result};

/// Known parts of the costs of all rows, minimized, and which costs exist.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RowCosts {
    known: Option<Arc<Vec<f64>>>,
    present: Option<Arc<Vec<bool>>>,
}

impl RowCosts {
    fn known_row(&self, row: usize, cols: usize) -> Option<&[f64]> {
        let known = self.known.as_ref()?;
        Some(&known[row * cols..][..cols])
    }

    /// Those of the listed rows, in the order of the list.
    pub(super) fn select_rows(&self, rows: &[usize], cols: usize) -> Self {
        Self {
            known: self.known.as_ref().map(|all| selected(all, rows, cols)),
            present: self.present.as_ref().map(|all| selected(all, rows, cols)),
        }
    }
}

fn selected<T: Copy>(all: &[T], rows: &[usize], cols: usize) -> Arc<Vec<T>> {
    let mut values = Vec::with_capacity(rows.len() * cols);
    for row in rows {
        values.extend_from_slice(&all[row * cols..][..cols]);
    }
    Arc::new(values)
}

impl Dataset {
    /// Adds known parts to the costs (both minimized) and sets absent costs to 0. `known` and
    /// `present` have one entry per row and cost.
    ///
    /// # Errors
    /// When a cost that exists is not a finite number; the error has its row and column.
    pub(crate) fn complete_costs(
        &mut self,
        known: Option<Vec<f64>>,
        present: Option<Vec<bool>>,
    ) -> Result<()> {
        if known.is_none() && present.is_none() {
            return Ok(());
        }
        // A mask that excludes nothing is none: the same bytes as without.
        let present = present.filter(|present| present.contains(&false));
        if known.is_some() || present.is_some() {
            let cols = self.costs.cols();
            let mut totals = Vec::with_capacity(self.len() * cols);
            let mut row_costs = Vec::new();
            for row in 0..self.len() {
                self.costs.read(row, &mut row_costs);
                for (column, cost) in row_costs.iter().enumerate() {
                    let at = row * cols + column;
                    let exists = present.as_ref().is_none_or(|present| present[at]);
                    let known = known.as_ref().map_or(0.0, |known| known[at]);
                    totals.push(if exists { cost + known } else { 0.0 });
                }
            }
            self.costs = Matrix::from_f64(self.len(), cols, &totals)?;
            self.costs = std::mem::take(&mut self.costs).with_f64_values(Arc::new(totals))?;
            self.row_costs = RowCosts {
                known: known.map(Arc::new),
                present: present.map(Arc::new),
            };
        }
        self.check_existing_costs()
    }

    /// Checks that all costs of rows that have the item are finite.
    pub(crate) fn check_existing_costs(&self) -> Result<()> {
        match self.costs.first_not_finite() {
            None => Ok(()),
            Some((row, column, _)) => {
                let name = self.cost_names.get(column).into_owned();
                let place = InputPlace::default().row(row as u64).column(name);
                let error = Error::input(
                    place,
                    "the cost is missing or not finite, but the row has this item (rows counted \
                     from 0)",
                );
                Err(CostGaps::of(&self.costs).explain(error))
            }
        }
    }

    /// Whether costs are predicted as a whole, and exist, in every row.
    pub fn has_plain_costs(&self) -> bool {
        self.row_costs == RowCosts::default()
    }

    /// Whether some rows lack some costs.
    pub fn has_absent_costs(&self) -> bool {
        self.row_costs.present.is_some()
    }

    /// Which costs of a row exist; `None` if all rows have all.
    pub fn present_costs(&self, row: usize) -> Option<&[bool]> {
        let present = self.row_costs.present.as_ref()?;
        let cols = self.costs.cols();
        Some(&present[row * cols..][..cols])
    }

    /// Number of costs of a row that exist.
    pub(crate) fn num_present_costs(&self, row: usize) -> usize {
        match self.present_costs(row) {
            Some(present) => present.iter().filter(|exists| **exists).count(),
            None => self.costs.cols(),
        }
    }

    /// Makes the prediction of a row complete: adds its known costs, minimized, and sets absent
    /// costs to 0.
    pub fn complete_prediction(&self, row: usize, prediction: &mut [f64]) {
        if let Some(known) = self.row_costs.known_row(row, self.costs.cols()) {
            for (cost, known) in prediction.iter_mut().zip(known) {
                *cost += known;
            }
        }
        self.clear_absent(row, prediction);
    }

    /// Sets the entries of absent costs to 0.
    pub(crate) fn clear_absent(&self, row: usize, values: &mut [f64]) {
        if let Some(present) = self.present_costs(row) {
            for (value, exists) in values.iter_mut().zip(present) {
                if !exists {
                    *value = 0.0;
                }
            }
        }
    }

    /// Makes predictions of the listed rows complete, as [`Dataset::complete_prediction`].
    ///
    /// # Errors
    /// Never: the size of the table does not change.
    pub fn complete_predictions(&self, rows: &[usize], predictions: Matrix) -> Result<Matrix> {
        if self.has_plain_costs() {
            return Ok(predictions);
        }
        let cols = predictions.cols();
        let mut totals = Vec::with_capacity(rows.len() * cols);
        let mut prediction = Vec::new();
        for (position, row) in rows.iter().enumerate() {
            predictions.read(position, &mut prediction);
            self.complete_prediction(*row, &mut prediction);
            totals.extend_from_slice(&prediction);
        }
        Matrix::from_f64(rows.len(), cols, &totals)?.with_f64_values(Arc::new(totals))
    }

    /// The part of the costs that is predicted, minimized as the costs are.
    pub fn predicted_part(&self) -> Cow<'_, Matrix> {
        let Some(known) = &self.row_costs.known else {
            return Cow::Borrowed(&self.costs);
        };
        let cols = self.costs.cols();
        let mut values = Vec::with_capacity(self.len() * cols);
        let mut costs = Vec::new();
        for row in 0..self.len() {
            self.costs.read(row, &mut costs);
            self.clear_known(row, known, &mut costs);
            values.extend(costs.iter().map(|cost| *cost as f32));
        }
        match Matrix::new(self.len(), cols, values) {
            Ok(matrix) => Cow::Owned(matrix),
            // The size is that of the costs.
            Err(_) => Cow::Borrowed(&self.costs),
        }
    }

    fn clear_known(&self, row: usize, known: &[f64], costs: &mut [f64]) {
        let cols = self.costs.cols();
        for (cost, known) in costs.iter_mut().zip(&known[row * cols..][..cols]) {
            *cost -= known;
        }
        self.clear_absent(row, costs);
    }
}
