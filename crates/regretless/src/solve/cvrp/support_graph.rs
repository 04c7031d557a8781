//! A point of the relaxation as a weighted graph.

use super::cuts::EdgeEnds;

/// Values this close to a whole number count as it.
pub(super) const INTEGRALITY_TOLERANCE: f64 = 1e-6;

/// The edges that a point uses, as a list and as a table.
#[derive(Debug, Clone, Default)]
pub(super) struct CvrpSupportGraph {
    pub(super) nodes: usize,
    pub(super) edges: Vec<(EdgeEnds, f64)>,
    table: Vec<f64>,
}

impl CvrpSupportGraph {
    /// The edges with a value.
    pub(super) fn fill(&mut self, nodes: usize, edges: &[EdgeEnds], values: &[f64]) {
        self.nodes = nodes;
        self.edges.clear();
        self.table.clear();
        self.table.resize(nodes * nodes, 0.0);
        for (ends, value) in edges
            .iter()
            .zip(values)
            .filter(|(_, value)| **value > INTEGRALITY_TOLERANCE)
        {
            let [i, j] = ends.map(|node| node as usize);
            self.edges.push((*ends, *value));
            self.table[i * nodes + j] = *value;
            self.table[j * nodes + i] = *value;
        }
    }

    /// Values of the edges between one node and all.
    #[inline]
    pub(super) fn row(&self, node: u32) -> &[f64] {
        &self.table[node as usize * self.nodes..][..self.nodes]
    }

    /// Whether all values are whole.
    pub(super) fn is_integral(&self) -> bool {
        self.edges
            .iter()
            .all(|(_, value)| (value - value.round()).abs() <= INTEGRALITY_TOLERANCE)
    }

    /// Sum of the edges that leave a set of customers.
    pub(super) fn cut_value(&self, set: &[u32]) -> f64 {
        let inside: f64 = set
            .iter()
            .map(|i| set.iter().map(|j| self.row(*i)[*j as usize]).sum::<f64>())
            .sum();
        2.0 * set.len() as f64 - inside
    }

    /// The groups of customers that edges connect without the depot, in the order of their first
    /// members.
    pub(super) fn groups(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.nodes];
        let mut groups = Vec::new();
        for first in 1..self.nodes as u32 {
            if std::mem::replace(&mut seen[first as usize], true) {
                continue;
            }
            let (mut group, mut next) = (vec![first], 0);
            while next < group.len() {
                let row = self.row(group[next]);
                next += 1;
                for other in 1..self.nodes {
                    if row[other] > INTEGRALITY_TOLERANCE
                        && !std::mem::replace(&mut seen[other], true)
                    {
                        group.push(other as u32);
                    }
                }
            }
            groups.push(group);
        }
        groups
    }
}
