//! Sixteen numbers at once: the arithmetic of the fused kernel.
//!
//! On x86-64 a [`Lanes`] is two AVX2 registers, elsewhere an array. Both round every operation the same
//! way, with fused multiplication and addition everywhere, so that results depend on neither. A value
//! exists only where the processor has the instructions: the ways to make one need an [`Instructions`],
//! which only [`Instructions::here`] gives.

#![allow(unsafe_code, reason = "instructions beyond the baseline are called where the processor was asked for them")]

/// Numbers handled together.
pub(super) const LANES: usize = 16;
/// Numbers handled together in double precision.
pub(super) const QUARTER: usize = 4;

/// Sixteen numbers in memory, on a cache line of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Lane(pub(super) [f32; LANES]);

impl Lane {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

/// Eight partial sums in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(super) struct Half(pub(super) [f32; LANES / 2]);

impl Half {
    pub(super) const ZERO: Self = Self([0.0; LANES / 2]);

    /// Adds the numbers to four sums in double precision, each with the one four places on.
    pub(super) fn add_to(&self, sums: &mut [f64; QUARTER]) {
        let (low, high) = self.0.split_at(QUARTER);
        for ((sum, low), high) in sums.iter_mut().zip(low).zip(high) {
            *sum += f64::from(*low) + f64::from(*high);
        }
    }
}

/// Sixteen numbers in memory, in double precision.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Doubles(pub(super) [f64; LANES]);

impl Doubles {
    pub(super) const ZERO: Self = Self([0.0; LANES]);
}

/// By how many places a bit moves to become the sign of its lane: those of a word's lower half, then those
/// of its upper half.
static SHIFTS: [[u32; LANES]; 2] = [
    [31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16],
    [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];

#[cfg(not(target_arch = "x86_64"))]
pub(super) use anywhere::{Instructions, Lanes};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Instructions, Lanes};

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[allow(clippy::wildcard_imports, reason = "three dozen instructions, each named by what it does")]
    use std::arch::x86_64::*;

    use super::{Doubles, Half, LANES, Lane, QUARTER, SHIFTS};

    /// The promise that this processor has AVX2 and FMA.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Instructions(());

    /// Sixteen numbers in registers.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Lanes([__m256; 2]);

    /// Four numbers in double precision in a register.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Quarter(__m256d);

    impl Instructions {
        /// The promise, where it can be given.
        pub(in super::super) fn here() -> Option<Self> {
            let both = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            both.then_some(Self(()))
        }

        #[inline(always)]
        pub(in super::super) fn splat(self, value: f32) -> Lanes {
            // SAFETY: `self` promises the instructions, here and in all functions below.
            Lanes([unsafe { _mm256_set1_ps(value) }; 2])
        }

        #[inline(always)]
        pub(in super::super) fn read(self, values: &[f32; LANES]) -> Lanes {
            let start = values.as_ptr();
            // SAFETY: sixteen numbers begin at `start`.
            unsafe { Lanes([_mm256_loadu_ps(start), _mm256_loadu_ps(start.add(8))]) }
        }

        /// Minus zero where the bit of a lane is set in one half of a word, zero elsewhere.
        #[inline(always)]
        pub(in super::super) fn signs(self, word: &u32, half: usize) -> Lanes {
            let shifts = &SHIFTS[half];
            // SAFETY: sixteen numbers begin at `shifts`.
            unsafe {
                let word = _mm256_castps_si256(_mm256_broadcast_ss(&f32::from_bits(*word)));
                let sign = _mm256_set1_ps(-0.0);
                let half = |start: *const u32| {
                    let shifted = _mm256_sllv_epi32(word, _mm256_loadu_si256(start.cast()));
                    _mm256_and_ps(_mm256_castsi256_ps(shifted), sign)
                };
                Lanes([half(shifts.as_ptr()), half(shifts.as_ptr().add(8))])
            }
        }

        #[inline(always)]
        pub(in super::super) fn zero_quarter(self) -> Quarter {
            // SAFETY: as above.
            Quarter(unsafe { _mm256_setzero_pd() })
        }

        /// Four of sixteen numbers.
        #[inline(always)]
        pub(in super::super) fn quarter(self, doubles: &Doubles, index: usize) -> Quarter {
            let four = &doubles.0[QUARTER * index..QUARTER * index + QUARTER];
            // SAFETY: four numbers begin there.
            Quarter(unsafe { _mm256_loadu_pd(four.as_ptr()) })
        }

        /// Asks for what lies some places after an address, before it is needed.
        #[inline(always)]
        pub(in super::super) fn prefetch<T>(self, start: *const T, places: usize) {
            // SAFETY: a prefetch never faults, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(places).cast()) }
        }
    }

