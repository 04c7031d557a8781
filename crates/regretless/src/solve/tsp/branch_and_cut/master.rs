//! The linear relaxation: a sparse set of edges as columns, one row per node, cuts as further rows.
//!
//! Costs inside are shifted by node multipliers and scaled: as every node has degree 2 this moves
//! the objective by a constant and leaves the optimal points alone, while the numbers become small
//! and mostly positive whatever the costs were. What comes out is in the units of the costs again.
//!
//! Rows of cuts come and go as in any [`Sheet`].

use super::cuts::{NodeSetIndex, TspCut};
use super::pricing::DualPrices;
use crate::solve::SolveFailure;
use crate::solve::complete_graph::DistanceMatrix;
pub(super) use crate::solve::cutting_plane::{BasisSnapshot, EdgeEnds};
use crate::solve::cutting_plane::{LpRelaxation, retain_unmarked, scaling_factor};
use crate::solve::highs::{
    BasicVariable, Basis, BasisStatus, Lp, LpColumns, LpRows, LpStatus, SimplexMethod,
};

/// Solves that a row may be slack before it is dropped.
const MAX_SLACK_SOLVES: u32 = 6;

/// Shift and scale of costs.
#[derive(Debug, Clone, Default)]
pub(super) struct CostScaling {
    pub(super) multipliers: Vec<f64>,
    /// Costs times this are what the linear relaxation sees; a power of two.
    pub(super) factor: f64,
}

impl CostScaling {
    /// Units in which these edges have costs of moderate size.
    pub(super) fn fitting(
        distances: &DistanceMatrix,
        multipliers: &[f64],
        edges: &[EdgeEnds],
    ) -> Self {
        let mut units = Self {
            multipliers: multipliers.to_vec(),
            factor: 1.0,
        };
        units.factor = scaling_factor(
            edges.iter().map(|ends| units.scale_cost(distances, *ends)),
            2.0,
        );
        units
    }

    fn scale_cost(&self, distances: &DistanceMatrix, [i, j]: EdgeEnds) -> f64 {
        self.factor
            * (distances.between(i, j)
                - self.multipliers[i as usize]
                - self.multipliers[j as usize])
    }

    /// What a total inside is in the costs' own units.
    fn unscale_total(&self, total: f64) -> f64 {
        total / self.factor + 2.0 * self.multipliers.iter().sum::<f64>()
    }

    fn scale_total(&self, total: f64) -> f64 {
        (total - 2.0 * self.multipliers.iter().sum::<f64>()) * self.factor
    }
}

/// The linear relaxation and its solver.
#[derive(Debug)]
pub(super) struct TspMasterLp {
    nodes: usize,
    relaxation: LpRelaxation,
    units: CostScaling,
    pub(super) edges: Vec<EdgeEnds>,
    /// Columns at each node.
    at: Vec<Vec<u32>>,
    pool: Vec<TspCut>,
    counts: Vec<u32>,
    nesting: NodeSetIndex,
}

impl TspMasterLp {
    /// The solver, to be used again.
    pub(super) fn into_lp(self) -> Lp {
        self.relaxation.lp
    }

