//! Ordinary least squares in closed form (Legendre 1805, Gauss 1809): the linear predictor of least
//! squared error on the training rows, without gradient descent.
//!
//! Features and costs are standardized first; the intercept is then the mean that the output scaler
//! adds. The normal equations are solved by a Cholesky factorization in double precision. The fit
//! is the baseline that every trained model has to beat.

use super::{CostScaler, FeatureScaler, Network, Tape};
use crate::data::{Dataset, Features, Matrix};
use crate::error::{Error, Result};

/// Added to the diagonal of the correlation matrix. Collinear features, or more features than rows,
/// leave the equations without a unique solution; with the penalty it is close to the one of least
/// norm. At 1e-8 the penalty changes the predictions of a well-posed fit by less than the rounding
/// of single precision, in which they are stored.
const RIDGE_PENALTY: f64 = 1e-8;

impl Dataset {
    /// Costs of some rows as predicted by the linear model of least squared error on all rows, one
    /// row after another.
    ///
    /// # Errors
    /// When there is no row, or a sum is not finite.
    pub fn least_squares_predictions(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let all: Vec<usize> = (0..self.len()).collect();
        let fit = LinearFit::least_squares(self, &all)?;
        Ok(fit.predict(&self.features().select_rows(rows)))
    }
}

/// A linear predictor fitted in closed form, with its scalers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LinearFit {
    /// Standardizes features.
    pub(crate) input: FeatureScaler,
    /// Weights and biases.
    pub(crate) network: Network,
    /// Turns outputs into costs with the signs of the table that was fitted.
    pub(crate) output: CostScaler,
}

impl LinearFit {
    /// The fit of least squared error on these instances, each counted by its row weight; in a long
    /// table one set of weights serves all items.
    ///
    /// # Errors
    /// When there is no instance, or a sum is not finite.
    pub fn least_squares(data: &Dataset, instances: &[usize]) -> Result<Self> {
        Self::ridge(data, instances, 0.0)
    }

    /// The same with a penalty on squared weights, relative to the variance of a feature (Hoerl and
    /// Kennard 1970).
    ///
    /// # Errors
    /// As [`Self::least_squares`].
    pub fn ridge(data: &Dataset, instances: &[usize], penalty: f64) -> Result<Self> {
        if instances.is_empty() {
            return Err(Error::setting("no rows to fit least squares on"));
        }
        let row_weights = data.scaled_row_weights(instances);
        let (input, output) = (
            FeatureScaler::fit(data, instances, row_weights.as_deref()),
            CostScaler::fit(data, instances, row_weights.as_deref()),
        );
        let mut features = data.features().select_rows(instances);
        input.apply(&mut features);
        let targets = FitTargets {
            data,
            costs: &data.predicted_part(),
            instances,
            features: &features,
            row_weights: row_weights.as_deref(),
            output: &output,
            // At least the penalty that makes the equations solvable.
            penalty: penalty.max(RIDGE_PENALTY),
        };
        let fitted = targets.solve()?;
        Self::assemble(input, output, &fitted)
    }

    /// Predicted costs of all rows of features, row by row, in the objective sense of the
    /// fitted table.
    pub fn predict(&self, features: &Features) -> Vec<f32> {
        let mut features = features.clone();
        self.input.apply(&mut features);
        let mut tape = Tape::default();
        self.network
            .predict(features.values().as_slice(), &mut tape);
        self.output
            .apply(tape.outputs())
            .map(|cost| cost as f32)
            .collect()
    }

    /// A network holds one row of weights per output, then the biases.
    fn assemble(
        input: FeatureScaler,
        output: CostScaler,
        fitted: &FittedParameters,
    ) -> Result<Self> {
        let (width, outputs) = (input.mean.len(), output.scale.len());
        let mut parameters = vec![0.0_f32; outputs * (width + 1)];
        for (feature, row) in fitted.weights.chunks_exact(outputs).enumerate() {
            for (output, weight) in row.iter().enumerate() {
                parameters[output * width + feature] = *weight as f32;
            }
        }
        for (parameter, bias) in parameters[outputs * width..].iter_mut().zip(&fitted.biases) {
            *parameter = *bias as f32;
        }
        let network = Network::with_parameters(vec![width, outputs], parameters);
        let network =
            network.ok_or_else(|| Error::setting("the least-squares fit has the wrong size"))?;
        Ok(Self {
            input,
            network,
            output,
        })
    }
}

