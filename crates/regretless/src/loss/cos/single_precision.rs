//! The family on rows in single precision, sixteen numbers at a time: for callers who hold rows of
//! `f32` and want no others, such as the Python module.
//!
//! Formula and tie rules are those of `evaluate.rs`; results differ from it by rounding only.
//! One-sided errors are first judged as if nothing were chosen; the chosen few are then judged
//! again, one by one. Answers only where all variables are 0 or 1 and errors count fully or on one
//! side.

#![allow(
    unsafe_code,
    reason = "the functions compiled for more instructions than the baseline are called here"
)]

use super::evaluate::MIN_NORM;
use super::{BaseError, CosSpec, ErrorSide};
use crate::decision::Decision;
use crate::simd::{AlignedF32x16, Avx2Fma, F32_LANES, F32x16, dispatch_avx2};

/// Chunks summed in single precision before the sum is added up in double precision.
const CHUNKS_PER_F64_SUM: usize = 64;

/// One instance in single precision.
#[derive(Debug, Clone, Copy)]
pub struct SinglePrecisionInput<'a> {
    /// True costs, to be minimised.
    pub costs: &'a [f32],
    /// Predicted costs, in the sense of the user.
    pub prediction: &'a [f32],
    /// Turns predictions into costs to be minimised: 1 or −1.
    pub sign: f32,
    /// Best decision under the true costs.
    pub best: &'a Decision,
}

/// What a row is multiplied by on its way to an error.
#[derive(Clone, Copy)]
struct NormScales {
    prediction: f32,
    costs: f32,
}

/// Sums over the costs of one row, in double precision.
#[derive(Default)]
struct SinglePrecisionSums {
    value: f64,
    /// Slopes along the scaled prediction.
    along: f64,
}

/// The mean over costs, and its gradient with respect to the prediction in the sense of the user;
/// nothing where this member, these bounds or this processor need the plain way.
pub(super) fn evaluate(
    cos: &CosSpec,
    query: &SinglePrecisionInput<'_>,
    gradient: &mut [f32],
) -> Option<f64> {
    let simd = Avx2Fma::detect()?;
    let one_sided = match &cos.side {
        ErrorSide::Both => false,
        ErrorSide::OneSided => true,
        ErrorSide::Sensitive(_) | ErrorSide::Pinball(_) => return None,
    };
    let absolute = cos.error == BaseError::Absolute;
    let (length, true_length) = norms(simd, cos.scale_invariant, query);
    let at = NormScales {
        prediction: query.sign / length.max(MIN_NORM) as f32,
        costs: 1.0 / true_length.max(MIN_NORM) as f32,
    };
    let mut sums = SinglePrecisionSums::default();
    match (absolute, one_sided) {
        (false, false) => slopes::<false, false>(simd, query, at, gradient, &mut sums),
        (false, true) => slopes::<false, true>(simd, query, at, gradient, &mut sums),
        (true, false) => slopes::<true, false>(simd, query, at, gradient, &mut sums),
        (true, true) => slopes::<true, true>(simd, query, at, gradient, &mut sums),
    }
    if one_sided {
        evaluate_selected(absolute, query, at, (gradient, &mut sums));
    }
    // What is no finite number, or too large for these sums, is left to the plain way and its
    // messages.
    if !(length.is_finite()
        && true_length.is_finite()
        && sums.along.is_finite()
        && sums.value.is_finite())
    {
        return None;
    }
    let count = query.costs.len() as f64;
    // As in the plain way, a prediction without a direction steps as if it had the length of the
    // truth.
    let (unit, along) = if length < MIN_NORM {
        (true_length, 0.0)
    } else {
        (length, sums.along)
    };
    let slope = f64::from(query.sign) / (unit * count);
    let along = if cos.scale_invariant {
        along * f64::from(at.prediction) * slope
    } else {
        0.0
    };
    finish(
        simd,
        query.prediction,
        (slope as f32, -along as f32),
        gradient,
    );
    Some(sums.value / count)
}

/// Lengths of prediction and truth, or 1 where they do not matter.
fn norms(simd: Avx2Fma, matter: bool, query: &SinglePrecisionInput<'_>) -> (f64, f64) {
    let mut squares = [1.0; 2];
    if matter {
        square(simd, query.prediction, &mut squares[0]);
        square(simd, query.costs, &mut squares[1]);
    }
    (squares[0].sqrt(), squares[1].sqrt().max(MIN_NORM))
}

