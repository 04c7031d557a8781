use super::{
    MatrixView, MatrixViewMut, multiply, multiply_fallback, weighted_row_sum,
    weighted_row_sum_fallback,
};

fn numbers(count: usize, salt: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 37 + salt * 11) % 101) as f32 / 50.0 - 1.0)
        .collect()
}

/// Every entry by its definition, in double precision.
fn expected(a: MatrixView<'_>, b: MatrixView<'_>) -> Vec<f64> {
    let at = |v: &MatrixView<'_>, i: usize, j: usize| {
        f64::from(v.values[i * v.row_stride + j * v.col_stride])
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
        for simd in [true, false] {
            let mut values = vec![2.0; a.rows * row_stride];
            let mut out = MatrixViewMut {
                values: &mut values,
                row_stride,
                add,
            };
            if simd {
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

#[test]
fn weighted_sums_of_rows_agree_with_sums() {
    for [count, width] in [[1, 1], [3, 5], [16, 8], [17, 20], [50, 33]] {
        let (rows, factors) = (numbers(count * width, 3), numbers(count, 4));
        for sum_rows in [weighted_row_sum, weighted_row_sum_fallback] {
            let (mut sums, mut total) = (vec![f32::NAN; width], f32::NAN);
            sum_rows(&rows, &factors, &mut sums, &mut total);
            let expected = |k: usize| -> f64 {
                let column = rows[k..].iter().step_by(width);
                let products = column.zip(&factors);
                products.map(|(x, f)| f64::from(*x) * f64::from(*f)).sum()
            };
            for (k, sum) in sums.iter().enumerate() {
                assert!((f64::from(*sum) - expected(k)).abs() < 1e-5, "{sum}");
            }
            let expected: f64 = factors.iter().map(|f| f64::from(*f)).sum();
            assert!((f64::from(total) - expected).abs() < 1e-5, "{total}");
        }
    }
}
