//! Robust costs: costs averaged with those of similar instances, whose optimal decisions are the
//! labels of training. This module replaces the costs; the caller solves for the new labels.
//!
//! ```text
//! c'_i = w·c_i + (1 − w)·mean of c over the k training instances nearest to i in features
//! ```
//!
//! One observed cost vector is a single sample of the distribution given the features; its
//! neighbors are further samples. Decisions that are optimal for the average depend less on noise,
//! and every loss can be trained on them. Features are compared by Euclidean distance, unscaled;
//! ties go to the earlier row, and an instance is not a neighbor of itself. If there are fewer than
//! k others, all of them count. The average is solved once; the published code solves k averages,
//! one per neighbor, and averages their decisions, which is not a feasible decision in general.
//!
//! Source: Schutte, Postek and Yorke-Smith, "Robust losses for decision-focused learning" (2024).
//! Needs one solve per training row, before training. Use it for noisy costs and few rows.

use std::fmt;

use super::LabeledDataset;
use crate::data::Dataset;

/// Settings of robust costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KnnRobustCosts {
    /// Neighbors per instance.
    pub neighbors: usize,
    /// Weight of an instance's own costs, from 0 to 1.
    pub weight: f64,
}

/// Untuned: more neighbors and a smaller weight average out more noise and blur more differences
/// between instances.
impl Default for KnnRobustCosts {
    fn default() -> Self {
        Self {
            neighbors: 10,
            weight: 0.5,
        }
    }
}

impl fmt::Display for KnnRobustCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "knn({},{})", self.neighbors, self.weight)
    }
}

impl KnnRobustCosts {
    /// `knn`, `knn(k)` or `knn(k,weight)`.
    pub(super) fn parse_name(word: &str) -> Option<Self> {
        let default = Self::default();
        let rest = word.strip_prefix("knn")?;
        if rest.is_empty() {
            return Some(default);
        }
        let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
        let (neighbors, weight) = inside
            .split_once(',')
            .map_or((inside, None), |(k, weight)| (k, Some(weight)));
        let neighbors = neighbors.trim().parse().ok().filter(|k| *k >= 1)?;
        let weight = weight.map_or(Some(default.weight), |weight| weight.trim().parse().ok())?;
        (0.0..=1.0)
            .contains(&weight)
            .then_some(Self { neighbors, weight })
    }

    /// Replaces the costs of the listed rows by their averages. The labels of these rows have to be
    /// computed again by the caller.
    pub(super) fn replace_costs_by_averages(&self, data: &mut LabeledDataset, rows: &[usize]) {
        // All averages are of the original costs, so they are computed before any is replaced.
        let averaged: Vec<Vec<f32>> = rows
            .iter()
            .map(|row| self.averaged_costs(&data.data, rows, *row))
            .collect();
        for (row, costs) in rows.iter().zip(averaged) {
            data.data.costs_mut().row_mut(*row).copy_from_slice(&costs);
        }
    }

    fn averaged_costs(&self, data: &Dataset, rows: &[usize], row: usize) -> Vec<f32> {
        let nearest = self.nearest(data, rows, row);
        let own_costs = data.costs().row(row);
        // The only row has nothing to be averaged with.
        if nearest.is_empty() {
            return own_costs.to_vec();
        }
        let mut sums = vec![0.0; own_costs.len()];
        for neighbor in &nearest {
            for (sum, cost) in sums.iter_mut().zip(data.costs().row(*neighbor)) {
                *sum += f64::from(*cost);
            }
        }
        let count = nearest.len() as f64;
        let average = |(own, sum): (&f32, f64)| {
            (self.weight * f64::from(*own) + (1.0 - self.weight) * sum / count) as f32
        };
        own_costs.iter().zip(sums).map(average).collect()
    }

    fn nearest(&self, data: &Dataset, rows: &[usize], row: usize) -> Vec<usize> {
        let own_features = data.features().instance(row);
        let distance = |other: usize| -> f64 {
            let pairs = own_features.iter().zip(data.features().instance(other));
            pairs
                .map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2))
                .sum()
        };
        let others = rows.iter().filter(|other| **other != row);
        let mut others: Vec<(f64, usize)> =
            others.map(|other| (distance(*other), *other)).collect();
        // Ties go to the smaller row number.
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others
            .into_iter()
            .take(self.neighbors)
            .map(|(_, other)| other)
            .collect()
    }
}
