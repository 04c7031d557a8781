//! Parts of branch and cut that the TSP and CVRP solvers share.
//!
//! * `lp_relaxation`: an LP with a cut pool, whose rows are added and deleted.
//! * `node_queue`: the open nodes of the search tree, and the bound on the nodes that were pruned.
//! * `tailing_off`: detects that further rounds of cuts raise the bound too little.

mod lp_relaxation;
mod node_queue;
mod tailing_off;

pub(super) use lp_relaxation::{BasisSnapshot, LpRelaxation, retain_unmarked, scaling_factor};
pub(super) use node_queue::{NodeQueue, SearchResult};
pub(super) use tailing_off::TailingOff;
