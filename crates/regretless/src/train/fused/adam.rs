//! The Adam step (Kingma and Ba 2015; with weight decay AdamW, Loshchilov and Hutter 2019) on
//! sixteen parameters at a time: one SIMD vector, or one parameter of each cost of a tile.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::tile_block::TileAffine;
use crate::simd::{AlignedF32x16, AlignedF64x16, F32_LANES, F32x16, SimdToken, dispatch_simd};

/// Coefficients of one Adam step.
#[derive(Debug, Clone, Copy)]
pub(super) struct AdamCoefficients {
    /// The learning rate divided by the bias correction of the first moment.
    pub(super) learning_rate: f32,
    /// 1 / √(1 − β₂ᵗ), the bias correction of the root of the second moment.
    pub(super) second_correction: f32,
    pub(super) beta1: f32,
    pub(super) beta2: f32,
    pub(super) epsilon: f32,
    /// The factor by which weight decay multiplies parameters.
    pub(super) decay_factor: f32,
}

/// Coefficients of one Adam step, broadcast to all lanes.
#[derive(Clone, Copy)]
pub(super) struct AdamBroadcast {
    /// With a minus sign.
    learning_rate: F32x16,
    second_correction: F32x16,
    one_minus_beta1: F32x16,
    beta2: F32x16,
    one_minus_beta2: F32x16,
    epsilon: F32x16,
    decay_factor: F32x16,
}

/// Sixteen parameters with their first and second moments, in registers.
#[derive(Clone, Copy)]
struct AdamLanes {
    weight: F32x16,
    first: F32x16,
    second: F32x16,
}

impl AdamBroadcast {
    #[inline(always)]
    pub(super) fn new(simd: SimdToken, step: &AdamCoefficients) -> Self {
        Self {
            // The sign is part of the coefficient, so the update is one multiply-add.
            learning_rate: simd.splat(-step.learning_rate),
            second_correction: simd.splat(step.second_correction),
            one_minus_beta1: simd.splat(1.0 - step.beta1),
            beta2: simd.splat(step.beta2),
            one_minus_beta2: simd.splat(1.0 - step.beta2),
            epsilon: simd.splat(step.epsilon),
            decay_factor: simd.splat(step.decay_factor),
        }
    }

    /// Parameters and moments after a step.
    #[inline(always)]
    fn step(&self, gradient: F32x16, before: AdamLanes) -> AdamLanes {
        let AdamLanes {
            weight,
            first,
            second,
        } = before;
        // first + (1 − β₁)(gradient − first): one rounding less than β₁ · first + (1 − β₁) ·
        // gradient.
        let first = gradient.sub(first).mul_add(self.one_minus_beta1, first);
        let new_square = gradient.mul(self.one_minus_beta2).mul(gradient);
        let second = second.mul_add(self.beta2, new_square);
        // The correction of the root of the second moment is a factor here, so bias correction
        // needs no division.
        let divisor = second.sqrt().mul_add(self.second_correction, self.epsilon);
        let update = first.mul(self.learning_rate).div(divisor);
        AdamLanes {
            // Decoupled weight decay (AdamW): the factor is 1 without decay.
            weight: weight.mul_add(self.decay_factor, update),
            first,
            second,
        }
    }

    /// Steps up to sixteen consecutive parameters, given as many moments.
    #[inline(always)]
    pub(super) fn step_slices(
        &self,
        simd: SimdToken,
        gradient: F32x16,
        weights: &mut [f32],
        firsts: &mut [f32],
        seconds: &mut [f32],
    ) {
        let full = (
            weights.first_chunk_mut(),
            firsts.first_chunk_mut(),
            seconds.first_chunk_mut(),
        );
        // A full vector is the common case; only the end of a row is loaded in part.
        if let (Some(weight), Some(first), Some(second)) = full {
            let before = AdamLanes {
                weight: simd.load(weight),
                first: simd.load(first),
                second: simd.load(second),
            };
            let after = self.step(gradient, before);
            after.weight.store_unaligned(weight);
            after.first.store_unaligned(first);
            after.second.store_unaligned(second);
        } else {
            let before = AdamLanes {
                weight: simd.load_partial(weights),
                first: simd.load_partial(firsts),
                second: simd.load_partial(seconds),
            };
            let after = self.step(gradient, before);
            after.weight.store_partial(weights);
            after.first.store_partial(firsts);
            after.second.store_partial(seconds);
        }
    }

    /// Steps all parameters of a tile. Writes the new `w`, the parameters as they act on features,
    /// in double precision; an empty `w` skips that.
    #[inline(always)]
    pub(super) fn step_tile(
        &self,
        simd: SimdToken,
        weights: &mut [AlignedF32x16],
        gradient: &[AlignedF32x16],
        moments: &mut [AlignedF32x16],
        map: &TileAffine,
        w: &mut [AlignedF64x16],
    ) {
        let scale = simd.load(&map.scale.0);
        let (firsts, seconds) = moments.split_at_mut(weights.len());
        let states = weights.iter_mut().zip(firsts.iter_mut().zip(seconds));
        for (q, ((weight, (first, second)), gradient)) in states.zip(gradient).enumerate() {
            // The chain rule through the affine map from outputs to costs.
            let gradient = simd.load(&gradient.0).mul(scale);
            let before = AdamLanes {
                weight: simd.load(&weight.0),
                first: simd.load(&first.0),
                second: simd.load(&second.0),
            };
            let after = self.step(gradient, before);
            after.first.store(first);
            after.second.store(second);
            after.weight.store(weight);
            // The Gram matrix needs the new parameters, which are in registers here.
            if let Some(w) = w.get_mut(q) {
                scale.mul(after.weight).store_f64(w);
            }
        }
        // Only the bias is shifted by the offset.
        if let (Some(w), Some(bias)) = (w.last_mut(), weights.last()) {
            scale
                .mul_add(simd.load(&bias.0), simd.load(&map.offset.0))
                .store_f64(w);
        }
    }
}

dispatch_simd! {
    /// Steps parameters stored in a row, given their gradient and their first and second moments.
    pub(super) step_row = step_row_body [] (
        weights: &mut [f32],
        gradient: &[f32],
        first_moments: &mut [f32],
        second_moments: &mut [f32],
        step: &AdamCoefficients,
    )
}

#[inline(always)]
fn step_row_body(
    simd: SimdToken,
    weights: &mut [f32],
    gradient: &[f32],
    first_moments: &mut [f32],
    second_moments: &mut [f32],
    step: &AdamCoefficients,
) {
    let adam = AdamBroadcast::new(simd, step);
    let (weights, last_weights) = weights.as_chunks_mut::<F32_LANES>();
    let (gradient, last_gradient) = gradient.as_chunks();
    let (firsts, last_firsts) = first_moments.as_chunks_mut::<F32_LANES>();
    let (seconds, last_seconds) = second_moments.as_chunks_mut::<F32_LANES>();
    for (((weight, gradient), first), second) in
        weights.iter_mut().zip(gradient).zip(firsts).zip(seconds)
    {
        adam.step_slices(simd, simd.load(gradient), weight, first, second);
    }
    // The remainder: partial loads and stores of the last vector.
    let gradient = simd.load_partial(last_gradient);
    adam.step_slices(simd, gradient, last_weights, last_firsts, last_seconds);
}
