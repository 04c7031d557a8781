//! Products of equality constraints A with vectors of a linear predictor, tile by tile. Tiles, W
//! and z are defined in the header of [`super`]; [`super::projection`] says what for.
//!
//! A tile has sixteen costs, and one vector of these per parameter. The rows of A have slots. Half
//! a tile and eight parameters (a chunk) are a square that is transposed in registers.
//!
//! * **S = A V**, sums over costs: a square is transposed to one vector of parameters per cost,
//!   which is added to the slots of the cost.
//! * **Aᵀ Y**, from slots to costs: where runs of costs have one row in common and consecutive
//!   second rows (tours, assignments, groups), Y is stored by parameter, and the costs of a run
//!   read a window of consecutive slots. Otherwise the products are transposed as the sums are.
//!
//! Runs are cut into segments, their parts in each tile; most tiles of large problems are one whole
//! segment, which needs neither masks nor a transposed copy. The number of instructions decides:
//! with six parameters a sum takes 11 to 15 ns per tile and a product 10 to 22 ns (TSP20 to TSP200,
//! AP25, AP60; Zen 4), and 20 ns each where segments and entries shared a function, which kept its
//! variables in memory. Not faster: sums by windows (15 ns for a whole segment, up to 35 ns for
//! several, since a window overlaps the one that was stored just before), prefetching the sums of
//! the next tile, and sums and products of a whole block outside the kernel.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "the innermost loop skips bounds checks that are made once per tile"
)]

use super::kernel::{TileAffine, scaled_parameters};
use crate::problem::{Incidence, SparseIncidence, VariableRun};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, F32x8, F32x16, SimdToken};

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

/// Half of vector i, times the scales of its lanes if they are `SCALED`; zeros where there is none.
#[inline(always)]
fn load_half<const SCALED: bool, const HALF: usize>(
    simd: SimdToken,
    vectors: &[AlignedF32x16],
    scale: F32x8,
    i: usize,
) -> F32x8 {
    match vectors.get(i) {
        Some(vector) if SCALED => simd.load_f32x8(vector.half(HALF)).mul(scale),
        Some(vector) => simd.load_f32x8(vector.half(HALF)),
        None => simd.splat_f32x8(0.0),
    }
}

/// For each cost of half a tile its parameters, up to eight, times its scale if they are `SCALED`.
#[inline(always)]
fn costs_of_half<const SCALED: bool, const HALF: usize>(
    simd: SimdToken,
    vectors: &[AlignedF32x16],
    scales: &AlignedF32x16,
) -> [F32x8; CHUNK] {
    let scale = simd.load_f32x8(scales.half(HALF));
    simd.transpose([
        load_half::<SCALED, HALF>(simd, vectors, scale, 0),
        load_half::<SCALED, HALF>(simd, vectors, scale, 1),
        load_half::<SCALED, HALF>(simd, vectors, scale, 2),
        load_half::<SCALED, HALF>(simd, vectors, scale, 3),
        load_half::<SCALED, HALF>(simd, vectors, scale, 4),
        load_half::<SCALED, HALF>(simd, vectors, scale, 5),
        load_half::<SCALED, HALF>(simd, vectors, scale, 6),
        load_half::<SCALED, HALF>(simd, vectors, scale, 7),
    ])
}

/// Adds A V for a tile with segments, with its vectors V times the scales of its costs if they are
/// `SCALED`.
#[inline(always)]
pub(super) fn add_segment_sums<const SCALED: bool>(
    simd: SimdToken,
    segments: &TileSegments,
    tile: usize,
    vectors: &[AlignedF32x16],
    scales: &AlignedF32x16,
    sums: &mut SlotValues,
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    let segments = segments.of_tile(tile);
    for (chunk, vectors) in vectors.chunks(CHUNK).enumerate() {
        let sums = &mut sums.by_slot[chunk * sums.slots..][..sums.slots];
        if let [segment] = segments
            && segment.covers_tile
        {
            let common = segment.common as usize;
            let mut total = simd.load_f32x8(&sums[common].0);
            if let Some(own) = sums[segment.first_own as usize..].first_chunk_mut::<F32_LANES>() {
                let costs = costs_of_half::<SCALED, 0>(simd, vectors, scales);
                for i in 0..CHUNK {
                    total = total.add(costs[i]);
                    simd.load_f32x8(&own[i].0)
                        .add(costs[i])
                        .store(&mut own[i].0);
                }
                let costs = costs_of_half::<SCALED, 1>(simd, vectors, scales);
                for i in 0..CHUNK {
                    total = total.add(costs[i]);
                    let own = &mut own[CHUNK + i].0;
                    simd.load_f32x8(own).add(costs[i]).store(own);
                }
            }
            total.store(&mut sums[common].0);
            continue;
        }
        write_costs::<SCALED>(simd, vectors, scales, costs);
        for segment in segments {
            let common = segment.common as usize;
            let mut total = simd.load_f32x8(&sums[common].0);
            let costs = &costs[segment.from as usize..segment.to as usize];
            if segment.has_own {
                let own = &mut sums[segment.first_own as usize..][..costs.len()];
                for (sum, cost) in own.iter_mut().zip(costs) {
                    let cost = simd.load_f32x8(&cost.0);
                    total = total.add(cost);
                    simd.load_f32x8(&sum.0).add(cost).store(&mut sum.0);
                }
            } else {
                for cost in costs {
                    total = total.add(simd.load_f32x8(&cost.0));
                }
            }
            total.store(&mut sums[common].0);
        }
    }
}

