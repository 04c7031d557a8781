//! A first tour: the cheapest candidate edges, as long as they make paths, then the paths joined.

use super::candidates::CandidateEdges;
use crate::solve::complete_graph::DistanceMatrix;

/// Builds tours greedily; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct GreedyTour {
    edges: Vec<(f64, u32, u32)>,
    /// Up to two neighbours of each node; the node itself where there is none.
    joined: Vec<[u32; 2]>,
    /// The other end of the path that ends at a node.
    mate: Vec<u32>,
    tips: Vec<u32>,
    order: Vec<u32>,
}

impl GreedyTour {
    /// A tour that prefers cheap candidate edges; ties go to the edge with lower numbers.
    pub fn tour(&mut self, distances: &DistanceMatrix, candidates: &CandidateEdges) -> &[u32] {
        self.edges.clear();
        self.edges.extend(
            candidates
                .pairs()
                .map(|(i, j)| (distances.between(i, j), i.min(j), i.max(j))),
        );
        self.edges
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        self.clear(distances.nodes());
        for place in 0..self.edges.len() {
            let (_, i, j) = self.edges[place];
            if self.is_tip(i) && self.is_tip(j) && self.mate[i as usize] != j && i != j {
                self.join(i, j);
            }
        }
        self.join_paths(distances);
        &self.order
    }

    fn clear(&mut self, nodes: usize) {
        self.mate.clear();
        self.mate.extend(0..nodes as u32);
        self.joined.clear();
        self.joined.extend((0..nodes as u32).map(|node| [node; 2]));
    }

    fn is_tip(&self, node: u32) -> bool {
        self.joined[node as usize][1] == node
    }

    fn join(&mut self, i: u32, j: u32) {
        for (node, other) in [(i, j), (j, i)] {
            let slot = usize::from(self.joined[node as usize][0] != node);
            self.joined[node as usize][slot] = other;
        }
        let (one, other) = (self.mate[i as usize], self.mate[j as usize]);
        (self.mate[one as usize], self.mate[other as usize]) = (other, one);
    }

    /// Walks the path of node 0, then always the path with the nearest tip.
    fn join_paths(&mut self, distances: &DistanceMatrix) {
        let nodes = self.mate.len() as u32;
        self.tips.clear();
        self.tips
            .extend((0..nodes).filter(|node| self.joined[*node as usize][1] == *node));
        self.order.clear();
        let mut tip = self.tips.first().copied().unwrap_or(0);
        loop {
            let end = self.mate[tip as usize];
            self.tips.retain(|other| *other != tip && *other != end);
            self.walk(tip);
            let row = distances.row(end);
            let nearest = self
                .tips
                .iter()
                .min_by(|a, b| row[**a as usize].total_cmp(&row[**b as usize]));
            match nearest {
                Some(next) => tip = *next,
                None => return,
            }
        }
    }

    /// Appends the path that starts at a tip.
    fn walk(&mut self, tip: u32) {
        let (mut from, mut node) = (tip, tip);
        loop {
            self.order.push(node);
            let [one, other] = self.joined[node as usize];
            let next = if one != from { one } else { other };
            if next == node {
                return;
            }
            (from, node) = (node, next);
        }
    }
}
