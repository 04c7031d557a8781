//! Vectors of sixteen lanes in one AVX-512 register, for the innermost loops of networks.

#![allow(
    unsafe_code,
    reason = "instructions beyond the baseline are called only if they were detected"
)]

#[allow(
    clippy::wildcard_imports,
    reason = "a dozen instructions, each named by what it does"
)]
use std::arch::x86_64::*;

use super::{F32_LANES, Lanes, SimdToken};

/// Proof that the CPU has AVX-512 and the instructions of [`SimdToken`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512Token(SimdToken);

/// Sixteen values in one register.
#[derive(Clone, Copy)]
pub(crate) struct F32x16Avx512(__m512);

impl Avx512Token {
    /// The token, if the CPU has the instructions.
    ///
    /// VBMI2 is not used: Ice Lake and Zen 4 introduced it. Processors with AVX-512 before them
    /// reduce their frequency for its multiply-adds, some have only one unit for them, and none was
    /// at hand to measure.
    pub(crate) fn detect(simd: SimdToken) -> Option<Self> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2");
        all.then_some(Self(simd))
    }
}

impl Lanes for F32x16Avx512 {
    type Token = Avx512Token;
    const HAS_32_REGISTERS: bool = true;

    #[inline(always)]
    fn simd(token: Avx512Token) -> SimdToken {
        token.0
    }

    #[inline(always)]
    fn splat(_: Avx512Token, value: f32) -> Self {
        // SAFETY: the token proves that the instructions exist, here and in all functions below;
        // so does a value of this type.
        Self(unsafe { _mm512_set1_ps(value) })
    }

    #[inline(always)]
    fn load(_: Avx512Token, values: &[f32; F32_LANES]) -> Self {
        // SAFETY: sixteen values begin there.
        Self(unsafe { _mm512_loadu_ps(values.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, out: &mut [f32; F32_LANES]) {
        // SAFETY: sixteen values begin there.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), self.0) };
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, term.0) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }

    #[inline(always)]
    fn leaky_relu(self, slope: Self) -> Self {
        // SAFETY: as above. The product is the larger one exactly where the value is not positive.
        Self(unsafe { _mm512_max_ps(self.0, _mm512_mul_ps(self.0, slope.0)) })
    }

    #[inline(always)]
    fn keep_where_positive(self, condition: Self) -> Self {
        // SAFETY: as above.
        unsafe {
            // A mask register instead of a vector of masks.
            let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(condition.0, _mm512_setzero_ps());
            Self(_mm512_maskz_mov_ps(positive, self.0))
        }
    }
}
