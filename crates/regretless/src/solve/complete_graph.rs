//! Edges of a complete graph and their numbers.
//!
//! Edges {i, j} with i < j are numbered in lexicographic order: edge e = i·(2n−i−1)/2 + (j−i−1).

use crate::solve::SolveFailure;

/// Number of edges of a complete graph.
pub fn num_edges(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}

/// Number of the edge that joins two different nodes.
pub fn edge_index(nodes: usize, one: usize, other: usize) -> usize {
    let (i, j) = (one.min(other), one.max(other));
    i * (2 * nodes - i - 1) / 2 + (j - i - 1)
}

/// Checks that there is one cost per edge.
///
/// # Errors
/// When there are more or fewer.
pub fn check_costs(nodes: usize, costs: &[f64]) -> Result<(), SolveFailure> {
    let (found, right) = (costs.len(), num_edges(nodes));
    let wrong = || {
        SolveFailure::Engine(format!(
            "{found} costs for the {right} edges of {nodes} nodes"
        ))
    };
    if found == right { Ok(()) } else { Err(wrong()) }
}

/// Numbers of the edges at a node, by the other end.
pub fn edges_at(nodes: usize, node: usize) -> impl Iterator<Item = usize> {
    (0..nodes)
        .filter(move |other| *other != node)
        .map(move |other| edge_index(nodes, node, other))
}

/// Numbers of the edges between nodes of a set.
pub fn edges_within(nodes: usize, set: &[usize]) -> impl Iterator<Item = usize> {
    let pairs = set
        .iter()
        .enumerate()
        .flat_map(|(at, i)| set[..at].iter().map(move |j| (*i, *j)));
    pairs.map(move |(i, j)| edge_index(nodes, i, j))
}

/// The ends (i < j) of edges whose numbers are given in increasing order.
pub fn edge_ends(nodes: usize, edges: &[u32]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let (mut row, mut start) = (0, 0);
    edges.iter().map(move |edge| {
        while *edge as usize - start >= nodes - row - 1 {
            start += nodes - row - 1;
            row += 1;
        }
        (row, row + 1 + *edge as usize - start)
    })
}

/// The nodes of a tour in its order, from the sorted numbers of its edges.
pub fn order_of(nodes: usize, edges: &[u32]) -> Vec<u32> {
    let mut joined = vec![[u32::MAX; 2]; nodes];
    for (i, j) in edge_ends(nodes, edges) {
        for (node, other) in [(i, j), (j, i)] {
            let slot = usize::from(joined[node][0] != u32::MAX);
            joined[node][slot] = other as u32;
        }
    }
    let mut order = Vec::with_capacity(nodes);
    let (mut from, mut node) = (u32::MAX, 0);
    for _ in 0..nodes {
        order.push(node);
        let [one, other] = joined[node as usize];
        (from, node) = (node, if one == from { other } else { one });
    }
    order
}

/// Whether these can be the costs of a tour through this many nodes.
pub(super) fn check(nodes: usize, costs: &[f64]) -> Result<(), SolveFailure> {
    if nodes < 3 {
        return Err(SolveFailure::Infeasible);
    }
    check_costs(nodes, costs)
}

/// Costs of all edges as a square table, so that a row is read in one sweep. A node is infinitely
/// far from itself.
#[derive(Debug, Clone, Default)]
pub struct DistanceMatrix {
    nodes: usize,
    values: Vec<f64>,
    scale: f64,
    granularity: Option<f64>,
}

impl DistanceMatrix {
    /// The table of these edge costs.
    pub fn new(nodes: usize, costs: &[f64]) -> Self {
        let mut distances = Self::default();
        distances.fill(nodes, costs);
        distances
    }

    /// Overwrites the table with these edge costs.
    pub fn fill(&mut self, nodes: usize, costs: &[f64]) {
        debug_assert_eq!(costs.len(), num_edges(nodes));
        self.nodes = nodes;
        self.values.clear();
        self.values.resize(nodes * nodes, f64::INFINITY);
        let mut rest = costs;
        for i in 0..nodes {
            let (row, below) = rest.split_at(nodes - i - 1);
            self.values[i * nodes + i + 1..][..row.len()].copy_from_slice(row);
            rest = below;
        }
        self.mirror();
        self.scale = scale_of(costs);
        self.granularity = Self::granularity_of(costs);
    }

    /// The decimal unit all these costs are multiples of, if there is one.
    pub(super) fn granularity_of(costs: &[f64]) -> Option<f64> {
        GRANULARITIES
            .into_iter()
            .find(|granularity| all_multiples(costs, *granularity))
    }

    /// The noise of totals under these costs.
    pub(super) fn tolerance_of(costs: &[f64], nodes: usize) -> f64 {
        1e-12 * scale_of(costs) * nodes as f64
    }

    /// Copies what is above the diagonal below it, tile by tile, so that both stay in cache.
    fn mirror(&mut self) {
        let nodes = self.nodes;
        for rows in (0..nodes).step_by(MIRROR_TILE) {
            for columns in (rows..nodes).step_by(MIRROR_TILE) {
                for i in rows..nodes.min(rows + MIRROR_TILE) {
                    for j in columns.max(i + 1)..nodes.min(columns + MIRROR_TILE) {
                        self.values[j * nodes + i] = self.values[i * nodes + j];
                    }
                }
            }
        }
    }

