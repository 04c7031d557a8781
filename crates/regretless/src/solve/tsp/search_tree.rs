//! Exact search for the cheapest tour: branch and bound with 1-tree bounds.
//!
//! Each node of the search tree raises the 1-tree bound by a few subgradient steps, drops and fixes
//! edges by their reduced costs, and lets degrees and rings decide more (Held and Karp 1971;
//! Volgenant and Jonker 1982). What is left branches on an edge at a node with more than two tree
//! edges: first without it, then with it, depth first.
//!
//! Only what cannot beat the best tour is dropped: a subtree goes when its bound is above the
//! *level*, the cost of the best tour less rounding noise; if all costs are multiples of a decimal
//! unit, less one unit but for noise. Tours that differ by less than the noise count as equal, and
//! of equal tours the first one found stays; the order of search is fixed by the costs, or by the
//! [`Plan`] of an earlier search.

use super::recorded_tree::{BranchOrigin, RecordedNodeId, RecordedTree};
use super::sparse_graph::{EdgeState, NoTourLeft, SparseGraph};
use super::sparse_one_tree::{EdgeFixings, SparseOneTree, SparseOneTreeView};
use super::subgradient::{AscentTarget, SubgradientAscent};
use crate::cancellation;
use crate::solve::complete_graph::edge_index;
pub(super) use crate::solve::pruning::PruningRule;

/// The best tour known and what a better one must cost.
#[derive(Debug, Clone, Default)]
pub(super) struct TspIncumbent {
    /// Sorted edge numbers.
    pub(super) edges: Vec<u32>,
    pub(super) cost: f64,
    /// Subtrees with a bound above this are of no interest.
    pub(super) cutoff: f64,
}

impl TspIncumbent {
    /// Takes the tour if it is cheaper than the best one; the sum runs in the order of edge
    /// numbers.
    pub(super) fn offer(&mut self, edges: &mut Vec<u32>, costs: &[f64], pruning: &PruningRule) {
        edges.sort_unstable();
        let cost = edges.iter().map(|edge| costs[*edge as usize]).sum();
        if self.edges.is_empty() || cost < self.cost {
            self.cost = cost;
            std::mem::swap(&mut self.edges, edges);
            self.cutoff = pruning.cutoff(cost);
        }
    }
}

/// Steps of the ascent in a node of the search tree.
const ASCENT_STEPS_PER_NODE: usize = 10;

/// A search tree over the edges that survived at the root; buffers are kept between searches.
#[derive(Debug, Clone, Default)]
pub(super) struct TspSearchTree {
    graph: SparseGraph,
    one_tree: SparseOneTree,
    ascent: SubgradientAscent,
    fixings: EdgeFixings,
    multipliers: Vec<f64>,
    frames: Vec<BranchFrame>,
    saved: Vec<f64>,
    tour: Vec<u32>,
    /// What the search did.
    pub(super) plan: RecordedTree,
}

/// A branching whose second child is still to come.
#[derive(Debug, Clone, Copy)]
struct BranchFrame {
    mark: usize,
    edge: u32,
    bound: f64,
    /// Where the branching stands in the plan that is written and in that which is followed.
    origin: RecordedNodeId,
    recorded_id: RecordedNodeId,
}

/// What became of a node.
enum TspNodeOutcome {
    Closed,
    Branch { edge: u32, bound: f64 },
}

/// A node about to be explored.
#[derive(Clone, Copy)]
struct PendingNode {
    bound: f64,
    origin: BranchOrigin,
    recorded_id: RecordedNodeId,
}

/// What a search works on.
pub(super) struct TspSearchInput<'a> {
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
    /// Bound of the root.
    pub(super) bound: f64,
    /// A tree to follow.
    pub(super) recorded: Option<&'a RecordedTree>,
    /// Whether the search ends where the guide does not lead on.
    pub(super) strict: bool,
}

