//! The master LP: edges as columns, degree rows and cut rows.
//!
//! Row 0 is the depot, whose degree is at most twice the number of vehicles; row i is customer i,
//! of degree 2. Costs inside the LP are scaled by a power of two to moderate size; results are
//! returned in the units of the costs. Cut rows are added and deleted as in any [`LpRelaxation`].

use super::cuts::{CutRow, CvrpCut, EdgeEnds};
use super::instance::CvrpInstance;
use crate::SolveFailure;
use crate::complete_graph::EdgeCostMatrix;
pub(super) use crate::cutting_plane::BasisSnapshot;
use crate::cutting_plane::{LpRelaxation, retain_unmarked, scaling_factor};
use crate::highs::{LpColumns, LpRows, LpStatus, SimplexMethod};

/// Consecutive solves that a cut row may be slack before it is deleted. Fewer rows make the LP
/// faster, but a cut deleted too early must be separated again, which is expensive here.
const MAX_SLACK_SOLVES: u32 = 10;
/// Costs are scaled to a mean of about two to the power of this: the range that the absolute
/// tolerances of the simplex solver are made for.
const MEAN_COST_EXPONENT: f64 = 3.0;

/// The master LP and its solver.
#[derive(Debug)]
pub(super) struct CvrpMasterLp {
    nodes: usize,
    max_depot_degree: f64,
    pub(super) relaxation: LpRelaxation,
    /// Factor of the costs inside the LP.
    cost_factor: f64,
    /// The edge of each column, and its cost.
    pub(super) edges: Vec<EdgeEnds>,
    pub(super) costs: Vec<f64>,
    /// Bounds of each column that are valid in the whole tree.
    pub(super) global_bounds: Vec<[f64; 2]>,
    cut_pool: Vec<CutRow>,
    /// Current bounds of each cut of the pool.
    row_bounds: Vec<[f64; 2]>,
}

impl CvrpMasterLp {
    /// The master LP with degree rows only.
    pub(super) fn new(
        instance: &CvrpInstance,
        edge_costs: &EdgeCostMatrix,
    ) -> Result<Self, SolveFailure> {
        let nodes = instance.nodes() as u32;
        // Every route has two edges at the depot; fewer vehicles may be used.
        let max_depot_degree = 2.0 * instance.vehicles as f64;
        let (mut edges, mut costs, mut global_bounds) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..nodes {
            for j in i + 1..nodes {
                // Edges that no routes can use are no columns.
                let max_uses = instance.max_edge_uses([i, j]);
                if max_uses > 0.0 {
                    edges.push([i, j]);
                    costs.push(edge_costs.between(i, j));
                    global_bounds.push([0.0, max_uses]);
                }
            }
        }
        let mut rows = LpRows::default();
        rows.push([f64::NEG_INFINITY, max_depot_degree], []);
        for _ in 1..nodes {
            rows.push([2.0, 2.0], []);
        }
        let mut relaxation = LpRelaxation::new(&rows, MAX_SLACK_SOLVES)?;
        let cost_factor = scaling_factor(costs.iter().copied(), MEAN_COST_EXPONENT);
        let mut columns = LpColumns::default();
        for ((ends, cost), bounds) in edges.iter().zip(&costs).zip(&global_bounds) {
            let entries = ends.map(|node| (node as usize, 1.0));
            columns.push(cost * cost_factor, *bounds, entries);
        }
        relaxation.add_columns(&columns, global_bounds.iter().copied())?;
        Ok(Self {
            nodes: instance.nodes(),
            max_depot_degree,
            relaxation,
            cost_factor,
            edges,
            costs,
            global_bounds,
            cut_pool: Vec::new(),
            row_bounds: Vec::new(),
        })
    }

    /// Value of each column at the point of the last solve.
    pub(super) fn values(&self) -> &[f64] {
        &self.relaxation.point.value
    }

