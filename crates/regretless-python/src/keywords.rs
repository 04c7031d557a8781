//! Keywords that several functions take.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::data::RowParameters;
use regretless::oracle::Oracle;
use regretless::solve::SearchLimits;

use crate::call_observer::PyCall;
use crate::error::to_py_err;
use crate::problem::Problem;

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

/// How the rows of a call are solved: the attributes of `regretless.SolveOptions`.
#[derive(Debug, Default)]
pub struct SolveOptions {
    /// Number of threads; all without one.
    pub threads: Option<usize>,
    /// Whether to show progress.
    pub progress: bool,
    /// The heuristic that takes the place of an exact solver.
    pub heuristic: Option<String>,
    /// Limits of searches.
    pub limits: SearchLimits,
}

impl<'py> FromPyObject<'_, 'py> for SolveOptions {
    type Error = PyErr;

    fn extract(options: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options = options.to_owned();
        let standard = SearchLimits::default();
        let limits = SearchLimits {
            gap: keyword::<Option<f64>>(&options, "gap")?.unwrap_or(standard.gap),
            nodes: keyword::<Option<u64>>(&options, "nodes")?.unwrap_or(standard.nodes),
            seconds: keyword(&options, "seconds")?,
        };
        limits.check().map_err(to_py_err)?;
        Ok(Self {
            threads: keyword(&options, "threads")?,
            progress: keyword(&options, "progress")?,
            heuristic: keyword(&options, "heuristic")?,
            limits,
        })
    }
}

/// An attribute of options that is an object; `None` if it is not given.
pub fn keyword_object<'py>(
    options: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let value = options.getattr(name)?;
    Ok((!value.is_none()).then_some(value))
}

/// An attribute of options; an error has a note with its name, as that of an argument has.
pub fn keyword<'py, T>(options: &Bound<'py, PyAny>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let value = options.getattr(name)?;
    value.extract::<T>().inspect_err(|error| {
        let note = format!("while processing '{name}'");
        // Python 3.10 has no notes; the error is the same without.
        let _ = error.value(options.py()).call_method1("add_note", (note,));
    })
}

impl SolveOptions {
    /// The oracle of a call for the rows of a table with these parameters.
    pub fn oracle(
        &self,
        problem: &Problem,
        call: &PyCall,
        parameters: Option<&Arc<RowParameters>>,
    ) -> regretless::Result<Oracle> {
        let heuristic = self.heuristic.as_deref();
        problem.oracle(call, self.threads, heuristic, self.limits, parameters)
    }
}
