//! Value and gradient of the cost-sensitive family, in double precision.
//!
//! This is the reference: it defines the formula, the treatment of ties, and that of vectors with
//! (nearly) zero norm, for all members and any variable bounds. The other implementations of the
//! formula are tested against it:
//!
//! * `single_precision.rs`: rows of f32 for training loops outside the library (`regretless.torch`,
//!   Python's `Loss`), without conversion to f64.
//! * `train/fused/slope.rs`: slopes per error for fused epochs, which never write predictions to
//!   memory. Normalization and gradients are in its drivers: `kernel.rs` (linear predictors),
//!   `layers/predictions.rs` (networks) and `layers/items.rs` (shared linear predictors).
//! * `train/fused/expanded_squares.rs`: plain squared errors of linear predictors, without
//!   computing predictions.
//! * `python/regretless/torch/_cost_sensitive.py`: torch operations, for autograd, GPUs and second
//!   derivatives.
//!
//! The instance weights C_i are applied outside, by `train/weighting.rs` or the caller.

use std::cell::RefCell;

use super::{
    BaseError, CostSensitiveSpec, ErrorPrices, ErrorSide, MisleadingDirection, Normalization,
    RowProjections, SinglePrecisionInput, misleading_directions, single_precision,
};
use crate::data::{self, Matrix};
use crate::error::Result;
use crate::loss::{Loss, LossInput, SeparableLoss};
use crate::oracle::OracleWorker;
use crate::problem::{ProjectionScratch, VariableBounds};

/// Vectors with a smaller norm are not normalized. Untuned: any small value works.
pub(super) const MIN_NORM: f64 = 1e-12;

/// A loss of the family, built for one table.
#[derive(Debug, Clone)]
pub struct CostSensitiveLoss {
    spec: CostSensitiveSpec,
    bounds: VariableBounds,
    /// The bounds of each row, if they differ between rows; empty otherwise.
    row_bounds: Vec<VariableBounds>,
    /// The projections of E; `None` for other losses.
    projections: Option<RowProjections>,
    typical_norm: f64,
    /// Limits of the ranges of all costs, one row per instance; with O_S only.
    limits: Option<Matrix>,
    /// The weights of errors; with D only.
    prices: Option<ErrorPrices>,
}

thread_local! {
    static SCRATCH: RefCell<EvaluationScratch> = const { RefCell::new(EvaluationScratch::EMPTY) };
}

/// Buffers of one evaluation, reused by the thread.
struct EvaluationScratch {
    directions: Vec<MisleadingDirection>,
    /// Largest free error of each cost; with O_S only.
    free_errors: Vec<f64>,
    /// The prediction, with E projected, scaled to unit norm.
    unit: Vec<f64>,
    /// The projected costs; with E only.
    costs: Vec<f64>,
    projection: ProjectionScratch,
}

impl EvaluationScratch {
    const EMPTY: Self = Self {
        directions: Vec::new(),
        free_errors: Vec::new(),
        unit: Vec::new(),
        costs: Vec::new(),
        projection: ProjectionScratch::EMPTY,
    };
}

/// Which errors of an instance count.
struct InstanceErrorMask<'a> {
    directions: &'a [MisleadingDirection],
    /// Largest free error of each cost; with O_S only.
    free_errors: &'a [f64],
    /// Weights of under- and overpredictions; with D only.
    prices: [&'a [f32]; 2],
}

impl CostSensitiveLoss {
    /// The loss of a problem whose variables have these bounds.
    pub fn new(spec: CostSensitiveSpec, bounds: VariableBounds) -> Self {
        Self {
            spec,
            bounds,
            row_bounds: Vec::new(),
            projections: None,
            typical_norm: 1.0,
            limits: None,
            prices: None,
        }
    }

    /// The same with the projections of E.
    pub(super) fn with_projections(mut self, projections: RowProjections) -> Self {
        self.projections = Some(projections);
        self
    }

    /// The same with the mean norm of these cost vectors, with E of their projections, which
    /// determines the rescaling.
    pub(super) fn with_mean_norm_of(mut self, costs: &Matrix) -> Self {
        let (mut total, mut projected) = (0.0, Vec::new());
        let mut scratch = ProjectionScratch::EMPTY;
        for row in 0..costs.rows() {
            let Some(projections) = &self.projections else {
                total += data::norm(costs.row(row));
                continue;
            };
            projected.clear();
            projected.extend(costs.row(row).iter().map(|cost| f64::from(*cost)));
            let projection = projections.of_row(row);
            projection.project(&mut projected, &mut scratch);
            total += norm(&projected);
        }
        self.typical_norm = (total / costs.rows().max(1) as f64).max(MIN_NORM);
        self
    }

