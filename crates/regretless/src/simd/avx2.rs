//! Vectors of sixteen lanes in two AVX2 registers.

#![allow(
    unsafe_code,
    reason = "instructions beyond the baseline are called only if they were detected"
)]

#[allow(
    clippy::wildcard_imports,
    reason = "three dozen instructions, each named by what it does"
)]
use std::arch::x86_64::*;

use super::{AlignedF32x8, AlignedF32x16, AlignedF64x16, F32_LANES, F64_LANES, SIGN_BIT_SHIFTS};

/// Proof that the CPU has the instructions of this module: AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimdToken(());

/// Sixteen values in registers.
#[derive(Clone, Copy)]
pub(crate) struct F32x16([__m256; 2]);

/// Eight values in a register.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

/// Four values in double precision in a register.
#[derive(Clone, Copy)]
pub(crate) struct F64x4(__m256d);

/// Sixteen lanes with all bits set, then sixteen with none: windows of it mask partial loads.
static PARTIAL_LOAD_MASKS: [i32; 2 * F32_LANES] = {
    let mut masks = [0; 2 * F32_LANES];
    let mut i = 0;
    while i < F32_LANES {
        masks[i] = -1;
        i += 1;
    }
    masks
};

/// Within each 128-bit half: four rows of four values become four columns.
///
/// # Safety
/// The CPU must have AVX.
#[inline(always)]
unsafe fn transpose_4x4([p, q, r, s]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: guaranteed by the caller.
    // Interleaves pairs of rows, then pairs of pairs; each 128-bit half is transposed by itself.
    unsafe {
        let (pq, pq_high) = (_mm256_unpacklo_ps(p, q), _mm256_unpackhi_ps(p, q));
        let (rs, rs_high) = (_mm256_unpacklo_ps(r, s), _mm256_unpackhi_ps(r, s));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(pq, rs),
            _mm256_shuffle_ps::<0b11_10_11_10>(pq, rs),
            _mm256_shuffle_ps::<0b01_00_01_00>(pq_high, rs_high),
            _mm256_shuffle_ps::<0b11_10_11_10>(pq_high, rs_high),
        ]
    }
}

/// Transposes eight rows of eight values.
///
/// # Safety
/// The CPU must have AVX.
#[inline(always)]
unsafe fn transpose_8x8([a, b, c, d, e, f, g, h]: [__m256; 8]) -> [__m256; 8] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        // Four rows at a time within halves, then the halves are exchanged.
        let (upper, lower) = (transpose_4x4([a, b, c, d]), transpose_4x4([e, f, g, h]));
        [
            _mm256_permute2f128_ps::<0x20>(upper[0], lower[0]),
            _mm256_permute2f128_ps::<0x20>(upper[1], lower[1]),
            _mm256_permute2f128_ps::<0x20>(upper[2], lower[2]),
            _mm256_permute2f128_ps::<0x20>(upper[3], lower[3]),
            _mm256_permute2f128_ps::<0x31>(upper[0], lower[0]),
            _mm256_permute2f128_ps::<0x31>(upper[1], lower[1]),
            _mm256_permute2f128_ps::<0x31>(upper[2], lower[2]),
            _mm256_permute2f128_ps::<0x31>(upper[3], lower[3]),
        ]
    }
}