/// The rows that a linear predictor is fitted to, with scaled features.
struct FitTargets<'a> {
    data: &'a Dataset,
    /// The predicted part of the costs.
    costs: &'a Matrix,
    instances: &'a [usize],
    /// Of the instances, in their order.
    features: &'a Features,
    row_weights: Option<&'a [f64]>,
    output: &'a CostScaler,
    /// Added to the diagonal of the correlation matrix.
    penalty: f64,
}

impl FitTargets<'_> {
    /// Weights and biases.
    fn solve(&self) -> Result<FittedParameters> {
        let outputs = self.output.scale.len();
        let width = self.features.names().len();
        let exists_everywhere = |i: &usize| self.data.present_costs(*i).is_none();
        // With the same rows for all costs one factorization serves them all, and standardized
        // features have mean 0.
        if outputs == 1 || self.instances.iter().all(exists_everywhere) {
            return Ok(FittedParameters {
                weights: self.solve_columns(0, outputs, &vec![0.0; width])?,
                biases: vec![0.0; outputs],
            });
        }
        // Each cost exists in rows of its own, over which features do not have mean 0: they are
        // centered there, and the bias makes up for it.
        let mut fitted = FittedParameters {
            weights: vec![0.0; width * outputs],
            biases: vec![0.0; outputs],
        };
        for column in 0..outputs {
            let center = self.mean_features(column);
            let weights = self.solve_columns(column, 1, &center)?;
            for (feature, weight) in weights.into_iter().enumerate() {
                fitted.weights[feature * outputs + column] = weight;
                fitted.biases[column] -= weight * center[feature];
            }
        }
        Ok(fitted)
    }

    /// Mean scaled features of the instances of a wide table in which a cost exists.
    fn mean_features(&self, column: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.features.names().len()];
        let mut count = 0.0;
        for (i, instance) in self.instances.iter().enumerate() {
            let exists = self.data.present_costs(*instance);
            if exists.is_none_or(|exists| exists[column]) {
                let weight = self.row_weights.map_or(1.0, |weights| weights[*instance]);
                count += weight;
                for (sum, value) in sums.iter_mut().zip(self.features.instance(i)) {
                    *sum += weight * f64::from(*value);
                }
            }
        }
        sums.iter()
            // A cost that no row has gets zeros; the divisor only avoids 0 / 0.
            .map(|sum| sum / f64::max(count, f64::MIN_POSITIVE))
            .collect()
    }

    /// The weights of some outputs, which exist in the same rows, one row per feature; `center` is
    /// subtracted from the features.
    fn solve_columns(&self, first: usize, count: usize, center: &[f64]) -> Result<Vec<f64>> {
        let width = self.features.names().len();
        let outputs = self.output.scale.len();
        // Centering by 0 would only round.
        let is_centered = center.iter().any(|mean| *mean != 0.0);
        let mut equations = NormalEquations::new(width, count);
        let mut targets = vec![0.0; count];
        let mut centered: Vec<f32> = Vec::new();
        for (i, instance) in self.instances.iter().enumerate() {
            let rows = self.features.instance(i).chunks_exact(width);
            let row_costs = self.costs.row(*instance).chunks_exact(outputs);
            let exists = self.data.present_costs(*instance);
            let row_weight = self.row_weights.map_or(1.0, |weights| weights[*instance]);
            for (item, (row, costs)) in rows.zip(row_costs).enumerate() {
                // The rows of a long table are items, those of a wide table have all costs.
                let cost = if outputs == 1 { item } else { first };
                if exists.is_some_and(|exists| !exists[cost]) {
                    continue;
                }
                for (position, target) in targets.iter_mut().enumerate() {
                    let j = first + position;
                    *target = (f64::from(costs[j]) - self.output.offset[j]) / self.output.scale[j];
                }
                if is_centered {
                    centered.clear();
                    let values = row.iter().zip(center);
                    // Stored in single precision, as the features are.
                    centered.extend(values.map(|(value, mean)| (f64::from(*value) - mean) as f32));
                    equations.add(row_weight, &centered, &targets);
                } else {
                    equations.add(row_weight, row, &targets);
                }
            }
        }
        equations.solve(self.penalty)
    }
}

