//! Keywords that a function does not take.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Raises a `TypeError` where there is an unknown keyword; for a renamed one it gives the new name
/// (`regretless._renamed`).
pub fn refuse_unknown(function: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(unknown) = unknown.filter(|unknown| !unknown.is_empty()) else {
        return Ok(());
    };
    let renamed = unknown.py().import("regretless._renamed")?;
    renamed.call_method1("refuse", (function, unknown))?;
    Ok(())
}

/// Raises a `TypeError` with the new name where one of the keywords was renamed.
pub fn refuse_renamed(function: &str, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(keywords) = keywords else {
        return Ok(());
    };
    let renamed = keywords.py().import("regretless._renamed")?;
    renamed.call_method1("check", (function, keywords))?;
    Ok(())
}
