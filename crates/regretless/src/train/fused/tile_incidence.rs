//! Products of equality constraints A with vectors of a linear predictor, tile by tile. Tiles, W
//! and z are defined in the header of [`super`]; [`super::projection`] says what for.
//!
//! A tile has sixteen costs, and one vector of these per parameter. S = A V are sums over costs,
//! one per row of A and parameter; the numbers of a row are in its slot.
//!
//! * **Runs** of costs with a row in common and consecutive second rows (tours, assignments,
//!   groups): the sums of a parameter are consecutive in memory, the costs of a tile are added to a
//!   window of them, and masks (1 or 0) separate the runs in it.
//! * **Entries**, any rows: tiles are transposed to one vector of parameters per cost, eight
//!   parameters (a chunk) at a time, which is added to the sums of the rows of the cost.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "the innermost loops skip bounds checks that are made once per block"
)]

use std::slice::{ChunksExact, ChunksExactMut};

use super::kernel::{TileBlock, scaled_parameters};
use crate::problem::{Incidence, SparseIncidence, VariableRun};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, Lanes, SimdToken};

/// Parameters of a chunk.
pub(super) const CHUNK: usize = F32_LANES / 2;
/// Zeros before and after the numbers of a row of runs: windows of a tile may begin before the
/// first slot and end after the last one.
const PADDING: usize = F32_LANES;

/// Which rows of A each cost is in.
pub(super) enum TileIncidence {
    Runs(RunPieces),
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

/// The parts of runs in each tile; all factors are 1.
pub(super) struct RunPieces {
    /// The first piece of each tile, then the number of all.
    starts: Vec<usize>,
    pieces: Vec<RunPiece>,
    /// Where the last window ends.
    end: usize,
}

/// Consecutive costs of a tile that have a row in common.
#[derive(Clone, Copy)]
struct RunPiece {
    /// Where the numbers of the common row are.
    common: u32,
    /// Where the window of the second rows begins; in the padding where there are none.
    own: u32,
    /// Its lanes.
    from: u32,
    to: u32,
}

/// Zeros, ones and zeros: windows of it are 1 from a lane on, or before a lane.
static TILE_WINDOW_MASKS: [f32; 3 * F32_LANES] = {
    let mut masks = [0.0; 3 * F32_LANES];
    let mut lane = F32_LANES;
    while lane < 2 * F32_LANES {
        masks[lane] = 1.0;
        lane += 1;
    }
    masks
};

impl RunPiece {
    /// 1 in its lanes, 0 elsewhere.
    #[inline(always)]
    fn mask<V: Lanes>(&self, token: V::Token) -> V {
        let window = |start: u32| {
            let window = TILE_WINDOW_MASKS[start as usize..].first_chunk::<F32_LANES>();
            V::load(token, window.unwrap_or(&ONES.0))
        };
        let not_before = window(F32_LANES as u32 - self.from);
        let not_after = window(2 * F32_LANES as u32 - self.to);
        not_before.mul_add(not_after, V::splat(token, 0.0))
    }
}

/// How the numbers of all slots and parameters are stored: in rows between paddings.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotLayout {
    /// Rows: one per parameter for runs, one per chunk of parameters for entries.
    pub(super) rows: usize,
    /// Numbers of a row: one per slot for runs, eight for entries.
    pub(super) row_length: usize,
    padding: usize,
    stride: usize,
}

impl SlotLayout {
    pub(super) fn num_values(self) -> usize {
        self.rows * self.row_length
    }

    /// Zeros for all rows.
    pub(super) fn zeros(self) -> Vec<f32> {
        vec![0.0; self.rows * self.stride]
    }

    #[inline(always)]
    pub(super) fn padded_rows(self, values: &[f32]) -> ChunksExact<'_, f32> {
        values.chunks_exact(self.stride)
    }

    #[inline(always)]
    pub(super) fn padded_rows_mut(self, values: &mut [f32]) -> ChunksExactMut<'_, f32> {
        values.chunks_exact_mut(self.stride)
    }

    /// The numbers of each row without its padding.
    #[inline(always)]
    pub(super) fn rows(self, values: &[f32]) -> impl Iterator<Item = &[f32]> {
        self.padded_rows(values)
            .map(move |row| &row[self.padding..self.padding + self.row_length])
    }

    #[inline(always)]
    pub(super) fn rows_mut(self, values: &mut [f32]) -> impl Iterator<Item = &mut [f32]> {
        self.padded_rows_mut(values)
            .map(move |row| &mut row[self.padding..self.padding + self.row_length])
    }
}

