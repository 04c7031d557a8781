//! The best choice so far, and the objective below which a better one must lie.
//!
//! Every choice is tested with exact row sums before it counts. A search that is told what to
//! expect also looks for choices as good as the best, so that it is known whether there is a tie.
//! Where costs lie on a grid (whole numbers, decimals) a better choice is better by at least one
//! step; otherwise improvements below 1.1e-9 of the objective do not count, which is what the
//! tolerance of the capacities can be worth.

use super::tableau::TableauInput;

/// Share of the objective below which two objectives count as equal.
const OBJECTIVE_TOLERANCE: f64 = 1.1e-9;
/// Share of a step that rounding errors never reach.
const ROUNDING_FRACTION: f64 = 1e-3;

/// The incumbent of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct KnapsackIncumbent {
    chosen: Vec<u32>,
    objective: f64,
    cutoff: f64,
    /// What a choice is known to cost, with a margin; such a search looks for ties.
    ceiling: Option<f64>,
    /// Whether another choice is as good as the best.
    tied: bool,
    /// Least difference between two objectives; 0 when costs lie on no grid.
    granularity: f64,
    gap: f64,
    candidate: Vec<u32>,
}

impl KnapsackIncumbent {
    /// Forgets everything: nothing is chosen.
    pub(super) fn reset(&mut self, granularity: f64, gap: f64) {
        self.chosen.clear();
        self.objective = 0.0;
        self.ceiling = None;
        self.tied = false;
        self.granularity = granularity;
        self.gap = gap;
        self.set_cutoff();
    }

    /// Something is known to cost no more than this: only what is as good is of interest. For costs
    /// on no grid.
    pub(super) fn set_known_objective(&mut self, objective: f64) {
        self.ceiling = Some(objective + min_improvement(objective, 0.0));
        self.set_cutoff();
    }

    /// Whether something was found that is as good as expected, and nothing else is as good.
    pub(super) fn is_unique_optimum(&self) -> bool {
        !self.tied && self.ceiling.is_none_or(|ceiling| self.objective <= ceiling)
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
    pub(super) fn offer(
        &mut self,
        source: TableauInput,
        chosen: impl Iterator<Item = u32>,
    ) -> bool {
        self.candidate.clear();
        self.candidate.extend(chosen);
        self.candidate.sort_unstable();
        if !source.items.holds(&self.candidate) {
            return false;
        }
        let objective: f64 = self
            .candidate
            .iter()
            .map(|j| source.costs[*j as usize])
            .sum();
        let gain = min_improvement(self.objective, self.granularity);
        if self.candidate != self.chosen && objective <= self.objective + gain {
            self.tied = objective >= self.objective - gain;
        }
        if objective < self.objective {
            self.objective = objective;
            std::mem::swap(&mut self.chosen, &mut self.candidate);
            self.set_cutoff();
        }
        true
    }

    fn set_cutoff(&mut self) {
        let size = self.objective.abs();
        let gain = min_improvement(self.objective, self.granularity);
        self.cutoff = match self.ceiling {
            None => self.objective - gain.max(self.gap * size),
            Some(ceiling) => ceiling.min(self.objective + gain),
        };
    }
}

/// How much less a choice must cost to count as better than one of this objective.
pub(super) fn min_improvement(objective: f64, granularity: f64) -> f64 {
    if granularity > 0.0 {
        granularity * (1.0 - ROUNDING_FRACTION)
    } else {
        OBJECTIVE_TOLERANCE * objective.abs()
    }
}
