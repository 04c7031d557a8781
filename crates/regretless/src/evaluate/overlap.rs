//! Whether a model was trained on the rows that it is evaluated on.

use serde::Serialize;

use crate::data::NamedCosts;
use crate::label::LabeledDataset;
use crate::predict::{CostModel, row_digest, row_hash};

/// How many rows of a table a model was trained on. Regret on such rows says little about new ones.
///
/// Rows are recognized by their features and costs. Of large trainings a model keeps a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrainingOverlap {
    /// Rows of the table.
    pub rows: usize,
    /// Rows of the table that could be compared with those of the training: all of them, or those
    /// that the sample covers.
    pub compared: usize,
    /// Compared rows that were trained or validated on.
    pub seen: usize,
}

impl TrainingOverlap {
    /// A warning, if rows were trained on.
    pub fn warning(&self) -> Option<String> {
        let Self {
            rows,
            compared,
            seen,
        } = *self;
        if seen == 0 {
            return None;
        }
        let known = "the model was trained or validated on";
        let advice = "regret on them is too low to expect for new rows";
        if compared == rows {
            return Some(format!("{known} {seen} of these {rows} rows; {advice}"));
        }
        let estimate = (rows as f64 * seen as f64 / compared as f64).round();
        Some(format!(
            "{known} about {estimate} of these {rows} rows (an estimate: {seen} of a sample of \
             {compared}); {advice}"
        ))
    }
}

impl CostModel {
    /// How many of these rows the model was trained or validated on; `None` if it does not record
    /// its rows, or the table cannot be compared.
    pub fn training_overlap(
        &self,
        data: &LabeledDataset,
        rows: &[usize],
    ) -> Option<TrainingOverlap> {
        let sketch = self.sketch.as_ref()?;
        let table = data.data();
        let matching = self
            .matching(NamedCosts::new("the table", table.cost_names()))
            .ok()?;
        let encoded = self.encoded(table.features()).ok()?;
        let has_same_shape = encoded.names() == self.metadata.features
            && table.costs().cols() == self.metadata.costs.len();
        if !has_same_shape {
            return None;
        }
        let mut overlap = TrainingOverlap {
            rows: rows.len(),
            compared: 0,
            seen: 0,
        };
        let (mut buffer, mut costs) = (Vec::new(), vec![0.0; table.costs().cols()]);
        for row in rows {
            let row_costs = table.costs().row(*row);
            match matching.order() {
                None => costs.copy_from_slice(row_costs),
                // Cost j of the table is cost order[j] of the model.
                Some(order) => {
                    for (position, cost) in order.iter().zip(row_costs) {
                        costs[*position] = *cost;
                    }
                }
            }
            let features = encoded.instance(*row);
            let digest = row_digest(features, costs.iter().copied(), &mut buffer);
            if let Some(was_seen) = sketch.contains(row_hash(&digest)) {
                overlap.compared += 1;
                overlap.seen += usize::from(was_seen);
            }
        }
        (overlap.compared > 0).then_some(overlap)
    }
}
