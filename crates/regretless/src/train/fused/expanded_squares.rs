//! Squared errors of all costs, expanded: their gradient without predictions.
//!
//! ```text
//! u = c − o − W z                             errors of a row; o: offset of the output scaler,
//!                                             z = (features, 1), W: the parameters
//! ½ gradient of Σ u² = −(c − o) zᵀ + W z zᵀ   first term: constant, second term: W times one
//!                                             small matrix for all costs
//! Σ u² = Σ (c − o)² + W · (½ gradient + first term)
//! ```
//!
//! No prediction is computed: half the arithmetic, and one sum per step instead of one per row. The
//! last sum loses digits if errors are small compared to the spread Σ (c − o)²: below
//! [`MIN_RESOLVED_FRACTION`] training continues with predictions.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::FusedContext;
use super::adam::{AdamBroadcast, AdamCoefficients};
use super::kernel::{add_correction, backward};
use super::row_constants::OuterProductSum;
use super::slope::SquaredAll;
use super::tile_block::{ROWS_PER_PANEL, RowBatch, TileAffine, TileBlock};
use super::tiled_targets::BatchPlan;
use crate::data::Matrix;
use crate::parallel::Threads;
use crate::simd::{AlignedF32x8, AlignedF32x16, SimdToken, dispatch_simd};

/// Fraction of the spread of costs below which errors are computed from predictions instead.
/// Trades speed against digits of the loss: at 2 % the difference has lost about two of seven
/// digits.
const MIN_RESOLVED_FRACTION: f64 = 0.02;
/// Tiles of a block: two kilobytes of a row, and parameters that fit into the second-level cache.
pub(super) const TILES_PER_BLOCK: usize = 32;

/// The spread of costs, which is constant during training.
pub(super) struct ExpandedSquares {
    /// ‖c − o‖² of each row.
    spreads: Vec<f64>,
}

/// Losses of the steps of an epoch.
pub(super) struct StepLosses {
    /// The sum over the rows of each step.
    pub(super) per_step: Vec<f64>,
    /// Whether the losses have enough digits.
    pub(super) expansion_is_accurate: bool,
}

impl ExpandedSquares {
    pub(super) fn new(costs: &Matrix, offset: &[f64], threads: &Threads) -> Self {
        let mut spreads = vec![0.0; costs.rows()];
        threads.fill_slots(
            &mut spreads,
            || (),
            |(), row, spread| *spread = squared_distance(costs.row(row), offset),
        );
        Self { spreads }
    }

    /// The losses of each step, from the sums of the kernel.
    pub(super) fn losses(
        &self,
        context: &FusedContext<'_>,
        plan: &BatchPlan<'_>,
        sums: &[f64],
    ) -> StepLosses {
        let (mut per_step, mut total_spread) = (Vec::with_capacity(plan.steps()), 0.0);
        for (step, sum) in sums.iter().enumerate() {
            let rows = plan.rows(step);
            let spread: f64 = rows
                .iter()
                .map(|row| context.row_constants.loss(*row, self.spreads[*row]))
                .sum();
            per_step.push(spread + context.row_constants.loss_scale(rows.len()) * sum);
            total_spread += spread;
        }
        // Squares far below the spread have lost digits in the difference; errors are then computed
        // directly from the next epoch on.
        let expansion_is_accurate =
            per_step.iter().sum::<f64>() >= MIN_RESOLVED_FRACTION * total_spread;
        StepLosses {
            per_step,
            expansion_is_accurate,
        }
    }
}

