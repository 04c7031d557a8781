//! The branch-and-cut tree: best bound first, with diving: after branching, the child of smaller
//! increase of the bound is explored next.
//!
//! A node is a list of branching decisions: bounds on the uses of an edge, or a set of customers
//! that is visited once or at least twice (Augerat et al. 1998). Its relaxation is solved by the
//! dual simplex method from the basis of its parent, in rounds of cuts. A node is closed when its
//! duals prove a bound above the cutoff (the status of the LP solver alone is not enough), when its
//! relaxation is infeasible, or when its LP solution is a set of routes. At the root, reduced cost
//! fixing deletes edges.

use std::rc::Rc;

use super::branching::{BranchingRule, CvrpBranchPath};
use super::incumbent::CvrpIncumbent;
use super::instance::CvrpInstance;
use super::master::CvrpMasterLp;
use super::separation::CutSeparator;
use super::support_graph::CvrpSupportGraph;
use crate::complete_graph::edge_index_u32;
use crate::cutting_plane::{NodeQueue, SearchResult, TailingOff, retain_unmarked};
use crate::highs::LpStatus;
use crate::pruning::PruningRule;
use crate::{SolveFailure, check_not_stopped};

/// Fraction of the remaining gap that a round of cuts should close. Below it, branching closes the
/// gap faster than further rounds.
const MIN_RELATIVE_GAIN: f64 = 0.02;
/// The remaining gap counts as at most this fraction of the objective, for poor incumbents or none.
const MAX_RELATIVE_GAP: f64 = 0.05;
/// Consecutive rounds that may close less than [`MIN_RELATIVE_GAIN`] before separation stops.
const MAX_TAILING_ROUNDS: u32 = 3;
/// Multiple of the pruning tolerance by which an integral LP solution may cost more than the bound
/// of its node. Beyond it, the lower bound of the whole search includes the bound of this node.
const INTEGRAL_GAP_TOLERANCES: f64 = 5.0;

/// Inputs of the search.
pub(super) struct CvrpSearchInput<'a> {
    /// Demands, capacity and vehicles.
    pub(super) instance: &'a CvrpInstance,
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
}

/// The outcome of a node.
enum CvrpNodeOutcome {
    /// Pruned, infeasible, or solved: its LP solution is a set of routes.
    Closed,
    /// The node must be branched on.
    Branch { bound: f64 },
}

/// The branch-and-cut tree.
pub(super) struct CvrpSearchTree<'a> {
    input: CvrpSearchInput<'a>,
    /// The LP relaxation with the cuts found so far.
    master: CvrpMasterLp,
    separator: CutSeparator,
    support: CvrpSupportGraph,
    branching: BranchingRule,
    /// Reduced costs from which the last bound was computed.
    reduced_costs: Vec<f64>,
    /// Lower bound and reduced costs at the root.
    root_bound: f64,
    root_reduced_costs: Vec<f64>,
    node_queue: NodeQueue<CvrpBranchPath>,
    /// Lower bound of the node that is being explored.
    node_bound: f64,
}

impl<'a> CvrpSearchTree<'a> {
    pub(super) fn new(input: CvrpSearchInput<'a>, master: CvrpMasterLp) -> Self {
        Self {
            input,
            master,
            separator: CutSeparator::default(),
            support: CvrpSupportGraph::default(),
            branching: BranchingRule::default(),
            reduced_costs: Vec::new(),
            root_bound: f64::NEG_INFINITY,
            root_reduced_costs: Vec::new(),
            node_queue: NodeQueue::default(),
            node_bound: f64::NEG_INFINITY,
        }
    }

    /// Searches all nodes or up to the node limit, which does not count the root. A search that is
    /// stopped ends as one at its limit.
    pub(super) fn run(
        mut self,
        incumbent: &mut CvrpIncumbent,
    ) -> Result<SearchResult, SolveFailure> {
        match self.search(incumbent) {
            Err(SolveFailure::Interrupted) => {
                let bound = self.node_bound.max(self.root_bound);
                Ok(self.node_queue.result_at_limit(bound))
            }
            result => result,
        }
    }

    fn search(&mut self, incumbent: &mut CvrpIncumbent) -> Result<SearchResult, SolveFailure> {
        // The root is not counted as a node of the search.
        let Some(mut bound) = self.solve_root(incumbent)? else {
            return Ok(self.node_queue.final_result());
        };
        self.node_bound = bound;
        if self.input.pruning.limits.nodes == 0 {
            return Ok(self.node_queue.result_at_limit(bound));
        }
        let mut path = self.branch(bound, None, incumbent)?;
        for _ in 0..self.input.pruning.limits.nodes {
            check_not_stopped()?;
            self.node_queue.count_node();
            match self.explore(bound, incumbent)? {
                CvrpNodeOutcome::Branch { bound: raised } => {
                    // The bound of a child is at least that of its parent.
                    bound = raised.max(bound);
                    self.node_bound = bound;
                    path = self.branch(bound, Some(&path), incumbent)?;
                }
                CvrpNodeOutcome::Closed => match self.load_next_node(incumbent)? {
                    Some((branch_path, node_bound)) => {
                        (path, bound) = (branch_path, node_bound);
                        self.node_bound = bound;
                    }
                    None => return Ok(self.node_queue.final_result()),
                },
            }
        }
        Ok(self.node_queue.result_at_limit(bound))
    }

