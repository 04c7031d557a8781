//! The bounded dual simplex method on a dense tableau.
//!
//! Every basic variable is `value − Σ cell · (change of a nonbasic variable)`, with one cell per
//! row and nonbasic variable, the objective `objective + Σ reduced · change`. A nonbasic variable
//! is at one of its bounds, the one its reduced cost favors. Fixed variables leave the tableau. The
//! basic variable with the largest bound violation leaves, the nonbasic one with the smallest ratio
//! of reduced cost to cell enters (ratio test); one whose entire range does not cover the violation
//! is flipped to its other bound instead. Ties go to the larger cell, then to the lower position.

use super::DenseModel;
use crate::dense_tableau::TableauStatus;

/// Bound violation that a basic variable may keep, relative to the bound (at least 1).
const FEASIBILITY_TOLERANCE: f64 = 1e-9;
/// Smallest absolute value of a pivot; a search that needs a smaller one is abandoned. Rows are
/// scaled to entries near 1.
const PIVOT_TOLERANCE: f64 = 1e-7;
/// Cells with an absolute value below this count as 0.
const ZERO_TOLERANCE: f64 = 1e-11;

/// Multiple of the feasibility tolerance above which a violation that no column can reduce proves
/// infeasibility; below it the search is abandoned.
const INFEASIBILITY_FACTOR: f64 = 10.0;
/// Inverse of a pivot from which on the tableau is refactored before its next use: the pivot's
/// rounding error is then up to 1e4 times that of an ordinary one.
const MAX_INVERSE_PIVOT: f64 = 1e4;
/// Pivots per row, in addition to [`MIN_ANTI_CYCLING_PIVOTS`], after which the first violated row
/// leaves, which ends cycles. Untuned: far above what a solve needs.
const ANTI_CYCLING_PIVOTS_PER_ROW: usize = 20;
/// See [`ANTI_CYCLING_PIVOTS_PER_ROW`].
const MIN_ANTI_CYCLING_PIVOTS: usize = 100;
/// A solve ends after this many times as many pivots.
const MAX_PIVOTS_FACTOR: usize = 2;
/// Age of a tableau that must be refactored.
const MUST_REFACTOR: u32 = u32::MAX;

/// The tableau of a basis.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseTableau {
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    /// Row-major with `stride` cells per row; the last row holds the reduced costs.
    pub(super) cells: Vec<f64>,
    pub(super) nonbasic: Vec<u32>,
    /// Whether each nonbasic variable is at its upper bound.
    pub(super) at_upper: Vec<bool>,
    pub(super) basic: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Bounds of all variables.
    pub(super) bounds: Vec<[f64; 2]>,
    pub(super) objective: f64,
    /// Pivots since the last refactorization.
    pub(super) age: u32,
}

impl DenseTableau {
    /// Builds the tableau with all activities in the basis and every column at the bound its cost
    /// favors; false when a column has no such bound.
    pub(super) fn start(&mut self, model: &DenseModel, costs: &[f64]) -> bool {
        self.rows = model.rows;
        self.bounds.clone_from(&model.bounds);
        self.basic.clear();
        self.basic
            .extend((model.columns..model.columns + model.rows).map(|activity| activity as u32));
        self.nonbasic.clear();
        self.at_upper.clear();
        for (column, cost) in costs.iter().enumerate() {
            let [lower, upper] = model.bounds[column];
            // Without a lower bound a column of cost 0 may start at its upper one.
            let at_upper = *cost < 0.0 || lower == f64::NEG_INFINITY;
            if !(if at_upper { upper } else { lower }).is_finite() || (at_upper && *cost > 0.0) {
                return false;
            }
            // Fixed columns stay outside of the tableau; their values are in the activities.
            if lower < upper {
                self.nonbasic.push(column as u32);
                self.at_upper.push(at_upper);
            }
        }
        (self.width, self.stride) = (self.nonbasic.len(), self.nonbasic.len());
        self.fill(model, costs);
        true
    }

    /// Writes the cells of the basis of activities.
    fn fill(&mut self, model: &DenseModel, costs: &[f64]) {
        self.cells.clear();
        for row in 0..model.rows {
            let entries = model.row(row);
            self.cells.extend(
                self.nonbasic
                    .iter()
                    .map(|column| -entries[*column as usize]),
            );
        }
        self.cells
            .extend(self.nonbasic.iter().map(|column| costs[*column as usize]));
        let values = self.nonbasic_values(model.columns);
        let total = |entries: &[f64]| {
            let terms = entries.iter().zip(&values);
            terms.map(|(entry, value)| entry * value).sum::<f64>()
        };
        self.values.clear();
        self.values
            .extend((0..model.rows).map(|row| total(model.row(row))));
        self.objective = total(costs);
        self.age = 0;
    }

