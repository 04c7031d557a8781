//! Dense networks: linear with bias, or with hidden layers and leaky ReLU between them.
//!
//! Parameters start uniform on ±1/√(inputs of the layer), weights before bias, layer by layer.
//! They are stored in one slice: each layer's weights (one row per output of the layer), then its
//! biases.

use super::Tape;
use super::matmul::{MatrixView, MatrixViewMut, multiply, weighted_row_sum};
use crate::random::{Purpose, RandomStream};
use crate::size_limits;

/// Slope of the activation below zero: the default of PyTorch.
pub(crate) const LEAKY_RELU_SLOPE: f32 = 0.01;
/// Fewer inputs do not fill the sixteen columns of a panel of the matrix product.
const MIN_PRODUCT_INPUTS: usize = 16;

/// A dense network; without hidden layers it is the linear predictor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Network {
    /// Features, hidden layers, outputs.
    sizes: Vec<usize>,
    parameters: Vec<f32>,
}

impl Network {
    /// A new network whose initial parameters depend on the seed only.
    pub fn new(features: usize, hidden: &[usize], outputs: usize, seed: u64) -> Self {
        let sizes = [&[features], hidden, &[outputs]].concat();
        let mut stream = RandomStream::new(Purpose::Parameters, seed, [0, 0]);
        let mut parameters = Vec::with_capacity(count(&sizes));
        for layer in sizes.windows(2) {
            // The usual bound of PyTorch's linear layers.
            let bound = 1.0 / (layer[0] as f64).sqrt();
            parameters.extend(
                (0..layer[1] * (layer[0] + 1)).map(|_| stream.uniform(-bound, bound) as f32),
            );
        }
        Self { sizes, parameters }
    }

    /// A network with these parameters; `None` when their number does not fit the sizes.
    pub fn with_parameters(sizes: Vec<usize>, parameters: Vec<f32>) -> Option<Self> {
        (sizes.len() >= 2 && size_limits::parameters(&sizes) == Some(parameters.len()))
            .then_some(Self { sizes, parameters })
    }

    /// Features, hidden layers, outputs.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Whether there is no hidden layer.
    pub fn is_linear(&self) -> bool {
        self.sizes.len() == 2
    }

    /// Adds the gradient of a linear network for one row of features, given the nonzero entries of
    /// its output gradient.
    pub fn add_sparse(
        &self,
        row: &[f32],
        entries: impl Iterator<Item = (usize, f32)>,
        gradient: &mut [f32],
    ) {
        debug_assert!(self.is_linear(), "hidden layers mix all outputs");
        let (weights, biases) = gradient.split_at_mut(self.num_outputs() * row.len());
        for (output, g) in entries {
            let output_weights = &mut weights[output * row.len()..][..row.len()];
            for (weight, feature) in output_weights.iter_mut().zip(row) {
                *weight += g * feature;
            }
            biases[output] += g;
        }
    }

    /// The parameters of the last layer, weights before biases.
    pub fn last_layer(&self) -> std::ops::Range<usize> {
        let layer = self.layer(self.sizes.len() - 2);
        layer.start..layer.start + layer.len()
    }

    /// Inputs, outputs and first parameter of one layer.
    fn layer(&self, depth: usize) -> DenseLayer {
        DenseLayer {
            inputs: self.sizes[depth],
            outputs: self.sizes[depth + 1],
            start: count(&self.sizes[..=depth]),
        }
    }
}

fn count(sizes: &[usize]) -> usize {
    sizes.windows(2).map(|pair| pair[1] * (pair[0] + 1)).sum()
}

#[derive(Debug, Clone, Copy)]
struct DenseLayer {
    inputs: usize,
    outputs: usize,
    start: usize,
}

impl DenseLayer {
    fn len(self) -> usize {
        self.outputs * (self.inputs + 1)
    }

    /// Weights and biases of this layer.
    fn split(self, parameters: &[f32]) -> (&[f32], &[f32]) {
        parameters[self.start..][..self.len()].split_at(self.outputs * self.inputs)
    }

    fn forward(self, parameters: &[f32], input: &[f32], output: &mut Vec<f32>) {
        let rows = input.len() / self.inputs;
        let (weights, biases) = self.split(parameters);
        let input = MatrixView::new(input, rows, self.inputs);
        let weights = MatrixView::new(weights, self.outputs, self.inputs);
        output.clear();
        if let [bias] = biases {
            // With one output the transposed product processes sixteen rows at once; the results
            // are the same.
            output.resize(rows, *bias);
            multiply(
                weights,
                input.transposed(),
                MatrixViewMut {
                    values: output,
                    row_stride: rows,
                    add: true,
                },
            );
        } else {
            for _ in 0..rows {
                output.extend_from_slice(biases);
            }
            multiply(
                input,
                weights.transposed(),
                MatrixViewMut {
                    values: output,
                    row_stride: self.outputs,
                    add: true,
                },
            );
        }
    }

