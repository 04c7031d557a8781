//! Baselines: predictions without training, which every trained model has to beat.
//!
//! They are fitted on the training rows alone and evaluated on the same test rows with the same
//! solver as trained models. A method that does not beat them is not worth its training time on
//! this table.

use std::fmt;

use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::predict::{CostModel, LinearFit, ModelMetadata};
use crate::problem::ProblemSpec;
use crate::train::TrainingContext;

/// A prediction without gradient-based training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Linear regression in closed form.
    LeastSquares,
    /// The mean of each cost over the training rows.
    TrainingMean,
    /// The costs of the row before, in the order of the table.
    PreviousRow,
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeastSquares => "least squares",
            Self::TrainingMean => "training mean",
            Self::PreviousRow => "previous row",
        })
    }
}

impl Baseline {
    /// All baselines.
    pub const ALL: [Self; 3] = [Self::LeastSquares, Self::TrainingMean, Self::PreviousRow];

    /// The evaluation of its decisions on the test rows.
    ///
    /// # Errors
    /// When a solve fails or the user interrupts; for [`Self::PreviousRow`] when a test row is the
    /// first of the table.
    pub fn evaluate(
        self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
    ) -> Result<Evaluation> {
        let TrainingContext {
            data,
            oracle,
            observer,
            ..
        } = *context;
        let rows = &context.split.test;
        match self {
            Self::LeastSquares => {
                let model = least_squares(context, problem)?;
                Evaluation::of_model(&model, data, rows, oracle, observer)
            }
            Self::TrainingMean => {
                Evaluation::of_constant(&mean_costs(context), data, rows, oracle, observer)
            }
            Self::PreviousRow => {
                if rows.contains(&0) {
                    return Err(Error::setting(
                        "the first row of the table has no row before it",
                    ));
                }
                let predict = |rows: &[usize]| {
                    let previous: Vec<usize> = rows.iter().map(|row| row - 1).collect();
                    Ok(data.data().costs().select_rows(&previous))
                };
                Evaluation::in_chunks(predict, data, rows, oracle, observer)
            }
        }
    }
}

/// The linear model of least squared error on the training rows.
///
/// # Errors
/// When there are no training rows or numbers are too large.
pub(crate) fn least_squares(
    context: &TrainingContext<'_>,
    problem: &ProblemSpec,
) -> Result<CostModel> {
    let data = context.data.data();
    let fit = LinearFit::least_squares(data, &context.split.train)?;
    let output = context.data.sense().convert_scaler(fit.output);
    let problem = serde_json::to_value(problem);
    let metadata = ModelMetadata {
        method: Baseline::LeastSquares.to_string(),
        problem_file_hash: context.oracle.problem().file_hash().map(String::from),
        problem: problem
            .map_err(|e| Error::setting(format!("the problem cannot be stored: {e}")))?,
        seed: 0,
        features: data.features().names().to_vec(),
        costs: data.cost_names().marked_as_explicit(),
        shape: data.features().shape(),
        record: None,
    };
    Ok(CostModel {
        networks: vec![fit.network],
        input: Some(fit.input),
        output,
        metadata,
        problem_file: None,
        sketch: None,
    })
}

/// Mean of each cost over the training rows, weighted as they are and summed in double precision.
fn mean_costs(context: &TrainingContext<'_>) -> Vec<f32> {
    let data = context.data.data();
    let (costs, weights) = (data.costs(), data.scaled_row_weights(&context.split.train));
    let mut sums = vec![0.0; costs.cols()];
    for row in &context.split.train {
        let weight = weights.as_ref().map_or(1.0, |weights| weights[*row]);
        for (sum, cost) in sums.iter_mut().zip(costs.row(*row)) {
            *sum += weight * f64::from(*cost);
        }
    }
    let count = context.split.train.len().max(1) as f64;
    sums.iter().map(|sum| (sum / count) as f32).collect()
}
