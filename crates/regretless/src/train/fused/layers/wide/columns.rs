//! What one worker owns of a wide last layer: consecutive blocks of outputs, evaluated one by one.

use std::ops::Range;

use super::super::super::FusedContext;
use super::super::super::adam::AdamCoefficients;
use super::super::super::row_constants::{PredictionNorm, RowTotals};
use super::super::hidden::HiddenLayers;
use super::super::output_block::{self, AdamSlices, BatchInputs, BlockForward, BlockStep};
use super::super::predictions::{self, BackwardCoefficients};
use super::WideParallelEpoch;
use crate::predict::matmul::{MatrixView, MatrixViewMut, multiply};
use crate::simd::{AlignedF32x8, F32_LANES};

/// Tiles of outputs whose weights and their gradient stay in cache.
pub(super) const TILES_PER_BLOCK: usize = 8;

/// What one worker owns: consecutive blocks of the last layer, and a copy of the hidden layers.
pub(super) struct WideWorkerColumns<'a> {
    pub(super) hidden: Option<HiddenLayers>,
    pub(super) groups: Range<usize>,
    pub(super) weights: AdamSlices<'a>,
    pub(super) biases: AdamSlices<'a>,
    /// Scratch for the predictions of each block, row by row.
    pub(super) predictions: &'a mut [f32],
}

/// One block of outputs of the last layer.
pub(super) struct OutputBlock<'b> {
    pub(super) group: usize,
    /// Number of its first tile.
    pub(super) first: usize,
    pub(super) tiles: usize,
    pub(super) weights: AdamSlices<'b>,
    pub(super) biases: AdamSlices<'b>,
    pub(super) predictions: &'b mut [f32],
}

impl WideWorkerColumns<'_> {
    /// Calls `work` with each block.
    pub(super) fn for_each_block(
        &mut self,
        epoch: &WideParallelEpoch<'_>,
        mut work: impl FnMut(&mut OutputBlock<'_>),
    ) {
        let begin = epoch.groups[self.groups.start].start;
        let end = epoch.groups[self.groups.end - 1].end;
        let values_per_tile = self.predictions.len() / (end - begin);
        for group in self.groups.clone() {
            let range = epoch.groups[group].clone();
            for first in range.clone().step_by(TILES_PER_BLOCK) {
                let tiles = (range.end - first).min(TILES_PER_BLOCK);
                let (start, end) = (first - begin, first + tiles - begin);
                let outputs = start * F32_LANES..(end * F32_LANES).min(self.biases.values.len());
                let inputs = outputs.start * epoch.inputs..outputs.end * epoch.inputs;
                work(&mut OutputBlock {
                    group,
                    first,
                    tiles,
                    weights: self.weights.range(inputs),
                    biases: self.biases.range(outputs),
                    predictions: &mut self.predictions
                        [start * values_per_tile..end * values_per_tile],
                });
            }
        }
    }
}

