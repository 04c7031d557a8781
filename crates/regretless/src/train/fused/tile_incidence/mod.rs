//! Products of equality constraints A with vectors of a linear predictor, tile by tile. Tiles, W
//! and z are defined in the header of [`super`]; [`super::projection`] says what for.
//!
//! A tile has sixteen costs, and one vector of these per parameter. The rows of A have slots. Half
//! a tile and eight parameters (a chunk) are a square that is transposed in registers.
//!
//! * **S = A V**, sums over costs: a square is transposed to one vector of parameters per cost,
//!   which is added to the slots of the cost.
//! * **Aᵀ Y**, from slots to costs: if runs of costs have one row in common and consecutive second
//!   rows (tours, assignments, groups), Y is stored by parameter, and the costs of a run read a
//!   window of consecutive slots. Otherwise the products are transposed as the sums are.
//!
//! Runs are cut into segments, their parts in each tile; most tiles of large problems are one whole
//! segment, which needs neither masks nor a transposed copy. The number of instructions decides:
//! with six parameters a sum takes 11 to 15 ns per tile and a product 10 to 22 ns (TSP20 to TSP200,
//! AP25, AP60; Zen 4), and 20 ns each if segments and entries shared a function, which kept its
//! variables in memory. Not faster: sums by windows (15 ns for a whole segment, up to 35 ns for
//! several, since a window overlaps the one that was stored just before), prefetching the sums of
//! the next tile, and sums and products of a whole block outside the kernel.

#![allow(
    unsafe_code,
    reason = "the innermost loop skips bounds checks that are made once per tile"
)]

use crate::problem::{Incidence, SparseIncidence, VariableRun};
use crate::simd::{AlignedF32x8, F32_LANES, F32x8, F32x16, SimdToken};

mod products;
mod sums;

pub(super) use products::{add_entry_products, add_segment_products, write_segment_parameters};
pub(super) use sums::{add_entry_sums, add_segment_sums};

/// Lanes of half a tile, and parameters of a chunk.
pub(super) const CHUNK: usize = F32_LANES / 2;
/// Zeros before and after the slots of a parameter: windows may begin before the first slot and
/// end after the last one.
const PADDING: usize = F32_LANES;

/// Which rows of A each cost is in.
pub(super) enum TileIncidence {
    /// Factors of 1.
    Segments(TileSegments),
    /// At most two rows per cost, as for arcs of a network.
    Pairs(Vec<[IncidenceEntry; 2]>),
    /// Any number of rows.
    Sparse {
        /// The first entry of each cost, then the number of all.
        starts: Vec<usize>,
        entries: Vec<IncidenceEntry>,
    },
}

#[derive(Clone, Copy)]
pub(super) struct IncidenceEntry {
    slot: u32,
    factor: f32,
}

impl IncidenceEntry {
    const NONE: Self = Self {
        slot: 0,
        factor: 0.0,
    };
}

/// The parts of runs in each tile.
pub(super) struct TileSegments {
    /// The first segment of each tile, then the number of all.
    starts: Vec<u32>,
    segments: Vec<TileSegment>,
    /// Where the last window of second rows or value of a common row ends.
    end: usize,
}

/// Consecutive costs of a tile that have a row in common.
struct TileSegment {
    /// Its lanes.
    from: u32,
    to: u32,
    /// The slot of the common row.
    common: u32,
    /// The slot of the second row of the first cost; those of the others follow.
    first_own: u32,
    has_own: bool,
    /// Whether it has own rows and all lanes.
    covers_tile: bool,
}

/// Zeros, ones and zeros: windows of it are 1 from a lane on, or before a lane.
static SEGMENT_MASKS: [f32; 3 * F32_LANES] = {
    let mut masks = [0.0; 3 * F32_LANES];
    let mut lane = F32_LANES;
    while lane < 2 * F32_LANES {
        masks[lane] = 1.0;
        lane += 1;
    }
    masks
};

const ONES: [f32; F32_LANES] = [1.0; F32_LANES];

#[inline(always)]
fn mask_window(simd: SimdToken, start: usize) -> F32x16 {
    simd.load(SEGMENT_MASKS[start..].first_chunk().unwrap_or(&ONES))
}

impl TileSegment {
    /// 1 in its lanes, 0 elsewhere.
    #[inline(always)]
    fn mask(&self, simd: SimdToken) -> F32x16 {
        let not_before = mask_window(simd, F32_LANES - self.from as usize);
        not_before.mul(mask_window(simd, 2 * F32_LANES - self.to as usize))
    }

    /// Where the window of the second rows begins among the padded slots of a parameter: that of
    /// lane 0, if it were in the run; in the padding, where there are none.
    #[inline(always)]
    fn window(&self) -> usize {
        if self.has_own {
            PADDING + self.first_own as usize - self.from as usize
        } else {
            0
        }
    }
}

impl TileIncidence {
    pub(super) fn new(incidence: &Incidence, num_costs: usize) -> Self {
        match incidence {
            Incidence::Runs(runs) => Self::Segments(TileSegments::new(runs, num_costs)),
            Incidence::Sparse(sparse) => Self::of_entries(sparse, num_costs),
        }
    }

