//! Primal heuristic: rounds the LP solution down, adds items greedily, and improves by swaps.
//!
//! The greedy step adds the fitting item with the smallest reduced cost. A swap exchanges one
//! chosen item for a cheaper one that fits, the pair of largest gain first, followed by greedy
//! steps; ties go to the first pair found.

use super::incumbent::KnapsackIncumbent;
use super::tableau::{KnapsackTableau, TableauInput};

/// Limit on the pairs examined by swaps: bounds the time of the heuristic to some milliseconds.
/// Untuned.
const MAX_SWAP_PAIRS: usize = 1_000_000;

/// Smallest gain of a swap, far below the objective tolerance: scaled costs are about 1.
const MIN_SWAP_GAIN: f64 = 1e-12;
/// Distance from 0 or 1 below which a basic item counts as integral; an item that is wrongly
/// rounded down may be added again.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;

/// How far the heuristic goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundingEffort {
    /// Items are added greedily.
    Greedy,
    /// The result is improved by swaps, too.
    Swaps,
}

/// Scratch memory of the heuristic.
#[derive(Debug, Clone, Default)]
pub(super) struct GreedyRounding {
    /// Chosen items that are not fixed.
    inside: Vec<u32>,
    /// Items not chosen, with their reduced costs.
    outside: Vec<(f64, u32)>,
    /// Remaining capacity of each row.
    slack: Vec<f64>,
}

impl GreedyRounding {
    /// Offers the LP solution of a node rounded down, with items added greedily and, if asked for,
    /// improved by swaps among the free items.
    pub(super) fn round(
        &mut self,
        input: TableauInput,
        tableau: &KnapsackTableau,
        fixed_items: &[u32],
        incumbent: &mut KnapsackIncumbent,
        effort: RoundingEffort,
    ) {
        self.load(input, tableau);
        self.fill(input);
        match effort {
            RoundingEffort::Greedy => {}
            RoundingEffort::Swaps => self.improve_by_swaps(input),
        }
        incumbent.offer(input, fixed_items.iter().chain(&self.inside).copied());
    }

    fn improve_by_swaps(&mut self, input: TableauInput) {
        let pairs = 1 + self.inside.len() * self.outside.len();
        // The number of swaps shrinks with the number of pairs, so the time is bounded.
        for _ in 0..1 + MAX_SWAP_PAIRS / pairs {
            let Some((inside, outside)) = self.best_swap(input) else {
                break;
            };
            self.swap(input, inside, outside);
            self.fill(input);
        }
    }

    /// Rounds the LP solution of a tableau down.
    fn load(&mut self, input: TableauInput, tableau: &KnapsackTableau) {
        self.inside.clear();
        self.outside.clear();
        self.slack.clear();
        // What is left after the items that are fixed at 1.
        self.slack.extend_from_slice(tableau.residual_rhs());
        for (variable, reduced) in tableau.nonbasics().iter().zip(tableau.reduced_costs()) {
            if tableau.is_item(*variable) {
                self.place(
                    input,
                    variable.index(),
                    variable.is_complemented(),
                    *reduced,
                );
            }
        }
        for (variable, value) in tableau.basics().iter().zip(tableau.values()) {
            if tableau.is_item(*variable) {
                // Basic items between 0 and 1 are rounded down, so they need no capacity.
                let is_chosen = if variable.is_complemented() {
                    *value < INTEGRALITY_TOLERANCE
                } else {
                    *value > 1.0 - INTEGRALITY_TOLERANCE
                };
                self.place(input, variable.index(), is_chosen, 0.0);
            }
        }
    }

    fn place(&mut self, input: TableauInput, item: usize, is_chosen: bool, reduced: f64) {
        if is_chosen {
            self.inside.push(item as u32);
            // Slacks are updated for every chosen item, also when its weight is 0.
            for (slack, weight) in self.slack.iter_mut().zip(input.items.column(item)) {
                *slack -= weight;
            }
        } else {
            self.outside.push((reduced, item as u32));
        }
    }

    /// Adds fitting items, the smallest reduced cost first.
    fn fill(&mut self, input: TableauInput) {
        let fits = |slack: &[f64], item: u32| {
            slack
                .iter()
                .zip(input.items.column(item as usize))
                .all(|(slack, weight)| weight <= slack)
        };
        loop {
            let fitting = self
                .outside
                .iter()
                .enumerate()
                .filter(|(_, (_, item))| fits(&self.slack, *item));
            // The smallest reduced cost promises the largest gain of the items that fit.
            let Some((index, _)) = fitting.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
                return;
            };
            let (_, item) = self.outside.swap_remove(index);
            self.place(input, item as usize, true, 0.0);
        }
    }

    fn best_swap(&self, input: TableauInput) -> Option<(usize, usize)> {
        let mut best = None;
        let mut max_gain = MIN_SWAP_GAIN;
        let rows = self.slack.len();
        for (inside, item) in self.inside.iter().enumerate() {
            let item_weights = input.items.column(*item as usize);
            let cost = input.costs[*item as usize];
            for (outside, (_, candidate)) in self.outside.iter().enumerate() {
                let gain = cost - input.costs[*candidate as usize];
                if gain > max_gain {
                    // A swap must fit after the item inside has left.
                    let column = input.items.column(*candidate as usize);
                    if (0..rows).all(|i| column[i] <= self.slack[i] + item_weights[i]) {
                        max_gain = gain;
                        best = Some((inside, outside));
                    }
                }
            }
        }
        best
    }

    fn swap(&mut self, input: TableauInput, inside: usize, outside: usize) {
        let leaving = self.inside.swap_remove(inside);
        let (_, entering) = self.outside.swap_remove(outside);
        let column = input.items.column(leaving as usize);
        for (slack, weight) in self.slack.iter_mut().zip(column) {
            *slack += weight;
        }
        // The reduced cost of an item that left is unknown: 0, that of a basic item.
        self.outside.push((0.0, leaving));
        self.place(input, entering as usize, true, 0.0);
    }
}
