//! Targets of rows as the kernel reads them: true costs in place or projected, in tiles of sixteen,
//! and labels as bits. Rows are processed in panels of four.

use std::borrow::Cow;

use super::slope::{ErrorMask, RowTargets};
use super::tile_block::ROWS_PER_PANEL;
use crate::data::Matrix;
use crate::label::LabeledDataset;
use crate::loss::NormalizingProjection;
use crate::simd::F32_LANES;

/// True costs and ends of cost ranges of all rows.
pub(super) struct TargetCosts<'a> {
    costs: Cow<'a, Matrix>,
    limits: Option<Cow<'a, Matrix>>,
}

impl<'a> TargetCosts<'a> {
    /// Those of the table.
    pub(super) fn plain(costs: &'a Matrix, limits: Option<&'a Matrix>) -> Self {
        Self {
            costs: Cow::Borrowed(costs),
            limits: limits.map(Cow::Borrowed),
        }
    }

    /// Projected costs; the ends of their ranges are as far from them as before.
    pub(super) fn projected(
        costs: &Matrix,
        limits: Option<&Matrix>,
        projection: &NormalizingProjection,
    ) -> Self {
        let projected = projection.project_rows(costs);
        let limits = limits.map(|limits| {
            let mut shifted = limits.clone();
            let rows = shifted.as_mut_slice().chunks_exact_mut(costs.cols());
            for (row, limits) in rows.enumerate() {
                let costs = costs.row(row).iter().zip(projected.row(row));
                for (limit, (cost, projected)) in limits.iter_mut().zip(costs) {
                    *limit = *limit - cost + projected;
                }
            }
            Cow::Owned(shifted)
        });
        Self {
            costs: Cow::Owned(projected),
            limits,
        }
    }
}

/// True costs, labels and ends of cost ranges of all rows, in tiles. A partial last tile of a row
/// is a copy padded with zeros.
pub(super) struct TiledTargets<'a> {
    targets: TargetCosts<'a>,
    /// One bit per cost, two tiles per word; empty unless the error mask reads bits.
    chosen: Vec<u32>,
    partial: PartialTiles,
}

/// The partial tiles of all rows; empty if all tiles are full.
#[derive(Default)]
struct PartialTiles {
    costs: Vec<[f32; F32_LANES]>,
    limits: Vec<[f32; F32_LANES]>,
    chosen: Vec<u32>,
}

impl<'a> TiledTargets<'a> {
    pub(super) fn new(data: &LabeledDataset, mask: ErrorMask, targets: TargetCosts<'a>) -> Self {
        let bits = mask.reads_decision_bits();
        let mut partial = PartialTiles::default();
        if !targets.costs.cols().is_multiple_of(F32_LANES) {
            let limits = targets.limits.as_deref();
            partial.costs = partial_tiles(&targets.costs);
            partial.limits = limits.map(partial_tiles).unwrap_or_default();
            partial.chosen = vec![0; if bits { data.len() } else { 0 }];
        }
        let mut table = Self {
            targets,
            chosen: Vec::new(),
            partial,
        };
        if bits {
            table.chosen = vec![0; data.len() * table.words()];
        }
        if bits {
            for row in 0..data.len() {
                table.set_decision_bits(row, data.optimal_decision(row).indices());
            }
        }
        table
    }

    /// The costs that predictions are compared with.
    pub(super) fn costs(&self) -> &Matrix {
        &self.targets.costs
    }

    /// Words of bits per row.
    fn words(&self) -> usize {
        self.full_tiles().div_ceil(2)
    }

    fn set_decision_bits(&mut self, row: usize, indices: &[u32]) {
        let (words, full_tiles) = (self.words(), self.full_tiles());
        for j in indices {
            let (tile, lane) = (*j as usize / F32_LANES, j % F32_LANES as u32);
            if tile < full_tiles {
                // Two tiles of sixteen lanes share a word of 32 bits.
                let half = if tile % 2 == 1 { F32_LANES as u32 } else { 0 };
                self.chosen[row * words + tile / 2] |= 1 << (lane + half);
            } else {
                self.partial.chosen[row] |= 1 << lane;
            }
        }
    }

