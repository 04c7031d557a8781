//! Synthetic tables.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use regretless::Error;
use regretless::data::synthetic::SyntheticSpec;
use regretless::problem::Benchmark;
use regretless::size_limits;

use crate::arrays::rectangle;
use crate::call_observer::{PyCall, catch_panic};
use crate::error::to_py_err;

/// Features and costs of a benchmark, the same bytes as `regretless generate` writes.
///
/// * `benchmark`: "KS32", "SP5x5", "TSP20", "CVRP20" or another size.
/// * `rows`: instances.
/// * `seed`: as numpy's RandomState takes it.
/// * `degree`: degree of the polynomial between features and costs.
/// * `noise`: half-width of the multiplicative noise.
/// * `features`: features per instance.
///
/// Returns (X, C), both float32. The problem is Problem(benchmark, seed=seed).
#[pyfunction]
#[pyo3(signature = (benchmark, rows=2000, *, seed=0, degree=6, noise=0.5, features=5))]
pub fn generate<'py>(
    py: Python<'py>,
    benchmark: &str,
    rows: usize,
    seed: u32,
    degree: u32,
    noise: f64,
    features: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let benchmark: Benchmark = benchmark.parse().map_err(to_py_err)?;
    let recipe = SyntheticSpec {
        instances: rows,
        features,
        degree,
        noise,
        seed,
    };
    let (_, mut made) = catch_panic(|| benchmark.rows(recipe).map_err(to_py_err))?;
    let (x, shape) = (
        catch_panic(|| made.features().map_err(to_py_err))?,
        [made.rows(), made.num_costs()],
    );
    let costs = PyCall::new(false).run(py, move |observer| {
        let count = size_limits::checked_product("costs", &shape, size_limits::MAX_TABLE_VALUES)?;
        let mut costs = size_limits::try_with_capacity("the table", count)?;
        for _ in 0..shape[0] {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            made.next_row(&mut costs);
        }
        Ok(costs)
    })?;
    let (x, wide) = (x.values().as_slice().to_vec(), [rows, features]);
    (rectangle(py, x, wide)?, rectangle(py, costs, shape)?).into_pyobject(py)
}
