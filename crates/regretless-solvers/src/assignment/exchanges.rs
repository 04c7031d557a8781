//! Adjacent vertices of an assignment.
//!
//! Two assignments are adjacent vertices of their polytope if and only if the pairs in which they
//! differ are connected (Chvátal 1975): some rows pass their columns around in one cycle, or, if
//! columns are free, along one path from a free column to one that becomes free. Changes of few
//! rows are listed before those of many.

use super::AssignmentSolver;
use super::shortest_augmenting_path::NONE;
use crate::relaxation::{AdjacentVertices, MAX_ADJACENT_VERTICES, VertexDelta};
use crate::{Solution, SolveFailure, Solver};
use regretless_base::decision::Decision;

/// Most rows that the search tries. Untuned: with many forbidden pairs it may follow very many ways
/// that lead nowhere. It also bounds the depth of the recursion: a way of `k` rows tries `k` times
/// all rows, and it is followed once for each smaller number.
const MAX_STEPS: usize = 10_000_000;

/// Enumerates the changes of an assignment.
struct ExchangeSearch<'a> {
    solver: &'a AssignmentSolver,
    free_columns: Vec<usize>,
    /// Rows whose columns change: each takes the column of the one before.
    moved: Vec<usize>,
    is_moved: Vec<bool>,
    steps_left: usize,
    deltas: Vec<VertexDelta>,
}

impl ExchangeSearch<'_> {
    fn enumerate(mut self) -> Vec<VertexDelta> {
        let rows = self.solver.matching.rows();
        for count in 1..=rows {
            for first in 0..rows {
                self.extend(first, count);
            }
            if self.is_exhausted() {
                break;
            }
        }
        self.deltas
    }

    fn is_exhausted(&self) -> bool {
        self.deltas.len() >= MAX_ADJACENT_VERTICES || self.steps_left == 0
    }

    fn column_of(&self, row: usize) -> usize {
        self.solver.matching.column_of()[row] as usize
    }

    fn may_take(&self, row: usize, column: usize) -> bool {
        self.solver.is_allowed(self.solver.pair(row, column))
    }

    /// Adds a row to those that move, and others until `count` of them move.
    fn extend(&mut self, row: usize, count: usize) {
        if self.is_exhausted() {
            return;
        }
        self.moved.push(row);
        self.is_moved[row] = true;
        if self.moved.len() == count {
            self.complete();
        } else {
            let left = self.column_of(row);
            self.steps_left = self.steps_left.saturating_sub(self.is_moved.len());
            for next in 0..self.is_moved.len() {
                if !self.is_moved[next] && self.may_take(next, left) {
                    self.extend(next, count);
                }
            }
        }
        self.is_moved[row] = false;
        self.moved.pop();
    }

    /// Lists the cycle of the rows that move, and their paths from each free column.
    fn complete(&mut self) {
        let (Some(first), Some(last)) = (self.moved.first().copied(), self.moved.last().copied())
        else {
            return;
        };
        let left = self.column_of(last);
        // A cycle is found from each of its rows; it is listed from the lowest.
        let is_lowest = self.moved[1..].iter().all(|row| *row > first);
        if self.moved.len() > 1 && is_lowest && self.may_take(first, left) {
            self.push_delta(left);
        }
        for position in 0..self.free_columns.len() {
            let column = self.free_columns[position];
            if self.may_take(first, column) && self.deltas.len() < MAX_ADJACENT_VERTICES {
                self.push_delta(column);
            }
        }
    }

    /// Lists the change in which the first row takes this column.
    fn push_delta(&mut self, column_of_first: usize) {
        let mut entries = Vec::with_capacity(2 * self.moved.len());
        let mut taken = column_of_first;
        for row in &self.moved {
            let left = self.column_of(*row);
            entries.push((self.solver.pair(*row, taken) as u32, 1.0));
            entries.push((self.solver.pair(*row, left) as u32, -1.0));
            taken = left;
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        self.deltas.push(Decision::from_entries(entries));
    }
}

impl AdjacentVertices for AssignmentSolver {
    fn adjacent_vertices(
        &mut self,
        costs: &[f64],
    ) -> Result<(Solution, Vec<VertexDelta>), SolveFailure> {
        let solution = self.solve(costs)?;
        let row_of = self.matching.row_of().iter().enumerate();
        let free = row_of.filter(|(_, row)| **row == NONE);
        let search = ExchangeSearch {
            solver: self,
            free_columns: free.map(|(column, _)| column).collect(),
            moved: Vec::new(),
            is_moved: vec![false; self.matching.rows()],
            steps_left: MAX_STEPS,
            deltas: Vec::new(),
        };
        Ok((solution, search.enumerate()))
    }
}
