//! Averages of models. The mean of linear models is one linear model; networks with hidden layers
//! are kept as members.

use std::collections::BTreeSet;

use super::{CostModel, CostScaler, FeatureScaler, Network};
use crate::error::{Error, Result};

/// A model in a weighted sum.
#[derive(Clone, Copy)]
pub(crate) struct EnsembleMember<'m> {
    pub(crate) model: &'m CostModel,
    /// What its predictions are multiplied by.
    pub(crate) weight: f64,
}

impl CostModel {
    /// The model whose predictions are the weighted sum of those of the members. Its scalers and
    /// metadata are those of the first member; networks of the others are rewritten for them, up to
    /// rounding.
    ///
    /// # Errors
    /// When there is no member, or only some members standardize features.
    pub(crate) fn weighted_sum(members: &[EnsembleMember<'_>]) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::setting("an ensemble needs a model"));
        };
        let first = first.model;
        let (mut linear, mut deep) = (Vec::new(), Vec::new());
        for member in members {
            let model = member.model;
            // A model is the mean of its networks.
            let weight = member.weight / model.networks.len() as f64;
            for network in &model.networks {
                let network = rescaled(network, model, first)?;
                let list: &mut Vec<WeightedNetwork> = if network.is_linear() {
                    &mut linear
                } else {
                    &mut deep
                };
                list.push(WeightedNetwork { network, weight });
            }
        }
        let num_networks = deep.len() + usize::from(!linear.is_empty());
        let mut networks = Vec::with_capacity(num_networks);
        // The prediction is the mean of all networks: each is multiplied by their number.
        if !linear.is_empty() {
            networks.push(weighted_network(&linear, num_networks, &first.output));
        }
        for network in &deep {
            let single = std::slice::from_ref(network);
            networks.push(weighted_network(single, num_networks, &first.output));
        }
        let mut sum = Self {
            networks,
            ..first.clone()
        };
        // A cost that one member cannot predict has no average.
        let unobserved = members
            .iter()
            .flat_map(|member| &member.model.metadata.unobserved);
        let unobserved: BTreeSet<u32> = unobserved.copied().collect();
        sum.metadata.unobserved = unobserved.into_iter().collect();
        Ok(sum)
    }
}

struct WeightedNetwork {
    network: Network,
    weight: f64,
}

/// The network that predicts the same between the scalers of another model.
fn rescaled(network: &Network, model: &CostModel, other: &CostModel) -> Result<Network> {
    let mut network = network.clone();
    match (&model.input, &other.input) {
        (None, None) => {}
        (Some(from), Some(to)) if from == to => {}
        (Some(from), Some(to)) => rescale_inputs(&mut network, from, to),
        (Some(_), None) | (None, Some(_)) => {
            return Err(Error::setting(
                "models with and without standardized features cannot be averaged",
            ));
        }
    }
    if model.output != other.output {
        rescale_outputs(&mut network, &model.output, &other.output);
    }
    Ok(network)
}

/// With z = (x − m) / s before and z' = (x − m') / s' after, w·z = (w·s'/s)·z' + w·(m' − m)/s.
fn rescale_inputs(network: &mut Network, from: &FeatureScaler, to: &FeatureScaler) {
    let (features, units) = (network.sizes()[0], network.sizes()[1]);
    let (weights, biases) = network.parameters_mut().split_at_mut(features * units);
    for (row, bias) in weights.chunks_exact_mut(features).zip(biases) {
        let mut shifted = f64::from(*bias);
        for (feature, weight) in row.iter_mut().enumerate() {
            let per_unit = f64::from(*weight) / from.deviation[feature];
            shifted += per_unit * (to.mean[feature] - from.mean[feature]);
            *weight = (per_unit * to.deviation[feature]) as f32;
        }
        *bias = shifted as f32;
    }
}

/// With cost = o + k·h before and o' + k'·h' after, h' = (k·h + o − o') / k'.
fn rescale_outputs(network: &mut Network, from: &CostScaler, to: &CostScaler) {
    let outputs = to.scale.len();
    let last_layer = network.last_layer();
    let layer = &mut network.parameters_mut()[last_layer];
    let units = layer.len() / outputs - 1;
    let (weights, biases) = layer.split_at_mut(units * outputs);
    for (output, (row, bias)) in weights.chunks_exact_mut(units).zip(biases).enumerate() {
        let ratio = from.scale[output] / to.scale[output];
        for weight in row {
            *weight = (ratio * f64::from(*weight)) as f32;
        }
        let shift = (from.offset[output] - to.offset[output]) / to.scale[output];
        *bias = (ratio * f64::from(*bias) + shift) as f32;
    }
}

