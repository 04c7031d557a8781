//! The items of one knapsack, scaled for the simplex method, and the exact feasibility check.
//!
//! A load may exceed its capacity by `1e-9 · max(capacity, 1)`, so decimal weights whose exact sum
//! equals the capacity fit although their binary sum is slightly larger. The LP uses the same
//! capacity plus tolerance, or the largest load within it that weights with a granularity can sum
//! to: no feasible selection is excluded. Rows are scaled by powers of two, which is exact.

use crate::dense_tableau::find_granularity;

/// Relative tolerance of a capacity (absolute below 1).
const CAPACITY_TOLERANCE: f64 = 1e-9;
/// Relative margin of the LP's right-hand sides over the exact check: sums round, and the LP must
/// not be tighter than the check.
const RHS_MARGIN: f64 = 1e-12;
/// Fraction of the weights' granularity by which a capacity may be below a multiple of it and still
/// count as that multiple.
const GRANULARITY_TOLERANCE: f64 = 1e-6;
/// Largest absolute exponent of a scale, well within the range of `f64`.
const MAX_SCALE_EXPONENT: f64 = 900.0;

/// Weights and capacities of one solver.
#[derive(Debug, Clone)]
pub(super) struct KnapsackItems {
    count: usize,
    weights: Vec<Vec<f64>>,
    /// Granularity of the weights per dimension, if they have one.
    granularities: Vec<Option<f64>>,
    /// Capacity plus tolerance per dimension.
    limits: Vec<f64>,
    /// Per item its scaled weights, then the 1 of the cardinality row.
    columns: Vec<f64>,
    /// Scale of the weights per dimension.
    scales: Vec<f64>,
    /// Scaled reachable limits, then the right-hand side of the cardinality row.
    rhs: Vec<f64>,
    /// The same without tolerance, for the linear relaxation.
    strict_rhs: Vec<f64>,
    /// Whether an item fits into the empty knapsack.
    fits: Vec<bool>,
}

impl KnapsackItems {
    pub(super) fn new(weights: &[Vec<f64>], capacity: &[f64]) -> Self {
        let granularity = |row: &Vec<f64>| find_granularity(&row.iter().copied());
        let mut items = Self {
            count: weights.first().map_or(0, Vec::len),
            weights: weights.to_vec(),
            granularities: weights.iter().map(granularity).collect(),
            limits: Vec::new(),
            columns: Vec::new(),
            scales: Vec::new(),
            rhs: Vec::new(),
            strict_rhs: Vec::new(),
            fits: Vec::new(),
        };
        items.set_capacity(capacity);
        items
    }

    /// Changes the capacities: what follows from the weights alone is kept.
    pub(super) fn set_capacity(&mut self, capacity: &[f64]) {
        self.limits.clear();
        let with_tolerance = |capacity: &f64| capacity + CAPACITY_TOLERANCE * capacity.max(1.0);
        self.limits.extend(capacity.iter().map(with_tolerance));
        // The scales depend on the weights of items that fit, which a new capacity changes.
        if self.update_fits() {
            self.scale_columns();
        }
        self.rhs.clear();
        self.strict_rhs.clear();
        for (row, capacity) in capacity.iter().enumerate() {
            let scale = self.scales[row];
            let reachable = reachable(self.granularities[row], self.limits[row]);
            // The integer model rounds the capacity down to what sums of weights can reach, which
            // tightens its LP.
            self.rhs.push(reachable * scale * (1.0 + RHS_MARGIN));
            self.strict_rhs.push(capacity * scale);
        }
        // One more than the number of items never binds.
        self.rhs.push(self.count as f64 + 1.0);
        self.strict_rhs.push(self.count as f64 + 1.0);
    }

    /// Finds the items that fit; whether they are others than before.
    fn update_fits(&mut self) -> bool {
        let is_new = self.fits.len() != self.count;
        self.fits.resize(self.count, false);
        let mut has_changed = is_new;
        for (j, fits) in self.fits.iter_mut().enumerate() {
            let mut rows = self.weights.iter().zip(&self.limits);
            let fits_now = rows.all(|(row, limit)| row[j] <= *limit);
            has_changed |= fits_now != *fits;
            *fits = fits_now;
        }
        has_changed
    }

    /// Scales the weights by the items that fit.
    fn scale_columns(&mut self) {
        self.scales.clear();
        let rows = self.weights.iter();
        self.scales
            .extend(rows.map(|row| row_scale(row, &self.fits)));
        self.columns.clear();
        for j in 0..self.count {
            let rows = self.weights.iter().zip(&self.scales);
            self.columns.extend(rows.map(|(row, scale)| row[j] * scale));
            self.columns.push(1.0);
        }
    }

    /// Whether these are the weights.
    pub(super) fn has_weights(&self, weights: &[Vec<f64>]) -> bool {
        self.weights == weights
    }

