//! Instance weights: row weights of the table, and factors from the regret and the loss of a
//! baseline.
//!
//! C_i = regret_i / loss_i makes the weighted loss of the baseline equal to its regret, so a step
//! that decreases the loss also decreases regret where the two are locally proportional.

use super::PreparedData;
use super::step::BatchWorkspace;
use crate::data::Matrix;
use crate::error::Result;
use crate::evaluate::{MissingPredictions, regrets};
use crate::loss::{InstanceWeighting, Loss, LossProperties};
use crate::observer::InterruptOnlyObserver;
use crate::oracle::TrainingOracle;
use crate::predict::Network;

/// A regret below this fraction of the optimal objective is rounding error. Untuned: any small
/// value works.
const REGRET_TOLERANCE: f64 = 1e-6;
/// Clipped ratios are at most this many times their median. Untuned: it bounds the influence of a
/// few instances and leaves the others as they are.
const MAX_RATIO_TO_MEDIAN: f64 = 10.0;

/// The objective of a round: a loss with or without instance weights.
#[derive(Clone, Copy)]
pub(super) struct WeightedLoss<'a> {
    pub(super) loss: &'a dyn Loss,
    pub(super) properties: LossProperties,
    /// One factor per row of the table.
    pub(super) weights: Option<&'a [f64]>,
    /// The order of magnitude of the factors.
    pub(super) mean_weight: f64,
}

impl WeightedLoss<'_> {
    pub(super) fn weight(&self, instance: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[instance])
    }

    /// The factor that scales gradients to the order of 1.
    pub(super) fn rescaling(&self, costs: usize) -> f64 {
        let mean = self.mean_weight;
        self.loss.rescaling(costs) / if mean > 0.0 { mean } else { 1.0 }
    }
}

/// Weights of all rows of the table, given the networks of the baseline, times the row weights of
/// the table; rows that neither train nor validate have weight 1.
pub(super) fn weights(
    prepared: &PreparedData<'_>,
    loss: &dyn Loss,
    baseline: &[Network],
) -> Result<Vec<f64>> {
    let context = prepared.context;
    let rows = [context.split.train.as_slice(), &context.split.validation].concat();
    let predictions = mean_predictions(prepared, baseline, &rows)?;
    let observer = InterruptOnlyObserver(context.observer);
    let missing = MissingPredictions::Refused;
    let (data, oracle) = (context.data, context.oracle);
    let regrets = regrets(&predictions, missing, data, &rows, oracle, &observer)?;
    let properties = prepared.stage.loss.properties();
    let instance_weights = match properties.weighting {
        InstanceWeighting::Reweighted(w) => reweighted(&regrets, w),
        InstanceWeighting::Equal
        | InstanceWeighting::InstanceCosts
        | InstanceWeighting::Iterative(_)
        | InstanceWeighting::Ensemble(_) => {
            let unweighted = WeightedLoss {
                loss,
                properties,
                weights: None,
                mean_weight: 1.0,
            };
            let mut batch = BatchWorkspace::new(1.0, TrainingOracle::exact(context.oracle));
            let losses = batch.losses_of(prepared, unweighted, &predictions, &rows)?;
            let optimal = |row: &usize| context.data.optimal_objective(*row);
            let optimal: Vec<f64> = rows.iter().map(optimal).collect();
            let clipped = prepared.settings().clip_instance_costs && properties.can_vanish;
            let row_weight = |row: &usize| match &prepared.row_weights {
                Some(weights) => weights[*row],
                None => 1.0,
            };
            let row_weights: Vec<f64> = rows.iter().map(row_weight).collect();
            instance_costs(&regrets, &losses, &optimal, &row_weights, clipped)
        }
    };
    let mut weights = vec![1.0; context.data.len()];
    for (row, weight) in rows.iter().zip(instance_weights) {
        weights[*row] = match &prepared.row_weights {
            Some(row_weights) => weight * row_weights[*row],
            None => weight,
        };
    }
    Ok(weights)
}

/// Mean predicted costs (minimized) of the networks of a baseline.
fn mean_predictions(
    prepared: &PreparedData<'_>,
    networks: &[Network],
    rows: &[usize],
) -> Result<Matrix> {
    let mut batch = BatchWorkspace::new(1.0, TrainingOracle::exact(prepared.context.oracle));
    let mut mean = batch.predictions(prepared, &networks[0], 0, rows)?;
    for (count, network) in networks.iter().enumerate().skip(1) {
        let next = batch.predictions(prepared, network, 0, rows)?;
        let weight = 1.0 / (count + 1) as f32;
        for (mean, next) in mean.as_mut_slice().iter_mut().zip(next.as_slice()) {
            *mean += weight * (next - *mean);
        }
    }
    Ok(mean)
}

/// C: regret over loss. Instances without regret, or without a loss to divide by, get the mean of
/// the others; if no instance has regret, all weigh 1.
///
/// Losses that can be almost 0 although there is regret (O_S) make a few ratios enormous. If
/// `clipped`, no ratio exceeds ten times the median, and the mean is that of the clipped ones. Mean
/// and median count rows by their weights.
pub(crate) fn instance_costs(
    regrets: &[f64],
    losses: &[f64],
    optimal: &[f64],
    row_weights: &[f64],
    clipped: bool,
) -> Vec<f64> {
    let mut ratios: Vec<Option<f64>> = Vec::with_capacity(regrets.len());
    for ((regret, loss), optimal) in regrets.iter().zip(losses).zip(optimal) {
        let has_ratio = *regret > REGRET_TOLERANCE * optimal.abs().max(1.0) && *loss > 0.0;
        ratios.push(has_ratio.then(|| regret / loss));
    }
    let mut valid_ratios = Vec::with_capacity(ratios.len());
    for (ratio, weight) in ratios.iter().zip(row_weights) {
        valid_ratios.extend(ratio.map(|ratio| WeightedRatio {
            ratio,
            weight: *weight,
        }));
    }
    let max = if clipped {
        MAX_RATIO_TO_MEDIAN * median(&mut valid_ratios.clone())
    } else {
        f64::INFINITY
    };
    let (mut sum, mut total) = (0.0, 0.0);
    for WeightedRatio { ratio, weight } in &valid_ratios {
        sum += weight * ratio.min(max);
        total += weight;
    }
    let mean = if valid_ratios.is_empty() {
        1.0
    } else {
        sum / total
    };
    let weight = |ratio: Option<f64>| ratio.map_or(mean, |ratio| ratio.min(max));
    ratios.into_iter().map(weight).collect()
}

/// Regret over loss of a row, and the weight of the row.
#[derive(Clone, Copy)]
struct WeightedRatio {
    ratio: f64,
    weight: f64,
}

/// The upper median: the first ratio at which more than half of the weight is reached.
fn median(ratios: &mut [WeightedRatio]) -> f64 {
    ratios.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let half = ratios.iter().map(|ratio| ratio.weight).sum::<f64>() / 2.0;
    let mut reached = 0.0;
    for WeightedRatio { ratio, weight } in ratios.iter() {
        reached += weight;
        if reached > half {
            return *ratio;
        }
    }
    f64::INFINITY
}

/// W(w): w times regret plus 1−w.
pub(crate) fn reweighted(regrets: &[f64], w: f64) -> Vec<f64> {
    let weight = |regret: &f64| w * regret + (1.0 - w);
    regrets.iter().map(weight).collect()
}
