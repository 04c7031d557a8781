//! Pricing: reduced costs of all edges, also of those that are not columns, from the dual values of
//! the master LP.
//!
//! With node potentials p and cut weights w ≥ 0 the reduced cost of edge {i, j} is c_ij − p_i − p_j
//! plus Σ w over the sets that contain both ends. As weights only add, c_ij − p_i − p_j ≥ 0 proves
//! most edges nonnegative without reading the cuts. Any p and w ≥ 0 yield a valid lower bound on
//! every tour, whether or not they are optimal duals: 2·Σp − Σ w·(right-hand side) + Σ min(0,
//! reduced cost). All values are in the units of the costs.

use super::cuts::{NodeSetIndex, TspCut};
use crate::complete_graph::EdgeCostMatrix;

/// Node potentials and cut weights.
#[derive(Debug, Clone, Default)]
pub(super) struct DualPrices {
    pub(super) potential: Vec<f64>,
    weight: Vec<f64>,
    set_index: NodeSetIndex,
    /// The bound without the terms of edges of negative reduced cost.
    pub(super) constant: f64,
}

impl DualPrices {
    /// Loads potentials, and cuts with their weights; cuts without a positive weight are ignored.
    pub(super) fn load<'a>(
        &mut self,
        potential: impl Iterator<Item = f64>,
        cuts: impl Iterator<Item = (f64, &'a TspCut)> + Clone,
    ) {
        self.potential.clear();
        self.potential.extend(potential);
        // Positive weights only: rounding may give a slack cut a tiny weight of the wrong sign, and
        // without it the bound is still valid.
        let active = cuts.filter(|(weight, _)| *weight > 0.0);
        self.weight.clear();
        self.weight.extend(active.clone().map(|(weight, _)| weight));
        let indexed = (0..).zip(active.clone().map(|(_, cut)| cut));
        self.set_index.fill(self.potential.len(), indexed);
        let cut_terms = active.map(|(weight, cut)| weight * f64::from(cut.max));
        let cut_total: f64 = cut_terms.sum();
        // Σ 2 p_i from the degree equations, minus the weighted right sides of the cuts.
        self.constant = 2.0 * self.potential.iter().sum::<f64>() - cut_total;
    }

    /// Reduced cost of the edge {i, j} of this cost.
    #[inline]
    pub(super) fn reduced_cost(&self, cost: f64, i: u32, j: u32) -> f64 {
        let without_cuts = cost - self.potential[i as usize] - self.potential[j as usize];
        self.add_weights(without_cuts, i, j)
    }

    /// Potentials that absorb half of each cut's weight at its nodes: c_ij − p_i − p_j is then the
    /// reduced cost up to the cuts that the edge crosses.
    pub(super) fn symmetric_potentials(&self) -> Vec<f64> {
        let halves = (0..self.potential.len() as u32).map(|node| {
            let mut total = 0.0;
            // A node is in a set together with itself: this visits all sets of the node.
            self.set_index
                .visit_cuts_with_both(node, node, |cut| total += self.weight[cut as usize]);
            // An edge inside a set has both ends in it, so two halves are the cut's weight.
            0.5 * total
        });
        self.potential
            .iter()
            .zip(halves)
            .map(|(potential, half)| potential - half)
            .collect()
    }

    #[inline]
    fn add_weights(&self, mut reduced_cost: f64, i: u32, j: u32) -> f64 {
        self.set_index
            .visit_cuts_with_both(i, j, |cut| reduced_cost += self.weight[cut as usize]);
        reduced_cost
    }

    /// Visits every node with the reduced costs of its edges to all larger nodes.
    pub(super) fn visit_rows(
        &self,
        // The buffer is reused: a row of the complete graph is visited at a time, never all edges.
        edge_costs: &EdgeCostMatrix,
        mut visit: impl FnMut(u32, &[f64]),
    ) {
        let nodes = edge_costs.nodes();
        let mut row = vec![0.0; nodes];
        for i in 0..nodes {
            let row_potential = self.potential[i];
            let costs = &edge_costs.row(i as u32)[i + 1..];
            let edges = costs.iter().zip(&self.potential[i + 1..]);
            for (reduced_cost, (cost, potential)) in row[i + 1..].iter_mut().zip(edges) {
                *reduced_cost = cost - row_potential - potential;
            }
            self.set_index.visit_larger_nodes(i as u32, |cut, larger| {
                let weight = self.weight[cut as usize];
                for j in larger {
                    row[*j as usize] += weight;
                }
            });
            visit(i as u32, &row[i + 1..]);
        }
    }

    /// Visits every edge i < j of the complete graph whose reduced cost is at most `max`.
    pub(super) fn scan(
        &self,
        edge_costs: &EdgeCostMatrix,
        max: f64,
        mut visit: impl FnMut(u32, u32, f64),
    ) {
        for i in 0..edge_costs.nodes() {
            let row = &edge_costs.row(i as u32)[i + 1..];
            // The row's potential is added to the threshold instead of being subtracted from every
            // cost.
            let threshold = max + self.potential[i];
            for (offset, (cost, potential)) in row.iter().zip(&self.potential[i + 1..]).enumerate()
            {
                // Cuts only raise the reduced cost, so edges above the threshold without cuts are
                // above it with them.
                if cost - potential <= threshold {
                    let j = (i + 1 + offset) as u32;
                    let reduced_cost =
                        self.add_weights(cost - potential - self.potential[i], i as u32, j);
                    if reduced_cost <= max {
                        visit(i as u32, j, reduced_cost);
                    }
                }
            }
        }
    }
}
