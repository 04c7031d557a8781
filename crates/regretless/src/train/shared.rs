//! Predictors that all costs share: one set of coefficients, whose inputs are the columns of the
//! own cost and those that belong to none.
//!
//! A wide table with such columns is viewed as a long one: a row for each cost, with the columns of
//! its own group, centered by their means over the training rows, the common columns, and the mean
//! of the cost. On the long table, least squares is the fixed-effects regression of panel data
//! (Mundlak 1961): costs have intercepts of their own. A linear predictor of the long table is one
//! of the wide table in which columns of other costs have the weight 0, so the result is a
//! model like any other.

use super::{StagedTraining, TrainingContext, linear_fit};
use crate::data::{CostColumnGroups, FeatureShape, Features, Matrix};
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::predict::{CostModel, CostScaler, FeatureScaler, Network};
use crate::problem::ProblemSpec;
use crate::report::TrainReport;

/// Most numbers of a long table, 80 MB: it is a copy of the features.
const MAX_LONG_VALUES: usize = 20_000_000;

/// A wide table as a long one.
pub(crate) struct SharedView {
    columns: CostColumnGroups,
    /// Means of the columns of each group over the training rows, group by group.
    centers: Vec<Vec<f64>>,
    /// Mean of each cost over the training rows.
    means: Vec<f64>,
    data: LabeledDataset,
}

impl SharedView {
    /// The view of a table by the columns that belong to one cost each; `None` where there are
    /// none.
    ///
    /// # Errors
    /// As [`SharedView::new`].
    pub fn of_table(context: &TrainingContext<'_>) -> Result<Option<Self>> {
        let columns = CostColumnGroups::of(context.data.data(), &context.split.train);
        columns
            .map(|columns| Self::new(context, &columns))
            .transpose()
    }

    /// The view of a table; the training rows of the context center it.
    ///
    /// # Errors
    /// When the long table would be too large.
    pub fn new(context: &TrainingContext<'_>, columns: &CostColumnGroups) -> Result<Self> {
        let data = context.data.data();
        let features = data.features();
        let (rows, costs) = (data.len(), data.costs().cols());
        let width = columns.groups.len() + columns.common.len() + 1;
        let size = rows.saturating_mul(costs).saturating_mul(width);
        if size > MAX_LONG_VALUES {
            return Err(Error::data(format!(
                "a predictor that all costs share needs a table of {size} numbers, which is too \
                 large"
            ))
            .with_remedy("use fewer rows or columns"));
        }
        let train = &context.split.train;
        let mean = |value: &dyn Fn(usize) -> f32| {
            let sum: f64 = train.iter().map(|row| f64::from(value(*row))).sum();
            sum / train.len().max(1) as f64
        };
        let mut centers = Vec::with_capacity(columns.groups.len());
        for group in &columns.groups {
            let of_column = |column: &usize| mean(&|row| features.instance(row)[*column]);
            centers.push(group.iter().map(of_column).collect::<Vec<f64>>());
        }
        let targets = data.predicted_part();
        let means: Vec<f64> = (0..costs)
            .map(|cost| mean(&|row| targets.row(row)[cost]))
            .collect();
        let mut values = Vec::with_capacity(size);
        for row in 0..rows {
            let own = features.instance(row);
            for cost in 0..costs {
                for (group, centers) in columns.groups.iter().zip(&centers) {
                    values.push((f64::from(own[group[cost]]) - centers[cost]) as f32);
                }
                values.extend(columns.common.iter().map(|column| own[*column]));
                values.push(means[cost] as f32);
            }
        }
        let values = Matrix::new(rows * costs, width, values)?;
        let long = Features::new(values, FeatureShape::Long { items: costs }, None)?;
        Ok(Self {
            columns: columns.clone(),
            centers,
            means,
            data: context.data.with_features(long)?,
        })
    }

    /// The long table.
    pub fn data(&self) -> &LabeledDataset {
        &self.data
    }

    fn context<'c>(&'c self, context: &TrainingContext<'c>) -> TrainingContext<'c> {
        TrainingContext {
            data: &self.data,
            ..*context
        }
    }

