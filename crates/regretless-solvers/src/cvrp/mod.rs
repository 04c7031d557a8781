//! Capacitated vehicle routing problem, by branch and cut with rounded capacity inequalities
//! (Laporte and Nobert 1983; Augerat et al. 1998; Lysgaard, Letchford and Eglese 2004).
//!
//! Two-index formulation: one variable per edge, customers of degree 2, depot of degree at most
//! twice the number of vehicles. Costs may be negative, real and non-metric, demands may be any
//! numbers; loads are compared with a tolerance of 10⁻⁹ of the capacity. The solution depends on
//! costs and demands only.
//!
//! * `instance`: demands, capacity and vehicles. `iterated_local_search`, `giant_tour`: the start
//!   heuristic.
//! * `master`: the LP relaxation. `cuts`: its inequalities. `support_graph`, `separation`: their
//!   separation.
//! * `search_tree`, `branching`: the search. `incumbent`: the best routes found.
//! * `relaxation`, `local_search`: the relaxation and the local search as separate solvers.

use super::complete_graph::{EdgeCostMatrix, edge_index_u32};
use super::cutting_plane::SearchResult;
use super::pruning::PruningRule;
use super::{SearchLimits, Solution, SolveFailure, Solver};
use regretless_base::cancellation;
use regretless_base::decision::Decision;

mod branching;
mod cuts;
mod giant_tour;
mod incumbent;
mod instance;
mod iterated_local_search;
mod local_search;
mod master;
mod relaxation;
mod search_tree;
mod separation;
mod support_graph;

pub use instance::CvrpInstance;
pub use local_search::CvrpLocalSearch;
pub use relaxation::CvrpRelaxation;

use incumbent::CvrpIncumbent;
use iterated_local_search::IteratedLocalSearch;
use master::CvrpMasterLp;
use search_tree::{CvrpSearchInput, CvrpSearchTree};

/// The local search before branch and cut performs one kick per this many pairs of nodes. A better
/// incumbent fixes more edges and prunes more nodes, but kicks take time that easy instances do not
/// need.
const NODE_PAIRS_PER_KICK: usize = 3;

/// Exact CVRP solver by branch and cut.
#[derive(Debug, Clone)]
pub struct CvrpBranchAndCut {
    instance: CvrpInstance,
    limits: SearchLimits,
    edge_costs: EdgeCostMatrix,
    tree_nodes: u64,
}

impl CvrpBranchAndCut {
    /// A solver for these customers and vehicles.
    pub fn new(instance: CvrpInstance, limits: SearchLimits) -> Self {
        Self {
            instance,
            limits,
            edge_costs: EdgeCostMatrix::default(),
            tree_nodes: 0,
        }
    }

    /// Number of search tree nodes of the last solve, without the root.
    pub fn tree_nodes(&self) -> u64 {
        self.tree_nodes
    }

    fn run(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let nodes = self.instance.nodes();
        self.edge_costs.fill(nodes, costs);
        // More terms in the sum mean larger rounding errors.
        // Routes use up to twice as many edges as a tour.
        let tolerance = 2.0 * self.edge_costs.tolerance();
        let pruning = PruningRule {
            tolerance,
            ..PruningRule::new(&self.edge_costs, self.limits)
        };
        let mut incumbent = CvrpIncumbent::none();
        let kicks = nodes * nodes / NODE_PAIRS_PER_KICK;
        let routes = IteratedLocalSearch::new(&self.instance, &self.edge_costs).search(kicks);
        if let Some(routes) = routes {
            incumbent.offer(edge_uses(nodes, &routes), costs, &pruning);
        }
        let input = CvrpSearchInput {
            instance: &self.instance,
            costs,
            pruning,
        };
        let master = CvrpMasterLp::new(&self.instance, &self.edge_costs)?;
        let result = CvrpSearchTree::new(input, master).run(&mut incumbent)?;
        self.tree_nodes = result.solved;
        self.to_solution(incumbent, &pruning, &result)
    }

    /// The incumbent with its status, given the result of the search.
    fn to_solution(
        &self,
        incumbent: CvrpIncumbent,
        pruning: &PruningRule,
        result: &SearchResult,
    ) -> Result<Solution, SolveFailure> {
        // No routes: the search says whether there are none, or none were found.
        if incumbent.uses.is_empty() {
            let nodes = self.limits.nodes;
            return Err(if result.complete {
                SolveFailure::Infeasible
            } else if cancellation::requested() {
                SolveFailure::Interrupted
            } else {
                SolveFailure::LimitReached { nodes }
            });
        }
        let objective = incumbent.cost;
        let decision = Decision::from_entries(incumbent.uses);
        Ok(pruning.to_solution(decision, objective, result.lower_bound, result.complete))
    }
}

/// The edges of some routes with the number of times they are used.
fn edge_uses(nodes: usize, routes: &[Vec<u32>]) -> Vec<(u32, f64)> {
    let edge = |i: u32, j: u32| edge_index_u32(nodes, [i, j]);
    let mut uses = Vec::new();
    for route in routes {
        match route[..] {
            [] => {}
            // A route of one customer goes along its depot edge twice.
            [single] => uses.push((edge(0, single), 2.0)),
            [first, .., last] => {
                uses.extend([(edge(0, first), 1.0), (edge(0, last), 1.0)]);
                uses.extend(route.windows(2).map(|pair| (edge(pair[0], pair[1]), 1.0)));
            }
        }
    }
    uses
}

impl Solver for CvrpBranchAndCut {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.instance.check(costs)?;
        self.run(costs)
    }
}
