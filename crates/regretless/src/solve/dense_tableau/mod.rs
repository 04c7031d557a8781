//! What the two branch-and-bound searches on dense simplex tableaus share.
//!
//! Both [`super::knapsack`] and `linear::dense_mip` search depth first with one tableau per depth
//! (Land and Doig 1960) and branch by the penalties of Driebeek (1966) and Tomlin (1971): the
//! penalty of a side is what the first dual simplex pivot must cost at least, given that integer
//! variables move by whole units. A side whose penalty reaches the cutoff is not visited; the
//! variable whose cheaper side costs most is branched on, the cheaper side first.
//!
//! The pivoting kernels stay separate. The knapsack tableau holds binary variables only: a variable
//! at its upper bound is replaced by its complement, so every nonbasic variable is 0, bounds and
//! directions need no storage, and the ratio test and the penalties are branch-free loops over
//! several columns at a time. The tableau of `dense_mip` has general bounds, and reads a bound and
//! a direction per column. Running the knapsack on the general kernel would slow its hot path.
//!
//! * `branching`: statuses, node actions and the branching rule.
//! * `granularity`: the smallest difference between two objectives, and the improvement that
//!   counts.
//! * `inverse`: the inverse of a small basis matrix.

mod branching;
mod granularity;
mod inverse;

pub(super) use self::branching::{BranchDirection, NodeAction, PenaltyBranching, TableauStatus};
pub(super) use self::granularity::{largest_common_step, min_improvement};
pub(super) use self::inverse::invert;

/// Nodes whose LP solution is rounded to an incumbent. Rounding costs more than a node and rarely
/// improves an incumbent found in the first few nodes; untuned beyond that.
pub(super) const MAX_ROUNDED_NODES: u64 = 10;
