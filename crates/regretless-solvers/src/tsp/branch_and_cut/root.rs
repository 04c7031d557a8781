//! The root relaxation over all edges: cuts and columns are added until none is violated.
//!
//! Cuts come first, with the dual simplex method; once no cut is violated all edges are priced, and
//! those of negative reduced cost are added, with the primal simplex method.

use super::blossom::separate_blossoms;
use super::cuts::TspCut;
use super::master::{CostScaling, TspMasterLp};
use super::pricing::DualPrices;
use super::subtour::separate_subtours;
use super::support_graph::TspSupportGraph;
use super::warm_start::RootWarmStart;
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds, edge_index_u32, num_edges};
use crate::cutting_plane::TailingOff;
use crate::highs::{BasisStatus, Lp, LpStatus, SimplexMethod};
use crate::{SolveFailure, check_not_stopped};

/// Fraction of the remaining gap that a round of cuts should close. Below it, branching closes the
/// gap faster than further rounds.
pub(super) const MIN_RELATIVE_GAIN: f64 = 0.01;
/// Consecutive rounds that may gain less before separation stops.
pub(super) const MAX_TAILING_ROUNDS: u32 = 2;

/// Smallest absolute reduced cost, in scaled units of the LP, that counts as nonzero: ten times the
/// feasibility tolerance of the simplex solver.
const REDUCED_COST_TOLERANCE: f64 = 1e-8;
/// Columns with a scaled reduced cost below minus this are added: the feasibility tolerance of the
/// simplex solver. Columns closer to zero would not enter the basis.
pub(super) const PRICING_TOLERANCE: f64 = 1e-9;
/// A round of pricing adds one column per node, but at least this many if there are as many of
/// negative reduced cost. The most negative ones are added first; most others are no longer
/// negative in the next round.
const MIN_COLUMNS_PER_ROUND: usize = 50;

/// The cuts that are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutFamily {
    /// None: degree constraints only.
    None,
    /// Subtour elimination constraints.
    Subtour,
    /// Subtour elimination constraints and blossom inequalities.
    All,
}

/// The relaxation of one instance.
#[derive(Debug)]
pub(super) struct RootRelaxation {
    pub(super) master: TspMasterLp,
    pub(super) prices: DualPrices,
    pub(super) support: TspSupportGraph,
    /// Whether each edge of the complete graph is a column.
    is_column: Vec<bool>,
}

impl RootRelaxation {
    /// A relaxation with these edges, started from the basis of a tour among them.
    pub(super) fn new(
        edge_costs: &EdgeCostMatrix,
        multipliers: &[f64],
        edges: &[EdgeEnds],
        order: &[u32],
    ) -> Result<Self, SolveFailure> {
        // Any tour is feasible in all relaxations, so the primal simplex method starts without a
        // first phase.
        let mut root = Self::with_columns(edge_costs, multipliers, edges, Lp::new()?)?;
        root.master.start_from_tour(order)?;
        Ok(root)
    }

    /// A relaxation with the columns, cuts and basis of an earlier one; reuses `unused_lp` if there
    /// is one.
    pub(super) fn restore(
        edge_costs: &EdgeCostMatrix,
        previous: &RootWarmStart,
        unused_lp: Option<Lp>,
    ) -> Result<Self, SolveFailure> {
        let lp = unused_lp.map_or_else(Lp::new, Ok)?;
        let mut root = Self::with_columns(edge_costs, previous.potentials(), previous.edges(), lp)?;
        previous.restore(&mut root.master)?;
        Ok(root)
    }

    fn with_columns(
        edge_costs: &EdgeCostMatrix,
        multipliers: &[f64],
        edges: &[EdgeEnds],
        lp: Lp,
    ) -> Result<Self, SolveFailure> {
        let nodes = edge_costs.nodes();
        let scaling = CostScaling::new(edge_costs, multipliers, edges);
        let mut master = TspMasterLp::with_solver(lp, nodes, scaling)?;
        master.add_edges(edge_costs, edges)?;
        let mut is_column = vec![false; num_edges(nodes)];
        for ends in edges {
            is_column[edge_index_u32(nodes, *ends) as usize] = true;
        }
        Ok(Self {
            master,
            prices: DualPrices::default(),
            support: TspSupportGraph::default(),
            is_column,
        })
    }

    /// Adds cuts of a family and edges until none is violated, or until the bound exceeds
    /// `target_bound`. Returns the bound; `prices` are the duals that prove it.
    pub(super) fn add_cuts_and_columns(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        family: CutFamily,
        target_bound: f64,
    ) -> Result<f64, SolveFailure> {
        // Primal: added columns keep the basis primal feasible, added cuts keep it dual feasible.
        self.solve(SimplexMethod::Primal)?;
        loop {
            check_not_stopped()?;
            self.add_violated_cuts(family, target_bound)?;
            let (bound, added) = self.price_edges(edge_costs)?;
            // Separation came first, so the point violates no cut that was found; without new
            // columns it is optimal.
            if added == 0 || bound > target_bound {
                return Ok(bound);
            }
            self.solve(SimplexMethod::Primal)?;
        }
    }

