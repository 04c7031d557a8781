//! The one matrix product.
//!
//! Four rows by sixteen columns of the result stay in registers while the inner dimension passes
//! by, so that a number from memory is used four or sixteen times. Where the right-hand factor has
//! no sixteen neighbours in a row, as with weights that lie one row per output, sixteen of its rows
//! are turned into columns first. Every entry is a sum in the order of the inner dimension,
//! whatever the sizes and the number of threads. Processors without AVX2 and FMA use the kernels of
//! `matrixmultiply` instead.

#![allow(
    unsafe_code,
    reason = "the innermost loop works on pointers; lengths are checked once, for every caller"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use std::cell::RefCell;

use crate::simd::{AlignedF32x16, Avx2Fma, F32_LANES, F32x16, dispatch_avx2};

/// Rows of the result handled together.
const ROWS_PER_PANEL: usize = 4;

/// Numbers that the nearest cache surely holds.
const L1_CACHE_VALUES: usize = 2048;

/// A matrix, part of one, or its transpose, as a product sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixView<'a> {
    values: &'a [f32],
    rows: usize,
    cols: usize,
    strides: [usize; 2],
}

impl<'a> MatrixView<'a> {
    /// A row-major matrix.
    pub(crate) fn new(values: &'a [f32], rows: usize, cols: usize) -> Self {
        assert_eq!(values.len(), rows * cols, "a view must cover its values");
        Self::part(values, [rows, cols], cols)
    }

    /// A row-major matrix whose rows begin at this distance from each other.
    pub(crate) fn part(values: &'a [f32], [rows, cols]: [usize; 2], row_stride: usize) -> Self {
        assert!(
            rows == 0 || values.len() >= (rows - 1) * row_stride + cols,
            "a view must lie within its values"
        );
        Self {
            values,
            rows,
            cols,
            strides: [row_stride, 1],
        }
    }

    /// The same numbers with rows and columns exchanged.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            strides: [self.strides[1], self.strides[0]],
            ..self
        }
    }
}

/// Where a product goes: rows that begin at some distance from each other.
pub(crate) struct MatrixViewMut<'a> {
    pub(crate) values: &'a mut [f32],
    pub(crate) row_stride: usize,
    /// Whether it is added to what is there.
    pub(crate) add: bool,
}

thread_local! {
    /// Columns made of rows.
    static PACKED_COLUMNS: RefCell<Vec<AlignedF32x16>> = const { RefCell::new(Vec::new()) };
}

/// Writes or adds a · b.
pub(crate) fn multiply(a: MatrixView<'_>, b: MatrixView<'_>, mut out: MatrixViewMut<'_>) {
    assert_eq!(a.cols, b.rows, "inner dimensions must agree");
    let last = a.rows.saturating_sub(1) * out.row_stride;
    assert!(
        a.rows == 0 || out.values.len() >= last + b.cols,
        "the result must fit"
    );
    assert!(
        b.strides.contains(&1),
        "one dimension of the right-hand factor must be contiguous"
    );
    match Avx2Fma::detect() {
        Some(simd) => {
            PACKED_COLUMNS.with_borrow_mut(|turned| by_lanes(simd, &a, &b, &mut out, turned))
        }
        None => multiply_fallback(a, b, &mut out),
    }
}

