//! Parts shared by the two branch-and-bound searches on dense simplex tableaus.
//!
//! Both [`super::knapsack`] and `linear::dense_mip` search depth first with one tableau per depth
//! (Land and Doig 1960) and branch by the penalties of Driebeek (1966) and Tomlin (1971): the
//! penalty of a branch (down or up) is a lower bound on the increase of the objective in the first
//! dual simplex pivot, given that integer variables change by whole units. A branch whose penalty
//! reaches the cutoff minus the node's objective is not visited. The search branches on the
//! variable whose smaller penalty is largest, and explores the branch of the smaller penalty first.
//!
//! The pivoting kernels stay separate. The knapsack tableau holds binary variables only: a variable
//! at its upper bound is replaced by its complement, so every nonbasic variable is 0, which bound a
//! nonbasic variable is at needs no storage, and the ratio test and the penalties are loops without
//! conditional jumps over several columns at a time. The tableau of `dense_mip` has general bounds,
//! and reads the bounds of each column and which of them it is at. Running the knapsack on the
//! general kernel would slow down its inner loop.
//!
//! * `branching`: how the dual simplex method ended, what to do with a node (prune, fix, branch),
//!   and the branching rule.
//! * `granularity`: the smallest difference between two objectives, and the smallest improvement of
//!   an incumbent.
//! * `inverse`: the inverse of a small basis matrix.

mod branching;
mod granularity;
mod inverse;

pub(super) use self::branching::{BranchDirection, NodeAction, PenaltyBranching, TableauStatus};
pub(super) use self::granularity::{find_granularity, min_improvement};
pub(super) use self::inverse::{dot, invert};

/// Number of nodes, from the root on, whose LP solution is rounded to an incumbent. Rounding takes
/// longer than a node and rarely improves an incumbent found in the first few nodes; untuned beyond
/// that.
pub(super) const MAX_ROUNDED_NODES: u64 = 10;
