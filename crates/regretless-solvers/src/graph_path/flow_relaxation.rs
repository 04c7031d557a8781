//! The relaxation of paths by flows: one unit from the source to the target, and at most one along
//! every arc; with costs on nodes, at most one through every node.
//!
//! Without a negative cycle its optimum is the shortest path. A negative cycle on a way from the
//! source to the target leaves no shortest way, but the flow has an optimum: it follows the cycle
//! once. No path costs less than this flow. A loss that is defined by the least cost of a decision,
//! such as SPO+, therefore stays an upper bound of regret, and convex.

use std::sync::Arc;

use super::label_correcting::relevant_nodes;
use super::network::{CostPlace, Graph, PathNetwork};
use crate::network_flow::{FlowLimits, FlowNetwork, NetworkFlowSolver};
use crate::{Solution, SolveFailure, Solver};

/// The flows of one network of a graph.
#[derive(Debug, Clone)]
pub(super) struct FlowRelaxation {
    network: Arc<FlowNetwork>,
    limits: FlowLimits,
    solver: NetworkFlowSolver,
    /// The costs of arcs that carry nothing are 0: those of closed ones may be no numbers.
    costs: Vec<f64>,
}

impl FlowRelaxation {
    pub fn new(path_network: &PathNetwork) -> Self {
        let network = Arc::new(flow_network(&path_network.graph));
        let limits = flow_limits(&network, path_network);
        Self {
            solver: NetworkFlowSolver::new(Arc::clone(&network), &limits),
            network,
            limits,
            costs: Vec::new(),
        }
    }

    /// Takes the ends and the open arcs of another network of the same graph.
    pub fn move_to(&mut self, path_network: &PathNetwork) {
        self.limits = flow_limits(&self.network, path_network);
        self.solver.set_limits(&self.network, &self.limits);
    }

    /// The flow of least cost.
    ///
    /// # Errors
    /// When there is no path, or the search is to stop.
    pub fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let usable = costs.iter().zip(&self.limits.upper);
        // Closed arcs may have costs that are not finite, which no flow pays.
        let usable = usable.map(|(cost, upper)| if *upper > 0.0 { *cost } else { 0.0 });
        self.costs.clear();
        self.costs.extend(usable);
        self.solver.solve(&self.costs)
    }
}

/// The arcs of a graph. With costs on nodes, node v becomes an arc with its cost, from v to
/// v + number of nodes; the arcs between nodes follow and cost nothing.
fn flow_network(graph: &Graph) -> FlowNetwork {
    let num_nodes = graph.num_nodes();
    let nodes = 0..num_nodes as u32;
    match graph.cost_place() {
        CostPlace::Arcs => {
            let (mut tails, mut heads) = (vec![0; graph.num_costs()], vec![0; graph.num_costs()]);
            for node in nodes {
                for arc in graph.leaving(node) {
                    tails[arc.cost as usize] = node;
                    heads[arc.cost as usize] = arc.node;
                }
            }
            FlowNetwork {
                nodes: num_nodes,
                tails,
                heads,
                num_costs: graph.num_costs(),
            }
        }
        CostPlace::Nodes => {
            let exit = |node: u32| node + num_nodes as u32;
            let mut tails: Vec<u32> = nodes.clone().collect();
            let mut heads: Vec<u32> = nodes.clone().map(exit).collect();
            for node in nodes {
                for arc in graph.leaving(node) {
                    tails.push(exit(node));
                    heads.push(arc.node);
                }
            }
            FlowNetwork {
                nodes: 2 * num_nodes,
                tails,
                heads,
                num_costs: num_nodes,
            }
        }
    }
}

/// What arcs carry. No path enters its source, leaves its target or follows an arc from a node to
/// itself, so such arcs carry nothing.
fn flow_limits(network: &FlowNetwork, path_network: &PathNetwork) -> FlowLimits {
    let (source, target) = (path_network.source, path_network.target);
    let num_nodes = path_network.graph.num_nodes() as u32;
    // Nodes off every way would only carry cycles of flow.
    let relevant = relevant_nodes(path_network);
    let is_relevant = |node: u32| relevant[(node % num_nodes) as usize];
    let sink = match path_network.graph.cost_place() {
        CostPlace::Arcs => target,
        CostPlace::Nodes => target + num_nodes,
    };
    let ends = network.tails.iter().zip(&network.heads);
    let upper = (0..).zip(ends).map(|(arc, (tail, head))| {
        let has_cost = (arc as usize) < network.num_costs;
        let is_open = !has_cost || path_network.is_open(arc);
        // Flow into the source or out of the sink could only run in cycles.
        let leads_on = tail != head && *head != source && *tail != sink;
        let is_usable = is_open && leads_on && is_relevant(*tail) && is_relevant(*head);
        f64::from(u8::from(is_usable))
    });
    let upper: Vec<f64> = upper.collect();
    let mut supply = vec![0.0; network.nodes];
    // Added, not set: source and sink may be one node.
    supply[source as usize] += 1.0;
    supply[sink as usize] -= 1.0;
    FlowLimits {
        supply,
        lower: vec![0.0; upper.len()],
        upper,
    }
}
