//! Predicted rows in memory: their lengths, their losses, and the gradient that takes their place.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::super::FusedContext;
use super::super::kernel::TileAffine;
use super::super::row_constants::PredictionNorm;
use super::super::slope::{ErrorMask, RowTargets, dispatch_loss_kind, slopes};
use crate::simd::{AlignedF32x8, AlignedF32x16, Avx2Fma, F32_LANES, F64_LANES, dispatch_avx2};

/// Most tiles whose lanes are summed in single precision.
pub(super) const TILES_PER_STRIP: usize = 16;

/// A few tiles of one row.
pub(super) struct TileStrip<'a> {
    /// Outputs, then predictions, at last the gradient of outputs.
    tiles: &'a mut [[f32; F32_LANES]],
    maps: &'a [TileAffine],
    quantile_weights: &'a [AlignedF32x16],
    targets: RowTargets<'a>,
    /// Number of the first tile in the truth.
    first: usize,
}

/// What makes a gradient: times the prediction at the length of the truth, of slopes, and of
/// predictions.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackwardCoefficients {
    norm_ratio: f32,
    back: f32,
    share: f32,
}

/// Calls `work` with the tiles of a row from `first` on, part by part.
fn for_each_strip(
    setup: &FusedContext<'_>,
    row: usize,
    first: usize,
    values: &mut [f32],
    mut work: impl FnMut(&mut TileStrip<'_>),
) {
    let whole = setup.table.full_tiles();
    let tiles = values.as_chunks_mut::<F32_LANES>().0;
    let (body, tail) = tiles.split_at_mut(tiles.len().min(whole.saturating_sub(first)));
    let about = |start: usize, end: usize| {
        (
            &setup.maps[start..end],
            setup.quantile_weights.get(start..end).unwrap_or_default(),
        )
    };
    for (part, tiles) in body.chunks_mut(TILES_PER_STRIP).enumerate() {
        let first = first + part * TILES_PER_STRIP;
        let (maps, quantile_weights) = about(first, first + tiles.len());
        work(&mut TileStrip {
            tiles,
            maps,
            quantile_weights,
            targets: setup.table.targets(row),
            first,
        });
    }
    if !tail.is_empty() {
        let (maps, quantile_weights) = about(whole, whole + 1);
        work(&mut TileStrip {
            tiles: tail,
            maps,
            quantile_weights,
            targets: setup.table.partial_tile(row),
            first: 0,
        });
    }
}

/// Turns outputs into predictions; returns the square of their length.
pub(super) fn scale_and_norm(
    setup: &FusedContext<'_>,
    (row, first): (usize, usize),
    values: &mut [f32],
) -> f64 {
    let mut square = 0.0;
    for_each_strip(setup, row, first, values, |strip| {
        measure_strip(setup.simd, strip, &mut square)
    });
    square
}

/// Slopes of predictions times errors, and times costs.
pub(super) fn evaluate(
    setup: &FusedContext<'_>,
    (row, first): (usize, usize),
    values: &mut [f32],
    length: PredictionNorm,
) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for_each_strip(setup, row, first, values, |strip| {
        dispatch_loss_kind!(
            setup.kind,
            self::judge_strip,
            setup.simd,
            strip,
            length.norm_ratio as f32,
            &mut sums
        );
    });
    sums
}

/// Turns predictions into the gradient of outputs.
pub(super) fn backward(
    setup: &FusedContext<'_>,
    (row, first): (usize, usize),
    values: &mut [f32],
    ways: BackwardCoefficients,
) {
    for_each_strip(setup, row, first, values, |strip| {
        dispatch_loss_kind!(setup.kind, self::blame_strip, setup.simd, strip, ways);
    });
}

