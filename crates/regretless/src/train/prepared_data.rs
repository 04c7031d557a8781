//! The data of a stage with everything that is computed once: scaled features, and the scalers
//! around the network.
//!
//! Also the factor of the rescaled loss: gradients of losses with S or E shrink like d^-1.5 (MAE)
//! and d^-2 (MSE) with the number of costs d, at large d below the ε of Adam. Training minimizes
//! the loss times a factor that keeps gradients near 1, and reports the value as defined.

use std::sync::Arc;

use super::{TrainingContext, WeightedLoss};
use crate::data::{FeatureShape, Features, Matrix, NamedCosts};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::method::TrainingStage;
use crate::oracle::TrainingOracle;
use crate::predict::{CostModel, CostScaler, FeatureScaler, ModelMetadata, Network, PredictorSpec};
use crate::problem::ProblemSpec;
use crate::settings::TrainingSettings;

/// Mean deviations of costs with which training needs no factor for their unit: gradients of
/// squared errors, which grow with its square, are far above Adam's ε, and their squares far below
/// the largest number of single precision. Below 1/100 the first no longer holds on small tables
/// (at 1e-4 the regret of MSE was half as much again).
const USUAL_UNITS: std::ops::RangeInclusive<f64> = 0.01..=1e6;

/// The data of a stage, scaled.
pub(super) struct PreparedData<'a> {
    pub(super) context: &'a TrainingContext<'a>,
    pub(super) stage: &'a TrainingStage,
    settings: TrainingSettings,
    predictor: &'a PredictorSpec,
    pub(super) features: Features,
    input: Option<FeatureScaler>,
    pub(super) output: CostScaler,
    /// The network of the model to start from, if there is one.
    start: Option<Network>,
    /// Row weights of the table, with a mean of 1 over the training rows.
    pub(super) row_weights: Option<Vec<f64>>,
    /// The costs that no training row has, in increasing order.
    unobserved: Vec<u32>,
}

impl<'a> PreparedData<'a> {
    pub(super) fn new(
        context: &'a TrainingContext<'a>,
        stage: &'a TrainingStage,
        settings: TrainingSettings,
        predictor: &'a PredictorSpec,
        model: Option<&CostModel>,
    ) -> Result<Self> {
        let data = context.data.data();
        let row_weights = data.scaled_row_weights(&context.split.train);
        // A training that continues a model keeps its encoding.
        let is_other =
            |model: &&CostModel| model.metadata.encoding.as_ref() != data.features().encoding();
        let mut features = match model.filter(is_other) {
            Some(model) => model.encode(data.features())?,
            None => data.features().clone(),
        };
        let mut unobserved = data.unobserved_costs(&context.split.train);
        let (input, output, start) = match model {
            Some(model) => {
                let network = network_to_continue(model, context)?.clone();
                let mut output = context.turned_scaler(model.output.clone());
                let unknown = &model.metadata.unobserved;
                // The items of a long table share a scale.
                let is_wide = model.metadata.shape == FeatureShape::Wide;
                let is_new = |cost: &u32| !unobserved.contains(cost);
                if settings.scale_costs && is_wide && unknown.iter().any(is_new) {
                    // Costs that are new have a scale from these rows.
                    let fitted =
                        CostScaler::fit(data, &context.split.train, row_weights.as_deref());
                    output.replace_entries(unknown, &fitted);
                }
                unobserved.retain(|cost| unknown.contains(cost));
                (model.input.clone(), output, Some(network))
            }
            None => {
                let (train, weights) = (&context.split.train, row_weights.as_deref());
                let input = settings
                    .standardize
                    .then(|| FeatureScaler::fit(data, train, weights));
                let fitted = CostScaler::fit(data, train, weights);
                let output = if settings.scale_costs {
                    fitted
                } else {
                    CostScaler::identity(fitted.scale.len())
                };
                predictor.check(features.names().len(), output.scale.len())?;
                (input, output, None)
            }
        };
        if let Some(scaler) = &input {
            scaler.apply(&mut features);
        }
        Ok(Self {
            context,
            stage,
            settings,
            predictor,
            features,
            input,
            output,
            start,
            row_weights,
            unobserved,
        })
    }

    /// Sets predictions of instances, one row each, to NaN if costs exist that no training row has.
    pub(super) fn clear_unobserved(
        &self,
        predictions: &mut Matrix,
        instances: &[usize],
    ) -> Result<()> {
        if self.unobserved.is_empty() {
            return Ok(());
        }
        let data = self.context.data.data();
        let mut cleared = Vec::with_capacity(predictions.as_slice().len());
        let mut row = Vec::new();
        for (position, instance) in instances.iter().enumerate() {
            predictions.read(position, &mut row);
            let present = data.present_costs(*instance);
            for cost in &self.unobserved {
                let cost = *cost as usize;
                if present.is_none_or(|present| present[cost]) {
                    row[cost] = f64::NAN;
                }
            }
            cleared.extend_from_slice(&row);
        }
        let (rows, cols) = (predictions.rows(), predictions.cols());
        *predictions =
            Matrix::from_f64(rows, cols, &cleared)?.with_f64_values(Arc::new(cleared))?;
        Ok(())
    }

