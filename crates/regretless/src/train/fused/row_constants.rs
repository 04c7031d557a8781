//! The numbers by which rows act on parameters: features times what brings predictions to the
//! length of the truth, on the way there, and times what makes a gradient of slopes, on the way
//! back.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::kernel::{ROWS_PER_QUAD, RowBatch};
use super::slope::RowTargets;
use crate::data::norm;
use crate::loss::BaseError;
use crate::simd::{Avx2Fma, F64_LANES, dispatch_avx2};
use crate::train::{PreparedData, WeightedLoss};

/// Shorter predictions have no direction.
const MIN_NORM: f64 = 1e-12;

/// What stays the same about every row of the table.
pub(super) struct RowConstants {
    /// Features per row, and the 1 of the bias; none unless asked for.
    width: usize,
    /// Each row in whole quarters.
    features: Vec<[f64; F64_LANES]>,
    /// Lengths of costs; empty without normalisation.
    norms: Vec<f64>,
    /// The factor between a slope and a gradient, in a batch of one.
    slopes: Vec<f64>,
    /// The factor between the sum of a row's errors and its loss.
    units: Vec<f64>,
    /// What training multiplies the loss by.
    factor: f64,
}

/// The length of a prediction at one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct PredictionNorm {
    /// That of the prediction, or of the truth where the prediction has none; 1 without
    /// normalisation.
    divisor: f64,
    /// What brings the prediction to the length of the truth.
    pub(super) norm_ratio: f64,
    /// Whether the way back removes the part along the prediction.
    has_direction: bool,
}

impl RowConstants {
    pub(super) fn new(
        prepared: &PreparedData<'_>,
        objective: WeightedLoss<'_>,
        (error, normal): (BaseError, bool),
    ) -> Self {
        let (rows, costs) = (
            0..prepared.task.data.len(),
            prepared.task.data.data().costs(),
        );
        let (count, factor) = (costs.cols() as f64, prepared.rescaling(objective));
        let norms: Vec<f64> = if normal {
            rows.clone()
                .map(|row| norm(costs.row(row)).max(MIN_NORM))
                .collect()
        } else {
            Vec::new()
        };
        let unit = |row: usize| norms.get(row).copied().unwrap_or(1.0);
        let weight = |row: usize| objective.weight(row) / count;
        let both = |row: usize| match error {
            BaseError::Absolute => (factor * weight(row), weight(row) / unit(row)),
            BaseError::Squared => (
                2.0 * factor * weight(row) / unit(row),
                weight(row) / (unit(row) * unit(row)),
            ),
        };
        let (slopes, units) = rows.map(both).unzip();
        Self {
            width: 0,
            features: Vec::new(),
            norms,
            slopes,
            units,
            factor,
        }
    }

