//! Matrix multiplication in single precision.
//!
//! Panels of six rows by sixteen columns of the result, or eight by thirty-two with AVX-512, stay
//! in registers while the loop runs over the inner dimension, so a value loaded from memory is used
//! six to thirty-two times. If the columns of the right-hand factor are not contiguous, as with
//! weights stored one row per output, they are packed first. Every entry is a sum in the order of
//! the inner dimension, whatever the sizes and the number of threads. CPUs without AVX2 and FMA use
//! the kernels of `matrixmultiply` instead.

#![allow(
    unsafe_code,
    reason = "the innermost loop works on pointers; all lengths are checked before"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops with a fixed end over several arrays read best with an index"
)]

use std::cell::RefCell;

use crate::simd::{AlignedF32x16, F32_LANES, Lanes, SimdToken, dispatch_lanes, dispatch_simd};

/// As many rows or fewer are not worth packing columns for.
const ROWS_PER_PANEL: usize = 4;

/// Values, 8 KB of them, that fit into any first-level cache beside the other factor and the
/// result.
const L1_CACHE_VALUES: usize = 2048;

/// A matrix, part of one, or its transpose, as a factor of a product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixView<'a> {
    values: &'a [f32],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a> MatrixView<'a> {
    /// A row-major matrix.
    pub(crate) fn new(values: &'a [f32], rows: usize, cols: usize) -> Self {
        assert_eq!(
            values.len(),
            rows * cols,
            "a view must have as many values as entries"
        );
        Self::part(values, rows, cols, cols)
    }

    /// A row-major matrix whose rows begin every `row_stride` values.
    pub(crate) fn part(values: &'a [f32], rows: usize, cols: usize, row_stride: usize) -> Self {
        assert!(
            rows == 0 || values.len() >= (rows - 1) * row_stride + cols,
            "a view must not exceed its values"
        );
        Self {
            values,
            rows,
            cols,
            row_stride,
            col_stride: 1,
        }
    }

    /// The transposed matrix; no value moves.
    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }
}

/// The destination of a product; its rows begin every `row_stride` values.
pub(crate) struct MatrixViewMut<'a> {
    pub(crate) values: &'a mut [f32],
    pub(crate) row_stride: usize,
    /// Whether the product is added to the values instead of replacing them.
    pub(crate) add: bool,
}

thread_local! {
    /// Packed columns of the right-hand factor.
    static PACKED_COLUMNS: RefCell<Vec<AlignedF32x16>> = const { RefCell::new(Vec::new()) };
}

/// Writes or adds a · b.
pub(crate) fn multiply(a: MatrixView<'_>, b: MatrixView<'_>, mut out: MatrixViewMut<'_>) {
    assert_eq!(a.cols, b.rows, "inner dimensions must agree");
    // The checks of the unsafe code below: all indices follow from these sizes.
    let last = a.rows.saturating_sub(1) * out.row_stride;
    assert!(
        a.rows == 0 || out.values.len() >= last + b.cols,
        "the destination must be large enough"
    );
    assert!(
        b.row_stride == 1 || b.col_stride == 1,
        "one dimension of the right-hand factor must be contiguous"
    );
    match SimdToken::detect() {
        Some(simd) => {
            PACKED_COLUMNS.with_borrow_mut(|packed| multiply_simd(simd, &a, &b, &mut out, packed));
            // The buffer is kept per thread: packing allocates once.
        }
        None => multiply_fallback(a, b, &mut out),
    }
}

dispatch_lanes! {
    multiply_simd = multiply_body (
        a: &MatrixView<'_>,
        b: &MatrixView<'_>,
        out: &mut MatrixViewMut<'_>,
        packed: &mut Vec<AlignedF32x16>,
    )
}

#[inline(always)]
fn multiply_body<V: Lanes>(
    token: V::Token,
    a: &MatrixView<'_>,
    b: &MatrixView<'_>,
    out: &mut MatrixViewMut<'_>,
    packed: &mut Vec<AlignedF32x16>,
) {
    let mut first = 0;
    while first < b.cols {
        // Two vectors per row only if registers suffice for sixteen sums.
        let wide = V::HAS_32_REGISTERS && b.cols - first >= 2 * F32_LANES;
        let cols = (b.cols - first).min(if wide { 2 * F32_LANES } else { F32_LANES });
        // Unless packed, rows that are far apart would evict each other from the first-level cache.
        let fits_cache = b.rows * b.row_stride <= L1_CACHE_VALUES || a.rows <= ROWS_PER_PANEL;
        let columns = if b.col_stride == 1 && cols.is_multiple_of(F32_LANES) && fits_cache {
            ColumnPanel {
                start: b.values[first.min(b.values.len())..].as_ptr(),
                row_stride: b.row_stride,
                vector_stride: F32_LANES,
                first,
                cols,
            }
        } else {
            pack_columns(V::simd(token), b, first, cols, packed);
            ColumnPanel {
                start: packed.as_ptr().cast(),
                row_stride: F32_LANES,
                vector_stride: F32_LANES * b.rows,
                first,
                cols,
            }
        };
        // SAFETY: `multiply` has checked that all rows and columns are within their slices; the
        // panel points to the rows of `b` from `first` on, or to as many packed vectors.
        unsafe {
            if wide {
                multiply_columns::<V, 2>(token, a, columns, out);
            } else {
                multiply_columns::<V, 1>(token, a, columns, out);
            }
        }
        first += cols;
    }
}

