//! Which features moved the predicted costs.
//!
//! A linear predictor is a sum: the prediction for average features, and for each feature its
//! coefficient times its distance from the mean of the training rows. The parts add up to the
//! prediction. Other predictors are no sums: one feature at a time is replaced by its mean, and the
//! change of the prediction is its effect. The effects then need not add up.

use serde::Serialize;

use super::{RowCase, RowPrediction, total_costs};
use crate::data::{FeatureShape, Features};
use crate::error::{Error, Result};

/// How the effects of features were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureMethod {
    /// The terms of a linear predictor, relative to the means of the training rows: base and
    /// effects add up to the prediction.
    LinearFromMean,
    /// The terms of a linear predictor whose features are not standardized, relative to 0: base and
    /// effects add up to the prediction.
    LinearFromZero,
    /// One feature at a time is replaced by its mean over the training rows.
    ReplacedByMean,
}

/// The effect of every feature on the predicted costs of the row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureEffects {
    /// The method; none if the model does not have what is needed.
    pub method: Option<FeatureMethod>,
    /// Why there are no effects, or why it is not known whether they change the decision.
    pub reason: Option<String>,
    /// The prediction without the effects, for linear predictors: one entry per cost in the order
    /// of the problem.
    pub base: Vec<f64>,
    /// The features, the largest effect on the objective first.
    pub features: Vec<FeatureEffect>,
}

/// The effect of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureEffect {
    /// The name of the feature.
    pub feature: String,
    /// Its value in the row; none in a long table, where every item has its own.
    pub value: Option<f64>,
    /// The value that it is compared with.
    pub reference: f64,
    /// Its effect on the predicted objective of the decision.
    pub objective_effect: f64,
    /// Whether another decision would be better, by the predictions with the reference value; none
    /// if that is not known.
    pub changes_decision: Option<bool>,
    /// Its effect on each predicted cost, in the order of the problem; 0 for absent ones.
    pub effects: Vec<f64>,
}

impl RowCase<'_> {
    /// The effects of all features.
    ///
    /// # Errors
    /// When a prediction or a solve fails.
    pub(super) fn explain_features(
        &self,
        prediction: &RowPrediction<'_>,
    ) -> Result<FeatureEffects> {
        let predictor = prediction.model;
        let features = predictor.encode(prediction.features)?;
        let means = predictor.input.as_ref().map(|scaler| &scaler.mean);
        let width = features.names().len();
        let zeros = vec![0.0; width];
        let (method, references) = match (predictor.coefficients(), means) {
            (Some(_), Some(means)) => (FeatureMethod::LinearFromMean, means),
            (Some(_), None) => (FeatureMethod::LinearFromZero, &zeros),
            (None, Some(means)) => (FeatureMethod::ReplacedByMean, means),
            (None, None) => return Ok(without_effects()),
        };
        let effects = match predictor.coefficients() {
            Some(rows) => linear_effects(prediction, &features, &rows, references),
            None => replaced_effects(prediction, &features, references)?,
        };
        let mut result = FeatureEffects {
            method: Some(method),
            reason: None,
            base: Vec::new(),
            features: Vec::with_capacity(width),
        };
        if method != FeatureMethod::ReplacedByMean {
            result.base = self.base(prediction, &effects);
        }
        let knows_decisions = width <= self.limit.solves && self.unproven().is_none();
        if !knows_decisions {
            let reason = self.unproven().unwrap_or_else(|| {
                let limit = self.limit.exceeded_by(width);
                format!("{width} features take a solve each, {limit}")
            });
            result.reason = Some(format!(
                "whether a feature changes the decision is not known: {reason}"
            ));
        }
        for (feature, effects) in effects.into_iter().enumerate() {
            let effects = self.without_absent(effects);
            let changes_decision = if knows_decisions {
                Some(self.changes_decision(prediction, &effects)?)
            } else {
                None
            };
            result.features.push(FeatureEffect {
                feature: features.names()[feature].clone(),
                value: match features.shape() {
                    FeatureShape::Wide => Some(f64::from(features.instance(0)[feature])),
                    FeatureShape::Long { .. } => None,
                },
                reference: references[feature],
                objective_effect: self.effect_on_objective(&effects),
                changes_decision,
                effects,
            });
        }
        let size = |effect: &FeatureEffect| effect.objective_effect.abs();
        // A stable sort: features without an effect stay in the order of the table.
        result.features.sort_by(|a, b| size(b).total_cmp(&size(a)));
        Ok(result)
    }

    /// The prediction without the effects: what is left, so rounding of the prediction to single
    /// precision does not leave a rest.
    fn base(&self, prediction: &RowPrediction<'_>, effects: &[Vec<f64>]) -> Vec<f64> {
        let mut base = prediction.predicted.to_vec();
        for effects in effects {
            for (base, effect) in base.iter_mut().zip(effects) {
                *base -= effect;
            }
        }
        self.without_absent(base)
    }

    fn without_absent(&self, mut values: Vec<f64>) -> Vec<f64> {
        if let Some(present) = self.problem.present_costs() {
            for (value, exists) in values.iter_mut().zip(present) {
                if !exists {
                    *value = 0.0;
                }
            }
        }
        values
    }

    fn effect_on_objective(&self, effects: &[f64]) -> f64 {
        let terms = self.solution.decision.iter();
        terms.map(|(cost, value)| value * effects[cost]).sum()
    }

    /// Whether another decision is better when a feature has no effect.
    fn changes_decision(&self, prediction: &RowPrediction<'_>, effects: &[f64]) -> Result<bool> {
        if self.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let mut costs = prediction.predicted.to_vec();
        for (cost, effect) in costs.iter_mut().zip(effects) {
            *cost -= effect;
        }
        let costs = total_costs(prediction.oracle, &costs)?;
        let best = self.oracle.worker().solve(&costs);
        let best = best.map_err(Error::single_solve)?;
        // Objectives, not decisions, are compared: a tie is no change.
        let excess = self.solution.decision.dot(&costs) - best.objective;
        Ok(excess > self.price_tolerance())
    }
}