/// The network whose costs are `factor` times the weighted sum of those of the networks: several
/// linear ones, or one with hidden layers. With cost = offset + scale · output, the output is
/// Σ w · (output + offset / scale) − offset / scale.
fn weighted_network(networks: &[WeightedNetwork], factor: usize, scaler: &CostScaler) -> Network {
    let mut result = networks[0].network.clone();
    let last_layer = result.last_layer();
    let mut sums = vec![0.0_f64; last_layer.len()];
    let mut total_weight = 0.0;
    for WeightedNetwork { network, weight } in networks {
        let weight = factor as f64 * weight;
        total_weight += weight;
        let parameters = &network.parameters()[last_layer.clone()];
        for (sum, parameter) in sums.iter_mut().zip(parameters) {
            *sum += weight * f64::from(*parameter);
        }
    }
    let outputs = scaler.scale.len();
    let num_weights = sums.len() - outputs;
    for (output, bias) in sums[num_weights..].iter_mut().enumerate() {
        *bias += (total_weight - 1.0) * scaler.offset[output] / scaler.scale[output];
    }
    for (parameter, sum) in result.parameters_mut()[last_layer].iter_mut().zip(&sums) {
        *parameter = *sum as f32;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::EnsembleMember;
    use crate::data::{FeatureShape, Features, Matrix};
    use crate::predict::file::example_model;
    use crate::predict::{CostModel, Network};

    fn model(hidden: &[usize], seed: u64) -> CostModel {
        let mut model = example_model(2.0);
        model.networks = vec![Network::new(1, hidden, 2, seed)];
        model.output.offset = vec![3.0, -1.0];
        model.output.scale = vec![2.0, 0.5];
        model
    }

    #[test]
    fn a_weighted_sum_predicts_the_weighted_sum_of_predictions() {
        let mut models = [
            model(&[], 1),
            model(&[4], 2),
            model(&[], 3),
            model(&[3, 2], 4),
        ];
        for (number, model) in models.iter_mut().enumerate() {
            let shift = number as f64;
            model.output.offset[1] += shift;
            model.output.scale[0] += 0.3 * shift;
            let input = model.input.as_mut().unwrap();
            input.mean[0] -= 0.5 * shift;
            input.deviation[0] += 0.2 * shift;
        }
        let weights = [0.2, 0.7, -0.1, 0.4];
        let members: Vec<EnsembleMember<'_>> = models
            .iter()
            .zip(weights)
            .map(|(model, weight)| EnsembleMember { model, weight })
            .collect();
        let sum = CostModel::weighted_sum(&members).unwrap();
        // Both linear models are one network.
        assert_eq!(sum.networks.len(), 3);
        let rows = Matrix::from_f64(3, 1, &[0.3, -2.0, 5.0]).unwrap();
        let features = Features::new(rows, FeatureShape::Wide, Some(vec!["x".into()])).unwrap();
        let found = sum.predict(&features).unwrap();
        let mut expected = vec![0.0; 6];
        for (model, weight) in models.iter().zip(weights) {
            let predictions = model.predict(&features).unwrap();
            for (sum, cost) in expected.iter_mut().zip(predictions.as_slice()) {
                *sum += weight * f64::from(*cost);
            }
        }
        for (found, expected) in found.as_slice().iter().zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 1e-5,
                "{found} {expected}"
            );
        }
        let bytes = sum.to_bytes().unwrap();
        assert_eq!(CostModel::from_bytes(&bytes).unwrap(), sum);
    }

    #[test]
    fn models_with_and_without_a_scaler_are_refused() {
        let (one, mut other) = (model(&[], 1), model(&[], 2));
        other.input = None;
        let members = [&one, &other].map(|model| EnsembleMember { model, weight: 0.5 });
        assert!(CostModel::weighted_sum(&members).is_err());
        assert!(CostModel::weighted_sum(&[]).is_err());
    }
}