    /// Values of the first `count` variables, with 0 for the basic ones.
    pub(super) fn nonbasic_values(&self, count: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self.bounds[..count]
            .iter()
            .map(|[lower, _]| *lower)
            .collect();
        for (position, variable) in self.nonbasic[..self.width].iter().enumerate() {
            if let Some(value) = values.get_mut(*variable as usize) {
                *value = self.nonbasic_value(position);
            }
        }
        for variable in &self.basic {
            if let Some(value) = values.get_mut(*variable as usize) {
                *value = 0.0;
            }
        }
        values
    }

    /// The values of the first `count` variables.
    pub(super) fn point(&self, count: usize) -> Vec<f64> {
        let mut point = self.nonbasic_values(count);
        for (variable, value) in self.basic.iter().zip(&self.values) {
            if let Some(slot) = point.get_mut(*variable as usize) {
                *slot = *value;
            }
        }
        point
    }

    /// Value of a nonbasic variable.
    fn nonbasic_value(&self, position: usize) -> f64 {
        self.bounds[self.nonbasic[position] as usize][usize::from(self.at_upper[position])]
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.stride..][..self.width]
    }

    /// Reduced cost of moving a nonbasic variable off its bound, per unit.
    pub(super) fn reduced_cost_off_bound(&self, position: usize) -> f64 {
        let reduced = self.cells[self.rows * self.stride + position];
        (if self.at_upper[position] {
            -reduced
        } else {
            reduced
            // Rounding may leave a reduced cost slightly on the wrong side.
        })
        .max(0.0)
    }

    /// Increase of a basic variable per unit that a nonbasic one moves off its bound.
    pub(super) fn entry_off_bound(&self, row: usize, position: usize) -> f64 {
        let cell = self.cells[row * self.stride + position];
        if self.at_upper[position] { cell } else { -cell }
    }

    /// Copies another tableau, without the columns it removed.
    pub(super) fn copy_from(&mut self, other: &Self) {
        (self.rows, self.width, self.stride) = (other.rows, other.width, other.width);
        self.cells.clear();
        for row in 0..=other.rows {
            self.cells.extend_from_slice(other.row(row));
        }
        self.nonbasic.clear();
        self.nonbasic
            .extend_from_slice(&other.nonbasic[..other.width]);
        self.at_upper.clear();
        self.at_upper
            .extend_from_slice(&other.at_upper[..other.width]);
        self.basic.clone_from(&other.basic);
        self.values.clone_from(&other.values);
        self.bounds.clone_from(&other.bounds);
        (self.objective, self.age) = (other.objective, other.age);
    }

    /// Reoptimizes, or stops when the objective reaches the cutoff; every pivot adds its cell
    /// updates to `work`.
    pub(super) fn solve(&mut self, cutoff: f64, work: &mut u64) -> TableauStatus {
        let limit = ANTI_CYCLING_PIVOTS_PER_ROW * self.rows + MIN_ANTI_CYCLING_PIVOTS;
        for step in 0..MAX_PIVOTS_FACTOR * limit {
            let Some((row, target)) = self.worst_row(step > limit) else {
                return TableauStatus::Solved;
            };
            *work += (self.cells.len() + 2 * self.stride) as u64;
            match self.pivot_out(row, target) {
                TableauStatus::Solved if self.objective >= cutoff => return TableauStatus::CutOff,
                TableauStatus::Solved => {}
                status @ (TableauStatus::CutOff | TableauStatus::Stuck) => return status,
            }
        }
        TableauStatus::Stuck
    }

    /// The basic variable with the largest bound violation (the first violated one if
    /// `takes_first`) and the violated bound.
    fn worst_row(&self, takes_first: bool) -> Option<(usize, f64)> {
        let mut worst = (0.0, None);
        for (row, (variable, value)) in self.basic.iter().zip(&self.values).enumerate() {
            let [lower, upper] = self.bounds[*variable as usize];
            let bound = if *value < lower { lower } else { upper };
            let violation = (lower - value).max(value - upper);
            // Relative to the bound, as values of different rows have different sizes.
            if violation > FEASIBILITY_TOLERANCE * bound.abs().max(1.0) && violation > worst.0 {
                worst = (violation, Some((row, bound)));
                if takes_first {
                    break;
                }
            }
        }
        worst.1
    }

    /// Drives a basic variable out of the basis to its violated bound.
    fn pivot_out(&mut self, row: usize, target: f64) -> TableauStatus {
        let sign = if self.values[row] < target { 1.0 } else { -1.0 };
        let tolerance = FEASIBILITY_TOLERANCE * target.abs().max(1.0);
        // A variable flips at most once per pivot.
        let mut flipped = vec![false; self.width];
        loop {
            let violation = sign * (target - self.values[row]);
            let Some((position, gain)) = self.entering(row, sign, &flipped) else {
                return if violation > INFEASIBILITY_FACTOR * tolerance {
                    TableauStatus::CutOff
                } else {
                    TableauStatus::Stuck
                };
            };
            let [lower, upper] = self.bounds[self.nonbasic[position] as usize];
            // The last column must be pivoted, not flipped: only a pivot restores the signs of the
            // reduced costs of the flipped columns.
            if (upper - lower) * gain < violation - tolerance {
                flipped[position] = true;
                self.flip(position);
                continue;
            }
            if gain < PIVOT_TOLERANCE {
                return TableauStatus::Stuck;
            }
            self.pivot(row, target, position);
            return TableauStatus::Solved;
        }
    }

    /// Ratio test: the nonbasic variable with the smallest ratio that moves a row in the direction
    /// of `sign`, and the move of the row per unit.
    fn entering(&self, row: usize, sign: f64, flipped: &[bool]) -> Option<(usize, f64)> {
        let mut entering = None;
        let (mut min_ratio, mut max_gain) = (f64::INFINITY, 0.0);
        for position in (0..self.width).filter(|position| !flipped[*position]) {
            let gain = sign * self.entry_off_bound(row, position);
            if gain > ZERO_TOLERANCE {
                let ratio = self.reduced_cost_off_bound(position) / gain;
                // Among equal ratios the largest pivot has the smallest rounding error.
                if ratio < min_ratio || (ratio == min_ratio && gain > max_gain) {
                    (entering, min_ratio, max_gain) = (Some((position, gain)), ratio, gain);
                }
            }
        }
        entering
    }

    /// Moves a nonbasic variable to its other bound.
    fn flip(&mut self, position: usize) {
        let [lower, upper] = self.bounds[self.nonbasic[position] as usize];
        let change = if self.at_upper[position] {
            lower - upper
        } else {
            upper - lower
        };
        self.shift(position, change);
        self.at_upper[position] = !self.at_upper[position];
    }

    /// Changes the value of a nonbasic variable, and those of the basic ones accordingly.
    fn shift(&mut self, position: usize, change: f64) {
        let column = self.cells.iter().skip(position).step_by(self.stride);
        for (value, cell) in self.values.iter_mut().zip(column) {
            *value -= cell * change;
        }
        self.objective += self.cells[self.rows * self.stride + position] * change;
    }

    /// Exchanges a basic variable, which moves to the bound `target`, for a nonbasic one.
    fn pivot(&mut self, row: usize, target: f64, position: usize) {
        let (stride, width) = (self.stride, self.width);
        let inverse = 1.0 / self.cells[row * stride + position];
        let change = (self.values[row] - target) * inverse;
        let entered = self.nonbasic_value(position) + change;
        // Values first, while the cells are those of the old basis.
        self.shift(position, change);
        self.values[row] = entered;
        let (before, pivot_and_after) = self.cells.split_at_mut(row * stride);
        let (pivot_row, after) = pivot_and_after.split_at_mut(stride);
        let pivot_row = &mut pivot_row[..width];
        for cell in &mut *pivot_row {
            *cell *= inverse;
        }
        pivot_row[position] = inverse;
        for cells in before
            .chunks_exact_mut(stride)
            .chain(after.chunks_exact_mut(stride))
        {
            let factor = cells[position];
            // Rows without the entering column do not change.
            if factor != 0.0 {
                cells[position] = 0.0;
                for (cell, pivot) in cells[..width].iter_mut().zip(&*pivot_row) {
                    *cell -= factor * pivot;
                }
            }
        }
        self.exchange(row, position, target);
        self.age = if inverse.abs() > MAX_INVERSE_PIVOT {
            MUST_REFACTOR
        } else {
            self.age.saturating_add(1)
        };
    }

    fn exchange(&mut self, row: usize, position: usize, target: f64) {
        let leaving = std::mem::replace(&mut self.basic[row], self.nonbasic[position]);
        let [lower, upper] = self.bounds[leaving as usize];
        self.nonbasic[position] = leaving;
        // Exactly at the bound that it violated.
        self.at_upper[position] = target == upper;
        if lower == upper {
            self.remove(position);
        }
    }

    /// Removes the column of a fixed nonbasic variable.
    fn remove(&mut self, position: usize) {
        self.width -= 1;
        let last = self.width;
        for row in 0..=self.rows {
            self.cells[row * self.stride + position] = self.cells[row * self.stride + last];
        }
        self.nonbasic[position] = self.nonbasic[last];
        self.at_upper[position] = self.at_upper[last];
    }

    /// Restricts a nonbasic variable to at most `units` from its bound.
    pub(super) fn tighten_bounds(&mut self, position: usize, units: f64) {
        let value = self.nonbasic_value(position);
        let bounds = &mut self.bounds[self.nonbasic[position] as usize];
        if self.at_upper[position] {
            bounds[0] = bounds[0].max(value - units);
        } else {
            bounds[1] = bounds[1].min(value + units);
        }
        // Both bounds meet: the variable cannot move anymore.
        if bounds[0] == bounds[1] {
            self.remove(position);
        }
    }
}
