//! Knapsack with one to thirty dimensions: choose items of the highest total value within all
//! capacities.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::cone::NormalCone;
use crate::solve::knapsack::{KnapsackBranchAndBound, KnapsackRelaxation};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};

/// Items with weights in each dimension, and the capacity of each dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knapsack {
    /// One row of item weights per dimension.
    pub weights: Vec<Vec<f64>>,
    /// What fits, per dimension.
    pub capacity: Vec<f64>,
}

impl Knapsack {
    /// Most dimensions the engine takes.
    pub const MAX_DIMENSIONS: usize = 30;

    /// The problem, if its numbers make one.
    ///
    /// # Errors
    /// When counts do not match, or a weight or capacity is negative or not finite.
    pub fn validate(self) -> Result<Self> {
        let dimensions = self.weights.len();
        if !(1..=Self::MAX_DIMENSIONS).contains(&dimensions) {
            let max = Self::MAX_DIMENSIONS;
            return Err(Error::setting(format!(
                "a knapsack has 1 to {max} dimensions, not {dimensions}"
            )));
        }
        if self.capacity.len() != dimensions {
            let found = self.capacity.len();
            return Err(Error::setting(format!(
                "{found} capacities for {dimensions} rows of weights"
            )));
        }
        let items = self.weights[0].len();
        if items == 0 {
            return Err(Error::setting(
                "a knapsack needs at least one item; its row of weights is empty",
            ));
        }
        for (row, (weights, capacity)) in self.weights.iter().zip(&self.capacity).enumerate() {
            let named =
                |what: String| Err(Error::setting(format!("knapsack, dimension {row}: {what}")));
            if weights.len() != items {
                return named(format!(
                    "{} weights, but dimension 0 has {items}",
                    weights.len()
                ));
            }
            if !capacity.is_finite() || *capacity < 0.0 {
                return named(format!("capacity {capacity} must be 0 or more"));
            }
            if let Some(bad) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
                return named(format!(
                    "weight {} of item {bad} must be 0 or more",
                    weights[bad]
                ));
            }
        }
        Ok(self)
    }

    fn relaxation(&self) -> Box<KnapsackRelaxation> {
        Box::new(KnapsackRelaxation::new(&self.weights, &self.capacity))
    }

    /// The same items with this share of their total weight as capacity of each dimension.
    pub fn with_capacity_share(weights: Vec<Vec<f64>>, share: f64) -> Self {
        let capacity = weights
            .iter()
            .map(|row| share * row.iter().sum::<f64>())
            .collect();
        Self { weights, capacity }
    }
}

impl ProblemKind for Knapsack {
    fn name(&self) -> String {
        format!(
            "knapsack of {} items in {} dimensions",
            self.weights[0].len(),
            self.weights.len()
        )
    }

    fn sense(&self) -> Sense {
        Sense::Maximize
    }

    fn num_costs(&self) -> usize {
        self.weights[0].len()
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(KnapsackBranchAndBound::new(
            &self.weights,
            &self.capacity,
            *limits,
        ))
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.relaxation())
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        match kind {
            CostRangeKind::Basis => Some(self.relaxation()),
            CostRangeKind::Exact => None,
        }
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(self.relaxation())
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.num_costs());
        for (weights, capacity) in self.weights.iter().zip(&self.capacity) {
            cone.row(
                [f64::NEG_INFINITY, *capacity],
                decision.dot(weights),
                weights.iter().copied().enumerate(),
            );
        }
        Some(cone)
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        for (row, (weights, capacity)) in self.weights.iter().zip(&self.capacity).enumerate() {
            let load = decision.dot(weights);
            if load > capacity + 1e-9 * capacity.max(1.0) {
                return Err(format!(
                    "load {load} exceeds capacity {capacity} in dimension {row}"
                ));
            }
        }
        Ok(())
    }
}