impl SimdToken {
    /// The token, if the CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        let both = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        both.then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn splat(self, value: f32) -> F32x16 {
        // SAFETY: `self` proves that the instructions exist, here and in all functions below.
        F32x16([unsafe { _mm256_set1_ps(value) }; 2])
    }

    #[inline(always)]
    pub(crate) fn load(self, values: &[f32; F32_LANES]) -> F32x16 {
        let start = values.as_ptr();
        // SAFETY: sixteen values begin at `start`.
        unsafe { F32x16([_mm256_loadu_ps(start), _mm256_loadu_ps(start.add(8))]) }
    }

    /// Loads at most sixteen values; the other lanes are zero.
    #[inline(always)]
    pub(crate) fn load_partial(self, values: &[f32]) -> F32x16 {
        let (start, [low, high]) = (values.as_ptr(), self.mask(values.len()));
        // The pointer of the upper half may lie beyond the end; its lanes are masked then.
        // SAFETY: lanes beyond the end are masked and not read.
        unsafe {
            F32x16([
                _mm256_maskload_ps(start, low),
                _mm256_maskload_ps(start.wrapping_add(8), high),
            ])
        }
    }

    /// A mask with all bits set in the first `count` lanes.
    #[inline(always)]
    fn mask(self, count: usize) -> [__m256i; 2] {
        // A window that begins `count` places before the zeros has as many lanes set.
        let start = &PARTIAL_LOAD_MASKS[F32_LANES - count.min(F32_LANES)..];
        // SAFETY: at least sixteen values begin at `start`.
        unsafe {
            [
                _mm256_loadu_si256(start.as_ptr().cast()),
                _mm256_loadu_si256(start.as_ptr().add(8).cast()),
            ]
        }
    }

    /// Loads up to sixteen rows, which begin every `row_stride` values, as columns: vector k holds
    /// value k of each row, and zeros where there is no row.
    #[inline(always)]
    pub(crate) fn load_transposed(
        self,
        values: &[f32],
        rows: usize,
        row_stride: usize,
        out: &mut [AlignedF32x16],
    ) {
        // One check for the whole block, instead of one per load.
        assert!(
            rows <= F32_LANES && (rows == 0 || values.len() >= (rows - 1) * row_stride + out.len()),
            "values must contain all rows"
        );
        // Blocks of eight columns are transposed in registers; a partial set of rows, and the
        // columns beyond the last block, value by value.
        let full_blocks = if rows == F32_LANES {
            out.len() / 8 * 8
        } else {
            0
        };
        for (k, vectors) in out[..full_blocks].chunks_exact_mut(8).enumerate() {
            for half in 0..2 {
                // SAFETY: by the assertion, eight values begin there in each of eight rows; there
                // are eight vectors.
                unsafe {
                    let start = values.as_ptr().add(8 * half * row_stride + 8 * k);
                    let mut rows = [_mm256_setzero_ps(); 8];
                    for (i, row) in rows.iter_mut().enumerate() {
                        *row = _mm256_loadu_ps(start.add(i * row_stride));
                    }
                    let columns = transpose_8x8(rows);
                    for (k, column) in columns.iter().enumerate() {
                        _mm256_storeu_ps(vectors[k].0.as_mut_ptr().add(8 * half), *column);
                    }
                }
            }
        }
        for k in full_blocks..out.len() {
            out[k] = AlignedF32x16::ZERO;
            for row in 0..rows {
                out[k].0[row] = values[row * row_stride + k];
            }
        }
    }

    /// Transposes eight vectors of eight lanes.
    #[inline(always)]
    pub(crate) fn transpose(self, rows: [F32x8; 8]) -> [F32x8; 8] {
        // SAFETY: as above.
        unsafe {
            let [a, b, c, d, e, f, g, h] = rows;
            let [a, b, c, d, e, f, g, h] = transpose_8x8([a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]);
            [
                F32x8(a),
                F32x8(b),
                F32x8(c),
                F32x8(d),
                F32x8(e),
                F32x8(f),
                F32x8(g),
                F32x8(h),
            ]
        }
    }

    #[inline(always)]
    pub(crate) fn splat_f32x8(self, value: f32) -> F32x8 {
        // SAFETY: as above.
        F32x8(unsafe { _mm256_set1_ps(value) })
    }

    #[inline(always)]
    pub(crate) fn load_f32x8(self, values: &[f32; 8]) -> F32x8 {
        // SAFETY: eight values begin there.
        F32x8(unsafe { _mm256_loadu_ps(values.as_ptr()) })
    }

    /// A vector with only the sign bit set (−0.0) in lane i if bit i of half `half` of `word` is 1
    /// (half 0 is the lower 16 bits), and 0.0 elsewhere.
    #[inline(always)]
    pub(crate) fn sign_mask(self, word: &u32, half: usize) -> F32x16 {
        let shifts = &SIGN_BIT_SHIFTS[half];
        // SAFETY: sixteen values begin at `shifts`.
        unsafe {
            // Each lane shifts the whole word by its own distance, which brings its bit to the
            // position of the sign.
            let word = _mm256_castps_si256(_mm256_broadcast_ss(&f32::from_bits(*word)));
            let sign = _mm256_set1_ps(-0.0);
            let half = |start: *const u32| {
                let shifted = _mm256_sllv_epi32(word, _mm256_loadu_si256(start.cast()));
                _mm256_and_ps(_mm256_castsi256_ps(shifted), sign)
            };
            F32x16([half(shifts.as_ptr()), half(shifts.as_ptr().add(8))])
        }
    }

    #[inline(always)]
    pub(crate) fn zero_f64x4(self) -> F64x4 {
        // SAFETY: as above.
        F64x4(unsafe { _mm256_setzero_pd() })
    }

    #[inline(always)]
    pub(crate) fn splat_f64x4(self, value: f64) -> F64x4 {
        // SAFETY: as above.
        F64x4(unsafe { _mm256_set1_pd(value) })
    }

    /// Loads the lower and the upper half of eight values.
    #[inline(always)]
    pub(crate) fn load_f64x8(self, values: &[f64; 8]) -> [F64x4; 2] {
        let start = values.as_ptr();
        // SAFETY: eight values begin there.
        unsafe {
            [
                F64x4(_mm256_loadu_pd(start)),
                F64x4(_mm256_loadu_pd(start.add(F64_LANES))),
            ]
        }
    }

    /// Loads values 4·index to 4·index + 3.
    #[inline(always)]
    pub(crate) fn load_f64x4(self, doubles: &AlignedF64x16, index: usize) -> F64x4 {
        let four = &doubles.0[F64_LANES * index..F64_LANES * index + F64_LANES];
        // SAFETY: four values begin there.
        F64x4(unsafe { _mm256_loadu_pd(four.as_ptr()) })
    }

    /// Prefetches the element `offset` places after an address into all cache levels.
    #[inline(always)]
    pub(crate) fn prefetch<T>(self, start: *const T, offset: usize) {
        // SAFETY: a prefetch never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset).cast()) }
    }
}

