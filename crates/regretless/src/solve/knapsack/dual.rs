//! The bounded dual simplex method on a [`Tableau`].
//!
//! The basic variable furthest outside its bounds leaves; the nonbasic variable with the smallest
//! ratio of reduced cost to cell enters. Where an item would have to move by more than 1 it is flipped
//! to its other bound instead, and the next ratio is taken (the long-step rule), so a few pivots are
//! enough. The objective only rises: stopping early still leaves a valid bound. Ties of ratios go to
//! the lower position; after many pivots without an end the lowest-numbered choices are taken
//! (Bland's rule), which cannot cycle.

use super::tableau::Tableau;

/// Least size of a number that may be pivoted on.
const PIVOT: f64 = 1e-9;
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

#[derive(Debug, Clone, Copy)]
struct Candidate {
    ratio: f64,
    size: f64,
    position: u32,
}

impl Candidate {
    fn before(&self, other: &Self) -> bool {
        (self.ratio, self.position) < (other.ratio, other.position)
    }
}

/// The method and its scratch memory.
#[derive(Debug, Clone, Default)]
pub(super) struct DualSimplex {
    candidates: Vec<Candidate>,
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
        self.gather(tableau, row);
        match self.choose(tableau, row) {
            Some(position) => {
                tableau.pivot(row, position);
                End::Solved
            }
            None if -tableau.values()[row] > FEASIBLE + neglected(tableau, row) => End::Closed,
            None => End::Stuck,
        }
    }

    fn gather(&mut self, tableau: &Tableau, row: usize) {
        self.candidates.clear();
        for (position, (cell, reduced)) in tableau.row(row).iter().zip(tableau.reduced()).enumerate() {
            if *cell < -PIVOT {
                let ratio = reduced.max(0.0) / -cell;
                self.candidates.push(Candidate { ratio, size: -cell, position: position as u32 });
            }
        }
    }

    /// The entering position; items passed on the way are flipped.
    fn choose(&mut self, tableau: &mut Tableau, row: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.candidates.len());
        let mut need = -tableau.values()[row];
        while high - low > 12 {
            let middle = self.partition(low, high);
            let covered: f64 = self.candidates[low..middle].iter().map(|c| reach(tableau, c)).sum();
            if covered >= need {
                high = middle;
            } else {
                need -= covered;
                low = middle;
            }
        }
        self.walk(tableau, row, low)
    }

    /// Splits candidates in two by ratio, both parts non-empty; returns where the second begins.
    fn partition(&mut self, low: usize, high: usize) -> usize {
        let part = &mut self.candidates[low..high];
        let middle = part.len() / 2;
        part.select_nth_unstable_by(middle, |a, b| a.ratio.total_cmp(&b.ratio).then(a.position.cmp(&b.position)));
        low + middle
    }

    /// Flips everything before `low`, then goes on in order of ratio until the need is met.
    fn walk(&mut self, tableau: &mut Tableau, row: usize, low: usize) -> Option<usize> {
        for candidate in &self.candidates[..low] {
            tableau.flip(candidate.position as usize);
        }
        for at in low..self.candidates.len() {
            let next = (at..self.candidates.len())
                .reduce(|a, b| if self.candidates[b].before(&self.candidates[a]) { b } else { a })?;
            self.candidates.swap(at, next);
            let candidate = self.candidates[at];
            if tableau.values()[row] + reach(tableau, &candidate) >= 0.0 {
                return Some(candidate.position as usize);
            }
            tableau.flip(candidate.position as usize);
        }
        None
    }
}

/// How much of the need a candidate covers by going all the way.
fn reach(tableau: &Tableau, candidate: &Candidate) -> f64 {
    if tableau.steps()[candidate.position as usize] > 0.0 { candidate.size } else { f64::INFINITY }
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
