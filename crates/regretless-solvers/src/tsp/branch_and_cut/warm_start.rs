//! Warm starts from a root relaxation: its columns, binding cuts, basis and node potentials.
//!
//! After a change of costs the old basis is still primal feasible, so the primal simplex method
//! starts from it. Most cuts and columns that were active are active again, which saves the rounds
//! of separation and pricing that found them. Slack rows are omitted: without them the basis is
//! still a basis.

use super::cuts::TspCut;
use super::master::TspMasterLp;
use super::root::RootRelaxation;
use crate::SolveFailure;
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds};
use crate::highs::{Basis, BasisStatus};
use crate::tsp::warm_start::TspWarmStart;
use crate::warm_start::{CostSample, WarmStartState};

/// Nonbasic columns per node that are kept. More columns make the first LP slower, fewer require
/// more rounds of pricing.
const KEPT_COLUMNS_PER_NODE: usize = 6;

/// A root relaxation at its optimum.
#[derive(Debug)]
pub(super) struct RootWarmStart {
    edges: Box<[EdgeEnds]>,
    cuts: Box<[TspCut]>,
    basis: Basis,
    potentials: Box<[f64]>,
}

impl RootWarmStart {
    /// The warm start of a relaxation that was just solved; `None` when it has no basis.
    pub(super) fn from_root(root: &RootRelaxation, edge_costs: &EdgeCostMatrix) -> Option<Self> {
        let basis = root.master.basis()?;
        let nodes = root.master.nodes();
        // Columns of high reduced cost hardly ever enter again, and would slow down every warm
        // solve.
        let keep = columns_to_keep(root, edge_costs, &basis.columns);
        let (mut edges, mut columns) = (Vec::new(), Vec::new());
        for (column, keep) in keep.iter().enumerate() {
            if *keep {
                edges.push(root.master.edges[column]);
                columns.push(basis.columns[column]);
            }
        }
        let (degree_rows, cut_rows) = basis.rows.split_at(nodes);
        let (mut cuts, mut rows) = (Vec::new(), degree_rows.to_vec());
        for (cut, status) in root.master.cuts().zip(cut_rows) {
            // Rows that are not binding are left out: their slacks are basic, so the basis stays
            // square without both.
            if *status != BasisStatus::Basic {
                cuts.push(cut.clone());
                rows.push(*status);
            }
        }
        Some(Self {
            edges: edges.into(),
            cuts: cuts.into(),
            basis: Basis { columns, rows },
            potentials: root.prices.potential.as_slice().into(),
        })
    }

    pub(super) fn nodes(&self) -> usize {
        self.potentials.len()
    }

    pub(super) fn edges(&self) -> &[EdgeEnds] {
        &self.edges
    }

    pub(super) fn potentials(&self) -> &[f64] {
        &self.potentials
    }

    pub(super) fn bytes(&self) -> usize {
        let sets = self.cuts.iter().flat_map(|cut| &cut.sets);
        let set_bytes = sets.map(|set| size_of_val(set) + size_of_val(&**set));
        size_of_val(&*self.edges)
            + size_of_val(&*self.cuts)
            + set_bytes.sum::<usize>()
            + self.basis.columns.len()
            + self.basis.rows.len()
            + size_of_val(&*self.potentials)
    }

    /// Adds the cuts and the basis to a master LP that has the columns.
    pub(super) fn restore(&self, master: &mut TspMasterLp) -> Result<(), SolveFailure> {
        if !self.cuts.is_empty() {
            master.add_cuts(self.cuts.to_vec())?;
        }
        master.set_basis(&self.basis)
    }
}

/// Marks the columns that are basic or at 1, and of the others those of smallest reduced cost.
fn columns_to_keep(
    root: &RootRelaxation,
    edge_costs: &EdgeCostMatrix,
    statuses: &[BasisStatus],
) -> Vec<bool> {
    let mut nonbasic: Vec<(f64, u32)> = Vec::new();
    let mut keep = vec![true; statuses.len()];
    for (column, ([i, j], status)) in root.master.edges.iter().zip(statuses).enumerate() {
        match status {
            // Basic columns cannot be left out: the basis would be singular. Columns at 1 are part
            // of the point.
            BasisStatus::Basic | BasisStatus::Upper => {}
            BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                nonbasic.push((
                    root.prices.reduced_cost(edge_costs.between(*i, *j), *i, *j),
                    column as u32,
                ));
            }
        }
    }
    let max = KEPT_COLUMNS_PER_NODE * edge_costs.nodes();
    if nonbasic.len() > max {
        nonbasic.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, column) in &nonbasic[max..] {
            keep[*column as usize] = false;
        }
    }
    keep
}

/// Warm start of the relaxation as a separate solver.
#[derive(Debug)]
pub(super) struct RelaxationWarmStart {
    pub(super) sample: CostSample,
    pub(super) root: RootWarmStart,
}

impl WarmStartState for RelaxationWarmStart {
    fn bytes(&self) -> usize {
        self.sample.bytes() + self.root.bytes()
    }
}

/// Warm start of branch and cut: the tour and its multipliers, and the root relaxation if one was
/// solved.
#[derive(Debug)]
pub(super) struct TspCutWarmStart {
    pub(super) tour: TspWarmStart,
    pub(super) root: Option<RootWarmStart>,
}

impl WarmStartState for TspCutWarmStart {
    fn bytes(&self) -> usize {
        self.tour.bytes() + self.root.as_ref().map_or(0, RootWarmStart::bytes)
    }

    fn shrink(&mut self) {
        // The root is far larger than the tour, which alone already makes a warm solve.
        self.root = None;
    }
}
