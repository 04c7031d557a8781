//! Greedy edge construction of a tour: the cheapest candidate edges that keep all components paths
//! are taken first; then the paths are joined, always to the nearest path end.

use super::candidates::CandidateEdges;
use crate::solve::complete_graph::DistanceMatrix;

/// Builds greedy tours; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct GreedyTour {
    edges: Vec<(f64, u32, u32)>,
    /// Up to two neighbors of each node; the node itself where there is none.
    neighbors: Vec<[u32; 2]>,
    /// The other end of the path that ends at a node.
    mate: Vec<u32>,
    /// Nodes with fewer than two neighbors.
    path_ends: Vec<u32>,
    order: Vec<u32>,
}

impl GreedyTour {
    /// A greedy tour; ties go to the edge with the smaller nodes.
    pub fn tour(&mut self, distances: &DistanceMatrix, candidates: &CandidateEdges) -> &[u32] {
        self.edges.clear();
        for (i, j) in candidates.pairs() {
            self.edges
                .push((distances.between(i, j), i.min(j), i.max(j)));
        }
        self.edges
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        self.clear(distances.nodes());
        for index in 0..self.edges.len() {
            let (_, i, j) = self.edges[index];
            if self.is_path_end(i) && self.is_path_end(j) && self.mate[i as usize] != j && i != j {
                self.join(i, j);
            }
        }
        self.join_paths(distances);
        &self.order
    }

    fn clear(&mut self, nodes: usize) {
        self.mate.clear();
        self.mate.extend(0..nodes as u32);
        self.neighbors.clear();
        self.neighbors
            .extend((0..nodes as u32).map(|node| [node; 2]));
    }

    fn is_path_end(&self, node: u32) -> bool {
        self.neighbors[node as usize][1] == node
    }

    fn join(&mut self, i: u32, j: u32) {
        for (node, other) in [(i, j), (j, i)] {
            let slot = usize::from(self.neighbors[node as usize][0] != node);
            self.neighbors[node as usize][slot] = other;
        }
        let (one, other) = (self.mate[i as usize], self.mate[j as usize]);
        (self.mate[one as usize], self.mate[other as usize]) = (other, one);
    }

    /// Appends the path with the first path end, then always the path with the nearest end.
    fn join_paths(&mut self, distances: &DistanceMatrix) {
        let nodes = self.mate.len() as u32;
        self.path_ends.clear();
        self.path_ends
            .extend((0..nodes).filter(|node| self.neighbors[*node as usize][1] == *node));
        self.order.clear();
        let mut start = self.path_ends.first().copied().unwrap_or(0);
        loop {
            let end = self.mate[start as usize];
            self.path_ends
                .retain(|other| *other != start && *other != end);
            self.append_path(start);
            let row = distances.row(end);
            let nearest = self
                .path_ends
                .iter()
                .min_by(|a, b| row[**a as usize].total_cmp(&row[**b as usize]));
            match nearest {
                Some(next) => start = *next,
                None => return,
            }
        }
    }

    /// Appends the path that starts at a path end.
    fn append_path(&mut self, start: u32) {
        let (mut previous, mut node) = (start, start);
        loop {
            self.order.push(node);
            let [one, other] = self.neighbors[node as usize];
            let next = if one != previous { one } else { other };
            if next == node {
                return;
            }
            (previous, node) = (node, next);
        }
    }
}
