//! The bounded dual simplex method on a [`Tableau`].
//!
//! The basic variable furthest outside its bounds leaves; the nonbasic variable with the smallest
//! ratio of reduced cost to cell enters. Where an item would have to move by more than 1 it is flipped
//! to its other bound instead, and the next ratio is taken (the long-step rule), so a few pivots are
//! enough. The objective only rises: stopping early still leaves a valid bound. Ties of ratios go to
//! the lower position; after many pivots without an end the lowest-numbered choices are taken
//! (Bland's rule), which cannot cycle.

use super::lanes::{self, PIVOT};
use super::tableau::Tableau;

/// Flips looked for one by one before they are looked for together.
const FEW: usize = 8;
/// How far outside its bounds a basic variable may stay.
pub(super) const FEASIBLE: f64 = 1e-10;

/// How a linear programme ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Cheapest point found.
    Solved,
    /// Nothing feasible, or nothing below the cutoff.
    Closed,
    /// Too many pivots; the objective is a valid bound all the same.
    Stuck,
}

/// The method and its scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct DualSimplex {
    ratios: Vec<f64>,
    /// Columns in the order of their ratios, as far as needed.
    order: Vec<u32>,
}

impl DualSimplex {
    /// Solves, or stops once the objective reaches the cutoff.
    pub(super) fn solve(&mut self, tableau: &mut Tableau, cutoff: f64) -> End {
        let patience = 50 * tableau.rows() + 50;
        for step in 0..4 * patience {
            let careful = step > patience;
            let Some((row, above)) = worst_row(tableau, careful) else { return End::Solved };
            if above {
                tableau.complement(row);
            }
            match self.expel(tableau, row) {
                End::Solved if tableau.objective() >= cutoff => return End::Closed,
                End::Solved => {}
                End::Closed => return End::Closed,
                End::Stuck => return End::Stuck,
            }
        }
        End::Stuck
    }

    /// Drives a basic variable, which is below 0, out of the basis.
    pub(super) fn expel(&mut self, tableau: &mut Tableau, row: usize) -> End {
        lanes::ratios(tableau, row, &mut self.ratios);
        match self.choose(tableau, row) {
            Some(position) => {
                tableau.pivot(row, position);
                End::Solved
            }
            None if -tableau.values()[row] > FEASIBLE + neglected(tableau, row) => End::Closed,
            None => End::Stuck,
        }
    }

    /// The entering position; items passed on the way are flipped.
    fn choose(&mut self, tableau: &mut Tableau, row: usize) -> Option<usize> {
        for flips in 0.. {
            if flips == FEW {
                self.flip_many(tableau, row);
            }
            let position = lanes::least(&self.ratios)?;
            if tableau.values()[row] + reach(tableau, row, position) >= 0.0 {
                return Some(position);
            }
            self.ratios[position] = f64::INFINITY;
            tableau.flip(position);
        }
        None
    }

    /// Flips all but the last few items that have to be flipped, found by halving.
    fn flip_many(&mut self, tableau: &mut Tableau, row: usize) {
        let ratios = &mut self.ratios;
        self.order.clear();
        self.order.extend((0..ratios.len() as u32).filter(|at| ratios[*at as usize] < f64::INFINITY));
        let mut rest = &mut self.order[..];
        while rest.len() > FEW {
            let ratio = |at: &u32| ratios[*at as usize];
            rest.select_nth_unstable_by(rest.len() / 2, |a, b| ratio(a).total_cmp(&ratio(b)).then(a.cmp(b)));
            let (near, far) = rest.split_at_mut(rest.len() / 2);
            let covered: f64 = near.iter().map(|at| reach(tableau, row, *at as usize)).sum();
            if tableau.values()[row] + covered >= 0.0 {
                rest = near;
            } else {
                for at in near {
                    ratios[*at as usize] = f64::INFINITY;
                    tableau.flip(*at as usize);
                }
                rest = far;
            }
        }
    }
}

/// How much of a row's need a column covers by going all the way.
fn reach(tableau: &Tableau, row: usize, position: usize) -> f64 {
    if tableau.steps()[position] > 0.0 { tableau.row(row)[position].abs() } else { f64::INFINITY }
}

/// What the cells that are too small to pivot on could still cover.
fn neglected(tableau: &Tableau, row: usize) -> f64 {
    let cells = tableau.row(row).iter().zip(tableau.steps());
    let small = cells.filter(|(cell, _)| **cell < -1e-13 && **cell >= -PIVOT);
    small.map(|(cell, step)| if *step > 0.0 { -cell } else { f64::INFINITY }).sum()
}

/// How far the worst basic variable is out of bounds.
pub(super) fn worst_violation(tableau: &Tableau) -> f64 {
    let bounded = tableau.values().iter().zip(tableau.uppers());
    bounded.map(|(value, upper)| (-value).max(value - upper)).fold(0.0, f64::max)
}

/// The basic variable furthest out of bounds, and whether it is above; the first one when careful.
fn worst_row(tableau: &Tableau, careful: bool) -> Option<(usize, bool)> {
    let mut worst = (FEASIBLE, None);
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
