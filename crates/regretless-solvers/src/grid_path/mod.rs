//! Shortest path through a grid from the top left to the bottom right corner, by dynamic
//! programming.
//!
//! Arcs lead right and down only, so the grid is acyclic and costs may have any sign. Arcs are
//! numbered row by row: first the row's horizontal arcs from left to right, then the vertical arcs
//! to the next row. Ties between the two arcs into a node go to the one from above.

pub mod flow;

mod cost_ranges;
mod detours;
mod restricted;

pub use cost_ranges::GridCostRanging;
pub use restricted::{GridNetwork, GridNode, RestrictedGridSolver};

use super::relaxation::RelaxationSolver;
use super::{Solution, SolveFailure, SolveStatus, Solver};

/// Dynamic programming on one grid.
#[derive(Debug, Clone)]
pub struct GridPathSolver {
    rows: usize,
    cols: usize,
    /// Distance from the start to each node of the current row.
    distances: Vec<f64>,
    /// Whether the shortest path to each node comes from above; unused in the first row and column.
    from_above: Vec<bool>,
    /// Arcs of the last path.
    path: Vec<u32>,
}

impl GridPathSolver {
    /// A solver for a grid with this many rows and columns of nodes, both at least 1.
    pub fn new(rows: usize, cols: usize) -> Self {
        let path = vec![0; rows + cols - 2];
        Self {
            rows,
            cols,
            distances: vec![0.0; cols],
            from_above: vec![false; rows * cols],
            path,
        }
    }

    /// Arcs of a grid: horizontal and vertical ones.
    pub fn num_arcs(rows: usize, cols: usize) -> usize {
        rows * (cols - 1) + (rows - 1) * cols
    }

    /// Arcs of one row and of the vertical layer below it.
    fn stride(&self) -> usize {
        2 * self.cols - 1
    }

    /// Distances to all nodes. The cheaper arc is unpredictable, so the loop selects without a
    /// branch.
    fn compute_distances(&mut self, costs: &[f64]) {
        let cols = self.cols;
        let (first, below) = costs.split_at(cols - 1);
        let mut left = 0.0;
        self.distances[0] = left;
        for (distance, right) in self.distances[1..].iter_mut().zip(first) {
            left += right;
            *distance = left;
        }
        let layers = below.chunks_exact(2 * cols - 1);
        for (layer, above) in layers.zip(self.from_above[cols..].chunks_exact_mut(cols)) {
            let (down, right) = layer.split_at(cols);
            let mut left = self.distances[0] + down[0];
            self.distances[0] = left;
            let nodes = self.distances[1..].iter_mut().zip(&mut above[1..]);
            for ((distance, above), (down, right)) in nodes.zip(down[1..].iter().zip(right)) {
                let (from_above, from_left) = (*distance + down, left + right);
                *above = from_above <= from_left;
                left = if from_above < from_left {
                    from_above
                } else {
                    from_left
                };
                *distance = left;
            }
        }
    }

    /// The arcs of the shortest path in order.
    fn trace_path(&mut self) -> &[u32] {
        let (mut row, mut col) = (self.rows - 1, self.cols - 1);
        for step in (0..self.path.len()).rev() {
            if col == 0 || (row > 0 && self.from_above[row * self.cols + col]) {
                self.path[step] = (row * self.stride() - self.cols + col) as u32;
                row -= 1;
            } else {
                self.path[step] = (row * self.stride() + col - 1) as u32;
                col -= 1;
            }
        }
        &self.path
    }
}

impl Solver for GridPathSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        self.compute_distances(costs);
        solution
            .decision
            .assign_indices(self.trace_path().iter().copied());
        solution.objective = solution.decision.dot(costs);
        solution.bound = solution.objective;
        solution.status = SolveStatus::Optimal;
        Ok(())
    }
}

/// Every vertex of the flow polytope is a path: the relaxation is the problem itself.
impl RelaxationSolver for GridPathSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}
