//! [`LabeledSplit`]: labeled rows of one problem, divided for a training.

use std::sync::Arc;

use super::LabeledDataset;
use crate::data::SplitIndices;
use crate::error::Result;
use crate::problem::Problem;

/// Labeled rows of one problem, divided for a training.
#[derive(Debug, Clone)]
pub struct LabeledSplit {
    /// The problem.
    pub problem: Problem,
    /// All rows, with encoded features.
    pub data: Arc<LabeledDataset>,
    /// Rows for training, validation and testing.
    pub split: SplitIndices,
}

impl LabeledSplit {
    /// Rows without a label are in no part.
    ///
    /// # Errors
    /// When no row with a label is left for training.
    pub fn new(problem: Problem, data: Arc<LabeledDataset>, split: SplitIndices) -> Result<Self> {
        let split = split.restrict_to(&data.rows())?;
        Ok(Self {
            problem,
            data,
            split,
        })
    }
}

impl LabeledSplit {
    /// With features encoded by the training rows, if they are not.
    ///
    /// # Errors
    /// When a column cannot be encoded.
    pub fn encoded(self) -> Result<Self> {
        let data = match self.data.data().encoded_features(&self.split.train)? {
            Some(features) => Arc::new(self.data.with_features(features)?),
            None => self.data,
        };
        Ok(Self { data, ..self })
    }
}
