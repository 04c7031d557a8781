//! Epochs of a predictor that all items share: threads share the instances of a batch. The loss of
//! an instance is a multiple of Σ slope · u, with errors u and slopes by `fused/slope.rs`.
//!
//! The forward pass, the loss and the backward pass of an instance run while it is in cache.
//! Instances are summed in groups that do not depend on the number of threads, groups in their
//! order; every worker then takes the same step on its own copy.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::FusedContext;
use super::super::barrier::Barrier;
use super::super::row_constants::{PredictionNorm, RowTotals};
use super::super::worker_columns::PartialSums;
use super::hidden::HiddenLayers;
use super::item_network::ItemNetworkScratch;
use super::items::ItemScratch;
use super::predictions::{self, BackwardCoefficients};
use super::{EpochSums, FusedNetwork, ItemKernel};
use crate::simd::F32_LANES;

/// Groups of the instances of a batch, which bounds the number of workers. More groups allow more
/// workers; each worker adds the gradients of all groups.
const INSTANCE_GROUPS: usize = 16;

/// What all workers of an epoch share.
struct LongParallelEpoch<'a> {
    context: &'a FusedContext<'a>,
    items: &'a ItemKernel,
    order: &'a [usize],
    evaluated_rows: &'a [usize],
    workers: usize,
    /// Steps taken before the epoch.
    previous_steps: i32,
    barrier: Barrier,
    stop: AtomicBool,
    gradients: PartialSums,
    /// Loss sums, Σ slope · u, of the training rows.
    loss_sums: PartialSums,
    /// Loss sums of the evaluated rows.
    evaluation_sums: PartialSums,
}

/// One worker's copy of the network and scratch memory.
struct LongWorkerScratch {
    layers: HiddenLayers,
    /// Outputs of an instance, then their gradient.
    values: Vec<f32>,
    /// The gradient of the parameters, summed over instances.
    gradient_sums: Vec<f64>,
    items: ItemScratch,
    item_network: ItemNetworkScratch,
}

impl FusedNetwork<'_> {
    /// An epoch on a long table; `None` if it was interrupted.
    pub(super) fn long_epoch(
        &mut self,
        order: &[usize],
        evaluated_rows: &[usize],
    ) -> Option<EpochSums> {
        let context = &self.context;
        let batch = context.prepared.settings().batch_size;
        let workers = context
            .workers_for(batch * context.num_costs())
            // More workers than groups would be idle.
            .min(INSTANCE_GROUPS);
        let layers = HiddenLayers::new(self.network.clone(), std::mem::take(&mut self.moments));
        let epoch = LongParallelEpoch {
            context,
            items: &self.items,
            order,
            evaluated_rows,
            workers,
            previous_steps: self.steps,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            gradients: PartialSums::new(INSTANCE_GROUPS, layers.gradient.len()),
            loss_sums: PartialSums::new(1, order.len()),
            evaluation_sums: PartialSums::new(1, evaluated_rows.len()),
        };
        // Every worker has a copy of the network and takes the same steps, so parameters are never
        // shared.
        let mut scratches: Vec<LongWorkerScratch> = (0..workers)
            .map(|_| LongWorkerScratch::new(context, layers.clone()))
            .collect();
        context
            .threads(workers)
            .run_on_each(scratches.iter_mut().collect(), |worker, scratch| {
                epoch.run_worker(worker, scratch);
            });
        // All copies are equal.
        let layers = scratches.swap_remove(0).layers;
        let sums = EpochSums::of(
            &epoch.loss_sums,
            &epoch.evaluation_sums,
            &epoch.stop,
            [order, evaluated_rows],
        );
        self.network = layers.network;
        self.moments = layers.moments;
        self.steps += order.len().div_ceil(batch) as i32;
        sums
    }
}