/// Parameters of a linear fit: one row of weights per feature, and one bias per output.
struct FittedParameters {
    weights: Vec<f64>,
    biases: Vec<f64>,
}

/// Weighted sums over rows: features times features, and features times targets.
struct NormalEquations {
    width: usize,
    outputs: usize,
    /// The lower triangle of XᵀX, stored in a full square, row by row.
    gram: Vec<f64>,
    /// Xᵀ times the targets, one row per feature.
    features_times_targets: Vec<f64>,
    /// The sum of the weights of all rows.
    weight: f64,
}

impl NormalEquations {
    fn new(width: usize, outputs: usize) -> Self {
        Self {
            width,
            outputs,
            gram: vec![0.0; width * width],
            features_times_targets: vec![0.0; width * outputs],
            weight: 0.0,
        }
    }

    fn add(&mut self, weight: f64, row: &[f32], targets: &[f64]) {
        for (i, a) in row.iter().enumerate() {
            let a = weight * f64::from(*a);
            // The lower triangle: the matrix is symmetric.
            for (sum, b) in self.gram[i * self.width..][..=i].iter_mut().zip(row) {
                *sum += a * f64::from(*b);
            }
            for (sum, target) in self.features_times_targets[i * self.outputs..][..self.outputs]
                .iter_mut()
                .zip(targets)
            {
                *sum += a * target;
            }
        }
        self.weight += weight;
    }

    /// The weights, one row per feature.
    fn solve(mut self, penalty: f64) -> Result<Vec<f64>> {
        // All weights may be 0.
        let weight = if self.weight > 0.0 { self.weight } else { 1.0 };
        for i in 0..self.width {
            self.gram[i * self.width + i] += penalty * weight;
        }
        self.factorize();
        // Forward substitution, for all outputs of a feature at once: rows are contiguous.
        for i in 0..self.width {
            let (above, below) = self.features_times_targets.split_at_mut(i * self.outputs);
            let row = &mut below[..self.outputs];
            for k in 0..i {
                subtract_multiple(
                    self.gram[i * self.width + k],
                    &above[k * self.outputs..][..self.outputs],
                    row,
                );
            }
            divide(row, self.gram[i * self.width + i]);
        }
        // Backward substitution with the transposed factor.
        for i in (0..self.width).rev() {
            let (above, below) = self
                .features_times_targets
                .split_at_mut((i + 1) * self.outputs);
            let row = &mut above[i * self.outputs..];
            for k in i + 1..self.width {
                let solved = &below[(k - i - 1) * self.outputs..][..self.outputs];
                subtract_multiple(self.gram[k * self.width + i], solved, row);
            }
            divide(row, self.gram[i * self.width + i]);
        }
        // Overflow is reported here, where it has a remedy.
        if self
            .features_times_targets
            .iter()
            .all(|weight| weight.is_finite())
        {
            Ok(self.features_times_targets)
        } else {
            Err(Error::setting("least squares has no finite solution")
                .with_remedy("features or costs are too large"))
        }
    }

    /// Overwrites the lower triangle with its Cholesky factor.
    fn factorize(&mut self) {
        let width = self.width;
        for i in 0..width {
            for j in 0..=i {
                let mut value = self.gram[i * width + j];
                for k in 0..j {
                    value -= self.gram[i * width + k] * self.gram[j * width + k];
                }
                self.gram[i * width + j] = if i == j {
                    // Positive because of the ridge penalty, except for rounding.
                    value.max(f64::MIN_POSITIVE).sqrt()
                } else {
                    value / self.gram[j * width + j]
                };
            }
        }
    }
}

fn subtract_multiple(factor: f64, values: &[f64], from: &mut [f64]) {
    for (entry, value) in from.iter_mut().zip(values) {
        *entry -= factor * value;
    }
}

fn divide(row: &mut [f64], divisor: f64) {
    for value in row {
        *value /= divisor;
    }
}

#[cfg(test)]
mod tests {
    use super::LinearFit;
    use crate::data::{Dataset, FeatureShape, Features, Matrix};

