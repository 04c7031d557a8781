//! Multidimensional knapsack: choose items of the highest total value within the capacity of each
//! of one to thirty dimensions.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::flexible_fields::{ItemsField, NumberOrList, PresentList, RowOrRows};
use super::subset::{MaybeSubset, PartialKind, Subset, absences, clear_absent, of_present};
use super::{
    Choices, CostNaming, DecisionGeometry, FailureReasons, ProblemKind, Sense, Sensitivity,
    SolveCostHint, SolverTraits, check_binary,
};
use crate::data::{CostNames, matched_by_position};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::cone::NormalCone;
use crate::solve::knapsack::{KnapsackBranchAndBound, KnapsackRelaxation};
use crate::solve::relaxation::VertexSolver;
use crate::solve::{SearchLimits, Solver};
use crate::text::plural;

mod family;

pub(super) use family::FAMILY;

/// Relative excess of a load over its capacity that is rounding error.
const LOAD_TOLERANCE: f64 = 1e-9;

/// Items with weights in each dimension, and the capacity of each dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "KnapsackFields")]
pub struct Knapsack {
    /// Shared by the problems of rows that differ in their capacities only.
    #[serde(serialize_with = "serialize_weights")]
    weights: Arc<Vec<Vec<f64>>>,
    capacity: Vec<f64>,
    #[serde(rename = "items", skip_serializing_if = "Option::is_none")]
    names: Option<CostNames>,
    #[serde(rename = "present", skip_serializing_if = "MaybeSubset::is_all")]
    subset: MaybeSubset<Self>,
}

/// A serialized knapsack, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnapsackFields {
    weights: RowOrRows,
    capacity: NumberOrList,
    #[serde(default)]
    items: Option<ItemsField>,
    #[serde(default)]
    present: Option<PresentList>,
}

impl TryFrom<KnapsackFields> for Knapsack {
    type Error = Error;

    fn try_from(fields: KnapsackFields) -> Result<Self> {
        let present = fields.present.map(PresentList::into_flags);
        let mut problem = Self::checked(fields.weights.0, fields.capacity.0, present)?;
        if let Some(items) = fields.items {
            problem.names = items.into_names(problem.num_costs())?;
        }
        Ok(problem)
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
        Self::checked(weights, capacity, None)
    }

    /// The same problem in which only some of the items can be chosen: one flag per item. It is
    /// solved as the knapsack of these items.
    ///
    /// # Errors
    /// When the number of flags is not that of the items, or no item is present.
    pub fn with_present(self, present: Vec<bool>) -> Result<Self> {
        let weights = Arc::unwrap_or_clone(self.weights);
        let problem = Self::checked(weights, self.capacity, Some(present))?;
        Ok(Self {
            names: self.names,
            ..problem
        })
    }

