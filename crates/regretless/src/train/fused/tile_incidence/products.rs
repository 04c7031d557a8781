//! Products from slots to costs, Aᵀ Y, tile by tile.

#![allow(
    unsafe_code,
    reason = "the innermost loop skips bounds checks that are made once per tile"
)]

use super::super::kernel::scaled_parameters;
use super::super::tile_block::TileAffine;
use super::{
    CHUNK, IncidenceEntry, PADDING, SlotValues, TileIncidence, TileSegment, TileSegments,
    transpose_rows,
};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, F32x16, SimdToken};

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
    pub(super) fn new(segment: &TileSegment, values: &SlotValues) -> Self {
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
    pub(super) unsafe fn next(&mut self, simd: SimdToken) -> F32x16 {
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
pub(in super::super) fn add_segment_products(
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
pub(in super::super) fn write_segment_parameters(
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
pub(in super::super) fn add_entry_products(
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
