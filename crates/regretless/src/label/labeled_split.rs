//! [`LabeledSplit`]: labeled rows of one problem, divided for a training.

use std::sync::Arc;

use super::LabeledDataset;
use crate::data::{Dataset, Features, SplitIndices};
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
    /// With features encoded by the training rows, where they are not.
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

/// A table that is divided in one or more ways, such as by several seeds, with its features encoded
/// by the training rows of each division.
///
/// Features are encoded before rows are labeled: labels are for minimized costs, encodings such as
/// target statistics for the costs as the user states them.
pub struct EncodedSplits {
    splits: Vec<SplitIndices>,
    /// Of each division; none where the columns of the table are the features.
    features: Vec<Option<Arc<Features>>>,
}

impl EncodedSplits {
    /// Divisions with the same training rows share their features.
    ///
    /// # Errors
    /// When no feature is left, or a gap is refused.
    pub fn new(table: &Dataset, splits: Vec<SplitIndices>) -> Result<Self> {
        let mut features: Vec<Option<Arc<Features>>> = Vec::with_capacity(splits.len());
        for (number, split) in splits.iter().enumerate() {
            let earlier = splits[..number].last();
            let encoded = match (earlier, features.last()) {
                (Some(earlier), Some(encoded)) if earlier.train == split.train => encoded.clone(),
                _ => table.encoded_features(&split.train)?.map(Arc::new),
            };
            features.push(encoded);
        }
        Ok(Self { splits, features })
    }

    /// The divisions of the labeled table.
    ///
    /// # Errors
    /// When no row with a label is left for the training of a division.
    pub fn with_labels(
        self,
        problem: &Problem,
        table: &Arc<LabeledDataset>,
    ) -> Result<Vec<LabeledSplit>> {
        let mut labeled: Vec<LabeledSplit> = Vec::with_capacity(self.splits.len());
        let mut last_features: Option<Arc<Features>> = None;
        for (split, features) in self.splits.into_iter().zip(self.features) {
            let data = match (&features, &last_features, labeled.last()) {
                (None, _, _) => Arc::clone(table),
                (Some(features), Some(last), Some(earlier)) if Arc::ptr_eq(features, last) => {
                    Arc::clone(&earlier.data)
                }
                (Some(features), _, _) => Arc::new(table.with_features(Features::clone(features))?),
            };
            labeled.push(LabeledSplit::new(problem.clone(), data, split)?);
            last_features = features;
        }
        Ok(labeled)
    }
}