    /// Gradient of this layer's parameters, given the gradient of its outputs.
    fn parameter_gradient(
        self,
        input: &[f32],
        output_gradient: &[f32],
        transposed: &mut Vec<f32>,
        gradient: &mut [f32],
    ) {
        let rows = input.len() / self.inputs;
        let (weights, biases) =
            gradient[self.start..][..self.len()].split_at_mut(self.outputs * self.inputs);
        let few_inputs = self.inputs < MIN_PRODUCT_INPUTS;
        if let ([bias], true) = (&mut *biases, few_inputs) {
            return weighted_row_sum(input, output_gradient, weights, bias);
        }
        let input = MatrixView::new(input, rows, self.inputs);
        let gradient = MatrixView::new(output_gradient, rows, self.outputs);
        if few_inputs && self.outputs >= MIN_PRODUCT_INPUTS {
            transposed.resize(weights.len(), 0.0);
            multiply(
                input.transposed(),
                gradient,
                MatrixViewMut {
                    values: transposed,
                    row_stride: self.outputs,
                    add: false,
                },
            );
            for (output, weights) in weights.chunks_exact_mut(self.inputs).enumerate() {
                for (input, weight) in weights.iter_mut().enumerate() {
                    *weight = transposed[input * self.outputs + output];
                }
            }
        } else {
            multiply(
                gradient.transposed(),
                input,
                MatrixViewMut {
                    values: weights,
                    row_stride: self.inputs,
                    add: false,
                },
            );
        }
        biases.fill(0.0);
        for row in output_gradient.chunks_exact(self.outputs) {
            for (bias, g) in biases.iter_mut().zip(row) {
                *bias += g;
            }
        }
    }

    /// Gradient of this layer's inputs before their activation; `activated` are the inputs after
    /// it.
    fn input_gradient(
        self,
        parameters: &[f32],
        activated: &[f32],
        output_gradient: &[f32],
        input_gradient: &mut Vec<f32>,
    ) {
        let rows = activated.len() / self.inputs;
        let (weights, _) = self.split(parameters);
        input_gradient.resize(activated.len(), 0.0);
        let weights = MatrixView::new(weights, self.outputs, self.inputs);
        multiply(
            MatrixView::new(output_gradient, rows, self.outputs),
            weights,
            MatrixViewMut {
                values: input_gradient,
                row_stride: self.inputs,
                add: false,
            },
        );
        for (g, a) in input_gradient.iter_mut().zip(activated) {
            // The derivative at the activated value: leaky ReLU keeps the sign, so the input is not
            // needed.
            *g *= if *a > 0.0 { 1.0 } else { LEAKY_RELU_SLOPE };
        }
    }
}

/// Forward and backward pass.
impl Network {
    /// Features per row.
    pub fn num_features(&self) -> usize {
        self.sizes[0]
    }

    /// Outputs per row.
    pub fn num_outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Predicts rows of features; the outputs are the last entry of the tape.
    pub fn predict(&self, rows: &[f32], tape: &mut Tape) {
        let last = self.sizes.len() - 2;
        tape.layers.resize_with(last + 1, Vec::new);
        for depth in 0..=last {
            let layer = self.layer(depth);
            let (before, after) = tape.layers.split_at_mut(depth);
            let input = before.last().map_or(rows, Vec::as_slice);
            layer.forward(&self.parameters, input, &mut after[0]);
            if depth < last {
                // A comparison: NaN stays NaN through the product.
                for a in &mut after[0] {
                    *a = if *a > 0.0 { *a } else { LEAKY_RELU_SLOPE * *a };
                }
            }
        }
    }

    /// Writes the gradient with respect to the parameters, given the gradient with respect to the
    /// outputs of the rows predicted last with this tape.
    pub fn backpropagate(
        &self,
        rows: &[f32],
        tape: &mut Tape,
        output_gradient: &[f32],
        gradient: &mut [f32],
    ) {
        let Tape {
            layers,
            gradients: [outputs, inputs],
            transposed,
        } = tape;
        outputs.clear();
        // The gradients of two layers alternate between two buffers.
        outputs.extend_from_slice(output_gradient);
        for depth in (0..self.sizes.len() - 1).rev() {
            let layer = self.layer(depth);
            let input = if depth == 0 { rows } else { &layers[depth - 1] };
            layer.parameter_gradient(input, outputs, transposed, gradient);
            if depth > 0 {
                layer.input_gradient(&self.parameters, input, outputs, inputs);
                std::mem::swap(outputs, inputs);
            }
        }
    }

