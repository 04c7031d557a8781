//! Sums over costs, S = A V, tile by tile.

use super::{CHUNK, IncidenceEntry, SlotValues, TileIncidence, TileSegments};
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, F32x8, SimdToken};

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
pub(in super::super) fn add_segment_sums<const SCALED: bool>(
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
        // Most tiles of large problems: neither masks nor a transposed copy in memory.
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
pub(in super::super) fn add_entry_sums<const SCALED: bool>(
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
