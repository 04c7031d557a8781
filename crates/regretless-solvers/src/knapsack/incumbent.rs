//! The incumbent and the cutoff.
//!
//! A *selection* is a set of chosen items. Every candidate is checked with exact row sums before it
//! becomes the incumbent. A search with a known objective also looks for selections of equal
//! objective, to detect ties. If costs have a granularity (integers, decimals), a better selection
//! is better by at least the granularity; otherwise improvements below 1.1e-9 of the objective do
//! not count, because the tolerance of the capacities alone can change the objective by as much.

use super::tableau::TableauInput;
use crate::dense_tableau;

/// Relative difference below which two objectives count as equal: slightly above the relative
/// tolerance of the capacities, 1e-9.
const OBJECTIVE_TOLERANCE: f64 = 1.1e-9;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct KnapsackIncumbent {
    chosen: Vec<u32>,
    objective: f64,
    cutoff: f64,
    /// Objective of a known selection plus a margin; such a search looks for ties.
    known_objective: Option<f64>,
    /// Whether another selection is as good as the incumbent.
    is_tied: bool,
    /// Smallest difference between two objectives; 0 if unknown.
    granularity: f64,
    gap: f64,
    candidate: Vec<u32>,
}

impl KnapsackIncumbent {
    /// Resets to the empty selection.
    pub(super) fn reset(&mut self, granularity: f64, gap: f64) {
        self.chosen.clear();
        self.objective = 0.0;
        self.known_objective = None;
        self.is_tied = false;
        self.granularity = granularity;
        self.gap = gap;
        self.set_cutoff();
    }

    /// A selection with this objective is known to exist: only selections as good are searched for.
    /// For costs without granularity.
    pub(super) fn set_known_objective(&mut self, objective: f64) {
        self.known_objective = Some(objective + min_improvement(objective, 0.0));
        self.set_cutoff();
    }

    /// Whether a selection as good as the known one was found, and no other is as good.
    pub(super) fn is_unique_optimum(&self) -> bool {
        !self.is_tied
            && self
                .known_objective
                .is_none_or(|known_objective| self.objective <= known_objective)
    }

    pub(super) fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    pub(super) fn objective(&self) -> f64 {
        self.objective
    }

    /// Objective from which on nodes are pruned.
    pub(super) fn cutoff(&self) -> f64 {
        self.cutoff
    }

    /// Offers a candidate; returns false if it violates a capacity.
    pub(super) fn offer(&mut self, input: TableauInput, chosen: impl Iterator<Item = u32>) -> bool {
        self.candidate.clear();
        self.candidate.extend(chosen);
        self.candidate.sort_unstable();
        // Checked exactly: the tableau's values are rounded.
        if !input.items.are_feasible(&self.candidate) {
            return false;
        }
        let objective: f64 = self
            .candidate
            .iter()
            .map(|j| input.costs[*j as usize])
            .sum();
        let gain = min_improvement(self.objective, self.granularity);
        // A different selection of nearly the same objective means that the optimum is not unique.
        if self.candidate != self.chosen && objective <= self.objective + gain {
            self.is_tied = objective >= self.objective - gain;
        }
        if objective < self.objective {
            self.objective = objective;
            std::mem::swap(&mut self.chosen, &mut self.candidate);
            self.set_cutoff();
        }
        true
    }

    fn set_cutoff(&mut self) {
        // The gap is relative to the objective.
        let magnitude = self.objective.abs();
        let gain = min_improvement(self.objective, self.granularity);
        self.cutoff = match self.known_objective {
            None => self.objective - gain.max(self.gap * magnitude),
            // For a known objective, nodes as good as it stay open, or else ties would not be
            // found.
            Some(known_objective) => known_objective.min(self.objective + gain),
        };
    }
}

/// The difference by which a selection must improve on this objective.
pub(super) fn min_improvement(objective: f64, granularity: f64) -> f64 {
    dense_tableau::min_improvement(objective.abs(), granularity, OBJECTIVE_TOLERANCE)
}
