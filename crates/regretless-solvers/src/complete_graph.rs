//! Edge indices of the complete graph, its cost matrix, and the routes that edges form.
//!
//! Edges {i, j} with i < j are indexed in lexicographic order: edge e = i·(2n−i−1)/2 + (j−i−1).
//! Cost vectors, decisions and files of TSP and CVRP use this order.

use crate::SolveFailure;
use regretless_base::decision::Decision;

/// The two end nodes of an edge, the smaller first.
pub(super) type EdgeEnds = [u32; 2];

/// Number of edges of a complete graph.
pub fn num_edges(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}

/// Index of the edge that joins two different nodes, in any order.
pub fn edge_index(nodes: usize, first: usize, second: usize) -> usize {
    let (i, j) = (first.min(second), first.max(second));
    // The rows before row i have (n − 1) + (n − 2) + … entries.
    i * (2 * nodes - i - 1) / 2 + (j - i - 1)
}

/// As [`edge_index`], with the 32-bit numbers that decisions store.
#[inline]
pub(super) fn edge_index_u32(nodes: usize, ends: EdgeEnds) -> u32 {
    edge_index(nodes, ends[0] as usize, ends[1] as usize) as u32
}

/// Checks that there is one cost per edge.
///
/// # Errors
/// When the number of costs differs from the number of edges.
pub fn check_costs(nodes: usize, costs: &[f64]) -> Result<(), SolveFailure> {
    let (count, edges) = (costs.len(), num_edges(nodes));
    if count == edges {
        return Ok(());
    }
    let message = format!("found {count} costs; a graph of {nodes} nodes has {edges} edges");
    Err(SolveFailure::SolverError(message))
}

/// Indices of the edges at a node, ordered by the other end.
pub fn edges_at(nodes: usize, node: usize) -> impl Iterator<Item = usize> {
    (0..nodes)
        .filter(move |other| *other != node)
        .map(move |other| edge_index(nodes, node, other))
}

/// Indices of the edges with both ends in a set.
pub fn edges_within(nodes: usize, set: &[usize]) -> impl Iterator<Item = usize> {
    let pairs = set
        .iter()
        .enumerate()
        .flat_map(|(position, i)| set[..position].iter().map(move |j| (*i, *j)));
    pairs.map(move |(i, j)| edge_index(nodes, i, j))
}

/// The ends (i < j) of edges whose indices are given in increasing order.
pub fn edge_ends(nodes: usize, edges: &[u32]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let (mut row, mut start) = (0, 0);
    edges.iter().map(move |edge| {
        // Indices increase, so the row only moves forward: all ends take linear time.
        while *edge as usize - start >= nodes - row - 1 {
            start += nodes - row - 1;
            row += 1;
        }
        (row, row + 1 + *edge as usize - start)
    })
}

/// The nodes of a tour in visiting order, from the sorted indices of its edges. Nodes without edges
/// are not part of it.
pub fn tour_order(nodes: usize, edges: &[u32]) -> Vec<u32> {
    let mut neighbors = vec![[u32::MAX; 2]; nodes];
    for (i, j) in edge_ends(nodes, edges) {
        for (node, other) in [(i, j), (j, i)] {
            let slot = usize::from(neighbors[node][0] != u32::MAX);
            neighbors[node][slot] = other as u32;
        }
    }
    let visited = |slots: &&[u32; 2]| slots[0] != u32::MAX;
    let count = neighbors.iter().filter(visited).count();
    let first = neighbors.iter().position(|slots| visited(&slots));
    let mut order = Vec::with_capacity(count);
    let (mut previous, mut node) = (u32::MAX, first.unwrap_or(0) as u32);
    for _ in 0..count {
        order.push(node);
        let [first, second] = neighbors[node as usize];
        // The neighbor that is not the one before continues the tour.
        (previous, node) = (node, if first == previous { second } else { first });
    }
    order
}

/// Checks that there is one cost per edge, and that there are enough nodes for a tour.
pub(super) fn check_tour_costs(nodes: usize, costs: &[f64]) -> Result<(), SolveFailure> {
    if nodes < MIN_TOUR_NODES {
        return Err(SolveFailure::Infeasible);
    }
    check_costs(nodes, costs)
}

/// Costs of all edges as a symmetric square matrix, so a row is contiguous in memory. The diagonal
/// is infinite.
#[derive(Debug, Clone, Default)]
pub struct EdgeCostMatrix {
    nodes: usize,
    values: Vec<f64>,
    scale: f64,
    granularity: Option<f64>,
}

impl EdgeCostMatrix {
    /// The matrix of these edge costs.
    pub fn new(nodes: usize, costs: &[f64]) -> Self {
        let mut edge_costs = Self::default();
        edge_costs.fill(nodes, costs);
        edge_costs
    }

