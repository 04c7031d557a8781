//! Epochs of a network whose last layer has an output for every cost: threads share these outputs,
//! block by block.
//!
//! A step: every worker runs the hidden layers on its own copy and predicts its blocks. A first
//! barrier completes the norms of the predictions, a second one their totals. Each block then turns
//! its predictions into their gradient, adds its part of the gradient of the hidden outputs, and
//! takes its Adam step. After a third barrier every worker runs the backward pass and the step of
//! the hidden layers.
//!
//! The loss of a row is a multiple of Σ slope · u over its costs, with errors u and slopes by
//! `fused/slope.rs`; c are the true costs. A tile is sixteen outputs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use self::columns::{OutputBlock, TILES_PER_BLOCK, WideWorkerColumns};
use super::super::FusedContext;
use super::super::adam::AdamCoefficients;
use super::super::barrier::Barrier;
use super::super::epoch::EVALUATION_ROWS_PER_CHUNK;
use super::super::row_constants::PredictionNorm;
use super::super::worker_columns::PartialSums;
use super::hidden::{AdamMoments, HiddenLayers};
use super::output_block::{AdamSlices, BatchInputs, take_front};
use super::{EpochSums, FusedNetwork};
use crate::predict::Network;
use crate::simd::{AlignedF32x8, F32_LANES};

mod columns;

/// Most groups of blocks, which bounds the number of workers; each worker adds the sums of all
/// groups.
const MAX_BLOCK_GROUPS: usize = 16;

/// One worker's scratch memory.
#[derive(Default)]
struct WideWorkerScratch {
    /// Features of the rows of a step.
    features: Vec<f32>,
    /// Activated outputs of the hidden layers.
    activated: Vec<f32>,
    norms: Vec<PredictionNorm>,
    /// Sums of the rows of a step over one group.
    group_sums: Vec<f64>,
    /// Σ slope · u of the rows of a step, then Σ slope · c.
    totals: Vec<f64>,
    /// The activated outputs as the kernels of the last layer read them.
    inputs: BatchInputs,
    /// Squares of the predictions of each row over the tiles of a block.
    squares: Vec<AlignedF32x8>,
    /// The gradient of the activated outputs: of one group, then the sum over all groups.
    hidden_gradient: Vec<f32>,
    /// That sum in double precision.
    hidden_gradient_sums: Vec<f64>,
}

/// What all workers of an epoch share.
struct WideParallelEpoch<'a> {
    context: &'a FusedContext<'a>,
    order: &'a [usize],
    evaluated_rows: &'a [usize],
    /// Ranges of tiles.
    groups: &'a [Range<usize>],
    /// Inputs of the last layer.
    inputs: usize,
    workers: usize,
    /// Steps taken before the epoch.
    previous_steps: i32,
    barrier: Barrier,
    stop: AtomicBool,
    /// Squared norms of the predictions of a step, per group.
    squares: PartialSums,
    /// Totals of the rows of a step, per group.
    rows: PartialSums,
    /// Gradients of the activated outputs, per group.
    hidden_gradients: PartialSums,
    /// Loss sums, Σ slope · u, of the training rows.
    loss_sums: PartialSums,
    /// Loss sums of the evaluated rows.
    evaluation_sums: PartialSums,
}

/// Ranges of tiles, a multiple of the block size each, whose sums are stored separately.
fn groups(tiles: usize) -> Vec<Range<usize>> {
    let blocks = tiles.div_ceil(TILES_PER_BLOCK);
    // The division depends on the number of tiles alone: sums over groups are added in the same
    // order for any number of workers, and have the same bits.
    let count = blocks.min(MAX_BLOCK_GROUPS);
    let start = |g: usize| (g * blocks / count * TILES_PER_BLOCK).min(tiles);
    (0..count).map(|g| start(g)..start(g + 1)).collect()
}

