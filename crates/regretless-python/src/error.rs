//! Errors of the library as Python exceptions, with the same message.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError,
    PyValueError,
};
use regretless::Error;

/// The exception for an error: `ValueError` for input and settings, `OSError` for files,
/// `RuntimeError` for solvers and trainings that fail, `KeyboardInterrupt` for Ctrl-C.
#[allow(
    clippy::needless_pass_by_value,
    reason = "used as a function in map_err"
)]
pub fn to_py_err(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Input { .. }
        | Error::Setting { .. }
        | Error::Capability { .. }
        | Error::EmptyPool { .. } => PyValueError::new_err(message),
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(message)
        }
        Error::Io { .. } => PyOSError::new_err(message),
        Error::Exists(path) => PyFileExistsError::new_err(format!(
            "{}: exists already; choose another path or pass force=True to replace it",
            path.display()
        )),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        // Solvers without a decision, trainings that diverge, and kinds that are added later.
        _ => PyRuntimeError::new_err(message),
    }
}
