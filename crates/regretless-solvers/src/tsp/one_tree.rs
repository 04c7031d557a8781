//! The minimum 1-tree of a complete graph under node multipliers, and its lower bound.
//!
//! A 1-tree is a spanning tree of all nodes but one special node, plus two edges at that node.
//! Every tour is a 1-tree, so the minimum 1-tree costs no more than the optimal tour (Held and Karp
//! 1970). It is built as a minimum spanning tree of all nodes (Prim 1957) plus one edge at a leaf;
//! of all leaves it uses the one with the most expensive second edge, which yields the highest
//! bound. Ties go to the edge found first.

use super::subgradient::{AscentTarget, OneTreeBuilder, SubgradientAscent};
use crate::complete_graph::EdgeCostMatrix;

/// A minimum 1-tree; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct OneTree {
    /// Nodes in the order in which Prim's algorithm attached them; the first is the root.
    attached: Vec<u32>,
    /// Parent of each node; the root is its own parent.
    parent: Vec<u32>,
    /// Reduced cost of the edge to the parent.
    key: Vec<f64>,
    degree: Vec<u32>,
    /// The leaf with the extra edge.
    special: u32,
    /// The other end of the extra edge.
    extra: u32,
    /// Reduced cost of the extra edge.
    extra_key: f64,
    unattached: Vec<UnattachedNode>,
    ascent: SubgradientAscent,
}

/// A node outside the tree, and its cheapest edge into the tree.
#[derive(Debug, Clone, Copy)]
struct UnattachedNode {
    node: u32,
    from: u32,
    key: f64,
}

impl OneTree {
    /// Builds the minimum 1-tree; returns its lower bound on the cost of every tour.
    pub fn build(&mut self, edge_costs: &EdgeCostMatrix, multipliers: &[f64]) -> f64 {
        self.build_spanning_tree(edge_costs, multipliers);
        self.count_degrees();
        self.add_extra(edge_costs, multipliers);
        let spanning_tree: f64 = self.attached[1..]
            .iter()
            .map(|node| self.key[*node as usize])
            .sum();
        // Each tour has two edges at every node, so its cost is that of its reduced costs plus
        // twice the multipliers.
        spanning_tree + self.extra_key + 2.0 * multipliers.iter().sum::<f64>()
    }

    /// Raises the bound by subgradient ascent. Overwrites the multipliers with the best ones found
    /// and rebuilds their 1-tree; returns its bound.
    pub fn ascend(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        multipliers: &mut [f64],
        target: &AscentTarget,
    ) -> f64 {
        let mut ascent = std::mem::take(&mut self.ascent);
        ascent.run(
            &mut DenseOneTreeView {
                one_tree: self,
                edge_costs,
            },
            multipliers,
            target,
        );
        self.ascent = ascent;
        // The last step need not have been the best one.
        self.build(edge_costs, multipliers)
    }

    /// Whether the 1-tree is a tour.
    pub fn is_tour(&self) -> bool {
        self.degree.iter().all(|degree| *degree == 2)
    }

