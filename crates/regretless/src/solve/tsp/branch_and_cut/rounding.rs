//! A tour from a fractional point: its edges by value, joined as long as they make paths, then the
//! paths joined by the cheapest edges. What most of a good relaxation agrees on is in it.

use super::master::EdgeEnds;

/// Paths that grow into a tour.
struct PathFragments {
    /// Up to two neighbours of each node; the node itself where there is none.
    joined: Vec<[u32; 2]>,
    /// The other end of the path that ends at a node.
    mate: Vec<u32>,
}

/// A tour that takes the given edges in their order, as far as they make paths, and closes the rest
/// by this cost: always to the nearest tip, ties to the lower number.
pub(super) fn tour_of(
    nodes: usize,
    edges: impl Iterator<Item = EdgeEnds>,
    cost: impl Fn(u32, u32) -> f64,
) -> Vec<u32> {
    let mut paths = PathFragments {
        joined: (0..nodes as u32).map(|node| [node; 2]).collect(),
        mate: (0..nodes as u32).collect(),
    };
    for [i, j] in edges {
        if paths.is_tip(i) && paths.is_tip(j) && paths.mate[i as usize] != j {
            paths.join(i, j);
        }
    }
    paths.close(cost)
}

impl PathFragments {
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

    /// Walks one path, then always the path with the nearest tip.
    fn close(&self, cost: impl Fn(u32, u32) -> f64) -> Vec<u32> {
        let mut tips: Vec<u32> = (0..self.mate.len() as u32)
            .filter(|node| self.is_tip(*node))
            .collect();
        let mut order = Vec::with_capacity(self.mate.len());
        let mut next = tips.first().copied();
        while let Some(tip) = next {
            let end = self.mate[tip as usize];
            tips.retain(|other| *other != tip && *other != end);
            self.walk(tip, &mut order);
            next = tips
                .iter()
                .copied()
                .min_by(|a, b| cost(end, *a).total_cmp(&cost(end, *b)));
        }
        order
    }

    /// Appends the path that starts at a tip.
    fn walk(&self, tip: u32, order: &mut Vec<u32>) {
        let (mut from, mut node) = (tip, tip);
        loop {
            order.push(node);
            let [one, other] = self.joined[node as usize];
            let next = if one == from { other } else { one };
            if next == node {
                return;
            }
            (from, node) = (node, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tour_of;

    #[test]
    fn edges_come_first_and_rings_are_avoided() {
        let edges = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]];
        let order = tour_of(7, edges.into_iter(), |i, j| f64::from(i.abs_diff(j)));
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(tour_of(3, [].into_iter(), |_, _| 0.0).len(), 3);
    }
}
