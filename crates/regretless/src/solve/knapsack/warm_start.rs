//! What a knapsack search keeps of an instance: what was chosen, and what the capacities were
//! worth.
//!
//! A warm search is told that something at most as dear as the old choice exists, not what it is:
//! whatever cannot get there is dropped from the start, and the choice is found by the search
//! itself. That is sound for any drift, so none is too large. Which of several best choices a
//! search finds depends on its way; a choice is therefore given from memory only if it is the only
//! one, and costs on a grid, where ties abound, are solved from nothing.
//!
//! The certificate: at any prices u ≤ 0 of the capacities b every choice x costs c·x ≥ u·b + Σ
//! min(0, r_j) + Σ |r_j| over the items on the wrong side of r_j = c_j − u·w_j. Under the new costs
//! and the old prices only a few items can change sides without costing more than the old choice;
//! these are tried out, all combinations that the bound leaves open. If none but the old choice
//! fits and is as cheap, that is the best.

use super::KnapsackBranchAndBound;
use super::incumbent::min_improvement;
use super::items::KnapsackItems;
use crate::decision::Decision;
use crate::solve::Solution;
use crate::solve::warm_start::{WarmStart, WarmStartState};

/// Combinations tried before a proof is given up.
const MAX_ALTERNATIVES: usize = 512;

/// A choice and the prices at which it was found.
#[derive(Debug)]
pub(super) struct KnapsackWarmStart {
    chosen: Box<[u32]>,
    /// Per dimension, never positive.
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

    /// Whether it can be of this knapsack.
    pub(super) fn fits(&self, items: &KnapsackItems) -> bool {
        let last = self.chosen.last().map_or(0, |last| *last as usize + 1);
        self.prices.len() + 1 == items.rows() && last <= items.count()
    }

    /// What the old choice costs now.
    pub(super) fn cost(&self, costs: &[f64]) -> f64 {
        self.chosen.iter().map(|item| costs[*item as usize]).sum()
    }
}

impl KnapsackBranchAndBound {
    /// The choice in memory, if it is proved to be still the cheapest.
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
        let (trial, bound) = AlternativeSearch::new((&self.items, costs), known);
        let rivalled = trial.has_alternative(bound, cutoff)?;
        (!rivalled)
            .then(|| Solution::optimal(Decision::from_indices(known.chosen.iter().copied()), cost))
    }
}

/// All choices that the prices cannot rule out.
struct AlternativeSearch<'a> {
    items: &'a KnapsackItems,
    costs: &'a [f64],
    known: &'a KnapsackWarmStart,
    /// The choice in hand: at first items on the side their reduced cost wants.
    inside: Vec<bool>,
    /// What it costs at least to put an item on its other side; items that never fit are left out.
    flips: Vec<(f64, u32)>,
    /// Cost and loads of the choice in hand, up to rounding.
    cost: f64,
    loads: Vec<f64>,
    tried: usize,
}

/// Sums that were changed back and forth are trusted up to this share.
const SUM_TOLERANCE: f64 = 1e-11;

impl<'a> AlternativeSearch<'a> {
    /// The trial and the bound that the prices give.
    fn new(
        (items, costs): (&'a KnapsackItems, &'a [f64]),
        known: &'a KnapsackWarmStart,
    ) -> (Self, f64) {
        let mut bound = items.dual_value(&known.prices);
        let (inside, loads) = (vec![false; costs.len()], vec![0.0; known.prices.len()]);
        let mut trial = Self {
            items,
            costs,
            known,
            inside,
            flips: Vec::new(),
            cost: 0.0,
            loads,
            tried: 0,
        };
        let reduced = items
            .reduced_costs(costs, &known.prices)
            .into_iter()
            .enumerate();
        for (item, reduced) in reduced.filter(|(item, _)| items.fits(*item)) {
            bound += reduced.min(0.0);
            trial.flips.push((reduced.abs(), item as u32));
            if reduced < 0.0 {
                trial.flip(item);
            }
        }
        (trial, bound)
    }

    fn flip(&mut self, item: usize) {
        self.inside[item] ^= true;
        let sign = if self.inside[item] { 1.0 } else { -1.0 };
        self.cost += sign * self.costs[item];
        self.loads
            .iter_mut()
            .zip(self.items.weights(item))
            .for_each(|(load, weight)| *load += sign * weight);
    }

    /// Whether another choice that fits costs less than the level; `None` when there are too many
    /// to try.
    fn has_alternative(mut self, bound: f64, cutoff: f64) -> Option<bool> {
        let room = cutoff - bound;
        self.flips.retain(|(penalty, _)| *penalty < room);
        // The dearest first: then a branch ends soon.
        self.flips
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.search(0, room, cutoff)
    }

    /// Tries the flips from a place on, as long as they cost less than the room that is left.
    fn search(&mut self, from: usize, room: f64, cutoff: f64) -> Option<bool> {
        if room <= 0.0 {
            return Some(false);
        }
        self.tried += 1;
        if self.tried > MAX_ALTERNATIVES {
            return None;
        }
        if self.is_alternative(cutoff) {
            return Some(true);
        }
        let affordable = self.flips.partition_point(|(penalty, _)| *penalty >= room);
        for place in from.max(affordable)..self.flips.len() {
            let (penalty, item) = self.flips[place];
            self.flip(item as usize);
            let rivalled = self.search(place + 1, room - penalty, cutoff);
            self.flip(item as usize);
            if rivalled != Some(false) {
                return rivalled;
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
            .filter(|item| self.inside[*item as usize])
            .collect();
        let cost: f64 = chosen.iter().map(|item| self.costs[*item as usize]).sum();
        cost < cutoff && chosen[..] != *self.known.chosen && self.items.holds(&chosen)
    }
}
