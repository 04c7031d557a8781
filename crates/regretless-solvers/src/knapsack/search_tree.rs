//! Branch and bound for the knapsack: depth first, one [`KnapsackTableau`] per depth.
//!
//! The search is split by the cardinality, the number of chosen items. From that of the LP solution
//! downward and upward, each cardinality becomes one equation and one tree, as long as its bound is
//! below the cutoff (the bound is convex in the cardinality, so each direction ends at the first
//! bound that is not). In every node items whose reduced cost reaches the remaining gap are fixed.
//! Branching uses penalties (Driebeek 1966, Tomlin 1971; see [`crate::dense_tableau`]).

use super::dual_simplex::DualSimplex;
use super::greedy_rounding::{GreedyRounding, RoundingEffort};
use super::incumbent::KnapsackIncumbent;
use super::simd;
use super::tableau::{KnapsackTableau, TableauInput};
use crate::dense_tableau::{
    BranchDirection, MAX_ROUNDED_NODES, NodeAction, PenaltyBranching, TableauStatus,
};
use regretless_base::cancellation;

/// Distance from 0 or 1 below which a value counts as integral. Candidates are checked exactly, so
/// it only has to exceed the rounding errors of values near 1.
const INTEGRALITY_TOLERANCE: f64 = 1e-10;
/// Pivots after which a tableau is refactored: trades the time of a refactorization against
/// accumulated rounding errors. Untuned.
const REFACTOR_INTERVAL: u32 = 60;
/// Distance below an integer from which on the root's number of items counts as that integer: above
/// the rounding errors of the sum.
const COUNT_TOLERANCE: f64 = 1e-7;

/// Level of the root.
const ROOT_LEVEL: usize = 0;
/// Level of the next cardinality below the root's, solved.
const BELOW_LEVEL: usize = 1;
/// Level of the next cardinality above the root's, solved.
const ABOVE_LEVEL: usize = 2;
/// First level of the tree in progress.
const FIRST_TREE_LEVEL: usize = 3;

/// Buffers that searches reuse.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// Tableaus: the root, the next cardinality on both sides, then one per depth of a tree.
    pub(super) tableaus: Vec<KnapsackTableau>,
    pub(super) simplex: DualSimplex,
    pub(super) rounding: GreedyRounding,
    pub(super) incumbent: KnapsackIncumbent,
    /// Items fixed at 1 in the current node.
    pub(super) chosen: Vec<u32>,
}

/// The trees on one side of the root's number of items.
#[derive(Debug, Clone, Copy)]
struct CountSide {
    /// Level of the next tree's tableau.
    level: usize,
    /// Its number of chosen items.
    count: f64,
    /// Difference from this number to the next.
    step: f64,
    /// Its lower bound.
    bound: f64,
}

/// One search.
pub(super) struct KnapsackSearchTree<'a> {
    input: TableauInput<'a>,
    workspace: &'a mut Workspace,
    max_nodes: u64,
    nodes: u64,
    /// Whether the cardinality row is an equation.
    is_count_fixed: bool,
    is_stopped: bool,
    /// Lowest bound of the unexplored nodes.
    open_bound: f64,
}

impl<'a> KnapsackSearchTree<'a> {
    pub(super) fn new(
        input: TableauInput<'a>,
        workspace: &'a mut Workspace,
        max_nodes: u64,
    ) -> Self {
        let tableaus = &mut workspace.tableaus;
        tableaus.resize_with(
            tableaus.len().max(FIRST_TREE_LEVEL + 1),
            KnapsackTableau::default,
        );
        Self {
            input,
            workspace,
            max_nodes,
            nodes: 0,
            is_count_fixed: false,
            is_stopped: false,
            open_bound: f64::INFINITY,
        }
    }

    /// The lowest bound of the unexplored nodes; infinite after a complete search.
    pub(super) fn open_bound(&self) -> f64 {
        self.open_bound
    }

    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Searches the tree below the root, whose LP is solved in its level.
    pub(super) fn run(&mut self) {
        self.round(ROOT_LEVEL, RoundingEffort::Greedy);
        // Before the tree, fixing is cheap, and every later node is smaller for it.
        self.fix_by_reduced_cost(ROOT_LEVEL);
        self.round(ROOT_LEVEL, RoundingEffort::Swaps);
        // The swaps may have improved the incumbent, which fixes more.
        self.fix_by_reduced_cost(ROOT_LEVEL);
        if self.workspace.tableaus[ROOT_LEVEL].objective() < self.workspace.incumbent.cutoff() {
            self.split_by_count();
        }
    }

