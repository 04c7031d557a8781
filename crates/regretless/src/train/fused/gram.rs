//! The Gram matrix of parameters, WᵀW, in double precision: the lengths of all predictions follow
//! from it, ‖W z‖² = zᵀ(WᵀW)z. In single precision it would be useless where predictions cancel.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use crate::lanes::{Doubles, Instructions, LANES, QUARTER};

/// Tiles gathered while their parameters are in the first cache.
pub(super) const TILES: usize = 8;
/// Sides of the part of the matrix that registers hold.
const SIDE: usize = 3;

/// Sums of the upper half of the matrix, and room for a few tiles.
#[derive(Debug, Clone)]
pub(super) struct Gram {
    width: usize,
    /// The width rounded up to whole parts; lines beyond stay zero.
    side: usize,
    wide: Vec<Doubles>,
    sums: Vec<[f64; QUARTER]>,
}

impl Gram {
    pub(super) fn new(width: usize) -> Self {
        let side = width.next_multiple_of(SIDE);
        Self {
            width,
            side,
            wide: vec![Doubles::ZERO; TILES * side],
            sums: vec![[0.0; QUARTER]; side * side],
        }
    }

    pub(super) fn clear(&mut self) {
        self.sums.fill([0.0; QUARTER]);
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
    pub(super) fn room(&mut self, place: usize) -> &mut [Doubles] {
        &mut self.wide[place * self.side..][..self.width]
    }

    /// Adds so many tiles.
    #[inline(always)]
    pub(super) fn add(&mut self, here: Instructions, tiles: usize) {
        for a in (0..self.side).step_by(SIDE) {
            self.add_part::<true>(here, tiles, (a, a));
            for b in (a + SIDE..self.side).step_by(SIDE) {
                self.add_part::<false>(here, tiles, (a, b));
            }
        }
    }

    /// Adds to nine entries, or to the upper six.
    #[inline(always)]
    fn add_part<const UPPER: bool>(
        &mut self,
        here: Instructions,
        tiles: usize,
        (a, b): (usize, usize),
    ) {
        let mut sums = [[here.zero_quarter(); SIDE]; SIDE];
        for tile in self.wide[..tiles * self.side].chunks_exact(self.side) {
            let (Some(left), Some(right)) = (
                tile[a..].first_chunk::<SIDE>(),
                tile[b..].first_chunk::<SIDE>(),
            ) else {
                return;
            };
            for part in 0..LANES / QUARTER {
                let left = [
                    here.quarter(&left[0], part),
                    here.quarter(&left[1], part),
                    here.quarter(&left[2], part),
                ];
                for j in 0..SIDE {
                    let right = here.quarter(&right[j], part);
                    for i in 0..SIDE {
                        if !UPPER || i <= j {
                            sums[i][j] = left[i].fused(right, sums[i][j]);
                        }
                    }
                }
            }
        }
        for i in 0..SIDE {
            for j in 0..SIDE {
                sums[i][j].add_to(&mut self.sums[(a + i) * self.side + b + j]);
            }
        }
    }
}
