//! Per-row constants of fused training, and the coefficients by which rows act on parameters.
//!
//! ```text
//! z = (features, 1)                   a row of the table
//! ĉ = W z                             its predicted costs; c are the true ones
//! r = ‖c‖/‖ĉ‖                         the norm ratio; 1 without normalization
//! u = c − r ĉ                         its errors
//! loss = loss factor · Σ slope · u    slope: u for squared errors, ±1 for absolute ones, times
//!                                     the weight of a pinball loss; 0 where an error is free
//! forward coefficients                −r z: times W and added to c, they make u
//! backward coefficients               −b z: times slopes, they make the gradient of W
//! ```
//!
//! The backward pass through the normalization adds p ĉ zᵀ = W (p z zᵀ) to the gradient of a row,
//! with p the projection coefficient: over a batch, W times one small matrix.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::slope::RowTargets;
use super::tile_block::{ROWS_PER_PANEL, RowBatch};
use crate::data::{Matrix, norm};
use crate::loss::{BaseError, SeparableLoss};
use crate::simd::{F64_LANES, SimdToken, dispatch_simd};
use crate::train::{PreparedData, WeightedLoss};

/// A prediction with a smaller norm has no direction. Untuned: any value far below the norm of
/// useful predictions works.
const MIN_NORM: f64 = 1e-12;

/// What stays constant about every row of the table.
pub(super) struct RowConstants {
    /// The length of z; 0 without features.
    width: usize,
    /// z of each row, padded to a multiple of four.
    features: Vec<[f64; F64_LANES]>,
    /// ‖c‖ of each row; empty without normalization.
    norms: Vec<f64>,
    /// The factor between a slope and a gradient, in a batch of one row with ‖ĉ‖ = 1.
    slope_factors: Vec<f64>,
    /// The factor between Σ slope · u of a row and its loss.
    loss_factors: Vec<f64>,
    /// What training multiplies the loss by.
    rescaling: f64,
}

/// The norm of a prediction at one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct PredictionNorm {
    /// ‖ĉ‖, or ‖c‖ if the prediction has no direction; 1 without normalization.
    divisor: f64,
    /// ‖c‖/‖ĉ‖, which scales the prediction to the norm of the true costs.
    pub(super) norm_ratio: f64,
    /// Whether the backward pass removes the component along the prediction.
    has_direction: bool,
}

/// Sums of a row over all its costs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowTotals {
    /// Σ slope · u.
    pub(super) slope_dot_error: f64,
    /// Σ slope · c.
    pub(super) slope_dot_cost: f64,
}

impl RowConstants {
    /// The constants of rows with these costs, which are projected with component E.
    pub(super) fn new(
        prepared: &PreparedData<'_>,
        weighted_loss: WeightedLoss<'_>,
        separable: &SeparableLoss<'_>,
        costs: &Matrix,
    ) -> Self {
        let rows = 0..costs.rows();
        let (count, rescaling) = (costs.cols() as f64, prepared.rescaling(weighted_loss));
        let norms: Vec<f64> = if separable.scale_invariant {
            rows.clone()
                .map(|row| norm(costs.row(row)).max(MIN_NORM))
                .collect()
        } else {
            Vec::new()
        };
        let (mut slope_factors, mut loss_factors) = (Vec::new(), Vec::new());
        for row in rows {
            let norm = norms.get(row).copied().unwrap_or(1.0);
            let weight = weighted_loss.weight(row) / count;
            // The chain rule gives u the factor r = ‖c‖/‖ĉ‖, so the gradient has one ‖c‖ less in
            // its denominator than the loss. The ‖ĉ‖ of r changes from step to step: it is the
            // divisor in `backward_coefficient`.
            match separable.error {
                BaseError::Absolute => {
                    slope_factors.push(rescaling * weight);
                    loss_factors.push(weight / norm);
                }
                BaseError::Squared => {
                    slope_factors.push(2.0 * rescaling * weight / norm);
                    loss_factors.push(weight / (norm * norm));
                }
            }
        }
        Self {
            width: 0,
            features: Vec::new(),
            norms,
            slope_factors,
            loss_factors,
            rescaling,
        }
    }