/// Transposes up to eight vectors.
#[inline(always)]
fn write_costs<const SCALED: bool>(
    simd: SimdToken,
    vectors: &[AlignedF32x16],
    scales: &AlignedF32x16,
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    let half = costs_of_half::<SCALED, 0>(simd, vectors, scales);
    for i in 0..CHUNK {
        half[i].store(&mut costs[i].0);
    }
    let half = costs_of_half::<SCALED, 1>(simd, vectors, scales);
    for i in 0..CHUNK {
        half[i].store(&mut costs[CHUNK + i].0);
    }
}

/// The same for a tile with entries.
#[inline(always)]
pub(super) fn add_entry_sums<const SCALED: bool>(
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    vectors: &[AlignedF32x16],
    scales: &AlignedF32x16,
    sums: &mut SlotValues,
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    for (chunk, vectors) in vectors.chunks(CHUNK).enumerate() {
        let sums = &mut sums.by_slot[chunk * sums.slots..][..sums.slots];
        write_costs::<SCALED>(simd, vectors, scales, costs);
        match incidence {
            TileIncidence::Segments(_) => {}
            TileIncidence::Pairs(pairs) => {
                for (cost, pair) in costs.iter().zip(&pairs[tile * F32_LANES..]) {
                    add_entries(simd, pair, cost, sums);
                }
            }
            TileIncidence::Sparse { starts, entries } => {
                let ranges = starts[tile * F32_LANES..].windows(2);
                for (cost, range) in costs.iter().zip(ranges) {
                    add_entries(simd, &entries[range[0]..range[1]], cost, sums);
                }
            }
        }
    }
}

/// Adds a cost to the slots of its rows.
#[inline(always)]
fn add_entries(
    simd: SimdToken,
    entries: &[IncidenceEntry],
    cost: &AlignedF32x8,
    sums: &mut [AlignedF32x8],
) {
    let cost = simd.load_f32x8(&cost.0);
    for entry in entries {
        let sum = &mut sums[entry.slot as usize].0;
        let factor = simd.splat_f32x8(entry.factor);
        cost.mul_add(factor, simd.load_f32x8(sum)).store(sum);
    }
}

/// Where the product of a segment and a parameter is read.
#[derive(Clone, Copy)]
struct SegmentRow {
    window: *const f32,
    common: *const f32,
    stride: usize,
}

impl SegmentRow {
    /// That of the first parameter.
    #[inline(always)]
    fn new(segment: &TileSegment, values: &SlotValues) -> Self {
        let start = values.by_parameter.as_ptr();
        Self {
            window: start.wrapping_add(segment.window()),
            common: start.wrapping_add(PADDING + segment.common as usize),
            stride: values.stride,
        }
    }

    /// The product, for the costs of the segment; goes on to the next parameter.
    ///
    /// # Safety
    /// There must be values for the parameter.
    #[inline(always)]
    unsafe fn next(&mut self, simd: SimdToken) -> F32x16 {
        // SAFETY: guaranteed by the caller.
        let product = unsafe {
            simd.load(&*self.window.cast())
                .add(simd.splat(*self.common))
        };
        self.window = self.window.wrapping_add(self.stride);
        self.common = self.common.wrapping_add(self.stride);
        product
    }
}

impl TileSegments {
    /// Whether values contain all windows, for this number of parameters.
    #[inline(always)]
    fn fit(&self, values: &SlotValues, width: usize) -> bool {
        self.end <= values.stride && values.by_parameter.len() >= width * values.stride
    }
}

/// Adds Aᵀ Y to the vectors of a tile with segments.
#[inline(always)]
pub(super) fn add_segment_products(
    simd: SimdToken,
    segments: &TileSegments,
    tile: usize,
    values: &SlotValues,
    vectors: &mut [AlignedF32x16],
) {
    assert!(segments.fit(values, vectors.len()), "values are missing");
    let segments = segments.of_tile(tile);
    if let [segment] = segments
        && segment.covers_tile
    {
        let mut row = SegmentRow::new(segment, values);
        for vector in vectors {
            // SAFETY: by the assertion.
            let product = unsafe { row.next(simd) };
            simd.load(&vector.0).add(product).store(vector);
        }
    } else {
        add_masked_products(simd, segments, values, vectors);
    }
}

