//! numpy's arrays in and out.
//!
//! float32 in C order is read where it is; everything else numpy can turn into it is converted
//! once. Numbers of more digits stay beside the rounded ones where something is solved or judged
//! ([`finite_matrix`]). What outlives the call that brought it is copied, since the user may change
//! the array afterwards. What is no number, such as dates and masked entries, is refused
//! (`regretless._numbers`).

#![allow(
    unsafe_code,
    reason = "an array is read by threads without the interpreter's lock"
)]

use std::sync::Arc;

use numpy::{
    AllowTypeChange, Element, IntoPyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayDyn,
    PyArrayLike1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{CostNames, FeatureShape, Features, Matrix, SharedArray, check_finite};

use crate::error::to_py_err;
use crate::names::column_names;

/// An array that lives as long as it is read.
#[derive(Debug)]
struct BorrowedArray<T> {
    _array: Py<PyArrayDyn<T>>,
    first: *const T,
    len: usize,
}

// SAFETY: the array is kept alive and never written to by us; whoever writes to it from Python
// while a call reads it gets numbers from before or after.
unsafe impl<T> Send for BorrowedArray<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for BorrowedArray<T> {}

impl<T: Element> BorrowedArray<T> {
    /// An array in C order.
    fn new(array: &Bound<'_, PyArrayDyn<T>>) -> Self {
        Self {
            _array: array.clone().unbind(),
            first: array.data(),
            len: array.len(),
        }
    }

    fn slice(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the array is in C order, aligned, and alive as long as `_array`.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T: Element + std::fmt::Debug> SharedArray<T> for BorrowedArray<T> {
    fn values(&self) -> &[T] {
        self.slice()
    }
}

/// Whether numbers may stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayOwnership {
    /// For the time of a call.
    Borrow,
    /// For longer.
    Copy,
}

/// The array behind a value, of bool, whole or floating numbers.
fn as_numeric_array<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    // Arrays of another type may hide something, such as a mask.
    if value.is_exact_instance_of::<PyUntypedArray>()
        && let Ok(array) = value.cast::<PyUntypedArray>()
        && matches!(array.dtype().kind(), b'b' | b'i' | b'u' | b'f')
    {
        return Ok(array.clone());
    }
    let checked = value
        .py()
        .import("regretless._numbers")?
        .call_method1("numbers", (value, what))?;
    checked.cast_into::<PyUntypedArray>().map_err(PyErr::from)
}

/// Numbers of one type in C order, the array itself if it is that.
fn as_c_contiguous<'py, T: Element>(
    array: &Bound<'py, PyUntypedArray>,
    kind: &str,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    if let Ok(array) = array.cast::<PyArrayDyn<T>>()
        && array.is_c_contiguous()
        && (array.data() as usize).is_multiple_of(align_of::<T>())
    {
        return Ok(array.clone());
    }
    let py = array.py();
    let numpy = py.import("numpy")?;
    let options = PyDict::new(py);
    options.set_item("dtype", numpy.getattr(kind)?)?;
    options.set_item("order", "C")?;
    let quiet = PyDict::new(py);
    quiet.set_item("over", "ignore")?;
    let state = numpy.call_method("errstate", (), Some(&quiet))?;
    state.call_method0("__enter__")?;
    let converted = numpy.call_method("array", (array,), Some(&options));
    state.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    converted?.cast_into::<PyArrayDyn<T>>().map_err(PyErr::from)
}

/// float32 in C order.
fn single<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    as_c_contiguous(&as_numeric_array(value, what)?, "float32")
}

