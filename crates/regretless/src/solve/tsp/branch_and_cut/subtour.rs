//! Rings that a fractional point leaves loose: sets S with x(δ(S)) < 2.
//!
//! Edges that carry a full unit between two nodes of degree 2 cannot separate such a set from the
//! rest any better than not, so they are contracted first (Padberg and Rinaldi 1990); when more
//! than a unit lies between them, their union is such a set itself. The rest is searched by maximum
//! adjacency orders: the last node of an order is a smallest cut between the last two, and any edge
//! that an order proves to be 2-connected may be contracted (Stoer and Wagner 1997; Nagamochi and
//! Ibaraki 1992). Every prefix of an order is looked at as well. A loose set is found if there is
//! one.

use std::collections::BinaryHeap;

use super::cuts::TspCut;
use super::support_graph::{TspSupportGraph, UnionFind};

/// How much below 2 a cut must be to count.
const CUT_TOLERANCE: f64 = 1e-6;
/// Most sets reported at once.
const MAX_SUBTOURS_PER_ROUND: usize = 200;

/// Finds loose sets as ring cuts.
pub(super) fn separate_subtours(support: &TspSupportGraph) -> Vec<TspCut> {
    let parts = support.parts(|_| true);
    let nodes = support.nodes;
    if parts.len() > 1 {
        let all_but_one = if parts.len() == 2 {
            &parts[1..]
        } else {
            &parts[..]
        };
        return all_but_one
            .iter()
            .filter_map(|part| TspCut::subtour(nodes, part))
            .collect();
    }
    let mut shrunk = ShrunkGraph::new(support);
    shrunk.contract_units();
    while shrunk.size > 1 && shrunk.found.len() < MAX_SUBTOURS_PER_ROUND {
        shrunk.order();
    }
    let mut cuts: Vec<TspCut> = shrunk
        .found
        .iter()
        .filter_map(|set| TspCut::subtour(nodes, set))
        .collect();
    cuts.sort_unstable_by(|a, b| a.sets.cmp(&b.sets));
    cuts.dedup();
    cuts
}

/// A support graph whose nodes are groups of nodes.
struct ShrunkGraph {
    joined: UnionFind,
    size: usize,
    /// Edges between groups, named by their lowest members; sorted, each pair once.
    edges: Vec<(u32, u32, f64)>,
    found: Vec<Vec<u32>>,
}

