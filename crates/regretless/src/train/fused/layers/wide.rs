//! Epochs of a network whose last layer has an output for every cost: threads share these outputs,
//! block by block.
//!
//! A step: every worker runs the hidden layers for itself, predicts its blocks, and meets the
//! others for the lengths of the predictions, then for their sums; each block then turns into its
//! gradient, leaves its part of what the hidden layers are blamed for, and takes its Adam step. The
//! hidden layers follow, again in every worker.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::FusedContext;
use super::super::adam::{AdamCoefficients, step_row};
use super::super::barrier::Barrier;
use super::super::column_block::PartialSums;
use super::super::row_constants::PredictionNorm;
use super::hidden::HiddenLayers;
use super::predictions::{self, BackwardCoefficients};
use super::{EpochSums, FusedNetwork};
use crate::predict::matmul::{MatrixView, MatrixViewMut, multiply};
use crate::predict::{Network, Predictor};
use crate::simd::F32_LANES;

/// Tiles of outputs whose weights and their gradient stay in cache.
const TILES_PER_BLOCK: usize = 8;
/// Most groups of blocks.
const MAX_BLOCK_GROUPS: usize = 16;
/// Rows judged at a time outside training.
const EVALUATION_ROWS_PER_CHUNK: usize = 32;

/// What one worker owns: blocks of the last layer, one after the other, and hidden layers for
/// itself.
struct WideColumnBlock<'a> {
    hidden: Option<HiddenLayers>,
    groups: Range<usize>,
    /// Weights and biases, each with running means of gradients and of their squares.
    weights: [&'a mut [f32]; 3],
    biases: [&'a mut [f32]; 3],
    /// Room for the predictions of each block, one row after the other.
    predictions: &'a mut [f32],
}

/// One block at work.
struct OutputBlock<'b> {
    group: usize,
    /// Number of its first tile, and of all its tiles.
    first: usize,
    tiles: usize,
    weights: [&'b mut [f32]; 3],
    biases: [&'b mut [f32]; 3],
    predictions: &'b mut [f32],
}

/// One worker's room.
#[derive(Default)]
struct WideWorkerScratch {
    /// Features of the rows of a step, and what the hidden layers make of them.
    features: Vec<f32>,
    activated: Vec<f32>,
    norms: Vec<PredictionNorm>,
    /// Sums of the rows of a step, over a group and over all.
    partial: Vec<f64>,
    totals: Vec<f64>,
    gradient: Vec<f32>,
    bias_gradient: Vec<f32>,
    /// What the activated rows are blamed for, by a group and by all.
    blame: Vec<f32>,
    blames: Vec<f64>,
}

/// What all workers of an epoch know.
struct WideParallelEpoch<'a> {
    setup: &'a FusedContext<'a>,
    order: &'a [usize],
    evaluated_rows: &'a [usize],
    /// Ranges of tiles.
    groups: &'a [Range<usize>],
    /// Inputs of the last layer.
    inputs: usize,
    steps: i32,
    barrier: Barrier,
    stop: AtomicBool,
    squares: PartialSums,
    rows: PartialSums,
    blames: PartialSums,
    losses: PartialSums,
    evaluation_sums: PartialSums,
}

/// Ranges of tiles, whole blocks each, that are summed by themselves.
fn groups(tiles: usize) -> Vec<Range<usize>> {
    let blocks = tiles.div_ceil(TILES_PER_BLOCK);
    let count = blocks.min(MAX_BLOCK_GROUPS);
    let start = |g: usize| (g * blocks / count * TILES_PER_BLOCK).min(tiles);
    (0..count).map(|g| start(g)..start(g + 1)).collect()
}

/// Parts of three rows.
fn cut<'b>(all: &'b mut [&mut [f32]; 3], range: Range<usize>) -> [&'b mut [f32]; 3] {
    all.each_mut().map(|part| &mut part[range.clone()])
}

/// Takes so many numbers off the front of each row.
fn take<'b, const N: usize>(rest: &mut [&'b mut [f32]; N], count: usize) -> [&'b mut [f32]; N] {
    rest.each_mut().map(|rest| {
        rest.split_off_mut(..count.min(rest.len()))
            .unwrap_or_default()
    })
}

