//! Branch and bound on tableaus: depth first, one [`Tableau`] per depth.
//!
//! In every node nonbasic whole columns are confined to what the remaining gap allows at their
//! reduced costs. The penalty of a side is what the first pivot must cost at least, knowing that
//! whole columns move by whole steps; a side whose penalty closes it is not visited, and the column
//! whose cheaper side costs most is branched on, the cheaper side first. Ties go to the first row
//! of the tableau.

use super::incumbent::DenseIncumbent;
use super::tableau::{DenseTableau, TableauStatus};
use super::{DenseModel, MAX_CELL_UPDATES};
use crate::cancellation;

/// Distance from a whole number below which a value counts as one.
const INTEGRALITY_TOLERANCE: f64 = 1e-9;
/// Pivots after which a tableau is computed anew.
const REFACTOR_INTERVAL: u32 = 50;
/// Deepest branch.
const MAX_DEPTH: usize = 200;
/// Nodes whose point is rounded.
const MAX_ROUNDED_NODES: u64 = 10;

/// Which way a column is branched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BranchDirection {
    Down,
    Up,
}

/// What a node does next.
#[derive(Debug, Clone, Copy)]
enum DenseNodeAction {
    /// Nothing better below.
    Close,
    /// One side is all that is left.
    Force(usize, BranchDirection),
    /// First one side, then the other if its penalty still allows.
    Branch {
        row: usize,
        first: BranchDirection,
        penalty: f64,
    },
}

/// One search.
pub(super) struct DenseSearchTree<'a> {
    data: &'a DenseModel,
    costs: &'a [f64],
    levels: &'a mut Vec<DenseTableau>,
    best: &'a mut DenseIncumbent,
    nodes: u64,
    work: u64,
    /// Whether the search has given up.
    lost: bool,
}

impl<'a> DenseSearchTree<'a> {
    pub(super) fn new(
        data: &'a DenseModel,
        costs: &'a [f64],
        (levels, best): (&'a mut Vec<DenseTableau>, &'a mut DenseIncumbent),
    ) -> Self {
        Self {
            data,
            costs,
            levels,
            best,
            nodes: 0,
            work: 0,
            lost: false,
        }
    }

    /// Searches; returns the optimum of the relaxation and the number of nodes, or nothing when it
    /// gave up.
    pub(super) fn run(&mut self) -> Option<(f64, u64)> {
        if self.levels.is_empty() {
            self.levels.push(DenseTableau::default());
        }
        if !self.levels[0].start(self.data, self.costs) || !self.reoptimize(0) {
            return None;
        }
        let lowest = self.levels[0].objective;
        self.explore(0);
        (!self.lost).then_some((lowest, self.nodes))
    }

    /// Changes of cells so far.
    pub(super) fn changes(&self) -> u64 {
        self.work
    }

    /// Solves the linear programme of a level; false when that closes it, or the search is lost.
    fn reoptimize(&mut self, level: usize) -> bool {
        let tableau = &mut self.levels[level];
        let fresh = tableau.age <= REFACTOR_INTERVAL || tableau.refactor(self.data, self.costs);
        let end = if fresh {
            tableau.solve(self.best.cutoff(), &mut self.work)
        } else {
            TableauStatus::Stuck
        };
        self.lost |= end == TableauStatus::Stuck || self.work > MAX_CELL_UPDATES;
        end == TableauStatus::Solved && !self.lost
    }

    /// Visits a node whose linear programme has been solved, and all below it.
    fn explore(&mut self, depth: usize) {
        while !self.lost {
            self.nodes += 1;
            // HiGHS, which takes over, ends at once as well.
            self.lost |= cancellation::requested();
            let go_on = match self.inspect(depth) {
                DenseNodeAction::Close => false,
                DenseNodeAction::Force(row, side) => self.branch(depth, row, side),
                DenseNodeAction::Branch {
                    row,
                    first,
                    penalty,
                } => self.branch_both(depth, (row, first, penalty)),
            };
            if !go_on {
                return;
            }
        }
    }

    /// Visits one child in the next level; true when the other remains, in this level.
    fn branch_both(
        &mut self,
        depth: usize,
        (row, first, penalty): (usize, BranchDirection, f64),
    ) -> bool {
        if depth == MAX_DEPTH {
            self.lost = true;
            return false;
        }
        self.descend(depth);
        if self.branch(depth + 1, row, first) {
            self.explore(depth + 1);
        }
        if self.lost || self.levels[depth].objective + penalty >= self.best.cutoff() {
            return false;
        }
        self.tighten_bounds(depth);
        self.branch(
            depth,
            row,
            if first == BranchDirection::Down {
                BranchDirection::Up
            } else {
                BranchDirection::Down
            },
        )
    }

