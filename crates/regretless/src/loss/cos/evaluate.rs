//! Value and gradient of the cost-sensitive family.

use std::cell::RefCell;

use super::{BaseError, Cos, Guide, Side, guides};
use crate::error::Result;
use crate::loss::{Loss, Query};
use crate::oracle::Asker;
use crate::problem::Bounds;

/// Shorter vectors are not divided by their own length.
const SHORTEST: f64 = 1e-12;

/// A member of the family, ready for one table.
#[derive(Debug, Clone)]
pub struct CosLoss {
    cos: Cos,
    bounds: Bounds,
    /// One factor per row of the table.
    weights: Option<Vec<f64>>,
    typical_norm: f64,
}

thread_local! {
    /// Directions and normalised predictions of the instance at hand.
    static SCRATCH: RefCell<(Vec<Guide>, Vec<f64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

impl CosLoss {
    /// The loss with all weights 1.
    pub fn new(cos: Cos, bounds: Bounds) -> Self {
        Self { cos, bounds, weights: None, typical_norm: 1.0 }
    }

    /// Weights instances.
    pub(super) fn set_weights(&mut self, weights: Vec<f64>) {
        self.weights = Some(weights);
    }

    /// Tells the usual length of a cost vector, which decides the rescaling.
    pub(super) fn set_typical_norm(&mut self, norm: f64) {
        self.typical_norm = norm;
    }

    /// Exchanges the two directions of a pinball.
    pub(super) fn turn_pinball(&mut self) {
        if let Side::Pinball(taus) = &mut self.cos.side {
            taus.iter_mut().for_each(|tau| *tau = 1.0 - *tau);
        }
    }

    fn weight(&self, instance: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[instance])
    }

    /// What one error costs, and the derivative.
    fn term(&self, error: f64) -> (f64, f64) {
        match self.cos.error {
            BaseError::Squared => (error * error, 2.0 * error),
            BaseError::Absolute if error == 0.0 => (0.0, 0.0),
            BaseError::Absolute => (error.abs(), error.signum()),
        }
    }

    /// How much an error of output `j` counts.
    fn share(&self, j: usize, error: f64, guides: &[Guide]) -> f64 {
        match &self.cos.side {
            Side::Both => 1.0,
            Side::OneSided => f64::from(u8::from(guides[j].counts(error))),
            Side::Pinball(taus) => {
                let tau = if taus.len() == 1 { taus[0] } else { taus[j] };
                if error <= 0.0 { tau } else { 1.0 - tau }
            }
        }
    }

    /// Sums the terms of `errors`; leaves derivatives with respect to the errors in `gradient`.
    fn sum(&self, errors: impl Iterator<Item = f64>, guides: &[Guide], gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for (j, error) in errors.enumerate() {
            let share = self.share(j, error, guides);
            let (value, slope) = self.term(error);
            total += share * value;
            gradient[j] = share * slope;
        }
        total
    }

    fn plain(&self, query: &Query<'_>, guides: &[Guide], gradient: &mut [f64]) -> f64 {
        let errors = query.prediction.iter().zip(query.costs).map(|(p, c)| p - c);
        self.sum(errors, guides, gradient)
    }

    /// Errors between unit vectors; the gradient goes back through the normalisation.
    fn normalised(&self, query: &Query<'_>, guides: &[Guide], (unit, gradient): (&mut Vec<f64>, &mut [f64])) -> f64 {
        let length = norm(query.prediction);
        let true_length = norm(query.costs).max(SHORTEST);
        unit.clear();
        unit.extend(query.prediction.iter().map(|p| p / length.max(SHORTEST)));
        let errors = unit.iter().zip(query.costs).map(|(u, c)| u - c / true_length);
        let total = self.sum(errors, guides, gradient);
        if length < SHORTEST {
            // No direction to normalise: step as if the prediction had the length of the truth, since
            // the true derivative, about 1e12, would ruin every running average of the optimiser.
            gradient.iter_mut().for_each(|g| *g /= true_length);
            return total;
        }
        let along: f64 = gradient.iter().zip(unit.iter()).map(|(g, u)| g * u).sum();
        for (g, u) in gradient.iter_mut().zip(unit.iter()) {
            *g = (*g - along * u) / length;
        }
        total
    }
}

impl Loss for CosLoss {
    fn evaluate(&self, query: &Query<'_>, _asker: &mut Asker<'_>, gradient: &mut [f64]) -> Result<f64> {
        let total = SCRATCH.with_borrow_mut(|(directions, unit)| {
            if self.cos.side == Side::OneSided {
                guides(query.best, &self.bounds, directions, query.costs.len());
            }
            if self.cos.scale_invariant {
                self.normalised(query, directions, (unit, gradient))
            } else {
                self.plain(query, directions, gradient)
            }
        });
        let factor = self.weight(query.instance) / query.costs.len() as f64;
        gradient.iter_mut().for_each(|g| *g *= factor);
        Ok(total * factor)
    }

    /// The mean over d costs, the length of the vectors and, for squared errors, the smallness of the
    /// entries of a unit vector all shrink gradients; weights stretch them.
    fn rescaling(&self, costs: usize) -> f64 {
        let d = costs as f64;
        let by_norm = match (self.cos.scale_invariant, self.cos.error) {
            (false, _) => 1.0,
            (true, BaseError::Absolute) => self.typical_norm,
            (true, BaseError::Squared) => self.typical_norm * d.sqrt(),
        };
        let mean_weight = self.weights.as_ref().map_or(1.0, |w| w.iter().sum::<f64>() / w.len().max(1) as f64);
        d * by_norm / if mean_weight > 0.0 { mean_weight } else { 1.0 }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
