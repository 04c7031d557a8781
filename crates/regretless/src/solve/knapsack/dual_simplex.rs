//! The bounded dual simplex method on a [`Tableau`].
//!
//! The basic variable furthest outside its bounds leaves; the nonbasic variable with the smallest
//! ratio of reduced cost to cell enters. Where an item would have to move by more than 1 it is
//! flipped to its other bound instead, and the next ratio is taken (the long-step rule), so a few
//! pivots are enough. The objective only rises: stopping early still leaves a valid bound. Ties of
//! ratios go to the lower position; after many pivots without an end the lowest-numbered choices
//! are taken (Bland's rule), which cannot cycle.

use std::cmp::Ordering;
use std::ops::Range;

use super::simd::{self, PIVOT_TOLERANCE};
use super::tableau::KnapsackTableau;

/// Columns from which on flips are looked for together at once.
const MIN_BATCH_FLIP_COLUMNS: usize = 64;
/// Flips looked for one by one before they are looked for together.
const MAX_SEQUENTIAL_FLIPS: usize = 8;
/// How far outside its bounds a basic variable may stay.
pub(super) const FEASIBILITY_TOLERANCE: f64 = 1e-10;

/// How a linear programme ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableauStatus {
    /// Cheapest point found.
    Solved,
    /// Nothing feasible, or nothing below the cutoff.
    CutOff,
    /// Too many pivots; the objective is a valid bound all the same.
    Stuck,
}

/// The method and its scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct DualSimplex {
    ratios: Vec<f64>,
    /// Ratios and columns, in order as far as needed.
    order: Vec<(f64, u32)>,
}

impl DualSimplex {
    /// Solves, or stops once the objective reaches the cutoff.
    pub(super) fn solve(&mut self, tableau: &mut KnapsackTableau, cutoff: f64) -> TableauStatus {
        let patience = 50 * tableau.rows() + 50;
        for step in 0..4 * patience {
            let careful = step > patience;
            let Some((row, above)) = worst_row(tableau, careful) else {
                return TableauStatus::Solved;
            };
            if above {
                tableau.complement(row);
            }
            match self.pivot_out(tableau, row) {
                TableauStatus::Solved if tableau.objective() >= cutoff => {
                    return TableauStatus::CutOff;
                }
                TableauStatus::Solved => {}
                TableauStatus::CutOff => return TableauStatus::CutOff,
                TableauStatus::Stuck => return TableauStatus::Stuck,
            }
        }
        TableauStatus::Stuck
    }

    /// Drives a basic variable, which is below 0, out of the basis.
    pub(super) fn pivot_out(&mut self, tableau: &mut KnapsackTableau, row: usize) -> TableauStatus {
        simd::ratios(tableau, row, &mut self.ratios);
        match self.choose(tableau, row) {
            Some(position) => {
                tableau.pivot(row, position);
                TableauStatus::Solved
            }
            None if -tableau.values()[row]
                > FEASIBILITY_TOLERANCE + sub_tolerance_contribution(tableau, row) =>
            {
                TableauStatus::CutOff
            }
            None => TableauStatus::Stuck,
        }
    }

    /// The entering position; items passed on the way are flipped.
    fn choose(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Option<usize> {
        let patience = if tableau.width() > MIN_BATCH_FLIP_COLUMNS {
            1
        } else {
            MAX_SEQUENTIAL_FLIPS
        };
        for flips in 0.. {
            if flips == patience {
                let last = self.flip_many(tableau, row);
                if let Some(position) = self.choose_among(tableau, row, last) {
                    return Some(position);
                }
            }
            let position = simd::argmin(&self.ratios)?;
            if self.covers_or_flips(tableau, row, position) {
                return Some(position);
            }
        }
        None
    }

    /// Whether a column covers all that a row still needs; if not it is flipped.
    fn covers_or_flips(
        &mut self,
        tableau: &mut KnapsackTableau,
        row: usize,
        position: usize,
    ) -> bool {
        let covers = tableau.values()[row] + reach(tableau, row, position) >= 0.0;
        if !covers {
            self.ratios[position] = f64::INFINITY;
            tableau.flip(position);
        }
        covers
    }

    /// Flips all but the last few items that have to be flipped, found by halving; returns where
    /// the last few stand in the order.
    fn flip_many(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Range<usize> {
        self.order.clear();
        let open = self
            .ratios
            .iter()
            .enumerate()
            .filter(|(_, ratio)| **ratio < f64::INFINITY);
        self.order
            .extend(open.map(|(at, ratio)| (*ratio, at as u32)));
        let mut rest = 0..self.order.len();
        while rest.len() > MAX_SEQUENTIAL_FLIPS {
            let middle = rest.start + rest.len() / 2;
            self.order[rest.clone()].select_nth_unstable_by(middle - rest.start, by_ratio);
            let near = &self.order[rest.start..middle];
            let covered: f64 = near
                .iter()
                .map(|(_, at)| reach(tableau, row, *at as usize))
                .sum();
            if tableau.values()[row] + covered >= 0.0 {
                rest.end = middle;
            } else {
                for (_, at) in near {
                    self.ratios[*at as usize] = f64::INFINITY;
                    tableau.flip(*at as usize);
                }
                rest.start = middle;
            }
        }
        rest
    }

    /// Goes through a few columns in order of ratio until one covers the need.
    fn choose_among(
        &mut self,
        tableau: &mut KnapsackTableau,
        row: usize,
        few: Range<usize>,
    ) -> Option<usize> {
        self.order[few.clone()].sort_unstable_by(by_ratio);
        for at in few {
            let position = self.order[at].1 as usize;
            if self.covers_or_flips(tableau, row, position) {
                return Some(position);
            }
        }
        None
    }
}

fn by_ratio(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// How much of a row's need a column covers by going all the way.
fn reach(tableau: &KnapsackTableau, row: usize, position: usize) -> f64 {
    if tableau.steps()[position] > 0.0 {
        tableau.row(row)[position].abs()
    } else {
        f64::INFINITY
    }
}

/// What the cells that are too small to pivot on could still cover.
fn sub_tolerance_contribution(tableau: &KnapsackTableau, row: usize) -> f64 {
    let cells = tableau.row(row).iter().zip(tableau.steps());
    let small = cells.filter(|(cell, _)| **cell < -1e-13 && **cell >= -PIVOT_TOLERANCE);
    small
        .map(|(cell, step)| if *step > 0.0 { -cell } else { f64::INFINITY })
        .sum()
}

/// How far the worst basic variable is out of bounds.
pub(super) fn worst_violation(tableau: &KnapsackTableau) -> f64 {
    let bounded = tableau.values().iter().zip(tableau.uppers());
    bounded
        .map(|(value, upper)| (-value).max(value - upper))
        .fold(0.0, f64::max)
}

/// The basic variable furthest out of bounds, and whether it is above; the first one when careful.
fn worst_row(tableau: &KnapsackTableau, careful: bool) -> Option<(usize, bool)> {
    let mut worst = (FEASIBILITY_TOLERANCE, None);
    for (row, (value, upper)) in tableau.values().iter().zip(tableau.uppers()).enumerate() {
        let (below, above) = (-value, value - upper);
        let outside = below.max(above);
        if outside > worst.0 {
            worst = (outside, Some((row, above > below)));
            if careful {
                break;
            }
        }
    }
    worst.1
}
