//! Keywords that several functions take, and keywords that a function does not take.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regretless::solve::SearchLimits;

use crate::error::to_py_err;

/// A seed: an integer from 0 on, as large as the type of the argument allows.
pub fn seed_number<T: TryFrom<u64>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let number = value.extract::<u64>().ok();
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            let text = value.repr().map(|text| text.to_string());
            PyValueError::new_err(format!(
                "seed is an integer from 0 on, below 2^{}, not {}",
                8 * size_of::<T>(),
                text.unwrap_or_default()
            ))
        })
}

/// The limits of the searches of a call.
pub fn search_limits(
    gap: Option<f64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
) -> PyResult<SearchLimits> {
    let standard = SearchLimits::default();
    let limits = SearchLimits {
        gap: gap.unwrap_or(standard.gap),
        nodes: nodes.unwrap_or(standard.nodes),
        seconds,
    };
    limits.check().map_err(to_py_err)?;
    Ok(limits)
}

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
