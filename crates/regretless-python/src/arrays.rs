//! numpy arrays as input and output.
//!
//! float32 in C order is read in place; anything else that numpy can convert is converted once.
//! Double precision is kept next to the rounded values if something is solved or evaluated
//! ([`finite_matrix`]). Arrays that are needed after the call are copied, since the user may change
//! them. Other tables than arrays become arrays before (`regretless.tables`).

#![allow(
    unsafe_code,
    reason = "arrays are read by threads without the interpreter lock"
)]

use std::sync::Arc;

use numpy::{
    AllowTypeChange, Element, IntoPyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayDyn,
    PyArrayLike1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::data::{CostNames, FeatureShape, Features, Matrix, SharedArray};

use crate::error::to_py_err;
use crate::names::column_names;

/// An array that is kept alive while it is read in place.
#[derive(Debug)]
struct BorrowedArray<T> {
    _array: Py<PyArrayDyn<T>>,
    first: *const T,
    len: usize,
}

// SAFETY: the array is kept alive and never written to here; if Python code writes to it while a
// call reads it, the call reads old or new numbers.
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

/// Whether an array is read in place or copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayOwnership {
    /// Read in place, for the duration of a call.
    Borrow,
    /// Copied, for values that outlive the call.
    Copy,
}

/// An array whose columns have names, or, if it is one row, whose entries have.
///
/// The tables of users become numpy arrays or these (`regretless.tables`); functions here read
/// nothing else.
#[pyclass(frozen, module = "regretless._core", name = "_NamedArray")]
pub struct NamedArray {
    values: Py<PyUntypedArray>,
    /// One name per column.
    pub names: Vec<String>,
}

#[pymethods]
impl NamedArray {
    #[new]
    fn new(values: Py<PyUntypedArray>, names: Vec<String>) -> Self {
        Self { values, names }
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.values.bind(py).shape().first().copied().unwrap_or(0)
    }
}

/// The array of an argument, with entries of type bool, integer or float.
fn numeric_array<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = match value.cast::<NamedArray>() {
        Ok(named) => named.get().values.bind(value.py()).clone(),
        Err(_) => value.cast::<PyUntypedArray>()?.clone(),
    };
    if matches!(array.dtype().kind(), b'b' | b'i' | b'u' | b'f') {
        return Ok(array);
    }
    Err(PyValueError::new_err(format!(
        "{what} must be an array of numbers"
    )))
}

/// An array of one type in C order; the array itself if it is that already.
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
    let no_overflow_warnings = PyDict::new(py);
    no_overflow_warnings.set_item("over", "ignore")?;
    let state = numpy.call_method("errstate", (), Some(&no_overflow_warnings))?;
    state.call_method0("__enter__")?;
    let converted = numpy.call_method("array", (array,), Some(&options));
    state.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    converted?.cast_into::<PyArrayDyn<T>>().map_err(PyErr::from)
}

/// An array of float32 in C order.
fn as_f32_array<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    as_c_contiguous(&numeric_array(value, what)?, "float32")
}

