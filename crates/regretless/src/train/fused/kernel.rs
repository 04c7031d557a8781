//! The passes of a fused step, over tiles of sixteen costs and panels of four rows.
//!
//! ```text
//! z = (features, 1), W, ĉ = W z       a row, the parameters scaled to costs, its predicted costs
//! u = c − (‖c‖/‖ĉ‖) ĉ                 its errors; without normalization u = c − ĉ
//! slope                               one factor per error (`slope.rs`); the loss is a multiple
//!                                     of Σ slope · u
//! ```
//!
//! The row-sums pass predicts a tile for all rows of a batch, compares with the true costs, and
//! computes the local gradient of the tile's parameters and two sums per row; predictions never
//! reach memory. The update pass adds the correction for the normalization, which depends on the
//! sums of all tiles, takes the Adam step, and accumulates the Gram matrix of the new parameters,
//! from which the norms of the next predictions follow. Without normalization both passes are one
//! ([`step_separable`]), and the gradient never reaches memory either.
//!
//! Within a block of tiles lanes are summed in single precision, across blocks in double precision
//! and in a fixed order. Loops over parameters stay loops: unrolled, the compiler would reorder
//! them and run out of registers. All functions that a pass calls must be inlined into it, hence no
//! closures over iterators.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::adam::{AdamBroadcast, AdamCoefficients};
use super::gram;
use super::projection::ProjectionWorker;
use super::slope::{RowTargets, StaticSlopeKind, slopes};
use super::tile_block::{ROWS_PER_PANEL, RowBatch, RowSums, TileAffine, TileBlock, TileScratch};
use crate::simd::{AlignedF32x16, F32x16, SimdToken, dispatch_simd};

dispatch_simd! {
    /// The row-sums pass: local gradients and row sums of a block.
    pub(super) row_sums_pass = row_sums_pass_body <K: StaticSlopeKind> [] (
        block: &mut TileBlock<'_>,
        batch: &RowBatch<'_>,
        projection: Option<&mut ProjectionWorker<'_>>,
        scratch: &mut TileScratch,
    )
}

dispatch_simd! {
    /// The update pass: the Adam step of a block, given the correction for the normalization, and
    /// its part of the Gram matrix.
    pub(super) update_pass = update_pass_body [] (
        block: &mut TileBlock<'_>,
        correction: &[[f32; ROWS_PER_PANEL]],
        step: &AdamCoefficients,
        projection: Option<&mut ProjectionWorker<'_>>,
        scratch: &mut TileScratch,
    )
}

dispatch_simd! {
    /// Gradients, sums and the Adam step of a block, for losses that are separable over costs.
    pub(super) step_separable = step_separable_body <K: StaticSlopeKind> [] (
        block: &mut TileBlock<'_>,
        batch: &RowBatch<'_>,
        step: &AdamCoefficients,
        scratch: &mut TileScratch,
    )
}

dispatch_simd! {
    /// The sums of a block only.
    pub(super) loss_pass = loss_pass_body <K: StaticSlopeKind> [] (
        block: &mut TileBlock<'_>,
        batch: &RowBatch<'_>,
        projection: Option<&mut ProjectionWorker<'_>>,
        scratch: &mut TileScratch,
    )
}

dispatch_simd! {
    /// Adds a block's part of the Gram matrix.
    pub(super) gram_pass = gram_pass_body [] (
        block: &mut TileBlock<'_>,
        projection: Option<&mut ProjectionWorker<'_>>,
        scratch: &mut TileScratch,
    )
}

/// W for one tile: parameters times the scale of their outputs, the offset added to the bias.
#[inline(always)]
pub(super) fn scaled_parameters(
    simd: SimdToken,
    weights: &[AlignedF32x16],
    map: &TileAffine,
    w: &mut [AlignedF32x16],
) {
    let scale = simd.load(&map.scale.0);
    for (w, weight) in w.iter_mut().zip(weights) {
        scale.mul(simd.load(&weight.0)).store(w);
    }
    if let (Some(w), Some(bias)) = (w.last_mut(), weights.last()) {
        scale
            .mul_add(simd.load(&bias.0), simd.load(&map.offset.0))
            .store(w);
    }
}

/// W for one tile, projected if there is a projection.
#[inline(always)]
fn predicting_parameters(
    simd: SimdToken,
    weights: &[AlignedF32x16],
    map: &TileAffine,
    projection: Option<&mut ProjectionWorker<'_>>,
    tile: usize,
    w: &mut [AlignedF32x16],
) {
    match projection {
        Some(projection) => projection.project_parameters(tile, weights, map, w),
        None => scaled_parameters(simd, weights, map, w),
    }
}

