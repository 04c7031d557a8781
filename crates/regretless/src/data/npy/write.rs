//! Writing of tables and predictions as NPY, little-endian single precision in C order, and of
//! decisions in double precision.

use std::io::{self, ErrorKind};
use std::path::Path;

use npyz::{WriteOptions, WriterBuilder};

use crate::data::atomic_write::{check_free, write_atomically};
use crate::data::mapped::write_values;
use crate::data::{Dataset, FeatureShape, Matrix};
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

/// Writes rows of numbers in double precision.
///
/// # Errors
/// When writing fails.
pub fn write_f64_rows(
    out: &mut dyn io::Write,
    rows: usize,
    cols: usize,
    mut row: impl FnMut(usize, &mut [f64]),
) -> io::Result<()> {
    out.write_all(&header::<f64>("<f8", &[rows, cols])?)?;
    let mut values = vec![0.0; cols];
    for number in 0..rows {
        row(number, &mut values);
        for value in &values {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Writes rows one by one as they are generated, so the table never is in memory as a whole. `next`
/// fills an empty row.
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
        out.write_all(&header::<f32>("<f4", &[rows, cols])?)?;
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
fn header<T: npyz::Serialize>(dtype: &str, shape: &[usize]) -> io::Result<Vec<u8>> {
    let shape: Vec<u64> = shape.iter().map(|length| *length as u64).collect();
    let kind = npyz::DType::Plain(dtype.parse().map_err(io::Error::other)?);
    let mut bytes = Vec::new();
    // Only the header: `write_values` is faster, and writes a row at a time.
    let _ = WriteOptions::<T>::new()
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
        out.write_all(&header::<f32>("<f4", shape)?)?;
        write_values(out, values)
    })
}