    fn of_entries(sparse: &SparseIncidence, num_costs: usize) -> Self {
        let (mut starts, mut entries) = (vec![0], Vec::new());
        for cost in 0..num_costs {
            for (slot, factor) in sparse.entries(cost) {
                let (slot, factor) = (slot as u32, factor as f32);
                entries.push(IncidenceEntry { slot, factor });
            }
            starts.push(entries.len());
        }
        // Arcs of networks are in two rows: pairs of fixed size spare the kernel a lookup of
        // ranges.
        if starts.windows(2).any(|range| range[1] - range[0] > 2) {
            return Self::Sparse { starts, entries };
        }
        let mut pairs = vec![[IncidenceEntry::NONE; 2]; num_costs];
        for (pair, range) in pairs.iter_mut().zip(starts.windows(2)) {
            pair[..range[1] - range[0]].copy_from_slice(&entries[range[0]..range[1]]);
        }
        Self::Pairs(pairs)
    }

    /// Zeros for this number of slots and parameters.
    pub(super) fn zeros(&self, slots: usize, width: usize) -> SlotValues {
        let padded = match self {
            Self::Segments(_) => 2 * PADDING + slots.next_multiple_of(CHUNK),
            Self::Pairs(_) | Self::Sparse { .. } => 0,
        };
        SlotValues {
            slots,
            width,
            by_slot: vec![AlignedF32x8::ZERO; slots * width.div_ceil(CHUNK)],
            by_parameter: vec![0.0; padded * width],
            stride: padded,
        }
    }
}

impl TileSegments {
    fn new(runs: &[VariableRun], num_costs: usize) -> Self {
        let (mut starts, mut segments) = (vec![0], Vec::new());
        let mut first_run = 0;
        for first in (0..num_costs).step_by(F32_LANES) {
            let end = num_costs.min(first + F32_LANES);
            for run in &runs[first_run..] {
                if run.variables.start >= end {
                    break;
                }
                let (from, to) = (run.variables.start.max(first), run.variables.end.min(end));
                if from < to {
                    let own = run.first_own.map(|own| own + from - run.variables.start);
                    segments.push(TileSegment {
                        from: (from - first) as u32,
                        to: (to - first) as u32,
                        common: run.common as u32,
                        first_own: own.unwrap_or(0) as u32,
                        has_own: own.is_some(),
                        covers_tile: own.is_some() && to - from == F32_LANES,
                    });
                }
                // The last run may continue in the next tile.
                first_run += usize::from(run.variables.end <= end);
            }
            starts.push(segments.len() as u32);
        }
        let end = |segment: &TileSegment| {
            let window_end = segment.window() + F32_LANES;
            window_end.max(PADDING + segment.common as usize + 1)
        };
        Self {
            end: segments.iter().map(end).max().unwrap_or(0),
            starts,
            segments,
        }
    }

    #[inline(always)]
    fn of_tile(&self, tile: usize) -> &[TileSegment] {
        &self.segments[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }
}

/// One value per slot and parameter.
pub(super) struct SlotValues {
    slots: usize,
    width: usize,
    /// For each chunk of parameters, one vector per slot.
    pub(super) by_slot: Vec<AlignedF32x8>,
    /// For each parameter, the values of all slots between paddings, where windows are read.
    by_parameter: Vec<f32>,
    /// Values of a parameter with its paddings.
    stride: usize,
}

impl SlotValues {
    #[inline(always)]
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Chunks of parameters.
    #[inline(always)]
    pub(super) fn num_chunks(&self) -> usize {
        self.width.div_ceil(CHUNK)
    }

    /// Copies the values by slot to those by parameter, if windows are read.
    #[inline(always)]
    pub(super) fn update_windows(&mut self, simd: SimdToken) {
        if self.stride == 0 {
            return;
        }
        let chunks = self.by_slot.chunks_exact(self.slots);
        let rows = self.by_parameter.chunks_mut(CHUNK * self.stride);
        for (values, rows) in chunks.zip(rows) {
            for (square, values) in values.chunks(CHUNK).enumerate() {
                let columns = transpose_rows(simd, values);
                let start = PADDING + square * CHUNK;
                for k in 0..CHUNK {
                    let row = rows.get_mut(k * self.stride + start..);
                    if let Some(row) = row.and_then(<[f32]>::first_chunk_mut) {
                        columns[k].store(row);
                    }
                }
            }
        }
    }
}

/// Vector i, or zeros where there is none.
#[inline(always)]
fn load_row(simd: SimdToken, rows: &[AlignedF32x8], i: usize) -> F32x8 {
    match rows.get(i) {
        Some(row) => simd.load_f32x8(&row.0),
        None => simd.splat_f32x8(0.0),
    }
}

/// Up to eight vectors, transposed; the others are zeros.
#[inline(always)]
fn transpose_rows(simd: SimdToken, rows: &[AlignedF32x8]) -> [F32x8; CHUNK] {
    simd.transpose([
        load_row(simd, rows, 0),
        load_row(simd, rows, 1),
        load_row(simd, rows, 2),
        load_row(simd, rows, 3),
        load_row(simd, rows, 4),
        load_row(simd, rows, 5),
        load_row(simd, rows, 6),
        load_row(simd, rows, 7),
    ])
}
