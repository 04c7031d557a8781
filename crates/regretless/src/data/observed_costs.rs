//! How often costs were observed. A cost that no training row has, of an item that never existed
//! there, cannot be predicted.

use super::{CostNames, Dataset, FeatureShape};
use crate::text::first_names;

/// Costs that fewer training rows have are named: the mean of 10 values is off by a third of their
/// standard deviation, and a linear fit of a few features follows the noise of so few rows.
const MIN_OBSERVED_ROWS: usize = 10;

/// How many of some rows have each cost, in a table in which some rows lack some costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CostObservations {
    /// Rows that have the cost, by cost.
    pub counts: Vec<usize>,
    /// Names of the costs.
    names: Vec<String>,
    /// Whether items share a predictor, which one of few rows has from other items, too.
    is_long: bool,
}

impl Dataset {
    /// How many of these rows, which train a model, have each cost; `None` if all rows have all
    /// costs, and for a long table whose items have no names. Rows of weight 0 do not count.
    pub(crate) fn cost_observations(&self, rows: &[usize]) -> Option<CostObservations> {
        let is_long = matches!(self.features.shape(), FeatureShape::Long { .. });
        // A position is another item in every row.
        let has_items = !is_long || self.cost_names.are_explicit();
        // Until a table is labeled, absent costs are gaps.
        let has_gaps = || self.costs.first_not_finite().is_some();
        if !has_items || !(self.has_absent_costs() || has_gaps()) {
            return None;
        }
        let weights = self.row_weights();
        let mut counts = vec![0; self.costs.cols()];
        for row in rows {
            if weights.is_some_and(|weights| weights[*row] == 0.0) {
                continue;
            }
            let present = self.present_costs(*row);
            for (column, cost) in self.costs.row(*row).iter().enumerate() {
                let exists = present.is_none_or(|present| present[column]);
                counts[column] += usize::from(exists && cost.is_finite());
            }
        }
        Some(CostObservations {
            counts,
            names: self.cost_names.to_vec(),
            is_long,
        })
    }

    /// The costs that none of these rows, which train a model, has: it cannot predict them. Where
    /// the items of a long table have no names, each is another one, predicted from its features.
    pub fn unobserved_costs(&self, rows: &[usize]) -> Vec<u32> {
        if !self.has_absent_costs() {
            return Vec::new();
        }
        let observed = self.cost_observations(rows);
        let Some(observed) = observed else {
            return Vec::new();
        };
        let costs = (0..).zip(observed.counts);
        costs
            .filter(|(_, count)| *count == 0)
            .map(|(cost, _)| cost)
            .collect()
    }
}

impl CostNames {
    /// Names these costs, which no training row has, beside predictions; `None` for none.
    pub fn unobserved_note(&self, costs: &[u32]) -> Option<String> {
        let names = costs.iter().map(|cost| self.get(*cost as usize));
        let names = first_names(names);
        (!names.is_empty()).then(|| {
            format!("no training row has a value of {names}: the prediction is missing (NaN)")
        })
    }
}

impl CostObservations {
    /// The costs that fewer than [`MIN_OBSERVED_ROWS`] of these rows have.
    pub(super) fn rare_names(&self, rows: usize) -> Vec<String> {
        let few = MIN_OBSERVED_ROWS.min(rows);
        let costs = self.names.iter().zip(&self.counts);
        costs
            .filter(|(_, count)| **count < few)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// One sentence about the costs that none of these training rows, or very few of them, have.
    pub(super) fn note(&self, rows: usize) -> Option<String> {
        let (mut unobserved, mut rare) = (Vec::new(), Vec::new());
        let few = MIN_OBSERVED_ROWS.min(rows);
        for (name, count) in self.names.iter().zip(&self.counts) {
            match count {
                0 => unobserved.push(name.clone()),
                1 if few > 1 => rare.push(format!("{name} (1 row)")),
                count if *count < few => rare.push(format!("{name} ({count} rows)")),
                _ => {}
            }
        }
        let mut sentences = Vec::new();
        if !unobserved.is_empty() {
            let consequence = if unobserved.len() == 1 {
                "without a prediction, decisions leave it out"
            } else {
                "without a prediction, decisions leave them out"
            };
            let names = first_names(&unobserved);
            sentences.push(format!(
                "no training row has a value of {names}: {consequence}"
            ));
        }
        if !rare.is_empty() {
            let consequence = if self.is_long {
                "too few to tell whether predictions, which follow from other items, fit"
            } else {
                "too few for a reliable prediction"
            };
            let names = first_names(&rare);
            sentences.push(format!(
                "fewer than {few} training rows have a value of {names}, {consequence}"
            ));
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}
