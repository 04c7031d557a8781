//! The bounded dual simplex method on a tableau that is kept whole.
//!
//! Every basic variable is `value − Σ cell · (move of a nonbasic variable)`, the objective
//! `objective + Σ reduced · move`. A nonbasic variable stands at one of its bounds, and its reduced
//! cost pushes it there. Variables that can no longer move leave the tableau. The basic variable
//! furthest outside its bounds leaves, the nonbasic one with the smallest ratio of reduced cost to
//! cell enters; one whose whole range does not suffice is moved to its other bound on the way. Ties
//! go to the larger cell, then to the lower position.

use super::DenseModel;

/// How far outside its bounds a basic variable may stay, relative to the bound (at least 1).
const FEASIBILITY_TOLERANCE: f64 = 1e-9;
/// Least size of a cell that may be pivoted on.
const PIVOT_TOLERANCE: f64 = 1e-7;
/// Cells below this count as 0.
const ZERO_TOLERANCE: f64 = 1e-11;

/// How a linear programme ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableauStatus {
    /// Cheapest point found.
    Solved,
    /// Nothing feasible, or nothing below the cutoff.
    CutOff,
    /// Numbers too doubtful to go on.
    Stuck,
}

/// Basic and nonbasic variables, and how they depend on each other.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseTableau {
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    /// Row after row, `stride` apart; the last row holds the reduced costs.
    pub(super) cells: Vec<f64>,
    pub(super) nonbasic: Vec<u32>,
    /// Whether each nonbasic variable stands at its upper bound.
    pub(super) up: Vec<bool>,
    pub(super) basic: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Bounds of all variables.
    pub(super) bounds: Vec<[f64; 2]>,
    pub(super) objective: f64,
    /// Pivots since the cells were last computed from the data.
    pub(super) age: u32,
}

impl DenseTableau {
    /// Starts with all activities in the basis and every column at the bound its cost pushes it to;
    /// false when a column has no such bound.
    pub(super) fn start(&mut self, data: &DenseModel, costs: &[f64]) -> bool {
        self.rows = data.rows;
        self.bounds.clone_from(&data.bounds);
        self.basic.clear();
        self.basic
            .extend((data.columns..data.columns + data.rows).map(|activity| activity as u32));
        self.nonbasic.clear();
        self.up.clear();
        for (column, cost) in costs.iter().enumerate() {
            let [lower, upper] = data.bounds[column];
            let up = *cost < 0.0 || lower == f64::NEG_INFINITY;
            if !(if up { upper } else { lower }).is_finite() || (up && *cost > 0.0) {
                return false;
            }
            if lower < upper {
                self.nonbasic.push(column as u32);
                self.up.push(up);
            }
        }
        (self.width, self.stride) = (self.nonbasic.len(), self.nonbasic.len());
        self.fill(data, costs);
        true
    }

    /// Writes all cells for the basis of activities.
    fn fill(&mut self, data: &DenseModel, costs: &[f64]) {
        self.cells.clear();
        for row in 0..data.rows {
            let entries = data.row(row);
            self.cells.extend(
                self.nonbasic
                    .iter()
                    .map(|column| -entries[*column as usize]),
            );
        }
        self.cells
            .extend(self.nonbasic.iter().map(|column| costs[*column as usize]));
        let place = self.nonbasic_values(data.columns);
        let total = |entries: &[f64]| {
            entries
                .iter()
                .zip(&place)
                .map(|(entry, value)| entry * value)
                .sum::<f64>()
        };
        self.values.clear();
        self.values
            .extend((0..data.rows).map(|row| total(data.row(row))));
        self.objective = total(costs);
        self.age = 0;
    }

    /// Where the first `count` variables stand, basic ones at 0.
    pub(super) fn nonbasic_values(&self, count: usize) -> Vec<f64> {
        let mut place: Vec<f64> = self.bounds[..count]
            .iter()
            .map(|[lower, _]| *lower)
            .collect();
        for (position, variable) in self.nonbasic[..self.width].iter().enumerate() {
            if let Some(place) = place.get_mut(*variable as usize) {
                *place = self.nonbasic_value(position);
            }
        }
        for variable in &self.basic {
            if let Some(place) = place.get_mut(*variable as usize) {
                *place = 0.0;
            }
        }
        place
    }