/// Operations on both registers.
macro_rules! halfwise {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $operation:expr;)*) => {
        impl F32x16 {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(crate) fn $name(self $(, $arg: Self)*) -> Self {
                    // SAFETY: a value of `F32x16` exists only if the instructions do.
                    let half = |i: usize| unsafe { $operation(self.0[i] $(, $arg.0[i])*) };
                    Self([half(0), half(1)])
                }
            )*
        }
    };
}

halfwise! {
    /// self · factor + term, rounded once.
    mul_add(factor, term) = |a, b, c| _mm256_fmadd_ps(a, b, c);
    add(other) = |a, b| _mm256_add_ps(a, b);
    sub(other) = |a, b| _mm256_sub_ps(a, b);
    mul(other) = |a, b| _mm256_mul_ps(a, b);
    div(other) = |a, b| _mm256_div_ps(a, b);
    sqrt() = |a| _mm256_sqrt_ps(a);
    /// The larger of both; `other` where they are equal or one is NaN.
    max(other) = |a, b| _mm256_max_ps(a, b);
    /// max(a, 0); NaN becomes 0.
    max_zero() = |a| _mm256_max_ps(a, _mm256_setzero_ps());
    and(other) = |a, b| _mm256_and_ps(a, b);
    or(other) = |a, b| _mm256_or_ps(a, b);
    xor(other) = |a, b| _mm256_xor_ps(a, b);
    /// All bits set where positive, none elsewhere.
    positive_mask() = |a| _mm256_cmp_ps::<_CMP_GT_OQ>(a, _mm256_setzero_ps());
    /// All bits set where not zero, none elsewhere.
    nonzero_mask() = |a| _mm256_cmp_ps::<_CMP_NEQ_OQ>(a, _mm256_setzero_ps());
    /// `other` where the sign bit of `condition` is set, `self` elsewhere.
    select_by_sign(other, condition) = |a, b, s| _mm256_blendv_ps(a, b, s);
    /// The sign bits; all other bits are cleared.
    sign_bits() = |a| _mm256_and_ps(a, _mm256_set1_ps(-0.0));
}

