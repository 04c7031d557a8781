//! The cheapest 1-tree of a complete graph under node multipliers, and the bound it gives.
//!
//! A 1-tree is a spanning tree of all nodes but one, and two edges at that one. Every tour is one,
//! so the cheapest costs no more than the best tour (Held and Karp 1970). It is grown as a spanning
//! tree of all nodes (Prim 1957) plus one edge at a leaf; of all leaves the one with the dearest
//! second edge is taken, which gives the highest bound. Ties go to what was met first.

use super::subgradient::{AscentTarget, OneTreeBuilder, SubgradientAscent};
use crate::solve::complete_graph::DistanceMatrix;

/// A cheapest 1-tree; its buffers are kept from one tree to the next.
#[derive(Debug, Clone, Default)]
pub struct OneTree {
    /// Nodes in the order they joined; the first is the root.
    joined: Vec<u32>,
    /// The node each one joined to; the root is its own.
    parent: Vec<u32>,
    /// Reduced cost of the edge to the parent.
    key: Vec<f64>,
    degree: Vec<u32>,
    special: u32,
    extra: u32,
    extra_key: f64,
    open: Vec<UnattachedNode>,
    ascent: SubgradientAscent,
}

/// A node that has not joined yet, and its cheapest way in.
#[derive(Debug, Clone, Copy)]
struct UnattachedNode {
    node: u32,
    from: u32,
    key: f64,
}

impl OneTree {
    /// Grows the cheapest 1-tree; returns the lower bound on every tour.
    pub fn build(&mut self, distances: &DistanceMatrix, multipliers: &[f64]) -> f64 {
        self.build_spanning_tree(distances, multipliers);
        self.count_degrees();
        self.add_extra(distances, multipliers);
        let one_tree: f64 = self.joined[1..]
            .iter()
            .map(|node| self.key[*node as usize])
            .sum();
        one_tree + self.extra_key + 2.0 * multipliers.iter().sum::<f64>()
    }

    /// Raises the bound by subgradient steps. Leaves the best multipliers in their place and their
    /// tree in here; returns their bound.
    pub fn ascend(
        &mut self,
        distances: &DistanceMatrix,
        multipliers: &mut [f64],
        goal: &AscentTarget,
    ) -> f64 {
        let mut ascent = std::mem::take(&mut self.ascent);
        ascent.run(
            &mut DenseOneTreeView {
                one_tree: self,
                distances,
            },
            multipliers,
            goal,
        );
        self.ascent = ascent;
        self.build(distances, multipliers)
    }

    /// Edges of the tree at each node.
    pub fn degrees(&self) -> &[u32] {
        &self.degree
    }

    /// Whether the tree is a tour.
    pub fn is_tour(&self) -> bool {
        self.degree.iter().all(|degree| *degree == 2)
    }

    /// All edges of the tree.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let spanning = self.joined[1..]
            .iter()
            .map(|node| (*node, self.parent[*node as usize]));
        spanning.chain([(self.special, self.extra)])
    }

    /// How much dearer the tree becomes when it must use the edge from `node` to each other node, 0
    /// for its own edges (Helsgaun's α-nearness, 2000), given the reduced costs it was grown by.
    pub fn alpha_values(&self, reduced: &DistanceMatrix, node: u32, out: &mut [f64]) {
        let keys = reduced.row(node);
        if node == self.special {
            out.iter_mut()
                .zip(keys)
                .for_each(|(out, key)| *out = (key - self.extra_key).max(0.0));
            return;
        }
        self.max_edges_on_paths(node, out);
        out[self.special as usize] = self.extra_key;
        out.iter_mut()
            .zip(keys)
            .for_each(|(out, key)| *out = (key - *out).max(0.0));
    }

    /// For every node the dearest tree edge on the way to it from `node`.
    fn max_edges_on_paths(&self, node: u32, out: &mut [f64]) {
        out.fill(f64::NAN);
        out[node as usize] = f64::NEG_INFINITY;
        let (mut at, mut dearest) = (node, f64::NEG_INFINITY);
        while self.parent[at as usize] != at {
            dearest = self.key[at as usize].max(dearest);
            at = self.parent[at as usize];
            out[at as usize] = dearest;
        }
        for other in &self.joined {
            let other = *other as usize;
            if out[other].is_nan() {
                out[other] = out[self.parent[other] as usize].max(self.key[other]);
            }
        }
    }

    fn build_spanning_tree(&mut self, distances: &DistanceMatrix, multipliers: &[f64]) {
        let nodes = distances.nodes();
        self.parent.resize(nodes, 0);
        self.key.resize(nodes, 0.0);
        self.joined.clear();
        self.joined.push(0);
        self.open.clear();
        self.open
            .extend((1..nodes as u32).map(|node| UnattachedNode {
                node,
                from: 0,
                key: f64::INFINITY,
            }));
        (self.parent[0], self.key[0]) = (0, 0.0);
        let mut latest = 0;
        while !self.open.is_empty() {
            let place = relax(&mut self.open, distances.row(latest), multipliers, latest);
            let next = self.open.swap_remove(place);
            self.parent[next.node as usize] = next.from;
            self.key[next.node as usize] = next.key;
            self.joined.push(next.node);
            latest = next.node;
        }
    }

    fn count_degrees(&mut self) {
        self.degree.clear();
        self.degree.resize(self.parent.len(), 0);
        for node in &self.joined[1..] {
            self.degree[*node as usize] += 1;
            self.degree[self.parent[*node as usize] as usize] += 1;
        }
    }

    /// Adds the second edge of the leaf whose second edge is dearest.
    fn add_extra(&mut self, distances: &DistanceMatrix, multipliers: &[f64]) {
        self.extra_key = f64::NEG_INFINITY;
        for leaf in 0..self.degree.len() as u32 {
            if self.degree[leaf as usize] == 1 {
                let neighbour = if leaf == self.joined[0] {
                    self.joined[1]
                } else {
                    self.parent[leaf as usize]
                };
                let (key, other) = second(distances.row(leaf), multipliers, neighbour);
                let key = key - multipliers[leaf as usize];
                if key > self.extra_key {
                    (self.special, self.extra, self.extra_key) = (leaf, other, key);
                }
            }
        }
        self.degree[self.special as usize] += 1;
        self.degree[self.extra as usize] += 1;
    }
}