    /// The same with the features of every row, which must be those of one instance.
    pub(super) fn with_features(self, prepared: &PreparedData<'_>) -> Self {
        let width = prepared.features.names().len() + 1;
        let mut features = vec![[0.0; F64_LANES]; self.units.len() * width.div_ceil(F64_LANES)];
        for (row, out) in features
            .chunks_exact_mut(width.div_ceil(F64_LANES))
            .enumerate()
        {
            let values = prepared
                .features
                .instance(row)
                .iter()
                .map(|z| f64::from(*z))
                .chain([1.0]);
            out.as_flattened_mut()
                .iter_mut()
                .zip(values)
                .for_each(|(to, from)| *to = from);
        }
        Self {
            width,
            features,
            ..self
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Features of a row, and a 1.
    pub(super) fn features(&self, row: usize) -> &[f64] {
        &self.features_f64x4(row).as_flattened()[..self.width]
    }

    fn features_f64x4(&self, row: usize) -> &[[f64; F64_LANES]] {
        let count = self.width.div_ceil(F64_LANES);
        &self.features[row * count..][..count]
    }

    /// The loss of a row, from the sum of its errors.
    pub(super) fn loss(&self, row: usize, sum: f64) -> f64 {
        self.units[row] * sum
    }

    /// What makes losses of squared errors that were weighted as in the gradient of a batch of so
    /// many.
    pub(super) fn loss_scale(&self, batch: usize) -> f64 {
        batch as f64 / (2.0 * self.factor)
    }

    /// Lengths of the predictions of rows, by the Gram matrix of the parameters; `room` is for its
    /// quarters.
    pub(super) fn prediction_norms(
        &self,
        simd: Avx2Fma,
        rows: &[usize],
        gram: &[f64],
        (out, scratch): NormBuffers<'_>,
    ) {
        out.clear();
        scratch.clear();
        gram.chunks_exact(self.width.max(1))
            .for_each(|line| scratch.extend(line.chunks(F64_LANES).map(pad_to_f64x4)));
        for row in rows {
            let mut square = 1.0;
            if !self.norms.is_empty() {
                weigh(
                    simd,
                    self.features_f64x4(*row),
                    self.width,
                    scratch,
                    &mut square,
                );
            }
            out.push(self.norm_from_square(*row, square));
        }
    }

    /// The length of a prediction whose square is known.
    pub(super) fn norm_from_square(&self, row: usize, square: f64) -> PredictionNorm {
        match self.norms.get(row) {
            Some(targets) => PredictionNorm::new(*targets, square.max(0.0).sqrt()),
            None => PredictionNorm::UNNORMALIZED,
        }
    }

    /// What makes a gradient of slopes, for a row of a batch of so many.
    pub(super) fn backward_coefficient(
        &self,
        row: usize,
        batch: usize,
        length: PredictionNorm,
    ) -> f64 {
        self.slopes[row] / (batch as f64 * length.divisor)
    }

    /// What the way back through the normalisation makes of a prediction; `errors` and `costs` are
    /// the slopes of the row times its errors, and times its costs.
    pub(super) fn projection_coefficient(
        &self,
        row: usize,
        batch: usize,
        length: PredictionNorm,
        [errors, costs]: [f64; 2],
    ) -> f64 {
        let dot = (errors - costs) / length.norm_ratio;
        let share = -self.slopes[row] / batch as f64 * dot / length.divisor.powi(3);
        if length.has_direction { share } else { 0.0 }
    }

    /// The small matrix of the way back through the normalisation, for four parameters at a time;
    /// `totals` are the slopes of each row times its errors, then times its costs.
    pub(super) fn correction(
        &self,
        simd: Avx2Fma,
        (rows, norms): (&[usize], &[PredictionNorm]),
        totals: &[f64],
        out: &mut NormalizationCorrection,
    ) {
        let (errors, costs) = totals.split_at(totals.len() / 2);
        let has_direction = rows
            .iter()
            .zip(norms)
            .enumerate()
            .filter(|(_, (_, length))| length.has_direction);
        let share = |(i, (row, length)): (usize, (&usize, &PredictionNorm))| {
            (
                *row,
                self.projection_coefficient(*row, rows.len(), *length, [errors[i], costs[i]]),
            )
        };
        self.products(simd, has_direction.map(share), out);
    }

    /// Σ factor · z zᵀ over rows and their factors.
    pub(super) fn products(
        &self,
        simd: Avx2Fma,
        rows: impl Iterator<Item = (usize, f64)>,
        out: &mut NormalizationCorrection,
    ) {
        out.matrix.clear();
        out.matrix.resize(
            self.width * self.width.div_ceil(F64_LANES),
            [0.0; F64_LANES],
        );
        for (row, factor) in rows {
            add_square(simd, self.features_f64x4(row), factor, &mut out.matrix);
        }
        out.interleave(self.width);
    }
}

/// Where lengths go, and room.
pub(super) type NormBuffers<'a> = (&'a mut Vec<PredictionNorm>, &'a mut Vec<[f64; F64_LANES]>);

/// Up to four numbers, zeros beyond.
fn pad_to_f64x4(values: &[f64]) -> [f64; F64_LANES] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0.0))
}

dispatch_avx2! {
    /// zᵀ G z for a matrix whose lines are quarters.
    weigh = quadratic_form_body [] (z: &[[f64; F64_LANES]], width: usize, gram: &[[f64; F64_LANES]], out: &mut f64)
}