    /// Overwrites the matrix with these edge costs.
    pub fn fill(&mut self, nodes: usize, costs: &[f64]) {
        debug_assert_eq!(costs.len(), num_edges(nodes));
        self.nodes = nodes;
        self.values.clear();
        // The diagonal stays infinite, so no edge from a node to itself is ever the cheapest.
        self.values.resize(nodes * nodes, f64::INFINITY);
        let mut remaining = costs;
        for i in 0..nodes {
            let (row, later_rows) = remaining.split_at(nodes - i - 1);
            self.values[i * nodes + i + 1..][..row.len()].copy_from_slice(row);
            remaining = later_rows;
        }
        self.mirror();
        self.scale = max_abs_cost(costs);
        self.granularity = Self::detect_granularity(costs);
    }

    /// The decimal unit that all these costs are multiples of, if there is one.
    pub(super) fn detect_granularity(costs: &[f64]) -> Option<f64> {
        GRANULARITIES
            .into_iter()
            .find(|granularity| all_multiples(costs, *granularity))
    }

    /// Rounding tolerance of the total cost of a tour.
    pub(super) fn tour_cost_tolerance(costs: &[f64], nodes: usize) -> f64 {
        RELATIVE_TOLERANCE * max_abs_cost(costs) * nodes as f64
    }

    /// Copies the upper triangle into the lower one, tile by tile, so both stay in cache.
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