impl TspSearchInput<'_> {
    fn child(&self, recorded_id: RecordedNodeId, side: usize) -> RecordedNodeId {
        self.recorded.map_or(RecordedNodeId::NONE, |recorded| {
            recorded.child(recorded_id, side)
        })
    }

    /// Whether the guide leaves a node alone: it is not in there, or a leaf that should have been
    /// closed.
    fn is_unguided(&self, recorded_id: RecordedNodeId) -> bool {
        self.strict
            && self
                .recorded
                .is_none_or(|recorded| !recorded.branches(recorded_id))
    }
}

impl TspSearchTree {
    /// Starts over with these edges and multipliers.
    pub(super) fn reset(
        &mut self,
        nodes: usize,
        edges: impl IntoIterator<Item = (u32, u32, f64)>,
        multipliers: &[f64],
    ) {
        self.graph.reset(nodes, edges);
        self.one_tree.reset(&self.graph);
        self.frames.clear();
        self.saved.clear();
        self.multipliers.clear();
        self.multipliers.extend_from_slice(multipliers);
        self.fixings.lower_bound = f64::INFINITY;
        self.plan.clear();
    }

    /// Searches the whole tree or up to the limit. Returns the bound on all tours that were dropped
    /// or left open, infinite when there are none, and whether the search was complete.
    pub(super) fn run(&mut self, task: &TspSearchInput, best: &mut TspIncumbent) -> (f64, bool) {
        let mut alive = self.graph.propagate_degrees();
        let root = task
            .recorded
            .map_or(RecordedNodeId::NONE, RecordedTree::root);
        let mut entry = PendingNode {
            bound: task.bound,
            origin: BranchOrigin::ROOT,
            recorded_id: root,
        };
        let mut nodes = 0;
        loop {
            if alive.is_ok() {
                if nodes >= task.pruning.limits.nodes || cancellation::requested() {
                    return (self.open_lower_bound(entry.bound), false);
                }
                nodes += 1;
                let outcome = self.explore(task, best, &mut entry.recorded_id);
                let origin = self.record_node(entry.origin, &outcome);
                if let TspNodeOutcome::Branch { edge, bound } = outcome {
                    if task.is_unguided(entry.recorded_id) {
                        return (self.open_lower_bound(entry.bound), false);
                    }
                    let bound = bound.max(entry.bound);
                    self.frames.push(BranchFrame {
                        mark: self.graph.mark(),
                        edge,
                        bound,
                        origin,
                        recorded_id: entry.recorded_id,
                    });
                    self.saved.extend_from_slice(&self.multipliers);
                    let origin = BranchOrigin {
                        parent: origin,
                        side: 0,
                    };
                    entry = PendingNode {
                        bound,
                        origin,
                        recorded_id: task.child(entry.recorded_id, 0),
                    };
                    alive = self.graph.fix_edge(edge, EdgeState::Excluded);
                    continue;
                }
            }
            match self.next_child(best) {
                Some((child, frame)) => {
                    let origin = BranchOrigin {
                        parent: frame.origin,
                        side: 1,
                    };
                    entry = PendingNode {
                        bound: frame.bound,
                        origin,
                        recorded_id: task.child(frame.recorded_id, 1),
                    };
                    alive = child;
                }
                None => return (self.fixings.lower_bound, true),
            }
        }
    }

    /// The least bound of what was dropped, of a node and of what waits above it.
    fn open_lower_bound(&self, bound: f64) -> f64 {
        self.frames
            .iter()
            .fold(self.fixings.lower_bound.min(bound), |low, frame| {
                low.min(frame.bound)
            })
    }

    fn record_node(&mut self, origin: BranchOrigin, outcome: &TspNodeOutcome) -> RecordedNodeId {
        let branch = match outcome {
            TspNodeOutcome::Closed => None,
            TspNodeOutcome::Branch { edge, .. } => Some(self.graph.ends(*edge)),
        };
        self.plan.add(origin, branch, &self.multipliers)
    }