/// Rows of numbers as they are: in single precision, or in double precision where that holds more
/// digits.
pub enum ArrayRows<'py> {
    /// float32 in C order.
    Single(PyReadonlyArrayDyn<'py, f32>),
    /// float64 in C order.
    Double(PyReadonlyArrayDyn<'py, f64>),
}

/// Rows of numbers and how many rows and columns there are.
pub fn rows_of<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<(ArrayRows<'py>, [usize; 2])> {
    let array = as_numeric_array(value, what)?;
    let [rows, cols] = *array.shape() else {
        return Err(dimensions(what, array.ndim(), "2: rows, columns"));
    };
    let numbers = if fits_single(&array) {
        ArrayRows::Single(as_c_contiguous(&array, "float32")?.readonly())
    } else {
        ArrayRows::Double(as_c_contiguous(&array, "float64")?.readonly())
    };
    Ok((numbers, [rows, cols]))
}

/// Whether float32 holds every number of an array's type.
fn fits_single(array: &Bound<'_, PyUntypedArray>) -> bool {
    let dtype = array.dtype();
    match dtype.kind() {
        b'f' => dtype.itemsize() <= 4,
        _ => dtype.itemsize() <= 2,
    }
}

fn shaped(
    array: &Bound<'_, PyArrayDyn<f32>>,
    rows: usize,
    cols: usize,
    keep: ArrayOwnership,
) -> PyResult<Matrix> {
    let borrowed = BorrowedArray::new(array);
    if borrowed.len == 0 || keep == ArrayOwnership::Copy {
        return Matrix::new(rows, cols, borrowed.slice().to_vec()).map_err(to_py_err);
    }
    Matrix::shared(rows, cols, Arc::new(borrowed)).map_err(to_py_err)
}

/// Numbers of more digits than float32 has, and beside them the rounded ones.
fn with_f64_values(
    array: &Bound<'_, PyArrayDyn<f64>>,
    rows: usize,
    cols: usize,
    keep: ArrayOwnership,
) -> PyResult<Matrix> {
    let borrowed = BorrowedArray::new(array);
    let rounded = Matrix::from_f64(rows, cols, borrowed.slice()).map_err(to_py_err)?;
    let doubles: Arc<dyn SharedArray<f64>> = match keep {
        ArrayOwnership::Borrow => Arc::new(borrowed),
        ArrayOwnership::Copy => Arc::new(borrowed.slice().to_vec()),
    };
    rounded.with_f64_values(doubles).map_err(to_py_err)
}

/// A table of numbers in single precision, one row per instance.
pub fn matrix(value: &Bound<'_, PyAny>, what: &str, keep: ArrayOwnership) -> PyResult<Matrix> {
    let array = single(value, what)?;
    match *array.shape() {
        [rows, cols] => shaped(&array, rows, cols, keep),
        _ => Err(dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// A table of numbers, every one finite, those of double precision with all their digits; errors
/// name row and column.
pub fn finite_matrix(
    value: &Bound<'_, PyAny>,
    what: &str,
    keep: ArrayOwnership,
) -> PyResult<Matrix> {
    let array = as_numeric_array(value, what)?;
    let numbers = match *array.shape() {
        [rows, cols] if fits_single(&array) => {
            shaped(&as_c_contiguous(&array, "float32")?, rows, cols, keep)?
        }
        [rows, cols] => with_f64_values(&as_c_contiguous(&array, "float64")?, rows, cols, keep)?,
        _ => return Err(dimensions(what, array.ndim(), "2: rows, columns")),
    };
    let names =
        column_names(value)?.map_or_else(|| CostNames::numbered(numbers.cols()), CostNames::from);
    let found = check_finite(&numbers, |column| names.get(column).into_owned());
    found.map_err(|error| PyValueError::new_err(format!("{what}: {error}")))?;
    Ok(numbers)
}

fn dimensions(what: &str, found: usize, right: &str) -> PyErr {
    PyValueError::new_err(format!("{what} has {found} dimensions and needs {right}"))
}

/// Features: two dimensions are one row per instance, three are one row per instance and cost.
/// Names are those given, else the table's, else `known` where there are as many columns.
pub fn features(
    value: &Bound<'_, PyAny>,
    given: Option<Vec<String>>,
    known: Option<&[String]>,
) -> PyResult<Features> {
    let array = single(value, "X")?;
    let (matrix, shape) = match *array.shape() {
        [rows, cols] => (
            shaped(&array, rows, cols, ArrayOwnership::Borrow)?,
            FeatureShape::Wide,
        ),
        [rows, items, cols] => (
            shaped(&array, rows * items, cols, ArrayOwnership::Borrow)?,
            FeatureShape::Long { items },
        ),
        _ => {
            return Err(dimensions(
                "X",
                array.ndim(),
                "2 (rows, features) or 3 (rows, costs, features)",
            ));
        }
    };
    let names = given.map_or_else(|| column_names(value), |given| Ok(Some(given)))?;
    let unnamed = || {
        known
            .filter(|known| known.len() == matrix.cols())
            .map(<[String]>::to_vec)
    };
    let names = names.or_else(unnamed);
    Features::new(matrix, shape, names).map_err(|error| match error {
        regretless::Error::Input { .. } => PyValueError::new_err(format!("X: {error}")),
        other => to_py_err(other),
    })
}

/// One vector in double precision.
pub fn vector(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let array = as_numeric_array(value, what)?;
    match array.ndim() {
        1 => Ok(
            BorrowedArray::new(&as_c_contiguous::<f64>(&array, "float64")?)
                .slice()
                .to_vec(),
        ),
        found => Err(dimensions(what, found, "1: one row of numbers")),
    }
}

/// Rows of numbers in double precision, one after the other, and how many rows and columns there
/// are.
pub fn double_rows(value: &Bound<'_, PyAny>, what: &str) -> PyResult<(Vec<f64>, [usize; 2])> {
    let array = as_numeric_array(value, what)?;
    match *array.shape() {
        [rows, cols] => {
            let numbers = BorrowedArray::new(&as_c_contiguous::<f64>(&array, "float64")?)
                .slice()
                .to_vec();
            Ok((numbers, [rows, cols]))
        }
        _ => Err(dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// Row numbers: a list, a range or an array of whole numbers that are not negative.
pub fn row_numbers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<usize>> {
    let wrong = || {
        PyValueError::new_err(format!(
            "{what} must be row numbers: whole numbers from 0 on"
        ))
    };
    let array = as_numeric_array(value, what).map_err(|_| wrong())?;
    if array.len() == 0 {
        return Ok(Vec::new());
    }
    if !matches!(array.dtype().kind(), b'i' | b'u') {
        return Err(wrong());
    }
    let numbers = array
        .extract::<PyArrayLike1<'_, i64, AllowTypeChange>>()
        .map_err(|_| wrong())?;
    numbers
        .as_array()
        .iter()
        .map(|number| usize::try_from(*number).map_err(|_| wrong()))
        .collect()
}

/// A rectangle for Python, without a copy.
pub fn rectangle<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    [rows, cols]: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<T>>> {
    values.into_pyarray(py).reshape([rows, cols])
}

/// A row for Python, without a copy.
pub fn row<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