    /// Full tiles per row.
    pub(super) fn full_tiles(&self) -> usize {
        self.costs().cols() / F32_LANES
    }

    /// The full tiles of a row.
    pub(super) fn targets(&self, row: usize) -> RowTargets<'_> {
        let limits = self.targets.limits.as_deref();
        let words = self.words();
        let bits = self.chosen.get(row * words..(row + 1) * words);
        RowTargets {
            costs: self.costs().row(row).as_chunks().0,
            chosen: bits.unwrap_or_default(),
            limits: limits.map_or(&[], |limits| limits.row(row).as_chunks().0),
        }
    }

    /// The partial tile of a row, if it has one.
    pub(super) fn partial_tile(&self, row: usize) -> RowTargets<'_> {
        let PartialTiles {
            costs,
            limits,
            chosen,
        } = &self.partial;
        RowTargets {
            costs: costs.get(row..=row).unwrap_or_default(),
            chosen: chosen.get(row..=row).unwrap_or_default(),
            limits: limits.get(row..=row).unwrap_or_default(),
        }
    }
}

fn partial_tiles(matrix: &Matrix) -> Vec<[f32; F32_LANES]> {
    let partial_tile = |row: usize| {
        let mut out = [0.0; F32_LANES];
        let remainder = matrix.row(row).as_chunks::<F32_LANES>().1;
        out[..remainder.len()].copy_from_slice(remainder);
        out
    };
    (0..matrix.rows()).map(partial_tile).collect()
}

/// Rows in the order of training, split into steps, each padded to a multiple of four rows by
/// repeating its last row.
pub(super) struct BatchPlan<'a> {
    order: &'a [usize],
    batch_size: usize,
    full: Vec<[RowTargets<'a>; ROWS_PER_PANEL]>,
    partial: Vec<[RowTargets<'a>; ROWS_PER_PANEL]>,
}

impl<'a> BatchPlan<'a> {
    pub(super) fn new(table: &'a TiledTargets<'_>, order: &'a [usize], batch_size: usize) -> Self {
        let (mut full, mut partial) = (Vec::new(), Vec::new());
        for step in order.chunks(batch_size) {
            for rows in step.chunks(ROWS_PER_PANEL) {
                // A repeated row has coefficients of 0: its targets only have to be readable.
                let row = |i: usize| rows[i.min(rows.len() - 1)];
                full.push(std::array::from_fn(|i| table.targets(row(i))));
                if !table.partial.costs.is_empty() {
                    partial.push(std::array::from_fn(|i| table.partial_tile(row(i))));
                }
            }
        }
        Self {
            order,
            batch_size,
            full,
            partial,
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Rows per step.
    pub(super) fn batch_size(&self) -> usize {
        self.batch_size
    }

    pub(super) fn steps(&self) -> usize {
        self.order.len().div_ceil(self.batch_size)
    }

    /// Panels of the largest step.
    pub(super) fn max_panels(&self) -> usize {
        self.batch_size
            .min(self.order.len())
            .div_ceil(ROWS_PER_PANEL)
    }

    /// The rows of a step.
    pub(super) fn rows(&self, step: usize) -> &'a [usize] {
        self.order
            .chunks(self.batch_size)
            .nth(step)
            .unwrap_or_default()
    }

    /// Number of a step's first panel.
    pub(super) fn first_panel(&self, step: usize) -> usize {
        step * self.batch_size.div_ceil(ROWS_PER_PANEL)
    }

    /// The panels of a step: full tiles, or the partial tile.
    pub(super) fn step_targets(
        &self,
        step: usize,
        partial: bool,
    ) -> &[[RowTargets<'a>; ROWS_PER_PANEL]] {
        let panels = if partial { &self.partial } else { &self.full };
        let first = self.first_panel(step);
        let count = self.rows(step).len().div_ceil(ROWS_PER_PANEL);
        panels.get(first..first + count).unwrap_or_default()
    }
}
