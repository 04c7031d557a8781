//! Branching: on an edge of fractional value, or on a set S of customers with fractional x(δ(S))/2
//! (the number of times that vehicles visit S, see `cuts`), whichever raises the bounds of both
//! children most.
//!
//! The first time, the gain of a branching is estimated by a few dual simplex iterations (strong
//! branching; Applegate, Bixby, Chvátal and Cook 1995); later by its pseudocosts, the gains per
//! unit of change of the first time.

use std::collections::HashMap;
use std::rc::Rc;

use super::cuts::CvrpCut;
use super::master::{BasisSnapshot, CvrpMasterLp};
use super::support_graph::INTEGRALITY_TOLERANCE;
use crate::SolveFailure;
use crate::highs::LpStatus;

/// Candidate edges, the most fractional first. More candidates choose better but take two trial
/// solves each.
const MAX_BRANCH_EDGES: usize = 6;
/// Candidate sets. One is enough: the sets found are mostly similar, and each becomes a row.
const MAX_BRANCH_SETS: usize = 1;
/// Dual simplex iterations of a trial solve: enough to rank candidates, a fraction of a full solve.
const STRONG_BRANCHING_ITERATIONS: u32 = 12;
/// The set with x(δ(S))/2 closest to this is the candidate: about halfway between one and two
/// visits, so both children change the point.
const TARGET_CROSSINGS: f64 = 1.45;
/// Gains are capped at this many times the remaining gap: a child that gains more is pruned anyway.
const MAX_GAIN_FACTOR: f64 = 2.0;
/// Without an incumbent, the remaining gap is assumed to be this fraction of the objective.
const ASSUMED_RELATIVE_GAP: f64 = 0.1;
/// Smallest gap that is assumed, relative to the objective, so scores stay positive.
const MIN_RELATIVE_GAP: f64 = 1e-9;
/// Fraction of the largest gain that is added to both gains of a score, so a child without gain
/// does not make all scores zero.
const SCORE_OFFSET: f64 = 1e-3;

/// The variable or row that a branching bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BranchTarget {
    /// An edge, by its column of the master LP.
    Edge(usize),
    /// A set of customers, by the index of its cut in the pool.
    Set(u32),
}

impl BranchTarget {
    /// Current bounds.
    fn bounds(self, master: &CvrpMasterLp) -> [f64; 2] {
        match self {
            Self::Edge(column) => master.relaxation.bounds()[column],
            Self::Set(cut) => master.row_bounds(cut),
        }
    }

    fn set_bounds(self, master: &mut CvrpMasterLp, bounds: [f64; 2]) -> Result<(), SolveFailure> {
        match self {
            Self::Edge(column) => master.relaxation.set_bounds(column, bounds),
            Self::Set(cut) => master.set_row_bounds(cut, bounds),
        }
    }
}

/// Branching decisions from a node up to the root.
#[derive(Debug)]
pub(super) struct CvrpBranchPath {
    pub(super) target: BranchTarget,
    pub(super) bounds: [f64; 2],
    pub(super) parent: Option<Rc<CvrpBranchPath>>,
}

impl CvrpBranchPath {
    /// Enforces this decision alone.
    pub(super) fn enforce(&self, master: &mut CvrpMasterLp) -> Result<(), SolveFailure> {
        let [lower, upper] = self.target.bounds(master);
        // Reduced cost fixing with a better incumbent may exclude the decision. It is enforced
        // nevertheless, because the LP solver rejects a lower bound above the upper one; the node
        // Bounds that cross would be an error of the LP solver, not an infeasible node.
        // is then pruned by its bound.
        let bounds = [
            lower.max(self.bounds[0]).min(self.bounds[1]),
            upper.min(self.bounds[1]).max(self.bounds[0]),
        ];
        self.target.set_bounds(master, bounds)
    }

    /// Enforces all decisions from here up to the root.
    pub(super) fn apply(&self, master: &mut CvrpMasterLp) -> Result<(), SolveFailure> {
        let mut next = Some(self);
        while let Some(decision) = next {
            decision.enforce(master)?;
            next = decision.parent.as_deref();
        }
        Ok(())
    }
}

/// A branching: its target, and the bounds of the two children, the one of smaller gain first.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchingChoice {
    pub(super) target: BranchTarget,
    pub(super) children: [[f64; 2]; 2],
}

/// Strong branching with pseudocosts.
#[derive(Debug, Default)]
pub(super) struct BranchingRule {
    /// Gain per unit of change of branching down and up, once estimated.
    pseudocosts: HashMap<BranchTarget, [Option<f64>; 2]>,
    /// Pool index of each candidate set.
    set_cuts: HashMap<Vec<u32>, u32>,
}