    /// Solves the root twice: with all edges, and after reduced cost fixing. Returns its bound
    /// unless it is closed.
    fn solve_root(&mut self, incumbent: &mut CvrpIncumbent) -> Result<Option<f64>, SolveFailure> {
        // The first solve has no bound to prune with but the incumbent.
        let CvrpNodeOutcome::Branch { bound } = self.explore(f64::NEG_INFINITY, incumbent)? else {
            return Ok(None);
        };
        self.root_bound = bound;
        self.root_reduced_costs.clone_from(&self.reduced_costs);
        self.fix_edges(incumbent)?;
        // With fewer columns the separation is faster, and finds further cuts.
        match self.explore(bound, incumbent)? {
            CvrpNodeOutcome::Branch { bound: raised } => Ok(Some(raised.max(bound))),
            CvrpNodeOutcome::Closed => Ok(None),
        }
    }

    /// Loads the open node of lowest bound into the LP; returns its branching decisions and bound.
    fn load_next_node(
        &mut self,
        incumbent: &CvrpIncumbent,
    ) -> Result<Option<(Rc<CvrpBranchPath>, f64)>, SolveFailure> {
        let Some(node) = self.node_queue.next(incumbent.cutoff) else {
            return Ok(None);
        };
        // Rows and columns still have the bounds of the last node.
        self.master.reset_bounds()?;
        node.branch_path.apply(&mut self.master)?;
        if let Some(basis) = &node.basis {
            self.master.restore(basis)?;
        }
        Ok(Some((node.branch_path, node.bound)))
    }