impl FusedNetwork<'_> {
    /// An epoch on a wide table; `None` if it was interrupted.
    pub(super) fn wide_epoch(
        &mut self,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Option<EpochSums> {
        let sizes = self.network.sizes().to_vec();
        let (inputs, costs) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
        let hidden_count = self.network.parameters().len() - costs * (inputs + 1);
        let hidden = self.hidden_layers(&sizes[..sizes.len() - 1], hidden_count);
        let Self {
            context,
            network,
            moments,
            predictions,
            ..
        } = self;
        let batch = context.prepared.settings().batch_size;
        let groups = groups(context.output_maps.len());
        let rows = batch.min(order.len()).max(EVALUATION_ROWS_PER_CHUNK);
        let workers = context.workers_for(rows * inputs * costs).min(groups.len());
        predictions.resize(context.output_maps.len() * F32_LANES * rows, 0.0);
        let mut biases = AdamSlices {
            values: &mut network.parameters_mut()[hidden_count..],
            first: &mut moments.first[hidden_count..],
            second: &mut moments.second[hidden_count..],
        };
        let mut weights = biases.take_front(costs * inputs);
        let mut predictions = predictions.as_mut_slice();
        let mut columns = Vec::with_capacity(workers);
        for worker in 0..workers {
            // Whole groups, as no two workers may write to the sums of one.
            let range = worker * groups.len() / workers..(worker + 1) * groups.len() / workers;
            let outputs = F32_LANES * (groups[range.end - 1].end - groups[range.start].start);
            columns.push(WideWorkerColumns {
                hidden: hidden.clone(),
                groups: range,
                weights: weights.take_front(outputs * inputs),
                biases: biases.take_front(outputs),
                predictions: take_front(&mut predictions, outputs * rows),
            });
        }
        let epoch = WideParallelEpoch::new(
            context,
            order,
            evaluated_rows,
            &groups,
            inputs,
            workers,
            self.steps,
        );
        context
            .threads(workers)
            .run_on_each(columns.iter_mut().collect(), |worker, columns| {
                epoch.run_worker(worker, columns);
            });
        // All copies of the hidden layers are equal.
        let hidden = columns.swap_remove(0).hidden;
        drop(columns);
        let sums = EpochSums::of(
            &epoch.loss_sums,
            &epoch.evaluation_sums,
            &epoch.stop,
            [order, evaluated_rows],
        );
        self.steps += order.len().div_ceil(batch) as i32;
        if let Some(hidden) = hidden {
            self.store_hidden_layers(&hidden);
        }
        sums
    }

    /// Overwrites the layers before the last, which have the first parameters.
    fn store_hidden_layers(&mut self, hidden: &HiddenLayers) {
        let parameters = hidden.network.parameters();
        let count = parameters.len();
        self.network.parameters_mut()[..count].copy_from_slice(parameters);
        self.moments.first[..count].copy_from_slice(&hidden.moments.first);
        self.moments.second[..count].copy_from_slice(&hidden.moments.second);
    }

    /// A copy of the layers before the last, which have the first `count` parameters; `None` for a
    /// linear predictor.
    fn hidden_layers(&self, sizes: &[usize], count: usize) -> Option<HiddenLayers> {
        let parameters = self.network.parameters()[..count].to_vec();
        let network = Network::with_parameters(sizes.to_vec(), parameters)?;
        let moments = AdamMoments {
            first: self.moments.first[..count].to_vec(),
            second: self.moments.second[..count].to_vec(),
        };
        Some(HiddenLayers::new(network, moments))
    }
}

impl<'a> WideParallelEpoch<'a> {
    fn new(
        context: &'a FusedContext<'a>,
        order: &'a [usize],
        evaluated_rows: &'a [usize],
        groups: &'a [Range<usize>],
        inputs: usize,
        workers: usize,
        previous_steps: i32,
    ) -> Self {
        let batch = context.prepared.settings().batch_size;
        let rows = batch.max(EVALUATION_ROWS_PER_CHUNK);
        Self {
            context,
            order,
            evaluated_rows,
            groups,
            inputs,
            workers,
            previous_steps,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            squares: PartialSums::new(groups.len(), rows),
            rows: PartialSums::new(groups.len(), 2 * rows),
            hidden_gradients: PartialSums::new(groups.len(), rows * inputs),
            loss_sums: PartialSums::new(1, order.len()),
            evaluation_sums: PartialSums::new(1, evaluated_rows.len()),
        }
    }

