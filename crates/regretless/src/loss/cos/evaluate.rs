//! Value and gradient of the cost-sensitive family.

use std::cell::RefCell;

use super::{
    BaseError, CosSpec, ErrorSide, MisleadingDirection, SinglePrecisionInput,
    misleading_directions, single_precision,
};
use crate::data::Matrix;
use crate::error::Result;
use crate::loss::{Loss, LossInput, SeparableLoss};
use crate::oracle::OracleWorker;
use crate::problem::VariableBounds;

/// Shorter vectors are not divided by their own length.
pub(super) const MIN_NORM: f64 = 1e-12;

/// A member of the family, ready for one table.
#[derive(Debug, Clone)]
pub struct CosLoss {
    cos: CosSpec,
    bounds: VariableBounds,
    typical_norm: f64,
    /// Ends of the ranges of all costs, one row per instance; with O_S only.
    limits: Option<Matrix>,
}

thread_local! {
    /// Directions, free errors and normalised predictions of the instance at hand.
    static SCRATCH: RefCell<(Vec<MisleadingDirection>, Vec<f64>, Vec<f64>)> = const { RefCell::new((Vec::new(), Vec::new(), Vec::new())) };
}

/// Which errors of an instance count.
struct InstanceErrorMask<'a> {
    guides: &'a [MisleadingDirection],
    /// How far each error may go without counting; with O_S only.
    free: &'a [f64],
}

impl CosLoss {
    /// The loss of a problem whose variables have these bounds.
    pub fn new(cos: CosSpec, bounds: VariableBounds) -> Self {
        Self {
            cos,
            bounds,
            typical_norm: 1.0,
            limits: None,
        }
    }

    /// The same, told the usual length of a cost vector, which decides the rescaling.
    pub(super) fn with_typical_norm(mut self, norm: f64) -> Self {
        self.typical_norm = norm;
        self
    }

    /// The same with the end of each cost's range on the side that can mislead, one row per
    /// instance.
    #[must_use]
    pub fn with_limits(mut self, limits: Matrix) -> Self {
        self.limits = Some(limits);
        self
    }

    /// The same with the two directions of a pinball exchanged.
    pub(super) fn with_pinball_swapped(mut self) -> Self {
        if let ErrorSide::Pinball(taus) = &mut self.cos.side {
            taus.iter_mut().for_each(|tau| *tau = 1.0 - *tau);
        }
        self
    }

    /// Distance of each cost to the end of its range, in the units errors are measured in.
    fn free_errors(&self, query: &LossInput<'_>, free: &mut Vec<f64>) {
        free.clear();
        let Some(limits) = &self.limits else { return };
        let unit = if self.cos.scale_invariant {
            norm(query.costs).max(MIN_NORM)
        } else {
            1.0
        };
        let ends = limits.row(query.instance).iter();
        free.extend(
            ends.zip(query.costs)
                .map(|(end, cost)| (f64::from(*end) - cost) / unit),
        );
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
    fn error_weight(&self, j: usize, error: f64, aims: &InstanceErrorMask<'_>) -> f64 {
        match &self.cos.side {
            ErrorSide::Both => 1.0,
            ErrorSide::OneSided => f64::from(u8::from(aims.guides[j].counts(error, 0.0))),
            ErrorSide::Sensitive(_) => {
                f64::from(u8::from(aims.guides[j].counts(error, aims.free[j])))
            }
            ErrorSide::Pinball(taus) => {
                let tau = if taus.len() == 1 { taus[0] } else { taus[j] };
                if error <= 0.0 { tau } else { 1.0 - tau }
            }
        }
    }

    /// Sums the terms of `errors`; leaves derivatives with respect to the errors in `gradient`.
    fn sum(
        &self,
        errors: impl Iterator<Item = f64>,
        aims: &InstanceErrorMask<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        for (j, error) in errors.enumerate() {
            let share = self.error_weight(j, error, aims);
            let (value, slope) = self.term(error);
            total += share * value;
            gradient[j] = share * slope;
        }
        total
    }

    fn evaluate_plain(
        &self,
        query: &LossInput<'_>,
        aims: &InstanceErrorMask<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        let errors = query.prediction.iter().zip(query.costs).map(|(p, c)| p - c);
        self.sum(errors, aims, gradient)
    }

    /// Errors between unit vectors; the gradient goes back through the normalisation.
    fn evaluate_normalized(
        &self,
        query: &LossInput<'_>,
        aims: &InstanceErrorMask<'_>,
        (unit, gradient): (&mut Vec<f64>, &mut [f64]),
    ) -> f64 {
        let length = norm(query.prediction);
        let true_length = norm(query.costs).max(MIN_NORM);
        unit.clear();
        unit.extend(query.prediction.iter().map(|p| p / length.max(MIN_NORM)));
        let errors = unit
            .iter()
            .zip(query.costs)
            .map(|(u, c)| u - c / true_length);
        let total = self.sum(errors, aims, gradient);
        if length < MIN_NORM {
            // No direction to normalise: step as if the prediction had the length of the truth,
            // since the true derivative, about 1e12, would ruin every running average of the
            // optimiser.
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
    fn evaluate(
        &self,
        query: &LossInput<'_>,
        _asker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let total = SCRATCH.with_borrow_mut(|(directions, free, unit)| {
            if matches!(self.cos.side, ErrorSide::OneSided | ErrorSide::Sensitive(_)) {
                misleading_directions(query.best, &self.bounds, directions, query.costs.len());
            }
            self.free_errors(query, free);
            let aims = InstanceErrorMask {
                guides: directions,
                free,
            };
            if self.cos.scale_invariant {
                self.evaluate_normalized(query, &aims, (unit, gradient))
            } else {
                self.evaluate_plain(query, &aims, gradient)
            }
        });
        let factor = 1.0 / query.costs.len() as f64;
        gradient.iter_mut().for_each(|g| *g *= factor);
        Ok(total * factor)
    }

    fn evaluate_single(
        &self,
        query: &SinglePrecisionInput<'_>,
        gradient: &mut [f32],
    ) -> Option<f64> {
        if self.bounds == VariableBounds::Binary {
            single_precision::evaluate(&self.cos, query, gradient)
        } else {
            None
        }
    }

    fn separable(&self) -> Option<SeparableLoss<'_>> {
        let CosSpec {
            error,
            side,
            scale_invariant,
            ..
        } = &self.cos;
        Some(SeparableLoss {
            error: *error,
            side,
            scale_invariant: *scale_invariant,
            limits: self.limits.as_ref(),
        })
    }

    /// The mean over d costs, the length of the vectors and, for squared errors, the smallness of
    /// the entries of a unit vector all shrink gradients.
    fn rescaling(&self, costs: usize) -> f64 {
        let d = costs as f64;
        match (self.cos.scale_invariant, self.cos.error) {
            (false, _) => d,
            (true, BaseError::Absolute) => d * self.typical_norm,
            (true, BaseError::Squared) => d * self.typical_norm * d.sqrt(),
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
