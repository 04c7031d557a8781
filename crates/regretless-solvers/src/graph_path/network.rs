//! A directed graph as arrays: the arcs that leave each node, and those that arrive at it.

use std::sync::Arc;

/// What the costs of a network belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostPlace {
    /// One cost per arc.
    Arcs,
    /// One cost per node; a path pays for all its nodes, both ends included.
    Nodes,
}

/// An arc as seen from one of its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfArc {
    /// The node at the other end.
    pub node: u32,
    /// The cost that is paid along the arc: that of the arc, or that of the node it leads to.
    pub cost: u32,
}

/// Arcs by the node at one end of them.
#[derive(Debug, Clone)]
pub struct Adjacency {
    /// Where the arcs of each node begin, and the end of the last.
    starts: Vec<u32>,
    arcs: Vec<HalfArc>,
}

impl Adjacency {
    fn new(num_nodes: usize, arcs: impl Iterator<Item = (u32, HalfArc)> + Clone) -> Self {
        let mut starts = vec![0_u32; num_nodes + 1];
        for (node, _) in arcs.clone() {
            // Counting sort by node, stable in the order in which arcs are given.
            starts[node as usize + 1] += 1;
        }
        for node in 0..num_nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let nowhere = HalfArc { node: 0, cost: 0 };
        let mut sorted = vec![nowhere; starts[num_nodes] as usize];
        for (node, arc) in arcs {
            let place = &mut next[node as usize];
            sorted[*place as usize] = arc;
            *place += 1;
        }
        Self {
            starts,
            arcs: sorted,
        }
    }

    /// The arcs of a node, in the order in which they were given.
    #[inline]
    pub fn of(&self, node: u32) -> &[HalfArc] {
        let node = node as usize;
        &self.arcs[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// A directed graph.
#[derive(Debug)]
pub struct Graph {
    num_nodes: usize,
    num_costs: usize,
    cost_place: CostPlace,
    pub(super) leaving: Adjacency,
    pub(super) arriving: Adjacency,
    /// The nodes in an order in which all arcs lead forward, and the place of each node in it;
    /// `None` if there is a cycle.
    pub(super) topological: Option<TopologicalOrder>,
}

/// An order of the nodes in which all arcs lead forward.
#[derive(Debug)]
pub struct TopologicalOrder {
    pub nodes: Vec<u32>,
    /// The place of each node.
    pub places: Vec<u32>,
}

impl Graph {
    /// A graph of arcs between nodes that are counted from 0; each has one cost.
    pub fn with_arc_costs(num_nodes: usize, ends: &[[u32; 2]]) -> Self {
        let leaving = (0..).zip(ends).map(|(cost, [from, to])| {
            let arc = HalfArc { node: *to, cost };
            (*from, arc)
        });
        let arriving = (0..).zip(ends).map(|(cost, [from, to])| {
            let arc = HalfArc { node: *from, cost };
            (*to, arc)
        });
        let leaving = Adjacency::new(num_nodes, leaving);
        Self {
            num_nodes,
            num_costs: ends.len(),
            cost_place: CostPlace::Arcs,
            arriving: Adjacency::new(num_nodes, arriving),
            topological: topological_order(num_nodes, &leaving),
            leaving,
        }
    }

    /// A grid of nodes, each of which has a cost, with arcs between all neighbors: 4, or 8 with
    /// the diagonal ones.
    pub fn grid_with_node_costs(rows: usize, cols: usize, has_diagonals: bool) -> Self {
        let mut ends = Vec::new();
        for row in 0..rows {
            for col in 0..cols {
                let near = |at: usize, count: usize| at.saturating_sub(1)..(at + 2).min(count);
                for to_row in near(row, rows) {
                    for to_col in near(col, cols) {
                        // Not the node itself, and without diagonals only neighbors at one step.
                        let steps = row.abs_diff(to_row) + col.abs_diff(to_col);
                        if steps == 1 || (steps == 2 && has_diagonals) {
                            let [from, to] = [row * cols + col, to_row * cols + to_col];
                            ends.push([from as u32, to as u32]);
                        }
                    }
                }
            }
        }
        let leaving = ends.iter().map(|[from, to]| {
            let arc = HalfArc {
                node: *to,
                cost: *to,
            };
            (*from, arc)
        });
        let arriving = ends.iter().map(|[from, to]| {
            let arc = HalfArc {
                node: *from,
                // Against its direction, too, an arc pays for the node that it leads to.
                cost: *to,
            };
            (*to, arc)
        });
        let num_nodes = rows * cols;
        let leaving = Adjacency::new(num_nodes, leaving);
        Self {
            num_nodes,
            num_costs: num_nodes,
            cost_place: CostPlace::Nodes,
            arriving: Adjacency::new(num_nodes, arriving),
            topological: topological_order(num_nodes, &leaving),
            leaving,
        }
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.num_nodes
    }

    /// Number of costs: arcs or nodes.
    pub fn num_costs(&self) -> usize {
        self.num_costs
    }

    /// Number of arcs.
    pub fn num_arcs(&self) -> usize {
        self.leaving.arcs.len()
    }

    /// Whether arcs or nodes have costs.
    pub fn cost_place(&self) -> CostPlace {
        self.cost_place
    }

    /// Whether there is no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.topological.is_some()
    }

    /// The arcs that leave a node.
    pub fn leaving(&self, node: u32) -> &[HalfArc] {
        self.leaving.of(node)
    }
}

/// Kahn's algorithm (1962); nodes without a remaining arc are taken in the order in which they lose
/// it.
fn topological_order(num_nodes: usize, leaving: &Adjacency) -> Option<TopologicalOrder> {
    let mut missing = vec![0_u32; num_nodes];
    for arc in &leaving.arcs {
        missing[arc.node as usize] += 1;
    }
    let mut nodes: Vec<u32> = (0..num_nodes as u32)
        .filter(|node| missing[*node as usize] == 0)
        .collect();
    let mut next = 0;
    while let Some(node) = nodes.get(next).copied() {
        next += 1;
        for arc in leaving.of(node) {
            let missing = &mut missing[arc.node as usize];
            *missing -= 1;
            if *missing == 0 {
                nodes.push(arc.node);
            }
        }
    }
    // Nodes on or behind a cycle never lose their last arriving arc.
    if nodes.len() < num_nodes {
        return None;
    }
    let mut places = vec![0; num_nodes];
    for (place, node) in (0..).zip(&nodes) {
        places[*node as usize] = place;
    }
    Some(TopologicalOrder { nodes, places })
}

/// A graph with the ends of the paths that are searched and the arcs, or nodes, that are open.
#[derive(Debug, Clone)]
pub struct PathNetwork {
    /// The graph.
    pub graph: Arc<Graph>,
    /// The first node of a path.
    pub source: u32,
    /// The last node of a path.
    pub target: u32,
    /// Which costs exist; `None` if all do.
    pub present: Option<Arc<[bool]>>,
}

/// The nodes that a search visits next from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Along the arcs, from the source.
    Forward,
    /// Against the arcs, from the target.
    Backward,
}

impl PathNetwork {
    /// Whether some costs may not exist.
    pub(super) fn is_restricted(&self) -> bool {
        self.present.is_some()
    }