/// Columns of the right-hand factor, in vectors of sixteen values for each inner index.
#[derive(Clone, Copy)]
struct ColumnPanel {
    start: *const f32,
    row_stride: usize,
    /// Values from one vector to the next of the same inner index.
    vector_stride: usize,
    /// The first column.
    first: usize,
    /// Number of columns.
    cols: usize,
}

/// Packs columns `first` to `first + cols` of a matrix: one vector per row, for sixteen columns
/// after the other.
#[inline(always)]
fn pack_columns(
    simd: SimdToken,
    b: &MatrixView<'_>,
    first: usize,
    cols: usize,
    out: &mut Vec<AlignedF32x16>,
) {
    out.resize(cols.div_ceil(F32_LANES) * b.rows, AlignedF32x16::ZERO);
    for v in 0..cols.div_ceil(F32_LANES) {
        let out = &mut out[v * b.rows..][..b.rows];
        let (first, cols) = (first + v * F32_LANES, (cols - v * F32_LANES).min(F32_LANES));
        if b.col_stride == 1 {
            for k in 0..b.rows {
                let values = &b.values[k * b.row_stride + first..][..cols];
                match values.first_chunk() {
                    Some(full) => simd.load(full),
                    None => simd.load_partial(values),
                }
                .store(&mut out[k]);
            }
        } else {
            let start = &b.values[first * b.col_stride..];
            // One column of the panel in each lane: with weights stored by output, columns are rows
            // in memory.
            simd.load_transposed(start, cols, b.col_stride, out);
        }
    }
}

/// Computes all rows of up to `C` · sixteen columns of the result: panels of eight rows by two
/// vectors, or six by one, hold enough sums to hide the latency of a multiply-add. A product of
/// 32×128 by 128×64 ran at 136 GFLOP/s of a peak of 173 (AVX-512), and at 74 of 94 (AVX2).
///
/// # Safety
/// The columns must be within the matrices, and `columns` must point to `C` vectors for each inner
/// index.
#[inline(always)]
unsafe fn multiply_columns<V: Lanes, const C: usize>(
    token: V::Token,
    a: &MatrixView<'_>,
    columns: ColumnPanel,
    out: &mut MatrixViewMut<'_>,
) {
    let mut row = 0;
    while row < a.rows {
        let left = a.rows - row;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if V::HAS_32_REGISTERS && left >= 8 {
                // The largest panel that fits; then smaller ones for the rest, so no row is
                // computed twice.
                multiply_panel::<V, 8, C>(token, a, row, columns, out);
                row += 8;
            // Of seven or eight rows, four and the rest are faster than six and one or two.
            } else if !V::HAS_32_REGISTERS && (left > 8 || left == 6) {
                multiply_panel::<V, 6, C>(token, a, row, columns, out);
                row += 6;
            } else if left >= 4 {
                multiply_panel::<V, 4, C>(token, a, row, columns, out);
                row += 4;
            } else if left >= 2 {
                multiply_panel::<V, 2, C>(token, a, row, columns, out);
                row += 2;
            } else {
                multiply_panel::<V, 1, C>(token, a, row, columns, out);
                row += 1;
            }
        }
    }
}

/// Computes `R` rows and up to `C` · sixteen columns of the result.
///
/// # Safety
/// Rows and columns must be within the matrices, and `columns` must point to `C` vectors for each
/// inner index.
#[inline(always)]
unsafe fn multiply_panel<V: Lanes, const R: usize, const C: usize>(
    token: V::Token,
    a: &MatrixView<'_>,
    row: usize,
    columns: ColumnPanel,
    out: &mut MatrixViewMut<'_>,
) {
    let mut sums = [[V::splat(token, 0.0); C]; R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut right = columns.start;
        // Wrapping: after the last index the pointer lies beyond the matrix, and is not read.
        let mut left = a.values.as_ptr().wrapping_add(row * a.row_stride);
        for _ in 0..a.cols {
            // Loaded once for all rows of the panel.
            let mut vectors = [V::splat(token, 0.0); C];
            for c in 0..C {
                vectors[c] = V::load(
                    token,
                    &*right.wrapping_add(c * columns.vector_stride).cast(),
                );
            }
            for r in 0..R {
                let factor = V::splat(token, *left.add(r * a.row_stride));
                for c in 0..C {
                    sums[r][c] = vectors[c].mul_add(factor, sums[r][c]);
                }
            }
            right = right.wrapping_add(columns.row_stride);
            left = left.wrapping_add(a.col_stride);
        }
    }
    for r in 0..R {
        let start = (row + r) * out.row_stride + columns.first;
        let out_row = &mut out.values[start..][..columns.cols];
        for c in 0..C {
            store_sum(token, sums[r][c], &mut out_row[c * F32_LANES..], out.add);
        }
    }
}

