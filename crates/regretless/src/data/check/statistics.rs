//! Samples of columns, correlations and ranks.

use crate::data::Matrix;

/// Values of a column at some rows, shifted and scaled to mean 0 and sum of squares 1; a missing
/// value has the mean. All zeros if the column is constant.
pub(super) fn standardized(mut values: Vec<f64>) -> Vec<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values.iter().filter(|value| value.is_finite()) {
        sum += value;
        count += 1.0;
    }
    let mean = sum / f64::max(count, 1.0);
    let mut squares = 0.0;
    for value in &mut values {
        *value = if value.is_finite() {
            *value - mean
        } else {
            0.0
        };
        squares += *value * *value;
    }
    // Rounding of a constant column leaves deviations of the order of the last digit.
    // Values come from single precision, whose last digit is this large.
    let negligible = (mean.abs() * f64::from(f32::EPSILON)).powi(2) * count;
    let scale = if squares > negligible {
        squares.sqrt().recip()
    } else {
        0.0
    };
    for value in &mut values {
        *value *= scale;
    }
    values
}

/// The correlation of two standardized columns.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The ranks of values; equal values have the mean of their ranks, missing ones stay missing.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len())
        .filter(|i| values[*i].is_finite())
        .collect();
    // A stable sort, so equal values stay in the order of the rows.
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![f64::NAN; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let equal = order[start..].iter().take_while(|i| values[**i] == value);
        let end = start + equal.count();
        // Equal values share the mean of their ranks, or else their order would matter.
        let rank = (start + end - 1) as f64 / 2.0;
        for i in &order[start..end] {
            ranks[*i] = rank;
        }
        start = end;
    }
    ranks
}

/// At most `most` of `count` numbers from 0, evenly spaced.
pub(super) fn evenly_spaced(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most)
        // In 128 bits: the product of row numbers of a large table would overflow.
        .map(|i| (i as u128 * count as u128 / most as u128) as usize)
        .collect()
}

/// The values of a column at some rows.
pub(super) fn column_at(matrix: &Matrix, column: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter()
        .map(|row| f64::from(matrix.row(*row)[column]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{correlation, evenly_spaced, ranks, standardized};

    #[test]
    fn correlations_and_ranks_are_those_by_hand() {
        let a = standardized(vec![1.0, 2.0, 3.0, f64::NAN]);
        let b = standardized(vec![10.0, 20.0, 30.0, 20.0]);
        assert!((correlation(&a, &b) - 1.0).abs() < 1e-12);
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
        assert!(ranks(&[f64::NAN, 2.0])[0].is_nan());
        assert_eq!(standardized(vec![0.1; 7]), [0.0; 7]);
        assert_eq!(evenly_spaced(10, 4), [0, 2, 5, 7]);
        assert_eq!(evenly_spaced(3, 4), [0, 1, 2]);
    }
}