    /// The sum of the weights of some rows; without weights their number.
    pub(super) fn total_weight(&self, rows: &[usize]) -> f64 {
        match &self.row_weights {
            Some(weights) => rows.iter().map(|row| weights[*row]).sum(),
            None => rows.len() as f64,
        }
    }

    pub(super) fn settings(&self) -> &TrainingSettings {
        &self.settings
    }

    /// The factor training multiplies the loss by.
    pub(super) fn rescaling(&self, weighted_loss: WeightedLoss<'_>) -> f64 {
        if self.settings.rescale_loss && self.settings.optimizer.is_scale_invariant() {
            let costs = self.context.data.data().costs().cols();
            weighted_loss.rescaling(costs) * self.unit_factor(weighted_loss.loss)
        } else {
            1.0
        }
    }

    /// The factor by which gradients with respect to the parameters do not depend on the unit of
    /// costs, if that is very small or large; a power of two, which changes no other digit.
    fn unit_factor(&self, loss: &dyn Loss) -> f64 {
        let scales = &self.output.scale;
        let sum: f64 = scales.iter().sum();
        let unit = sum / scales.len().max(1) as f64;
        if unit == 0.0 || USUAL_UNITS.contains(&unit) {
            return 1.0;
        }
        // Outputs of the network are multiplied by the unit, hence one power more.
        let power = 1 + loss.gradient_degree();
        2.0_f64.powi(-(unit.log2().round() as i32) * power)
    }

    /// The network a round starts from: that of the last round if rounds start from their baseline,
    /// that of the model to start from, or an untrained one.
    pub(super) fn initial_network(&self, earlier: &[Network]) -> Network {
        let can_vanish = self.stage.loss.properties().can_vanish;
        let from_baseline = self.settings.retrain_from_baseline.unwrap_or(can_vanish);
        let baseline = earlier.last().filter(|_| from_baseline);
        match baseline.or(self.start.as_ref()) {
            Some(network) => network.clone(),
            None => {
                let (features, outputs) = (self.features.names().len(), self.output.scale.len());
                self.predictor.build(features, outputs, self.settings.seed)
            }
        }
    }

    /// The oracle with the settings of the stage; its pool starts with the labels of the training
    /// rows.
    pub(super) fn training_oracle(&self) -> Result<TrainingOracle<'a>> {
        let rows = self.context.split.train.iter();
        let labels = rows.map(|row| self.context.data.optimal_decision(*row));
        let oracle =
            TrainingOracle::new(self.context.oracle, self.stage.oracle, self.settings.seed)
                .map_err(|error| error.for_method(&self.stage.to_string()))?
                .with_pool(labels, self.stage.loss.properties().uses_pool);
        Ok(oracle.with_warm_starts(self.context.data.len()))
    }

    /// The oracle for validation: exact, with warm starts if the stage has them.
    pub(super) fn validation_oracle(&self) -> Result<TrainingOracle<'a>> {
        let settings = self.stage.oracle.exactness_preserving();
        let oracle = TrainingOracle::new(self.context.oracle, settings, self.settings.seed)
            .map_err(|error| error.for_method(&self.stage.to_string()))?;
        Ok(oracle.with_warm_starts(self.context.data.len()))
    }

    /// The model of the trained networks.
    pub(super) fn into_model(
        self,
        networks: Vec<Network>,
        problem: &ProblemSpec,
    ) -> Result<CostModel> {
        let data = self.context.data;
        let problem = self.context.named_problem(problem)?;
        let problem = serde_json::to_value(problem)
            .map_err(|error| Error::setting(format!("the problem cannot be stored: {error}")))?;
        let metadata = ModelMetadata {
            method: self.stage.to_string(),
            problem_file_hash: self
                .context
                .oracle
                .problem()
                .model_parts()
                .file_hash()
                .map(String::from),
            problem,
            seed: self.settings.seed,
            features: self.features.names().to_vec(),
            costs: data.data().cost_names().marked_as_explicit(),
            shape: self.features.shape(),
            encoding: self.features.encoding().cloned(),
            unobserved: self.unobserved,
            record: None,
        };
        Ok(CostModel {
            networks,
            input: self.input,
            output: self.context.turned_scaler(self.output),
            metadata,
            problem_file: None,
            sketch: None,
        })
    }
}

/// The network of a model to start from, if it fits the data.
fn network_to_continue<'m>(
    model: &'m CostModel,
    context: &TrainingContext<'_>,
) -> Result<&'m Network> {
    let data = context.data.data();
    model.check(data.features())?;
    if model.metadata.costs.len() != data.costs().cols() {
        let (predicted, expected) = (model.metadata.costs.len(), data.costs().cols());
        return Err(Error::setting(format!(
            "the model to start from predicts {predicted} costs, the table has {expected}"
        )));
    }
    let matching = model.matching(NamedCosts::new("the table", data.cost_names()))?;
    if matching.order().is_some() {
        return Err(Error::setting(
            "the model to start from predicts the same costs in another order",
        )
        .with_remedy("bring the table into its order"));
    }
    match model.networks.as_slice() {
        [network] => Ok(network),
        networks => Err(Error::setting(format!(
            "the model to start from is the mean of {} networks, which training cannot continue",
            networks.len()
        ))
        .with_remedy("start from a single network")),
    }
}
