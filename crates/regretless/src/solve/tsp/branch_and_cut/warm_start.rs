//! What is kept of a relaxation: its columns, its tight cuts, its basis, and the multipliers behind
//! it.
//!
//! After a change of costs the old basis is still primal feasible, so that the primal simplex
//! method goes on from it; cuts and columns that mattered before mostly matter again, which saves
//! the rounds in which they were found. Rows that were slack are left out: a basis without them is
//! a basis.

use super::cuts::TspCut;
use super::master::{EdgeEnds, TspMasterLp};
use super::root::RootRelaxation;
use crate::solve::SolveFailure;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::highs::{Basis, BasisStatus};
use crate::solve::tsp::warm_start::TspWarmStart;
use crate::solve::warm_start::{CostSample, WarmStartState};

/// Columns per node that are kept beside those in the basis.
const KEPT_COLUMNS_PER_NODE: usize = 6;

/// A relaxation at its optimum.
#[derive(Debug)]
pub(super) struct RootWarmStart {
    edges: Box<[EdgeEnds]>,
    cuts: Box<[TspCut]>,
    basis: Basis,
    potentials: Box<[f64]>,
}

impl RootWarmStart {
    /// What is worth keeping of a relaxation that was just solved; nothing when it has no basis.
    pub(super) fn of(root: &RootRelaxation, distances: &DistanceMatrix) -> Option<Self> {
        let basis = root.master.basis()?;
        let nodes = root.master.nodes();
        let keep = columns_to_keep(root, distances, &basis.columns);
        let edges = root
            .master
            .edges
            .iter()
            .zip(&keep)
            .filter(|(_, keep)| **keep)
            .map(|(ends, _)| *ends);
        let columns = basis
            .columns
            .iter()
            .zip(&keep)
            .filter(|(_, keep)| **keep)
            .map(|(status, _)| *status);
        let (degrees, rows) = basis.rows.split_at(nodes);
        let tight = root
            .master
            .cuts()
            .zip(rows)
            .filter(|(_, status)| **status != BasisStatus::Basic);
        let rows = degrees
            .iter()
            .copied()
            .chain(tight.clone().map(|(_, status)| *status))
            .collect();
        Some(Self {
            edges: edges.collect(),
            cuts: tight.map(|(cut, _)| cut.clone()).collect(),
            basis: Basis {
                columns: columns.collect(),
                rows,
            },
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
        let sets = self
            .cuts
            .iter()
            .flat_map(|cut| &cut.sets)
            .map(|set| size_of_val(set) + size_of_val(&**set));
        size_of_val(&*self.edges)
            + size_of_val(&*self.cuts)
            + sets.sum::<usize>()
            + self.basis.columns.len()
            + self.basis.rows.len()
            + size_of_val(&*self.potentials)
    }

    /// Adds cuts and basis to a relaxation that has the columns.
    pub(super) fn restore(&self, master: &mut TspMasterLp) -> Result<(), SolveFailure> {
        if !self.cuts.is_empty() {
            master.add_cuts(self.cuts.to_vec())?;
        }
        master.set_basis(&self.basis)
    }
}

/// Marks the columns in the basis or at 1, and of the others those with the least reduced costs.
fn columns_to_keep(
    root: &RootRelaxation,
    distances: &DistanceMatrix,
    stands: &[BasisStatus],
) -> Vec<bool> {
    let mut idle: Vec<(f64, u32)> = Vec::new();
    let mut keep = vec![true; stands.len()];
    for (column, ([i, j], status)) in root.master.edges.iter().zip(stands).enumerate() {
        match status {
            BasisStatus::Basic | BasisStatus::Upper => {}
            BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                idle.push((
                    root.prices.reduced(distances.between(*i, *j), *i, *j),
                    column as u32,
                ));
            }
        }
    }
    let max = KEPT_COLUMNS_PER_NODE * distances.nodes();
    if idle.len() > max {
        idle.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        idle[max..]
            .iter()
            .for_each(|(_, column)| keep[*column as usize] = false);
    }
    keep
}

/// The memory of a relaxation that is an end in itself.
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

/// The memory of an exact search: the tour and its multipliers, and the root if there was need of
/// one.
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
        self.root = None;
    }
}
