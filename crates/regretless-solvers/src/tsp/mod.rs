//! Symmetric traveling salesman problem: shortest tours on a complete graph with arbitrary costs.
//!
//! Costs may be negative, real and non-metric: only symmetry is assumed. A local search finds a
//! good tour, 1-trees provide a lower bound, and branch and bound closes the gap. The solution
//! depends on the costs only; of tours whose costs differ by less than the rounding tolerance
//! (10⁻¹² of the largest cost per node) the first one found is returned.
//!
//! * [`one_tree`], [`subgradient`], [`sparse_ascent`]: the lower bound and its multipliers.
//! * [`candidates`], [`greedy`], `path_fragments`, [`lin_kernighan`], [`array_tour`]: heuristics.
//!   `initial_tour`: heuristics and lower bound together, before the search starts.
//! * `sparse_graph`, `sparse_one_tree`, `search_tree`: branch and bound. `warm_start`,
//!   `recorded_tree`: its warm starts.
//! * `branch_and_cut`: branch and cut on an LP relaxation, for more nodes, and that relaxation
//!   itself.

use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

pub mod array_tour;
#[cfg(feature = "highs")]
pub mod branch_and_cut;
pub mod candidates;
pub mod greedy;
mod initial_tour;
pub mod lin_kernighan;
pub mod one_tree;
mod path_fragments;
mod recorded_tree;
mod search_tree;
pub mod sparse_ascent;
mod sparse_graph;
mod sparse_one_tree;
pub mod subgradient;
mod warm_start;

use crate::complete_graph;
use initial_tour::{GREEDY_ASCENT, InitialTour};
use lin_kernighan::LinKernighan;
use recorded_tree::RecordedTree;
use search_tree::{PruningRule, TspIncumbent, TspSearchInput, TspSearchTree};
use subgradient::{AscentSchedule, AscentTarget};

/// Ascent at the root, towards a tour close to the optimum: full Polyak steps. More steps raise the
/// bound further, which fixes more edges and saves nodes, but each takes O(n²).
const ROOT_ASCENT: AscentSchedule = AscentSchedule {
    max_steps: 60,
    step_factor: 1.0,
    patience: 5,
};
/// Maximum number of steps of the same ascent on candidate edges, where a step is cheaper.
const SPARSE_ROOT_ASCENT_STEPS: usize = 150;
/// One kick per this many pairs of nodes, at most one per node. The time of the search that a
/// better tour shortens grows fast with the number of nodes, so small instances have few kicks.
const NODE_PAIRS_PER_KICK: usize = 200;

/// Exact TSP solver: local search, 1-tree bound, branch and bound.
#[derive(Debug, Clone, Default)]
pub struct TspBranchAndBound {
    nodes: usize,
    limits: SearchLimits,
    initial: InitialTour,
    /// Edges that reduced cost fixing at the root leaves, with their costs.
    remaining_edges: Vec<(u32, u32, f64)>,
    /// Buffer: α-values of the edges at one node.
    alpha: Vec<f64>,
    incumbent: TspIncumbent,
    tree: TspSearchTree,
}

