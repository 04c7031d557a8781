//! The Gram matrix of parameters, WᵀW, in double precision: the lengths of all predictions follow
//! from it, ‖W z‖² = zᵀ(WᵀW)z. In single precision it would be useless where predictions cancel.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use crate::simd::{AlignedF64x16, Avx2Fma, F32_LANES, F64_LANES};

/// Tiles gathered while their parameters are in the first cache.
pub(super) const TILES_PER_GATHER: usize = 8;
/// Sides of the part of the matrix that registers hold.
const REGISTER_BLOCK: usize = 3;

/// Sums of the upper half of the matrix, and room for a few tiles.
#[derive(Debug, Clone)]
pub(super) struct GramAccumulator {
    width: usize,
    /// The width rounded up to whole parts; lines beyond stay zero.
    side: usize,
    wide: Vec<AlignedF64x16>,
    sums: Vec<[f64; F64_LANES]>,
}

impl GramAccumulator {
    pub(super) fn new(width: usize) -> Self {
        let side = width.next_multiple_of(REGISTER_BLOCK);
        Self {
            width,
            side,
            wide: vec![AlignedF64x16::ZERO; TILES_PER_GATHER * side],
            sums: vec![[0.0; F64_LANES]; side * side],
        }
    }

    pub(super) fn clear(&mut self) {
        self.sums.fill([0.0; F64_LANES]);
    }

    /// The matrix, row after row, both halves.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let sum = |a: usize, b: usize| {
            let [p, q, r, s] = self.sums[a.min(b) * self.side + a.max(b)];
            (p + q) + (r + s)
        };
        (0..self.width).flat_map(move |a| (0..self.width).map(move |b| sum(a, b)))
    }

    /// Where the parameters of a tile, one of [`TILES`], belong.
    #[inline(always)]
    pub(super) fn tile_mut(&mut self, place: usize) -> &mut [AlignedF64x16] {
        &mut self.wide[place * self.side..][..self.width]
    }

    /// Adds so many tiles.
    #[inline(always)]
    pub(super) fn add(&mut self, simd: Avx2Fma, tiles: usize) {
        for a in (0..self.side).step_by(REGISTER_BLOCK) {
            self.add_part::<true>(simd, tiles, (a, a));
            for b in (a + REGISTER_BLOCK..self.side).step_by(REGISTER_BLOCK) {
                self.add_part::<false>(simd, tiles, (a, b));
            }
        }
    }

    /// Adds to nine entries, or to the upper six.
    #[inline(always)]
    fn add_part<const UPPER: bool>(&mut self, simd: Avx2Fma, tiles: usize, (a, b): (usize, usize)) {
        let mut sums = [[simd.zero_f64x4(); REGISTER_BLOCK]; REGISTER_BLOCK];
        for tile in self.wide[..tiles * self.side].chunks_exact(self.side) {
            let (Some(left), Some(right)) = (
                tile[a..].first_chunk::<REGISTER_BLOCK>(),
                tile[b..].first_chunk::<REGISTER_BLOCK>(),
            ) else {
                return;
            };
            for part in 0..F32_LANES / F64_LANES {
                let left = [
                    simd.load_f64x4(&left[0], part),
                    simd.load_f64x4(&left[1], part),
                    simd.load_f64x4(&left[2], part),
                ];
                for j in 0..REGISTER_BLOCK {
                    let right = simd.load_f64x4(&right[j], part);
                    for i in 0..REGISTER_BLOCK {
                        if !UPPER || i <= j {
                            sums[i][j] = left[i].mul_add(right, sums[i][j]);
                        }
                    }
                }
            }
        }
        for i in 0..REGISTER_BLOCK {
            for j in 0..REGISTER_BLOCK {
                sums[i][j].add_to(&mut self.sums[(a + i) * self.side + b + j]);
            }
        }
    }
}
