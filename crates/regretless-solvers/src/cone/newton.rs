//! Projection onto a cone by a semismooth Newton method.
//!
//! The objective is a convex, piecewise quadratic function of the multipliers. On the current piece
//! its Hessian is `A_D A_Dᵀ`, with the columns `D` of nonzero residual; each step solves with its
//! Cholesky factor. The matrix is singular if rows are dependent, hence Levenberg–Marquardt
//! regularization: the diagonal is increased by its largest entry times ‖gradient‖/‖vector‖, at
//! least times [`MIN_DIAGONAL_SHIFT`]. This also shortens steps that would lead to other pieces.
//! Inequalities whose multiplier is 0 and would become negative are excluded from a step
//! (projected Newton, Bertsekas 1982), and a step is halved until the objective decreases enough
//! (Armijo 1966).

use super::{BoundStatus, NormalCone};

/// Fraction of the vector's norm at which the gradient counts as 0: near machine precision.
const GRADIENT_TOLERANCE: f64 = 1e-13;
/// Smallest shift of the diagonal, as a fraction of its largest entry: makes singular matrices
/// invertible without a visible change of the step.
const MIN_DIAGONAL_SHIFT: f64 = 1e-10;
/// Fraction of the predicted decrease that a step must reach (Armijo's usual constant).
const ARMIJO_FRACTION: f64 = 1e-4;

/// Fraction of the objective below which a decrease is lost in rounding.
const ROUNDING_TOLERANCE: f64 = 1e-14;
/// Shortest step of the line search: shorter ones are lost in rounding.
const MIN_STEP: f64 = 1e-12;

/// The point of a cone nearest to a vector, or the iterate after `max_steps` steps: the
/// vector minus its residual is in the cone at every step.
pub(super) fn project(cone: &NormalCone, vector: &[f64], max_steps: usize) -> Vec<f64> {
    let mut newton = SemismoothNewton::new(cone, vector);
    for _ in 0..max_steps {
        if !newton.step() {
            break;
        }
    }
    let entries = vector.iter().zip(&newton.residual);
    entries.map(|(entry, residual)| entry - residual).collect()
}

struct SemismoothNewton<'a> {
    cone: &'a NormalCone,
    vector: &'a [f64],
    /// Norm of the vector without absent variables.
    vector_norm: f64,
    multipliers: Vec<f64>,
    /// The residual; the projection is the vector minus it.
    residual: Vec<f64>,
    /// Half the squared norm of the residual.
    objective: f64,
    /// The rows in compressed sparse column form: the start of each column, and row and value of
    /// each entry.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// Columns with a nonzero residual.
    nonzero_columns: Vec<u32>,
    /// Rows whose multipliers the current step changes.
    free_rows: Vec<u32>,
    /// Multipliers of the last trial step.
    trial_multipliers: Vec<f64>,
    /// Residual of the last trial step.
    trial_residual: Vec<f64>,
}

impl<'a> SemismoothNewton<'a> {
    fn new(cone: &'a NormalCone, vector: &'a [f64]) -> Self {
        let (starts, entries) = to_csc(cone);
        let squares = vector.iter().zip(&cone.statuses).map(|(entry, status)| {
            if *status == BoundStatus::Absent {
                0.0
            } else {
                entry * entry
            }
        });
        let mut newton = Self {
            cone,
            vector,
            vector_norm: squares.sum::<f64>().sqrt(),
            multipliers: vec![0.0; cone.num_rows()],
            residual: vec![0.0; vector.len()],
            objective: 0.0,
            starts,
            entries,
            nonzero_columns: Vec::with_capacity(vector.len()),
            free_rows: Vec::new(),
            trial_multipliers: vec![0.0; cone.num_rows()],
            trial_residual: vec![0.0; vector.len()],
        };
        // A step of length 0 computes residual and objective of the start.
        let objective = newton.try_step(0.0, &[]);
        newton.swap_with_trial(objective);
        newton
    }

