//! Warm start of a knapsack instance: the last optimal choice and the dual prices of the
//! capacities.
//!
//! A warm search gets the objective of the old choice under the new costs as its cutoff, and not
//! the choice itself: nodes that cannot reach it are pruned from the start, and the search finds
//! the choice again. That is sound for any change of the costs. Which of several optimal choices a
//! search finds depends on its path; a warm result is therefore returned only if it is the unique
//! optimum, and costs with a granularity, where ties are common, are solved cold.
//!
//! The certificate: at any prices u ≤ 0 of the capacities b every choice x costs c·x ≥ u·b + Σ
//! min(0, r_j) + Σ |r_j|, the last sum over the items on the wrong side of r_j = c_j − u·w_j. Under
//! the new costs and the old prices only a few items can change sides without costing more than the
//! old choice; all combinations that the bound leaves open are enumerated. If no other combination
//! is feasible and as cheap, the old choice is still the unique optimum.

use super::KnapsackBranchAndBound;
use super::incumbent::min_improvement;
use super::items::KnapsackItems;
use crate::decision::Decision;
use crate::solve::Solution;
use crate::solve::warm_start::{WarmStart, WarmStartState};

/// Combinations examined before the certificate is abandoned. Trades the time of failed
/// certificates against solves; untuned.
const MAX_ALTERNATIVES: usize = 512;

/// An optimal choice and the dual prices of its root LP.
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
        self.prices.len() + 1 == items.rows() && last <= items.count()
    }

    /// Objective of the old choice under these costs.
    pub(super) fn cost(&self, costs: &[f64]) -> f64 {
        self.chosen.iter().map(|item| costs[*item as usize]).sum()
    }
}

impl KnapsackBranchAndBound {
    /// The choice of the warm start, if it is certified to be still the unique optimum.
    pub(super) fn certify_warm_start(
        &self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        let known = warm_start
            .get::<KnapsackWarmStart>()
            .filter(|known| known.fits(&self.items))?;
        let cost = known.cost(costs);
        let cutoff = cost + min_improvement(cost, 0.0);
        let (search, bound) = AlternativeSearch::new(&self.items, costs, known);
        if search.has_alternative(bound, cutoff)? {
            return None;
        }
        let decision = Decision::from_indices(known.chosen.iter().copied());
        Some(Solution::optimal(decision, cost))
    }
}

/// Enumerates the choices that the dual bound does not exclude.
struct AlternativeSearch<'a> {
    items: &'a KnapsackItems,
    costs: &'a [f64],
    known: &'a KnapsackWarmStart,
    /// The current choice; at first every item is on the side of its reduced cost.
    is_chosen: Vec<bool>,
    /// Penalty of moving an item to its other side; items that never fit are left out.
    flips: Vec<(f64, u32)>,
    /// Cost and loads of the current choice, up to rounding.
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
        known: &'a KnapsackWarmStart,
    ) -> (Self, f64) {
        let mut bound = items.dual_value(&known.prices);
        let mut search = Self {
            items,
            costs,
            known,
            is_chosen: vec![false; costs.len()],
            flips: Vec::new(),
            cost: 0.0,
            loads: vec![0.0; known.prices.len()],
            examined: 0,
        };
        let reduced_costs = items.reduced_costs(costs, &known.prices);
        for (item, reduced) in reduced_costs.into_iter().enumerate() {
            if !items.fits(item) {
                continue;
            }
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

    /// Whether another feasible choice costs less than the cutoff; `None` when there are too many
    /// to enumerate.
    fn has_alternative(mut self, bound: f64, cutoff: f64) -> Option<bool> {
        let gap = cutoff - bound;
        self.flips.retain(|(penalty, _)| *penalty < gap);
        // The largest penalty first: it closes the gap soonest.
        self.flips
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.search(0, gap, cutoff)
    }

    /// Enumerates the flips from a position on whose penalties fit into the remaining gap.
    fn search(&mut self, from: usize, gap: f64, cutoff: f64) -> Option<bool> {
        if gap <= 0.0 {
            return Some(false);
        }
        self.examined += 1;
        if self.examined > MAX_ALTERNATIVES {
            return None;
        }
        if self.is_alternative(cutoff) {
            return Some(true);
        }
        let affordable = self.flips.partition_point(|(penalty, _)| *penalty >= gap);
        for position in from.max(affordable)..self.flips.len() {
            let (penalty, item) = self.flips[position];
            self.flip(item as usize);
            let found = self.search(position + 1, gap - penalty, cutoff);
            self.flip(item as usize);
            if found != Some(false) {
                return found;
            }
        }
        Some(false)
    }

    fn is_alternative(&self, cutoff: f64) -> bool {
        let cheap = self.cost < cutoff + SUM_TOLERANCE * self.cost.abs();
        cheap
            && self.items.fits_within(&self.loads, SUM_TOLERANCE)
            && self.is_alternative_exactly(cutoff)
    }

    fn is_alternative_exactly(&self, cutoff: f64) -> bool {
        let chosen: Vec<u32> = (0..self.costs.len() as u32)
            .filter(|item| self.is_chosen[*item as usize])
            .collect();
        let cost: f64 = chosen.iter().map(|item| self.costs[*item as usize]).sum();
        cost < cutoff && chosen[..] != *self.known.chosen && self.items.holds(&chosen)
    }
}
