//! Problems of which some items or nodes are absent.
//!
//! Such a problem is solved as the smaller problem of the items that are present, so every result
//! is that of the smaller problem bit for bit. Only the numbers of costs and variables differ: a
//! [`Subset`] translates those of the full problem and back. The variable of an absent cost is
//! fixed to 0.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, KindCapabilities,
    ProblemKind, Sense, Sensitivity, SolveCostHint, SolverTraits,
};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::complete_graph::{edge_index, num_edges};
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};

mod renumbered;

use renumbered::{Renumbered, to_smaller};

/// Checks which items are present; `None` if all of them are. `item` is the singular of what the
/// list counts.
///
/// # Errors
/// When the list has another length, or nothing is present.
pub(super) fn absences(
    present: Option<Vec<bool>>,
    count: usize,
    item: &str,
) -> Result<Option<Vec<bool>>> {
    let Some(present) = present else {
        return Ok(None);
    };
    if present.len() != count {
        let found = present.len();
        return Err(Error::setting(format!(
            "`present` has {found} values for {count} {item}s"
        )));
    }
    if !present.contains(&true) {
        return Err(Error::setting(format!("no {item} is present")));
    }
    Ok(present.contains(&false).then_some(present))
}

/// Which items are present if `present` are, `None` for all of them, without some of these.
pub(super) fn present_without(
    present: Option<&[bool]>,
    count: usize,
    without: &[u32],
) -> Vec<bool> {
    let mut rest = present.map_or_else(|| vec![true; count], <[bool]>::to_vec);
    for item in without {
        rest[*item as usize] = false;
    }
    rest
}

/// The values of the present items.
pub(super) fn of_present(values: &[f64], present: &[bool]) -> Vec<f64> {
    let all = values.iter().zip(present);
    all.filter(|(_, present)| **present)
        .map(|(value, _)| *value)
        .collect()
}

/// Sets the values of absent items that are not finite to 0: they do not count, and files of
/// problems have no place for them.
pub(super) fn clear_absent(values: &mut [f64], present: Option<&[bool]>) {
    for (value, present) in values.iter_mut().zip(present.unwrap_or_default()) {
        if !present && !value.is_finite() {
            *value = 0.0;
        }
    }
}

/// Some of the items or nodes of a problem, and the smaller problem of these.
#[derive(Debug, PartialEq)]
pub struct Subset<K> {
    /// The singular of what may be absent.
    item: &'static str,
    /// Whether each item or node of the full problem is present; not all of them are.
    present: Vec<bool>,
    /// Whether each cost of the full problem exists.
    present_costs: Vec<bool>,
    /// The costs of the smaller problem as indices of those of the full one; increasing.
    indices: Arc<[u32]>,
    smaller: K,
}

impl<K> Subset<K> {
    /// A subset of items, each of which has one cost.
    pub fn of_items(present: Vec<bool>, smaller: K) -> Self {
        let items = (0..).zip(&present).filter(|(_, present)| **present);
        Self {
            item: "item",
            indices: items.map(|(item, _)| item).collect(),
            present_costs: present.clone(),
            present,
            smaller,
        }
    }

    /// A subset of the nodes of a complete graph, each edge of which has one cost. The last nodes
    /// are listed; those before them, if any, are always present. `item` is what messages call a
    /// listed node.
    pub fn of_nodes(item: &'static str, present: Vec<bool>, nodes: usize, smaller: K) -> Self {
        let always = nodes - present.len();
        let listed = (always..nodes).filter(|node| present[node - always]);
        let visited: Vec<usize> = (0..always).chain(listed).collect();
        let mut present_costs = vec![false; num_edges(nodes)];
        let mut indices = Vec::with_capacity(num_edges(visited.len()));
        // Pairs of increasing nodes in lexicographic order, as both problems number their edges, so
        // the indices increase.
        for (position, first) in visited.iter().enumerate() {
            for second in &visited[position + 1..] {
                let edge = edge_index(nodes, *first, *second);
                present_costs[edge] = true;
                indices.push(edge as u32);
            }
        }
        Self {
            item,
            present,
            present_costs,
            indices: indices.into(),
            smaller,
        }
    }

    /// The same subset of another problem.
    pub fn with_smaller(&self, smaller: K) -> Self {
        Self {
            item: self.item,
            present: self.present.clone(),
            present_costs: self.present_costs.clone(),
            indices: Arc::clone(&self.indices),
            smaller,
        }
    }

    /// The problem of the present items.
    pub fn smaller(&self) -> &K {
        &self.smaller
    }

    /// The end of a problem's name: how many of its items are present.
    fn name_suffix(&self) -> String {
        let count = self.present.iter().filter(|present| **present).count();
        format!(
            " ({count} of {} {}s present)",
            self.present.len(),
            self.item
        )
    }
}

/// The present items or nodes of a problem, if not all of them are; serialized as zeros and ones.
#[derive(Debug, Clone, PartialEq)]
pub struct MaybeSubset<K>(Option<Arc<Subset<K>>>);

impl<K> MaybeSubset<K> {
    /// All items are present.
    pub const ALL: Self = Self(None);

    pub fn of(subset: Subset<K>) -> Self {
        Self(Some(Arc::new(subset)))
    }

    /// Whether all items are present.
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// The smaller problem; `None` if all items are present.
    pub fn get(&self) -> Option<&Subset<K>> {
        self.0.as_deref()
    }