    /// Row and value of each entry of a column.
    fn column(&self, column: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[column]..self.starts[column + 1]]
    }

    /// Lists the columns with a nonzero residual, without an unpredictable branch.
    fn list_nonzero_columns(&mut self) {
        self.nonzero_columns.resize(self.residual.len(), 0);
        let mut count = 0;
        for (column, residual) in self.residual.iter().enumerate() {
            // Every column is written, and only kept if the counter advances: no branch to
            // mispredict.
            self.nonzero_columns[count] = column as u32;
            count += usize::from(*residual != 0.0);
        }
        self.nonzero_columns.truncate(count);
    }

    /// One step; false when the method has converged.
    fn step(&mut self) -> bool {
        let mut gradient = self.gradient();
        self.free_rows.clear();
        for (row, slope) in gradient.iter_mut().enumerate() {
            if self.is_at_active_bound(row, *slope) {
                // The multiplier would become negative: it stays at 0 and leaves the system.
                *slope = 0.0;
            } else {
                self.free_rows.push(row as u32);
            }
        }
        let norm = max_norm(&gradient);
        // The gradient is as small as rounding allows.
        if norm <= GRADIENT_TOLERANCE * self.vector_norm {
            return false;
        }
        // Far from the optimum a larger shift, as in Levenberg and Marquardt: steps are shorter and
        // always descend.
        let mut hessian = self.hessian(MIN_DIAGONAL_SHIFT.max(norm / self.vector_norm));
        let rows = self.free_rows.iter();
        let mut changes: Vec<f64> = rows.map(|row| -gradient[*row as usize]).collect();
        solve_in_place(&mut hessian, &mut changes);
        let mut direction = vec![0.0; gradient.len()];
        for (row, change) in self.free_rows.iter().zip(changes) {
            direction[*row as usize] = change;
        }
        self.line_search(&gradient, &direction) || self.polish(&direction, norm)
    }

    /// Whether a row's multiplier is at its bound 0 and would become negative.
    fn is_at_active_bound(&self, row: usize, slope: f64) -> bool {
        !self.cone.is_equation[row]
            && self.multipliers[row] <= GRADIENT_TOLERANCE * self.vector_norm
            && slope >= 0.0
    }

    /// The gradient with respect to the multipliers.
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.multipliers.len()];
        for column in &self.nonzero_columns {
            let column = *column as usize;
            let residual = self.residual[column];
            for (row, value) in self.column(column) {
                gradient[*row as usize] -= value * residual;
            }
        }
        gradient
    }

    /// The Hessian in the free multipliers, lower triangle in row-major order, with this fraction
    /// of its largest diagonal entry added to the diagonal.
    fn hessian(&self, shift: f64) -> Vec<f64> {
        let size = self.free_rows.len();
        let mut index_of_row = vec![u32::MAX; self.multipliers.len()];
        for (row, index) in self.free_rows.iter().zip(0..) {
            index_of_row[*row as usize] = index;
        }
        let mut matrix = vec![0.0; size * size];
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for column in &self.nonzero_columns {
            entries.clear();
            for (row, value) in self.column(*column as usize) {
                let index = index_of_row[*row as usize];
                if index != u32::MAX {
                    entries.push((index as usize, *value));
                }
            }
            for (i, (row, value)) in entries.iter().enumerate() {
                // The lower triangle only, as the solver of the system reads it.
                for (other, factor) in &entries[..=i] {
                    matrix[row * size + other] += value * factor;
                }
            }
        }
        let diagonal = (0..size).map(|row| matrix[row * (size + 1)]);
        let largest = diagonal.fold(f64::MIN_POSITIVE, f64::max);
        for row in 0..size {
            matrix[row * (size + 1)] += shift * largest;
        }
        matrix
    }

    /// Moves along a direction, stopping multipliers of inequalities at 0, until the objective
    /// decreases enough; false when it does not.
    fn line_search(&mut self, gradient: &[f64], direction: &[f64]) -> bool {
        let mut step = 1.0;
        while step > MIN_STEP {
            let objective = self.try_step(step, direction);
            let pairs = self.trial_multipliers.iter().zip(&self.multipliers);
            let changes = pairs.map(|(trial, current)| trial - current);
            let terms = gradient.iter().zip(changes);
            let predicted: f64 = terms.map(|(slope, change)| slope * change).sum();
            // Closer to 0 than this the rounding error of the objective would decide.
            if predicted.abs() < ROUNDING_TOLERANCE * self.objective {
                return false;
            }
            if predicted < 0.0 && objective <= self.objective + ARMIJO_FRACTION * predicted {
                self.swap_with_trial(objective);
                return true;
            }
            step *= 0.5;
        }
        false
    }

    /// Near the optimum the objective is constant to its last digit; a full step is then accepted
    /// if it halves the gradient.
    fn polish(&mut self, direction: &[f64], norm_before: f64) -> bool {
        let objective = self.try_step(1.0, direction);
        let previous = self.objective;
        self.swap_with_trial(objective);
        let mut gradient = self.gradient();
        for (row, slope) in gradient.iter_mut().enumerate() {
            if self.is_at_active_bound(row, *slope) {
                *slope = 0.0;
            }
        }
        let is_better = max_norm(&gradient) < 0.5 * norm_before;
        if !is_better {
            self.swap_with_trial(previous);
        }
        is_better
    }

    /// Tries a step along a direction; returns the objective there.
    fn try_step(&mut self, step: f64, direction: &[f64]) -> f64 {
        let mut multipliers = std::mem::take(&mut self.trial_multipliers);
        let mut residual = std::mem::take(&mut self.trial_residual);
        for ((row, trial), change) in multipliers.iter_mut().enumerate().zip(direction) {
            let moved = self.multipliers[row] + step * change;
            *trial = if self.cone.is_equation[row] {
                moved
            } else {
                moved.max(0.0)
            };
        }
        let mut total = 0.0;
        for (column, (residual, status)) in residual.iter_mut().zip(&self.cone.statuses).enumerate()
        {
            let terms = self.column(column).iter();
            let combination: f64 = terms
                .map(|(row, value)| multipliers[*row as usize] * value)
                .sum();
            *residual = status.residual(self.vector[column] - combination);
            total += *residual * *residual;
        }
        self.trial_multipliers = multipliers;
        self.trial_residual = residual;
        0.5 * total
    }

    /// Swaps the current point with the last trial point, whose objective is passed. A second swap
    /// undoes the first.
    fn swap_with_trial(&mut self, objective: f64) {
        std::mem::swap(&mut self.multipliers, &mut self.trial_multipliers);
        std::mem::swap(&mut self.residual, &mut self.trial_residual);
        self.objective = objective;
        self.list_nonzero_columns();
    }
}

