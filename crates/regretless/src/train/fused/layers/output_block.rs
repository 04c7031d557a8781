//! Kernels of a block of outputs of the last layer.
//!
//! The forward pass has the rows of a batch in lanes, so weights are read as they are stored, one
//! row per output; sixteen outputs of sixteen rows are transposed when they are done. The gradient
//! of the weights has inputs in lanes: when a panel of it is complete, Adam steps these weights
//! while they and the gradient are in cache. Panels are eight outputs by 32 rows (forward pass) and
//! four outputs by 64 inputs (gradient) with AVX-512, else six by sixteen.

#![allow(
    unsafe_code,
    reason = "the innermost loops work on pointers; all lengths are checked before"
)]

use std::ops::Range;

use super::super::adam::{AdamBroadcast, AdamCoefficients};
use super::super::tile_block::TileAffine;
use crate::simd::{
    AlignedF32x8, AlignedF32x16, F32_LANES, Lanes, SimdToken, dispatch_lanes, dispatch_simd,
};

/// Vectors of a panel of inputs.
const VECTORS_PER_INPUT_PANEL: usize = 4;

/// Parameters with Adam's first and second moments.
pub(super) struct AdamSlices<'a> {
    pub(super) values: &'a mut [f32],
    pub(super) first: &'a mut [f32],
    pub(super) second: &'a mut [f32],
}

impl<'a> AdamSlices<'a> {
    /// Removes the first `count` parameters and returns them; all, if there are fewer.
    pub(super) fn take_front(&mut self, count: usize) -> AdamSlices<'a> {
        AdamSlices {
            values: take_front(&mut self.values, count),
            first: take_front(&mut self.first, count),
            second: take_front(&mut self.second, count),
        }
    }

    pub(super) fn range(&mut self, range: Range<usize>) -> AdamSlices<'_> {
        AdamSlices {
            values: &mut self.values[range.clone()],
            first: &mut self.first[range.clone()],
            second: &mut self.second[range],
        }
    }
}

pub(super) fn take_front<'a>(slice: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    let count = count.min(slice.len());
    slice.split_off_mut(..count).unwrap_or_default()
}

/// Inputs of the last layer for the rows of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchInputs {
    pub(super) rows: usize,
    /// Inputs per row.
    pub(super) inputs: usize,
    /// Panels of four vectors of inputs: for each panel its part of every row; zeros beyond the
    /// last input. Rows of a panel are adjacent, since rows of 256 inputs would fall into few sets
    /// of the cache.
    panels: Vec<AlignedF32x16>,
    /// For each input the rows of the batch, padded with zeros to a multiple of sixteen.
    transposed: Vec<AlignedF32x16>,
}

impl BatchInputs {
    /// Copies rows of inputs.
    pub(super) fn load(&mut self, simd: SimdToken, values: &[f32], rows: usize) {
        load_inputs(simd, values, rows, self);
    }

    /// Where a vector of inputs of the first row is among the panels.
    #[inline(always)]
    fn panel_index(&self, vector: usize) -> usize {
        let panel = vector / VECTORS_PER_INPUT_PANEL;
        panel * self.rows * VECTORS_PER_INPUT_PANEL + vector % VECTORS_PER_INPUT_PANEL
    }
}

dispatch_simd! {
    load_inputs = load_inputs_body [] (values: &[f32], rows: usize, out: &mut BatchInputs)
}

#[inline(always)]
fn load_inputs_body(simd: SimdToken, values: &[f32], rows: usize, out: &mut BatchInputs) {
    let inputs = values.len() / rows;
    // Panels of rows for the weights' gradient, and columns for the forward pass.
    (out.rows, out.inputs) = (rows, inputs);
    let (input_vectors, row_vectors) = (inputs.div_ceil(F32_LANES), rows.div_ceil(F32_LANES));
    let panels = input_vectors.div_ceil(VECTORS_PER_INPUT_PANEL);
    out.panels.clear();
    out.panels
        .resize(panels * rows * VECTORS_PER_INPUT_PANEL, AlignedF32x16::ZERO);
    out.transposed
        .resize(inputs * row_vectors, AlignedF32x16::ZERO);
    for row in 0..rows {
        for vector in 0..input_vectors {
            let first = vector * F32_LANES;
            let values = &values[row * inputs + first..][..(inputs - first).min(F32_LANES)];
            let index = out.panel_index(vector) + row * VECTORS_PER_INPUT_PANEL;
            match values.first_chunk() {
                Some(full) => simd.load(full),
                None => simd.load_partial(values),
            }
            .store(&mut out.panels[index]);
        }
    }
    for vector in 0..row_vectors {
        let first = vector * F32_LANES;
        let count = (rows - first).min(F32_LANES);
        let columns = &mut out.transposed[vector * inputs..][..inputs];
        simd.load_transposed(&values[first * inputs..], count, inputs, columns);
    }
}