#[inline(always)]
fn store_sum<V: Lanes>(token: V::Token, sum: V, out: &mut [f32], add: bool) {
    // Full vectors are the rule; the last columns of a matrix may be fewer.
    match out.first_chunk_mut::<F32_LANES>() {
        Some(full) => {
            let result = if add {
                V::load(token, full).add(sum)
            } else {
                sum
            };
            result.store(full);
        }
        None => {
            let mut sums = AlignedF32x16::ZERO;
            sum.store(&mut sums.0);
            for i in 0..out.len().min(F32_LANES) {
                out[i] = if add { out[i] + sums.0[i] } else { sums.0[i] };
            }
        }
    }
}

/// Writes Σ factor · row over all rows, and the sum of the factors.
pub(crate) fn weighted_row_sum(rows: &[f32], factors: &[f32], sums: &mut [f32], total: &mut f32) {
    assert_eq!(
        rows.len(),
        factors.len() * sums.len(),
        "every row needs a factor"
    );
    match SimdToken::detect() {
        Some(simd) => PACKED_COLUMNS.with_borrow_mut(|packed| {
            weighted_row_sum_simd(simd, rows, factors, sums, total, packed);
        }),
        None => weighted_row_sum_fallback(rows, factors, sums, total),
    }
}

fn weighted_row_sum_fallback(rows: &[f32], factors: &[f32], sums: &mut [f32], total: &mut f32) {
    sums.fill(0.0);
    for (row, factor) in rows.chunks_exact(sums.len()).zip(factors) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += factor * value;
        }
    }
    *total = factors.iter().sum();
}

dispatch_simd! {
    weighted_row_sum_simd = weighted_row_sum_body [] (
        rows: &[f32],
        factors: &[f32],
        sums: &mut [f32],
        total: &mut f32,
        packed: &mut Vec<AlignedF32x16>,
    )
}

/// Sixteen rows at a time, one of them in each lane.
#[inline(always)]
fn weighted_row_sum_body(
    simd: SimdToken,
    rows: &[f32],
    factors: &[f32],
    sums: &mut [f32],
    total: &mut f32,
    packed: &mut Vec<AlignedF32x16>,
) {
    let width = sums.len();
    packed.clear();
    packed.resize(2 * width, AlignedF32x16::ZERO);
    let (packed, lane_sums) = packed.split_at_mut(width);
    let mut factor_sums = simd.splat(0.0);
    let chunks = rows.chunks(F32_LANES * width);
    for (rows, factors) in chunks.zip(factors.chunks(F32_LANES)) {
        // Transposed, so each lane has a row, and sums of lanes need no shuffling until the end.
        simd.load_transposed(rows, factors.len(), width, packed);
        let factors = match factors.first_chunk() {
            Some(full) => simd.load(full),
            None => simd.load_partial(factors),
        };
        factor_sums = factor_sums.add(factors);
        for k in 0..width {
            simd.load(&packed[k].0)
                .mul_add(factors, simd.load(&lane_sums[k].0))
                .store(&mut lane_sums[k]);
        }
    }
    for k in 0..width {
        sums[k] = lane_sums[k].0.iter().sum();
    }
    let mut last = AlignedF32x16::ZERO;
    factor_sums.store(&mut last);
    *total = last.0.iter().sum();
}

fn multiply_fallback(a: MatrixView<'_>, b: MatrixView<'_>, out: &mut MatrixViewMut<'_>) {
    // SAFETY: `multiply` has checked that every index the kernel reads or writes is within its
    // slice; `out` is borrowed mutably, so it overlaps neither input.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.cols,
            b.cols,
            1.0,
            a.values.as_ptr(),
            a.row_stride as isize,
            a.col_stride as isize,
            b.values.as_ptr(),
            b.row_stride as isize,
            b.col_stride as isize,
            if out.add { 1.0 } else { 0.0 },
            out.values.as_mut_ptr(),
            out.row_stride as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests;
