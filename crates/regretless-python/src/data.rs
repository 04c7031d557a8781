//! Synthetic benchmark data.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::data::SyntheticSpec;
use regretless::problem::Benchmark;

use crate::arrays::array2;
use crate::call_observer::{PyCall, catch_panic};
use crate::error::to_py_err;
use crate::keywords::seed_number;

/// Features and costs of a benchmark; `regretless.generate` documents it.
#[pyfunction]
#[pyo3(name = "_generate")]
pub fn generate<'py>(
    py: Python<'py>,
    benchmark: &str,
    instances: usize,
    #[pyo3(from_py_with = seed_number)] seed: u32,
    degree: u32,
    noise: f64,
    features: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let benchmark: Benchmark = benchmark.parse().map_err(to_py_err)?;
    let spec = SyntheticSpec {
        instances,
        features,
        degree,
        noise,
        seed,
    };
    let (_, mut generator) = catch_panic(|| benchmark.rows(spec).map_err(to_py_err))?;
    let x = catch_panic(|| generator.features().map_err(to_py_err))?;
    let (rows, cols) = (generator.rows(), generator.num_costs());
    let costs = PyCall::new(false).run(py, move |observer| generator.costs(observer))?;
    let x = array2(py, x.values().as_slice().to_vec(), instances, features)?;
    (x, array2(py, costs, rows, cols)?).into_pyobject(py)
}
