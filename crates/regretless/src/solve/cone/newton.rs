//! Projection on a cone by a semismooth Newton method.
//!
//! The function of the multipliers is convex and piecewise quadratic. On the piece at hand its
//! second derivative is `A_D A_Dᵀ`, with the columns `D` that are not explained yet; each step
//! solves with its Cholesky factor. The matrix is singular when rows depend on each other; a share
//! of the slope is added to its diagonal, at least a trifle, and keeps steps short that would lead
//! to other pieces. Inequalities whose multiplier is 0 and would fall are left out of a step
//! (projected Newton, Bertsekas 1982), and a step is halved until the function falls enough.

use super::NormalCone;

/// Share of the vector's length at which the gradient counts as 0.
const GRADIENT_TOLERANCE: f64 = 1e-13;
/// What is added to the diagonal at least, as a share of its greatest entry.
const MIN_DIAGONAL_SHIFT: f64 = 1e-10;
/// Share of the promised fall that a step must bring.
const ARMIJO_FRACTION: f64 = 1e-4;

/// Share of the function below which a fall is lost in rounding.
const ROUNDING_TOLERANCE: f64 = 1e-14;

/// The point of a cone nearest to a vector, or where the method stands after this many steps: what
/// rows and rays explain of the vector is in the cone at every step.
pub(super) fn project(cone: &NormalCone, vector: &[f64], steps: usize) -> Vec<f64> {
    let mut newton = SemismoothNewton::new(cone, vector);
    for _ in 0..steps {
        if !newton.step() {
            break;
        }
    }
    vector
        .iter()
        .zip(&newton.rest)
        .map(|(entry, rest)| entry - rest)
        .collect()
}

struct SemismoothNewton<'a> {
    cone: &'a NormalCone,
    vector: &'a [f64],
    length: f64,
    multipliers: Vec<f64>,
    /// What is not explained yet; the projection is the vector without it.
    rest: Vec<f64>,
    half_square: f64,
    /// The entries of all rows by column: where each column starts, and row and value of each
    /// entry.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// Columns of which something is left.
    unexplained: Vec<u32>,
    /// Rows whose multipliers the present step moves.
    moving: Vec<u32>,
    trial: (Vec<f64>, Vec<f64>),
}

impl<'a> SemismoothNewton<'a> {
    fn new(cone: &'a NormalCone, vector: &'a [f64]) -> Self {
        let (multipliers, rest) = (vec![0.0; cone.num_rows()], vec![0.0; vector.len()]);
        let length = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let (starts, entries) = columns(cone);
        let trial = (multipliers.clone(), rest.clone());
        let (half_square, unexplained, moving) =
            (0.0, Vec::with_capacity(vector.len()), Vec::new());
        let mut newton = Self {
            cone,
            vector,
            length,
            multipliers,
            rest,
            half_square,
            starts,
            entries,
            unexplained,
            moving,
            trial,
        };
        let half_square = newton.try_step(0.0, &[]);
        newton.accept_step(half_square);
        newton
    }

