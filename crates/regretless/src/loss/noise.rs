//! Noise around a prediction, drawn reproducibly for perturbed losses.
//!
//! Rows of noise depend on seed, epoch and instance only, never on threads; they are drawn one at a
//! time, since a row has as many numbers as there are costs. Additive noise turns ĉ into ĉ + σξ,
//! multiplicative noise into ĉ ⊙ exp(σξ − σ²/2), which keeps signs and means.

use super::{LossInput, buffer};
use crate::decision::Decision;
use crate::error::Result;
use crate::oracle::OracleWorker;
use crate::random::RandomStream;

/// The distribution of ξ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseDistribution {
    /// Standard normal.
    Normal,
    /// Sum of Gamma (Niepert, Minervini and Franceschi 2021): (Σᵢ Gamma(1/κ, κ/i) − ln terms)/κ.
    SumOfGamma {
        /// κ, the usual number of ones of a decision.
        kappa: f64,
        /// Terms of the sum.
        terms: usize,
    },
}

/// Where noise comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum NoiseSource {
    /// Drawn for each seed, epoch and instance.
    Drawn(NoiseDistribution),
    /// Golden noise of a test: for each instance its rows, one after the other.
    #[cfg(test)]
    Supplied(Vec<Vec<f64>>),
}

impl NoiseSource {
    /// The rows of noise of an input, from the first.
    pub(super) fn rows(&self, input: &LossInput<'_>) -> NoiseRows<'_> {
        NoiseRows {
            noise: self,
            stream: input.stream(),
            #[cfg(test)]
            supplied: match self {
                Self::Drawn(_) => &[],
                Self::Supplied(instances) => &instances[input.instance],
            },
        }
    }
}

/// Rows of noise of one instance.
pub(super) struct NoiseRows<'n> {
    noise: &'n NoiseSource,
    stream: RandomStream,
    /// Supplied rows that were not used yet.
    #[cfg(test)]
    supplied: &'n [f64],
}

impl NoiseRows<'_> {
    /// The next row.
    pub(super) fn next(&mut self, row: &mut [f64]) {
        match self.noise {
            NoiseSource::Drawn(NoiseDistribution::Normal) => self.stream.fill_normal(row),
            NoiseSource::Drawn(NoiseDistribution::SumOfGamma { kappa, terms }) => {
                row.iter_mut()
                    .for_each(|noise| *noise = sum_of_gamma(&mut self.stream, *kappa, *terms));
            }
            #[cfg(test)]
            NoiseSource::Supplied(_) => {
                let (next, remaining) = self.supplied.split_at(row.len());
                row.copy_from_slice(next);
                self.supplied = remaining;
            }
        }
    }
}

fn sum_of_gamma(stream: &mut RandomStream, kappa: f64, terms: usize) -> f64 {
    let sum: f64 = (1..=terms)
        .map(|i| stream.gamma(1.0 / kappa) * kappa / i as f64)
        .sum();
    (sum - (terms as f64).ln()) / kappa
}

/// How noise changes a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    /// Samples per evaluation.
    pub samples: usize,
    /// σ, the size of the noise.
    pub sigma: f64,
    /// Whether noise multiplies costs instead of being added.
    pub multiplicative: bool,
}

impl Perturbation {
    /// Ten samples of unit size.
    pub const DEFAULT: Self = Self {
        samples: 10,
        sigma: 1.0,
        multiplicative: false,
    };

    /// Turns noise into the factors of a multiplicative perturbation; additive noise is unchanged.
    pub(super) fn prepare(&self, noise: &mut [f64]) {
        if self.multiplicative {
            let (sigma, shift) = (self.sigma, self.sigma * self.sigma / 2.0);
            noise
                .iter_mut()
                .for_each(|xi| *xi = (sigma * *xi - shift).exp());
        }
    }

    /// Perturbed costs, given prepared noise.
    pub(super) fn apply(&self, prediction: &[f64], prepared: &[f64], costs: &mut [f64]) {
        for ((cost, p), noise) in costs.iter_mut().zip(prediction).zip(prepared) {
            *cost = if self.multiplicative {
                p * noise
            } else {
                p + self.sigma * noise
            };
        }
    }
}

/// Noise of a perturbed loss: its size and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbedSettings {
    /// How noise changes a prediction.
    pub perturbation: Perturbation,
    /// Where noise comes from.
    pub noise: NoiseSource,
}

impl PerturbedSettings {
    /// Passes on every row of prepared noise, with the costs around `center` that it makes.
    pub(super) fn for_each_sample(
        &self,
        input: &LossInput<'_>,
        center: &[f64],
        mut visit: impl FnMut(&[f64], &[f64]) -> Result<()>,
    ) -> Result<()> {
        let (mut row, mut costs) = (buffer::zeros(center.len()), buffer::zeros(center.len()));
        let mut rows = self.noise.rows(input);
        for _ in 0..self.perturbation.samples {
            rows.next(&mut row);
            self.perturbation.prepare(&mut row);
            self.perturbation.apply(center, &row, &mut costs);
            visit(&row, &costs)?;
        }
        Ok(())
    }

    /// The decisions under every row of noise around `center`.
    pub(super) fn decisions(
        &self,
        input: &LossInput<'_>,
        center: &[f64],
        worker: &mut OracleWorker<'_>,
    ) -> Result<Vec<Decision>> {
        let mut decisions = Vec::with_capacity(self.perturbation.samples);
        self.for_each_sample(input, center, |_, costs| {
            decisions.push(input.solve(worker, costs)?.decision.clone());
            Ok(())
        })?;
        Ok(decisions)
    }
}
