//! Shortest path through a grid from the top left to the bottom right node, with arcs to the right
//! and down.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, SolveCostHint, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits;
use crate::solve::cone::NormalCone;
use crate::solve::grid_path::{GridCostRanging, GridPathSolver, flow};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};

/// Path from the top left to the bottom right node of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridPathFields")]
pub struct GridPath {
    /// Rows and columns of nodes.
    grid: [usize; 2],
}

/// A serialized grid, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridPathFields {
    grid: [usize; 2],
}

impl TryFrom<GridPathFields> for GridPath {
    type Error = Error;

    fn try_from(fields: GridPathFields) -> Result<Self> {
        let [rows, cols] = fields.grid;
        Self::new(rows, cols)
    }
}

impl GridPath {
    /// A grid of `rows` by `cols` nodes.
    ///
    /// # Errors
    /// When the grid has no arc, or too many.
    pub fn new(rows: usize, cols: usize) -> Result<Self> {
        // A grid has less than two arcs per node.
        size_limits::checked_product("nodes of a grid", &[rows, cols], size_limits::MAX_COSTS / 2)?;
        if rows == 0 || cols == 0 || rows * cols < 2 {
            return Err(Error::setting(format!("a {rows}x{cols} grid has no path"))
                .with_remedy("it needs two nodes or more"));
        }
        Ok(Self { grid: [rows, cols] })
    }

    /// Rows of nodes.
    pub fn rows(&self) -> usize {
        self.grid[0]
    }

    /// Columns of nodes.
    pub fn cols(&self) -> usize {
        self.grid[1]
    }

    /// Cost ranges of a basis of the flow problem, which HiGHS computes.
    #[cfg(feature = "highs")]
    fn basis_cost_ranging(&self, limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let model = flow::model(self.rows(), self.cols());
        let all = (0..self.num_costs()).collect();
        Some(Box::new(crate::solve::linear::LinearRelaxation::new(
            &model, &all, *limits,
        )))
    }

    #[cfg(not(feature = "highs"))]
    fn basis_cost_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        None
    }
}

impl ProblemKind for GridPath {
    fn name(&self) -> String {
        format!("SP{}x{}", self.rows(), self.cols())
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        let nodes = (self.grid[0] * self.grid[1]) as f64;
        SolveCostHint::estimated(1e-8 * nodes + 3e-7, 1.0)
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        GridPathSolver::num_arcs(self.rows(), self.cols())
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(GridPathSolver::new(self.rows(), self.cols()))
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(GridPathSolver::new(self.rows(), self.cols())))
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        match kind {
            CostRangeKind::Basis => self.basis_cost_ranging(limits),
            CostRangeKind::Exact => Some(Box::new(GridCostRanging::new(self.rows(), self.cols()))),
        }
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(Box::new(GridPathSolver::new(self.rows(), self.cols())))
    }

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.num_costs());
        for balance in flow::balances(self.rows(), self.cols()) {
            cone.add_equation(balance);
        }
        Some(cone)
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let target = self.rows() * self.cols() - 1;
        // Arcs are numbered row by row, so that those of a path increase along it.
        let arcs = decision
            .indices()
            .iter()
            .map(|arc| flow::ends(self.cols(), *arc as usize));
        let mut node = 0;
        for (from, to) in arcs {
            if from != node {
                return Err(format!(
                    "the path leaves node {from} but had reached node {node}"
                ));
            }
            node = to;
        }
        if node == target {
            Ok(())
        } else {
            Err(format!("the path ends at node {node}, not at {target}"))
        }
    }
}
