//! The family on rows in single precision, sixteen numbers at a time: for callers that store rows
//! of `f32`, such as the Python module.
//!
//! Formula and tie rules are those of `evaluate.rs`; results differ from it by rounding only.
//! One-sided errors are first evaluated as if no variable were selected; the few selected ones are
//! then corrected one by one. Supports binary variables with two-sided or one-sided errors.

#![allow(
    unsafe_code,
    reason = "the functions compiled for more instructions than the baseline are called here"
)]

use super::evaluate::MIN_NORM;
use super::{BaseError, CostSensitiveSpec, ErrorSide, Normalization};
use crate::decision::Decision;
use crate::simd::{AlignedF32x16, F32_LANES, F32x16, SimdToken, dispatch_simd};

/// Chunks summed in single precision before the sum is added in double precision: the trade-off
/// between rounding error and the cost of the conversion.
const CHUNKS_PER_F64_SUM: usize = 64;

/// One instance in single precision.
#[derive(Debug, Clone, Copy)]
pub struct SinglePrecisionInput<'a> {
    /// True costs, minimized.
    pub costs: &'a [f32],
    /// Predicted costs, in the user's sense.
    pub prediction: &'a [f32],
    /// Factor that turns predictions into minimized costs: 1 or −1.
    pub sign: f32,
    /// The label: the optimal decision under the true costs.
    pub label: &'a Decision,
}

/// Factors that normalize predictions and costs.
#[derive(Clone, Copy)]
struct NormScales {
    prediction: f32,
    costs: f32,
}

/// Sums over the costs of one row, in double precision.
#[derive(Default)]
struct SinglePrecisionSums {
    value: f64,
    /// Inner product of the accumulate_slopes and the scaled prediction.
    projection: f64,
}

/// The mean error over costs and its gradient with respect to the prediction in the user's sense;
/// `None` if this loss or this processor needs the double-precision path.
pub(super) fn evaluate(
    spec: &CostSensitiveSpec,
    input: &SinglePrecisionInput<'_>,
    gradient: &mut [f32],
) -> Option<f64> {
    let simd = SimdToken::detect()?;
    let one_sided = match &spec.side {
        ErrorSide::Both => false,
        ErrorSide::OneSided => true,
        ErrorSide::Sensitive(_) | ErrorSide::Pinball(_) | ErrorSide::DualWeighted(_) => {
            return None;
        }
    };
    let scale_invariant = match spec.normalization {
        Normalization::None => false,
        Normalization::UnitNorm => true,
        Normalization::EqualityInvariant => return None,
    };
    let absolute = spec.error == BaseError::Absolute;
    let (prediction_norm, cost_norm) = compute_norms(simd, scale_invariant, input);
    let scales = NormScales {
        prediction: input.sign / prediction_norm.max(MIN_NORM) as f32,
        costs: 1.0 / cost_norm.max(MIN_NORM) as f32,
    };
    let mut sums = SinglePrecisionSums::default();
    let accumulate = match (absolute, one_sided) {
        (false, false) => accumulate_slopes::<false, false>,
        (false, true) => accumulate_slopes::<false, true>,
        (true, false) => accumulate_slopes::<true, false>,
        (true, true) => accumulate_slopes::<true, true>,
    };
    accumulate(simd, input, scales, gradient, &mut sums);
    if one_sided {
        evaluate_selected(absolute, input, scales, gradient, &mut sums);
    }
    // Values that are not finite or overflow these sums are left to the double-precision path and
    // its error messages.
    if !(prediction_norm.is_finite()
        && cost_norm.is_finite()
        && sums.projection.is_finite()
        && sums.value.is_finite())
    {
        return None;
    }
    let count = input.costs.len() as f64;
    // As in double precision, a prediction of norm zero is divided by the norm of the true costs.
    let (norm, projection) = if prediction_norm < MIN_NORM {
        (cost_norm, 0.0)
    } else {
        (prediction_norm, sums.projection)
    };
    let slope_factor = f64::from(input.sign) / (norm * count);
    let prediction_factor = if scale_invariant {
        -(projection * f64::from(scales.prediction) * slope_factor)
    } else {
        // Adding -0 keeps every bit of the gradient, even if it is -0.
        -0.0
    };
    write_gradient(
        simd,
        input.prediction,
        slope_factor as f32,
        prediction_factor as f32,
        gradient,
    );
    Some(sums.value / count)
}

/// Norms of predictions and costs, or 1 if the loss is not scale-invariant.
fn compute_norms(
    simd: SimdToken,
    scale_invariant: bool,
    input: &SinglePrecisionInput<'_>,
) -> (f64, f64) {
    let (mut prediction_squared_norm, mut cost_squared_norm) = (1.0, 1.0);
    if scale_invariant {
        squared_norm(simd, input.prediction, &mut prediction_squared_norm);
        squared_norm(simd, input.costs, &mut cost_squared_norm);
    }
    (
        prediction_squared_norm.sqrt(),
        cost_squared_norm.sqrt().max(MIN_NORM),
    )
}