fn squared_distance(costs: &[f32], offset: &[f64]) -> f64 {
    // Four partial sums, so no addition waits for the one before.
    let mut sums = [0.0; 4];
    for (j, (cost, offset)) in costs.iter().zip(offset).enumerate() {
        let difference = f64::from(*cost - *offset as f32);
        sums[j % 4] += difference * difference;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The rows of a step with the product of their features.
pub(super) struct ExpandedStep<'a> {
    pub(super) batch: RowBatch<'a>,
    /// Σ z zᵀ over the batch, weighted by the rows' backward coefficients.
    pub(super) products: &'a OuterProductSum,
    pub(super) adam: &'a AdamCoefficients,
}

/// Scratch for one block.
pub(super) struct ExpandedScratch {
    /// For each tile the part of the gradient that does not depend on parameters, −(c − o) zᵀ.
    constant_parts: Vec<AlignedF32x16>,
    /// W for one tile, without the offset.
    w: Vec<AlignedF32x16>,
    /// The gradient of a tile, padded to a multiple of four vectors.
    gradient: Vec<AlignedF32x16>,
}

impl ExpandedScratch {
    pub(super) fn new(width: usize) -> Self {
        let zeros = |count: usize| vec![AlignedF32x16::ZERO; count];
        Self {
            constant_parts: zeros(TILES_PER_BLOCK * width),
            w: zeros(width),
            gradient: zeros(width.next_multiple_of(ROWS_PER_PANEL)),
        }
    }
}

dispatch_simd! {
    /// The gradient and the Adam step of a block; adds W · (gradient + constant part) to a sum.
    pub(super) step_squares = step_squares_body [] (
        block: &mut TileBlock<'_>,
        step: &ExpandedStep<'_>,
        scratch: &mut ExpandedScratch,
        sum: &mut AlignedF32x8,
    )
}

#[inline(always)]
fn step_squares_body(
    simd: SimdToken,
    block: &mut TileBlock<'_>,
    step: &ExpandedStep<'_>,
    scratch: &mut ExpandedScratch,
    sum: &mut AlignedF32x8,
) {
    let adam = AdamBroadcast::new(simd, step.adam);
    let ExpandedScratch {
        constant_parts,
        w,
        gradient,
    } = scratch;
    let (width, num_tiles) = (w.len(), block.num_tiles());
    assert!(
        step.batch
            .has_tiles::<SquaredAll>(block.first + num_tiles, width),
        "rows must contain the block"
    );
    let constant_parts = &mut constant_parts[..num_tiles * width];
    constant_parts.fill(AlignedF32x16::ZERO);
    for panel in 0..step.batch.targets.len() {
        add_constant_part(simd, &step.batch, panel, block, constant_parts);
    }
    let states = block
        .tiles
        .chunks_exact_mut(2 * width)
        .zip(block.moments.chunks_exact_mut(2 * width));
    let tiles = constant_parts.chunks_exact(width).zip(states);
    for ((constant_part, (tile, moments)), map) in tiles.zip(block.output_maps) {
        let weights = &mut tile[..width];
        scale(simd, weights, map, w);
        add_correction(simd, w, constant_part, &step.products.interleaved, gradient);
        // ‖W z − (c − o)‖² − ‖c − o‖² = W · (gradient + constant part): each is a bilinear form
        // that is known already.
        for i in 0..width {
            let both = simd
                .load(&gradient[i].0)
                .add(simd.load(&constant_part[i].0));
            simd.load(&w[i].0).add_product_to(both, sum);
        }
        // No Gram matrix: without normalization no norms are needed.
        adam.step_tile(simd, weights, gradient, moments, map, &mut []);
    }
}

/// Parameters times the scale of their outputs.
#[inline(always)]
fn scale(simd: SimdToken, weights: &[AlignedF32x16], map: &TileAffine, w: &mut [AlignedF32x16]) {
    let scale = simd.load(&map.scale.0);
    for (w, weight) in w.iter_mut().zip(weights) {
        scale.mul(simd.load(&weight.0)).store(w);
    }
}

/// Adds the part of the gradient of a panel of four rows that does not depend on parameters. The
/// loop runs along the block, so only four rows are read at a time, each in sequence, which is
/// faster than access to many rows in turn.
#[inline(always)]
fn add_constant_part(
    simd: SimdToken,
    batch: &RowBatch<'_>,
    panel: usize,
    block: &TileBlock<'_>,
    out: &mut [AlignedF32x16],
) {
    let width = out.len() / block.num_tiles();
    let targets = &batch.targets[panel];
    let coefficients = &batch.backward[panel * width..(panel + 1) * width];
    // The next panel of this step, or the first panel of the next step.
    // A panel is prefetched while the one before is processed.
    let (next, distance) = match batch.targets.get(panel + 1) {
        Some(next) => (Some(next), 0),
        None => (batch.prefetch_targets.first(), batch.prefetch_distance),
    };
    for (t, (gradient, map)) in out
        .chunks_exact_mut(width)
        .zip(block.output_maps)
        .enumerate()
    {
        let tile = block.first + t;
        if let Some(next) = next {
            for targets in next {
                simd.prefetch(targets.costs.as_ptr(), tile.wrapping_add(distance));
            }
        }
        let offset = simd.load(&map.offset.0);
        // SAFETY: the caller has checked that all rows contain the tile.
        let costs = |i: usize| {
            simd.load(unsafe { targets[i].costs.get_unchecked(tile) })
                .sub(offset)
        };
        let rows = [costs(0), costs(1), costs(2), costs(3)];
        backward(simd, &rows, coefficients, gradient);
    }
}
