//! Cheapest vehicle routes by branch and cut with rounded capacity inequalities (Laporte and Nobert
//! 1983; Augerat et al. 1998; Lysgaard, Letchford and Eglese 2004).
//!
//! One variable per edge, customers of degree 2, at most two edges at the depot per vehicle. Costs
//! may be negative, real and far from metric, demands may be any numbers; loads are compared with a
//! tolerance of 10⁻⁹ of the capacity. The answer depends on costs and demands only.
//!
//! * `start`, `ring`: good routes. `master`: the linear relaxation. `rows`: its inequalities.
//! * `support`, `separate`: how violated ones are found.
//! * `tree`, `branch`: the search. `best`: what it has found.
//! * `relax`, `local`: the relaxation and the good routes as ends in themselves.

use super::complete_graph::{DistanceMatrix, edge_ends, edge_index};
use super::cutting_plane::SearchResult;
use super::pruning::PruningRule;
use super::{SearchLimits, Solution, SolveFailure, Solver};
use crate::decision::Decision;

mod branching;
mod cuts;
mod fleet;
mod giant_tour;
mod incumbent;
mod iterated_local_search;
mod local_search;
mod master;
mod relaxation;
mod search_tree;
mod separation;
mod support_graph;

pub use fleet::Fleet;
pub use local_search::CvrpLocalSearch;
pub use relaxation::CvrpRelaxation;

use incumbent::CvrpIncumbent;
use iterated_local_search::IteratedLocalSearch;
use master::CvrpMasterLp;
use search_tree::{CvrpSearchInput, CvrpSearchTree};

/// The exact solver for vehicle routes.
#[derive(Debug, Clone)]
pub struct CvrpBranchAndCut {
    fleet: Fleet,
    limits: SearchLimits,
    distances: DistanceMatrix,
    searched: u64,
}

impl CvrpBranchAndCut {
    /// An engine for these customers and vehicles.
    pub fn new(fleet: Fleet, limits: SearchLimits) -> Self {
        Self {
            fleet,
            limits,
            distances: DistanceMatrix::default(),
            searched: 0,
        }
    }

    /// Nodes of the search tree behind the last answer, the root not counted.
    pub fn tree_nodes(&self) -> u64 {
        self.searched
    }

    fn run(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let nodes = self.fleet.nodes();
        self.distances.fill(nodes, costs);
        // Routes have up to twice as many edges as nodes.
        let tolerance = 2.0 * self.distances.tolerance();
        let pruning = PruningRule {
            tolerance,
            ..PruningRule::new(&self.distances, self.limits)
        };
        let mut best = CvrpIncumbent::none();
        if let Some(routes) =
            IteratedLocalSearch::new(&self.fleet, &self.distances).search(nodes * nodes / 3)
        {
            best.offer(edge_uses(nodes, &routes), costs, &pruning);
        }
        let task = CvrpSearchInput {
            fleet: &self.fleet,
            costs,
            pruning,
        };
        let master = CvrpMasterLp::new(&self.fleet, &self.distances)?;
        let verdict = CvrpSearchTree::new(task, master).run(&mut best)?;
        self.searched = verdict.solved;
        self.to_solution(best, &pruning, &verdict)
    }

    /// The best routes, and what is known given that all others cost at least the floor.
    fn to_solution(
        &self,
        best: CvrpIncumbent,
        pruning: &PruningRule,
        verdict: &SearchResult,
    ) -> Result<Solution, SolveFailure> {
        if best.uses.is_empty() {
            let nodes = self.limits.nodes;
            return Err(if verdict.complete {
                SolveFailure::Infeasible
            } else {
                SolveFailure::LimitReached { nodes }
            });
        }
        let decision = Decision::from_entries(best.uses);
        Ok(pruning.to_solution(decision, best.cost, verdict.lower_bound, verdict.complete))
    }
}

/// How often routes use each edge.
fn edge_uses(nodes: usize, routes: &[Vec<u32>]) -> Vec<(u32, f64)> {
    let number = |i: u32, j: u32| edge_index(nodes, i as usize, j as usize) as u32;
    let mut uses = Vec::new();
    for route in routes {
        match route[..] {
            [] => {}
            [only] => uses.push((number(0, only), 2.0)),
            [first, .., last] => {
                uses.extend([(number(0, first), 1.0), (number(0, last), 1.0)]);
                uses.extend(route.windows(2).map(|pair| (number(pair[0], pair[1]), 1.0)));
            }
        }
    }
    uses
}

/// The customers of each route in their order, from how often edges are used; the depot is not
/// named.
pub fn routes_of(nodes: usize, uses: &Decision) -> Vec<Vec<u32>> {
    let mut joined = vec![Vec::new(); nodes];
    for ((i, j), (_, times)) in edge_ends(nodes, uses.indices()).zip(uses.iter()) {
        for _ in 0..times.round() as usize {
            joined[i].push(j as u32);
            joined[j].push(i as u32);
        }
    }
    let mut routes = Vec::new();
    let firsts = std::mem::take(&mut joined[0]);
    let mut served = vec![false; nodes];
    for first in firsts {
        let mut route = Vec::new();
        let mut at = Some(first).filter(|first| !served[*first as usize]);
        while let Some(customer) = at {
            served[customer as usize] = true;
            route.push(customer);
            at = joined[customer as usize]
                .iter()
                .copied()
                .find(|next| *next != 0 && !served[*next as usize]);
        }
        if !route.is_empty() {
            routes.push(route);
        }
    }
    routes
}

impl Solver for CvrpBranchAndCut {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.fleet.check(costs)?;
        self.run(costs)
    }
}
