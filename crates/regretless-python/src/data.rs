//! Synthetic tables.

use numpy::PyArray2;
use pyo3::prelude::*;
use regretless::data::synthetic::Recipe;
use regretless::problem::Benchmark;

use crate::arrays::rectangle;
use crate::error::raise;

/// Features and costs of a benchmark, the same bytes as `regretless generate` writes.
///
/// benchmark: "KS32", "SP5x5", "TSP20", "CVRP20" or another size. rows: instances. seed: as numpy's RandomState
/// takes it. degree: degree of the polynomial between features and costs. noise: half-width of the multiplicative
/// noise. features: features per instance. Returns (X, C), both float32. The problem is
/// Problem(benchmark, seed=seed).
#[pyfunction]
#[pyo3(signature = (benchmark, rows=2000, *, seed=0, degree=6, noise=0.5, features=5))]
#[allow(clippy::type_complexity, reason = "a pair of arrays")]
pub fn generate<'py>(
    py: Python<'py>,
    benchmark: &str,
    rows: usize,
    seed: u32,
    degree: u32,
    noise: f64,
    features: usize,
) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>)> {
    let benchmark: Benchmark = benchmark.parse().map_err(raise)?;
    let recipe = Recipe { instances: rows, features, degree, noise, seed };
    let (_, data) = py.detach(|| benchmark.generate(recipe)).map_err(raise)?;
    let (x, c) = (data.features().values(), data.costs());
    let array = |m: &regretless::data::Matrix| rectangle(py, m.as_slice().to_vec(), [m.rows(), m.cols()]);
    Ok((array(x)?, array(c)?))
}
