//! Branch and bound for the TSP with 1-tree bounds, depth first.
//!
//! Each node of the search tree raises the 1-tree bound by a few subgradient steps, fixes edges by
//! their reduced costs, and propagates degrees and subtours (Held and Karp 1971; Volgenant and
//! Jonker 1982). A node that is not closed branches on an edge at a graph node of degree above two
//! in the 1-tree: first excluded, then included.
//!
//! A subtree is pruned when its bound is above the *cutoff* of the [`PruningRule`]: the cost of the
//! best tour minus the rounding tolerance; if all costs are multiples of a decimal unit, minus one
//! unit up to the tolerance. Tours that differ by less than the tolerance count as equal, and of
//! equal tours the first one found is returned; the order of the search is determined by the costs,
//! or by the [`RecordedTree`] of an earlier search.

use super::recorded_tree::{BranchOrigin, EdgeBranch, RecordedNodeId, RecordedTree};
use super::sparse_graph::{EdgeState, NoTourLeft, SparseGraph};
use super::sparse_one_tree::{EdgeFixings, SparseOneTree, SparseOneTreeView};
use super::subgradient::{AscentSchedule, AscentTarget, SubgradientAscent};
use crate::complete_graph::edge_index_u32;
pub(super) use crate::pruning::PruningRule;
use regretless_base::cancellation;

/// The best tour found and the cutoff that it implies.
#[derive(Debug, Clone, Default)]
pub(super) struct TspIncumbent {
    /// Sorted edge indices.
    pub(super) edges: Vec<u32>,
    pub(super) cost: f64,
    /// Subtrees with a bound above this are pruned.
    pub(super) cutoff: f64,
}

impl TspIncumbent {
    /// Replaces the incumbent if the tour is cheaper. Costs are summed in the order of edge
    /// indices, so equal tours have equal costs.
    pub(super) fn offer(&mut self, edges: &mut Vec<u32>, costs: &[f64], pruning: &PruningRule) {
        edges.sort_unstable();
        let cost = edges.iter().map(|edge| costs[*edge as usize]).sum();
        // Strictly cheaper: of equal tours the first is kept.
        if self.edges.is_empty() || cost < self.cost {
            self.cost = cost;
            std::mem::swap(&mut self.edges, edges);
            self.cutoff = pruning.cutoff(cost);
        }
    }
}

/// Ascent in a node of the search tree. Multipliers start from the parent's, so a few steps recover
/// most of the bound; more steps take time in every node.
const NODE_ASCENT: AscentSchedule = AscentSchedule {
    max_steps: 10,
    step_factor: 1.0,
    patience: 3,
};

/// A search tree over the edges that were not fixed at the root; buffers are kept between searches.
#[derive(Debug, Clone, Default)]
pub(super) struct TspSearchTree {
    graph: SparseGraph,
    one_tree: SparseOneTree,
    ascent: SubgradientAscent,
    fixings: EdgeFixings,
    multipliers: Vec<f64>,
    frames: Vec<BranchFrame>,
    /// Multipliers at each branching of `frames`, one after the other.
    saved_multipliers: Vec<f64>,
    tour: Vec<u32>,
    /// Record of the current search.
    pub(super) recording: RecordedTree,
}

/// A branching whose second child is still open.
#[derive(Debug, Clone, Copy)]
struct BranchFrame {
    /// Length of the trail of the graph before the branching.
    mark: usize,
    edge: u32,
    bound: f64,
    /// Its node in the record of this search.
    origin: RecordedNodeId,
    /// Its node in the record that is followed.
    recorded_id: RecordedNodeId,
}

impl BranchFrame {
    /// The child on one branch.
    fn child(&self, input: &TspSearchInput, branch: EdgeBranch) -> PendingNode {
        PendingNode {
            bound: self.bound,
            origin: BranchOrigin {
                parent: self.origin,
                branch,
            },
            recorded_id: input.child(self.recorded_id, branch),
        }
    }
}

/// The outcome of a node.
enum TspNodeOutcome {
    /// Pruned, or its optimal tour was found.
    Closed,
    /// The node must be branched on.
    Branch { edge: u32, bound: f64 },
}

/// A node about to be explored.
#[derive(Clone, Copy)]
struct PendingNode {
    bound: f64,
    origin: BranchOrigin,
    recorded_id: RecordedNodeId,
}