impl BranchingRule {
    /// The branching at the point solved last; `branch_sets` are the candidate sets of the
    /// separation.
    pub(super) fn choose(
        &mut self,
        master: &mut CvrpMasterLp,
        branch_sets: &[(f64, Vec<u32>)],
        basis: Option<&BasisSnapshot>,
        cutoff: f64,
    ) -> Result<Option<BranchingChoice>, SolveFailure> {
        let objective = master.objective();
        let candidates = self.candidates(master, branch_sets)?;
        let is_set = |target: &BranchTarget| matches!(target, BranchTarget::Set(_));
        // The row of a set may have replaced other rows.
        // All candidates must be tried from the same basis, or else their gains could not be
        // compared.
        if let Some(basis) = basis
            && candidates.iter().any(|(target, _)| is_set(target))
        {
            master.restore(basis)?;
        }
        // Without an incumbent the cutoff is infinite, and so would be all scores.
        let gap = if cutoff.is_finite() {
            cutoff - objective
        } else {
            ASSUMED_RELATIVE_GAP * objective.abs()
        };
        let max_gain = gap.max(MIN_RELATIVE_GAP * (1.0 + objective.abs())) * MAX_GAIN_FACTOR;
        // A few iterations rank the candidates as well as full solves do, as long as all have the
        // same number.
        master.limit_iterations(Some(STRONG_BRANCHING_ITERATIONS))?;
        let mut chosen: Option<(f64, BranchingChoice)> = None;
        for (target, value) in candidates {
            let [lower, upper] = target.bounds(master);
            let children = [[lower, value.floor()], [value.ceil(), upper]];
            let changes = [value - value.floor(), value.ceil() - value];
            let mut gains = [0.0; 2];
            // Each target is tried once: later gains follow from the pseudocost, the gain per unit
            // of change.
            for side in 0..2 {
                let pseudocosts = self.pseudocosts.get(&target);
                gains[side] = match pseudocosts.and_then(|both_sides| both_sides[side]) {
                    Some(pseudocost) => (pseudocost * changes[side]).min(max_gain),
                    None => {
                        let child_objective = probe(master, target, children[side], basis)?;
                        // Rounding may put the child's objective below the parent's.
                        (child_objective - objective).clamp(0.0, max_gain)
                    }
                };
                self.pseudocosts.entry(target).or_default()[side]
                    .get_or_insert(gains[side] / changes[side]);
            }
            let offset = SCORE_OFFSET * max_gain;
            // The product rule prefers targets of which both children gain.
            let score = (gains[0] + offset) * (gains[1] + offset);
            // Strictly greater: ties keep the first candidate, which is the most fractional one.
            if chosen.is_none_or(|(max_score, _)| score > max_score) {
                // The child of smaller gain is entered next; the other one is likelier to be pruned
                // from the queue.
                let children = if gains[0] <= gains[1] {
                    children
                } else {
                    [children[1], children[0]]
                };
                chosen = Some((score, BranchingChoice { target, children }));
            }
        }
        master.limit_iterations(None)?;
        Ok(chosen.map(|(_, choice)| choice))
    }

    /// Candidate edges and sets with their values.
    fn candidates(
        &mut self,
        master: &mut CvrpMasterLp,
        branch_sets: &[(f64, Vec<u32>)],
    ) -> Result<Vec<(BranchTarget, f64)>, SolveFailure> {
        let mut candidates = fractional_edges(master.values());
        for set in sets_nearest_target(branch_sets) {
            // A set that was branched on before has a row in the pool.
            let cut = match self.set_cuts.get(&set) {
                Some(cut) => *cut,
                None => {
                    let cut = master.add_cuts(&[CvrpCut::branching(set.clone())])?;
                    self.set_cuts.insert(set, cut);
                    cut
                }
            };
            let value = master.activity(cut);
            // A set with an integral activity would leave both children as they are.
            if (value - value.round()).abs() > INTEGRALITY_TOLERANCE {
                candidates.push((BranchTarget::Set(cut), value));
            }
        }
        Ok(candidates)
    }
}

/// The most fractional edges with their values.
fn fractional_edges(values: &[f64]) -> Vec<(BranchTarget, f64)> {
    let mut edges: Vec<(f64, usize)> = Vec::new();
    for (column, value) in values.iter().enumerate() {
        // The distance to the nearest integer: depot edges may be used twice.
        let fractionality = (value - value.floor()).min(value.ceil() - value);
        if fractionality > INTEGRALITY_TOLERANCE {
            edges.push((fractionality, column));
        }
    }
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    edges.truncate(MAX_BRANCH_EDGES);
    edges
        .into_iter()
        .map(|(_, column)| (BranchTarget::Edge(column), values[column]))
        .collect()
}

/// The sets whose x(δ(S))/2 is closest to [`TARGET_CROSSINGS`].
fn sets_nearest_target(branch_sets: &[(f64, Vec<u32>)]) -> impl Iterator<Item = Vec<u32>> {
    let mut sets: Vec<(f64, Vec<u32>)> = Vec::with_capacity(branch_sets.len());
    for (crossings, set) in branch_sets {
        let mut set = set.clone();
        // Sorted, so a set is recognized however it was grown.
        set.sort_unstable();
        sets.push(((crossings - TARGET_CROSSINGS).abs(), set));
    }
    sets.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    sets.into_iter().take(MAX_BRANCH_SETS).map(|(_, set)| set)
}

/// Objective after a few iterations with one more decision; infinite when that is infeasible or
/// above the cutoff.
fn probe(
    master: &mut CvrpMasterLp,
    target: BranchTarget,
    bounds: [f64; 2],
    basis: Option<&BasisSnapshot>,
) -> Result<f64, SolveFailure> {
    let previous = target.bounds(master);
    target.set_bounds(master, bounds)?;
    let objective = match master.run()? {
        // Both are pruned: the child cannot contain better routes.
        LpStatus::Infeasible | LpStatus::ObjectiveBound => f64::INFINITY,
        LpStatus::Optimal | LpStatus::IterationLimit => master.objective(),
        other @ (LpStatus::Unbounded | LpStatus::UnboundedOrInfeasible | LpStatus::NodeLimit) => {
            let message = format!("a strong branching trial ended with status {other:?}");
            return Err(SolveFailure::SolverError(message));
        }
    };
    // Bounds and basis are those of the node again before the next candidate.
    target.set_bounds(master, previous)?;
    if let Some(basis) = basis {
        master.restore(basis)?;
    }
    Ok(objective)
}
