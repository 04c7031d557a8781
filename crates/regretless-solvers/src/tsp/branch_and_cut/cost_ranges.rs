//! Cost ranging: how far each cost may change, the others fixed, while the optimal basis stays
//! optimal.
//!
//! The cost of a nonbasic edge may change until its reduced cost changes sign. When the cost of a
//! basic edge changes by Δ, the reduced cost d of every nonbasic edge changes by −Δ·α, where α is
//! its entry in the basic edge's row of B⁻¹A; the range ends where the first of them, or the first
//! dual of a binding cut, changes sign (ratio test). Edges that are not columns are included. Edges
//! are tried by increasing |d|: once |d| exceeds the largest |α| of the row times the range found
//! so far, no further edge can limit it. For a row with many nonzeros the smallest |d| of all edges
//! usually suffice; for a sparse row, the smallest |d| at its nodes; if these do not suffice
//! either, all edges at those nodes are tried.

use super::cuts::NodeSetIndex;
use super::pricing::DualPrices;
use super::root::RootRelaxation;
use crate::SolveFailure;
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds, edge_index_u32, num_edges};
use crate::highs::{BasicVariable, BasisStatus};
use crate::relaxation::CostRanges;

/// Smaller entries of a row count as zero: the feasibility tolerance of the simplex solver.
const ZERO_TOLERANCE: f64 = 1e-9;
/// Nonbasic edges per node that are sorted by absolute reduced cost. More take longer to sort,
/// fewer leave more rows to the scan of all edges.
const SORTED_EDGES_PER_NODE: usize = 8;
/// Sorted edges that are tried for every row, before those at its nodes. They determine the range
/// of most rows with many nonzeros, but not of sparse rows.
const GLOBAL_RATIO_EDGES: usize = 100;
/// The list of edges is reduced to those of smallest margin when it is this many times too long:
/// selection then takes constant time per edge.
const SELECTION_BUFFER_FACTOR: usize = 4;

/// The ranges of all costs after [`RootRelaxation::add_cuts_and_columns`].
pub(super) fn ranges(
    root: &mut RootRelaxation,
    edge_costs: &EdgeCostMatrix,
) -> Result<CostRanges, SolveFailure> {
    let nodes = edge_costs.nodes();
    let Some(basis) = root.master.basis() else {
        return Err(SolveFailure::SolverError(
            "the solved relaxation has no basis".into(),
        ));
    };
    // Edges that are not columns are nonbasic at 0: pricing has shown that they do not enter.
    let mut status = vec![BasisStatus::Lower; num_edges(nodes)];
    for (ends, column) in root.master.edges.iter().zip(&basis.columns) {
        status[edge_index_u32(nodes, *ends) as usize] = *column;
    }
    let (mut ranges, smallest) = nonbasic_ranges(&root.prices, edge_costs, &status);
    let basic_variables = root.master.basic_variables()?;
    let mut row = Vec::new();
    let mut limits = Vec::new();
    let mut input = RatioTestInput::new(root, edge_costs, &status, &basis.rows, smallest);
    // Only basic edges need a row of the inverse; the ranges of nonbasic ones follow from reduced
    // costs.
    for (position, basic) in basic_variables.into_iter().enumerate() {
        if let BasicVariable::Column(column) = basic {
            root.master.inverse_row(position, &mut row)?;
            limits.push((column, input.range(&root.prices, &row)));
        }
    }
    for (column, [down, up]) in limits {
        let ends = root.master.edges[column];
        let edge = edge_index_u32(nodes, ends) as usize;
        let cost = edge_costs.between(ends[0], ends[1]);
        (ranges.lower[edge], ranges.upper[edge]) = (cost - down, cost + up);
    }
    Ok(ranges)
}

/// Ranges of the nonbasic edges, and those edges of smallest absolute reduced cost.
fn nonbasic_ranges(
    prices: &DualPrices,
    edge_costs: &EdgeCostMatrix,
    status: &[BasisStatus],
) -> (CostRanges, SmallestMargins) {
    let mut ranges = CostRanges::unbounded(status.len());
    let mut smallest = SmallestMargins::new(SORTED_EDGES_PER_NODE * edge_costs.nodes());
    // Edges come in the order of their indices.
    let mut edge = 0;
    prices.visit_rows(edge_costs, |i, reduced_costs| {
        let costs = &edge_costs.row(i)[i as usize + 1..];
        let lower_limits = ranges.lower[edge..]
            .iter_mut()
            .zip(costs)
            .zip(reduced_costs);
        for ((lower, cost), reduced_cost) in lower_limits {
            // An edge at 0 stays there however much its cost rises; it enters when its reduced cost
            // is negative. The ranges of basic edges are overwritten later.
            *lower = cost - reduced_cost.max(0.0);
        }
        for (j, (cost, reduced_cost)) in (i + 1..).zip(costs.iter().zip(reduced_costs)) {
            match status[edge] {
                BasisStatus::Basic => {}
                BasisStatus::Upper => {
                    // An edge at 1 stays there however much its cost falls.
                    (ranges.lower[edge], ranges.upper[edge]) =
                        (f64::NEG_INFINITY, cost - reduced_cost.min(0.0));
                    smallest.offer(NonbasicEdge {
                        margin: reduced_cost.abs(),
                        ends: [i, j],
                        at_upper: true,
                    });
                }
                BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                    // Most edges are beyond the largest margin that is kept: checked first, they
                    // need no call.
                    if reduced_cost.abs() <= smallest.max_margin {
                        smallest.offer(NonbasicEdge {
                            margin: reduced_cost.abs(),
                            ends: [i, j],
                            at_upper: false,
                        });
                    }
                }
            }
            edge += 1;
        }
    });
    smallest.sort(edge_costs.nodes());
    (ranges, smallest)
}

