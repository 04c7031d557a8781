//! Compares the gradient of a loss with differences of its values.

use super::{BatchLossInput, Loss, LossInput, LossSpec, NoiseKey};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::NoopObserver;
use crate::oracle::{Oracle, StepId, TrainingOracle};
use crate::problem::Problem;
use crate::random::{Purpose, RandomStream};

/// Rows whose gradients are checked.
const NUM_ROWS: usize = 3;

/// Directions along which the gradient of a row is checked. A wrong gradient disagrees along
/// almost all directions.
const NUM_DIRECTIONS: usize = 4;

/// Steps of the central differences, in units of a row's root mean square of costs. The first has
/// the smallest rounding error, the others are for losses that bend, or have a kink, nearby.
const STEPS: [f64; 3] = [1e-4, 1e-6, 1e-2];

/// Relative difference of derivatives that counts as an error of the difference.
const RELATIVE_TOLERANCE: f64 = 1e-3;

/// Rounding error of a value, relative to it: that of double precision, times what a sum over many
/// costs and a solver's objective add to it.
const VALUE_ERROR: f64 = 1e-11;

/// The check of a built loss on rows of a table.
struct GradientCheck<'a> {
    /// Name of the loss, for the error.
    name: String,
    loss: &'a dyn Loss,
    data: &'a LabeledDataset,
    /// Solves exactly, whatever the settings of a stage.
    oracle: &'a Oracle,
    /// Seed of the predictions and directions, and of the loss's noise.
    seed: u64,
}

/// Losses and gradients of some rows.
struct Evaluated {
    values: Vec<f64>,
    gradients: Vec<f64>,
}

/// A direction along which the derivative differs.
struct Disagreement {
    instance: usize,
    derivative: f64,
    difference: f64,
}

impl LossSpec {
    /// Checks the gradient of a loss against differences of its values, near the costs of some
    /// rows (in the user's sense). Losses with kinks, such as absolute errors, pass unless a kink
    /// is near most of the predictions.
    ///
    /// ```
    /// use regretless::loss::LossSpec;
    /// use regretless::{Problem, Sense};
    ///
    /// let problem = Problem::top_k(3, 1, Sense::Minimize)?;
    /// let loss: LossSpec = "MSE(O,S)".parse()?;
    /// loss.check_gradient(&problem, &[[1.0, 2.0, 3.0], [3.0, 1.0, 4.0]])?;
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the gradient is wrong, and as [`Self::evaluate`].
    pub fn check_gradient<R: AsRef<[f64]>>(&self, problem: &Problem, costs: &[R]) -> Result<()> {
        let oracle = Oracle::new(problem.kind().clone());
        // A loss does not use features; one constant feature makes a valid table.
        let features = vec![[1.0]; costs.len()];
        let table = Dataset::from_arrays(&features, costs)?;
        let data = LabeledDataset::solve(table, &oracle, &NoopObserver)?;
        let loss = self.build(&data, &oracle, &NoopObserver)?;
        self.check_built_gradient(loss.as_ref(), &data, &data.rows(), &oracle, 0)
    }

    /// As [`Self::check_gradient`], of a loss that was built for a table, on the first few of these
    /// rows.
    ///
    /// # Errors
    /// When the gradient is wrong, a value is not finite, or a solve fails.
    pub fn check_built_gradient(
        &self,
        loss: &dyn Loss,
        data: &LabeledDataset,
        rows: &[usize],
        oracle: &Oracle,
        seed: u64,
    ) -> Result<()> {
        let check = GradientCheck {
            name: self.to_string(),
            loss,
            data,
            oracle,
            seed,
        };
        check.run(rows)
    }
}

