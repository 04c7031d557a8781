//! Problems of which some items or nodes are absent.
//!
//! Such a problem is solved as the smaller problem of the items that are present, so that every
//! result is that of the smaller problem bit for bit. Only the numbers of costs and variables
//! differ: a [`Subset`] translates those of the full problem and back. The variable of an absent
//! cost is fixed to 0.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::{EqualityConstraints, ProblemKind};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::complete_graph::{edge_index, num_edges};
use crate::solve::cone::NormalCone;
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanges, CostRanging, Relaxation, RelaxationSolver,
    VertexDelta,
};
use crate::solve::warm_start::WarmStart;
use crate::solve::{SearchLimits, Solution, SolveFailure, Solver};

/// Checks which items are present; `None` where all of them are. `item` is the singular of what the
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

/// Which items are present where `present` are, `None` for all of them, without some of these.
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
pub(super) struct Subset<K> {
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
            indices: items.map(|(item, _)| item).collect(),
            present_costs: present.clone(),
            present,
            smaller,
        }
    }

    /// A subset of the nodes of a complete graph, each edge of which has one cost. The last nodes
    /// are listed; those before them, if any, are always present.
    pub fn of_nodes(present: Vec<bool>, nodes: usize, smaller: K) -> Self {
        let always = nodes - present.len();
        let listed = (always..nodes).filter(|node| present[node - always]);
        let visited: Vec<usize> = (0..always).chain(listed).collect();
        let mut present_costs = vec![false; num_edges(nodes)];
        let mut indices = Vec::with_capacity(num_edges(visited.len()));
        for (position, first) in visited.iter().enumerate() {
            for second in &visited[position + 1..] {
                let edge = edge_index(nodes, *first, *second);
                present_costs[edge] = true;
                indices.push(edge as u32);
            }
        }
        Self {
            present,
            present_costs,
            indices: indices.into(),
            smaller,
        }
    }

    /// Whether each item or node is present.
    pub fn present(&self) -> &[bool] {
        &self.present
    }

    /// Whether each cost exists.
    pub fn present_costs(&self) -> &[bool] {
        &self.present_costs
    }

    /// The same subset of another problem.
    pub fn with_smaller(&self, smaller: K) -> Self {
        Self {
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
    pub fn name_suffix(&self, item: &str) -> String {
        let count = self.present.iter().filter(|present| **present).count();
        format!(" ({count} of {} {item}s present)", self.present.len())
    }
}

/// For problems whose items may all be present.
pub(super) trait MaybeSubset {
    /// Whether each item or node is present; `None` where all are.
    fn present(&self) -> Option<&[bool]>;

    /// Whether each cost exists; `None` where all do.
    fn present_costs(&self) -> Option<&[bool]>;

    /// The end of the problem's name: how many of its items are present, if not all of them.
    fn name_suffix(&self, item: &str) -> String;

    /// Whether an item or node, by its place in the list, is present.
    fn is_present(&self, index: usize) -> bool {
        self.present().is_none_or(|present| present[index])
    }

    /// Whether a cost exists.
    fn has_cost(&self, index: usize) -> bool {
        self.present_costs().is_none_or(|present| present[index])
    }

    /// Checks that a choice of items contains no absent one.
    ///
    /// # Errors
    /// The first absent item, as a message.
    fn check_items(&self, decision: &Decision) -> std::result::Result<(), String> {
        let mut chosen = decision.indices().iter();
        match chosen.find(|item| !self.is_present(**item as usize)) {
            Some(item) => Err(format!("item {item} is chosen, but it is absent")),
            None => Ok(()),
        }
    }
}

impl<K> MaybeSubset for Option<Arc<Subset<K>>> {
    fn present(&self) -> Option<&[bool]> {
        self.as_ref().map(|subset| subset.present())
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.as_ref().map(|subset| subset.present_costs())
    }

    fn name_suffix(&self, item: &str) -> String {
        self.as_ref()
            .map(|subset| subset.name_suffix(item))
            .unwrap_or_default()
    }
}

impl<K: ProblemKind> Subset<K> {
    fn with_numbers<S>(&self, inner: S) -> Renumbered<S> {
        Renumbered {
            inner,
            num_costs: self.present_costs.len(),
            indices: Arc::clone(&self.indices),
            costs: Vec::with_capacity(self.indices.len()),
        }
    }

    pub fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(self.with_numbers(self.smaller.solver(limits)))
    }

    pub fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        let inner = self.smaller.local_search(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    pub fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        let inner = self.smaller.fast_local_search(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    pub fn relaxation_solver(
        &self,
        kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        let inner = self.smaller.relaxation_solver(kind, limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    pub fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        let inner = self.smaller.cost_ranging(kind, limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    pub fn adjacent_vertices(&self, limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        let inner = self.smaller.adjacent_vertices(limits)?;
        Some(Box::new(self.with_numbers(inner)))
    }

    /// The constraints of the smaller problem, with the numbers of the full one.
    pub fn equality_constraints(&self) -> EqualityConstraints {
        let smaller = self.smaller.equality_constraints();
        smaller.with_numbers(&self.indices)
    }

    /// The normal cone of a decision that chooses nothing absent.
    pub fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let decision = to_smaller(decision, &self.indices)?;
        let cone = self.smaller.cone(&decision)?;
        Some(cone.with_absent(&self.indices, self.present_costs.len()))
    }
}

/// A decision of the full problem in the smaller one; `None` if it chooses something absent.
fn to_smaller(decision: &Decision, indices: &[u32]) -> Option<Decision> {
    let mut entries = Vec::with_capacity(decision.indices().len());
    for (index, value) in decision.iter() {
        let smaller = indices.binary_search(&(index as u32)).ok()?;
        entries.push((smaller as u32, value));
    }
    Some(Decision::from_entries(entries).with_fixed(decision.fixed()))
}

/// A solver of the smaller problem as one of the full problem.
struct Renumbered<S> {
    inner: S,
    /// Number of costs of the full problem.
    num_costs: usize,
    indices: Arc<[u32]>,
    /// The costs of the smaller problem.
    costs: Vec<f64>,
}

impl<S> Renumbered<S> {
    /// Reads the costs of the smaller problem.
    fn read(&mut self, costs: &[f64]) -> std::result::Result<(), SolveFailure> {
        let (found, expected) = (costs.len(), self.num_costs);
        if found != expected {
            return Err(SolveFailure::SolverError(format!(
                "found {found} costs; the problem has {expected}"
            )));
        }
        self.costs.clear();
        let present = self.indices.iter().map(|index| costs[*index as usize]);
        self.costs.extend(present);
        Ok(())
    }

    fn to_full(&self, mut solution: Solution) -> Solution {
        solution.decision.renumber(&self.indices);
        solution
    }
}

impl Solver for Renumbered<Box<dyn Solver>> {
    fn nodes(&self) -> Option<u64> {
        self.inner.nodes()
    }

    fn work(&self) -> Option<u64> {
        self.inner.work()
    }

    fn auxiliary_values(&self) -> Vec<f64> {
        self.inner.auxiliary_values()
    }

    fn solve(&mut self, costs: &[f64]) -> std::result::Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.solve(&self.costs)?;
        Ok(self.to_full(solution))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> std::result::Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.solve_warm(&self.costs, warm_start)?;
        Ok(self.to_full(solution))
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.read(costs).ok()?;
        let solution = self.inner.certify(&self.costs, warm_start)?;
        Some(self.to_full(solution))
    }

    /// A start that chooses something absent is no decision and is ignored.
    fn solve_from(
        &mut self,
        costs: &[f64],
        start: &Decision,
    ) -> std::result::Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = match to_smaller(start, &self.indices) {
            Some(start) => self.inner.solve_from(&self.costs, &start)?,
            None => self.inner.solve(&self.costs)?,
        };
        Ok(self.to_full(solution))
    }

    fn solve_into(
        &mut self,
        costs: &[f64],
        solution: &mut Solution,
    ) -> std::result::Result<(), SolveFailure> {
        self.read(costs)?;
        self.inner.solve_into(&self.costs, solution)?;
        solution.decision.renumber(&self.indices);
        Ok(())
    }
}

impl RelaxationSolver for Renumbered<Box<dyn RelaxationSolver>> {
    fn relax(&mut self, costs: &[f64]) -> std::result::Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.relax(&self.costs)?;
        Ok(self.to_full(solution))
    }

    fn work(&self) -> Option<u64> {
        self.inner.work()
    }

    fn relax_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> std::result::Result<Solution, SolveFailure> {
        self.read(costs)?;
        let solution = self.inner.relax_warm(&self.costs, warm_start)?;
        Ok(self.to_full(solution))
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        self.read(costs).ok()?;
        let solution = self.inner.certify(&self.costs, warm_start)?;
        Some(self.to_full(solution))
    }
}

impl CostRanging for Renumbered<Box<dyn CostRanging>> {
    /// Absent costs may change without limit.
    fn ranges(&mut self, costs: &[f64]) -> std::result::Result<CostRanges, SolveFailure> {
        self.read(costs)?;
        let smaller = self.inner.ranges(&self.costs)?;
        let mut ranges = CostRanges::unbounded(self.num_costs);
        for (position, index) in self.indices.iter().enumerate() {
            ranges.lower[*index as usize] = smaller.lower[position];
            ranges.upper[*index as usize] = smaller.upper[position];
        }
        Ok(ranges)
    }
}

impl AdjacentVertices for Renumbered<Box<dyn AdjacentVertices>> {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> std::result::Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        self.read(costs)?;
        let (solution, mut deltas) = self.inner.adjacent_vertices(&self.costs)?;
        for delta in &mut deltas {
            delta.renumber(&self.indices);
        }
        Ok((self.to_full(solution), deltas))
    }
}

/// Writes which items are present as zeros and ones.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(super) fn serialize_present<K, S: Serializer>(
    subset: &Option<Arc<Subset<K>>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let flags = subset
        .present()
        .map(|present| present.iter().copied().map(u8::from).collect::<Vec<_>>());
    flags.serialize(serializer)
}
