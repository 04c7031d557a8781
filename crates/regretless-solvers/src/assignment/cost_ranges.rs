//! Exact cost ranges of an assignment.
//!
//! The reduced costs `cost - u - v` are 0 at assigned pairs and nowhere negative. A row that takes
//! the column of another row displaces it. The cheapest assignment with a pair that is not assigned
//! costs its reduced cost more, and the shortest way on which the displaced row finds a new column
//! and, at last, some row takes the column that was left. These ways are shortest paths between
//! rows; those of all pairs of rows follow from the algorithm of Floyd and Warshall (1962). If
//! there are more columns than rows, all free columns together are one further node: a row may take
//! any of them, and they take up the column that is left at the negated potential of that column.

use super::AssignmentSolver;
use super::shortest_augmenting_path::NONE;
use crate::relaxation::{CostRanges, CostRanging};
use crate::{SolveFailure, check_not_stopped};

/// Lengths of the shortest ways from one node to another, row by row.
struct Distances {
    nodes: usize,
    lengths: Vec<f64>,
}

impl Distances {
    fn from(&self, node: usize) -> &[f64] {
        &self.lengths[node * self.nodes..][..self.nodes]
    }

    /// Replaces the lengths of arcs by those of shortest ways.
    fn close(&mut self) -> Result<(), SolveFailure> {
        let nodes = self.nodes;
        let mut onward = vec![0.0; nodes];
        // Floyd and Warshall: all pairs at once, since every pair has a range.
        for middle in 0..nodes {
            check_not_stopped()?;
            onward.copy_from_slice(self.from(middle));
            for lengths in self.lengths.chunks_exact_mut(nodes) {
                let to_middle = lengths[middle];
                for (length, onward) in lengths.iter_mut().zip(&onward) {
                    let through = to_middle + onward;
                    // A comparison instead of `min`, which compiles to one instruction.
                    *length = if through < *length { through } else { *length };
                }
            }
        }
        Ok(())
    }
}

impl AssignmentSolver {
    /// The reduced costs, row by row; ∞ at forbidden pairs. Rounding errors below 0 become 0.
    fn reduced_costs(&self, costs: &[f64]) -> Vec<f64> {
        let cols = self.matching.cols();
        let table = self.cost_table(costs);
        let potentials = self.matching.potentials();
        let mut reduced = Vec::with_capacity(table.len());
        for (row, column) in table.chunks_exact(cols).zip(self.matching.column_of()) {
            let assigned = *column as usize;
            let row_potential = row[assigned] - potentials[assigned];
            let columns = row.iter().zip(potentials);
            // The potentials of rows follow from the assigned pairs, whose reduced cost is 0.
            reduced.extend(columns.map(|(cost, v)| (cost - v - row_potential).max(0.0)));
        }
        reduced
    }

    fn distances(&self, reduced: &[f64]) -> Result<Distances, SolveFailure> {
        let (rows, cols) = (self.matching.rows(), self.matching.cols());
        let has_free_columns = rows < cols;
        let nodes = rows + usize::from(has_free_columns);
        let mut lengths = Vec::with_capacity(nodes * nodes);
        let column_of = self.matching.column_of();
        let free: Vec<usize> = (0..cols)
            .filter(|column| self.matching.row_of()[*column] == NONE)
            .collect();
        for row in reduced.chunks_exact(cols) {
            lengths.extend(column_of.iter().map(|column| row[*column as usize]));
            if has_free_columns {
                let nearest = free.iter().map(|column| row[*column]);
                lengths.push(nearest.fold(f64::INFINITY, f64::min));
            }
        }
        if has_free_columns {
            let potentials = self.matching.potentials();
            let returned = column_of.iter().map(|column| -potentials[*column as usize]);
            lengths.extend(returned.map(|length| length.max(0.0)));
            lengths.push(0.0);
        }
        let mut distances = Distances { nodes, lengths };
        distances.close()?;
        Ok(distances)
    }
}

/// The cost of a pair that is not assigned may fall until the cheapest assignment with it is
/// optimal, and the cost of an assigned pair may rise until the cheapest assignment without it is.
impl CostRanging for AssignmentSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.find_assignment(costs)?;
        let (rows, cols) = (self.matching.rows(), self.matching.cols());
        let reduced = self.reduced_costs(costs);
        let distances = self.distances(&reduced)?;
        let mut ranges = CostRanges::unbounded(costs.len());
        for row in 0..rows {
            let assigned = self.matching.column_of()[row] as usize;
            let mut cheapest_change = f64::INFINITY;
            for column in (0..cols).filter(|column| *column != assigned) {
                let owner = match self.matching.row_of()[column] {
                    NONE => rows,
                    owner => owner as usize,
                };
                let change = reduced[row * cols + column] + distances.from(owner)[row];
                cheapest_change = cheapest_change.min(change);
                let pair = self.pair(row, column);
                if self.is_allowed(pair) {
                    ranges.lower[pair] = costs[pair] - change;
                }
            }
            let pair = self.pair(row, assigned);
            ranges.upper[pair] = costs[pair] + cheapest_change;
        }
        Ok(ranges)
    }
}
