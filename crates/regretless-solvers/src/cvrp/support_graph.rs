//! Support graph of a point of the relaxation: the edges of positive value.

use super::cuts::EdgeEnds;

/// Values this close to an integer count as integral: above the tolerance of the LP solver (1e-9).
pub(super) const INTEGRALITY_TOLERANCE: f64 = 1e-6;

/// The edges of positive value, as a list and as a symmetric matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct CvrpSupportGraph {
    pub(super) nodes: usize,
    pub(super) edges: Vec<(EdgeEnds, f64)>,
    matrix: Vec<f64>,
}

impl CvrpSupportGraph {
    /// Loads the edges of positive value.
    pub(super) fn fill(&mut self, nodes: usize, edges: &[EdgeEnds], values: &[f64]) {
        self.nodes = nodes;
        self.edges.clear();
        self.matrix.clear();
        self.matrix.resize(nodes * nodes, 0.0);
        for (ends, value) in edges.iter().zip(values) {
            // Tiny values are rounding errors of the LP.
            if *value <= INTEGRALITY_TOLERANCE {
                continue;
            }
            let [i, j] = ends.map(|node| node as usize);
            self.edges.push((*ends, *value));
            self.matrix[i * nodes + j] = *value;
            self.matrix[j * nodes + i] = *value;
        }
    }

    /// Values of the edges from one node to all nodes.
    #[inline]
    pub(super) fn row(&self, node: u32) -> &[f64] {
        &self.matrix[node as usize * self.nodes..][..self.nodes]
    }

    /// Whether all values are integral.
    pub(super) fn is_integral(&self) -> bool {
        self.edges
            .iter()
            .all(|(_, value)| (value - value.round()).abs() <= INTEGRALITY_TOLERANCE)
    }

    /// x(δ(S)): the total value of the edges that leave a set of customers.
    pub(super) fn cut_value(&self, set: &[u32]) -> f64 {
        let row_sum = |i: u32| set.iter().map(|j| self.row(i)[*j as usize]).sum::<f64>();
        let inside: f64 = set.iter().map(|i| row_sum(*i)).sum();
        // Every customer has degree 2; edges inside the set are counted from both ends.
        2.0 * set.len() as f64 - inside
    }

    /// Connected components of the customers without the depot, in the order of their smallest
    /// customers.
    pub(super) fn components(&self) -> Vec<Vec<u32>> {
        let mut visited = vec![false; self.nodes];
        let mut components = Vec::new();
        for first in 1..self.nodes as u32 {
            if std::mem::replace(&mut visited[first as usize], true) {
                continue;
            }
            let (mut component, mut next) = (vec![first], 0);
            while next < component.len() {
                let row = self.row(component[next]);
                next += 1;
                for other in 1..self.nodes {
                    if row[other] > INTEGRALITY_TOLERANCE
                        && !std::mem::replace(&mut visited[other], true)
                    {
                        component.push(other as u32);
                    }
                }
            }
            components.push(component);
        }
        components
    }
}
