//! Exact cost ranging of a grid: the range of each arc's cost within which the shortest path stays
//! shortest.
//!
//! With the distances from the start to every node and from every node to the end, the shortest
//! path through an arc costs `distance to its tail + arc + distance from its head`. The cost of an
//! arc off the shortest path may fall by the excess of that path. Every path has exactly one arc
//! between two anti-diagonals, so without an arc of the shortest path the shortest alternative is
//! the shortest path through another arc of the same layer: the cost may rise by its excess.

use super::GridPathSolver;
use crate::SolveFailure;
use crate::relaxation::{CostRanges, CostRanging};

/// Exact cost ranging for one grid.
#[derive(Debug, Clone)]
pub struct GridCostRanging {
    path: GridPathSolver,
    /// Distance from the start to each node.
    forward: Vec<f64>,
    /// Distance from each node to the end.
    backward: Vec<f64>,
    /// Per layer, the arcs between two anti-diagonals: the length of the shortest path that does
    /// not use the arc of the shortest path there.
    alternative: Vec<f64>,
}

impl GridCostRanging {
    /// A solver for a grid with this many rows and columns of nodes, both at least 1.
    pub fn new(rows: usize, cols: usize) -> Self {
        Self {
            path: GridPathSolver::new(rows, cols),
            forward: vec![0.0; rows * cols],
            backward: vec![0.0; rows * cols],
            alternative: vec![0.0; rows + cols - 2],
        }
    }

    /// Computes the distances from the start to all nodes.
    fn compute_forward(&mut self, costs: &[f64]) {
        let (cols, stride) = (self.path.cols, self.path.stride());
        for row in 0..self.path.rows {
            let right = &costs[row * stride..][..cols - 1];
            let (above, current) = self.forward.split_at_mut(row * cols);
            let current = &mut current[..cols];
            if row > 0 {
                let down = &costs[row * stride - cols..][..cols];
                let arcs = above[(row - 1) * cols..].iter().zip(down);
                for (distance, (tail, cost)) in current.iter_mut().zip(arcs) {
                    *distance = tail + cost;
                }
            } else {
                current.fill(f64::INFINITY);
                current[0] = 0.0;
            }
            for col in 1..cols {
                current[col] = current[col].min(current[col - 1] + right[col - 1]);
            }
        }
    }

    /// Computes the distances from all nodes to the end.
    fn compute_backward(&mut self, costs: &[f64]) {
        let (rows, cols, stride) = (self.path.rows, self.path.cols, self.path.stride());
        for row in (0..rows).rev() {
            let right = &costs[row * stride..][..cols - 1];
            let (current, below) = self.backward[row * cols..].split_at_mut(cols);
            if row + 1 < rows {
                let down = &costs[row * stride + cols - 1..][..cols];
                let arcs = below.iter().zip(down);
                for (distance, (head, cost)) in current.iter_mut().zip(arcs) {
                    *distance = head + cost;
                }
            } else {
                current.fill(f64::INFINITY);
                current[cols - 1] = 0.0;
            }
            for col in (0..cols - 1).rev() {
                current[col] = current[col].min(current[col + 1] + right[col]);
            }
        }
    }

    /// Sets the lower ends of the ranges of arcs off the path, and the alternatives of all layers.
    fn set_lower_ends(&mut self, costs: &[f64], path: &[u32], lower: &mut [f64]) {
        let (rows, cols) = (self.path.rows, self.path.cols);
        let shortest = self.backward[0];
        let mut arc = 0;
        for row in 0..rows {
            let forward = &self.forward[row * cols..][..cols];
            let current = &self.backward[row * cols..][..cols];
            let below = self.backward.get((row + 1) * cols..).unwrap_or_default();
            for heads in [&current[1..], below] {
                for (col, (from_start, to_end)) in forward.iter().zip(heads).enumerate() {
                    let through = from_start + costs[arc] + to_end;
                    let layer = row + col;
                    if path[layer] as usize != arc {
                        self.alternative[layer] = self.alternative[layer].min(through);
                        lower[arc] = costs[arc] - (through - shortest).max(0.0);
                    }
                    arc += 1;
                }
            }
        }
    }
}

impl CostRanging for GridCostRanging {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.path.compute_distances(costs);
        let path = self.path.trace_path().to_vec();
        self.compute_forward(costs);
        self.compute_backward(costs);
        self.alternative.fill(f64::INFINITY);
        let mut ranges = CostRanges::unbounded(costs.len());
        self.set_lower_ends(costs, &path, &mut ranges.lower);
        for (arc, alternative) in path.iter().map(|arc| *arc as usize).zip(&self.alternative) {
            ranges.upper[arc] = costs[arc] + (alternative - self.backward[0]).max(0.0);
        }
        Ok(ranges)
    }
}
