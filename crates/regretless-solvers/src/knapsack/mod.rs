//! Exact branch and bound for the multidimensional knapsack problem.
//!
//! Items with a cost of at least 0 are never chosen, and neither are items that do not fit alone.
//! Among selections with the same objective (up to a relative 1e-9) the first one found is
//! returned; the order of the search depends on the costs only, and so does the decision. A load
//! may exceed its capacity by `1e-9 · max(capacity, 1)`.
//!
//! * `items`: scaled weights and the feasibility check. `tableau`, `dual_simplex`, `refactor`,
//!   `simd`: the LP. `search_tree`, `incumbent`, `greedy_rounding`: branch and bound.
//! * `dynamic_program`: one dimension with small integer weights, where the optimum is unique.
//! * `lp_vertex`, `relaxation`: the LP relaxation with cost ranges and adjacent vertices.
//! * `warm_start`: warm starts and certificates.

mod dual_simplex;
mod dynamic_program;
mod greedy_rounding;
mod incumbent;
mod items;
mod lp_vertex;
mod refactor;
mod relaxation;
mod search_tree;
mod simd;
mod tableau;
mod warm_start;

use self::dynamic_program::KnapsackDynamicProgram;
use self::items::{KnapsackItems, scale_to_unit};
pub use self::lp_vertex::{KnapsackBasicVariable, LpVertex};
pub use self::relaxation::KnapsackRelaxation;
use self::search_tree::{KnapsackSearchTree, Workspace};
use self::tableau::{KnapsackTableau, TableauInput};
use self::warm_start::KnapsackWarmStart;
use super::dense_tableau::{TableauStatus, find_granularity};
use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};
use regretless_base::decision::Decision;

/// Scaled bound violation of a relaxed point that is accepted when weights are too small to pivot
/// on.
const OVERLOAD_TOLERANCE: f64 = 1e-8;

/// Relative gap up to which a solution counts as optimal: the tolerance of the objectives.
const OPTIMALITY_GAP_TOLERANCE: f64 = 1e-9;

/// The LP that is solved at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootModel {
    /// For branch and bound: capacities with tolerance, without items that do not fit.
    Integer,
    /// The LP relaxation with the exact capacities.
    Relaxed,
}

/// Branch and bound for one set of items.
#[derive(Debug)]
pub struct KnapsackBranchAndBound {
    items: KnapsackItems,
    limits: SearchLimits,
    dynamic_program: Option<KnapsackDynamicProgram>,
    workspace: Workspace,
    /// Costs times a power of two.
    scaled_costs: Vec<f64>,
    nodes: u64,
}

impl KnapsackBranchAndBound {
    /// A solver for items with one row of weights per dimension.
    pub fn new(weights: &[Vec<f64>], capacity: &[f64], limits: SearchLimits) -> Self {
        let items = KnapsackItems::new(weights, capacity);
        Self {
            scaled_costs: vec![0.0; items.count()],
            dynamic_program: KnapsackDynamicProgram::new(&items),
            items,
            limits,
            workspace: Workspace::default(),
            nodes: 0,
        }
    }

    /// Makes this a solver of the same items with other capacities; false, with nothing changed,
    /// if the items are others.
    pub fn set_capacity(&mut self, weights: &[Vec<f64>], capacity: &[f64]) -> bool {
        let has_same_items = self.items.has_weights(weights);
        if has_same_items {
            self.items.set_capacity(capacity);
            self.dynamic_program = KnapsackDynamicProgram::new(&self.items);
        }
        has_same_items
    }

