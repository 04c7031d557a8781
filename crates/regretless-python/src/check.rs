//! The data check.

use pyo3::prelude::*;
use regretless::data::{DataCheck, FeatureOptions};

use crate::call_observer::PyCall;
use crate::label::given_labels;
use crate::names::open_table;
use crate::problem::Problem;
use crate::results::to_python;
use crate::train::{check_table, dataset, split_of};

/// Findings about a table; `regretless.check` documents it.
#[pyfunction]
#[pyo3(name = "_check")]
pub fn check<'py>(
    py: Python<'py>,
    problem: &Bound<'py, Problem>,
    X: &Bound<'py, PyAny>,
    C: &Bound<'py, PyAny>,
    labels: Option<&Bound<'py, PyAny>>,
    split: Option<&Bound<'py, PyAny>>,
    times: Option<Vec<String>>,
    seed: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let problem = problem.get();
    let data = dataset(problem, X, C, None, None, FeatureOptions::default())?;
    let table = open_table(py, problem, data)?;
    let data = table.data();
    let split = split_of(split, times.as_deref(), data.len(), u64::from(seed))?;
    let objectives = given_labels(labels)?.map(|labels| labels.get().labeled.best_objectives());
    let findings = PyCall::new(false).run(py, |_| {
        let mut check = DataCheck::new(data).with_split(&split);
        if let Some(objectives) = &objectives {
            check = check.with_objectives(objectives);
        }
        check_table(times.as_deref(), check)
    })?;
    to_python(py, &findings)
}
