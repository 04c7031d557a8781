//! Branch and bound: depth first, one [`DenseTableau`] per depth.
//!
//! In every node the bounds of nonbasic integer columns are tightened to what the remaining gap
//! allows at their reduced costs. Branching uses penalties (Driebeek 1966, Tomlin 1971; see
//! [`crate::dense_tableau`]); ties go to the first row of the tableau.

use super::incumbent::DenseIncumbent;
use super::tableau::DenseTableau;
use super::{DenseModel, MAX_CELL_UPDATES};
use crate::dense_tableau::{
    BranchDirection, MAX_ROUNDED_NODES, NodeAction, PenaltyBranching, TableauStatus,
};
use regretless_base::cancellation;

/// Distance from an integer below which a value counts as integral. Points are checked against the
/// rows, so it only has to exceed rounding errors.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;
/// Pivots after which a tableau is refactored: trades the time of a refactorization against
/// accumulated rounding errors. Untuned.
const REFACTOR_INTERVAL: u32 = 50;
/// Maximum depth: bounds the memory of the tableaus; deeper searches are left to HiGHS.
const MAX_DEPTH: usize = 200;

/// One search.
pub(super) struct DenseSearchTree<'a> {
    model: &'a DenseModel,
    costs: &'a [f64],
    tableau_per_depth: &'a mut Vec<DenseTableau>,
    incumbent: &'a mut DenseIncumbent,
    nodes: u64,
    /// Cell updates so far.
    work: u64,
    /// Whether the search was abandoned; HiGHS then solves the model.
    is_abandoned: bool,
    /// Whether it was abandoned because it was canceled or reached its time limit.
    is_stopped: bool,
}

/// The result of a search.
pub(super) struct DenseTreeResult {
    /// Optimum of the LP relaxation.
    pub(super) root_bound: f64,
    pub(super) nodes: u64,
    /// Whether all nodes were explored or pruned.
    pub(super) is_complete: bool,
}

impl<'a> DenseSearchTree<'a> {
    pub(super) fn new(
        model: &'a DenseModel,
        costs: &'a [f64],
        tableau_per_depth: &'a mut Vec<DenseTableau>,
        incumbent: &'a mut DenseIncumbent,
    ) -> Self {
        Self {
            model,
            costs,
            tableau_per_depth,
            incumbent,
            nodes: 0,
            work: 0,
            is_abandoned: false,
            is_stopped: false,
        }
    }

    /// Searches; `None` when HiGHS has to solve the model.
    pub(super) fn run(&mut self) -> Option<DenseTreeResult> {
        if self.tableau_per_depth.is_empty() {
            self.tableau_per_depth.push(DenseTableau::default());
        }
        // A column without a finite bound on the side of lower cost has no dual feasible start.
        if !self.tableau_per_depth[0].start(self.model, self.costs) || !self.reoptimize(0) {
            return None;
        }
        let root_bound = self.tableau_per_depth[0].objective;
        self.explore(0);
        let result = DenseTreeResult {
            root_bound,
            nodes: self.nodes,
            is_complete: !self.is_abandoned,
        };
        (result.is_complete || self.is_stopped).then_some(result)
    }

    /// Cell updates so far.
    pub(super) fn cell_updates(&self) -> u64 {
        self.work
    }

    /// Solves the LP of a level; false when that prunes it, or the search is abandoned.
    fn reoptimize(&mut self, level: usize) -> bool {
        let tableau = &mut self.tableau_per_depth[level];
        let is_accurate =
            // After many pivots the tableau is computed anew; a singular basis ends the search.
            tableau.age <= REFACTOR_INTERVAL || tableau.refactor(self.model, self.costs);
        let status = if is_accurate {
            tableau.solve(self.incumbent.cutoff(), &mut self.work)
        } else {
            TableauStatus::Stuck
        };
        // Work is counted in cell updates, so the decision to leave a model to HiGHS is the same on
        // any machine.
        self.is_abandoned |= status == TableauStatus::Stuck || self.work > MAX_CELL_UPDATES;
        status == TableauStatus::Solved && !self.is_abandoned
    }

    /// Explores a node whose LP is solved, and its subtree.
    fn explore(&mut self, depth: usize) {
        while !self.is_abandoned {
            self.nodes += 1;
            if cancellation::requested() {
                (self.is_stopped, self.is_abandoned) = (true, true);
                return;
            }
            let is_open = match self.inspect(depth) {
                NodeAction::Prune => false,
                NodeAction::Fix { row, direction } => self.branch(depth, row, direction),
                NodeAction::Branch {
                    row,
                    first,
                    penalty,
                } => self.branch_both(depth, row, first, penalty),
                // Integral points are pruned by `inspect`.
                NodeAction::BranchOnNonbasic => false,
            };
            if !is_open {
                return;
            }
        }
    }

