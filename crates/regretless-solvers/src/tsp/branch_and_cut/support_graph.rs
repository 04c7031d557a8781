//! Support graph of a point of the relaxation (the edges of positive value), and union-find.

use crate::complete_graph::EdgeEnds;

/// Values up to this count as zero, and values at most this far from 1 as one: above the tolerance
/// of the LP solver (1e-9).
pub(super) const INTEGRALITY_TOLERANCE: f64 = 1e-6;

/// The edges of positive value with their values.
#[derive(Debug, Clone, Default)]
pub(super) struct TspSupportGraph {
    pub(super) nodes: usize,
    pub(super) edges: Vec<(EdgeEnds, f64)>,
}

impl TspSupportGraph {
    /// Loads the edges of positive value.
    pub(super) fn fill(&mut self, nodes: usize, edges: &[EdgeEnds], values: &[f64]) {
        self.nodes = nodes;
        self.edges.clear();
        for (ends, value) in edges.iter().zip(values) {
            if *value > INTEGRALITY_TOLERANCE {
                self.edges.push((*ends, *value));
            }
        }
    }

    /// Whether all values are integral.
    pub(super) fn is_integral(&self) -> bool {
        self.edges
            .iter()
            .all(|(_, value)| *value > 1.0 - INTEGRALITY_TOLERANCE)
    }

    /// Whether the edges connect all nodes.
    pub(super) fn is_connected(&self) -> bool {
        let mut components = UnionFind::new(self.nodes);
        let edges = self.edges.iter();
        // Every union reduces the number of components by one; a tree has one edge fewer than
        // nodes.
        let unions = edges.filter(|([i, j], _)| components.union(*i, *j));
        unions.count() + 1 == self.nodes
    }

    /// Connected components of the edges whose value satisfies a condition, in the order of their
    /// smallest nodes.
    pub(super) fn components(&self, keep: impl Fn(f64) -> bool) -> Vec<Vec<u32>> {
        let mut components = UnionFind::new(self.nodes);
        for ([i, j], value) in &self.edges {
            if keep(*value) {
                components.union(*i, *j);
            }
        }
        components.sets()
    }
}

/// Disjoint sets of nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct UnionFind {
    root: Vec<u32>,
}

impl UnionFind {
    /// Every node is a separate set.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            root: (0..nodes as u32).collect(),
        }
    }

    /// The smallest node of a node's set; path halving.
    pub(super) fn find(&mut self, mut node: u32) -> u32 {
        while self.root[node as usize] != node {
            // Each node on the path is linked to its grandparent: amortized nearly constant time
            // without recursion.
            self.root[node as usize] = self.root[self.root[node as usize] as usize];
            node = self.root[node as usize];
        }
        node
    }

    /// Unites two sets; `false` when they were the same.
    pub(super) fn union(&mut self, first: u32, second: u32) -> bool {
        let (i, j) = (self.find(first), self.find(second));
        // The smaller node is the root, so representatives do not depend on the order of unions.
        self.root[i.max(j) as usize] = i.min(j);
        i != j
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.root.len()
    }

    /// All sets, in the order of their smallest nodes.
    pub(super) fn sets(&mut self) -> Vec<Vec<u32>> {
        let mut index_of = vec![u32::MAX; self.root.len()];
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for node in 0..self.root.len() as u32 {
            let root = self.find(node) as usize;
            // Roots are the smallest nodes, so sets are created in the order of these.
            if index_of[root] == u32::MAX {
                index_of[root] = sets.len() as u32;
                sets.push(Vec::new());
            }
            sets[index_of[root] as usize].push(node);
        }
        sets
    }
}
