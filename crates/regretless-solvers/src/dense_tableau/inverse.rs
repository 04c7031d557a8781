//! The inverse of a small dense matrix.

/// Largest inverse of a pivot: a basis that needs a larger one is numerically singular. Pivots come
/// from rows scaled to entries near 1, so 1e10 leaves about 6 of 16 digits.
const MAX_INVERSE_PIVOT: f64 = 1e10;

/// The inner product of a row of an inverse and a right-hand side.
pub(crate) fn dot(row: &[f64], right_side: &[f64]) -> f64 {
    row.iter().zip(right_side).map(|(a, b)| a * b).sum()
}

/// The inverse by Gauss–Jordan elimination with partial pivoting; `None` when the matrix is
/// singular to working precision.
pub(crate) fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|j| f64::from(u8::from(i == j))));
    }
    for column in 0..size {
        let magnitude = |row: &usize| matrix[*row][column].abs();
        let largest = (column..size).max_by(|a, b| magnitude(a).total_cmp(&magnitude(b)))?;
        matrix.swap(column, largest);
        let inverse = 1.0 / matrix[column][column];
        if !inverse.is_finite() || inverse.abs() > MAX_INVERSE_PIVOT {
            return None;
        }
        for entry in &mut matrix[column] {
            *entry *= inverse;
        }
        let pivot_row = matrix[column].clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            if i == column {
                continue;
            }
            let factor = row[column];
            for (entry, pivot) in row.iter_mut().zip(&pivot_row) {
                *entry -= factor * pivot;
            }
        }
    }
    for row in &mut matrix {
        row.drain(..size);
    }
    Some(matrix)
}