    /// The same if the bounds of variables differ between rows.
    pub(super) fn with_row_bounds(mut self, row_bounds: Vec<VariableBounds>) -> Self {
        self.row_bounds = row_bounds;
        self
    }

    fn bounds(&self, instance: usize) -> &VariableBounds {
        self.row_bounds.get(instance).unwrap_or(&self.bounds)
    }

    /// The same with the limit of each cost's range in the direction that can change the decision,
    /// one row per instance.
    #[must_use]
    pub fn with_limits(mut self, limits: Matrix) -> Self {
        self.limits = Some(limits);
        self
    }

    /// The same with the weights of errors of D.
    pub(super) fn with_prices(mut self, prices: ErrorPrices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// The same with the two directions of the pinball loss swapped.
    pub(super) fn with_pinball_swapped(mut self) -> Self {
        if let ErrorSide::Pinball(taus) = &mut self.spec.side {
            taus.iter_mut().for_each(|tau| *tau = 1.0 - *tau);
        }
        self
    }

    /// Distance of each cost to the limit of its range, in the units of the errors. `costs` are
    /// projected with E; the distances to the limits are the same before and after.
    fn compute_free_errors(
        &self,
        input: &LossInput<'_>,
        costs: &[f64],
        free_errors: &mut Vec<f64>,
    ) {
        free_errors.clear();
        let Some(limits) = &self.limits else { return };
        let unit = match self.spec.normalization {
            Normalization::None => 1.0,
            Normalization::UnitNorm | Normalization::EqualityInvariant => norm(costs).max(MIN_NORM),
        };
        let limits = limits.row(input.instance).iter().zip(input.costs);
        free_errors.extend(limits.map(|(limit, cost)| (f64::from(*limit) - cost) / unit));
    }

    /// The base error and its derivative.
    fn term(&self, error: f64) -> (f64, f64) {
        match self.spec.error {
            BaseError::Squared => (error * error, 2.0 * error),
            BaseError::Absolute if error == 0.0 => (0.0, 0.0),
            BaseError::Absolute => (error.abs(), error.signum()),
        }
    }

    /// The weight of an error of output `j`.
    fn error_weight(&self, j: usize, error: f64, mask: &InstanceErrorMask<'_>) -> f64 {
        match &self.spec.side {
            ErrorSide::Both => 1.0,
            ErrorSide::OneSided => f64::from(u8::from(mask.directions[j].counts(error, 0.0))),
            ErrorSide::Sensitive(_) => f64::from(u8::from(
                mask.directions[j].counts(error, mask.free_errors[j]),
            )),
            ErrorSide::DualWeighted(_) => {
                let [under, over] = mask.prices;
                f64::from(if error <= 0.0 { under[j] } else { over[j] })
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
        mask: &InstanceErrorMask<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        for (j, error) in errors.enumerate() {
            let weight = self.error_weight(j, error, mask);
            let (value, slope) = self.term(error);
            total += weight * value;
            gradient[j] = weight * slope;
        }
        total
    }

    fn evaluate_plain(
        &self,
        input: &LossInput<'_>,
        mask: &InstanceErrorMask<'_>,
        gradient: &mut [f64],
    ) -> f64 {
        let errors = input.prediction.iter().zip(input.costs).map(|(p, c)| p - c);
        self.sum(errors, mask, gradient)
    }

    /// Errors between unit vectors; the gradient is propagated through the normalization. `unit`
    /// holds the prediction, with E projected, and is scaled.
    fn evaluate_normalized(
        &self,
        costs: &[f64],
        mask: &InstanceErrorMask<'_>,
        unit: &mut [f64],
        gradient: &mut [f64],
    ) -> f64 {
        let prediction_norm = norm(unit);
        let cost_norm = norm(costs).max(MIN_NORM);
        let divisor = prediction_norm.max(MIN_NORM);
        unit.iter_mut().for_each(|p| *p /= divisor);
        let pairs = unit.iter().zip(costs);
        let errors = pairs.map(|(u, c)| u - c / cost_norm);
        let total = self.sum(errors, mask, gradient);
        if prediction_norm < MIN_NORM {
            // The prediction has no direction. The gradient is divided by the norm of the true
            // costs instead: the true derivative, about 1e12, would dominate the moving averages
            // of the optimizer for many steps.
            gradient.iter_mut().for_each(|g| *g /= cost_norm);
            return total;
        }
        let projection: f64 = gradient.iter().zip(unit.iter()).map(|(g, u)| g * u).sum();
        for (g, u) in gradient.iter_mut().zip(unit.iter()) {
            *g = (*g - projection * u) / prediction_norm;
        }
        total
    }
}

impl Loss for CostSensitiveLoss {
    fn evaluate(
        &self,
        input: &LossInput<'_>,
        _worker: &mut OracleWorker<'_>,
        gradient: &mut [f64],
    ) -> Result<f64> {
        let total = SCRATCH.with_borrow_mut(|scratch| {
            let EvaluationScratch {
                directions,
                free_errors,
                unit,
                costs: projected_costs,
                projection: projection_scratch,
            } = scratch;
            if matches!(
                self.spec.side,
                ErrorSide::OneSided | ErrorSide::Sensitive(_)
            ) {
                let bounds = self.bounds(input.instance);
                misleading_directions(input.label, bounds, directions, input.costs.len());
            }
            let projections = self.projections.as_ref();
            let projection = projections.map(|projections| projections.of_row(input.instance));
            let costs = match projection {
                Some(projection) => {
                    projected_costs.clear();
                    projected_costs.extend_from_slice(input.costs);
                    projection.project(projected_costs, projection_scratch);
                    projected_costs.as_slice()
                }
                None => input.costs,
            };
            self.compute_free_errors(input, costs, free_errors);
            let prices = self.prices.as_ref();
            let mask = InstanceErrorMask {
                directions,
                free_errors,
                prices: prices.map_or([&[], &[]], |prices| {
                    [
                        prices.under.row(input.instance),
                        prices.over.row(input.instance),
                    ]
                }),
            };
            if self.spec.normalization == Normalization::None {
                return self.evaluate_plain(input, &mask, gradient);
            }
            unit.clear();
            unit.extend_from_slice(input.prediction);
            if let Some(projection) = projection {
                projection.project(unit, projection_scratch);
            }
            let total = self.evaluate_normalized(costs, &mask, unit, gradient);
            if let Some(projection) = projection {
                // The transpose of the projection is the projection.
                projection.project(gradient, projection_scratch);
            }
            total
        });
        let factor = 1.0 / input.costs.len() as f64;
        gradient.iter_mut().for_each(|g| *g *= factor);
        Ok(total * factor)
    }

    fn evaluate_single(
        &self,
        input: &SinglePrecisionInput<'_>,
        gradient: &mut [f32],
    ) -> Option<f64> {
        let is_known = self.row_bounds.is_empty() && self.prices.is_none();
        if self.bounds == VariableBounds::Binary && is_known {
            single_precision::evaluate(&self.spec, input, gradient)
        } else {
            None
        }
    }

    fn separable(&self) -> Option<SeparableLoss<'_>> {
        let CostSensitiveSpec {
            error,
            side,
            normalization,
            ..
        } = &self.spec;
        // Kernels that read which variables a label selects know binary variables alone.
        if !self.row_bounds.is_empty() || matches!(side, ErrorSide::DualWeighted(_)) {
            return None;
        }
        let projection = match &self.projections {
            Some(projections) => Some(projections.shared()?),
            None => None,
        };
        Some(SeparableLoss {
            error: *error,
            side,
            scale_invariant: *normalization != Normalization::None,
            projection,
            limits: self.limits.as_ref(),
        })
    }

    /// Gradients shrink with the mean over d costs, with the norm of the vectors and, for squared
    /// errors, with the entries of a unit vector.
    fn rescaling(&self, costs: usize) -> f64 {
        let d = costs as f64;
        if let Some(prices) = &self.prices {
            return d / prices.mean;
        }
        match (self.spec.normalization, self.spec.error) {
            (Normalization::None, _) => d,
            (_, BaseError::Absolute) => d * self.typical_norm,
            (_, BaseError::Squared) => d * self.typical_norm * d.sqrt(),
        }
    }

    fn gradient_degree(&self) -> i32 {
        match (self.spec.normalization, self.spec.error) {
            (Normalization::None, BaseError::Squared) => 1,
            _ => 0,
        }
    }
}

pub(super) fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