    /// Explores the first child in the next level; true when the second remains, in this level.
    fn branch_both(
        &mut self,
        depth: usize,
        row: usize,
        first: BranchDirection,
        penalty: f64,
    ) -> bool {
        // HiGHS has no limit on the depth.
        if depth == MAX_DEPTH {
            self.is_abandoned = true;
            return false;
        }
        self.descend(depth);
        if self.branch(depth + 1, row, first) {
            self.explore(depth + 1);
        }
        let bound = self.tableau_per_depth[depth].objective + penalty;
        // The penalty bounds the increase of the second child.
        if self.is_abandoned || bound >= self.incumbent.cutoff() {
            return false;
        }
        self.tighten_bounds(depth);
        self.branch(depth, row, first.opposite())
    }

    fn descend(&mut self, depth: usize) {
        if self.tableau_per_depth.len() == depth + 1 {
            self.tableau_per_depth.push(DenseTableau::default());
        }
        let (upper, lower) = self.tableau_per_depth.split_at_mut(depth + 1);
        lower[0].copy_from(&upper[depth]);
        // Copying is work as well.
        self.work += lower[0].cells.len() as u64;
    }

    /// Restricts a basic column to one side of its value; false when that prunes the node.
    fn branch(&mut self, level: usize, row: usize, direction: BranchDirection) -> bool {
        let tableau = &mut self.tableau_per_depth[level];
        let value = tableau.values[row];
        let bounds = &mut tableau.bounds[tableau.basic[row] as usize];
        match direction {
            BranchDirection::Down => bounds[1] = value.floor(),
            BranchDirection::Up => bounds[0] = value.ceil(),
        }
        self.reoptimize(level)
    }

    /// Tightens the bounds of nonbasic integer columns by their reduced costs.
    fn tighten_bounds(&mut self, level: usize) {
        let tableau = &mut self.tableau_per_depth[level];
        let gap = self.incumbent.cutoff() - tableau.objective;
        // Backwards, since fixing a variable removes its column.
        for position in (0..tableau.width).rev() {
            let reduced = tableau.reduced_cost_off_bound(position);
            if reduced > 0.0
                && self.model.integer[tableau.nonbasic[position] as usize]
                && gap.is_finite()
            {
                tableau.tighten_bounds(position, (gap.max(0.0) / reduced).floor());
            }
        }
    }

    fn inspect(&mut self, depth: usize) -> NodeAction {
        let tableau = &self.tableau_per_depth[depth];
        if tableau.objective >= self.incumbent.cutoff() {
            return NodeAction::Prune;
        }
        let is_integral = fractional(tableau, self.model).next().is_none();
        // Rounding the first nodes finds incumbents; later nodes are similar.
        if is_integral || self.nodes <= MAX_ROUNDED_NODES {
            let mut point = tableau.point(self.model.columns);
            if is_integral {
                round(&mut point, self.model);
                // The point is feasible in the tableau but violates a row: HiGHS must solve the
                // model.
                self.is_abandoned |= !self.incumbent.offer(self.model, self.costs, &point);
                return NodeAction::Prune;
            }
            self.incumbent.offer_rounded(self.model, self.costs, &point);
        }
        self.tighten_bounds(depth);
        self.choose(depth)
    }

    /// Chooses the branching row by penalties.
    fn choose(&self, depth: usize) -> NodeAction {
        let tableau = &self.tableau_per_depth[depth];
        let mut rule = PenaltyBranching::new(self.incumbent.cutoff() - tableau.objective);
        for (row, value) in fractional(tableau, self.model) {
            if rule.consider_row(row, self.penalties(tableau, row, value)) {
                return NodeAction::Prune;
            }
        }
        rule.action()
    }

    /// Penalties of rounding a basic column down and up: lower bounds on the increase of the
    /// objective.
    fn penalties(&self, tableau: &DenseTableau, row: usize, value: f64) -> [f64; 2] {
        let (down_change, up_change) = (value - value.floor(), value.ceil() - value);
        let (mut down, mut up) = (f64::INFINITY, f64::INFINITY);
        for position in 0..tableau.width {
            let rise = tableau.entry_off_bound(row, position);
            if rise != 0.0 {
                let is_integer = self.model.integer[tableau.nonbasic[position] as usize];
                // An integer column moves by at least a unit.
                let step = f64::from(u8::from(is_integer));
                let change = if rise > 0.0 { up_change } else { down_change };
                let cost =
                    tableau.reduced_cost_off_bound(position) * (change / rise.abs()).max(step);
                if rise > 0.0 {
                    up = up.min(cost);
                } else {
                    down = down.min(cost);
                }
            }
        }
        [down, up]
    }
}

/// Rows of integer columns with fractional values, and the values.
fn fractional<'t>(
    tableau: &'t DenseTableau,
    model: &'t DenseModel,
) -> impl Iterator<Item = (usize, f64)> + 't {
    let values = tableau.basic.iter().zip(&tableau.values).enumerate();
    let fractional = values.filter(|(_, (variable, value))| {
        model.integer[**variable as usize]
            && (**value - value.round()).abs() > INTEGRALITY_TOLERANCE
    });
    fractional.map(|(row, (_, value))| (row, *value))
}

fn round(point: &mut [f64], model: &DenseModel) {
    for (value, is_integer) in point.iter_mut().zip(&model.integer) {
        if *is_integer {
            *value = value.round();
        }
    }
}
