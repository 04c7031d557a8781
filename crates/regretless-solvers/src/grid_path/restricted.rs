//! Shortest paths in a grid with other ends, or with closed arcs.
//!
//! The same dynamic program as for the whole grid, in the rectangle between the two ends; a closed
//! arc has an infinite cost, and what stands in its place is never read. Ties between the two arcs
//! into a node go to the one from above. Every path has one arc between two anti-diagonals, so
//! exact cost ranges follow as in `cost_ranges`.

use std::sync::Arc;

use super::detours::Detours;
use super::flow;
use crate::relaxation::{AdjacentVertices, CostRanges, CostRanging, RelaxationSolver, VertexDelta};
use crate::{Solution, SolveFailure, SolveStatus, Solver};

/// Row and column of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GridNode {
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub col: usize,
}

/// The part of a grid in which paths are searched.
#[derive(Debug, Clone)]
pub struct GridNetwork {
    /// Columns of nodes of the whole grid.
    pub cols: usize,
    /// The first node of a path.
    pub source: GridNode,
    /// The last node of a path.
    pub target: GridNode,
    /// Which arcs of the whole grid are open; `None` if all are.
    pub present: Option<Arc<[bool]>>,
}

impl GridNetwork {
    /// Whether the target is in the rectangle to the right of and below the source.
    fn has_rectangle(&self) -> bool {
        self.target.row >= self.source.row && self.target.col >= self.source.col
    }

    /// Rows and columns of the rectangle.
    fn size(&self) -> [usize; 2] {
        [
            self.target.row - self.source.row + 1,
            self.target.col - self.source.col + 1,
        ]
    }

    /// The cost of an arc, infinite if it is closed.
    fn cost(&self, costs: &[f64], arc: usize) -> f64 {
        match &self.present {
            Some(present) if !present[arc] => f64::INFINITY,
            _ => costs[arc],
        }
    }

    /// Whether there is a path.
    pub fn is_connected(&self) -> bool {
        if !self.has_rectangle() {
            return false;
        }
        let Some(present) = &self.present else {
            return true;
        };
        let mut solver = RestrictedGridSolver::new(self.clone());
        solver.compute_forward(&vec![0.0; present.len()]);
        solver.shortest() == 0.0
    }
}

/// Dynamic programming between the ends of a network that is connected.
#[derive(Debug, Clone)]
pub struct RestrictedGridSolver {
    network: GridNetwork,
    /// Distance from the source to each node of the rectangle.
    forward: Vec<f64>,
    /// Distance from each node of the rectangle to the target.
    backward: Vec<f64>,
    /// Whether the shortest path to each node comes from above.
    from_above: Vec<bool>,
    /// Arcs of the last path.
    path: Vec<u32>,
}

impl RestrictedGridSolver {
    /// A solver for a network in which the target is not above or to the left of the source.
    pub fn new(network: GridNetwork) -> Self {
        let [rows, cols] = network.size();
        Self {
            forward: vec![0.0; rows * cols],
            backward: Vec::new(),
            from_above: vec![false; rows * cols],
            path: vec![0; rows + cols - 2],
            network,
        }
    }

    /// The arc to the right of a node of the rectangle.
    fn right(&self, row: usize, col: usize) -> usize {
        let source = self.network.source;
        flow::right_arc(self.network.cols, source.row + row, source.col + col)
    }

    /// The arc down from a node of the rectangle.
    fn down(&self, row: usize, col: usize) -> usize {
        let source = self.network.source;
        flow::down_arc(self.network.cols, source.row + row, source.col + col)
    }

    fn compute_forward(&mut self, costs: &[f64]) {
        let [rows, cols] = self.network.size();
        for row in 0..rows {
            for col in 0..cols {
                let node = row * cols + col;
                let from_above = if row > 0 {
                    self.forward[node - cols] + self.network.cost(costs, self.down(row - 1, col))
                } else {
                    f64::INFINITY
                };
                let from_left = if col > 0 {
                    self.forward[node - 1] + self.network.cost(costs, self.right(row, col - 1))
                } else {
                    f64::INFINITY
                };
                self.from_above[node] = from_above <= from_left;
                self.forward[node] = if node == 0 {
                    0.0
                } else if from_above < from_left {
                    from_above
                } else {
                    from_left
                };
            }
        }
    }

