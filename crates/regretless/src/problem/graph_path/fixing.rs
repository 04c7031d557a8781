//! The best path with fixed choices, as in the algorithm of Yen (1971).

use std::sync::Arc;

use super::{GraphPath, ShapeKind};
use crate::problem::arc_table::ArcTable;

/// Why an arc or node cannot be forced.
pub(super) const NO_FORCING: &str = "the shortest path through a given place of a graph with \
    cycles is an NP-hard problem";

/// The best path with fixed choices, as in the algorithm of Yen (1971): forced arcs that begin the
/// path are cut off, and arcs are closed.
impl GraphPath {
    /// The nodes that arcs lead through from the source, one after the other; `None` if they do not
    /// begin a path.
    pub(super) fn nodes_along(&self, arcs: &ArcTable, chosen: &[u32]) -> Option<Vec<u32>> {
        let order = self.order_along(arcs, chosen);
        if order.len() < chosen.len() {
            return None;
        }
        let mut nodes = vec![self.source];
        for arc in order {
            let [_, to] = arcs.ends()[arc as usize];
            if nodes.contains(&to) {
                return None;
            }
            nodes.push(to);
        }
        Some(nodes)
    }

    /// The nodes of a grid with which a path begins, if these are, in order, the first ones of one;
    /// without any, the source.
    pub(super) fn beginning_of_nodes(&self, nodes: &[u32]) -> Option<Vec<u32>> {
        if nodes.is_empty() {
            return Some(vec![self.source]);
        }
        let is_step = |ends: &[u32]| {
            let mut steps = self.shape.graph.leaving(ends[0]).iter();
            ends[0] != self.target && steps.any(|arc| arc.node == ends[1])
        };
        let are_steps = nodes.windows(2).all(is_step);
        (nodes[0] == self.source && are_steps).then(|| nodes.to_vec())
    }

    /// The arcs that lead on from the source, one after the other, up to the target or to a node
    /// that none of them leaves.
    pub(super) fn order_along(&self, arcs: &ArcTable, chosen: &[u32]) -> Vec<u32> {
        let mut left: Vec<u32> = chosen.to_vec();
        let mut order = Vec::with_capacity(left.len());
        let mut node = self.source;
        while node != self.target
            && let Some(place) = left
                .iter()
                .position(|arc| arcs.ends()[*arc as usize][0] == node)
        {
            let arc = left.swap_remove(place);
            node = arcs.ends()[arc as usize][1];
            order.push(arc);
        }
        order
    }

    /// Paths that go on from the last of these nodes, without the others and the closed places.
    pub(super) fn continued_from(&self, nodes: &[u32], closed: &[u32]) -> Self {
        let mut present = self.open_flags();
        for place in closed {
            present[*place as usize] = false;
        }
        let (source, passed) = nodes.split_last().unwrap_or((&self.source, &[]));
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => {
                for ([from, to], is_open) in arcs.ends().iter().zip(&mut present) {
                    if passed.contains(from) || passed.contains(to) {
                        *is_open = false;
                    }
                }
            }
            ShapeKind::Grid(_) => {
                for node in passed {
                    present[*node as usize] = false;
                }
            }
        }
        Self {
            shape: Arc::clone(&self.shape),
            source: *source,
            target: self.target,
            present: Some(present.into()),
        }
    }
}
