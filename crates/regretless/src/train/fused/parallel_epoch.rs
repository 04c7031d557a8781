//! An epoch with normalization on several workers: two passes and two barriers per step. Symbols
//! and terms (group, block, row-sums pass, update pass) are defined in the header of [`super`].

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::FusedContext;
use super::barrier::Barrier;
use super::epoch::UPDATE_BLOCK_TILES;
use super::kernel;
use super::projection::ProjectionWorker;
use super::row_constants::{OuterProductSum, RowCoefficients};
use super::slope::dispatch_slope_kind;
use super::tile_block::{ROWS_PER_PANEL, RowSums, TileScratch};
use super::tiled_targets::BatchPlan;
use super::worker_columns::{PartialSums, WorkerColumns};
use super::worker_scratch::{EvaluatedRows, WorkerScratch, store_group_gram};
use crate::simd::AlignedF32x8;

/// Tiles of a block of the row-sums pass, whose costs are prefetched while the block before is
/// processed: 24 KB for a batch of 32 rows.
const ROW_SUMS_BLOCK_TILES: usize = 12;

/// What the norms of predictions and the projection follow from.
pub(super) struct NormalizedParameters {
    /// The Gram matrix of the parameters, or of the projected ones.
    pub(super) gram: Vec<f64>,
    /// The solution of the projection; empty without one.
    pub(super) projection_solution: Vec<AlignedF32x8>,
}

