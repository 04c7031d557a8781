//! Exact cost ranging of a grid: the range of each arc's cost within which the shortest path stays
//! shortest.
//!
//! With the distances from the start to every node and from every node to the end, the shortest
//! path through an arc costs `distance to its tail + arc + distance from its head`. The cost of an
//! arc off the shortest path may fall by the excess of that path. Every path has exactly one arc
//! between two anti-diagonals, so without an arc of the shortest path the best alternative is the
//! shortest path through another arc of the same layer: the cost may rise by its excess.

use super::GridPathSolver;
use crate::solve::SolveFailure;
use crate::solve::relaxation::{CostRanges, CostRanging};

/// Exact cost ranging for one grid.
#[derive(Debug, Clone)]
pub struct GridCostRanging {
    path: GridPathSolver,
    /// Distance from the start to each node.
    forward: Vec<f64>,
    /// Distance from each node to the end.
    backward: Vec<f64>,
    /// Length of the shortest path through another arc of each layer.
    second: Vec<f64>,
}

impl GridCostRanging {
    /// A solver for a grid with this many rows and columns of nodes, both at least 1.
    pub fn new(rows: usize, cols: usize) -> Self {
        Self {
            path: GridPathSolver::new(rows, cols),
            forward: vec![0.0; rows * cols],
            backward: vec![0.0; rows * cols],
            second: vec![0.0; rows + cols - 2],
        }
    }

    fn sweep_forward(&mut self, costs: &[f64]) {
        let (cols, stride) = (self.path.cols, self.path.stride());
        for row in 0..self.path.rows {
            let right = &costs[row * stride..][..cols - 1];
            let (above, own) = self.forward.split_at_mut(row * cols);
            let own = &mut own[..cols];
            if row > 0 {
                let down = &costs[row * stride - cols..][..cols];
                let arcs = above[(row - 1) * cols..].iter().zip(down);
                for (distance, (tail, cost)) in own.iter_mut().zip(arcs) {
                    *distance = tail + cost;
                }
            } else {
                own.fill(f64::INFINITY);
                own[0] = 0.0;
            }
            for col in 1..cols {
                own[col] = own[col].min(own[col - 1] + right[col - 1]);
            }
        }
    }

    fn sweep_backward(&mut self, costs: &[f64]) {
        let (rows, cols, stride) = (self.path.rows, self.path.cols, self.path.stride());
        for row in (0..rows).rev() {
            let right = &costs[row * stride..][..cols - 1];
            let (own, below) = self.backward[row * cols..].split_at_mut(cols);
            if row + 1 < rows {
                let down = &costs[row * stride + cols - 1..][..cols];
                let arcs = below.iter().zip(down);
                for (distance, (head, cost)) in own.iter_mut().zip(arcs) {
                    *distance = head + cost;
                }
            } else {
                own.fill(f64::INFINITY);
                own[cols - 1] = 0.0;
            }
            for col in (0..cols - 1).rev() {
                own[col] = own[col].min(own[col + 1] + right[col]);
            }
        }
    }

    /// Lower ends of the ranges of arcs off the path, and the second-best path of each layer.
    fn slack_of_arcs(&mut self, costs: &[f64], path: &[u32], lower: &mut [f64]) {
        let (rows, cols) = (self.path.rows, self.path.cols);
        let best = self.backward[0];
        let mut arc = 0;
        for row in 0..rows {
            let forward = &self.forward[row * cols..][..cols];
            let own = &self.backward[row * cols..][..cols];
            let below = self.backward.get((row + 1) * cols..).unwrap_or_default();
            for heads in [&own[1..], below] {
                for (col, (reach, rest)) in forward.iter().zip(heads).enumerate() {
                    let through = reach + costs[arc] + rest;
                    let layer = row + col;
                    if path[layer] as usize != arc {
                        self.second[layer] = self.second[layer].min(through);
                        lower[arc] = costs[arc] - (through - best).max(0.0);
                    }
                    arc += 1;
                }
            }
        }
    }
}

impl CostRanging for GridCostRanging {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.path.sweep(costs);
        let path = self.path.walk_back().to_vec();
        self.sweep_forward(costs);
        self.sweep_backward(costs);
        self.second.fill(f64::INFINITY);
        let mut ranges = CostRanges::unbounded(costs.len());
        self.slack_of_arcs(costs, &path, &mut ranges.lower);
        for (arc, second) in path.iter().map(|arc| *arc as usize).zip(&self.second) {
            ranges.upper[arc] = costs[arc] + (second - self.backward[0]).max(0.0);
        }
        Ok(ranges)
    }
}