/// Adds the products of segments, two at a time, to vectors that [`TileSegments::fit`] the values.
#[inline(always)]
fn add_masked_products(
    simd: SimdToken,
    segments: &[TileSegment],
    values: &SlotValues,
    vectors: &mut [AlignedF32x16],
) {
    let (pairs, last) = segments.as_chunks::<2>();
    for [first, second] in pairs {
        let (first_mask, second_mask) = (first.mask(simd), second.mask(simd));
        let mut first = SegmentRow::new(first, values);
        let mut second = SegmentRow::new(second, values);
        for vector in &mut *vectors {
            // SAFETY: the caller has checked that there are values for all vectors.
            let (first, second) = unsafe { (first.next(simd), second.next(simd)) };
            let sum = first.mul_add(first_mask, simd.load(&vector.0));
            second.mul_add(second_mask, sum).store(vector);
        }
    }
    if let [segment] = last {
        let mask = segment.mask(simd);
        let mut row = SegmentRow::new(segment, values);
        for vector in vectors {
            // SAFETY: as above.
            let product = unsafe { row.next(simd) };
            product.mul_add(mask, simd.load(&vector.0)).store(vector);
        }
    }
}

/// W + Aᵀ Y for a tile with segments.
#[inline(always)]
pub(super) fn write_segment_parameters(
    simd: SimdToken,
    segments: &TileSegments,
    tile: usize,
    values: &SlotValues,
    weights: &[AlignedF32x16],
    map: &TileAffine,
    w: &mut [AlignedF32x16],
) {
    assert!(segments.fit(values, w.len()), "values are missing");
    let segments = segments.of_tile(tile);
    if let [segment] = segments
        && segment.covers_tile
    {
        let (mut row, scale) = (SegmentRow::new(segment, values), simd.load(&map.scale.0));
        for (w, weight) in w.iter_mut().zip(weights) {
            // SAFETY: by the assertion.
            let product = unsafe { row.next(simd) };
            scale.mul_add(simd.load(&weight.0), product).store(w);
        }
        if let Some(bias) = w.last_mut() {
            let offset = simd.load(&map.offset.0);
            simd.load(&bias.0).add(offset).store(bias);
        }
    } else {
        scaled_parameters(simd, weights, map, w);
        add_masked_products(simd, segments, values, w);
    }
}

/// Adds Aᵀ Y to the vectors of a tile with entries.
#[inline(always)]
pub(super) fn add_entry_products(
    simd: SimdToken,
    incidence: &TileIncidence,
    tile: usize,
    values: &SlotValues,
    vectors: &mut [AlignedF32x16],
    costs: &mut [AlignedF32x8; F32_LANES],
) {
    for (chunk, vectors) in vectors.chunks_mut(CHUNK).enumerate() {
        let values = &values.by_slot[chunk * values.slots..][..values.slots];
        match incidence {
            TileIncidence::Segments(_) => {}
            TileIncidence::Pairs(pairs) => {
                let pairs = &pairs[tile * F32_LANES..];
                costs[pairs.len().min(F32_LANES)..].fill(AlignedF32x8::ZERO);
                for (cost, pair) in costs.iter_mut().zip(pairs) {
                    write_product(simd, pair, values, cost);
                }
            }
            TileIncidence::Sparse { starts, entries } => {
                let ranges = starts[tile * F32_LANES..].windows(2);
                costs[ranges.len().min(F32_LANES)..].fill(AlignedF32x8::ZERO);
                for (cost, range) in costs.iter_mut().zip(ranges) {
                    write_product(simd, &entries[range[0]..range[1]], values, cost);
                }
            }
        }
        for (half, costs) in costs.chunks_exact(CHUNK).enumerate() {
            let products = transpose_rows(simd, costs);
            for k in 0..CHUNK {
                if let Some(vector) = vectors.get_mut(k) {
                    let vector = vector.half_mut(half);
                    simd.load_f32x8(vector).add(products[k]).store(vector);
                }
            }
        }
    }
}

/// The product of the rows of a cost.
#[inline(always)]
fn write_product(
    simd: SimdToken,
    entries: &[IncidenceEntry],
    values: &[AlignedF32x8],
    product: &mut AlignedF32x8,
) {
    let mut sum = simd.splat_f32x8(0.0);
    for entry in entries {
        let value = simd.load_f32x8(&values[entry.slot as usize].0);
        sum = value.mul_add(simd.splat_f32x8(entry.factor), sum);
    }
    sum.store(&mut product.0);
}
