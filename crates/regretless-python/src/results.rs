//! Values of the library as Python objects.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

/// Converts a value to dicts, lists and numbers.
pub fn to_python<'py, T: Serialize>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// Builds a class of `regretless.results.reports` from a dict of its fields.
pub fn result_object<'py>(class: &str, fields: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let module = fields.py().import("regretless.results.reports")?;
    module.getattr(class)?.call_method1("from_dict", (fields,))
}
