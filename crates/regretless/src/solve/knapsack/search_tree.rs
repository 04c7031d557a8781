//! Branch and bound for the knapsack: depth first, one [`Tableau`] per depth.
//!
//! The search is split by the number of chosen items: around the linear programme's own number,
//! each count becomes one equality and one tree, as long as its bound is below the cutoff (the
//! bound is convex in the count, so each side ends at the first failure). In every node items whose
//! reduced cost exceeds the remaining gap are decided. The penalty of a side is what the first
//! pivot must cost at least, knowing that items move by whole steps (Driebeek 1966, Tomlin 1971); a
//! side whose penalty closes it is not visited, and the item whose cheaper side costs most is
//! branched on, the cheaper side first.

use super::dual_simplex::{DualSimplex, TableauStatus};
use super::greedy_rounding::GreedyRounding;
use super::incumbent::KnapsackIncumbent;
use super::simd;
use super::tableau::{BranchDirection, KnapsackTableau, TableauInput};
use crate::cancellation;

/// Distance from 0 or 1 below which a value counts as whole.
const INTEGRALITY_TOLERANCE: f64 = 1e-10;
/// Pivots after which a tableau is computed anew.
const REFACTOR_INTERVAL: u32 = 60;

/// Nodes whose linear programme is rounded and improved.
const MAX_ROUNDED_NODES: u64 = 10;

/// Memory that one search leaves to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) levels: Vec<KnapsackTableau>,
    pub(super) simplex: DualSimplex,
    pub(super) start: GreedyRounding,
    pub(super) best: KnapsackIncumbent,
    pub(super) taken: Vec<u32>,
}

/// What a node does next.
#[derive(Debug, Clone, Copy)]
enum KnapsackNodeAction {
    /// Nothing better below.
    Close,
    /// One side is all that is left.
    Fix(usize, BranchDirection),
    /// First one side, then the other if its penalty still allows.
    Branch {
        row: usize,
        first: BranchDirection,
        penalty: f64,
    },
    /// The linear programme does not help: decide any item.
    Split,
}

/// One search.
pub(super) struct KnapsackSearchTree<'a> {
    source: TableauInput<'a>,
    workshop: &'a mut Workspace,
    most_nodes: u64,
    nodes: u64,
    /// Whether the counting row has been fixed.
    counted: bool,
    stopped: bool,
    /// Lowest bound of what was left unvisited.
    open: f64,
}

impl<'a> KnapsackSearchTree<'a> {
    pub(super) fn new(
        source: TableauInput<'a>,
        workshop: &'a mut Workspace,
        most_nodes: u64,
    ) -> Self {
        workshop
            .levels
            .resize_with(workshop.levels.len().max(4), KnapsackTableau::default);
        Self {
            source,
            workshop,
            most_nodes,
            nodes: 0,
            counted: false,
            stopped: false,
            open: f64::INFINITY,
        }
    }

    /// The lowest bound of what was left unvisited; infinite after a complete search.
    pub(super) fn open_bound(&self) -> f64 {
        self.open
    }

    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Searches everything below the root, whose linear programme has been solved in level 0.
    pub(super) fn run(&mut self) {
        let Workspace {
            levels,
            start,
            best,
            taken,
            ..
        } = &mut *self.workshop;
        start.round(self.source, &levels[0], taken, best);
        self.fix_by_reduced_cost(0);
        let Workspace {
            levels,
            start,
            best,
            taken,
            ..
        } = &mut *self.workshop;
        start.polish(self.source, &levels[0], taken, best);
        self.fix_by_reduced_cost(0);
        if self.workshop.levels[0].objective() < self.workshop.best.cutoff() {
            self.split_by_count();
        }
    }

    /// Levels 1 and 2 hold the next count below and above, solved; level 3 the tree in work.
    fn split_by_count(&mut self) {
        self.counted = true;
        let mark = self.workshop.taken.len();
        let number = self.root_count();
        let below = (number + 1e-7).floor();
        let mut next = [below, below + 1.0];
        let mut bound = [self.solve_count(1, next[0]), self.solve_count(2, next[1])];
        loop {
            let side = usize::from(bound[1] < bound[0]);
            if bound[side] >= self.workshop.best.cutoff() {
                return;
            }
            if self.stopped {
                self.open = self.open.min(bound[side]);
                return;
            }
            self.workshop.levels.swap(side + 1, 3);
            self.explore(3);
            self.workshop.taken.truncate(mark);
            next[side] += if side == 0 { -1.0 } else { 1.0 };
            bound[side] = self.solve_count(side + 1, next[side]);
        }
    }