    /// Offers the rounded LP solution of a level.
    fn round(&mut self, level: usize, effort: RoundingEffort) {
        let Workspace {
            tableaus,
            rounding,
            incumbent,
            chosen,
            ..
        } = &mut *self.workspace;
        rounding.round(self.input, &tableaus[level], chosen, incumbent, effort);
    }

    /// Searches one tree per number of chosen items, the tree with the lower bound first.
    fn split_by_count(&mut self) {
        // With a fixed number of items the LP is tighter: its optimum at the root mostly has a
        // fractional number.
        self.is_count_fixed = true;
        let num_chosen = self.workspace.chosen.len();
        // The tolerance keeps a number that is integral up to rounding on its own side.
        let count = (self.root_count() + COUNT_TOLERANCE).floor();
        let mut below = CountSide {
            level: BELOW_LEVEL,
            count,
            step: -1.0,
            bound: self.solve_count(BELOW_LEVEL, count),
        };
        let mut above = CountSide {
            level: ABOVE_LEVEL,
            count: count + 1.0,
            step: 1.0,
            bound: self.solve_count(ABOVE_LEVEL, count + 1.0),
        };
        loop {
            // The side of lower bound first: its trees are likelier to improve the incumbent.
            let side = if above.bound < below.bound {
                &mut above
            } else {
                &mut below
            };
            // Bounds rise with the distance from the root's number, as the LP's objective is convex
            // in it: all further trees are pruned, too.
            if side.bound >= self.workspace.incumbent.cutoff() {
                return;
            }
            if self.is_stopped {
                self.open_bound = self.open_bound.min(side.bound);
                return;
            }
            self.workspace.tableaus.swap(side.level, FIRST_TREE_LEVEL);
            self.explore(FIRST_TREE_LEVEL);
            // Items that the tree fixed are freed.
            self.workspace.chosen.truncate(num_chosen);
            side.count += side.step;
            side.bound = self.solve_count(side.level, side.count);
        }
    }

    /// The number of chosen items in the LP solution of the root.
    fn root_count(&self) -> f64 {
        let root = &self.workspace.tableaus[ROOT_LEVEL];
        let row = count_row(root);
        let fixed = self.input.items.rhs()[row] - root.residual_rhs()[row];
        let mut nonbasic = 0_usize;
        for variable in root.nonbasics() {
            nonbasic += usize::from(root.is_item(*variable) && variable.is_complemented());
        }
        let mut basic = 0.0;
        for (variable, value) in root.basics().iter().zip(root.values()) {
            if root.is_item(*variable) {
                basic += if variable.is_complemented() {
                    1.0 - value
                } else {
                    *value
                };
            }
        }
        fixed + nonbasic as f64 + basic
    }

    /// The bound of the tree with this number of chosen items, whose LP is solved in a level;
    /// infinite if it is cut off.
    fn solve_count(&mut self, level: usize, count: f64) -> f64 {
        // No fewer than no items.
        if count < 0.0 {
            return f64::INFINITY;
        }
        let (root, others) = self.workspace.tableaus.split_at_mut(1);
        let row = count_row(&root[ROOT_LEVEL]);
        let tableau = &mut others[level - 1];
        tableau.copy_from(&root[ROOT_LEVEL]);
        tableau.fix_item_count(count as usize, self.input.items.rhs()[row]);
        match self.reoptimize(level, row) {
            TableauStatus::CutOff => f64::INFINITY,
            TableauStatus::Solved | TableauStatus::Stuck => {
                self.workspace.tableaus[level].objective()
            }
        }
    }

