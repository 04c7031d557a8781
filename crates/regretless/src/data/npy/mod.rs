//! Tables in NPY files, in and out: features in one file, costs in another.
//!
//! Features are n × k (wide) or n × d × k (long), costs n × d. Numbers may be single or double
//! precision or integers, in either byte order and in C or Fortran order; they are rounded once, to
//! single precision. Rows and columns in messages count from 0, as numpy does.

use std::path::Path;

use npyz::{NpyFile, Order, TypeChar};

use super::{Dataset, Features, Matrix, Shape};
use crate::error::{Error, Place, Result};

mod header;
mod write;

pub use write::{write, write_decisions, write_predictions};

/// Reads features and costs.
///
/// # Errors
/// When a file is no plain array of finite numbers, is shorter than it claims, or the shapes of the
/// two do not belong together.
pub fn read(features: &Path, costs: &Path) -> Result<Dataset> {
    let found = read_features(features, None)?;
    let array = Array::read(costs)?;
    let [instances, items] = array.shape[..] else {
        return Err(array.wrong(costs, "costs must have 2 dimensions: instances, costs"));
    };
    let fits = match found.shape() {
        Shape::Wide => found.instances() == instances,
        Shape::Long { items: rows } => (found.instances(), rows) == (instances, items),
    };
    if !fits {
        let other = format!("{} holds features of {} instances", features.display(), found.instances());
        let rows = match found.shape() {
            Shape::Wide => String::new(),
            Shape::Long { items } => format!(" with {items} items each"),
        };
        return Err(array.wrong(costs, &format!("{other}{rows}; both files must describe the same")));
    }
    Dataset::new(found, Matrix::new(instances, items, array.values)?, None)
}

/// Reads features; with `names`, those of a model, there must be as many columns.
///
/// # Errors
/// When the file is no plain array of finite numbers, is shorter than it claims, or has another
/// number of columns.
pub fn read_features(path: &Path, names: Option<&[String]>) -> Result<Features> {
    let array = Array::read(path)?;
    let (rows, cols, shape) = match array.shape[..] {
        [instances, cols] => (instances, cols, Shape::Wide),
        [instances, items, cols] => (instances * items, cols, Shape::Long { items }),
        _ => return Err(array.wrong(path, "features must have 2 dimensions, or 3 for a long table")),
    };
    if let Some(names) = names.filter(|names| names.len() != cols) {
        return Err(array.wrong(path, &format!("{} columns of features are needed", names.len())));
    }
    Features::new(Matrix::new(rows, cols, array.values)?, shape, names.map(<[String]>::to_vec))
}

/// The numbers of a file in C order.
struct Array {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Array {
    fn read(path: &Path) -> Result<Self> {
        let claim = header::open(path)?;
        let (shape, order) = (claim.shape, claim.header.order());
        let (kind, size) = (claim.kind.type_char(), claim.kind.size_field());
        let file = NpyFile::with_header(claim.header, claim.data);
        let single = |v: f64| v as f32;
        let values = match (kind, size) {
            (TypeChar::Float, 4) => numbers(file, |v: f32| v),
            (TypeChar::Float, _) => numbers(file, single),
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
        let values = if order == Order::Fortran { in_c_order(&values, &shape) } else { values };
        let array = Self { shape, values };
        match array.values.iter().position(|value| !value.is_finite()) {
            None => Ok(array),
            Some(at) => Err(array.not_finite(path, at)),
        }
    }

    fn wrong(&self, path: &Path, message: &str) -> Error {
        Error::input(Place::file(path), format!("the array has shape {:?}; {message}", self.shape))
    }

    fn not_finite(&self, path: &Path, at: usize) -> Error {
        let width = self.shape.last().copied().unwrap_or(1);
        let height = if self.shape.len() == 3 { self.shape[1] } else { 1 };
        let (row, column) = (at / width / height, at % width);
        let item = if self.shape.len() == 3 { format!(", item {}", at / width % height) } else { String::new() };
        let place = Place::file(path).row(row as u64).column(column.to_string());
        let message = "is not a finite number of single precision (at most 3.4e38); rows and columns count from 0";
        Error::input(place, format!("{}{item} {message}", self.values[at]))
    }
}

fn numbers<T: npyz::Deserialize>(file: NpyFile<impl std::io::Read>, single: fn(T) -> f32) -> std::io::Result<Vec<f32>> {
    let mut values = Vec::with_capacity(file.header().len() as usize);
    for value in file.data::<T>().map_err(std::io::Error::other)? {
        values.push(single(value?));
    }
    Ok(values)
}

/// Puts numbers whose first index runs fastest in the order in which the last one does.
fn in_c_order(values: &[f32], shape: &[usize]) -> Vec<f32> {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut next = || {
        let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
        values[at]
    };
    (0..values.len()).map(|_| next()).collect()
}