    /// Row and value of each entry of a column.
    fn column(&self, column: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[column]..self.starts[column + 1]]
    }

    /// Lists the columns that are not explained yet, without a branch that no processor could
    /// foresee.
    fn list_active_columns(&mut self) {
        self.unexplained.resize(self.rest.len(), 0);
        let mut count = 0;
        for (column, rest) in self.rest.iter().enumerate() {
            self.unexplained[count] = column as u32;
            count += usize::from(*rest != 0.0);
        }
        self.unexplained.truncate(count);
    }

    /// One step; false when there is nothing to gain.
    fn step(&mut self) -> bool {
        let mut slope = self.slope();
        let held: Vec<bool> = slope
            .iter()
            .enumerate()
            .map(|(row, slope)| self.is_held(row, *slope))
            .collect();
        self.moving.clear();
        self.moving.extend(
            (0..)
                .zip(&held)
                .filter(|(_, held)| !**held)
                .map(|(row, _)| row),
        );
        slope
            .iter_mut()
            .zip(&held)
            .filter(|(_, held)| **held)
            .for_each(|(slope, _)| *slope = 0.0);
        let steepest = steepest(&slope);
        if steepest <= GRADIENT_TOLERANCE * self.length {
            return false;
        }
        let mut factor = self.curvature(MIN_DIAGONAL_SHIFT.max(steepest / self.length));
        let mut moves: Vec<f64> = self
            .moving
            .iter()
            .map(|row| -slope[*row as usize])
            .collect();
        solve(&mut factor, &mut moves);
        let mut direction = vec![0.0; slope.len()];
        self.moving
            .iter()
            .zip(moves)
            .for_each(|(row, by)| direction[*row as usize] = by);
        self.search(&slope, &direction) || self.polish(&direction, steepest)
    }

    /// Whether a row's multiplier is 0, must not fall, and would.
    fn is_held(&self, row: usize, slope: f64) -> bool {
        !self.cone.free[row]
            && self.multipliers[row] <= GRADIENT_TOLERANCE * self.length
            && slope >= 0.0
    }

    /// The gradient with respect to the multipliers.
    fn slope(&self) -> Vec<f64> {
        let mut slope = vec![0.0; self.multipliers.len()];
        for column in self.unexplained.iter().map(|column| *column as usize) {
            let rest = self.rest[column];
            self.column(column)
                .iter()
                .for_each(|(row, value)| slope[*row as usize] -= value * rest);
        }
        slope
    }

    /// The second derivative in the multipliers that move, lower triangle row after row, with this
    /// share of its greatest entry added to the diagonal.
    fn curvature(&self, extra: f64) -> Vec<f64> {
        let size = self.moving.len();
        let mut places = vec![u32::MAX; self.multipliers.len()];
        self.moving
            .iter()
            .zip(0..)
            .for_each(|(row, place)| places[*row as usize] = place);
        let mut matrix = vec![0.0; size * size];
        let mut entries: Vec<(usize, f64)> = Vec::new();
        for column in &self.unexplained {
            let placed = self
                .column(*column as usize)
                .iter()
                .map(|(row, value)| (places[*row as usize], *value));
            entries.clear();
            entries.extend(
                placed
                    .filter(|(place, _)| *place != u32::MAX)
                    .map(|(place, value)| (place as usize, value)),
            );
            for (at, (row, value)) in entries.iter().enumerate() {
                for (other, factor) in &entries[..=at] {
                    matrix[row * size + other] += value * factor;
                }
            }
        }
        let greatest = (0..size)
            .map(|row| matrix[row * (size + 1)])
            .fold(f64::MIN_POSITIVE, f64::max);
        (0..size).for_each(|row| matrix[row * (size + 1)] += extra * greatest);
        matrix
    }

    /// Goes along a direction, stopping multipliers of inequalities at 0, as far as the function
    /// falls.
    fn search(&mut self, slope: &[f64], direction: &[f64]) -> bool {
        let mut share = 1.0;
        while share > 1e-12 {
            let found = self.try_step(share, direction);
            let moves = self
                .trial
                .0
                .iter()
                .zip(&self.multipliers)
                .map(|(to, from)| to - from);
            let promised: f64 = slope.iter().zip(moves).map(|(slope, by)| slope * by).sum();
            // Nearer to 0 than this the function's own rounding would decide.
            if promised.abs() < ROUNDING_TOLERANCE * self.half_square {
                return false;
            }
            if promised < 0.0 && found <= self.half_square + ARMIJO_FRACTION * promised {
                self.accept_step(found);
                return true;
            }
            share *= 0.5;
        }
        false
    }

    /// Near the end the function is flat to its last digit; a whole step then counts when it halves
    /// the slope.
    fn polish(&mut self, direction: &[f64], steepest_before: f64) -> bool {
        let found = self.try_step(1.0, direction);
        let before = self.half_square;
        self.accept_step(found);
        let slope = self.slope();
        let open = |(row, slope): (usize, &f64)| {
            if self.is_held(row, *slope) {
                0.0
            } else {
                *slope
            }
        };
        let better = steepest(&slope.iter().enumerate().map(open).collect::<Vec<_>>())
            < 0.5 * steepest_before;
        if !better {
            self.accept_step(before);
        }
        better
    }

    /// Tries a share of a direction; returns the function there.
    fn try_step(&mut self, share: f64, direction: &[f64]) -> f64 {
        let (mut multipliers, mut rest) = std::mem::take(&mut self.trial);
        for ((row, trial), by) in multipliers.iter_mut().enumerate().zip(direction) {
            let to = self.multipliers[row] + share * by;
            *trial = if self.cone.free[row] { to } else { to.max(0.0) };
        }
        let mut total = 0.0;
        for (column, (rest, status)) in rest.iter_mut().zip(&self.cone.stands).enumerate() {
            let explained: f64 = self
                .column(column)
                .iter()
                .map(|(row, value)| multipliers[*row as usize] * value)
                .sum();
            *rest = status.residual(self.vector[column] - explained);
            total += *rest * *rest;
        }
        self.trial = (multipliers, rest);
        0.5 * total
    }

    /// Changes places with the point tried last.
    fn accept_step(&mut self, half_square: f64) {
        std::mem::swap(&mut self.multipliers, &mut self.trial.0);
        std::mem::swap(&mut self.rest, &mut self.trial.1);
        self.half_square = half_square;
        self.list_active_columns();
    }
}

