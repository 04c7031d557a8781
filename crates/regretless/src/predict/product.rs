//! The one matrix product, over `matrixmultiply`'s kernel.
#![allow(unsafe_code, reason = "the kernel takes pointers; lengths are checked here, once, for every caller")]

/// A row-major matrix, or its transpose, as a product sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    values: &'a [f32],
    rows: usize,
    cols: usize,
    strides: [isize; 2],
}

impl<'a> View<'a> {
    /// A row-major matrix.
    pub(super) fn new(values: &'a [f32], rows: usize, cols: usize) -> Self {
        assert_eq!(values.len(), rows * cols, "a view must cover its values");
        Self { values, rows, cols, strides: [cols as isize, 1] }
    }

    /// The same numbers with rows and columns exchanged.
    pub(super) fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows, strides: [self.strides[1], self.strides[0]], ..self }
    }
}

/// `out = keep · out + a · b`, `out` being row-major.
pub(super) fn multiply(a: View<'_>, b: View<'_>, keep: f32, out: &mut [f32]) {
    assert_eq!(a.cols, b.rows, "inner dimensions must agree");
    assert_eq!(out.len(), a.rows * b.cols, "the result must fit");
    // SAFETY: the constructors and the assertions above make every index the kernel touches lie
    // within its slice; `out` is borrowed mutably, so it overlaps neither input.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.cols,
            b.cols,
            1.0,
            a.values.as_ptr(),
            a.strides[0],
            a.strides[1],
            b.values.as_ptr(),
            b.strides[0],
            b.strides[1],
            keep,
            out.as_mut_ptr(),
            b.cols as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{View, multiply};

    #[test]
    fn products_and_transposes_agree_with_sums() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, 2.0, 1.0, 0.0, 3.0];
        let mut out = [1.0; 4];
        multiply(View::new(&a, 2, 3), View::new(&b, 3, 2), 1.0, &mut out);
        assert_eq!(out, [6.0, 12.0, 15.0, 24.0]);
        multiply(View::new(&a, 3, 2).transposed(), View::new(&b, 3, 2), 0.0, &mut out);
        assert_eq!(out, [7.0, 18.0, 10.0, 22.0]);
    }
}
