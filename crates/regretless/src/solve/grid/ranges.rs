//! How far the cost of each arc of a grid may move while the shortest path stays shortest.
//!
//! With the cheapest way from the start to every node and from every node to the end, the cheapest path
//! through an arc costs `to its tail + arc + from its head`. An arc off the path may fall by what that
//! path costs more. Every path has exactly one arc between two anti-diagonals, so without an arc of the path
//! the best is the cheapest path through another arc of the same layer: the arc may rise by what that costs more.

use super::GridPath;
use crate::solve::Failure;
use crate::solve::relax::{Ranger, Ranges};

/// Finds exact ranges for one grid.
#[derive(Debug, Clone)]
pub struct GridRanges {
    path: GridPath,
    /// Cheapest way from the start to each node.
    forward: Vec<f64>,
    /// Cheapest way from each node to the end.
    backward: Vec<f64>,
    /// Cheapest path through an arc of each layer that is not on the shortest path.
    second: Vec<f64>,
}

impl GridRanges {
    /// A ranger for a grid with this many rows and columns of nodes, both at least 1.
    pub fn new(rows: usize, cols: usize) -> Self {
        let nodes = vec![0.0; rows * cols];
        let second = vec![0.0; rows + cols - 2];
        Self { path: GridPath::new(rows, cols), forward: nodes.clone(), backward: nodes, second }
    }

    fn sweep_forward(&mut self, costs: &[f64]) {
        let (cols, stride) = (self.path.cols, self.path.stride());
        for node in 1..self.forward.len() {
            let (row, col) = (node / cols, node % cols);
            let mut least = f64::INFINITY;
            if row > 0 {
                least = self.forward[node - cols] + costs[row * stride - cols + col];
            }
            if col > 0 {
                least = least.min(self.forward[node - 1] + costs[row * stride + col - 1]);
            }
            self.forward[node] = least;
        }
    }

    fn sweep_backward(&mut self, costs: &[f64]) {
        let (rows, cols, stride) = (self.path.rows, self.path.cols, self.path.stride());
        for node in (0..rows * cols - 1).rev() {
            let (row, col) = (node / cols, node % cols);
            let mut least = f64::INFINITY;
            if row + 1 < rows {
                least = self.backward[node + cols] + costs[row * stride + cols - 1 + col];
            }
            if col + 1 < cols {
                least = least.min(self.backward[node + 1] + costs[row * stride + col]);
            }
            self.backward[node] = least;
        }
    }

    /// The range of one arc off the path, and what it means for the arc of the path in its layer.
    fn off_path(&mut self, arc: usize, layer: usize, (through, cost): (f64, f64), ranges: &mut Ranges) {
        self.second[layer] = self.second[layer].min(through);
        ranges.lower[arc] = cost - (through - self.backward[0]).max(0.0);
    }
}

impl Ranger for GridRanges {
    fn ranges(&mut self, costs: &[f64]) -> Result<Ranges, Failure> {
        self.path.sweep(costs);
        let path = self.path.walk_back();
        self.sweep_forward(costs);
        self.sweep_backward(costs);
        self.second.fill(f64::INFINITY);
        let mut ranges = Ranges::infinite(costs.len());
        let (rows, cols, stride) = (self.path.rows, self.path.cols, self.path.stride());
        for node in 0..rows * cols - 1 {
            let (row, col) = (node / cols, node % cols);
            let right = (col + 1 < cols).then_some((row * stride + col, node + 1));
            let down = (row + 1 < rows).then_some((row * stride + cols - 1 + col, node + cols));
            for (arc, head) in right.into_iter().chain(down) {
                if path[row + col] as usize != arc {
                    let through = self.forward[node] + costs[arc] + self.backward[head];
                    self.off_path(arc, row + col, (through, costs[arc]), &mut ranges);
                }
            }
        }
        for (arc, second) in path.iter().map(|arc| *arc as usize).zip(&self.second) {
            ranges.upper[arc] = costs[arc] + (second - self.backward[0]).max(0.0);
        }
        Ok(ranges)
    }
}