/// A heap entry: the key first, then the lower node.
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
            joined: UnionFind::new(support.nodes),
            size: support.nodes,
            edges,
            found: Vec::new(),
        }
    }

    /// Renames edges after groups were joined and adds up parallel ones.
    fn rename(&mut self) {
        for edge in &mut self.edges {
            let (i, j) = (self.joined.group(edge.0), self.joined.group(edge.1));
            (edge.0, edge.1) = (i.min(j), i.max(j));
        }
        self.edges.retain(|edge| edge.0 != edge.1);
        self.edges
            .sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        self.edges.dedup_by(|next, first| {
            let same = (next.0, next.1) == (first.0, first.1);
            if same {
                first.2 += next.2;
            }
            same
        });
    }

    fn degrees(&self) -> Vec<f64> {
        let mut degree = vec![0.0; self.joined_len()];
        for (i, j, value) in &self.edges {
            degree[*i as usize] += value;
            degree[*j as usize] += value;
        }
        degree
    }

    fn joined_len(&self) -> usize {
        self.joined.len()
    }

    /// Contracts edges of a unit or more as long as there are any.
    fn contract_units(&mut self) {
        loop {
            let mut degree = self.degrees();
            let mut changed = false;
            for place in 0..self.edges.len() {
                let (i, j, value) = self.edges[place];
                // Ends that moved since the weights were added up wait for the next pass.
                let fresh = self.joined.group(i) == i
                    && self.joined.group(j) == j
                    && degree[i as usize] > 0.0
                    && degree[j as usize] > 0.0;
                let plain = degree[i as usize] < 2.0 + CUT_TOLERANCE
                    && degree[j as usize] < 2.0 + CUT_TOLERANCE;
                if value > 1.0 - 1e-9 && fresh && plain && self.size > 2 {
                    let union = degree[i as usize] + degree[j as usize] - 2.0 * value;
                    self.join(i, j);
                    if union < 2.0 - CUT_TOLERANCE {
                        self.report(i);
                    }
                    // Not to be used again before weights are added up anew.
                    (degree[i as usize], degree[j as usize]) = (0.0, 0.0);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
            self.rename();
        }
    }

    fn join(&mut self, one: u32, other: u32) {
        if self.joined.join(one, other) {
            self.size -= 1;
        }
    }

    /// Reports the group of a node.
    fn report(&mut self, node: u32) {
        let group = self.joined.group(node);
        let members = (0..self.joined_len() as u32)
            .filter(|other| self.joined.group(*other) == group)
            .collect();
        self.found.push(members);
    }

    /// One maximum adjacency order: reports loose prefixes, contracts what it proves connected.
    fn order(&mut self) {
        let total = self.joined_len();
        let (start, list) = adjacency(total, &self.edges);
        let degree = self.degrees();
        let mut key = vec![0.0; total];
        let mut rank = vec![u32::MAX; total];
        let mut heap = BinaryHeap::new();
        let first = self.joined.group(0);
        heap.push(HeapEntry(0.0, first));
        let (mut cut, mut order, mut joins): (f64, Vec<u32>, Vec<(u32, u32)>) =
            (0.0, Vec::new(), Vec::new());
        let mut prefixes = Vec::new();
        while let Some(HeapEntry(_, node)) = heap.pop() {
            if rank[node as usize] != u32::MAX {
                continue;
            }
            rank[node as usize] = order.len() as u32;
            order.push(node);
            cut += degree[node as usize] - 2.0 * key[node as usize];
            if cut < 2.0 - CUT_TOLERANCE && order.len() < self.size {
                prefixes.push(order.len());
            }
            for (other, value) in
                &list[start[node as usize] as usize..start[node as usize + 1] as usize]
            {
                if rank[*other as usize] == u32::MAX {
                    key[*other as usize] += value;
                    if key[*other as usize] > 2.0 - CUT_TOLERANCE {
                        joins.push((node, *other));
                    }
                    heap.push(HeapEntry(key[*other as usize], *other));
                }
            }
        }
        if let [.., before, last] = order[..] {
            joins.push((before, last));
        }
        self.report_prefixes(&order, &prefixes);
        joins.into_iter().for_each(|(i, j)| self.join(i, j));
        self.rename();
    }

    fn report_prefixes(&mut self, order: &[u32], prefixes: &[usize]) {
        if prefixes.is_empty() {
            return;
        }
        let mut rank = vec![0; self.joined_len()];
        order
            .iter()
            .enumerate()
            .for_each(|(at, node)| rank[*node as usize] = at);
        let at: Vec<usize> = (0..self.joined_len() as u32)
            .map(|node| rank[self.joined.group(node) as usize])
            .collect();
        for length in prefixes.iter().take(MAX_SUBTOURS_PER_ROUND) {
            let members = (0..at.len() as u32)
                .filter(|node| at[*node as usize] < *length)
                .collect();
            self.found.push(members);
        }
    }
}

/// Neighbours of every node with the weights of the edges to them.
fn adjacency(nodes: usize, edges: &[(u32, u32, f64)]) -> (Vec<u32>, Vec<(u32, f64)>) {
    let mut start = vec![0_u32; nodes + 2];
    for (i, j, _) in edges {
        start[*i as usize + 2] += 1;
        start[*j as usize + 2] += 1;
    }
    (2..nodes + 2).for_each(|node| start[node] += start[node - 1]);
    let mut list = vec![(0, 0.0); 2 * edges.len()];
    for (i, j, value) in edges {
        for (node, other) in [(*i, *j), (*j, *i)] {
            let place = &mut start[node as usize + 1];
            list[*place as usize] = (other, *value);
            *place += 1;
        }
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::separate_subtours;
    use crate::solve::tsp::branch_and_cut::support_graph::TspSupportGraph;

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
    fn two_rings_are_told_apart() {
        let rings = support(
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
        let cuts = separate_subtours(&rings);
        assert_eq!(cuts.len(), 1);
        assert_eq!((&*cuts[0].sets[0], cuts[0].max), (&[3, 4, 5][..], 2));
    }

    #[test]
    fn a_set_that_hangs_by_less_than_two_is_found() {
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
    fn a_tour_has_no_loose_set() {
        let tour: Vec<_> = (0..9)
            .map(|i: u32| (i.min((i + 1) % 9), i.max((i + 1) % 9), 1.0))
            .collect();
        assert!(separate_subtours(&support(9, &tour)).is_empty());
    }
}