    /// How many undecided items the linear programme of the root takes.
    fn root_count(&self) -> f64 {
        let root = &self.workshop.levels[0];
        let decided = self.source.items.rhs()[root.rows() - 1] - root.rest()[root.rows() - 1];
        let nonbasic = root
            .codes()
            .iter()
            .filter(|code| root.is_item(**code) && code.complemented())
            .count();
        let basic = root
            .basics()
            .iter()
            .zip(root.values())
            .filter(|(code, _)| root.is_item(**code));
        let basic: f64 = basic
            .map(|(code, v)| if code.complemented() { 1.0 - v } else { *v })
            .sum();
        decided + nonbasic as f64 + basic
    }

    /// Solves the linear programme of one count; infinite when it is closed.
    fn solve_count(&mut self, level: usize, number: f64) -> f64 {
        if number < 0.0 {
            return f64::INFINITY;
        }
        let (root, others) = self.workshop.levels.split_at_mut(1);
        let tableau = &mut others[level - 1];
        tableau.copy_from(&root[0]);
        tableau.fix_item_count(number as usize, self.source.items.rhs()[root[0].rows() - 1]);
        match self.reoptimize(level, root_row(&self.workshop.levels[0])) {
            TableauStatus::CutOff => f64::INFINITY,
            TableauStatus::Solved | TableauStatus::Stuck => self.workshop.levels[level].objective(),
        }
    }

    /// Drives the variable that was just decided out of the basis and restores feasibility.
    fn reoptimize(&mut self, level: usize, row: usize) -> TableauStatus {
        let Workspace {
            levels,
            simplex,
            best,
            ..
        } = &mut *self.workshop;
        let tableau = &mut levels[level];
        match simplex.pivot_out(tableau, row) {
            TableauStatus::Solved => {}
            TableauStatus::CutOff => return TableauStatus::CutOff,
            TableauStatus::Stuck => return self.restart(level),
        }
        if tableau.age() > REFACTOR_INTERVAL && !tableau.refactor(self.source) {
            return self.restart(level);
        }
        match simplex.solve(tableau, best.cutoff()) {
            TableauStatus::Stuck => self.restart(level),
            end => end,
        }
    }

    /// Goes back to the slack basis, which is always sound.
    fn restart(&mut self, level: usize) -> TableauStatus {
        let Workspace {
            levels,
            simplex,
            best,
            ..
        } = &mut *self.workshop;
        levels[level].restart(self.source, self.counted);
        simplex.solve(&mut levels[level], best.cutoff())
    }

    /// Visits a node whose linear programme has been solved, and all below it.
    fn explore(&mut self, depth: usize) {
        loop {
            self.nodes += 1;
            if self.nodes > self.most_nodes || cancellation::requested() {
                self.stopped = true;
                return self.record_open_node(depth);
            }
            let go_on = match self.inspect(depth) {
                KnapsackNodeAction::Close => false,
                KnapsackNodeAction::Fix(row, side) => self.fix_basic(depth, row, side),
                KnapsackNodeAction::Branch {
                    row,
                    first,
                    penalty,
                } => self.branch(depth, (row, first, penalty)),
                KnapsackNodeAction::Split => self.split(depth),
            };
            if !go_on {
                return;
            }
        }
    }

    fn record_open_node(&mut self, depth: usize) {
        self.open = self.open.min(self.workshop.levels[depth].objective());
    }

    /// Visits one child in the next level; true when the other remains, in this level.
    fn branch(
        &mut self,
        depth: usize,
        (row, first, penalty): (usize, BranchDirection, f64),
    ) -> bool {
        let mark = self.descend(depth);
        if self.fix_basic(depth + 1, row, first) {
            self.explore(depth + 1);
        }
        self.workshop.taken.truncate(mark);
        if self.workshop.levels[depth].objective() + penalty >= self.workshop.best.cutoff() {
            return false;
        }
        if self.stopped {
            self.record_open_node(depth);
            return false;
        }
        self.fix_by_reduced_cost(depth);
        let second = if first == BranchDirection::Down {
            BranchDirection::Up
        } else {
            BranchDirection::Down
        };
        self.fix_basic(depth, row, second)
    }

    /// Branches on a nonbasic item from the slack basis; true when the second child remains.
    fn split(&mut self, depth: usize) -> bool {
        self.workshop.levels[depth].restart(self.source, self.counted);
        if self.workshop.levels[depth].width() == 0 {
            return false;
        }
        let mark = self.descend(depth);
        if self.fix_first_nonbasic(depth + 1) {
            self.explore(depth + 1);
        }
        self.workshop.taken.truncate(mark);
        if self.stopped {
            self.record_open_node(depth);
            return false;
        }
        self.workshop.levels[depth].flip(0);
        self.fix_first_nonbasic(depth)
    }