    /// Drives the variable that was just fixed out of the basis and reoptimizes.
    fn reoptimize(&mut self, level: usize, row: usize) -> TableauStatus {
        let Workspace {
            tableaus,
            simplex,
            incumbent,
            ..
        } = &mut *self.workspace;
        let tableau = &mut tableaus[level];
        match simplex.pivot_out(tableau, row) {
            TableauStatus::Solved => {}
            TableauStatus::CutOff => return TableauStatus::CutOff,
            TableauStatus::Stuck => return self.restart(level),
        }
        // After many pivots the tableau is computed anew from the data; a singular basis starts
        // from the slacks.
        if tableau.age() > REFACTOR_INTERVAL && !tableau.refactor(self.input) {
            return self.restart(level);
        }
        match simplex.solve(tableau, incumbent.cutoff()) {
            // A stuck solve is repeated from a basis without rounding errors.
            TableauStatus::Stuck => self.restart(level),
            status @ (TableauStatus::Solved | TableauStatus::CutOff) => status,
        }
    }

    /// Solves again from the slack basis, which is always dual feasible.
    fn restart(&mut self, level: usize) -> TableauStatus {
        let Workspace {
            tableaus,
            simplex,
            incumbent,
            ..
        } = &mut *self.workspace;
        tableaus[level].restart(self.input, self.is_count_fixed);
        simplex.solve(&mut tableaus[level], incumbent.cutoff())
    }

    /// Explores a node whose LP is solved, and its subtree.
    fn explore(&mut self, depth: usize) {
        loop {
            self.nodes += 1;
            // Counted in nodes, so a limit ends the search at the same place on every machine.
            if self.nodes > self.max_nodes || cancellation::requested() {
                self.is_stopped = true;
                return self.record_open_node(depth);
            }
            let is_open = match self.inspect(depth) {
                NodeAction::Prune => false,
                NodeAction::Fix { row, direction } => self.fix_basic(depth, row, direction),
                NodeAction::Branch {
                    row,
                    first,
                    penalty,
                } => self.branch(depth, row, first, penalty),
                NodeAction::BranchOnNonbasic => self.split(depth),
            };
            if !is_open {
                return;
            }
        }
    }

    fn record_open_node(&mut self, depth: usize) {
        let bound = self.workspace.tableaus[depth].objective();
        self.open_bound = self.open_bound.min(bound);
    }

    /// Explores the first child in the next level; true when the second remains, in this level.
    fn branch(&mut self, depth: usize, row: usize, first: BranchDirection, penalty: f64) -> bool {
        let num_chosen = self.descend(depth);
        if self.fix_basic(depth + 1, row, first) {
            self.explore(depth + 1);
        }
        self.workspace.chosen.truncate(num_chosen);
        // The penalty bounds the increase on either side.
        let bound = self.workspace.tableaus[depth].objective() + penalty;
        if bound >= self.workspace.incumbent.cutoff() {
            return false;
        }
        if self.is_stopped {
            self.record_open_node(depth);
            return false;
        }
        // The incumbent may be better than when the node was entered.
        self.fix_by_reduced_cost(depth);
        self.fix_basic(depth, row, first.opposite())
    }

    /// Branches on a nonbasic item from the slack basis; true when the second child remains.
    fn split(&mut self, depth: usize) -> bool {
        self.workspace.tableaus[depth].restart(self.input, self.is_count_fixed);
        // No free items are left: the node has one point, which was offered.
        if self.workspace.tableaus[depth].width() == 0 {
            return false;
        }
        let num_chosen = self.descend(depth);
        if self.fix_first_nonbasic(depth + 1) {
            self.explore(depth + 1);
        }
        self.workspace.chosen.truncate(num_chosen);
        if self.is_stopped {
            self.record_open_node(depth);
            return false;
        }
        // The second child has the item at its other value.
        self.workspace.tableaus[depth].flip(0);
        self.fix_first_nonbasic(depth)
    }

    /// Fixes the first nonbasic item at its value; false when that prunes the node.
    fn fix_first_nonbasic(&mut self, level: usize) -> bool {
        let Workspace {
            tableaus,
            simplex,
            incumbent,
            chosen,
            ..
        } = &mut *self.workspace;
        chosen.extend(tableaus[level].fix_nonbasic(0, self.input));
        simplex.solve(&mut tableaus[level], incumbent.cutoff()) != TableauStatus::CutOff
    }

