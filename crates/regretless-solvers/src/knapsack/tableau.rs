//! A dense simplex tableau with few rows and a column per item that is not yet fixed.
//!
//! Every basic variable is written as `value − Σ cell · nonbasic`, with one cell per row and
//! nonbasic variable, the objective as `objective + Σ reduced · nonbasic`. All variables have lower
//! bound 0; a nonbasic variable at its upper bound is replaced by its complement (`1 − x`), so
//! every nonbasic variable is 0 and every reduced cost is at least 0. Fixed items leave the
//! tableau. A pivot costs rows × columns; the search tree backtracks by copies of the tableau.

use super::items::KnapsackItems;
use crate::dense_tableau::BranchDirection;

/// A variable: an item, or the slack of a row (indexed after the items).
///
/// Its index and two flags share one word: every node copies the variables of all columns, and a
/// pivot swaps two of them, so it has half the bytes of a struct with two `bool`s, and a copy is
/// one instruction. Bit 0: complemented; bit 1: fixed; the other bits: the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableauVariable(u32);

const COMPLEMENTED_BIT: u32 = 1;
const FIXED_BIT: u32 = 2;
const FLAG_BITS: u32 = 2;

/// Inverse of a pivot from which on the tableau is refactored before its next use: the pivot's
/// rounding error is then up to 1e6 times that of an ordinary one.
const MAX_INVERSE_PIVOT: f64 = 1e6;
/// Age of a tableau that must be refactored.
const MUST_REFACTOR: u32 = u32::MAX;

impl TableauVariable {
    pub(super) fn new(index: usize) -> Self {
        Self((index as u32) << FLAG_BITS)
    }

    pub(super) fn index(self) -> usize {
        (self.0 >> FLAG_BITS) as usize
    }

    /// Whether the tableau holds `1 − x` instead of `x`.
    pub(super) fn is_complemented(self) -> bool {
        self.0 & COMPLEMENTED_BIT != 0
    }

    /// Whether the variable is fixed at 0: it leaves the tableau when it leaves the basis.
    pub(super) fn is_fixed(self) -> bool {
        self.0 & FIXED_BIT != 0
    }

    fn toggled(self) -> Self {
        Self(self.0 ^ COMPLEMENTED_BIT)
    }

    fn with_fixed(self) -> Self {
        Self(self.0 | FIXED_BIT)
    }
}

/// The data that tableaus are computed from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableauInput<'a> {
    pub(super) items: &'a KnapsackItems,
    /// Cost per item, scaled.
    pub(super) costs: &'a [f64],
}

/// The tableau of a basis.
#[derive(Debug, Clone, Default)]
pub(super) struct KnapsackTableau {
    /// Index of the first slack variable.
    pub(super) first_slack: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    /// Row-major with `stride` cells per row; the last row holds the reduced costs.
    pub(super) cells: Vec<f64>,
    /// The nonbasic variable of each column.
    pub(super) nonbasics: Vec<TableauVariable>,
    /// Smallest nonzero change of each nonbasic variable: 1 for items, 0 for slacks.
    steps: Vec<f64>,
    pub(super) basics: Vec<TableauVariable>,
    pub(super) values: Vec<f64>,
    uppers: Vec<f64>,
    pub(super) objective: f64,
    /// Right-hand sides minus the weights of the items fixed at 1.
    pub(super) residual_rhs: Vec<f64>,
    /// Cost of the items fixed at 1.
    pub(super) fixed_cost: f64,
    /// Pivots since the last refactorization.
    pub(super) age: u32,
}

