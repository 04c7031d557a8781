//! Kernels of a block of outputs of the last layer.
//!
//! The forward pass has the rows of a batch in lanes, so that weights are read as they are stored,
//! one row per output; sixteen outputs of sixteen rows are transposed when they are done. The
//! gradient of the weights has inputs in lanes: where a panel of it is complete, Adam steps these
//! weights while they and the gradient are in cache.

#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]
#![allow(
    unsafe_code,
    reason = "the innermost loops work on pointers; all lengths are checked before"
)]

use std::ops::Range;

use super::super::adam::{AdamBroadcast, AdamCoefficients};
use super::super::kernel::TileAffine;
use crate::simd::{AlignedF32x8, AlignedF32x16, F32_LANES, Lanes, SimdToken, dispatch_lanes};

/// Where registers hold so many vectors, panels are eight by two vectors, else four by one (forward
/// pass) and six by one (gradient).
const MIN_WIDE_REGISTERS: usize = 32;

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
    /// Row by row, each padded with zeros to a multiple of sixteen.
    padded: Vec<AlignedF32x16>,
    /// For each input the rows of the batch, padded with zeros to a multiple of sixteen.
    transposed: Vec<AlignedF32x16>,
}

impl BatchInputs {
    /// Copies rows of inputs.
    pub(super) fn load(&mut self, simd: SimdToken, values: &[f32], rows: usize) {
        let inputs = values.len() / rows;
        (self.rows, self.inputs) = (rows, inputs);
        let (input_vectors, row_vectors) = (inputs.div_ceil(F32_LANES), rows.div_ceil(F32_LANES));
        self.padded
            .resize(rows * input_vectors, AlignedF32x16::ZERO);
        self.transposed
            .resize(inputs * row_vectors, AlignedF32x16::ZERO);
        for (row, out) in values
            .chunks_exact(inputs)
            .zip(self.padded.chunks_exact_mut(input_vectors))
        {
            for (values, out) in row.chunks(F32_LANES).zip(out) {
                out.0[..values.len()].copy_from_slice(values);
                out.0[values.len()..].fill(0.0);
            }
        }
        let columns = self.transposed.chunks_exact_mut(inputs);
        for (values, out) in values.chunks(F32_LANES * inputs).zip(columns) {
            simd.load_transposed(values, values.len() / inputs, inputs, out);
        }
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
    let wide = V::REGISTERS >= MIN_WIDE_REGISTERS;
    for tile in 0..pass.output_maps.len() {
        let mut vector = 0;
        while vector < row_vectors {
            // SAFETY: tile and rows exist, by the assertion.
            unsafe {
                if wide && vector + 2 <= row_vectors {
                    forward_tile::<V, 8, 2>(token, pass, tile, vector);
                    vector += 2;
                } else {
                    forward_tile::<V, 4, 1>(token, pass, tile, vector);
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
        let full = outputs / R * R;
        for output in (0..full).step_by(R) {
            output_sums::<V, R, C>(token, weights, rows, inputs, output, &mut sums);
        }
        for output in full..outputs {
            output_sums::<V, 1, C>(token, weights, rows, inputs, output, &mut sums);
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

/// Sums of outputs `output` to `output + R` of a tile, before the bias, for `C` vectors of rows.
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
) {
    let mut sums = [[V::splat(token, 0.0); C]; R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let weights = weights.add(output * inputs);
        for k in 0..inputs {
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
    for r in 0..R {
        for c in 0..C {
            if let Some(out) = out[c][(output + r) * F32_LANES..].first_chunk_mut() {
                sums[r][c].store(out);
            }
        }
    }
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
            && pass.batch.padded.len() == rows * input_vectors
            && pass.output_gradient.len() >= (rows - 1) * pass.row_stride + outputs,
        "weights, rows and gradient must fit the block"
    );
    let adam = AdamBroadcast::new(V::simd(token), pass.adam);
    step_biases(V::simd(token), pass, &adam);
    let wide = V::REGISTERS >= MIN_WIDE_REGISTERS;
    let mut output = 0;
    while output < outputs {
        // SAFETY: the outputs exist, by the assertion.
        output += unsafe {
            if wide && output + 8 <= outputs {
                step_outputs::<V, 8>(token, pass, &adam, output)
            } else if !wide && output + 6 <= outputs {
                step_outputs::<V, 6>(token, pass, &adam, output)
            } else if output + 4 <= outputs {
                step_outputs::<V, 4>(token, pass, &adam, output)
            } else {
                step_outputs::<V, 1>(token, pass, &adam, output)
            }
        };
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
) -> usize {
    let input_vectors = pass.batch.inputs.div_ceil(F32_LANES);
    let wide = V::REGISTERS >= MIN_WIDE_REGISTERS;
    let mut vector = 0;
    while vector < input_vectors {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if wide && vector + 2 <= input_vectors {
                step_panel::<V, R, 2>(token, pass, adam, output, vector);
                vector += 2;
            } else {
                step_panel::<V, R, 1>(token, pass, adam, output, vector);
                vector += 1;
            }
        }
    }
    R
}

/// Steps the weights of `R` outputs and `C` vectors of inputs.
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
) {
    let (rows, inputs) = (pass.batch.rows, pass.batch.inputs);
    let input_vectors = inputs.div_ceil(F32_LANES);
    let mut sums = [[V::splat(token, 0.0); C]; R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut gradient = pass.output_gradient.as_ptr().add(output);
        let mut values = pass.batch.padded.as_ptr().add(vector);
        for _ in 0..rows {
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
            gradient = gradient.wrapping_add(pass.row_stride);
            values = values.wrapping_add(input_vectors);
        }
    }
    let simd = V::simd(token);
    for r in 0..R {
        for c in 0..C {
            let mut gradient = AlignedF32x16::ZERO;
            sums[r][c].store(&mut gradient.0);
            let first = (vector + c) * F32_LANES;
            let start = (output + r) * inputs + first;
            let range = start..start + (inputs - first).min(F32_LANES);
            adam.step_slices(
                simd,
                simd.load(&gradient.0),
                &mut pass.weights.values[range.clone()],
                &mut pass.weights.first[range.clone()],
                &mut pass.weights.second[range],
            );
        }
    }
}
