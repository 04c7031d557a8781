//! Exact knapsack search: the cheapest choice of items within one or more capacities.
//!
//! Items that cost 0 or more are left out, and so is whatever does not fit alone. Of several
//! choices with the same cost (to a relative 1e-9) the one met first is kept; the order of the
//! search depends on the costs only, so the answer does too. A load may exceed its capacity by
//! `1e-9 · max(capacity, 1)`. The parts: `items` (numbers), `tableau` and `dual` (linear
//! programmes), `start` (first choice), `search` (branch and bound), `relax` (linear relaxation),
//! `facts` (what the relaxation knows), `memory` (what is kept of an instance).

mod dual_simplex;
mod granularity;
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

use self::dual_simplex::TableauStatus;
pub(super) use self::granularity::step;
use self::items::{KnapsackItems, power_of_two_near};
pub use self::lp_vertex::{KnapsackBasicVariable, LpVertex};
pub(super) use self::refactor::invert;
pub use self::relaxation::KnapsackRelaxation;
use self::search_tree::{KnapsackSearchTree, Workspace};
use self::tableau::{KnapsackTableau, TableauInput};
use self::warm_start::KnapsackWarmStart;
use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};
use crate::decision::Decision;

/// Scaled overload of a relaxed point that is let pass where weights are too small to pivot on.
const OVERLOAD_TOLERANCE: f64 = 1e-8;

/// Which root is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootModel {
    /// Capacities with tolerance, without items that fit in part only.
    Integer,
    /// The linear relaxation as it stands.
    Relaxed,
}

/// Branch and bound for one set of items.
#[derive(Debug)]
pub struct KnapsackBranchAndBound {
    items: KnapsackItems,
    limits: SearchLimits,
    workshop: Workspace,
    /// Costs times a power of two.
    scaled: Vec<f64>,
    nodes: u64,
}

impl KnapsackBranchAndBound {
    /// An engine for items with one row of weights per dimension.
    pub fn new(weights: &[Vec<f64>], capacity: &[f64], limits: SearchLimits) -> Self {
        let items = KnapsackItems::new(weights, capacity);
        let scaled = vec![0.0; items.count()];
        Self {
            items,
            limits,
            workshop: Workspace::default(),
            scaled,
            nodes: 0,
        }
    }

