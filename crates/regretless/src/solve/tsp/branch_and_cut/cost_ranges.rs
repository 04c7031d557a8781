//! How far each cost may move while the optimal basis of a relaxation stays optimal.
//!
//! An edge out of the basis may move until its reduced cost changes sign. When the cost of an edge
//! in the basis moves by Δ, the reduced cost d of every other edge moves by −Δ·α, where α is its
//! entry in that edge's row of B⁻¹A; the range ends where the first of them, or the first dual of a
//! tight cut, changes sign. Edges that are no columns count like all others. The smallest |d| come
//! first: once |d| exceeds what any α of the row could undo within the range found so far, the rest
//! cannot matter. A row that touches many nodes soon finds that out from the smallest |d| of all;
//! one that touches few goes through the smallest at those nodes, and where they do not settle it,
//! through all edges there.

use super::cuts::NodeSetIndex;
use super::initial_tour::number;
use super::master::EdgeEnds;
use super::pricing::DualPrices;
use super::root::RootRelaxation;
use crate::solve::SolveFailure;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::highs::{BasicVariable, BasisStatus};
use crate::solve::relaxation::CostRanges;

/// Entries of a row that are smaller count as zero.
const ZERO_TOLERANCE: f64 = 1e-9;
/// Edges per node that are sorted by their reduced costs.
const SORTED_EDGES_PER_NODE: usize = 8;
/// Edges that are tried wherever they are.
const GLOBAL_RATIO_EDGES: usize = 100;

/// The ranges of all costs after [`RootRelaxation::tighten`].
pub(super) fn ranges(
    root: &mut RootRelaxation,
    distances: &DistanceMatrix,
) -> Result<CostRanges, SolveFailure> {
    let nodes = distances.nodes();
    let Some(basis) = root.master.basis() else {
        return Err(SolveFailure::Engine("the relaxation has no basis".into()));
    };
    let mut status = vec![BasisStatus::Lower; nodes * (nodes - 1) / 2];
    for (ends, column) in root.master.edges.iter().zip(&basis.columns) {
        status[number(nodes, *ends) as usize] = *column;
    }
    let (mut found, near) = outside(&root.prices, distances, &status);
    let members = root.master.basic_variables()?;
    let mut row = Vec::new();
    let mut limits = Vec::new();
    let mut search = RatioTestInput::new(root, distances, &status, &basis.rows, near);
    for (member, basic) in members.into_iter().enumerate() {
        if let BasicVariable::Column(column) = basic {
            root.master.inverse_row(member, &mut row)?;
            limits.push((column, search.range(&root.prices, &row)));
        }
    }
    for (column, [down, up]) in limits {
        let ends = root.master.edges[column];
        let (edge, cost) = (
            number(nodes, ends) as usize,
            distances.between(ends[0], ends[1]),
        );
        (found.lower[edge], found.upper[edge]) = (cost - down, cost + up);
    }
    Ok(found)
}

/// Ranges of the edges out of the basis, and those edges with the smallest absolute reduced costs.
fn outside(
    prices: &DualPrices,
    distances: &DistanceMatrix,
    status: &[BasisStatus],
) -> (CostRanges, SmallestMargins) {
    let mut found = CostRanges::unbounded(status.len());
    let mut near = SmallestMargins::new(SORTED_EDGES_PER_NODE * distances.nodes());
    // Edges come in the order of their numbers.
    let mut edge = 0;
    prices.rows(distances, |i, reduced| {
        let costs = &distances.row(i)[i as usize + 1..];
        let limits = found.lower[edge..].iter_mut().zip(costs).zip(reduced);
        limits.for_each(|((lower, cost), reduced)| *lower = cost - reduced.max(0.0));
        for (j, (cost, reduced)) in (i + 1..).zip(costs.iter().zip(reduced)) {
            match status[edge] {
                BasisStatus::Basic => {}
                BasisStatus::Upper => {
                    (found.lower[edge], found.upper[edge]) =
                        (f64::NEG_INFINITY, cost - reduced.min(0.0));
                    near.offer(NonbasicEdge {
                        margin: reduced.abs(),
                        ends: [i, j],
                        upper: true,
                    });
                }
                BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                    if reduced.abs() <= near.max {
                        near.offer(NonbasicEdge {
                            margin: reduced.abs(),
                            ends: [i, j],
                            upper: false,
                        });
                    }
                }
            }
            edge += 1;
        }
    });
    near.sort(distances.nodes());
    (found, near)
}

