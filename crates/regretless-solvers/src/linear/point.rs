//! The point of a solve: rounded, then a solution with its objective and bound.

use regretless_base::decision::Decision;

use super::super::highs::Lp;
use super::super::{Solution, SolveFailure, SolveStatus};
use super::{LinearSearchResult, LinearSolver, SCALED_MAX_COST};

/// Significant bits of a fractional value, about ten decimal digits: later ones depend on the path
/// to a vertex.
const ROUNDING_BITS: f64 = 34.0;

/// Distance from an integer below which an integer column is rounded; above the tolerance of HiGHS,
/// 1e-6.
const INTEGER_ROUNDING_TOLERANCE: f64 = 1e-5;

/// Distance from an integer below which a continuous column is rounded.
const CONTINUOUS_ROUNDING_TOLERANCE: f64 = 1e-9;

/// Relative difference between objective and dual bound that counts as rounding.
const OPTIMALITY_TOLERANCE: f64 = 1e-6;

impl LinearSolver {
    /// Rounds values that are integral up to tolerance, other values to [`ROUNDING_BITS`], and
    /// moves all within their bounds.
    pub(super) fn round_point(&mut self) {
        for (column, value) in self.point.value.iter_mut().enumerate() {
            let tolerance = if self.model.integer[column] {
                INTEGER_ROUNDING_TOLERANCE
            } else {
                CONTINUOUS_ROUNDING_TOLERANCE
            };
            // Integer columns, and continuous ones that are integral up to rounding.
            if (*value - value.round()).abs() <= tolerance {
                *value = value.round();
            } else if !self.model.integer[column] {
                // The unit is a power of two, so rounding to it is exact.
                let unit = (value.abs().log2().floor() - ROUNDING_BITS).exp2();
                *value = (*value / unit).round() * unit;
            }
            // Rounding may leave the bounds.
            let [lower, upper] = self.model.column_bounds[column];
            *value = value.max(lower).min(upper);
        }
    }

    /// Reads the point and rounds it.
    pub(super) fn read(
        &mut self,
        lp: &Lp,
        is_complete: bool,
        scale: f64,
    ) -> Result<LinearSearchResult, SolveFailure> {
        let bound = if self.is_integral() {
            lp.bound()?
        } else {
            lp.objective()
        } / scale;
        self.nodes = if self.is_integral() {
            Some(lp.nodes()?)
        } else {
            None
        };
        lp.read_point(&mut self.point)?;
        self.round_point();
        Ok(LinearSearchResult {
            is_complete,
            bound,
            scale,
        })
    }

    pub(super) fn solution(&self, costs: &[f64], result: &LinearSearchResult) -> Solution {
        let values: Vec<f64> = self
            .predicted
            .iter()
            .map(|column| self.point.value[*column])
            .collect();
        let decision = Decision::from_dense(&values).with_fixed(self.fixed_cost());
        let objective = decision.dot(costs);
        let difference = objective - result.bound;
        // The objective's own size, or that of the scaled costs if terms cancel.
        let tolerance = OPTIMALITY_TOLERANCE * objective.abs().max(SCALED_MAX_COST / result.scale);
        if result.is_complete && difference <= tolerance {
            return Solution::optimal(decision, objective);
        }
        let gap = difference.max(0.0) / objective.abs().max(f64::MIN_POSITIVE);
        let status = if result.is_complete {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::LimitReached
        };
        // Rounding may put the bound above the objective.
        let bound = result.bound.min(objective);
        Solution::of_search(decision, objective, bound, status)
    }

    /// Cost of the columns without predicted costs at the current point.
    fn fixed_cost(&self) -> f64 {
        let mut sum = 0.0;
        for (cost, value) in self.model.cost.iter().zip(&self.point.value) {
            // Most columns have no cost of their own; infinite values times 0 would be NaN.
            if *cost != 0.0 {
                sum += cost * value;
            }
        }
        self.model.offset + sum
    }
}
