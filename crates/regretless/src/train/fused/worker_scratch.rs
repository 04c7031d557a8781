//! The scratch memory of one worker of fused linear training, and the steps that use it.
//!
//! Symbols and terms (tile, block, group, panel) are defined in the header of [`super`].
//!
//! The loss of a row is a multiple of Σ slope · u over its costs, with errors u and slopes by
//! `slope.rs`; c are the true costs.

use super::FusedContext;
use super::adam::AdamCoefficients;
use super::epoch::EVALUATION_ROWS_PER_CHUNK;
use super::expanded_squares::{self, ExpandedScratch, ExpandedStep};
use super::kernel;
use super::projection::ProjectionWorker;
use super::row_constants::{OuterProductSum, RowCoefficients};
use super::slope::dispatch_slope_kind;
use super::tile_block::{ROWS_PER_PANEL, RowBatch, RowSums, TileBlock, TileScratch};
use super::tiled_targets::BatchPlan;
use super::worker_columns::{BlockPosition, PartialSums};
use crate::simd::{AlignedF32x8, F64_LANES};

/// One worker's scratch memory.
pub(super) struct WorkerScratch {
    pub(super) tile: TileScratch,
    /// Sums of rows over the blocks of a group, in double precision: Σ slope · u of each row, then
    /// Σ slope · c.
    totals: Vec<[f64; F64_LANES]>,
    expanded: ExpandedScratch,
}

/// The rows of one step of a plan.
#[derive(Clone, Copy)]
pub(super) struct StepRows<'b> {
    pub(super) plan: &'b BatchPlan<'b>,
    pub(super) coefficients: &'b RowCoefficients,
    pub(super) step: usize,
}

/// Rows that are evaluated.
#[derive(Clone, Copy)]
pub(super) struct EvaluatedRows<'b> {
    pub(super) plan: &'b BatchPlan<'b>,
    pub(super) coefficients: &'b RowCoefficients,
    /// Where their totals begin.
    pub(super) first: usize,
}

impl<'b> StepRows<'b> {
    /// The batch of the step for a block of a separable loss, which runs through all steps without
    /// waiting for others. Prefetches the next step or, after the last one, the next block.
    fn batch(
        &self,
        context: &FusedContext<'_>,
        position: BlockPosition,
        block: &TileBlock<'_>,
    ) -> RowBatch<'b> {
        let Self {
            plan,
            coefficients,
            step,
        } = *self;
        let targets = plan.step_targets(step, position.is_partial_tile);
        // The hardware does not foresee the next rows, as batches are in random order.
        let (next_step, prefetch_distance) = if step + 1 < plan.steps() {
            (step + 1, 0)
        } else {
            (0, block.num_tiles())
        };
        RowBatch {
            prefetch_targets: plan.step_targets(next_step, position.is_partial_tile),
            prefetch_distance,
            ..coefficients.batch(plan.first_panel(step), targets, context.width())
        }
    }
}

impl WorkerScratch {
    pub(super) fn new(context: &FusedContext<'_>, panels: usize, num_totals: usize) -> Self {
        let width = context.width();
        Self {
            tile: TileScratch::new(width, panels),
            totals: vec![[0.0; F64_LANES]; num_totals],
            expanded: ExpandedScratch::new(width),
        }
    }

    /// Adds Σ slope · u of the first `rows` rows of a block to their totals, which begin at
    /// `first`.
    pub(super) fn add_loss_sums(&mut self, first: usize, rows: usize) {
        let sums = self.tile.sums.as_flattened();
        for (total, sum) in self.totals[first..].iter_mut().zip(sums).take(rows) {
            sum.slope_dot_error.add_to(total);
        }
    }

    /// The same for Σ slope · c.
    pub(super) fn add_cost_sums(&mut self, first: usize, rows: usize) {
        let sums = self.tile.sums.as_flattened();
        for (total, sum) in self.totals[first..].iter_mut().zip(sums).take(rows) {
            sum.slope_dot_cost.add_to(total);
        }
    }

    /// Stores the totals of a group and clears them for the next.
    pub(super) fn store_group_sums(&mut self, sums: &PartialSums, group: usize) {
        let totals = self.totals.iter().map(|[a, b, c, d]| (a + b) + (c + d));
        sums.store(group, 0, totals);
        self.totals.fill([0.0; F64_LANES]);
    }

    /// Evaluates rows on a block, in chunks.
    pub(super) fn evaluate(
        &mut self,
        context: &FusedContext<'_>,
        position: BlockPosition,
        block: &mut TileBlock<'_>,
        rows: EvaluatedRows<'_>,
        mut projection: Option<&mut ProjectionWorker<'_>>,
    ) {
        let EvaluatedRows {
            plan,
            coefficients,
            first,
        } = rows;
        for chunk in 0..plan.steps() {
            let targets = plan.step_targets(chunk, position.is_partial_tile);
            let first_panel = chunk * EVALUATION_ROWS_PER_CHUNK / ROWS_PER_PANEL;
            let mut batch = coefficients.batch(first_panel, targets, context.width());
            // Behind the last chunk there are no targets, so nothing is prefetched.
            batch.prefetch_targets = plan.step_targets(chunk + 1, position.is_partial_tile);
            self.tile.sums.fill([RowSums::ZERO; ROWS_PER_PANEL]);
            dispatch_slope_kind!(
                context.slope_kind,
                kernel::loss_pass,
                context.simd,
                block,
                &batch,
                projection.as_deref_mut(),
                &mut self.tile
            );
            let rows = plan.rows(chunk).len();
            self.add_loss_sums(first + chunk * EVALUATION_ROWS_PER_CHUNK, rows);
        }
    }

    /// One step of a block of a separable loss.
    pub(super) fn step(
        &mut self,
        context: &FusedContext<'_>,
        position: BlockPosition,
        block: &mut TileBlock<'_>,
        rows: StepRows<'_>,
        adam: &AdamCoefficients,
    ) {
        let batch = rows.batch(context, position, block);
        self.tile.sums.fill([RowSums::ZERO; ROWS_PER_PANEL]);
        dispatch_slope_kind!(
            context.slope_kind,
            kernel::step_separable,
            context.simd,
            block,
            &batch,
            adam,
            &mut self.tile
        );
        let StepRows { plan, step, .. } = rows;
        self.add_loss_sums(step * plan.batch_size(), plan.rows(step).len());
    }

    /// The same with expanded squares; adds one sum per step to the totals.
    pub(super) fn step_expanded(
        &mut self,
        context: &FusedContext<'_>,
        position: BlockPosition,
        block: &mut TileBlock<'_>,
        rows: StepRows<'_>,
        products: &OuterProductSum,
        adam: &AdamCoefficients,
    ) {
        let step = ExpandedStep {
            batch: rows.batch(context, position, block),
            products,
            adam,
        };
        let mut sum = AlignedF32x8::ZERO;
        expanded_squares::step_squares(context.simd, block, &step, &mut self.expanded, &mut sum);
        sum.add_to(&mut self.totals[rows.step]);
    }
}

/// Stores the Gram matrix of a group after its last block, and clears it for the next.
pub(super) fn store_group_gram(
    scratch: &mut TileScratch,
    grams: &PartialSums,
    position: BlockPosition,
) {
    if position.is_last_of_group {
        grams.store(position.group, 0, scratch.gram.values());
        scratch.gram.clear();
    }
}