/// The forward pass of consecutive tiles.
pub(super) struct BlockForward<'a> {
    pub(super) batch: &'a BatchInputs,
    /// One row per output; the last tile may have fewer than sixteen.
    pub(super) weights: &'a [f32],
    pub(super) biases: &'a [f32],
    pub(super) output_maps: &'a [TileAffine],
    /// Predicted costs; rows begin every `row_stride` values.
    pub(super) predictions: &'a mut [f32],
    pub(super) row_stride: usize,
    /// Sums of the squares of the predictions, per row.
    pub(super) squares: &'a mut [AlignedF32x8],
}

dispatch_lanes! {
    /// Predicts; adds to the squares.
    pub(super) forward = forward_body (pass: &mut BlockForward<'_>)
}

#[inline(always)]
fn forward_body<V: Lanes>(token: V::Token, pass: &mut BlockForward<'_>) {
    let (inputs, rows) = (pass.batch.inputs, pass.batch.rows);
    let row_vectors = rows.div_ceil(F32_LANES);
    assert!(
        pass.weights.len() == pass.biases.len() * inputs
            && pass.batch.transposed.len() == inputs * row_vectors
            && pass.biases.len().div_ceil(F32_LANES) == pass.output_maps.len()
            && pass.squares.len() >= rows
            && pass.predictions.len()
                >= (rows - 1) * pass.row_stride + pass.output_maps.len() * F32_LANES,
        "weights, rows and predictions must fit the block"
    );
    for tile in 0..pass.output_maps.len() {
        let mut vector = 0;
        while vector < row_vectors {
            // SAFETY: tile and rows exist, by the assertion.
            unsafe {
                if V::HAS_32_REGISTERS && vector + 2 <= row_vectors {
                    forward_tile::<V, 8, 2>(token, pass, tile, vector);
                    vector += 2;
                } else {
                    forward_tile::<V, 6, 1>(token, pass, tile, vector);
                    vector += 1;
                }
            }
        }
    }
}

/// Predicts a tile of `C` vectors of rows, `R` outputs at a time.
///
/// # Safety
/// Tile and rows must exist, and lengths must be as [`forward_body`] asserts.
#[inline(always)]
unsafe fn forward_tile<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    pass: &mut BlockForward<'_>,
    tile: usize,
    vector: usize,
) {
    let inputs = pass.batch.inputs;
    let outputs = (pass.biases.len() - tile * F32_LANES).min(F32_LANES);
    let mut sums = [[0.0; F32_LANES * F32_LANES]; C];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let weights = pass.weights.as_ptr().add(tile * F32_LANES * inputs);
        let rows = pass.batch.transposed.as_ptr().add(vector * inputs);
        let mut output = 0;
        while output < outputs {
            let left = outputs - output;
            // Eight outputs fit into 32 registers, six into 16; of eight that are left, two times
            // four is better than six and two.
            output += if left >= R && (R == 8 || left != 8) {
                output_sums::<V, R, C>(token, weights, rows, inputs, output, &mut sums)
            } else if left >= 4 {
                output_sums::<V, 4, C>(token, weights, rows, inputs, output, &mut sums)
            } else if left >= 2 {
                output_sums::<V, 2, C>(token, weights, rows, inputs, output, &mut sums)
            } else {
                output_sums::<V, 1, C>(token, weights, rows, inputs, output, &mut sums)
            };
        }
    }
    let simd = V::simd(token);
    let map = &pass.output_maps[tile];
    let (scale, offset) = (simd.load(&map.scale.0), simd.load(&map.offset.0));
    let bias = simd.load_partial(&pass.biases[tile * F32_LANES..][..outputs]);
    for c in 0..C {
        let mut columns = [AlignedF32x16::ZERO; F32_LANES];
        simd.load_transposed(&sums[c], F32_LANES, F32_LANES, &mut columns);
        let first = (vector + c) * F32_LANES;
        for i in 0..(pass.batch.rows - first).min(F32_LANES) {
            let start = (first + i) * pass.row_stride + tile * F32_LANES;
            let output = bias.add(simd.load(&columns[i].0));
            let predicted = output.mul_add(scale, offset);
            predicted.add_product_to(predicted, &mut pass.squares[first + i]);
            if let Some(out) = pass.predictions[start..].first_chunk_mut() {
                predicted.store_unaligned(out);
            }
        }
    }
}