    /// The optimum of the LP relaxation.
    ///
    /// # Errors
    /// When the number of costs is wrong, or the simplex method does not terminate.
    pub fn relax(&mut self, costs: &[f64]) -> Result<LpVertex, SolveFailure> {
        let scale = self.load(costs)?;
        let status = self.solve_root(RootModel::Relaxed);
        // A stuck simplex may still be optimal up to rounding, which the violation shows.
        if status != TableauStatus::Solved
            && dual_simplex::worst_violation(&self.workspace.tableaus[0]) > OVERLOAD_TOLERANCE
        {
            return Err(SolveFailure::SolverError(
                "the simplex method did not terminate".into(),
            ));
        }
        let (root, count) = (&self.workspace.tableaus[0], self.items.count());
        let mut values = vec![0.0; count];
        lp_vertex::item_values(root, &self.workspace.chosen, &mut values);
        let mut duals = self.root_duals(scale);
        let decision = Decision::from_dense(&values);
        let objective = decision.dot(costs);
        let basis = lp_vertex::basis(root, count);
        // Computed from the duals, not read from the tableau, so they fit the duals exactly.
        let mut reduced_costs = self.items.reduced_costs(costs, &duals);
        self.items
            .make_duals_of_zero_capacities_feasible(&mut duals, &mut reduced_costs);
        for basic in &basis {
            if let KnapsackBasicVariable::Item(item) = basic {
                // Basic items have reduced cost 0 by definition; the product leaves rounding
                // errors.
                reduced_costs[*item as usize] = 0.0;
            }
        }
        Ok(LpVertex {
            decision,
            objective,
            duals,
            reduced_costs,
            basis,
        })
    }

    /// Dual prices of the capacities in the root LP, in the units of costs and weights.
    fn root_duals(&self, scale: f64) -> Vec<f64> {
        let mut prices = vec![0.0; self.items.rows()];
        lp_vertex::duals(&self.workspace.tableaus[0], self.items.count(), &mut prices);
        prices.pop();
        for (row, price) in prices.iter_mut().enumerate() {
            *price *= self.items.scale(row) / scale;
        }
        prices
    }

    /// Scales the costs; returns the scale.
    fn load(&mut self, costs: &[f64]) -> Result<f64, SolveFailure> {
        if costs.len() != self.items.count() {
            let (found, expected) = (costs.len(), self.items.count());
            return Err(SolveFailure::SolverError(format!(
                "expected {expected} costs, one per item, found {found}"
            )));
        }
        let largest = costs.iter().fold(0.0_f64, |max, cost| max.max(-cost));
        // Nonnegative costs are never paid.
        let scale = scale_to_unit(largest);
        for (scaled, cost) in self.scaled_costs.iter_mut().zip(costs) {
            *scaled = cost * scale;
        }
        Ok(scale)
    }

    /// Builds the root and solves its LP.
    fn solve_root(&mut self, model: RootModel) -> TableauStatus {
        let input = TableauInput {
            items: &self.items,
            costs: &self.scaled_costs,
        };
        let Workspace {
            tableaus,
            simplex,
            chosen,
            ..
        } = &mut self.workspace;
        tableaus.resize_with(tableaus.len().max(1), KnapsackTableau::default);
        let root = &mut tableaus[0];
        let rhs = match model {
            RootModel::Integer => input.items.rhs(),
            RootModel::Relaxed => input.items.strict_rhs(),
        };
        root.clear_fixings(rhs, input.items.count());
        chosen.clear();
        for item in 0..input.items.count() {
            if input.costs[item] < 0.0 && input.items.is_weightless(item) {
                // Weightless items of negative cost are always chosen.
                chosen.push(root.choose_item(item, input));
            }
        }
        let is_free = |item: &u32| {
            // All others are never chosen: left out, they make the tableau smaller.
            let item = *item as usize;
            let can_be_chosen = match model {
                RootModel::Integer => input.items.fits(item),
                RootModel::Relaxed => input.items.fits_fractionally(item),
            };
            input.costs[item] < 0.0 && can_be_chosen && !input.items.is_weightless(item)
        };
        root.start(input, (0..input.items.count() as u32).filter(is_free));
        simplex.solve(root, f64::INFINITY)
    }
}