/// Adds Σ vector · coefficient to the sums of a panel of rows.
#[inline(always)]
fn add_products(
    simd: SimdToken,
    vectors: &[AlignedF32x16],
    coefficients: &[[f32; ROWS_PER_PANEL]],
    mut sums: [F32x16; ROWS_PER_PANEL],
) -> [F32x16; ROWS_PER_PANEL] {
    for (vector, coefficients) in vectors.iter().zip(coefficients) {
        // Each vector is loaded once and used for four rows.
        let vector = simd.load(&vector.0);
        for i in 0..ROWS_PER_PANEL {
            sums[i] = vector.mul_add(simd.splat(coefficients[i]), sums[i]);
        }
    }
    sums
}

/// Adds Σ row · coefficient over a panel of rows to each vector of a gradient.
#[inline(always)]
pub(super) fn backward(
    simd: SimdToken,
    rows: &[F32x16; ROWS_PER_PANEL],
    coefficients: &[[f32; ROWS_PER_PANEL]],
    gradient: &mut [AlignedF32x16],
) {
    for (vector, coefficients) in gradient.iter_mut().zip(coefficients) {
        // The gradient of a tile is loaded and stored once per panel, with four rows between.
        let mut sum = simd.load(&vector.0);
        for i in 0..ROWS_PER_PANEL {
            sum = rows[i].mul_add(simd.splat(coefficients[i]), sum);
        }
        sum.store(vector);
    }
}

/// Parameters of a tile: with the rows, they determine its errors.
#[derive(Clone, Copy)]
struct TileParameters<'a> {
    w: &'a [AlignedF32x16],
    /// Pinball weights of under-prediction.
    tau: Option<&'a AlignedF32x16>,
}