/// Inputs of a search.
pub(super) struct TspSearchInput<'a> {
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
    /// Lower bound at the root.
    pub(super) bound: f64,
    /// The record of an earlier search, to be followed.
    pub(super) recorded: Option<&'a RecordedTree>,
    /// Whether the search stops at a node that the record does not cover.
    pub(super) strict: bool,
}

impl TspSearchInput<'_> {
    fn child(&self, recorded_id: RecordedNodeId, branch: EdgeBranch) -> RecordedNodeId {
        match self.recorded {
            Some(recorded) => recorded.child(recorded_id, branch),
            None => RecordedNodeId::NONE,
        }
    }

    /// Whether a strict search must stop at a node: it is not in the record, or it is a recorded
    /// leaf that was not closed this time.
    fn is_uncovered(&self, recorded_id: RecordedNodeId) -> bool {
        let has_children = self
            .recorded
            .is_some_and(|recorded| recorded.has_children(recorded_id));
        self.strict && !has_children
    }
}

impl TspSearchTree {
    /// Resets the tree to these edges and multipliers.
    pub(super) fn reset(
        &mut self,
        nodes: usize,
        edges: impl IntoIterator<Item = (u32, u32, f64)>,
        multipliers: &[f64],
    ) {
        self.graph.reset(nodes, edges);
        self.one_tree.reset(&self.graph);
        self.frames.clear();
        self.saved_multipliers.clear();
        self.multipliers.clear();
        self.multipliers.extend_from_slice(multipliers);
        self.fixings.lower_bound = f64::INFINITY;
        self.recording.clear();
    }

    /// Searches the entire tree or up to the node limit. Returns a lower bound on the cost of all
    /// tours in pruned or open subtrees, infinite when there are none, and whether the search was
    /// complete.
    pub(super) fn run(
        &mut self,
        input: &TspSearchInput,
        incumbent: &mut TspIncumbent,
    ) -> (f64, bool) {
        let mut propagated = self.graph.propagate_degrees();
        let root = input
            .recorded
            .map_or(RecordedNodeId::NONE, RecordedTree::root);
        let mut node = PendingNode {
            bound: input.bound,
            origin: BranchOrigin::ROOT,
            recorded_id: root,
        };
        let mut explored = 0;
        loop {
            if propagated.is_ok() {
                // Counted in nodes, never in time, so a limit gives the same tour on any machine.
                if explored >= input.pruning.limits.nodes || cancellation::requested() {
                    return (self.open_lower_bound(node.bound), false);
                }
                explored += 1;
                let outcome = self.explore(input, incumbent, &mut node.recorded_id);
                let record = self.record_node(node.origin, &outcome);
                if let TspNodeOutcome::Branch { edge, bound } = outcome {
                    // The record is exhausted, and a strict search proves nothing beyond it.
                    if input.is_uncovered(node.recorded_id) {
                        return (self.open_lower_bound(node.bound), false);
                    }
                    let frame = BranchFrame {
                        mark: self.graph.mark(),
                        edge,
                        // The bound of a child is at least that of its parent.
                        bound: bound.max(node.bound),
                        origin: record,
                        recorded_id: node.recorded_id,
                    };
                    self.frames.push(frame);
                    // The sibling starts from the multipliers of its parent, not from those of the
                    // last node explored.
                    self.saved_multipliers.extend_from_slice(&self.multipliers);
                    node = frame.child(input, EdgeBranch::Excluded);
                    propagated = self.graph.fix_edge(edge, EdgeState::Excluded);
                    continue;
                }
            }
            match self.next_child(incumbent) {
                Some((result, frame)) => {
                    node = frame.child(input, EdgeBranch::Included);
                    propagated = result;
                }
                None => return (self.fixings.lower_bound, true),
            }
        }
    }

    /// Smallest bound of the pruned subtrees, of a node and of the open branchings above it.
    fn open_lower_bound(&self, bound: f64) -> f64 {
        let mut min = self.fixings.lower_bound.min(bound);
        for frame in &self.frames {
            // Open branchings count with the bound of their node: their second child is not
            // explored yet.
            min = min.min(frame.bound);
        }
        min
    }

    /// Adds a node to the record of this search.
    fn record_node(&mut self, origin: BranchOrigin, outcome: &TspNodeOutcome) -> RecordedNodeId {
        let branching_edge = match outcome {
            TspNodeOutcome::Closed => None,
            TspNodeOutcome::Branch { edge, .. } => Some(self.graph.ends(*edge)),
        };
        self.recording
            .add(origin, branching_edge, &self.multipliers)
    }