fn max_norm(gradient: &[f64]) -> f64 {
    gradient.iter().fold(0.0, |max, slope| max.max(slope.abs()))
}

/// The rows in compressed sparse column form: starts of columns, and row and value of each entry.
fn to_csc(cone: &NormalCone) -> (Vec<usize>, Vec<(u32, f64)>) {
    let mut starts = vec![0; cone.statuses.len() + 1];
    for column in &cone.indices {
        starts[*column as usize + 1] += 1;
    }
    for column in 1..starts.len() {
        starts[column] += starts[column - 1];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0, 0.0); cone.indices.len()];
    for row in 0..cone.num_rows() {
        for (column, value) in cone.normal(row).0 {
            entries[next[column]] = (row as u32, value);
            next[column] += 1;
        }
    }
    (starts, entries)
}

/// Solves a positive definite system; the solution overwrites the right-hand side. The matrix is
/// passed as its lower triangle. Its Cholesky factor U is written above the diagonal, and the
/// inverse of the factor's diagonal on it: every loop runs along rows of U, contiguous in memory.
fn solve_in_place(matrix: &mut [f64], right_side: &mut [f64]) {
    let size = right_side.len();
    for row in 0..size {
        let (above, current) = matrix.split_at_mut(row * size);
        let mut pivot = current[row];
        for column in 0..row {
            let factor = &above[column * size..][column..row];
            let value = current[column] * factor[0];
            subtract_multiple(value, &factor[1..], &mut current[column + 1..row]);
            above[column * size + row] = value;
            pivot -= value * value;
        }
        // Rounding may cancel a diagonal entry; the component is then set to 0.
        current[row] = if pivot > 0.0 { 1.0 / pivot.sqrt() } else { 0.0 };
    }
    for row in 0..size {
        let (solved, later) = right_side.split_at_mut(row + 1);
        let factor = &matrix[row * size..][row..size];
        solved[row] *= factor[0];
        subtract_multiple(solved[row], &factor[1..], later);
    }
    for row in (0..size).rev() {
        let factor = &matrix[row * size..][row..size];
        let products: f64 = factor[1..]
            .iter()
            .zip(&right_side[row + 1..])
            .map(|(a, b)| a * b)
            .sum();
        right_side[row] = (right_side[row] - products) * factor[0];
    }
}

/// Subtracts a multiple of one vector from another.
fn subtract_multiple(factor: f64, vector: &[f64], target: &mut [f64]) {
    for (entry, value) in target.iter_mut().zip(vector) {
        *entry -= factor * value;
    }
}