    /// Degree rows and no edges yet, in a solver that may have been used before.
    pub(super) fn within(lp: Lp, nodes: usize, units: CostScaling) -> Result<Self, SolveFailure> {
        let mut rows = LpRows::default();
        (0..nodes).for_each(|_| rows.push([2.0, 2.0], []));
        Ok(Self {
            nodes,
            relaxation: LpRelaxation::within(lp, &rows, MAX_SLACK_SOLVES)?,
            units,
            edges: Vec::new(),
            at: vec![Vec::new(); nodes],
            pool: Vec::new(),
            counts: Vec::new(),
            nesting: NodeSetIndex::default(),
        })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Value of each edge at the point that the last solve ended at.
    pub(super) fn values(&self) -> &[f64] {
        &self.relaxation.point.value
    }

    /// Costs times this are what the linear relaxation sees.
    pub(super) fn factor(&self) -> f64 {
        self.units.factor
    }

    /// Adds edges as columns.
    pub(super) fn add_edges(
        &mut self,
        distances: &DistanceMatrix,
        edges: &[EdgeEnds],
    ) -> Result<(), SolveFailure> {
        let places = self.relaxation.cut_indices().iter().enumerate();
        let rows = places.map(|(row, place)| (row as u32, &self.pool[*place as usize]));
        self.nesting.fill(self.nodes, rows);
        let mut columns = LpColumns::default();
        let mut inside: Vec<(usize, f64)> = Vec::new();
        for ends in edges {
            inside.clear();
            inside.extend(ends.iter().map(|node| (*node as usize, 1.0)));
            self.nesting.around_both(ends[0], ends[1], |row| {
                let row = self.nodes + row as usize;
                match inside.last_mut() {
                    Some(last) if last.0 == row => last.1 += 1.0,
                    _ => inside.push((row, 1.0)),
                }
            });
            columns.push(
                self.units.scale_cost(distances, *ends),
                [0.0, 1.0],
                inside.iter().copied(),
            );
            ends.iter()
                .for_each(|node| self.at[*node as usize].push(self.edges.len() as u32));
            self.edges.push(*ends);
        }
        self.relaxation
            .add_columns(&columns, edges.iter().map(|_| [0.0, 1.0]))
    }

    /// Adds cuts to the pool and as rows; rows that have been slack for long go first.
    pub(super) fn add_cuts(&mut self, cuts: Vec<TspCut>) -> Result<(), SolveFailure> {
        self.relaxation.drop_slack_rows(|_| false)?;
        let places = self.relaxation.reserve_cuts(cuts.len());
        self.pool.extend(cuts);
        self.add_rows(&places)
    }

    fn add_rows(&mut self, places: &[u32]) -> Result<(), SolveFailure> {
        let mut rows = LpRows::default();
        self.counts.resize(self.edges.len(), 0);
        for place in places {
            let entries = self.entries(*place);
            let max = f64::from(self.pool[*place as usize].max);
            rows.push([f64::NEG_INFINITY, max], entries);
        }
        self.relaxation.add_rows(places, &rows)
    }

    /// Coefficients of a cut: how many of its sets hold each edge.
    fn entries(&mut self, cut: u32) -> Vec<(usize, f64)> {
        let mut touched = Vec::new();
        for set in &self.pool[cut as usize].sets {
            for node in set {
                for column in &self.at[*node as usize] {
                    let [low, high] = self.edges[*column as usize];
                    if low == *node && set.binary_search(&high).is_ok() {
                        if self.counts[*column as usize] == 0 {
                            touched.push(*column);
                        }
                        self.counts[*column as usize] += 1;
                    }
                }
            }
        }
        touched.sort_unstable();
        touched
            .iter()
            .map(|c| {
                (
                    *c as usize,
                    f64::from(std::mem::take(&mut self.counts[*c as usize])),
                )
            })
            .collect()
    }

    /// Drops the marked columns but those in the basis.
    pub(super) fn drop_edges(&mut self, delete: Vec<bool>) -> Result<(), SolveFailure> {
        let gone = self.relaxation.drop_columns(delete)?;
        retain_unmarked(&mut self.edges, &gone);
        self.at.iter_mut().for_each(Vec::clear);
        for (column, ends) in self.edges.iter().enumerate() {
            ends.iter()
                .for_each(|node| self.at[*node as usize].push(column as u32));
        }
        self.counts.truncate(self.edges.len());
        Ok(())
    }

    /// Limits an edge to these values.
    pub(super) fn set_bounds(
        &mut self,
        column: usize,
        bounds: [f64; 2],
    ) -> Result<(), SolveFailure> {
        self.relaxation.set_bounds(column, bounds)
    }

    /// Least and greatest value of an edge.
    pub(super) fn bounds(&self, column: usize) -> [f64; 2] {
        self.relaxation.bounds()[column]
    }

    /// Lets solves stop once the objective is above this.
    pub(super) fn set_objective_bound(&mut self, total: f64) -> Result<(), SolveFailure> {
        self.relaxation
            .lp
            .set_objective_bound(if total.is_finite() {
                self.units.scale_total(total)
            } else {
                total
            })
    }

    /// Solves and reads the point.
    pub(super) fn solve(&mut self, method: SimplexMethod) -> Result<LpStatus, SolveFailure> {
        self.relaxation.solve(method)
    }

    /// Objective of the last solve.
    pub(super) fn objective(&self) -> f64 {
        self.units.unscale_total(self.relaxation.lp.objective())
    }

    /// Dual values of the last solve as prices.
    pub(super) fn read_prices(&self, prices: &mut DualPrices) {
        let (factor, dual) = (self.units.factor, &self.relaxation.point.dual);
        let potential = self
            .units
            .multipliers
            .iter()
            .zip(dual)
            .map(|(multiplier, dual)| multiplier + dual / factor);
        prices.load(
            potential,
            dual[self.nodes..]
                .iter()
                .zip(self.cuts())
                .map(|(dual, cut)| (-dual / factor, cut)),
        );
    }

    /// What prices prove for the edges in here, within their present bounds.
    pub(super) fn bound(&self, distances: &DistanceMatrix, prices: &DualPrices) -> f64 {
        let paid =
            self.edges
                .iter()
                .zip(self.relaxation.bounds())
                .map(|([i, j], [lower, upper])| {
                    let reduced = prices.reduced(distances.between(*i, *j), *i, *j);
                    reduced * if reduced < 0.0 { upper } else { lower }
                });
        prices.constant + paid.sum::<f64>()
    }

    /// The present basis.
    pub(super) fn snapshot(&self) -> Option<BasisSnapshot> {
        self.relaxation.snapshot()
    }

    /// Takes up a basis again; cuts that were tight in it return.
    pub(super) fn restore(&mut self, snapshot: &BasisSnapshot) -> Result<(), SolveFailure> {
        let missing = self.relaxation.missing(snapshot);
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        self.relaxation.restore(snapshot)
    }

    /// Starts from a basis of these very columns and rows.
    pub(super) fn set_basis(&mut self, basis: &Basis) -> Result<(), SolveFailure> {
        self.relaxation.lp.set_basis(basis)
    }

    /// Starts from a tour: its edges, in order, make a basis; an odd ring does as it is, an even
    /// one gives one edge for a chord that closes an odd ring.
    pub(super) fn start_from_tour(&mut self, order: &[u32]) -> Result<(), SolveFailure> {
        let mut place = vec![0_u32; self.nodes];
        order
            .iter()
            .enumerate()
            .for_each(|(at, node)| place[*node as usize] = at as u32);
        let on_tour = |ends: &EdgeEnds| {
            let [low, high] = ends.map(|node| place[node as usize]);
            low.abs_diff(high) == 1 || low.abs_diff(high) as usize == self.nodes - 1
        };
        let mut columns: Vec<BasisStatus> = self
            .edges
            .iter()
            .map(|ends| {
                if on_tour(ends) {
                    BasisStatus::Basic
                } else {
                    BasisStatus::Lower
                }
            })
            .collect();
        if self.nodes.is_multiple_of(2) {
            let even = |ends: &EdgeEnds| {
                place[ends[0] as usize]
                    .abs_diff(place[ends[1] as usize])
                    .is_multiple_of(2)
            };
            let chord = self.edges.iter().position(even);
            let (Some(chord), Some(left)) =
                (chord, self.edges.iter().position(|e| closes(e, order)))
            else {
                return Ok(());
            };
            columns[chord] = BasisStatus::Basic;
            columns[left] = BasisStatus::Upper;
        }
        self.relaxation.lp.set_basis(&Basis {
            columns,
            rows: vec![BasisStatus::Lower; self.nodes],
        })
    }

    /// Where columns and rows stand.
    pub(super) fn basis(&self) -> Option<Basis> {
        self.relaxation.lp.basis()
    }

    /// Members of the basis.
    pub(super) fn basic_variables(&mut self) -> Result<Vec<BasicVariable>, SolveFailure> {
        self.relaxation.lp.basic_variables()
    }

    /// What the duals gain when a member of the basis becomes dearer by one.
    pub(super) fn inverse_row(
        &mut self,
        member: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), SolveFailure> {
        self.relaxation.lp.inverse_row(member, out)
    }

    /// The cuts that are rows, in their order.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &TspCut> + Clone {
        self.relaxation
            .cut_indices()
            .iter()
            .map(|place| &self.pool[*place as usize])
    }

    /// Dual values of cuts in the units of costs; never positive at an optimum.
    pub(super) fn cut_duals(&self) -> impl Iterator<Item = f64> + '_ {
        self.relaxation.point.dual[self.nodes..]
            .iter()
            .map(|dual| dual / self.units.factor)
    }
}

fn closes(ends: &EdgeEnds, order: &[u32]) -> bool {
    order.first().is_some_and(|first| ends.contains(first))
        && order.last().is_some_and(|last| ends.contains(last))
}