    /// The loop of one worker over all steps, then the evaluation.
    fn run_worker(&self, worker: usize, columns: &mut WideWorkerColumns<'_>) {
        let _guard = self.barrier.guard();
        let mut scratch = WideWorkerScratch::default();
        let batch = self.context.prepared.settings().batch_size;
        for (step, rows) in self.order.chunks(batch).enumerate() {
            // One worker asks, before the barriers of the step. The others read its answer after
            // them, so all end with the same step and none waits for another that has left.
            if worker == 0 && self.context.interrupted() {
                self.stop.store(true, Ordering::Relaxed);
            }
            let adam = self.context.adam(self.previous_steps + 1 + step as i32);
            if self.context.scale_invariant {
                self.predict_and_evaluate(columns, rows, &mut scratch);
            } else {
                self.step_separable(columns, rows, &mut scratch, &adam);
            }
            let loss_sums = &scratch.totals[..rows.len()];
            if worker == 0 {
                self.loss_sums
                    .store(0, step * batch, loss_sums.iter().copied());
            }
            // The sums are equal on all workers, so all of them return here, or none does.
            if self.stop.load(Ordering::Relaxed) || loss_sums.iter().any(|sum| !sum.is_finite()) {
                return;
            }
            if self.context.scale_invariant {
                self.backward_and_step(columns, rows, &mut scratch, &adam);
            }
            self.step_hidden_layers(columns, &mut scratch, &adam);
            if !self.context.scale_invariant {
                // All workers have read the sums of this step: the next one may overwrite them.
                self.barrier.wait();
            }
        }
        let chunks = self.evaluated_rows.chunks(EVALUATION_ROWS_PER_CHUNK);
        for (chunk, rows) in chunks.enumerate() {
            self.predict_and_evaluate(columns, rows, &mut scratch);
            if worker == 0 {
                let loss_sums = scratch.totals[..rows.len()].iter().copied();
                self.evaluation_sums
                    .store(0, chunk * EVALUATION_ROWS_PER_CHUNK, loss_sums);
            }
        }
    }

    /// Runs the hidden layers on rows; the scratch holds their activated outputs.
    fn run_hidden_layers(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
    ) {
        scratch.features.clear();
        for row in rows {
            let features = self.context.prepared.features.instance(*row);
            scratch.features.extend_from_slice(features);
        }
        match &mut columns.hidden {
            Some(hidden) => hidden.forward(&scratch.features, &mut scratch.activated),
            None => scratch.activated.clone_from(&scratch.features),
        }
        let WideWorkerScratch {
            inputs, activated, ..
        } = scratch;
        inputs.load(self.context.simd, activated, rows.len());
    }

    /// Predicts rows; computes their norms and totals in the scratch.
    fn predict_and_evaluate(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
    ) {
        let context = self.context;
        self.run_hidden_layers(columns, rows, scratch);
        let WideWorkerScratch {
            inputs,
            squares,
            norms,
            group_sums,
            totals,
            ..
        } = scratch;
        reset(group_sums, rows.len());
        self.sum_blocks(columns, group_sums, &self.squares, |block, sums| {
            block.predict(context, inputs, squares, sums);
        });
        reset(totals, rows.len());
        self.squares.sum_groups(totals);
        norms.clear();
        for (row, square) in rows.iter().zip(&*totals) {
            norms.push(context.row_constants.norm_from_square(*row, *square));
        }
        reset(group_sums, 2 * rows.len());
        self.sum_blocks(columns, group_sums, &self.rows, |block, sums| {
            block.prefetch_costs(context, rows, TILES_PER_BLOCK);
            block.evaluate(context, rows, norms, sums);
        });
        reset(totals, 2 * rows.len());
        self.rows.sum_groups(totals);
    }

    /// Without normalization every block evaluates and steps at once; the totals of the rows are
    /// then in the scratch. A block whose loss is not finite does not step.
    fn step_separable(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
        adam: &AdamCoefficients,
    ) {
        let context = self.context;
        self.run_hidden_layers(columns, rows, scratch);
        self.reset_hidden_gradient(columns, scratch);
        let WideWorkerScratch {
            inputs,
            squares,
            group_sums,
            totals,
            hidden_gradient,
            hidden_gradient_sums,
            ..
        } = scratch;
        reset(totals, rows.len());
        reset(group_sums, rows.len());
        self.sum_blocks(columns, group_sums, &self.rows, |block, sums| {
            block.prefetch_costs(context, rows, 0);
            block.predict(context, inputs, squares, totals);
            if block.evaluate_and_gradient(context, rows, sums) {
                block.backward_and_step(context, inputs, hidden_gradient, adam);
            }
            self.store_hidden_gradient(block, hidden_gradient, hidden_gradient_sums);
        });
        reset(totals, rows.len());
        self.rows.sum_groups(totals);
    }

