//! The incumbent and the cutoff.
//!
//! A point becomes the incumbent only if every row is satisfied up to [`FEASIBILITY_TOLERANCE`]. If
//! objectives have a granularity, a better point is better by a step; otherwise improvements below
//! [`OBJECTIVE_TOLERANCE`] of the objective do not count.

use super::{DenseModel, SearchRequest};
use crate::solve::dense_tableau::min_improvement;

/// Relative difference below which two objectives count as equal.
const OBJECTIVE_TOLERANCE: f64 = 1e-9;
/// Accepted violation of a row relative to its largest term (at least 1): smaller than that of the
/// independent check of linear problems.
const FEASIBILITY_TOLERANCE: f64 = 1e-8;

/// Distance below which a value counts as integral when it is rounded down or up.
const INTEGRALITY_TOLERANCE: f64 = 1e-6;
/// Fraction of a unit by which a move may exceed the slack of a row; the point is checked
/// afterwards.
const UNIT_TOLERANCE: f64 = 1e-9;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseIncumbent {
    point: Vec<f64>,
    objective: f64,
    cutoff: f64,
    granularity: f64,
    gap: f64,
    offset: f64,
    /// Lower bound that a complete search proves.
    proven_bound: f64,
}

impl DenseIncumbent {
    /// Resets to no incumbent.
    pub(super) fn reset(&mut self, request: &SearchRequest<'_>, granularity: f64) {
        self.point.clear();
        (self.objective, self.cutoff) = (f64::INFINITY, f64::INFINITY);
        (self.granularity, self.gap, self.offset) = (granularity, request.gap, request.offset);
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
    pub(super) fn offer(&mut self, data: &DenseModel, costs: &[f64], point: &[f64]) -> bool {
        if !(0..data.rows).all(|row| slack(data, row, point).is_some()) {
            return false;
        }
        let terms = costs.iter().zip(point);
        let objective: f64 = terms.map(|(cost, value)| cost * value).sum();
        if objective < self.objective {
            self.objective = objective;
            self.point.clear();
            self.point.extend_from_slice(point);
            let magnitude = (objective + self.offset).abs();
            let min = min_improvement(
                magnitude.max(objective.abs()),
                self.granularity,
                OBJECTIVE_TOLERANCE,
            );
            self.cutoff = objective - min.max(self.gap * magnitude);
            self.proven_bound = if self.gap * magnitude <= min {
                objective
            } else {
                self.cutoff
            };
        }
        true
    }

    /// Rounds a point of the relaxation down and up, improves the results greedily, and offers
    /// them.
    pub(super) fn offer_rounded(&mut self, data: &DenseModel, costs: &[f64], point: &[f64]) {
        for up in [false, true] {
            let mut rounded = point.to_vec();
            for (value, is_integer) in rounded.iter_mut().zip(&data.integer) {
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
            if self.offer(data, costs, &rounded) {
                improve(data, costs, &mut rounded);
                self.offer(data, costs, &rounded);
            }
        }
    }
}

/// Slacks of a row to its lower and upper bound; `None` if it is violated.
fn slack(data: &DenseModel, row: usize, point: &[f64]) -> Option<[f64; 2]> {
    let (mut activity, mut magnitude) = (0.0, 1.0_f64);
    for (entry, value) in data.row(row).iter().zip(point) {
        activity += entry * value;
        magnitude = magnitude.max((entry * value).abs());
    }
    let [lower, upper] = data.bounds[data.columns + row];
    let slacks = [activity - lower, upper - activity];
    let tolerance = FEASIBILITY_TOLERANCE * magnitude;
    let is_satisfied = slacks.iter().all(|slack| *slack >= -tolerance);
    is_satisfied.then_some(slacks)
}

/// Moves integer columns, those with the largest costs first, as far in the direction of lower cost
/// as all rows allow.
fn improve(data: &DenseModel, costs: &[f64], point: &mut [f64]) {
    let mut order: Vec<usize> = (0..data.columns)
        .filter(|column| data.integer[*column] && costs[*column] != 0.0)
        .collect();
    order.sort_by(|a, b| costs[*b].abs().total_cmp(&costs[*a].abs()));
    let mut slacks: Vec<[f64; 2]> = (0..data.rows)
        .filter_map(|row| slack(data, row, point))
        .collect();
    for column in order {
        let up = costs[column] < 0.0;
        let sign = if up { 1.0 } else { -1.0 };
        let [lower, upper] = data.bounds[column];
        let mut units = if up {
            upper - point[column]
        } else {
            point[column] - lower
        };
        for (row, [below, above]) in slacks.iter().enumerate() {
            let entry = sign * data.row(row)[column];
            if entry != 0.0 {
                let slack = if entry > 0.0 { above } else { below };
                let row_units = slack.max(0.0) / entry.abs() + UNIT_TOLERANCE;
                units = units.min(row_units.floor());
            }
        }
        if units >= 1.0 && units.is_finite() {
            point[column] += sign * units;
            for (row, [below, above]) in slacks.iter_mut().enumerate() {
                let change = sign * units * data.row(row)[column];
                *below += change;
                *above -= change;
            }
        }
    }
}