/// An epoch whose workers are synchronized by a barrier after each pass of a step.
pub(super) struct ParallelEpoch<'a> {
    plan: &'a BatchPlan<'a>,
    evaluation_plan: &'a BatchPlan<'a>,
    barrier: Barrier,
    stop: AtomicBool,
    workers: usize,
    /// At the beginning of the epoch.
    initial: &'a NormalizedParameters,
    /// After the last step.
    last: OnceLock<NormalizedParameters>,
    /// Steps taken before the epoch.
    previous_steps: i32,
    /// Sums of the rows of a step, per group: Σ slope · u of each row, then Σ slope · c.
    row_sums: PartialSums,
    /// Gram matrices of the parameters, per group.
    grams: PartialSums,
    /// Those of projected parameters, if they are computed separately.
    projected_grams: PartialSums,
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
        initial: &'a NormalizedParameters,
        previous_steps: i32,
    ) -> Self {
        let (groups, width) = (context.groups.len(), context.width());
        let projection_sums = || match &context.projection {
            Some(projection) => projection.partial_sums(workers, groups, width),
            None => PartialSums::new(0, 0),
        };
        let projected_groups = context.projection.as_ref().map_or(0, |_| groups);
        Self {
            plan,
            evaluation_plan,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            workers,
            initial,
            last: OnceLock::new(),
            previous_steps,
            row_sums: PartialSums::new(groups, 2 * plan.batch_size()),
            grams: PartialSums::new(groups, width * width),
            projected_grams: PartialSums::new(projected_groups, width * width),
            gradient_sums: projection_sums(),
            parameter_sums: projection_sums(),
            loss_sums: PartialSums::new(1, plan.len()),
            evaluation_sums: PartialSums::new(groups, evaluation_plan.len()),
        }
    }

    /// Loss sums of the training rows, then of the evaluated rows, unless the epoch was
    /// interrupted, and the parameters after the last step, if there was one.
    pub(super) fn finish(self) -> (Option<Vec<f64>>, Option<NormalizedParameters>) {
        let mut sums = vec![0.0; self.plan.len()];
        self.loss_sums.sum_groups(&mut sums);
        if self.stop.load(Ordering::Relaxed) && sums.iter().all(|sum| sum.is_finite()) {
            return (None, None);
        }
        let mut evaluation_sums = vec![0.0; self.evaluation_plan.len()];
        self.evaluation_sums.sum_groups(&mut evaluation_sums);
        sums.append(&mut evaluation_sums);
        (Some(sums), self.last.into_inner())
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
        let mut gram = self.initial.gram.clone();
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), 2 * batch_size);
        let mut coefficients = RowCoefficients::default();
        let mut normalization_correction = OuterProductSum::default();
        let (mut norms, mut gram_rows) = (Vec::new(), Vec::new());
        let mut totals = vec![0.0; 2 * batch_size];
        let solution = &self.initial.projection_solution;
        let mut projection = context.projection_worker(self.workers, solution);
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
                &mut projection,
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
            self.update_pass(
                columns,
                context,
                step,
                &normalization_correction.interleaved,
                &mut projection,
                &mut scratch.tile,
            );
            if worker == 0 {
                self.record_loss_sums(context, step, &loss_sums[..rows.len()]);
            }
            self.barrier.wait();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.update_gram(
                columns,
                context,
                &mut scratch.tile,
                &mut projection,
                &mut gram,
            );
        }
        self.evaluate(columns, context, &gram, &mut projection);
        if worker == 0 && plan.steps() > 0 {
            self.store_last_parameters(gram, projection);
        }
    }

    /// Stores what follows from the parameters after the last step.
    fn store_last_parameters(&self, gram: Vec<f64>, projection: Option<ProjectionWorker<'_>>) {
        let solution = projection.map(ProjectionWorker::into_parameter_solution);
        // Set once: there is one worker 0.
        let _ = self.last.set(NormalizedParameters {
            gram,
            projection_solution: solution.unwrap_or_default(),
        });
    }

    /// The Adam step of the worker's blocks, given the correction for the normalization.
    fn update_pass(
        &self,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
        step: usize,
        correction: &[[f32; ROWS_PER_PANEL]],
        projection: &mut Option<ProjectionWorker<'_>>,
        scratch: &mut TileScratch,
    ) {
        let adam = context.adam(self.previous_steps + 1 + step as i32);
        if let Some(projection) = projection {
            projection.solve_gradient(&self.gradient_sums, correction);
        }
        columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
            kernel::update_pass(
                context.simd,
                block,
                correction,
                &adam,
                projection.as_mut(),
                scratch,
            );
            if let Some(projection) = projection {
                projection.store_group_sums(&self.parameter_sums, position);
            }
            store_group_gram(scratch, &self.grams, position);
        });
    }

    /// Overwrites the Gram matrix with that of the parameters after the step.
    fn update_gram(
        &self,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
        scratch: &mut TileScratch,
        projection: &mut Option<ProjectionWorker<'_>>,
        gram: &mut [f64],
    ) {
        self.grams.sum_groups(gram);
        let Some(projection) = projection else {
            return;
        };
        // All workers have the same sums, and reach the barrier or do not.
        if projection.solve_parameters(&self.parameter_sums, gram) {
            return;
        }
        // The matrix as a difference would lose digits.
        columns.for_each_block(context, UPDATE_BLOCK_TILES, |position, block| {
            kernel::gram_pass(context.simd, block, Some(&mut *projection), scratch);
            store_group_gram(scratch, &self.projected_grams, position);
        });
        self.barrier.wait();
        self.projected_grams.sum_groups(gram);
    }

    fn row_sums_pass(
        &self,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
        step: usize,
        coefficients: &RowCoefficients,
        scratch: &mut WorkerScratch,
        projection: &mut Option<ProjectionWorker<'_>>,
    ) {
        let (num_rows, first) = (self.plan.rows(step).len(), columns.first(context));
        columns.for_each_block(context, ROW_SUMS_BLOCK_TILES, |position, block| {
            let targets = self.plan.step_targets(step, position.is_partial_tile);
            let mut batch = coefficients.batch(0, targets, context.width());
            if position.is_last_full_block_of_worker {
                // The worker's first block of the next step. Its distance in tiles is negative, so
                // the subtraction wraps; adding it wraps back.
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
                projection.as_mut(),
                &mut scratch.tile
            );
            if let Some(projection) = projection {
                projection.store_group_sums(&self.gradient_sums, position);
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

    fn evaluate(
        &self,
        columns: &mut WorkerColumns<'_>,
        context: &FusedContext<'_>,
        gram: &[f64],
        projection: &mut Option<ProjectionWorker<'_>>,
    ) {
        let plan = self.evaluation_plan;
        let coefficients = context.row_coefficients(plan, gram);
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), plan.len());
        columns.for_each_block(context, ROW_SUMS_BLOCK_TILES, |position, block| {
            let rows = EvaluatedRows {
                plan,
                coefficients: &coefficients,
                first: 0,
            };
            scratch.evaluate(context, position, block, rows, projection.as_mut());
            if position.is_last_of_group {
                scratch.store_group_sums(&self.evaluation_sums, position.group);
            }
        });
    }
}