    /// Overwrites the matrix with the reduced costs c_ij − π_i − π_j of another, with π the
    /// multipliers. Differences between tours stay the same; scale and tolerance remain those of
    /// the original costs.
    pub fn reduce(&mut self, original: &Self, multipliers: &[f64]) {
        self.nodes = original.nodes;
        self.scale = original.scale;
        // Reduced costs are no multiples of a unit.
        self.granularity = None;
        self.values.clear();
        let rows = original.values.chunks_exact(original.nodes.max(1));
        for (row, row_multiplier) in rows.zip(multipliers) {
            let terms = row.iter().zip(multipliers);
            self.values
                .extend(terms.map(|(cost, multiplier)| cost - (row_multiplier + multiplier)));
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Cost of the edge between two nodes.
    #[inline]
    pub fn between(&self, first: u32, second: u32) -> f64 {
        self.values[first as usize * self.nodes + second as usize]
    }

    /// Costs of the edges from one node to all nodes.
    #[inline]
    pub fn row(&self, node: u32) -> &[f64] {
        &self.values[node as usize * self.nodes..][..self.nodes]
    }

    /// Largest absolute cost.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The decimal unit that all costs are multiples of, if there is one: total costs then differ
    /// by at least this unit, and a lower bound may be rounded up.
    pub fn granularity(&self) -> Option<f64> {
        self.granularity
    }

    /// Node potentials a with c_ij ≈ a_i + a_j in the least squares sense: this part of the costs
    /// is the same for all tours.
    pub fn node_potentials(&self, potentials: &mut [f64]) {
        let nodes = self.nodes as f64;
        for (node, potential) in potentials.iter_mut().enumerate() {
            let (before, after) = self.row(node as u32).split_at(node);
            *potential = before.iter().chain(&after[1..]).sum();
        }
        // The normal equations: row sums are (n − 2) a_i + Σ a, and their sum gives Σ a.
        let total = potentials.iter().sum::<f64>() / (2.0 * (nodes - 1.0));
        potentials
            .iter_mut()
            .for_each(|potential| *potential = (*potential - total) / (nodes - 2.0));
    }

    /// Rounding tolerance of total costs: 10⁻¹² of the largest absolute cost, times the nodes.
    pub fn tolerance(&self) -> f64 {
        RELATIVE_TOLERANCE * self.scale * self.nodes as f64
    }

    /// Cost of a closed tour.
    pub fn tour_cost(&self, order: &[u32]) -> f64 {
        let closing = match order {
            [first, .., last] => self.between(*last, *first),
            [only] => self.between(*only, *only),
            [] => 0.0,
        };
        let path = order.windows(2);
        path.map(|pair| self.between(pair[0], pair[1])).sum::<f64>() + closing
    }
}

fn max_abs_cost(costs: &[f64]) -> f64 {
    costs.iter().fold(0.0, |max, cost| cost.abs().max(max))
}

/// Minimum number of nodes of a tour: two nodes would use their edge twice.
const MIN_TOUR_NODES: usize = 3;
/// Tolerance of a total per node, relative to the largest absolute cost. A sum of n doubles is
/// exact to about n·10⁻¹⁶; 10⁻¹² leaves room for multipliers and simplex arithmetic.
const RELATIVE_TOLERANCE: f64 = 1e-12;
/// Rows and columns of a mirrored tile: two tiles of 32 × 32 doubles take 16 KiB and fit into a
/// first-level cache.
const MIRROR_TILE: usize = 32;
/// Units that costs may be multiples of, coarsest first. Published instances use integers or a few
/// decimals; finer units save too little to be worth another scan of the costs.
const GRANULARITIES: [f64; 5] = [1.0, 0.1, 0.01, 0.001, 0.0001];
/// Relative distance to a multiple of a unit below which a cost counts as one: the rounding errors
/// of reading a decimal number and of the division by the unit.
const MULTIPLE_TOLERANCE: f64 = 4.0 * f64::EPSILON;

/// Whether all costs are multiples of a unit, up to the last bits: a deliberate small perturbation
/// of integral costs must not count as rounding.
fn all_multiples(costs: &[f64], granularity: f64) -> bool {
    costs.iter().all(|cost| {
        let units = cost / granularity;
        // Relative to the multiple, since dividing a large cost rounds more.
        (units - units.round()).abs() <= MULTIPLE_TOLERANCE * units.abs()
    })
}

/// The customers of each route in visiting order, without the depot (node 0), from the uses of
/// edges by a feasible decision of vehicle routing.
pub fn routes_from_edges(nodes: usize, uses: &Decision) -> Vec<Vec<u32>> {
    let mut neighbors = vec![Vec::new(); nodes];
    for ((i, j), (_, times)) in edge_ends(nodes, uses.indices()).zip(uses.iter()) {
        // A route of one customer uses its depot edge twice.
        for _ in 0..times.round() as usize {
            neighbors[i].push(j as u32);
            neighbors[j].push(i as u32);
        }
    }
    let mut routes = Vec::new();
    let firsts = std::mem::take(&mut neighbors[0]);
    let mut served = vec![false; nodes];
    for first in firsts {
        let mut route = Vec::new();
        // A customer may be the first and the last of its route: it is met twice at the depot.
        let mut next = Some(first).filter(|first| !served[*first as usize]);
        while let Some(customer) = next {
            served[customer as usize] = true;
            route.push(customer);
            let mut others = neighbors[customer as usize].iter().copied();
            next = others.find(|other| *other != 0 && !served[*other as usize]);
        }
        if !route.is_empty() {
            routes.push(route);
        }
    }
    routes
}

#[cfg(test)]
mod tests {
    use super::{EdgeCostMatrix, edge_ends, edge_index, edges_at, num_edges};

    #[test]
    fn edge_indices_are_in_lexicographic_order() {
        let nodes = 7;
        let pairs: Vec<_> = (0..nodes)
            .flat_map(|i| (i + 1..nodes).map(move |j| (i, j)))
            .collect();
        let indices: Vec<u32> = (0..num_edges(nodes) as u32).collect();
        assert_eq!(edge_ends(nodes, &indices).collect::<Vec<_>>(), pairs);
        for (index, (i, j)) in pairs.into_iter().enumerate() {
            assert_eq!(
                (edge_index(nodes, i, j), edge_index(nodes, j, i)),
                (index, index)
            );
        }
        assert_eq!(
            edge_ends(nodes, &[3, 20]).collect::<Vec<_>>(),
            [(0, 4), (5, 6)]
        );
        assert_eq!(edges_at(4, 2).collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn the_matrix_is_symmetric_and_its_granularity_is_detected() {
        let edge_costs = EdgeCostMatrix::new(4, &[1.0, 2.0, 3.0, 4.0, -5.0, 6.0]);
        assert_eq!(
            (edge_costs.between(1, 3), edge_costs.between(3, 1)),
            (-5.0, -5.0)
        );
        assert_eq!(edge_costs.tour_cost(&[0, 1, 3, 2]), 1.0 - 5.0 + 6.0 + 2.0);
        assert_eq!(
            (edge_costs.granularity(), edge_costs.scale()),
            (Some(1.0), 6.0)
        );
        assert_eq!(
            EdgeCostMatrix::new(3, &[1.0, 0.3, -2.5]).granularity(),
            Some(0.1)
        );
        assert_eq!(
            EdgeCostMatrix::new(3, &[1.0, 2.0, 2.5001]).granularity(),
            Some(0.0001)
        );
        assert_eq!(
            EdgeCostMatrix::new(3, &[1.0, 2.0, f64::from(2.1_f32)]).granularity(),
            None
        );
        assert_eq!(
            EdgeCostMatrix::new(3, &[1.0, 2.0, 3.000_000_001]).granularity(),
            None
        );
    }

    #[test]
    fn node_potentials_recover_costs_that_are_sums_of_node_costs() {
        let node_costs = [3.0, -1.0, 4.0, 0.5];
        let costs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
            .map(|(i, j): (usize, usize)| node_costs[i] + node_costs[j]);
        let mut potentials = [0.0; 4];
        EdgeCostMatrix::new(4, &costs).node_potentials(&mut potentials);
        for (potential, node_cost) in potentials.iter().zip(node_costs) {
            assert!((potential - node_cost).abs() < 1e-12);
        }
    }
}
