//! The best point so far, and the objective below which a better one must lie.
//!
//! A point counts once every row holds to [`FEASIBILITY_TOLERANCE`]. Where costs lie on a grid a better point is
//! better by a step; otherwise improvements below [`OBJECTIVE_TOLERANCE`] of the objective do not count.

use super::{DenseModel, SearchRequest};

/// Share of the objective below which two objectives count as equal.
const OBJECTIVE_TOLERANCE: f64 = 1e-9;
/// Share of a step that rounding errors never reach.
const ROUNDING_FRACTION: f64 = 1e-3;
/// How far a row may be missed, relative to the greatest number in it (at least 1).
const FEASIBILITY_TOLERANCE: f64 = 1e-8;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseIncumbent {
    point: Vec<f64>,
    objective: f64,
    cutoff: f64,
    granularity: f64,
    gap: f64,
    offset: f64,
    /// No point costs less than this, once a search is complete.
    proved: f64,
}

impl DenseIncumbent {
    /// Forgets everything.
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

    /// What a complete search that left out nothing below the cutoff proves.
    pub(super) fn proven_bound(&self) -> f64 {
        self.proved
    }

    /// What cannot get below this is of no interest.
    pub(super) fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Considers a point; false when a row does not hold.
    pub(super) fn offer(&mut self, data: &DenseModel, costs: &[f64], point: &[f64]) -> bool {
        if !(0..data.rows).all(|row| slack(data, row, point).is_some()) {
            return false;
        }
        let objective: f64 = costs
            .iter()
            .zip(point)
            .map(|(cost, value)| cost * value)
            .sum();
        if objective < self.objective {
            self.objective = objective;
            self.point.clear();
            self.point.extend_from_slice(point);
            let size = (objective + self.offset).abs();
            let min = if self.granularity > 0.0 {
                self.granularity * (1.0 - ROUNDING_FRACTION)
            } else {
                OBJECTIVE_TOLERANCE * size.max(objective.abs())
            };
            self.cutoff = objective - min.max(self.gap * size);
            self.proved = if self.gap * size <= min {
                objective
            } else {
                self.cutoff
            };
        }
        true
    }

    /// Rounds a point of the relaxation down and up, and offers what comes of it.
    pub(super) fn offer_rounded(&mut self, data: &DenseModel, costs: &[f64], point: &[f64]) {
        for up in [false, true] {
            let mut rounded = point.to_vec();
            for (value, _) in rounded
                .iter_mut()
                .zip(&data.integer)
                .filter(|(_, integer)| **integer)
            {
                let near = (*value - value.round()).abs() < 1e-6;
                *value = if near {
                    value.round()
                } else if up {
                    value.ceil()
                } else {
                    value.floor()
                };
            }
            if self.offer(data, costs, &rounded) {
                fill(data, costs, &mut rounded);
                self.offer(data, costs, &rounded);
            }
        }
    }
}

/// What is left to the bounds of a row; `None` when it does not hold.
fn slack(data: &DenseModel, row: usize, point: &[f64]) -> Option<[f64; 2]> {
    let (mut activity, mut size) = (0.0, 1.0_f64);
    for (entry, value) in data.row(row).iter().zip(point) {
        activity += entry * value;
        size = size.max((entry * value).abs());
    }
    let [lower, upper] = data.bounds[data.columns + row];
    let room = [activity - lower, upper - activity];
    room.iter()
        .all(|room| *room >= -FEASIBILITY_TOLERANCE * size)
        .then_some(room)
}

/// Moves whole columns, the dearest first, as far in the direction of less cost as all rows allow.
fn fill(data: &DenseModel, costs: &[f64], point: &mut [f64]) {
    let mut order: Vec<usize> = (0..data.columns)
        .filter(|column| data.integer[*column] && costs[*column] != 0.0)
        .collect();
    order.sort_by(|a, b| costs[*b].abs().total_cmp(&costs[*a].abs()));
    let mut rooms: Vec<[f64; 2]> = (0..data.rows)
        .filter_map(|row| slack(data, row, point))
        .collect();
    for column in order {
        let up = costs[column] < 0.0;
        let sign = if up { 1.0 } else { -1.0 };
        let [lower, upper] = data.bounds[column];
        let mut reach = if up {
            upper - point[column]
        } else {
            point[column] - lower
        };
        for (row, room) in rooms.iter().enumerate() {
            let entry = sign * data.row(row)[column];
            if entry != 0.0 {
                reach = reach
                    .min((room[usize::from(entry > 0.0)].max(0.0) / entry.abs() + 1e-9).floor());
            }
        }
        if reach >= 1.0 && reach.is_finite() {
            point[column] += sign * reach;
            for (row, room) in rooms.iter_mut().enumerate() {
                let by = sign * reach * data.row(row)[column];
                *room = [room[0] + by, room[1] - by];
            }
        }
    }
}