/// Predicts one tile of a panel of rows, which must contain it, and adds to their sums; returns
/// the slopes.
#[inline(always)]
fn evaluate_tile<K: StaticSlopeKind, const WITH_COST_SUM: bool>(
    simd: SimdToken,
    parameters: TileParameters<'_>,
    targets: &[RowTargets<'_>; ROWS_PER_PANEL],
    forward: &[[f32; ROWS_PER_PANEL]],
    tile: usize,
    sums: &mut [RowSums; ROWS_PER_PANEL],
) -> [F32x16; ROWS_PER_PANEL] {
    // SAFETY: the caller has checked that all rows contain the tile.
    let costs = |i: usize| simd.load(unsafe { targets[i].costs.get_unchecked(tile) });
    // The sums start from the costs, so the products, which have a minus sign, leave the errors.
    let panel_costs = [costs(0), costs(1), costs(2), costs(3)];
    let u = add_products(simd, parameters.w, forward, panel_costs);
    let mut panel_slopes = u;
    for i in 0..ROWS_PER_PANEL {
        // SAFETY: as above.
        let slope = unsafe { slopes::<K>(simd, u[i], &targets[i], tile, parameters.tau) };
        slope.add_product_to(u[i], &mut sums[i].slope_dot_error);
        // The correction for the normalization needs Σ slope · c; without it the sum is left out at
        // compile time.
        if WITH_COST_SUM {
            slope.add_product_to(costs(i), &mut sums[i].slope_dot_cost);
        }
        panel_slopes[i] = slope;
    }
    panel_slopes
}

/// The local gradient of a tile; adds to the sums of the rows.
#[inline(always)]
fn tile_gradient<K: StaticSlopeKind, const WITH_COST_SUM: bool>(
    simd: SimdToken,
    batch: &RowBatch<'_>,
    tile: usize,
    parameters: TileParameters<'_>,
    gradient: &mut [AlignedF32x16],
    sums: &mut [[RowSums; ROWS_PER_PANEL]],
) {
    // The gradient of a step: that of the last one is overwritten.
    gradient.fill(AlignedF32x16::ZERO);
    let width = gradient.len();
    for (i, (targets, sums)) in batch.targets.iter().zip(sums).enumerate() {
        prefetch_costs(simd, batch, i, tile);
        let range = i * width..(i + 1) * width;
        let forward = &batch.forward[range.clone()];
        let slopes =
            evaluate_tile::<K, WITH_COST_SUM>(simd, parameters, targets, forward, tile, sums);
        backward(simd, &slopes, &batch.backward[range], gradient);
    }
}

/// Prefetches the decision bits of the rows that are processed next.
#[inline(always)]
fn prefetch_decision_bits(simd: SimdToken, batch: &RowBatch<'_>, block: &TileBlock<'_>) {
    // One word has the bits of two tiles.
    let word = block.first.wrapping_add(batch.prefetch_distance) / 2;
    for panel in batch.prefetch_targets {
        for targets in panel {
            simd.prefetch(targets.chosen.as_ptr(), word);
        }
    }
}

/// Prefetches the costs of the rows that are processed next.
#[inline(always)]
fn prefetch_costs(simd: SimdToken, batch: &RowBatch<'_>, panel: usize, tile: usize) {
    if let Some(prefetch_targets) = batch.prefetch_targets.get(panel) {
        for targets in prefetch_targets {
            simd.prefetch(
                targets.costs.as_ptr(),
                tile.wrapping_add(batch.prefetch_distance),
            );
        }
    }
}

#[inline(always)]
fn row_sums_pass_body<K: StaticSlopeKind>(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    mut projection: Option<&mut ProjectionWorker<'_>>,
    scratch: &mut TileScratch,
) {
    let width = scratch.w.len();
    // The only check: the loops below skip bounds checks.
    assert!(
        batch.has_tiles::<K>(block.first + block.num_tiles(), width),
        "rows must contain the block"
    );
    // All panels of the next block at once: their words share few cache lines.
    prefetch_decision_bits(simd, batch, block);
    let tiles = block.tiles.chunks_exact_mut(2 * width);
    for (t, (tile, map)) in tiles.zip(block.output_maps).enumerate() {
        let (weights, gradient) = tile.split_at_mut(width);
        let (tile, w) = (block.first_tile + t, &mut scratch.w);
        predicting_parameters(simd, weights, map, projection.as_deref_mut(), tile, w);
        let parameters = TileParameters {
            w,
            tau: block.quantile_weights.get(t),
        };
        let (target_tile, sums) = (block.first + t, &mut scratch.sums);
        tile_gradient::<K, true>(simd, batch, target_tile, parameters, gradient, sums);
        if let Some(projection) = &mut projection {
            projection.add_gradient(tile, gradient);
        }
    }
}

#[inline(always)]
fn step_separable_body<K: StaticSlopeKind>(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    step: &AdamCoefficients,
    scratch: &mut TileScratch,
) {
    let adam = AdamBroadcast::new(simd, step);
    let width = scratch.w.len();
    assert!(
        batch.has_tiles::<K>(block.first + block.num_tiles(), width),
        "rows must contain the block"
    );
    // As in the row-sums pass.
    prefetch_decision_bits(simd, batch, block);
    let tiles = block.tiles.chunks_exact_mut(2 * width);
    let states = tiles.zip(block.moments.chunks_exact_mut(2 * width));
    for (t, ((tile, moments), map)) in states.zip(block.output_maps).enumerate() {
        let weights = &mut tile[..width];
        scaled_parameters(simd, weights, map, &mut scratch.w);
        let parameters = TileParameters {
            w: scratch.w.as_slice(),
            tau: block.quantile_weights.get(t),
        };
        let gradient = &mut scratch.gradients[..width];
        let tile = block.first + t;
        let sums = &mut scratch.sums;
        tile_gradient::<K, false>(simd, batch, tile, parameters, gradient, sums);
        // The step is taken at once, as nothing else depends on the tile's gradient.
        adam.step_tile(simd, weights, gradient, moments, map, &mut []);
    }
}

#[inline(always)]
fn loss_pass_body<K: StaticSlopeKind>(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    mut projection: Option<&mut ProjectionWorker<'_>>,
    scratch: &mut TileScratch,
) {
    let width = scratch.w.len();
    assert!(
        batch.has_tiles::<K>(block.first + block.num_tiles(), width),
        "rows must contain the block"
    );
    let tiles = block.tiles.chunks_exact(2 * width);
    for (t, (tile, map)) in tiles.zip(block.output_maps).enumerate() {
        let (weights, w) = (&tile[..width], &mut scratch.w);
        let tile = block.first_tile + t;
        predicting_parameters(simd, weights, map, projection.as_deref_mut(), tile, w);
        let parameters = TileParameters {
            w,
            tau: block.quantile_weights.get(t),
        };
        let tile = block.first + t;
        for (i, (targets, sums)) in batch.targets.iter().zip(&mut scratch.sums).enumerate() {
            prefetch_costs(simd, batch, i, tile);
            let forward = &batch.forward[i * width..(i + 1) * width];
            evaluate_tile::<K, false>(simd, parameters, targets, forward, tile, sums);
        }
    }
}

#[inline(always)]
fn update_pass_body(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    correction: &[[f32; ROWS_PER_PANEL]],
    step: &AdamCoefficients,
    mut projection: Option<&mut ProjectionWorker<'_>>,
    scratch: &mut TileScratch,
) {
    let adam = AdamBroadcast::new(simd, step);
    let width = scratch.w.len();
    // Parameters and gradients of a tile lie side by side, moments likewise.
    let vectors = gram::TILES_PER_GATHER * 2 * width;
    // Panels of four vectors: the padding is computed and never read.
    let padded_width = width.next_multiple_of(ROWS_PER_PANEL);
    let gathers = block
        .tiles
        .chunks_mut(vectors)
        .zip(block.moments.chunks_mut(vectors));
    let maps = block.output_maps.chunks(gram::TILES_PER_GATHER);
    for (gather, ((tiles, moments), maps)) in gathers.zip(maps).enumerate() {
        let first_tile = block.first_tile + gather * gram::TILES_PER_GATHER;
        // Two separate loops, so the square roots and divisions of many parameters overlap.
        let gradients = scratch.gradients.chunks_exact_mut(padded_width);
        let updates = tiles.chunks_exact_mut(2 * width).zip(gradients).zip(maps);
        for (t, ((tile, gradient), map)) in updates.enumerate() {
            let (weights, local) = tile.split_at_mut(width);
            if let Some(projection) = &mut projection {
                projection.project_gradient(first_tile + t, local);
            }
            scaled_parameters(simd, weights, map, &mut scratch.w);
            // Reads the parameters before any of them changes: the correction is linear in the old
            // ones.
            add_correction(simd, &scratch.w, local, correction, gradient);
        }
        let states = tiles
            .chunks_exact_mut(2 * width)
            .zip(moments.chunks_exact_mut(2 * width));
        for (t, ((tile, moments), map)) in states.zip(maps).enumerate() {
            let gradient = &scratch.gradients[t * padded_width..];
            let w = scratch.gram.tile_mut(t);
            let weights = &mut tile[..width];
            adam.step_tile(simd, weights, gradient, moments, map, w);
            // The projection of the next step needs the sums of the new parameters.
            if let Some(projection) = &mut projection {
                projection.add_parameters(first_tile + t, weights, &map.scale);
            }
        }
        scratch.gram.add(simd, maps.len());
    }
}

/// The gradient of a tile: its local gradient plus W times the correction matrix.
#[inline(always)]
pub(super) fn add_correction(
    simd: SimdToken,
    w: &[AlignedF32x16],
    local: &[AlignedF32x16],
    correction: &[[f32; ROWS_PER_PANEL]],
    out: &mut [AlignedF32x16],
) {
    let width = w.len();
    // Four vectors of the gradient at a time, as the correction is interleaved for them.
    for (i, out) in out
        .as_chunks_mut::<ROWS_PER_PANEL>()
        .0
        .iter_mut()
        .enumerate()
    {
        let vector = |j: usize| {
            local
                // Beyond the width there are zeros.
                .get(ROWS_PER_PANEL * i + j)
                .map_or(simd.splat(0.0), |vector| simd.load(&vector.0))
        };
        let sums = [vector(0), vector(1), vector(2), vector(3)];
        let sums = add_products(simd, w, &correction[i * width..(i + 1) * width], sums);
        for j in 0..ROWS_PER_PANEL {
            sums[j].store(&mut out[j]);
        }
    }
}

#[inline(always)]
fn gram_pass_body(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    mut projection: Option<&mut ProjectionWorker<'_>>,
    scratch: &mut TileScratch,
) {
    let width = scratch.w.len();
    let gathers = block.tiles.chunks(gram::TILES_PER_GATHER * 2 * width);
    let maps = block.output_maps.chunks(gram::TILES_PER_GATHER);
    for (gather, (tiles, maps)) in gathers.zip(maps).enumerate() {
        let first = block.first_tile + gather * gram::TILES_PER_GATHER;
        for (t, (tile, map)) in tiles.chunks_exact(2 * width).zip(maps).enumerate() {
            let (weights, w) = (&tile[..width], &mut scratch.w);
            predicting_parameters(simd, weights, map, projection.as_deref_mut(), first + t, w);
            // Widened here, so the Gram matrix is summed in double precision.
            for (w, wide) in w.iter().zip(scratch.gram.tile_mut(t)) {
                simd.load(&w.0).store_f64(wide);
            }
        }
        scratch.gram.add(simd, maps.len());
    }
}
