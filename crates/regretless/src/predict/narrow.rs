//! Layers with few inputs and not too many outputs: the linear predictors of most benchmarks.
//!
//! A general matrix product packs its operands into memory of its own first; with five features that takes longer than
//! the product. Here weights are turned into one row per input, kept from step to step, and every sum runs
//! along outputs, inputs in their order.

/// Inputs up to which a layer is narrow.
const MOST_INPUTS: usize = 16;
/// Outputs for which rows stay in the nearest cache and are worth the turning.
const OUTPUTS: std::ops::RangeInclusive<usize> = 8..=1024;

/// Whether a layer is narrow.
pub(super) fn fits(inputs: usize, outputs: usize) -> bool {
    inputs <= MOST_INPUTS && OUTPUTS.contains(&outputs)
}

/// Appends the outputs of rows of inputs.
pub(super) fn forward(
    (weights, biases): (&[f32], &[f32]),
    input: &[f32],
    turned: &mut Vec<f32>,
    output: &mut Vec<f32>,
) {
    let (inputs, outputs) = (weights.len() / biases.len(), biases.len());
    turned.resize(weights.len(), 0.0);
    for (place, own) in weights.chunks_exact(inputs).enumerate() {
        own.iter().enumerate().for_each(|(input, weight)| turned[input * outputs + place] = *weight);
    }
    for row in input.chunks_exact(inputs) {
        let first = output.len();
        output.extend_from_slice(biases);
        for (value, weights) in row.iter().zip(turned.chunks_exact(outputs)) {
            output[first..].iter_mut().zip(weights).for_each(|(out, weight)| *out += value * weight);
        }
    }
}

/// Writes the gradient of weights and biases, given that of the outputs.
pub(super) fn gradient(
    input: &[f32],
    output_gradient: &[f32],
    turned: &mut Vec<f32>,
    (weights, biases): (&mut [f32], &mut [f32]),
) {
    let (inputs, outputs) = (weights.len() / biases.len(), biases.len());
    turned.clear();
    turned.resize(weights.len(), 0.0);
    biases.fill(0.0);
    for (row, blame) in input.chunks_exact(inputs).zip(output_gradient.chunks_exact(outputs)) {
        for (value, sums) in row.iter().zip(turned.chunks_exact_mut(outputs)) {
            sums.iter_mut().zip(blame).for_each(|(sum, blame)| *sum += value * blame);
        }
        biases.iter_mut().zip(blame).for_each(|(bias, blame)| *bias += blame);
    }
    for (place, own) in weights.chunks_exact_mut(inputs).enumerate() {
        own.iter_mut().enumerate().for_each(|(input, weight)| *weight = turned[input * outputs + place]);
    }
}