    fn descend(&mut self, depth: usize) {
        if self.levels.len() == depth + 1 {
            self.levels.push(DenseTableau::default());
        }
        let (upper, lower) = self.levels.split_at_mut(depth + 1);
        lower[0].copy_from(&upper[depth]);
        self.work += lower[0].cells.len() as u64;
    }

    /// Keeps a basic column on one side of its value; false when that closes the node.
    fn branch(&mut self, level: usize, row: usize, side: BranchDirection) -> bool {
        let tableau = &mut self.levels[level];
        let value = tableau.values[row];
        let bounds = &mut tableau.bounds[tableau.basic[row] as usize];
        match side {
            BranchDirection::Down => bounds[1] = value.floor(),
            BranchDirection::Up => bounds[0] = value.ceil(),
        }
        self.reoptimize(level)
    }

    /// Confines nonbasic whole columns to what the remaining gap allows.
    fn tighten_bounds(&mut self, level: usize) {
        let tableau = &mut self.levels[level];
        let gap = self.best.cutoff() - tableau.objective;
        for position in (0..tableau.width).rev() {
            let price = tableau.reduced_cost_toward(position);
            if price > 0.0
                && self.data.integer[tableau.nonbasic[position] as usize]
                && gap.is_finite()
            {
                tableau.tighten_bounds(position, (gap.max(0.0) / price).floor());
            }
        }
    }

    fn inspect(&mut self, depth: usize) -> DenseNodeAction {
        let tableau = &self.levels[depth];
        if tableau.objective >= self.best.cutoff() {
            return DenseNodeAction::Close;
        }
        let whole = !fractional(tableau, self.data).any(|_| true);
        if whole || self.nodes <= MAX_ROUNDED_NODES {
            let mut point = tableau.point(self.data.columns);
            if whole {
                round(&mut point, self.data);
                // A point that the tableau takes for feasible and the rows do not: somebody else
                // must decide.
                self.lost |= !self.best.offer(self.data, self.costs, &point);
                return DenseNodeAction::Close;
            }
            self.best.offer_rounded(self.data, self.costs, &point);
        }
        self.tighten_bounds(depth);
        self.choose(depth)
    }

    /// The row to branch on and what both sides cost at least.
    fn choose(&self, depth: usize) -> DenseNodeAction {
        let tableau = &self.levels[depth];
        let gap = self.best.cutoff() - tableau.objective;
        let (mut chosen, mut max) = (DenseNodeAction::Close, (-1.0, -1.0));
        for (row, value) in fractional(tableau, self.data) {
            let [down, up] = self.penalties(tableau, row, value);
            let (min, other) = (down.min(up), down.max(up));
            if min >= gap {
                return DenseNodeAction::Close;
            }
            let first = if down <= up {
                BranchDirection::Down
            } else {
                BranchDirection::Up
            };
            if other >= gap {
                (chosen, max) = (
                    DenseNodeAction::Force(row, first),
                    (f64::INFINITY, f64::INFINITY),
                );
            } else if (min, other) > max {
                (chosen, max) = (
                    DenseNodeAction::Branch {
                        row,
                        first,
                        penalty: other,
                    },
                    (min, other),
                );
            }
        }
        chosen
    }

    /// What keeping a basic column below or above its value costs at least.
    fn penalties(&self, tableau: &DenseTableau, row: usize, value: f64) -> [f64; 2] {
        let needed = [value - value.floor(), value.ceil() - value];
        let mut min = [f64::INFINITY; 2];
        for position in 0..tableau.width {
            let rise = tableau.entry_toward(row, position);
            if rise != 0.0 {
                let side = usize::from(rise > 0.0);
                let step = f64::from(u8::from(
                    self.data.integer[tableau.nonbasic[position] as usize],
                ));
                let cost =
                    tableau.reduced_cost_toward(position) * (needed[side] / rise.abs()).max(step);
                min[side] = min[side].min(cost);
            }
        }
        min
    }
}

/// Rows of whole columns with other values, and these.
fn fractional<'t>(
    tableau: &'t DenseTableau,
    data: &'t DenseModel,
) -> impl Iterator<Item = (usize, f64)> + 't {
    let values = tableau.basic.iter().zip(&tableau.values).enumerate();
    let split = values.filter(|(_, (variable, value))| {
        data.integer[**variable as usize] && (**value - value.round()).abs() > INTEGRALITY_TOLERANCE
    });
    split.map(|(row, (_, value))| (row, *value))
}

fn round(point: &mut [f64], data: &DenseModel) {
    for (value, _) in point
        .iter_mut()
        .zip(&data.integer)
        .filter(|(_, integer)| **integer)
    {
        *value = value.round();
    }
}
