//! Tables, predictions and decisions as NPY, little-endian single precision in C order.

use std::path::Path;

use npyz::{WriteOptions, WriterBuilder};

use crate::data::output::{check_free, write_atomically};
use crate::data::{Dataset, Matrix, Shape};
use crate::decision::Decision;
use crate::error::{Error, Result};

/// Writes features and costs, each to a file of its own.
///
/// # Errors
/// When a path is taken and `force` is false, or writing fails.
pub fn write(features: &Path, costs: &Path, data: &Dataset, force: bool) -> Result<()> {
    // Nothing is written when the second file could not be.
    check_free(costs, force)?;
    let values = data.features().values();
    let shape = match data.features().shape() {
        Shape::Wide => vec![values.rows(), values.cols()],
        Shape::Long { items } => vec![values.rows() / items, items, values.cols()],
    };
    write_array(features, &shape, values.as_slice().iter().copied(), force)?;
    write_predictions(costs, data.costs(), force)
}

/// Writes one row of costs per instance.
///
/// # Errors
/// When the path is taken and `force` is false, or writing fails.
pub fn write_predictions(path: &Path, costs: &Matrix, force: bool) -> Result<()> {
    write_array(path, &[costs.rows(), costs.cols()], costs.as_slice().iter().copied(), force)
}

/// Writes decisions with all their zeros, one row per instance and `num_costs` columns.
///
/// # Errors
/// When a decision has more variables, the path is taken and `force` is false, or writing fails.
pub fn write_decisions(path: &Path, num_costs: usize, decisions: &[Decision], force: bool) -> Result<()> {
    let last = decisions.iter().filter_map(|decision| decision.indices().last()).max();
    if let Some(last) = last.filter(|last| **last as usize >= num_costs) {
        return Err(Error::data(format!("a decision has variable {last}, but there are {num_costs} columns")));
    }
    let dense = |decision: &Decision| {
        let mut row = vec![0.0; num_costs];
        decision.write_dense(&mut row);
        row.into_iter().map(|value| value as f32)
    };
    write_array(path, &[decisions.len(), num_costs], decisions.iter().flat_map(dense), force)
}

fn write_array(path: &Path, shape: &[usize], values: impl Iterator<Item = f32>, force: bool) -> Result<()> {
    let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
    let kind = npyz::DType::Plain("<f4".parse().map_err(|error| Error::data(format!("{error}")))?);
    write_atomically(path, force, |out| {
        let mut writer = WriteOptions::<f32>::new().dtype(kind).shape(&shape).writer(out).begin_nd()?;
        writer.extend(values)?;
        writer.finish()
    })
}
