//! A linear model with intercept, fitted to all costs by least squares: what is predicted before anybody thinks of
//! decisions.

use regretless::data::Dataset;

/// Predicted costs of the first rows, one row after the other.
pub fn predictions(data: &Dataset, rows: usize) -> Vec<f32> {
    let inputs: Vec<Vec<f64>> = (0..data.len()).map(|row| with_one(data.features().of(row))).collect();
    let size = inputs[0].len();
    let mut moments = vec![vec![0.0; size]; size];
    for x in &inputs {
        for (line, a) in moments.iter_mut().zip(x) {
            line.iter_mut().zip(x).for_each(|(sum, b)| *sum += a * b);
        }
    }
    let inverse = inverted(moments);
    // Each row's share in every prediction: H = X (XᵀX)⁻¹ Xᵀ, of which the first rows are needed.
    let mut out = Vec::with_capacity(rows * data.costs().cols());
    for x in &inputs[..rows] {
        let leaning: Vec<f64> = inverse.iter().map(|line| dot(line, x)).collect();
        let mut sums = vec![0.0; data.costs().cols()];
        for (row, other) in inputs.iter().enumerate() {
            let share = dot(&leaning, other);
            sums.iter_mut().zip(data.costs().row(row)).for_each(|(sum, cost)| *sum += share * f64::from(*cost));
        }
        out.extend(sums.into_iter().map(|sum| sum as f32));
    }
    out
}

fn with_one(features: &[f32]) -> Vec<f64> {
    std::iter::once(1.0).chain(features.iter().map(|x| f64::from(*x))).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a positive definite matrix, by Gauss and Jordan.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for (i, line) in matrix.iter_mut().enumerate() {
        line.extend((0..size).map(|j| f64::from(u8::from(i == j))));
    }
    for pivot in 0..size {
        let scale = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|value| *value /= scale);
        let row = matrix[pivot].clone();
        for (_, line) in matrix.iter_mut().enumerate().filter(|(other, _)| *other != pivot) {
            let factor = line[pivot];
            line.iter_mut().zip(&row).for_each(|(value, r)| *value -= factor * r);
        }
    }
    matrix.into_iter().map(|line| line[size..].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use regretless::data::{Dataset, Features, Matrix, Shape};

    use super::predictions;

    #[test]
    fn a_linear_table_is_predicted_exactly() {
        let inputs: Vec<f32> = (0..20).map(|i| (i * i % 7) as f32 - 0.5 * (i % 3) as f32).collect();
        let costs: Vec<f32> = inputs.chunks(2).flat_map(|x| [1.0 + x[0] - 2.0 * x[1], 3.0 * x[1]]).collect();
        let features = Features::new(Matrix::new(10, 2, inputs).unwrap(), Shape::Wide, None).unwrap();
        let data = Dataset::new(features, Matrix::new(10, 2, costs.clone()).unwrap(), None).unwrap();
        let found = predictions(&data, 4);
        assert!(found.iter().zip(&costs).all(|(p, c)| (p - c).abs() < 1e-4), "{found:?} {costs:?}");
    }
}
