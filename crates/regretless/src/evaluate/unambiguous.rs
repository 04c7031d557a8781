//! Unambiguous regret: ties are broken pessimistically.

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::label::LabeledDataset;
use crate::observer::Observer;
use crate::oracle::TrainingOracle;

/// Smallest norm that is a denominator; untuned: any value far below real norms works, since it
/// only replaces a division by zero.
const MIN_DENOMINATOR: f64 = 1e-12;

/// Unambiguous regret (Elmachtoub and Grigas 2022): regret with pessimistic tie-breaking.
///
/// Among all decisions whose predicted cost is minimal up to a relative millionth, the one with the
/// highest true cost counts, so a prediction with ties has no advantage. It is found by a solve in
/// which the predicted costs are perturbed slightly against the true costs.
///
/// # Errors
/// When an instance has no decision, or the user interrupts.
pub(super) fn unambiguous_regrets(
    predictions: &Matrix,
    data: &LabeledDataset,
    instances: &[usize],
    decider: &TrainingOracle<'_>,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    /// Relative difference of predicted objectives that counts as a tie, and the relative size
    /// of the perturbation: larger than rounding errors, smaller than real differences.
    const TIE_TOLERANCE: f64 = 1e-6;
    let mut worker = decider.worker();
    let mut regrets = Vec::with_capacity(instances.len());
    let (mut predicted, mut costs) = (Vec::new(), Vec::new());
    for (row, instance) in instances.iter().enumerate() {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let failed = |failure| Error::solver(*instance, failure);
        worker.set_instance(*instance);
        predictions.read(row, &mut predicted);
        data.data().costs().read(*instance, &mut costs);
        let factor = TIE_TOLERANCE * norm_f64(&predicted) / norm_f64(&costs).max(MIN_DENOMINATOR);
        let perturbed: Vec<f64> = predicted
            .iter()
            .zip(&costs)
            .map(|(predicted, cost)| predicted - factor * cost)
            .collect();
        let decision = worker.solve(&predicted).map_err(failed)?.decision;
        let worst = worker.solve(&perturbed).map_err(failed)?.decision;
        let min = decision.dot(&predicted);
        let is_tied = worst.dot(&predicted) <= min + TIE_TOLERANCE * min.abs().max(1.0);
        let cost = if is_tied {
            worst.dot(&costs).max(decision.dot(&costs))
        } else {
            decision.dot(&costs)
        };
        regrets.push(cost - data.optimal_objective(*instance));
    }
    Ok(regrets)
}

/// The Euclidean norm; missing predictions do not count.
fn norm_f64(values: &[f64]) -> f64 {
    let predicted = values.iter().filter(|value| !value.is_nan());
    predicted.map(|value| value * value).sum::<f64>().sqrt()
}
