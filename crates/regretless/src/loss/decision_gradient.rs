//! Where gradients go: a row of numbers, or a list of entries where a decision has few.
//!
//! The gradients of many losses are sums of decisions. Such a loss implements [`DecisionGradient`] and
//! is given both forms: a tour over 1000 nodes has 499,500 costs, of which a difference of two
//! tours touches at most 2000.

use super::{Loss, LossInput};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;

/// Entries of a gradient; those of the same cost add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseGradient(Vec<(u32, f64)>);

impl SparseGradient {
    /// Forgets all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Cost and value of each entry, in the order they came.
    pub fn as_slice(&self) -> &[(u32, f64)] {
        &self.0
    }

    /// Multiplies all entries.
    pub fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|(_, value)| *value *= factor);
    }

    /// Lists the entries of a row that are not 0.
    pub fn push_nonzeros(&mut self, row: &[f64]) {
        let entries = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
        self.0.extend(entries.map(|(j, value)| (j as u32, *value)));
    }
}

/// What a gradient is added to.
pub trait GradientAccumulator {
    /// Adds to the entry of one cost.
    fn add(&mut self, cost: usize, value: f64);

    /// Adds a multiple of a decision.
    fn add_decision(&mut self, scale: f64, decision: &Decision) {
        decision.iter().for_each(|(j, x)| self.add(j, scale * x));
    }
}

impl GradientAccumulator for [f64] {
    fn add(&mut self, cost: usize, value: f64) {
        self[cost] += value;
    }
}

impl GradientAccumulator for SparseGradient {
    fn add(&mut self, cost: usize, value: f64) {
        self.0.push((cost as u32, value));
    }
}

/// A loss that asks questions and whose gradient is a sum of decisions.
pub trait DecisionGradient: Send + Sync {
    /// Adds the gradient to nothing and returns the value.
    ///
    /// # Errors
    /// When a question has no answer.
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64>;

    /// How many decisions are summed, if not too many to be listed.
    fn num_decisions(&self) -> Option<usize>;

    /// As [`Loss::compares`].
    fn uses_pool(&self) -> bool {
        false
    }
}

impl<L: DecisionGradient> Loss for L {
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        gradient.fill(0.0);
        self.accumulate(query, worker, gradient)
    }

    fn evaluate_sparse(
        &self,
        query: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut SparseGradient,
    ) -> Result<f64> {
        gradient.clear();
        self.accumulate(query, worker, gradient)
    }

    fn num_gradient_entries(&self, chosen: usize) -> Option<usize> {
        self.num_decisions().map(|terms| terms * chosen)
    }

    fn calls_solver(&self) -> bool {
        true
    }

    fn uses_pool(&self) -> bool {
        DecisionGradient::uses_pool(self)
    }
}
