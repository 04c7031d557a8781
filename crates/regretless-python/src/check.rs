//! The data check.

use pyo3::prelude::*;
use regretless::data::{DataCheck, FeatureOptions};

use crate::call_observer::PyCall;
use crate::label::{Labels, check_same_rows};
use crate::names::match_table;
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{TimeSplit, check_table, dataset, parse_split};

/// Check a table for columns and rows that spoil training or its results.
///
/// Parameters
/// ----------
/// problem : Problem
///     The problem.
/// X : array_like or DataFrame of shape (n, p) or (n, d, p)
///     Features.
/// C : array_like or DataFrame of shape (n, d)
///     True costs.
/// labels : Labels, optional
///     Labels of `C`: with them, features that give the best objective of a row away are found too.
/// split : optional
///     The split that `train` gets, for drift between training and test rows.
/// seed : int, default 0
///     Seed of a random split.
///
/// Returns
/// -------
/// list of dict
///     Findings with the keys `kind`, `columns`, `message` and, where it is about a row, `row`.
///     They are those of `regretless check`; the order of rows in time is checked where they are
///     split by time.
///
/// Raises
/// ------
/// ValueError
///     Where `X` and `C` have different numbers of rows or hold something else than numbers,
///     text, dates and truth values.
///
/// Examples
/// --------
/// >>> X, C = rl.generate("SP5x5", 200)
/// >>> rl.check(rl.Problem("SP5x5"), X, C)
/// []
#[pyfunction]
#[pyo3(signature = (problem, X, C, *, labels=None, split=None, seed=0))]
pub fn check<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, Labels>>,
    split: Option<&Bound<'py, PyAny>>,
    seed: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = problem.get();
    check_same_rows(X, C, "X", "C")?;
    let time_split = TimeSplit::parse(split, X, C)?;
    let (X, C) = match &time_split {
        Some(by_time) => (&by_time.x, &by_time.c),
        None => (X, C),
    };
    let mut data = dataset(problem, X, C, None, None, FeatureOptions::default())?;
    match_table(py, problem, &mut data)?;
    let split = match &time_split {
        Some(by_time) => by_time.apply(data.len())?,
        None => parse_split(split, data.len(), u64::from(seed))?,
    };
    let objectives = labels.map(|labels| labels.get().best_objectives());
    let times = time_split.as_ref().map(TimeSplit::times);
    let findings = PyCall::new(false).run(py, |_| {
        let mut check = DataCheck::new(&data).with_split(&split);
        if let Some(objectives) = &objectives {
            check = check.with_objectives(objectives);
        }
        check_table(times, check)
    })?;
    to_python(py, &findings)
}