/// Corrects the variables that the label selects: only their overestimates count. The error is
/// ĉ − c here.
fn evaluate_selected(
    absolute: bool,
    input: &SinglePrecisionInput<'_>,
    scales: NormScales,
    gradient: &mut [f32],
    sums: &mut SinglePrecisionSums,
) {
    for (j, _) in input.label.iter() {
        let scaled = input.prediction[j] * scales.prediction;
        let error = scaled - input.costs[j] * scales.costs;
        let (value, slope) = match absolute {
            true if error == 0.0 => (0.0, 0.0),
            true => (error.abs(), error.signum()),
            false => (error * error, 2.0 * error),
        };
        // An overestimate is added; an underestimate was counted before and is removed.
        let sign = if error > 0.0 { 1.0 } else { -1.0 };
        sums.value += sign * f64::from(value);
        sums.projection += sign * f64::from(slope) * f64::from(scaled);
        gradient[j] = if error > 0.0 { slope } else { 0.0 };
    }
}

dispatch_simd! {
    /// Sum of squares.
    squared_norm = squared_norm_body [] (row: &[f32], out: &mut f64)
}

dispatch_simd! {
    /// Sums of a row; leaves accumulate_slopes with respect to the errors in `gradient`.
    accumulate_slopes = accumulate_slopes_body [ABSOLUTE: bool, ONE_SIDED: bool]
        (
            input: &SinglePrecisionInput<'_>, scales: NormScales, gradient: &mut [f32],
            sums: &mut SinglePrecisionSums
        )
}

dispatch_simd! {
    /// Turns accumulate_slopes into the gradient: slope · slope_factor + prediction ·
    /// prediction_factor.
    write_gradient = write_gradient_body []
        (prediction: &[f32], slope_factor: f32, prediction_factor: f32, gradient: &mut [f32])
}

#[inline(always)]
fn squared_norm_body(simd: SimdToken, row: &[f32], out: &mut f64) {
    *out = 0.0;
    for block in row.chunks(CHUNKS_PER_F64_SUM * F32_LANES) {
        let mut sum = simd.splat(0.0);
        for chunk in block.chunks(F32_LANES) {
            let numbers = read(simd, chunk);
            sum = numbers.mul_add(numbers, sum);
        }
        *out += sum_lanes(sum);
    }
}

#[inline(always)]
fn accumulate_slopes_body<const ABSOLUTE: bool, const ONE_SIDED: bool>(
    simd: SimdToken,
    input: &SinglePrecisionInput<'_>,
    scales: NormScales,
    gradient: &mut [f32],
    sums: &mut SinglePrecisionSums,
) {
    let (scale, negated_cost_scale) = (simd.splat(scales.prediction), simd.splat(-scales.costs));
    let blocks = input
        .prediction
        .chunks(CHUNKS_PER_F64_SUM * F32_LANES)
        .zip(input.costs.chunks(CHUNKS_PER_F64_SUM * F32_LANES));
    for ((prediction, costs), gradient) in
        blocks.zip(gradient.chunks_mut(CHUNKS_PER_F64_SUM * F32_LANES))
    {
        let (mut value, mut projection) = (simd.splat(0.0), simd.splat(0.0));
        for ((p, c), g) in prediction
            .chunks(F32_LANES)
            .zip(costs.chunks(F32_LANES))
            .zip(gradient.chunks_mut(F32_LANES))
        {
            let scaled = read(simd, p).mul(scale);
            let error = read(simd, c).mul_add(negated_cost_scale, scaled);
            let (term, slope) = evaluate_errors::<ABSOLUTE, ONE_SIDED>(simd, error);
            value = value.add(term);
            projection = slope.mul_add(scaled, projection);
            write(slope, g);
        }
        sums.value += sum_lanes(value);
        sums.projection += sum_lanes(projection);
    }
}

/// Errors and their derivatives; of one-sided ones only underestimates.
#[inline(always)]
fn evaluate_errors<const ABSOLUTE: bool, const ONE_SIDED: bool>(
    simd: SimdToken,
    error: F32x16,
) -> (F32x16, F32x16) {
    let sign_mask = simd.splat(-0.0);
    let error = if ONE_SIDED {
        error.xor(sign_mask).max_zero().xor(sign_mask)
    } else {
        error
    };
    if ABSOLUTE {
        let slope = error
            .sign_bits()
            .or(simd.splat(1.0))
            .and(error.nonzero_mask());
        (error.xor(error.sign_bits()), slope)
    } else {
        (error.mul(error), error.add(error))
    }
}

#[inline(always)]
fn write_gradient_body(
    simd: SimdToken,
    prediction: &[f32],
    slope_factor: f32,
    prediction_factor: f32,
    gradient: &mut [f32],
) {
    let slope_factor = simd.splat(slope_factor);
    let prediction_factor = simd.splat(prediction_factor);
    let predictions = prediction.chunks(F32_LANES);
    for (p, g) in predictions.zip(gradient.chunks_mut(F32_LANES)) {
        write(
            read(simd, p).mul_add(prediction_factor, read(simd, g).mul(slope_factor)),
            g,
        );
    }
}

#[inline(always)]
fn read(simd: SimdToken, chunk: &[f32]) -> F32x16 {
    match chunk.first_chunk::<F32_LANES>() {
        Some(full) => simd.load(full),
        None => simd.load_partial(chunk),
    }
}

#[inline(always)]
fn write(lanes: F32x16, chunk: &mut [f32]) {
    match chunk.first_chunk_mut::<F32_LANES>() {
        Some(full) => lanes.store_unaligned(full),
        None => lanes.store_partial(chunk),
    }
}

/// The sum of all sixteen numbers, in order.
#[inline(always)]
fn sum_lanes(lanes: F32x16) -> f64 {
    let mut values = AlignedF32x16::ZERO;
    lanes.store(&mut values);
    values.0.iter().map(|number| f64::from(*number)).sum()
}
