//! Warm start of a knapsack instance: the last optimal selection and the dual prices of the
//! capacities.
//!
//! The cutoff of a warm search is the objective of the old selection under the new costs, but the
//! old selection is not its incumbent: nodes above the cutoff are pruned from the start, and the
//! search finds the selection again. That is sound for any change of the costs. Which of several
//! optimal selections a search finds depends on its path; a warm result is therefore returned only
//! if it is the unique optimum, and costs with a granularity, where ties are common, are solved
//! cold.
//!
//! The certificate: at any prices u ≤ 0 of the capacities b every selection x costs c·x ≥ u·b + Σ
//! min(0, r_j) + Σ |r_j| with the reduced costs r_j = c_j − u·w_j, the last sum over the items that
//! x chooses although r_j > 0 or omits although r_j < 0. Under the new costs and the old prices
//! only a few items can deviate in this way without a cost above that of the old selection; all
//! combinations that the bound does not exclude are enumerated. If no other combination is feasible
//! and as cheap, the old selection is still the unique optimum.

use super::KnapsackBranchAndBound;
use super::incumbent::min_improvement;
use super::items::KnapsackItems;
use crate::Solution;
use crate::warm_start::{WarmStart, WarmStartState};
use regretless_base::decision::Decision;

/// Combinations examined before the certificate is abandoned. A larger value certifies more
/// instances but takes longer if it fails; untuned.
const MAX_ALTERNATIVES: usize = 512;

/// An optimal selection and the dual prices of its root LP.
#[derive(Debug)]
pub(super) struct KnapsackWarmStart {
    chosen: Box<[u32]>,
    /// Dual price per dimension, never positive.
    prices: Box<[f64]>,
}

impl WarmStartState for KnapsackWarmStart {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.chosen) + size_of_val(&*self.prices)
    }
}

impl KnapsackWarmStart {
    pub(super) fn new(decision: &Decision, prices: &[f64]) -> Self {
        Self {
            chosen: decision.indices().into(),
            prices: prices.into(),
        }
    }

    /// Whether its sizes fit this knapsack.
    pub(super) fn fits(&self, items: &KnapsackItems) -> bool {
        let last = self.chosen.last().map_or(0, |last| *last as usize + 1);
        // The last row of the knapsack is the cardinality row, which has no price.
        self.prices.len() + 1 == items.rows() && last <= items.count()
    }

    /// Objective of the old selection under these costs.
    pub(super) fn cost(&self, costs: &[f64]) -> f64 {
        self.chosen.iter().map(|item| costs[*item as usize]).sum()
    }
}

impl KnapsackBranchAndBound {
    /// The selection of the warm start, if it is certified to be still the unique optimum.
    pub(super) fn certify_warm_start(
        &self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        let previous = warm_start
            .get::<KnapsackWarmStart>()
            .filter(|previous| previous.fits(&self.items))?;
        let cost = previous.cost(costs);
        let cutoff = cost + min_improvement(cost, 0.0);
        let (search, bound) = AlternativeSearch::new(&self.items, costs, previous);
        // The search gives up after many combinations; then nothing is certified.
        if search.has_alternative(bound, cutoff)? {
            return None;
        }
        let decision = Decision::from_indices(previous.chosen.iter().copied());
        Some(Solution::optimal(decision, cost))
    }
}

/// Enumerates the selections that the dual bound does not exclude.
struct AlternativeSearch<'a> {
    items: &'a KnapsackItems,
    costs: &'a [f64],
    previous: &'a KnapsackWarmStart,
    /// The current selection; at first the items of negative reduced cost.
    is_chosen: Vec<bool>,
    /// Items that fit alone, with the penalty of adding or removing them.
    flips: Vec<(f64, u32)>,
    /// Cost and loads of the current selection, up to rounding.
    cost: f64,
    loads: Vec<f64>,
    examined: usize,
}

/// Relative error of sums that are updated incrementally, with a wide margin; candidates within it
/// are recomputed exactly.
const SUM_TOLERANCE: f64 = 1e-11;

impl<'a> AlternativeSearch<'a> {
    /// The search and the dual bound.
    fn new(
        items: &'a KnapsackItems,
        costs: &'a [f64],
        previous: &'a KnapsackWarmStart,
    ) -> (Self, f64) {
        let mut bound = items.dual_value(&previous.prices);
        let mut search = Self {
            items,
            costs,
            previous,
            is_chosen: vec![false; costs.len()],
            flips: Vec::new(),
            cost: 0.0,
            loads: vec![0.0; previous.prices.len()],
            examined: 0,
        };
        let reduced_costs = items.reduced_costs(costs, &previous.prices);
        for (item, reduced) in reduced_costs.into_iter().enumerate() {
            if !items.fits(item) {
                continue;
            }
            // The dual bound: every item at its better bound under the prices.
            bound += reduced.min(0.0);
            search.flips.push((reduced.abs(), item as u32));
            if reduced < 0.0 {
                search.flip(item);
            }
        }
        (search, bound)
    }

    fn flip(&mut self, item: usize) {
        self.is_chosen[item] ^= true;
        let sign = if self.is_chosen[item] { 1.0 } else { -1.0 };
        self.cost += sign * self.costs[item];
        for (load, weight) in self.loads.iter_mut().zip(self.items.weights(item)) {
            *load += sign * weight;
        }
    }

    /// Whether another feasible selection costs less than the cutoff; `None` when there are too
    /// many to enumerate.
    fn has_alternative(mut self, bound: f64, cutoff: f64) -> Option<bool> {
        // Selections within the gap differ from the prices' choice by flips whose penalties sum to
        // less than the gap.
        let gap = cutoff - bound;
        self.flips.retain(|(penalty, _)| *penalty < gap);
        // The largest penalty first: it uses up the gap soonest.
        self.flips
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.search(0, gap, cutoff)
    }

    /// Enumerates the flips from a position on whose penalties fit into the remaining gap.
    fn search(&mut self, first: usize, gap: f64, cutoff: f64) -> Option<bool> {
        if gap <= 0.0 {
            return Some(false);
        }
        self.examined += 1;
        if self.examined > MAX_ALTERNATIVES {
            return None;
        }
        // Includes the selection without any flip.
        if self.is_alternative(cutoff) {
            return Some(true);
        }
        // Sorted by decreasing penalty: those before this position are too expensive.
        let affordable = self.flips.partition_point(|(penalty, _)| *penalty >= gap);
        for position in first.max(affordable)..self.flips.len() {
            let (penalty, item) = self.flips[position];
            self.flip(item as usize);
            let exists = self.search(position + 1, gap - penalty, cutoff);
            // Undone in the reverse order, with the rounding errors that `SUM_TOLERANCE` allows
            // for.
            self.flip(item as usize);
            if exists != Some(false) {
                return exists;
            }
        }
        Some(false)
    }

    fn is_alternative(&self, cutoff: f64) -> bool {
        let is_cheap = self.cost < cutoff + SUM_TOLERANCE * self.cost.abs();
        is_cheap
            && self.items.fits_within(&self.loads, SUM_TOLERANCE)
            && self.is_alternative_exactly(cutoff)
    }

    fn is_alternative_exactly(&self, cutoff: f64) -> bool {
        let chosen: Vec<u32> = (0..self.costs.len() as u32)
            .filter(|item| self.is_chosen[*item as usize])
            .collect();
        // Summed in the order of items, as the independent check sums.
        let cost: f64 = chosen.iter().map(|item| self.costs[*item as usize]).sum();
        cost < cutoff && chosen[..] != *self.previous.chosen && self.items.are_feasible(&chosen)
    }
}
