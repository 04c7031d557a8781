//! Branch and cut for the TSP (Padberg and Rinaldi 1991), for more nodes than branch and bound on
//! 1-trees can handle.
//!
//! A local search finds a good tour, and 1-trees provide multipliers. The master LP starts with a
//! few edges of smallest reduced cost at every node; violated cuts and edges of negative reduced
//! cost are added until there are none at the root. Reduced cost fixing then deletes edges, and the
//! search branches on the remaining ones.
//!
//! * `initial_columns`: tour, multipliers and first edges. `master`: the LP relaxation. `pricing`:
//!   reduced costs and bounds from dual values.
//! * `cuts`, `support_graph`, `subtour`, `blossom`: inequalities and their separation.
//! * `root`: the relaxation over all edges. `search_tree`, `branch_penalty`: the search below it.
//! * `rounding`: tours from fractional points.
//! * `relaxation`, `cost_ranges`: the relaxation as a separate solver, and cost ranging.
//! * `warm_start`: warm starts from the root relaxation.

use super::search_tree::{PruningRule, TspIncumbent};
use super::warm_start::TspWarmStart;
use crate::complete_graph::{EdgeEnds, check_tour_costs};
use crate::warm_start::{CostSample, WarmStart};
use crate::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};
use regretless_base::decision::Decision;

mod blossom;
mod branch_penalty;
mod cost_ranges;
mod cuts;
mod initial_columns;
mod master;
mod pricing;
mod relaxation;
mod root;
mod rounding;
mod search_tree;
mod subtour;
mod support_graph;
mod warm_start;

pub use relaxation::TspRelaxation;

use super::initial_tour::InitialTour;
use master::TspMasterLp;
use root::{CutFamily, RootRelaxation};
use search_tree::{TspCutSearchInput, TspCutTree};
use warm_start::{RootWarmStart, TspCutWarmStart};

/// Ascent steps towards the greedy tour. The LP raises the bound faster than further steps would;
/// these only provide good potentials and candidates.
const GREEDY_ASCENT_STEPS: usize = 15;
/// Ascent steps towards the locally optimal tour, for the same purpose.
const TOUR_ASCENT_STEPS: usize = 20;
/// Nodes of the graph per kick of the local search before the LP. More kicks find a better tour,
/// but take time that easy instances do not need.
const INITIAL_NODES_PER_KICK: usize = 10;
/// The same after the root relaxation. Its potentials rank the candidates best, and a better tour
/// fixes more edges, so there are more kicks.
const ROOT_NODES_PER_KICK: usize = 4;
/// The same in the nodes of the search tree.
const TREE_NODES_PER_KICK: usize = 10;
/// The point of one node in this many is rounded to a tour. Rounding and local search take time,
/// and neighboring nodes have similar points.
const ROUNDING_INTERVAL_NODES: u64 = 5;

/// Exact TSP solver by branch and cut.
#[derive(Debug, Default)]
pub struct TspBranchAndCut {
    nodes: usize,
    limits: SearchLimits,
    initial: InitialTour,
    /// Whether the root relaxation is kept for a warm start.
    keep_root: bool,
    /// The warm start from the last root relaxation.
    root: Option<RootWarmStart>,
    tree_nodes: u64,
}

