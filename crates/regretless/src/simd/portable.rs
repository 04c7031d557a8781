//! Vectors of sixteen lanes as arrays: for CPUs other than x86-64, and as the reference of tests.

use super::{AlignedF32x8, AlignedF32x16, AlignedF64x16, F32_LANES, F64_LANES, SIGN_BIT_SHIFTS};

/// Proof that the CPU has a fused multiply-add instruction, as aarch64 always does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimdToken(());

/// Sixteen values.
#[derive(Clone, Copy)]
pub(crate) struct F32x16([f32; F32_LANES]);

/// Eight values.
#[derive(Clone, Copy)]
pub(crate) struct F32x8([f32; F32_LANES / 2]);

/// Four values in double precision.
#[derive(Clone, Copy)]
pub(crate) struct F64x4([f64; F64_LANES]);

impl SimdToken {
    /// The token, if the CPU has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        cfg!(any(target_arch = "aarch64", test)).then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn splat(self, value: f32) -> F32x16 {
        F32x16([value; F32_LANES])
    }

    #[inline(always)]
    pub(crate) fn load(self, values: &[f32; F32_LANES]) -> F32x16 {
        F32x16(*values)
    }

    /// Loads at most sixteen values; the other lanes are zero.
    #[inline(always)]
    pub(crate) fn load_partial(self, values: &[f32]) -> F32x16 {
        F32x16(std::array::from_fn(|lane| {
            values.get(lane).copied().unwrap_or(0.0)
        }))
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
        for (k, vector) in out.iter_mut().enumerate() {
            *vector = AlignedF32x16(std::array::from_fn(|row| {
                if row < rows {
                    values[row * row_stride + k]
                } else {
                    0.0
                }
            }));
        }
    }

    /// Transposes eight vectors of eight lanes.
    #[inline(always)]
    pub(crate) fn transpose(self, rows: [F32x8; 8]) -> [F32x8; 8] {
        std::array::from_fn(|column| F32x8(rows.map(|row| row.0[column])))
    }

    #[inline(always)]
    pub(crate) fn splat_f32x8(self, value: f32) -> F32x8 {
        F32x8([value; F32_LANES / 2])
    }

    #[inline(always)]
    pub(crate) fn load_f32x8(self, values: &[f32; 8]) -> F32x8 {
        F32x8(*values)
    }

    /// A vector with only the sign bit set (−0.0) in lane i if bit i of half `half` of `word` is 1
    /// (half 0 is the lower 16 bits), and 0.0 elsewhere.
    #[inline(always)]
    pub(crate) fn sign_mask(self, word: &u32, half: usize) -> F32x16 {
        F32x16(SIGN_BIT_SHIFTS[half].map(|shift| f32::from_bits(word << shift & 0x8000_0000)))
    }

    #[inline(always)]
    pub(crate) fn zero_f64x4(self) -> F64x4 {
        F64x4([0.0; F64_LANES])
    }

    #[inline(always)]
    pub(crate) fn splat_f64x4(self, value: f64) -> F64x4 {
        F64x4([value; F64_LANES])
    }

    /// Loads the lower and the upper half of eight values.
    #[inline(always)]
    pub(crate) fn load_f64x8(self, values: &[f64; 8]) -> [F64x4; 2] {
        [0, F64_LANES].map(|first| F64x4(std::array::from_fn(|lane| values[first + lane])))
    }

    /// Loads values 4·index to 4·index + 3.
    #[inline(always)]
    pub(crate) fn load_f64x4(self, doubles: &AlignedF64x16, index: usize) -> F64x4 {
        F64x4(std::array::from_fn(|lane| {
            doubles.0[F64_LANES * index + lane]
        }))
    }

    /// Does nothing: prefetching is an optimization only.
    #[inline(always)]
    pub(crate) fn prefetch<T>(self, _start: *const T, _offset: usize) {}
}

/// Operations on each lane.
macro_rules! lanewise {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $operation:expr;)*) => {
        impl F32x16 {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(crate) fn $name(self $(, $arg: Self)*) -> Self {
                    Self(std::array::from_fn(|lane| $operation(self.0[lane] $(, $arg.0[lane])*)))
                }
            )*
        }
    };
}