impl Solver for KnapsackBranchAndBound {
    fn nodes(&self) -> Option<u64> {
        Some(self.nodes)
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let scale = self.load(costs)?;
        if let Some(solution) = self.solve_by_dynamic_program(costs) {
            return Ok(solution);
        }
        self.solve_root(RootModel::Integer);
        Ok(self.search(costs, scale, None))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        // With limits, the result depends on where the search starts.
        if self.limits.may_stop_early() {
            return self.solve(costs);
        }
        let scale = self.load(costs)?;
        self.solve_root(RootModel::Integer);
        let prices = self.root_duals(scale);
        if let Some(solution) = self.solve_by_dynamic_program(costs) {
            warm_start.set(KnapsackWarmStart::new(&solution.decision, &prices));
            return Ok(solution);
        }
        let previous = warm_start
            .take::<KnapsackWarmStart>()
            // With a granularity, several selections can have the same objective.
            .filter(|previous| previous.fits(&self.items) && has_no_granularity(costs));
        let warm = previous.map(|previous| self.search(costs, scale, Some(previous.cost(costs))));
        let solution = match warm {
            Some(warm)
                if warm.status == SolveStatus::Optimal
                    // Only a unique optimum is sure to be that of a cold search.
                    && self.workspace.incumbent.is_unique_optimum() =>
            {
                warm
            }
            Some(_) | None => self.solve(costs)?,
        };
        warm_start.set(KnapsackWarmStart::new(&solution.decision, &prices));
        Ok(solution)
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        let is_usable = self.limits.gap == 0.0
            && costs.len() == self.items.count()
            && has_no_granularity(costs);
        is_usable
            .then(|| self.certify_warm_start(costs, warm_start))
            .flatten()
    }
}

impl KnapsackBranchAndBound {
    /// The solution without a search, if a dynamic program finds a unique optimum. Limited searches
    /// run as they are limited.
    fn solve_by_dynamic_program(&mut self, costs: &[f64]) -> Option<Solution> {
        // With limits, the result must be that of the limited search.
        if self.limits.may_stop_early() || self.limits.nodes != SearchLimits::default().nodes {
            return None;
        }
        let chosen = self.dynamic_program.as_mut()?.solve(costs)?;
        self.nodes = 0;
        let decision = Decision::from_indices(chosen);
        let objective = decision.dot(costs);
        Some(Solution::optimal(decision, objective))
    }

    /// Searches below the solved root; `known_objective` is the objective of a known selection.
    fn search(&mut self, costs: &[f64], scale: f64, known_objective: Option<f64>) -> Solution {
        let granularity = granularity(costs).map_or(0.0, |granularity| granularity * scale);
        self.workspace.incumbent.reset(granularity, self.limits.gap);
        if let Some(known_objective) = known_objective {
            let scaled = known_objective * scale;
            self.workspace.incumbent.set_known_objective(scaled);
        }
        let root_bound = self.workspace.tableaus[0].objective();
        let input = TableauInput {
            items: &self.items,
            costs: &self.scaled_costs,
        };
        let mut search = KnapsackSearchTree::new(input, &mut self.workspace, self.limits.nodes);
        search.run();
        let open_bound = search.open_bound();
        self.nodes = search.nodes();
        let incumbent = &self.workspace.incumbent;
        let decision = Decision::from_indices(incumbent.chosen().iter().copied());
        let objective = decision.dot(costs);
        // With a gap, subtrees up to the cutoff were pruned, so the objective is not proven.
        let proven = if self.limits.gap > 0.0 {
            incumbent.cutoff().max(root_bound)
        } else {
            incumbent.objective()
        };
        // The bound is the lowest of what was pruned and what is open, and at most the objective.
        let bound = (proven.min(open_bound.max(root_bound)) / scale).min(objective);
        Solution {
            decision,
            objective,
            bound,
            status: self.status(open_bound, objective, bound),
            work: 0,
        }
    }

    fn status(&self, open_bound: f64, objective: f64, bound: f64) -> SolveStatus {
        let gap = (objective - bound) / objective.abs().max(f64::MIN_POSITIVE);
        if open_bound.is_finite() && gap > self.limits.gap {
            SolveStatus::LimitReached
        } else if gap > OPTIMALITY_GAP_TOLERANCE {
            SolveStatus::WithinGap(gap)
        } else {
            SolveStatus::Optimal
        }
    }
}

/// The granularity of the negative costs, the only ones that matter.
fn granularity(costs: &[f64]) -> Option<f64> {
    find_granularity(&costs.iter().map(|cost| cost.min(0.0)))
}

/// Whether ties are practically impossible.
fn has_no_granularity(costs: &[f64]) -> bool {
    granularity(costs).is_none()
}
