//! Products of equality constraints A with vectors of a linear predictor, tile by tile. Tiles, W
//! and z are defined in the header of [`super`]; [`super::projection`] says what for.
//!
//! A tile has sixteen costs, and one vector of these per parameter. S = A V are sums over costs,
//! one per row of A and parameter; the numbers of a row are in its slot.
//!
//! * **Runs** of costs with a row in common and consecutive second rows (tours, assignments,
//!   groups): the sums of a parameter are consecutive in memory, a window of them is added to half
//!   a tile at a time, and masks (1 or 0) separate the runs in it.
//! * **Entries**, any rows: tiles are transposed to one vector of parameters per cost, eight
//!   parameters (a chunk) at a time, which is added to the sums of the rows of the cost.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use std::slice::{ChunksExact, ChunksExactMut};

use super::kernel::{TileBlock, scaled_parameters};
use crate::problem::{Incidence, SparseIncidence, VariableRun};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, SimdToken};

/// Half a tile, and the parameters of a chunk.
pub(super) const HALF: usize = F32_LANES / 2;
/// Zeros before and after the numbers of a row of [`SlotNumbers`]: windows of half a tile may begin
/// before the first slot and end after the last one.
const PADDING: usize = HALF;

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

/// The parts of runs in each half of each tile; all factors are 1.
pub(super) struct RunPieces {
    /// The first piece of each tile, then the number of all.
    starts: Vec<usize>,
    pieces: Vec<RunPiece>,
    /// 1 in a range of lanes, 0 elsewhere, for every range: that of `from..to` is at
    /// [`mask_index`].
    masks: Vec<AlignedF32x8>,
}

/// Consecutive costs of half a tile that have a row in common.
#[derive(Clone, Copy)]
struct RunPiece {
    /// Where the numbers of the common row are.
    common: u32,
    /// Where the window of the second rows begins; in the padding where there are none.
    own: u32,
    half: u32,
    mask: u32,
}

fn mask_index(from: usize, to: usize) -> usize {
    from * HALF + to - 1
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
            Self::Pairs(_) | Self::Sparse { .. } => (width.div_ceil(HALF), HALF * slots, 0),
        };
        SlotLayout {
            rows,
            row_length,
            padding,
            stride: (row_length + 2 * padding).next_multiple_of(HALF),
        }
    }
}

impl RunPieces {
    fn new(runs: &[VariableRun], num_costs: usize) -> Self {
        let (mut starts, mut pieces) = (vec![0], Vec::new());
        let mut first_run = 0;
        for first in (0..num_costs.next_multiple_of(F32_LANES)).step_by(HALF) {
            let end = num_costs.min(first + HALF);
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
                        half: (first / HALF % 2) as u32,
                        mask: mask_index(from - first, to - first) as u32,
                    });
                }
                // The last run may continue in the next half.
                first_run += usize::from(run.variables.end <= end);
            }
            if first / HALF % 2 == 1 {
                starts.push(pieces.len());
            }
        }
        let mut masks = vec![AlignedF32x8::ZERO; HALF * HALF];
        for from in 0..HALF {
            for to in from + 1..=HALF {
                masks[mask_index(from, to)].0[from..to].fill(1.0);
            }
        }
        Self {
            starts,
            pieces,
            masks,
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
    parameters: [AlignedF32x16; HALF],
    costs: [AlignedF32x8; F32_LANES],
    /// Sums of the current run, one vector per parameter.
    common: Vec<AlignedF32x8>,
}