    /// Whether a cost exists.
    #[inline]
    pub fn is_open(&self, cost: u32) -> bool {
        self.present
            .as_ref()
            .is_none_or(|present| present[cost as usize])
    }

    /// The arcs of a node in the direction of a search.
    #[inline]
    pub(super) fn arcs(&self, node: u32, direction: Direction) -> &[HalfArc] {
        match direction {
            Direction::Forward => self.graph.leaving.of(node),
            Direction::Backward => self.graph.arriving.of(node),
        }
    }

    /// The node at which a search in this direction begins.
    pub(super) fn root(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Forward => self.source,
            Direction::Backward => self.target,
        }
    }

    /// The cost that every path pays at its first node.
    pub(super) fn first_cost(&self) -> Option<u32> {
        match self.graph.cost_place {
            CostPlace::Arcs => None,
            CostPlace::Nodes => Some(self.source),
        }
    }

    /// The length of the shortest cycle through these nodes in this order.
    pub(super) fn cycle_length(&self, nodes: &[u32], costs: &[f64]) -> f64 {
        let following = nodes.iter().cycle().skip(1);
        let mut length = 0.0;
        for (from, to) in nodes.iter().zip(following) {
            let arcs = self.graph.leaving(*from).iter();
            let open = arcs.filter(|arc| arc.node == *to && self.is_open(arc.cost));
            let lengths = open.map(|arc| costs[arc.cost as usize]);
            // The cheapest of parallel arcs; infinite if all are closed.
            length += lengths.fold(f64::INFINITY, f64::min);
        }
        length
    }

    /// The nodes that can be reached in a direction.
    pub(super) fn reached(&self, direction: Direction) -> Vec<bool> {
        let mut reached = vec![false; self.graph.num_nodes];
        let root = self.root(direction);
        reached[root as usize] = true;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            for arc in self.arcs(node, direction) {
                if !reached[arc.node as usize] && self.is_open(arc.cost) {
                    reached[arc.node as usize] = true;
                    open.push(arc.node);
                }
            }
        }
        reached
    }

    /// Whether there is a path.
    pub fn is_connected(&self) -> bool {
        let are_open = self.first_cost().is_none_or(|cost| self.is_open(cost));
        are_open && self.reached(Direction::Forward)[self.target as usize]
    }
}
