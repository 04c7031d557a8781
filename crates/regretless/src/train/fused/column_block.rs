//! How threads share the columns: groups of tiles that do not depend on the number of threads, each
//! summed by itself, the sums added in order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::FusedContext;
use super::kernel::TileBlock;
use crate::simd::AlignedF32x16;

/// Most parts of the columns that threads share out among themselves.
const MAX_COLUMN_GROUPS: usize = 64;
/// Fewest tiles of such a part.
const MIN_TILES_PER_GROUP: usize = 32;

/// Ranges of whole tiles that are summed by themselves; a tile that is not whole belongs to the
/// last.
pub(super) fn groups(whole: usize) -> Vec<Range<usize>> {
    let count = (whole / MIN_TILES_PER_GROUP).clamp(1, MAX_COLUMN_GROUPS);
    (0..count)
        .map(|g| g * whole / count..(g + 1) * whole / count)
        .collect()
}

/// The part of the parameters one worker owns: whole groups, one after the other.
pub(super) struct ColumnBlock<'a> {
    pub(super) groups: Range<usize>,
    pub(super) tiles: &'a mut [AlignedF32x16],
    pub(super) moments: &'a mut [AlignedF32x16],
}

/// Where a block stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockPosition {
    /// Whether it is the last of its worker that is whole.
    pub(super) end: bool,
    /// Whether it is the tile that is not whole.
    pub(super) tail: bool,
    /// Whether it is the last of its group.
    pub(super) last: bool,
    pub(super) group: usize,
}

impl ColumnBlock<'_> {
    /// Number of the first tile.
    pub(super) fn first(&self, setup: &FusedContext<'_>) -> usize {
        setup.groups[self.groups.start].start
    }

    /// Calls `work` with each block of each group, of at most so many tiles.
    pub(super) fn blocks(
        &mut self,
        setup: &FusedContext<'_>,
        max: usize,
        mut work: impl FnMut(BlockPosition, &mut TileBlock<'_>),
    ) {
        let begin = self.first(setup);
        for group in self.groups.clone() {
            let range = setup.groups[group].clone();
            let tail = group + 1 == setup.groups.len() && setup.maps.len() > range.end;
            for first in range.clone().step_by(max) {
                let end = (first + max).min(range.end);
                let done = end == range.end;
                let place = BlockPosition {
                    end: done && group + 1 == self.groups.end,
                    tail: false,
                    last: done && !tail,
                    group,
                };
                work(place, &mut self.block(setup, first..end, begin));
            }
            if tail {
                let mut block = self.block(setup, range.end..range.end + 1, begin);
                block.first = 0;
                work(
                    BlockPosition {
                        end: false,
                        tail,
                        last: true,
                        group,
                    },
                    &mut block,
                );
            }
        }
    }

    fn block<'b>(
        &'b mut self,
        setup: &'b FusedContext<'_>,
        tiles: Range<usize>,
        begin: usize,
    ) -> TileBlock<'b> {
        let lanes = 2 * setup.width();
        let own = (tiles.start - begin) * lanes..(tiles.end - begin) * lanes;
        TileBlock {
            first: tiles.start,
            tiles: &mut self.tiles[own.clone()],
            moments: &mut self.moments[own],
            maps: &setup.maps[tiles.clone()],
            quantile_weights: setup.quantile_weights.get(tiles).unwrap_or_default(),
        }
    }
}

/// Numbers one worker leaves for all: a row of them per group.
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

    /// Leaves numbers from a place in a group's row on.
    pub(super) fn store(&self, group: usize, place: usize, values: impl Iterator<Item = f64>) {
        let slots = &self.values[group * self.width + place..(group + 1) * self.width];
        slots
            .iter()
            .zip(values)
            .for_each(|(slot, value)| slot.store(value.to_bits(), Ordering::Relaxed));
    }

    /// Sums over all groups, in their order.
    pub(super) fn sum_groups(&self, out: &mut [f64]) {
        out.fill(0.0);
        for group in self.values.chunks_exact(self.width.max(1)) {
            let values = group
                .iter()
                .map(|slot| f64::from_bits(slot.load(Ordering::Relaxed)));
            out.iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
        }
    }
}