/// Sums of outputs `output` to `output + R` of a tile, before the bias, for `C` vectors of rows;
/// returns `R`.
///
/// # Safety
/// The outputs must exist; `weights` must point to those of the tile, `rows` to the inputs of `C`
/// vectors of rows.
#[inline(always)]
unsafe fn output_sums<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    weights: *const f32,
    rows: *const AlignedF32x16,
    inputs: usize,
    output: usize,
    out: &mut [[f32; F32_LANES * F32_LANES]; C],
) -> usize {
    let mut sums = [[V::splat(token, 0.0); C]; R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let weights = weights.add(output * inputs);
        for first in (0..inputs).step_by(F32_LANES) {
            for r in 0..R {
                V::simd(token).prefetch(weights, (R + r) * inputs + first);
            }
            for k in first..(first + F32_LANES).min(inputs) {
                let mut vectors = [V::splat(token, 0.0); C];
                for c in 0..C {
                    vectors[c] = V::load(token, &(*rows.add(c * inputs + k)).0);
                }
                for r in 0..R {
                    let weight = V::splat(token, *weights.add(r * inputs + k));
                    for c in 0..C {
                        sums[r][c] = vectors[c].mul_add(weight, sums[r][c]);
                    }
                }
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            if let Some(out) = out[c][(output + r) * F32_LANES..].first_chunk_mut() {
                sums[r][c].store(out);
            }
        }
    }
    R
}

/// An Adam step of all weights and biases of a block.
pub(super) struct BlockStep<'a> {
    pub(super) batch: &'a BatchInputs,
    /// The gradient of the outputs; rows begin every `row_stride` values.
    pub(super) output_gradient: &'a [f32],
    pub(super) row_stride: usize,
    /// One row per output.
    pub(super) weights: AdamSlices<'a>,
    pub(super) biases: AdamSlices<'a>,
    pub(super) adam: &'a AdamCoefficients,
}

