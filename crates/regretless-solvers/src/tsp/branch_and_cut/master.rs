//! The master LP: some edges as columns, one degree row per node, and cut rows.
//!
//! Costs inside the LP are shifted by node multipliers and scaled. As every node has degree 2, the
//! shift changes the objective by a constant and keeps the optimal points, while the costs become
//! small and mostly positive. Results are returned in the units of the costs.
//!
//! Cut rows are added and deleted as in any [`LpRelaxation`].

use super::cuts::{NodeSetIndex, TspCut};
use super::pricing::DualPrices;
use crate::SolveFailure;
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds};
use crate::cutting_plane::{BasisSnapshot, LpRelaxation, retain_unmarked, scaling_factor};
use crate::highs::{
    BasicVariable, Basis, BasisStatus, Lp, LpColumns, LpRows, LpStatus, SimplexMethod,
};

/// Consecutive solves that a cut row may be slack before it is deleted. Fewer rows make the LP
/// faster, but a cut deleted too early must be separated again.
const MAX_SLACK_SOLVES: u32 = 6;
/// Costs are scaled to a mean of about two to the power of this: the range that the absolute
/// tolerances of the simplex solver are made for.
const MEAN_COST_EXPONENT: f64 = 2.0;

/// Shift and scale of costs.
#[derive(Debug, Clone, Default)]
pub(super) struct CostScaling {
    pub(super) multipliers: Vec<f64>,
    /// Factor from shifted costs to LP costs; a power of two.
    pub(super) factor: f64,
}

impl CostScaling {
    /// A scaling under which these edges have costs of moderate size.
    pub(super) fn new(
        edge_costs: &EdgeCostMatrix,
        multipliers: &[f64],
        edges: &[EdgeEnds],
    ) -> Self {
        let mut scaling = Self {
            multipliers: multipliers.to_vec(),
            factor: 1.0,
        };
        // Costs shifted by the multipliers are near the LP's reduced costs, which are what the
        // tolerances of the simplex solver apply to.
        let shifted = edges
            .iter()
            .map(|ends| scaling.scale_cost(edge_costs, *ends));
        scaling.factor = scaling_factor(shifted, MEAN_COST_EXPONENT);
        scaling
    }

    /// LP cost of an edge.
    fn scale_cost(&self, edge_costs: &EdgeCostMatrix, [i, j]: EdgeEnds) -> f64 {
        // A power of two changes the exponent only: scaling and unscaling round nothing.
        self.factor
            * (edge_costs.between(i, j)
                - self.multipliers[i as usize]
                - self.multipliers[j as usize])
    }

    /// Converts an LP objective to the cost of a tour.
    fn unscale_total(&self, total: f64) -> f64 {
        // Every tour has two edges at each node, so the shift adds a constant to all tours.
        total / self.factor + 2.0 * self.multipliers.iter().sum::<f64>()
    }

    /// Converts the cost of a tour to an LP objective.
    fn scale_total(&self, total: f64) -> f64 {
        (total - 2.0 * self.multipliers.iter().sum::<f64>()) * self.factor
    }
}

/// The master LP and its solver.
#[derive(Debug)]
pub(super) struct TspMasterLp {
    nodes: usize,
    pub(super) relaxation: LpRelaxation,
    scaling: CostScaling,
    /// The edge of each column.
    pub(super) edges: Vec<EdgeEnds>,
    /// Columns at each node.
    incident: Vec<Vec<u32>>,
    cut_pool: Vec<TspCut>,
    /// Buffer: coefficient of each column in a cut.
    counts: Vec<u32>,
    set_index: NodeSetIndex,
}

impl TspMasterLp {
    /// The LP solver, to be reused.
    pub(super) fn into_lp(self) -> Lp {
        self.relaxation.lp
    }

