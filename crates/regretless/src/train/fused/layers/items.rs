//! A linear predictor that all items share: the forward pass, the loss and the backward pass of an
//! instance in one pass over its items.
//!
//! Features are stored in tiles of sixteen items. With z = (features, 1) of an item, Z the matrix
//! of all items of an instance, and v the parameters as they act on features, the norm of a
//! prediction follows from the Gram matrix of the items, ‖Z v‖² = vᵀ(ZᵀZ)v, and so does the
//! backward pass through the normalization, which is a multiple of ZᵀZ v: no prediction is read
//! twice, or stored. Errors are u = c − (‖c‖/‖ĉ‖) ĉ with ĉ = Z v; the loss is a multiple of
//! Σ slope · u (`fused/slope.rs`).

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::super::FusedContext;
use super::super::row_constants::{PredictionNorm, RowTotals};
use super::super::slope::{RowTargets, StaticSlopeKind, dispatch_slope_kind, slopes};
use super::predictions::{TILES_PER_STRIP, total};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, SimdToken, dispatch_simd};

/// Features of all instances as the kernel reads them.
pub(super) struct ItemFeatures {
    features: usize,
    /// For each instance and sixteen of its items, one vector per feature; zeros beyond the last
    /// item.
    tiles: Vec<AlignedF32x16>,
    /// ZᵀZ of each instance, row by row; empty without normalization.
    grams: Vec<f64>,
}

/// One worker's scratch memory.
#[derive(Debug, Clone)]
pub(super) struct ItemScratch {
    /// v: parameters as they act on features, the bias last.
    v: Vec<f64>,
    /// −(‖c‖/‖ĉ‖) v: times Z, minus the prediction at the norm of the true costs.
    forward: Vec<f32>,
    /// ZᵀZ v.
    gram_v: Vec<f64>,
    /// Σ slope · z over the tiles of a strip.
    strip_gradient: Vec<AlignedF32x8>,
    /// The same over all tiles of an instance.
    gradient: Vec<f64>,
}

impl ItemScratch {
    pub(super) fn new(features: usize) -> Self {
        let zeros = vec![0.0; features + 1];
        Self {
            v: zeros.clone(),
            forward: Vec::new(),
            gram_v: zeros.clone(),
            strip_gradient: vec![AlignedF32x8::ZERO; features + 1],
            gradient: zeros,
        }
    }

    /// Computes v from the parameters; to be called after every step.
    pub(super) fn load_parameters(&mut self, context: &FusedContext<'_>, parameters: &[f32]) {
        let scale = output_scale(context);
        self.v.clear();
        self.v
            // The bias moves with the scale, then by the offset: v acts on features directly.
            .extend(parameters.iter().map(|p| scale * f64::from(*p)));
        if let Some(bias) = self.v.last_mut() {
            *bias += context.prepared.output.offset[0];
        }
    }
}

/// The scale of the one output.
fn output_scale(context: &FusedContext<'_>) -> f64 {
    context.prepared.output.scale[0]
}

impl ItemFeatures {
    pub(super) fn new(context: &FusedContext<'_>) -> Self {
        let features = context.prepared.features.names().len();
        let instances = context.prepared.context.data.len();
        let vectors = context.output_maps.len() * features;
        // ‖Z v‖² = v' (ZᵀZ) v: with the matrix stored, norms need no pass over the items.
        let gram_size = if context.scale_invariant {
            (features + 1) * (features + 1)
        } else {
            0
        };
        let mut tiles = vec![AlignedF32x16::ZERO; instances * vectors];
        let mut grams = vec![0.0; instances * gram_size];
        for row in 0..instances {
            let values = context.prepared.features.instance(row);
            let tiles = tiles[row * vectors..][..vectors].chunks_exact_mut(features.max(1));
            for (items, tile) in values.chunks(F32_LANES * features.max(1)).zip(tiles) {
                let count = items.len() / features.max(1);
                context.simd.load_transposed(items, count, features, tile);
            }
            if context.scale_invariant {
                let gram = &mut grams[row * gram_size..][..gram_size];
                add_outer_products(values, features, gram);
            }
        }
        Self {
            features,
            tiles,
            grams,
        }
    }

