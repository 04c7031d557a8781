//! The incumbent and the cutoff.
//!
//! A point becomes the incumbent only if every row is satisfied up to [`FEASIBILITY_TOLERANCE`]. If
//! objectives have a granularity, a better point is better by at least the granularity; otherwise
//! nodes that could improve the objective by less than [`OBJECTIVE_TOLERANCE`] of it are pruned.

use super::{DenseModel, SearchRequest};
use crate::dense_tableau::min_improvement;

/// Relative difference below which two objectives count as equal.
const OBJECTIVE_TOLERANCE: f64 = 1e-9;
/// Accepted violation of a row relative to its largest term (at least 1): smaller than that of the
/// independent check of linear problems.
const FEASIBILITY_TOLERANCE: f64 = 1e-8;

/// Distance below which a value counts as integral when it is rounded down or up.
const INTEGRALITY_TOLERANCE: f64 = 1e-6;
/// Part of an integer unit (a change of a column by 1) by which [`improve`] may exceed what the
/// slack of a row allows, so rounding errors do not cost a unit; the point is checked afterwards.
const UNIT_TOLERANCE: f64 = 1e-9;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseIncumbent {
    point: Vec<f64>,
    objective: f64,
    cutoff: f64,
    granularity: f64,
    /// Relative gap to the optimum that is allowed.
    relative_gap_tolerance: f64,
    /// Constant part of the objective; the gap is relative to the objective with it.
    objective_offset: f64,
    /// Lower bound that a complete search proves.
    proven_bound: f64,
}

impl DenseIncumbent {
    /// Resets to no incumbent.
    pub(super) fn reset(&mut self, request: &SearchRequest<'_>, granularity: f64) {
        self.point.clear();
        (self.objective, self.cutoff) = (f64::INFINITY, f64::INFINITY);
        self.granularity = granularity;
        self.relative_gap_tolerance = request.relative_gap_tolerance;
        self.objective_offset = request.objective_offset;
    }

    pub(super) fn point(&self) -> Option<&[f64]> {
        (!self.point.is_empty()).then_some(&self.point)
    }

    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    /// The lower bound that a complete search proves.
    pub(super) fn proven_bound(&self) -> f64 {
        self.proven_bound
    }

    /// Objective from which on nodes are pruned.
    pub(super) fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Offers a point; returns false if it violates a row.
    pub(super) fn offer(&mut self, model: &DenseModel, costs: &[f64], point: &[f64]) -> bool {
        if !(0..model.rows).all(|row| slack(model, row, point).is_some()) {
            return false;
        }
        let terms = costs.iter().zip(point);
        let objective: f64 = terms.map(|(cost, value)| cost * value).sum();
        if objective < self.objective {
            self.objective = objective;
            self.point.clear();
            self.point.extend_from_slice(point);
            let magnitude = (objective + self.objective_offset).abs();
            let min = min_improvement(
                magnitude.max(objective.abs()),
                self.granularity,
                OBJECTIVE_TOLERANCE,
            );
            let allowed_gap = self.relative_gap_tolerance * magnitude;
            self.cutoff = objective - min.max(allowed_gap);
            // With a gap, subtrees above the cutoff were pruned: only this is proven.
            self.proven_bound = if allowed_gap <= min {
                objective
            } else {
                self.cutoff
            };
        }
        true
    }

    /// Rounds a point of the relaxation down and up, improves the results greedily, and offers
    /// them.
    pub(super) fn offer_rounded(&mut self, model: &DenseModel, costs: &[f64], point: &[f64]) {
        // In covering models only rounding up is feasible, in packing models only rounding down.
        for up in [false, true] {
            let mut rounded = point.to_vec();
            for (value, is_integer) in rounded.iter_mut().zip(&model.integer) {
                if !is_integer {
                    continue;
                }
                let is_integral = (*value - value.round()).abs() < INTEGRALITY_TOLERANCE;
                *value = if is_integral {
                    value.round()
                } else if up {
                    value.ceil()
                } else {
                    value.floor()
                };
            }
            if self.offer(model, costs, &rounded) {
                improve(model, costs, &mut rounded);
                self.offer(model, costs, &rounded);
            }
        }
    }
}

/// Slacks of a row to its lower and upper bound; `None` if it is violated.
fn slack(model: &DenseModel, row: usize, point: &[f64]) -> Option<[f64; 2]> {
    let (mut activity, mut magnitude) = (0.0, 1.0_f64);
    for (entry, value) in model.row(row).iter().zip(point) {
        activity += entry * value;
        // The tolerance is relative to the largest term, whose rounding is the largest.
        magnitude = magnitude.max((entry * value).abs());
    }
    let [lower, upper] = model.bounds[model.columns + row];
    let slacks = [activity - lower, upper - activity];
    let tolerance = FEASIBILITY_TOLERANCE * magnitude;
    let is_satisfied = slacks.iter().all(|slack| *slack >= -tolerance);
    is_satisfied.then_some(slacks)
}

/// Moves integer columns, those with the largest absolute costs first, as far in the direction of
/// lower cost as all rows allow.
fn improve(model: &DenseModel, costs: &[f64], point: &mut [f64]) {
    let mut order: Vec<usize> = (0..model.columns)
        .filter(|column| model.integer[*column] && costs[*column] != 0.0)
        .collect();
    // A stable sort: equal costs stay in the order of the columns.
    order.sort_by(|a, b| costs[*b].abs().total_cmp(&costs[*a].abs()));
    let mut slacks: Vec<[f64; 2]> = (0..model.rows)
        .filter_map(|row| slack(model, row, point))
        .collect();
    for column in order {
        // In the direction of lower cost.
        let up = costs[column] < 0.0;
        let sign = if up { 1.0 } else { -1.0 };
        let [lower, upper] = model.bounds[column];
        let mut units = if up {
            upper - point[column]
        } else {
            point[column] - lower
        };
        for (row, [below, above]) in slacks.iter().enumerate() {
            let entry = sign * model.row(row)[column];
            if entry != 0.0 {
                let slack = if entry > 0.0 { above } else { below };
                let row_units = slack.max(0.0) / entry.abs() + UNIT_TOLERANCE;
                units = units.min(row_units.floor());
            }
        }
        // Less than a unit is no step, and an infinite one has no end.
        if units >= 1.0 && units.is_finite() {
            point[column] += sign * units;
            for (row, [below, above]) in slacks.iter_mut().enumerate() {
                let change = sign * units * model.row(row)[column];
                *below += change;
                *above -= change;
            }
        }
    }
}
