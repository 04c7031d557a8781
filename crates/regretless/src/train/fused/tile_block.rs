//! What the passes of a fused step work on: a block of tiles, a batch of rows, and scratch.

use super::gram::{self, GramAccumulator};
use super::slope::{RowTargets, StaticSlopeKind};
use crate::simd::{AlignedF32x8, AlignedF32x16};

/// Rows processed together, so a value loaded from memory is used four times; their sums take eight
/// of the sixteen AVX2 registers.
pub(super) const ROWS_PER_PANEL: usize = 4;

/// The affine map from the outputs of a tile to costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileAffine {
    pub(super) offset: AlignedF32x16,
    pub(super) scale: AlignedF32x16,
}

/// Sums of a row over the tiles of a block.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct RowSums {
    /// Σ slope · u.
    pub(super) slope_dot_error: AlignedF32x8,
    /// Σ slope · c.
    pub(super) slope_dot_cost: AlignedF32x8,
}

impl TileBlock<'_> {
    pub(super) fn num_tiles(&self) -> usize {
        self.output_maps.len()
    }
}

impl RowSums {
    pub(super) const ZERO: Self = Self {
        slope_dot_error: AlignedF32x8::ZERO,
        slope_dot_cost: AlignedF32x8::ZERO,
    };
}

/// A block of tiles.
pub(super) struct TileBlock<'a> {
    /// Number of its first tile in the targets of a row.
    pub(super) first: usize,
    /// Number of its first tile.
    pub(super) first_tile: usize,
    /// For each tile the parameters, the bias last, then the local gradient.
    pub(super) tiles: &'a mut [AlignedF32x16],
    /// For each tile Adam's first moments, then its second moments.
    pub(super) moments: &'a mut [AlignedF32x16],
    /// The affine map from outputs to costs, per tile.
    pub(super) output_maps: &'a [TileAffine],
    /// Pinball weights of under-prediction; empty for other losses.
    pub(super) quantile_weights: &'a [AlignedF32x16],
}

/// Rows of a batch, padded to a multiple of four with rows whose coefficients are zero.
#[derive(Clone, Copy)]
pub(super) struct RowBatch<'a> {
    /// −(‖c‖/‖ĉ‖) z for each panel of rows and each entry of z: times W, the prediction at the
    /// norm of the true costs with a minus sign, ready to be added to them.
    pub(super) forward: &'a [[f32; ROWS_PER_PANEL]],
    /// z times minus the row's backward coefficient: times slopes, the gradient of the parameters.
    pub(super) backward: &'a [[f32; ROWS_PER_PANEL]],
    pub(super) targets: &'a [[RowTargets<'a>; ROWS_PER_PANEL]],
    /// Rows whose costs are prefetched.
    pub(super) prefetch_targets: &'a [[RowTargets<'a>; ROWS_PER_PANEL]],
    /// How many tiles ahead they are prefetched (or behind, wrapping).
    pub(super) prefetch_distance: usize,
}

impl RowBatch<'_> {
    /// Whether all rows contain the first `tiles` tiles, and coefficients for `width` parameters.
    pub(super) fn has_tiles<K: StaticSlopeKind>(&self, tiles: usize, width: usize) -> bool {
        let coefficients = self.targets.len() * width;
        let panel_has_tiles = |panel: &[RowTargets<'_>; ROWS_PER_PANEL]| {
            panel.iter().all(|targets| targets.has_tiles::<K>(tiles))
        };
        self.forward.len() >= coefficients
            && self.backward.len() >= coefficients
            && self.targets.iter().all(panel_has_tiles)
    }
}

/// Scratch for one tile, the sums of a batch, and the Gram matrix.
#[derive(Debug, Clone)]
pub(super) struct TileScratch {
    /// W for one tile: parameters as they act on features.
    pub(super) w: Vec<AlignedF32x16>,
    /// Gradients of a few tiles, each padded to a multiple of four vectors.
    pub(super) gradients: Vec<AlignedF32x16>,
    /// Sums of the rows of a batch.
    pub(super) sums: Vec<[RowSums; ROWS_PER_PANEL]>,
    pub(super) gram: GramAccumulator,
}

impl TileScratch {
    /// Scratch for `width` parameters per cost and `panels` panels of rows.
    pub(super) fn new(width: usize, panels: usize) -> Self {
        let vectors = gram::TILES_PER_GATHER * width.next_multiple_of(ROWS_PER_PANEL);
        Self {
            w: vec![AlignedF32x16::ZERO; width],
            gradients: vec![AlignedF32x16::ZERO; vectors],
            sums: vec![[RowSums::ZERO; ROWS_PER_PANEL]; panels],
            gram: GramAccumulator::new(width),
        }
    }
}
