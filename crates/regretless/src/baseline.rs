//! Baselines: predictions without training, which every trained model has to beat.
//!
//! They are fitted on the training rows alone and evaluated on the same test rows with the same
//! solver as trained models. A method that does not beat them is not worth its training time on
//! this table.

use std::fmt;

use crate::data::{Dataset, FeatureShape, Matrix, SplitIndices};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, MissingPredictions};
use crate::problem::ProblemSpec;
use crate::train::{TrainingContext, linear_fit};

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

    /// What follows where nothing is better.
    pub fn sufficiency(self) -> &'static str {
        match self {
            Self::LeastSquares => "a linear regression is enough",
            Self::TrainingMean => "the features do not help these decisions",
            Self::PreviousRow => "repeating the last row is enough",
        }
    }

    /// Whether the rows before the test rows are known when these are decided, and have the same
    /// items.
    pub fn has_previous_rows_for(data: &Dataset, split: &SplitIndices) -> bool {
        let has_rows = split.is_chronological && !split.test.contains(&0);
        has_rows && Self::has_previous_rows(data)
    }

    /// Whether the costs of the row before are those of the same items: positions of a long table
    /// with different items are other items in every row.
    pub fn has_previous_rows(data: &Dataset) -> bool {
        !data.has_absent_costs() || data.cost_names().are_explicit()
    }

    /// The evaluation for the comparison with a model, which does not depend on it: none if it is
    /// not wanted or fails.
    ///
    /// # Errors
    /// When the user interrupts.
    pub(crate) fn compare_if(
        self,
        is_wanted: bool,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
    ) -> Result<Option<Evaluation>> {
        if !is_wanted {
            return Ok(None);
        }
        match self.evaluate(context, problem) {
            Ok(evaluation) => Ok(Some(evaluation)),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(_) => Ok(None),
        }
    }

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
                let model = linear_fit(context, problem, 0.0)?;
                Evaluation::of_model(&model, data, rows, oracle, observer)
            }
            Self::TrainingMean => {
                Evaluation::of_constant(&mean_costs(context), data, rows, oracle, observer)
            }
            Self::PreviousRow => {
                if !Self::has_previous_rows(data.data()) {
                    return Err(Error::setting(
                        "an item need not exist in the row before: there is no baseline of \
                         previous rows",
                    ));
                }
                let means = mean_costs(context);
                if rows.contains(&0) {
                    return Err(Error::setting(
                        "the first row of the table has no row before it",
                    ));
                }
                let predict = |rows: &[usize]| {
                    let costs = costs_before(data.data(), rows, &means);
                    data.data().complete_predictions(rows, costs)
                };
                let missing = MissingPredictions::LeftOut;
                Evaluation::in_chunks(predict, missing, data, rows, oracle, observer)
            }
        }
    }
}

/// The predicted part of the costs of the row before each of these, which are not the first; the
/// mean of an item that does not exist there.
fn costs_before(data: &Dataset, rows: &[usize], means: &[f32]) -> Matrix {
    let previous: Vec<usize> = rows.iter().map(|row| row - 1).collect();
    let mut costs = data.predicted_part().select_rows(&previous);
    for (position, row) in previous.iter().enumerate() {
        let Some(exists) = data.present_costs(*row) else {
            continue;
        };
        for ((cost, exists), mean) in costs.row_mut(position).iter_mut().zip(exists).zip(means) {
            if !exists {
                *cost = *mean;
            }
        }
    }
    costs
}

/// Mean of the predicted part of each cost over the training rows in which it exists, weighted as
/// they are and summed in double precision. In a long table with different items, where a position
/// is no item, the mean of all costs. NaN for a cost that exists in no training row: it has no
/// prediction.
pub fn mean_costs(context: &TrainingContext<'_>) -> Vec<f32> {
    let data = context.data.data();
    let (costs, weights) = (
        data.predicted_part(),
        data.scaled_row_weights(&context.split.train),
    );
    let mut sums = vec![0.0; costs.cols()];
    let mut counts = vec![0.0; costs.cols()];
    for row in &context.split.train {
        let weight = weights.as_ref().map_or(1.0, |weights| weights[*row]);
        let exists = data.present_costs(*row);
        for (column, cost) in costs.row(*row).iter().enumerate() {
            if exists.is_none_or(|exists| exists[column]) {
                sums[column] += weight * f64::from(*cost);
                counts[column] += weight;
            }
        }
    }
    if data.has_absent_costs() {
        let is_wide = data.features().shape() == FeatureShape::Wide;
        let has_positions = !is_wide && !data.cost_names().are_explicit();
        let (total, count): (f64, f64) = (sums.iter().sum(), counts.iter().sum());
        for (sum, count_of_cost) in sums.iter_mut().zip(&mut counts) {
            if has_positions {
                (*sum, *count_of_cost) = (total, count);
            }
        }
        let means = sums.iter().zip(&counts);
        return means.map(|(sum, count)| (sum / count) as f32).collect();
    }
    let count = context.split.train.len().max(1) as f64;
    sums.iter().map(|sum| (sum / count) as f32).collect()
}
