//! Minimum spanning tree: Kruskal (1956), with the filter of Osipov, Sanders and Singler (2009),
//! which sorts only the edges that can still join two parts of the tree.
//!
//! Edges are taken in the order of their costs, ties in the order of their numbers; costs have any
//! sign. The LP relaxation is the problem itself: the vertices of the spanning tree polytope
//! (Edmonds 1971) are the trees, and two of them are adjacent if they differ by one edge each.

use std::sync::Arc;

use super::relaxation::{
    AdjacentVertices, CostRanges, CostRanging, MAX_ADJACENT_VERTICES, RelaxationSolver, VertexDelta,
};
use super::{Solution, SolveFailure, SolveStatus, Solver, check_not_stopped};
use regretless_base::decision::Decision;

/// Edges that are sorted at once; more of them are split by a pivot first. Measured on graphs of
/// 10³ to 10⁶ edges: 500 to 4,000 take the same time.
const MAX_SORTED_EDGES: usize = 1_000;

/// No edge, no node.
const NONE: u32 = u32::MAX;

/// An undirected graph, of which some edges may be absent.
#[derive(Debug, Clone)]
pub struct TreeNetwork {
    /// Number of nodes.
    pub num_nodes: usize,
    /// The two nodes of each edge.
    pub ends: Arc<[[u32; 2]]>,
    /// Which edges exist; `None` if all do.
    pub present: Option<Arc<[bool]>>,
}

impl TreeNetwork {
    /// Whether an edge exists.
    pub fn is_present(&self, edge: u32) -> bool {
        self.present
            .as_ref()
            .is_none_or(|present| present[edge as usize])
    }

    /// The part of the graph to which each node belongs, if there is more than one.
    pub fn parts(&self) -> Option<Vec<u32>> {
        let mut parts = Parts::new(self.num_nodes);
        for (edge, ends) in (0..).zip(self.ends.iter()) {
            if self.is_present(edge) {
                parts.join(*ends);
            }
        }
        (parts.count > 1).then(|| {
            (0..self.num_nodes as u32)
                .map(|node| parts.find(node))
                .collect()
        })
    }
}

/// The parts that a forest joins: disjoint sets (Tarjan 1975).
#[derive(Debug, Clone, Default)]
struct Parts {
    parents: Vec<u32>,
    sizes: Vec<u32>,
    count: usize,
}

impl Parts {
    fn new(num_nodes: usize) -> Self {
        let mut parts = Self::default();
        parts.restart(num_nodes);
        parts
    }

    fn restart(&mut self, num_nodes: usize) {
        self.parents.clear();
        self.parents.extend(0..num_nodes as u32);
        self.sizes.clear();
        self.sizes.resize(num_nodes, 1);
        self.count = num_nodes;
    }

    fn find(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let grandparent = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    /// Joins the parts of two nodes; false if they are the same.
    fn join(&mut self, ends: [u32; 2]) -> bool {
        let [mut first, mut second] = ends.map(|node| self.find(node));
        if first == second {
            return false;
        }
        if self.sizes[first as usize] < self.sizes[second as usize] {
            std::mem::swap(&mut first, &mut second);
        }
        self.parents[second as usize] = first;
        self.sizes[first as usize] += self.sizes[second as usize];
        self.count -= 1;
        true
    }
}

/// An edge with its cost as a number whose order is that of the costs.
type EdgeKey = (u64, u32);

fn edge_key(cost: f64, edge: u32) -> EdgeKey {
    // 0 and -0 are the same cost.
    let bits = (cost + 0.0).to_bits();
    let ordered = if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    };
    (ordered, edge)
}

/// The solver of one graph.
#[derive(Debug, Clone)]
pub struct SpanningTreeSolver {
    network: TreeNetwork,
    parts: Parts,
    keys: Vec<EdgeKey>,
    /// Edges of the last tree, in the order of their costs.
    tree: Vec<u32>,
}

impl SpanningTreeSolver {
    /// A solver for trees of this network.
    pub fn new(network: TreeNetwork) -> Self {
        Self {
            network,
            parts: Parts::default(),
            keys: Vec::new(),
            tree: Vec::new(),
        }
    }

    /// Solves another set of edges of the same graph from now on; `false`, with nothing changed,
    /// for another graph.
    pub fn move_to(&mut self, network: &TreeNetwork) -> bool {
        if !Arc::ptr_eq(&self.network.ends, &network.ends) {
            return false;
        }
        self.network.clone_from(network);
        true
    }

