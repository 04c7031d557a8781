//! Names of losses, custom ones included.

use std::sync::{Mutex, OnceLock};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use regretless::loss::LossSpec;
use regretless::method::Method;
use regretless::{Error, Result};

use super::function::loss_spec;
use crate::call::lock;
use crate::error::to_py_err;

/// The method of an argument: a name, or a loss of the user's own. By default that of predictors of
/// the user's own, which `auto` does not search over.
pub fn parse_method(method: Option<&Bound<'_, PyAny>>) -> PyResult<Method> {
    let Some(method) = method else {
        return Ok(Method::of_paper());
    };
    if let Ok(name) = method.cast::<PyString>() {
        return name.to_cow()?.parse::<Method>().map_err(with_custom_losses);
    }
    // A custom loss; other objects have no check of gradients.
    if method.hasattr("check_gradient")? {
        return loss_spec(method).map(Method::from);
    }
    Err(PyTypeError::new_err(format!(
        "a method is a name such as \"MAE(O,S)\" or a loss made with @regretless.loss, not {}; \
         write @regretless.loss in front of the function",
        method.get_type().name()?
    )))
}

/// Names of the custom losses that were made in this process, for messages.
static REGISTERED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Finds custom losses of the form `file.py:function` or `module:function`; Python sets it.
static RESOLVER: OnceLock<Py<PyAny>> = OnceLock::new();

/// The error of an unknown name, with the names of the custom losses.
fn with_custom_losses(error: Error) -> PyErr {
    let text = error.to_string();
    let names = lock(&REGISTERED);
    if text.starts_with("unknown loss") && !names.is_empty() {
        let names = names.join(", ");
        return PyValueError::new_err(format!("{text}; custom losses: {names}"));
    }
    to_py_err(error)
}

/// Make the name of a custom loss part of the grammar of methods.
#[pyfunction]
#[pyo3(name = "_register_loss")]
pub fn register_loss(own: &Bound<'_, PyAny>) -> PyResult<()> {
    let spec = loss_spec(own)?;
    let name = spec.to_string();
    spec.register().map_err(to_py_err)?;
    let mut names = lock(&REGISTERED);
    if !names.contains(&name) {
        names.push(name);
    }
    Ok(())
}

/// Set the function that finds losses of the form `file.py:function` or `module:function`.
#[pyfunction]
#[pyo3(name = "_set_loss_resolver")]
pub fn set_loss_resolver(resolve: Py<PyAny>) {
    RESOLVER.get_or_init(|| resolve);
}

/// Finds losses of the form `file.py:function` or `module:function`.
pub fn resolve_loss(name: &str) -> Result<LossSpec> {
    Python::attach(|py| {
        let Some(resolver) = RESOLVER.get() else {
            return Err(Error::setting(format!("unknown loss '{name}'")));
        };
        let found = resolver.bind(py).call1((name,));
        let found = found.and_then(|own| loss_spec(&own));
        found.map_err(|error| {
            if !error.value(py).hasattr("_is_refused_loss").unwrap_or(false) {
                error.display(py);
            }
            Error::setting(error.value(py).to_string())
        })
    })
}
