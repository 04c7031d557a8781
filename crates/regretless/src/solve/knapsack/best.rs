//! The best choice so far, and the objective below which a better one must lie.
//!
//! Every choice is tested with exact row sums before it counts. Where costs lie on a grid (whole
//! numbers, decimals) a better choice is better by at least one step; otherwise improvements below
//! 1.1e-9 of the objective do not count, which is what the tolerance of the capacities can be worth.

use super::tableau::Source;

/// Share of the objective below which two objectives count as equal.
const EQUAL: f64 = 1.1e-9;
/// Share of a step that rounding errors never reach.
const ROUNDING: f64 = 1e-3;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct Best {
    chosen: Vec<u32>,
    objective: f64,
    cutoff: f64,
    /// The cutoff before anything is found.
    ceiling: f64,
    /// Least difference between two objectives; 0 when costs lie on no grid.
    grain: f64,
    gap: f64,
    candidate: Vec<u32>,
}

impl Best {
    /// Forgets everything: nothing is chosen.
    pub(super) fn reset(&mut self, grain: f64, gap: f64) {
        self.chosen.clear();
        self.objective = 0.0;
        self.ceiling = f64::INFINITY;
        self.grain = grain;
        self.gap = gap;
        self.set_cutoff();
    }

    /// Lets only choices of interest that cost no more than this.
    pub(super) fn expect(&mut self, objective: f64) {
        let gain = least_gain(objective, self.grain);
        // Half a step of the grid is as far as possible from rounding errors on both sides.
        self.ceiling = objective + if self.grain > 0.0 { 0.5 * gain } else { gain };
        self.set_cutoff();
    }

    /// Whether something was found that keeps to what was expected.
    pub(super) fn meets_expectation(&self) -> bool {
        self.objective <= self.ceiling
    }

    pub(super) fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    /// What cannot get below this is of no interest.
    pub(super) fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Considers a choice; false when it does not fit.
    pub(super) fn offer(&mut self, source: Source, chosen: impl Iterator<Item = u32>) -> bool {
        self.candidate.clear();
        self.candidate.extend(chosen);
        self.candidate.sort_unstable();
        if !source.items.holds(&self.candidate) {
            return false;
        }
        let objective: f64 = self.candidate.iter().map(|j| source.costs[*j as usize]).sum();
        if objective < self.objective {
            self.objective = objective;
            std::mem::swap(&mut self.chosen, &mut self.candidate);
            self.set_cutoff();
        }
        true
    }

    fn set_cutoff(&mut self) {
        let size = self.objective.abs();
        let better = self.objective - least_gain(self.objective, self.grain).max(self.gap * size);
        self.cutoff = better.min(self.ceiling);
    }
}

/// How much less a choice must cost to count as better than one of this objective.
pub(super) fn least_gain(objective: f64, grain: f64) -> f64 {
    if grain > 0.0 { grain * (1.0 - ROUNDING) } else { EQUAL * objective.abs() }
}