    /// Sums over the blocks of each group and stores them for all workers; ends with a barrier.
    fn sum_blocks(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        group_sums: &mut [f64],
        sums: &PartialSums,
        mut work: impl FnMut(&mut OutputBlock<'_>, &mut [f64]),
    ) {
        columns.for_each_block(self, |block| {
            work(block, group_sums);
            if self.is_last_of_group(block) {
                sums.store(block.group, 0, group_sums.iter().copied());
                group_sums.fill(0.0);
            }
        });
        self.barrier.wait();
    }

    fn is_last_of_group(&self, block: &OutputBlock<'_>) -> bool {
        block.first + block.tiles == self.groups[block.group].end
    }

    /// The backward pass and a step of the last layer.
    fn backward_and_step(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
        adam: &AdamCoefficients,
    ) {
        let context = self.context;
        self.reset_hidden_gradient(columns, scratch);
        let WideWorkerScratch {
            inputs,
            norms,
            totals,
            hidden_gradient,
            hidden_gradient_sums,
            ..
        } = scratch;
        columns.for_each_block(self, |block| {
            block.prefetch_costs(context, rows, TILES_PER_BLOCK);
            block.gradient(context, rows, norms, totals);
            block.backward_and_step(context, inputs, hidden_gradient, adam);
            self.store_hidden_gradient(block, hidden_gradient, hidden_gradient_sums);
        });
        self.barrier.wait();
    }

    /// Sets the gradient of the activated outputs to zero; it is empty without hidden layers.
    fn reset_hidden_gradient(
        &self,
        columns: &WideWorkerColumns<'_>,
        scratch: &mut WideWorkerScratch,
    ) {
        let deep = columns.hidden.is_some();
        let len = if deep { scratch.activated.len() } else { 0 };
        scratch.hidden_gradient.clear();
        scratch.hidden_gradient.resize(len, 0.0);
        reset(&mut scratch.hidden_gradient_sums, len);
    }

    /// After the last block of a group, adds its gradient of the activated outputs to the sums of
    /// the only worker, or stores it for all workers.
    fn store_hidden_gradient(
        &self,
        block: &OutputBlock<'_>,
        hidden_gradient: &mut [f32],
        sums: &mut [f64],
    ) {
        if !self.is_last_of_group(block) {
            return;
        }
        if self.workers == 1 {
            for (sum, gradient) in sums.iter_mut().zip(&*hidden_gradient) {
                *sum += f64::from(*gradient);
            }
        } else {
            let gradient = hidden_gradient.iter().map(|g| f64::from(*g));
            self.hidden_gradients.store(block.group, 0, gradient);
        }
        hidden_gradient.fill(0.0);
    }

    /// The backward pass and a step of the hidden layers, if there are any.
    fn step_hidden_layers(
        &self,
        columns: &mut WideWorkerColumns<'_>,
        scratch: &mut WideWorkerScratch,
        adam: &AdamCoefficients,
    ) {
        let Some(hidden) = &mut columns.hidden else {
            return;
        };
        let WideWorkerScratch {
            features,
            hidden_gradient,
            hidden_gradient_sums,
            ..
        } = scratch;
        if self.workers > 1 {
            self.hidden_gradients.sum_groups(hidden_gradient_sums);
        }
        for (gradient, sum) in hidden_gradient.iter_mut().zip(&*hidden_gradient_sums) {
            *gradient = *sum as f32;
        }
        hidden.backward(features, hidden_gradient);
        hidden.step(self.context.simd, adam);
    }
}

/// Resizes sums and sets all of them to zero.
fn reset(sums: &mut Vec<f64>, len: usize) {
    sums.clear();
    sums.resize(len, 0.0);
}