impl TileIncidence {
    pub(super) fn new(incidence: &Incidence, num_costs: usize) -> Self {
        match incidence {
            Incidence::Runs(runs) => Self::Runs(RunPieces::new(runs, num_costs)),
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
        if starts.windows(2).any(|range| range[1] - range[0] > 2) {
            return Self::Sparse { starts, entries };
        }
        let none = IncidenceEntry {
            slot: 0,
            factor: 0.0,
        };
        let pair = |range: &[usize]| {
            let entry = |i: usize| if i < range[1] { entries[i] } else { none };
            [entry(range[0]), entry(range[0] + 1)]
        };
        Self::Pairs(starts.windows(2).map(pair).collect())
    }

    pub(super) fn layout(&self, slots: usize, width: usize) -> SlotLayout {
        let (rows, row_length, padding) = match self {
            Self::Runs(_) => (width, slots, PADDING),
            Self::Pairs(_) | Self::Sparse { .. } => (width.div_ceil(CHUNK), CHUNK * slots, 0),
        };
        let layout = SlotLayout {
            rows,
            row_length,
            padding,
            stride: (row_length + 2 * padding).next_multiple_of(CHUNK),
        };
        if let Self::Runs(runs) = self {
            assert!(runs.end <= layout.stride, "rows must contain all windows");
        }
        layout
    }
}

impl RunPieces {
    fn new(runs: &[VariableRun], num_costs: usize) -> Self {
        let (mut starts, mut pieces) = (vec![0], Vec::new());
        let mut first_run = 0;
        for first in (0..num_costs).step_by(F32_LANES) {
            let end = num_costs.min(first + F32_LANES);
            for run in &runs[first_run..] {
                if run.variables.start >= end {
                    break;
                }
                let (from, to) = (run.variables.start.max(first), run.variables.end.min(end));
                if from < to {
                    // The slot of the first lane, if it were in the run.
                    let own = |slot: usize| PADDING + slot + first - run.variables.start;
                    pieces.push(RunPiece {
                        common: (PADDING + run.common) as u32,
                        own: run.first_own.map_or(0, own) as u32,
                        from: (from - first) as u32,
                        to: (to - first) as u32,
                    });
                }
                // The last run may continue in the next tile.
                first_run += usize::from(run.variables.end <= end);
            }
            starts.push(pieces.len());
        }
        let ends = pieces.iter().map(|piece| piece.own.max(piece.common));
        Self {
            end: ends.max().unwrap_or(0) as usize + F32_LANES,
            starts,
            pieces,
        }
    }

    #[inline(always)]
    fn of_tile(&self, tile: usize) -> &[RunPiece] {
        &self.pieces[self.starts[tile]..self.starts[tile + 1]]
    }
}

/// Scratch for a tile.
pub(super) struct IncidenceScratch {
    /// A chunk of a tile, by parameters, with zeros beyond the width of W, and by costs.
    parameters: [AlignedF32x16; CHUNK],
    costs: [AlignedF32x8; F32_LANES],
    /// Sums of the current run, one vector per parameter.
    common: Vec<AlignedF32x16>,
}

impl IncidenceScratch {
    pub(super) fn new(width: usize) -> Self {
        Self {
            parameters: [AlignedF32x16::ZERO; CHUNK],
            costs: [AlignedF32x8::ZERO; F32_LANES],
            common: vec![AlignedF32x16::ZERO; width],
        }
    }
}

/// Which vectors of a block are summed or projected.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockVectors {
    /// The local gradient.
    Gradient,
    /// Parameters as they act on features, without offsets.
    Parameters,
}

const ONES: AlignedF32x16 = AlignedF32x16([1.0; F32_LANES]);

impl BlockVectors {
    /// The vectors of a tile, and the factors of its costs.
    #[inline(always)]
    fn of_tile<'t>(
        self,
        block: &'t TileBlock<'_>,
        tile: usize,
        width: usize,
    ) -> (&'t [AlignedF32x16], &'t AlignedF32x16) {
        let (weights, gradient) = block.tiles[2 * width * tile..][..2 * width].split_at(width);
        match self {
            Self::Gradient => (gradient, &ONES),
            Self::Parameters => (weights, &block.output_maps[tile].scale),
        }
    }
}

/// Adds A V for a block.
#[inline(always)]
pub(super) fn add_sums<V: Lanes>(
    token: V::Token,
    incidence: &TileIncidence,
    layout: SlotLayout,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [f32],
    scratch: &mut IncidenceScratch,
) {
    match incidence {
        TileIncidence::Runs(runs) => {
            let common = &mut scratch.common;
            add_run_sums::<V>(token, runs, layout, block, vectors, sums, common);
        }
        TileIncidence::Pairs(_) | TileIncidence::Sparse { .. } => {
            let simd = V::simd(token);
            add_entry_sums(simd, incidence, layout, block, vectors, sums, scratch);
        }
    }
}