    fn solve(&mut self, method: SimplexMethod) -> Result<(), SolveFailure> {
        match self.master.solve(method)? {
            LpStatus::Optimal => Ok(()),
            // A tour is among the columns: only a failure of the solver ends otherwise.
            other => Err(SolveFailure::SolverError(format!(
                "the root relaxation, which contains a tour, ended with status {other:?}"
            ))),
        }
    }

    /// Adds violated cuts until there are none or the bound tails off.
    fn add_violated_cuts(
        &mut self,
        family: CutFamily,
        target_bound: f64,
    ) -> Result<(), SolveFailure> {
        let mut tailing_off = TailingOff::new(self.master.objective(), MAX_TAILING_ROUNDS);
        while self.master.objective() <= target_bound {
            check_not_stopped()?;
            self.support.fill(
                self.master.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = separate_cuts(&self.support, family);
            let objective = self.master.objective();
            // Infinite for a relaxation without a target: it is then separated to the end, since
            // its optimum is the result.
            let min_gain = MIN_RELATIVE_GAIN * (target_bound - objective);
            // Only branch and cut may stop before all subtours are separated, since branching
            // closes the gap.
            let may_stop = family == CutFamily::All;
            if cuts.is_empty() || (may_stop && tailing_off.is_tailing_off(objective, min_gain)) {
                return Ok(());
            }
            self.master.add_cuts(cuts)?;
            // New cuts are violated, so the basis is primal infeasible and dual feasible.
            self.solve(SimplexMethod::Dual)?;
        }
        Ok(())
    }

    /// Prices all edges and adds those of most negative reduced cost; returns the bound and the
    /// number of edges added.
    fn price_edges(&mut self, edge_costs: &EdgeCostMatrix) -> Result<(f64, usize), SolveFailure> {
        self.master.read_prices(&mut self.prices);
        let nodes = edge_costs.nodes();
        let tolerance = PRICING_TOLERANCE / self.master.factor();
        // With the terms of all edges of negative reduced cost, the bound is valid before pricing
        // has ended.
        let mut bound = self.master.bound(edge_costs, &self.prices);
        let mut negative: Vec<(f64, EdgeEnds)> = Vec::new();
        self.prices.scan(edge_costs, 0.0, |i, j, reduced_cost| {
            if !self.is_column[edge_index_u32(nodes, [i, j]) as usize] {
                bound += reduced_cost;
                if reduced_cost < -tolerance {
                    negative.push((reduced_cost, [i, j]));
                }
            }
        });
        // Ties are broken by the ends, so columns are added in a fixed order.
        negative.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Most of the others have nonnegative reduced cost after the next solve.
        negative.truncate(nodes.max(MIN_COLUMNS_PER_ROUND));
        let edges: Vec<EdgeEnds> = negative.into_iter().map(|(_, ends)| ends).collect();
        for ends in &edges {
            self.is_column[edge_index_u32(nodes, *ends) as usize] = true;
        }
        if !edges.is_empty() {
            self.master.add_edges(edge_costs, &edges)?;
        }
        Ok((bound, edges.len()))
    }

    /// Whether the optimal point is unique: all reduced costs of nonbasic variables are nonzero.
    pub(super) fn is_unique_optimum(&self, edge_costs: &EdgeCostMatrix) -> bool {
        let Some(basis) = self.master.basis() else {
            return false;
        };
        let nodes = edge_costs.nodes();
        let tolerance = REDUCED_COST_TOLERANCE / self.master.factor();
        // Zero up to the tolerance: another optimal point may exist.
        let is_nonzero = |value: f64| value.abs() > tolerance;
        let reduced_cost =
            |[i, j]: EdgeEnds| self.prices.reduced_cost(edge_costs.between(i, j), i, j);
        let mut columns = self.master.edges.iter().zip(&basis.columns);
        let mut rows = self.master.cut_duals().zip(&basis.rows[nodes..]);
        let is_basic = |status: &BasisStatus| *status == BasisStatus::Basic;
        let mut is_unique = columns
            .all(|(ends, status)| is_basic(status) || is_nonzero(reduced_cost(*ends)))
            && rows.all(|(dual, status)| is_basic(status) || is_nonzero(dual));
        // An edge that is no column, but has a reduced cost of about zero, could enter as well.
        self.prices.scan(edge_costs, tolerance, |i, j, _| {
            is_unique &= self.is_column[edge_index_u32(nodes, [i, j]) as usize];
        });
        is_unique
    }

    /// Whether an edge is a column.
    pub(super) fn has_column(&self, ends: EdgeEnds) -> bool {
        self.is_column[edge_index_u32(self.master.nodes(), ends) as usize]
    }
}

/// Violated cuts of a family at the point of a support graph.
pub(super) fn separate_cuts(support: &TspSupportGraph, family: CutFamily) -> Vec<TspCut> {
    match family {
        CutFamily::None => Vec::new(),
        CutFamily::Subtour => separate_subtours(support),
        CutFamily::All => {
            let mut cuts = separate_subtours(support);
            // Blossoms are separated on connected points: before, subtours raise the bound more
            // cheaply.
            if support.is_connected() {
                cuts.extend(separate_blossoms(support));
            }
            cuts
        }
    }
}
