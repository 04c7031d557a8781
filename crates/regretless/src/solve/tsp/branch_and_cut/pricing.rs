//! Prices: what the dual values of a linear relaxation say about every edge, also those not in it.
//!
//! With potentials p and weights w ≥ 0 of cuts the reduced cost of edge {i, j} is c_ij − p_i − p_j
//! + Σ w over the sets around both. As weights only add, c_ij − p_i − p_j ≥ 0 settles most edges at
//! once. Any prices bound every tour from below, whoever found them: 2·Σp − Σ w·most + Σ min(0,
//! reduced cost). All numbers are in the units of the costs.

use super::cuts::{NodeSetIndex, TspCut};
use crate::solve::complete_graph::DistanceMatrix;

/// Potentials of nodes and weights of cuts.
#[derive(Debug, Clone, Default)]
pub(super) struct DualPrices {
    pub(super) potential: Vec<f64>,
    weight: Vec<f64>,
    nesting: NodeSetIndex,
    /// The bound before edges of negative reduced cost are counted.
    pub(super) constant: f64,
}

impl DualPrices {
    /// Takes over potentials, and cuts with their weights; weights that are not positive are left
    /// out.
    pub(super) fn load<'a>(
        &mut self,
        potential: impl Iterator<Item = f64>,
        cuts: impl Iterator<Item = (f64, &'a TspCut)> + Clone,
    ) {
        self.potential.clear();
        self.potential.extend(potential);
        let active = cuts.filter(|(weight, _)| *weight > 0.0);
        self.weight.clear();
        self.weight.extend(active.clone().map(|(weight, _)| weight));
        let numbered = active
            .clone()
            .zip(0..)
            .map(|((_, cut), number)| (number, cut));
        self.nesting.fill(self.potential.len(), numbered);
        let paid: f64 = active
            .map(|(weight, cut)| weight * f64::from(cut.max))
            .sum();
        self.constant = 2.0 * self.potential.iter().sum::<f64>() - paid;
    }

    /// Reduced cost of an edge.
    #[inline]
    pub(super) fn reduced(&self, cost: f64, one: u32, other: u32) -> f64 {
        let plain = cost - self.potential[one as usize] - self.potential[other as usize];
        self.add_weights(plain, one, other)
    }

    /// Potentials with the weights of cuts shared out evenly: c_ij − p_i − p_j is then the reduced
    /// cost up to the cuts that the edge crosses.
    pub(super) fn symmetric_potentials(&self) -> Vec<f64> {
        let halves = (0..self.potential.len() as u32).map(|node| {
            let mut total = 0.0;
            self.nesting
                .around_both(node, node, |cut| total += self.weight[cut as usize]);
            0.5 * total
        });
        self.potential
            .iter()
            .zip(halves)
            .map(|(potential, half)| potential - half)
            .collect()
    }

    #[inline]
    fn add_weights(&self, mut plain: f64, one: u32, other: u32) -> f64 {
        self.nesting
            .around_both(one, other, |cut| plain += self.weight[cut as usize]);
        plain
    }

    /// Visits every node with the reduced costs of its edges to all later nodes.
    pub(super) fn rows(&self, distances: &DistanceMatrix, mut visit: impl FnMut(u32, &[f64])) {
        let nodes = distances.nodes();
        let mut row = vec![0.0; nodes];
        for i in 0..nodes {
            let own = self.potential[i];
            let costs = distances.row(i as u32)[i + 1..]
                .iter()
                .zip(&self.potential[i + 1..]);
            row[i + 1..]
                .iter_mut()
                .zip(costs)
                .for_each(|(reduced, (cost, other))| *reduced = cost - own - other);
            self.nesting.later_members(i as u32, |cut, later| {
                let weight = self.weight[cut as usize];
                later.iter().for_each(|j| row[*j as usize] += weight);
            });
            visit(i as u32, &row[i + 1..]);
        }
    }

    /// Visits every edge i < j of a complete graph whose reduced cost is at most `most`.
    pub(super) fn scan(
        &self,
        distances: &DistanceMatrix,
        max: f64,
        mut visit: impl FnMut(u32, u32, f64),
    ) {
        for i in 0..distances.nodes() {
            let row = &distances.row(i as u32)[i + 1..];
            let bar = max + self.potential[i];
            for (step, (cost, potential)) in row.iter().zip(&self.potential[i + 1..]).enumerate() {
                if cost - potential <= bar {
                    let j = (i + 1 + step) as u32;
                    let reduced =
                        self.add_weights(cost - potential - self.potential[i], i as u32, j);
                    if reduced <= max {
                        visit(i as u32, j, reduced);
                    }
                }
            }
        }
    }
}
