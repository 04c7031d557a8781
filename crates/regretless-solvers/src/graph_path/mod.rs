//! Shortest path between two nodes of a directed graph with costs on arcs, or of a grid with costs
//! on nodes.
//!
//! * Costs that are not negative: Dijkstra's algorithm (1959) with a heap, from both ends.
//! * Acyclic graphs: dynamic programming in topological order; costs have any sign.
//! * Other graphs with negative costs: label correcting (Bellman 1958, Ford 1956, Moore 1959;
//!   Tarjan 1981). Without a negative cycle on a way from the source to the target the path is
//!   exact.
//! * With such a cycle there is no shortest way, and the shortest path that visits no node twice is
//!   NP-hard. The rule: negative costs count as 0 in the search, and the solution is marked as not
//!   proven ([`SolveStatus::LimitReached`]); its objective is that of the actual costs. Losses that
//!   need the least cost, not a path, use the relaxation by flows ([`Solver::relax_unproven`]).
//!
//! Ties are broken by the order in which the searches visit nodes: nearer ones first, then those
//! with lower numbers.

mod cost_ranges;
mod detours;
mod distance_queue;
mod flow_relaxation;
mod label_correcting;
mod network;
mod search;

use std::sync::Arc;

use self::flow_relaxation::FlowRelaxation;
pub use self::network::{CostPlace, Graph, PathNetwork};
use self::search::{PathSearch, PathSearchEnd};
use super::relaxation::RelaxationSolver;
use super::{Solution, SolveFailure, SolveStatus, Solver};

/// The solver of one network; it can be moved to other ends and open arcs of the same graph.
#[derive(Debug, Clone)]
pub struct GraphPathSolver {
    network: PathNetwork,
    search: PathSearch,
    /// Made when it is first needed.
    flows: Option<FlowRelaxation>,
    /// The nodes of the last path, from the source, and its costs; with costs on nodes, these are
    /// the same.
    nodes: Vec<u32>,
    path: Vec<u32>,
}

impl GraphPathSolver {
    /// A solver for paths in this network.
    pub fn new(network: PathNetwork) -> Self {
        Self {
            search: PathSearch::new(network.graph.num_nodes()),
            network,
            flows: None,
            nodes: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Solves another network of the same graph from now on; `false`, with nothing changed, for
    /// another graph.
    pub fn move_to(&mut self, network: &PathNetwork) -> bool {
        // Another graph has other nodes, which buffers are made for.
        if !Arc::ptr_eq(&self.network.graph, &network.graph) {
            return false;
        }
        self.network.clone_from(network);
        self.search.forget_network();
        if let Some(flows) = &mut self.flows {
            flows.move_to(network);
        }
        true
    }

    /// The optimum of the relaxation by flows.
    fn relax_by_flows(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let flows = match self.flows.take() {
            Some(flows) => flows,
            None => FlowRelaxation::new(&self.network),
        };
        self.flows.insert(flows).solve(costs)
    }

    /// Finds the path; returns how its length is proven.
    fn find_path(&mut self, costs: &[f64]) -> Result<PathSearchEnd, SolveFailure> {
        let end = self.search.find_path(&self.network, costs)?;
        // Without a shortest path, the one that ignores negative costs is returned, together with a
        // bound.
        if let PathSearchEnd::NegativeCycle(_) = end {
            self.search.find_path_from_both_ends(&self.network, costs)?;
        }
        self.trace(costs)?;
        Ok(end)
    }

    /// Follows the labels from the target to the source.
    fn trace(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        let first_cost = self.network.first_cost();
        if first_cost.is_some_and(|cost| !self.network.is_open(cost)) {
            return Err(SolveFailure::Infeasible);
        }
        self.nodes.clear();
        self.path.clear();
        let mut node = self.network.target;
        self.nodes.push(node);
        while node != self.network.source {
            let label = self
                .search
                .labels
                .get(node)
                .ok_or(SolveFailure::Infeasible)?;
            let parent = label.parent;
            // The labels do not say which of parallel arcs was followed.
            let cost = self
                .cheapest_arc(parent, node, costs)
                .ok_or(SolveFailure::Infeasible)?;
            self.path.push(cost);
            node = parent;
            self.nodes.push(node);
        }
        self.path.extend(first_cost);
        self.nodes.reverse();
        self.path.reverse();
        Ok(())
    }

    /// The cost index of the cheapest of the open arcs from a node to another one.
    fn cheapest_arc(&self, from: u32, to: u32, costs: &[f64]) -> Option<u32> {
        let arcs = self.network.graph.leaving(from).iter();
        let open = arcs.filter(|arc| arc.node == to && self.network.is_open(arc.cost));
        let value = |cost: u32| costs[cost as usize];
        open.map(|arc| arc.cost)
            .min_by(|first, second| value(*first).total_cmp(&value(*second)))
    }

    /// The length of no path is below this, if negative costs count as 0 in the search: each of
    /// them is paid at most once.
    fn bound_with_negative_costs(&self, costs: &[f64]) -> f64 {
        let open = (0..)
            .zip(costs)
            .filter(|(cost, _)| self.network.is_open(*cost));
        let negative: f64 = open.map(|(_, value)| value.min(0.0)).sum();
        let first = self
            .network
            .first_cost()
            .map_or(0.0, |cost| costs[cost as usize].max(0.0));
        // Every path is at least as long as the shortest one without negative costs, plus all of
        // these.
        first + self.search.labels.distance(self.network.target) + negative
    }

    /// The nodes of a negative cycle on a way from the source to the target, in the order of its
    /// arcs, if there is one.
    ///
    /// # Errors
    /// When the search is to stop.
    pub fn negative_cycle(&mut self, costs: &[f64]) -> Result<Option<Vec<u32>>, SolveFailure> {
        match self.search.find_path(&self.network, costs)? {
            PathSearchEnd::Exact => Ok(None),
            PathSearchEnd::NegativeCycle(nodes) => Ok(Some(nodes)),
        }
    }
}

impl Solver for GraphPathSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        let end = self.find_path(costs)?;
        solution.decision.assign_indices(self.path.iter().copied());
        solution.objective = solution.decision.dot(costs);
        (solution.bound, solution.status) = match end {
            PathSearchEnd::Exact => (solution.objective, SolveStatus::Optimal),
            PathSearchEnd::NegativeCycle(_) => {
                let bound = self.bound_with_negative_costs(costs);
                (bound.min(solution.objective), SolveStatus::LimitReached)
            }
        };
        Ok(())
    }

    fn relax_unproven(&mut self, costs: &[f64]) -> Option<Result<Solution, SolveFailure>> {
        Some(self.relax_by_flows(costs))
    }
}

/// Every vertex of the flow polytope of an acyclic graph is a path: the relaxation is the problem
/// itself. So it is on other graphs without negative cycles, whose flows would only add length.
impl RelaxationSolver for GraphPathSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let solution = self.solve(costs)?;
        match solution.status {
            // With a negative cycle the search proves nothing; flows are bounded by the arcs'
            // capacities.
            SolveStatus::LimitReached => self.relax_by_flows(costs),
            SolveStatus::Optimal | SolveStatus::WithinGap(_) => Ok(solution),
        }
    }
}