impl FusedNetwork<'_> {
    /// An epoch in the wide shape.
    pub(super) fn wide_epoch(&mut self, order: &[usize], evaluated_rows: &[usize]) -> EpochSums {
        let Self {
            setup,
            network,
            moments: [means, squares],
            predictions,
            ..
        } = self;
        let sizes = network.sizes().to_vec();
        let (inputs, costs, batch) = (
            sizes[sizes.len() - 2],
            sizes[sizes.len() - 1],
            setup.prepared.settings().batch_size,
        );
        let (groups, rows) = (
            groups(setup.maps.len()),
            batch.min(order.len()).max(EVALUATION_ROWS_PER_CHUNK),
        );
        let workers = setup.workers_for(rows * inputs * costs).min(groups.len());
        let epoch = WideParallelEpoch::new(
            setup,
            (order, evaluated_rows),
            (&groups, inputs),
            (workers, self.steps),
        );
        let before = network.parameters().len() - costs * (inputs + 1);
        let hidden_sizes = &sizes[..sizes.len() - 1];
        let hidden = Network::with_parameters(
            hidden_sizes.to_vec(),
            network.parameters()[..before].to_vec(),
        )
        .map(|hidden| {
            HiddenLayers::new(
                hidden,
                [means[..before].to_vec(), squares[..before].to_vec()],
            )
        });
        predictions.resize(setup.maps.len() * F32_LANES * rows, 0.0);
        let mut weights = [network.parameters_mut(), means, squares].map(|all| &mut all[before..]);
        let mut biases = take(&mut weights, costs * inputs);
        std::mem::swap(&mut weights, &mut biases);
        let mut rest = [predictions.as_mut_slice()];
        let shares = (0..workers).map(|worker| {
            let own = worker * groups.len() / workers..(worker + 1) * groups.len() / workers;
            let tiles = groups[own.end - 1].end - groups[own.start].start;
            let [predictions] = take(&mut rest, tiles * F32_LANES * rows);
            let (weights, biases) = (
                take(&mut weights, tiles * F32_LANES * inputs),
                take(&mut biases, tiles * F32_LANES),
            );
            WideColumnBlock {
                hidden: hidden.clone(),
                groups: own,
                weights,
                biases,
                predictions,
            }
        });
        let mut shares: Vec<WideColumnBlock<'_>> = shares.collect();
        setup
            .threads(workers)
            .run_on_each(shares.iter_mut().collect(), |worker, share| {
                epoch.run_worker(worker, share)
            });
        let hidden = shares.swap_remove(0).hidden;
        drop(shares);
        let sums = epoch.sums();
        self.steps += order.len().div_ceil(batch) as i32;
        if let Some(HiddenLayers {
            network, moments, ..
        }) = hidden
        {
            self.network.parameters_mut()[..before].copy_from_slice(network.parameters());
            self.moments
                .iter_mut()
                .zip(moments)
                .for_each(|(all, own)| all[..before].copy_from_slice(&own));
        }
        sums
    }
}

impl WideColumnBlock<'_> {
    /// Calls `work` with each block; a sheet has room for so many rows.
    fn blocks(
        &mut self,
        epoch: &WideParallelEpoch<'_>,
        mut work: impl FnMut(&mut OutputBlock<'_>),
    ) {
        let begin = epoch.groups[self.groups.start].start;
        let rows = self.predictions.len() / (epoch.groups[self.groups.end - 1].end - begin);
        for group in self.groups.clone() {
            let range = epoch.groups[group].clone();
            for first in range.clone().step_by(TILES_PER_BLOCK) {
                let tiles = (range.end - first).min(TILES_PER_BLOCK);
                let outputs = (first - begin) * F32_LANES
                    ..((first + tiles - begin) * F32_LANES).min(self.biases[0].len());
                let inputs = outputs.start * epoch.inputs..outputs.end * epoch.inputs;
                work(&mut OutputBlock {
                    group,
                    first,
                    tiles,
                    weights: cut(&mut self.weights, inputs),
                    biases: cut(&mut self.biases, outputs),
                    predictions: &mut self.predictions
                        [(first - begin) * rows..(first + tiles - begin) * rows],
                });
            }
        }
    }
}

