//! The items of one knapsack, scaled for the simplex method, and the exact test of a choice.
//!
//! A load may exceed its capacity by `1e-9 · max(capacity, 1)`, so that decimal weights whose exact
//! sum equals the capacity fit although their binary sum is a hair above. The linear programme uses
//! the same widened capacity, or the largest load that weights on a decimal grid can make within
//! it: no feasible choice is ever cut off. Rows are scaled by powers of two, which costs no digit.

use super::granularity;

/// Weights and capacities, fixed for the life of an engine.
#[derive(Debug, Clone)]
pub(super) struct KnapsackItems {
    count: usize,
    weights: Vec<Vec<f64>>,
    /// Capacity plus tolerance per dimension.
    limits: Vec<f64>,
    /// Per item its scaled weights, then the 1 of the counting row.
    columns: Vec<f64>,
    /// What each scaled weight was multiplied by, per dimension.
    scales: Vec<f64>,
    /// Scaled limits as far as they can be reached, then the right-hand side of the counting row.
    rhs: Vec<f64>,
    /// The same without tolerance, for the linear relaxation.
    strict_rhs: Vec<f64>,
    /// Whether an item fits into the empty knapsack.
    fits: Vec<bool>,
}

impl KnapsackItems {
    pub(super) fn new(weights: &[Vec<f64>], capacity: &[f64]) -> Self {
        let count = weights.first().map_or(0, Vec::len);
        let limits: Vec<f64> = capacity.iter().map(|c| c + 1e-9 * c.max(1.0)).collect();
        let fits: Vec<bool> = (0..count)
            .map(|j| weights.iter().zip(&limits).all(|(w, l)| w[j] <= *l))
            .collect();
        let scales: Vec<f64> = weights.iter().map(|row| row_scale(row, &fits)).collect();
        let column = |j: usize| {
            weights
                .iter()
                .zip(&scales)
                .map(move |(row, s)| row[j] * s)
                .chain([1.0])
        };
        let columns = (0..count).flat_map(column).collect();
        let reachable: Vec<f64> = weights
            .iter()
            .zip(&limits)
            .map(|(row, limit)| reachable(row, *limit))
            .collect();
        // Summing rounds; the linear programme must not be tighter than the exact test.
        let slack = 1.0 + 1e-12;
        let scaled = |rhs: &[f64], factor: f64| -> Vec<f64> {
            let rows = rhs.iter().zip(&scales).map(|(r, s)| r * s * factor);
            rows.chain([count as f64 + 1.0]).collect()
        };
        let (rhs, strict_rhs) = (scaled(&reachable, slack), scaled(capacity, 1.0));
        Self {
            count,
            weights: weights.to_vec(),
            limits,
            columns,
            scales,
            rhs,
            strict_rhs,
            fits,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Rows of the linear programme: one per dimension, and one that counts items.
    pub(super) fn rows(&self) -> usize {
        self.limits.len() + 1
    }

    /// The scaled weights of an item, then 1.
    pub(super) fn column(&self, item: usize) -> &[f64] {
        &self.columns[item * self.rows()..][..self.rows()]
    }

    /// Right-hand sides of all rows; the counting row never binds until a number is asked for.
    pub(super) fn rhs(&self) -> &[f64] {
        &self.rhs
    }

    /// Right-hand sides of all rows without tolerance.
    pub(super) fn strict_rhs(&self) -> &[f64] {
        &self.strict_rhs
    }

    pub(super) fn scale(&self, dimension: usize) -> f64 {
        self.scales[dimension]
    }

    /// Whether an item fits into the empty knapsack.
    pub(super) fn fits(&self, item: usize) -> bool {
        self.fits[item]
    }

    /// Whether some share of an item fits: it weighs nothing where there is no capacity.
    pub(super) fn fits_in_part(&self, item: usize) -> bool {
        self.column(item)
            .iter()
            .zip(&self.strict_rhs)
            .all(|(weight, rhs)| *weight == 0.0 || *rhs > 0.0)
    }

    /// Whether an item weighs nothing in any dimension.
    pub(super) fn weightless(&self, item: usize) -> bool {
        let column = self.column(item);
        column[..column.len() - 1].iter().all(|w| *w == 0.0)
    }

    /// Costs less what the weights are worth at these prices.
    pub(super) fn reduced_costs(&self, costs: &[f64], duals: &[f64]) -> Vec<f64> {
        let worth = |j: usize| {
            self.weights
                .iter()
                .zip(duals)
                .map(|(row, dual)| dual * row[j])
                .sum::<f64>()
        };
        costs
            .iter()
            .enumerate()
            .map(|(j, cost)| cost - worth(j))
            .collect()
    }

    /// What all capacities, tolerance included, are worth at these prices.
    pub(super) fn dual_value(&self, prices: &[f64]) -> f64 {
        self.limits
            .iter()
            .zip(prices)
            .map(|(limit, price)| limit * price)
            .sum()
    }

    /// The weights of an item, one per dimension.
    pub(super) fn weights(&self, item: usize) -> impl Iterator<Item = f64> + '_ {
        self.weights.iter().map(move |row| row[item])
    }

    /// Whether loads that were summed in another order may fit.
    pub(super) fn fits_within(&self, loads: &[f64], rounding: f64) -> bool {
        loads
            .iter()
            .zip(&self.limits)
            .all(|(load, limit)| *load <= limit + rounding * (limit + load))
    }

    /// Raises the price of a dimension without capacity until no item is worth its weight there:
    /// it costs the objective nothing, and without it the prices would prove nothing.
    pub(super) fn price_closed_dimensions(&self, duals: &mut [f64], reduced_costs: &mut [f64]) {
        for (row, (weights, rhs)) in self.weights.iter().zip(&self.strict_rhs).enumerate() {
            if *rhs > 0.0 {
                continue;
            }
            let ratios = weights
                .iter()
                .zip(&*reduced_costs)
                .filter(|(w, _)| **w > 0.0)
                .map(|(w, r)| r / w);
            let rise = ratios.fold(0.0, f64::min);
            duals[row] += rise;
            weights
                .iter()
                .zip(&mut *reduced_costs)
                .for_each(|(w, r)| *r -= rise * w);
        }
    }

    /// Whether these items, in increasing order, fit together: summed as any check would.
    pub(super) fn holds(&self, chosen: &[u32]) -> bool {
        let load = |row: &Vec<f64>| chosen.iter().map(|j| row[*j as usize]).sum::<f64>();
        self.weights
            .iter()
            .zip(&self.limits)
            .all(|(row, limit)| load(row) <= *limit)
    }
}

/// The largest load within a limit that sums of these weights can make.
fn reachable(row: &[f64], limit: f64) -> f64 {
    match granularity::step(&row.iter().copied()) {
        Some(step) => limit.min(step * (limit / step + 1e-6).floor()),
        None => limit,
    }
}

/// The power of two that brings the largest useful weight of a row near 1.
fn row_scale(row: &[f64], fits: &[bool]) -> f64 {
    let largest = row
        .iter()
        .zip(fits)
        .filter(|(_, fits)| **fits)
        .map(|(w, _)| *w)
        .fold(0.0, f64::max);
    power_of_two_near(largest)
}

/// The power of two whose product with a number lies in (0.5, 1], within reason; 1 for 0.
pub(super) fn power_of_two_near(number: f64) -> f64 {
    if number > 0.0 {
        (-number.log2().ceil()).clamp(-900.0, 900.0).exp2()
    } else {
        1.0
    }
}
