//! numpy's arrays in and out.
//!
//! float32 in C order is read where it is; everything else numpy can turn into it is converted once. What
//! outlives the call that brought it is copied, since the user may change the array afterwards.

#![allow(unsafe_code, reason = "an array is read by threads without the interpreter's lock")]

use std::sync::Arc;

use numpy::{
    AllowTypeChange, IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayLike1, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{Features, Matrix, Names, Shape, Shared, check_finite};

use crate::error::raise;

/// An array that lives as long as it is read.
#[derive(Debug)]
struct Borrowed {
    _array: Py<PyArrayDyn<f32>>,
    first: *const f32,
    len: usize,
}

// SAFETY: the array is kept alive and never written to by us; whoever writes to it from Python while a call
// reads it gets numbers from before or after.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Shared for Borrowed {
    fn numbers(&self) -> &[f32] {
        // SAFETY: the array is in C order, aligned, and alive as long as `_array`.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// Whether numbers may stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// For the time of a call.
    Borrowed,
    /// For longer.
    Copied,
}

/// float32 in C order, the array itself if it is that.
fn single<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    if let Ok(array) = value.cast::<PyArrayDyn<f32>>()
        && array.is_c_contiguous()
        && (array.data() as usize).is_multiple_of(align_of::<f32>())
    {
        return Ok(array.clone());
    }
    let py = value.py();
    let numpy = py.import("numpy")?;
    let options = PyDict::new(py);
    options.set_item("dtype", numpy.getattr("float32")?)?;
    options.set_item("order", "C")?;
    let quiet = PyDict::new(py);
    quiet.set_item("over", "ignore")?;
    let state = numpy.call_method("errstate", (), Some(&quiet))?;
    state.call_method0("__enter__")?;
    let converted = numpy.call_method("array", (value,), Some(&options));
    state.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    let wrong = |error: PyErr| PyValueError::new_err(format!("{what} must be an array of numbers: {error}"));
    converted.map_err(wrong)?.cast_into::<PyArrayDyn<f32>>().map_err(PyErr::from)
}

fn shaped(array: &Bound<'_, PyArrayDyn<f32>>, rows: usize, cols: usize, keep: Keep) -> PyResult<Matrix> {
    let borrowed = Borrowed { _array: array.clone().unbind(), first: array.data(), len: array.len() };
    if borrowed.len == 0 || keep == Keep::Copied {
        let numbers = if borrowed.len == 0 { Vec::new() } else { borrowed.numbers().to_vec() };
        return Matrix::new(rows, cols, numbers).map_err(raise);
    }
    Matrix::shared(rows, cols, Arc::new(borrowed)).map_err(raise)
}

/// A table of numbers, one row per instance.
pub fn matrix(value: &Bound<'_, PyAny>, what: &str, keep: Keep) -> PyResult<Matrix> {
    let array = single(value, what)?;
    match *array.shape() {
        [rows, cols] => shaped(&array, rows, cols, keep),
        _ => Err(dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// The same, every number finite; errors name row and column.
pub fn finite_matrix(value: &Bound<'_, PyAny>, what: &str, keep: Keep) -> PyResult<Matrix> {
    let numbers = matrix(value, what, keep)?;
    let names = column_names(value).map_or_else(|| Names::counted(numbers.cols()), Names::from);
    let found = check_finite(&numbers, |column| names.get(column).into_owned());
    found.map_err(|error| PyValueError::new_err(format!("{what}: {error}")))?;
    Ok(numbers)
}

fn dimensions(what: &str, found: usize, right: &str) -> PyErr {
    PyValueError::new_err(format!("{what} has {found} dimensions and needs {right}"))
}

/// Features: two dimensions are one row per instance, three are one row per instance and cost. Names are
/// those given, else the table's, else `known` where there are as many columns.
pub fn features(value: &Bound<'_, PyAny>, given: Option<Vec<String>>, known: Option<&[String]>) -> PyResult<Features> {
    let array = single(value, "X")?;
    let (matrix, shape) = match *array.shape() {
        [rows, cols] => (shaped(&array, rows, cols, Keep::Borrowed)?, Shape::Wide),
        [rows, items, cols] => (shaped(&array, rows * items, cols, Keep::Borrowed)?, Shape::Long { items }),
        _ => return Err(dimensions("X", array.ndim(), "2 (rows, features) or 3 (rows, costs, features)")),
    };
    let names = given.or_else(|| column_names(value));
    let unnamed = || known.filter(|known| known.len() == matrix.cols()).map(<[String]>::to_vec);
    let names = names.or_else(unnamed);
    Features::new(matrix, shape, names).map_err(|error| match error {
        regretless::Error::Input { .. } => PyValueError::new_err(format!("X: {error}")),
        other => raise(other),
    })
}

/// Column names of a table such as pandas' or polars', if it has names.
pub fn column_names(value: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let columns = value.getattr_opt("columns").ok().flatten()?;
    let names: Option<Vec<String>> = columns.try_iter().ok()?.map(|name| name.ok()?.extract().ok()).collect();
    names
}

/// One vector in double precision.
pub fn vector(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let wrong = |error: PyErr| PyValueError::new_err(format!("{what} must be one row of numbers: {error}"));
    let array = value.extract::<PyArrayLike1<'_, f64, AllowTypeChange>>().map_err(wrong)?;
    Ok(array.as_array().to_vec())
}

/// Row numbers: a list, a range or an array of whole numbers that are not negative.
pub fn row_numbers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<usize>> {
    let wrong = || PyValueError::new_err(format!("{what} must be row numbers: whole numbers from 0 on"));
    let array = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    if array.len()? == 0 {
        return Ok(Vec::new());
    }
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["i", "u"].contains(&kind.as_str()) {
        return Err(wrong());
    }
    let numbers = array.extract::<PyArrayLike1<'_, i64, AllowTypeChange>>().map_err(|_| wrong())?;
    numbers.as_array().iter().map(|number| usize::try_from(*number).map_err(|_| wrong())).collect()
}

/// A rectangle for Python, without a copy.
pub fn rectangle<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    [rows, cols]: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<T>>> {
    values.into_pyarray(py).reshape([rows, cols])
}

/// A row for Python, without a copy.
pub fn row<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
