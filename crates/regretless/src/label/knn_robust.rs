//! Robust labels: costs mixed with those of similar instances.
//!
//! ```text
//! c'_i = w·c_i + (1 − w)·mean of c over the k training instances nearest to i in features
//! ```
//!
//! One observed cost vector is a single draw from what the features allow; its neighbours are
//! further draws. Decisions that are best for the mixture are less a matter of luck, and every loss
//! can be trained on them. Features are compared by Euclidean distance as they stand in the table;
//! ties go to the earlier row, and an instance is no neighbour of itself. Where there are fewer
//! than k others, all of them count. The mixture is solved once; released code of the field solves
//! k mixtures, one per neighbour, and averages their decisions, which is then no decision any more.
//!
//! Source: Schutte, Postek and Yorke-Smith, "Robust losses for decision-focused learning" (2024).
//! Needs one solve per training row, before training. Use it on noisy costs and few rows.

use std::fmt;

use super::LabeledDataset;
use crate::data::Dataset;

/// How labels are made robust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnnRobustCosts {
    /// Neighbours per instance.
    pub neighbours: usize,
    /// Weight of an instance's own costs, from 0 to 1.
    pub weight: f64,
}

impl Default for KnnRobustCosts {
    fn default() -> Self {
        Self {
            neighbours: 10,
            weight: 0.5,
        }
    }
}

impl fmt::Display for KnnRobustCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "knn({},{})", self.neighbours, self.weight)
    }
}

impl KnnRobustCosts {
    /// `knn`, `knn(k)` or `knn(k,weight)`.
    pub(super) fn parse_name(word: &str) -> Option<Self> {
        let usual = Self::default();
        let rest = word.strip_prefix("knn")?;
        if rest.is_empty() {
            return Some(usual);
        }
        let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
        let (neighbours, weight) = inside
            .split_once(',')
            .map_or((inside, None), |(k, weight)| (k, Some(weight)));
        let neighbours = neighbours.trim().parse().ok().filter(|k| *k >= 1)?;
        let weight = weight.map_or(Some(usual.weight), |weight| weight.trim().parse().ok())?;
        (0.0..=1.0)
            .contains(&weight)
            .then_some(Self { neighbours, weight })
    }

    /// Mixes the costs of the listed rows; their labels stay as they were.
    pub(super) fn average_costs(&self, data: &mut LabeledDataset, rows: &[usize]) {
        let mixed: Vec<Vec<f32>> = rows
            .iter()
            .map(|row| self.averaged_costs(&data.data, rows, *row))
            .collect();
        for (row, mixed) in rows.iter().zip(mixed) {
            data.data.costs_mut().row_mut(*row).copy_from_slice(&mixed);
        }
    }

    fn averaged_costs(&self, data: &Dataset, rows: &[usize], row: usize) -> Vec<f32> {
        let nearest = self.nearest(data, rows, row);
        let mut mean = vec![0.0; data.costs().cols()];
        for neighbour in &nearest {
            mean.iter_mut()
                .zip(data.costs().row(*neighbour))
                .for_each(|(sum, cost)| *sum += f64::from(*cost));
        }
        let own = data.costs().row(row).iter().map(|cost| f64::from(*cost));
        let count = nearest.len() as f64;
        let mix = |(own, sum): (f64, f64)| {
            if count > 0.0 {
                self.weight * own + (1.0 - self.weight) * sum / count
            } else {
                own
            }
        };
        own.zip(mean).map(|pair| mix(pair) as f32).collect()
    }

    fn nearest(&self, data: &Dataset, rows: &[usize], row: usize) -> Vec<usize> {
        let here = data.features().instance(row);
        let distance = |other: usize| -> f64 {
            let pairs = here.iter().zip(data.features().instance(other));
            pairs
                .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
                .sum()
        };
        let others = rows.iter().filter(|other| **other != row);
        let mut others: Vec<(f64, usize)> =
            others.map(|other| (distance(*other), *other)).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others
            .into_iter()
            .take(self.neighbours)
            .map(|(_, other)| other)
            .collect()
    }
}
