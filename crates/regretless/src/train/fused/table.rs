//! What is true of rows, as the kernel reads it: costs as they lie in the table, decisions as bits.

use super::kernel::ROWS;
use super::slope::{ErrorMask, RowTargets};
use crate::data::Matrix;
use crate::label::LabeledDataset;
use crate::lanes::LANES;

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
    costs: Vec<[f32; LANES]>,
    limits: Vec<[f32; LANES]>,
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
        if !costs.cols().is_multiple_of(LANES) {
            table.tails.costs = tails(costs);
            table.tails.limits = limits.map(tails).unwrap_or_default();
            table.tails.chosen = vec![0; if bits { data.len() } else { 0 }];
        }
        if bits {
            (0..data.len()).for_each(|row| table.choose(row, data.best(row).indices()));
        }
        table
    }

    pub(super) fn costs(&self) -> &'a Matrix {
        self.costs
    }

    fn words(&self) -> usize {
        self.whole().div_ceil(2)
    }

    fn choose(&mut self, row: usize, indices: &[u32]) {
        let (words, whole) = (self.words(), self.whole());
        for j in indices {
            let (tile, bit) = (*j as usize / LANES, j % LANES as u32);
            if tile < whole {
                self.chosen[row * words + tile / 2] |=
                    1 << (bit + if tile % 2 == 1 { LANES as u32 } else { 0 });
            } else {
                self.tails.chosen[row] |= 1 << bit;
            }
        }
    }

    /// Whole tiles per row.
    pub(super) fn whole(&self) -> usize {
        self.costs.cols() / LANES
    }

    /// The whole tiles of a row.
    pub(super) fn truth(&self, row: usize) -> RowTargets<'_> {
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
    pub(super) fn tail(&self, row: usize) -> RowTargets<'_> {
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

fn tails(matrix: &Matrix) -> Vec<[f32; LANES]> {
    let tail = |row: usize| {
        let mut out = [0.0; LANES];
        out.iter_mut()
            .zip(matrix.row(row).as_chunks::<LANES>().1)
            .for_each(|(to, from)| *to = *from);
        out
    };
    (0..matrix.rows()).map(tail).collect()
}

/// Rows in their order, cut into steps, each padded to whole fours by repeating its last row.
pub(super) struct BatchPlan<'a> {
    order: &'a [usize],
    batch: usize,
    whole: Vec<[RowTargets<'a>; ROWS]>,
    tail: Vec<[RowTargets<'a>; ROWS]>,
}

impl<'a> BatchPlan<'a> {
    pub(super) fn new(table: &'a TiledTargets<'_>, order: &'a [usize], batch: usize) -> Self {
        let fours = |truth: &dyn Fn(usize) -> RowTargets<'a>| -> Vec<[RowTargets<'a>; ROWS]> {
            let four = |rows: &[usize]| std::array::from_fn(|i| truth(rows[i.min(rows.len() - 1)]));
            order
                .chunks(batch)
                .flat_map(|step| step.chunks(ROWS).map(four))
                .collect()
        };
        let whole = fours(&|row| table.truth(row));
        let tail = if table.tails.costs.is_empty() {
            Vec::new()
        } else {
            fours(&|row| table.tail(row))
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
    pub(super) fn fours(&self) -> usize {
        self.batch.min(self.order.len()).div_ceil(ROWS)
    }

    /// The rows of a step.
    pub(super) fn rows(&self, step: usize) -> &'a [usize] {
        self.order.chunks(self.batch).nth(step).unwrap_or_default()
    }

    /// Number of a step's first four.
    pub(super) fn first_quad(&self, step: usize) -> usize {
        step * self.batch.div_ceil(ROWS)
    }

    /// The fours of a step, of whole tiles or of the last one.
    pub(super) fn truths(&self, step: usize, tail: bool) -> &[[RowTargets<'a>; ROWS]] {
        let all = if tail { &self.tail } else { &self.whole };
        let first = self.first_quad(step);
        let count = self.rows(step).len().div_ceil(ROWS);
        all.get(first..first + count).unwrap_or_default()
    }
}
