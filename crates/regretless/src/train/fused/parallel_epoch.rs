//! An epoch with normalization on several workers: two passes and two barriers per step. Pass A
//! computes errors and local gradients, pass B corrects the gradients for the normalization and
//! takes the Adam step (`kernel.rs`). Errors are u = c − (‖c‖/‖ĉ‖) ĉ with predicted costs ĉ and
//! true costs c; the loss of a row is a multiple of Σ slope · u (`slope.rs`).

use std::sync::atomic::{AtomicBool, Ordering};

use super::FusedContext;
use super::barrier::Barrier;
use super::column_block::{ColumnBlock, PartialSums};
use super::epoch::PASS_B_TILES;
use super::kernel::{self, ROWS_PER_PANEL, RowSums};
use super::row_constants::{OuterProductSum, RowCoefficients};
use super::slope::dispatch_slope_kind;
use super::tiled_targets::BatchPlan;
use super::worker_scratch::{WorkerScratch, store_group_gram};

/// Tiles of a block of pass A, whose costs are prefetched while the block before is processed:
/// 24 KB for a batch of 32 rows.
const PASS_A_TILES: usize = 12;

/// An epoch whose workers are synchronized by a barrier after each pass of a step.
pub(super) struct ParallelEpoch<'a> {
    plan: &'a BatchPlan<'a>,
    evaluated_rows: &'a BatchPlan<'a>,
    barrier: Barrier,
    stop: AtomicBool,
    /// The Gram matrix at the beginning of the epoch.
    initial_gram: &'a [f64],
    /// Steps taken before the epoch.
    previous_steps: i32,
    /// Sums of the rows of a step, per group: Σ slope · u of each row, then Σ slope · c.
    rows: PartialSums,
    /// Gram matrices, per group.
    grams: PartialSums,
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
        evaluated_rows: &'a BatchPlan<'a>,
        initial_gram: &'a [f64],
        previous_steps: i32,
    ) -> Self {
        let groups = context.groups.len();
        Self {
            plan,
            evaluated_rows,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            initial_gram,
            previous_steps,
            rows: PartialSums::new(groups, 2 * plan.batch()),
            grams: PartialSums::new(groups, context.width() * context.width()),
            loss_sums: PartialSums::new(1, plan.len()),
            evaluation_sums: PartialSums::new(groups, evaluated_rows.len()),
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
        let mut evaluation_sums = vec![0.0; self.evaluated_rows.len()];
        self.evaluation_sums.sum_groups(&mut evaluation_sums);
        sums.append(&mut evaluation_sums);
        Some(sums)
    }

    /// The loop of one worker over all steps, then the evaluation.
    pub(super) fn run_worker(
        &self,
        worker: usize,
        columns: &mut ColumnBlock<'_>,
        context: &FusedContext<'_>,
    ) {
        let _guard = self.barrier.guard();
        let (plan, batch) = (self.plan, self.plan.batch());
        let row_constants = &context.row_constants;
        let mut gram = self.initial_gram.to_vec();
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), 2 * batch);
        let mut coefficients = RowCoefficients::default();
        let mut correction = OuterProductSum::default();
        let (mut norms, mut gram_rows) = (Vec::new(), Vec::new());
        let mut totals = vec![0.0; 2 * batch];
        for step in 0..plan.steps() {
            let rows = plan.rows(step);
            row_constants.prediction_norms(context.simd, rows, &gram, &mut norms, &mut gram_rows);
            coefficients.clear();
            coefficients.push(row_constants, rows, &norms);
            self.pass_a(columns, context, step, &coefficients, &mut scratch);
            self.barrier.wait();

            self.rows.sum_groups(&mut totals);
            let (slope_dot_errors, slope_dot_costs) = totals.split_at(batch);
            row_constants.correction(
                context.simd,
                rows,
                &norms,
                slope_dot_errors,
                slope_dot_costs,
                &mut correction,
            );
            let adam = context.adam(self.previous_steps + 1 + step as i32);
            columns.for_each_block(context, PASS_B_TILES, |position, block| {
                let (correction, tile) = (&correction.interleaved, &mut scratch.tile);
                kernel::pass_b(context.simd, block, correction, &adam, tile);
                store_group_gram(tile, &self.grams, position);
            });
            if worker == 0 {
                self.record_loss_sums(context, step, &slope_dot_errors[..rows.len()]);
            }
            self.barrier.wait();

            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.grams.sum_groups(&mut gram);
        }
        self.evaluate(columns, context, &gram);
    }

    fn pass_a(
        &self,
        columns: &mut ColumnBlock<'_>,
        context: &FusedContext<'_>,
        step: usize,
        coefficients: &RowCoefficients,
        scratch: &mut WorkerScratch,
    ) {
        let (rows, first) = (self.plan.rows(step).len(), columns.first(context));
        columns.for_each_block(context, PASS_A_TILES, |position, block| {
            let targets = self.plan.step_targets(step, position.partial);
            let mut batch = coefficients.batch(0, targets, context.width());
            if position.last_full_of_worker {
                // The worker's first block of the next step.
                batch.prefetch_targets = self.plan.step_targets(step + 1, false);
                batch.prefetch_distance = first.wrapping_sub(block.first);
            } else {
                batch.prefetch_targets = targets;
                batch.prefetch_distance = PASS_A_TILES;
            }
            scratch.tile.sums.fill([RowSums::ZERO; ROWS_PER_PANEL]);
            dispatch_slope_kind!(
                context.kind,
                kernel::pass_a,
                context.simd,
                block,
                &batch,
                &mut scratch.tile
            );
            scratch.add_error_sums(0, rows);
            scratch.add_cost_sums(self.plan.batch(), rows);
            if position.last_of_group {
                scratch.store_group_sums(&self.rows, position.group);
            }
        });
    }

    /// Records the loss sums of a step; stops the epoch if one is not finite or the observer has
    /// interrupted it.
    fn record_loss_sums(&self, context: &FusedContext<'_>, step: usize, sums: &[f64]) {
        self.loss_sums
            .store(0, step * self.plan.batch(), sums.iter().copied());
        let finite = sums.iter().all(|sum| sum.is_finite());
        self.stop
            .fetch_or(!finite || context.interrupted(), Ordering::Relaxed);
    }

    fn evaluate(&self, columns: &mut ColumnBlock<'_>, context: &FusedContext<'_>, gram: &[f64]) {
        let plan = self.evaluated_rows;
        let coefficients = context.row_coefficients(plan, gram);
        let mut scratch = WorkerScratch::new(context, plan.max_panels(), plan.len());
        columns.for_each_block(context, PASS_A_TILES, |position, block| {
            scratch.evaluate(context, position, block, plan, &coefficients, 0);
            if position.last_of_group {
                scratch.store_group_sums(&self.evaluation_sums, position.group);
            }
        });
    }
}
