//! What is true of rows, as the kernel reads it: costs as they lie in the table, decisions as bits.

use super::kernel::ROWS_PER_QUAD;
use super::slope::{ErrorMask, RowTargets};
use crate::data::Matrix;
use crate::label::LabeledDataset;
use crate::simd::F32_LANES;

/// True costs, best decisions and ends of ranges of all rows, in tiles. The last tile of a row,
/// where it is not whole, is a copy filled up with zeros.
pub(super) struct TiledTargets<'a> {
    costs: &'a Matrix,
    limits: Option<&'a Matrix>,
    /// One bit per cost, two tiles to a word; empty unless bits aim.
    chosen: Vec<u32>,
    tails: PartialTiles,
}

/// The tiles of all rows that are not whole; empty where all are.
#[derive(Default)]
struct PartialTiles {
    costs: Vec<[f32; F32_LANES]>,
    limits: Vec<[f32; F32_LANES]>,
    chosen: Vec<u32>,
}

impl<'a> TiledTargets<'a> {
    pub(super) fn new(
        data: &'a LabeledDataset,
        aim: ErrorMask,
        limits: Option<&'a Matrix>,
    ) -> Self {
        let costs = data.data().costs();
        let bits = matches!(aim, ErrorMask::OneSided | ErrorMask::Sensitive);
        let mut table = Self {
            costs,
            limits,
            chosen: Vec::new(),
            tails: PartialTiles::default(),
        };
        if bits {
            table.chosen = vec![0; data.len() * table.words()];
        }
        if !costs.cols().is_multiple_of(F32_LANES) {
            table.tails.costs = partial_tiles(costs);
            table.tails.limits = limits.map(partial_tiles).unwrap_or_default();
            table.tails.chosen = vec![0; if bits { data.len() } else { 0 }];
        }
        if bits {
            (0..data.len())
                .for_each(|row| table.set_decision_bits(row, data.optimal_decision(row).indices()));
        }
        table
    }

    pub(super) fn costs(&self) -> &'a Matrix {
        self.costs
    }

    fn words(&self) -> usize {
        self.full_tiles().div_ceil(2)
    }

    fn set_decision_bits(&mut self, row: usize, indices: &[u32]) {
        let (words, whole) = (self.words(), self.full_tiles());
        for j in indices {
            let (tile, bit) = (*j as usize / F32_LANES, j % F32_LANES as u32);
            if tile < whole {
                self.chosen[row * words + tile / 2] |=
                    1 << (bit + if tile % 2 == 1 { F32_LANES as u32 } else { 0 });
            } else {
                self.tails.chosen[row] |= 1 << bit;
            }
        }
    }

    /// Whole tiles per row.
    pub(super) fn full_tiles(&self) -> usize {
        self.costs.cols() / F32_LANES
    }

    /// The whole tiles of a row.
    pub(super) fn targets(&self, row: usize) -> RowTargets<'_> {
        let tiles = |matrix: &'a Matrix| matrix.row(row).as_chunks().0;
        let words = self.words();
        let chosen = self
            .chosen
            .get(row * words..(row + 1) * words)
            .unwrap_or_default();
        RowTargets {
            costs: tiles(self.costs),
            chosen,
            limits: self.limits.map(tiles).unwrap_or_default(),
        }
    }

    /// The last tile of a row, if it is not whole.
    pub(super) fn partial_tile(&self, row: usize) -> RowTargets<'_> {
        let PartialTiles {
            costs,
            limits,
            chosen,
        } = &self.tails;
        RowTargets {
            costs: costs.get(row..=row).unwrap_or_default(),
            chosen: chosen.get(row..=row).unwrap_or_default(),
            limits: limits.get(row..=row).unwrap_or_default(),
        }
    }
}

fn partial_tiles(matrix: &Matrix) -> Vec<[f32; F32_LANES]> {
    let tail = |row: usize| {
        let mut out = [0.0; F32_LANES];
        out.iter_mut()
            .zip(matrix.row(row).as_chunks::<F32_LANES>().1)
            .for_each(|(to, from)| *to = *from);
        out
    };
    (0..matrix.rows()).map(tail).collect()
}

/// Rows in their order, cut into steps, each padded to whole fours by repeating its last row.
pub(super) struct BatchPlan<'a> {
    order: &'a [usize],
    batch: usize,
    whole: Vec<[RowTargets<'a>; ROWS_PER_QUAD]>,
    tail: Vec<[RowTargets<'a>; ROWS_PER_QUAD]>,
}

impl<'a> BatchPlan<'a> {
    pub(super) fn new(table: &'a TiledTargets<'_>, order: &'a [usize], batch: usize) -> Self {
        let quads =
            |targets: &dyn Fn(usize) -> RowTargets<'a>| -> Vec<[RowTargets<'a>; ROWS_PER_QUAD]> {
                let quad =
                    |rows: &[usize]| std::array::from_fn(|i| targets(rows[i.min(rows.len() - 1)]));
                order
                    .chunks(batch)
                    .flat_map(|step| step.chunks(ROWS_PER_QUAD).map(quad))
                    .collect()
            };
        let whole = quads(&|row| table.targets(row));
        let tail = if table.tails.costs.is_empty() {
            Vec::new()
        } else {
            quads(&|row| table.partial_tile(row))
        };
        Self {
            order,
            batch,
            whole,
            tail,
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Rows per step.
    pub(super) fn batch(&self) -> usize {
        self.batch
    }

    pub(super) fn steps(&self) -> usize {
        self.order.len().div_ceil(self.batch)
    }

    /// Most fours of a step.
    pub(super) fn max_quads(&self) -> usize {
        self.batch.min(self.order.len()).div_ceil(ROWS_PER_QUAD)
    }

    /// The rows of a step.
    pub(super) fn rows(&self, step: usize) -> &'a [usize] {
        self.order.chunks(self.batch).nth(step).unwrap_or_default()
    }

    /// Number of a step's first four.
    pub(super) fn first_quad(&self, step: usize) -> usize {
        step * self.batch.div_ceil(ROWS_PER_QUAD)
    }

    /// The fours of a step, of whole tiles or of the last one.
    pub(super) fn step_targets(
        &self,
        step: usize,
        tail: bool,
    ) -> &[[RowTargets<'a>; ROWS_PER_QUAD]] {
        let all = if tail { &self.tail } else { &self.whole };
        let first = self.first_quad(step);
        let count = self.rows(step).len().div_ceil(ROWS_PER_QUAD);
        all.get(first..first + count).unwrap_or_default()
    }
}
