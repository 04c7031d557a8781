//! What a model is: its origin, its predictor, and the coefficients of a linear one.

use serde::Serialize;

use super::{CostModel, PredictorSpec, TrainingRecord};
use crate::data::FeatureShape;

/// Everything that a model file says about its model. Parts that files of earlier versions do not
/// have are none.
#[derive(Serialize)]
struct Inspection<'a> {
    method: &'a str,
    /// The problem as in a problem file.
    problem: &'a serde_json::Value,
    /// BLAKE3 of the problem's file, if it was read from one.
    problem_file_hash: Option<&'a str>,
    /// Whether the model holds that file.
    holds_problem_file: bool,
    predictor: String,
    /// Networks whose predictions are averaged.
    networks: usize,
    parameters: usize,
    /// `wide`: one row of features per instance; `long`: one per cost.
    layout: &'static str,
    seed: u64,
    features: Vec<InspectedFeature<'a>>,
    costs: Vec<String>,
    /// Those without a prediction, since no training row has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unobserved_costs: Vec<String>,
    /// What it was trained on and how.
    training: Option<&'a TrainingRecord>,
    /// One entry per cost, one for all costs of a long table; none for networks with hidden layers.
    coefficients: Option<Vec<CostCoefficients<'a>>>,
}

/// A feature and how it is standardized before it is used.
#[derive(Serialize)]
struct InspectedFeature<'a> {
    name: &'a str,
    /// Mean over the training rows; none if features are not standardized.
    mean: Option<f64>,
    /// Standard deviation over the training rows.
    deviation: Option<f64>,
}

/// The coefficients of one cost in units of the original features and costs.
#[derive(Serialize)]
struct CostCoefficients<'a> {
    /// The cost; none if one predictor serves all costs.
    cost: Option<String>,
    intercept: f64,
    /// In the order of the features.
    features: Vec<FeatureCoefficient<'a>>,
}

#[derive(Serialize)]
struct FeatureCoefficient<'a> {
    feature: &'a str,
    coefficient: f64,
}

impl CostModel {
    /// What the model is, for reports: method, problem, predictor, features, costs, the record of
    /// its training, and the coefficients of a linear predictor.
    pub fn inspection(&self) -> impl Serialize + '_ {
        let metadata = &self.metadata;
        let mut features = Vec::with_capacity(metadata.features.len());
        for (number, name) in metadata.features.iter().enumerate() {
            let scaler = self.input.as_ref();
            features.push(InspectedFeature {
                name,
                mean: scaler.map(|scaler| scaler.mean[number]),
                deviation: scaler.map(|scaler| scaler.deviation[number]),
            });
        }
        Inspection {
            method: &metadata.method,
            problem: &metadata.problem,
            problem_file_hash: metadata.problem_file_hash.as_deref(),
            holds_problem_file: self.problem_file.is_some(),
            predictor: self.architecture(),
            networks: self.networks.len(),
            parameters: self
                .networks
                .iter()
                .map(|network| network.parameters().len())
                .sum(),
            layout: match metadata.shape {
                FeatureShape::Wide => "wide",
                FeatureShape::Long { .. } => "long",
            },
            seed: metadata.seed,
            features,
            costs: metadata.costs.to_vec(),
            unobserved_costs: self.unobserved_names(),
            training: metadata.record.as_ref(),
            coefficients: self.named_coefficients(),
        }
    }

    /// The architecture of the predictor: `linear`, or `mlp:64,32` with its hidden layers; those of
    /// an ensemble are joined by `+`.
    pub fn architecture(&self) -> String {
        let mut architectures: Vec<String> = Vec::new();
        for network in &self.networks {
            let sizes = network.sizes();
            let hidden = sizes.get(1..sizes.len().saturating_sub(1));
            let hidden = hidden.unwrap_or_default().to_vec();
            let spec = if hidden.is_empty() {
                PredictorSpec::Linear
            } else {
                PredictorSpec::Mlp { hidden }
            };
            let name = spec.to_string();
            if !architectures.contains(&name) {
                architectures.push(name);
            }
        }
        architectures.join(" + ")
    }

    /// The coefficients of a linear predictor: for each output the coefficient of each feature,
    /// followed by the intercept, in units of the original features and costs. An output is a cost,
    /// or any cost of a long table. NaN for a cost that no training row has. `None` for networks
    /// with hidden layers.
    pub fn coefficients(&self) -> Option<Vec<Vec<f64>>> {
        if !self.networks.iter().all(super::Network::is_linear) {
            return None;
        }
        let (features, outputs) = (self.metadata.features.len(), self.output.scale.len());
        let mut rows = vec![vec![0.0; features + 1]; outputs];
        for network in &self.networks {
            let (weights, biases) = network.parameters().split_at(outputs * features);
            for (output, row) in rows.iter_mut().enumerate() {
                let weights = &weights[output * features..][..features];
                for (sum, weight) in row.iter_mut().zip(weights) {
                    *sum += f64::from(*weight);
                }
                row[features] += f64::from(biases[output]);
            }
        }
        // cost = offset + scale · (bias + Σ weight · (feature − mean) / deviation)
        let networks = self.networks.len() as f64;
        for (output, row) in rows.iter_mut().enumerate() {
            let scale = self.output.scale[output];
            let mut intercept = row[features] / networks;
            for (feature, coefficient) in row[..features].iter_mut().enumerate() {
                let mut weight = *coefficient / networks;
                if let Some(input) = &self.input {
                    weight /= input.deviation[feature];
                    intercept -= weight * input.mean[feature];
                }
                *coefficient = scale * weight;
            }
            row[features] = self.output.offset[output] + scale * intercept;
        }
        // The coefficients of a long table are those of all items.
        if self.metadata.shape == FeatureShape::Wide {
            for output in &self.metadata.unobserved {
                rows[*output as usize].fill(f64::NAN);
            }
        }
        Some(rows)
    }

    fn named_coefficients(&self) -> Option<Vec<CostCoefficients<'_>>> {
        let names = &self.metadata.features;
        let is_shared = match self.metadata.shape {
            FeatureShape::Wide => false,
            FeatureShape::Long { .. } => true,
        };
        let mut named = Vec::new();
        for (output, row) in self.coefficients()?.into_iter().enumerate() {
            let (intercept, coefficients) = row.split_last()?;
            let features = names.iter().zip(coefficients);
            named.push(CostCoefficients {
                cost: (!is_shared).then(|| self.metadata.costs.get(output).into_owned()),
                intercept: *intercept,
                features: features
                    .map(|(feature, coefficient)| FeatureCoefficient {
                        feature,
                        coefficient: *coefficient,
                    })
                    .collect(),
            });
        }
        Some(named)
    }

    /// The record of the training, for reports; `None` for models of earlier versions.
    pub fn training_record(&self) -> Option<impl Serialize + '_> {
        self.metadata.record.as_ref()
    }
}