    /// The norm of the prediction of a row; also computes ZᵀZ v in the scratch.
    fn prediction_norm(
        &self,
        context: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> PredictionNorm {
        let width = self.features + 1;
        let range = row * width * width..(row + 1) * width * width;
        // Without matrices there is no normalization.
        let Some(gram) = self.grams.get(range) else {
            return PredictionNorm::UNNORMALIZED;
        };
        let v = &scratch.v;
        let gram_rows = gram.chunks_exact(width);
        scratch.gram_v.clear();
        scratch
            .gram_v
            .extend(gram_rows.map(|gram_row| dot(gram_row, v)));
        let square = dot(&scratch.gram_v, v);
        context.row_constants.norm_from_square(row, square)
    }

    /// The norm of the prediction of a row and its totals; with `BACKWARD` also Σ slope · z.
    fn evaluate<const BACKWARD: bool>(
        &self,
        context: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> (PredictionNorm, RowTotals) {
        let norm = self.prediction_norm(context, row, scratch);
        // The sign is part of the parameters, so products add to the costs.
        let negative_scaled = scratch.v.iter().map(|p| (-norm.norm_ratio * p) as f32);
        scratch.forward.clear();
        scratch.forward.extend(negative_scaled);
        scratch.gradient.fill(0.0);
        let mut totals = RowTotals::default();
        // Full tiles are those of the table in sequence; the partial one is stored padded.
        let full_tiles = context.table.full_tiles();
        let targets = context.table.targets(row);
        for first in (0..full_tiles).step_by(TILES_PER_STRIP) {
            let end = (first + TILES_PER_STRIP).min(full_tiles);
            let strip = self.strip(context, row, first, end, targets);
            evaluate_strip::<BACKWARD>(context, &strip, scratch, &mut totals);
        }
        if full_tiles < context.output_maps.len() {
            let targets = context.table.partial_tile(row);
            let mut strip = self.strip(context, row, full_tiles, full_tiles + 1, targets);
            // Targets of the partial tile are stored separately.
            strip.first = 0;
            evaluate_strip::<BACKWARD>(context, &strip, scratch, &mut totals);
        }
        (norm, totals)
    }

    /// Tiles `first` to `end` of a row.
    fn strip<'b>(
        &'b self,
        context: &'b FusedContext<'_>,
        row: usize,
        first: usize,
        end: usize,
        targets: RowTargets<'b>,
    ) -> ItemStrip<'b> {
        let row_start = row * context.output_maps.len() * self.features;
        let range = row_start + first * self.features..row_start + end * self.features;
        ItemStrip {
            tiles: &self.tiles[range],
            count: end - first,
            quantile_weights: context.quantile_weights.get(first..end).unwrap_or_default(),
            // Absent if the loss has no pinball weights.
            targets,
            first,
            items_per_tile: (context.num_costs() - first * F32_LANES).min(F32_LANES),
        }
    }

    /// Σ slope · u of a row.
    pub(super) fn loss_sum(
        &self,
        context: &FusedContext<'_>,
        row: usize,
        scratch: &mut ItemScratch,
    ) -> f64 {
        self.evaluate::<false>(context, row, scratch)
            .1
            .slope_dot_error
    }