    /// The same with the features of every row of a wide table.
    pub(super) fn with_features(self, prepared: &PreparedData<'_>) -> Self {
        let width = prepared.features.names().len() + 1;
        let vectors = width.div_ceil(F64_LANES);
        let mut features = vec![[0.0; F64_LANES]; self.loss_factors.len() * vectors];
        for (row, z) in features.chunks_exact_mut(vectors).enumerate() {
            let z = z.as_flattened_mut();
            for (z, value) in z.iter_mut().zip(prepared.features.instance(row)) {
                *z = f64::from(*value);
            }
            z[width - 1] = 1.0;
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

    /// z of a row: its features and a 1.
    pub(super) fn features(&self, row: usize) -> &[f64] {
        &self.features_f64x4(row).as_flattened()[..self.width]
    }

    fn features_f64x4(&self, row: usize) -> &[[f64; F64_LANES]] {
        let count = self.width.div_ceil(F64_LANES);
        &self.features[row * count..][..count]
    }

    /// The loss of a row, from its Σ slope · u.
    pub(super) fn loss(&self, row: usize, sum: f64) -> f64 {
        self.loss_factors[row] * sum
    }

    /// The losses of rows from their sums, or the first row whose loss is not finite: a later step
    /// would spread it over all parameters.
    pub(super) fn finite_losses(&self, rows: &[usize], sums: &[f64]) -> Result<Vec<f64>, usize> {
        let mut losses = Vec::with_capacity(rows.len());
        for (row, sum) in rows.iter().zip(sums) {
            let loss = self.loss(*row, *sum);
            if !loss.is_finite() {
                return Err(*row);
            }
            losses.push(loss);
        }
        Ok(losses)
    }

    /// The factor between squared errors, weighted as in the gradient of `batch` rows, and their
    /// loss.
    pub(super) fn loss_scale(&self, batch: usize) -> f64 {
        batch as f64 / (2.0 * self.rescaling)
    }

    /// Norms of the predictions of rows, ‖ĉ‖² = zᵀ G z; `gram_rows` is scratch for G, its rows
    /// padded to a multiple of four.
    pub(super) fn prediction_norms(
        &self,
        simd: SimdToken,
        rows: &[usize],
        gram: &[f64],
        out: &mut Vec<PredictionNorm>,
        gram_rows: &mut Vec<[f64; F64_LANES]>,
    ) {
        out.clear();
        gram_rows.clear();
        for gram_row in gram.chunks_exact(self.width.max(1)) {
            gram_rows.extend(gram_row.chunks(F64_LANES).map(pad_to_f64x4));
        }
        for row in rows {
            let mut square = 1.0;
            if !self.norms.is_empty() {
                let z = self.features_f64x4(*row);
                quadratic_form(simd, z, self.width, gram_rows, &mut square);
            }
            out.push(self.norm_from_square(*row, square));
        }
    }

    /// The norm of a prediction, from its square.
    pub(super) fn norm_from_square(&self, row: usize, square: f64) -> PredictionNorm {
        match self.norms.get(row) {
            // Rounding may leave the square of a prediction near 0 slightly negative.
            Some(target_norm) => PredictionNorm::new(*target_norm, square.max(0.0).sqrt()),
            None => PredictionNorm::UNNORMALIZED,
        }
    }

    /// The factor between slopes and gradient, for a row in a batch of `batch` rows.
    pub(super) fn backward_coefficient(
        &self,
        row: usize,
        batch: usize,
        norm: PredictionNorm,
    ) -> f64 {
        self.slope_factors[row] / (batch as f64 * norm.divisor)
    }

    /// The factor p of the prediction in the gradient: the backward pass through the normalization
    /// projects the gradient onto the orthogonal complement of the prediction.
    pub(super) fn projection_coefficient(
        &self,
        row: usize,
        batch: usize,
        norm: PredictionNorm,
        totals: RowTotals,
    ) -> f64 {
        if !norm.has_direction {
            return 0.0;
        }
        // u − c = −r ĉ, so −Σ slope · ĉ follows from two sums that the row has anyway.
        let dot = (totals.slope_dot_error - totals.slope_dot_cost) / norm.norm_ratio;
        // The derivative of 1/‖ĉ‖ is −ĉ/‖ĉ‖³.
        -self.slope_factors[row] / batch as f64 * dot / norm.divisor.powi(3)
    }

    /// The correction matrix of the backward pass through the normalization, Σ p · z zᵀ;
    /// `loss_sums` and `slope_dot_costs` are Σ slope · u and Σ slope · c of each row.
    pub(super) fn normalization_correction(
        &self,
        simd: SimdToken,
        rows: &[usize],
        norms: &[PredictionNorm],
        loss_sums: &[f64],
        slope_dot_costs: &[f64],
        out: &mut OuterProductSum,
    ) {
        out.clear(self.width);
        for (i, (row, norm)) in rows.iter().zip(norms).enumerate() {
            if norm.has_direction {
                let totals = RowTotals {
                    slope_dot_error: loss_sums[i],
                    slope_dot_cost: slope_dot_costs[i],
                };
                let factor = self.projection_coefficient(*row, rows.len(), *norm, totals);
                out.add(simd, self.features_f64x4(*row), factor);
            }
        }
        out.interleave(self.width);
    }

    /// Σ z zᵀ over the rows of a batch, weighted by their backward coefficients without
    /// normalization.
    pub(super) fn weighted_products(&self, simd: SimdToken, rows: &[usize]) -> OuterProductSum {
        let mut out = OuterProductSum::default();
        out.clear(self.width);
        for row in rows {
            let norm = PredictionNorm::UNNORMALIZED;
            let factor = self.backward_coefficient(*row, rows.len(), norm);
            out.add(simd, self.features_f64x4(*row), factor);
        }
        out.interleave(self.width);
        out
    }
}

/// Up to four values, padded with zeros.
fn pad_to_f64x4(values: &[f64]) -> [f64; F64_LANES] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0.0))
}