/// Collects the nonbasic edges of smallest margin.
struct SmallestMargins {
    count: usize,
    list: Vec<NonbasicEdge>,
    /// The list contains all edges of smaller margin.
    max_margin: f64,
    /// Indices in the list of the edges at each node, one node after the other, and the end of each
    /// node's indices.
    incident: Vec<u32>,
    incident_ends: Vec<usize>,
}

impl SmallestMargins {
    fn new(count: usize) -> Self {
        Self {
            count,
            list: Vec::with_capacity(SELECTION_BUFFER_FACTOR * count),
            max_margin: f64::INFINITY,
            incident: Vec::new(),
            incident_ends: Vec::new(),
        }
    }

    fn offer(&mut self, edge: NonbasicEdge) {
        self.list.push(edge);
        // Reducing the list only when it is full makes the selection linear in the number of
        // offers.
        if self.list.len() == SELECTION_BUFFER_FACTOR * self.count {
            self.keep_smallest();
        }
    }

    /// Reduces the list to the edges of smallest margin.
    fn keep_smallest(&mut self) {
        // A list that is not too long lacks no edge, so the largest margin stays infinite.
        if self.list.len() > self.count {
            let (_, last, _) = self
                .list
                .select_nth_unstable_by(self.count - 1, NonbasicEdge::order);
            self.max_margin = last.margin;
            self.list.truncate(self.count);
        }
    }

    /// Sorts the list and indexes it by node.
    fn sort(&mut self, nodes: usize) {
        self.keep_smallest();
        self.list.sort_unstable_by(NonbasicEdge::order);
        let mut incident = vec![Vec::new(); nodes];
        for (index, edge) in (0..).zip(&self.list) {
            for node in edge.ends {
                incident[node as usize].push(index);
            }
        }
        for indices in incident {
            self.incident.extend(indices);
            self.incident_ends.push(self.incident.len());
        }
    }

    /// The listed edges at a node, smallest margin first.
    fn at(&self, node: u32) -> impl Iterator<Item = &NonbasicEdge> {
        let node = node as usize;
        let start = match node {
            0 => 0,
            _ => self.incident_ends[node - 1],
        };
        self.incident[start..self.incident_ends[node]]
            .iter()
            .map(|index| &self.list[*index as usize])
    }
}

/// A nonbasic edge.
#[derive(Debug, Clone, Copy)]
struct NonbasicEdge {
    /// Absolute reduced cost.
    margin: f64,
    ends: EdgeEnds,
    /// Whether it is at its upper bound.
    at_upper: bool,
}

impl NonbasicEdge {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.margin
            // Ties are broken by the ends, so the list does not depend on the order of the offers.
            .total_cmp(&other.margin)
            .then(self.ends.cmp(&other.ends))
    }
}

/// Inputs of the ratio tests.
struct RatioTestInput<'a> {
    edge_costs: &'a EdgeCostMatrix,
    status: &'a [BasisStatus],
    smallest: SmallestMargins,
    /// Rows and absolute duals of binding cuts.
    binding_cuts: Vec<(usize, f64)>,
    set_index: NodeSetIndex,
    /// The sets of binding cuts with their rows.
    sets: Vec<(usize, Box<[u32]>)>,
    /// Bound on the part of an entry of the current row that is due to the cuts at each node.
    cut_entry_bound: Vec<f64>,
}

impl<'a> RatioTestInput<'a> {
    fn new(
        root: &RootRelaxation,
        edge_costs: &'a EdgeCostMatrix,
        status: &'a [BasisStatus],
        rows: &[BasisStatus],
        smallest: SmallestMargins,
    ) -> Self {
        let (master, nodes) = (&root.master, edge_costs.nodes());
        let is_binding = |row: &usize| rows[nodes + row] != BasisStatus::Basic;
        let mut binding_cuts = Vec::new();
        for (row, dual) in master.cut_duals().enumerate() {
            if is_binding(&row) {
                binding_cuts.push((nodes + row, dual.min(0.0).abs()));
            }
        }
        let cuts = master.cuts().enumerate().filter(|(row, _)| is_binding(row));
        let cut_rows = cuts.map(|(row, cut)| ((nodes + row) as u32, cut));
        let mut set_index = NodeSetIndex::default();
        set_index.fill(nodes, cut_rows.clone());
        let mut sets = Vec::new();
        for (row, cut) in cut_rows {
            sets.extend(cut.sets.iter().map(|set| (row as usize, set.clone())));
        }
        Self {
            edge_costs,
            status,
            smallest,
            binding_cuts,
            set_index,
            sets,
            cut_entry_bound: Vec::new(),
        }
    }