impl F32x16 {
    #[inline(always)]
    pub(crate) fn store(self, out: &mut AlignedF32x16) {
        self.store_unaligned(&mut out.0);
    }

    /// Stores to memory of any alignment.
    #[inline(always)]
    pub(crate) fn store_unaligned(self, out: &mut [f32; F32_LANES]) {
        let start = out.as_mut_ptr();
        // SAFETY: sixteen values begin at `start`.
        unsafe {
            _mm256_storeu_ps(start, self.0[0]);
            _mm256_storeu_ps(start.add(8), self.0[1]);
        }
    }

    /// Stores the first `out.len()` lanes, at most sixteen.
    #[inline(always)]
    pub(crate) fn store_partial(self, out: &mut [f32]) {
        // Stored as a whole and copied in part: there are no stores of a varying length without a
        // mask.
        let mut stored = AlignedF32x16::ZERO;
        self.store(&mut stored);
        let count = out.len().min(F32_LANES);
        out[..count].copy_from_slice(&stored.0[..count]);
    }

    /// Adds the products of lanes i + 8, then of lanes i, to sum i.
    #[inline(always)]
    pub(crate) fn add_product_to(self, factor: Self, sums: &mut AlignedF32x8) {
        let start = sums.0.as_mut_ptr();
        // SAFETY: eight values begin at `start`.
        unsafe {
            // The upper half first: `portable.rs` adds in the same order.
            let upper = _mm256_fmadd_ps(self.0[1], factor.0[1], _mm256_loadu_ps(start));
            _mm256_storeu_ps(start, _mm256_fmadd_ps(self.0[0], factor.0[0], upper));
        }
    }

    /// Converts to double precision and stores.
    #[inline(always)]
    pub(crate) fn store_f64(self, out: &mut AlignedF64x16) {
        let start = out.0.as_mut_ptr();
        for i in 0..2 {
            let half = self.0[i];
            // SAFETY: sixteen values begin at `start`.
            unsafe {
                _mm256_storeu_pd(
                    start.add(8 * i),
                    _mm256_cvtps_pd(_mm256_castps256_ps128(half)),
                );
                _mm256_storeu_pd(
                    start.add(8 * i + 4),
                    _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(half)),
                );
            }
        }
    }
}

impl F32x8 {
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        // SAFETY: a value of `F32x8` exists only if the instructions do.
        Self(unsafe { _mm256_add_ps(self.0, other.0) })
    }

    /// self · factor + term, rounded once.
    #[inline(always)]
    pub(crate) fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, term.0) })
    }

    #[inline(always)]
    pub(crate) fn mul(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }

    #[inline(always)]
    pub(crate) fn store(self, out: &mut [f32; 8]) {
        // SAFETY: eight values begin there.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), self.0) }
    }
}

impl F64x4 {
    #[inline(always)]
    pub(crate) fn mul_add(self, factor: Self, term: Self) -> Self {
        // SAFETY: a value of `F64x4` exists only if the instructions do.
        Self(unsafe { _mm256_fmadd_pd(self.0, factor.0, term.0) })
    }

    /// Adds each lane to its sum.
    #[inline(always)]
    pub(crate) fn add_to(self, sums: &mut [f64; F64_LANES]) {
        let start = sums.as_mut_ptr();
        // SAFETY: four values begin at `start`.
        unsafe { _mm256_storeu_pd(start, _mm256_add_pd(_mm256_loadu_pd(start), self.0)) };
    }
}
