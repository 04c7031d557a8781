//! The Gram matrix of the parameters W (one row per cost, scaled to costs), G = WᵀW, in double
//! precision: the norms of all predictions W z follow from it, ‖W z‖² = zᵀ G z. A tile is sixteen
//! costs. In single precision the sum would lose all digits when the terms of a prediction cancel.

use crate::simd::{AlignedF64x16, F32_LANES, F64_LANES, SimdToken};

/// Tiles whose parameters are gathered before they are added to the matrix; they stay in the
/// first-level cache.
pub(super) const TILES_PER_GATHER: usize = 8;
/// Rows and columns of the part of the matrix that is summed in registers: nine sums, three left
/// factors and one right factor fit into the sixteen AVX2 registers.
const REGISTER_BLOCK: usize = 3;

/// Sums of the upper triangle of the matrix, and scratch for a few tiles.
#[derive(Debug, Clone)]
pub(super) struct GramAccumulator {
    width: usize,
    /// The width rounded up to a multiple of the register block; entries beyond it stay zero.
    side: usize,
    /// W of the gathered tiles.
    w: Vec<AlignedF64x16>,
    sums: Vec<[f64; F64_LANES]>,
}

impl GramAccumulator {
    pub(super) fn new(width: usize) -> Self {
        let side = width.next_multiple_of(REGISTER_BLOCK);
        Self {
            width,
            side,
            w: vec![AlignedF64x16::ZERO; TILES_PER_GATHER * side],
            sums: vec![[0.0; F64_LANES]; side * side],
        }
    }

    pub(super) fn clear(&mut self) {
        self.sums.fill([0.0; F64_LANES]);
    }

    /// The full matrix, row by row.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let sum = |a: usize, b: usize| {
            // Only the upper triangle is stored.
            let [p, q, r, s] = self.sums[a.min(b) * self.side + a.max(b)];
            // Lanes are added in pairs, in a fixed order.
            (p + q) + (r + s)
        };
        (0..self.width).flat_map(move |a| (0..self.width).map(move |b| sum(a, b)))
    }

    /// The slot for W of a tile, one of [`TILES_PER_GATHER`].
    #[inline(always)]
    pub(super) fn tile_mut(&mut self, index: usize) -> &mut [AlignedF64x16] {
        &mut self.w[index * self.side..][..self.width]
    }

    /// Adds the first `tiles` gathered tiles.
    #[inline(always)]
    pub(super) fn add(&mut self, simd: SimdToken, tiles: usize) {
        // Blocks on and above the diagonal.
        for a in (0..self.side).step_by(REGISTER_BLOCK) {
            self.add_register_block::<true>(simd, tiles, a, a);
            for b in (a + REGISTER_BLOCK..self.side).step_by(REGISTER_BLOCK) {
                self.add_register_block::<false>(simd, tiles, a, b);
            }
        }
    }

    /// Adds to the nine entries that begin at row `a` and column `b`, or, on the diagonal, to the
    /// six of them in the upper triangle.
    #[inline(always)]
    fn add_register_block<const UPPER: bool>(
        &mut self,
        simd: SimdToken,
        tiles: usize,
        a: usize,
        b: usize,
    ) {
        let mut sums = [[simd.zero_f64x4(); REGISTER_BLOCK]; REGISTER_BLOCK];
        for tile in self.w[..tiles * self.side].chunks_exact(self.side) {
            // `first_chunk` proves the length once, so the loops below have no bounds checks.
            let (Some(left), Some(right)) = (
                tile[a..].first_chunk::<REGISTER_BLOCK>(),
                tile[b..].first_chunk::<REGISTER_BLOCK>(),
            ) else {
                return;
            };
            for vector in 0..F32_LANES / F64_LANES {
                let left = [
                    simd.load_f64x4(&left[0], vector),
                    simd.load_f64x4(&left[1], vector),
                    simd.load_f64x4(&left[2], vector),
                ];
                for j in 0..REGISTER_BLOCK {
                    let right = simd.load_f64x4(&right[j], vector);
                    // A right factor is loaded once for three rows.
                    for i in 0..REGISTER_BLOCK {
                        if !UPPER || i <= j {
                            sums[i][j] = left[i].mul_add(right, sums[i][j]);
                        }
                    }
                }
            }
        }
        // Added to memory once per block and call, not per tile.
        for i in 0..REGISTER_BLOCK {
            for j in 0..REGISTER_BLOCK {
                sums[i][j].add_to(&mut self.sums[(a + i) * self.side + b + j]);
            }
        }
    }
}
