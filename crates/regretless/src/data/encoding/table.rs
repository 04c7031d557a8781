//! The features of a table, encoded by what its training rows say.

use std::sync::Arc;

use super::super::{Dataset, FeatureShape, Features};
use super::fit::{TrainingCell, TrainingCells};
use super::raw::RawRows;
use crate::error::Result;

impl Dataset {
    /// The features of this table, encoded by what its training rows say; `None` if there is
    /// nothing to encode. `train` are the numbers of the training instances.
    ///
    /// # Errors
    /// When no feature is left, or a gap is refused.
    pub fn encoded_features(&self, train: &[usize]) -> Result<Option<Features>> {
        let Some(raw) = self
            .features
            .raw
            .as_ref()
            .filter(|raw| raw.encoding.is_none())
        else {
            return Ok(None);
        };
        let cells = TrainingCells {
            rows: &raw.rows,
            train: self.training_cells(&raw.rows, train),
        };
        let encoding = Arc::new(cells.fit()?);
        // All rows get the statistics of all training rows; those of training rows are then
        // replaced by the statistics of the other folds.
        let mut encoded = encoding.encode(&raw.rows)?;
        let mut is_cross_fitted = false;
        let mut offset = 0;
        for column in &encoding.columns {
            for (row, value) in cells.cross_fitted(column).into_iter().flatten() {
                is_cross_fitted = true;
                encoded.values[row * encoded.width + offset] = value;
            }
            offset += column.feature_names().len();
        }
        let mut features = self
            .features
            .with_encoded(raw.rows.clone(), &encoding, encoded)?;
        if let Some(raw) = &mut features.raw {
            raw.is_cross_fitted = is_cross_fitted;
        }
        Ok(Some(features))
    }

    /// The same table with its features encoded by what its training rows say.
    ///
    /// # Errors
    /// As [`Dataset::encoded_features`].
    pub fn encoded(self, train: &[usize]) -> Result<Self> {
        match self.encoded_features(train)? {
            None => Ok(self),
            Some(features) => Ok(self.with_features(features)),
        }
    }

    /// The same table with other features of its rows.
    pub(crate) fn with_features(self, features: Features) -> Self {
        Self { features, ..self }
    }

    fn training_cells(&self, rows: &RawRows, train: &[usize]) -> Vec<TrainingCell> {
        let size = self.features.shape.rows_per_instance();
        let mut cells = Vec::with_capacity(train.len() * size);
        // A weight of 0 leaves a row out of the training, so it must not shape the features either.
        let is_left_out = |row: usize| {
            self.row_weights()
                .is_some_and(|weights| weights[row] == 0.0)
        };
        for (position, instance) in train.iter().enumerate() {
            if is_left_out(*instance) {
                continue;
            }
            let costs = self.costs.row(*instance);
            for item in 0..size {
                let row = instance * size + item;
                let Some(source) = rows.row(row) else {
                    continue;
                };
                let target = match self.features.shape {
                    FeatureShape::Wide => mean_of_existing(costs),
                    FeatureShape::Long { .. } => f64::from(costs[item]),
                };
                cells.push(TrainingCell {
                    row,
                    source,
                    position,
                    target,
                });
            }
        }
        cells
    }
}

/// The mean of the costs that exist; NaN if none does.
fn mean_of_existing(costs: &[f32]) -> f64 {
    let existing = costs.iter().filter(|cost| cost.is_finite());
    let (mut sum, mut count) = (0.0, 0.0);
    for cost in existing {
        sum += f64::from(*cost);
        count += 1.0;
    }
    sum / count
}