    /// Whether each item or node is present; `None` if all are.
    pub fn present(&self) -> Option<&[bool]> {
        self.get().map(|subset| &subset.present[..])
    }

    /// Whether each cost exists; `None` if all do.
    pub fn present_costs(&self) -> Option<&[bool]> {
        self.get().map(|subset| &subset.present_costs[..])
    }

    /// Whether an item or node, by its place in the list, is present.
    pub fn is_present(&self, index: usize) -> bool {
        self.present().is_none_or(|present| present[index])
    }

    /// Whether a cost exists.
    pub fn has_cost(&self, index: usize) -> bool {
        self.present_costs().is_none_or(|present| present[index])
    }

    /// Checks that a choice of items contains no absent one.
    ///
    /// # Errors
    /// The first absent item, as a message.
    pub fn check_items(&self, decision: &Decision) -> std::result::Result<(), String> {
        let mut chosen = decision.indices().iter();
        match chosen.find(|item| !self.is_present(**item as usize)) {
            Some(item) => Err(format!("item {item} is chosen, but it is absent")),
            None => Ok(()),
        }
    }
}

impl<K> Serialize for MaybeSubset<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let present = self.present();
        let flags =
            present.map(|present| present.iter().copied().map(u8::from).collect::<Vec<_>>());
        flags.serialize(serializer)
    }
}

/// A problem some of whose items or nodes may be absent. A kind that implements this describes the
/// problem in which all are present, also with its capabilities; the [`ProblemKind`] that follows
/// from it passes every call to the smaller problem if there is one.
pub trait PartialKind:
    CostNaming
    + SolverTraits
    + FailureReasons
    + Sensitivity
    + DecisionGeometry
    + Choices
    + Send
    + Sync
    + fmt::Debug
    + std::any::Any
    + Sized
{
    /// The items or nodes that are present.
    fn subset(&self) -> &MaybeSubset<Self>;

    /// The name in tables and messages, without the number of present items.
    fn title(&self) -> String;

    /// The objective sense.
    fn objective_sense(&self) -> Sense;

    /// Number of costs, with those of absent items.
    fn count_costs(&self) -> usize;

    /// What a solve costs if all items are present.
    fn full_cost_hint(&self) -> SolveCostHint;

    /// A solver if all items are present.
    fn full_solver(&self, limits: &SearchLimits) -> Box<dyn Solver>;

    /// See [`ProblemKind::reuse_solver`]; called if all items are present.
    fn reuse_full_solver(&self, _solver: &mut dyn Solver) -> bool {
        false
    }

    /// Checks a decision of the problem with its absent items: their numbers are in messages.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    fn check_present(&self, decision: &Decision) -> std::result::Result<(), String>;
}

impl<K: PartialKind> ProblemKind for K {
    fn name(&self) -> String {
        let suffix = self.subset().get().map(Subset::name_suffix);
        self.title() + &suffix.unwrap_or_default()
    }

    fn sense(&self) -> Sense {
        self.objective_sense()
    }

    fn num_costs(&self) -> usize {
        self.count_costs()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.subset().present_costs()
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        match self.subset().get() {
            Some(subset) => subset.smaller.full_cost_hint(),
            None => self.full_cost_hint(),
        }
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        match self.subset().get() {
            Some(subset) => Box::new(subset.with_numbers(subset.smaller.full_solver(limits))),
            None => self.full_solver(limits),
        }
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        self.subset().is_all() && self.reuse_full_solver(solver)
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        self.check_present(decision)
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        let all = KindCapabilities {
            solver_traits: self,
            ..KindCapabilities::of(self)
        };
        match self.subset().get() {
            Some(subset) => KindCapabilities {
                solver_traits: subset,
                // Messages name no items, so those of the smaller problem hold for the full one.
                failure_reasons: &subset.smaller,
                sensitivity: subset,
                geometry: subset,
                ..all
            },
            None => all,
        }
    }
}

impl<K> Subset<K> {
    fn with_numbers<S>(&self, inner: S) -> Renumbered<S> {
        Renumbered::new(inner, self.present_costs.len(), &self.indices)
    }
}

impl<K: PartialKind> SolverTraits for Subset<K> {
    fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        let inner = self.smaller.local_search(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        let inner = self.smaller.fast_local_search(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }
}

impl<K: PartialKind> Sensitivity for Subset<K> {
    fn relaxation_solver(
        &self,
        kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        let inner = self.smaller.relaxation_solver(kind, limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        let inner = self.smaller.cost_ranging(kind, limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    fn adjacent_vertices(&self, limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        let inner = self.smaller.adjacent_vertices(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }
}

impl<K: PartialKind> DecisionGeometry for Subset<K> {
    /// `None` also for a decision that chooses something absent.
    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let decision = to_smaller(decision, &self.indices)?;
        let cone = self.smaller.cone(&decision)?;
        Some(cone.with_absent(&self.indices, self.present_costs.len()))
    }

    fn has_cones(&self) -> bool {
        self.smaller.has_cones()
    }

    fn has_vertex_decisions(&self) -> bool {
        self.smaller.has_vertex_decisions()
    }

    /// The constraints of the smaller problem, with the numbers of the full one.
    fn equality_constraints(&self) -> EqualityConstraints {
        let smaller = self.smaller.equality_constraints();
        smaller.with_numbers(&self.indices)
    }

    fn may_contain_decisions(&self) -> bool {
        self.smaller.may_contain_decisions()
    }
}
