//! Gradients that are sums of decisions, dense or as a list of entries.
//!
//! The gradients of many losses are sums of decisions. Such a loss implements
//! [`DecisionGradient`] and gets both forms: a tour over 1000 nodes has 499,500 costs, of which a
//! difference of two tours touches at most 2000.

use super::{Loss, LossInput};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;

/// A gradient as a list of entries; entries of the same cost add up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseGradient(Vec<(u32, f64)>);

impl SparseGradient {
    /// Removes all entries and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Cost and value of each entry, in the order they were added.
    pub fn as_slice(&self) -> &[(u32, f64)] {
        &self.0
    }

    /// Multiplies all entries.
    pub fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|(_, value)| *value *= factor);
    }

    /// Adds the entries of a dense row that are not 0.
    pub fn push_nonzeros(&mut self, row: &[f64]) {
        for (j, value) in row.iter().enumerate() {
            if *value != 0.0 {
                self.0.push((j as u32, *value));
            }
        }
    }
}

/// A dense or sparse gradient that terms are added to.
pub(crate) trait GradientAccumulator {
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

/// A loss whose gradient is a sum of decisions.
pub(crate) trait DecisionGradient: Send + Sync {
    /// Adds the gradient to an accumulator that is zero and returns the value.
    ///
    /// # Errors
    /// When a solve fails.
    fn accumulate<S: GradientAccumulator + ?Sized>(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut S,
    ) -> Result<f64>;
}

impl<L: DecisionGradient> Loss for L {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        gradient.fill(0.0);
        self.accumulate(input, worker, gradient)
    }

    fn evaluate_sparse(
        &self,
        input: &LossInput<'_>,
        worker: &mut OracleWorker<'_>,
        gradient: &mut SparseGradient,
    ) -> Result<f64> {
        gradient.clear();
        self.accumulate(input, worker, gradient)
    }
}