    /// Backtracks to the last branching that is not pruned and includes its edge.
    fn next_child(
        &mut self,
        incumbent: &TspIncumbent,
    ) -> Option<(Result<(), NoTourLeft>, BranchFrame)> {
        while let Some(frame) = self.frames.pop() {
            let from = self.saved_multipliers.len() - self.multipliers.len();
            // The stack's last entry belongs to the frame that was popped.
            self.multipliers
                .copy_from_slice(&self.saved_multipliers[from..]);
            self.saved_multipliers.truncate(from);
            self.graph.undo_to(frame.mark);
            // The incumbent may have improved since the branching.
            if frame.bound <= incumbent.cutoff {
                return Some((self.graph.fix_edge(frame.edge, EdgeState::Included), frame));
            }
            self.fixings.lower_bound = self.fixings.lower_bound.min(frame.bound);
        }
        None
    }

    /// Bounds a node, again as long as reduced costs fix edges.
    fn explore(
        &mut self,
        input: &TspSearchInput,
        incumbent: &mut TspIncumbent,
        recorded_id: &mut RecordedNodeId,
    ) -> TspNodeOutcome {
        self.follow_recorded_tree(input, recorded_id);
        loop {
            if self.graph.is_complete() {
                self.offer_included(input, incumbent);
                return TspNodeOutcome::Closed;
            }
            let bound = self.bound(input, incumbent, *recorded_id);
            if bound > incumbent.cutoff {
                self.fixings.lower_bound = self.fixings.lower_bound.min(bound);
                return TspNodeOutcome::Closed;
            }
            if self.one_tree.is_tour() {
                self.offer_one_tree(input, incumbent);
                return TspNodeOutcome::Closed;
            }
            self.one_tree
                .find_fixings(&self.graph, bound, incumbent.cutoff, &mut self.fixings);
            if self.fixings.fixed.is_empty() {
                let edge = input
                    .recorded
                    .and_then(|recorded| recorded.free_branching_edge(*recorded_id, &self.graph));
                if edge.is_none() && self.follow_recorded_tree(input, recorded_id) {
                    continue;
                }
                return self.branch(bound, edge);
            }
            if self.apply_fixings().is_err() {
                return TspNodeOutcome::Closed;
            }
        }
    }

    /// Descends in the record along the fixed edges and loads the multipliers recorded there;
    /// `true` if the recorded node changed.
    fn follow_recorded_tree(
        &mut self,
        input: &TspSearchInput,
        recorded_id: &mut RecordedNodeId,
    ) -> bool {
        let Some(recorded) = input.recorded.filter(|_| !recorded_id.is_none()) else {
            return false;
        };
        let previous_id =
            std::mem::replace(recorded_id, recorded.descend(*recorded_id, &self.graph));
        if let Some(multipliers) = recorded.multipliers(*recorded_id, self.multipliers.len()) {
            self.multipliers.copy_from_slice(multipliers);
        }
        previous_id != *recorded_id && !recorded_id.is_none()
    }

    /// The bound of a node: by a single 1-tree if the recorded search branched, or if the recorded
    /// multipliers prune the node; else by an ascent.
    fn bound(
        &mut self,
        input: &TspSearchInput,
        incumbent: &TspIncumbent,
        recorded_id: RecordedNodeId,
    ) -> f64 {
        let Some(recorded) = input
            .recorded
            .filter(|_| input.strict || !recorded_id.is_none())
        else {
            return self.run_ascent(incumbent);
        };
        let bound = self.one_tree.build(&self.graph, &self.multipliers);
        if bound > incumbent.cutoff || input.strict || recorded.has_children(recorded_id) {
            return bound;
        }
        self.run_ascent(incumbent)
    }

    /// Raises the bound; keeps the best multipliers and their 1-tree.
    fn run_ascent(&mut self, incumbent: &TspIncumbent) -> f64 {
        let target = AscentTarget {
            tour_cost: incumbent.cost,
            cutoff: incumbent.cutoff,
            schedule: NODE_ASCENT,
        };
        let mut view = SparseOneTreeView {
            one_tree: &mut self.one_tree,
            graph: &self.graph,
        };
        let bound = self.ascent.run(&mut view, &mut self.multipliers, &target);
        if bound > incumbent.cutoff {
            bound
        } else {
            self.one_tree.build(&self.graph, &self.multipliers)
        }
    }