/// Judges the chosen variables again: theirs are the errors upwards.
fn evaluate_selected(
    absolute: bool,
    query: &SinglePrecisionInput<'_>,
    at: NormScales,
    (gradient, sums): (&mut [f32], &mut SinglePrecisionSums),
) {
    for (j, _) in query.best.iter() {
        let scaled = query.prediction[j] * at.prediction;
        let error = scaled - query.costs[j] * at.costs;
        let (value, slope) = match absolute {
            true if error == 0.0 => (0.0, 0.0),
            true => (error.abs(), error.signum()),
            false => (error * error, 2.0 * error),
        };
        let counts = if error > 0.0 { 1.0 } else { -1.0 };
        sums.value += counts * f64::from(value);
        sums.along += counts * f64::from(slope) * f64::from(scaled);
        gradient[j] = if error > 0.0 { slope } else { 0.0 };
    }
}

dispatch_avx2! {
    /// Sum of squares.
    square = square_body [] (row: &[f32], out: &mut f64)
}

dispatch_avx2! {
    /// Sums of a row; leaves slopes with respect to the errors in `gradient`.
    slopes = slopes_body [ABSOLUTE: bool, ONE_SIDED: bool]
        (query: &SinglePrecisionInput<'_>, at: NormScales, gradient: &mut [f32], sums: &mut SinglePrecisionSums)
}

dispatch_avx2! {
    /// Slopes become the gradient: slope · first + prediction · second.
    finish = finish_body [] (prediction: &[f32], factors: (f32, f32), gradient: &mut [f32])
}

#[inline(always)]
fn square_body(simd: Avx2Fma, row: &[f32], out: &mut f64) {
    *out = 0.0;
    for block in row.chunks(CHUNKS_PER_F64_SUM * F32_LANES) {
        let mut sum = simd.splat(0.0);
        for part in block.chunks(F32_LANES) {
            let numbers = read(simd, part);
            sum = numbers.mul_add(numbers, sum);
        }
        *out += total(sum);
    }
}

#[inline(always)]
fn slopes_body<const ABSOLUTE: bool, const ONE_SIDED: bool>(
    simd: Avx2Fma,
    query: &SinglePrecisionInput<'_>,
    at: NormScales,
    gradient: &mut [f32],
    sums: &mut SinglePrecisionSums,
) {
    let (scale, true_scale) = (simd.splat(at.prediction), simd.splat(-at.costs));
    let blocks = query
        .prediction
        .chunks(CHUNKS_PER_F64_SUM * F32_LANES)
        .zip(query.costs.chunks(CHUNKS_PER_F64_SUM * F32_LANES));
    for ((prediction, costs), gradient) in
        blocks.zip(gradient.chunks_mut(CHUNKS_PER_F64_SUM * F32_LANES))
    {
        let (mut value, mut along) = (simd.splat(0.0), simd.splat(0.0));
        for ((p, c), g) in prediction
            .chunks(F32_LANES)
            .zip(costs.chunks(F32_LANES))
            .zip(gradient.chunks_mut(F32_LANES))
        {
            let scaled = read(simd, p).mul(scale);
            let error = read(simd, c).mul_add(true_scale, scaled);
            let (term, slope) = evaluate_errors::<ABSOLUTE, ONE_SIDED>(simd, error);
            value = value.add(term);
            along = slope.mul_add(scaled, along);
            write(slope, g);
        }
        sums.value += total(value);
        sums.along += total(along);
    }
}

/// What errors cost, and the derivatives; of one-sided ones only those downwards.
#[inline(always)]
fn evaluate_errors<const ABSOLUTE: bool, const ONE_SIDED: bool>(
    simd: Avx2Fma,
    error: F32x16,
) -> (F32x16, F32x16) {
    let minus = simd.splat(-0.0);
    let error = if ONE_SIDED {
        error.xor(minus).max_zero().xor(minus)
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
fn finish_body(simd: Avx2Fma, prediction: &[f32], factors: (f32, f32), gradient: &mut [f32]) {
    let (slope, along) = (simd.splat(factors.0), simd.splat(factors.1));
    for (p, g) in prediction
        .chunks(F32_LANES)
        .zip(gradient.chunks_mut(F32_LANES))
    {
        write(read(simd, p).mul_add(along, read(simd, g).mul(slope)), g);
    }
}

#[inline(always)]
fn read(simd: Avx2Fma, part: &[f32]) -> F32x16 {
    match part.first_chunk::<F32_LANES>() {
        Some(whole) => simd.load(whole),
        None => simd.load_partial(part),
    }
}

#[inline(always)]
fn write(lanes: F32x16, part: &mut [f32]) {
    match part.first_chunk_mut::<F32_LANES>() {
        Some(whole) => lanes.store_slice(whole),
        None => lanes.store_partial(part),
    }
}

/// All sixteen numbers added up, in order.
#[inline(always)]
fn total(lanes: F32x16) -> f64 {
    let mut lane = AlignedF32x16::ZERO;
    lanes.store(&mut lane);
    lane.0.iter().map(|number| f64::from(*number)).sum()
}