    /// A knapsack of the present items; the weights of the others do not count.
    fn checked(
        weights: Vec<Vec<f64>>,
        capacity: Vec<f64>,
        present: Option<Vec<bool>>,
    ) -> Result<Self> {
        validate_counts(&weights, &capacity)?;
        let present = absences(present, weights[0].len(), "item")?;
        let mut weights = weights;
        for weights in &mut weights {
            clear_absent(weights, present.as_deref());
        }
        validate_weights(&weights, present.as_deref())?;
        validate_capacities(&capacity)?;
        let subset = present.map(|present| {
            let of_present = |weights: &Vec<f64>| of_present(weights, &present);
            let smaller = Self {
                weights: Arc::new(weights.iter().map(of_present).collect()),
                capacity: capacity.clone(),
                names: None,
                subset: MaybeSubset::ALL,
            };
            MaybeSubset::of(Subset::of_items(present, smaller))
        });
        Ok(Self {
            weights: Arc::new(weights),
            capacity,
            names: None,
            subset: subset.unwrap_or(MaybeSubset::ALL),
        })
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
    fn with_capacity(&self, capacity: Vec<f64>) -> Result<Self> {
        if let Some(present) = self.present() {
            let weights = Vec::clone(&self.weights);
            let problem = Self::checked(weights, capacity, Some(present.to_vec()))?;
            return Ok(Self {
                names: self.names.clone(),
                ..problem
            });
        }
        validate_counts(&self.weights, &capacity)?;
        validate_capacities(&capacity)?;
        Ok(Self {
            weights: Arc::clone(&self.weights),
            capacity,
            names: self.names.clone(),
            subset: MaybeSubset::ALL,
        })
    }

    /// One row of item weights per dimension.
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// The capacity of each dimension.
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    /// Whether each item is present; `None` if all are.
    pub fn present(&self) -> Option<&[bool]> {
        self.subset.present()
    }

    fn relaxation(&self) -> Box<KnapsackRelaxation> {
        Box::new(KnapsackRelaxation::new(&self.weights, &self.capacity))
    }
}

fn validate_counts(weights: &[Vec<f64>], capacity: &[f64]) -> Result<()> {
    let dimensions = weights.len();
    let max = Knapsack::MAX_DIMENSIONS;
    if !(1..=max).contains(&dimensions) {
        return Err(Error::setting(format!(
            "a knapsack has 1 to {max} dimensions, not {dimensions}"
        )));
    }
    if capacity.len() != dimensions {
        let found = capacity.len();
        return Err(Error::setting(format!(
            "{found} capacities for {dimensions} rows of weights"
        )));
    }
    let items = weights[0].len();
    if items == 0 {
        return Err(Error::setting("a knapsack needs at least one item")
            .with_remedy("its row of weights is empty"));
    }
    for (row, weights) in weights.iter().enumerate() {
        if weights.len() != items {
            let found = weights.len();
            let message = format!("{found} weights, but dimension 0 has {items}");
            return Err(refused_dimension(row, &message));
        }
    }
    Ok(())
}

/// Checks the weights of the present items.
fn validate_weights(weights: &[Vec<f64>], present: Option<&[bool]>) -> Result<()> {
    let is_present = |item: usize| present.is_none_or(|present| present[item]);
    for (row, weights) in weights.iter().enumerate() {
        let is_bad = |item: &usize| {
            let weight = weights[*item];
            is_present(*item) && (!weight.is_finite() || weight < 0.0)
        };
        if let Some(bad) = (0..weights.len()).find(is_bad) {
            let message = format!("weight {} of item {bad} must be 0 or more", weights[bad]);
            return Err(refused_dimension(row, &message));
        }
    }
    Ok(())
}

fn validate_capacities(capacity: &[f64]) -> Result<()> {
    for (row, capacity) in capacity.iter().enumerate() {
        if !capacity.is_finite() || *capacity < 0.0 {
            let message = format!("capacity {capacity} must be 0 or more");
            return Err(refused_dimension(row, &message));
        }
    }
    Ok(())
}

fn serialize_weights<S: Serializer>(
    weights: &Arc<Vec<Vec<f64>>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    weights.as_slice().serialize(serializer)
}

fn refused_dimension(row: usize, message: &str) -> Error {
    Error::setting(format!("knapsack, dimension {row}: {message}"))
}

impl SolverTraits for Knapsack {}
impl FailureReasons for Knapsack {}
impl Choices for Knapsack {}

impl PartialKind for Knapsack {
    fn subset(&self) -> &MaybeSubset<Self> {
        &self.subset
    }

    fn title(&self) -> String {
        let [items, dimensions] = [self.weights[0].len(), self.weights.len()];
        format!(
            "knapsack of {items} item{} in {dimensions} dimension{}",
            plural(items),
            plural(dimensions)
        )
    }

    fn objective_sense(&self) -> Sense {
        Sense::Maximize
    }

    fn count_costs(&self) -> usize {
        self.weights[0].len()
    }

    fn full_cost_hint(&self) -> SolveCostHint {
        let items = self.weights.first().map_or(0, Vec::len) as f64;
        let rows = self.weights.len() as f64;
        // Fitted to medians of synthetic benchmarks.
        SolveCostHint::estimated(1e-5 * (items / 32.0).powf(1.8) * rows.max(2.0) / 2.0, 0.2)
    }

    fn full_solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(KnapsackBranchAndBound::new(
            &self.weights,
            &self.capacity,
            *limits,
        ))
    }

    fn reuse_full_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn Any = solver;
        let solver = solver.downcast_mut::<KnapsackBranchAndBound>();
        solver.is_some_and(|solver| solver.set_capacity(&self.weights, &self.capacity))
    }

    fn check_present(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        self.subset.check_items(decision)?;
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

impl CostNaming for Knapsack {
    fn cost_names(&self) -> Option<&CostNames> {
        self.names.as_ref()
    }

    fn position_note(&self, costs: &CostNames) -> Option<String> {
        let weights = |item: usize| {
            let weights: Vec<String> = self.weights.iter().map(|w| w[item].to_string()).collect();
            weights.join(" and ")
        };
        if self.names.is_some() {
            return None;
        }
        let matched = matched_by_position("weights", costs, weights)?;
        Some(format!("{matched}; name them with items = [...]"))
    }
}

impl Sensitivity for Knapsack {
    fn vertex_solver(&self, _limits: &SearchLimits) -> Option<Box<dyn VertexSolver>> {
        Some(self.relaxation())
    }
}

impl DecisionGeometry for Knapsack {
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
}