    fn apply_fixings(&mut self) -> Result<(), NoTourLeft> {
        for (edge, state) in &self.fixings.fixed {
            self.graph.fix_edge(*edge, *state)?;
        }
        Ok(())
    }

    fn branch(&self, bound: f64, edge: Option<u32>) -> TspNodeOutcome {
        match edge.or_else(|| self.one_tree.branching_edge(&self.graph)) {
            Some(edge) => TspNodeOutcome::Branch { edge, bound },
            // Degrees sum to 2n: without a node of degree above two the 1-tree is a tour, which
            // `explore` has handled.
            None => TspNodeOutcome::Closed,
        }
    }

    /// Offers the tour of all included edges.
    fn offer_included(&mut self, input: &TspSearchInput, incumbent: &mut TspIncumbent) {
        let nodes = self.graph.nodes();
        self.tour.clear();
        for edge in self.graph.included_edges() {
            self.tour.push(edge_index_u32(nodes, self.graph.ends(edge)));
        }
        incumbent.offer(&mut self.tour, input.costs, &input.pruning);
    }

    /// Offers the 1-tree, which is a tour.
    fn offer_one_tree(&mut self, input: &TspSearchInput, incumbent: &mut TspIncumbent) {
        let nodes = self.graph.nodes();
        self.tour.clear();
        for edge in self.one_tree.edges() {
            self.tour
                .push(edge_index_u32(nodes, self.graph.ends(*edge)));
        }
        incumbent.offer(&mut self.tour, input.costs, &input.pruning);
    }
}

#[cfg(test)]
mod tests {
    use super::{PruningRule, TspIncumbent, TspSearchInput, TspSearchTree};
    use crate::SearchLimits;
    use crate::complete_graph::{EdgeCostMatrix, edge_index, num_edges};
    use regretless_base::random::{Purpose, RandomStream};

    /// Cost of the cheapest tour by enumeration of all orders.
    fn cheapest(edge_costs: &EdgeCostMatrix, order: &mut Vec<u32>, fixed: usize) -> f64 {
        if fixed == order.len() {
            return edge_costs.tour_cost(order);
        }
        let mut best = f64::INFINITY;
        for next in fixed..order.len() {
            order.swap(fixed, next);
            best = best.min(cheapest(edge_costs, order, fixed + 1));
            order.swap(fixed, next);
        }
        best
    }

    /// Searches all edges from a poor start: zero multipliers and the tour 0, 1, 2, ….
    fn search(nodes: usize, costs: &[f64]) -> f64 {
        let edge_costs = EdgeCostMatrix::new(nodes, costs);
        let pruning = PruningRule::new(&edge_costs, SearchLimits::default());
        let mut incumbent = TspIncumbent::default();
        let mut first: Vec<u32> = (0..nodes)
            .map(|i| edge_index(nodes, i, (i + 1) % nodes) as u32)
            .collect();
        incumbent.offer(&mut first, costs, &pruning);
        let mut tree = TspSearchTree::default();
        let pairs = (0..nodes as u32).flat_map(|i| (i + 1..nodes as u32).map(move |j| (i, j)));
        tree.reset(
            nodes,
            pairs.map(|(i, j)| (i, j, edge_costs.between(i, j))),
            &vec![0.0; nodes],
        );
        let input = TspSearchInput {
            costs,
            pruning,
            bound: f64::NEG_INFINITY,
            recorded: None,
            strict: false,
        };
        let (lower_bound, complete) = tree.run(&input, &mut incumbent);
        assert!(complete && lower_bound > incumbent.cutoff);
        incumbent.cost
    }

    #[test]
    fn the_search_finds_the_optimum_from_a_poor_start() {
        for case in 0..300 {
            let mut stream = RandomStream::new(Purpose::Benchmark, 21, [case, 0]);
            let nodes = 4 + case as usize % 5;
            let draw = |_| match case % 3 {
                0 => stream.uniform(-5.0, 1.0),
                1 => stream.index_below(3) as f64,
                _ => stream.standard_uniform(),
            };
            let costs: Vec<f64> = (0..num_edges(nodes)).map(draw).collect();
            let expected = cheapest(
                &EdgeCostMatrix::new(nodes, &costs),
                &mut (0..nodes as u32).collect(),
                1,
            );
            let actual = search(nodes, &costs);
            assert!(
                (actual - expected).abs() < 1e-9,
                "case {case}: {actual} not {expected}"
            );
        }
    }
}
