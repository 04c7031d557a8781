//! The hidden layers of a network. They are small, and every worker trains a copy of its own: all
//! copies hold the same values, since all take the same steps.

use super::super::adam::{AdamCoefficients, step_row};
use crate::predict::{LEAKY_RELU_SLOPE, Network, Tape};
use crate::simd::SimdToken;

/// Adam's moments of a network's parameters.
#[derive(Clone, Default)]
pub(super) struct AdamMoments {
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
}

impl AdamMoments {
    pub(super) fn zeros(parameters: usize) -> Self {
        Self {
            first: vec![0.0; parameters],
            second: vec![0.0; parameters],
        }
    }
}

/// A network, its moments, and scratch for a step.
#[derive(Clone)]
pub(super) struct HiddenLayers {
    pub(super) network: Network,
    pub(super) moments: AdamMoments,
    pub(super) tape: Tape,
    pub(super) gradient: Vec<f32>,
}

impl HiddenLayers {
    pub(super) fn new(network: Network, moments: AdamMoments) -> Self {
        let gradient = vec![0.0; network.parameters().len()];
        Self {
            network,
            moments,
            tape: Tape::default(),
            gradient,
        }
    }

    /// Takes a step along the gradient.
    pub(super) fn step(&mut self, simd: SimdToken, adam: &AdamCoefficients) {
        let AdamMoments { first, second } = &mut self.moments;
        let parameters = self.network.parameters_mut();
        step_row(simd, parameters, &self.gradient, first, second, adam);
    }

    /// The forward pass: overwrites `out` with the activated outputs of rows of features.
    pub(super) fn forward(&mut self, rows: &[f32], out: &mut Vec<f32>) {
        self.network.predict(rows, &mut self.tape);
        // The comparison decides as the backward pass does, also for 0 and −0.
        let activate = |a: &f32| if *a > 0.0 { *a } else { LEAKY_RELU_SLOPE * *a };
        out.clear();
        out.extend(self.tape.outputs().iter().map(activate));
    }

    /// The backward pass: computes the gradient of the parameters, given that of the activated
    /// outputs.
    pub(super) fn backward(&mut self, rows: &[f32], output_gradient: &mut [f32]) {
        for (g, a) in output_gradient.iter_mut().zip(self.tape.outputs()) {
            *g *= if *a > 0.0 { 1.0 } else { LEAKY_RELU_SLOPE };
        }
        self.network
            .backpropagate(rows, &mut self.tape, output_gradient, &mut self.gradient);
    }
}
