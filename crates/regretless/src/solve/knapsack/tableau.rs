//! A simplex tableau small enough to be kept whole: few rows, and only the columns still undecided.
//!
//! Every basic variable is written as `value − Σ cell · nonbasic`, the objective as
//! `objective + Σ reduced · nonbasic`. All variables have lower bound 0; a nonbasic variable at its
//! upper bound is replaced by its complement (`1 − x`), so that every nonbasic variable stands at 0
//! and every reduced cost is at least 0. Decided items leave the tableau altogether. One pivot
//! costs rows × columns; a copy of the tableau is all that a search tree needs to come back.

use super::items::KnapsackItems;

/// A variable: an item, or the slack of a row (numbered after the items).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VariableCode(u32);

impl VariableCode {
    pub(super) fn new(variable: usize) -> Self {
        Self((variable as u32) << 2)
    }

    pub(super) fn variable(self) -> usize {
        (self.0 >> 2) as usize
    }

    /// Whether the tableau holds `1 − x` instead of `x`.
    pub(super) fn complemented(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the variable must be 0 from now on and leaves the tableau with the basis.
    pub(super) fn fixed(self) -> bool {
        self.0 & 2 != 0
    }

    fn toggled(self) -> Self {
        Self(self.0 ^ 1)
    }

    fn with_fixed(self) -> Self {
        Self(self.0 | 2)
    }
}

/// Which way a fractional item is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchDirection {
    /// The variable as held becomes 0.
    Down,
    /// The variable as held becomes 1.
    Up,
}

/// What the tableau of a node is built from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableauInput<'a> {
    pub(super) items: &'a KnapsackItems,
    /// Cost per item, scaled.
    pub(super) costs: &'a [f64],
}

/// Basic and nonbasic variables, and how they depend on each other.
#[derive(Debug, Clone, Default)]
pub(super) struct KnapsackTableau {
    /// Number of the first slack.
    pub(super) first_slack: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    /// Row after row, `stride` apart; the last row holds the reduced costs.
    pub(super) cells: Vec<f64>,
    pub(super) codes: Vec<VariableCode>,
    /// Least move of each nonbasic variable: 1 for items, 0 for slacks.
    steps: Vec<f64>,
    pub(super) basics: Vec<VariableCode>,
    pub(super) values: Vec<f64>,
    uppers: Vec<f64>,
    pub(super) objective: f64,
    /// What the decided items leave of each right-hand side.
    pub(super) rest: Vec<f64>,
    /// The cost of the decided items.
    pub(super) spent: f64,
    /// Pivots since the cells were last computed from the data.
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

    pub(super) fn reduced(&self) -> &[f64] {
        self.row(self.rows)
    }

    pub(super) fn codes(&self) -> &[VariableCode] {
        &self.codes[..self.width]
    }

    pub(super) fn steps(&self) -> &[f64] {
        &self.steps[..self.width]
    }

    pub(super) fn basics(&self) -> &[VariableCode] {
        &self.basics
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn uppers(&self) -> &[f64] {
        &self.uppers
    }

    pub(super) fn rest(&self) -> &[f64] {
        &self.rest
    }

    pub(super) fn is_item(&self, code: VariableCode) -> bool {
        code.variable() < self.first_slack
    }

    /// Starts over from the slack basis with these undecided items; what is decided stays.
    pub(super) fn start(&mut self, source: TableauInput, undecided: impl Iterator<Item = u32>) {
        let (rows, count) = (source.items.rows(), source.items.count());
        self.first_slack = count;
        self.rows = rows;
        self.codes.clear();
        self.codes
            .extend(undecided.map(|item| VariableCode::new(item as usize)));
        self.width = self.codes.len();
        self.steps.clear();
        self.steps.resize(self.width, 1.0);
        self.stride = self.width;
        self.cells.clear();
        self.cells.resize((rows + 1) * self.stride, 0.0);
        self.values.clone_from(&self.rest);
        self.objective = self.spent;
        self.age = 0;
        for position in 0..self.width {
            self.fill(position, source);
        }
    }

    /// Writes the column of an item that is nonbasic beside slacks, at its better bound.
    fn fill(&mut self, position: usize, source: TableauInput) {
        let item = self.codes[position].variable();
        let cost = source.costs[item];
        let column = self.cells.iter_mut().skip(position).step_by(self.stride);
        let weights = source.items.column(item);
        if cost < 0.0 {
            self.codes[position] = self.codes[position].toggled();
            self.objective += cost;
            self.values
                .iter_mut()
                .zip(weights)
                .for_each(|(value, weight)| *value -= weight);
            column
                .zip(weights.iter().chain([&cost]))
                .for_each(|(cell, entry)| *cell = -entry);
        } else {
            column
                .zip(weights.iter().chain([&cost]))
                .for_each(|(cell, entry)| *cell = *entry);
        }
    }

    /// Forgets all decisions; every row has its own slack in the basis.
    pub(super) fn clear_decisions(&mut self, rhs: &[f64], count: usize) {
        self.rest.clear();
        self.rest.extend_from_slice(rhs);
        self.spent = 0.0;
        self.reset_basis(rhs.len(), count);
    }

    fn reset_basis(&mut self, rows: usize, count: usize) {
        self.basics.clear();
        self.basics
            .extend((0..rows).map(|row| VariableCode::new(count + row)));
        self.uppers.clear();
        self.uppers.resize(rows, f64::INFINITY);
    }

    /// Puts the slacks back into the basis; a counting row that was fixed stays fixed.
    pub(super) fn restart(&mut self, source: TableauInput, counted: bool) {
        let mut undecided: Vec<u32> = Vec::with_capacity(self.width + self.rows);
        let held = self.codes().iter().chain(&self.basics);
        undecided.extend(
            held.filter(|code| self.is_item(**code))
                .map(|code| code.variable() as u32),
        );
        undecided.sort_unstable();
        self.reset_basis(self.rows, self.first_slack);
        if counted {
            self.basics[self.rows - 1] = self.basics[self.rows - 1].with_fixed();
            self.uppers[self.rows - 1] = 0.0;
        }
        self.start(source, undecided.into_iter());
    }

    /// Becomes equal to another tableau.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.first_slack = other.first_slack;
        self.rows = other.rows;
        self.width = other.width;
        self.stride = other.width;
        self.cells.clear();
        for row in 0..=other.rows {
            self.cells.extend_from_slice(other.row(row));
        }
        self.codes.clear();
        self.codes.extend_from_slice(other.codes());
        self.steps.clear();
        self.steps.extend_from_slice(other.steps());
        self.basics.clone_from(&other.basics);
        self.values.clone_from(&other.values);
        self.uppers.clone_from(&other.uppers);
        self.objective = other.objective;
        self.rest.clone_from(&other.rest);
        self.spent = other.spent;
        self.age = other.age;
    }