    /// Nodes of the last search: a measure of how hard it was.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The cheapest point when items may be taken in part.
    ///
    /// # Errors
    /// When the number of costs is wrong, or the simplex method does not come to an end.
    pub fn relax(&mut self, costs: &[f64]) -> Result<LpVertex, SolveFailure> {
        let scale = self.load(costs)?;
        let end = self.solve_root(RootModel::Relaxed);
        if end != TableauStatus::Solved
            && dual_simplex::worst_violation(&self.workshop.levels[0]) > OVERLOAD_TOLERANCE
        {
            return Err(SolveFailure::Engine(
                "the simplex method makes no progress".into(),
            ));
        }
        let (root, count) = (&self.workshop.levels[0], self.items.count());
        let mut shares = vec![0.0; count];
        lp_vertex::item_values(root, &self.workshop.taken, &mut shares);
        let mut duals = self.root_duals(scale);
        let decision = Decision::from_dense(&shares);
        let objective = decision.dot(costs);
        let basis = lp_vertex::basis(root, count);
        let mut reduced_costs = self.items.reduced_costs(costs, &duals);
        self.items
            .price_closed_dimensions(&mut duals, &mut reduced_costs);
        for basic in &basis {
            if let KnapsackBasicVariable::Item(item) = basic {
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

    /// What one more unit of each capacity changes in the objective of the root.
    fn root_duals(&self, scale: f64) -> Vec<f64> {
        let mut prices = vec![0.0; self.items.rows()];
        lp_vertex::duals(&self.workshop.levels[0], self.items.count(), &mut prices);
        prices.pop();
        prices
            .iter_mut()
            .enumerate()
            .for_each(|(row, price)| *price *= self.items.scale(row) / scale);
        prices
    }

    /// Takes in costs; returns what they were multiplied by.
    fn load(&mut self, costs: &[f64]) -> Result<f64, SolveFailure> {
        if costs.len() != self.items.count() {
            let (found, expected) = (costs.len(), self.items.count());
            return Err(SolveFailure::Engine(format!(
                "{found} costs for {expected} items"
            )));
        }
        let largest = costs.iter().fold(0.0_f64, |max, cost| max.max(-cost));
        let scale = power_of_two_near(largest);
        self.scaled
            .iter_mut()
            .zip(costs)
            .for_each(|(scaled, cost)| *scaled = cost * scale);
        Ok(scale)
    }

    /// Builds the root and solves its linear programme.
    fn solve_root(&mut self, model: RootModel) -> TableauStatus {
        let source = TableauInput {
            items: &self.items,
            costs: &self.scaled,
        };
        let Workspace {
            levels,
            simplex,
            taken,
            ..
        } = &mut self.workshop;
        levels.resize_with(levels.len().max(1), KnapsackTableau::default);
        let root = &mut levels[0];
        let rhs = match model {
            RootModel::Integer => source.items.rhs(),
            RootModel::Relaxed => source.items.strict_rhs(),
        };
        root.clear_decisions(rhs, source.items.count());
        taken.clear();
        for item in 0..source.items.count() {
            if source.costs[item] < 0.0 && source.items.weightless(item) {
                taken.push(root.take(item, source));
            }
        }
        let undecided = |item: &u32| {
            let item = *item as usize;
            let possible = match model {
                RootModel::Integer => source.items.fits(item),
                RootModel::Relaxed => source.items.fits_in_part(item),
            };
            source.costs[item] < 0.0 && possible && !source.items.weightless(item)
        };
        root.start(source, (0..source.items.count() as u32).filter(undecided));
        simplex.solve(root, f64::INFINITY)
    }
}

impl Solver for KnapsackBranchAndBound {
    fn nodes(&self) -> Option<u64> {
        Some(self.nodes)
    }

    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let scale = self.load(costs)?;
        self.solve_root(RootModel::Integer);
        Ok(self.search(costs, scale, None))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        if self.limits.gap > 0.0 {
            return self.solve(costs);
        }
        let scale = self.load(costs)?;
        self.solve_root(RootModel::Integer);
        let prices = self.root_duals(scale);
        let known = warm_start
            .take::<KnapsackWarmStart>()
            .filter(|known| known.fits(&self.items) && has_no_granularity(costs));
        let warm = known.map(|known| self.search(costs, scale, Some(known.cost(costs))));
        let unique = |warm: &Solution| {
            warm.status == SolveStatus::Optimal && self.workshop.best.is_unique_optimum()
        };
        let solution = warm.filter(unique).map_or_else(|| self.solve(costs), Ok)?;
        warm_start.set(KnapsackWarmStart::new(&solution.decision, &prices));
        Ok(solution)
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        let usable = self.limits.gap == 0.0
            && costs.len() == self.items.count()
            && has_no_granularity(costs);
        usable
            .then(|| self.certify_warm_start(costs, warm_start))
            .flatten()
    }
}

impl KnapsackBranchAndBound {
    /// Searches below the root, which is solved; `known` is what a choice is known to cost.
    fn search(&mut self, costs: &[f64], scale: f64, known: Option<f64>) -> Solution {
        let granularity = granularity(costs).map_or(0.0, |step| step * scale);
        self.workshop.best.reset(granularity, self.limits.gap);
        if let Some(known) = known {
            self.workshop.best.set_known_objective(known * scale);
        }
        let lowest = self.workshop.levels[0].objective();
        let source = TableauInput {
            items: &self.items,
            costs: &self.scaled,
        };
        let mut search = KnapsackSearchTree::new(source, &mut self.workshop, self.limits.nodes);
        search.run();
        let open = search.open_bound();
        self.nodes = search.nodes();
        let best = &self.workshop.best;
        let decision = Decision::from_indices(best.chosen().iter().copied());
        let objective = decision.dot(costs);
        let proved = if self.limits.gap > 0.0 {
            best.cutoff().max(lowest)
        } else {
            best.objective()
        };
        let bound = (proved.min(open.max(lowest)) / scale).min(objective);
        Solution {
            decision,
            objective,
            bound,
            status: self.status(open, objective, bound),
            work: 0,
        }
    }
}

impl KnapsackBranchAndBound {
    fn status(&self, open: f64, objective: f64, bound: f64) -> SolveStatus {
        let share = (objective - bound) / objective.abs().max(f64::MIN_POSITIVE);
        if open.is_finite() && share > self.limits.gap {
            SolveStatus::LimitReached
        } else if share > 1e-9 {
            SolveStatus::WithinGap(share)
        } else {
            SolveStatus::Optimal
        }
    }
}

/// The step of the grid on which all costs lie that matter.
fn granularity(costs: &[f64]) -> Option<f64> {
    step(&costs.iter().map(|cost| cost.min(0.0)))
}

/// Whether ties are as good as impossible.
fn has_no_granularity(costs: &[f64]) -> bool {
    granularity(costs).is_none()
}