/// Offers the edges of the node that joined last; returns where the cheapest open node stands.
fn relax(open: &mut [UnattachedNode], row: &[f64], multipliers: &[f64], latest: u32) -> usize {
    let own = multipliers[latest as usize];
    let (mut min, mut place) = (f64::INFINITY, 0);
    for (index, item) in open.iter_mut().enumerate() {
        let key = row[item.node as usize] - multipliers[item.node as usize] - own;
        if key < item.key {
            item.key = key;
            item.from = latest;
        }
        if item.key < min {
            min = item.key;
            place = index;
        }
    }
    place
}

/// The cheapest edge of a row (without the row's own multiplier) but the one to `first`.
fn second(row: &[f64], multipliers: &[f64], first: u32) -> (f64, u32) {
    let mut min = (f64::INFINITY, first);
    for (node, (cost, multiplier)) in row.iter().zip(multipliers).enumerate() {
        if cost - multiplier < min.0 && node as u32 != first {
            min = (cost - multiplier, node as u32);
        }
    }
    min
}

/// A tree and the distances it grows on.
struct DenseOneTreeView<'a> {
    one_tree: &'a mut OneTree,
    distances: &'a DistanceMatrix,
}

impl OneTreeBuilder for DenseOneTreeView<'_> {
    fn build(&mut self, multipliers: &[f64]) -> f64 {
        self.one_tree.build(self.distances, multipliers)
    }

    fn degrees(&self) -> &[u32] {
        &self.one_tree.degree
    }
}

#[cfg(test)]
mod tests {
    use super::{AscentTarget, OneTree};
    use crate::random::{Purpose, RandomStream};
    use crate::solve::complete_graph::{DistanceMatrix, num_edges};

    /// The cheapest 1-tree at a leaf's node that uses one edge, by making that edge irresistible.
    fn with_edge(costs: &[f64], nodes: usize, edge: usize) -> f64 {
        let mut lured = costs.to_vec();
        lured[edge] -= 1e6;
        OneTree::default().build(&DistanceMatrix::new(nodes, &lured), &vec![0.0; nodes]) + 1e6
    }

    #[test]
    fn nearness_never_promises_more_than_the_tree_with_that_edge_costs() {
        let nodes = 9;
        for seed in 0..40 {
            let mut stream = RandomStream::new(Purpose::Benchmark, seed, [9, 9]);
            let costs: Vec<f64> = (0..num_edges(nodes))
                .map(|_| stream.uniform(-3.0, 3.0))
                .collect();
            let distances = DistanceMatrix::new(nodes, &costs);
            let mut one_tree = OneTree::default();
            let bound = one_tree.build(&distances, &vec![0.0; nodes]);
            let (mut near, mut edge) = (vec![0.0; nodes], 0);
            for i in 0..nodes {
                one_tree.alpha_values(&distances, i as u32, &mut near);
                for value in &near[i + 1..] {
                    assert!(bound + value <= with_edge(&costs, nodes, edge) + 1e-6);
                    edge += 1;
                }
            }
            assert!(one_tree.edges().all(|(i, j)| {
                one_tree.alpha_values(&distances, i, &mut near);
                near[j as usize] == 0.0
            }));
        }
    }

    #[test]
    fn the_ascent_raises_the_bound_and_ends_at_its_best_tree() {
        let nodes = 30;
        let mut stream = RandomStream::new(Purpose::Benchmark, 2, [0, 0]);
        let costs: Vec<f64> = (0..num_edges(nodes)).map(|_| stream.unit()).collect();
        let distances = DistanceMatrix::new(nodes, &costs);
        let (mut one_tree, mut multipliers) = (OneTree::default(), vec![0.0; nodes]);
        let plain = one_tree.build(&distances, &multipliers);
        let target = distances.tour_cost(&(0..nodes as u32).collect::<Vec<_>>());
        let goal = AscentTarget {
            target,
            enough: f64::INFINITY,
            steps: 80,
            pace: 0.3,
            patience: 4,
        };
        let raised = one_tree.ascend(&distances, &mut multipliers, &goal);
        assert!(raised > plain + 0.05 && raised < target);
        assert_eq!(raised, OneTree::default().build(&distances, &multipliers));
        assert_eq!(one_tree.degrees().iter().sum::<u32>(), 2 * nodes as u32);
    }
}
