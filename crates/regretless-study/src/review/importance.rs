//! Which features decisions depend on: permutation importance by regret.

use super::{FeatureImportance, affordable_solves};
use crate::experiment::MeanAndDeviation;
use regretless::data::FeatureShape;
use regretless::label::LabeledDataset;
use regretless::oracle::Oracle;
use regretless::predict::CostModel;
use regretless_base::error::Result;
use regretless_base::observer::Observer;

/// Solves for the importance of features, and shuffles of each feature. Untuned: a second of fast
/// solves.
const MAX_IMPORTANCE_SOLVES: usize = 20_000;
const SHUFFLES: usize = 3;
/// Fewest rows whose shuffles say something. Untuned.
pub(super) const MIN_SHUFFLED_ROWS: usize = 20;

/// Rows that a model decided and was not trained on.
pub(super) struct ShuffledRows<'a> {
    pub model: &'a CostModel,
    pub data: &'a LabeledDataset,
    pub rows: &'a [usize],
    pub oracle: &'a Oracle,
}

/// The importance of all features, the largest first.
#[derive(Default)]
pub(super) struct MeasuredImportance {
    /// Empty if it was not measured.
    pub importance: Vec<FeatureImportance>,
    /// On what it was measured, or why it was not, as a sentence.
    pub basis: String,
}

impl MeasuredImportance {
    fn nothing(basis: String) -> Self {
        Self {
            importance: Vec::new(),
            basis,
        }
    }

    /// Measures on as many rows as are affordable; values are shuffled among the rows of each part,
    /// whose models have the same features. `decided` is what the rows are, such as "test rows",
    /// `remedy` how a user gets more of them.
    pub(super) fn of(
        parts: &[ShuffledRows<'_>],
        decided: &str,
        remedy: &str,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Some(first) = parts.first() else {
            return Ok(Self::default());
        };
        let features = &first.model.metadata.features;
        // Categories that only a later history has are features of their own.
        let is_alike = |part: &&ShuffledRows<'_>| part.model.metadata.features == *features;
        let parts: Vec<&ShuffledRows<'_>> = parts.iter().take_while(is_alike).collect();
        let found: usize = parts.iter().map(|part| part.rows.len()).sum();
        let has_own_items = |part: &&ShuffledRows<'_>| {
            let data = part.data.data();
            data.features().shape() != FeatureShape::Wide && data.has_absent_costs()
        };
        if parts.iter().any(has_own_items) {
            return Ok(Self::nothing(
                "Not measured: rows have different items, whose features cannot be exchanged."
                    .into(),
            ));
        }
        if found < MIN_SHUFFLED_ROWS {
            return Ok(Self::nothing(format!(
                "Not measured: there are {found} {decided}, and fewer than {MIN_SHUFFLED_ROWS} say \
                 nothing; {remedy}."
            )));
        }
        let solves = affordable_solves(first.data, first.rows, MAX_IMPORTANCE_SOLVES);
        let affordable = solves / (1 + features.len() * SHUFFLES);
        if affordable < MIN_SHUFFLED_ROWS {
            return Ok(Self::nothing(format!(
                "Not measured: the solves for {} features would take too long.",
                features.len()
            )));
        }
        let measured = found.min(affordable);
        let mut importance = Vec::with_capacity(features.len());
        let increases = mean_increases(&parts, measured, observer)?;
        for (feature, increases) in features.iter().zip(increases) {
            importance.push(FeatureImportance {
                feature: feature.clone(),
                increase: MeanAndDeviation::of(&increases),
            });
        }
        let mean = |entry: &FeatureImportance| entry.increase.mean.unwrap_or(0.0);
        importance.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
        let part = if measured < found {
            format!("{measured} of {found} {decided}")
        } else {
            format!("{found} {decided}")
        };
        if importance.iter().all(|entry| mean(entry) == 0.0) {
            return Ok(Self::nothing(format!(
                "Shuffling the values of a feature among {part} changes no regret."
            )));
        }
        Ok(Self {
            importance,
            basis: format!("Measured on {part}, with {SHUFFLES} shuffles of each feature."),
        })
    }
}

/// For each feature and shuffle the rise of the mean regret over the first `count` rows.
fn mean_increases(
    parts: &[&ShuffledRows<'_>],
    count: usize,
    observer: &dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let mut sums: Vec<Vec<f64>> = Vec::new();
    let mut left = count;
    for part in parts {
        let rows = &part.rows[..part.rows.len().min(left)];
        if rows.is_empty() {
            break;
        }
        left -= rows.len();
        let measured = part.model.permutation_importance(
            part.data,
            rows,
            part.oracle,
            SHUFFLES,
            0,
            observer,
        )?;
        sums.resize(measured.len(), vec![0.0; SHUFFLES]);
        let share = rows.len() as f64 / count as f64;
        for (sums, increases) in sums.iter_mut().zip(measured) {
            for (sum, increase) in sums.iter_mut().zip(increases) {
                *sum += share * increase;
            }
        }
    }
    Ok(sums)
}
