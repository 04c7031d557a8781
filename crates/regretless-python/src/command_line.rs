//! The `regretless` command of the Python package: the program's own command line.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Run the `regretless` command and return its exit code.
///
/// Replaces the handler of Ctrl-C for the rest of the process: meant for the console script, which
/// does nothing else.
///
/// Parameters
/// ----------
/// arguments : list of str
///     The command line, the name of the program first.
#[pyfunction]
#[pyo3(name = "_run_command_line")]
pub fn run_command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| regretless_cli::run(&arguments))
}