    /// Goes back to the last branching that may still hold a better tour and enters its other side.
    fn next_child(&mut self, best: &TspIncumbent) -> Option<(Result<(), NoTourLeft>, BranchFrame)> {
        while let Some(frame) = self.frames.pop() {
            let from = self.saved.len() - self.multipliers.len();
            self.multipliers.copy_from_slice(&self.saved[from..]);
            self.saved.truncate(from);
            self.graph.undo_to(frame.mark);
            if frame.bound <= best.cutoff {
                return Some((self.graph.fix_edge(frame.edge, EdgeState::Included), frame));
            }
            self.fixings.lower_bound = self.fixings.lower_bound.min(frame.bound);
        }
        None
    }

    /// Bounds a node, again after every decision that reduced costs allow.
    fn explore(
        &mut self,
        task: &TspSearchInput,
        best: &mut TspIncumbent,
        recorded_id: &mut RecordedNodeId,
    ) -> TspNodeOutcome {
        self.follow_recorded_tree(task, recorded_id);
        loop {
            if self.graph.is_complete() {
                self.offer_chosen(task, best);
                return TspNodeOutcome::Closed;
            }
            let bound = self.bound(task, best, *recorded_id);
            if bound > best.cutoff {
                self.fixings.lower_bound = self.fixings.lower_bound.min(bound);
                return TspNodeOutcome::Closed;
            }
            if self.one_tree.is_tour() {
                self.offer_tree(task, best);
                return TspNodeOutcome::Closed;
            }
            self.one_tree
                .find(&self.graph, bound, best.cutoff, &mut self.fixings);
            if self.fixings.decided.is_empty() {
                let edge = task
                    .recorded
                    .and_then(|recorded| recorded.open_edge(*recorded_id, &self.graph));
                if edge.is_none() && self.follow_recorded_tree(task, recorded_id) {
                    continue;
                }
                return self.branch(bound, edge);
            }
            if self.apply_fixings().is_err() {
                return TspNodeOutcome::Closed;
            }
        }
    }

    /// Goes down the guide by what is decided and takes up the multipliers there; `true` if that
    /// led further.
    fn follow_recorded_tree(
        &mut self,
        task: &TspSearchInput,
        recorded_id: &mut RecordedNodeId,
    ) -> bool {
        let Some(recorded) = task.recorded.filter(|_| !recorded_id.is_none()) else {
            return false;
        };
        let before = std::mem::replace(recorded_id, recorded.descend(*recorded_id, &self.graph));
        if let Some(known) = recorded.multipliers(*recorded_id, self.multipliers.len()) {
            self.multipliers.copy_from_slice(known);
        }
        before != *recorded_id && !recorded_id.is_none()
    }

    /// The bound of a node: by one tree where the guide branched, or where its multipliers are good
    /// enough.
    fn bound(
        &mut self,
        task: &TspSearchInput,
        best: &TspIncumbent,
        recorded_id: RecordedNodeId,
    ) -> f64 {
        let Some(recorded) = task
            .recorded
            .filter(|_| task.strict || !recorded_id.is_none())
        else {
            return self.run_ascent(best);
        };
        let bound = self.one_tree.build(&self.graph, &self.multipliers);
        let enough = bound > best.cutoff || task.strict || recorded.branches(recorded_id);
        if enough { bound } else { self.run_ascent(best) }
    }

    /// Raises the bound; the best multipliers and their tree are left in place.
    fn run_ascent(&mut self, best: &TspIncumbent) -> f64 {
        let goal = AscentTarget {
            target: best.cost,
            enough: best.cutoff,
            steps: ASCENT_STEPS_PER_NODE,
            pace: 1.0,
            patience: 3,
        };
        let mut pair = SparseOneTreeView {
            one_tree: &mut self.one_tree,
            graph: &self.graph,
        };
        let bound = self.ascent.run(&mut pair, &mut self.multipliers, &goal);
        if bound > best.cutoff {
            bound
        } else {
            self.one_tree.build(&self.graph, &self.multipliers)
        }
    }

    fn apply_fixings(&mut self) -> Result<(), NoTourLeft> {
        for (edge, state) in &self.fixings.decided {
            self.graph.fix_edge(*edge, *state)?;
        }
        Ok(())
    }