impl OutputBlock<'_> {
    /// Numbers from one row of the sheet to the next.
    fn row_stride(&self) -> usize {
        self.tiles * F32_LANES
    }

    /// Predicts rows; adds the squares of their lengths.
    fn predict(
        &mut self,
        setup: &FusedContext<'_>,
        rows: &[usize],
        activated: &[f32],
        squares: &mut [f64],
    ) {
        let (row_stride, outputs) = (self.row_stride(), self.biases[0].len());
        for row in self
            .predictions
            .chunks_exact_mut(row_stride)
            .take(rows.len())
        {
            row[..outputs].copy_from_slice(self.biases[0]);
            row[outputs..].fill(0.0);
        }
        let inputs = activated.len() / rows.len();
        let weights = MatrixView::new(self.weights[0], outputs, inputs).transposed();
        let out = MatrixViewMut {
            values: self.predictions,
            row_stride,
            add: true,
        };
        multiply(MatrixView::new(activated, rows.len(), inputs), weights, out);
        for ((values, row), square) in self
            .predictions
            .chunks_exact_mut(row_stride)
            .zip(rows)
            .zip(squares)
        {
            *square += predictions::scale_and_norm(setup, (*row, self.first), values);
        }
    }

    /// Adds the sums of rows: errors first, then what the way back needs.
    fn evaluate(
        &mut self,
        setup: &FusedContext<'_>,
        rows: &[usize],
        norms: &[PredictionNorm],
        sums: &mut [f64],
    ) {
        let (errors, projection) = sums.split_at_mut(rows.len());
        let (row_stride, first) = (self.row_stride(), self.first);
        let values = self.predictions.chunks_exact_mut(row_stride);
        for (i, ((values, row), length)) in values.zip(rows).zip(norms).enumerate() {
            let found = predictions::evaluate(setup, (*row, first), values, *length);
            errors[i] += found[0];
            projection[i] += found[1];
        }
    }

    /// Turns predictions into their gradient, blames the activated rows, and takes a step.
    fn backward_and_step(
        &mut self,
        setup: &FusedContext<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
        adam: &AdamCoefficients,
    ) {
        let (row_stride, outputs, first) = (self.row_stride(), self.biases[0].len(), self.first);
        let (errors, projection) = scratch.totals.split_at(rows.len());
        for (i, (values, row)) in self
            .predictions
            .chunks_exact_mut(row_stride)
            .zip(rows)
            .enumerate()
        {
            let ways = BackwardCoefficients::new(
                setup,
                (*row, rows.len()),
                scratch.norms[i],
                [errors[i], projection[i]],
            );
            predictions::backward(setup, (*row, first), values, ways);
        }
        let inputs = scratch.activated.len() / rows.len();
        let gradient = MatrixView::part(self.predictions, [rows.len(), outputs], row_stride);
        if !scratch.blame.is_empty() {
            let weights = MatrixView::new(self.weights[0], outputs, inputs);
            multiply(
                gradient,
                weights,
                MatrixViewMut {
                    values: &mut scratch.blame,
                    row_stride: inputs,
                    add: true,
                },
            );
        }
        scratch.gradient.resize(outputs * inputs, 0.0);
        let out = MatrixViewMut {
            values: &mut scratch.gradient,
            row_stride: inputs,
            add: false,
        };
        multiply(
            gradient.transposed(),
            MatrixView::new(&scratch.activated, rows.len(), inputs),
            out,
        );
        scratch.bias_gradient.clear();
        scratch.bias_gradient.resize(outputs, 0.0);
        for values in self.predictions.chunks_exact(row_stride).take(rows.len()) {
            scratch
                .bias_gradient
                .iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
        }
        for (all, gradient) in [
            (&mut self.weights, &scratch.gradient),
            (&mut self.biases, &scratch.bias_gradient),
        ] {
            let [weights, means, squares] = all;
            step_row(setup.simd, weights, gradient, [means, squares], adam);
        }
    }
}