impl LongParallelEpoch<'_> {
    /// The loop of one worker over all steps, then the evaluation.
    fn run_worker(&self, worker: usize, scratch: &mut LongWorkerScratch) {
        let _guard = self.barrier.guard();
        let batch = self.context.prepared.settings().batch_size;
        let groups = even_range(worker, self.workers, INSTANCE_GROUPS);
        scratch.load_parameters(self.context, self.items);
        for (step, rows) in self.order.chunks(batch).enumerate() {
            for group in groups.clone() {
                self.group_gradient(scratch, step * batch, rows, group);
            }
            // Before the barrier, so all workers see the same decision behind it.
            if worker == 0 && self.context.interrupted() {
                self.stop.store(true, Ordering::Relaxed);
            }
            self.barrier.wait();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            // All workers add the groups in the same order: their gradients are equal bit for bit.
            self.gradients.sum_groups(&mut scratch.gradient_sums);
            let gradient = scratch.layers.gradient.iter_mut();
            for (gradient, sum) in gradient.zip(&scratch.gradient_sums) {
                *gradient = *sum as f32;
            }
            let adam = self.context.adam(self.previous_steps + 1 + step as i32);
            scratch.layers.step(self.context.simd, &adam);
            scratch.load_parameters(self.context, self.items);
            // Nobody overwrites the groups before all have read them.
            self.barrier.wait();
        }
        for index in even_range(worker, self.workers, self.evaluated_rows.len()) {
            let row = self.evaluated_rows[index];
            let loss_sum = match self.items {
                ItemKernel::Linear(items) => items.loss_sum(self.context, row, &mut scratch.items),
                ItemKernel::OneHiddenLayer(_) | ItemKernel::Products => {
                    let (_, totals) = scratch.forward(self.context, self.items, row);
                    totals.slope_dot_error
                }
            };
            self.evaluation_sums
                .store(0, index, std::iter::once(loss_sum));
        }
    }

    /// The gradient of the rows of a group; the loss sums of the batch begin at `first_loss`.
    fn group_gradient(
        &self,
        scratch: &mut LongWorkerScratch,
        first_loss: usize,
        rows: &[usize],
        group: usize,
    ) {
        scratch.gradient_sums.fill(0.0);
        for i in even_range(group, INSTANCE_GROUPS, rows.len()) {
            let (row, batch) = (rows[i], rows.len());
            let loss_sum = match self.items {
                ItemKernel::Linear(items) => {
                    let sums = &mut scratch.gradient_sums;
                    items.backward(self.context, row, batch, &mut scratch.items, sums)
                }
                ItemKernel::OneHiddenLayer(_) | ItemKernel::Products => {
                    scratch.backward(self.context, self.items, row, batch)
                }
            };
            self.loss_sums
                .store(0, first_loss + i, std::iter::once(loss_sum));
            if !loss_sum.is_finite() {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        let sums = scratch.gradient_sums.iter().copied();
        self.gradients.store(group, 0, sums);
    }
}

/// Range `index` when `0..len` is divided into `count` ranges of about equal length.
fn even_range(index: usize, count: usize, len: usize) -> Range<usize> {
    index * len / count..(index + 1) * len / count
}

impl LongWorkerScratch {
    fn new(context: &FusedContext<'_>, layers: HiddenLayers) -> Self {
        Self {
            values: vec![0.0; context.output_maps.len() * F32_LANES],
            gradient_sums: vec![0.0; layers.gradient.len()],
            items: ItemScratch::new(context.prepared.features.names().len()),
            item_network: ItemNetworkScratch::default(),
            layers,
        }
    }

    /// Copies the parameters to where the kernel reads them.
    fn load_parameters(&mut self, context: &FusedContext<'_>, kernel: &ItemKernel) {
        let network = &self.layers.network;
        match kernel {
            ItemKernel::Linear(_) => self.items.load_parameters(context, network.parameters()),
            ItemKernel::OneHiddenLayer(_) => self.item_network.load_parameters(network),
            ItemKernel::Products => {}
        }
    }

    /// The forward pass and the totals of an instance.
    fn forward(
        &mut self,
        context: &FusedContext<'_>,
        kernel: &ItemKernel,
        row: usize,
    ) -> (PredictionNorm, RowTotals) {
        if let ItemKernel::OneHiddenLayer(items) = kernel {
            let outputs = &mut self.values;
            self.item_network.forward(context.simd, items, row, outputs);
        } else {
            let HiddenLayers { network, tape, .. } = &mut self.layers;
            network.predict(context.prepared.features.instance(row), tape);
            self.values[..context.num_costs()].copy_from_slice(tape.outputs());
        }
        self.values[context.num_costs()..].fill(0.0);
        let square = predictions::scale_and_norm(context, row, 0, &mut self.values);
        let norm = context.row_constants.norm_from_square(row, square);
        let totals = predictions::evaluate(context, row, 0, &mut self.values, norm);
        (norm, totals)
    }

    /// Adds the gradient of an instance in a batch of `batch` rows to the sums; returns its
    /// Σ slope · u.
    fn backward(
        &mut self,
        context: &FusedContext<'_>,
        kernel: &ItemKernel,
        row: usize,
        batch: usize,
    ) -> f64 {
        let (norm, totals) = self.forward(context, kernel, row);
        let coefficients = BackwardCoefficients::new(context, row, batch, norm, totals);
        predictions::backward(context, row, 0, &mut self.values, coefficients);
        let Self {
            layers,
            values,
            gradient_sums,
            ..
        } = self;
        if let ItemKernel::OneHiddenLayer(items) = kernel {
            self.item_network
                .backward(context.simd, items, row, values, gradient_sums);
            return totals.slope_dot_error;
        }
        let HiddenLayers {
            network,
            tape,
            gradient,
            ..
        } = layers;
        let output_gradient = &values[..context.num_costs()];
        let features = context.prepared.features.instance(row);
        network.backpropagate(features, tape, output_gradient, gradient);
        for (sum, gradient) in gradient_sums.iter_mut().zip(gradient) {
            *sum += f64::from(*gradient);
        }
        totals.slope_dot_error
    }
}