    /// Solves the current node in rounds of cuts.
    fn explore(
        &mut self,
        parent_bound: f64,
        incumbent: &mut CvrpIncumbent,
    ) -> Result<CvrpNodeOutcome, SolveFailure> {
        self.master.set_objective_bound(incumbent.cutoff)?;
        let mut tailing_off = TailingOff::new(parent_bound, MAX_TAILING_ROUNDS);
        loop {
            check_not_stopped()?;
            match self.master.solve()? {
                LpStatus::Optimal => {}
                LpStatus::ObjectiveBound if self.is_pruned(incumbent) => {
                    return Ok(CvrpNodeOutcome::Closed);
                }
                LpStatus::ObjectiveBound => {
                    // The LP's stop is subject to tolerances: the duals do not prove it, so the
                    // solve goes on to the optimum.
                    self.master.set_objective_bound(f64::INFINITY)?;
                    continue;
                }
                LpStatus::Infeasible => return Ok(CvrpNodeOutcome::Closed),
                other @ (LpStatus::Unbounded
                | LpStatus::UnboundedOrInfeasible
                | LpStatus::IterationLimit
                | LpStatus::NodeLimit) => {
                    return Err(SolveFailure::SolverError(format!(
                        "the relaxation of a search node ended with status {other:?}"
                    )));
                }
            }
            // Only the root has no bound yet.
            if self.node_bound == f64::NEG_INFINITY {
                // A search that is stopped at the root has the bound of its last round.
                self.root_bound = self
                    .root_bound
                    .max(self.master.bound(&mut self.reduced_costs));
            }
            // The objective alone is no proof; `is_pruned` computes the bound from the duals.
            if self.master.objective() > incumbent.cutoff && self.is_pruned(incumbent) {
                return Ok(CvrpNodeOutcome::Closed);
            }
            self.support.fill(
                self.input.instance.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = self.separator.find(&self.support, self.input.instance);
            // An integral point with violated cuts is not a set of routes, so they are always
            // added.
            let cuts_are_required = self.support.is_integral();
            let objective = self.master.objective();
            // An infinite cutoff gives no gap: a fraction of the objective takes its place.
            let gap = (incumbent.cutoff - objective).min(MAX_RELATIVE_GAP * objective.abs());
            let min_gain = MIN_RELATIVE_GAIN * gap;
            let may_stop = cuts.is_empty()
                // At an integral point separation does not stop, since branching is impossible
                // there.
                || (!cuts_are_required && tailing_off.is_tailing_off(objective, min_gain));
            if may_stop {
                return self.finish(incumbent);
            }
            self.master.add_cuts(&cuts)?;
        }
    }

    /// Whether the current duals prove that the node contains no better routes.
    fn is_pruned(&mut self, incumbent: &CvrpIncumbent) -> bool {
        let bound = self.master.bound(&mut self.reduced_costs);
        let is_pruned = bound > incumbent.cutoff;
        if is_pruned {
            self.node_queue.record_pruned(bound);
        }
        is_pruned
    }

    /// Ends the separation at a node: its LP solution is a set of routes, or the node is branched
    /// on.
    fn finish(&mut self, incumbent: &mut CvrpIncumbent) -> Result<CvrpNodeOutcome, SolveFailure> {
        let bound = self.master.bound(&mut self.reduced_costs);
        if bound > incumbent.cutoff {
            self.node_queue.record_pruned(bound);
            return Ok(CvrpNodeOutcome::Closed);
        }
        if !self.support.is_integral() {
            return Ok(CvrpNodeOutcome::Branch { bound });
        }
        let nodes = self.support.nodes;
        let edges = self.support.edges.iter();
        let uses: Vec<(u32, f64)> = edges
            // Values are whole numbers up to the tolerance of the LP.
            .map(|(ends, value)| (edge_index_u32(nodes, *ends), value.round()))
            .collect();
        let costs = self.input.costs;
        let terms = uses
            .iter()
            .map(|(edge, count)| count * costs[*edge as usize]);
        let cost: f64 = terms.sum();
        // The point costs more than its bound by more than rounding: the bound then limits what is
        // proven.
        if bound < cost - INTEGRAL_GAP_TOLERANCES * self.input.pruning.tolerance {
            self.node_queue.record_pruned(bound);
        }
        // A better incumbent tightens the bounds of all further nodes.
        if incumbent.offer(uses, costs, &self.input.pruning) {
            self.tighten(incumbent)?;
        }
        Ok(CvrpNodeOutcome::Closed)
    }

    /// Reduced cost fixing at the root: deletes the columns that no better routes can use.
    fn fix_edges(&mut self, incumbent: &CvrpIncumbent) -> Result<(), SolveFailure> {
        let bound = self.root_bound;
        let reduced = self.root_reduced_costs.iter();
        let delete = reduced
            // A column of reduced cost r in the routes raises their cost to at least the root's
            // bound plus r.
            .map(|reduced| bound + reduced > incumbent.cutoff)
            .collect();
        let deleted = self.master.drop_edges(delete)?;
        for (reduced, deleted) in self.root_reduced_costs.iter().zip(&deleted) {
            if *deleted {
                self.node_queue.record_pruned(bound + reduced);
            }
        }
        retain_unmarked(&mut self.root_reduced_costs, &deleted);
        self.tighten(incumbent)
    }

    /// Tightens the global bounds of edges by their reduced costs at the root.
    fn tighten(&mut self, incumbent: &CvrpIncumbent) -> Result<(), SolveFailure> {
        let bound = self.root_bound;
        if bound > incumbent.cutoff {
            // Every open node will be pruned by its bound.
            return Ok(());
        }
        for (column, reduced) in self.root_reduced_costs.iter().enumerate() {
            // How many uses the gap allows before the bound exceeds the cutoff.
            let max_change = ((incumbent.cutoff - bound) / reduced.abs()).floor();
            let [lower, upper] = self.master.global_bounds[column];
            if lower < upper && max_change < upper - lower && *reduced != 0.0 {
                // Routes beyond the new bound cost at least this: part of the lower bound of the
                // whole search.
                self.node_queue
                    .record_pruned(bound + (max_change + 1.0) * reduced.abs());
                // A positive reduced cost belongs to a column at its lower bound, a negative one to
                // one at its upper bound.
                self.master.global_bounds[column] = if *reduced > 0.0 {
                    [lower, lower + max_change]
                } else {
                    [upper - max_change, upper]
                };
            }
        }
        for column in 0..self.root_reduced_costs.len() {
            let [current_lower, current_upper] = self.master.relaxation.bounds()[column];
            let [lower, upper] = self.master.global_bounds[column];
            // If the ranges do not meet, the node is pruned by its bound; crossing bounds would be
            // an error of the solver.
            if current_lower <= upper && current_upper >= lower {
                let bounds = [current_lower.max(lower), current_upper.min(upper)];
                self.master.relaxation.set_bounds(column, bounds)?;
            }
        }
        Ok(())
    }

    /// Branches at the current node; one child joins the queue, the other is entered and returned.
    fn branch(
        &mut self,
        bound: f64,
        parent: Option<&Rc<CvrpBranchPath>>,
        incumbent: &CvrpIncumbent,
    ) -> Result<Rc<CvrpBranchPath>, SolveFailure> {
        let basis = self.master.relaxation.snapshot().map(Rc::new);
        // Taken: the candidates belong to the point that is branched on.
        let branch_sets = std::mem::take(&mut self.separator.branch_sets);
        let choice = self.branching.choose(
            &mut self.master,
            &branch_sets,
            basis.as_deref(),
            incumbent.cutoff,
        )?;
        let Some(choice) = choice else {
            return Err(SolveFailure::InvalidSolution(
                "a fractional point has no branching candidate".into(),
            ));
        };
        let [first, second] = choice.children.map(|bounds| {
            Rc::new(CvrpBranchPath {
                target: choice.target,
                bounds,
                parent: parent.cloned(),
            })
        });
        // The node's own basis: the sibling starts where this node ended.
        self.node_queue.add(bound, second, basis);
        first.enforce(&mut self.master)?;
        Ok(first)
    }
}