dispatch_simd! {
    /// zᵀ G z for a matrix whose rows are padded to a multiple of four.
    quadratic_form = quadratic_form_body [] (
        z: &[[f64; F64_LANES]], width: usize, gram: &[[f64; F64_LANES]], out: &mut f64,
    )
}

#[inline(always)]
fn quadratic_form_body(
    _: SimdToken,
    z: &[[f64; F64_LANES]],
    width: usize,
    gram: &[[f64; F64_LANES]],
    out: &mut f64,
) {
    let mut sums = [0.0; F64_LANES];
    let entries = &z.as_flattened()[..width];
    for (q, z_vector) in z.iter().enumerate() {
        let mut inner = [0.0; F64_LANES];
        for (row, a) in gram.chunks_exact(z.len()).zip(entries) {
            for i in 0..F64_LANES {
                inner[i] += a * row[q][i];
            }
        }
        for i in 0..F64_LANES {
            sums[i] += inner[i] * z_vector[i];
        }
    }
    // Four partial sums, joined in one order: the bits do not depend on the instruction set.
    *out = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

dispatch_simd! {
    /// Adds factor · z zᵀ to a matrix whose rows are padded to a multiple of four.
    add_outer_product = add_outer_product_body [] (
        z: &[[f64; F64_LANES]], factor: f64, out: &mut [[f64; F64_LANES]],
    )
}

#[inline(always)]
fn add_outer_product_body(
    _: SimdToken,
    z: &[[f64; F64_LANES]],
    factor: f64,
    out: &mut [[f64; F64_LANES]],
) {
    for (row, a) in out.chunks_exact_mut(z.len()).zip(z.as_flattened()) {
        for (sums, b) in row.iter_mut().zip(z) {
            for i in 0..F64_LANES {
                sums[i] += factor * a * b[i];
            }
        }
    }
}

impl PredictionNorm {
    /// The norm of a prediction that is not normalized.
    pub(super) const UNNORMALIZED: Self = Self {
        divisor: 1.0,
        norm_ratio: 1.0,
        has_direction: false,
    };

    fn new(target_norm: f64, norm: f64) -> Self {
        let has_direction = norm >= MIN_NORM;
        Self {
            divisor: if has_direction { norm } else { target_norm },
            norm_ratio: target_norm / norm.max(MIN_NORM),
            has_direction,
        }
    }
}

/// Σ factor · z zᵀ over rows: the correction matrix of the backward pass through the normalization,
/// or the products of features if squared errors are expanded.
#[derive(Debug, Clone, Default)]
pub(super) struct OuterProductSum {
    matrix: Vec<[f64; F64_LANES]>,
    /// The same in single precision, as the kernel reads it: for each four columns, their entries
    /// in every row.
    pub(super) interleaved: Vec<[f32; ROWS_PER_PANEL]>,
}

impl OuterProductSum {
    fn clear(&mut self, width: usize) {
        self.matrix.clear();
        let vectors = width * width.div_ceil(F64_LANES);
        self.matrix.resize(vectors, [0.0; F64_LANES]);
    }

    fn add(&mut self, simd: SimdToken, z: &[[f64; F64_LANES]], factor: f64) {
        add_outer_product(simd, z, factor, &mut self.matrix);
    }

    fn interleave(&mut self, width: usize) {
        self.interleaved.clear();
        let vectors_per_row = width.div_ceil(F64_LANES);
        for vector in 0..vectors_per_row {
            for row in self.matrix.chunks_exact(vectors_per_row) {
                self.interleaved.push(row[vector].map(|entry| entry as f32));
            }
        }
    }
}

/// Coefficients of rows as the kernel reads them: per panel of four rows, four values for each
/// entry of z.
#[derive(Debug, Clone, Default)]
pub(super) struct RowCoefficients {
    forward: Vec<[f32; ROWS_PER_PANEL]>,
    backward: Vec<[f32; ROWS_PER_PANEL]>,
}

impl RowCoefficients {
    pub(super) fn clear(&mut self) {
        self.forward.clear();
        self.backward.clear();
    }

    /// Appends the rows of a step.
    pub(super) fn push(
        &mut self,
        row_constants: &RowConstants,
        rows: &[usize],
        norms: &[PredictionNorm],
    ) {
        let width = row_constants.width;
        for (panel, norms) in rows
            .chunks(ROWS_PER_PANEL)
            .zip(norms.chunks(ROWS_PER_PANEL))
        {
            let start = self.forward.len();
            // Rows that the last panel lacks keep coefficients of 0, so they have no part in the
            // gradient.
            self.forward.resize(start + width, [0.0; ROWS_PER_PANEL]);
            self.backward.resize(start + width, [0.0; ROWS_PER_PANEL]);
            let forward = &mut self.forward[start..];
            let backward = &mut self.backward[start..];
            for (i, (row, norm)) in panel.iter().zip(norms).enumerate() {
                let coefficient = row_constants.backward_coefficient(*row, rows.len(), *norm);
                // Zipped: the index of a slice would be checked for each entry.
                let entries = forward.iter_mut().zip(backward.iter_mut());
                for ((forward, backward), z) in entries.zip(row_constants.features(*row)) {
                    forward[i] = (-norm.norm_ratio * z) as f32;
                    backward[i] = (-coefficient * z) as f32;
                }
            }
        }
    }

    /// The batch of a step whose coefficients begin at panel `first`.
    pub(super) fn batch<'b>(
        &'b self,
        first: usize,
        targets: &'b [[RowTargets<'b>; ROWS_PER_PANEL]],
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