    /// Adds cuts to the pool and as rows; returns the pool index of the first.
    pub(super) fn add_cuts(&mut self, cuts: &[CvrpCut]) -> Result<u32, SolveFailure> {
        let (row_bounds, cut_pool) = (&self.row_bounds, &self.cut_pool);
        // Rows that branching has tightened stay: their bounds are not those of the cut.
        let is_branched_on = |cut: u32| row_bounds[cut as usize] != cut_pool[cut as usize].bounds;
        self.relaxation.delete_old_rows(is_branched_on)?;
        for cut in cuts {
            let (row, _) = cut.row(self.nodes, &self.edges);
            self.row_bounds.push(row.bounds);
            self.cut_pool.push(row);
        }
        let cut_indices = self.relaxation.reserve_cuts(cuts.len());
        self.add_rows(&cut_indices)?;
        Ok((self.cut_pool.len() - cuts.len()) as u32)
    }

    /// Adds the rows of these cuts of the pool.
    fn add_rows(&mut self, cut_indices: &[u32]) -> Result<(), SolveFailure> {
        let mut rows = LpRows::default();
        for cut in cut_indices {
            let entries = self.cut_pool[*cut as usize].entries.iter();
            rows.push(
                self.row_bounds[*cut as usize],
                entries.map(|(column, value)| (*column as usize, *value)),
            );
        }
        self.relaxation.add_rows(cut_indices, &rows)
    }

    /// Deletes the marked columns except basic ones; returns which were deleted.
    pub(super) fn drop_edges(&mut self, delete: Vec<bool>) -> Result<Vec<bool>, SolveFailure> {
        // Basic columns are not deleted, so the basis stays valid.
        let deleted = self.relaxation.drop_columns(delete)?;
        let mut num_kept = 0;
        let mut new_columns: Vec<Option<u32>> = Vec::with_capacity(deleted.len());
        for deleted in &deleted {
            new_columns.push((!deleted).then_some(num_kept));
            num_kept += u32::from(!deleted);
        }
        // Cuts of the pool that have no row at the moment refer to columns too.
        for row in &mut self.cut_pool {
            let entries = row.entries.iter();
            row.entries = entries
                .filter_map(|(column, value)| Some((new_columns[*column as usize]?, *value)))
                .collect();
        }
        retain_unmarked(&mut self.edges, &deleted);
        retain_unmarked(&mut self.costs, &deleted);
        retain_unmarked(&mut self.global_bounds, &deleted);
        Ok(deleted)
    }

    /// Activity of a cut of the pool at the current point.
    pub(super) fn activity(&self, cut: u32) -> f64 {
        let entries = &self.cut_pool[cut as usize].entries;
        entries
            .iter()
            .map(|(column, value)| value * self.values()[*column as usize])
            .sum()
    }

    /// Sets the current bounds of a cut of the pool; its row is added if there is none.
    pub(super) fn set_row_bounds(
        &mut self,
        cut: u32,
        bounds: [f64; 2],
    ) -> Result<(), SolveFailure> {
        // Most bounds do not change from node to node: the comparison saves calls of the solver.
        if self.row_bounds[cut as usize] == bounds {
            return Ok(());
        }
        self.row_bounds[cut as usize] = bounds;
        match self.relaxation.row(cut) {
            // The row of a cut of the pool may have been deleted as slack.
            None => self.add_rows(&[cut]),
            Some(row) => self.relaxation.lp.set_row_bounds(row, bounds),
        }
    }

    /// Current bounds of a cut of the pool.
    pub(super) fn row_bounds(&self, cut: u32) -> [f64; 2] {
        self.row_bounds[cut as usize]
    }

    /// Resets all bounds of columns and rows to those that are valid in the whole tree.
    pub(super) fn reset_bounds(&mut self) -> Result<(), SolveFailure> {
        for column in 0..self.edges.len() {
            let bounds = self.global_bounds[column];
            self.relaxation.set_bounds(column, bounds)?;
        }
        for cut in 0..self.cut_pool.len() {
            // Afterwards the decisions of a node are applied, from the node up to the root.
            self.set_row_bounds(cut as u32, self.cut_pool[cut].bounds)?;
        }
        Ok(())
    }

