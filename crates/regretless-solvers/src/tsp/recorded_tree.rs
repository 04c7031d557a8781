//! Record of a finished search tree, which guides the next search of the same instance: the
//! branching edges, and the multipliers of every node.
//!
//! A search that follows the record does not rely on it: it builds a new 1-tree in every node. Good
//! multipliers and branchings only make it likely that a single 1-tree closes the node.

use super::sparse_graph::{EdgeState, SparseGraph};
use crate::complete_graph::EdgeEnds;

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;
/// Largest tree that is recorded. Each tree node stores one multiplier per graph node, so this
/// limits the memory of a warm start; following a larger tree would also take as long as a new
/// search.
const MAX_RECORDED_NODES: usize = 256;

/// The two branches of a tree node: tours without and tours with the branching edge.
#[derive(Debug, Clone, Copy)]
pub(super) enum EdgeBranch {
    Excluded,
    Included,
}

/// A recorded search tree.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedTree {
    nodes: Vec<RecordedNode>,
    /// Multipliers of all nodes, one after the other.
    multipliers: Vec<f64>,
    /// Whether the tree was too large to be recorded.
    overflowed: bool,
}

/// A recorded node.
#[derive(Debug, Clone, Copy)]
struct RecordedNode {
    /// Ends of the branching edge; `None` in a leaf.
    branching_edge: Option<EdgeEnds>,
    /// The child without that edge.
    excluded_child: u32,
    /// The child with that edge.
    included_child: u32,
}

/// Index of a recorded node, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordedNodeId(u32);

impl RecordedNodeId {
    pub(super) const NONE: Self = Self(NONE);

    pub(super) fn is_none(self) -> bool {
        self.0 == NONE
    }
}

/// Parent and branch of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchOrigin {
    pub(super) parent: RecordedNodeId,
    pub(super) branch: EdgeBranch,
}

impl BranchOrigin {
    pub(super) const ROOT: Self = Self {
        parent: RecordedNodeId::NONE,
        branch: EdgeBranch::Excluded,
    };
}

impl RecordedTree {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.multipliers.clear();
        self.overflowed = false;
    }

    /// Moves the record out, if it is complete and not empty; leaves an empty one.
    pub(super) fn take(&mut self) -> Option<Self> {
        // A record with gaps would be followed to nodes that it does not have.
        let is_complete = !self.overflowed && !self.nodes.is_empty();
        let record = std::mem::take(self);
        is_complete.then_some(record)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.multipliers)
    }

    pub(super) fn root(&self) -> RecordedNodeId {
        RecordedNodeId(if self.nodes.is_empty() { NONE } else { 0 })
    }

    /// Records a node; returns its index.
    pub(super) fn add(
        &mut self,
        origin: BranchOrigin,
        branching_edge: Option<EdgeEnds>,
        multipliers: &[f64],
    ) -> RecordedNodeId {
        if self.overflowed || self.nodes.len() == MAX_RECORDED_NODES {
            // The search goes on, without being recorded.
            self.overflowed = true;
            return RecordedNodeId::NONE;
        }
        let index = self.nodes.len() as u32;
        if let Some(parent) = self.nodes.get_mut(origin.parent.0 as usize) {
            match origin.branch {
                EdgeBranch::Excluded => parent.excluded_child = index,
                EdgeBranch::Included => parent.included_child = index,
            }
        }
        self.nodes.push(RecordedNode {
            branching_edge,
            excluded_child: NONE,
            included_child: NONE,
        });
        self.multipliers.extend_from_slice(multipliers);
        RecordedNodeId(index)
    }

    fn node(&self, recorded_id: RecordedNodeId) -> Option<&RecordedNode> {
        self.nodes.get(recorded_id.0 as usize)
    }

    /// Whether a node has children.
    pub(super) fn has_children(&self, recorded_id: RecordedNodeId) -> bool {
        self.node(recorded_id)
            .is_some_and(|node| node.branching_edge.is_some())
    }

    pub(super) fn child(&self, recorded_id: RecordedNodeId, branch: EdgeBranch) -> RecordedNodeId {
        let Some(node) = self.node(recorded_id) else {
            return RecordedNodeId::NONE;
        };
        RecordedNodeId(match branch {
            EdgeBranch::Excluded => node.excluded_child,
            EdgeBranch::Included => node.included_child,
        })
    }

    /// The multipliers of a tree node, one per graph node.
    pub(super) fn multipliers(
        &self,
        recorded_id: RecordedNodeId,
        graph_nodes: usize,
    ) -> Option<&[f64]> {
        self.multipliers
            .chunks_exact(graph_nodes)
            .nth(recorded_id.0 as usize)
    }

    /// The branching edge of a node, if it is free in this graph.
    pub(super) fn free_branching_edge(
        &self,
        recorded_id: RecordedNodeId,
        graph: &SparseGraph,
    ) -> Option<u32> {
        let edge = graph.find(self.node(recorded_id)?.branching_edge?)?;
        // An edge that is fixed or was removed at the root is no branching.
        (graph.state(edge) == EdgeState::Free).then_some(edge)
    }

    /// Descends from a node while its branching edge is fixed in this graph.
    pub(super) fn descend(
        &self,
        mut recorded_id: RecordedNodeId,
        graph: &SparseGraph,
    ) -> RecordedNodeId {
        while let Some(ends) = self.node(recorded_id).and_then(|node| node.branching_edge) {
            let branch = match graph.find(ends).map(|edge| graph.state(edge)) {
                Some(EdgeState::Free) => return recorded_id,
                Some(EdgeState::Included) => EdgeBranch::Included,
                // Edges that reduced cost fixing removed are as good as excluded.
                Some(EdgeState::Excluded) | None => EdgeBranch::Excluded,
            };
            recorded_id = self.child(recorded_id, branch);
        }
        recorded_id
    }
}
