//! Reading and writing of tables in NPY files: features in one file, costs in another.
//!
//! Features are n × k (wide) or n × d × k (long), costs n × d. Numbers may be single or double
//! precision or integers, in either byte order and in C or Fortran order; they are rounded once, to
//! single precision. Rows and columns in messages count from 0, as numpy does.
//!
//! Large costs that are single precision, little-endian and in C order are memory-mapped
//! ([`Storage`]), so a table may be larger than memory. They are checked for finiteness in one pass
//! like all others.

use std::path::Path;

use npyz::{NpyFile, Order, TypeChar};

use super::mapped::MappedArray;
use super::{Dataset, FeatureShape, Features, Matrix, first_not_finite};
use crate::error::{Error, InputPlace, Result};

mod header;
mod parameters;
mod write;

use header::NpySource;

pub(super) use parameters::ParameterArray;
pub use write::{write, write_predictions};
pub(crate) use write::{write_f64_rows, write_rows};

/// Where the values of a file are stored while they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Storage {
    /// In memory, or memory-mapped from [`Storage::MAP_THRESHOLD_BYTES`] bytes on.
    #[default]
    BySize,
    /// In memory.
    Memory,
    /// Memory-mapped, if the file is in native format: single precision, little-endian, in C order.
    #[cfg(test)]
    File,
}

impl Storage {
    /// Size from which files are memory-mapped. Smaller files are read: no other program can change
    /// the values then. Untuned: trades memory against that safety.
    pub const MAP_THRESHOLD_BYTES: u64 = 64 << 20;

    fn maps(self, bytes: u64) -> bool {
        match self {
            Self::BySize => bytes >= Self::MAP_THRESHOLD_BYTES,
            Self::Memory => false,
            #[cfg(test)]
            Self::File => true,
        }
    }
}

/// Reads features and costs.
///
/// # Errors
/// When a file is not a plain array of finite numbers, is shorter than its header says, or the
/// shapes do not match.
pub fn read(features: &Path, costs: &Path) -> Result<Dataset> {
    read_as(features, costs, Storage::BySize)
}

/// The same with a choice of where costs are stored.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_as(features: &Path, costs: &Path, storage: Storage) -> Result<Dataset> {
    let table = read_features(features, None)?;
    let array = NpyArray::open(costs, storage)?;
    let [instances, items] = array.shape[..] else {
        return Err(array.error(costs, "costs must have 2 dimensions: instances, costs"));
    };
    let matches = match table.shape() {
        FeatureShape::Wide => table.instances() == instances,
        FeatureShape::Long { items: rows } => (table.instances(), rows) == (instances, items),
    };
    if !matches {
        let other = format!(
            "{} has features of {} instances",
            features.display(),
            table.instances()
        );
        let rows = match table.shape() {
            FeatureShape::Wide => String::new(),
            FeatureShape::Long { items } => format!(" with {items} items each"),
        };
        return Err(array.error(
            costs,
            &format!("{other}{rows}; both files must have the same instances"),
        ));
    }
    Dataset::from_finite_parts(table, array.matrix(instances, items)?, None)
}

/// Reads costs alone; the table has one feature, which is always 0.
///
/// # Errors
/// When the file is not a plain array of finite numbers with 2 dimensions, or is shorter than its
/// header says.
pub fn read_costs(path: &Path, storage: Storage) -> Result<Dataset> {
    let array = NpyArray::open(path, storage)?;
    let [instances, items] = array.shape[..] else {
        return Err(array.error(path, "costs must have 2 dimensions: instances, costs"));
    };
    let placeholder = Features::new(Matrix::zeros(instances, 1), FeatureShape::Wide, None)?;
    Dataset::from_finite_parts(placeholder, array.matrix(instances, items)?, None)
}

/// A hint for users whose large file had to be read into memory, with the remedy.
pub fn storage_hint(path: &Path, costs: &Matrix) -> Option<String> {
    let source = header::open(path).ok()?;
    let large = size_of_val(costs.as_slice()) as u64 >= Storage::MAP_THRESHOLD_BYTES;
    (large && !source.is_native()).then(|| {
        format!(
            "{}: converted and held in memory ({}); saved as float32 in C order it stays on disk: \
             np.save('costs.npy', np.ascontiguousarray(costs, dtype='<f4'))",
            path.display(),
            source.describe()
        )
    })
}

/// Reads features; with `names`, those of a model, there must be as many columns.
///
/// # Errors
/// When the file is not a plain array of finite numbers, is shorter than its header says, or has
/// another number of columns.
pub fn read_features(path: &Path, names: Option<&[String]>) -> Result<Features> {
    let array = NpyArray::open(path, Storage::Memory)?;
    let (rows, cols, shape) = match array.shape[..] {
        [instances, cols] => (instances, cols, FeatureShape::Wide),
        [instances, items, cols] => (instances * items, cols, FeatureShape::Long { items }),
        _ => {
            return Err(array.error(
                path,
                "features must have 2 dimensions, or 3 for a long table",
            ));
        }
    };
    if let Some(names) = names.filter(|names| names.len() != cols) {
        return Err(array.error(
            path,
            &format!("{} columns of features are needed", names.len()),
        ));
    }
    Features::new(
        array.matrix(rows, cols)?,
        shape,
        names.map(<[String]>::to_vec),
    )
}