    /// Copies a node one level down; returns its number of items fixed at 1.
    fn descend(&mut self, depth: usize) -> usize {
        let tableaus = &mut self.workspace.tableaus;
        if tableaus.len() == depth + 1 {
            tableaus.push(KnapsackTableau::default());
        }
        let (upper, lower) = tableaus.split_at_mut(depth + 1);
        lower[0].copy_from(&upper[depth]);
        self.workspace.chosen.len()
    }

    /// Fixes a basic item; false when that prunes the node.
    fn fix_basic(&mut self, level: usize, row: usize, direction: BranchDirection) -> bool {
        let Workspace {
            tableaus, chosen, ..
        } = &mut *self.workspace;
        chosen.extend(tableaus[level].fix_basic(row, direction, self.input));
        self.reoptimize(level, row) != TableauStatus::CutOff
    }

    /// Fixes all items whose reduced cost reaches the remaining gap.
    fn fix_by_reduced_cost(&mut self, level: usize) {
        let Workspace {
            tableaus,
            incumbent,
            chosen,
            ..
        } = &mut *self.workspace;
        let tableau = &mut tableaus[level];
        let gap = incumbent.cutoff() - tableau.objective();
        // Backwards, since removing a column moves the last one into its place.
        for position in (0..tableau.width()).rev() {
            // Slacks (step 0) cannot be fixed.
            if tableau.reduced_costs()[position] >= gap && tableau.steps()[position] > 0.0 {
                chosen.extend(tableau.fix_nonbasic(position, self.input));
            }
        }
    }

    fn inspect(&mut self, depth: usize) -> NodeAction {
        // An integral point that violates a capacity by rounding: branching on a nonbasic item
        // makes progress nevertheless.
        if self.is_integral(depth) && !self.offer(depth) {
            return NodeAction::BranchOnNonbasic;
        }
        let tableau = &self.workspace.tableaus[depth];
        if tableau.objective() >= self.workspace.incumbent.cutoff() {
            return NodeAction::Prune;
        }
        // Only the first nodes: later ones are similar, and swaps take time.
        if self.nodes <= MAX_ROUNDED_NODES {
            self.round(depth, RoundingEffort::Swaps);
        }
        self.fix_by_reduced_cost(depth);
        choose(
            &self.workspace.tableaus[depth],
            self.workspace.incumbent.cutoff(),
        )
    }

    fn is_integral(&self, depth: usize) -> bool {
        let tableau = &self.workspace.tableaus[depth];
        let mut basics = tableau.basics().iter().zip(tableau.values());
        basics.all(|(variable, value)| !tableau.is_item(*variable) || !is_fractional(*value))
    }

    /// Offers the rounded LP solution of a level; false when it violates a capacity.
    fn offer(&mut self, depth: usize) -> bool {
        let Workspace {
            tableaus,
            incumbent,
            chosen,
            ..
        } = &mut *self.workspace;
        let tableau = &tableaus[depth];
        let nonbasic = tableau
            .nonbasics()
            .iter()
            .filter(|variable| variable.is_complemented());
        let basic = tableau.basics().iter().zip(tableau.values());
        let basic = basic.filter(|(variable, value)| {
            // Rounded at one half: values are within tolerance of 0 or 1 here.
            tableau.is_item(**variable) && (**value > 0.5) != variable.is_complemented()
        });
        let variables = nonbasic.chain(basic.map(|(variable, _)| variable));
        let items = variables.map(|variable| variable.index() as u32);
        incumbent.offer(self.input, chosen.iter().copied().chain(items))
    }
}

/// The cardinality row, whose slack is basic in the root.
fn count_row(root: &KnapsackTableau) -> usize {
    root.rows() - 1
}

fn is_fractional(value: f64) -> bool {
    value > INTEGRALITY_TOLERANCE && value < 1.0 - INTEGRALITY_TOLERANCE
}

/// Chooses the branching row by penalties.
fn choose(tableau: &KnapsackTableau, cutoff: f64) -> NodeAction {
    let mut rule = PenaltyBranching::new(cutoff - tableau.objective());
    for (row, (variable, value)) in tableau.basics().iter().zip(tableau.values()).enumerate() {
        if tableau.is_item(*variable)
            && is_fractional(*value)
            // A row whose penalties reach the cutoff on both sides prunes the node.
            && rule.consider_row(row, simd::penalties(tableau, row, *value))
        {
            return NodeAction::Prune;
        }
    }
    rule.action()
}