/// Collects the edges with the smallest margins.
struct SmallestMargins {
    count: usize,
    list: Vec<NonbasicEdge>,
    /// Edges with smaller margins are all in the list.
    max: f64,
    /// Places in the list of the edges at each node, one node after the other, and where each node
    /// ends.
    at: Vec<u32>,
    ends: Vec<usize>,
}

impl SmallestMargins {
    fn new(count: usize) -> Self {
        let list = Vec::with_capacity(4 * count);
        Self {
            count,
            list,
            max: f64::INFINITY,
            at: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn offer(&mut self, near: NonbasicEdge) {
        self.list.push(near);
        if self.list.len() == 4 * self.count {
            self.keep_smallest();
        }
    }

    /// Keeps as many as are wanted.
    fn keep_smallest(&mut self) {
        if self.list.len() > self.count {
            let (_, last, _) = self
                .list
                .select_nth_unstable_by(self.count - 1, NonbasicEdge::order);
            self.max = last.margin;
            self.list.truncate(self.count);
        }
    }

    fn sort(&mut self, nodes: usize) {
        self.keep_smallest();
        self.list.sort_unstable_by(NonbasicEdge::order);
        let mut places = vec![Vec::new(); nodes];
        for (place, near) in (0..).zip(&self.list) {
            near.ends
                .iter()
                .for_each(|node| places[*node as usize].push(place));
        }
        for places in places {
            self.at.extend(places);
            self.ends.push(self.at.len());
        }
    }

    /// The listed edges at a node, smallest margin first.
    fn at(&self, node: u32) -> impl Iterator<Item = &NonbasicEdge> {
        let start = node
            .checked_sub(1)
            .map_or(0, |before| self.ends[before as usize]);
        self.at[start..self.ends[node as usize]]
            .iter()
            .map(|place| &self.list[*place as usize])
    }
}

/// An edge out of the basis.
#[derive(Debug, Clone, Copy)]
struct NonbasicEdge {
    /// Absolute reduced cost.
    margin: f64,
    ends: EdgeEnds,
    /// Whether its value is 1.
    upper: bool,
}

impl NonbasicEdge {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.margin
            .total_cmp(&other.margin)
            .then(self.ends.cmp(&other.ends))
    }
}

/// What the ratio tests look at.
struct RatioTestInput<'a> {
    distances: &'a DistanceMatrix,
    status: &'a [BasisStatus],
    near: SmallestMargins,
    /// Tight cuts: their rows and absolute duals.
    tight: Vec<(usize, f64)>,
    nesting: NodeSetIndex,
    /// The sets of tight cuts with their rows.
    sets: Vec<(usize, Box<[u32]>)>,
    /// How much the cuts around a node can add to an entry.
    cap: Vec<f64>,
}

impl<'a> RatioTestInput<'a> {
    fn new(
        root: &RootRelaxation,
        distances: &'a DistanceMatrix,
        status: &'a [BasisStatus],
        rows: &[BasisStatus],
        near: SmallestMargins,
    ) -> Self {
        let (master, nodes) = (&root.master, distances.nodes());
        let is_tight = |row: &usize| rows[nodes + row] != BasisStatus::Basic;
        let duals = master
            .cut_duals()
            .enumerate()
            .filter(|(row, _)| is_tight(row));
        let tight = duals
            .map(|(row, dual)| (nodes + row, dual.min(0.0).abs()))
            .collect();
        let cuts = master.cuts().enumerate().filter(|(row, _)| is_tight(row));
        let mut nesting = NodeSetIndex::default();
        nesting.fill(
            nodes,
            cuts.clone().map(|(row, cut)| ((nodes + row) as u32, cut)),
        );
        let sets =
            cuts.flat_map(|(row, cut)| cut.sets.iter().map(move |set| (nodes + row, set.clone())));
        Self {
            distances,
            status,
            near,
            tight,
            nesting,
            sets: sets.collect(),
            cap: Vec::new(),
        }
    }