#[inline(always)]
fn quadratic_form_body(
    _: Avx2Fma,
    z: &[[f64; F64_LANES]],
    width: usize,
    gram: &[[f64; F64_LANES]],
    out: &mut f64,
) {
    let mut sums = [0.0; F64_LANES];
    let lines = &z.as_flattened()[..width];
    for (q, own) in z.iter().enumerate() {
        let mut inner = [0.0; F64_LANES];
        for (line, a) in gram.chunks_exact(z.len()).zip(lines) {
            for i in 0..F64_LANES {
                inner[i] += a * line[q][i];
            }
        }
        for i in 0..F64_LANES {
            sums[i] += inner[i] * own[i];
        }
    }
    *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

dispatch_avx2! {
    /// Adds factor · z zᵀ to a matrix whose lines are quarters.
    add_square = add_square_body [] (z: &[[f64; F64_LANES]], factor: f64, out: &mut [[f64; F64_LANES]])
}

#[inline(always)]
fn add_square_body(_: Avx2Fma, z: &[[f64; F64_LANES]], factor: f64, out: &mut [[f64; F64_LANES]]) {
    for (line, a) in out.chunks_exact_mut(z.len()).zip(z.as_flattened()) {
        for (sums, b) in line.iter_mut().zip(z) {
            for i in 0..F64_LANES {
                sums[i] += factor * a * b[i];
            }
        }
    }
}

impl PredictionNorm {
    /// That of a prediction nobody normalises.
    pub(super) const UNNORMALIZED: Self = Self {
        divisor: 1.0,
        norm_ratio: 1.0,
        has_direction: false,
    };

    fn new(targets: f64, length: f64) -> Self {
        let has_direction = length >= MIN_NORM;
        Self {
            divisor: if has_direction { length } else { targets },
            norm_ratio: targets / length.max(MIN_NORM),
            has_direction,
        }
    }
}

/// The small matrix of the way back through the normalisation.
#[derive(Debug, Clone, Default)]
pub(super) struct NormalizationCorrection {
    matrix: Vec<[f64; F64_LANES]>,
    /// The same for the kernel: four columns beside each other, one four after the other.
    pub(super) quads: Vec<[f32; ROWS_PER_QUAD]>,
}

impl NormalizationCorrection {
    fn interleave(&mut self, width: usize) {
        self.quads.clear();
        for first in (0..width).step_by(ROWS_PER_QUAD) {
            for line in self.matrix.chunks_exact(width.div_ceil(F64_LANES)) {
                self.quads
                    .push(line[first / ROWS_PER_QUAD].map(|entry| entry as f32));
            }
        }
    }
}

/// Numbers of rows for the kernel: four rows beside each other, one four after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct RowCoefficients {
    forward: Vec<[f32; ROWS_PER_QUAD]>,
    backward: Vec<[f32; ROWS_PER_QUAD]>,
}

impl RowCoefficients {
    pub(super) fn clear(&mut self) {
        self.forward.clear();
        self.backward.clear();
    }

    /// Adds the rows of a step.
    pub(super) fn push(
        &mut self,
        row_constants: &RowConstants,
        rows: &[usize],
        norms: &[PredictionNorm],
    ) {
        for (quad, norms) in rows.chunks(ROWS_PER_QUAD).zip(norms.chunks(ROWS_PER_QUAD)) {
            let start = self.forward.len();
            self.forward
                .resize(start + row_constants.width, [0.0; ROWS_PER_QUAD]);
            self.backward
                .resize(start + row_constants.width, [0.0; ROWS_PER_QUAD]);
            for (i, (row, length)) in quad.iter().zip(norms).enumerate() {
                let backward = row_constants.backward_coefficient(*row, rows.len(), *length);
                let out = self.forward[start..]
                    .iter_mut()
                    .zip(&mut self.backward[start..]);
                for ((to_ahead, to_back), z) in out.zip(row_constants.features(*row)) {
                    to_ahead[i] = (-length.norm_ratio * z) as f32;
                    to_back[i] = (-backward * z) as f32;
                }
            }
        }
    }

    /// The rows of a step whose numbers begin with this four.
    pub(super) fn batch<'b>(
        &'b self,
        first: usize,
        targets: &'b [[RowTargets<'b>; ROWS_PER_QUAD]],
        width: usize,
    ) -> RowBatch<'b> {
        let range = first * width..(first + targets.len()) * width;
        RowBatch {
            forward: &self.forward[range.clone()],
            backward: &self.backward[range],
            targets,
            prefetch_targets: &[],
            prefetch_distance: 0,
        }
    }
}
