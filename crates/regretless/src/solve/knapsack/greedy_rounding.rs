//! Primal heuristic: rounds the LP solution down, adds items greedily, and improves by swaps.
//!
//! The greedy step adds the fitting item with the smallest reduced cost. A swap exchanges one
//! chosen item for a cheaper one that fits, the best pair first, followed by greedy steps; ties go
//! to the first pair found.

use super::incumbent::KnapsackIncumbent;
use super::tableau::{KnapsackTableau, TableauInput};

/// Limit on the pairs examined by swaps: bounds the time of the heuristic to some milliseconds.
/// Untuned.
const MAX_SWAP_PAIRS: usize = 1_000_000;

/// Smallest gain of a swap, far below the objective tolerance: scaled costs are about 1.
const MIN_SWAP_GAIN: f64 = 1e-12;
/// Distance from 0 or 1 below which a basic item counts as integral; a misjudged item is left out
/// and may be added again.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;

/// Scratch memory of the heuristic.
#[derive(Debug, Clone, Default)]
pub(super) struct GreedyRounding {
    inside: Vec<u32>,
    /// Items not chosen, with their reduced costs.
    outside: Vec<(f64, u32)>,
    slack: Vec<f64>,
}

impl GreedyRounding {
    /// Offers the LP solution of a node rounded down, with items added greedily.
    pub(super) fn round(
        &mut self,
        source: TableauInput,
        tableau: &KnapsackTableau,
        taken: &[u32],
        best: &mut KnapsackIncumbent,
    ) {
        self.load(source, tableau);
        self.fill(source);
        best.offer(source, taken.iter().chain(&self.inside).copied());
    }

    /// The same, improved by swaps among the free items.
    pub(super) fn polish(
        &mut self,
        source: TableauInput,
        tableau: &KnapsackTableau,
        taken: &[u32],
        best: &mut KnapsackIncumbent,
    ) {
        self.load(source, tableau);
        self.fill(source);
        let pairs = 1 + self.inside.len() * self.outside.len();
        for _ in 0..1 + MAX_SWAP_PAIRS / pairs {
            let Some((inside, outside)) = self.best_swap(source) else {
                break;
            };
            self.swap(source, inside, outside);
            self.fill(source);
        }
        best.offer(source, taken.iter().chain(&self.inside).copied());
    }

    fn load(&mut self, source: TableauInput, tableau: &KnapsackTableau) {
        self.inside.clear();
        self.outside.clear();
        self.slack.clear();
        self.slack.extend_from_slice(tableau.rest());
        for (code, reduced) in tableau.codes().iter().zip(tableau.reduced()) {
            if tableau.is_item(*code) {
                self.place(source, code.variable(), code.complemented(), *reduced);
            }
        }
        for (code, value) in tableau.basics().iter().zip(tableau.values()) {
            if tableau.is_item(*code) {
                let is_chosen = if code.complemented() {
                    *value < INTEGRALITY_TOLERANCE
                } else {
                    *value > 1.0 - INTEGRALITY_TOLERANCE
                };
                self.place(source, code.variable(), is_chosen, 0.0);
            }
        }
    }

    fn place(&mut self, source: TableauInput, item: usize, is_chosen: bool, reduced: f64) {
        if is_chosen {
            self.inside.push(item as u32);
            for (slack, weight) in self.slack.iter_mut().zip(source.items.column(item)) {
                *slack -= weight;
            }
        } else {
            self.outside.push((reduced, item as u32));
        }
    }

    fn fill(&mut self, source: TableauInput) {
        let fits = |slack: &[f64], item: u32| {
            slack
                .iter()
                .zip(source.items.column(item as usize))
                .all(|(r, w)| w <= r)
        };
        loop {
            let fitting = self
                .outside
                .iter()
                .enumerate()
                .filter(|(_, (_, item))| fits(&self.slack, *item));
            let Some((index, _)) = fitting.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
                return;
            };
            let (_, item) = self.outside.swap_remove(index);
            self.place(source, item as usize, true, 0.0);
        }
    }

    fn best_swap(&self, source: TableauInput) -> Option<(usize, usize)> {
        let mut found = None;
        let mut max = MIN_SWAP_GAIN;
        let rows = self.slack.len();
        for (inside, item) in self.inside.iter().enumerate() {
            let own = source.items.column(*item as usize);
            let cost = source.costs[*item as usize];
            for (outside, (_, candidate)) in self.outside.iter().enumerate() {
                let gain = cost - source.costs[*candidate as usize];
                if gain > max {
                    let column = source.items.column(*candidate as usize);
                    if (0..rows).all(|i| column[i] <= self.slack[i] + own[i]) {
                        max = gain;
                        found = Some((inside, outside));
                    }
                }
            }
        }
        found
    }

    fn swap(&mut self, source: TableauInput, inside: usize, outside: usize) {
        let leaving = self.inside.swap_remove(inside);
        let (_, entering) = self.outside.swap_remove(outside);
        let column = source.items.column(leaving as usize);
        for (slack, weight) in self.slack.iter_mut().zip(column) {
            *slack += weight;
        }
        self.outside.push((0.0, leaving));
        self.place(source, entering as usize, true, 0.0);
    }
}