/// The values of a file in C order.
struct NpyArray {
    shape: Vec<usize>,
    values: NpyValues,
}

/// Where they are stored.
enum NpyValues {
    Memory(Vec<f32>),
    File(MappedArray),
}

impl NpyArray {
    fn open(path: &Path, storage: Storage) -> Result<Self> {
        let source = header::open(path)?;
        let count = source.shape.iter().product::<usize>();
        // Only bytes that are the numbers of a matrix as they are can be mapped; others are
        // converted in memory.
        if source.is_native() && storage.maps(4 * count as u64) {
            let (shape, start) = (source.shape.clone(), source.start);
            if let Some(values) = MappedArray::open(source.data.into_inner(), path, start, count)? {
                return Self {
                    shape,
                    values: NpyValues::File(values),
                }
                .check_finite(path);
            }
            return Self::read(path, header::open(path)?)?.check_finite(path);
        }
        Self::read(path, source)?.check_finite(path)
    }

    fn read(path: &Path, source: NpySource) -> Result<Self> {
        let (shape, order) = (source.shape, source.header.order());
        let (kind, size) = (source.kind.type_char(), source.kind.size_field());
        let file = NpyFile::with_header(source.header, source.data);
        let values = match (kind, size) {
            (TypeChar::Float, 4) => numbers(file, |v: f32| v),
            (TypeChar::Float, _) => numbers(file, |v: f64| v as f32),
            (TypeChar::Int, 1) => numbers(file, |v: i8| f32::from(v)),
            (TypeChar::Int, 2) => numbers(file, |v: i16| f32::from(v)),
            (TypeChar::Int, 4) => numbers(file, |v: i32| v as f32),
            (TypeChar::Int, _) => numbers(file, |v: i64| v as f32),
            (_, 1) => numbers(file, |v: u8| f32::from(v)),
            (_, 2) => numbers(file, |v: u16| f32::from(v)),
            (_, 4) => numbers(file, |v: u32| v as f32),
            (..) => numbers(file, |v: u64| v as f32),
        };
        let values = values.map_err(Error::io(path))?;
        let values = if order == Order::Fortran {
            in_c_order(&values, &shape)
        } else {
            values
        };
        Ok(Self {
            shape,
            values: NpyValues::Memory(values),
        })
    }

    fn values(&self) -> &[f32] {
        match &self.values {
            NpyValues::Memory(values) => values,
            NpyValues::File(values) => values.as_slice(),
        }
    }

    fn matrix(self, rows: usize, cols: usize) -> Result<Matrix> {
        match self.values {
            NpyValues::Memory(values) => Matrix::new(rows, cols, values),
            NpyValues::File(values) => Matrix::mapped(rows, cols, values),
        }
    }

    fn check_finite(self, path: &Path) -> Result<Self> {
        match first_not_finite(self.values()) {
            None => Ok(self),
            Some(index) => Err(self.not_finite(path, index)),
        }
    }

    fn error(&self, path: &Path, message: &str) -> Error {
        Error::input(
            InputPlace::file(path),
            format!("the array has shape {:?}", self.shape),
        )
        .with_remedy(message)
    }

    fn not_finite(&self, path: &Path, index: usize) -> Error {
        let width = self.shape.last().copied().unwrap_or(1);
        let height = if self.shape.len() == 3 {
            self.shape[1]
        } else {
            1
        };
        let (row, column) = (index / width / height, index % width);
        let item = if self.shape.len() == 3 {
            format!(", item {}", index / width % height)
        } else {
            String::new()
        };
        let place = InputPlace::file(path)
            .row(row as u64)
            .column(column.to_string());
        let message = "is not a finite number of single precision (at most 3.4e38)";
        Error::input(place, format!("{}{item} {message}", self.values()[index]))
            .with_remedy("rows and columns count from 0")
    }
}

fn numbers<T: npyz::Deserialize, N>(
    file: NpyFile<impl std::io::Read>,
    convert: fn(T) -> N,
) -> std::io::Result<Vec<N>> {
    let mut values = Vec::new();
    let out_of_memory = |_| {
        let message = "the numbers do not fit in memory; costs saved as float32 in C order stay on \
            disk: np.save('costs.npy', np.ascontiguousarray(costs, dtype='<f4'))";
        std::io::Error::new(std::io::ErrorKind::OutOfMemory, message)
    };
    values
        // A header may claim any size: an allocation that fails is an error, not the end of the
        // program.
        .try_reserve_exact(file.header().len() as usize)
        .map_err(out_of_memory)?;
    for value in file.data::<T>().map_err(std::io::Error::other)? {
        values.push(convert(value?));
    }
    Ok(values)
}

/// Converts values from Fortran order to C order.
fn in_c_order<N: Copy>(values: &[N], shape: &[usize]) -> Vec<N> {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut next = || {
        let offset: usize = index
            .iter()
            .zip(&strides)
            .map(|(i, stride)| i * stride)
            .sum();
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
        values[offset]
    };
    (0..values.len()).map(|_| next()).collect()
}