    fn branch(&self, bound: f64, edge: Option<u32>) -> TspNodeOutcome {
        match edge.or_else(|| self.one_tree.branching_edge(&self.graph)) {
            Some(edge) => TspNodeOutcome::Branch { edge, bound },
            // Degrees sum to 2n: without a node above two the tree is a tour, which was dealt with.
            None => TspNodeOutcome::Closed,
        }
    }

    fn offer_chosen(&mut self, task: &TspSearchInput, best: &mut TspIncumbent) {
        let nodes = self.graph.nodes();
        self.tour.clear();
        let number = |[i, j]: [u32; 2]| edge_index(nodes, i as usize, j as usize) as u32;
        self.tour.extend(
            self.graph
                .chosen()
                .map(|edge| number(self.graph.ends(edge))),
        );
        best.offer(&mut self.tour, task.costs, &task.pruning);
    }

    fn offer_tree(&mut self, task: &TspSearchInput, best: &mut TspIncumbent) {
        let nodes = self.graph.nodes();
        self.tour.clear();
        let number = |[i, j]: [u32; 2]| edge_index(nodes, i as usize, j as usize) as u32;
        self.tour.extend(
            self.one_tree
                .edges()
                .iter()
                .map(|edge| number(self.graph.ends(*edge))),
        );
        best.offer(&mut self.tour, task.costs, &task.pruning);
    }
}

#[cfg(test)]
mod tests {
    use super::{PruningRule, TspIncumbent, TspSearchInput, TspSearchTree};
    use crate::random::{Purpose, RandomStream};
    use crate::solve::SearchLimits;
    use crate::solve::complete_graph::{DistanceMatrix, edge_index, num_edges};

    /// The cheapest tour by trying all orders.
    fn cheapest(distances: &DistanceMatrix, order: &mut Vec<u32>, fixed: usize) -> f64 {
        if fixed == order.len() {
            return distances.tour_cost(order);
        }
        let mut best = f64::INFINITY;
        for place in fixed..order.len() {
            order.swap(fixed, place);
            best = best.min(cheapest(distances, order, fixed + 1));
            order.swap(fixed, place);
        }
        best
    }

    /// Searches all edges from the worst possible start: no multipliers and a tour by number.
    fn search(nodes: usize, costs: &[f64]) -> f64 {
        let distances = DistanceMatrix::new(nodes, costs);
        let pruning = PruningRule::new(&distances, SearchLimits::default());
        let mut best = TspIncumbent::default();
        let mut first: Vec<u32> = (0..nodes)
            .map(|i| edge_index(nodes, i, (i + 1) % nodes) as u32)
            .collect();
        best.offer(&mut first, costs, &pruning);
        let mut search = TspSearchTree::default();
        let pairs = (0..nodes as u32).flat_map(|i| (i + 1..nodes as u32).map(move |j| (i, j)));
        search.reset(
            nodes,
            pairs.map(|(i, j)| (i, j, distances.between(i, j))),
            &vec![0.0; nodes],
        );
        let task = TspSearchInput {
            costs,
            pruning,
            bound: f64::NEG_INFINITY,
            recorded: None,
            strict: false,
        };
        let (lower_bound, complete) = search.run(&task, &mut best);
        assert!(complete && lower_bound > best.cutoff);
        best.cost
    }

    #[test]
    fn the_search_alone_finds_what_a_good_start_would_hide() {
        for case in 0..300 {
            let mut stream = RandomStream::new(Purpose::Benchmark, 21, [case, 0]);
            let nodes = 4 + case as usize % 5;
            let draw = |_| match case % 3 {
                0 => stream.uniform(-5.0, 1.0),
                1 => stream.index_below(3) as f64,
                _ => stream.unit(),
            };
            let costs: Vec<f64> = (0..num_edges(nodes)).map(draw).collect();
            let expected = cheapest(
                &DistanceMatrix::new(nodes, &costs),
                &mut (0..nodes as u32).collect(),
                1,
            );
            let found = search(nodes, &costs);
            assert!(
                (found - expected).abs() < 1e-9,
                "case {case}: {found} not {expected}"
            );
        }
    }
}