dispatch_lanes! {
    /// Steps.
    pub(super) step = step_body (pass: &mut BlockStep<'_>)
}

#[inline(always)]
fn step_body<V: Lanes>(token: V::Token, pass: &mut BlockStep<'_>) {
    let (inputs, rows) = (pass.batch.inputs, pass.batch.rows);
    let outputs = pass.biases.values.len();
    let input_vectors = inputs.div_ceil(F32_LANES);
    assert!(
        pass.weights.values.len() == outputs * inputs
            && pass.weights.first.len() == outputs * inputs
            && pass.weights.second.len() == outputs * inputs
            && pass.batch.panels.len() >= rows * input_vectors
            && pass.output_gradient.len() >= (rows - 1) * pass.row_stride + outputs,
        "weights, rows and gradient must fit the block"
    );
    let adam = AdamBroadcast::new(V::simd(token), pass.adam);
    step_biases(V::simd(token), pass, &adam);
    let mut pending = PendingPanel::default();
    let mut output = 0;
    while output < outputs {
        let left = outputs - output;
        // SAFETY: the outputs exist, by the assertion.
        output += unsafe {
            if !V::HAS_32_REGISTERS && left >= 6 {
                step_outputs::<V, 6>(token, pass, &adam, output, &mut pending)
            } else if left >= 4 {
                step_outputs::<V, 4>(token, pass, &adam, output, &mut pending)
            } else {
                step_outputs::<V, 1>(token, pass, &adam, output, &mut pending)
            }
        };
    }
    for vector in 0..pending.count {
        pending.step(V::simd(token), pass, &adam, vector);
    }
}

/// Vectors of the largest panel of gradients.
const VECTORS_PER_PANEL: usize = 16;

/// A panel of gradients whose weights have not taken their step. Adam's square roots and divisions
/// run while the multiply-adds of the next panel do: 5.7 µs for 128 outputs of 64 inputs and 32
/// rows, 8.0 µs one after the other (AVX-512; with AVX2, which has too few registers for both,
/// nothing was gained).
struct PendingPanel {
    count: usize,
    gradient: [AlignedF32x16; VECTORS_PER_PANEL],
    /// The first weight of each vector.
    start: [usize; VECTORS_PER_PANEL],
    /// Weights of each vector.
    len: [usize; VECTORS_PER_PANEL],
}

impl Default for PendingPanel {
    fn default() -> Self {
        Self {
            count: 0,
            gradient: [AlignedF32x16::ZERO; VECTORS_PER_PANEL],
            start: [0; VECTORS_PER_PANEL],
            len: [0; VECTORS_PER_PANEL],
        }
    }
}

impl PendingPanel {
    /// Steps the weights of a vector.
    #[inline(always)]
    fn step(&self, simd: SimdToken, pass: &mut BlockStep<'_>, adam: &AdamBroadcast, vector: usize) {
        let range = self.start[vector]..self.start[vector] + self.len[vector];
        adam.step_slices(
            simd,
            simd.load(&self.gradient[vector].0),
            &mut pass.weights.values[range.clone()],
            &mut pass.weights.first[range.clone()],
            &mut pass.weights.second[range],
        );
    }
}

#[inline(always)]
fn step_biases(simd: SimdToken, pass: &mut BlockStep<'_>, adam: &AdamBroadcast) {
    let outputs = pass.biases.values.len();
    for first in (0..outputs).step_by(F32_LANES) {
        let count = (outputs - first).min(F32_LANES);
        let mut gradient = simd.splat(0.0);
        for row in 0..pass.batch.rows {
            let values = &pass.output_gradient[row * pass.row_stride + first..][..count];
            gradient = gradient.add(match values.first_chunk() {
                Some(full) => simd.load(full),
                None => simd.load_partial(values),
            });
        }
        let range = first..first + count;
        adam.step_slices(
            simd,
            gradient,
            &mut pass.biases.values[range.clone()],
            &mut pass.biases.first[range.clone()],
            &mut pass.biases.second[range],
        );
    }
}

/// Steps all weights of `R` outputs; returns `R`.
///
/// # Safety
/// The outputs must exist, and lengths must be as [`step_body`] asserts.
#[inline(always)]
unsafe fn step_outputs<V: Lanes, const R: usize>(
    token: V::Token,
    pass: &mut BlockStep<'_>,
    adam: &AdamBroadcast,
    output: usize,
    pending: &mut PendingPanel,
) -> usize {
    let input_vectors = pass.batch.inputs.div_ceil(F32_LANES);
    let mut vector = 0;
    while vector < input_vectors {
        let left = input_vectors - vector;
        // SAFETY: guaranteed by the caller.
        vector += unsafe {
            if V::HAS_32_REGISTERS && left >= 4 {
                step_panel::<V, R, 4>(token, pass, adam, output, vector, pending)
            } else {
                step_panel::<V, R, 1>(token, pass, adam, output, vector, pending)
            }
        };
    }
    R
}

/// The gradient of the weights of `R` outputs and `C` vectors of inputs, while the weights of the
/// pending panel step; it then is the pending one. Returns `C`.
///
/// # Safety
/// Outputs and inputs must exist, and lengths must be as [`step_body`] asserts.
#[inline(always)]
unsafe fn step_panel<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    pass: &mut BlockStep<'_>,
    adam: &AdamBroadcast,
    output: usize,
    vector: usize,
    pending: &mut PendingPanel,
) -> usize {
    let (rows, inputs) = (pass.batch.rows, pass.batch.inputs);
    let mut sums = [[V::splat(token, 0.0); C]; R];
    let mut gradient = pass.output_gradient.as_ptr().wrapping_add(output);
    let panels = pass.batch.panels.as_ptr();
    let mut values = panels.wrapping_add(pass.batch.panel_index(vector));
    for r in 0..R {
        for c in 0..C {
            // Of the next outputs, which step after all inputs of these.
            let next = (output + R + r) * inputs + (vector + c) * F32_LANES;
            V::simd(token).prefetch(pass.weights.first.as_ptr(), next);
            V::simd(token).prefetch(pass.weights.second.as_ptr(), next);
        }
    }
    // Without registers for both, the weights of this panel step at its end.
    let parts = if V::HAS_32_REGISTERS {
        pending.count.max(1)
    } else {
        1
    };
    let mut row = 0;
    for part in 0..parts {
        if part < pending.count {
            pending.step(V::simd(token), pass, adam, part);
        }
        let end = rows * (part + 1) / parts;
        while row < end {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let mut vectors = [V::splat(token, 0.0); C];
                for c in 0..C {
                    vectors[c] = V::load(token, &(*values.add(c)).0);
                }
                for r in 0..R {
                    let factor = V::splat(token, *gradient.add(r));
                    for c in 0..C {
                        sums[r][c] = vectors[c].mul_add(factor, sums[r][c]);
                    }
                }
            }
            gradient = gradient.wrapping_add(pass.row_stride);
            values = values.wrapping_add(VECTORS_PER_INPUT_PANEL);
            row += 1;
        }
    }
    pending.count = R * C;
    for r in 0..R {
        for c in 0..C {
            let (i, first) = (r * C + c, (vector + c) * F32_LANES);
            sums[r][c].store(&mut pending.gradient[i].0);
            pending.start[i] = (output + r) * inputs + first;
            pending.len[i] = (inputs - first).min(F32_LANES);
        }
    }
    if !V::HAS_32_REGISTERS {
        for part in 0..R * C {
            pending.step(V::simd(token), pass, adam, part);
        }
        pending.count = 0;
    }
    C
}