    /// How far the cost of the basic edge with this row of the inverse may fall and rise.
    fn range(&mut self, prices: &DualPrices, row: &[f64]) -> [f64; 2] {
        let mut range = [f64::INFINITY; 2];
        for (cut, dual) in &self.binding_cuts {
            // The dual −|dual| must not become positive.
            tighten_range(&mut range, *dual, row[*cut]);
        }
        // No entry is larger than this, so an edge with a margin above range · max_entry cannot
        // shorten the range: its ratio is larger.
        let max_entry = self.max_entry(row);
        let global = self.smallest.list.iter().take(GLOBAL_RATIO_EDGES);
        if self.try_sorted(global, row, max_entry, &mut range) {
            return range;
        }
        for node in 0..self.edge_costs.nodes() as u32 {
            // An edge has a nonzero entry only if one of its ends has an entry, or is in a set of a
            // cut that has one.
            let is_in_row = row[node as usize].abs() > ZERO_TOLERANCE
                || self.cut_entry_bound[node as usize] > 0.0;
            let sorted = self.smallest.at(node);
            if is_in_row && !self.try_sorted(sorted, row, max_entry, &mut range) {
                self.try_all_at(node, prices, row, max_entry, &mut range);
            }
        }
        range
    }

    /// Ratio test over edges of increasing margin; `max_entry` is the largest entry of the row.
    /// `true` when no edge of larger margin can shorten the range.
    fn try_sorted<'b>(
        &self,
        edges: impl Iterator<Item = &'b NonbasicEdge>,
        row: &[f64],
        max_entry: f64,
        range: &mut [f64; 2],
    ) -> bool {
        for edge in edges {
            // Sorted by margin: none of the following edges can shorten the range either.
            if edge.margin > range[0].max(range[1]) * max_entry {
                return true;
            }
            let entry = self.entry(row, edge.ends);
            tighten_range(
                range,
                edge.margin,
                if edge.at_upper { -entry } else { entry },
            );
        }
        // Edges that are not listed have at least this margin.
        self.smallest.max_margin > range[0].max(range[1]) * max_entry
    }

    /// Ratio test over every edge at a node; `max_entry` is the largest entry of the row.
    fn try_all_at(
        &self,
        node: u32,
        prices: &DualPrices,
        row: &[f64],
        max_entry: f64,
        range: &mut [f64; 2],
    ) {
        let nodes = self.edge_costs.nodes();
        let node_potential = prices.potential[node as usize];
        let edges = self.edge_costs.row(node).iter().zip(&prices.potential);
        for (other, (cost, potential)) in edges.enumerate() {
            // Cuts only add to the reduced cost. The diagonal of the matrix is infinite.
            let min_margin = cost - node_potential - potential;
            // A bound on the margin that needs no visit to the cuts; it suffices for most edges.
            if min_margin > range[0].max(range[1]) * max_entry || other as u32 == node {
                continue;
            }
            let other = other as u32;
            let margin = prices.reduced_cost(*cost, node, other).abs();
            let entry = self.entry(row, [node, other]);
            match self.status[edge_index_u32(nodes, [node, other]) as usize] {
                BasisStatus::Basic => {}
                BasisStatus::Upper => tighten_range(range, margin, -entry),
                BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                    tighten_range(range, margin, entry);
                }
            }
        }
    }

    /// Entry of an edge in a row of B⁻¹A, computed from that row of B⁻¹.
    fn entry(&self, row: &[f64], [i, j]: EdgeEnds) -> f64 {
        let mut entry = row[i as usize] + row[j as usize];
        self.set_index
            .visit_cuts_with_both(i, j, |cut| entry += row[cut as usize]);
        entry
    }

    /// A bound on the absolute entries of all edges.
    fn max_entry(&mut self, row: &[f64]) -> f64 {
        self.cut_entry_bound.clear();
        self.cut_entry_bound.resize(self.edge_costs.nodes(), 0.0);
        for (cut, set) in &self.sets {
            let entry = row[*cut].abs();
            if entry > ZERO_TOLERANCE {
                for node in set {
                    self.cut_entry_bound[*node as usize] += entry;
                }
            }
        }
        let bounds = self.cut_entry_bound.iter().zip(row);
        bounds.fold(0.0, |max, (cut_bound, entry)| {
            // The entry of an edge is at most the mean of the bounds of its ends: a cut adds to it
            // only if both ends are in one of its sets.
            max.max(2.0 * entry.abs() + cut_bound)
        })
    }
}

/// Shortens a range [down, up] to keep a margin that changes by −Δ·entry nonnegative.
fn tighten_range([down, up]: &mut [f64; 2], margin: f64, entry: f64) {
    // Entries below the tolerance are rounding errors of the inverse, and their ratios would be
    // meaningless.
    if entry > ZERO_TOLERANCE {
        *up = up.min(margin / entry);
    } else if entry < -ZERO_TOLERANCE {
        *down = down.min(margin / -entry);
    }
}