    /// Least squares on the training rows of the wide table.
    ///
    /// # Errors
    /// As [`linear_fit`].
    pub fn linear_fit(
        &self,
        context: &TrainingContext<'_>,
        problem: &ProblemSpec,
        penalty: f64,
    ) -> Result<CostModel> {
        let long = linear_fit(&self.context(context), problem, penalty)?;
        self.widened(&long, context)
    }

    /// Trains a linear predictor on the training rows of the wide table.
    ///
    /// # Errors
    /// As [`StagedTraining::run`].
    pub fn train(
        &self,
        training: &StagedTraining<'_>,
        context: &TrainingContext<'_>,
    ) -> Result<(CostModel, TrainReport)> {
        let (long, report) = training.run(&self.context(context), None)?;
        Ok((self.widened(&long, context)?, report))
    }

    /// The model of the wide table that predicts the same.
    fn widened(&self, long: &CostModel, context: &TrainingContext<'_>) -> Result<CostModel> {
        let data = context.data.data();
        let train = &context.split.train;
        let weights = data.scaled_row_weights(train);
        let input = FeatureScaler::fit(data, train, weights.as_deref());
        let output = CostScaler::fit(data, train, weights.as_deref());
        let output = context.turned_scaler(output);
        let mut networks = Vec::with_capacity(long.networks.len());
        for network in &long.networks {
            networks.push(self.widened_network(network, long, &input, &output)?);
        }
        let mut model = CostModel {
            networks,
            input: Some(input),
            output,
            ..long.clone()
        };
        let metadata = &mut model.metadata;
        metadata.method = format!("shared {}", long.metadata.method);
        metadata.features = data.features().names().to_vec();
        metadata.shape = data.features().shape();
        metadata.encoding = data.features().encoding().cloned();
        Ok(model)
    }

    fn widened_network(
        &self,
        network: &Network,
        long: &CostModel,
        input: &FeatureScaler,
        output: &CostScaler,
    ) -> Result<Network> {
        let wrong = || Error::setting("a predictor that all costs share must be linear");
        let (weights, bias) = match network.parameters().split_last() {
            Some((bias, weights)) if network.is_linear() => (weights, f64::from(*bias)),
            Some(_) | None => return Err(wrong()),
        };
        // In the units of the table: cost = constant + Σ slope · value.
        let (scale, mut constant) = (long.output.scale[0], long.output.offset[0]);
        constant += scale * bias;
        let mut slopes = Vec::with_capacity(weights.len());
        for (position, weight) in weights.iter().enumerate() {
            let (mean, deviation) = match &long.input {
                Some(scaler) => (scaler.mean[position], scaler.deviation[position]),
                None => (0.0, 1.0),
            };
            let slope = scale * f64::from(*weight) / deviation;
            constant -= slope * mean;
            slopes.push(slope);
        }
        let (own, others) = slopes.split_at(self.columns.groups.len());
        let (common, of_mean) = others.split_at(self.columns.common.len());
        let (width, costs) = (input.mean.len(), self.means.len());
        let mut parameters = vec![0.0_f32; costs * (width + 1)];
        for cost in 0..costs {
            let mut predicted = constant + of_mean.iter().sum::<f64>() * self.means[cost];
            let groups = self.columns.groups.iter().zip(&self.centers);
            let mut slopes: Vec<(usize, f64)> = Vec::with_capacity(own.len() + common.len());
            for ((group, centers), slope) in groups.zip(own) {
                predicted -= slope * centers[cost];
                slopes.push((group[cost], *slope));
            }
            slopes.extend(
                self.columns
                    .common
                    .iter()
                    .copied()
                    .zip(common.iter().copied()),
            );
            for (column, slope) in slopes {
                predicted += slope * input.mean[column];
                let weight = slope * input.deviation[column] / output.scale[cost];
                parameters[cost * width + column] = weight as f32;
            }
            let bias = (predicted - output.offset[cost]) / output.scale[cost];
            parameters[costs * width + cost] = bias as f32;
        }
        Network::with_parameters(vec![width, costs], parameters).ok_or_else(wrong)
    }
}
