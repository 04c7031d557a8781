//! A good first choice: the linear programme rounded down, filled up, and improved by swaps.
//!
//! Filling takes the fitting item with the least reduced cost. A swap exchanges one chosen item for
//! a cheaper one that fits, the best pair first, followed by filling; ties go to the first pair
//! found.

use super::incumbent::KnapsackIncumbent;
use super::tableau::{KnapsackTableau, TableauInput};

/// Pairs looked at before swapping ends.
const MAX_SWAP_PAIRS: usize = 1_000_000;

/// Scratch memory of the heuristic.
#[derive(Debug, Clone, Default)]
pub(super) struct GreedyRounding {
    inside: Vec<u32>,
    /// Items left out, with their reduced costs.
    outside: Vec<(f64, u32)>,
    room: Vec<f64>,
}

impl GreedyRounding {
    /// Rounds a solved linear programme down and fills what is left.
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

    /// The same, improved by swaps among the undecided items.
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
            let Some((place, other)) = self.best_swap(source) else {
                break;
            };
            self.swap(source, place, other);
            self.fill(source);
        }
        best.offer(source, taken.iter().chain(&self.inside).copied());
    }

    fn load(&mut self, source: TableauInput, tableau: &KnapsackTableau) {
        self.inside.clear();
        self.outside.clear();
        self.room.clear();
        self.room.extend_from_slice(tableau.rest());
        for (code, reduced) in tableau.codes().iter().zip(tableau.reduced()) {
            if tableau.is_item(*code) {
                self.place(source, code.variable(), (code.complemented(), *reduced));
            }
        }
        for (code, value) in tableau.basics().iter().zip(tableau.values()) {
            if tableau.is_item(*code) {
                let full = if code.complemented() {
                    *value < 1e-9
                } else {
                    *value > 1.0 - 1e-9
                };
                self.place(source, code.variable(), (full, 0.0));
            }
        }
    }

    fn place(&mut self, source: TableauInput, item: usize, (full, reduced): (bool, f64)) {
        if full {
            self.inside.push(item as u32);
            let column = source.items.column(item);
            self.room
                .iter_mut()
                .zip(column)
                .for_each(|(room, weight)| *room -= weight);
        } else {
            self.outside.push((reduced, item as u32));
        }
    }

    fn fill(&mut self, source: TableauInput) {
        let fits = |room: &[f64], item: u32| {
            room.iter()
                .zip(source.items.column(item as usize))
                .all(|(r, w)| w <= r)
        };
        loop {
            let fitting = self
                .outside
                .iter()
                .enumerate()
                .filter(|(_, (_, item))| fits(&self.room, *item));
            let Some((place, _)) = fitting.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
                return;
            };
            let (_, item) = self.outside.swap_remove(place);
            self.place(source, item as usize, (true, 0.0));
        }
    }

    fn best_swap(&self, source: TableauInput) -> Option<(usize, usize)> {
        let mut found = None;
        let mut max = 1e-12;
        let rows = self.room.len();
        for (place, item) in self.inside.iter().enumerate() {
            let own = source.items.column(*item as usize);
            let cost = source.costs[*item as usize];
            for (other, (_, rival)) in self.outside.iter().enumerate() {
                let gain = cost - source.costs[*rival as usize];
                if gain > max {
                    let column = source.items.column(*rival as usize);
                    if (0..rows).all(|i| column[i] <= self.room[i] + own[i]) {
                        max = gain;
                        found = Some((place, other));
                    }
                }
            }
        }
        found
    }

    fn swap(&mut self, source: TableauInput, place: usize, other: usize) {
        let leaving = self.inside.swap_remove(place);
        let (_, entering) = self.outside.swap_remove(other);
        let column = source.items.column(leaving as usize);
        self.room
            .iter_mut()
            .zip(column)
            .for_each(|(room, weight)| *room += weight);
        self.outside.push((0.0, leaving));
        self.place(source, entering as usize, (true, 0.0));
    }
}
