//! The passes of a fused step, over tiles of sixteen costs.
//!
//! Pass A predicts a tile for all rows of a batch, compares with the true costs, and leaves the
//! local gradient of the tile's parameters and two sums per row; predictions never reach memory.
//! Pass B adds what only the sums of all tiles can tell, takes the Adam step, and gathers the Gram
//! matrix of the new parameters, from which the lengths of the next predictions follow. Without
//! normalisation both are one ([`step_alone`]), and the gradient never reaches memory either.
//!
//! Within a block of tiles lanes are summed in single precision, across blocks in double precision
//! and in a fixed order. Loops over parameters stay loops: unrolled, the compiler would reorder
//! them and run out of registers. Whatever runs inside a pass must be inlined into it, hence no
//! closures over iterators.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::adam::{AdamBroadcast, AdamCoefficients};
use super::gram::{self, GramAccumulator};
use super::slope::{RowTargets, slopes};
use crate::simd::{AlignedF32x8, AlignedF32x16, Avx2Fma, F32x16, dispatch_avx2};

/// Rows handled together, so that a number from memory is used for several.
pub(super) const ROWS_PER_QUAD: usize = 4;

/// What is added to and multiplies the outputs of a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileAffine {
    pub(super) offset: AlignedF32x16,
    pub(super) scale: AlignedF32x16,
}

/// Sums of a row over the tiles of a block: its slopes times its errors, and times its costs.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct RowSums {
    pub(super) loss: AlignedF32x8,
    pub(super) projection: AlignedF32x8,
}

impl RowSums {
    pub(super) const ZERO: Self = Self {
        loss: AlignedF32x8::ZERO,
        projection: AlignedF32x8::ZERO,
    };
}

/// A block of tiles.
pub(super) struct TileBlock<'a> {
    /// Number of its first tile in the rows.
    pub(super) first: usize,
    /// For each tile the parameters, the bias last, and the local gradient.
    pub(super) tiles: &'a mut [AlignedF32x16],
    /// For each tile the running means of gradients and of their squares.
    pub(super) moments: &'a mut [AlignedF32x16],
    pub(super) maps: &'a [TileAffine],
    /// Weights of under-prediction; empty unless they aim.
    pub(super) quantile_weights: &'a [AlignedF32x16],
}

/// Rows of a batch, padded with rows without effect to whole fours.
#[derive(Clone, Copy)]
pub(super) struct RowBatch<'a> {
    /// For each four and each feature, and the 1 of the bias: times what makes minus the
    /// prediction, at the length of the truth.
    pub(super) forward: &'a [[f32; ROWS_PER_QUAD]],
    /// Times what makes a gradient of slopes.
    pub(super) backward: &'a [[f32; ROWS_PER_QUAD]],
    pub(super) targets: &'a [[RowTargets<'a>; ROWS_PER_QUAD]],
    /// Rows whose costs are asked for before they are needed, and how many tiles ahead (or behind,
    /// wrapping).
    pub(super) prefetch_targets: &'a [[RowTargets<'a>; ROWS_PER_QUAD]],
    pub(super) prefetch_distance: usize,
}

impl RowBatch<'_> {
    /// Whether the rows have these tiles, and a number for each of so many parameters.
    pub(super) fn has_tiles<const MASK: u8>(&self, tiles: usize, width: usize) -> bool {
        let numbers = self.targets.len() * width;
        let there = |quad: &[RowTargets<'_>; ROWS_PER_QUAD]| {
            quad.iter().all(|targets| targets.has_tiles::<MASK>(tiles))
        };
        self.forward.len() >= numbers
            && self.backward.len() >= numbers
            && self.targets.iter().all(there)
    }
}

/// Room for one tile, the sums of a batch, and the Gram matrix.
#[derive(Debug, Clone)]
pub(super) struct TileScratch {
    /// Parameters as they act on features.
    weights: Vec<AlignedF32x16>,
    /// Gradients of a few tiles, each up to whole fours.
    gradients: Vec<AlignedF32x16>,
    /// Sums of the rows of a batch.
    pub(super) sums: Vec<[RowSums; ROWS_PER_QUAD]>,
    pub(super) gram: GramAccumulator,
}

impl TileScratch {
    /// Room for so many parameters per cost and fours of rows.
    pub(super) fn new(width: usize, quads: usize) -> Self {
        let gradients = vec![
            AlignedF32x16::ZERO;
            gram::TILES_PER_GATHER * width.next_multiple_of(ROWS_PER_QUAD)
        ];
        let sums = vec![[RowSums::ZERO; ROWS_PER_QUAD]; quads];
        Self {
            weights: vec![AlignedF32x16::ZERO; width],
            gradients,
            sums,
            gram: GramAccumulator::new(width),
        }
    }
}

