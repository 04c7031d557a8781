//! The branch-and-cut tree below the root: best bound first, with diving: after branching, the
//! child of smaller gain is explored next.
//!
//! A node is a set of edges fixed to 0 or 1. Its relaxation is solved by the dual simplex method
//! from the basis of its parent, with rounds of cuts and pricing of the *spare* edges: edges that
//! are not columns but that reduced cost fixing at the root did not delete. A node is closed when
//! duals prove a bound above the cutoff (the status of the LP solver alone is not enough), when its
//! relaxation is infeasible, or when its point is a tour. Otherwise it branches on the fractional
//! edge of largest penalties. On these relaxations one dual simplex step chooses as well as the
//! usual ten (strong branching), in a tenth of the time.

use std::rc::Rc;

use super::branch_penalty::BranchPenalties;
use super::master::TspMasterLp;
use super::pricing::DualPrices;
use super::root::{
    CutFamily, MAX_TAILING_ROUNDS, MIN_RELATIVE_GAIN, PRICING_TOLERANCE, separate_cuts,
};
use super::support_graph::{INTEGRALITY_TOLERANCE, TspSupportGraph};
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds, edge_index_u32};
use crate::cutting_plane::{NodeQueue, SearchResult, TailingOff};
use crate::highs::{LpStatus, SimplexMethod};
use crate::tsp::search_tree::{PruningRule, TspIncumbent};
use crate::{SolveFailure, check_not_stopped};

/// Fractional edges whose penalties are computed, the most fractional first. Each takes one row of
/// the inverse.
const MAX_ESTIMATED_EDGES: usize = 24;
/// Fraction of the largest possible gain that is added to both gains of a branching score, so a
/// child without gain does not make all scores zero. Any small value works.
const SCORE_OFFSET: f64 = 1e-6;
/// Gains are capped at this many times the remaining gap: a child that gains more is pruned anyway.
const MAX_GAIN_FACTOR: f64 = 2.0;
/// The cost of an integral point equals its bound up to this many tolerances; with a larger
/// difference the bound is recorded as that of a pruned subtree.
const INTEGRAL_GAP_TOLERANCES: f64 = 10.0;

/// Inputs of the search.
pub(super) struct TspCutSearchInput<'a> {
    pub(super) edge_costs: &'a EdgeCostMatrix,
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
    pub(super) max_nodes: u64,
}

/// Branching decisions from a node up to the root.
#[derive(Debug)]
struct TspBranchPath {
    column: usize,
    value: f64,
    parent: Option<Rc<TspBranchPath>>,
}

/// A fractional edge and the estimated gain of branching on it.
#[derive(Debug, Clone, Copy)]
struct BranchEstimate {
    column: usize,
    value: f64,
    /// Increase of the objective without and with the edge.
    gains: [f64; 2],
}

impl BranchEstimate {
    fn fractionality(&self) -> f64 {
        self.value.min(1.0 - self.value)
    }

    /// Product rule: both children should gain.
    fn score(&self, max_gain: f64) -> f64 {
        let [down, up] = self.gains.map(|gain| gain + SCORE_OFFSET * max_gain);
        down * up
    }
}

/// The outcome of a node.
enum TspCutNodeOutcome {
    /// Pruned, infeasible, or solved by a tour.
    Closed,
    /// The node must be branched on.
    Branch { bound: f64 },
}

/// The branch-and-cut tree.
pub(super) struct TspCutTree<'a> {
    input: TspCutSearchInput<'a>,
    master: TspMasterLp,
    prices: DualPrices,
    support: TspSupportGraph,
    /// Edges that are not columns but may be in a better tour, with their reduced cost at the root.
    spare_edges: Vec<(EdgeEnds, f64)>,
    /// Lower bound at the root.
    root_bound: f64,
    node_queue: NodeQueue<TspBranchPath>,
    penalties: BranchPenalties,
    /// Lower bound of the node that is being explored.
    node_bound: f64,
}

impl<'a> TspCutTree<'a> {
    /// A tree below a root relaxation that was solved and priced.
    pub(super) fn new(
        input: TspCutSearchInput<'a>,
        master: TspMasterLp,
        spare_edges: Vec<(EdgeEnds, f64)>,
        root_bound: f64,
    ) -> Self {
        Self {
            input,
            master,
            prices: DualPrices::default(),
            support: TspSupportGraph::default(),
            spare_edges,
            root_bound,
            node_queue: NodeQueue::default(),
            penalties: BranchPenalties::default(),
            node_bound: root_bound,
        }
    }