/// Rows in the precision they were given in.
pub enum ArrayRows<'py> {
    /// float32 in C order.
    Single(PyReadonlyArrayDyn<'py, f32>),
    /// float64 in C order.
    Double(PyReadonlyArrayDyn<'py, f64>),
}

/// Rows of a table, and the numbers of rows and columns.
pub fn rows_of<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<(ArrayRows<'py>, [usize; 2])> {
    let array = numeric_array(value, what)?;
    let [rows, cols] = *array.shape() else {
        return Err(wrong_dimensions(what, array.ndim(), "2: rows, columns"));
    };
    let numbers = if fits_f32(&array) {
        ArrayRows::Single(as_c_contiguous(&array, "float32")?.readonly())
    } else {
        ArrayRows::Double(as_c_contiguous(&array, "float64")?.readonly())
    };
    Ok((numbers, [rows, cols]))
}

/// Whether float32 represents every number of an array's type exactly.
fn fits_f32(array: &Bound<'_, PyUntypedArray>) -> bool {
    let dtype = array.dtype();
    match dtype.kind() {
        b'f' => dtype.itemsize() <= 4,
        _ => dtype.itemsize() <= 2,
    }
}

fn to_matrix(
    array: &Bound<'_, PyArrayDyn<f32>>,
    rows: usize,
    cols: usize,
    ownership: ArrayOwnership,
) -> PyResult<Matrix> {
    let borrowed = BorrowedArray::new(array);
    if borrowed.len == 0 || ownership == ArrayOwnership::Copy {
        return Matrix::new(rows, cols, borrowed.slice().to_vec()).map_err(to_py_err);
    }
    Matrix::shared(rows, cols, Arc::new(borrowed)).map_err(to_py_err)
}

/// A matrix of values rounded to float32 together with the float64 values.
fn with_f64_values(
    array: &Bound<'_, PyArrayDyn<f64>>,
    rows: usize,
    cols: usize,
    ownership: ArrayOwnership,
) -> PyResult<Matrix> {
    let borrowed = BorrowedArray::new(array);
    let rounded = Matrix::from_f64(rows, cols, borrowed.slice()).map_err(to_py_err)?;
    let doubles: Arc<dyn SharedArray<f64>> = match ownership {
        ArrayOwnership::Borrow => Arc::new(borrowed),
        ArrayOwnership::Copy => Arc::new(borrowed.slice().to_vec()),
    };
    rounded.with_f64_values(doubles).map_err(to_py_err)
}

/// A matrix in single precision, one row per instance.
pub fn matrix(value: &Bound<'_, PyAny>, what: &str, ownership: ArrayOwnership) -> PyResult<Matrix> {
    let array = as_f32_array(value, what)?;
    match *array.shape() {
        [rows, cols] => to_matrix(&array, rows, cols, ownership),
        _ => Err(wrong_dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// A matrix that keeps double precision; numbers may be missing (NaN).
pub fn exact_matrix(
    value: &Bound<'_, PyAny>,
    what: &str,
    ownership: ArrayOwnership,
) -> PyResult<Matrix> {
    let array = numeric_array(value, what)?;
    match *array.shape() {
        [rows, cols] if fits_f32(&array) => {
            to_matrix(&as_c_contiguous(&array, "float32")?, rows, cols, ownership)
        }
        [rows, cols] => {
            with_f64_values(&as_c_contiguous(&array, "float64")?, rows, cols, ownership)
        }
        _ => Err(wrong_dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// A matrix of finite numbers that keeps double precision; errors give row and column.
pub fn finite_matrix(
    value: &Bound<'_, PyAny>,
    what: &str,
    ownership: ArrayOwnership,
) -> PyResult<Matrix> {
    let numbers = exact_matrix(value, what, ownership)?;
    check_finite(&numbers, value, what)?;
    Ok(numbers)
}

/// Refuses numbers that are not finite; errors give row and column.
pub fn check_finite(numbers: &Matrix, value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let names =
        column_names(value).map_or_else(|| CostNames::numbered(numbers.cols()), CostNames::from);
    let checked = numbers.check_finite(|column| names.get(column).into_owned());
    checked.map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

fn wrong_dimensions(what: &str, found: usize, right: &str) -> PyErr {
    let dimensions = if found == 1 {
        "dimension"
    } else {
        "dimensions"
    };
    PyValueError::new_err(format!("{what} has {found} {dimensions} and needs {right}"))
}

/// Features: two dimensions are one row per instance, three are one row per instance and cost.
/// Names are `names`, else those of the table, else `trained` if the number of columns agrees.
pub fn features(
    value: &Bound<'_, PyAny>,
    names: Option<Vec<String>>,
    trained: Option<&[String]>,
) -> PyResult<Features> {
    let array = as_f32_array(value, "X")?;
    let (matrix, shape) = match *array.shape() {
        [rows, cols] => (
            to_matrix(&array, rows, cols, ArrayOwnership::Borrow)?,
            FeatureShape::Wide,
        ),
        [rows, items, cols] => (
            to_matrix(&array, rows * items, cols, ArrayOwnership::Borrow)?,
            FeatureShape::Long { items },
        ),
        _ => {
            return Err(wrong_dimensions(
                "X",
                array.ndim(),
                "2 (rows, features) or 3 (rows, costs, features)",
            ));
        }
    };
    let names = names.or_else(|| column_names(value));
    let trained = trained.filter(|names| names.len() == matrix.cols());
    let names = names.or_else(|| trained.map(<[String]>::to_vec));
    let is_array = column_names(value).is_none();
    Features::new(matrix, shape, names).map_err(|error| match error {
        regretless::Error::Input { .. } => {
            let text = error.to_string();
            let remedy = if is_array && text.contains("NaN") {
                "; gaps are filled in a DataFrame only, whose columns have names"
            } else {
                ""
            };
            PyValueError::new_err(format!("X: {text}{remedy}"))
        }
        other => to_py_err(other),
    })
}

/// A vector in double precision.
pub fn vector(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let array = numeric_array(value, what)?;
    match array.ndim() {
        1 => Ok(
            BorrowedArray::new(&as_c_contiguous::<f64>(&array, "float64")?)
                .slice()
                .to_vec(),
        ),
        found => Err(wrong_dimensions(what, found, "1: one row of numbers")),
    }
}

/// The numbers of an array in double precision, row by row.
pub fn f64_array(
    value: &Bound<'_, PyAny>,
    what: &str,
    ownership: ArrayOwnership,
) -> PyResult<Arc<dyn SharedArray<f64>>> {
    let array = as_c_contiguous::<f64>(&numeric_array(value, what)?, "float64")?;
    let borrowed = BorrowedArray::new(&array);
    Ok(match ownership {
        ArrayOwnership::Borrow => Arc::new(borrowed),
        ArrayOwnership::Copy => Arc::new(borrowed.slice().to_vec()),
    })
}

/// The values of a table in double precision, row by row, and the numbers of rows and columns.
pub fn f64_rows(value: &Bound<'_, PyAny>, what: &str) -> PyResult<(Vec<f64>, [usize; 2])> {
    let array = numeric_array(value, what)?;
    match *array.shape() {
        [rows, cols] => {
            let numbers = BorrowedArray::new(&as_c_contiguous::<f64>(&array, "float64")?)
                .slice()
                .to_vec();
            Ok((numbers, [rows, cols]))
        }
        _ => Err(wrong_dimensions(what, array.ndim(), "2: rows, columns")),
    }
}

/// Row numbers from a list, a range or an array of nonnegative integers.
pub fn row_numbers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<usize>> {
    let wrong = || PyValueError::new_err(format!("{what} must be row numbers: integers from 0 on"));
    let array = numeric_array(value, what).map_err(|_| wrong())?;
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

/// A two-dimensional numpy array, without a copy.
pub fn array2<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    rows: usize,
    cols: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    values.into_pyarray(py).reshape([rows, cols])
}

/// A one-dimensional numpy array, without a copy.
pub fn array1<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
