//! The data check of a labeled table.

use crate::data::{DataCheck, Finding, SplitIndices};
use crate::error::Result;
use crate::label::LabeledDataset;

/// What the data check finds in a table that is divided for a training. `run` runs the check where
/// the times of the rows are known; otherwise it is `|check| Ok(check.run())`.
///
/// # Errors
/// Those of `run`.
pub fn findings_of_split(
    data: &LabeledDataset,
    split: &SplitIndices,
    run: impl FnOnce(DataCheck<'_>) -> Result<Vec<Finding>>,
) -> Result<Vec<Finding>> {
    let objectives = data.best_objectives();
    let check = DataCheck::new(data.data()).with_split(split);
    run(check.with_objectives(&objectives))
}

/// The history of a backtest as notes see it: each training encodes its own rows, the notes are
/// about the later half of all rows, encoded by the earlier one.
pub struct EncodedHistory<'a> {
    data: &'a LabeledDataset,
    encoded: Option<LabeledDataset>,
    halves: SplitIndices,
}

impl<'a> EncodedHistory<'a> {
    /// A history whose earlier half are the training rows of `halves`, and the later one its test
    /// rows.
    ///
    /// # Errors
    /// When a half has no labeled row, or a column cannot be encoded.
    pub fn new(data: &'a LabeledDataset, halves: &SplitIndices) -> Result<Self> {
        let halves = halves.clone().restrict_to(&data.rows())?;
        let features = data.data().encoded_features(&halves.train)?;
        let encoded = features.map(|features| data.with_features(features));
        Ok(Self {
            data,
            encoded: encoded.transpose()?,
            halves,
        })
    }

    /// The history with encoded features.
    pub fn data(&self) -> &LabeledDataset {
        self.encoded.as_ref().unwrap_or(self.data)
    }

    /// What the data check finds in it; `run` is that of [`findings_of_split`].
    ///
    /// # Errors
    /// Those of `run`.
    pub fn findings(
        &self,
        run: impl FnOnce(DataCheck<'_>) -> Result<Vec<Finding>>,
    ) -> Result<Vec<Finding>> {
        findings_of_split(self.data(), &self.halves, |check| run(check.of_halves()))
    }
}
