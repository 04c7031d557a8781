//! Predicted rows in memory: their norms, their losses, and the gradient that replaces them.
//!
//! Errors are u = c − r ĉ with true costs c, predicted costs ĉ and norm ratio r = ‖c‖/‖ĉ‖ (1
//! without normalization); the loss is a multiple of Σ slope · u (`fused/slope.rs`).

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::super::FusedContext;
use super::super::row_constants::{PredictionNorm, RowTotals};
use super::super::slope::{RowTargets, StaticSlopeKind, dispatch_slope_kind, slopes};
use super::super::tile_block::TileAffine;
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, F64_LANES, SimdToken, dispatch_simd};

/// Most tiles whose lanes are summed in single precision: bounds the rounding error of a sum.
pub(super) const TILES_PER_STRIP: usize = 16;

/// A few tiles of one row.
pub(super) struct TileStrip<'a> {
    /// Outputs at first, then predictions, then the gradient of the outputs.
    tiles: &'a mut [[f32; F32_LANES]],
    output_maps: &'a [TileAffine],
    quantile_weights: &'a [AlignedF32x16],
    targets: RowTargets<'a>,
    /// Number of the first tile in the targets.
    first: usize,
}

/// Coefficients of the backward pass of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackwardCoefficients {
    /// Scales predictions to the norm of the true costs.
    norm_ratio: f32,
    /// The factor of the slopes in the gradient, with a minus sign.
    slope: f32,
    /// The factor of the predictions in the gradient.
    projection: f32,
}