#[inline(always)]
fn add_run_sums<V: Lanes>(
    token: V::Token,
    runs: &RunPieces,
    layout: SlotLayout,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [f32],
    common: &mut [AlignedF32x16],
) {
    let (width, stride) = (common.len(), layout.stride);
    assert!(
        runs.end <= stride && sums.len() >= width * stride,
        "rows must contain all windows"
    );
    let sums_start = sums.as_mut_ptr();
    let mut run = 0;
    for t in 0..block.num_tiles() {
        let (vectors, scale) = vectors.of_tile(block, t, width);
        let scale = V::load(token, &scale.0);
        for piece in runs.of_tile(block.first_tile + t) {
            if piece.common != run {
                finish_run(V::simd(token), stride, run, sums_start, common);
                run = piece.common;
            }
            let factor = scale.mul_add(piece.mask(token), V::splat(token, 0.0));
            let mut own = sums_start.wrapping_add(piece.own as usize);
            for (vector, common) in vectors.iter().zip(common.iter_mut()) {
                let value = V::load(token, &vector.0);
                // SAFETY: by the assertion the window is in the row of this parameter.
                let window = unsafe { &mut *own.cast::<[f32; F32_LANES]>() };
                value.mul_add(factor, V::load(token, window)).store(window);
                let sum = V::load(token, &common.0);
                value.mul_add(factor, sum).store(&mut common.0);
                own = own.wrapping_add(stride);
            }
        }
    }
    finish_run(V::simd(token), stride, run, sums_start, common);
}

/// Adds the sums of a run to its row; before the first run they are 0. The sums of the first row
/// begin at `sums`; [`add_run_sums`] has checked that the rows contain the run.
#[inline(always)]
fn finish_run(
    simd: SimdToken,
    stride: usize,
    run: u32,
    sums: *mut f32,
    common: &mut [AlignedF32x16],
) {
    let mut total = sums.wrapping_add(run as usize);
    for common in common {
        let [low, high] = common.0.as_chunks::<CHUNK>().0 else {
            return;
        };
        let sum = simd.load_f32x8(low).add(simd.load_f32x8(high)).sum();
        // SAFETY: checked by the caller.
        unsafe { *total += sum };
        *common = AlignedF32x16::ZERO;
        total = total.wrapping_add(stride);
    }
}

#[inline(always)]
fn add_entry_sums(
    simd: SimdToken,
    incidence: &TileIncidence,
    layout: SlotLayout,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [f32],
    scratch: &mut IncidenceScratch,
) {
    let width = scratch.common.len();
    for t in 0..block.num_tiles() {
        let (vectors, scale) = vectors.of_tile(block, t, width);
        let scale = simd.load(&scale.0);
        let rows = layout.padded_rows_mut(sums);
        for (row, vectors) in rows.zip(vectors.chunks(CHUNK)) {
            for (out, vector) in scratch.parameters.iter_mut().zip(vectors) {
                scale.mul(simd.load(&vector.0)).store(out);
            }
            scratch.parameters[vectors.len()..].fill(AlignedF32x16::ZERO);
            simd.transpose_to_rows(&scratch.parameters, &mut scratch.costs);
            let tile = block.first_tile + t;
            add_entries(simd, incidence, tile, &scratch.costs, row.as_chunks_mut().0);
        }
    }
}

/// Adds the costs of a tile to the sums of their rows.
#[inline(always)]
fn add_entries(
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    costs: &[AlignedF32x8; F32_LANES],
    sums: &mut [[f32; CHUNK]],
) {
    let first = tile * F32_LANES;
    match incidence {
        TileIncidence::Runs(_) => {}
        TileIncidence::Pairs(pairs) => {
            let pairs = &pairs[first..pairs.len().min(first + F32_LANES)];
            for i in 0..pairs.len() {
                let cost = simd.load_f32x8(&costs[i].0);
                for entry in pairs[i] {
                    let sum = &mut sums[entry.slot as usize];
                    let factor = simd.splat_f32x8(entry.factor);
                    cost.mul_add(factor, simd.load_f32x8(sum)).store(sum);
                }
            }
        }
        TileIncidence::Sparse { starts, entries } => {
            for i in 0..F32_LANES.min(starts.len() - 1 - first) {
                let cost = simd.load_f32x8(&costs[i].0);
                for entry in &entries[starts[first + i]..starts[first + i + 1]] {
                    let sum = &mut sums[entry.slot as usize];
                    let factor = simd.splat_f32x8(entry.factor);
                    cost.mul_add(factor, simd.load_f32x8(sum)).store(sum);
                }
            }
        }
    }
}