    /// How far the cost behind a row of the inverse may fall and rise.
    fn range(&mut self, prices: &DualPrices, row: &[f64]) -> [f64; 2] {
        let mut limit = [f64::INFINITY; 2];
        for (cut, dual) in &self.tight {
            // The dual −|dual| must not become positive.
            tighten_range(&mut limit, *dual, row[*cut]);
        }
        let max = self.greatest_entry(row);
        if self.settles(
            self.near.list.iter().take(GLOBAL_RATIO_EDGES),
            row,
            (max, &mut limit),
        ) {
            return limit;
        }
        for node in 0..self.distances.nodes() as u32 {
            let touched =
                row[node as usize].abs() > ZERO_TOLERANCE || self.cap[node as usize] > 0.0;
            if touched && !self.settles(self.near.at(node), row, (max, &mut limit)) {
                self.try_all_at(node, prices, row, (max, &mut limit));
            }
        }
        limit
    }

    /// Tries edges of increasing margins, given the greatest entry and the limits so far; whether
    /// none behind them matters.
    fn settles<'b>(
        &self,
        edges: impl Iterator<Item = &'b NonbasicEdge>,
        row: &[f64],
        (max, limit): (f64, &mut [f64; 2]),
    ) -> bool {
        for near in edges {
            if near.margin > limit[0].max(limit[1]) * max {
                return true;
            }
            let entry = self.entry(row, near.ends);
            tighten_range(limit, near.margin, if near.upper { -entry } else { entry });
        }
        self.near.max > limit[0].max(limit[1]) * max
    }

    /// Tries every edge at a node, given the greatest entry and the limits so far.
    fn try_all_at(
        &self,
        node: u32,
        prices: &DualPrices,
        row: &[f64],
        (max, limit): (f64, &mut [f64; 2]),
    ) {
        let nodes = self.distances.nodes();
        let own = prices.potential[node as usize];
        for (other, (cost, potential)) in self
            .distances
            .row(node)
            .iter()
            .zip(&prices.potential)
            .enumerate()
        {
            // Cuts only add to this; a node is infinitely far from itself.
            if cost - own - potential > limit[0].max(limit[1]) * max || other as u32 == node {
                continue;
            }
            let other = other as u32;
            let margin = prices.reduced(*cost, node, other).abs();
            let entry = self.entry(row, [node, other]);
            match self.status[number(nodes, [node, other]) as usize] {
                BasisStatus::Basic => {}
                BasisStatus::Upper => tighten_range(limit, margin, -entry),
                BasisStatus::Lower | BasisStatus::Zero | BasisStatus::Nonbasic => {
                    tighten_range(limit, margin, entry)
                }
            }
        }
    }

    /// Entry of a row of B⁻¹A for an edge, given that row of B⁻¹.
    fn entry(&self, row: &[f64], [i, j]: EdgeEnds) -> f64 {
        let mut entry = row[i as usize] + row[j as usize];
        self.nesting
            .around_both(i, j, |cut| entry += row[cut as usize]);
        entry
    }

    /// A bound on the absolute entries of all edges.
    fn greatest_entry(&mut self, row: &[f64]) -> f64 {
        self.cap.clear();
        self.cap.resize(self.distances.nodes(), 0.0);
        for (cut, set) in &self.sets {
            let entry = row[*cut].abs();
            if entry > ZERO_TOLERANCE {
                set.iter()
                    .for_each(|node| self.cap[*node as usize] += entry);
            }
        }
        let caps = self
            .cap
            .iter()
            .zip(row)
            .map(|(sets, own)| 2.0 * own.abs() + sets);
        caps.fold(0.0, f64::max)
    }
}

/// Shortens the limits so that a margin that moves by −Δ·entry stays non-negative.
fn tighten_range([down, up]: &mut [f64; 2], margin: f64, entry: f64) {
    if entry > ZERO_TOLERANCE {
        *up = up.min(margin / entry);
    } else if entry < -ZERO_TOLERANCE {
        *down = down.min(margin / -entry);
    }
}