impl<'a> WideParallelEpoch<'a> {
    fn new(
        setup: &'a FusedContext<'a>,
        (order, evaluated_rows): (&'a [usize], &'a [usize]),
        (groups, inputs): (&'a [Range<usize>], usize),
        (workers, steps): (usize, i32),
    ) -> Self {
        let batch = setup
            .prepared
            .settings()
            .batch_size
            .max(EVALUATION_ROWS_PER_CHUNK);
        let slots = |width| PartialSums::new(groups.len(), width);
        let (barrier, stop) = (Barrier::new(workers), AtomicBool::new(false));
        let (squares, rows, blames) = (slots(batch), slots(2 * batch), slots(batch * inputs));
        let (losses, evaluation_sums) = (
            PartialSums::new(1, order.len()),
            PartialSums::new(1, evaluated_rows.len()),
        );
        Self {
            setup,
            order,
            evaluated_rows,
            groups,
            inputs,
            steps,
            barrier,
            stop,
            squares,
            rows,
            blames,
            losses,
            evaluation_sums,
        }
    }

    /// Sums of errors; none when the epoch was interrupted.
    fn sums(&self) -> EpochSums {
        let mut sums = [
            vec![0.0; self.order.len()],
            vec![0.0; self.evaluated_rows.len()],
        ];
        self.losses.sum_groups(&mut sums[0]);
        self.evaluation_sums.sum_groups(&mut sums[1]);
        let interrupted =
            self.stop.load(Ordering::Relaxed) && sums[0].iter().all(|sum| sum.is_finite());
        (!interrupted).then_some(sums)
    }

    /// What one worker does.
    fn run_worker(&self, worker: usize, share: &mut WideColumnBlock<'_>) {
        let _guard = self.barrier.guard();
        let mut scratch = WideWorkerScratch::default();
        let batch = self.setup.prepared.settings().batch_size;
        for (step, rows) in self.order.chunks(batch).enumerate() {
            if worker == 0 && self.setup.interrupted() {
                self.stop.store(true, Ordering::Relaxed);
            }
            self.predict_and_evaluate(share, rows, &mut scratch);
            let errors = &scratch.totals[..rows.len()];
            if worker == 0 {
                self.losses.store(0, step * batch, errors.iter().copied());
            }
            if self.stop.load(Ordering::Relaxed) || errors.iter().any(|sum| !sum.is_finite()) {
                return;
            }
            self.backward_and_step(
                share,
                rows,
                &mut scratch,
                &self.setup.adam(self.steps + 1 + step as i32),
            );
        }
        for (part, rows) in self
            .evaluated_rows
            .chunks(EVALUATION_ROWS_PER_CHUNK)
            .enumerate()
        {
            self.predict_and_evaluate(share, rows, &mut scratch);
            if worker == 0 {
                self.evaluation_sums.store(
                    0,
                    part * EVALUATION_ROWS_PER_CHUNK,
                    scratch.totals[..rows.len()].iter().copied(),
                );
            }
        }
    }

    /// Predicts and judges rows; leaves lengths and sums on the desk.
    fn predict_and_evaluate(
        &self,
        share: &mut WideColumnBlock<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
    ) {
        let setup = self.setup;
        scratch.features.clear();
        rows.iter().for_each(|row| {
            scratch
                .features
                .extend_from_slice(setup.prepared.features.instance(*row))
        });
        match &mut share.hidden {
            Some(hidden) => hidden.activate(&scratch.features, &mut scratch.activated),
            None => scratch.activated.clone_from(&scratch.features),
        }
        let WideWorkerScratch {
            activated,
            norms,
            partial,
            totals,
            ..
        } = scratch;
        self.group_sums(
            share,
            (rows.len(), partial),
            &self.squares,
            |block, squares| {
                block.predict(setup, rows, activated, squares);
            },
        );
        totals.clear();
        totals.resize(rows.len(), 0.0);
        self.squares.sum_groups(totals);
        norms.clear();
        norms.extend(
            rows.iter()
                .zip(&*totals)
                .map(|(row, square)| setup.row_constants.norm_from_square(*row, *square)),
        );
        self.group_sums(
            share,
            (2 * rows.len(), partial),
            &self.rows,
            |block, sums| {
                block.evaluate(setup, rows, norms, sums);
            },
        );
        totals.clear();
        totals.resize(2 * rows.len(), 0.0);
        self.rows.sum_groups(totals);
    }

    /// Sums over the blocks of each group, left for all workers, who meet afterwards.
    fn group_sums(
        &self,
        share: &mut WideColumnBlock<'_>,
        (count, partial): (usize, &mut Vec<f64>),
        slots: &PartialSums,
        mut work: impl FnMut(&mut OutputBlock<'_>, &mut [f64]),
    ) {
        partial.clear();
        partial.resize(count, 0.0);
        share.blocks(self, |block| {
            work(block, partial);
            if block.first + block.tiles == self.groups[block.group].end {
                slots.store(block.group, 0, partial.iter().copied());
                partial.fill(0.0);
            }
        });
        self.barrier.wait();
    }

    /// A step of all layers, the last one first.
    fn backward_and_step(
        &self,
        share: &mut WideColumnBlock<'_>,
        rows: &[usize],
        scratch: &mut WideWorkerScratch,
        adam: &AdamCoefficients,
    ) {
        let deep = share.hidden.is_some();
        scratch.blame.clear();
        scratch
            .blame
            .resize(if deep { scratch.activated.len() } else { 0 }, 0.0);
        share.blocks(self, |block| {
            block.backward_and_step(self.setup, rows, scratch, adam);
            if deep && block.first + block.tiles == self.groups[block.group].end {
                self.blames.store(
                    block.group,
                    0,
                    scratch.blame.iter().map(|blame| f64::from(*blame)),
                );
                scratch.blame.fill(0.0);
            }
        });
        self.barrier.wait();
        if let Some(hidden) = &mut share.hidden {
            scratch.blames.resize(scratch.blame.len(), 0.0);
            self.blames.sum_groups(&mut scratch.blames);
            scratch
                .blame
                .iter_mut()
                .zip(&scratch.blames)
                .for_each(|(blame, sum)| *blame = *sum as f32);
            hidden.backward(&scratch.features, &mut scratch.blame);
            hidden.step(self.setup.simd, adam);
        }
    }
}
