//! Why no flow is feasible: nodes whose demand cannot reach them.
//!
//! Where the network simplex method leaves a supply that cannot be sent, the nodes that this supply
//! does not reach along arcs with room need more than the arcs into them carry (Gale 1957).

use std::sync::Arc;

use super::{FlowLimits, FlowNetwork, NetworkFlowSolver};
use crate::{SolveFailure, Solver};

/// Nodes that need more than can reach them.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandCut {
    /// The nodes, increasing.
    pub nodes: Vec<usize>,
    /// What they need together.
    pub demand: f64,
    /// What the arcs into them carry at most, less what has to leave them.
    pub capacity: f64,
}

impl DemandCut {
    /// Finds nodes that need more than can reach them; `None` if a flow is feasible, or supplies
    /// and demands are not balanced.
    pub fn find(network: &Arc<FlowNetwork>, limits: &FlowLimits) -> Option<Self> {
        let mut solver = NetworkFlowSolver::new(Arc::clone(network), limits);
        // Without costs: only feasibility matters.
        let found = solver.solve(&vec![0.0; network.num_costs]);
        if !matches!(found, Err(SolveFailure::Infeasible)) {
            return None;
        }
        // By the theorem of max-flow and min-cut, the nodes that unsent supply cannot reach lack
        // what they need.
        let is_reached = solver.reached_by_unsent_supply();
        let mut cut = Self {
            nodes: Vec::new(),
            demand: 0.0,
            capacity: 0.0,
        };
        for node in (0..network.nodes).filter(|node| !is_reached[*node]) {
            cut.nodes.push(node);
            cut.demand -= limits.supply[node];
        }
        for arc in 0..network.tails.len() {
            let [tail, head] = [network.tails[arc], network.heads[arc]];
            match (is_reached[tail as usize], is_reached[head as usize]) {
                (true, false) => cut.capacity += limits.upper[arc],
                (false, true) => cut.capacity -= limits.lower[arc],
                _ => {}
            }
        }
        // Rounding may make both equal; then there is nothing to report.
        (cut.demand > cut.capacity).then_some(cut)
    }
}

impl NetworkFlowSolver {
    /// Which nodes can be reached, along arcs with room, from one whose supply is not sent.
    fn reached_by_unsent_supply(&self) -> Vec<bool> {
        let simplex = &self.simplex;
        let mut neighbors = vec![Vec::new(); simplex.num_nodes()];
        let mut unsent = simplex.supply().to_vec();
        for arc in 0..simplex.num_arcs() {
            let [tail, head] = simplex.ends(arc);
            let flow = self.flow(arc);
            unsent[tail] -= flow;
            unsent[head] += flow;
            if simplex.capacity()[arc] - flow > self.negligible {
                neighbors[tail].push(head);
            }
            if flow > 0.0 {
                neighbors[head].push(tail);
            }
        }
        // Sums of flows have larger rounding errors than flows.
        let has_unsent = |node: &usize| unsent[*node] > 1e3 * self.negligible;
        let mut stack: Vec<usize> = (0..unsent.len()).filter(has_unsent).collect();
        let mut is_reached = vec![false; unsent.len()];
        for node in &stack {
            is_reached[*node] = true;
        }
        while let Some(node) = stack.pop() {
            for next in &neighbors[node] {
                if !is_reached[*next] {
                    is_reached[*next] = true;
                    stack.push(*next);
                }
            }
        }
        is_reached
    }
}
