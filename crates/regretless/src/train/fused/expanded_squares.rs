//! Squared errors of all costs, multiplied out.
//!
//! With u = c − o − W z, where o is the offset of the output map, the gradient of Σ u² over a batch
//! is that of −2 (c − o) zᵀ + 2 W z zᵀ. The second part is one small matrix for all costs, so that
//! nobody predicts: half the arithmetic, and one number per step instead of one per row, since Σ u²
//! = Σ (c − o)² + W · (gradient + first part). The last sum loses digits where errors are small
//! beside the spread of costs: [`MIN_RESOLVED_FRACTION`] says when to predict.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::FusedContext;
use super::adam::{AdamBroadcast, AdamCoefficients};
use super::kernel::{ROWS_PER_QUAD, RowBatch, TileAffine, TileBlock, add_correction, backward};
use super::row_constants::NormalizationCorrection;
use super::slope::ErrorMask;
use super::tiled_targets::BatchPlan;
use crate::data::Matrix;
use crate::parallel::Threads;
use crate::simd::{AlignedF32x8, AlignedF32x16, Avx2Fma, dispatch_avx2};

/// Share of the spread of costs below which the loss has lost too many digits.
const MIN_RESOLVED_FRACTION: f64 = 0.02;
/// Tiles of a block: two kilobytes of a row, and its parameters in the cache beyond the first.
pub(super) const TILES_PER_BLOCK: usize = 32;

/// What is known of rows and steps before an epoch begins.
pub(super) struct ExpandedSquares {
    /// Each row's squared distance from the offset.
    spreads: Vec<f64>,
}

impl ExpandedSquares {
    /// Distances of some rows; none where the loss is another.
    pub(super) fn new(costs: &Matrix, offset: &[f64], threads: &Threads) -> Self {
        let mut spreads = vec![0.0; costs.rows()];
        threads.fill_slots(
            &mut spreads,
            || (),
            |(), row, spread| *spread = distance(costs.row(row), offset),
        );
        Self { spreads }
    }

    /// Losses of the rows of each step, added, given what the kernel summed; and whether that
    /// resolves them.
    pub(super) fn losses(
        &self,
        setup: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        sums: &[f64],
    ) -> (Vec<f64>, bool) {
        let (mut all, mut spread) = (Vec::with_capacity(plan.steps()), 0.0);
        for (step, sum) in sums.iter().enumerate() {
            let rows = plan.rows(step);
            let apart: f64 = rows
                .iter()
                .map(|row| setup.row_constants.loss(*row, self.spreads[*row]))
                .sum();
            all.push(apart + setup.row_constants.loss_scale(rows.len()) * sum);
            spread += apart;
        }
        let resolved = all.iter().sum::<f64>() >= MIN_RESOLVED_FRACTION * spread;
        (all, resolved)
    }
}

