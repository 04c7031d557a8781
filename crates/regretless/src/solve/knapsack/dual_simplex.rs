//! The bounded dual simplex method on a [`KnapsackTableau`].
//!
//! The basic variable with the largest bound violation leaves; the nonbasic variable with the
//! smallest ratio of reduced cost to cell enters (ratio test). An item that would have to move by
//! more than 1 is flipped to its other bound instead, and the next ratio is taken (bound flipping,
//! the long-step rule), so a few pivots suffice. The objective never decreases: stopping early
//! leaves a valid lower bound. Ties of ratios go to the lower position; after many pivots the
//! first violated row leaves (as in Bland's rule), which ends cycles.

use std::cmp::Ordering;
use std::ops::Range;

use super::simd::{self, PIVOT_TOLERANCE};
use super::tableau::KnapsackTableau;
use crate::solve::dense_tableau::TableauStatus;

/// Number of columns above which all flips of a pivot are found by one selection instead of one
/// minimum search each: it trades the allocation of an order for repeated passes over all ratios.
const MIN_BATCH_FLIP_COLUMNS: usize = 64;
/// Flips found one by one, in narrow tableaus and among the last candidates of a selection; for so
/// few, a minimum search is cheaper than a partition.
const MAX_SEQUENTIAL_FLIPS: usize = 8;
/// Bound violation that a basic variable may keep; values are scaled to about 1.
pub(super) const FEASIBILITY_TOLERANCE: f64 = 1e-10;

/// Pivots per row before the careful rule, and a constant part for small tableaus; untuned: far
/// above what a solve needs. Four times as many pivots end a solve.
const CAREFUL_AFTER_PIVOTS: usize = 50;
/// Cells at least this small cannot cover any violation.
const NEGLIGIBLE_CELL: f64 = 1e-13;

/// The method with its scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct DualSimplex {
    ratios: Vec<f64>,
    /// Ratios and columns, sorted as far as needed.
    order: Vec<(f64, u32)>,
}

impl DualSimplex {
    /// Reoptimizes, or stops when the objective reaches the cutoff.
    pub(super) fn solve(&mut self, tableau: &mut KnapsackTableau, cutoff: f64) -> TableauStatus {
        let limit = CAREFUL_AFTER_PIVOTS * (tableau.rows() + 1);
        for step in 0..4 * limit {
            let careful = step > limit;
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

    /// Drives a negative basic variable out of the basis.
    pub(super) fn pivot_out(&mut self, tableau: &mut KnapsackTableau, row: usize) -> TableauStatus {
        simd::ratios(tableau, row, &mut self.ratios);
        match self.choose_entering(tableau, row) {
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

    /// The position of the entering variable; items passed on the way are flipped.
    fn choose_entering(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Option<usize> {
        let max_flips = if tableau.width() > MIN_BATCH_FLIP_COLUMNS {
            1
        } else {
            MAX_SEQUENTIAL_FLIPS
        };
        for flips in 0.. {
            if flips == max_flips {
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

    /// Whether a column covers the remaining violation of a row; otherwise it is flipped.
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

    /// Flips all but the last few items that have to be flipped, found by bisection with partial
    /// sorting; returns the range of the last few in the order.
    fn flip_many(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Range<usize> {
        self.order.clear();
        for (position, ratio) in self.ratios.iter().enumerate() {
            if *ratio < f64::INFINITY {
                self.order.push((*ratio, position as u32));
            }
        }
        let mut rest = 0..self.order.len();
        while rest.len() > MAX_SEQUENTIAL_FLIPS {
            let middle = rest.start + rest.len() / 2;
            self.order[rest.clone()].select_nth_unstable_by(middle - rest.start, by_ratio);
            let near = &self.order[rest.start..middle];
            let covered: f64 = near
                .iter()
                .map(|(_, position)| reach(tableau, row, *position as usize))
                .sum();
            if tableau.values()[row] + covered >= 0.0 {
                rest.end = middle;
            } else {
                for (_, position) in near {
                    self.ratios[*position as usize] = f64::INFINITY;
                    tableau.flip(*position as usize);
                }
                rest.start = middle;
            }
        }
        rest
    }

    /// Tries a few columns in order of ratio until one covers the violation.
    fn choose_among(
        &mut self,
        tableau: &mut KnapsackTableau,
        row: usize,
        few: Range<usize>,
    ) -> Option<usize> {
        self.order[few.clone()].sort_unstable_by(by_ratio);
        for index in few {
            let position = self.order[index].1 as usize;
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

/// The part of a row's violation that a column covers by moving to its other bound.
fn reach(tableau: &KnapsackTableau, row: usize, position: usize) -> f64 {
    if tableau.steps()[position] > 0.0 {
        tableau.row(row)[position].abs()
    } else {
        f64::INFINITY
    }
}

/// The part of a row's violation that cells too small to pivot on could cover.
fn sub_tolerance_contribution(tableau: &KnapsackTableau, row: usize) -> f64 {
    let cells = tableau.row(row).iter().zip(tableau.steps());
    let mut sum = 0.0;
    for (cell, step) in cells {
        if *cell < -NEGLIGIBLE_CELL && *cell >= -PIVOT_TOLERANCE {
            sum += if *step > 0.0 { -cell } else { f64::INFINITY };
        }
    }
    sum
}

/// The largest bound violation of a basic variable.
pub(super) fn worst_violation(tableau: &KnapsackTableau) -> f64 {
    let bounded = tableau.values().iter().zip(tableau.uppers());
    bounded
        .map(|(value, upper)| (-value).max(value - upper))
        .fold(0.0, f64::max)
}

/// The basic variable with the largest bound violation (the first violated one if `careful`), and
/// whether it is above its upper bound.
fn worst_row(tableau: &KnapsackTableau, careful: bool) -> Option<(usize, bool)> {
    let mut worst = (FEASIBILITY_TOLERANCE, None);
    for (row, (value, upper)) in tableau.values().iter().zip(tableau.uppers()).enumerate() {
        let (below, above) = (-value, value - upper);
        let violation = below.max(above);
        if violation > worst.0 {
            worst = (violation, Some((row, above > below)));
            if careful {
                break;
            }
        }
    }
    worst.1
}
