//! SIMD vectors of sixteen lanes: the arithmetic of training and of matrix products.
//!
//! On x86-64 an [`F32x16`] is two AVX2 registers, elsewhere an array, which the compiler maps to
//! the registers of the CPU (NEON on aarch64). The innermost loops of networks are generic over
//! [`Lanes`], which may also be one AVX-512 register. All round every operation the same way, with
//! fused multiply-add everywhere, so results are the same bits. A vector exists only if the CPU has
//! the instructions: all constructors need a [`SimdToken`], which only [`SimdToken::detect`]
//! returns, or the token of AVX-512.
//!
//! `--cfg regretless_portable_simd` selects the arrays on x86-64 too, so `scripts/portable-test`
//! can test them on any machine.

/// Lanes of a vector in single precision: two AVX2 registers, or one cache line in memory.
pub(crate) const F32_LANES: usize = 16;
/// Lanes of a vector in double precision.
pub(crate) const F64_LANES: usize = 4;

/// Sixteen values in memory, aligned to a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct AlignedF32x16(pub(crate) [f32; F32_LANES]);

impl AlignedF32x16 {
    pub(crate) const ZERO: Self = Self([0.0; F32_LANES]);

    /// The lower half, 0, or the upper one, 1.
    #[inline(always)]
    pub(crate) fn half(&self, half: usize) -> &[f32; F32_LANES / 2] {
        &self.0.as_chunks().0[half % 2]
    }

    #[inline(always)]
    pub(crate) fn half_mut(&mut self, half: usize) -> &mut [f32; F32_LANES / 2] {
        &mut self.0.as_chunks_mut().0[half % 2]
    }
}

/// Eight values in memory, such as partial sums.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct AlignedF32x8(pub(crate) [f32; F32_LANES / 2]);

impl AlignedF32x8 {
    pub(crate) const ZERO: Self = Self([0.0; F32_LANES / 2]);

    /// Adds the eight sums to four sums in double precision: lanes i and i + 4 to sum i.
    pub(crate) fn add_to(&self, sums: &mut [f64; F64_LANES]) {
        let (low, high) = self.0.split_at(F64_LANES);
        for ((sum, low), high) in sums.iter_mut().zip(low).zip(high) {
            // A fixed order of summation: sums do not depend on the processor.
            *sum += f64::from(*low) + f64::from(*high);
        }
    }
}

/// Sixteen values in double precision in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct AlignedF64x16(pub(crate) [f64; F32_LANES]);

impl AlignedF64x16 {
    pub(crate) const ZERO: Self = Self([0.0; F32_LANES]);
}