fn distance(costs: &[f32], offset: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (j, (cost, offset)) in costs.iter().zip(offset).enumerate() {
        let apart = f64::from(*cost - *offset as f32);
        sums[j % 4] += apart * apart;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Rows of a step whose product with themselves is known.
pub(super) struct ExpandedStep<'a> {
    pub(super) batch: RowBatch<'a>,
    /// Σ z zᵀ times what makes a gradient, for four parameters at a time.
    pub(super) products: &'a NormalizationCorrection,
    pub(super) adam: &'a AdamCoefficients,
}

/// Room for one block.
pub(super) struct ExpandedScratch {
    /// For each tile the part of the gradient that no parameter acts on.
    apart: Vec<AlignedF32x16>,
    /// Parameters of a tile times the scale of their outputs.
    weights: Vec<AlignedF32x16>,
    /// The gradient of a tile, up to whole fours.
    gradient: Vec<AlignedF32x16>,
}

impl ExpandedScratch {
    pub(super) fn new(width: usize) -> Self {
        let lanes = |count: usize| vec![AlignedF32x16::ZERO; count];
        Self {
            apart: lanes(TILES_PER_BLOCK * width),
            weights: lanes(width),
            gradient: lanes(width.next_multiple_of(ROWS_PER_QUAD)),
        }
    }
}

dispatch_avx2! {
    /// The gradient and the Adam step of a block; adds W · (gradient + first part) to a sum.
    pub(super) step_squares = step_squares_body [] (
        block: &mut TileBlock<'_>, step: &ExpandedStep<'_>, scratch: &mut ExpandedScratch, sum: &mut AlignedF32x8,
    )
}

#[inline(always)]
fn step_squares_body(
    simd: Avx2Fma,
    block: &mut TileBlock<'_>,
    step: &ExpandedStep<'_>,
    scratch: &mut ExpandedScratch,
    sum: &mut AlignedF32x8,
) {
    let adam = AdamBroadcast::new(simd, step.adam);
    let ExpandedScratch {
        apart,
        weights: scaled,
        gradient,
    } = scratch;
    let (width, tiles) = (scaled.len(), block.maps.len());
    assert!(
        step.batch
            .has_tiles::<{ ErrorMask::All as u8 }>(block.first + tiles, width),
        "rows must cover the block"
    );
    let apart = &mut apart[..tiles * width];
    apart.fill(AlignedF32x16::ZERO);
    for quad in 0..step.batch.targets.len() {
        accumulate_gradient(simd, (&step.batch, quad), block, apart);
    }
    let states = block
        .tiles
        .chunks_exact_mut(2 * width)
        .zip(block.moments.chunks_exact_mut(2 * width));
    for ((apart, (tile, moments)), map) in apart.chunks_exact(width).zip(states).zip(block.maps) {
        let weights = &mut tile[..width];
        scale(simd, weights, map, scaled);
        add_correction(simd, scaled, (apart, &step.products.quads), gradient);
        for i in 0..width {
            let both = simd.load(&gradient[i].0).add(simd.load(&apart[i].0));
            simd.load(&scaled[i].0).add_product_to(both, sum);
        }
        adam.tile(simd, (weights, gradient), moments, (map, &mut []));
    }
}

/// Parameters times the scale of their outputs.
#[inline(always)]
fn scale(simd: Avx2Fma, weights: &[AlignedF32x16], map: &TileAffine, out: &mut [AlignedF32x16]) {
    let scale = simd.load(&map.scale.0);
    for (out, weight) in out.iter_mut().zip(weights) {
        scale.mul(simd.load(&weight.0)).store(out);
    }
}

/// Adds what four rows give to the part of the gradient that no parameter acts on. Rows run along
/// the block, so that few are read at a time, each in one go: memory is faster at that.
#[inline(always)]
fn accumulate_gradient(
    simd: Avx2Fma,
    (batch, quad): (&RowBatch<'_>, usize),
    block: &TileBlock<'_>,
    out: &mut [AlignedF32x16],
) {
    let width = out.len() / block.maps.len();
    let (targets, numbers) = (
        &batch.targets[quad],
        &batch.backward[quad * width..(quad + 1) * width],
    );
    // Those that come next, or the first of the next step.
    let (next, distance) = match batch.targets.get(quad + 1) {
        Some(next) => (Some(next), 0),
        None => (batch.prefetch_targets.first(), batch.prefetch_distance),
    };
    for (t, (lines, map)) in out.chunks_exact_mut(width).zip(block.maps).enumerate() {
        let tile = block.first + t;
        if let Some(next) = next {
            for targets in next {
                simd.prefetch(targets.costs.as_ptr(), tile.wrapping_add(distance));
            }
        }
        let offset = simd.load(&map.offset.0);
        // SAFETY: the caller has asked all rows whether they cover the tile.
        let costs = |i: usize| {
            simd.load(unsafe { targets[i].costs.get_unchecked(tile) })
                .sub(offset)
        };
        let rows = [costs(0), costs(1), costs(2), costs(3)];
        backward(simd, &rows, numbers, lines);
    }
}