    /// Moves a nonbasic item to its other bound.
    pub(super) fn flip(&mut self, position: usize) {
        let mut at = position;
        for value in &mut self.values {
            *value -= self.cells[at];
            self.cells[at] = -self.cells[at];
            at += self.stride;
        }
        self.objective += self.cells[at];
        self.cells[at] = -self.cells[at];
        self.codes[position] = self.codes[position].toggled();
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
        self.cells[start..start + self.width]
            .iter_mut()
            .for_each(|cell| *cell = -*cell);
    }

    /// Asks for an exact number of items in all.
    pub(super) fn fix_item_count(&mut self, number: usize, rhs: f64) {
        let row = self.rows - 1;
        let shift = rhs - number as f64;
        self.rest[row] -= shift;
        self.values[row] -= shift;
        self.basics[row] = self.basics[row].with_fixed();
        self.uppers[row] = 0.0;
        if self.values[row] > 0.0 {
            self.values[row] = -self.values[row];
            self.negate(row);
        }
    }

    /// Decides a basic item; it must leave the basis next.
    pub(super) fn fix_basic(
        &mut self,
        row: usize,
        side: BranchDirection,
        source: TableauInput,
    ) -> Option<u32> {
        let code = self.basics[row];
        match side {
            BranchDirection::Down => {
                self.values[row] = -self.values[row];
                self.negate(row);
            }
            BranchDirection::Up => self.values[row] -= 1.0,
        }
        self.basics[row] = code.with_fixed();
        self.uppers[row] = 0.0;
        let taken = code.complemented() == (side == BranchDirection::Down);
        taken.then(|| self.take(code.variable(), source))
    }

    /// Decides a nonbasic item at the value it has.
    pub(super) fn fix_nonbasic(&mut self, position: usize, source: TableauInput) -> Option<u32> {
        let code = self.codes[position];
        self.remove(position);
        code.complemented()
            .then(|| self.take(code.variable(), source))
    }

    /// Books an item as taken.
    pub(super) fn take(&mut self, item: usize, source: TableauInput) -> u32 {
        for (rest, weight) in self.rest.iter_mut().zip(source.items.column(item)) {
            *rest -= weight;
        }
        self.spent += source.costs[item];
        item as u32
    }

    fn remove(&mut self, position: usize) {
        self.width -= 1;
        let last = self.width;
        for row in 0..=self.rows {
            self.cells[row * self.stride + position] = self.cells[row * self.stride + last];
        }
        self.codes[position] = self.codes[last];
        self.steps[position] = self.steps[last];
    }

    /// Exchanges a basic variable, which becomes 0, for a nonbasic one.
    pub(super) fn pivot(&mut self, row: usize, position: usize) {
        let (stride, width) = (self.stride, self.width);
        let inverse = 1.0 / self.cells[row * stride + position];
        let (before, rest) = self.cells.split_at_mut(row * stride);
        let (own, after) = rest.split_at_mut(stride);
        let own = &mut own[..width];
        own.iter_mut().for_each(|cell| *cell *= inverse);
        own[position] = inverse;
        let entering = self.values[row] * inverse;
        let others = before
            .chunks_exact_mut(stride)
            .chain(after.chunks_exact_mut(stride));
        let values = (0..self.rows).filter(|i| *i != row).map(Some).chain([None]);
        for (cells, value) in others.zip(values) {
            let factor = cells[position];
            cells[position] = 0.0;
            for (cell, pivot) in cells[..width].iter_mut().zip(&*own) {
                *cell -= factor * pivot;
            }
            match value {
                Some(i) => self.values[i] -= factor * entering,
                None => self.objective += factor * entering,
            }
        }
        self.values[row] = entering;
        self.exchange(row, position);
        self.age = if inverse.abs() > 1e6 {
            u32::MAX
        } else {
            self.age.saturating_add(1)
        };
    }

    /// Swaps the names of a basic and a nonbasic variable; a fixed one is forgotten.
    fn exchange(&mut self, row: usize, position: usize) {
        let (leaving, entering) = (self.basics[row], self.codes[position]);
        self.basics[row] = entering;
        self.uppers[row] = if self.is_item(entering) {
            1.0
        } else {
            f64::INFINITY
        };
        self.codes[position] = leaving;
        self.steps[position] = if self.is_item(leaving) { 1.0 } else { 0.0 };
        if leaving.fixed() {
            self.remove(position);
        }
    }
}
