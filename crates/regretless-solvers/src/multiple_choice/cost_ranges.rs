//! Cost ranges of the relaxed optimum, by its basis.
//!
//! The basis has the choice of every group, and the partial offer or, if all choices fit, the
//! unused capacity. The range of a cost outside the basis ends where its loss is 0. The cost of a
//! choice in a group without a partial offer may rise by the smallest loss of the group. The costs
//! of the choice and the partial offer of one group also move the price of the capacity, and with
//! it the losses of all offers.

use super::MultipleChoiceSolver;
use super::core_search::{ChoiceChange, for_each_change};
use super::groups::NONE;
use crate::SolveFailure;
use crate::relaxation::{CostRanges, CostRanging};

/// How far a price may fall and rise.
#[derive(Debug, Clone, Copy)]
struct PriceRange {
    fall: f64,
    rise: f64,
}

impl PriceRange {
    /// Limits the price where a loss becomes 0; with the price it changes by `rate`.
    fn add(&mut self, loss: f64, rate: f64) {
        if rate < 0.0 {
            self.rise = self.rise.min(loss / -rate);
        } else if rate > 0.0 {
            self.fall = self.fall.min(loss / rate);
        }
    }
}

impl CostRanging for MultipleChoiceSolver {
    fn ranges(&mut self, costs: &[f64]) -> Result<CostRanges, SolveFailure> {
        self.relax_within(costs, self.choice.capacity)?;
        let groups = &self.choice.groups;
        let mut ranges = CostRanges::unbounded(costs.len());
        let mut changes = Vec::with_capacity(costs.len());
        for_each_change(self.choice.rules(), costs, &self.optimum, |change| {
            changes.push(change);
        });
        let partial_group = self
            .optimum
            .partial
            .map(|partial| groups.group_of(partial as usize));
        for change in &changes {
            // An offer that is not chosen stays so until its loss is 0; it may become more
            // expensive without limit.
            if change.offer != NONE && Some(change.offer) != self.optimum.partial {
                let offer = change.offer as usize;
                ranges.lower[offer] = costs[offer] - change.loss;
            }
            let choice = self.optimum.choices[change.group];
            // A choice stays until another offer of its group loses nothing.
            if choice != NONE && Some(change.group) != partial_group {
                let offer = choice as usize;
                ranges.upper[offer] = ranges.upper[offer].min(costs[offer] + change.loss);
            }
        }
        if let Some(partial) = self.optimum.partial {
            self.partial_ranges(costs, partial, &changes, &mut ranges);
        }
        Ok(ranges)
    }
}

impl MultipleChoiceSolver {
    /// The ranges of the partial offer and the choice that it replaces in part. The loss of an
    /// offer is its cost, less that of the choice, plus the price times the difference of their
    /// weights.
    fn partial_ranges(
        &self,
        costs: &[f64],
        partial: u32,
        changes: &[ChoiceChange],
        ranges: &mut CostRanges,
    ) {
        let groups = &self.choice.groups;
        let group = groups.group_of(partial as usize);
        let choice = self.optimum.choices[group];
        let step = groups.weight(partial) - groups.weight(choice);
        // A cheaper partial offer raises the price; in its own group losses are against the choice,
        // whose cost stays.
        // The price cannot fall below 0, where the capacity no longer binds.
        let mut of_partial = PriceRange {
            fall: self.optimum.price,
            rise: f64::INFINITY,
        };
        // A cheaper choice lowers the price; in its own group losses are against the partial offer,
        // whose cost stays.
        let mut of_choice = of_partial;
        for change in changes.iter().filter(|change| change.offer != partial) {
            of_partial.add(change.loss, change.weight);
            // In the same group the loss changes by the difference to the partial offer's step.
            let rate = if change.group == group {
                change.weight - step
            } else {
                change.weight
            };
            of_choice.add(change.loss, rate);
        }
        let offer = partial as usize;
        // The price times the step is the difference of both costs.
        ranges.lower[offer] = costs[offer] - step * of_partial.rise;
        ranges.upper[offer] = costs[offer] + step * of_partial.fall;
        if choice != NONE {
            let offer = choice as usize;
            ranges.lower[offer] = costs[offer] - step * of_choice.fall;
            ranges.upper[offer] = costs[offer] + step * of_choice.rise;
        }
    }
}