fn mask(set: bool) -> f32 {
    f32::from_bits(if set { u32::MAX } else { 0 })
}

fn bitwise(a: f32, b: f32, operation: impl Fn(u32, u32) -> u32) -> f32 {
    f32::from_bits(operation(a.to_bits(), b.to_bits()))
}

lanewise! {
    /// self · factor + term, rounded once.
    mul_add(factor, term) = |a: f32, b, c| a.mul_add(b, c);
    add(other) = |a: f32, b: f32| a + b;
    sub(other) = |a: f32, b: f32| a - b;
    mul(other) = |a: f32, b: f32| a * b;
    div(other) = |a: f32, b: f32| a / b;
    sqrt() = |a: f32| a.sqrt();
    /// The larger of both; `other` where they are equal or one is NaN.
    max(other) = |a: f32, b: f32| if a > b { a } else { b };
    /// max(a, 0); NaN becomes 0.
    max_zero() = |a: f32| if a > 0.0 { a } else { 0.0 };
    and(other) = |a, b| bitwise(a, b, |a, b| a & b);
    or(other) = |a, b| bitwise(a, b, |a, b| a | b);
    xor(other) = |a, b| bitwise(a, b, |a, b| a ^ b);
    /// All bits set where positive, none elsewhere.
    positive_mask() = |a: f32| mask(a > 0.0);
    /// All bits set where not zero, none elsewhere.
    nonzero_mask() = |a: f32| mask(a.abs() > 0.0);
    /// `other` where the sign bit of `condition` is set, `self` elsewhere.
    select_by_sign(other, condition) = |a, b, s: f32| if s.is_sign_negative() { b } else { a };
    /// The sign bits; all other bits are cleared.
    sign_bits() = |a: f32| bitwise(a, -0.0, |a, b| a & b);
}

impl F32x16 {
    #[inline(always)]
    pub(crate) fn store(self, out: &mut AlignedF32x16) {
        out.0 = self.0;
    }

    /// Stores to memory of any alignment.
    #[inline(always)]
    pub(crate) fn store_unaligned(self, out: &mut [f32; F32_LANES]) {
        *out = self.0;
    }

    /// Stores the first `out.len()` lanes, at most sixteen.
    #[inline(always)]
    pub(crate) fn store_partial(self, out: &mut [f32]) {
        out.iter_mut()
            .zip(self.0)
            .for_each(|(out, value)| *out = value);
    }

    /// Adds the products of lanes i + 8, then of lanes i, to sum i.
    #[inline(always)]
    pub(crate) fn add_product_to(self, factor: Self, sums: &mut AlignedF32x8) {
        for lane in 0..F32_LANES / 2 {
            let upper =
                self.0[lane + F32_LANES / 2].mul_add(factor.0[lane + F32_LANES / 2], sums.0[lane]);
            sums.0[lane] = self.0[lane].mul_add(factor.0[lane], upper);
        }
    }

    /// Converts to double precision and stores.
    #[inline(always)]
    pub(crate) fn store_f64(self, out: &mut AlignedF64x16) {
        out.0 = self.0.map(f64::from);
    }
}

impl F32x8 {
    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    /// self · factor + term, rounded once.
    #[inline(always)]
    pub(crate) fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            self.0[lane].mul_add(factor.0[lane], term.0[lane])
        }))
    }

    #[inline(always)]
    pub(crate) fn mul(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] * other.0[lane]))
    }

    #[inline(always)]
    pub(crate) fn store(self, out: &mut [f32; 8]) {
        *out = self.0;
    }
}

impl F64x4 {
    #[inline(always)]
    pub(crate) fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            self.0[lane].mul_add(factor.0[lane], term.0[lane])
        }))
    }

    /// Adds each lane to its sum.
    #[inline(always)]
    pub(crate) fn add_to(self, sums: &mut [f64; F64_LANES]) {
        sums.iter_mut()
            .zip(self.0)
            .for_each(|(sum, value)| *sum += value);
    }
}