impl TspBranchAndCut {
    /// A solver for tours of this many nodes, at least 5.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            nodes,
            limits,
            ..Self::default()
        }
    }

    /// Number of search tree nodes of the last solve; 0 when the root was enough.
    pub fn tree_nodes(&self) -> u64 {
        self.tree_nodes
    }

    fn run(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        (self.root, self.tree_nodes) = (None, 0);
        self.initial.start(self.nodes, costs, GREEDY_ASCENT_STEPS);
        let mut incumbent = TspIncumbent::default();
        let pruning = PruningRule::new(&self.initial.edge_costs, self.limits);
        // The greedy tour gives the ascent its target and a first cutoff.
        self.initial.offer_tour(&mut incumbent, costs, &pruning);
        let bound = self
            .initial
            .raise_bound(TOUR_ASCENT_STEPS, incumbent.cutoff);
        // Bound above the cutoff: no tour is better by more than the tolerance.
        if bound > incumbent.cutoff {
            return Ok(self.to_solution(&mut incumbent, bound, true));
        }
        self.initial.rank_by_alpha_value();
        self.initial
            .improve_tour(self.nodes / INITIAL_NODES_PER_KICK);
        self.initial.offer_tour(&mut incumbent, costs, &pruning);
        // A better tour may have lowered the cutoff below the bound of the ascent.
        if bound > incumbent.cutoff {
            return Ok(self.to_solution(&mut incumbent, bound, true));
        }
        let closed = match self.initial_root() {
            // Kicks before the LP: the cutoff decides how many edges reduced cost fixing leaves.
            Ok(root) => self.close_gap(costs, pruning, &mut incumbent, root),
            Err(failure) => Err(failure),
        };
        match closed {
            // A solve that is stopped at the root has the bound of the 1-tree relaxation.
            Err(SolveFailure::Interrupted) => Ok(self.to_solution(&mut incumbent, bound, false)),
            result => result,
        }
    }

    /// The root relaxation with the initial columns, started from the current tour.
    fn initial_root(&mut self) -> Result<RootRelaxation, SolveFailure> {
        let edges = self.initial.initial_columns();
        let initial = &self.initial;
        RootRelaxation::new(
            &initial.edge_costs,
            &initial.multipliers,
            &edges,
            &initial.order,
        )
    }

    /// The same from the tour, multipliers and root relaxation of earlier costs of the instance.
    fn run_from(
        &mut self,
        costs: &[f64],
        previous: &TspCutWarmStart,
    ) -> Result<Solution, SolveFailure> {
        (self.root, self.tree_nodes) = (None, 0);
        self.initial.load_warm_start(costs, &previous.tour);
        let mut incumbent = TspIncumbent::default();
        let pruning = PruningRule::new(&self.initial.edge_costs, self.limits);
        self.initial.offer_tour(&mut incumbent, costs, &pruning);
        // The old root has columns, cuts and a basis that is dual feasible up to the drift, so the
        // ascent is not needed.
        if let Some(root) = &previous.root {
            let root = RootRelaxation::restore(&self.initial.edge_costs, root, None)?;
            return self.close_gap(costs, pruning, &mut incumbent, root);
        }
        let steps = GREEDY_ASCENT_STEPS + TOUR_ASCENT_STEPS;
        let bound = self.initial.raise_bound(steps, incumbent.cutoff);
        if bound > incumbent.cutoff {
            return Ok(self.to_solution(&mut incumbent, bound, true));
        }
        let root = self.initial_root()?;
        self.close_gap(costs, pruning, &mut incumbent, root)
    }

    /// Solves the root relaxation, improves the incumbent, and searches below the root.
    fn close_gap(
        &mut self,
        costs: &[f64],
        pruning: PruningRule,
        incumbent: &mut TspIncumbent,
        mut root: RootRelaxation,
    ) -> Result<Solution, SolveFailure> {
        let bound =
            root.add_cuts_and_columns(&self.initial.edge_costs, CutFamily::All, incumbent.cutoff)?;
        // The root is recorded before the tree changes its rows.
        if self.keep_root {
            self.root = RootWarmStart::from_root(&root, &self.initial.edge_costs);
            self.initial.multipliers = root.prices.symmetric_potentials();
        }
        if bound > incumbent.cutoff {
            return Ok(self.to_solution(incumbent, bound, true));
        }
        let kicks = self.nodes / ROOT_NODES_PER_KICK;
        self.initial
            // The LP's potentials rank edges better than those of the ascent.
            .rank_by_potentials(&root.prices.symmetric_potentials());
        self.initial
            .round(&root.master.edges, root.master.values(), kicks);
        self.initial.improve_tour(kicks);
        self.initial.offer_tour(incumbent, costs, &pruning);
        if bound > incumbent.cutoff {
            return Ok(self.to_solution(incumbent, bound, true));
        }
        let spare_edges = self.fix_edges(&mut root, bound, incumbent.cutoff)?;
        // Every tour with a removed edge costs more than the cutoff.
        let removed_bound = incumbent.cutoff.next_up();
        // The closure below borrows `initial` mutably.
        let edge_costs = self.initial.edge_costs.clone();
        let input = TspCutSearchInput {
            edge_costs: &edge_costs,
            costs,
            pruning,
            max_nodes: self.limits.nodes,
        };
        let mut primal_heuristic =
            |solved: u64, master: &TspMasterLp, incumbent: &mut TspIncumbent| {
                // The first node, too: its point differs from that of the root.
                if solved.is_multiple_of(ROUNDING_INTERVAL_NODES) {
                    let kicks = self.nodes / TREE_NODES_PER_KICK;
                    self.initial.round(&master.edges, master.values(), kicks);
                    self.initial.offer_tour(incumbent, costs, &pruning);
                }
            };
        let result = TspCutTree::new(input, root.master, spare_edges, bound)
            .run(incumbent, &mut primal_heuristic)?;
        self.tree_nodes = result.solved;
        // Tours with removed edges were never searched; they cost more than the cutoff at that
        // time.
        let lower_bound = result.lower_bound.min(removed_bound);
        Ok(self.to_solution(incumbent, lower_bound, result.complete))
    }

    /// Reduced cost fixing at the root: deletes columns that no tour up to the cutoff uses. Returns
    /// the other edges that such a tour may use but that are not columns, with their reduced costs.
    fn fix_edges(
        &self,
        root: &mut RootRelaxation,
        bound: f64,
        cutoff: f64,
    ) -> Result<Vec<(EdgeEnds, f64)>, SolveFailure> {
        let edge_costs = &self.initial.edge_costs;
        let mut spare_edges = Vec::new();
        root.prices
            // Edges beyond the gap are in no better tour. They are never priced again.
            .scan(edge_costs, cutoff - bound, |i, j, reduced_cost| {
                if !root.has_column([i, j]) {
                    spare_edges.push(([i, j], reduced_cost));
                }
            });
        let reduced_cost =
            |[i, j]: EdgeEnds| root.prices.reduced_cost(edge_costs.between(i, j), i, j);
        let columns = root.master.edges.iter().zip(root.master.values());
        let delete = columns
            // A column of positive value is kept, since it is in the point that branching starts
            // from.
            .map(|(ends, value)| *value == 0.0 && bound + reduced_cost(*ends) > cutoff)
            .collect();
        root.master.drop_edges(delete)?;
        Ok(spare_edges)
    }

    /// The incumbent with its status, given that all other tours cost at least `lower_bound`.
    fn to_solution(
        &self,
        incumbent: &mut TspIncumbent,
        lower_bound: f64,
        complete: bool,
    ) -> Solution {
        let objective = incumbent.cost;
        let decision = Decision::from_indices(incumbent.edges.drain(..));
        let pruning = PruningRule::new(&self.initial.edge_costs, self.limits);
        pruning.to_solution(decision, objective, lower_bound, complete)
    }

    /// Solves, warm if the costs drifted little; cold if the warm solve fails or stops at a limit.
    /// Replaces the warm start.
    fn run_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        let previous = warm_start
            // Taken, not borrowed: a warm start that fails is not tried again.
            .take::<TspCutWarmStart>()
            .filter(|previous| previous.tour.fits(self.nodes, costs));
        // A failure of the warm solve is no failure of the problem: the cold solve reports it if it
        // is one.
        let warm = previous.and_then(|previous| self.run_from(costs, &previous).ok());
        // The result must not depend on the warm start, and where a search stops does.
        let complete = warm.filter(|warm| warm.status != SolveStatus::LimitReached);
        let solution = complete.map_or_else(|| self.run(costs), Ok)?;
        let root = self.root.take();
        let tour = TspWarmStart {
            sample: CostSample::new(costs),
            tour: solution.decision.indices().into(),
            multipliers: self.initial.multipliers.as_slice().into(),
            recorded_tree: None,
            // The ascent alone proves the bound only if no LP was needed.
            has_proof: root.is_none(),
        };
        warm_start.set(TspCutWarmStart { tour, root });
        Ok(solution)
    }
}

impl Solver for TspBranchAndCut {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        check_tour_costs(self.nodes, costs)?;
        self.run(costs)
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        check_tour_costs(self.nodes, costs)?;
        // Solves that may stop early end where they started from: they are never warm.
        if self.limits.may_stop_early() {
            return self.run(costs);
        }
        self.keep_root = true;
        let solution = self.run_warm(costs, warm_start);
        // The next solve of the same solver may be cold, which does not need the root.
        self.keep_root = false;
        solution
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        let previous = &warm_start.get::<TspCutWarmStart>()?.tour;
        if !previous.has_certificate(self.nodes, costs) {
            return None;
        }
        self.initial.certify(costs, previous)
    }
}
