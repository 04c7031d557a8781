//! The linear assignment problem on a dense table of costs: Jonker and Volgenant (1987).
//!
//! Every row gets a column of its own; there are at least as many columns as rows. A square table
//! starts with a column reduction. Two passes of augmenting row reduction follow: a free row takes
//! its cheapest column, lowers the column's potential to the row's second choice, and displaces the
//! row that had it. A shortest augmenting path, by a dense form of Dijkstra's algorithm, then
//! assigns each row that is still free.
//!
//! The column potentials `v` prove the result: every row has a column at which `cost - v` is least,
//! and `v` is at most 0 and, at free columns of a table with more columns than rows, equal to 0.
//! Forbidden pairs cost +∞. Scans are written without branches, so the compiler vectorizes them.

use crate::{SolveFailure, check_not_stopped};

/// No row or column.
pub(super) const NONE: u32 = u32::MAX;

/// Values per step of a scan: enough independent minima for the widest registers.
const LANES: usize = 4;

/// The state of a solve, kept between solves for its memory.
#[derive(Debug, Clone)]
pub(super) struct ShortestAugmentingPath {
    rows: usize,
    cols: usize,
    /// Potential of each column.
    potentials: Vec<f64>,
    row_of: Vec<u32>,
    column_of: Vec<u32>,
    /// Rows without a column, and those left for the next pass.
    free_rows: Vec<u32>,
    next_free_rows: Vec<u32>,
    /// The cheapest row of each column, for the column reduction.
    cheapest_row: Vec<u32>,
    /// Distance of each column from the row that is augmented.
    distances: Vec<f64>,
    /// 0 for a column that is open, ∞ for one that was scanned: added to the distances, it leaves
    /// the open ones.
    closed: Vec<f64>,
    /// The row before each column on its shortest path.
    predecessors: Vec<u32>,
    scanned: Vec<u32>,
}

/// The two least values of `cost - potential` in a row, and the column of the first.
struct TwoLeast {
    column: usize,
    least: f64,
    second: f64,
}

impl TwoLeast {
    fn of(costs: &[f64], potentials: &[f64]) -> Self {
        let mut least = [f64::INFINITY; LANES];
        let mut second = [f64::INFINITY; LANES];
        let mut columns = [0_u64; LANES];
        let groups = costs
            .chunks_exact(LANES)
            .zip(potentials.chunks_exact(LANES));
        let mut first = 0;
        for (costs, potentials) in groups {
            for lane in 0..LANES {
                let value = costs[lane] - potentials[lane];
                let is_least = value < least[lane];
                let larger = if is_least { least[lane] } else { value };
                second[lane] = if larger < second[lane] {
                    larger
                } else {
                    second[lane]
                };
                columns[lane] = if is_least {
                    first + lane as u64
                } else {
                    columns[lane]
                };
                least[lane] = if is_least { value } else { least[lane] };
            }
            first += LANES as u64;
        }
        let mut found = Self {
            column: columns[0] as usize,
            least: least[0],
            second: second[0],
        };
        for lane in 1..LANES {
            let column = columns[lane] as usize;
            let is_least =
                least[lane] < found.least || (least[lane] == found.least && column < found.column);
            if is_least {
                found.second = found.least.min(second[lane]);
                found.least = least[lane];
                found.column = column;
            } else {
                found.second = found.second.min(least[lane]);
            }
        }
        for column in first as usize..costs.len() {
            let value = costs[column] - potentials[column];
            if value < found.least {
                found.second = found.least;
                found.least = value;
                found.column = column;
            } else if value < found.second {
                found.second = value;
            }
        }
        found
    }
}

