//! Notes of the library as warnings of Python.

use pyo3::prelude::*;
use regretless::notes::{Note, NoteKind};

use crate::call_observer::warn;
use crate::problem::Problem;

/// Raises a `UserWarning` for each note; those about the problem and its methods, which do not
/// depend on the rows, once per problem.
pub fn raise_notes(py: Python<'_>, problem: &Problem, notes: &[Note]) -> PyResult<()> {
    for note in notes {
        match note.kind {
            NoteKind::Unboundedness | NoteKind::Scale => {
                problem.warn_once(py, &note.text)?;
            }
            NoteKind::Encoding | NoteKind::UnusedColumn => warn(py, &format!("X: {}", note.text))?,
            _ => warn(py, &note.text)?,
        }
    }
    Ok(())
}