impl GradientCheck<'_> {
    /// Checks the gradients of the first few of these rows.
    ///
    /// # Errors
    /// When most directions disagree, a value is not finite, or a solve fails.
    fn run(&self, rows: &[usize]) -> Result<()> {
        let rows = &rows[..rows.len().min(NUM_ROWS)];
        let width = self.data.data().costs().cols();
        let (mut scales, mut predictions) = (Vec::new(), Vec::new());
        for row in rows {
            let mut stream = RandomStream::new(Purpose::GradientCheck, self.seed, [*row as u64, 0]);
            let costs = self.costs(*row);
            let scale = root_mean_square(&costs);
            scales.push(scale);
            predictions.extend(costs.iter().enumerate().map(|(j, cost)| {
                if self.is_absent(*row, j) {
                    return *cost;
                }
                // Same sign as the cost, in case the loss takes a logarithm or a root.
                let relative = 1.0 + 0.5 * stream.uniform(-1.0, 1.0);
                let added = 0.1 * scale * stream.standard_uniform();
                cost * relative + if *cost < 0.0 { -added } else { added }
            }));
        }
        let at_predictions = self.evaluate(rows, &predictions)?;
        self.check_independence(rows, &predictions[..width], &at_predictions)?;
        let (mut num_checks, mut disagreements) = (0, Vec::new());
        for direction in 1..=NUM_DIRECTIONS as u64 {
            let mut directions = vec![0.0; predictions.len()];
            for (index, row) in rows.iter().enumerate() {
                let position = [*row as u64, direction];
                let mut stream = RandomStream::new(Purpose::GradientCheck, self.seed, position);
                let entries = &mut directions[index * width..][..width];
                stream.fill_normal(entries);
                for (j, entry) in entries.iter_mut().enumerate() {
                    *entry *= if self.is_absent(*row, j) {
                        0.0
                    } else {
                        scales[index]
                    };
                }
            }
            num_checks += rows.len();
            disagreements.extend(self.compare(rows, &predictions, &at_predictions, &directions)?);
        }
        match disagreements.first() {
            Some(first) if 2 * disagreements.len() > num_checks => Err(self.refuse(first)),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks that the loss of the first row is the same without the other rows. Only losses that
    /// are evaluated for whole batches see more than one row.
    fn check_independence(
        &self,
        rows: &[usize],
        prediction: &[f64],
        together: &Evaluated,
    ) -> Result<()> {
        if self.loss.batch_loss().is_none() || rows.len() < 2 {
            return Ok(());
        }
        let (alone, together) = (
            self.evaluate(&rows[..1], prediction)?.values[0],
            together.values[0],
        );
        let size = alone.abs().max(together.abs());
        if (alone - together).abs() <= RELATIVE_TOLERANCE * size {
            return Ok(());
        }
        Err(Error::setting(format!(
            "the loss '{}' of a row depends on the other rows of its batch: that of row {} is \
             {alone:.6e} alone and {together:.6e} among {} rows",
            self.name,
            rows[0],
            rows.len()
        ))
        .with_remedy(
            "return one loss per row without means or sums over rows, and draw random numbers by \
             seed, epoch and row",
        ))
    }

    /// The rows whose derivative along a direction disagrees with the difference for every step.
    fn compare(
        &self,
        rows: &[usize],
        predictions: &[f64],
        at_predictions: &Evaluated,
        directions: &[f64],
    ) -> Result<Vec<Disagreement>> {
        let width = predictions.len() / rows.len().max(1);
        let mut pending: Vec<usize> = (0..rows.len()).collect();
        let mut first_differences = vec![f64::NAN; rows.len()];
        for (round, step) in STEPS.into_iter().enumerate() {
            if pending.is_empty() {
                break;
            }
            let moved = |sign: f64| -> Vec<f64> {
                let pairs = predictions.iter().zip(directions);
                pairs.map(|(p, v)| p + sign * step * v).collect()
            };
            let ahead = self.evaluate(rows, &moved(1.0))?.values;
            let behind = self.evaluate(rows, &moved(-1.0))?.values;
            pending.retain(|index| {
                let index = *index;
                let entries = index * width..(index + 1) * width;
                let derivative = dot(
                    &at_predictions.gradients[entries.clone()],
                    &directions[entries],
                );
                let difference = (ahead[index] - behind[index]) / (2.0 * step);
                if round == 0 {
                    first_differences[index] = difference;
                }
                let size = ahead[index].abs().max(behind[index].abs()).max(1e-300);
                let tolerance = RELATIVE_TOLERANCE * derivative.abs().max(difference.abs())
                    + VALUE_ERROR * size / step;
                (derivative - difference).abs() > tolerance
            });
        }
        let disagreement = |index: usize| {
            let entries = index * width..(index + 1) * width;
            Disagreement {
                instance: rows[index],
                derivative: dot(
                    &at_predictions.gradients[entries.clone()],
                    &directions[entries],
                ),
                difference: first_differences[index],
            }
        };
        Ok(pending.into_iter().map(disagreement).collect())
    }

    /// Evaluates rows with solver calls solved exactly.
    fn evaluate(&self, rows: &[usize], predictions: &[f64]) -> Result<Evaluated> {
        let labels = rows.iter().map(|row| self.data.optimal_decision(*row));
        let oracle = TrainingOracle::exact(self.oracle).with_pool(labels, true);
        let noise = NoiseKey {
            seed: self.seed,
            epoch: 0,
        };
        let mut gradients = vec![0.0; predictions.len()];
        let costs: Vec<f64> = rows.iter().flat_map(|row| self.costs(*row)).collect();
        let values = if let Some(batch_loss) = self.loss.batch_loss() {
            let step = StepId {
                epoch: 0,
                batch: 0,
                is_gradient_step: false,
            };
            let data = self.data;
            let input = BatchLossInput::new(data, rows, &costs, predictions, noise, &oracle, step);
            batch_loss.evaluate_batch(&input, &mut gradients)?
        } else {
            let width = predictions.len() / rows.len().max(1);
            let mut worker = oracle.worker();
            let mut values = Vec::with_capacity(rows.len());
            for (index, row) in rows.iter().enumerate() {
                let entries = index * width..(index + 1) * width;
                worker.set_instance(*row);
                let input = LossInput {
                    instance: *row,
                    costs: &costs[entries.clone()],
                    prediction: &predictions[entries.clone()],
                    label: self.data.optimal_decision(*row),
                    noise,
                };
                values.push(
                    self.loss
                        .evaluate(&input, &mut worker, &mut gradients[entries])?,
                );
            }
            values
        };
        self.loss.end_batch(false);
        let all = values.iter().chain(&gradients);
        if values.len() != rows.len() || !all.clone().all(|number| number.is_finite()) {
            return Err(Error::setting(format!(
                "the loss '{}' or its gradient is not finite for predictions near the true costs",
                self.name
            ))
            .with_remedy("correct the loss"));
        }
        Ok(Evaluated { values, gradients })
    }

    fn costs(&self, row: usize) -> Vec<f64> {
        let mut costs = Vec::new();
        self.data.data().costs().read(row, &mut costs);
        costs
    }

    fn is_absent(&self, row: usize, cost: usize) -> bool {
        let present = self.data.data().present_costs(row);
        present.is_some_and(|present| !present[cost])
    }

    fn refuse(&self, found: &Disagreement) -> Error {
        let Disagreement {
            instance,
            derivative,
            difference,
        } = found;
        Error::setting(format!(
            "the gradient of the loss '{}' is wrong: for row {instance}, along a random direction, \
             it gives the derivative {derivative:.6e}, but the values of the loss differ by \
             {difference:.6e} per unit",
            self.name
        ))
        .with_remedy(
            "correct the gradient, or turn the check off (check_gradient=False in Python) if it \
             is meant to differ from the derivative",
        )
    }
}

fn root_mean_square(costs: &[f64]) -> f64 {
    let mean = costs.iter().map(|cost| cost * cost).sum::<f64>() / costs.len().max(1) as f64;
    if mean > 0.0 { mean.sqrt() } else { 1.0 }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
