//! What branch and cut needs, whatever it searches for.
//!
//! * `sheet`: a linear programme whose rows come and go. `waiting`: nodes that wait, and what is
//!   proven of those that went. `tail`: when further cuts are not worth it.

mod sheet;
mod tail;
mod waiting;

pub(super) use sheet::{BasisSnapshot, LpRelaxation, retain_unmarked, scaling_factor};
pub(super) use tail::TailingOff;
pub(super) use waiting::{NodeQueue, SearchResult};

/// The two nodes an edge joins, the lower first.
pub(super) type EdgeEnds = [u32; 2];
