//! The tree of a finished search, as a guide for the next: what was branched on, and the
//! multipliers of every node.
//!
//! Nothing in it is taken on trust. Whoever follows it grows a tree of its own in every node; good
//! multipliers and branchings only make it likely that one tree is enough.

use super::sparse_graph::{EdgeState, SparseGraph};

/// No node.
const NONE: u32 = u32::MAX;
/// Most nodes of a tree that is written down.
const MAX_RECORDED_NODES: usize = 256;

/// A search tree.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedTree {
    steps: Vec<RecordedNode>,
    /// Multipliers of all steps, one after the other.
    multipliers: Vec<f64>,
    /// Whether the tree was too large to be written down.
    overflow: bool,
}

/// A node of the tree.
#[derive(Debug, Clone, Copy)]
struct RecordedNode {
    /// Ends of the edge that was branched on; none in a leaf.
    branch: Option<[u32; 2]>,
    /// The nodes without and with that edge.
    children: [u32; 2],
}

/// A node of a plan, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordedNodeId(u32);

impl RecordedNodeId {
    pub(super) const NONE: Self = Self(NONE);

    pub(super) fn is_none(self) -> bool {
        self.0 == NONE
    }
}

/// Which side of a branching a node is on.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchOrigin {
    pub(super) parent: RecordedNodeId,
    /// 0 without the edge, 1 with it.
    pub(super) side: usize,
}

impl BranchOrigin {
    pub(super) const ROOT: Self = Self {
        parent: RecordedNodeId::NONE,
        side: 0,
    };
}

impl RecordedTree {
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.multipliers.clear();
        self.overflow = false;
    }

    /// The plan itself, if there is one worth keeping; leaves nothing behind.
    pub(super) fn take(&mut self) -> Option<Self> {
        let whole = !self.overflow && !self.steps.is_empty();
        let plan = std::mem::take(self);
        whole.then_some(plan)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.steps) + size_of_val(&*self.multipliers)
    }

    pub(super) fn root(&self) -> RecordedNodeId {
        RecordedNodeId(if self.steps.is_empty() { NONE } else { 0 })
    }

    /// Writes a node down; returns where it stands.
    pub(super) fn add(
        &mut self,
        origin: BranchOrigin,
        branch: Option<[u32; 2]>,
        multipliers: &[f64],
    ) -> RecordedNodeId {
        if self.overflow || self.steps.len() == MAX_RECORDED_NODES {
            self.overflow = true;
            return RecordedNodeId::NONE;
        }
        let number = self.steps.len() as u32;
        if let Some(parent) = self.steps.get_mut(origin.parent.0 as usize) {
            parent.children[origin.side] = number;
        }
        self.steps.push(RecordedNode {
            branch,
            children: [NONE; 2],
        });
        self.multipliers.extend_from_slice(multipliers);
        RecordedNodeId(number)
    }

    fn step(&self, recorded_id: RecordedNodeId) -> Option<&RecordedNode> {
        self.steps.get(recorded_id.0 as usize)
    }

    /// Whether a node has children.
    pub(super) fn branches(&self, recorded_id: RecordedNodeId) -> bool {
        self.step(recorded_id)
            .is_some_and(|step| step.branch.is_some())
    }

    pub(super) fn child(&self, recorded_id: RecordedNodeId, side: usize) -> RecordedNodeId {
        self.step(recorded_id).map_or(RecordedNodeId::NONE, |step| {
            RecordedNodeId(step.children[side])
        })
    }

    /// The multipliers of a node.
    pub(super) fn multipliers(&self, recorded_id: RecordedNodeId, nodes: usize) -> Option<&[f64]> {
        self.multipliers
            .chunks_exact(nodes)
            .nth(recorded_id.0 as usize)
    }

    /// The edge to branch on, if it is still to be decided in this graph.
    pub(super) fn open_edge(
        &self,
        recorded_id: RecordedNodeId,
        graph: &SparseGraph,
    ) -> Option<u32> {
        let edge = graph.find(self.step(recorded_id)?.branch?)?;
        (graph.state(edge) == EdgeState::Free).then_some(edge)
    }

    /// The node that stands for what is decided in this graph: the given one, or one below it.
    pub(super) fn descend(
        &self,
        mut recorded_id: RecordedNodeId,
        graph: &SparseGraph,
    ) -> RecordedNodeId {
        while let Some(ends) = self.step(recorded_id).and_then(|step| step.branch) {
            let side = match graph.find(ends).map(|edge| graph.state(edge)) {
                Some(EdgeState::Free) => return recorded_id,
                Some(EdgeState::Included) => 1,
                Some(EdgeState::Excluded) | None => 0,
            };
            recorded_id = self.child(recorded_id, side);
        }
        recorded_id
    }
}
