//! The system of a projection: its right-hand sides, its solutions, and the Gram matrix that
//! follows from both.

#![allow(
    unsafe_code,
    reason = "functions compiled for AVX2 and FMA are called after the CPU features were detected"
)]

use super::super::tile_incidence::{CHUNK, SlotValues};
use crate::problem::EqualityProjection;
use crate::simd::{AlignedF32x8, SimdToken, dispatch_simd};

/// Rows of SᵀY that are summed in registers: with eight columns, eight AVX2 registers.
const GRAM_ROWS: usize = 4;

dispatch_simd! {
    /// Adds the sums of a group to those of all, or overwrites these if it is the first, and clears
    /// them.
    pub(super) add_group = add_group_body [] (
        sums: &mut [AlignedF32x8],
        is_first: bool,
        system: &mut [[f64; CHUNK]],
    )
}

dispatch_simd! {
    /// Solves A Aᵀ Y = S in place.
    pub(super) solve_system = solve_system_body [] (
        projection: &EqualityProjection,
        system: &mut [[f64; CHUNK]],
    )
}

dispatch_simd! {
    /// Makes values by slot readable in windows.
    pub(super) update_windows = update_windows_body [] (values: &mut SlotValues)
}

dispatch_simd! {
    /// Writes −Y of the parameters.
    pub(super) write_parameter_solution = write_parameter_solution_body [] (
        solution: &[[f64; CHUNK]],
        negated: &mut SlotValues,
    )
}

dispatch_simd! {
    /// Writes −(Y + Y′ C) of the gradient, given Y and −Y′ of the parameters.
    pub(super) write_gradient_solution = write_gradient_solution_body [] (
        solution: &[[f64; CHUNK]],
        parameter_solution: &SlotValues,
        correction: &[[AlignedF32x8; CHUNK]],
        negated: &mut SlotValues,
    )
}

dispatch_simd! {
    /// Subtracts Sᵀ Y, which is symmetric.
    pub(super) subtract_gram = subtract_gram_body [] (
        slots: usize,
        sums: &[[f64; CHUNK]],
        solution: &[[f64; CHUNK]],
        width: usize,
        gram: &mut [f64],
    )
}

#[inline(always)]
fn add_group_body(
    _: SimdToken,
    sums: &mut [AlignedF32x8],
    is_first: bool,
    system: &mut [[f64; CHUNK]],
) {
    for (totals, sums) in system.iter_mut().zip(sums) {
        for lane in 0..CHUNK {
            let sum = f64::from(sums.0[lane]);
            // The first group overwrites what the step before has left: no pass clears the totals.
            totals[lane] = if is_first { sum } else { totals[lane] + sum };
        }
        *sums = AlignedF32x8::ZERO;
    }
}

#[inline(always)]
fn solve_system_body(_: SimdToken, projection: &EqualityProjection, system: &mut [[f64; CHUNK]]) {
    for chunk in system.chunks_exact_mut(projection.num_slots()) {
        projection.solve(chunk);
    }
}

#[inline(always)]
fn update_windows_body(simd: SimdToken, values: &mut SlotValues) {
    values.update_windows(simd);
}

#[inline(always)]
fn write_parameter_solution_body(
    simd: SimdToken,
    solution: &[[f64; CHUNK]],
    negated: &mut SlotValues,
) {
    write_negated(solution, &mut negated.by_slot);
    negated.update_windows(simd);
}

#[inline(always)]
fn write_gradient_solution_body(
    simd: SimdToken,
    solution: &[[f64; CHUNK]],
    parameter_solution: &SlotValues,
    correction: &[[AlignedF32x8; CHUNK]],
    negated: &mut SlotValues,
) {
    let (slots, chunks) = (negated.slots(), negated.num_chunks());
    write_negated(solution, &mut negated.by_slot);
    for (at, square) in correction.iter().enumerate() {
        let values = parameter_solution.by_slot[at / chunks * slots..].iter();
        let sums = negated.by_slot[at % chunks * slots..][..slots].iter_mut();
        for (sum, values) in sums.zip(values) {
            let mut total = simd.load_f32x8(&sum.0);
            for row in 0..CHUNK {
                let entries = simd.load_f32x8(&square[row].0);
                total = simd.splat_f32x8(values.0[row]).mul_add(entries, total);
            }
            total.store(&mut sum.0);
        }
    }
    negated.update_windows(simd);
}

#[inline(always)]
fn write_negated(solution: &[[f64; CHUNK]], negated: &mut [AlignedF32x8]) {
    for (negated, values) in negated.iter_mut().zip(solution) {
        for lane in 0..CHUNK {
            // Once per slot, so the kernel adds its products and need not negate each.
            negated.0[lane] = -values[lane] as f32;
        }
    }
}

#[inline(always)]
fn subtract_gram_body(
    simd: SimdToken,
    slots: usize,
    sums: &[[f64; CHUNK]],
    solution: &[[f64; CHUNK]],
    width: usize,
    gram: &mut [f64],
) {
    for first_row in (0..width).step_by(GRAM_ROWS) {
        let (chunk, half) = (first_row / CHUNK, first_row % CHUNK / GRAM_ROWS);
        let sums = &sums[chunk * slots..][..slots];
        for (other, solution) in solution.chunks_exact(slots).enumerate().skip(chunk) {
            // Below the diagonal nothing is needed.
            let products = if other == chunk && half == 1 {
                gram_products::<1>(simd, half, sums, solution)
            } else {
                gram_products::<0>(simd, half, sums, solution)
            };
            let first_column = other * CHUNK;
            for a in first_row..width.min(first_row + GRAM_ROWS) {
                for b in a.max(first_column)..width.min(first_column + CHUNK) {
                    gram[a * width + b] -= products[a - first_row][b - first_column];
                    // Copied, not computed, so both halves have the same bits.
                    gram[b * width + a] = gram[a * width + b];
                }
            }
        }
    }
}

/// Four rows of SᵀY: those of one half of a chunk, and its columns from one half on.
#[inline(always)]
fn gram_products<const FIRST_HALF: usize>(
    simd: SimdToken,
    row_half: usize,
    sums: &[[f64; CHUNK]],
    solution: &[[f64; CHUNK]],
) -> [[f64; CHUNK]; GRAM_ROWS] {
    let mut products = [[simd.zero_f64x4(); 2]; GRAM_ROWS];
    for (sums, values) in sums.iter().zip(solution) {
        let values = simd.load_f64x8(values);
        let factors = &sums.as_chunks::<GRAM_ROWS>().0[row_half % 2];
        for row in 0..GRAM_ROWS {
            let factor = simd.splat_f64x4(factors[row]);
            for half in FIRST_HALF..2 {
                products[row][half] = factor.mul_add(values[half], products[row][half]);
            }
        }
    }
    let mut stored = [[0.0; CHUNK]; GRAM_ROWS];
    for row in 0..GRAM_ROWS {
        for half in FIRST_HALF..2 {
            products[row][half].add_to(&mut stored[row].as_chunks_mut().0[half]);
        }
    }
    stored
}
