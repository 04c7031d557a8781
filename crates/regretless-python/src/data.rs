//! Synthetic benchmark data.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use regretless::data::SyntheticSpec;
use regretless::problem::Benchmark;

use crate::arrays::array2;
use crate::call_observer::{PyCall, catch_panic};
use crate::error::to_py_err;
use crate::keywords::{refuse_unknown, seed_number};

/// Generate features and costs of a benchmark.
///
/// Parameters
/// ----------
/// benchmark : str
///     "KS32" (knapsack), "SP5x5" (shortest path on a grid), "TSP20", "CVRP20", or another size.
/// instances : int, default 2000
///     Number of instances.
/// seed : int, default 0
///     Seed of numpy's RandomState.
/// degree : int, default 6
///     Degree of the polynomial from features to costs.
/// noise : float, default 0.5
///     Half-width of the multiplicative noise.
/// features : int, default 5
///     Number of features.
///
/// Returns
/// -------
/// X : ndarray of shape (instances, features)
///     Features, float32.
/// C : ndarray of shape (instances, d)
///     Costs, float32.
///
/// Raises
/// ------
/// ValueError
///     For an unknown benchmark or a size that is not positive.
///
/// Notes
/// -----
/// The same bytes as `regretless generate` writes. The problem is `Problem(benchmark, seed=seed)`.
///
/// Examples
/// --------
/// >>> X, C = rl.generate("KS32", instances=1000)
/// >>> problem = rl.Problem("KS32")
#[pyfunction]
#[pyo3(
    signature = (benchmark, instances=2000, *, seed=0, degree=6, noise=0.5, features=5, **unknown),
    text_signature = "(benchmark, instances=2000, *, seed=0, degree=6, noise=0.5, features=5)"
)]
pub fn generate<'py>(
    py: Python<'py>,
    benchmark: &str,
    instances: usize,
    #[pyo3(from_py_with = seed_number)] seed: u32,
    degree: u32,
    noise: f64,
    features: usize,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyTuple>> {
    refuse_unknown("generate", unknown)?;
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