fn steepest(slope: &[f64]) -> f64 {
    slope.iter().fold(0.0, |max, slope| max.max(slope.abs()))
}

/// All entries by column, rows increasing.
fn columns(cone: &NormalCone) -> (Vec<usize>, Vec<(u32, f64)>) {
    let mut starts = vec![0; cone.stands.len() + 1];
    cone.index
        .iter()
        .for_each(|column| starts[*column as usize + 1] += 1);
    for column in 1..starts.len() {
        starts[column] += starts[column - 1];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0, 0.0); cone.index.len()];
    for row in 0..cone.num_rows() {
        for (column, value) in cone.normal(row).0 {
            entries[next[column]] = (row as u32, value);
            next[column] += 1;
        }
    }
    (starts, entries)
}

/// Solves a positive definite system in place. The matrix, a lower triangle, gets its Cholesky
/// factor Uᵀ above the diagonal, and on the diagonal one over the factor's: rows of U are what
/// every loop runs along.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let size = right.len();
    for row in 0..size {
        let (above, own) = matrix.split_at_mut(row * size);
        let mut left = own[row];
        for column in 0..row {
            let factor = &above[column * size..][column..row];
            let value = own[column] * factor[0];
            subtract(value, &factor[1..], &mut own[column + 1..row]);
            above[column * size + row] = value;
            left -= value * value;
        }
        // Rounding may leave nothing of a diagonal entry; its direction is then not to be used.
        own[row] = if left > 0.0 { 1.0 / left.sqrt() } else { 0.0 };
    }
    for row in 0..size {
        let (done, rest) = right.split_at_mut(row + 1);
        let factor = &matrix[row * size..][row..size];
        done[row] *= factor[0];
        subtract(done[row], &factor[1..], rest);
    }
    for row in (0..size).rev() {
        let factor = &matrix[row * size..][row..size];
        let known: f64 = factor[1..]
            .iter()
            .zip(&right[row + 1..])
            .map(|(a, b)| a * b)
            .sum();
        right[row] = (right[row] - known) * factor[0];
    }
}

/// Takes a multiple of one list off another.
fn subtract(factor: f64, list: &[f64], from: &mut [f64]) {
    from.iter_mut()
        .zip(list)
        .for_each(|(entry, value)| *entry -= factor * value);
}