    /// Operations on both halves.
    macro_rules! both {
        ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $of:expr;)*) => {
            impl Lanes {
                $(
                    $(#[$doc])*
                    #[inline(always)]
                    pub(in super::super) fn $name(self $(, $arg: Self)*) -> Self {
                        // SAFETY: a value of `Lanes` exists only where the instructions do.
                        let half = |i: usize| unsafe { $of(self.0[i] $(, $arg.0[i])*) };
                        Self([half(0), half(1)])
                    }
                )*
            }
        };
    }

    both! {
        /// self · factor + term, rounded once.
        fused(factor, term) = |a, b, c| _mm256_fmadd_ps(a, b, c);
        plus(other) = |a, b| _mm256_add_ps(a, b);
        minus(other) = |a, b| _mm256_sub_ps(a, b);
        times(other) = |a, b| _mm256_mul_ps(a, b);
        over(other) = |a, b| _mm256_div_ps(a, b);
        root() = |a| _mm256_sqrt_ps(a);
        /// Zero where it is less; what is no number becomes zero.
        above_zero() = |a| _mm256_max_ps(a, _mm256_setzero_ps());
        and(other) = |a, b| _mm256_and_ps(a, b);
        or(other) = |a, b| _mm256_or_ps(a, b);
        xor(other) = |a, b| _mm256_xor_ps(a, b);
        /// All bits where positive, none elsewhere.
        positive() = |a| _mm256_cmp_ps::<_CMP_GT_OQ>(a, _mm256_setzero_ps());
        /// All bits where not zero, none elsewhere.
        nonzero() = |a| _mm256_cmp_ps::<_CMP_NEQ_OQ>(a, _mm256_setzero_ps());
        /// `other` where the sign of `guide` is minus.
        or_where_minus(other, guide) = |a, b, s| _mm256_blendv_ps(a, b, s);
        /// Only the signs.
        sign() = |a| _mm256_and_ps(a, _mm256_set1_ps(-0.0));
    }

    impl Lanes {
        #[inline(always)]
        pub(in super::super) fn store(self, lane: &mut Lane) {
            let start = lane.0.as_mut_ptr();
            // SAFETY: sixteen numbers begin at `start`.
            unsafe {
                _mm256_storeu_ps(start, self.0[0]);
                _mm256_storeu_ps(start.add(8), self.0[1]);
            }
        }

        /// Adds products to sums, those of the upper half first.
        #[inline(always)]
        pub(in super::super) fn add_product_to(self, factor: Self, sums: &mut Half) {
            let start = sums.0.as_mut_ptr();
            // SAFETY: eight numbers begin at `start`.
            unsafe {
                let upper = _mm256_fmadd_ps(self.0[1], factor.0[1], _mm256_loadu_ps(start));
                _mm256_storeu_ps(start, _mm256_fmadd_ps(self.0[0], factor.0[0], upper));
            }
        }

        /// Stores in double precision.
        #[inline(always)]
        pub(in super::super) fn widen(self, out: &mut Doubles) {
            let start = out.0.as_mut_ptr();
            for i in 0..2 {
                let half = self.0[i];
                // SAFETY: sixteen numbers begin at `start`.
                unsafe {
                    _mm256_storeu_pd(start.add(8 * i), _mm256_cvtps_pd(_mm256_castps256_ps128(half)));
                    _mm256_storeu_pd(start.add(8 * i + 4), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(half)));
                }
            }
        }
    }

    impl Quarter {
        #[inline(always)]
        pub(in super::super) fn fused(self, factor: Self, term: Self) -> Self {
            // SAFETY: a value of `Quarter` exists only where the instructions do.
            Self(unsafe { _mm256_fmadd_pd(self.0, factor.0, term.0) })
        }

        /// Adds each number to its sum.
        #[inline(always)]
        pub(in super::super) fn add_to(self, sums: &mut [f64; QUARTER]) {
            let start = sums.as_mut_ptr();
            // SAFETY: four numbers begin at `start`.
            unsafe { _mm256_storeu_pd(start, _mm256_add_pd(_mm256_loadu_pd(start), self.0)) };
        }
    }
}

/// The same on arrays, for processors of other kinds.
#[cfg(not(target_arch = "x86_64"))]
mod anywhere {
    use super::{Doubles, Half, LANES, Lane, QUARTER, SHIFTS};

    /// The promise that multiplying and adding in one is an instruction here.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Instructions(());

    /// Sixteen numbers.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Lanes([f32; LANES]);

    /// Four numbers in double precision.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Quarter([f64; QUARTER]);