/// Calls `work` with the tiles of a row from `first` on, strip by strip.
fn for_each_strip(
    context: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
    mut work: impl FnMut(&mut TileStrip<'_>),
) {
    let full_tiles = context.table.full_tiles();
    let tiles = values.as_chunks_mut::<F32_LANES>().0;
    // Full tiles are those of the table in sequence; a partial one is stored apart, padded.
    let (full, partial) = tiles.split_at_mut(tiles.len().min(full_tiles.saturating_sub(first)));
    let quantile_weights = |start: usize, end: usize| {
        let weights = context.quantile_weights.get(start..end);
        // Empty if the loss has no pinball weights.
        weights.unwrap_or_default()
    };
    for (strip, tiles) in full.chunks_mut(TILES_PER_STRIP).enumerate() {
        let first = first + strip * TILES_PER_STRIP;
        let end = first + tiles.len();
        work(&mut TileStrip {
            tiles,
            output_maps: &context.output_maps[first..end],
            quantile_weights: quantile_weights(first, end),
            targets: context.table.targets(row),
            first,
        });
    }
    if !partial.is_empty() {
        work(&mut TileStrip {
            tiles: partial,
            output_maps: &context.output_maps[full_tiles..full_tiles + 1],
            quantile_weights: quantile_weights(full_tiles, full_tiles + 1),
            targets: context.table.partial_tile(row),
            first: 0,
        });
    }
}

/// Turns outputs into predictions, from tile `first` on; returns the square of their norm.
pub(super) fn scale_and_norm(
    context: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
) -> f64 {
    let mut square = 0.0;
    for_each_strip(context, row, first, values, |strip| {
        scale_and_norm_strip(context.simd, strip, &mut square);
    });
    square
}

/// Totals of the predictions of a row, from tile `first` on.
pub(super) fn evaluate(
    context: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
    norm: PredictionNorm,
) -> RowTotals {
    let mut totals = RowTotals::default();
    for_each_strip(context, row, first, values, |strip| {
        dispatch_slope_kind!(
            context.slope_kind,
            self::evaluate_strip,
            context.simd,
            strip,
            norm.norm_ratio as f32,
            &mut totals
        );
    });
    totals
}

/// The backward pass: turns predictions into the gradient of the outputs, from tile `first` on.
pub(super) fn backward(
    context: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
    coefficients: BackwardCoefficients,
) {
    for_each_strip(context, row, first, values, |strip| {
        dispatch_slope_kind!(
            context.slope_kind,
            self::backward_strip,
            context.simd,
            strip,
            coefficients
        );
    });
}

/// [`backward`] for losses that do not normalize predictions, whose coefficients do not depend on
/// totals; returns Σ slope · u.
pub(super) fn evaluate_and_backward(
    context: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
    coefficients: BackwardCoefficients,
) -> f64 {
    let mut loss_sum = 0.0;
    for_each_strip(context, row, first, values, |strip| {
        dispatch_slope_kind!(
            context.slope_kind,
            self::evaluate_and_backward_strip,
            context.simd,
            strip,
            coefficients,
            &mut loss_sum
        );
    });
    loss_sum
}

/// Prefetches the true costs of a row that the passes above read, for `tiles` tiles from `first`
/// on.
pub(super) fn prefetch_costs(context: &FusedContext<'_>, row: usize, first: usize, tiles: usize) {
    let costs = context.table.targets(row).costs;
    for tile in first..(first + tiles).min(costs.len()) {
        context.simd.prefetch(costs.as_ptr(), tile);
    }
}

impl BackwardCoefficients {
    /// The coefficients of a row in a batch of `batch` rows, from the totals of [`evaluate`].
    pub(super) fn new(
        context: &FusedContext<'_>,
        row: usize,
        batch: usize,
        norm: PredictionNorm,
        totals: RowTotals,
    ) -> Self {
        let row_constants = &context.row_constants;
        Self {
            norm_ratio: norm.norm_ratio as f32,
            slope: row_constants.backward_coefficient(row, batch, norm) as f32,
            projection: row_constants.projection_coefficient(row, batch, norm, totals) as f32,
        }
    }
}

/// The sum of eight partial sums, in double precision.
#[inline(always)]
pub(super) fn total(partial_sums: &AlignedF32x8) -> f64 {
    let sums = partial_sums.0.map(f64::from);
    let pair = |i: usize| sums[i] + sums[i + F64_LANES];
    (pair(0) + pair(1)) + (pair(2) + pair(3))
}

dispatch_simd! {
    scale_and_norm_strip = scale_and_norm_body [] (strip: &mut TileStrip<'_>, square: &mut f64)
}

dispatch_simd! {
    evaluate_strip = evaluate_body <K: StaticSlopeKind> [] (
        strip: &mut TileStrip<'_>, norm_ratio: f32, totals: &mut RowTotals,
    )
}

dispatch_simd! {
    backward_strip = backward_body <K: StaticSlopeKind> [] (
        strip: &mut TileStrip<'_>, coefficients: BackwardCoefficients,
    )
}

dispatch_simd! {
    evaluate_and_backward_strip = evaluate_and_backward_body <K: StaticSlopeKind> [] (
        strip: &mut TileStrip<'_>, coefficients: BackwardCoefficients, loss_sum: &mut f64,
    )
}

#[inline(always)]
fn scale_and_norm_body(simd: SimdToken, strip: &mut TileStrip<'_>, square: &mut f64) {
    let mut squares = AlignedF32x8::ZERO;
    for (tile, map) in strip.tiles.iter_mut().zip(strip.output_maps) {
        let predicted = simd
            .load(tile)
            .mul_add(simd.load(&map.scale.0), simd.load(&map.offset.0));
        predicted.add_product_to(predicted, &mut squares);
        predicted.store_unaligned(tile);
    }
    *square += total(&squares);
}

#[inline(always)]
fn evaluate_body<K: StaticSlopeKind>(
    simd: SimdToken,
    strip: &mut TileStrip<'_>,
    norm_ratio: f32,
    totals: &mut RowTotals,
) {
    let TileStrip {
        tiles,
        quantile_weights,
        targets,
        first,
        ..
    } = strip;
    assert!(
        targets.has_tiles::<K>(*first + tiles.len()),
        "the row must contain the strip"
    );
    let (mut slope_dot_error, mut slope_dot_cost) = (AlignedF32x8::ZERO, AlignedF32x8::ZERO);
    let norm_ratio = simd.splat(-norm_ratio);
    for (t, tile) in tiles.iter().enumerate() {
        let costs = simd.load(&targets.costs[*first + t]);
        let u = simd.load(tile).mul_add(norm_ratio, costs);
        let tau = quantile_weights.get(t);
        // SAFETY: the row contains the strip.
        let slope = unsafe { slopes::<K>(simd, u, targets, *first + t, tau) };
        slope.add_product_to(u, &mut slope_dot_error);
        slope.add_product_to(costs, &mut slope_dot_cost);
    }
    totals.slope_dot_error += total(&slope_dot_error);
    totals.slope_dot_cost += total(&slope_dot_cost);
}

#[inline(always)]
fn backward_body<K: StaticSlopeKind>(
    simd: SimdToken,
    strip: &mut TileStrip<'_>,
    coefficients: BackwardCoefficients,
) {
    backward_tiles::<K, false>(simd, strip, coefficients, &mut 0.0);
}

#[inline(always)]
fn evaluate_and_backward_body<K: StaticSlopeKind>(
    simd: SimdToken,
    strip: &mut TileStrip<'_>,
    coefficients: BackwardCoefficients,
    loss_sum: &mut f64,
) {
    backward_tiles::<K, true>(simd, strip, coefficients, loss_sum);
}

/// Turns predictions into the gradient of the outputs; `EVALUATE` adds to Σ slope · u.
#[inline(always)]
fn backward_tiles<K: StaticSlopeKind, const EVALUATE: bool>(
    simd: SimdToken,
    strip: &mut TileStrip<'_>,
    coefficients: BackwardCoefficients,
    loss_sum: &mut f64,
) {
    let TileStrip {
        tiles,
        output_maps,
        quantile_weights,
        targets,
        first,
    } = strip;
    assert!(
        targets.has_tiles::<K>(*first + tiles.len()),
        "the row must contain the strip"
    );
    let mut slope_dot_error = AlignedF32x8::ZERO;
    let norm_ratio = simd.splat(-coefficients.norm_ratio);
    let slope_factor = simd.splat(-coefficients.slope);
    let projection = simd.splat(coefficients.projection);
    for (t, (tile, map)) in tiles.iter_mut().zip(*output_maps).enumerate() {
        let predicted = simd.load(tile);
        let costs = simd.load(&targets.costs[*first + t]);
        let u = predicted.mul_add(norm_ratio, costs);
        let tau = quantile_weights.get(t);
        // SAFETY: the row contains the strip.
        let slope = unsafe { slopes::<K>(simd, u, targets, *first + t, tau) };
        if EVALUATE {
            slope.add_product_to(u, &mut slope_dot_error);
        }
        let gradient = slope.mul_add(slope_factor, predicted.mul(projection));
        gradient.mul(simd.load(&map.scale.0)).store_unaligned(tile);
    }
    if EVALUATE {
        *loss_sum += total(&slope_dot_error);
    }
}
