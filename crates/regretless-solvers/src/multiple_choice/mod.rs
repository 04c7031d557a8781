//! Multiple-choice knapsack: one offer per group, within a capacity.
//!
//! The relaxation is solved greedily (`linear_relaxation`), the problem by a core and lists of
//! states (`core_search`). Costs have any sign. A load may exceed the capacity by `1e-9 ·
//! max(capacity, 1)`, so decimal weights fit whose sum is the capacity; the relaxation has no such
//! tolerance. Among selections with the same objective (up to a relative 1e-9) the first one found
//! is returned; ties in the relaxation go to the lower group.

mod adjacent_vertices;
mod core_search;
mod cost_ranges;
mod groups;
mod linear_relaxation;

use std::sync::Arc;

pub use groups::OfferGroups;

use self::core_search::{CoreLimits, CoreSearch, SearchEnd};
use self::groups::NONE;
use self::linear_relaxation::{LinearOptimum, OfferRules};
use super::relaxation::RelaxationSolver;
use super::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver, check_not_stopped};
use regretless_base::decision::Decision;

/// Relative tolerance of the capacity (absolute below 1).
const CAPACITY_TOLERANCE: f64 = 1e-9;

/// What a multiple-choice knapsack consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferChoice {
    /// The offers and their weights.
    pub groups: Arc<OfferGroups>,
    /// Which offers exist; `None` if all do.
    pub present: Option<Arc<[bool]>>,
    /// Whether a group may choose nothing.
    pub is_optional: bool,
    /// Most weight of all chosen offers.
    pub capacity: f64,
}

impl OfferChoice {
    fn rules(&self) -> OfferRules<'_> {
        OfferRules {
            groups: &self.groups,
            present: self.present.as_deref(),
            is_optional: self.is_optional,
        }
    }

    /// The capacity with its tolerance.
    pub fn limit(&self) -> f64 {
        self.capacity + CAPACITY_TOLERANCE * self.capacity.max(1.0)
    }

    /// The weight of the lightest selection; infinite if a group that has to choose has no offer.
    pub fn lightest(&self) -> f64 {
        if self.is_optional {
            return 0.0;
        }
        let rules = self.rules();
        let lightest = |group: usize| {
            // Offers are sorted by weight, so the first one that exists is the lightest.
            let mut offers = self.groups.by_weight(group).iter();
            let first = offers.find(|offer| rules.is_present(**offer as usize));
            first.map_or(f64::INFINITY, |offer| self.groups.weight(*offer))
        };
        (0..self.groups.num_groups()).map(lightest).sum()
    }
}

/// Solves multiple-choice knapsacks and their relaxations.
#[derive(Debug, Clone)]
pub struct MultipleChoiceSolver {
    choice: OfferChoice,
    limits: SearchLimits,
    optimum: LinearOptimum,
    search: CoreSearch,
}

impl MultipleChoiceSolver {
    /// A solver within these limits.
    pub fn new(choice: OfferChoice, limits: SearchLimits) -> Self {
        Self {
            choice,
            limits,
            optimum: LinearOptimum::default(),
            search: CoreSearch::default(),
        }
    }

    /// Solves another problem from now on.
    pub fn set_choice(&mut self, choice: OfferChoice) {
        self.choice = choice;
    }

    /// Solves the relaxation with this capacity.
    fn relax_within(&mut self, costs: &[f64], capacity: f64) -> Result<(), SolveFailure> {
        // Compared with the tolerance, as the check of decisions does.
        if self.choice.lightest() > self.choice.limit() {
            return Err(SolveFailure::Infeasible);
        }
        check_not_stopped()?;
        self.optimum.solve(self.choice.rules(), costs, capacity);
        Ok(())
    }

    fn relaxed_solution(&self, costs: &[f64]) -> Solution {
        let fraction = self.optimum.fraction(&self.choice.groups);
        let mut entries = Vec::with_capacity(self.optimum.choices.len() + 1);
        for (group, offer) in self.optimum.choices.iter().enumerate() {
            let partial = self.optimum.partial.filter(|partial| {
                fraction > 0.0 && self.choice.groups.group_of(*partial as usize) == group
            });
            let share = if partial.is_some() {
                1.0 - fraction
            } else {
                1.0
            };
            if *offer != NONE && share > 0.0 {
                entries.push((*offer, share));
            }
            entries.extend(partial.map(|partial| (partial, fraction)));
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        let decision = Decision::from_entries(entries);
        let objective = decision.dot(costs);
        Solution::optimal(decision, objective)
    }
}

impl Solver for MultipleChoiceSolver {
    fn nodes(&self) -> Option<u64> {
        Some(self.search.nodes)
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let mut solution = Solution::empty();
        self.solve_into(costs, &mut solution)?;
        Ok(solution)
    }

    fn solve_into(&mut self, costs: &[f64], solution: &mut Solution) -> Result<(), SolveFailure> {
        // The tolerance belongs to the capacity of decisions; the relaxation as a problem of its
        // own has the exact one.
        self.relax_within(costs, self.choice.limit())?;
        let bound = self.optimum.cost;
        let limits = CoreLimits {
            nodes: self.limits.nodes,
            loss: self.limits.gap * bound.abs(),
        };
        let end = self
            .search
            .run(self.choice.rules(), costs, &mut self.optimum, limits);
        let chosen = self.optimum.choices.iter().copied();
        solution
            .decision
            .assign_indices(chosen.filter(|offer| *offer != NONE));
        solution.objective = solution.decision.dot(costs);
        solution.bound = match end {
            SearchEnd::Complete => solution.objective,
            SearchEnd::WithinGap | SearchEnd::Stopped => bound.min(solution.objective),
        };
        solution.status = match end {
            SearchEnd::Complete => SolveStatus::Optimal,
            SearchEnd::WithinGap => SolveStatus::WithinGap(self.limits.gap),
            SearchEnd::Stopped => SolveStatus::LimitReached,
        };
        Ok(())
    }
}

impl RelaxationSolver for MultipleChoiceSolver {
    fn relax(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        self.relax_within(costs, self.choice.capacity)?;
        Ok(self.relaxed_solution(costs))
    }
}