    impl Instructions {
        /// The promise, where it can be given.
        pub(in super::super) fn here() -> Option<Self> {
            cfg!(target_arch = "aarch64").then_some(Self(()))
        }

        #[inline(always)]
        pub(in super::super) fn splat(self, value: f32) -> Lanes {
            Lanes([value; LANES])
        }

        #[inline(always)]
        pub(in super::super) fn read(self, values: &[f32; LANES]) -> Lanes {
            Lanes(*values)
        }

        /// Minus zero where the bit of a lane is set in one half of a word, zero elsewhere.
        #[inline(always)]
        pub(in super::super) fn signs(self, word: &u32, half: usize) -> Lanes {
            Lanes(SHIFTS[half].map(|shift| f32::from_bits(word << shift & 0x8000_0000)))
        }

        #[inline(always)]
        pub(in super::super) fn zero_quarter(self) -> Quarter {
            Quarter([0.0; QUARTER])
        }

        /// Four of sixteen numbers.
        #[inline(always)]
        pub(in super::super) fn quarter(self, doubles: &Doubles, index: usize) -> Quarter {
            Quarter(std::array::from_fn(|l| doubles.0[QUARTER * index + l]))
        }

        /// Nothing, where there is no way to ask.
        #[inline(always)]
        pub(in super::super) fn prefetch<T>(self, _start: *const T, _places: usize) {}
    }

    /// Operations lane by lane.
    macro_rules! each {
        ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $of:expr;)*) => {
            impl Lanes {
                $(
                    $(#[$doc])*
                    #[inline(always)]
                    pub(in super::super) fn $name(self $(, $arg: Self)*) -> Self {
                        Self(std::array::from_fn(|l| $of(self.0[l] $(, $arg.0[l])*)))
                    }
                )*
            }
        };
    }

    fn mask(set: bool) -> f32 {
        f32::from_bits(if set { u32::MAX } else { 0 })
    }

    fn bits(a: f32, b: f32, of: impl Fn(u32, u32) -> u32) -> f32 {
        f32::from_bits(of(a.to_bits(), b.to_bits()))
    }

    each! {
        /// self · factor + term, rounded once.
        fused(factor, term) = |a: f32, b, c| a.mul_add(b, c);
        plus(other) = |a: f32, b: f32| a + b;
        minus(other) = |a: f32, b: f32| a - b;
        times(other) = |a: f32, b: f32| a * b;
        over(other) = |a: f32, b: f32| a / b;
        root() = |a: f32| a.sqrt();
        /// Zero where it is less; what is no number becomes zero.
        above_zero() = |a: f32| if a > 0.0 { a } else { 0.0 };
        and(other) = |a, b| bits(a, b, |a, b| a & b);
        or(other) = |a, b| bits(a, b, |a, b| a | b);
        xor(other) = |a, b| bits(a, b, |a, b| a ^ b);
        /// All bits where positive, none elsewhere.
        positive() = |a: f32| mask(a > 0.0);
        /// All bits where not zero, none elsewhere.
        nonzero() = |a: f32| mask(a < 0.0 || a > 0.0);
        /// `other` where the sign of `guide` is minus.
        or_where_minus(other, guide) = |a: f32, b: f32, s: f32| if s.is_sign_negative() { b } else { a };
        /// Only the signs.
        sign() = |a: f32| bits(a, -0.0, |a, b| a & b);
    }

    impl Lanes {
        #[inline(always)]
        pub(in super::super) fn store(self, lane: &mut Lane) {
            lane.0 = self.0;
        }

        /// Adds products to sums, those of the upper half first.
        #[inline(always)]
        pub(in super::super) fn add_product_to(self, factor: Self, sums: &mut Half) {
            for l in 0..LANES / 2 {
                let upper = self.0[l + LANES / 2].mul_add(factor.0[l + LANES / 2], sums.0[l]);
                sums.0[l] = self.0[l].mul_add(factor.0[l], upper);
            }
        }

        /// Stores in double precision.
        #[inline(always)]
        pub(in super::super) fn widen(self, out: &mut Doubles) {
            out.0 = self.0.map(f64::from);
        }
    }

    impl Quarter {
        #[inline(always)]
        pub(in super::super) fn fused(self, factor: Self, term: Self) -> Self {
            Self(std::array::from_fn(|l| self.0[l].mul_add(factor.0[l], term.0[l])))
        }

        /// Adds each number to its sum.
        #[inline(always)]
        pub(in super::super) fn add_to(self, sums: &mut [f64; QUARTER]) {
            for l in 0..QUARTER {
                sums[l] += self.0[l];
            }
        }
    }
}
