//! Shortest path through a grid, corner to corner, with arcs to the right and down.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, check_binary};
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
#[serde(deny_unknown_fields)]
pub struct GridPath {
    /// Rows and columns of nodes.
    pub grid: [usize; 2],
}

impl GridPath {
    /// The problem, if its numbers make one.
    ///
    /// # Errors
    /// When the grid has no arc, or too many.
    pub fn validate(self) -> Result<Self> {
        let [rows, cols] = self.grid;
        // A grid has less than two arcs per node.
        size_limits::checked_product("nodes of a grid", &[rows, cols], size_limits::MAX_COSTS / 2)?;
        if rows == 0 || cols == 0 || rows * cols < 2 {
            return Err(Error::setting(format!(
                "a {rows}x{cols} grid has no path; it needs two nodes or more"
            )));
        }
        Ok(self)
    }

    /// Ranges of the flow problem's basis, which only HiGHS has.
    #[cfg(feature = "highs")]
    fn basis_cost_ranging(&self, limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let model = flow::model(self.grid[0], self.grid[1]);
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
        format!("SP{}x{}", self.grid[0], self.grid[1])
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        GridPathSolver::num_arcs(self.grid[0], self.grid[1])
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(GridPathSolver::new(self.grid[0], self.grid[1]))
    }

    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(GridPathSolver::new(self.grid[0], self.grid[1])))
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        match kind {
            CostRangeKind::Basis => self.basis_cost_ranging(limits),
            CostRangeKind::Exact => {
                Some(Box::new(GridCostRanging::new(self.grid[0], self.grid[1])))
            }
        }
    }

    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        Some(Box::new(GridPathSolver::new(self.grid[0], self.grid[1])))
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let mut cone = NormalCone::binary(decision, self.num_costs());
        for balance in flow::balances(self.grid[0], self.grid[1]) {
            cone.equality(balance);
        }
        Some(cone)
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let target = self.grid[0] * self.grid[1] - 1;
        // Arcs are numbered row by row, so that those of a path increase along it.
        let arcs = decision
            .indices()
            .iter()
            .map(|arc| flow::ends(self.grid[1], *arc as usize));
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
