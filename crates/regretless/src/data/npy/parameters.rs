//! Arrays of row parameters: one number per row, or several. All digits are kept.

use std::path::Path;
use std::sync::Arc;

use npyz::{NpyFile, Order, TypeChar};

use super::header::{self, NpySource};
use super::{Storage, in_c_order, numbers};
use crate::data::SharedArray;
use crate::data::mapped::MappedArray;
use crate::error::{Error, InputPlace, Result};

/// An array with one row of numbers per instance.
#[derive(Debug)]
pub(in crate::data) struct ParameterArray {
    /// Numbers per row.
    pub width: usize,
    pub values: Arc<dyn SharedArray<f64>>,
}

impl ParameterArray {
    /// Reads an array of N or N × k numbers. A large one in double precision, little-endian and
    /// in C order, is memory-mapped.
    ///
    /// # Errors
    /// When the file is no such array, is shorter than its header says, or has a NaN.
    pub fn read(path: &Path, storage: Storage) -> Result<Self> {
        let source = header::open(path)?;
        let width = match source.shape[..] {
            [_] => 1,
            [_, width] if width > 0 => width,
            _ => {
                let message = format!("the array has shape {:?}", source.shape);
                return Err(Error::input(InputPlace::file(path), message).with_remedy(
                    "parameters have one number per row, or 2 dimensions: rows, numbers",
                ));
            }
        };
        let values = values(path, source, storage)?;
        // Infinite numbers are bounds that do not bind.
        if let Some(index) = values.values().iter().position(|value| value.is_nan()) {
            let place = InputPlace::file(path).row((index / width) as u64);
            let place = place.column((index % width).to_string());
            return Err(Error::input(place, "NaN is not a number")
                .with_remedy("fill in a number; rows and columns count from 0"));
        }
        Ok(Self { width, values })
    }
}

fn values(path: &Path, source: NpySource, storage: Storage) -> Result<Arc<dyn SharedArray<f64>>> {
    let count = source.shape.iter().product::<usize>();
    if !source.is_mappable("<f8") || !storage.maps(8 * count as u64) {
        return Ok(Arc::new(in_memory(path, source)?));
    }
    let start = source.start;
    match MappedArray::<f64>::open(source.data.into_inner(), path, start, count)? {
        Some(mapped) => Ok(Arc::new(mapped)),
        None => Ok(Arc::new(in_memory(path, header::open(path)?)?)),
    }
}

fn in_memory(path: &Path, source: NpySource) -> Result<Vec<f64>> {
    let (shape, order) = (source.shape, source.header.order());
    let (kind, size) = (source.kind.type_char(), source.kind.size_field());
    let file = NpyFile::with_header(source.header, source.data);
    let values = match (kind, size) {
        (TypeChar::Float, 4) => numbers(file, |v: f32| f64::from(v)),
        (TypeChar::Float, _) => numbers(file, |v: f64| v),
        (TypeChar::Int, 1) => numbers(file, |v: i8| f64::from(v)),
        (TypeChar::Int, 2) => numbers(file, |v: i16| f64::from(v)),
        (TypeChar::Int, 4) => numbers(file, |v: i32| f64::from(v)),
        (TypeChar::Int, _) => numbers(file, |v: i64| v as f64),
        (_, 1) => numbers(file, |v: u8| f64::from(v)),
        (_, 2) => numbers(file, |v: u16| f64::from(v)),
        (_, 4) => numbers(file, |v: u32| f64::from(v)),
        (..) => numbers(file, |v: u64| v as f64),
    };
    let values = values.map_err(Error::io(path))?;
    if order == Order::Fortran && shape.len() > 1 {
        return Ok(in_c_order(&values, &shape));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::PathBuf;

    use super::{ParameterArray, Storage};

    fn file(folder: &tempfile::TempDir, kind: &str, shape: &str, bytes: &[u8]) -> PathBuf {
        let is_fortran = if shape.ends_with("F") {
            "True"
        } else {
            "False"
        };
        let shape = shape.trim_end_matches('F');
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}");
        let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
        let mut content = b"\x93NUMPY\x01\x00".to_vec();
        content.extend((length as u16).to_le_bytes());
        content.extend(format!("{header:<width$}\n", width = length - 1).bytes());
        content.extend(bytes);
        let path = folder.path().join("p.npy");
        std::fs::write(&path, content).unwrap();
        path
    }

    #[test]
    fn doubles_are_mapped_with_all_digits_and_other_types_are_converted() {
        let folder = tempfile::tempdir().unwrap();
        let exact = [0.1, f64::INFINITY, 1e-300, 16_777_217.0];
        let bytes: Vec<u8> = exact.iter().flat_map(|value| value.to_le_bytes()).collect();
        let path = file(&folder, "<f8", "(2, 2)", &bytes);
        let mapped = ParameterArray::read(&path, Storage::File).unwrap();
        let read = ParameterArray::read(&path, Storage::BySize).unwrap();
        assert_eq!((mapped.width, read.width), (2, 2));
        assert_eq!(
            (mapped.values.values(), read.values.values()),
            (&exact[..], &exact[..])
        );
        assert!(
            format!("{:?}", mapped.values).contains("map"),
            "it is not copied"
        );
        mapped.values.check_unchanged().unwrap();
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(b"more").unwrap();
        assert!(
            mapped.values.check_unchanged().is_err(),
            "a change of the file is seen"
        );
        assert!(
            read.values.check_unchanged().is_ok(),
            "numbers in memory do not change"
        );

        let transposed = file(&folder, "<f8", "(2, 2)F", &bytes);
        let array = ParameterArray::read(&transposed, Storage::File).unwrap();
        assert_eq!(
            array.values.values(),
            [0.1, 1e-300, f64::INFINITY, 16_777_217.0]
        );
        let single = file(&folder, "<f4", "(1,)", &0.1_f32.to_le_bytes());
        let array = ParameterArray::read(&single, Storage::File).unwrap();
        assert_eq!(
            (array.width, array.values.values()),
            (1, &[f64::from(0.1_f32)][..])
        );
        let whole = file(
            &folder,
            "<i8",
            "(1,)",
            &9_007_199_254_740_991_i64.to_le_bytes(),
        );
        let array = ParameterArray::read(&whole, Storage::File).unwrap();
        assert_eq!(array.values.values(), [9_007_199_254_740_991.0]);
    }
}
