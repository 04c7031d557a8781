//! Scalers: fixed affine maps of the features before a predictor, and of its outputs to costs.

use crate::data::{Dataset, FeatureShape, Features};

/// Smallest scale of an output. A cost that hardly varies would otherwise never change during
/// training. Untuned: any small value works.
const MIN_STANDARD_DEVIATION: f64 = 1e-6;

/// Standard deviations below this are rounding error: the feature is constant. Untuned: any small
/// value works.
const MAX_CONSTANT_DEVIATION: f64 = 1e-12;

/// Standardizes features: mean 0 and standard deviation 1 over the training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeatureScaler {
    /// Mean of each feature.
    pub mean: Vec<f64>,
    /// Standard deviation of each feature; 1 if a feature is constant.
    pub deviation: Vec<f64>,
}

impl FeatureScaler {
    /// The scaler fitted on these instances; `weights` holds one weight per instance of the table,
    /// with a mean of 1 over those fitted on. Items that do not exist are left out.
    pub fn fit(data: &Dataset, instances: &[usize], weights: Option<&[f64]>) -> Self {
        let features = data.features();
        let width = features.names().len();
        let rows = || {
            instances.iter().flat_map(|i| {
                let weight = weights.map_or(1.0, |weights| weights[*i]);
                let rows = features.instance(*i).chunks_exact(width);
                let exists = existing_items(data, *i);
                rows.enumerate()
                    .filter(move |(item, _)| exists.is_none_or(|exists| exists[*item]))
                    .map(move |(_, row)| (weight, row))
            })
        };
        let (mean, mut deviation) = mean_and_deviation(width, rows, 0.0);
        // A constant feature is only centered: dividing rounding errors by themselves would make
        // noise of it.
        for deviation in &mut deviation {
            if *deviation < MAX_CONSTANT_DEVIATION {
                *deviation = 1.0;
            }
        }
        Self { mean, deviation }
    }

    /// Scales features in place.
    pub fn apply(&self, features: &mut Features) {
        for row in features
            .values_mut()
            .as_mut_slice()
            .chunks_exact_mut(self.mean.len())
        {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = ((f64::from(*value) - mean) / deviation) as f32;
            }
        }
    }
}

/// The scaler of outputs: cost = offset + scale · output.
///
/// With the mean and the sample standard deviation of the training costs, outputs of order 1 become
/// costs of the right size, and no prediction starts at zero, where normalization is undefined.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostScaler {
    /// Added to each output of a row.
    pub offset: Vec<f64>,
    /// Multiplies each output of a row.
    pub scale: Vec<f64>,
}

impl CostScaler {
    /// Outputs are the costs.
    pub fn identity(outputs: usize) -> Self {
        Self {
            offset: vec![0.0; outputs],
            scale: vec![1.0; outputs],
        }
    }

    /// Mean and sample standard deviation of each cost; for a long table those of all costs, since
    /// one output serves them all. Rows of the table count by their weights, and a weight of 2 as
    /// two rows. Only the predicted part of the costs that exist is fitted.
    pub fn fit(data: &Dataset, instances: &[usize], weights: Option<&[f64]>) -> Self {
        let width = match data.features().shape() {
            FeatureShape::Wide => data.costs().cols(),
            FeatureShape::Long { .. } => 1,
        };
        let costs = data.predicted_part();
        let rows = || {
            instances.iter().flat_map(|i| {
                let weight = weights.map_or(1.0, |weights| weights[*i]);
                let rows = costs.row(*i).chunks_exact(width);
                let exists = existing_items(data, *i);
                rows.enumerate()
                    .filter(move |(item, _)| exists.is_none_or(|exists| exists[*item]))
                    .map(move |(_, row)| (weight, row))
            })
        };
        let one_observation = match weights {
            Some(_) => data.weight_of_one_observation(instances),
            None => 1.0,
        };
        // Only if costs may be absent do columns have rows of their own.
        let is_masked = width > 1 && instances.iter().any(|i| data.present_costs(*i).is_some());
        let (offset, deviation) = if is_masked {
            let mut columns = (Vec::with_capacity(width), Vec::with_capacity(width));
            for column in 0..width {
                let values = || {
                    let existing = instances.iter().filter(move |i| {
                        data.present_costs(**i).is_none_or(|exists| exists[column])
                    });
                    existing.map(|i| {
                        let weight = weights.map_or(1.0, |weights| weights[*i]);
                        (weight, &costs.row(*i)[column..=column])
                    })
                };
                let (mean, deviation) = mean_and_deviation(1, values, one_observation);
                columns.0.extend(mean);
                columns.1.extend(deviation);
            }
            columns
        } else {
            mean_and_deviation(width, rows, one_observation)
        };
        // Relative to the others if costs are small numbers. With costs of a tiny unit the smallest
        // scale must be tiny too.
        let mean = deviation.iter().sum::<f64>() / deviation.len().max(1) as f64;
        let unit = if mean > 0.0 { mean.min(1.0) } else { 1.0 };
        let scale = deviation
            .into_iter()
            .map(|sd| sd.max(MIN_STANDARD_DEVIATION * unit))
            .collect();
        Self { offset, scale }
    }

