//! Epochs of a predictor that all items share: threads share the instances of a batch.
//!
//! An instance is predicted, judged and sent back while it is in cache. Instances are summed in
//! groups that do not depend on the number of threads, groups in their order; every worker then
//! takes the same step for itself.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::FusedContext;
use super::super::barrier::Barrier;
use super::super::column_block::PartialSums;
use super::hidden::HiddenLayers;
use super::items::{self, ItemFeatures};
use super::predictions::{self, BackwardCoefficients};
use super::{EpochSums, FusedNetwork};
use crate::predict::Predictor;
use crate::simd::F32_LANES;

/// Groups of the instances of a batch.
const INSTANCE_GROUPS: usize = 16;

/// What all workers of an epoch know.
struct LongParallelEpoch<'a> {
    setup: &'a FusedContext<'a>,
    items: Option<&'a ItemFeatures>,
    order: &'a [usize],
    evaluated_rows: &'a [usize],
    workers: usize,
    /// Steps before the epoch.
    steps: i32,
    barrier: Barrier,
    stop: AtomicBool,
    gradients: PartialSums,
    losses: PartialSums,
    evaluation_sums: PartialSums,
}

/// One worker's network and room.
struct LongWorkerScratch {
    body: HiddenLayers,
    values: Vec<f32>,
    sums: Vec<f64>,
    scratch: items::ItemScratch,
}

impl FusedNetwork<'_> {
    /// An epoch in the long shape.
    pub(super) fn long_epoch(&mut self, order: &[usize], evaluated_rows: &[usize]) -> EpochSums {
        let setup = &self.setup;
        let batch = setup.prepared.settings().batch_size;
        let workers = setup
            .workers_for(batch * setup.num_costs())
            .min(INSTANCE_GROUPS);
        let body = HiddenLayers::new(self.network.clone(), std::mem::take(&mut self.moments));
        let scratch = LongWorkerScratch::new(setup, body);
        let epoch = LongParallelEpoch {
            setup,
            items: self.items.as_ref(),
            order,
            evaluated_rows,
            workers,
            steps: self.steps,
            barrier: Barrier::new(workers),
            stop: AtomicBool::new(false),
            gradients: PartialSums::new(INSTANCE_GROUPS, scratch.sums.len()),
            losses: PartialSums::new(1, order.len()),
            evaluation_sums: PartialSums::new(1, evaluated_rows.len()),
        };
        let mut desks: Vec<LongWorkerScratch> = (1..workers)
            .map(|_| LongWorkerScratch::new(setup, scratch.body.clone()))
            .collect();
        desks.insert(0, scratch);
        setup
            .threads(workers)
            .run_on_each(desks.iter_mut().collect(), |worker, scratch| {
                epoch.run_worker(worker, scratch)
            });
        let body = desks.swap_remove(0).body;
        (self.network, self.moments) = (body.network, body.moments);
        self.steps += order.len().div_ceil(batch) as i32;
        let mut sums = [vec![0.0; order.len()], vec![0.0; evaluated_rows.len()]];
        epoch.losses.sum_groups(&mut sums[0]);
        epoch.evaluation_sums.sum_groups(&mut sums[1]);
        let interrupted =
            epoch.stop.load(Ordering::Relaxed) && sums[0].iter().all(|sum| sum.is_finite());
        (!interrupted).then_some(sums)
    }
}