impl KnapsackTableau {
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    pub(super) fn age(&self) -> u32 {
        self.age
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.stride..][..self.width]
    }

    pub(super) fn reduced_costs(&self) -> &[f64] {
        self.row(self.rows)
    }

    pub(super) fn nonbasics(&self) -> &[TableauVariable] {
        &self.nonbasics[..self.width]
    }

    pub(super) fn steps(&self) -> &[f64] {
        &self.steps[..self.width]
    }

    pub(super) fn basics(&self) -> &[TableauVariable] {
        &self.basics
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn uppers(&self) -> &[f64] {
        &self.uppers
    }

    pub(super) fn residual_rhs(&self) -> &[f64] {
        &self.residual_rhs
    }

    pub(super) fn is_item(&self, variable: TableauVariable) -> bool {
        variable.index() < self.first_slack
    }

    /// Builds the tableau of the slack basis with these free items; fixed items stay fixed.
    pub(super) fn start(&mut self, input: TableauInput, free: impl Iterator<Item = u32>) {
        let (rows, count) = (input.items.rows(), input.items.count());
        self.first_slack = count;
        self.rows = rows;
        self.nonbasics.clear();
        self.nonbasics
            .extend(free.map(|item| TableauVariable::new(item as usize)));
        self.width = self.nonbasics.len();
        self.steps.clear();
        self.steps.resize(self.width, 1.0);
        self.stride = self.width;
        self.cells.clear();
        self.cells.resize((rows + 1) * self.stride, 0.0);
        self.values.clone_from(&self.residual_rhs);
        self.objective = self.fixed_cost;
        self.age = 0;
        for position in 0..self.width {
            self.fill(position, input);
        }
    }

    /// Writes the column of a nonbasic item in the slack basis, at the bound of lower cost.
    fn fill(&mut self, position: usize, input: TableauInput) {
        let item = self.nonbasics[position].index();
        let cost = input.costs[item];
        let column = self.cells.iter_mut().skip(position).step_by(self.stride);
        let weights = input.items.column(item);
        // Items of negative cost start at 1, complemented: reduced costs are then nonnegative, and
        // the slack basis is dual feasible.
        if cost < 0.0 {
            self.nonbasics[position] = self.nonbasics[position].toggled();
            self.objective += cost;
            for (value, weight) in self.values.iter_mut().zip(weights) {
                // The items at 1 may exceed the capacities: that is what the dual simplex method
                // repairs.
                *value -= weight;
            }
            for (cell, entry) in column.zip(weights.iter().chain([&cost])) {
                *cell = -entry;
            }
        } else {
            for (cell, entry) in column.zip(weights.iter().chain([&cost])) {
                *cell = *entry;
            }
        }
    }

    /// Frees all items and restores the slack basis.
    pub(super) fn clear_fixings(&mut self, rhs: &[f64], count: usize) {
        self.residual_rhs.clear();
        self.residual_rhs.extend_from_slice(rhs);
        self.fixed_cost = 0.0;
        self.reset_basis(rhs.len(), count);
    }

    fn reset_basis(&mut self, rows: usize, count: usize) {
        self.basics.clear();
        self.basics
            .extend((0..rows).map(|row| TableauVariable::new(count + row)));
        self.uppers.clear();
        self.uppers.resize(rows, f64::INFINITY);
    }

    /// Restores the slack basis; `is_count_fixed` keeps the cardinality row an equation.
    pub(super) fn restart(&mut self, input: TableauInput, is_count_fixed: bool) {
        let mut free: Vec<u32> = Vec::with_capacity(self.width + self.rows);
        for variable in self.nonbasics().iter().chain(&self.basics) {
            if self.is_item(*variable) {
                free.push(variable.index() as u32);
            }
        }
        // In order of items, so a restart does not depend on the pivots before it.
        free.sort_unstable();
        self.reset_basis(self.rows, self.first_slack);
        if is_count_fixed {
            self.basics[self.rows - 1] = self.basics[self.rows - 1].with_fixed();
            self.uppers[self.rows - 1] = 0.0;
        }
        self.start(input, free.into_iter());
    }

    /// Copies another tableau, without the columns it removed.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.first_slack = other.first_slack;
        self.rows = other.rows;
        self.width = other.width;
        // Removed columns are not copied: the stride shrinks.
        self.stride = other.width;
        self.cells.clear();
        for row in 0..=other.rows {
            self.cells.extend_from_slice(other.row(row));
        }
        self.nonbasics.clear();
        self.nonbasics.extend_from_slice(other.nonbasics());
        self.steps.clear();
        self.steps.extend_from_slice(other.steps());
        self.basics.clone_from(&other.basics);
        self.values.clone_from(&other.values);
        self.uppers.clone_from(&other.uppers);
        self.objective = other.objective;
        self.residual_rhs.clone_from(&other.residual_rhs);
        self.fixed_cost = other.fixed_cost;
        self.age = other.age;
    }

    /// Moves a nonbasic item to its other bound.
    pub(super) fn flip(&mut self, position: usize) {
        let mut index = position;
        for value in &mut self.values {
            // Moving an item by its whole range changes every row by its cell.
            *value -= self.cells[index];
            self.cells[index] = -self.cells[index];
            index += self.stride;
        }
        self.objective += self.cells[index];
        self.cells[index] = -self.cells[index];
        self.nonbasics[position] = self.nonbasics[position].toggled();
    }

    /// Replaces a basic variable above its upper bound by its complement, which is below 0.
    pub(super) fn complement(&mut self, row: usize) {
        self.values[row] = self.uppers[row] - self.values[row];
        if self.is_item(self.basics[row]) {
            self.basics[row] = self.basics[row].toggled();
        }
        self.negate(row);
    }

    fn negate(&mut self, row: usize) {
        let start = row * self.stride;
        for cell in &mut self.cells[start..start + self.width] {
            *cell = -*cell;
        }
    }

    /// Fixes the number of chosen items: the cardinality row becomes an equation.
    pub(super) fn fix_item_count(&mut self, count: usize, rhs: f64) {
        let row = self.rows - 1;
        let shift = rhs - count as f64;
        self.residual_rhs[row] -= shift;
        self.values[row] -= shift;
        self.basics[row] = self.basics[row].with_fixed();
        self.uppers[row] = 0.0;
        // The row is driven out of the basis as one that is negative.
        if self.values[row] > 0.0 {
            self.values[row] = -self.values[row];
            self.negate(row);
        }
    }

    /// Fixes a basic item, which must leave the basis next. Returns the item if it is chosen.
    pub(super) fn fix_basic(
        &mut self,
        row: usize,
        direction: BranchDirection,
        input: TableauInput,
    ) -> Option<u32> {
        let variable = self.basics[row];
        match direction {
            BranchDirection::Down => {
                self.values[row] = -self.values[row];
                self.negate(row);
            }
            // x' = x − 1 is nonpositive, and leaves the basis at 0.
            BranchDirection::Up => self.values[row] -= 1.0,
        }
        self.basics[row] = variable.with_fixed();
        self.uppers[row] = 0.0;
        let is_chosen = variable.is_complemented() == (direction == BranchDirection::Down);
        is_chosen.then(|| self.choose_item(variable.index(), input))
    }

    /// Fixes a nonbasic item at its value. Returns the item if it is chosen.
    pub(super) fn fix_nonbasic(&mut self, position: usize, input: TableauInput) -> Option<u32> {
        let variable = self.nonbasics[position];
        self.remove(position);
        variable
            .is_complemented()
            .then(|| self.choose_item(variable.index(), input))
    }

    /// Subtracts a chosen item from the right-hand sides and adds its cost.
    pub(super) fn choose_item(&mut self, item: usize, input: TableauInput) -> u32 {
        for (rhs, weight) in self.residual_rhs.iter_mut().zip(input.items.column(item)) {
            *rhs -= weight;
        }
        self.fixed_cost += input.costs[item];
        item as u32
    }

    fn remove(&mut self, position: usize) {
        self.width -= 1;
        let last = self.width;
        // The last column takes the place: removal takes time per row, not per column.
        for row in 0..=self.rows {
            self.cells[row * self.stride + position] = self.cells[row * self.stride + last];
        }
        self.nonbasics[position] = self.nonbasics[last];
        self.steps[position] = self.steps[last];
    }

    /// Exchanges a basic variable, which becomes 0, for a nonbasic one. The elimination takes most
    /// of the time of a search.
    pub(super) fn pivot(&mut self, row: usize, position: usize) {
        let (stride, width) = (self.stride, self.width);
        // One division per pivot.
        let inverse = 1.0 / self.cells[row * stride + position];
        let (before, pivot_and_after) = self.cells.split_at_mut(row * stride);
        let (pivot_row, after) = pivot_and_after.split_at_mut(stride);
        let pivot_row = &mut pivot_row[..width];
        for cell in &mut *pivot_row {
            *cell *= inverse;
        }
        pivot_row[position] = inverse;
        let entering = self.values[row] * inverse;
        // The pivot row is borrowed apart from the others, so the inner loop has no aliasing.
        let others = before
            .chunks_exact_mut(stride)
            .chain(after.chunks_exact_mut(stride));
        let values = (0..self.rows).filter(|i| *i != row).map(Some).chain([None]);
        for (cells, value) in others.zip(values) {
            let factor = cells[position];
            cells[position] = 0.0;
            for (cell, pivot) in cells[..width].iter_mut().zip(&*pivot_row) {
                *cell -= factor * pivot;
            }
            // The last row has the reduced costs, and its value is the objective.
            match value {
                Some(i) => self.values[i] -= factor * entering,
                None => self.objective += factor * entering,
            }
        }
        self.values[row] = entering;
        self.exchange(row, position);
        self.age = if inverse.abs() > MAX_INVERSE_PIVOT {
            MUST_REFACTOR
        } else {
            self.age.saturating_add(1)
        };
    }

    /// Swaps a basic and a nonbasic variable; a fixed one is removed.
    fn exchange(&mut self, row: usize, position: usize) {
        let (leaving, entering) = (self.basics[row], self.nonbasics[position]);
        self.basics[row] = entering;
        self.uppers[row] = if self.is_item(entering) {
            1.0
        } else {
            f64::INFINITY
        };
        self.nonbasics[position] = leaving;
        self.steps[position] = if self.is_item(leaving) { 1.0 } else { 0.0 };
        // A fixed variable may never enter again.
        if leaving.is_fixed() {
            self.remove(position);
        }
    }
}
