//! How far each cost may be mispredicted before the relaxed decision changes.

use crate::data::Matrix;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::VariableBounds;
use crate::solve::relaxation::{CostRangeKind, CostRanges};

/// The end of each cost's range on the side that can mislead: the upper one where the variable is
/// at its upper bound in the best decision, the lower one elsewhere. One number per cost is enough,
/// since the other side is free.
pub(super) fn limits(
    data: &LabeledDataset,
    oracle: &Oracle,
    kind: CostRangeKind,
    (name, observer): (&str, &dyn Observer),
) -> Result<Matrix> {
    let costs = data.data().costs();
    let mut limits = Matrix::zeros(costs.rows(), costs.cols());
    let mut rows: Vec<&mut [f32]> = limits
        .as_mut_slice()
        .chunks_exact_mut(costs.cols())
        .collect();
    observer.begin("cost ranges", costs.rows() as u64);
    let bounds = oracle.problem().bounds();
    let at_upper = |j: usize, value: f64| match &bounds {
        VariableBounds::Binary => value >= 1.0,
        VariableBounds::Box { upper, .. } => value >= upper[j],
    };
    let keep = |row: usize, ranges: &CostRanges, slot: &mut &mut [f32]| {
        slot.iter_mut()
            .zip(&ranges.lower)
            .for_each(|(limit, lower)| *limit = *lower as f32);
        for (j, _) in data
            .optimal_decision(row)
            .iter()
            .filter(|(j, value)| at_upper(*j, *value))
        {
            slot[j] = ranges.upper[j] as f32;
        }
    };
    oracle.ranges_all((costs, kind), &mut rows, keep, (name, observer))?;
    observer.end();
    Ok(limits)
}
