//! The numbers by which rows act on parameters: features times what brings predictions to the length of the
//! truth, on the way there, and times what makes a gradient of slopes, on the way back.

use super::kernel::{Batch, ROWS};
use super::slope::Truth;
use crate::loss::BaseError;
use crate::train::{Objective, Ready};

/// Shorter predictions have no direction.
const SHORTEST: f64 = 1e-12;

/// What stays the same about every row of the table.
pub(super) struct Facts {
    /// Features per row, and the 1 of the bias.
    width: usize,
    features: Vec<f64>,
    /// Lengths of costs; empty without normalisation.
    norms: Vec<f64>,
    /// The factor between a slope and a gradient, in a batch of one.
    slopes: Vec<f64>,
    /// The factor between the sum of a row's errors and its loss.
    units: Vec<f64>,
}

/// The length of a prediction at one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    /// That of the prediction, or of the truth where the prediction has none; 1 without normalisation.
    divisor: f64,
    /// What brings the prediction to the length of the truth.
    stretch: f64,
    /// Whether the way back removes the part along the prediction.
    directed: bool,
}

impl Facts {
    pub(super) fn new(ready: &Ready<'_>, objective: Objective<'_>, (error, normal): (BaseError, bool)) -> Self {
        let (rows, costs) = (0..ready.task.data.len(), ready.task.data.data().costs());
        let (count, factor) = (costs.cols() as f64, ready.rescaling(objective));
        let norms: Vec<f64> = if normal { rows.clone().map(|row| norm(costs.row(row))).collect() } else { Vec::new() };
        let unit = |row: usize| norms.get(row).copied().unwrap_or(1.0);
        let weight = |row: usize| objective.weight(row) / count;
        let both = |row: usize| match error {
            BaseError::Absolute => (factor * weight(row), weight(row) / unit(row)),
            BaseError::Squared => (2.0 * factor * weight(row) / unit(row), weight(row) / (unit(row) * unit(row))),
        };
        let (slopes, units) = rows.clone().map(both).unzip();
        let features = |row| ready.features.of(row).iter().map(|z| f64::from(*z)).chain([1.0]);
        let width = ready.features.names().len() + 1;
        Self { width, features: rows.flat_map(features).collect(), norms, slopes, units }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Features of a row, and a 1.
    pub(super) fn features(&self, row: usize) -> &[f64] {
        &self.features[row * self.width..][..self.width]
    }

    /// The loss of a row, from the sum of its errors.
    pub(super) fn loss(&self, row: usize, sum: f64) -> f64 {
        self.units[row] * sum
    }

    /// Lengths of the predictions of rows, by the Gram matrix of the parameters.
    pub(super) fn lengths(&self, rows: &[usize], gram: &[f64], out: &mut Vec<Length>) {
        out.clear();
        for row in rows {
            let length = match self.norms.get(*row) {
                Some(truth) => Length::new(*truth, self.square(*row, gram).max(0.0).sqrt()),
                None => Length { divisor: 1.0, stretch: 1.0, directed: false },
            };
            out.push(length);
        }
    }

    /// The squared length of a prediction.
    fn square(&self, row: usize, gram: &[f64]) -> f64 {
        let z = self.features(row);
        let mut square = 0.0;
        for (line, a) in gram.chunks_exact(self.width).zip(z) {
            let mut inner = 0.0;
            for (g, b) in line.iter().zip(z) {
                inner += g * b;
            }
            square += a * inner;
        }
        square
    }

    /// The small matrix of the way back through the normalisation, for four parameters at a time; `totals`
    /// are the slopes of each row times its errors, then times its costs.
    pub(super) fn correction(&self, (rows, lengths): (&[usize], &[Length]), totals: &[f64], out: &mut Correction) {
        let (errors, costs) = totals.split_at(totals.len() / 2);
        out.matrix.clear();
        out.matrix.resize(self.width * self.width, 0.0);
        for (i, (row, length)) in rows.iter().zip(lengths).enumerate().filter(|(_, (_, length))| length.directed) {
            let dot = (errors[i] - costs[i]) / length.stretch;
            let share = -self.slopes[*row] / rows.len() as f64 * dot / length.divisor.powi(3);
            let z = self.features(*row);
            for (line, a) in out.matrix.chunks_exact_mut(self.width).zip(z) {
                for (sum, b) in line.iter_mut().zip(z) {
                    *sum += share * a * b;
                }
            }
        }
        out.interleave(self.width);
    }
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt().max(SHORTEST)
}

impl Length {
    fn new(truth: f64, length: f64) -> Self {
        let directed = length >= SHORTEST;
        Self { divisor: if directed { length } else { truth }, stretch: truth / length.max(SHORTEST), directed }
    }
}

/// The small matrix of the way back through the normalisation.
#[derive(Debug, Clone, Default)]
pub(super) struct Correction {
    matrix: Vec<f64>,
    /// The same for the kernel: four columns beside each other, one four after the other.
    pub(super) fours: Vec<[f32; ROWS]>,
}

impl Correction {
    fn interleave(&mut self, width: usize) {
        self.fours.clear();
        for first in (0..width).step_by(ROWS) {
            for line in self.matrix.chunks_exact(width) {
                let entry = |i: usize| line.get(first + i).map_or(0.0, |entry| *entry as f32);
                self.fours.push([entry(0), entry(1), entry(2), entry(3)]);
            }
        }
    }
}

/// Numbers of rows for the kernel: four rows beside each other, one four after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    ahead: Vec<[f32; ROWS]>,
    back: Vec<[f32; ROWS]>,
}

impl Numbers {
    pub(super) fn clear(&mut self) {
        self.ahead.clear();
        self.back.clear();
    }

    /// Adds the rows of a step.
    pub(super) fn push(&mut self, facts: &Facts, rows: &[usize], lengths: &[Length]) {
        for (four, lengths) in rows.chunks(ROWS).zip(lengths.chunks(ROWS)) {
            let start = self.ahead.len();
            self.ahead.resize(start + facts.width, [0.0; ROWS]);
            self.back.resize(start + facts.width, [0.0; ROWS]);
            for (i, (row, length)) in four.iter().zip(lengths).enumerate() {
                let back = facts.slopes[*row] / (rows.len() as f64 * length.divisor);
                let out = self.ahead[start..].iter_mut().zip(&mut self.back[start..]);
                for ((to_ahead, to_back), z) in out.zip(facts.features(*row)) {
                    to_ahead[i] = (-length.stretch * z) as f32;
                    to_back[i] = (-back * z) as f32;
                }
            }
        }
    }

    /// The rows of a step whose numbers begin with this four.
    pub(super) fn batch<'b>(&'b self, first: usize, truths: &'b [[Truth<'b>; ROWS]], width: usize) -> Batch<'b> {
        let range = first * width..(first + truths.len()) * width;
        Batch { ahead: &self.ahead[range.clone()], back: &self.back[range], truths, soon: &[], distance: 0 }
    }
}