impl OutputBlock<'_> {
    /// Values from one row of predictions to the next.
    fn row_stride(&self) -> usize {
        self.tiles * F32_LANES
    }

    /// Prefetches the true costs of rows, of the block that begins `distance` tiles after this one.
    /// Rows are in random order, so the processor does not prefetch them by itself.
    pub(super) fn prefetch_costs(
        &self,
        context: &FusedContext<'_>,
        rows: &[usize],
        distance: usize,
    ) {
        for row in rows {
            predictions::prefetch_costs(context, *row, self.first + distance, TILES_PER_BLOCK);
        }
    }

    /// Predicts rows; adds the squares of their norms.
    pub(super) fn predict(
        &mut self,
        context: &FusedContext<'_>,
        batch: &BatchInputs,
        scratch: &mut Vec<AlignedF32x8>,
        squares: &mut [f64],
    ) {
        let row_stride = self.row_stride();
        let full_tiles = context
            .table
            .full_tiles()
            .clamp(self.first, self.first + self.tiles);
        // A partial tile is summed separately, as everywhere.
        for tiles in [self.first..full_tiles, full_tiles..self.first + self.tiles] {
            if tiles.is_empty() {
                continue;
            }
            scratch.clear();
            scratch.resize(batch.rows, AlignedF32x8::ZERO);
            let begin = (tiles.start - self.first) * F32_LANES;
            let end = ((tiles.end - self.first) * F32_LANES).min(self.biases.values.len());
            let mut pass = BlockForward {
                batch,
                weights: &self.weights.values[begin * batch.inputs..end * batch.inputs],
                biases: &self.biases.values[begin..end],
                output_maps: &context.output_maps[tiles],
                predictions: &mut self.predictions[begin..],
                row_stride,
                squares: scratch,
            };
            output_block::forward(context.simd, &mut pass);
            for (square, sums) in squares.iter_mut().zip(&*scratch) {
                *square += predictions::total(sums);
            }
        }
    }

    /// Adds the totals of rows: Σ slope · u of all rows first, then Σ slope · c.
    pub(super) fn evaluate(
        &mut self,
        context: &FusedContext<'_>,
        rows: &[usize],
        norms: &[PredictionNorm],
        sums: &mut [f64],
    ) {
        let (slope_dot_errors, slope_dot_costs) = sums.split_at_mut(rows.len());
        let (row_stride, first) = (self.row_stride(), self.first);
        let predicted_rows = self.predictions.chunks_exact_mut(row_stride);
        for (i, ((values, row), norm)) in predicted_rows.zip(rows).zip(norms).enumerate() {
            let totals = predictions::evaluate(context, *row, first, values, *norm);
            slope_dot_errors[i] += totals.slope_dot_error;
            slope_dot_costs[i] += totals.slope_dot_cost;
        }
    }

    /// Turns predictions into their gradient.
    pub(super) fn gradient(
        &mut self,
        context: &FusedContext<'_>,
        rows: &[usize],
        norms: &[PredictionNorm],
        totals: &[f64],
    ) {
        let (row_stride, first) = (self.row_stride(), self.first);
        let (slope_dot_errors, slope_dot_costs) = totals.split_at(rows.len());
        let predicted_rows = self.predictions.chunks_exact_mut(row_stride);
        for (i, (values, row)) in predicted_rows.zip(rows).enumerate() {
            let totals = RowTotals {
                slope_dot_error: slope_dot_errors[i],
                slope_dot_cost: slope_dot_costs[i],
            };
            let coefficients =
                BackwardCoefficients::new(context, *row, rows.len(), norms[i], totals);
            predictions::backward(context, *row, first, values, coefficients);
        }
    }

    /// [`Self::evaluate`] and [`Self::gradient`] at once, without normalization; returns whether
    /// all sums are finite.
    pub(super) fn evaluate_and_gradient(
        &mut self,
        context: &FusedContext<'_>,
        rows: &[usize],
        sums: &mut [f64],
    ) -> bool {
        let (row_stride, first) = (self.row_stride(), self.first);
        let norm = PredictionNorm::UNNORMALIZED;
        let predicted_rows = self.predictions.chunks_exact_mut(row_stride);
        let mut finite = true;
        for ((values, row), sum) in predicted_rows.zip(rows).zip(sums) {
            let coefficients =
                BackwardCoefficients::new(context, *row, rows.len(), norm, RowTotals::default());
            let loss_sum =
                predictions::evaluate_and_backward(context, *row, first, values, coefficients);
            finite &= loss_sum.is_finite();
            *sum += loss_sum;
        }
        finite
    }

    /// Given the gradient of the outputs: adds to the gradient of the activated rows, and takes a
    /// step.
    pub(super) fn backward_and_step(
        &mut self,
        context: &FusedContext<'_>,
        batch: &BatchInputs,
        hidden_gradient: &mut [f32],
        adam: &AdamCoefficients,
    ) {
        let (row_stride, outputs) = (self.row_stride(), self.biases.values.len());
        if !hidden_gradient.is_empty() {
            let gradient = MatrixView::part(self.predictions, batch.rows, outputs, row_stride);
            let weights = MatrixView::new(self.weights.values, outputs, batch.inputs);
            let out = MatrixViewMut {
                values: hidden_gradient,
                row_stride: batch.inputs,
                add: true,
            };
            multiply(gradient, weights, out);
        }
        let mut pass = BlockStep {
            batch,
            output_gradient: self.predictions,
            row_stride,
            weights: self.weights.range(0..outputs * batch.inputs),
            biases: self.biases.range(0..outputs),
            adam,
        };
        output_block::step(context.simd, &mut pass);
    }
}
