//! What to decide next: an edge with a fractional value, or a set of customers whose visits are
//! fractional, whichever raises the bounds of both children most.
//!
//! The effect of a decision is found by a few steps of dual simplex the first time, and taken from
//! what was learnt then afterwards (Applegate, Bixby, Chvátal and Cook 1995).

use std::collections::HashMap;
use std::rc::Rc;

use super::cuts::CvrpCut;
use super::master::{BasisSnapshot, CvrpMasterLp};
use super::support_graph::INTEGRALITY_TOLERANCE;
use crate::solve::SolveFailure;
use crate::solve::highs::LpStatus;

/// Fractional edges that are considered.
const MAX_BRANCH_EDGES: usize = 6;
/// Sets that are considered.
const MAX_BRANCH_SETS: usize = 1;
/// Steps of dual simplex that a consideration takes.
const STRONG_BRANCHING_ITERATIONS: u32 = 12;
/// Visits of a set that make it most worth considering.
const TARGET_CROSSINGS: f64 = 1.45;

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BranchTarget {
    /// A column.
    Edge(usize),
    /// A row of the pool.
    Set(u32),
}

impl BranchTarget {
    fn limits(self, master: &CvrpMasterLp) -> [f64; 2] {
        match self {
            Self::Edge(column) => master.bounds(column),
            Self::Set(place) => master.limits(place),
        }
    }

    fn set(self, master: &mut CvrpMasterLp, limits: [f64; 2]) -> Result<(), SolveFailure> {
        match self {
            Self::Edge(column) => master.set_bounds(column, limits),
            Self::Set(place) => master.set_limits(place, limits),
        }
    }
}

/// Decisions from a node up to the root.
#[derive(Debug)]
pub(super) struct CvrpBranchPath {
    pub(super) at: BranchTarget,
    pub(super) limits: [f64; 2],
    pub(super) above: Option<Rc<CvrpBranchPath>>,
}

impl CvrpBranchPath {
    /// Enforces this decision alone.
    pub(super) fn enforce(&self, master: &mut CvrpMasterLp) -> Result<(), SolveFailure> {
        let [low, high] = self.at.limits(master);
        // Where better routes found meanwhile exclude the decision, it is enforced all the same:
        // bounds that contradict each other would be refused, and the node then closes by its
        // bound.
        let limits = [
            low.max(self.limits[0]).min(self.limits[1]),
            high.min(self.limits[1]).max(self.limits[0]),
        ];
        self.at.set(master, limits)
    }

    /// Enforces all decisions from here up to the root.
    pub(super) fn apply(&self, master: &mut CvrpMasterLp) -> Result<(), SolveFailure> {
        let mut at = Some(self);
        while let Some(decision) = at {
            decision.enforce(master)?;
            at = decision.above.as_deref();
        }
        Ok(())
    }
}

/// A choice: what is decided, and the limits of the two children, the more promising first.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchingChoice {
    pub(super) at: BranchTarget,
    pub(super) children: [[f64; 2]; 2],
}

/// Chooses decisions and remembers their effects.
#[derive(Debug, Default)]
pub(super) struct BranchingRule {
    /// What deciding down or up costs per unit of change, once known.
    effects: HashMap<BranchTarget, [Option<f64>; 2]>,
    /// Places in the pool of sets that were considered.
    places: HashMap<Vec<u32>, u32>,
}