    /// Degree rows and no columns, in an LP solver that is cleared first.
    pub(super) fn with_solver(
        lp: Lp,
        nodes: usize,
        scaling: CostScaling,
    ) -> Result<Self, SolveFailure> {
        let mut rows = LpRows::default();
        for _ in 0..nodes {
            rows.push([2.0, 2.0], []);
        }
        Ok(Self {
            nodes,
            relaxation: LpRelaxation::with_solver(lp, &rows, MAX_SLACK_SOLVES)?,
            scaling,
            edges: Vec::new(),
            incident: vec![Vec::new(); nodes],
            cut_pool: Vec::new(),
            counts: Vec::new(),
            set_index: NodeSetIndex::default(),
        })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Value of each column at the point of the last solve.
    pub(super) fn values(&self) -> &[f64] {
        &self.relaxation.point.value
    }

    /// Factor from shifted costs to LP costs.
    pub(super) fn factor(&self) -> f64 {
        self.scaling.factor
    }

    /// Adds edges as columns.
    pub(super) fn add_edges(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        edges: &[EdgeEnds],
    ) -> Result<(), SolveFailure> {
        // Rows of cuts get entries of the new columns, or else the cuts would not hold for them.
        let cuts = self.relaxation.cut_indices().iter();
        let rows = (0..).zip(cuts.map(|cut| &self.cut_pool[*cut as usize]));
        self.set_index.fill(self.nodes, rows);
        let mut columns = LpColumns::default();
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for ends in edges {
            entries.clear();
            entries.extend(ends.iter().map(|node| (*node as usize, 1.0)));
            // Sets of the same cut are consecutive.
            self.set_index
                .visit_cuts_with_both(ends[0], ends[1], |row| {
                    let row = self.nodes + row as usize;
                    match entries.last_mut() {
                        Some(last) if last.0 == row => last.1 += 1.0,
                        Some(_) | None => entries.push((row, 1.0)),
                    }
                });
            let cost = self.scaling.scale_cost(edge_costs, *ends);
            columns.push(cost, [0.0, 1.0], entries.iter().copied());
            for node in ends {
                self.incident[*node as usize].push(self.edges.len() as u32);
            }
            self.edges.push(*ends);
        }
        self.relaxation
            .add_columns(&columns, edges.iter().map(|_| [0.0, 1.0]))
    }

    /// Adds cuts to the pool and as rows, after deleting rows that have been slack for many solves.
    pub(super) fn add_cuts(&mut self, cuts: Vec<TspCut>) -> Result<(), SolveFailure> {
        // Before new rows are added, so their indices are at the end.
        self.relaxation.delete_old_rows(|_| false)?;
        let cut_indices = self.relaxation.reserve_cuts(cuts.len());
        self.cut_pool.extend(cuts);
        self.add_rows(&cut_indices)
    }

    /// Adds the rows of these cuts of the pool.
    fn add_rows(&mut self, cut_indices: &[u32]) -> Result<(), SolveFailure> {
        let mut rows = LpRows::default();
        self.counts.resize(self.edges.len(), 0);
        for cut in cut_indices {
            let entries = self.entries(*cut);
            let max = f64::from(self.cut_pool[*cut as usize].max);
            rows.push([f64::NEG_INFINITY, max], entries);
        }
        self.relaxation.add_rows(cut_indices, &rows)
    }

    /// Coefficients of a cut: the number of its sets that contain each edge.
    fn entries(&mut self, cut: u32) -> Vec<(usize, f64)> {
        let mut touched = Vec::new();
        for set in &self.cut_pool[cut as usize].sets {
            for node in set {
                for column in &self.incident[*node as usize] {
                    let [low, high] = self.edges[*column as usize];
                    // An edge is met at both of its ends; the smaller one counts it.
                    if low == *node && set.binary_search(&high).is_ok() {
                        // Columns whose count is not 0 are remembered, so resetting takes time for
                        // these only.
                        if self.counts[*column as usize] == 0 {
                            touched.push(*column);
                        }
                        self.counts[*column as usize] += 1;
                    }
                }
            }
        }
        // The LP solver takes entries in any order; sorted ones make the matrix, and its solution
        // path, independent of the order of the sets.
        touched.sort_unstable();
        let mut entries = Vec::with_capacity(touched.len());
        for column in touched {
            let count = std::mem::take(&mut self.counts[column as usize]);
            entries.push((column as usize, f64::from(count)));
        }
        entries
    }

    /// Deletes the marked columns except basic ones.
    pub(super) fn drop_edges(&mut self, delete: Vec<bool>) -> Result<(), SolveFailure> {
        let deleted = self.relaxation.drop_columns(delete)?;
        retain_unmarked(&mut self.edges, &deleted);
        self.incident.iter_mut().for_each(Vec::clear);
        for (column, ends) in self.edges.iter().enumerate() {
            for node in ends {
                self.incident[*node as usize].push(column as u32);
            }
        }
        self.counts.truncate(self.edges.len());
        Ok(())
    }

    /// Allows solves to stop once the objective is above this cost.
    pub(super) fn set_objective_bound(&mut self, total: f64) -> Result<(), SolveFailure> {
        let bound = if total.is_finite() {
            self.scaling.scale_total(total)
        } else {
            total
        };
        self.relaxation.lp.set_objective_bound(bound)
    }

    /// Solves and reads the primal and dual solution.
    pub(super) fn solve(&mut self, method: SimplexMethod) -> Result<LpStatus, SolveFailure> {
        self.relaxation.solve(method)
    }

    /// Objective of the last solve, in the units of the costs.
    pub(super) fn objective(&self) -> f64 {
        self.scaling.unscale_total(self.relaxation.lp.objective())
    }

    /// Loads the dual values of the last solve into `prices`.
    pub(super) fn read_prices(&self, prices: &mut DualPrices) {
        let (factor, dual) = (self.scaling.factor, &self.relaxation.point.dual);
        let degree_rows = self.scaling.multipliers.iter().zip(dual);
        // The LP's duals belong to costs that are shifted by the multipliers.
        let potential = degree_rows.map(|(multiplier, dual)| multiplier + dual / factor);
        // Cut rows are upper bounds, with nonpositive duals in a minimization: weights are their
        // negatives.
        let cut_rows = dual[self.nodes..].iter().zip(self.cuts());
        prices.load(potential, cut_rows.map(|(dual, cut)| (-dual / factor, cut)));
    }

    /// The lower bound that `prices` prove for the current columns within their current bounds.
    pub(super) fn bound(&self, edge_costs: &EdgeCostMatrix, prices: &DualPrices) -> f64 {
        let columns = self.edges.iter().zip(self.relaxation.bounds());
        // By weak duality each column contributes at the bound that minimizes its term: valid for
        // any prices, also those of a solve that stopped early.
        let terms = columns.map(|([i, j], [lower, upper])| {
            let reduced_cost = prices.reduced_cost(edge_costs.between(*i, *j), *i, *j);
            reduced_cost * if reduced_cost < 0.0 { upper } else { lower }
        });
        prices.constant + terms.sum::<f64>()
    }

    /// Restores a basis; its binding cuts become rows again.
    pub(super) fn restore(&mut self, snapshot: &BasisSnapshot) -> Result<(), SolveFailure> {
        // A snapshot refers to cuts by pool index, since rows may have been deleted meanwhile.
        let missing = self.relaxation.missing_cuts(snapshot);
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        self.relaxation.restore(snapshot)
    }

    /// Sets the basis of the current columns and rows.
    pub(super) fn set_basis(&mut self, basis: &Basis) -> Result<(), SolveFailure> {
        self.relaxation.lp.set_basis(basis)
    }

    /// Sets a basis whose point is a tour. The edges of a tour of odd length are a basis. In a tour
    /// of even length, one edge is replaced by a chord that closes an odd cycle, and becomes
    /// nonbasic at its upper bound.
    pub(super) fn start_from_tour(&mut self, order: &[u32]) -> Result<(), SolveFailure> {
        let mut position = vec![0_u32; self.nodes];
        for (index, node) in order.iter().enumerate() {
            position[*node as usize] = index as u32;
        }
        // Two nodes of the tour are joined by an odd cycle with the path between them if their
        // distance is even.
        let distance = |ends: &EdgeEnds| {
            let [first, second] = ends.map(|node| position[node as usize]);
            first.abs_diff(second) as usize
        };
        let mut columns = Vec::with_capacity(self.edges.len());
        for ends in &self.edges {
            // The closing edge has the distance n − 1.
            let is_on_tour = distance(ends) == 1 || distance(ends) == self.nodes - 1;
            columns.push(if is_on_tour {
                BasisStatus::Basic
            } else {
                BasisStatus::Lower
            });
        }
        // An even cycle is bipartite, so its edges are linearly dependent in the degree rows.
        if self.nodes.is_multiple_of(2) {
            let mut edges = self.edges.iter();
            let chord = edges.position(|ends| distance(ends).is_multiple_of(2));
            let closing = self.edges.iter().position(|ends| closes(ends, order));
            let (Some(chord), Some(closing)) = (chord, closing) else {
                // Without a chord the solver starts from its own basis, which is slower but
                // correct.
                return Ok(());
            };
            columns[chord] = BasisStatus::Basic;
            columns[closing] = BasisStatus::Upper;
        }
        self.relaxation.lp.set_basis(&Basis {
            columns,
            rows: vec![BasisStatus::Lower; self.nodes],
        })
    }

    /// The current basis.
    pub(super) fn basis(&self) -> Option<Basis> {
        self.relaxation.lp.basis()
    }

    /// The basic variable of each position of the basis.
    pub(super) fn basic_variables(&mut self) -> Result<Vec<BasicVariable>, SolveFailure> {
        self.relaxation.lp.basic_variables()
    }

    /// The row of B⁻¹ of a position of the basis: the change of the duals per unit of cost of its
    /// basic variable.
    pub(super) fn inverse_row(
        &mut self,
        position: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), SolveFailure> {
        self.relaxation.lp.inverse_row(position, out)
    }

    /// The cuts that have rows, in row order.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &TspCut> + Clone {
        self.relaxation
            .cut_indices()
            .iter()
            .map(|cut| &self.cut_pool[*cut as usize])
    }

    /// Dual values of the cut rows in the units of the costs; never positive at an optimum.
    pub(super) fn cut_duals(&self) -> impl Iterator<Item = f64> + '_ {
        self.relaxation.point.dual[self.nodes..]
            .iter()
            .map(|dual| dual / self.scaling.factor)
    }
}

/// Whether an edge joins the last node of a tour to the first.
fn closes(ends: &EdgeEnds, order: &[u32]) -> bool {
    order.first().is_some_and(|first| ends.contains(first))
        && order.last().is_some_and(|last| ends.contains(last))
}
