//! The Adam step (Kingma and Ba 2015; with decay AdamW, Loshchilov and Hutter 2019) on sixteen
//! numbers at a time.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after asking the processor for them"
)]

use super::kernel::TileAffine;
use crate::simd::{AlignedF32x16, AlignedF64x16, Avx2Fma, F32_LANES, F32x16, dispatch_avx2};

/// Numbers of one Adam step.
#[derive(Debug, Clone, Copy)]
pub(super) struct AdamCoefficients {
    pub(super) rate: f32,
    /// One over the root of the second moment's correction.
    pub(super) unroot: f32,
    pub(super) beta1: f32,
    pub(super) beta2: f32,
    pub(super) epsilon: f32,
    pub(super) keep: f32,
}

/// Numbers of one Adam step in all lanes.
#[derive(Clone, Copy)]
pub(super) struct AdamBroadcast {
    rate: F32x16,
    unroot: F32x16,
    fresh1: F32x16,
    beta2: F32x16,
    fresh2: F32x16,
    epsilon: F32x16,
    keep: F32x16,
}

impl AdamBroadcast {
    #[inline(always)]
    pub(super) fn new(simd: Avx2Fma, step: &AdamCoefficients) -> Self {
        Self {
            rate: simd.splat(-step.rate),
            unroot: simd.splat(step.unroot),
            fresh1: simd.splat(1.0 - step.beta1),
            beta2: simd.splat(step.beta2),
            fresh2: simd.splat(1.0 - step.beta2),
            epsilon: simd.splat(step.epsilon),
            keep: simd.splat(step.keep),
        }
    }

    /// Weights, means and squares after a step.
    #[inline(always)]
    fn step(&self, gradient: F32x16, [weight, mean, square]: [F32x16; 3]) -> [F32x16; 3] {
        let first = gradient.sub(mean).mul_add(self.fresh1, mean);
        let second = square.mul_add(self.beta2, gradient.mul(self.fresh2).mul(gradient));
        let change = first
            .mul(self.rate)
            .div(second.sqrt().mul_add(self.unroot, self.epsilon));
        [weight.mul_add(self.keep, change), first, second]
    }

    /// Steps all parameters of a tile; leaves them as they act on features where there is room.
    #[inline(always)]
    pub(super) fn tile(
        &self,
        simd: Avx2Fma,
        (weights, gradient): (&mut [AlignedF32x16], &[AlignedF32x16]),
        moments: &mut [AlignedF32x16],
        (map, scratch): (&TileAffine, &mut [AlignedF64x16]),
    ) {
        let scale = simd.load(&map.scale.0);
        let (means, squares) = moments.split_at_mut(weights.len());
        let states = weights.iter_mut().zip(means.iter_mut().zip(squares));
        for (q, ((weight, (mean, square)), gradient)) in states.zip(gradient).enumerate() {
            let gradient = simd.load(&gradient.0).mul(scale);
            let before = [
                simd.load(&weight.0),
                simd.load(&mean.0),
                simd.load(&square.0),
            ];
            let [after, first, second] = self.step(gradient, before);
            first.store(mean);
            second.store(square);
            after.store(weight);
            if let Some(scratch) = scratch.get_mut(q) {
                scale.mul(after).store_f64(scratch);
            }
        }
        if let (Some(scratch), Some(bias)) = (scratch.last_mut(), weights.last()) {
            scale
                .mul_add(simd.load(&bias.0), simd.load(&map.offset.0))
                .store_f64(scratch);
        }
    }
}

dispatch_avx2! {
    /// Steps parameters that lie in a row, given their gradient; `moments` are their running means
    /// and squares.
    pub(super) step_row = step_row_body [] (
        weights: &mut [f32], gradient: &[f32], moments: [&mut [f32]; 2], step: &AdamCoefficients,
    )
}

#[inline(always)]
fn step_row_body(
    simd: Avx2Fma,
    weights: &mut [f32],
    gradient: &[f32],
    [means, squares]: [&mut [f32]; 2],
    step: &AdamCoefficients,
) {
    let adam = AdamBroadcast::new(simd, step);
    let ((weights, last_weights), (gradient, last_gradient)) =
        (weights.as_chunks_mut::<F32_LANES>(), gradient.as_chunks());
    let ((means, last_means), (squares, last_squares)) =
        (means.as_chunks_mut(), squares.as_chunks_mut());
    for (((weight, gradient), mean), square) in
        weights.iter_mut().zip(gradient).zip(means).zip(squares)
    {
        let before = [simd.load(weight), simd.load(mean), simd.load(square)];
        let [after, first, second] = adam.step(simd.load(gradient), before);
        after.store_slice(weight);
        first.store_slice(mean);
        second.store_slice(square);
    }
    let before = [
        simd.load_partial(last_weights),
        simd.load_partial(last_means),
        simd.load_partial(last_squares),
    ];
    let [after, first, second] = adam.step(simd.load_partial(last_gradient), before);
    after.store_partial(last_weights);
    first.store_partial(last_means);
    second.store_partial(last_squares);
}