    /// Searches all nodes or up to the node limit. Before a node branches, `primal_heuristic` may
    /// improve the incumbent from its point. A search that is stopped ends as one at its limit.
    pub(super) fn run(
        mut self,
        incumbent: &mut TspIncumbent,
        primal_heuristic: &mut dyn FnMut(u64, &TspMasterLp, &mut TspIncumbent),
    ) -> Result<SearchResult, SolveFailure> {
        match self.search(incumbent, primal_heuristic) {
            Err(SolveFailure::Interrupted) => Ok(self.node_queue.result_at_limit(self.node_bound)),
            result => result,
        }
    }

    fn search(
        &mut self,
        incumbent: &mut TspIncumbent,
        primal_heuristic: &mut dyn FnMut(u64, &TspMasterLp, &mut TspIncumbent),
    ) -> Result<SearchResult, SolveFailure> {
        let mut path: Option<Rc<TspBranchPath>> = None;
        let (mut bound, mut solved) = (self.root_bound, 0);
        loop {
            self.node_bound = bound;
            check_not_stopped()?;
            // Checked before the node is counted, so a limit of 0 explores none.
            if solved >= self.input.max_nodes {
                return Ok(self.node_queue.result_at_limit(bound));
            }
            solved = self.node_queue.count_node();
            if let TspCutNodeOutcome::Branch { bound: raised } = self.explore(bound, incumbent)? {
                primal_heuristic(solved, &self.master, incumbent);
                // A child's bound is at least that of its parent, whatever the last LP proved.
                bound = raised.max(bound);
                self.node_bound = bound;
                // Diving: the child of smaller gain is next, with the basis of its parent at hand.
                path = Some(self.branch(bound, &path, incumbent)?);
                continue;
            }
            match self.next(incumbent)? {
                Some((branch_path, node_bound)) => {
                    (path, bound) = (Some(branch_path), node_bound);
                }
                None => return Ok(self.node_queue.final_result()),
            }
        }
    }

    /// Enters the open node of lowest bound; returns its decisions and bound.
    fn next(
        &mut self,
        incumbent: &TspIncumbent,
    ) -> Result<Option<(Rc<TspBranchPath>, f64)>, SolveFailure> {
        let Some(node) = self.node_queue.next(incumbent.cutoff) else {
            return Ok(None);
        };
        self.enter(&node.branch_path)?;
        if let Some(basis) = &node.basis {
            self.master.restore(basis)?;
        }
        Ok(Some((node.branch_path, node.bound)))
    }

    /// Sets the bounds of all columns according to the decisions of a node.
    fn enter(&mut self, branch_path: &Rc<TspBranchPath>) -> Result<(), SolveFailure> {
        // All bounds are set, since the current ones belong to another part of the tree.
        let mut bounds = vec![[0.0, 1.0]; self.master.edges.len()];
        let mut next = Some(branch_path);
        while let Some(decision) = next {
            // The decisions on a path are on different edges: a fixed edge is never fractional.
            bounds[decision.column] = [decision.value; 2];
            next = decision.parent.as_ref();
        }
        for (column, bounds) in bounds.into_iter().enumerate() {
            self.master.relaxation.set_bounds(column, bounds)?;
        }
        Ok(())
    }

