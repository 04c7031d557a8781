//! Disjoint paths that are joined to a tour, for construction heuristics.
//!
//! Edges are added as long as they form paths; the paths are then appended one after the other,
//! always the one with the end nearest to the end of the tour so far.

use crate::complete_graph::EdgeCostMatrix;

/// Disjoint paths over all nodes; at first every node is a path. Buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct PathFragments {
    /// Up to two neighbors of each node; the node itself if there is none.
    neighbors: Vec<[u32; 2]>,
    /// The other end of the path that ends at a node.
    other_end: Vec<u32>,
    /// Path ends that are not in the tour yet.
    path_ends: Vec<u32>,
}

impl PathFragments {
    /// Resets to single nodes.
    pub(super) fn reset(&mut self, nodes: usize) {
        self.other_end.clear();
        self.other_end.extend(0..nodes as u32);
        self.neighbors.clear();
        self.neighbors
            .extend((0..nodes as u32).map(|node| [node; 2]));
    }

    /// Adds an edge, unless it is a branch of a path or closes a cycle.
    pub(super) fn add_edge(&mut self, i: u32, j: u32) {
        // For a single node the other end is itself.
        let closes_cycle = i == j || self.other_end[i as usize] == j;
        if !self.is_path_end(i) || !self.is_path_end(j) || closes_cycle {
            return;
        }
        for (node, neighbor) in [(i, j), (j, i)] {
            // The second slot is filled last, so a node is a path end as long as that is empty.
            let slot = usize::from(self.neighbors[node as usize][0] != node);
            self.neighbors[node as usize][slot] = neighbor;
        }
        // Only the ends of the joined path need to know each other; inner entries are never read
        // again.
        let (first, last) = (self.other_end[i as usize], self.other_end[j as usize]);
        (
            self.other_end[first as usize],
            self.other_end[last as usize],
        ) = (last, first);
    }

    /// Overwrites `order` with a tour of all paths: first the path with the smallest path end, then
    /// always the path with the nearest end. Ties go to the smaller node.
    pub(super) fn join(&mut self, edge_costs: &EdgeCostMatrix, order: &mut Vec<u32>) {
        let nodes = self.other_end.len() as u32;
        self.path_ends.clear();
        self.path_ends
            // Single nodes are path ends too: both of their slots are empty.
            .extend((0..nodes).filter(|node| self.neighbors[*node as usize][1] == *node));
        order.clear();
        let mut next = self.path_ends.first().copied();
        while let Some(start) = next {
            let end = self.other_end[start as usize];
            self.path_ends
                .retain(|other| *other != start && *other != end);
            self.append_path(start, order);
            let row = edge_costs.row(end);
            let path_ends = self.path_ends.iter().copied();
            // `min_by` returns the first of equal ends, the smaller node, since the ends are
            // sorted.
            next = path_ends.min_by(|a, b| row[*a as usize].total_cmp(&row[*b as usize]));
        }
    }

    fn is_path_end(&self, node: u32) -> bool {
        self.neighbors[node as usize][1] == node
    }

    /// Appends the path that starts at a path end.
    fn append_path(&self, start: u32, order: &mut Vec<u32>) {
        let (mut previous, mut node) = (start, start);
        loop {
            order.push(node);
            let [first, second] = self.neighbors[node as usize];
            // An end's empty slot holds the node itself, which ends the walk.
            let next = if first == previous { second } else { first };
            if next == node {
                return;
            }
            (previous, node) = (node, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PathFragments;
    use crate::complete_graph::EdgeCostMatrix;

    fn tour(nodes: usize, edges: &[[u32; 2]], edge_costs: &EdgeCostMatrix) -> Vec<u32> {
        let (mut paths, mut order) = (PathFragments::default(), Vec::new());
        paths.reset(nodes);
        for [i, j] in edges {
            paths.add_edge(*i, *j);
        }
        paths.join(edge_costs, &mut order);
        order
    }

    #[test]
    fn earlier_edges_come_first_and_subtours_are_avoided() {
        let pairs = (0..7_u32).flat_map(|i| (i + 1..7).map(move |j| f64::from(j - i)));
        let edge_costs = EdgeCostMatrix::new(7, &pairs.collect::<Vec<_>>());
        let edges = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]];
        assert_eq!(tour(7, &edges, &edge_costs), [0, 1, 2, 3, 4, 5, 6]);
        let equal = EdgeCostMatrix::new(3, &[0.0; 3]);
        assert_eq!(tour(3, &[], &equal).len(), 3);
    }
}
