//! How far each cost may be mispredicted before the relaxed decision changes (cost ranging).

use crate::data::Matrix;
use crate::error::Result;
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::Oracle;
use crate::problem::VariableBounds;
use crate::solve::relaxation::{CostRangeKind, CostRanges};

/// The limit of each cost's range in the direction that can change the decision: the upper one if
/// the variable is at its upper bound in the label, the lower one otherwise. One number per cost
/// is enough, since errors in the other direction are free.
pub(super) fn limits(
    data: &LabeledDataset,
    oracle: &Oracle,
    kind: CostRangeKind,
    loss_name: &str,
    observer: &dyn Observer,
) -> Result<Matrix> {
    let costs = data.data().costs();
    let mut limits = Matrix::zeros(costs.rows(), costs.cols());
    let mut rows: Vec<&mut [f32]> = limits
        .as_mut_slice()
        .chunks_exact_mut(costs.cols())
        .collect();
    observer.begin("cost ranges", costs.rows() as u64);
    let bounds = oracle.problem().choices().bounds();
    let row_bounds = super::row_bounds(data, oracle)?;
    let at_upper = |row: usize, j: usize, value: f64| match row_bounds.get(row).unwrap_or(&bounds) {
        VariableBounds::Binary => value >= 1.0,
        VariableBounds::Box { upper, .. } => value >= upper[j],
    };
    let store_limits = |row: usize, ranges: &CostRanges, slot: &mut &mut [f32]| {
        for (limit, lower) in slot.iter_mut().zip(&ranges.lower) {
            *limit = *lower as f32;
        }
        for (j, value) in data.optimal_decision(row).iter() {
            if at_upper(row, j, value) {
                slot[j] = ranges.upper[j] as f32;
            }
        }
    };
    oracle
        .ranges_all(
            costs,
            kind,
            &mut rows,
            |row| data.has_label(row),
            store_limits,
            observer,
        )
        .map_err(|error| error.for_method(loss_name))?;
    observer.end();
    Ok(limits)
}