fn without_effects() -> FeatureEffects {
    let reason = "the predictor is not linear, and the model does not have the means of its \
        features, because they were not standardized";
    FeatureEffects {
        method: None,
        reason: Some(reason.into()),
        base: Vec::new(),
        features: Vec::new(),
    }
}

/// The terms of a linear predictor: for each feature the effect on each cost, in the order of the
/// problem.
fn linear_effects(
    prediction: &RowPrediction<'_>,
    features: &Features,
    coefficients: &[Vec<f64>],
    references: &[f64],
) -> Vec<Vec<f64>> {
    let count = prediction.predicted.len();
    let width = references.len();
    let order = prediction.matching.order();
    let values = features.instance(0);
    let mut effects = vec![vec![0.0; count]; width];
    for cost in 0..count {
        // The outputs of the predictor are in the order of the model's costs.
        let output = order.map_or(cost, |order| order[cost]);
        let (row, item) = match features.shape() {
            FeatureShape::Wide => (&coefficients[output], values),
            FeatureShape::Long { .. } => (&coefficients[0], &values[output * width..][..width]),
        };
        for (feature, effects) in effects.iter_mut().enumerate() {
            // Relative to the mean, since a term relative to 0 says more about the unit than about
            // the row.
            let distance = f64::from(item[feature]) - references[feature];
            effects[cost] = row[feature] * distance;
        }
    }
    effects
}

/// The change of each prediction when one feature is replaced by its reference.
fn replaced_effects(
    prediction: &RowPrediction<'_>,
    features: &Features,
    references: &[f64],
) -> Result<Vec<Vec<f64>>> {
    let width = references.len();
    let mut effects = Vec::with_capacity(width);
    let mut costs = Vec::new();
    for (feature, reference) in references.iter().enumerate() {
        let mut replaced = features.clone();
        let values = replaced.values_mut().as_mut_slice();
        for row in values.chunks_exact_mut(width) {
            // In a long table the feature of every item, as the model shares its weight among them.
            row[feature] = *reference as f32;
        }
        let predicted = prediction
            .model
            .predict_matched(&replaced, prediction.matching)?;
        predicted.read(0, &mut costs);
        let pairs = prediction.predicted.iter().zip(&costs);
        effects.push(pairs.map(|(own, other)| own - other).collect());
    }
    Ok(effects)
}
