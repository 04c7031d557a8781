//! Cost ranges of a flow.
//!
//! *Of the basis*: an arc outside the tree has the range in which its reduced cost keeps its sign;
//! the range of an arc of the tree ends where the reduced cost of an arc becomes 0 whose cycle
//! through the tree contains it.
//!
//! *Exact*: a flow is optimal if and only if no cycle along which it can change has a negative
//! cost. The cost of an arc may fall by the cost of the cheapest such cycle on which its flow
//! rises, and rise by that of the cheapest one on which its flow falls: shortest paths from one end
//! of the arc to the other, by Dijkstra's algorithm (1959) on reduced costs, which are not
//! negative. An arc whose flow could rise and fall is left out of its own paths.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::NetworkFlowSolver;
use super::network_simplex::ArcState;
use crate::relaxation::{CostRanges, CostRanging};
use crate::{SolveFailure, check_not_stopped};

/// The largest cost ranges.
#[derive(Debug)]
pub struct ExactFlowRanging(pub NetworkFlowSolver);

/// The ranges of the basis.
impl CostRanging for NetworkFlowSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.simplex.solve(costs)?;
        let simplex = &self.simplex;
        let num_costs = self.network.num_costs;
        let mut ranges = CostRanges::unbounded(num_costs);
        let mut limit = |arc: usize, falls: bool, room: f64| {
            if arc >= num_costs {
                return;
            }
            if falls {
                ranges.lower[arc] = ranges.lower[arc].max(costs[arc] - room);
            } else {
                ranges.upper[arc] = ranges.upper[arc].min(costs[arc] + room);
            }
        };
        for arc in 0..simplex.num_arcs() {
            let is_rising = match simplex.state(arc) {
                ArcState::InTree => continue,
                ArcState::AtLower => true,
                ArcState::AtUpper => false,
            };
            // An arc whose flow cannot change limits nothing.
            if simplex.capacity()[arc] == 0.0 {
                continue;
            }
            // The reduced cost is what the arc is away from entering, and so what any arc of its
            // cycle may lose.
            let room = simplex.reduced_cost(arc).abs();
            limit(arc, is_rising, room);
            let [tail, head] = simplex.ends(arc);
            // The cycle returns through the tree.
            let ends = if is_rising {
                [head, tail]
            } else {
                [tail, head]
            };
            simplex.visit_tree_path(ends, |tree_arc, is_along| limit(tree_arc, is_along, room));
        }
        Ok(ranges)
    }
}

/// An arc along which the flow can change.
#[derive(Debug, Clone, Copy)]
struct ResidualArc {
    head: u32,
    arc: u32,
    length: f64,
}

/// A node of the queue of Dijkstra's algorithm.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QueuedNode {
    distance: f64,
    node: u32,
}

impl Eq for QueuedNode {}

impl Ord for QueuedNode {
    /// The nearest node is the greatest: the queue returns the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_distance = other.distance.total_cmp(&self.distance);
        by_distance.then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for QueuedNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Shortest paths along which the flow can change.
struct ResidualPaths {
    neighbors: Vec<Vec<ResidualArc>>,
    distances: Vec<f64>,
    queue: BinaryHeap<QueuedNode>,
}

impl ResidualPaths {
    /// Finds the distances from a node without an arc, up to the target if there is one.
    fn run(
        &mut self,
        source: usize,
        target: Option<usize>,
        left_out: Option<usize>,
    ) -> Result<(), SolveFailure> {
        check_not_stopped()?;
        self.distances.fill(f64::INFINITY);
        self.queue.clear();
        self.distances[source] = 0.0;
        self.queue.push(QueuedNode {
            distance: 0.0,
            node: source as u32,
        });
        while let Some(QueuedNode { distance, node }) = self.queue.pop() {
            let node = node as usize;
            // The distance of the target is final when it leaves the queue.
            if Some(node) == target {
                break;
            }
            // A shorter way to the node was found since.
            if distance > self.distances[node] {
                continue;
            }
            for residual in &self.neighbors[node] {
                let through = distance + residual.length;
                let is_left_out = Some(residual.arc as usize) == left_out;
                if !is_left_out && through < self.distances[residual.head as usize] {
                    self.distances[residual.head as usize] = through;
                    self.queue.push(QueuedNode {
                        distance: through,
                        node: residual.head,
                    });
                }
            }
        }
        Ok(())
    }
}

impl NetworkFlowSolver {
    /// Whether the flow of an arc can rise, and fall.
    pub(super) fn can_change(&self, arc: usize) -> [bool; 2] {
        let flow = self.flow(arc);
        [
            self.simplex.capacity()[arc] - flow > self.negligible,
            flow > 0.0,
        ]
    }

    fn residual_paths(&self) -> ResidualPaths {
        let nodes = self.simplex.num_nodes();
        let mut neighbors = vec![Vec::new(); nodes];
        for arc in 0..self.simplex.num_arcs() {
            let [tail, head] = self.simplex.ends(arc);
            let reduced = self.simplex.reduced_cost(arc);
            let [can_rise, can_fall] = self.can_change(arc);
            let mut add = |from: usize, to: usize, length: f64| {
                neighbors[from].push(ResidualArc {
                    // Reduced costs of residual arcs are nonnegative at the optimum; rounding may
                    // put them slightly below.
                    head: to as u32,
                    arc: arc as u32,
                    length: length.max(0.0),
                });
            };
            if can_rise {
                add(tail, head, reduced);
            }
            if can_fall {
                add(head, tail, -reduced);
            }
        }
        ResidualPaths {
            neighbors,
            distances: vec![f64::INFINITY; nodes],
            queue: BinaryHeap::new(),
        }
    }
}

impl CostRanging for ExactFlowRanging {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        let solver = &mut self.0;
        solver.simplex.solve(costs)?;
        let mut paths = solver.residual_paths();
        let mut ranges = CostRanges::unbounded(costs.len());
        // Arcs whose flow can change in one direction, by the node from which paths are needed.
        let mut one_way = vec![Vec::new(); solver.simplex.num_nodes()];
        for (arc, cost) in costs.iter().enumerate() {
            let [tail, head] = solver.simplex.ends(arc);
            let reduced = solver.simplex.reduced_cost(arc);
            match solver.can_change(arc) {
                [true, true] => {
                    // Both directions need the shortest way back without the arc itself.
                    paths.run(head, Some(tail), Some(arc))?;
                    ranges.lower[arc] = cost - (reduced.max(0.0) + paths.distances[tail]);
                    paths.run(tail, Some(head), Some(arc))?;
                    ranges.upper[arc] = cost + ((-reduced).max(0.0) + paths.distances[head]);
                }
                // An arc at a bound needs a way back in one direction only: all arcs of a node
                // share one search.
                [true, false] => one_way[head].push(arc),
                [false, true] => one_way[tail].push(arc),
                [false, false] => {}
            }
        }
        for (source, arcs) in one_way.iter().enumerate() {
            if arcs.is_empty() {
                continue;
            }
            paths.run(source, None, None)?;
            for arc in arcs.iter().copied() {
                let [tail, head] = solver.simplex.ends(arc);
                let reduced = solver.simplex.reduced_cost(arc);
                if source == head {
                    ranges.lower[arc] = costs[arc] - (reduced.max(0.0) + paths.distances[tail]);
                } else {
                    ranges.upper[arc] = costs[arc] + ((-reduced).max(0.0) + paths.distances[head]);
                }
            }
        }
        Ok(ranges)
    }
}
