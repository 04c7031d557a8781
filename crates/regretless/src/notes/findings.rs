//! The data check of a labeled table.

use crate::data::{DataCheck, Finding, SplitIndices};
use crate::error::Result;
use crate::label::LabeledDataset;

/// What the data check finds in a table that is divided for a training. `run` runs the check if the
/// times of the rows are known; otherwise it is `|check| Ok(check.run())`.
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