    fn find_tree(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        check_not_stopped()?;
        self.parts.restart(self.network.num_nodes);
        self.tree.clear();
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        let edges = (0..).zip(costs);
        match &self.network.present {
            None => keys.extend(edges.map(|(edge, cost)| edge_key(*cost, edge))),
            Some(present) => {
                let existing = edges.zip(present.iter()).filter(|(_, present)| **present);
                keys.extend(existing.map(|((edge, cost), _)| edge_key(*cost, edge)));
            }
        }
        self.add_cheapest(&mut keys);
        self.keys = keys;
        if self.parts.count > 1 {
            return Err(SolveFailure::Infeasible);
        }
        Ok(())
    }

    /// Adds the edges that join two parts, cheapest first.
    fn add_cheapest(&mut self, keys: &mut [EdgeKey]) {
        if self.parts.count == 1 {
            return;
        }
        if keys.len() <= MAX_SORTED_EDGES {
            keys.sort_unstable();
            for (_, edge) in keys.iter() {
                if self.parts.join(self.network.ends[*edge as usize]) {
                    self.tree.push(*edge);
                }
            }
            return;
        }
        // Most trees are among the cheaper edges.
        let middle = (self.network.num_nodes + MAX_SORTED_EDGES / 2).min(keys.len() / 2);
        let (cheap, _, _) = keys.select_nth_unstable(middle);
        let count = cheap.len();
        let (cheap, others) = keys.split_at_mut(count);
        self.add_cheapest(cheap);
        if self.parts.count == 1 {
            return;
        }
        let mut kept = 0;
        for place in 0..others.len() {
            let ends = self.network.ends[others[place].1 as usize];
            let [first, second] = ends.map(|node| self.parts.find(node));
            if first != second {
                others.swap(kept, place);
                kept += 1;
            }
        }
        self.add_cheapest(&mut others[..kept]);
    }
}

impl Solver for SpanningTreeSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        self.find_tree(costs)?;
        solution.decision.assign_indices(self.tree.iter().copied());
        solution.objective = solution.decision.dot(costs);
        solution.bound = solution.objective;
        solution.status = SolveStatus::Optimal;
        Ok(())
    }
}

impl RelaxationSolver for SpanningTreeSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}

/// The tree with a root, for the path between two nodes.
struct TreePaths {
    parents: Vec<u32>,
    /// The edge to the parent of each node.
    edges: Vec<u32>,
    depths: Vec<u32>,
}

impl TreePaths {
    fn new(network: &TreeNetwork, tree: &[u32]) -> Self {
        let mut neighbors = vec![Vec::new(); network.num_nodes];
        for edge in tree {
            let [first, second] = network.ends[*edge as usize];
            neighbors[first as usize].push((second, *edge));
            neighbors[second as usize].push((first, *edge));
        }
        let mut rooted = Self {
            parents: vec![NONE; network.num_nodes],
            edges: vec![NONE; network.num_nodes],
            depths: vec![0; network.num_nodes],
        };
        let mut open = vec![0_u32];
        while let Some(node) = open.pop() {
            for (next, edge) in &neighbors[node as usize] {
                if rooted.edges[node as usize] != *edge {
                    rooted.parents[*next as usize] = node;
                    rooted.edges[*next as usize] = *edge;
                    rooted.depths[*next as usize] = rooted.depths[node as usize] + 1;
                    open.push(*next);
                }
            }
        }
        rooted
    }

    /// Calls `visit` with the edges of the path between two nodes. `skip` says for a node the next
    /// one above it, itself included, whose edge counts.
    fn climb(
        &self,
        [mut first, mut second]: [u32; 2],
        mut skip: impl FnMut(u32) -> u32,
        mut visit: impl FnMut(u32, u32),
    ) {
        loop {
            (first, second) = (skip(first), skip(second));
            if first == second {
                return;
            }
            if self.depths[first as usize] < self.depths[second as usize] {
                std::mem::swap(&mut first, &mut second);
            }
            visit(first, self.edges[first as usize]);
            first = self.parents[first as usize];
        }
    }
}

