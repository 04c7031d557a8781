//! A whole model as plain values, and whether a point satisfies it.

use super::SparseVectors;
use crate::size_limits::MAX_ABS_COST;

/// A linear model: what is read from a file, or built to make an [`Lp`](super::Lp) from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinearModel {
    /// Whether the objective is to be maximised.
    pub maximize: bool,
    /// Constant part of the objective.
    pub offset: f64,
    /// Objective coefficient of each column.
    pub cost: Vec<f64>,
    /// Least and greatest value of each column.
    pub column_bounds: Vec<[f64; 2]>,
    /// Whether each column takes whole numbers only.
    pub integer: Vec<bool>,
    /// Name of each column.
    pub column_names: Vec<String>,
    /// Least and greatest activity of each row.
    pub row_bounds: Vec<[f64; 2]>,
    /// Name of each row.
    pub row_names: Vec<String>,
    /// Entries of each row.
    pub rows: SparseVectors,
}

/// The whole numbers within bounds; a bound that misses one by less than [`FEASIBILITY_TOLERANCE`] means it.
pub(crate) fn integer_bounds([lower, upper]: [f64; 2]) -> [f64; 2] {
    // A bound that is whole stays as it is, to the sign of its zero: labels are known by it.
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

/// How far a row or bound may be missed, relative to the greatest number involved (at least 1).
pub const FEASIBILITY_TOLERANCE: f64 = 1e-6;

impl LinearModel {
    /// Prepares a model that came from outside: bounds of whole columns are rounded inwards, since
    /// HiGHS can search for ever between 1e-9 and 1; numbers whose sums would overflow are refused.
    ///
    /// # Errors
    /// When a column has no whole number within its bounds, or a number of the objective is too
    /// large, in words.
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
                    "column {name} takes whole numbers, and there is none from {lower} to {upper}"
                ));
            }
        }
        if let Some(column) = self.cost.iter().position(|cost| cost.abs() > MAX_ABS_COST) {
            let (name, cost) = (&self.column_names[column], self.cost[column]);
            return Err(format!(
                "column {name} costs {cost:e}; costs go up to {MAX_ABS_COST:e} in size"
            ));
        }
        if self.offset.abs() > MAX_ABS_COST {
            let offset = self.offset;
            return Err(format!(
                "the objective's constant is {offset:e}; it may go up to {MAX_ABS_COST:e} in size"
            ));
        }
        Ok(())
    }

    /// Checks a point against bounds, whole numbers and rows, without HiGHS.
    ///
    /// # Errors
    /// The first that does not hold, in words.
    pub fn check(&self, values: &[f64]) -> Result<(), String> {
        self.check_partly(|column| Some(values[column]))
    }

    /// Checks what can be checked when some values are not known: known ones as in
    /// [`Model::check`], and rows by whether any values within the bounds of the unknown columns
    /// would do.
    ///
    /// # Errors
    /// The first that does not hold, in words.
    pub fn check_partly(&self, value: impl Fn(usize) -> Option<f64>) -> Result<(), String> {
        for column in 0..self.column_bounds.len() {
            value(column).map_or(Ok(()), |value| self.check_column(column, value))?;
        }
        (0..self.row_bounds.len()).try_for_each(|row| self.check_row(row, &value))
    }

    fn check_column(&self, column: usize, value: f64) -> Result<(), String> {
        let ([lower, upper], name) = (self.column_bounds[column], &self.column_names[column]);
        if self.integer[column] && (value - value.round()).abs() > FEASIBILITY_TOLERANCE {
            return Err(format!("column {name} is {value}, not a whole number"));
        }
        let slack = FEASIBILITY_TOLERANCE * value.abs().max(1.0);
        // A value that is not a number fails every comparison.
        let inside = value >= lower - slack && value <= upper + slack;
        if inside {
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
            scale = [a, b]
                .iter()
                .filter(|end| end.is_finite())
                .fold(scale, |scale, end| scale.max(end.abs()));
        }
        let [lower, upper] = self.row_bounds[row];
        let slack = |bound: f64| {
            FEASIBILITY_TOLERANCE
                * if bound.is_finite() {
                    scale.max(bound.abs())
                } else {
                    scale
                }
        };
        if max >= lower - slack(lower) && min <= upper + slack(upper) {
            return Ok(());
        }
        let found = if min == max {
            format!("{min}")
        } else {
            format!("between {min} and {max}")
        };
        Err(format!(
            "row {} is {found}, outside {lower} to {upper}",
            self.row_names[row]
        ))
    }
}
