//! An epoch with normalization on several workers: two passes and two barriers per step, with a
//! projection three of each. Symbols and terms (group, block, row-sums pass, update pass) are
//! defined in the header of [`super`].

use std::sync::atomic::{AtomicBool, Ordering};

use super::FusedContext;
use super::barrier::Barrier;
use super::epoch::UPDATE_BLOCK_TILES;
use super::kernel::{self, ROWS_PER_PANEL, RowSums, TileBlock};
use super::projection::{BlockVectors, FusedProjection, ProjectionWorker};
use super::row_constants::{OuterProductSum, RowCoefficients};
use super::slope::dispatch_slope_kind;
use super::tiled_targets::BatchPlan;
use super::worker_columns::{BlockPosition, PartialSums, WorkerColumns};
use super::worker_scratch::{WorkerScratch, store_group_gram};
use crate::simd::SimdToken;

/// Tiles of a block of the row-sums pass, whose costs are prefetched while the block before is
/// processed: 24 KB for a batch of 32 rows.
const ROW_SUMS_BLOCK_TILES: usize = 12;

/// The projection of a worker's blocks.
struct BlockProjector<'a> {
    simd: SimdToken,
    projection: &'a FusedProjection<'a>,
    worker: ProjectionWorker,
}

impl BlockProjector<'_> {
    /// Adds a block to the sums, and stores those of its group after the last one.
    fn add(
        &mut self,
        block: &TileBlock<'_>,
        vectors: BlockVectors,
        sums: &PartialSums,
        position: BlockPosition,
    ) {
        let (worker, projection) = (&mut self.worker, self.projection);
        worker.add_block(self.simd, projection, block, vectors);
        if position.is_last_of_group {
            worker.store_group_sums(sums, position.group);
        }
    }

    fn solve(&mut self, sums: &PartialSums) {
        self.worker.solve(self.simd, self.projection, sums);
    }

    fn project(&mut self, block: &mut TileBlock<'_>, vectors: BlockVectors) {
        let (worker, projection) = (&mut self.worker, self.projection);
        worker.project_block(self.simd, projection, block, vectors);
    }
}

/// An epoch whose workers are synchronized by a barrier after each pass of a step.
pub(super) struct ParallelEpoch<'a> {
    plan: &'a BatchPlan<'a>,
    evaluation_plan: &'a BatchPlan<'a>,
    barrier: Barrier,
    stop: AtomicBool,
    /// The Gram matrix of the parameters at the beginning of the epoch.
    initial_gram: &'a [f64],
    /// Steps taken before the epoch.
    previous_steps: i32,
    /// Sums of the rows of a step, per group: Σ slope · u of each row, then Σ slope · c.
    row_sums: PartialSums,
    /// Gram matrices of the parameters, per group.
    grams: PartialSums,
    /// Sums of the projection, of gradients and of parameters, per group; empty without one.
    gradient_sums: PartialSums,
    parameter_sums: PartialSums,
    /// Loss sums, Σ slope · u, of all training rows.
    loss_sums: PartialSums,
    /// Loss sums of the evaluated rows, per group.
    evaluation_sums: PartialSums,
}

impl<'a> ParallelEpoch<'a> {
    pub(super) fn new(
        context: &FusedContext<'_>,
        workers: usize,
        plan: &'a BatchPlan<'a>,
        evaluation_plan: &'a BatchPlan<'a>,
        initial_gram: &'a [f64],
        previous_steps: i32,
    ) -> Self {
        let (groups, width) = (context.groups.len(), context.width());
        let projection = context.projection.as_ref();
        let num_sums = projection.map_or(0, |projection| projection.num_sums(width));
        Self {
            plan,
            evaluation_plan,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            initial_gram,
            previous_steps,
            row_sums: PartialSums::new(groups, 2 * plan.batch_size()),
            grams: PartialSums::new(groups, width * width),
            gradient_sums: PartialSums::new(groups, num_sums),
            parameter_sums: PartialSums::new(groups, num_sums),
            loss_sums: PartialSums::new(1, plan.len()),
            evaluation_sums: PartialSums::new(groups, evaluation_plan.len()),
        }
    }

    /// The Gram matrix after the last step.
    pub(super) fn final_gram(&self, out: &mut [f64]) {
        self.grams.sum_groups(out);
    }