    /// Allows solves to stop once the objective is above this cost.
    pub(super) fn set_objective_bound(&mut self, total: f64) -> Result<(), SolveFailure> {
        self.relaxation
            .lp
            .set_objective_bound(total * self.cost_factor)
    }

    /// Allows solves to stop after this many simplex iterations.
    pub(super) fn limit_iterations(&mut self, max: Option<u32>) -> Result<(), SolveFailure> {
        self.relaxation.lp.limit_iterations(max)
    }

    /// Solves and reads the primal and dual solution.
    pub(super) fn solve(&mut self) -> Result<LpStatus, SolveFailure> {
        self.relaxation.solve(SimplexMethod::Dual)
    }

    /// Solves without reading the solution.
    pub(super) fn run(&mut self) -> Result<LpStatus, SolveFailure> {
        self.relaxation.run(SimplexMethod::Dual)
    }

    /// Objective of the last solve, in the units of the costs.
    pub(super) fn objective(&self) -> f64 {
        self.relaxation.lp.objective() / self.cost_factor
    }

    /// The lower bound that the duals of the last solve prove within the current bounds; overwrites
    /// `reduced` with the reduced costs of all columns. Duals of the wrong sign count as zero, so
    /// the bound is valid for any duals.
    pub(super) fn bound(&self, reduced: &mut Vec<f64>) -> f64 {
        // Reduced costs are computed here, and not read from the solver, so they belong to duals of
        // the right sign.
        reduced.clone_from(&self.costs);
        let dual = |row: usize| self.relaxation.point.dual[row] / self.cost_factor;
        // A row with an upper bound only has a nonpositive dual in a minimization.
        let depot = dual(0).min(0.0);
        let mut total =
            depot * self.max_depot_degree + (1..self.nodes).map(|row| 2.0 * dual(row)).sum::<f64>();
        for ([i, j], reduced) in self.edges.iter().zip(reduced.iter_mut()) {
            *reduced -= dual(*j as usize) + if *i == 0 { depot } else { dual(*i as usize) };
        }
        for (row, cut) in self.relaxation.cut_indices().iter().enumerate() {
            let (dual, [lower, upper]) = (dual(self.nodes + row), self.row_bounds[*cut as usize]);
            // A positive dual presses against the lower bound, a negative one against the upper.
            let bound = if dual > 0.0 { lower } else { upper };
            // A dual whose bound is infinite is a rounding error: without its term the bound is
            // still valid.
            if dual != 0.0 && bound.is_finite() {
                total += dual * bound;
                for (column, value) in &self.cut_pool[*cut as usize].entries {
                    reduced[*column as usize] -= dual * value;
                }
            }
        }
        let columns = reduced.iter().zip(self.relaxation.bounds());
        let terms = columns
            // Each column contributes at the bound that minimizes its term.
            .map(|(reduced, [lower, upper])| reduced * if *reduced < 0.0 { upper } else { lower });
        total + terms.sum::<f64>()
    }

    /// The range of each cost, the others fixed, within which the optimal basis stays optimal.
    pub(super) fn cost_ranges(&mut self) -> Result<Vec<[f64; 2]>, SolveFailure> {
        let ranges = self.relaxation.lp.cost_ranges()?;
        let scaled = ranges.lower.into_iter().zip(ranges.upper);
        let unscaled =
            scaled.map(|(lower, upper)| [lower / self.cost_factor, upper / self.cost_factor]);
        Ok(unscaled.collect())
    }

    /// Restores a basis; its binding cuts become rows again.
    pub(super) fn restore(&mut self, snapshot: &BasisSnapshot) -> Result<(), SolveFailure> {
        let missing = self.relaxation.missing_cuts(snapshot);
        if !missing.is_empty() {
            self.add_rows(&missing)?;
        }
        self.relaxation.restore(snapshot)
    }
}