impl ShortestAugmentingPath {
    /// For tables of this size; `rows` is at most `cols`.
    pub(super) fn new(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            potentials: vec![0.0; cols],
            row_of: vec![NONE; cols],
            column_of: vec![NONE; rows],
            free_rows: Vec::with_capacity(rows),
            next_free_rows: Vec::with_capacity(rows),
            cheapest_row: vec![0; cols],
            distances: vec![0.0; cols],
            closed: vec![0.0; cols],
            predecessors: vec![0; cols],
            scanned: Vec::with_capacity(rows),
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn cols(&self) -> usize {
        self.cols
    }

    /// The column of each row.
    pub(super) fn column_of(&self) -> &[u32] {
        &self.column_of
    }

    /// The row of each column; `NONE` for free columns.
    pub(super) fn row_of(&self) -> &[u32] {
        &self.row_of
    }

    /// The potential of each column.
    pub(super) fn potentials(&self) -> &[f64] {
        &self.potentials
    }

    /// Assigns a column to every row at least cost.
    ///
    /// # Errors
    /// When the finite costs leave no assignment, or the solve was interrupted.
    pub(super) fn solve(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        self.row_of.fill(NONE);
        self.column_of.fill(NONE);
        if self.rows == self.cols {
            self.reduce_columns(costs);
        } else {
            self.potentials.fill(0.0);
        }
        self.free_rows.clear();
        let all = (0..).zip(&self.column_of);
        let free = all.filter(|(_, column)| **column == NONE);
        self.free_rows.extend(free.map(|(row, _): (u32, _)| row));
        // Jonker and Volgenant use two passes; a third one assigns few further rows.
        for _ in 0..2 {
            if !self.free_rows.is_empty() {
                self.reduce_rows(costs)?;
            }
        }
        let free_rows = std::mem::take(&mut self.free_rows);
        for row in &free_rows {
            check_not_stopped()?;
            self.augment(costs, *row)?;
        }
        self.free_rows = free_rows;
        Ok(())
    }

    /// The potential of each column is its least cost; columns are given to their cheapest rows.
    fn reduce_columns(&mut self, costs: &[f64]) {
        let cols = self.cols;
        self.potentials.copy_from_slice(&costs[..cols]);
        self.cheapest_row.fill(0);
        for (row, row_costs) in (0_u32..).zip(costs.chunks_exact(cols)).skip(1) {
            let columns = self.potentials.iter_mut().zip(&mut self.cheapest_row);
            for ((least, cheapest), cost) in columns.zip(row_costs) {
                let is_less = *cost < *least;
                *least = if is_less { *cost } else { *least };
                *cheapest = if is_less { row } else { *cheapest };
            }
        }
        for column in (0..cols).rev() {
            let row = self.cheapest_row[column] as usize;
            if self.column_of[row] == NONE {
                self.column_of[row] = column as u32;
                self.row_of[column] = row as u32;
            }
        }
    }

    /// One pass of augmenting row reduction over the free rows.
    fn reduce_rows(&mut self, costs: &[f64]) -> Result<(), SolveFailure> {
        let cols = self.cols;
        // Rows that displace each other by amounts below rounding would never end. Untuned: the
        // shortest augmenting paths assign the rows that are left.
        let mut displacements_left = 8 * self.rows + 64;
        let mut free_rows = std::mem::take(&mut self.free_rows);
        self.next_free_rows.clear();
        let mut position = 0;
        while position < free_rows.len() {
            check_not_stopped()?;
            let row = free_rows[position];
            position += 1;
            let row_costs = &costs[row as usize * cols..][..cols];
            let best = TwoLeast::of(row_costs, &self.potentials);
            let lowers = best.second > best.least;
            let mut column = best.column;
            if lowers && best.second < f64::INFINITY {
                self.potentials[column] -= best.second - best.least;
            }
            let mut displaced = self.row_of[column];
            if !lowers && displaced != NONE {
                let is_free_tie = |other: &usize| {
                    self.row_of[*other] == NONE
                        && row_costs[*other] - self.potentials[*other] == best.least
                };
                if let Some(other) = (0..cols).find(is_free_tie) {
                    column = other;
                    displaced = NONE;
                }
            }
            self.row_of[column] = row;
            self.column_of[row as usize] = column as u32;
            if displaced != NONE {
                self.column_of[displaced as usize] = NONE;
                if lowers && displacements_left > 0 {
                    displacements_left -= 1;
                    position -= 1;
                    free_rows[position] = displaced;
                } else {
                    self.next_free_rows.push(displaced);
                }
            }
        }
        self.free_rows = free_rows;
        std::mem::swap(&mut self.free_rows, &mut self.next_free_rows);
        Ok(())
    }

    /// Assigns a free row along a shortest augmenting path.
    fn augment(&mut self, costs: &[f64], start: u32) -> Result<(), SolveFailure> {
        let cols = self.cols;
        self.closed.fill(0.0);
        self.predecessors.fill(start);
        self.scanned.clear();
        let row_costs = &costs[start as usize * cols..][..cols];
        let mut least = f64::INFINITY;
        let columns = self.distances.iter_mut().zip(row_costs);
        for ((distance, cost), potential) in columns.zip(&self.potentials) {
            *distance = cost - potential;
            least = if *distance < least { *distance } else { least };
        }
        let end = loop {
            if least == f64::INFINITY {
                return Err(SolveFailure::Infeasible);
            }
            let column = self.nearest_open_column(least);
            let row = self.row_of[column];
            if row == NONE {
                break column;
            }
            self.closed[column] = f64::INFINITY;
            self.scanned.push(column as u32);
            least = self.scan(&costs[row as usize * cols..][..cols], row, column, least);
        };
        for column in &self.scanned {
            let column = *column as usize;
            self.potentials[column] += self.distances[column] - least;
        }
        let mut column = end;
        loop {
            let row = self.predecessors[column];
            self.row_of[column] = row;
            let previous = std::mem::replace(&mut self.column_of[row as usize], column as u32);
            if row == start {
                return Ok(());
            }
            column = previous as usize;
        }
    }

    /// The first open column at the least distance, a free one if there is one.
    fn nearest_open_column(&self, least: f64) -> usize {
        let mut nearest = None;
        let columns = self.distances.iter().zip(&self.closed);
        for (column, (distance, closed)) in columns.enumerate() {
            if *distance == least && *closed == 0.0 {
                if self.row_of[column] == NONE {
                    return column;
                }
                nearest = nearest.or(Some(column));
            }
        }
        nearest.unwrap_or(0)
    }

    /// Shortens distances by the row that has the nearest column; returns the least distance of an
    /// open column.
    fn scan(&mut self, row_costs: &[f64], row: u32, column: usize, least: f64) -> f64 {
        let offset = row_costs[column] - self.potentials[column] - least;
        let cols = self.cols;
        let (distances, predecessors) =
            (&mut self.distances[..cols], &mut self.predecessors[..cols]);
        let (potentials, closed) = (&self.potentials[..cols], &self.closed[..cols]);
        let row_costs = &row_costs[..cols];
        let mut minima = [f64::INFINITY; LANES];
        let grouped = cols / LANES * LANES;
        for first in (0..grouped).step_by(LANES) {
            for (lane, minimum) in minima.iter_mut().enumerate() {
                let j = first + lane;
                let through = row_costs[j] - potentials[j] - offset;
                let is_shorter = (through < distances[j]) & (closed[j] == 0.0);
                distances[j] = if is_shorter { through } else { distances[j] };
                predecessors[j] = if is_shorter { row } else { predecessors[j] };
                let open = distances[j] + closed[j];
                *minimum = if open < *minimum { open } else { *minimum };
            }
        }
        for j in grouped..cols {
            let through = row_costs[j] - potentials[j] - offset;
            if closed[j] == 0.0 && through < distances[j] {
                distances[j] = through;
                predecessors[j] = row;
            }
            minima[0] = minima[0].min(distances[j] + closed[j]);
        }
        minima.into_iter().fold(f64::INFINITY, f64::min)
    }
}
