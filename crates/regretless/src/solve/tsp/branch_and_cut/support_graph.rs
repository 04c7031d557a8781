//! The edges a fractional point uses, and rings that it tears apart.

use super::master::EdgeEnds;

/// Values below this count as zero; at most this from 1 as one.
pub(super) const INTEGRALITY_TOLERANCE: f64 = 1e-6;

/// A weighted sparse graph: adjacency in one array.
#[derive(Debug, Clone, Default)]
pub(super) struct TspSupportGraph {
    pub(super) nodes: usize,
    pub(super) edges: Vec<(EdgeEnds, f64)>,
}

impl TspSupportGraph {
    /// The edges with a value.
    pub(super) fn fill(&mut self, nodes: usize, edges: &[EdgeEnds], values: &[f64]) {
        self.nodes = nodes;
        self.edges.clear();
        let used = edges
            .iter()
            .zip(values)
            .filter(|(_, value)| **value > INTEGRALITY_TOLERANCE);
        self.edges.extend(used.map(|(ends, value)| (*ends, *value)));
    }

    /// Whether all values are whole.
    pub(super) fn is_integral(&self) -> bool {
        self.edges
            .iter()
            .all(|(_, value)| *value > 1.0 - INTEGRALITY_TOLERANCE)
    }

    /// Whether the edges connect all nodes.
    pub(super) fn is_connected(&self) -> bool {
        let mut joined = UnionFind::new(self.nodes);
        let joins = self
            .edges
            .iter()
            .filter(|([i, j], _)| joined.join(*i, *j))
            .count();
        joins + 1 == self.nodes
    }

    /// The parts that edges with values in a range connect, in the order of their first nodes.
    pub(super) fn parts(&self, keep: impl Fn(f64) -> bool) -> Vec<Vec<u32>> {
        let mut joined = UnionFind::new(self.nodes);
        for ([i, j], value) in &self.edges {
            if keep(*value) {
                joined.join(*i, *j);
            }
        }
        joined.parts()
    }
}

/// Nodes joined into groups.
#[derive(Debug, Clone, Default)]
pub(super) struct UnionFind {
    root: Vec<u32>,
}

impl UnionFind {
    /// Every node on its own.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            root: (0..nodes as u32).collect(),
        }
    }

    /// The group of a node, named by its lowest member.
    pub(super) fn group(&mut self, mut node: u32) -> u32 {
        while self.root[node as usize] != node {
            self.root[node as usize] = self.root[self.root[node as usize] as usize];
            node = self.root[node as usize];
        }
        node
    }

    /// Joins two groups; `false` when they were one already.
    pub(super) fn join(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.group(one), self.group(other));
        self.root[one.max(other) as usize] = one.min(other);
        one != other
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.root.len()
    }

    /// All groups, in the order of their lowest members.
    pub(super) fn parts(&mut self) -> Vec<Vec<u32>> {
        let mut number = vec![u32::MAX; self.root.len()];
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for node in 0..self.root.len() as u32 {
            let group = self.group(node) as usize;
            if number[group] == u32::MAX {
                number[group] = parts.len() as u32;
                parts.push(Vec::new());
            }
            parts[number[group] as usize].push(node);
        }
        parts
    }
}