    /// Adds the gradient of a row in a batch of `batch` rows to the sums; returns Σ slope · u.
    pub(super) fn backward(
        &self,
        context: &FusedContext<'_>,
        row: usize,
        batch: usize,
        scratch: &mut ItemScratch,
        sums: &mut [f64],
    ) -> f64 {
        let (norm, totals) = self.evaluate::<true>(context, row, scratch);
        let (scale, constants) = (output_scale(context), &context.row_constants);
        let slope_factor = scale * constants.backward_coefficient(row, batch, norm);
        let projection = scale * constants.projection_coefficient(row, batch, norm, totals);
        for ((sum, gradient), gram_v) in sums.iter_mut().zip(&scratch.gradient).zip(&scratch.gram_v)
        {
            // The first term is the derivative of the norm, the second that of the errors.
            *sum += projection * gram_v - slope_factor * gradient;
        }
        totals.slope_dot_error
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds z zᵀ of every item.
fn add_outer_products(values: &[f32], features: usize, gram: &mut [f64]) {
    let mut z = vec![1.0; features + 1];
    for item in values.chunks_exact(features.max(1)) {
        for (z, value) in z.iter_mut().zip(item) {
            *z = f64::from(*value);
        }
        for (gram_row, a) in gram.chunks_exact_mut(features + 1).zip(&z) {
            for (sum, b) in gram_row.iter_mut().zip(&z) {
                *sum += a * b;
            }
        }
    }
}

/// A few tiles of one row.
struct ItemStrip<'a> {
    tiles: &'a [AlignedF32x16],
    count: usize,
    quantile_weights: &'a [AlignedF32x16],
    targets: RowTargets<'a>,
    /// Number of the first tile in the targets.
    first: usize,
    /// Items of each tile; fewer than sixteen in the partial tile.
    items_per_tile: usize,
}

fn evaluate_strip<const BACKWARD: bool>(
    context: &FusedContext<'_>,
    strip: &ItemStrip<'_>,
    scratch: &mut ItemScratch,
    totals: &mut RowTotals,
) {
    if BACKWARD {
        dispatch_slope_kind!(
            context.slope_kind,
            self::backward_pass,
            context.simd,
            strip,
            scratch,
            totals
        );
    } else {
        dispatch_slope_kind!(
            context.slope_kind,
            self::loss_pass,
            context.simd,
            strip,
            scratch,
            totals
        );
    }
}

dispatch_simd! {
    backward_pass = backward_body <K: StaticSlopeKind> [] (
        strip: &ItemStrip<'_>, scratch: &mut ItemScratch, totals: &mut RowTotals,
    )
}

dispatch_simd! {
    loss_pass = loss_body <K: StaticSlopeKind> [] (
        strip: &ItemStrip<'_>, scratch: &mut ItemScratch, totals: &mut RowTotals,
    )
}

#[inline(always)]
fn loss_body<K: StaticSlopeKind>(
    simd: SimdToken,
    strip: &ItemStrip<'_>,
    scratch: &mut ItemScratch,
    totals: &mut RowTotals,
) {
    let ItemScratch {
        forward,
        strip_gradient,
        ..
    } = scratch;
    pass::<K, false>(simd, strip, forward, strip_gradient, totals);
}

#[inline(always)]
fn backward_body<K: StaticSlopeKind>(
    simd: SimdToken,
    strip: &ItemStrip<'_>,
    scratch: &mut ItemScratch,
    totals: &mut RowTotals,
) {
    let ItemScratch {
        forward,
        strip_gradient,
        gradient,
        ..
    } = scratch;
    strip_gradient.fill(AlignedF32x8::ZERO);
    pass::<K, true>(simd, strip, forward, strip_gradient, totals);
    for i in 0..strip_gradient.len() {
        gradient[i] += total(&strip_gradient[i]);
    }
}

#[inline(always)]
fn pass<K: StaticSlopeKind, const BACKWARD: bool>(
    simd: SimdToken,
    strip: &ItemStrip<'_>,
    forward: &[f32],
    gradient: &mut [AlignedF32x8],
    totals: &mut RowTotals,
) {
    let ItemStrip {
        tiles,
        count,
        quantile_weights,
        targets,
        first,
        items_per_tile,
    } = strip;
    assert!(
        targets.has_tiles::<K>(first + count),
        "the row must contain the strip"
    );
    let features = forward.len() - 1;
    let one = simd.splat(1.0);
    let (mut slope_dot_error, mut slope_dot_cost) = (AlignedF32x8::ZERO, AlignedF32x8::ZERO);
    // Zeros beyond the last item: its cost is 0 there too, so the error is 0.
    let bias = simd.load_partial(&[forward[features]; F32_LANES][..*items_per_tile]);
    for t in 0..*count {
        let tile = &tiles[t * features..(t + 1) * features];
        let costs = simd.load(&targets.costs[first + t]);
        let mut u = costs.add(bias);
        for q in 0..features {
            u = simd.load(&tile[q].0).mul_add(simd.splat(forward[q]), u);
        }
        let tau = quantile_weights.get(t);
        // SAFETY: the row contains the strip.
        let slope = unsafe { slopes::<K>(simd, u, targets, first + t, tau) };
        slope.add_product_to(u, &mut slope_dot_error);
        slope.add_product_to(costs, &mut slope_dot_cost);
        if BACKWARD {
            // The gradient with respect to v, entry by entry, and the bias last.
            for q in 0..features {
                slope.add_product_to(simd.load(&tile[q].0), &mut gradient[q]);
            }
            slope.add_product_to(one, &mut gradient[features]);
        }
    }
    totals.slope_dot_error += total(&slope_dot_error);
    totals.slope_dot_cost += total(&slope_dot_cost);
}
