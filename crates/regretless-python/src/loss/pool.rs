//! The solution pool of a loss as plain numbers and lists, for checkpoints and copies.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regretless::Decision;
use regretless::oracle::SolutionPool;

/// The decisions of a pool and which of them is evicted next: a dict in Python.
#[derive(Debug, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct PoolState {
    /// The variables of each decision that are not 0.
    indices: Vec<Vec<u32>>,
    /// Their values; none if all are 1.
    values: Vec<Option<Vec<f64>>>,
    /// The known cost of each decision.
    fixed: Vec<f64>,
    /// Most decisions of the pool.
    capacity: usize,
    /// The decision that a full pool evicts next.
    oldest: usize,
}

impl PoolState {
    pub(super) fn of(pool: &SolutionPool) -> Self {
        let decisions = pool.decisions();
        let (capacity, oldest) = pool.eviction_state();
        let entries = |decision: &Decision| decision.values().map(<[f64]>::to_vec);
        Self {
            indices: decisions.iter().map(|d| d.indices().to_vec()).collect(),
            values: decisions.iter().map(entries).collect(),
            fixed: decisions.iter().map(Decision::fixed).collect(),
            capacity,
            oldest,
        }
    }

    /// The pool, if its decisions are those of a problem with so many costs.
    pub(super) fn pool(self, num_costs: usize) -> PyResult<SolutionPool> {
        let count = self.indices.len();
        let is_complete = self.values.len() == count && self.fixed.len() == count;
        let invalid = || PyValueError::new_err("the solution pool belongs to another loss");
        if !is_complete || count > self.capacity || self.oldest >= self.capacity.max(1) {
            return Err(invalid());
        }
        let mut decisions = Vec::with_capacity(count);
        for ((indices, values), fixed) in self.indices.into_iter().zip(self.values).zip(self.fixed)
        {
            let is_sorted = indices.windows(2).all(|pair| pair[0] < pair[1]);
            let fits = indices
                .last()
                .is_none_or(|last| (*last as usize) < num_costs);
            if !is_sorted || !fits || !fixed.is_finite() {
                return Err(invalid());
            }
            let decision = match values {
                None => Decision::from_indices(indices),
                Some(values) => {
                    if values.len() != indices.len() || !values.iter().all(|v| v.is_finite()) {
                        return Err(invalid());
                    }
                    Decision::from_entries(indices.into_iter().zip(values))
                }
            };
            decisions.push(decision.with_fixed(fixed));
        }
        Ok(SolutionPool::from_parts(
            self.capacity,
            decisions,
            self.oldest,
        ))
    }
}
