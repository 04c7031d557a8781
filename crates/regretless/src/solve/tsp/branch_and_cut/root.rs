//! Solves the relaxation over all edges: cuts and columns are added until nothing is violated.
//!
//! Rows come first, by dual simplex; once no cut is violated all edges are priced, and those of
//! negative reduced cost join, by primal simplex.

use super::blossom::blossoms;
use super::cuts::TspCut;
use super::master::{CostScaling, EdgeEnds, TspMasterLp};
use super::pricing::DualPrices;
use super::subtour::separate_subtours;
use super::support_graph::TspSupportGraph;
use super::warm_start::RootWarmStart;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::cutting_plane::TailingOff;
use crate::solve::highs::{BasisStatus, Lp, LpStatus, SimplexMethod};
use crate::solve::tsp::branch_and_cut::initial_tour::number;
use crate::solve::{SolveFailure, check_not_cancelled};

/// Share of what is left that a round of cuts should gain.
pub(super) const MIN_RELATIVE_GAIN: f64 = 0.01;
/// Rounds in a row that may gain less.
pub(super) const MAX_TAILING_ROUNDS: u32 = 2;

/// How far from zero a reduced cost must be to be none, as the linear relaxation sees costs.
const REDUCED_COST_TOLERANCE: f64 = 1e-8;

/// Which cuts a relaxation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutFamily {
    /// None: degrees only.
    None,
    /// Rings.
    Subtour,
    /// Rings and blossoms.
    All,
}

/// The relaxation of one instance.
#[derive(Debug)]
pub(super) struct RootRelaxation {
    pub(super) master: TspMasterLp,
    pub(super) prices: DualPrices,
    pub(super) support: TspSupportGraph,
    /// Whether each edge of the complete graph is a column.
    present: Vec<bool>,
}

impl RootRelaxation {
    /// A relaxation with these edges, started from a tour among them.
    pub(super) fn new(
        distances: &DistanceMatrix,
        multipliers: &[f64],
        edges: &[EdgeEnds],
        order: &[u32],
    ) -> Result<Self, SolveFailure> {
        let mut root = Self::with_columns(distances, (multipliers, edges), Lp::new()?)?;
        root.master.start_from_tour(order)?;
        Ok(root)
    }

    /// A relaxation with the columns, cuts and basis of an earlier one, in this solver if there is
    /// one.
    pub(super) fn resume(
        distances: &DistanceMatrix,
        known: &RootWarmStart,
        spare_edges: Option<Lp>,
    ) -> Result<Self, SolveFailure> {
        let lp = spare_edges.map_or_else(Lp::new, Ok)?;
        let mut root = Self::with_columns(distances, (known.potentials(), known.edges()), lp)?;
        known.restore(&mut root.master)?;
        Ok(root)
    }

    fn with_columns(
        distances: &DistanceMatrix,
        (multipliers, edges): (&[f64], &[EdgeEnds]),
        lp: Lp,
    ) -> Result<Self, SolveFailure> {
        let nodes = distances.nodes();
        let mut master = TspMasterLp::within(
            lp,
            nodes,
            CostScaling::fitting(distances, multipliers, edges),
        )?;
        master.add_edges(distances, edges)?;
        let mut present = vec![false; nodes * (nodes - 1) / 2];
        edges
            .iter()
            .for_each(|ends| present[number(nodes, *ends) as usize] = true);
        Ok(Self {
            master,
            prices: DualPrices::default(),
            support: TspSupportGraph::default(),
            present,
        })
    }

    /// Adds cuts of a family and edges until none is violated, or until the bound exceeds `enough`.
    /// Returns the bound; prices are those that prove it.
    pub(super) fn add_cuts_and_columns(
        &mut self,
        distances: &DistanceMatrix,
        family: CutFamily,
        target_bound: f64,
    ) -> Result<f64, SolveFailure> {
        self.solve(SimplexMethod::Primal)?;
        loop {
            check_not_cancelled()?;
            self.cut(family, target_bound)?;
            let (bound, joined) = self.price(distances)?;
            if joined == 0 || bound > target_bound {
                return Ok(bound);
            }
            self.solve(SimplexMethod::Primal)?;
        }
    }

