//! Shortest path through a grid from the top left to the bottom right corner, by dynamic programming.
//!
//! Arcs lead right and down only, so the grid has no cycle and costs of any sign are welcome. Arcs are
//! numbered row by row: first the row's horizontal arcs from left to right, then the vertical arcs to
//! the next row. Where both ways into a node cost the same, the path comes from above.

pub mod flow;

mod detours;
mod ranges;

pub use ranges::GridRanges;

use super::relax::Relaxer;
use super::{Failure, Solution, Solver};
use crate::decision::Decision;

/// The dynamic programme of one grid.
#[derive(Debug, Clone)]
pub struct GridPath {
    rows: usize,
    cols: usize,
    /// Cheapest way to each node of the present row.
    reach: Vec<f64>,
    /// Whether the cheapest way into each node comes from above.
    from_above: Vec<bool>,
}

impl GridPath {
    /// An engine for a grid with this many rows and columns of nodes, both at least 1.
    pub fn new(rows: usize, cols: usize) -> Self {
        Self { rows, cols, reach: vec![0.0; cols], from_above: vec![false; rows * cols] }
    }

    /// Arcs of a grid: horizontal and vertical ones.
    pub fn num_arcs(rows: usize, cols: usize) -> usize {
        rows * (cols - 1) + (rows - 1) * cols
    }

    /// Arcs of one row and of the vertical layer below it.
    fn stride(&self) -> usize {
        2 * self.cols - 1
    }

    fn sweep(&mut self, costs: &[f64]) {
        let cols = self.cols;
        for row in 0..self.rows {
            let right = &costs[row * self.stride()..][..cols - 1];
            let above = &mut self.from_above[row * cols..][..cols];
            if row > 0 {
                let down = &costs[row * (2 * cols - 1) - cols..][..cols];
                self.reach[0] += down[0];
                above[0] = true;
                for col in 1..cols {
                    let (over, side) = (self.reach[col] + down[col], self.reach[col - 1] + right[col - 1]);
                    above[col] = over <= side;
                    self.reach[col] = if above[col] { over } else { side };
                }
            } else {
                self.reach[0] = 0.0;
                for col in 1..cols {
                    self.reach[col] = self.reach[col - 1] + right[col - 1];
                    above[col] = false;
                }
            }
        }
    }

    fn walk_back(&self) -> Vec<u32> {
        let (mut row, mut col) = (self.rows - 1, self.cols - 1);
        let mut path = vec![0; row + col];
        for arc in path.iter_mut().rev() {
            if self.from_above[row * self.cols + col] {
                *arc = (row * self.stride() - self.cols + col) as u32;
                row -= 1;
            } else {
                *arc = (row * self.stride() + col - 1) as u32;
                col -= 1;
            }
        }
        path
    }
}

impl Solver for GridPath {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        self.sweep(costs);
        let decision = Decision::choosing(self.walk_back());
        let objective = decision.dot(costs);
        Ok(Solution::optimal(decision, objective))
    }
}

/// Every vertex of the flow polytope is a path: the relaxation is the problem itself.
impl Relaxer for GridPath {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, Failure> {
        self.solve(costs)
    }
}