    /// The values of the first `count` variables.
    pub(super) fn point(&self, count: usize) -> Vec<f64> {
        let mut point = self.nonbasic_values(count);
        for (variable, value) in self.basic.iter().zip(&self.values) {
            if let Some(place) = point.get_mut(*variable as usize) {
                *place = *value;
            }
        }
        point
    }

    /// Where a nonbasic variable stands.
    fn nonbasic_value(&self, position: usize) -> f64 {
        self.bounds[self.nonbasic[position] as usize][usize::from(self.up[position])]
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.stride..][..self.width]
    }

    /// What moving a nonbasic variable off its bound costs per unit.
    pub(super) fn reduced_cost_toward(&self, position: usize) -> f64 {
        let reduced = self.cells[self.rows * self.stride + position];
        (if self.up[position] { -reduced } else { reduced }).max(0.0)
    }

    /// How much a basic variable rises per unit that a nonbasic one moves off its bound.
    pub(super) fn entry_toward(&self, row: usize, position: usize) -> f64 {
        let cell = self.cells[row * self.stride + position];
        if self.up[position] { cell } else { -cell }
    }

    /// Becomes equal to another tableau.
    pub(super) fn copy_from(&mut self, other: &Self) {
        (self.rows, self.width, self.stride) = (other.rows, other.width, other.width);
        self.cells.clear();
        (0..=other.rows).for_each(|row| self.cells.extend_from_slice(other.row(row)));
        self.nonbasic.clear();
        self.nonbasic
            .extend_from_slice(&other.nonbasic[..other.width]);
        self.up.clear();
        self.up.extend_from_slice(&other.up[..other.width]);
        self.basic.clone_from(&other.basic);
        self.values.clone_from(&other.values);
        self.bounds.clone_from(&other.bounds);
        (self.objective, self.age) = (other.objective, other.age);
    }

    /// Solves, or stops once the objective reaches the cutoff; every pivot adds to `work`.
    pub(super) fn solve(&mut self, cutoff: f64, work: &mut u64) -> TableauStatus {
        let patience = 20 * self.rows + 100;
        for step in 0..2 * patience {
            let Some((row, target)) = self.worst_row(step > patience) else {
                return TableauStatus::Solved;
            };
            *work += (self.cells.len() + 2 * self.stride) as u64;
            match self.pivot_out(row, target) {
                TableauStatus::Solved if self.objective >= cutoff => return TableauStatus::CutOff,
                TableauStatus::Solved => {}
                end @ (TableauStatus::CutOff | TableauStatus::Stuck) => return end,
            }
        }
        TableauStatus::Stuck
    }

    /// The basic variable furthest out of bounds and the bound it misses; the first one when
    /// careful.
    fn worst_row(&self, careful: bool) -> Option<(usize, f64)> {
        let mut worst = (0.0, None);
        for (row, (variable, value)) in self.basic.iter().zip(&self.values).enumerate() {
            let [lower, upper] = self.bounds[*variable as usize];
            let bound = if *value < lower { lower } else { upper };
            let outside = (lower - value).max(value - upper);
            if outside > FEASIBILITY_TOLERANCE * bound.abs().max(1.0) && outside > worst.0 {
                worst = (outside, Some((row, bound)));
                if careful {
                    break;
                }
            }
        }
        worst.1
    }

    /// Drives a basic variable out of the basis to a bound that it misses.
    fn pivot_out(&mut self, row: usize, target: f64) -> TableauStatus {
        let side = if self.values[row] < target { 1.0 } else { -1.0 };
        let near = FEASIBILITY_TOLERANCE * target.abs().max(1.0);
        let mut passed = vec![false; self.width];
        loop {
            let missing = side * (target - self.values[row]);
            let Some((position, gain)) = self.entering((row, side), &passed) else {
                return if missing > 10.0 * near {
                    TableauStatus::CutOff
                } else {
                    TableauStatus::Stuck
                };
            };
            let [lower, upper] = self.bounds[self.nonbasic[position] as usize];
            // What is left must be worth a pivot: only the pivot makes up for reduced costs of the
            // passed ones.
            if (upper - lower) * gain < missing - near {
                passed[position] = true;
                self.flip(position);
                continue;
            }
            if gain < PIVOT_TOLERANCE {
                return TableauStatus::Stuck;
            }
            self.pivot((row, target), position);
            return TableauStatus::Solved;
        }
    }

    /// The nonbasic variable with the smallest ratio that helps a row, and by how much it does per
    /// unit.
    fn entering(&self, (row, side): (usize, f64), passed: &[bool]) -> Option<(usize, f64)> {
        let mut chosen = None;
        let (mut min, mut largest) = (f64::INFINITY, 0.0);
        for position in (0..self.width).filter(|position| !passed[*position]) {
            let gain = side * self.entry_toward(row, position);
            if gain > ZERO_TOLERANCE {
                let ratio = self.reduced_cost_toward(position) / gain;
                if ratio < min || (ratio == min && gain > largest) {
                    (chosen, min, largest) = (Some((position, gain)), ratio, gain);
                }
            }
        }
        chosen
    }

    /// Moves a nonbasic variable to its other bound.
    fn flip(&mut self, position: usize) {
        let [lower, upper] = self.bounds[self.nonbasic[position] as usize];
        let by = if self.up[position] {
            lower - upper
        } else {
            upper - lower
        };
        self.shift(position, by);
        self.up[position] = !self.up[position];
    }

    /// Moves a nonbasic variable, and all basic ones with it.
    fn shift(&mut self, position: usize, by: f64) {
        let column = self.cells.iter().skip(position).step_by(self.stride);
        self.values
            .iter_mut()
            .zip(column)
            .for_each(|(value, cell)| *value -= cell * by);
        self.objective += self.cells[self.rows * self.stride + position] * by;
    }

    /// Exchanges a basic variable, which goes to a bound, for a nonbasic one.
    fn pivot(&mut self, (row, target): (usize, f64), position: usize) {
        let (stride, width) = (self.stride, self.width);
        let inverse = 1.0 / self.cells[row * stride + position];
        let by = (self.values[row] - target) * inverse;
        let entered = self.nonbasic_value(position) + by;
        self.shift(position, by);
        self.values[row] = entered;
        let (before, rest) = self.cells.split_at_mut(row * stride);
        let (own, after) = rest.split_at_mut(stride);
        let own = &mut own[..width];
        own.iter_mut().for_each(|cell| *cell *= inverse);
        own[position] = inverse;
        for cells in before
            .chunks_exact_mut(stride)
            .chain(after.chunks_exact_mut(stride))
        {
            let factor = cells[position];
            if factor != 0.0 {
                cells[position] = 0.0;
                cells[..width]
                    .iter_mut()
                    .zip(&*own)
                    .for_each(|(cell, pivot)| *cell -= factor * pivot);
            }
        }
        self.exchange(row, position, target);
        self.age = if inverse.abs() > 1e4 {
            u32::MAX
        } else {
            self.age.saturating_add(1)
        };
    }

    fn exchange(&mut self, row: usize, position: usize, target: f64) {
        let leaving = std::mem::replace(&mut self.basic[row], self.nonbasic[position]);
        let [lower, upper] = self.bounds[leaving as usize];
        self.nonbasic[position] = leaving;
        self.up[position] = target == upper;
        if lower == upper {
            self.remove(position);
        }
    }

    /// Takes a nonbasic variable that cannot move out of the tableau.
    fn remove(&mut self, position: usize) {
        self.width -= 1;
        let last = self.width;
        for row in 0..=self.rows {
            self.cells[row * self.stride + position] = self.cells[row * self.stride + last];
        }
        self.nonbasic[position] = self.nonbasic[last];
        self.up[position] = self.up[last];
    }

    /// Keeps a nonbasic variable within so many units of where it stands.
    pub(super) fn tighten_bounds(&mut self, position: usize, reach: f64) {
        let place = self.nonbasic_value(position);
        let bounds = &mut self.bounds[self.nonbasic[position] as usize];
        if self.up[position] {
            bounds[0] = bounds[0].max(place - reach);
        } else {
            bounds[1] = bounds[1].min(place + reach);
        }
        if bounds[0] == bounds[1] {
            self.remove(position);
        }
    }
}
