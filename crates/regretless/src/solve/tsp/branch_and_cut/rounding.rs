//! Rounding heuristic: a tour from a fractional point of the relaxation.
//!
//! Edges are taken by decreasing value as long as they form paths; then the paths are joined by
//! cheap edges. Edges on which the relaxation is almost integral thus stay in the tour, which the
//! local search improves.

use super::support_graph::INTEGRALITY_TOLERANCE;
use crate::solve::complete_graph::EdgeEnds;
use crate::solve::tsp::initial_tour::InitialTour;

impl InitialTour {
    /// Rounds a fractional point to a tour and improves it with this many kicks; it replaces the
    /// current tour if it is cheaper.
    pub(super) fn round(&mut self, edges: &[EdgeEnds], values: &[f64], kicks: usize) {
        let mut support: Vec<(f64, EdgeEnds)> = Vec::new();
        for (ends, value) in edges.iter().zip(values) {
            if *value > INTEGRALITY_TOLERANCE {
                support.push((*value, *ends));
            }
        }
        support.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let reduced = &self.reduced;
        let by_value = support.into_iter().map(|(_, ends)| ends);
        let mut order = tour_of(self.order.len(), by_value, |i, j| reduced.between(i, j));
        self.local_search
            .improve(reduced, &self.candidates, &mut order, kicks);
        if self.distances.tour_cost(&order) < self.distances.tour_cost(&self.order) {
            self.order = order;
        }
    }
}

/// Disjoint paths that are joined to a tour.
struct PathFragments {
    /// Up to two neighbors of each node; the node itself where there is none.
    neighbors: Vec<[u32; 2]>,
    /// The other end of the path that ends at a node.
    mate: Vec<u32>,
}

/// A tour that takes the given edges in their order as long as they form paths, then appends always
/// the path with the nearest end by this cost; ties go to the smaller node.
fn tour_of(
    nodes: usize,
    edges: impl Iterator<Item = EdgeEnds>,
    cost: impl Fn(u32, u32) -> f64,
) -> Vec<u32> {
    let mut paths = PathFragments {
        neighbors: (0..nodes as u32).map(|node| [node; 2]).collect(),
        mate: (0..nodes as u32).collect(),
    };
    for [i, j] in edges {
        if paths.is_path_end(i) && paths.is_path_end(j) && paths.mate[i as usize] != j {
            paths.join(i, j);
        }
    }
    paths.close(cost)
}

impl PathFragments {
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

    /// Appends one path, then always the path with the nearest end.
    fn close(&self, cost: impl Fn(u32, u32) -> f64) -> Vec<u32> {
        let mut path_ends: Vec<u32> = (0..self.mate.len() as u32)
            .filter(|node| self.is_path_end(*node))
            .collect();
        let mut order = Vec::with_capacity(self.mate.len());
        let mut next = path_ends.first().copied();
        while let Some(start) = next {
            let end = self.mate[start as usize];
            path_ends.retain(|other| *other != start && *other != end);
            self.append_path(start, &mut order);
            next = path_ends
                .iter()
                .copied()
                .min_by(|a, b| cost(end, *a).total_cmp(&cost(end, *b)));
        }
        order
    }

    /// Appends the path that starts at a path end.
    fn append_path(&self, start: u32, order: &mut Vec<u32>) {
        let (mut previous, mut node) = (start, start);
        loop {
            order.push(node);
            let [one, other] = self.neighbors[node as usize];
            let next = if one == previous { other } else { one };
            if next == node {
                return;
            }
            (previous, node) = (node, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tour_of;

    #[test]
    fn given_edges_come_first_and_subtours_are_avoided() {
        let edges = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]];
        let order = tour_of(7, edges.into_iter(), |i, j| f64::from(i.abs_diff(j)));
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(tour_of(3, [].into_iter(), |_, _| 0.0).len(), 3);
    }
}