    /// The weights of the only dimension, their granularity and the capacity plus tolerance; none
    /// if there are several dimensions or no granularity.
    pub(super) fn only_row(&self) -> Option<(&[f64], f64, f64)> {
        match (self.weights.as_slice(), self.granularities.as_slice()) {
            ([row], [Some(granularity)]) => Some((row, *granularity, self.limits[0])),
            _ => None,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Rows of the LP: one per dimension, and the cardinality row.
    pub(super) fn rows(&self) -> usize {
        self.limits.len() + 1
    }

    /// The scaled weights of an item, then 1.
    pub(super) fn column(&self, item: usize) -> &[f64] {
        &self.columns[item * self.rows()..][..self.rows()]
    }

    /// Right-hand sides of all rows; the cardinality row binds only after the number of items is
    /// fixed.
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

    /// Whether a fraction of an item fits: its weight is 0 in dimensions without capacity.
    pub(super) fn fits_fractionally(&self, item: usize) -> bool {
        self.column(item)
            .iter()
            .zip(&self.strict_rhs)
            // Without capacity, even a fraction of a heavier item is infeasible; the tableau could
            // not pivot on it.
            .all(|(weight, rhs)| *weight == 0.0 || *rhs > 0.0)
    }

    /// Whether an item's weight is 0 in all dimensions.
    pub(super) fn is_weightless(&self, item: usize) -> bool {
        let column = self.column(item);
        column[..column.len() - 1]
            .iter()
            .all(|weight| *weight == 0.0)
    }

    /// Reduced costs at these duals.
    pub(super) fn reduced_costs(&self, costs: &[f64], duals: &[f64]) -> Vec<f64> {
        let mut reduced_costs = Vec::with_capacity(costs.len());
        for (j, cost) in costs.iter().enumerate() {
            let prices = self.weights.iter().zip(duals);
            let price: f64 = prices.map(|(row, dual)| dual * row[j]).sum();
            reduced_costs.push(cost - price);
        }
        reduced_costs
    }

    /// Dual objective of the capacities, tolerance included.
    pub(super) fn dual_value(&self, prices: &[f64]) -> f64 {
        let limits = self.limits.iter().zip(prices);
        limits.map(|(limit, price)| limit * price).sum()
    }

    /// The weights of an item, one per dimension.
    pub(super) fn weights(&self, item: usize) -> impl Iterator<Item = f64> + '_ {
        self.weights.iter().map(move |row| row[item])
    }

    /// Whether loads fit, given the relative rounding error of their sums.
    pub(super) fn fits_within(&self, loads: &[f64], rounding: f64) -> bool {
        loads
            .iter()
            .zip(&self.limits)
            // The loads were summed in another order than the exact check sums them.
            .all(|(load, limit)| *load <= limit + rounding * (limit + load))
    }

    /// Lowers the dual of a dimension without capacity until no reduced cost of its items is
    /// negative: the objective does not change, and the duals become feasible.
    pub(super) fn make_duals_of_zero_capacities_feasible(
        &self,
        duals: &mut [f64],
        reduced_costs: &mut [f64],
    ) {
        for (row, (weights, rhs)) in self.weights.iter().zip(&self.strict_rhs).enumerate() {
            if *rhs > 0.0 {
                continue;
            }
            let mut change = 0.0_f64;
            for (weight, reduced) in weights.iter().zip(&*reduced_costs) {
                if *weight > 0.0 {
                    change = change.min(reduced / weight);
                }
            }
            duals[row] += change;
            for (weight, reduced) in weights.iter().zip(&mut *reduced_costs) {
                *reduced -= change * weight;
            }
        }
    }

    /// Whether these items, in increasing order, are feasible: summed as the independent check
    /// does.
    pub(super) fn are_feasible(&self, chosen: &[u32]) -> bool {
        let load = |row: &Vec<f64>| chosen.iter().map(|j| row[*j as usize]).sum::<f64>();
        self.weights
            .iter()
            .zip(&self.limits)
            .all(|(row, limit)| load(row) <= *limit)
    }
}

/// The largest load within a limit that sums of weights with this granularity can reach.
fn reachable(granularity: Option<f64>, limit: f64) -> f64 {
    match granularity {
        Some(granularity) => {
            // The tolerance keeps rounding from losing a multiple that is reached.
            let multiples = (limit / granularity + GRANULARITY_TOLERANCE).floor();
            limit.min(granularity * multiples)
        }
        None => limit,
    }
}

/// The power of two that scales the largest weight of a row, among items that fit, to about 1.
fn row_scale(row: &[f64], fits: &[bool]) -> f64 {
    let mut largest = 0.0_f64;
    for (weight, fits) in row.iter().zip(fits) {
        if *fits {
            largest = largest.max(*weight);
        }
    }
    scale_to_unit(largest)
}

/// The power of two whose product with a number lies in (0.5, 1], up to its exponent limit; 1 for
/// the number 0.
pub(super) fn scale_to_unit(number: f64) -> f64 {
    if number > 0.0 {
        // A power of two: scaling changes no digit of a weight.
        (-number.log2().ceil())
            .clamp(-MAX_SCALE_EXPONENT, MAX_SCALE_EXPONENT)
            .exp2()
    } else {
        1.0
    }
}