    /// All parameters in one vector.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All parameters, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }
}

#[cfg(test)]
mod tests {
    use super::{Network, Tape};

    /// Sum of the squares of all outputs.
    fn objective(network: &Network, rows: &[f32]) -> f64 {
        let mut tape = Tape::default();
        network.predict(rows, &mut tape);
        tape.outputs().iter().map(|o| f64::from(*o).powi(2)).sum()
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let rows: Vec<f32> = (0..12).map(|i| (i as f32 * 0.7).sin()).collect();
        for (hidden, outputs) in [
            (vec![], 1),
            (vec![], 2),
            (vec![5], 2),
            (vec![4, 6, 3], 2),
            (vec![], 19),
        ] {
            let (mut network, gradient) = gradient_of_objective(&hidden, outputs, &rows);
            for (p, expected) in gradient.iter().enumerate() {
                let (before, step) = (network.parameters()[p], 1e-2);
                let mut at = |value| {
                    network.parameters_mut()[p] = value;
                    objective(&network, &rows)
                };
                let slope = (at(before + step) - at(before - step)) / (2.0 * f64::from(step));
                network.parameters_mut()[p] = before;
                assert!(
                    (slope - f64::from(*expected)).abs() < 2e-3 * slope.abs().max(1.0),
                    "{hidden:?} {p}"
                );
            }
        }
    }

    fn gradient_of_objective(
        hidden: &[usize],
        outputs: usize,
        rows: &[f32],
    ) -> (Network, Vec<f32>) {
        let (network, mut tape) = (Network::new(3, hidden, outputs, 11), Tape::default());
        network.predict(rows, &mut tape);
        let output_gradient: Vec<f32> = tape.outputs().iter().map(|o| 2.0 * o).collect();
        let mut gradient = vec![0.0; network.parameters().len()];
        network.backpropagate(rows, &mut tape, &output_gradient, &mut gradient);
        (network, gradient)
    }

    /// Adds the gradient of the objective for one row, entry by entry in double precision; returns
    /// the gradient of the inputs of the layers from `depth` on.
    fn by_definition(
        network: &Network,
        depth: usize,
        input: &[f64],
        gradient: &mut [f64],
    ) -> Vec<f64> {
        let (layer, last) = (network.layer(depth), depth + 2 == network.sizes.len());
        let parameter = |index: usize| f64::from(network.parameters[layer.start + index]);
        let bias = layer.outputs * layer.inputs;
        let weight = |o: usize, i: usize| parameter(o * layer.inputs + i);
        let sum = |o: usize| {
            parameter(bias + o)
                + (0..layer.inputs)
                    .map(|i| weight(o, i) * input[i])
                    .sum::<f64>()
        };
        let sums: Vec<f64> = (0..layer.outputs).map(sum).collect();
        let leak = |s: &f64| {
            if last || *s > 0.0 {
                1.0
            } else {
                f64::from(super::LEAKY_RELU_SLOPE)
            }
        };
        let activated: Vec<f64> = sums.iter().map(|s| leak(s) * s).collect();
        let above = if last {
            activated.iter().map(|a| 2.0 * a).collect()
        } else {
            by_definition(network, depth + 1, &activated, gradient)
        };
        let sum_gradient: Vec<f64> = above.iter().zip(&sums).map(|(g, s)| g * leak(s)).collect();
        for o in 0..layer.outputs {
            (0..layer.inputs).for_each(|i| {
                gradient[layer.start + o * layer.inputs + i] += sum_gradient[o] * input[i];
            });
            gradient[layer.start + bias + o] += sum_gradient[o];
        }
        (0..layer.inputs)
            .map(|i| {
                (0..layer.outputs)
                    .map(|o| sum_gradient[o] * weight(o, i))
                    .sum()
            })
            .collect()
    }

    #[test]
    fn gradients_of_layers_of_all_widths_equal_their_definition() {
        // One output, many outputs after few inputs, and rows beyond a multiple of sixteen take
        // separate code paths.
        let rows: Vec<f32> = (0..3 * 37).map(|i| (i as f32 * 0.7).sin()).collect();
        for (hidden, outputs) in [
            (vec![], 1),
            (vec![18, 3], 1),
            (vec![40], 1),
            (vec![20, 33], 19),
            (vec![5], 50),
        ] {
            let (network, found) = gradient_of_objective(&hidden, outputs, &rows);
            let mut expected = vec![0.0; found.len()];
            for row in rows.chunks(3) {
                let row: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
                by_definition(&network, 0, &row, &mut expected);
            }
            let largest = expected.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
            for (p, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5 * largest,
                    "{hidden:?} {p}: {found} {expected}"
                );
            }
        }
    }
}