    fn solve(&mut self, method: SimplexMethod) -> Result<(), SolveFailure> {
        match self.master.solve(method)? {
            LpStatus::Optimal => Ok(()),
            other => Err(SolveFailure::Engine(format!(
                "a relaxation that has a tour ended as {other:?}"
            ))),
        }
    }

    /// Adds violated cuts as long as that helps.
    fn cut(&mut self, family: CutFamily, target_bound: f64) -> Result<(), SolveFailure> {
        let mut tail = TailingOff::new(self.master.objective(), MAX_TAILING_ROUNDS);
        while self.master.objective() <= target_bound {
            check_not_cancelled()?;
            self.support.fill(
                self.master.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = violated(&self.support, family);
            let objective = self.master.objective();
            if cuts.is_empty()
                || (family == CutFamily::All
                    && tail
                        .is_tailing_off(objective, MIN_RELATIVE_GAIN * (target_bound - objective)))
            {
                return Ok(());
            }
            self.master.add_cuts(cuts)?;
            self.solve(SimplexMethod::Dual)?;
        }
        Ok(())
    }

    /// Prices all edges. Adds the worst of those with negative reduced cost; returns the bound and
    /// how many joined.
    fn price(&mut self, distances: &DistanceMatrix) -> Result<(f64, usize), SolveFailure> {
        self.master.read_prices(&mut self.prices);
        let nodes = distances.nodes();
        let slack = 1e-9 / self.master.factor();
        let mut bound = self.master.bound(distances, &self.prices);
        let mut found: Vec<(f64, EdgeEnds)> = Vec::new();
        self.prices.scan(distances, 0.0, |i, j, reduced| {
            if !self.present[number(nodes, [i, j]) as usize] {
                bound += reduced;
                if reduced < -slack {
                    found.push((reduced, [i, j]));
                }
            }
        });
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(nodes.max(50));
        let edges: Vec<EdgeEnds> = found.into_iter().map(|(_, ends)| ends).collect();
        edges
            .iter()
            .for_each(|ends| self.present[number(nodes, *ends) as usize] = true);
        if !edges.is_empty() {
            self.master.add_edges(distances, &edges)?;
        }
        Ok((bound, edges.len()))
    }

    /// Whether every way out of the point costs something, so that it is the only optimum.
    pub(super) fn is_unique_optimum(&self, distances: &DistanceMatrix) -> bool {
        let Some(basis) = self.master.basis() else {
            return false;
        };
        let nodes = distances.nodes();
        let hair = REDUCED_COST_TOLERANCE / self.master.factor();
        let plain = |number: f64| number.abs() > hair;
        let columns = self
            .master
            .edges
            .iter()
            .zip(&basis.columns)
            .filter(|(_, status)| **status != BasisStatus::Basic);
        let reduced = |[i, j]: EdgeEnds| self.prices.reduced(distances.between(i, j), i, j);
        let mut rows = self.master.cut_duals().zip(&basis.rows[nodes..]);
        let mut only = columns.into_iter().all(|(ends, _)| plain(reduced(*ends)))
            && rows.all(|(dual, status)| *status == BasisStatus::Basic || plain(dual));
        self.prices.scan(distances, hair, |i, j, _| {
            only &= self.present[number(nodes, [i, j]) as usize]
        });
        only
    }

    /// Whether an edge is a column.
    pub(super) fn has(&self, ends: EdgeEnds) -> bool {
        self.present[number(self.master.nodes(), ends) as usize]
    }
}

/// Cuts of a family that a point violates.
pub(super) fn violated(support: &TspSupportGraph, family: CutFamily) -> Vec<TspCut> {
    match family {
        CutFamily::None => Vec::new(),
        CutFamily::Subtour => separate_subtours(support),
        CutFamily::All => {
            let mut cuts = separate_subtours(support);
            if support.is_connected() {
                cuts.extend(blossoms(support));
            }
            cuts
        }
    }
}