impl TspBranchAndBound {
    /// A solver for tours of this many nodes, at least 3.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            nodes,
            limits,
            ..Self::default()
        }
    }

    /// A greedy tour, a few ascent steps towards its cost, and a local search on the candidate
    /// edges of smallest α-value.
    fn find_initial_tour(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.incumbent = TspIncumbent::default();
        self.initial.init_multipliers();
        self.initial.rank_by_reduced_cost();
        self.initial.build_greedy_tour();
        self.offer_tour(costs, pruning);
        // The greedy tour is the target of the first steps.
        self.initial
            .ascend_dense(&self.ascent_target(GREEDY_ASCENT));
        self.initial.rank_by_alpha_value();
        self.initial.build_greedy_tour();
        self.initial.improve_tour(0);
        self.offer_tour(costs, pruning);
    }

    /// Local search from this tour.
    fn improve_from(&mut self, tour: &Decision, costs: &[f64], pruning: &PruningRule) {
        self.incumbent = TspIncumbent::default();
        self.initial.init_multipliers();
        self.initial.rank_by_reduced_cost();
        // No greedy tour: the search stays near the given one.
        self.initial.order = complete_graph::tour_order(self.nodes, tour.indices());
        self.initial.improve_tour(0);
        self.offer_tour(costs, pruning);
    }

    /// Local search with kicks, before the search for a proof starts.
    fn perturb_tour(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.initial.rank_by_alpha_value();
        let kicks = (self.nodes * self.nodes / NODE_PAIRS_PER_KICK).min(self.nodes);
        self.initial.improve_tour(kicks);
        self.offer_tour(costs, pruning);
    }

    fn offer_tour(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.initial.offer_tour(&mut self.incumbent, costs, pruning);
    }

    /// An ascent towards the incumbent.
    fn ascent_target(&self, schedule: AscentSchedule) -> AscentTarget {
        AscentTarget {
            tour_cost: self.incumbent.cost,
            cutoff: self.incumbent.cutoff,
            schedule,
        }
    }

    fn run_root_ascent(&mut self) -> f64 {
        let target = self.ascent_target(ROOT_ASCENT);
        self.initial.ascend(&target, SPARSE_ROOT_ASCENT_STEPS)
    }

    /// Reduced cost fixing at the root: keeps the edges that a tour up to the cutoff can use.
    /// Returns a lower bound on the cost of every tour that uses another edge.
    fn fix_edges_by_bound(&mut self, bound: f64) -> f64 {
        self.alpha.resize(self.nodes, 0.0);
        self.remaining_edges.clear();
        let initial = &self.initial;
        let mut lower_bound = f64::INFINITY;
        for i in 0..self.nodes {
            initial
                .one_tree
                .alpha_values(&initial.reduced_costs, i as u32, &mut self.alpha);
            let costs = &initial.edge_costs.row(i as u32)[i + 1..];
            let edges = self.alpha[i + 1..].iter().zip(costs);
            for (j, (alpha, cost)) in (i as u32 + 1..).zip(edges) {
                // A tour with the edge costs at least the cost of the cheapest 1-tree with it.
                let min = bound + alpha;
                if min > self.incumbent.cutoff {
                    // The least of the excluded bounds is part of the proof, should the tree be
                    // searched completely.
                    lower_bound = min.min(lower_bound);
                } else {
                    self.remaining_edges.push((i as u32, j, *cost));
                }
            }
        }
        lower_bound
    }

    fn run(&mut self, costs: &[f64]) -> Solution {
        let pruning = self.load(costs);
        self.find_initial_tour(costs, &pruning);
        let bound = self.run_root_ascent();
        // Many instances are closed here: bound and tour meet at the root.
        if let Some(lower_bound) = self.bound_if_closed(bound, costs, &pruning) {
            return self.take_solution(lower_bound, true);
        }
        self.perturb_tour(costs, &pruning);
        self.search(costs, pruning, bound, None)
    }

    fn load(&mut self, costs: &[f64]) -> PruningRule {
        self.initial.edge_costs.fill(self.nodes, costs);
        PruningRule::new(&self.initial.edge_costs, self.limits)
    }

    /// A lower bound on the cost of all other tours, if the root is closed: by the bound of the
    /// current 1-tree, or because that 1-tree is a tour.
    fn bound_if_closed(&mut self, bound: f64, costs: &[f64], pruning: &PruningRule) -> Option<f64> {
        self.tree.recording.clear();
        if bound > self.incumbent.cutoff {
            return Some(bound);
        }
        if !self.initial.one_tree.is_tour() {
            return None;
        }
        self.initial
            .offer_one_tree(&mut self.incumbent, costs, pruning);
        // All other 1-trees cost at least as much, so no other tour is better.
        Some(f64::INFINITY)
    }

    /// Branch and bound below the root, guided by the tree of an earlier search if there is one.
    fn search(
        &mut self,
        costs: &[f64],
        pruning: PruningRule,
        bound: f64,
        recorded: Option<&RecordedTree>,
    ) -> Solution {
        // The kicks may have found a tour that the bound proves optimal.
        if bound > self.incumbent.cutoff {
            return self.take_solution(bound, true);
        }
        let excluded_bound = self.fix_edges_by_bound(bound);
        self.reset_tree();
        let input = TspSearchInput {
            costs,
            pruning,
            bound,
            recorded,
            strict: false,
        };
        let (lower_bound, complete) = self.tree.run(&input, &mut self.incumbent);
        self.take_solution(lower_bound.min(excluded_bound), complete)
    }

    /// Resets the search tree to the edges and multipliers of the root.
    fn reset_tree(&mut self) {
        self.tree.reset(
            self.nodes,
            self.remaining_edges.iter().copied(),
            &self.initial.multipliers,
        );
    }

    /// Moves the incumbent out, with its status, given that all other tours cost at least
    /// `lower_bound`.
    fn take_solution(&mut self, lower_bound: f64, complete: bool) -> Solution {
        let objective = self.incumbent.cost;
        let decision = Decision::from_indices(self.incumbent.edges.drain(..));
        let pruning = PruningRule::new(&self.initial.edge_costs, self.limits);
        pruning.to_solution(decision, objective, lower_bound, complete)
    }
}

/// Local search as a heuristic solver: the steps of [`TspBranchAndBound`] before it branches.
#[derive(Debug, Clone, Default)]
pub struct TspLocalSearch {
    solver: TspBranchAndBound,
    is_fast: bool,
}

impl TspLocalSearch {
    /// A solver for tours of this many nodes, at least 3.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            solver: TspBranchAndBound::new(nodes, limits),
            is_fast: false,
        }
    }

    /// The same without kicks and without a lower bound.
    pub fn fast(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            is_fast: true,
            ..Self::new(nodes, limits)
        }
    }
}

impl Solver for TspLocalSearch {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let solver = &mut self.solver;
        complete_graph::check_tour_costs(solver.nodes, costs)?;
        let pruning = solver.load(costs);
        solver.find_initial_tour(costs, &pruning);
        if self.is_fast {
            // Without a bound nothing is known about quality; the gap is then infinite.
            return Ok(solver.take_solution(f64::NEG_INFINITY, false));
        }
        let bound = solver.run_root_ascent();
        solver.perturb_tour(costs, &pruning);
        Ok(solver.take_solution(bound, false))
    }

    fn solve_from(&mut self, costs: &[f64], start: &Decision) -> Result<Solution, SolveFailure> {
        let solver = &mut self.solver;
        complete_graph::check_tour_costs(solver.nodes, costs)?;
        // Local search does not change tours of so few nodes: one is built for these costs.
        if solver.nodes < LinKernighan::MIN_NODES {
            return self.solve(costs);
        }
        let pruning = solver.load(costs);
        solver.improve_from(start, costs, &pruning);
        Ok(solver.take_solution(f64::NEG_INFINITY, false))
    }
}

impl Solver for TspBranchAndBound {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        complete_graph::check_tour_costs(self.nodes, costs)?;
        Ok(self.run(costs))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        complete_graph::check_tour_costs(self.nodes, costs)?;
        // Where a search stops depends on where it started: with limits it always starts cold.
        Ok(if self.limits.may_stop_early() {
            self.run(costs)
        } else {
            self.search_warm(costs, warm_start)
        })
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        complete_graph::check_tour_costs(self.nodes, costs).ok()?;
        self.certify_warm_start(costs, warm_start)
    }
}