dispatch_avx2! {
    /// Local gradients and sums of a block.
    pub(super) pass_a = pass_a_body [ABSOLUTE: bool, MASK: u8] (
        block: &mut TileBlock<'_>, batch: &RowBatch<'_>, scratch: &mut TileScratch,
    )
}

dispatch_avx2! {
    /// The Adam step of a block, given the correction that normalisation asks for, and its part of
    /// the Gram matrix.
    pub(super) pass_b = pass_b_body [] (
        block: &mut TileBlock<'_>, correction: &[[f32; ROWS_PER_QUAD]], step: &AdamCoefficients, scratch: &mut TileScratch,
    )
}

dispatch_avx2! {
    /// Gradients, sums and the Adam step of a block that knows of no other.
    pub(super) step_alone = step_separable_body [ABSOLUTE: bool, MASK: u8] (
        block: &mut TileBlock<'_>, batch: &RowBatch<'_>, step: &AdamCoefficients, scratch: &mut TileScratch,
    )
}

dispatch_avx2! {
    /// The sums of a block only.
    pub(super) pass_loss = pass_loss_body [ABSOLUTE: bool, MASK: u8] (
        block: &mut TileBlock<'_>, batch: &RowBatch<'_>, scratch: &mut TileScratch,
    )
}

dispatch_avx2! {
    /// Adds a block's part of the Gram matrix.
    pub(super) pass_gram = pass_gram_body [] (block: &mut TileBlock<'_>, scratch: &mut TileScratch)
}

/// Parameters as they act on features: scaled, the offset added to the bias.
#[inline(always)]
fn scaled_parameters(
    simd: Avx2Fma,
    weights: &[AlignedF32x16],
    map: &TileAffine,
    out: &mut [AlignedF32x16],
) {
    let scale = simd.load(&map.scale.0);
    for (out, weight) in out.iter_mut().zip(weights) {
        scale.mul(simd.load(&weight.0)).store(out);
    }
    if let (Some(out), Some(bias)) = (out.last_mut(), weights.last()) {
        scale
            .mul_add(simd.load(&bias.0), simd.load(&map.offset.0))
            .store(out);
    }
}

/// Adds to each of a few rows its numbers times the lines.
#[inline(always)]
fn add_products(
    simd: Avx2Fma,
    lines: &[AlignedF32x16],
    numbers: &[[f32; ROWS_PER_QUAD]],
    mut sums: [F32x16; ROWS_PER_QUAD],
) -> [F32x16; ROWS_PER_QUAD] {
    for (line, numbers) in lines.iter().zip(numbers) {
        let line = simd.load(&line.0);
        for i in 0..ROWS_PER_QUAD {
            sums[i] = line.mul_add(simd.splat(numbers[i]), sums[i]);
        }
    }
    sums
}

/// Adds to each line its numbers times the rows.
#[inline(always)]
pub(super) fn backward(
    simd: Avx2Fma,
    rows: &[F32x16; ROWS_PER_QUAD],
    numbers: &[[f32; ROWS_PER_QUAD]],
    lines: &mut [AlignedF32x16],
) {
    for (line, numbers) in lines.iter_mut().zip(numbers) {
        let mut sum = simd.load(&line.0);
        for i in 0..ROWS_PER_QUAD {
            sum = rows[i].mul_add(simd.splat(numbers[i]), sum);
        }
        sum.store(line);
    }
}

/// What judges a tile: its parameters and its weight of under-prediction.
type TileParameters<'a> = (&'a [AlignedF32x16], Option<&'a AlignedF32x16>);

/// Predicts and judges one tile of a few rows, which must cover it; returns the slopes.
#[inline(always)]
fn evaluate_tile<const ABSOLUTE: bool, const MASK: u8, const PROJECTION: bool>(
    simd: Avx2Fma,
    (weights, tau): TileParameters<'_>,
    (targets, forward): (&[RowTargets<'_>; ROWS_PER_QUAD], &[[f32; ROWS_PER_QUAD]]),
    tile: usize,
    sums: &mut [RowSums; ROWS_PER_QUAD],
) -> [F32x16; ROWS_PER_QUAD] {
    // SAFETY: the caller has asked all rows whether they cover the tile.
    let costs = |i: usize| simd.load(unsafe { targets[i].costs.get_unchecked(tile) });
    let mut under = add_products(
        simd,
        weights,
        forward,
        [costs(0), costs(1), costs(2), costs(3)],
    );
    for i in 0..ROWS_PER_QUAD {
        // SAFETY: as above.
        let slope = unsafe { slopes::<ABSOLUTE, MASK>(simd, under[i], &targets[i], tile, tau) };
        slope.add_product_to(under[i], &mut sums[i].loss);
        if PROJECTION {
            slope.add_product_to(costs(i), &mut sums[i].projection);
        }
        under[i] = slope;
    }
    under
}

/// The local gradient of a tile; adds to the sums of the rows.
#[inline(always)]
fn tile_gradient<const ABSOLUTE: bool, const MASK: u8, const PROJECTION: bool>(
    simd: Avx2Fma,
    (batch, tile): (&RowBatch<'_>, usize),
    about: TileParameters<'_>,
    gradient: &mut [AlignedF32x16],
    sums: &mut [[RowSums; ROWS_PER_QUAD]],
) {
    gradient.fill(AlignedF32x16::ZERO);
    let width = gradient.len();
    for (i, (targets, sums)) in batch.targets.iter().zip(sums).enumerate() {
        prefetch_costs(simd, batch, i, tile);
        let numbers = i * width..(i + 1) * width;
        let rows = (targets, &batch.forward[numbers.clone()]);
        let slopes = evaluate_tile::<ABSOLUTE, MASK, PROJECTION>(simd, about, rows, tile, sums);
        backward(simd, &slopes, &batch.backward[numbers], gradient);
    }
}

/// Asks for the bits of the rows that come later, as far as the tiles ahead.
#[inline(always)]
fn prefetch_decision_bits(simd: Avx2Fma, batch: &RowBatch<'_>, block: &TileBlock<'_>) {
    let place = block.first.wrapping_add(batch.prefetch_distance) / 2;
    for prefetch_targets in batch.prefetch_targets {
        for targets in prefetch_targets {
            simd.prefetch(targets.chosen.as_ptr(), place);
        }
    }
}

/// Asks for costs that come later.
#[inline(always)]
fn prefetch_costs(simd: Avx2Fma, batch: &RowBatch<'_>, quad: usize, tile: usize) {
    if let Some(prefetch_targets) = batch.prefetch_targets.get(quad) {
        for targets in prefetch_targets {
            simd.prefetch(
                targets.costs.as_ptr(),
                tile.wrapping_add(batch.prefetch_distance),
            );
        }
    }
}

#[inline(always)]
fn pass_a_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    scratch: &mut TileScratch,
) {
    let width = scratch.weights.len();
    assert!(
        batch.has_tiles::<MASK>(block.first + block.maps.len(), width),
        "rows must cover the block"
    );
    prefetch_decision_bits(simd, batch, block);
    for (t, (tile, map)) in block
        .tiles
        .chunks_exact_mut(2 * width)
        .zip(block.maps)
        .enumerate()
    {
        let (weights, gradient) = tile.split_at_mut(width);
        scaled_parameters(simd, weights, map, &mut scratch.weights);
        let about = (scratch.weights.as_slice(), block.quantile_weights.get(t));
        tile_gradient::<ABSOLUTE, MASK, true>(
            simd,
            (batch, block.first + t),
            about,
            gradient,
            &mut scratch.sums,
        );
    }
}

#[inline(always)]
fn step_separable_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    step: &AdamCoefficients,
    scratch: &mut TileScratch,
) {
    let adam = AdamBroadcast::new(simd, step);
    let width = scratch.weights.len();
    assert!(
        batch.has_tiles::<MASK>(block.first + block.maps.len(), width),
        "rows must cover the block"
    );
    prefetch_decision_bits(simd, batch, block);
    let states = block
        .tiles
        .chunks_exact_mut(2 * width)
        .zip(block.moments.chunks_exact_mut(2 * width));
    for (t, ((tile, moments), map)) in states.zip(block.maps).enumerate() {
        let weights = &mut tile[..width];
        scaled_parameters(simd, weights, map, &mut scratch.weights);
        let about = (scratch.weights.as_slice(), block.quantile_weights.get(t));
        let gradient = &mut scratch.gradients[..width];
        tile_gradient::<ABSOLUTE, MASK, false>(
            simd,
            (batch, block.first + t),
            about,
            gradient,
            &mut scratch.sums,
        );
        adam.tile(simd, (weights, gradient), moments, (map, &mut []));
    }
}

#[inline(always)]
fn pass_loss_body<const ABSOLUTE: bool, const MASK: u8>(
    simd: Avx2Fma,
    block: &mut TileBlock<'_>,
    batch: &RowBatch<'_>,
    scratch: &mut TileScratch,
) {
    let width = scratch.weights.len();
    assert!(
        batch.has_tiles::<MASK>(block.first + block.maps.len(), width),
        "rows must cover the block"
    );
    for (t, (tile, map)) in block
        .tiles
        .chunks_exact(2 * width)
        .zip(block.maps)
        .enumerate()
    {
        scaled_parameters(simd, &tile[..width], map, &mut scratch.weights);
        let about = (scratch.weights.as_slice(), block.quantile_weights.get(t));
        for (i, (targets, sums)) in batch.targets.iter().zip(&mut scratch.sums).enumerate() {
            prefetch_costs(simd, batch, i, block.first + t);
            let rows = (targets, &batch.forward[i * width..(i + 1) * width]);
            evaluate_tile::<ABSOLUTE, MASK, false>(simd, about, rows, block.first + t, sums);
        }
    }
}

#[inline(always)]
fn pass_b_body(
    simd: Avx2Fma,
    block: &mut TileBlock<'_>,
    correction: &[[f32; ROWS_PER_QUAD]],
    step: &AdamCoefficients,
    scratch: &mut TileScratch,
) {
    let adam = AdamBroadcast::new(simd, step);
    let (width, lanes) = (
        scratch.weights.len(),
        gram::TILES_PER_GATHER * 2 * scratch.weights.len(),
    );
    let pad = width.next_multiple_of(ROWS_PER_QUAD);
    let parts = block
        .tiles
        .chunks_mut(lanes)
        .zip(block.moments.chunks_mut(lanes));
    for ((tiles, moments), maps) in parts.zip(block.maps.chunks(gram::TILES_PER_GATHER)) {
        // One loop after the other, so that the roots and quotients of many parameters overlap.
        for ((tile, gradient), map) in tiles
            .chunks_exact(2 * width)
            .zip(scratch.gradients.chunks_exact_mut(pad))
            .zip(maps)
        {
            scaled_parameters(simd, &tile[..width], map, &mut scratch.weights);
            add_correction(
                simd,
                &scratch.weights,
                (&tile[width..], correction),
                gradient,
            );
        }
        let states = tiles
            .chunks_exact_mut(2 * width)
            .zip(moments.chunks_exact_mut(2 * width));
        for (place, ((tile, moments), map)) in states.zip(maps).enumerate() {
            let gradient = &scratch.gradients[place * pad..];
            adam.tile(
                simd,
                (&mut tile[..width], gradient),
                moments,
                (map, scratch.gram.tile_mut(place)),
            );
        }
        scratch.gram.add(simd, maps.len());
    }
}

/// Adds the correction of a tile to its local gradient.
#[inline(always)]
pub(super) fn add_correction(
    simd: Avx2Fma,
    weights: &[AlignedF32x16],
    (local, correction): (&[AlignedF32x16], &[[f32; ROWS_PER_QUAD]]),
    out: &mut [AlignedF32x16],
) {
    let width = weights.len();
    for (i, lines) in out
        .as_chunks_mut::<ROWS_PER_QUAD>()
        .0
        .iter_mut()
        .enumerate()
    {
        let line = |j: usize| {
            local
                .get(ROWS_PER_QUAD * i + j)
                .map_or(simd.splat(0.0), |line| simd.load(&line.0))
        };
        let sums = [line(0), line(1), line(2), line(3)];
        let sums = add_products(simd, weights, &correction[i * width..(i + 1) * width], sums);
        for j in 0..ROWS_PER_QUAD {
            sums[j].store(&mut lines[j]);
        }
    }
}

#[inline(always)]
fn pass_gram_body(simd: Avx2Fma, block: &mut TileBlock<'_>, scratch: &mut TileScratch) {
    let width = scratch.weights.len();
    for (tiles, maps) in block
        .tiles
        .chunks(gram::TILES_PER_GATHER * 2 * width)
        .zip(block.maps.chunks(gram::TILES_PER_GATHER))
    {
        for (place, (tile, map)) in tiles.chunks_exact(2 * width).zip(maps).enumerate() {
            scaled_parameters(simd, &tile[..width], map, &mut scratch.weights);
            for (weight, wide) in scratch.weights.iter().zip(scratch.gram.tile_mut(place)) {
                simd.load(&weight.0).store_f64(wide);
            }
        }
        scratch.gram.add(simd, maps.len());
    }
}
