//! The bounded dual simplex method on a [`KnapsackTableau`].
//!
//! The basic variable with the largest bound violation leaves; the nonbasic variable with the
//! smallest ratio of reduced cost to cell, its coefficient in the row, enters (ratio test). An item
//! that would have to move by more than 1 is flipped to its other bound instead, and the next ratio
//! is taken (bound flipping, the long-step rule), so a few pivots suffice. The objective never
//! decreases: stopping early leaves a valid lower bound. Ties of ratios go to the lower position;
//! after many pivots the first violated row leaves (as in Bland's rule), which ends cycles.

use std::cmp::Ordering;
use std::ops::Range;

use super::simd::{self, PIVOT_TOLERANCE};
use super::tableau::KnapsackTableau;
use crate::dense_tableau::TableauStatus;

/// Number of columns above which flips of a pivot are found by selections instead of one minimum
/// search each: a selection partitions the candidates once, a minimum search passes over all
/// ratios.
const MIN_BATCH_FLIP_COLUMNS: usize = 64;
/// Flips found one by one, in narrow tableaus and among the last candidates of a selection; for so
/// few, a minimum search is cheaper than a partition.
const MAX_SEQUENTIAL_FLIPS: usize = 8;
/// Bound violation that a basic variable may keep; values are scaled to about 1.
pub(super) const FEASIBILITY_TOLERANCE: f64 = 1e-10;

/// Pivots per row, counting one row more for small tableaus, after which the first violated row
/// leaves. Untuned: far above what a solve needs.
const ANTI_CYCLING_PIVOTS: usize = 50;
/// A solve ends after this many times as many pivots.
const MAX_PIVOTS_FACTOR: usize = 4;
/// Cells of at most this absolute value count as 0: they cannot reduce any violation.
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
        let limit = ANTI_CYCLING_PIVOTS * (tableau.rows() + 1);
        for step in 0..MAX_PIVOTS_FACTOR * limit {
            // Bland-like choice after many pivots: the first violated row, which makes cycling end.
            let takes_first = step > limit;
            let Some((row, above)) = worst_row(tableau, takes_first) else {
                return TableauStatus::Solved;
            };
            // The dual simplex step below drives out variables that are negative.
            if above {
                tableau.complement(row);
            }
            match self.pivot_out(tableau, row) {
                // The dual objective never falls, so the node can be pruned as soon as it reaches
                // the cutoff.
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

    /// Drives a negative basic variable out of the basis; `Solved` means that the pivot was made.
    pub(super) fn pivot_out(&mut self, tableau: &mut KnapsackTableau, row: usize) -> TableauStatus {
        simd::ratios(tableau, row, &mut self.ratios);
        match self.choose_entering(tableau, row) {
            Some(position) => {
                tableau.pivot(row, position);
                TableauStatus::Solved
            }
            // No column can repair the row: the node is infeasible, unless cells too small to pivot
            // on could.
            None if -tableau.values()[row]
                > FEASIBILITY_TOLERANCE + sub_tolerance_contribution(tableau, row) =>
            {
                TableauStatus::CutOff
            }
            None => TableauStatus::Stuck,
        }
    }

    /// The position of the entering variable; items with smaller ratios that do not cover the
    /// violation are flipped.
    fn choose_entering(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Option<usize> {
        // A long step (bound flipping): items that do not cover the violation go to their other
        // bound, and one pivot replaces many.
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
            // In order of ratio: an item that is passed has a reduced cost of the other sign after
            // the step, for which its other bound is right.
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
        let covers = tableau.values()[row] + coverage(tableau, row, position) >= 0.0;
        if !covers {
            self.ratios[position] = f64::INFINITY;
            tableau.flip(position);
        }
        covers
    }

    /// Flips all but the last few items that have to be flipped, found by bisection with partial
    /// sorting; returns the range of the remaining candidates in `order`.
    fn flip_many(&mut self, tableau: &mut KnapsackTableau, row: usize) -> Range<usize> {
        self.order.clear();
        for (position, ratio) in self.ratios.iter().enumerate() {
            if *ratio < f64::INFINITY {
                self.order.push((*ratio, position as u32));
            }
        }
        let mut candidates = 0..self.order.len();
        // Bisection: half of the candidates are summed at once, and flipped only if all of them are
        // needed.
        while candidates.len() > MAX_SEQUENTIAL_FLIPS {
            let middle = candidates.start + candidates.len() / 2;
            self.order[candidates.clone()]
                .select_nth_unstable_by(middle - candidates.start, by_ratio);
            let first_half = &self.order[candidates.start..middle];
            let covered: f64 = first_half
                .iter()
                .map(|(_, position)| coverage(tableau, row, *position as usize))
                .sum();
            // The first half is enough, so the last item to flip is in it.
            if tableau.values()[row] + covered >= 0.0 {
                candidates.end = middle;
            } else {
                for (_, position) in first_half {
                    self.ratios[*position as usize] = f64::INFINITY;
                    tableau.flip(*position as usize);
                }
                candidates.start = middle;
            }
        }
        candidates
    }

    /// Tries a few columns in order of ratio until one covers the violation.
    fn choose_among(
        &mut self,
        tableau: &mut KnapsackTableau,
        row: usize,
        candidates: Range<usize>,
    ) -> Option<usize> {
        self.order[candidates.clone()].sort_unstable_by(by_ratio);
        for index in candidates {
            let position = self.order[index].1 as usize;
            if self.covers_or_flips(tableau, row, position) {
                return Some(position);
            }
        }
        None
    }
}

fn by_ratio(a: &(f64, u32), b: &(f64, u32)) -> Ordering {
    // Ties are broken by column, so pivots do not depend on the sorting.
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// The part of a row's violation that a column covers by moving to its other bound, which an item
/// has (its step is 1) and a slack has not (its step is 0).
fn coverage(tableau: &KnapsackTableau, row: usize, position: usize) -> f64 {
    if tableau.steps()[position] > 0.0 {
        tableau.row(row)[position].abs()
    } else {
        // A slack has no other bound: it covers any violation.
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

/// The basic variable with the largest bound violation (the first violated one if `takes_first`),
/// and whether it is above its upper bound.
fn worst_row(tableau: &KnapsackTableau, takes_first: bool) -> Option<(usize, bool)> {
    let mut worst = (FEASIBILITY_TOLERANCE, None);
    for (row, (value, upper)) in tableau.values().iter().zip(tableau.uppers()).enumerate() {
        let (below, above) = (-value, value - upper);
        let violation = below.max(above);
        // Strictly larger: of equal violations the first row leaves.
        if violation > worst.0 {
            worst = (violation, Some((row, above > below)));
            if takes_first {
                break;
            }
        }
    }
    worst.1
}