    /// All edges of the 1-tree.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let spanning = self.attached[1..]
            .iter()
            .map(|node| (*node, self.parent[*node as usize]));
        spanning.chain([(self.special, self.extra)])
    }

    /// α-values (Helsgaun 2000): for each other node, the increase of the cost of the 1-tree when
    /// it must contain the edge from `node` to it; 0 for edges of the 1-tree. `reduced_costs` are
    /// those that it was built with.
    pub fn alpha_values(&self, reduced_costs: &EdgeCostMatrix, node: u32, out: &mut [f64]) {
        let keys = reduced_costs.row(node);
        if node == self.special {
            // At the special node, another edge replaces the extra one.
            for (out, key) in out.iter_mut().zip(keys) {
                *out = (key - self.extra_key).max(0.0);
            }
            return;
        }
        self.max_edges_on_paths(node, out);
        // An edge to the special leaf replaces the extra edge, which is the most expensive one that
        // it can replace there.
        out[self.special as usize] = self.extra_key;
        for (out, key) in out.iter_mut().zip(keys) {
            // Rounding may make the difference of an edge of the tree slightly negative.
            *out = (key - *out).max(0.0);
        }
    }

    /// For every node the most expensive tree edge on the tree path from `node` to it.
    fn max_edges_on_paths(&self, node: u32, out: &mut [f64]) {
        out.fill(f64::NAN);
        out[node as usize] = f64::NEG_INFINITY;
        // First the path to the root, whose maxima run in the direction of the parents.
        let (mut ancestor, mut max) = (node, f64::NEG_INFINITY);
        while self.parent[ancestor as usize] != ancestor {
            max = self.key[ancestor as usize].max(max);
            ancestor = self.parent[ancestor as usize];
            out[ancestor as usize] = max;
        }
        // Nodes in the order of attachment: the parent of each is done before it.
        for other in &self.attached {
            let other = *other as usize;
            // Not on the path to the root: the path leads through its parent.
            if out[other].is_nan() {
                out[other] = out[self.parent[other] as usize].max(self.key[other]);
            }
        }
    }

    fn build_spanning_tree(&mut self, edge_costs: &EdgeCostMatrix, multipliers: &[f64]) {
        let nodes = edge_costs.nodes();
        self.parent.resize(nodes, 0);
        self.key.resize(nodes, 0.0);
        self.attached.clear();
        self.attached.push(0);
        self.unattached.clear();
        self.unattached
            .extend((1..nodes as u32).map(|node| UnattachedNode {
                node,
                from: 0,
                key: f64::INFINITY,
            }));
        (self.parent[0], self.key[0]) = (0, 0.0);
        let mut latest = 0;
        while !self.unattached.is_empty() {
            let row = edge_costs.row(latest);
            let cheapest = update_keys(&mut self.unattached, row, multipliers, latest);
            // The order of the unattached nodes is irrelevant; removing by swap takes constant
            // time.
            let next = self.unattached.swap_remove(cheapest);
            self.parent[next.node as usize] = next.from;
            self.key[next.node as usize] = next.key;
            self.attached.push(next.node);
            latest = next.node;
        }
    }

    fn count_degrees(&mut self) {
        self.degree.clear();
        self.degree.resize(self.parent.len(), 0);
        for node in &self.attached[1..] {
            self.degree[*node as usize] += 1;
            self.degree[self.parent[*node as usize] as usize] += 1;
        }
    }

    /// Adds a second edge at the leaf whose cheapest second edge is the most expensive.
    fn add_extra(&mut self, edge_costs: &EdgeCostMatrix, multipliers: &[f64]) {
        // Any node may be the special one. The leaf with the most expensive second edge gives the
        // highest bound of all leaves.
        self.extra_key = f64::NEG_INFINITY;
        for leaf in 0..self.degree.len() as u32 {
            if self.degree[leaf as usize] == 1 {
                // The root has no parent: its only neighbor is the node that was attached first.
                let neighbor = if leaf == self.attached[0] {
                    self.attached[1]
                } else {
                    self.parent[leaf as usize]
                };
                let (key, other) = second_edge(edge_costs.row(leaf), multipliers, neighbor);
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

/// Updates the keys with the edges of the node attached last; returns the index of the unattached
/// node of smallest key.
fn update_keys(
    unattached: &mut [UnattachedNode],
    row: &[f64],
    multipliers: &[f64],
    latest: u32,
) -> usize {
    // Loop-invariant, so the loop below has one subtraction per node less.
    let latest_multiplier = multipliers[latest as usize];
    let (mut min, mut cheapest) = (f64::INFINITY, 0);
    for (index, item) in unattached.iter_mut().enumerate() {
        let key = row[item.node as usize] - multipliers[item.node as usize] - latest_multiplier;
        // Keys and minimum in one pass: the array is read once per attached node.
        if key < item.key {
            item.key = key;
            item.from = latest;
        }
        if item.key < min {
            min = item.key;
            cheapest = index;
        }
    }
    cheapest
}

/// The cheapest edge of a row other than the one to `first`: its reduced cost without the
/// multiplier of the row, and its other end.
fn second_edge(row: &[f64], multipliers: &[f64], first: u32) -> (f64, u32) {
    let mut min = (f64::INFINITY, first);
    for (node, (cost, multiplier)) in row.iter().zip(multipliers).enumerate() {
        // The multiplier of the row is constant in it and is subtracted by the caller.
        if cost - multiplier < min.0 && node as u32 != first {
            min = (cost - multiplier, node as u32);
        }
    }
    min
}

/// A 1-tree together with its edge costs.
struct DenseOneTreeView<'a> {
    one_tree: &'a mut OneTree,
    edge_costs: &'a EdgeCostMatrix,
}

impl OneTreeBuilder for DenseOneTreeView<'_> {
    fn build(&mut self, multipliers: &[f64]) -> f64 {
        self.one_tree.build(self.edge_costs, multipliers)
    }

    fn degrees(&self) -> &[u32] {
        &self.one_tree.degree
    }
}

#[cfg(test)]
mod tests {
    use super::{AscentTarget, OneTree};
    use crate::complete_graph::{EdgeCostMatrix, num_edges};
    use crate::tsp::subgradient::AscentSchedule;
    use regretless_base::random::{Purpose, RandomStream};

    /// Cost of the minimum 1-tree that contains an edge, found by making that edge very cheap.
    fn with_edge(costs: &[f64], nodes: usize, edge: usize) -> f64 {
        let mut lowered = costs.to_vec();
        lowered[edge] -= 1e6;
        OneTree::default().build(&EdgeCostMatrix::new(nodes, &lowered), &vec![0.0; nodes]) + 1e6
    }

    #[test]
    fn alpha_values_never_exceed_the_cost_increase_of_forcing_an_edge() {
        let nodes = 9;
        for seed in 0..40 {
            let mut stream = RandomStream::new(Purpose::Benchmark, seed, [9, 9]);
            let costs: Vec<f64> = (0..num_edges(nodes))
                .map(|_| stream.uniform(-3.0, 3.0))
                .collect();
            let edge_costs = EdgeCostMatrix::new(nodes, &costs);
            let mut one_tree = OneTree::default();
            let bound = one_tree.build(&edge_costs, &vec![0.0; nodes]);
            let (mut alpha, mut edge) = (vec![0.0; nodes], 0);
            for i in 0..nodes {
                one_tree.alpha_values(&edge_costs, i as u32, &mut alpha);
                for value in &alpha[i + 1..] {
                    assert!(bound + value <= with_edge(&costs, nodes, edge) + 1e-6);
                    edge += 1;
                }
            }
            assert!(one_tree.edges().all(|(i, j)| {
                one_tree.alpha_values(&edge_costs, i, &mut alpha);
                alpha[j as usize] == 0.0
            }));
        }
    }

    #[test]
    fn the_ascent_raises_the_bound_and_returns_its_best_tree() {
        let nodes = 30;
        let mut stream = RandomStream::new(Purpose::Benchmark, 2, [0, 0]);
        let costs: Vec<f64> = (0..num_edges(nodes))
            .map(|_| stream.standard_uniform())
            .collect();
        let edge_costs = EdgeCostMatrix::new(nodes, &costs);
        let (mut one_tree, mut multipliers) = (OneTree::default(), vec![0.0; nodes]);
        let initial = one_tree.build(&edge_costs, &multipliers);
        let tour_cost = edge_costs.tour_cost(&(0..nodes as u32).collect::<Vec<_>>());
        let target = AscentTarget {
            tour_cost,
            cutoff: f64::INFINITY,
            schedule: AscentSchedule {
                max_steps: 80,
                step_factor: 0.3,
                patience: 4,
            },
        };
        let raised = one_tree.ascend(&edge_costs, &mut multipliers, &target);
        assert!(raised > initial + 0.05 && raised < tour_cost);
        assert_eq!(raised, OneTree::default().build(&edge_costs, &multipliers));
        assert_eq!(one_tree.degree.iter().sum::<u32>(), 2 * nodes as u32);
    }
}