dispatch_avx2! {
    by_lanes = simd_body [] (a: &MatrixView<'_>, b: &MatrixView<'_>, out: &mut MatrixViewMut<'_>, turned: &mut Vec<AlignedF32x16>)
}

#[inline(always)]
fn simd_body(
    simd: Avx2Fma,
    a: &MatrixView<'_>,
    b: &MatrixView<'_>,
    out: &mut MatrixViewMut<'_>,
    turned: &mut Vec<AlignedF32x16>,
) {
    for first in (0..b.cols).step_by(F32_LANES) {
        let cols = (b.cols - first).min(F32_LANES);
        // Many lines far from each other would drive each other out of the nearest cache.
        let near = b.rows * b.strides[0] <= L1_CACHE_VALUES || a.rows <= ROWS_PER_PANEL;
        let lines = if b.strides[1] == 1 && cols == F32_LANES && near {
            (b.values[first.min(b.values.len())..].as_ptr(), b.strides[0])
        } else {
            pack_columns(simd, b, (first, cols), turned);
            (turned.as_ptr().cast(), F32_LANES)
        };
        let whole = a.rows / ROWS_PER_PANEL * ROWS_PER_PANEL;
        for row in (0..whole).step_by(ROWS_PER_PANEL) {
            // SAFETY: `multiply` has checked that all rows and columns lie within their slices; the
            // lines are those of `b` from `first` on, or as many lanes.
            unsafe { panel::<ROWS_PER_PANEL>(simd, (a, row), lines, out, (first, cols)) };
        }
        for row in whole..a.rows {
            // SAFETY: as above.
            unsafe { panel::<1>(simd, (a, row), lines, out, (first, cols)) };
        }
    }
}

/// Sixteen columns of a matrix, or fewer at its end, as lanes.
#[inline(always)]
fn pack_columns(
    simd: Avx2Fma,
    b: &MatrixView<'_>,
    (first, cols): (usize, usize),
    out: &mut Vec<AlignedF32x16>,
) {
    out.resize(b.rows, AlignedF32x16::ZERO);
    if b.strides[1] == 1 {
        for k in 0..b.rows {
            simd.load_partial(&b.values[k * b.strides[0] + first..][..cols])
                .store(&mut out[k]);
        }
    } else {
        simd.load_transposed(&b.values[first * b.strides[1]..], cols, b.strides[1], out);
    }
}

/// A few rows and up to sixteen columns of the result.
///
/// # Safety
/// Rows and columns must lie within the matrices, and `lines` must hold sixteen numbers for each
/// inner index.
#[inline(always)]
unsafe fn panel<const R: usize>(
    simd: Avx2Fma,
    (a, row): (&MatrixView<'_>, usize),
    (lines, row_stride): (*const f32, usize),
    out: &mut MatrixViewMut<'_>,
    (first, cols): (usize, usize),
) {
    let mut sums = [simd.splat(0.0); R];
    // SAFETY: the caller's promise.
    unsafe {
        let mut line = lines;
        let mut number = a.values.as_ptr().wrapping_add(row * a.strides[0]);
        for _ in 0..a.cols {
            let columns = simd.load(&*line.cast());
            for i in 0..R {
                sums[i] = columns.mul_add(simd.splat(*number.add(i * a.strides[0])), sums[i]);
            }
            line = line.wrapping_add(row_stride);
            number = number.wrapping_add(a.strides[1]);
        }
    }
    for i in 0..R {
        store_sum(
            simd,
            sums[i],
            &mut out.values[(row + i) * out.row_stride + first..][..cols],
            out.add,
        );
    }
}

#[inline(always)]
fn store_sum(simd: Avx2Fma, sum: F32x16, out: &mut [f32], add: bool) {
    match out.first_chunk_mut::<F32_LANES>() {
        Some(full) => (if add { simd.load(full).add(sum) } else { sum }).store_slice(full),
        None => (if add {
            simd.load_partial(out).add(sum)
        } else {
            sum
        })
        .store_partial(out),
    }
}

/// Writes the sum of all rows, each times its factor, and the sum of the factors.
pub(crate) fn weighted_row_sum(rows: &[f32], factors: &[f32], sums: &mut [f32], total: &mut f32) {
    assert_eq!(
        rows.len(),
        factors.len() * sums.len(),
        "every row needs a factor"
    );
    match Avx2Fma::detect() {
        Some(simd) => PACKED_COLUMNS
            .with_borrow_mut(|turned| weigh_by_lanes(simd, rows, factors, (sums, total), turned)),
        None => {
            sums.fill(0.0);
            for (row, factor) in rows.chunks_exact(sums.len()).zip(factors) {
                sums.iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += factor * value);
            }
            *total = factors.iter().sum();
        }
    }
}

dispatch_avx2! {
    weigh_by_lanes = weighted_row_sum_body [] (
        rows: &[f32], factors: &[f32], out: (&mut [f32], &mut f32), turned: &mut Vec<AlignedF32x16>,
    )
}

/// Sixteen rows at a time, one of them in each lane.
#[inline(always)]
fn weighted_row_sum_body(
    simd: Avx2Fma,
    rows: &[f32],
    factors: &[f32],
    (sums, total): (&mut [f32], &mut f32),
    turned: &mut Vec<AlignedF32x16>,
) {
    let width = sums.len();
    turned.clear();
    turned.resize(2 * width, AlignedF32x16::ZERO);
    let (turned, lanes) = turned.split_at_mut(width);
    let mut all = simd.splat(0.0);
    for (rows, factors) in rows
        .chunks(F32_LANES * width)
        .zip(factors.chunks(F32_LANES))
    {
        simd.load_transposed(rows, factors.len(), width, turned);
        let factors = match factors.first_chunk() {
            Some(full) => simd.load(full),
            None => simd.load_partial(factors),
        };
        all = all.add(factors);
        for k in 0..width {
            simd.load(&turned[k].0)
                .mul_add(factors, simd.load(&lanes[k].0))
                .store(&mut lanes[k]);
        }
    }
    for k in 0..width {
        sums[k] = lanes[k].0.iter().sum();
    }
    let mut last = AlignedF32x16::ZERO;
    all.store(&mut last);
    *total = last.0.iter().sum();
}

fn multiply_fallback(a: MatrixView<'_>, b: MatrixView<'_>, out: &mut MatrixViewMut<'_>) {
    // SAFETY: `multiply` has checked that every index the kernel touches lies within its slice;
    // `out` is borrowed mutably, so it overlaps neither input.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.cols,
            b.cols,
            1.0,
            a.values.as_ptr(),
            a.strides[0] as isize,
            a.strides[1] as isize,
            b.values.as_ptr(),
            b.strides[0] as isize,
            b.strides[1] as isize,
            if out.add { 1.0 } else { 0.0 },
            out.values.as_mut_ptr(),
            out.row_stride as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{MatrixView, MatrixViewMut, multiply, multiply_fallback};

    fn numbers(count: usize, salt: usize) -> Vec<f32> {
        (0..count)
            .map(|i| ((i * 37 + salt * 11) % 101) as f32 / 50.0 - 1.0)
            .collect()
    }

    /// Every entry by its definition, in double precision.
    fn expected(a: MatrixView<'_>, b: MatrixView<'_>) -> Vec<f64> {
        let at = |v: &MatrixView<'_>, i: usize, j: usize| {
            f64::from(v.values[i * v.strides[0] + j * v.strides[1]])
        };
        let entry = |i: usize, j: usize| (0..a.cols).map(|k| at(&a, i, k) * at(&b, k, j)).sum();
        (0..a.rows)
            .flat_map(|i| (0..b.cols).map(move |j| (i, j)))
            .map(|(i, j)| entry(i, j))
            .collect()
    }

    fn check(a: MatrixView<'_>, b: MatrixView<'_>) {
        let row_stride = b.cols + 3;
        for add in [false, true] {
            for lanes in [true, false] {
                let mut values = vec![2.0; a.rows * row_stride];
                let mut out = MatrixViewMut {
                    values: &mut values,
                    row_stride,
                    add,
                };
                if lanes {
                    multiply(a, b, out);
                } else {
                    multiply_fallback(a, b, &mut out);
                }
                for (i, expected) in expected(a, b).chunks(b.cols).enumerate() {
                    for (found, expected) in values[i * row_stride..].iter().zip(expected) {
                        let expected = expected + if add { 2.0 } else { 0.0 };
                        assert!(
                            (f64::from(*found) - expected).abs() < 1e-5,
                            "{found} {expected}"
                        );
                    }
                    assert_eq!(
                        values[i * row_stride + b.cols..][..3],
                        [2.0; 3],
                        "beyond the end of a row"
                    );
                }
            }
        }
    }

    #[test]
    fn products_and_transposes_agree_with_sums() {
        for [rows, inner, cols] in [
            [1, 1, 1],
            [2, 3, 2],
            [4, 16, 16],
            [5, 7, 33],
            [32, 5, 40],
            [9, 64, 1],
            [3, 40, 17],
        ] {
            let (a, b) = (numbers(rows * inner, 1), numbers(inner * cols, 2));
            check(
                MatrixView::new(&a, rows, inner),
                MatrixView::new(&b, inner, cols),
            );
            check(
                MatrixView::new(&a, inner, rows).transposed(),
                MatrixView::new(&b, inner, cols),
            );
            check(
                MatrixView::new(&a, rows, inner),
                MatrixView::new(&b, cols, inner).transposed(),
            );
        }
    }
}
