//! A model as plain values, with the independent feasibility check of a point.

use std::sync::Arc;

use super::SparseVectors;
use regretless_base::size_limits::MAX_ABS_COST;

/// A linear model, read from a file or built in memory, from which an [`Lp`](super::Lp) is made.
/// Names and entries are shared by the models of a problem whose bounds differ per row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinearModel {
    /// Whether the objective is maximized.
    pub maximize: bool,
    /// Constant part of the objective.
    pub offset: f64,
    /// Objective coefficient of each column.
    pub cost: Vec<f64>,
    /// Lower and upper bound of each column.
    pub column_bounds: Vec<[f64; 2]>,
    /// Whether each column is integer.
    pub integer: Vec<bool>,
    /// Name of each column.
    pub column_names: Arc<Vec<String>>,
    /// Lower and upper bound of each row.
    pub row_bounds: Vec<[f64; 2]>,
    /// Name of each row.
    pub row_names: Arc<Vec<String>>,
    /// Entries of each row.
    pub rows: Arc<SparseVectors>,
}

/// Bounds rounded inward to integers; a bound within `FEASIBILITY_TOLERANCE` of an integer means
/// that integer.
pub fn integer_bounds([lower, upper]: [f64; 2]) -> [f64; 2] {
    // An integral bound is unchanged, including the sign of a zero: hashes of labels depend on it.
    let lower = if lower.fract() == 0.0 || !lower.is_finite() {
        lower
    } else {
        (lower - FEASIBILITY_TOLERANCE).ceil() + 0.0
    };
    let upper = if upper.fract() == 0.0 || !upper.is_finite() {
        upper
    } else {
        (upper + FEASIBILITY_TOLERANCE).floor() + 0.0
    };
    [lower, upper]
}

/// Violation of a row or bound that is accepted, relative to the largest number involved (at least
/// 1): the tolerance of HiGHS, as a relative one.
pub const FEASIBILITY_TOLERANCE: f64 = 1e-6;

impl LinearModel {
    /// Prepares a model of the user: bounds of integer columns are rounded inward, since HiGHS may
    /// search forever with bounds such as 1e-9 and 1; numbers whose sums would overflow are
    /// refused.
    ///
    /// # Errors
    /// A message, when an integer column has no integer within its bounds, or a number of the
    /// objective is too large.
    pub fn prepare(&mut self) -> Result<(), String> {
        for column in 0..self.column_bounds.len() {
            let ([lower, upper], name) = (self.column_bounds[column], &self.column_names[column]);
            if !self.integer[column] {
                continue;
            }
            self.column_bounds[column] = integer_bounds([lower, upper]);
            let [min, max] = self.column_bounds[column];
            if min > max && lower <= upper {
                return Err(format!(
                    "column {name} is integer, but there is no integer from {lower} to {upper}"
                ));
            }
        }
        if let Some(column) = self.cost.iter().position(|cost| cost.abs() > MAX_ABS_COST) {
            let (name, cost) = (&self.column_names[column], self.cost[column]);
            return Err(format!(
                "the cost of column {name} is {cost:e}; the absolute value of a cost is at most \
                 {MAX_ABS_COST:e}"
            ));
        }
        if self.offset.abs() > MAX_ABS_COST {
            let offset = self.offset;
            return Err(format!(
                "the constant of the objective is {offset:e}; its absolute value is at most \
                 {MAX_ABS_COST:e}"
            ));
        }
        Ok(())
    }

    /// Checks a point against bounds, integrality and rows, independently of HiGHS.
    ///
    /// # Errors
    /// A message about the first violation.
    pub fn check(&self, values: &[f64]) -> Result<(), String> {
        self.check_partial(|column| Some(values[column]))
    }

    /// Checks a partial point: known values as in [`LinearModel::check`], and rows by whether some
    /// values of the unknown columns within their bounds satisfy them.
    ///
    /// # Errors
    /// A message about the first violation.
    pub fn check_partial(&self, value: impl Fn(usize) -> Option<f64>) -> Result<(), String> {
        for column in 0..self.column_bounds.len() {
            if let Some(value) = value(column) {
                self.check_column(column, value)?;
            }
        }
        (0..self.row_bounds.len()).try_for_each(|row| self.check_row(row, &value))
    }

    fn check_column(&self, column: usize, value: f64) -> Result<(), String> {
        let ([lower, upper], name) = (self.column_bounds[column], &self.column_names[column]);
        if self.integer[column] && (value - value.round()).abs() > FEASIBILITY_TOLERANCE {
            return Err(format!("column {name} is {value}, not an integer"));
        }
        let tolerance = FEASIBILITY_TOLERANCE * value.abs().max(1.0);
        // NaN fails every comparison.
        if value >= lower - tolerance && value <= upper + tolerance {
            Ok(())
        } else {
            Err(format!(
                "column {name} is {value}, outside {lower} to {upper}"
            ))
        }
    }

    fn check_row(&self, row: usize, value: &impl Fn(usize) -> Option<f64>) -> Result<(), String> {
        let (mut min, mut max, mut scale) = (0.0, 0.0, 1.0_f64);
        for (column, entry) in self.rows.entries(row) {
            let range = value(column).map_or(self.column_bounds[column], |value| [value, value]);
            let [a, b] = range.map(|end| if entry == 0.0 { 0.0 } else { entry * end });
            min += a.min(b);
            max += a.max(b);
            for end in [a, b] {
                if end.is_finite() {
                    scale = scale.max(end.abs());
                }
            }
        }
        let [lower, upper] = self.row_bounds[row];
        let tolerance = |bound: f64| {
            let magnitude = if bound.is_finite() {
                scale.max(bound.abs())
            } else {
                scale
            };
            FEASIBILITY_TOLERANCE * magnitude
        };
        if max >= lower - tolerance(lower) && min <= upper + tolerance(upper) {
            return Ok(());
        }
        let activity = if min == max {
            format!("{min}")
        } else {
            format!("between {min} and {max}")
        };
        Err(format!(
            "row {} is {activity}, outside {lower} to {upper}",
            self.row_names[row]
        ))
    }
}
