//! Writing of tables, predictions and decisions as NPY: little-endian single precision in C order.

use std::io::{self, ErrorKind};
use std::path::Path;

use npyz::{WriteOptions, WriterBuilder};

use crate::data::atomic_write::{check_free, write_atomically};
use crate::data::mapped::write_values;
use crate::data::{Dataset, FeatureShape, Matrix};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::observer::Observer;

/// Writes features and costs to two files.
///
/// # Errors
/// When a file exists and `force` is false, or writing fails.
pub fn write(features: &Path, costs: &Path, data: &Dataset, force: bool) -> Result<()> {
    // Fails before the first file is written.
    check_free(costs, force)?;
    let values = data.features().values();
    let shape = match data.features().shape() {
        FeatureShape::Wide => vec![values.rows(), values.cols()],
        FeatureShape::Long { items } => vec![values.rows() / items, items, values.cols()],
    };
    write_array(features, &shape, values.as_slice().iter().copied(), force)?;
    write_predictions(costs, data.costs(), force)
}

/// Writes one row of costs per instance.
///
/// # Errors
/// When the file exists and `force` is false, or writing fails.
pub fn write_predictions(path: &Path, costs: &Matrix, force: bool) -> Result<()> {
    write_array(
        path,
        &[costs.rows(), costs.cols()],
        costs.as_slice().iter().copied(),
        force,
    )
}

/// Writes dense decisions, one row per instance and `num_costs` columns.
///
/// # Errors
/// When a decision has more variables, the file exists and `force` is false, or writing fails.
pub fn write_decisions(
    path: &Path,
    num_costs: usize,
    decisions: &[Decision],
    force: bool,
) -> Result<()> {
    let last = decisions
        .iter()
        .filter_map(|decision| decision.indices().last())
        .max();
    if let Some(last) = last.filter(|last| **last as usize >= num_costs) {
        return Err(Error::data(format!(
            "a decision has variable {last}, but there are {num_costs} columns"
        )));
    }
    let dense = |decision: &Decision| {
        let mut row = vec![0.0; num_costs];
        decision.write_dense(&mut row);
        row.into_iter().map(|value| value as f32)
    };
    write_array(
        path,
        &[decisions.len(), num_costs],
        decisions.iter().flat_map(dense),
        force,
    )
}

/// Writes rows one by one as they are generated, so that the table never is in memory as a whole.
/// `next` fills an empty row.
///
/// # Errors
/// When the file exists and `force` is false, writing fails or the observer interrupts; no file is
/// left then.
pub fn write_rows(
    path: &Path,
    rows: usize,
    cols: usize,
    mut next: impl FnMut(&mut Vec<f32>),
    force: bool,
    observer: &dyn Observer,
) -> Result<()> {
    let written = write_atomically(path, force, |out| {
        let mut row = Vec::with_capacity(cols);
        out.write_all(&header(&[rows, cols])?)?;
        for _ in 0..rows {
            if observer.interrupted() {
                return Err(ErrorKind::Interrupted.into());
            }
            row.clear();
            next(&mut row);
            write_values(out, row.iter().copied())?;
            observer.advance(1);
        }
        Ok(())
    });
    written.map_err(|error| match error {
        Error::Io { .. } if observer.interrupted() => Error::Interrupted,
        Error::Io { path, source }
            if matches!(
                source.kind(),
                ErrorKind::StorageFull | ErrorKind::FileTooLarge
            ) =>
        {
            let bytes = 4 * rows as u64 * cols as u64;
            let message =
                format!("{source}; the file takes {bytes} bytes, and nothing of it was kept");
            Error::Io {
                path,
                source: io::Error::new(source.kind(), message),
            }
        }
        other => other,
    })
}

/// The bytes before the values.
fn header(shape: &[usize]) -> io::Result<Vec<u8>> {
    let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
    let kind = npyz::DType::Plain("<f4".parse().map_err(io::Error::other)?);
    let mut bytes = Vec::new();
    // Only the header: `write_values` is faster, and writes a row at a time.
    let _ = WriteOptions::<f32>::new()
        .dtype(kind)
        .shape(&shape)
        .writer(&mut bytes)
        .begin_nd()?;
    Ok(bytes)
}

fn write_array(
    path: &Path,
    shape: &[usize],
    values: impl Iterator<Item = f32>,
    force: bool,
) -> Result<()> {
    write_atomically(path, force, |out| {
        out.write_all(&header(shape)?)?;
        write_values(out, values)
    })
}