    /// Overwrites the table with the reduced costs c_ij − π_i − π_j of another. Tours differ by the
    /// same amounts as before; scale and noise stay those of the costs themselves.
    pub fn reduce(&mut self, from: &Self, multipliers: &[f64]) {
        self.nodes = from.nodes;
        self.scale = from.scale;
        self.granularity = None;
        self.values.clear();
        for (row, own) in from.values.chunks_exact(from.nodes.max(1)).zip(multipliers) {
            self.values.extend(
                row.iter()
                    .zip(multipliers)
                    .map(|(cost, other)| cost - (own + other)),
            );
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Cost of the edge between two nodes.
    #[inline]
    pub fn between(&self, one: u32, other: u32) -> f64 {
        self.values[one as usize * self.nodes + other as usize]
    }

    /// Costs from one node to all.
    #[inline]
    pub fn row(&self, node: u32) -> &[f64] {
        &self.values[node as usize * self.nodes..][..self.nodes]
    }

    /// Largest absolute cost.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The decimal unit all costs are multiples of, if there is one: totals then differ by at least
    /// as much, and a bound may be rounded up.
    pub fn granularity(&self) -> Option<f64> {
        self.granularity
    }

    /// Multipliers a with c_ij ≈ a_i + a_j by least squares: the part of the costs that is the same
    /// for all tours.
    pub fn node_potentials(&self, multipliers: &mut [f64]) {
        let nodes = self.nodes as f64;
        for (node, multiplier) in multipliers.iter_mut().enumerate() {
            let (before, after) = self.row(node as u32).split_at(node);
            *multiplier = before.iter().chain(&after[1..]).sum();
        }
        let total = multipliers.iter().sum::<f64>() / (2.0 * (nodes - 1.0));
        multipliers
            .iter_mut()
            .for_each(|multiplier| *multiplier = (*multiplier - total) / (nodes - 2.0));
    }

    /// Differences of totals below this are rounding noise: 10⁻¹² of the largest cost per node.
    pub fn tolerance(&self) -> f64 {
        1e-12 * self.scale * self.nodes as f64
    }

    /// Cost of a closed tour.
    pub fn tour_cost(&self, order: &[u32]) -> f64 {
        let closing = order
            .last()
            .zip(order.first())
            .map_or(0.0, |(last, first)| self.between(*last, *first));
        order
            .windows(2)
            .map(|pair| self.between(pair[0], pair[1]))
            .sum::<f64>()
            + closing
    }
}

fn scale_of(costs: &[f64]) -> f64 {
    costs.iter().fold(0.0, |max, cost| cost.abs().max(max))
}

/// Rows and columns that are mirrored together.
const MIRROR_TILE: usize = 32;
/// Units that costs may be multiples of, coarsest first.
const GRANULARITIES: [f64; 5] = [1.0, 0.1, 0.01, 0.001, 0.0001];

/// Whether all costs are multiples of a unit, up to the last bits: a deliberate small perturbation
/// of whole numbers must not be taken for rounding.
fn all_multiples(costs: &[f64], granularity: f64) -> bool {
    costs.iter().all(|cost| {
        let units = cost / granularity;
        (units - units.round()).abs() <= 4.0 * f64::EPSILON * units.abs()
    })
}

#[cfg(test)]
mod tests {
    use super::{DistanceMatrix, edge_ends, edge_index, edges_at, num_edges};

    #[test]
    fn edge_numbers_run_in_lexicographic_order() {
        let nodes = 7;
        let pairs: Vec<_> = (0..nodes)
            .flat_map(|i| (i + 1..nodes).map(move |j| (i, j)))
            .collect();
        let numbers: Vec<u32> = (0..num_edges(nodes) as u32).collect();
        assert_eq!(edge_ends(nodes, &numbers).collect::<Vec<_>>(), pairs);
        for (number, (i, j)) in pairs.into_iter().enumerate() {
            assert_eq!(
                (edge_index(nodes, i, j), edge_index(nodes, j, i)),
                (number, number)
            );
        }
        assert_eq!(
            edge_ends(nodes, &[3, 20]).collect::<Vec<_>>(),
            [(0, 4), (5, 6)]
        );
        assert_eq!(edges_at(4, 2).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn the_table_is_symmetric_and_knows_its_grain() {
        let distances = DistanceMatrix::new(4, &[1.0, 2.0, 3.0, 4.0, -5.0, 6.0]);
        assert_eq!(
            (distances.between(1, 3), distances.between(3, 1)),
            (-5.0, -5.0)
        );
        assert_eq!(distances.tour_cost(&[0, 1, 3, 2]), 1.0 - 5.0 + 6.0 + 2.0);
        assert_eq!(
            (distances.granularity(), distances.scale()),
            (Some(1.0), 6.0)
        );
        assert_eq!(
            DistanceMatrix::new(3, &[1.0, 0.3, -2.5]).granularity(),
            Some(0.1)
        );
        assert_eq!(
            DistanceMatrix::new(3, &[1.0, 2.0, 2.5001]).granularity(),
            Some(0.0001)
        );
        assert_eq!(
            DistanceMatrix::new(3, &[1.0, 2.0, f64::from(2.1_f32)]).granularity(),
            None
        );
        assert_eq!(
            DistanceMatrix::new(3, &[1.0, 2.0, 3.000_000_001]).granularity(),
            None
        );
    }

    #[test]
    fn the_common_part_of_a_sum_of_node_costs_is_those_costs() {
        let own = [3.0, -1.0, 4.0, 0.5];
        let costs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
            .map(|(i, j): (usize, usize)| own[i] + own[j]);
        let mut found = [0.0; 4];
        DistanceMatrix::new(4, &costs).node_potentials(&mut found);
        found
            .iter()
            .zip(own)
            .for_each(|(found, own)| assert!((found - own).abs() < 1e-12));
    }
}
