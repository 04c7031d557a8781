//! Shortest path through a grid, corner to corner, with arcs to the right and down.

use serde::{Deserialize, Serialize};

use super::{Problem, Sense, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::solve::grid::GridPath;
use crate::solve::{Limits, Solver};

/// Path from the top left to the bottom right node of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortestPath {
    /// Rows and columns of nodes.
    pub grid: [usize; 2],
}

impl ShortestPath {
    /// The problem, if its numbers make one.
    ///
    /// # Errors
    /// When the grid has no arc.
    pub fn checked(self) -> Result<Self> {
        let [rows, cols] = self.grid;
        if rows == 0 || cols == 0 || rows * cols < 2 {
            return Err(Error::setting(format!("a {rows}x{cols} grid has no path; it needs two nodes or more")));
        }
        Ok(self)
    }

    /// The nodes an arc joins, numbered row by row.
    fn ends(&self, arc: usize) -> (usize, usize) {
        let cols = self.grid[1];
        let (row, place) = (arc / (2 * cols - 1), arc % (2 * cols - 1));
        if place < cols - 1 {
            (row * cols + place, row * cols + place + 1)
        } else {
            let col = place - (cols - 1);
            (row * cols + col, (row + 1) * cols + col)
        }
    }
}

impl Problem for ShortestPath {
    fn name(&self) -> String {
        format!("SP{}x{}", self.grid[0], self.grid[1])
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        GridPath::num_arcs(self.grid[0], self.grid[1])
    }

    fn solver(&self, _limits: &Limits) -> Box<dyn Solver> {
        Box::new(GridPath::new(self.grid[0], self.grid[1]))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let target = self.grid[0] * self.grid[1] - 1;
        let mut arcs: Vec<_> = decision.indices().iter().map(|arc| self.ends(*arc as usize)).collect();
        arcs.sort_unstable();
        let mut node = 0;
        for (from, to) in arcs {
            if from != node {
                return Err(format!("the path leaves node {from} but had reached node {node}"));
            }
            node = to;
        }
        if node == target { Ok(()) } else { Err(format!("the path ends at node {node}, not at {target}")) }
    }
}
