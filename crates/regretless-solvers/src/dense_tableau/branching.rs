//! Statuses of a tableau, actions of a node, and the choice of the branching variable.

/// How the dual simplex method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableauStatus {
    /// The tableau is optimal.
    Solved,
    /// Infeasible, or the objective reached the cutoff.
    CutOff,
    /// Too many pivots, or only pivots too small for a stable exchange. The objective is still a
    /// valid lower bound.
    Stuck,
}

/// Side of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchDirection {
    /// The variable is at most its value rounded down.
    Down,
    /// The variable is at least its value rounded up.
    Up,
}

impl BranchDirection {
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// The next action of the search in a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NodeAction {
    /// No solution below the node can improve the incumbent.
    Prune,
    /// One side of the basic variable of a row is pruned: continue on the other.
    Fix {
        row: usize,
        direction: BranchDirection,
    },
    /// Explore one side, then the other unless `penalty`, its penalty, prunes it by then.
    Branch {
        row: usize,
        first: BranchDirection,
        penalty: f64,
    },
    /// Branch on a nonbasic variable: no basic variable is fractional, but the rounded point was
    /// rejected by the exact feasibility check, so the node cannot be pruned.
    BranchOnNonbasic,
}

/// Chooses the branching row from penalties.
pub(crate) struct PenaltyBranching {
    /// Cutoff minus the objective of the node.
    gap: f64,
    action: NodeAction,
    /// Smaller and larger penalty of the row chosen so far.
    best: (f64, f64),
}

impl PenaltyBranching {
    pub(crate) fn new(gap: f64) -> Self {
        Self {
            gap,
            action: NodeAction::BranchOnNonbasic,
            best: (-1.0, -1.0),
        }
    }

    /// Considers a fractional row as the branching row, with the penalties of both sides, down
    /// first. Returns whether both sides are pruned, and therefore the node.
    #[inline]
    pub(crate) fn consider_row(&mut self, row: usize, [down, up]: [f64; 2]) -> bool {
        let (smaller, larger) = (down.min(up), down.max(up));
        if smaller >= self.gap {
            return true;
        }
        let first = if down <= up {
            BranchDirection::Down
        } else {
            BranchDirection::Up
        };
        if larger >= self.gap {
            self.action = NodeAction::Fix {
                row,
                direction: first,
            };
            self.best = (f64::INFINITY, f64::INFINITY);
        } else if (smaller, larger) > self.best {
            self.action = NodeAction::Branch {
                row,
                first,
                penalty: larger,
            };
            self.best = (smaller, larger);
        }
        false
    }

    /// The action for the rows considered so far.
    pub(crate) fn action(&self) -> NodeAction {
        self.action
    }
}