/// The cost of an edge of the tree may rise to that of the cheapest other edge that joins the two
/// parts it leaves; the cost of another edge may fall to that of the most expensive edge of the
/// tree on the path between its ends.
///
/// Other edges are taken in the order of their costs; the first one whose path covers an edge of
/// the tree is its replacement (Tarjan 1982), and covered edges are skipped from then on.
impl CostRanging for SpanningTreeSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.find_tree(costs)?;
        let mut ranges = CostRanges::unbounded(costs.len());
        let rooted = TreePaths::new(&self.network, &self.tree);
        let others = self.other_edges(costs);
        // The next node above, itself included, whose edge is not covered.
        let mut uncovered: Vec<u32> = (0..self.network.num_nodes as u32).collect();
        for edge in &others {
            let mut covered = Vec::new();
            let skip = |node: u32| top(&mut uncovered, node);
            let visit = |node: u32, tree_edge: u32| {
                ranges.upper[tree_edge as usize] = costs[*edge as usize];
                covered.push(node);
            };
            rooted.climb(self.network.ends[*edge as usize], skip, visit);
            for node in covered {
                uncovered[node as usize] = rooted.parents[node as usize];
            }
        }
        // The most expensive edge of a path is the one that joined the parts of its ends.
        let joins = JoinTree::new(&self.network, &self.tree);
        for edge in &others {
            let last = joins.last_joined(self.network.ends[*edge as usize]);
            if let Some(tree_edge) = last.and_then(|place| self.tree.get(place)) {
                ranges.lower[*edge as usize] = costs[*tree_edge as usize];
            }
        }
        Ok(ranges)
    }
}

/// The next node above, itself included, whose edge is not covered; the way is shortened.
fn top(uncovered: &mut [u32], mut node: u32) -> u32 {
    while uncovered[node as usize] != node {
        let above = uncovered[uncovered[node as usize] as usize];
        uncovered[node as usize] = above;
        node = above;
    }
    node
}

/// When each part was joined to a larger one: disjoint sets without shortened ways, whose depth is
/// logarithmic because smaller parts join larger ones.
struct JoinTree {
    parents: Vec<u32>,
    /// The place in the tree of the edge that joined each node to its parent.
    joined_by: Vec<usize>,
}

impl JoinTree {
    fn new(network: &TreeNetwork, tree: &[u32]) -> Self {
        let mut joins = Self {
            parents: (0..network.num_nodes as u32).collect(),
            joined_by: vec![usize::MAX; network.num_nodes],
        };
        let mut sizes = vec![1_u32; network.num_nodes];
        for (place, edge) in tree.iter().enumerate() {
            let ends = network.ends[*edge as usize];
            let [mut first, mut second] = ends.map(|node| joins.root(node));
            if sizes[first as usize] < sizes[second as usize] {
                std::mem::swap(&mut first, &mut second);
            }
            joins.parents[second as usize] = first;
            joins.joined_by[second as usize] = place;
            sizes[first as usize] += sizes[second as usize];
        }
        joins
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    /// The place of the edge that joined the parts of two nodes.
    fn last_joined(&self, [mut first, mut second]: [u32; 2]) -> Option<usize> {
        let mut last = None;
        while first != second {
            // The one that was joined earlier moves up.
            if self.joined_by[first as usize] > self.joined_by[second as usize] {
                std::mem::swap(&mut first, &mut second);
            }
            last = Some(self.joined_by[first as usize]);
            first = self.parents[first as usize];
        }
        last
    }
}

impl SpanningTreeSolver {
    /// The existing edges that are not in the tree, in the order of their costs.
    fn other_edges(&self, costs: &[f64]) -> Vec<u32> {
        let mut is_in_tree = vec![false; costs.len()];
        for edge in &self.tree {
            is_in_tree[*edge as usize] = true;
        }
        let mut keys: Vec<EdgeKey> = (0..)
            .zip(costs)
            .filter(|(edge, _)| !is_in_tree[*edge as usize] && self.network.is_present(*edge))
            .map(|(edge, cost)| edge_key(*cost, edge))
            .collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, edge)| edge).collect()
    }
}

/// Exchanges of an edge of the tree for another one on whose cycle it is: cheap edges enter first,
/// and for each of them the most expensive edges leave first.
impl AdjacentVertices for SpanningTreeSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let rooted = TreePaths::new(&self.network, &self.tree);
        let mut deltas: Vec<VertexDelta> = Vec::new();
        for edge in self.other_edges(costs) {
            check_not_stopped()?;
            let mut leaving = Vec::new();
            let ends = self.network.ends[edge as usize];
            rooted.climb(ends, |node| node, |_, tree_edge| leaving.push(tree_edge));
            leaving.sort_unstable_by_key(|tree_edge| {
                std::cmp::Reverse(edge_key(costs[*tree_edge as usize], *tree_edge))
            });
            for tree_edge in leaving {
                if deltas.len() >= MAX_ADJACENT_VERTICES {
                    return Ok((solution, deltas));
                }
                let (minus, plus) = ((tree_edge, -1.0), (edge, 1.0));
                deltas.push(Decision::from_entries(if tree_edge < edge {
                    [minus, plus]
                } else {
                    [plus, minus]
                }));
            }
        }
        Ok((solution, deltas))
    }
}
