//! Exact separation of subtour elimination constraints: sets S of nodes with x(δ(S)) < 2, where
//! x(δ(S)) is the total value of the edges that leave S.
//!
//! If there is a violated set, there is one that does not separate the ends of an edge of value one
//! between two nodes of degree 2. Such edges are contracted first (Padberg and Rinaldi 1990); if
//! parallel edges carry more than one unit, the union of their ends is itself a violated set. The
//! remaining graph is searched by maximum adjacency orders: the last node of an order is a minimum
//! cut between the last two nodes, and any edge may be contracted whose ends, as the order proves,
//! no cut below 2 separates (Stoer and Wagner 1997; Nagamochi and Ibaraki 1992). Every prefix of an
//! order is checked as well. A violated set is found if there is one.

use std::collections::BinaryHeap;

use super::cuts::TspCut;
use super::support_graph::{TspSupportGraph, UnionFind};

/// Violation above which a set counts as violated: the integrality tolerance.
const CUT_TOLERANCE: f64 = 1e-6;
/// Edges of at least one minus this are contracted: the feasibility tolerance of the simplex
/// solver.
const UNIT_TOLERANCE: f64 = 1e-9;
/// Maximum number of sets per call: limits the rows that a round adds on large instances.
const MAX_SUBTOURS_PER_ROUND: usize = 200;

/// Finds violated subtour elimination constraints.
pub(super) fn separate_subtours(support: &TspSupportGraph) -> Vec<TspCut> {
    let components = support.components(|_| true);
    let nodes = support.nodes;
    // A disconnected point: each component violates its constraint by a whole unit, and no
    // contraction is needed.
    if components.len() > 1 {
        // Two components are complements of each other and yield the same cut.
        let distinct = if components.len() == 2 {
            &components[1..]
        } else {
            &components[..]
        };
        let cuts = distinct.iter();
        return cuts
            .filter_map(|component| TspCut::subtour(nodes, component))
            .collect();
    }
    let mut shrunk = ShrunkGraph::new(support);
    // Contractions of edges of value one lose no violated set, or report it (Padberg and Rinaldi
    // 1990).
    shrunk.contract_unit_edges();
    while shrunk.size > 1 && shrunk.violated.len() < MAX_SUBTOURS_PER_ROUND {
        shrunk.run_adjacency_order();
    }
    let violated = shrunk.violated.iter();
    let mut cuts: Vec<TspCut> = violated
        .filter_map(|set| TspCut::subtour(nodes, set))
        .collect();
    // The same set may be found in several orders.
    cuts.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
    cuts.dedup();
    cuts
}

/// A support graph after contractions: its nodes are sets of nodes.
struct ShrunkGraph {
    contracted: UnionFind,
    /// Number of contracted nodes.
    size: usize,
    /// Edges between contracted nodes, which are represented by their smallest node; sorted, each
    /// pair once.
    edges: Vec<(u32, u32, f64)>,
    /// Violated sets found so far.
    violated: Vec<Vec<u32>>,
}

/// A heap entry: larger keys first, then smaller nodes.
#[derive(PartialEq)]
struct HeapEntry(f64, u32);

impl Eq for HeapEntry {}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl ShrunkGraph {
    fn new(support: &TspSupportGraph) -> Self {
        let edges = support
            .edges
            .iter()
            .map(|([i, j], value)| (*i, *j, *value))
            .collect();
        Self {
            contracted: UnionFind::new(support.nodes),
            size: support.nodes,
            edges,
            violated: Vec::new(),
        }
    }

    /// Updates the edges after contractions and merges parallel ones.
    fn merge_edges(&mut self) {
        for edge in &mut self.edges {
            let (i, j) = (self.contracted.find(edge.0), self.contracted.find(edge.1));
            (edge.0, edge.1) = (i.min(j), i.max(j));
        }
        self.edges.retain(|edge| edge.0 != edge.1);
        self.edges
            // Sorted by value too, so the sum of parallel edges has a fixed order of summation.
            .sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        self.edges.dedup_by(|next, first| {
            let is_parallel = (next.0, next.1) == (first.0, first.1);
            if is_parallel {
                first.2 += next.2;
            }
            is_parallel
        });
    }