    /// Solves the current node in rounds of cuts and pricing.
    fn explore(
        &mut self,
        parent_bound: f64,
        incumbent: &mut TspIncumbent,
    ) -> Result<TspCutNodeOutcome, SolveFailure> {
        // The dual simplex method raises its objective, so it may stop above the cutoff.
        self.master.set_objective_bound(incumbent.cutoff)?;
        let mut status = self.master.solve(SimplexMethod::Dual)?;
        let mut tailing_off = TailingOff::new(parent_bound, MAX_TAILING_ROUNDS);
        loop {
            check_not_stopped()?;
            match status {
                LpStatus::Optimal => {}
                LpStatus::ObjectiveBound => {
                    // The solver's objective bound is subject to its tolerances, so the duals must
                    // prove it.
                    if self.is_pruned(incumbent) {
                        return Ok(TspCutNodeOutcome::Closed);
                    }
                    status = self.continue_solve()?;
                    continue;
                }
                LpStatus::Infeasible if self.spare_edges.is_empty() => {
                    return Ok(TspCutNodeOutcome::Closed);
                }
                // Missing columns may make it feasible: all of them are added, since an infeasible
                // LP has no duals that price.
                LpStatus::Infeasible => {
                    let spare_edges = std::mem::take(&mut self.spare_edges);
                    self.add_columns(&spare_edges)?;
                    status = self.master.solve(SimplexMethod::Dual)?;
                    continue;
                }
                LpStatus::Unbounded
                | LpStatus::UnboundedOrInfeasible
                | LpStatus::IterationLimit
                | LpStatus::NodeLimit => {
                    return Err(SolveFailure::SolverError(format!(
                        "the relaxation of a search node ended with status {status:?}"
                    )));
                }
            }
            // With spare edges, the LP's objective bounds nothing until they are priced.
            if self.master.objective() > incumbent.cutoff && self.is_pruned(incumbent) {
                return Ok(TspCutNodeOutcome::Closed);
            }
            self.support.fill(
                self.master.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = separate_cuts(&self.support, CutFamily::All);
            // An integral point with violated cuts is not a tour, so these cuts are always added.
            let are_required = self.support.is_integral();
            let objective = self.master.objective();
            let min_gain = MIN_RELATIVE_GAIN * (incumbent.cutoff - objective);
            if !cuts.is_empty()
                && (are_required || !tailing_off.is_tailing_off(objective, min_gain))
            {
                self.master.add_cuts(cuts)?;
                status = self.master.solve(SimplexMethod::Dual)?;
                continue;
            }
            if self.add_negative_columns()? {
                status = self.master.solve(SimplexMethod::Primal)?;
                continue;
            }
            return self.finish(incumbent);
        }
    }

    /// Continues a solve that stopped above the cutoff without proof: with more columns, or to
    /// optimality.
    fn continue_solve(&mut self) -> Result<LpStatus, SolveFailure> {
        self.master.set_objective_bound(f64::INFINITY)?;
        let method = if self.add_negative_columns()? {
            SimplexMethod::Primal
        } else {
            SimplexMethod::Dual
        };
        self.master.solve(method)
    }

    /// Whether the current duals prove that the node contains no better tour.
    fn is_pruned(&mut self, incumbent: &TspIncumbent) -> bool {
        let bound = self.dual_bound();
        let is_pruned = bound > incumbent.cutoff;
        if is_pruned {
            self.node_queue.record_pruned(bound);
        }
        is_pruned
    }

    /// The bound that the current duals prove, spare edges included.
    fn dual_bound(&mut self) -> f64 {
        self.master.read_prices(&mut self.prices);
        let edge_costs = self.input.edge_costs;
        let reduced_cost =
            |[i, j]: EdgeEnds| self.prices.reduced_cost(edge_costs.between(i, j), i, j);
        // Spare edges of negative reduced cost could lower the bound by their reduced cost, each at
        // most once.
        let spare_edges = self.spare_edges.iter();
        let spare_terms = spare_edges.map(|(ends, _)| reduced_cost(*ends).min(0.0));
        let spare_total: f64 = spare_terms.sum();
        self.master.bound(edge_costs, &self.prices) + spare_total
    }

    /// Adds the spare edges of negative reduced cost as columns; whether there were any.
    fn add_negative_columns(&mut self) -> Result<bool, SolveFailure> {
        if self.spare_edges.is_empty() {
            return Ok(false);
        }
        self.master.read_prices(&mut self.prices);
        let tolerance = PRICING_TOLERANCE / self.master.factor();
        let (prices, edge_costs) = (&self.prices, self.input.edge_costs);
        let is_negative =
            |[i, j]: EdgeEnds| prices.reduced_cost(edge_costs.between(i, j), i, j) < -tolerance;
        let (negative, nonnegative): (Vec<_>, Vec<_>) = self
            .spare_edges
            .iter()
            // Edges leave the spare list when they become columns, so none is added twice.
            .partition(|(ends, _)| is_negative(*ends));
        if negative.is_empty() {
            return Ok(false);
        }
        self.spare_edges = nonnegative;
        self.add_columns(&negative)?;
        Ok(true)
    }

    fn add_columns(&mut self, edges: &[(EdgeEnds, f64)]) -> Result<(), SolveFailure> {
        let edges: Vec<EdgeEnds> = edges.iter().map(|(ends, _)| *ends).collect();
        self.master.add_edges(self.input.edge_costs, &edges)
    }

    /// Ends cutting and pricing at a node: its point is a tour, or is branched on.
    fn finish(&mut self, incumbent: &mut TspIncumbent) -> Result<TspCutNodeOutcome, SolveFailure> {
        // Pricing has ended, so the bound holds for all tours of this subtree.
        let bound = self.dual_bound();
        if bound > incumbent.cutoff {
            self.node_queue.record_pruned(bound);
            return Ok(TspCutNodeOutcome::Closed);
        }
        if !self.support.is_integral() {
            return Ok(TspCutNodeOutcome::Branch { bound });
        }
        let nodes = self.master.nodes();
        let edges = self.support.edges.iter();
        let mut tour: Vec<u32> = edges
            .map(|(ends, _)| edge_index_u32(nodes, *ends))
            .collect();
        let costs = tour.iter().map(|edge| self.input.costs[*edge as usize]);
        let cost: f64 = costs.sum();
        if tour.len() != nodes || !self.support.is_connected() {
            return Err(SolveFailure::InvalidSolution(
                "an integral point without violated cuts is not a tour".into(),
            ));
        }
        // If the point costs more than its bound by more than rounding, the subtree is closed on
        // the word of the LP: its bound then limits what is proven.
        let tolerance = INTEGRAL_GAP_TOLERANCES * self.input.edge_costs.tolerance();
        if bound < cost - tolerance {
            self.node_queue.record_pruned(bound);
        }
        incumbent.offer(&mut tour, self.input.costs, &self.input.pruning);
        // A better incumbent lowers the cutoff, which excludes more edges.
        self.prune_spare_edges(incumbent);
        Ok(TspCutNodeOutcome::Closed)
    }

    /// Reduced cost fixing: removes spare edges that no better tour can use.
    fn prune_spare_edges(&mut self, incumbent: &TspIncumbent) {
        let (bound, node_queue) = (self.root_bound, &mut self.node_queue);
        self.spare_edges.retain(|(_, reduced_cost)| {
            let keep = bound + reduced_cost <= incumbent.cutoff;
            if !keep {
                node_queue.record_pruned(bound + reduced_cost);
            }
            keep
        });
    }

    /// Branches at the current node; one child joins the queue, the other is entered and returned.
    fn branch(
        &mut self,
        bound: f64,
        parent: &Option<Rc<TspBranchPath>>,
        incumbent: &TspIncumbent,
    ) -> Result<Rc<TspBranchPath>, SolveFailure> {
        let basis = self.master.relaxation.snapshot().map(Rc::new);
        let Some(BranchEstimate { column, gains, .. }) = self.choose(incumbent)? else {
            return Err(SolveFailure::InvalidSolution(
                "a fractional point has no fractional edge".into(),
            ));
        };
        let [down, up] = gains;
        // The child of smaller gain first: it is likelier to contain a better tour, and the other
        // one is likelier to be pruned meanwhile.
        let (first, second) = if down <= up { (0.0, 1.0) } else { (1.0, 0.0) };
        let child = |value: f64| {
            Rc::new(TspBranchPath {
                column,
                value,
                parent: parent.clone(),
            })
        };
        // The sibling keeps the parent's basis, from which its dual simplex starts.
        self.node_queue.add(bound, child(second), basis);
        self.master.relaxation.set_bounds(column, [first, first])?;
        Ok(child(first))
    }

    /// The edge to branch on: the one of highest score; ties go to the more fractional edge.
    fn choose(&mut self, incumbent: &TspIncumbent) -> Result<Option<BranchEstimate>, SolveFailure> {
        // The cutoff may lie below the objective by a tolerance.
        let gap = (incumbent.cutoff - self.master.objective()).max(0.0);
        let max_gain = MAX_GAIN_FACTOR * gap;
        let estimates = self.estimate(max_gain)?.into_iter();
        Ok(estimates.reduce(|a, b| {
            // Strictly greater: ties keep the earlier, more fractional edge.
            if b.score(max_gain) > a.score(max_gain) {
                b
            } else {
                a
            }
        }))
    }

    /// The most fractional edges with lower bounds on the gains of branching on them.
    fn estimate(&mut self, max_gain: f64) -> Result<Vec<BranchEstimate>, SolveFailure> {
        let mut estimates: Vec<BranchEstimate> = Vec::new();
        for (column, value) in self.master.values().iter().enumerate() {
            let estimate = BranchEstimate {
                column,
                value: *value,
                gains: [0.0; 2],
            };
            if estimate.fractionality() > INTEGRALITY_TOLERANCE {
                estimates.push(estimate);
            }
        }
        // Sorting makes the truncation, and so the branching, independent of the order of the
        // columns.
        estimates.sort_unstable_by(|a, b| {
            b.fractionality()
                .total_cmp(&a.fractionality())
                .then(a.column.cmp(&b.column))
        });
        estimates.truncate(MAX_ESTIMATED_EDGES);
        // `finish` has loaded the prices of this node.
        if self
            .penalties
            .load(&mut self.master, self.input.edge_costs, &self.prices)?
        {
            for estimate in &mut estimates {
                let gains =
                    self.penalties
                        .compute(&mut self.master, estimate.column, estimate.value)?;
                estimate.gains = gains.map(|gain| gain.min(max_gain));
            }
        }
        Ok(estimates)
    }
}