impl BranchingRule {
    /// The decision to make at the point solved last.
    pub(super) fn choose(
        &mut self,
        master: &mut CvrpMasterLp,
        between: &[(f64, Vec<u32>)],
        basis: Option<&BasisSnapshot>,
        cutoff: f64,
    ) -> Result<Option<BranchingChoice>, SolveFailure> {
        let objective = master.objective();
        let candidates = self.candidates(master, between)?;
        if let (Some(basis), true) = (
            basis,
            candidates
                .iter()
                .any(|(at, _)| matches!(at, BranchTarget::Set(_))),
        ) {
            master.restore(basis)?;
        }
        let room = if cutoff.is_finite() {
            cutoff - objective
        } else {
            0.1 * objective.abs()
        };
        let max = room.max(1e-9 * (1.0 + objective.abs())) * 2.0;
        master.limit_iterations(Some(STRONG_BRANCHING_ITERATIONS))?;
        let mut chosen: Option<(f64, BranchingChoice)> = None;
        for (at, value) in candidates {
            let [low, high] = at.limits(master);
            let children = [[low, value.floor()], [value.ceil(), high]];
            let mut gains = [0.0; 2];
            for side in 0..2 {
                let local_move = if side == 0 {
                    value - value.floor()
                } else {
                    value.ceil() - value
                };
                gains[side] = match self.effects.get(&at).and_then(|effects| effects[side]) {
                    Some(effect) => (effect * local_move).min(max),
                    None => (probe(master, at, children[side], basis)? - objective).clamp(0.0, max),
                };
                self.effects.entry(at).or_default()[side].get_or_insert(gains[side] / local_move);
            }
            let score = (gains[0] + 1e-3 * max) * (gains[1] + 1e-3 * max);
            if chosen.is_none_or(|(highest, _)| score > highest) {
                let children = if gains[0] <= gains[1] {
                    children
                } else {
                    [children[1], children[0]]
                };
                chosen = Some((score, BranchingChoice { at, children }));
            }
        }
        master.limit_iterations(None)?;
        Ok(chosen.map(|(_, split)| split))
    }

    /// Edges and sets to consider, with their values.
    fn candidates(
        &mut self,
        master: &mut CvrpMasterLp,
        between: &[(f64, Vec<u32>)],
    ) -> Result<Vec<(BranchTarget, f64)>, SolveFailure> {
        let mut candidates = fractional_edges(master.values());
        for set in halfway_sets(between) {
            let place = match self.places.get(&set) {
                Some(place) => *place,
                None => {
                    let place = master.add_cuts(&[CvrpCut::free(set.clone())])?;
                    self.places.insert(set, place);
                    place
                }
            };
            let value = master.activity(place);
            if (value - value.round()).abs() > INTEGRALITY_TOLERANCE {
                candidates.push((BranchTarget::Set(place), value));
            }
        }
        Ok(candidates)
    }
}

/// The edges farthest from whole numbers, with their values.
fn fractional_edges(values: &[f64]) -> Vec<(BranchTarget, f64)> {
    let room = |value: f64| (value - value.floor()).min(value.ceil() - value);
    let mut edges: Vec<(f64, usize)> = values.iter().map(|value| room(*value)).zip(0..).collect();
    edges.retain(|(room, _)| *room > INTEGRALITY_TOLERANCE);
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    edges.truncate(MAX_BRANCH_EDGES);
    edges
        .into_iter()
        .map(|(_, column)| (BranchTarget::Edge(column), values[column]))
        .collect()
}

/// The sets whose visits are farthest from one and two.
fn halfway_sets(between: &[(f64, Vec<u32>)]) -> impl Iterator<Item = Vec<u32>> {
    let mut sets: Vec<(f64, Vec<u32>)> = between
        .iter()
        .map(|(half, set)| ((half - TARGET_CROSSINGS).abs(), set.clone()))
        .collect();
    sets.iter_mut().for_each(|(_, set)| set.sort_unstable());
    sets.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    sets.into_iter().take(MAX_BRANCH_SETS).map(|(_, set)| set)
}

/// Objective after a few steps with one more decision; infinite when there is no point.
fn probe(
    master: &mut CvrpMasterLp,
    at: BranchTarget,
    limits: [f64; 2],
    basis: Option<&BasisSnapshot>,
) -> Result<f64, SolveFailure> {
    let before = at.limits(master);
    at.set(master, limits)?;
    let objective = match master.run()? {
        LpStatus::Infeasible | LpStatus::ObjectiveBound => f64::INFINITY,
        LpStatus::Optimal | LpStatus::IterationLimit => master.objective(),
        other @ (LpStatus::Unbounded | LpStatus::UnboundedOrInfeasible | LpStatus::NodeLimit) => {
            return Err(SolveFailure::Engine(format!("a trial ended as {other:?}")));
        }
    };
    at.set(master, before)?;
    if let Some(basis) = basis {
        master.restore(basis)?;
    }
    Ok(objective)
}