    /// Takes offset and scale of some outputs from another scaler.
    pub fn replace_entries(&mut self, outputs: &[u32], other: &Self) {
        for output in outputs {
            let output = *output as usize;
            self.offset[output] = other.offset[output];
            self.scale[output] = other.scale[output];
        }
    }

    /// Overwrites `costs` with the costs for rows of outputs.
    pub fn write(&self, outputs: &[f32], costs: &mut Vec<f64>) {
        costs.clear();
        for row in outputs.chunks_exact(self.scale.len()) {
            let map = self.offset.iter().zip(&self.scale);
            costs.extend(
                row.iter()
                    .zip(map)
                    .map(|(output, (offset, scale))| offset + scale * f64::from(*output)),
            );
        }
    }

    /// The backward pass: appends the gradient of outputs, `factor` times that of costs.
    pub fn backward(&self, gradient: &[f64], factor: f64, output_gradient: &mut Vec<f32>) {
        for row in gradient.chunks_exact(self.scale.len()) {
            output_gradient.extend(
                row.iter()
                    .zip(&self.scale)
                    .map(|(g, scale)| (factor * scale * g) as f32),
            );
        }
    }

    /// The costs for rows of outputs.
    pub fn apply<'a>(&'a self, outputs: &'a [f32]) -> impl Iterator<Item = f64> + 'a {
        let coefficients = self.offset.iter().zip(&self.scale).cycle();
        outputs
            .iter()
            .zip(coefficients)
            .map(|(output, (offset, scale))| offset + scale * f64::from(*output))
    }

    /// The scaler whose costs are the negatives of this one's.
    #[must_use]
    pub fn negated(self) -> Self {
        let negate = |values: Vec<f64>| values.into_iter().map(|v| -v).collect();
        Self {
            offset: negate(self.offset),
            scale: negate(self.scale),
        }
    }
}

/// Which items of an instance exist, in a long table with different items; `None` if all do.
pub(super) fn existing_items(data: &Dataset, instance: usize) -> Option<&[bool]> {
    match data.features().shape() {
        FeatureShape::Wide => None,
        FeatureShape::Long { .. } => data.present_costs(instance),
    }
}

/// Mean and standard deviation of each column of weighted rows; the variance is divided by the sum
/// of the weights (without weights the number of rows) minus `lost_degrees_of_freedom`, at least by
/// half the sum: the weights of the few rows of a rare cost may add up to less than what is lost.
fn mean_and_deviation<'a, I: Iterator<Item = (f64, &'a [f32])>>(
    width: usize,
    rows: impl Fn() -> I,
    lost_degrees_of_freedom: f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut mean, mut square, mut count) = (vec![0.0; width], vec![0.0; width], 0.0);
    for (weight, row) in rows() {
        for (sum, value) in mean.iter_mut().zip(row) {
            *sum += weight * f64::from(*value);
        }
        count += weight;
    }
    for sum in &mut mean {
        *sum /= if count > 0.0 { count } else { 1.0 };
    }
    for (weight, row) in rows() {
        for ((sum, v), mean) in square.iter_mut().zip(row).zip(&mean) {
            *sum += weight * (f64::from(*v) - mean).powi(2);
        }
    }
    let divisor = f64::max(count - lost_degrees_of_freedom, 0.5 * count);
    let divisor = if divisor > 0.0 { divisor } else { 1.0 };
    let deviation = square
        .into_iter()
        .map(|sum: f64| (sum / divisor).sqrt())
        .collect();
    (mean, deviation)
}

#[cfg(test)]
mod tests {
    use super::mean_and_deviation;

    #[test]
    fn rows_of_little_weight_have_the_mean_of_their_values() {
        let values = [[29.0_f32], [31.0], [30.0]];
        let rows = || values.iter().map(|row| (0.001, row.as_slice()));
        let (mean, deviation) = mean_and_deviation(1, rows, 1.0);
        assert!((mean[0] - 30.0).abs() < 1e-9, "{mean:?}");
        assert!((0.5..2.0).contains(&deviation[0]), "{deviation:?}");
        let (mean, deviation) = mean_and_deviation(1, || rows().map(|(_, row)| (1.0, row)), 1.0);
        assert_eq!((mean[0], deviation[0]), (30.0, 1.0));
    }
}
