//! The partition of the columns (costs) among threads: groups of tiles of sixteen columns. Groups
//! do not depend on the number of threads; each is summed separately, and the sums are added in a
//! fixed order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::FusedContext;
use super::tile_block::TileBlock;
use crate::simd::AlignedF32x16;

/// Maximum number of groups. More groups balance the load on more threads, but every worker adds
/// the sums of all groups.
pub(super) const MAX_GROUPS: usize = 64;
/// The same with a projection, whose sums are one vector per equality constraint and group. On one
/// thread 38 groups of TSP200 took 3 % longer than 16.
pub(super) const MAX_PROJECTED_GROUPS: usize = 16;
/// Minimum number of tiles of a group. The sums of smaller groups would take longer than the work
/// they divide.
const MIN_TILES_PER_GROUP: usize = 32;

/// Ranges of full tiles whose sums are stored separately; a partial tile belongs to the last.
pub(super) fn groups(full_tiles: usize, max_groups: usize) -> Vec<Range<usize>> {
    let count = (full_tiles / MIN_TILES_PER_GROUP).clamp(1, max_groups);
    (0..count)
        .map(|g| g * full_tiles / count..(g + 1) * full_tiles / count)
        .collect()
}

/// The parameters that one worker owns: consecutive groups of blocks of tiles.
pub(super) struct WorkerColumns<'a> {
    pub(super) groups: Range<usize>,
    pub(super) tiles: &'a mut [AlignedF32x16],
    pub(super) moments: &'a mut [AlignedF32x16],
}

/// The position of a block of tiles among those of its group and its worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockPosition {
    /// Whether it is the worker's last block of full tiles.
    pub(super) is_last_full_block_of_worker: bool,
    /// Whether it is the partial tile.
    pub(super) is_partial_tile: bool,
    /// Whether it is the last of its group.
    pub(super) is_last_of_group: bool,
    pub(super) group: usize,
}

impl WorkerColumns<'_> {
    /// Number of the first tile.
    pub(super) fn first(&self, context: &FusedContext<'_>) -> usize {
        context.groups[self.groups.start].start
    }

    /// Calls `work` with each block of each group, of at most `max_tiles` tiles.
    pub(super) fn for_each_block(
        &mut self,
        context: &FusedContext<'_>,
        max_tiles: usize,
        mut work: impl FnMut(BlockPosition, &mut TileBlock<'_>),
    ) {
        let begin = self.first(context);
        for group in self.groups.clone() {
            let range = context.groups[group].clone();
            let is_last_group = group + 1 == context.groups.len();
            let has_partial = is_last_group && context.output_maps.len() > range.end;
            for first in range.clone().step_by(max_tiles) {
                let end = (first + max_tiles).min(range.end);
                let at_end = end == range.end;
                let position = BlockPosition {
                    is_last_full_block_of_worker: at_end && group + 1 == self.groups.end,
                    is_partial_tile: false,
                    is_last_of_group: at_end && !has_partial,
                    group,
                };
                work(position, &mut self.block(context, first..end, begin));
            }
            if has_partial {
                let mut block = self.block(context, range.end..range.end + 1, begin);
                // Targets of the partial tile are stored separately.
                block.first = 0;
                let position = BlockPosition {
                    is_last_full_block_of_worker: false,
                    is_partial_tile: true,
                    is_last_of_group: true,
                    group,
                };
                work(position, &mut block);
            }
        }
    }

    fn block<'b>(
        &'b mut self,
        context: &'b FusedContext<'_>,
        tiles: Range<usize>,
        begin: usize,
    ) -> TileBlock<'b> {
        let vectors = 2 * context.width();
        let range = (tiles.start - begin) * vectors..(tiles.end - begin) * vectors;
        TileBlock {
            first: tiles.start,
            first_tile: tiles.start,
            tiles: &mut self.tiles[range.clone()],
            moments: &mut self.moments[range],
            output_maps: &context.output_maps[tiles.clone()],
            quantile_weights: context.quantile_weights.get(tiles).unwrap_or_default(),
        }
    }
}

/// Sums per group, written by the worker that owns the group and read by all workers.
pub(super) struct PartialSums {
    width: usize,
    values: Vec<AtomicU64>,
}

impl PartialSums {
    pub(super) fn new(groups: usize, width: usize) -> Self {
        Self {
            width,
            values: (0..groups * width).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Stores values in the row of a group, from `offset` on.
    pub(super) fn store(&self, group: usize, offset: usize, values: impl Iterator<Item = f64>) {
        let slots = &self.values[group * self.width + offset..(group + 1) * self.width];
        for (slot, value) in slots.iter().zip(values) {
            slot.store(value.to_bits(), Ordering::Relaxed);
        }
    }

    /// Sums over all groups, in their order.
    pub(super) fn sum_groups(&self, out: &mut [f64]) {
        out.fill(0.0);
        for group in self.values.chunks_exact(self.width.max(1)) {
            for (sum, slot) in out.iter_mut().zip(group) {
                *sum += f64::from_bits(slot.load(Ordering::Relaxed));
            }
        }
    }
}