    fn degrees(&self) -> Vec<f64> {
        let mut degree = vec![0.0; self.num_nodes()];
        for (i, j, value) in &self.edges {
            degree[*i as usize] += value;
            degree[*j as usize] += value;
        }
        degree
    }

    fn num_nodes(&self) -> usize {
        self.contracted.len()
    }

    /// Contracts edges of value one or more as long as there are any.
    fn contract_unit_edges(&mut self) {
        loop {
            let mut degree = self.degrees();
            let mut changed = false;
            for index in 0..self.edges.len() {
                let (i, j, value) = self.edges[index];
                // Ends contracted since the degrees were computed are handled in the next pass.
                let is_current = self.contracted.find(i) == i
                    && self.contracted.find(j) == j
                    && degree[i as usize] > 0.0
                    && degree[j as usize] > 0.0;
                // Contracting is safe if both ends have degree 2: a cut that separates them has at
                // least the value of one that does not.
                let has_degree_two = degree[i as usize] < 2.0 + CUT_TOLERANCE
                    && degree[j as usize] < 2.0 + CUT_TOLERANCE;
                // Two contracted nodes are left: they are complements, and nothing remains to be
                // separated.
                if value > 1.0 - UNIT_TOLERANCE && is_current && has_degree_two && self.size > 2 {
                    // The cut of the union: both degrees without the edge, which was counted twice.
                    let union_cut = degree[i as usize] + degree[j as usize] - 2.0 * value;
                    self.contract(i, j);
                    if union_cut < 2.0 - CUT_TOLERANCE {
                        self.report(i);
                    }
                    // Marks both ends as outdated until the degrees are computed again.
                    (degree[i as usize], degree[j as usize]) = (0.0, 0.0);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
            self.merge_edges();
        }
    }

    fn contract(&mut self, first: u32, second: u32) {
        if self.contracted.union(first, second) {
            self.size -= 1;
        }
    }

    /// Reports the set of a contracted node as violated.
    fn report(&mut self, node: u32) {
        let root = self.contracted.find(node);
        let set = (0..self.num_nodes() as u32)
            .filter(|other| self.contracted.find(*other) == root)
            .collect();
        self.violated.push(set);
    }

    /// One maximum adjacency order: reports violated prefixes and contracts nodes that no cut below
    /// 2 separates, as the order proves.
    fn run_adjacency_order(&mut self) {
        let total = self.num_nodes();
        let (start, list) = adjacency(total, &self.edges);
        let degree = self.degrees();
        let mut key = vec![0.0; total];
        let mut rank = vec![u32::MAX; total];
        let mut heap = BinaryHeap::new();
        // Always the node of smallest index, so the order depends on the graph alone.
        let first = self.contracted.find(0);
        heap.push(HeapEntry(0.0, first));
        let mut cut = 0.0;
        let mut order: Vec<u32> = Vec::new();
        let mut contractions: Vec<(u32, u32)> = Vec::new();
        let mut prefixes = Vec::new();
        while let Some(HeapEntry(_, node)) = heap.pop() {
            // The heap keeps outdated entries; the first one of a node has its largest key.
            if rank[node as usize] != u32::MAX {
                continue;
            }
            rank[node as usize] = order.len() as u32;
            order.push(node);
            // Edges into the prefix leave the cut, the others enter it.
            cut += degree[node as usize] - 2.0 * key[node as usize];
            // The whole graph is no set.
            if cut < 2.0 - CUT_TOLERANCE && order.len() < self.size {
                prefixes.push(order.len());
            }
            let neighbors = start[node as usize] as usize..start[node as usize + 1] as usize;
            for (other, value) in &list[neighbors] {
                if rank[*other as usize] == u32::MAX {
                    key[*other as usize] += value;
                    // A key of 2 or more proves that no smaller cut separates the two nodes
                    // (Nagamochi and Ibaraki 1992).
                    if key[*other as usize] > 2.0 - CUT_TOLERANCE {
                        contractions.push((node, *other));
                    }
                    heap.push(HeapEntry(key[*other as usize], *other));
                }
            }
        }
        // The last node's cut is a minimum cut between the last two (Stoer and Wagner 1997). It was
        // checked as a prefix, so both can be contracted: every order makes progress.
        if let [.., before, last] = order[..] {
            contractions.push((before, last));
        }
        // Before the contractions: prefixes are made of the nodes of this order.
        self.report_prefixes(&order, &prefixes);
        for (i, j) in contractions {
            self.contract(i, j);
        }
        self.merge_edges();
    }

    /// Reports the prefixes of an order that have these lengths as violated.
    fn report_prefixes(&mut self, order: &[u32], prefixes: &[usize]) {
        if prefixes.is_empty() {
            return;
        }
        let mut root_rank = vec![0; self.num_nodes()];
        for (rank, node) in order.iter().enumerate() {
            root_rank[*node as usize] = rank;
        }
        let rank: Vec<usize> = (0..self.num_nodes() as u32)
            .map(|node| root_rank[self.contracted.find(node) as usize])
            .collect();
        for length in prefixes.iter().take(MAX_SUBTOURS_PER_ROUND) {
            let set = (0..rank.len() as u32)
                .filter(|node| rank[*node as usize] < *length)
                .collect();
            self.violated.push(set);
        }
    }
}

/// Adjacency lists with edge weights: node v has `list[start[v]..start[v + 1]]`.
fn adjacency(nodes: usize, edges: &[(u32, u32, f64)]) -> (Vec<u32>, Vec<(u32, f64)>) {
    // Counting sort, with counts shifted by two places as in `NodeSetIndex::fill`.
    let mut start = vec![0_u32; nodes + 2];
    for (i, j, _) in edges {
        start[*i as usize + 2] += 1;
        start[*j as usize + 2] += 1;
    }
    for node in 2..nodes + 2 {
        start[node] += start[node - 1];
    }
    let mut list = vec![(0, 0.0); 2 * edges.len()];
    for (i, j, value) in edges {
        for (node, other) in [(*i, *j), (*j, *i)] {
            let slot = &mut start[node as usize + 1];
            list[*slot as usize] = (other, *value);
            *slot += 1;
        }
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::separate_subtours;
    use crate::tsp::branch_and_cut::support_graph::TspSupportGraph;

    fn support(nodes: usize, edges: &[(u32, u32, f64)]) -> TspSupportGraph {
        TspSupportGraph {
            nodes,
            edges: edges
                .iter()
                .map(|(i, j, value)| ([*i, *j], *value))
                .collect(),
        }
    }

    #[test]
    fn two_subtours_are_separated() {
        let subtours = support(
            6,
            &[
                (0, 1, 1.0),
                (1, 2, 1.0),
                (0, 2, 1.0),
                (3, 4, 1.0),
                (4, 5, 1.0),
                (3, 5, 1.0),
            ],
        );
        let cuts = separate_subtours(&subtours);
        assert_eq!(cuts.len(), 1);
        assert_eq!((&*cuts[0].sets[0], cuts[0].max), (&[3, 4, 5][..], 2));
    }

    #[test]
    fn a_set_with_a_cut_below_two_is_found() {
        // Two triangles joined by a single unit of edges, each degree 2.
        let edges = [
            (0, 1, 0.75),
            (0, 2, 0.75),
            (1, 2, 1.0),
            (3, 4, 0.75),
            (3, 5, 0.75),
            (4, 5, 1.0),
            (0, 3, 0.5),
            (1, 4, 0.25),
            (2, 5, 0.25),
        ];
        let cuts = separate_subtours(&support(6, &edges));
        assert!(cuts.iter().any(|cut| *cut.sets[0] == [3, 4, 5]), "{cuts:?}");
    }

    #[test]
    fn a_tour_has_no_violated_set() {
        let tour: Vec<_> = (0..9)
            .map(|i: u32| (i.min((i + 1) % 9), i.max((i + 1) % 9), 1.0))
            .collect();
        assert!(separate_subtours(&support(9, &tour)).is_empty());
    }
}
