//! A small network that every worker trains for itself: the same numbers everywhere, since all take
//! the same steps.

use super::super::adam::{AdamCoefficients, step_row};
use crate::predict::{LEAKY_RELU_SLOPE, Network, Predictor, Tape};
use crate::simd::Avx2Fma;

/// A network, its moments, and room for a step.
#[derive(Clone)]
pub(super) struct HiddenLayers {
    pub(super) network: Network,
    pub(super) moments: [Vec<f32>; 2],
    pub(super) tape: Tape,
    pub(super) gradient: Vec<f32>,
}

impl HiddenLayers {
    pub(super) fn new(network: Network, moments: [Vec<f32>; 2]) -> Self {
        let gradient = vec![0.0; network.parameters().len()];
        Self {
            network,
            moments,
            tape: Tape::default(),
            gradient,
        }
    }

    /// Takes a step along the gradient.
    pub(super) fn step(&mut self, simd: Avx2Fma, adam: &AdamCoefficients) {
        let [means, squares] = &mut self.moments;
        step_row(
            simd,
            self.network.parameters_mut(),
            &self.gradient,
            [means, squares],
            adam,
        );
    }

    /// Overwrites `out` with the activated outputs of rows of features.
    pub(super) fn activate(&mut self, rows: &[f32], out: &mut Vec<f32>) {
        self.network.predict(rows, &mut self.tape);
        out.clear();
        out.extend(
            self.tape
                .outputs()
                .iter()
                .map(|a| if *a > 0.0 { *a } else { LEAKY_RELU_SLOPE * *a }),
        );
    }

    /// Finds the gradient, given that of the activated outputs.
    pub(super) fn backward(&mut self, rows: &[f32], blame: &mut [f32]) {
        for (g, a) in blame.iter_mut().zip(self.tape.outputs()) {
            *g *= if *a > 0.0 { 1.0 } else { LEAKY_RELU_SLOPE };
        }
        self.network
            .backpropagate(rows, &mut self.tape, blame, &mut self.gradient);
    }
}
