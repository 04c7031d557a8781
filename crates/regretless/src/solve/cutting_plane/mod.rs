//! What branch and cut needs, whatever it searches for.
//!
//! * `sheet`: a linear programme whose rows come and go. `waiting`: nodes that wait, and what is
//!   proven of those that went. `tail`: when further cuts are not worth it.

mod lp_relaxation;
mod node_queue;
mod tailing_off;

pub(super) use lp_relaxation::{BasisSnapshot, LpRelaxation, retain_unmarked, scaling_factor};
pub(super) use node_queue::{NodeQueue, SearchResult};
pub(super) use tailing_off::TailingOff;

/// The two nodes an edge joins, the lower first.
pub(super) type EdgeEnds = [u32; 2];