impl LongParallelEpoch<'_> {
    /// What one worker does.
    fn run_worker(&self, worker: usize, scratch: &mut LongWorkerScratch) {
        let _guard = self.barrier.guard();
        let batch = self.setup.prepared.settings().batch_size;
        let groups = even_part(worker, self.workers, INSTANCE_GROUPS);
        scratch.load_parameters(self.setup);
        for (step, rows) in self.order.chunks(batch).enumerate() {
            for group in groups.clone() {
                self.group(scratch, (step * batch, rows), group);
            }
            if worker == 0 && self.setup.interrupted() {
                self.stop.store(true, Ordering::Relaxed);
            }
            self.barrier.wait();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.gradients.sum_groups(&mut scratch.sums);
            scratch
                .body
                .gradient
                .iter_mut()
                .zip(&scratch.sums)
                .for_each(|(gradient, sum)| *gradient = *sum as f32);
            scratch.body.step(
                self.setup.simd,
                &self.setup.adam(self.steps + 1 + step as i32),
            );
            scratch.load_parameters(self.setup);
            self.barrier.wait();
        }
        for place in even_part(worker, self.workers, self.evaluated_rows.len()) {
            let errors = match self.items {
                Some(items) => {
                    items.errors(self.setup, self.evaluated_rows[place], &mut scratch.scratch)
                }
                None => scratch.predict(self.setup, self.evaluated_rows[place]).1[0],
            };
            self.evaluation_sums.store(0, place, [errors].into_iter());
        }
    }

    /// The gradient of the rows of a group; the losses of a batch begin at a place.
    fn group(
        &self,
        scratch: &mut LongWorkerScratch,
        (place, rows): (usize, &[usize]),
        group: usize,
    ) {
        scratch.sums.fill(0.0);
        for i in even_part(group, INSTANCE_GROUPS, rows.len()) {
            let row = (rows[i], rows.len());
            let errors = match self.items {
                Some(items) => {
                    items.backward(self.setup, row, &mut scratch.scratch, &mut scratch.sums)
                }
                None => scratch.backward(self.setup, row),
            };
            self.losses.store(0, place + i, [errors].into_iter());
            if !errors.is_finite() {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        self.gradients.store(group, 0, scratch.sums.iter().copied());
    }
}

/// One of so many even parts of a range.
fn even_part(part: usize, parts: usize, len: usize) -> Range<usize> {
    part * len / parts..(part + 1) * len / parts
}

impl LongWorkerScratch {
    fn new(setup: &FusedContext<'_>, body: HiddenLayers) -> Self {
        let sums = vec![0.0; body.gradient.len()];
        let scratch = items::ItemScratch::new(setup.prepared.features.names().len());
        Self {
            body,
            values: vec![0.0; setup.maps.len() * F32_LANES],
            sums,
            scratch,
        }
    }

    /// Takes the parameters over into the room of a linear predictor.
    fn load_parameters(&mut self, setup: &FusedContext<'_>) {
        if self.body.network.is_linear() {
            self.scratch
                .load_parameters(setup, self.body.network.parameters());
        }
    }

    /// Predicts and judges an instance.
    fn predict(
        &mut self,
        setup: &FusedContext<'_>,
        row: usize,
    ) -> (super::super::row_constants::PredictionNorm, [f64; 2]) {
        let HiddenLayers { network, tape, .. } = &mut self.body;
        network.predict(setup.prepared.features.instance(row), tape);
        self.values[..setup.num_costs()].copy_from_slice(tape.outputs());
        self.values[setup.num_costs()..].fill(0.0);
        let square = predictions::scale_and_norm(setup, (row, 0), &mut self.values);
        let length = setup.row_constants.norm_from_square(row, square);
        (
            length,
            predictions::evaluate(setup, (row, 0), &mut self.values, length),
        )
    }

    /// Adds the gradient of an instance to the sums; returns the sum of its errors.
    fn backward(&mut self, setup: &FusedContext<'_>, (row, batch): (usize, usize)) -> f64 {
        let (length, found) = self.predict(setup, row);
        predictions::backward(
            setup,
            (row, 0),
            &mut self.values,
            BackwardCoefficients::new(setup, (row, batch), length, found),
        );
        let HiddenLayers {
            network,
            tape,
            gradient,
            ..
        } = &mut self.body;
        let blame = &self.values[..setup.num_costs()];
        network.backpropagate(setup.prepared.features.instance(row), tape, blame, gradient);
        self.sums
            .iter_mut()
            .zip(gradient)
            .for_each(|(sum, gradient)| *sum += f64::from(*gradient));
        found[0]
    }
}