impl IncidenceScratch {
    pub(super) fn new(width: usize) -> Self {
        Self {
            parameters: [AlignedF32x16::ZERO; HALF],
            costs: [AlignedF32x8::ZERO; F32_LANES],
            common: vec![AlignedF32x8::ZERO; width],
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

/// Half of a vector.
#[inline(always)]
fn half(vector: &AlignedF32x16, half: u32) -> &[f32; HALF] {
    &vector.0.as_chunks().0[half as usize]
}

#[inline(always)]
fn half_mut(vector: &mut AlignedF32x16, half: u32) -> &mut [f32; HALF] {
    &mut vector.0.as_chunks_mut().0[half as usize]
}

/// Eight numbers of a row.
#[inline(always)]
fn window(row: &[f32], start: u32) -> &[f32; HALF] {
    &row[start as usize..][..HALF].as_chunks().0[0]
}

#[inline(always)]
fn window_mut(row: &mut [f32], start: u32) -> &mut [f32; HALF] {
    &mut row[start as usize..][..HALF].as_chunks_mut().0[0]
}

/// Adds A V for a block.
#[inline(always)]
pub(super) fn add_sums(
    simd: SimdToken,
    incidence: &TileIncidence,
    layout: SlotLayout,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [f32],
    scratch: &mut IncidenceScratch,
) {
    match incidence {
        TileIncidence::Runs(runs) => {
            add_run_sums(
                simd,
                runs,
                layout,
                block,
                vectors,
                sums,
                &mut scratch.common,
            );
        }
        TileIncidence::Pairs(_) | TileIncidence::Sparse { .. } => {
            add_entry_sums(simd, incidence, layout, block, vectors, sums, scratch);
        }
    }
}

#[inline(always)]
fn add_run_sums(
    simd: SimdToken,
    runs: &RunPieces,
    layout: SlotLayout,
    block: &TileBlock<'_>,
    vectors: BlockVectors,
    sums: &mut [f32],
    common: &mut [AlignedF32x8],
) {
    let width = common.len();
    let mut run = 0;
    for t in 0..block.num_tiles() {
        let (vectors, scale) = vectors.of_tile(block, t, width);
        for piece in runs.of_tile(block.first_tile + t) {
            if piece.common != run {
                finish_run(simd, layout, run, sums, common);
                run = piece.common;
            }
            let mask = simd.load_f32x8(&runs.masks[piece.mask as usize].0);
            let scale = simd.load_f32x8(half(scale, piece.half));
            let factor = scale.mul_add(mask, simd.splat_f32x8(0.0));
            let rows = layout.padded_rows_mut(sums).zip(vectors);
            for ((row, vector), common) in rows.zip(common.iter_mut()) {
                let value = simd.load_f32x8(half(vector, piece.half));
                let own = window_mut(row, piece.own);
                value.mul_add(factor, simd.load_f32x8(own)).store(own);
                let sum = simd.load_f32x8(&common.0);
                value.mul_add(factor, sum).store(&mut common.0);
            }
        }
    }
    finish_run(simd, layout, run, sums, common);
}

/// Adds the sums of a run to its row; before the first run they are 0.
#[inline(always)]
fn finish_run(
    simd: SimdToken,
    layout: SlotLayout,
    run: u32,
    sums: &mut [f32],
    common: &mut [AlignedF32x8],
) {
    for (row, common) in layout.padded_rows_mut(sums).zip(common) {
        row[run as usize] += simd.load_f32x8(&common.0).sum();
        *common = AlignedF32x8::ZERO;
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
        for (row, vectors) in rows.zip(vectors.chunks(HALF)) {
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
    sums: &mut [[f32; HALF]],
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
pub(super) fn add_products_to_gradient(
    simd: SimdToken,
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
        add_products(simd, incidence, layout, values, tile, gradient, scratch);
    }
}

/// Writes W + Aᵀ V for the tiles of a block, for V in the layout of the slots.
#[inline(always)]
pub(super) fn write_projected_parameters(
    simd: SimdToken,
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
        scaled_parameters(simd, &tile[..width], map, w);
        let tile = block.first_tile + t;
        add_products(simd, incidence, layout, values, tile, w, scratch);
    }
}

/// Adds Aᵀ V to the vectors of a tile.
#[inline(always)]
fn add_products(
    simd: SimdToken,
    incidence: &TileIncidence,
    layout: SlotLayout,
    values: &[f32],
    tile: usize,
    vectors: &mut [AlignedF32x16],
    scratch: &mut IncidenceScratch,
) {
    let rows = layout.padded_rows(values);
    if let TileIncidence::Runs(runs) = incidence {
        for piece in runs.of_tile(tile) {
            let mask = simd.load_f32x8(&runs.masks[piece.mask as usize].0);
            for (row, vector) in rows.clone().zip(&mut *vectors) {
                let common = simd.splat_f32x8(row[piece.common as usize]);
                let product = simd.load_f32x8(window(row, piece.own)).add(common);
                let out = half_mut(vector, piece.half);
                product.mul_add(mask, simd.load_f32x8(out)).store(out);
            }
        }
        return;
    }
    for (row, vectors) in rows.zip(vectors.chunks_mut(HALF)) {
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
    values: &[[f32; HALF]],
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