    fn table(rows: usize, features: Vec<f32>, costs: Vec<f32>, shape: FeatureShape) -> Dataset {
        let cols = features.len() / (rows * shape.rows_per_instance());
        let values = Matrix::new(rows * shape.rows_per_instance(), cols, features).unwrap();
        let features = Features::new(values, shape, None).unwrap();
        let width = costs.len() / rows;
        Dataset::new(features, Matrix::new(rows, width, costs).unwrap(), None).unwrap()
    }

    fn predictions(fit: &LinearFit, data: &Dataset) -> Vec<f64> {
        fit.predict(data.features())
            .into_iter()
            .map(f64::from)
            .collect()
    }

    /// Two features, two costs, ten rows.
    fn linear() -> Dataset {
        let inputs: Vec<f32> = (0..20)
            .map(|i| (i * i % 7) as f32 - 0.5 * (i % 3) as f32)
            .collect();
        let costs = inputs
            .chunks(2)
            .flat_map(|x| [1.0 + x[0] - 2.0 * x[1], 3.0 * x[1]])
            .collect();
        table(10, inputs, costs, FeatureShape::Wide)
    }

    #[test]
    fn a_linear_table_is_predicted_exactly() {
        let data = linear();
        let fit = LinearFit::least_squares(&data, &(0..10).collect::<Vec<_>>()).unwrap();
        for (found, cost) in predictions(&fit, &data).iter().zip(data.costs().as_slice()) {
            assert!((found - f64::from(*cost)).abs() < 1e-4, "{found} {cost}");
        }
    }

    #[test]
    fn residuals_are_orthogonal_to_every_feature() {
        let inputs: Vec<f32> = (0..60)
            .map(|i| ((i * 37 % 23) as f32).sin() * (1.0 + (i % 3) as f32))
            .collect();
        let costs: Vec<f32> = (0..40)
            .map(|i| ((i * 29 % 17) as f32).cos() * 5.0 + 100.0)
            .collect();
        let data = table(20, inputs, costs, FeatureShape::Wide);
        let fit = LinearFit::least_squares(&data, &(0..20).collect::<Vec<_>>()).unwrap();
        let predicted = predictions(&fit, &data);
        for cost in 0..2 {
            let residual =
                |row: usize| f64::from(data.costs().row(row)[cost]) - predicted[row * 2 + cost];
            assert!((0..20).map(residual).sum::<f64>().abs() < 1e-3);
            for feature in 0..3 {
                let dot: f64 = (0..20)
                    .map(|row| {
                        residual(row) * f64::from(data.features().values().row(row)[feature])
                    })
                    .sum();
                assert!(dot.abs() < 1e-3, "cost {cost}, feature {feature}: {dot}");
            }
        }
    }

    #[test]
    fn collinear_features_and_few_rows_have_a_solution_too() {
        let inputs: Vec<f32> = (0..5)
            .flat_map(|i| [i as f32, 2.0 * i as f32, 1.0, -(i as f32)])
            .collect();
        let costs: Vec<f32> = (0..5).map(|i| 3.0 * i as f32 - 1.0).collect();
        let data = table(5, inputs, costs, FeatureShape::Wide);
        let fit = LinearFit::least_squares(&data, &[0, 1, 2]).unwrap();
        for (row, found) in predictions(&fit, &data).iter().enumerate() {
            assert!(
                (found - (3.0 * row as f64 - 1.0)).abs() < 1e-3,
                "row {row}: {found}"
            );
        }
        assert!(LinearFit::least_squares(&data, &[]).is_err());
    }

    #[test]
    fn items_of_a_long_table_share_one_set_of_weights() {
        let inputs: Vec<f32> = (0..12).map(|i| (i * 5 % 11) as f32).collect();
        let costs: Vec<f32> = inputs.iter().map(|x| 2.0 * x + 1.0).collect();
        let data = table(4, inputs, costs, FeatureShape::Long { items: 3 });
        let fit = LinearFit::least_squares(&data, &[0, 1, 2, 3]).unwrap();
        assert_eq!(fit.network.sizes(), [1, 1]);
        for (found, cost) in predictions(&fit, &data).iter().zip(data.costs().as_slice()) {
            assert!((found - f64::from(*cost)).abs() < 1e-5);
        }
    }
}