impl BackwardCoefficients {
    /// Those of a row in a batch of so many, by the sums of [`judge`].
    pub(super) fn new(
        setup: &FusedContext<'_>,
        (row, batch): (usize, usize),
        length: PredictionNorm,
        sums: [f64; 2],
    ) -> Self {
        let row_constants = &setup.row_constants;
        Self {
            norm_ratio: length.norm_ratio as f32,
            back: row_constants.backward_coefficient(row, batch, length) as f32,
            share: row_constants.projection_coefficient(row, batch, length, sums) as f32,
        }
    }
}

pub(super) fn total(half: &AlignedF32x8) -> f64 {
    let mut sums = [0.0; F64_LANES];
    half.add_to(&mut sums);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

dispatch_avx2! {
    measure_strip = scale_and_norm_body [] (strip: &mut TileStrip<'_>, square: &mut f64)
}

dispatch_avx2! {
    judge_strip = evaluate_body [ABSOLUTE: bool, MASK: u8] (strip: &mut TileStrip<'_>, norm_ratio: f32, sums: &mut [f64; 2])
}

dispatch_avx2! {
    blame_strip = backward_body [ABSOLUTE: bool, MASK: u8] (strip: &mut TileStrip<'_>, ways: BackwardCoefficients)
}

#[inline(always)]
fn scale_and_norm_body(simd: Avx2Fma, strip: &mut TileStrip<'_>, square: &mut f64) {
    let mut squares = AlignedF32x8::ZERO;
    for (tile, map) in strip.tiles.iter_mut().zip(strip.maps) {
        let predicted = simd
            .load(tile)
            .mul_add(simd.load(&map.scale.0), simd.load(&map.offset.0));
        predicted.add_product_to(predicted, &mut squares);
        predicted.store_slice(tile);
    }
    *square += total(&squares);
}

#[inline(always)]
fn evaluate_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    strip: &mut TileStrip<'_>,
    norm_ratio: f32,
    sums: &mut [f64; 2],
) {
    let TileStrip {
        tiles,
        quantile_weights,
        targets,
        first,
        ..
    } = strip;
    assert!(
        targets.has_tiles::<MASK>(*first + tiles.len()),
        "the row must cover the strip"
    );
    let (mut errors, mut projection) = (AlignedF32x8::ZERO, AlignedF32x8::ZERO);
    let norm_ratio = simd.splat(-norm_ratio);
    for (t, tile) in tiles.iter().enumerate() {
        let costs = simd.load(&targets.costs[*first + t]);
        let under = simd.load(tile).mul_add(norm_ratio, costs);
        // SAFETY: the row covers the strip.
        let slope = unsafe {
            slopes::<ABSOLUTE, MASK>(simd, under, targets, *first + t, quantile_weights.get(t))
        };
        slope.add_product_to(under, &mut errors);
        slope.add_product_to(costs, &mut projection);
    }
    sums[0] += total(&errors);
    sums[1] += total(&projection);
}

#[inline(always)]
fn backward_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    strip: &mut TileStrip<'_>,
    ways: BackwardCoefficients,
) {
    let TileStrip {
        tiles,
        maps,
        quantile_weights,
        targets,
        first,
    } = strip;
    assert!(
        targets.has_tiles::<MASK>(*first + tiles.len()),
        "the row must cover the strip"
    );
    let (norm_ratio, back, share) = (
        simd.splat(-ways.norm_ratio),
        simd.splat(-ways.back),
        simd.splat(ways.share),
    );
    for (t, (tile, map)) in tiles.iter_mut().zip(*maps).enumerate() {
        let predicted = simd.load(tile);
        let under = predicted.mul_add(norm_ratio, simd.load(&targets.costs[*first + t]));
        // SAFETY: the row covers the strip.
        let slope = unsafe {
            slopes::<ABSOLUTE, MASK>(simd, under, targets, *first + t, quantile_weights.get(t))
        };
        let gradient = slope.mul_add(back, predicted.mul(share));
        gradient.mul(simd.load(&map.scale.0)).store_slice(tile);
    }
}