/// The left shift that makes bit i of a word the sign bit of lane i: for the lower half of the
/// word, then for the upper half.
static SIGN_BIT_SHIFTS: [[u32; F32_LANES]; 2] = [
    [
        31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
    ],
    [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];

#[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
mod avx512;
#[cfg(any(test, regretless_portable_simd, not(target_arch = "x86_64")))]
mod portable;

#[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
pub(crate) use avx2::{F32x8, F32x16, SimdToken};
#[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
pub(crate) use avx512::{Avx512Token, F32x16Avx512};
#[cfg(any(regretless_portable_simd, not(target_arch = "x86_64")))]
pub(crate) use portable::{F32x8, F32x16, SimdToken};

/// Defines a function that is compiled for AVX2 and FMA on x86-64, and for the target's default
/// instructions elsewhere: `name = body <types> [constants] (arguments)`. Functions that the body
/// calls must be inlined into it to be compiled the same way, hence no closures over iterators.
macro_rules! dispatch_simd {
    (
        $(#[$doc:meta])*
        $visibility:vis $name:ident = $body:ident
        $(<$($param:ident: $bound:ident),+>)?
        [$($const:ident: $kind:ty),*]
        ($($arg:ident: $type:ty),* $(,)?)
    ) => {
        $(#[$doc])*
        $visibility fn $name<$($($param: $bound,)+)? $(const $const: $kind),*>(
            simd: SimdToken,
            $($arg: $type),*
        ) {
            #[cfg_attr(
                all(target_arch = "x86_64", not(regretless_portable_simd)),
                target_feature(enable = "avx2,fma")
            )]
            fn compiled<$($($param: $bound,)+)? $(const $const: $kind),*>(
                simd: SimdToken,
                $($arg: $type),*
            ) {
                $body::<$($($param,)+)? $($const),*>(simd, $($arg),*);
            }
            // SAFETY: a `SimdToken` exists only if the CPU features were detected.
            #[allow(unused_unsafe, reason = "safe on other architectures")]
            unsafe {
                compiled::<$($($param,)+)? $($const),*>(simd, $($arg),*);
            }
        }
    };
}
pub(crate) use dispatch_simd;

/// Sixteen lanes as the innermost loops of networks use them: an [`F32x16`], or one AVX-512
/// register. Every implementation computes the same bits.
pub(crate) trait Lanes: Copy {
    /// Proof that the CPU has the instructions.
    type Token: Copy;

    /// Whether there are 32 registers of a vector each; else they hold eight vectors.
    const HAS_32_REGISTERS: bool;

    fn simd(token: Self::Token) -> SimdToken;

    fn splat(token: Self::Token, value: f32) -> Self;

    fn load(token: Self::Token, values: &[f32; F32_LANES]) -> Self;

    /// Stores to memory of any alignment.
    fn store(self, out: &mut [f32; F32_LANES]);

    /// self · factor + term, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;

    fn add(self, other: Self) -> Self;

    /// The value where it is positive, else slope · value; 0 < slope < 1.
    fn leaky_relu(self, slope: Self) -> Self;

    /// The value where `condition` is positive, 0.0 elsewhere.
    fn keep_where_positive(self, condition: Self) -> Self;
}

impl Lanes for F32x16 {
    type Token = SimdToken;
    const HAS_32_REGISTERS: bool = false;

    #[inline(always)]
    fn simd(token: SimdToken) -> SimdToken {
        token
    }

    #[inline(always)]
    fn splat(token: SimdToken, value: f32) -> Self {
        token.splat(value)
    }

    #[inline(always)]
    fn load(token: SimdToken, values: &[f32; F32_LANES]) -> Self {
        token.load(values)
    }

    #[inline(always)]
    fn store(self, out: &mut [f32; F32_LANES]) {
        self.store_unaligned(out);
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        F32x16::mul_add(self, factor, term)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        F32x16::add(self, other)
    }

    #[inline(always)]
    fn leaky_relu(self, slope: Self) -> Self {
        self.max(self.mul(slope))
    }

    #[inline(always)]
    fn keep_where_positive(self, condition: Self) -> Self {
        self.and(condition.positive_mask())
    }
}

/// Makes [`dispatch_lanes`] compile for AVX2 what it would compile for AVX-512, so tests can
/// compare.
#[cfg(test)]
pub(crate) static WITHOUT_AVX512: std::sync::atomic::AtomicBool =
    std::sync::atomic::AtomicBool::new(false);

/// The token of AVX-512, if the CPU has it.
#[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
pub(crate) fn avx512(simd: SimdToken) -> Option<Avx512Token> {
    #[cfg(test)]
    // Tests compare both widths on one processor.
    if WITHOUT_AVX512.load(std::sync::atomic::Ordering::Relaxed) {
        return None;
    }
    Avx512Token::detect(simd)
}

/// Like [`dispatch_simd`], with a body that is generic over its [`Lanes`], its first type: compiled
/// for AVX-512 too, and called with the widest registers that the CPU has.
macro_rules! dispatch_lanes {
    (
        $(#[$doc:meta])*
        $visibility:vis $name:ident = $body:ident ($($arg:ident: $type:ty),* $(,)?)
    ) => {
        $(#[$doc])*
        $visibility fn $name(simd: $crate::simd::SimdToken, $($arg: $type),*) {
            #[cfg_attr(
                all(target_arch = "x86_64", not(regretless_portable_simd)),
                target_feature(enable = "avx2,fma")
            )]
            fn compiled(simd: $crate::simd::SimdToken, $($arg: $type),*) {
                $body::<$crate::simd::F32x16>(simd, $($arg),*);
            }
            #[cfg(all(target_arch = "x86_64", not(regretless_portable_simd)))]
            {
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
                fn compiled_avx512(token: $crate::simd::Avx512Token, $($arg: $type),*) {
                    $body::<$crate::simd::F32x16Avx512>(token, $($arg),*);
                }
                if let Some(token) = $crate::simd::avx512(simd) {
                    // SAFETY: the token exists only if the CPU features were detected.
                    return unsafe { compiled_avx512(token, $($arg),*) };
                }
            }
            // SAFETY: a `SimdToken` exists only if the CPU features were detected.
            #[allow(unused_unsafe, reason = "safe on other architectures")]
            unsafe {
                compiled(simd, $($arg),*);
            }
        }
    };
}
pub(crate) use dispatch_lanes;

// Elsewhere there is nothing to compare.
#[cfg(all(test, target_arch = "x86_64", not(regretless_portable_simd)))]
mod tests {
    use super::{
        AlignedF32x8, AlignedF32x16, AlignedF64x16, Avx512Token, F32_LANES, F32x16, F32x16Avx512,
        Lanes, portable,
    };

    /// Values of all kinds.
    fn numbers(salt: u32) -> [f32; F32_LANES] {
        std::array::from_fn(|l| match l {
            0 => 0.0,
            1 => -0.0,
            2 => f32::NAN,
            3 => f32::INFINITY,
            4 => f32::MIN_POSITIVE / 4.0,
            _ => {
                (((l as u32).wrapping_mul(2_654_435_761) ^ salt.wrapping_mul(40_503)) % 2001) as f32
                    / 100.0
                    - 10.0
            }
        })
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values
            .iter()
            .map(|v| if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() })
            .collect()
    }

    /// The results of all operations of an `F32x16`, as bits.
    macro_rules! all_operations {
        ($simd:expr, $x:expr, $y:expr, $z:expr) => {{
            let simd = $simd;
            let (x, y, z) = (simd.load($x), simd.load($y), simd.load($z));
            let mut found = Vec::new();
            for vector in [
                x.mul_add(y, z),
                x.add(y),
                x.sub(y),
                x.mul(y),
                x.div(y),
                y.sqrt(),
                x.max(y),
                x.max_zero(),
                x.xor(y),
                x.sign_bits().or(simd.splat(1.0)).and(x.nonzero_mask()),
                x.positive_mask().and(y),
                x.select_by_sign(y, z),
                simd.sign_mask(&0xa5c3_0f1e, 0).or(simd.splat(2.0)),
                simd.sign_mask(&0xa5c3_0f1e, 1).or(simd.splat(2.0)),
            ] {
                let mut stored = AlignedF32x16::ZERO;
                vector.store(&mut stored);
                found.extend(bits(&stored.0));
            }
            for count in 0..=F32_LANES {
                let mut stored = AlignedF32x16([7.0; F32_LANES]);
                simd.load_partial(&$x[..count]).store(&mut stored);
                found.extend(bits(&stored.0));
                z.store_partial(&mut stored.0[..count]);
                found.extend(bits(&stored.0));
            }
            let mut half = AlignedF32x8([0.5; F32_LANES / 2]);
            z.add_product_to(z, &mut half);
            found.extend(bits(&half.0));
            let (mut doubles, mut quarter) = (AlignedF64x16::ZERO, [0.25; 4]);
            z.store_f64(&mut doubles);
            let first = simd.load_f64x4(&doubles, 3);
            first
                .mul_add(first, simd.load_f64x4(&doubles, 2))
                .add_to(&mut quarter);
            simd.zero_f64x4().add_to(&mut quarter);
            let halves = |q: &f64| [q.to_bits() as u32, (q.to_bits() >> 32) as u32];
            found.extend(quarter.iter().flat_map(halves));
            let mut written = [0.0; F32_LANES];
            simd.prefetch(written.as_ptr(), 0);
            z.store_unaligned(&mut written);
            found.extend(bits(&written));
            let table: Vec<f32> = (0..16 * 21).map(|i| i as f32).collect();
            for rows in [16, 9] {
                let mut columns = [AlignedF32x16([3.0; F32_LANES]); 19];
                simd.load_transposed(&table, rows, 21, &mut columns);
                assert_eq!(columns[18].0[rows - 1], ((rows - 1) * 21 + 18) as f32);
                found.extend(columns.iter().flat_map(|column| bits(&column.0)));
            }
            let eight = simd.load_f32x8(&half.0);
            let sum = eight.mul_add(simd.splat_f32x8(1.7), eight.add(eight).mul(eight));
            let rows = std::array::from_fn(|k| sum.add(simd.splat_f32x8(k as f32)));
            for column in simd.transpose(rows) {
                let mut stored = [0.0; F32_LANES / 2];
                column.store(&mut stored);
                found.extend(bits(&stored));
            }
            for part in simd.load_f64x8(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) {
                part.mul_add(simd.splat_f64x4(0.9), part)
                    .add_to(&mut quarter);
            }
            found.extend(quarter.iter().flat_map(halves));
            found
        }};
    }

    /// The results of all operations of [`Lanes`], as bits.
    fn lane_operations<V: Lanes>(
        token: V::Token,
        [x, y, z]: [&[f32; F32_LANES]; 3],
    ) -> Vec<Vec<u32>> {
        let [x, y, z] = [x, y, z].map(|values| V::load(token, values));
        let slope = V::splat(token, 0.01);
        let results = [
            x.mul_add(y, z),
            x.add(y),
            x.leaky_relu(slope),
            z.keep_where_positive(x),
        ];
        let mut stored = [0.0; F32_LANES];
        let bits_of = |vector: V| {
            vector.store(&mut stored);
            bits(&stored)
        };
        results.map(bits_of).to_vec()
    }

    #[test]
    fn wide_registers_compute_the_same_bits() {
        let simd = super::SimdToken::detect().expect("a processor with AVX2 and FMA is needed");
        let Some(token) = Avx512Token::detect(simd) else {
            return;
        };
        for salt in 0..50 {
            let [x, y, z] = [salt, salt + 1000, salt + 2000].map(numbers);
            assert_eq!(
                lane_operations::<F32x16>(simd, [&x, &y, &z]),
                lane_operations::<F32x16Avx512>(token, [&x, &y, &z])
            );
        }
    }

    #[test]
    fn registers_and_arrays_compute_the_same_bits() {
        let simd = super::SimdToken::detect().expect("a processor with AVX2 and FMA is needed");
        let arrays = portable::SimdToken::detect().expect("arrays are there in tests");
        for salt in 0..50 {
            let mut z = numbers(salt + 2000);
            z[2..4].fill(1.5);
            let (x, y) = (numbers(salt), numbers(salt + 1000));
            assert_eq!(
                all_operations!(simd, &x, &y, &z),
                all_operations!(arrays, &x, &y, &z)
            );
        }
    }
}