    /// Decides the first nonbasic item at its present value; false when that closes the node.
    fn fix_first_nonbasic(&mut self, level: usize) -> bool {
        let Workspace {
            levels,
            simplex,
            best,
            taken,
            ..
        } = &mut *self.workshop;
        taken.extend(levels[level].fix_nonbasic(0, self.source));
        simplex.solve(&mut levels[level], best.cutoff()) != TableauStatus::CutOff
    }

    /// Copies a node one level down; returns how many items are taken in it.
    fn descend(&mut self, depth: usize) -> usize {
        let levels = &mut self.workshop.levels;
        if levels.len() == depth + 1 {
            levels.push(KnapsackTableau::default());
        }
        let (upper, lower) = levels.split_at_mut(depth + 1);
        lower[0].copy_from(&upper[depth]);
        self.workshop.taken.len()
    }

    /// Decides a basic item; false when that closes the node.
    fn fix_basic(&mut self, level: usize, row: usize, side: BranchDirection) -> bool {
        let Workspace { levels, taken, .. } = &mut *self.workshop;
        taken.extend(levels[level].fix_basic(row, side, self.source));
        self.reoptimize(level, row) != TableauStatus::CutOff
    }

    /// Decides all items whose reduced cost exceeds the remaining gap.
    fn fix_by_reduced_cost(&mut self, level: usize) {
        let Workspace {
            levels,
            best,
            taken,
            ..
        } = &mut *self.workshop;
        let tableau = &mut levels[level];
        let gap = best.cutoff() - tableau.objective();
        for position in (0..tableau.width()).rev() {
            if tableau.reduced()[position] >= gap && tableau.steps()[position] > 0.0 {
                taken.extend(tableau.fix_nonbasic(position, self.source));
            }
        }
    }

    fn inspect(&mut self, depth: usize) -> KnapsackNodeAction {
        if self.is_integral(depth) && !self.offer(depth) {
            return KnapsackNodeAction::Split;
        }
        let tableau = &self.workshop.levels[depth];
        if tableau.objective() >= self.workshop.best.cutoff() {
            return KnapsackNodeAction::Close;
        }
        if self.nodes <= MAX_ROUNDED_NODES {
            let Workspace {
                levels,
                start,
                best,
                taken,
                ..
            } = &mut *self.workshop;
            start.polish(self.source, &levels[depth], taken, best);
        }
        self.fix_by_reduced_cost(depth);
        choose(&self.workshop.levels[depth], self.workshop.best.cutoff())
    }

    fn is_integral(&self, depth: usize) -> bool {
        let tableau = &self.workshop.levels[depth];
        let items = tableau
            .basics()
            .iter()
            .zip(tableau.values())
            .filter(|(code, _)| tableau.is_item(**code));
        items.into_iter().all(|(_, value)| {
            *value <= INTEGRALITY_TOLERANCE || *value >= 1.0 - INTEGRALITY_TOLERANCE
        })
    }

    fn offer(&mut self, depth: usize) -> bool {
        let Workspace {
            levels,
            best,
            taken,
            ..
        } = &mut *self.workshop;
        let tableau = &levels[depth];
        let nonbasic = tableau.codes().iter().filter(|code| code.complemented());
        let basic = tableau.basics().iter().zip(tableau.values());
        let basic = basic.filter(|(code, value)| {
            tableau.is_item(**code) && (**value > 0.5) != code.complemented()
        });
        let chosen = nonbasic
            .chain(basic.map(|(code, _)| code))
            .map(|code| code.variable() as u32);
        best.offer(self.source, taken.iter().copied().chain(chosen))
    }
}

/// The counting row, whose slack is basic in the root.
fn root_row(root: &KnapsackTableau) -> usize {
    root.rows() - 1
}

/// The row to branch on and what both sides cost at least.
fn choose(tableau: &KnapsackTableau, cutoff: f64) -> KnapsackNodeAction {
    let gap = cutoff - tableau.objective();
    let mut chosen = KnapsackNodeAction::Split;
    let mut max = (-1.0, -1.0);
    for (row, (code, value)) in tableau.basics().iter().zip(tableau.values()).enumerate() {
        if !tableau.is_item(*code)
            || *value <= INTEGRALITY_TOLERANCE
            || *value >= 1.0 - INTEGRALITY_TOLERANCE
        {
            continue;
        }
        let [down, up] = simd::penalties(tableau, row, *value);
        let (min, other) = (down.min(up), down.max(up));
        if min >= gap {
            return KnapsackNodeAction::Close;
        }
        let first = if down <= up {
            BranchDirection::Down
        } else {
            BranchDirection::Up
        };
        if other >= gap {
            chosen = KnapsackNodeAction::Fix(row, first);
            max = (f64::INFINITY, f64::INFINITY);
        } else if (min, other) > max {
            chosen = KnapsackNodeAction::Branch {
                row,
                first,
                penalty: other,
            };
            max = (min, other);
        }
    }
    chosen
}