    /// Loss sums of the training rows, then of the evaluated rows; `None` if the epoch was
    /// interrupted.
    pub(super) fn loss_sums(&self) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; self.plan.len()];
        self.loss_sums.sum_groups(&mut sums);
        if self.stop.load(Ordering::Relaxed) && sums.iter().all(|sum| sum.is_finite()) {
            return None;
        }
        let mut evaluation_sums = vec![0.0; self.evaluation_plan.len()];
        self.evaluation_sums.sum_groups(&mut evaluation_sums);
        sums.append(&mut evaluation_sums);
        Some(sums)
    }

    /// The loop of one worker over all steps, then the evaluation.
    pub(super) fn run_worker(
        &self,
        worker: usize,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
    ) {
        let _guard = self.barrier.guard();
        let (plan, batch_size) = (self.plan, self.plan.batch_size());
        let row_constants = &context.row_constants;
        let mut gram = self.initial_gram.to_vec();
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), 2 * batch_size);
        let mut coefficients = RowCoefficients::default();
        let mut normalization_correction = OuterProductSum::default();
        let (mut norms, mut gram_rows) = (Vec::new(), Vec::new());
        let mut totals = vec![0.0; 2 * batch_size];
        let projection = context.projection.as_ref();
        let mut projecting = projection.map(|projection| BlockProjector {
            simd: context.simd,
            projection,
            worker: ProjectionWorker::new(projection, context.width()),
        });
        for step in 0..plan.steps() {
            let rows = plan.rows(step);
            row_constants.prediction_norms(context.simd, rows, &gram, &mut norms, &mut gram_rows);
            coefficients.clear();
            coefficients.push(row_constants, rows, &norms);
            self.row_sums_pass(
                columns,
                context,
                step,
                &coefficients,
                &mut scratch,
                &mut projecting,
            );
            self.barrier.wait();

            self.row_sums.sum_groups(&mut totals);
            let (loss_sums, slope_dot_costs) = totals.split_at(batch_size);
            row_constants.normalization_correction(
                context.simd,
                rows,
                &norms,
                loss_sums,
                slope_dot_costs,
                &mut normalization_correction,
            );
            let adam = context.adam(self.previous_steps + 1 + step as i32);
            if let Some(projecting) = &mut projecting {
                projecting.solve(&self.gradient_sums);
            }
            columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
                let correction = &normalization_correction.interleaved;
                let tile = &mut scratch.tile;
                if let Some(projecting) = &mut projecting {
                    projecting.project(block, BlockVectors::Gradient);
                }
                kernel::update_pass(context.simd, block, correction, &adam, tile);
                match &mut projecting {
                    Some(projecting) => {
                        let vectors = BlockVectors::Parameters;
                        projecting.add(block, vectors, &self.parameter_sums, position);
                    }
                    None => store_group_gram(tile, &self.grams, position),
                }
            });
            if let Some(projecting) = &mut projecting {
                self.barrier.wait();
                projecting.solve(&self.parameter_sums);
                columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
                    projecting.project(block, BlockVectors::Parameters);
                    kernel::gram_pass(context.simd, block, &mut scratch.tile);
                    store_group_gram(&mut scratch.tile, &self.grams, position);
                });
            }
            if worker == 0 {
                self.record_loss_sums(context, step, &loss_sums[..rows.len()]);
            }
            self.barrier.wait();

            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.grams.sum_groups(&mut gram);
        }
        self.evaluate(columns, context, &gram);
    }

    fn row_sums_pass(
        &self,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
        step: usize,
        coefficients: &RowCoefficients,
        scratch: &mut WorkerScratch,
        projecting: &mut Option<BlockProjector<'_>>,
    ) {
        let (num_rows, first) = (self.plan.rows(step).len(), columns.first(context));
        columns.for_each_block(context, ROW_SUMS_BLOCK_TILES, |position, block| {
            let targets = self.plan.step_targets(step, position.is_partial_tile);
            let mut batch = coefficients.batch(0, targets, context.width());
            if position.is_last_full_block_of_worker {
                // The worker's first block of the next step. Its distance in tiles is negative,
                // so that the subtraction wraps; adding it wraps back.
                batch.prefetch_targets = self.plan.step_targets(step + 1, false);
                batch.prefetch_distance = first.wrapping_sub(block.first);
            } else {
                batch.prefetch_targets = targets;
                batch.prefetch_distance = ROW_SUMS_BLOCK_TILES;
            }
            scratch.tile.sums.fill([RowSums::ZERO; ROWS_PER_PANEL]);
            dispatch_slope_kind!(
                context.slope_kind,
                kernel::row_sums_pass,
                context.simd,
                block,
                &batch,
                &mut scratch.tile
            );
            if let Some(projecting) = projecting {
                let vectors = BlockVectors::Gradient;
                projecting.add(block, vectors, &self.gradient_sums, position);
            }
            scratch.add_loss_sums(0, num_rows);
            scratch.add_cost_sums(self.plan.batch_size(), num_rows);
            if position.is_last_of_group {
                scratch.store_group_sums(&self.row_sums, position.group);
            }
        });
    }

    /// Records the loss sums of a step; stops the epoch if one is not finite or the observer has
    /// interrupted it.
    fn record_loss_sums(&self, context: &FusedContext<'_>, step: usize, sums: &[f64]) {
        self.loss_sums
            .store(0, step * self.plan.batch_size(), sums.iter().copied());
        let finite = sums.iter().all(|sum| sum.is_finite());
        self.stop
            .fetch_or(!finite || context.interrupted(), Ordering::Relaxed);
    }

    fn evaluate(&self, columns: &mut WorkerColumns<'_>, context: &FusedContext<'_>, gram: &[f64]) {
        let plan = self.evaluation_plan;
        let coefficients = context.row_coefficients(plan, gram);
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), plan.len());
        columns.for_each_block(context, ROW_SUMS_BLOCK_TILES, |position, block| {
            scratch.evaluate(context, position, block, plan, &coefficients, 0);
            if position.is_last_of_group {
                scratch.store_group_sums(&self.evaluation_sums, position.group);
            }
        });
    }
}
