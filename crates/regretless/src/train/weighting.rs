//! Weights of instances, found from the regret and the loss of a baseline.
//!
//! C_i = regret_i / loss_i makes the weighted loss of the baseline equal its regret, so that a step
//! that lowers the one lowers the other where the two are locally proportional.

use super::step::{BatchWorkspace, InterruptOnlyObserver};
use super::{PreparedData, WeightedLoss};
use crate::error::Result;
use crate::evaluate::regrets;
use crate::loss::Loss;
use crate::oracle::TrainingOracle;
use crate::predict::Network;

/// How regret and loss of a baseline become a weight.
#[derive(Debug, Clone, Copy)]
pub(super) enum WeightingRule {
    /// C, IC and EIC.
    RegretOverLoss,
    /// W(w).
    Reweighted(f64),
}

/// Weights of all rows of the table, given the members of the baseline; rows that neither train nor
/// validate weigh 1.
pub(super) fn weights(
    prepared: &PreparedData<'_>,
    loss: &dyn Loss,
    baseline: &[Network],
    rule: WeightingRule,
) -> Result<Vec<f64>> {
    let task = prepared.task;
    let capabilities = prepared.stage.method.loss.capabilities();
    let rows = [task.split.train.as_slice(), &task.split.validation].concat();
    let predictions = mean_predictions(prepared, baseline, &rows)?;
    let regrets = regrets(
        &predictions,
        task.data,
        &rows,
        task.oracle,
        &InterruptOnlyObserver(task.observer),
    )?;
    let found =
        match rule {
            WeightingRule::Reweighted(w) => reweighted(&regrets, w),
            WeightingRule::RegretOverLoss => {
                let unweighted = WeightedLoss {
                    loss,
                    capabilities,
                    weights: None,
                };
                let losses = BatchWorkspace::new(1.0, TrainingOracle::exact(task.oracle))
                    .losses_of(prepared, unweighted, &predictions, &rows)?;
                let best: Vec<f64> = rows
                    .iter()
                    .map(|row| task.data.optimal_objective(*row))
                    .collect();
                let clipped = prepared.settings().clip_instance_costs && capabilities.can_vanish;
                instance_costs(&regrets, &losses, &best, clipped)
            }
        };
    let mut weights = vec![1.0; task.data.len()];
    rows.iter()
        .zip(found)
        .for_each(|(row, weight)| weights[*row] = weight);
    Ok(weights)
}

/// Mean predicted costs (to be minimised) of the members of a baseline.
fn mean_predictions(
    prepared: &PreparedData<'_>,
    members: &[Network],
    rows: &[usize],
) -> Result<crate::data::Matrix> {
    let mut batch = BatchWorkspace::new(1.0, TrainingOracle::exact(prepared.task.oracle));
    let mut mean = batch.predictions(prepared, &members[0], (0, rows))?;
    for (count, member) in members.iter().enumerate().skip(1) {
        let next = batch.predictions(prepared, member, (0, rows))?;
        let share = 1.0 / (count + 1) as f32;
        mean.as_mut_slice()
            .iter_mut()
            .zip(next.as_slice())
            .for_each(|(mean, next)| *mean += share * (next - *mean));
    }
    Ok(mean)
}

/// C: regret over loss. Instances without regret, or without a loss to divide by, get the mean of
/// the others; when no instance has regret all weigh 1.
///
/// Losses that can be almost 0 beside a regret that is not (O_S) make a few ratios enormous;
/// `clipped`, none exceeds ten times their median, and the mean is that of the clipped ones.
pub fn instance_costs(regrets: &[f64], losses: &[f64], best: &[f64], clipped: bool) -> Vec<f64> {
    let known = |i: usize| regrets[i] > 1e-6 * best[i].abs().max(1.0) && losses[i] > 0.0;
    let ratios: Vec<Option<f64>> = (0..regrets.len())
        .map(|i| known(i).then(|| regrets[i] / losses[i]))
        .collect();
    let found: Vec<f64> = ratios.iter().flatten().copied().collect();
    let max = if clipped {
        10.0 * median(found.clone())
    } else {
        f64::INFINITY
    };
    let mean = found.iter().map(|ratio| ratio.min(max)).sum::<f64>() / found.len() as f64;
    let mean = if found.is_empty() { 1.0 } else { mean };
    ratios
        .into_iter()
        .map(|ratio| ratio.map_or(mean, |ratio| ratio.min(max)))
        .collect()
}

/// The upper median.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values
        .get(values.len() / 2)
        .copied()
        .unwrap_or(f64::INFINITY)
}

/// W(w): w times regret plus 1−w.
pub fn reweighted(regrets: &[f64], w: f64) -> Vec<f64> {
    regrets
        .iter()
        .map(|regret| w * regret + (1.0 - w))
        .collect()
}
