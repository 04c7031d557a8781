//! Multidimensional knapsack: choose items of the highest total value within the capacity of each
//! of one to thirty dimensions.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, SolveCostHint, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::cone::NormalCone;
use crate::solve::knapsack::{KnapsackBranchAndBound, KnapsackRelaxation};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};

/// Relative excess of a load over its capacity that is rounding error.
const LOAD_TOLERANCE: f64 = 1e-9;

/// Items with weights in each dimension, and the capacity of each dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KnapsackFields")]
pub struct Knapsack {
    weights: Vec<Vec<f64>>,
    capacity: Vec<f64>,
}

/// A serialized knapsack, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnapsackFields {
    weights: Vec<Vec<f64>>,
    capacity: Vec<f64>,
}

impl TryFrom<KnapsackFields> for Knapsack {
    type Error = Error;

    fn try_from(fields: KnapsackFields) -> Result<Self> {
        Self::new(fields.weights, fields.capacity)
    }
}

impl Knapsack {
    /// Most dimensions that the solver supports.
    pub const MAX_DIMENSIONS: usize = 30;

    /// A knapsack with one row of item weights, and one capacity, per dimension.
    ///
    /// # Errors
    /// When counts do not match, or a weight or capacity is negative or not finite.
    pub fn new(weights: Vec<Vec<f64>>, capacity: Vec<f64>) -> Result<Self> {
        let problem = Self { weights, capacity };
        problem.validate()?;
        Ok(problem)
    }

    /// Items whose capacity in each dimension is this fraction of their total weight.
    ///
    /// # Errors
    /// As [`Knapsack::new`].
    pub fn with_capacity_fraction(weights: Vec<Vec<f64>>, fraction: f64) -> Result<Self> {
        let total = |row: &Vec<f64>| fraction * row.iter().sum::<f64>();
        let capacity = weights.iter().map(total).collect();
        Self::new(weights, capacity)
    }

    /// The same items with other capacities.
    ///
    /// # Errors
    /// When their number differs, or a capacity is negative or not finite.
    pub(in crate::problem) fn with_capacity(&self, capacity: Vec<f64>) -> Result<Self> {
        Self::new(self.weights.clone(), capacity)
    }

    /// One row of item weights per dimension.
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// The capacity of each dimension.
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    fn validate(&self) -> Result<()> {
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
            return Err(Error::setting("a knapsack needs at least one item")
                .with_remedy("its row of weights is empty"));
        }
        for (row, (weights, capacity)) in self.weights.iter().zip(&self.capacity).enumerate() {
            let refused = |message: String| {
                Err(Error::setting(format!(
                    "knapsack, dimension {row}: {message}"
                )))
            };
            if weights.len() != items {
                return refused(format!(
                    "{} weights, but dimension 0 has {items}",
                    weights.len()
                ));
            }
            if !capacity.is_finite() || *capacity < 0.0 {
                return refused(format!("capacity {capacity} must be 0 or more"));
            }
            if let Some(bad) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
                return refused(format!(
                    "weight {} of item {bad} must be 0 or more",
                    weights[bad]
                ));
            }
        }
        Ok(())
    }

    fn relaxation(&self) -> Box<KnapsackRelaxation> {
        Box::new(KnapsackRelaxation::new(&self.weights, &self.capacity))
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

    fn solve_cost_hint(&self) -> SolveCostHint {
        let items = self.weights.first().map_or(0, Vec::len) as f64;
        let rows = self.weights.len() as f64;
        // Fitted to medians of synthetic benchmarks.
        SolveCostHint::estimated(1e-5 * (items / 32.0).powf(1.8) * rows.max(2.0) / 2.0, 0.2)
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

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.num_costs());
        for (weights, capacity) in self.weights.iter().zip(&self.capacity) {
            cone.add_row_if_binding(
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
            if load > capacity + LOAD_TOLERANCE * capacity.max(1.0) {
                return Err(format!(
                    "load {load} exceeds capacity {capacity} in dimension {row}"
                ));
            }
        }
        Ok(())
    }
}