/// Adds Aᵀ V to the local gradient of a block, for V in the layout of the slots.
#[inline(always)]
pub(super) fn add_products_to_gradient<V: Lanes>(
    token: V::Token,
    incidence: &TileIncidence,
    layout: SlotLayout,
    values: &[f32],
    block: &mut TileBlock<'_>,
    scratch: &mut IncidenceScratch,
) {
    let width = scratch.common.len();
    for (t, tile) in block.tiles.chunks_exact_mut(2 * width).enumerate() {
        let gradient = &mut tile[width..];
        let tile = block.first_tile + t;
        add_products::<V>(token, incidence, layout, values, tile, gradient, scratch);
    }
}

/// Writes W + Aᵀ V for the tiles of a block, for V in the layout of the slots.
#[inline(always)]
pub(super) fn write_projected_parameters<V: Lanes>(
    token: V::Token,
    incidence: &TileIncidence,
    layout: SlotLayout,
    values: &[f32],
    block: &TileBlock<'_>,
    scratch: &mut IncidenceScratch,
    out: &mut [AlignedF32x16],
) {
    let width = scratch.common.len();
    let tiles = block.tiles.chunks_exact(2 * width);
    let tiles = tiles
        .zip(block.output_maps)
        .zip(out.chunks_exact_mut(width));
    for (t, ((tile, map), w)) in tiles.enumerate() {
        scaled_parameters(V::simd(token), &tile[..width], map, w);
        let tile = block.first_tile + t;
        add_products::<V>(token, incidence, layout, values, tile, w, scratch);
    }
}

/// Adds Aᵀ V to the vectors of a tile.
#[inline(always)]
fn add_products<V: Lanes>(
    token: V::Token,
    incidence: &TileIncidence,
    layout: SlotLayout,
    values: &[f32],
    tile: usize,
    vectors: &mut [AlignedF32x16],
    scratch: &mut IncidenceScratch,
) {
    if let TileIncidence::Runs(runs) = incidence {
        let stride = layout.stride;
        assert!(
            runs.end <= stride && values.len() >= vectors.len() * stride,
            "rows must contain all windows"
        );
        for piece in runs.of_tile(tile) {
            let mask: V = piece.mask(token);
            let mut row = values.as_ptr();
            for vector in &mut *vectors {
                // SAFETY: by the assertion the row of this parameter contains the window and the
                // common number.
                let (own, common) = unsafe {
                    let own = row.add(piece.own as usize).cast::<[f32; F32_LANES]>();
                    (&*own, *row.add(piece.common as usize))
                };
                let product = V::load(token, own).add(V::splat(token, common));
                let sum = V::load(token, &vector.0);
                product.mul_add(mask, sum).store(&mut vector.0);
                row = row.wrapping_add(stride);
            }
        }
        return;
    }
    let simd = V::simd(token);
    let rows = layout.padded_rows(values);
    for (row, vectors) in rows.zip(vectors.chunks_mut(CHUNK)) {
        write_entry_products(simd, incidence, tile, row.as_chunks().0, &mut scratch.costs);
        simd.transpose_to_vectors(&scratch.costs, &mut scratch.parameters);
        for (vector, product) in vectors.iter_mut().zip(&scratch.parameters) {
            let product = simd.load(&product.0);
            simd.load(&vector.0).add(product).store(vector);
        }
    }
}

/// Aᵀ V for the costs of a tile; 0 beyond the last cost.
#[inline(always)]
fn write_entry_products(
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    values: &[[f32; CHUNK]],
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    let first = tile * F32_LANES;
    let mut count = 0;
    match incidence {
        TileIncidence::Runs(_) => {}
        TileIncidence::Pairs(pairs) => {
            let pairs = &pairs[first..pairs.len().min(first + F32_LANES)];
            for i in 0..pairs.len() {
                let mut sum = simd.splat_f32x8(0.0);
                for entry in pairs[i] {
                    let value = simd.load_f32x8(&values[entry.slot as usize]);
                    sum = value.mul_add(simd.splat_f32x8(entry.factor), sum);
                }
                sum.store(&mut costs[i].0);
            }
            count = pairs.len();
        }
        TileIncidence::Sparse { starts, entries } => {
            count = F32_LANES.min(starts.len() - 1 - first);
            for i in 0..count {
                let mut sum = simd.splat_f32x8(0.0);
                for entry in &entries[starts[first + i]..starts[first + i + 1]] {
                    let value = simd.load_f32x8(&values[entry.slot as usize]);
                    sum = value.mul_add(simd.splat_f32x8(entry.factor), sum);
                }
                sum.store(&mut costs[i].0);
            }
        }
    }
    costs[count..].fill(AlignedF32x8::ZERO);
}