    fn compute_backward(&mut self, costs: &[f64]) {
        let [rows, cols] = self.network.size();
        self.backward.clear();
        self.backward.resize(rows * cols, 0.0);
        for row in (0..rows).rev() {
            for col in (0..cols).rev() {
                let node = row * cols + col;
                if node + 1 == rows * cols {
                    continue;
                }
                let down = if row + 1 < rows {
                    self.backward[node + cols] + self.network.cost(costs, self.down(row, col))
                } else {
                    f64::INFINITY
                };
                let right = if col + 1 < cols {
                    self.backward[node + 1] + self.network.cost(costs, self.right(row, col))
                } else {
                    f64::INFINITY
                };
                self.backward[node] = down.min(right);
            }
        }
    }

    /// The length of the shortest path, after [`Self::compute_forward`].
    fn shortest(&self) -> f64 {
        self.forward.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Computes the arcs of the shortest path in order.
    fn find_path(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        self.compute_forward(costs);
        if self.shortest() == f64::INFINITY {
            return Err(SolveFailure::Infeasible);
        }
        let [rows, cols] = self.network.size();
        let (mut row, mut col) = (rows - 1, cols - 1);
        for step in (0..self.path.len()).rev() {
            let arc = if col == 0 || (row > 0 && self.from_above[row * cols + col]) {
                row -= 1;
                self.down(row, col)
            } else {
                col -= 1;
                self.right(row, col)
            };
            self.path[step] = arc as u32;
        }
        Ok(())
    }

    /// The length of the shortest path through an arc from a node of the rectangle to the next
    /// node `head`; infinite if there is none.
    fn length_through(&self, costs: &[f64], node: usize, arc: usize, head: usize) -> f64 {
        self.forward[node] + self.network.cost(costs, arc) + self.backward[head]
    }
}

impl Solver for RestrictedGridSolver {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        self.find_path(costs)?;
        solution.decision.assign_indices(self.path.iter().copied());
        solution.objective = solution.decision.dot(costs);
        solution.bound = solution.objective;
        solution.status = SolveStatus::Optimal;
        Ok(())
    }
}

/// Every vertex of the flow polytope is a path: the relaxation is the problem itself.
impl RelaxationSolver for RestrictedGridSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.solve(costs)
    }
}

impl CostRanging for RestrictedGridSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.find_path(costs)?;
        self.compute_backward(costs);
        let shortest = self.backward[0];
        let [rows, cols] = self.network.size();
        let mut ranges = CostRanges::unbounded(costs.len());
        // Per layer, the length of the shortest path that does not use the path's arc there.
        let mut alternatives = vec![f64::INFINITY; self.path.len()];
        for row in 0..rows {
            for col in 0..cols {
                let node = row * cols + col;
                let right = (col + 1 < cols).then(|| (self.right(row, col), node + 1));
                let down = (row + 1 < rows).then(|| (self.down(row, col), node + cols));
                for (arc, head) in [right, down].into_iter().flatten() {
                    let through = self.length_through(costs, node, arc, head);
                    let layer = row + col;
                    if through < f64::INFINITY && self.path[layer] as usize != arc {
                        alternatives[layer] = alternatives[layer].min(through);
                        ranges.lower[arc] = costs[arc] - (through - shortest).max(0.0);
                    }
                }
            }
        }
        for (arc, alternative) in self.path.iter().map(|arc| *arc as usize).zip(alternatives) {
            ranges.upper[arc] = costs[arc] + (alternative - shortest).max(0.0);
        }
        Ok(ranges)
    }
}

impl AdjacentVertices for RestrictedGridSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let GridNetwork { cols, source, .. } = self.network;
        let detours = Detours::new(cols, source, self.path.clone());
        let deltas = match &self.network.present {
            Some(present) => detours.with_open_arcs(present).enumerate(),
            None => detours.enumerate(),
        };
        Ok((solution, deltas))
    }
}
