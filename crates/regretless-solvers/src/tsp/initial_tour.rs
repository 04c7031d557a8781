//! Initial tour and node multipliers, shared by both exact solvers, the local search and the
//! relaxation.
//!
//! A greedy tour is built on candidate edges of small reduced cost; subgradient ascent towards its
//! cost raises the 1-tree bound (Held and Karp 1971); Lin–Kernighan improves the tour on the
//! candidate edges of smallest reduced cost or α-value (Helsgaun 2000).

use super::candidates::CandidateEdges;
use super::greedy::GreedyTour;
use super::lin_kernighan::LinKernighan;
use super::one_tree::OneTree;
use super::search_tree::{PruningRule, TspIncumbent};
use super::sparse_ascent::SparseAscent;
use super::subgradient::{AscentSchedule, AscentTarget};
use crate::complete_graph::{EdgeCostMatrix, EdgeEnds, edge_index_u32};

/// Candidate edges per node of the local search: the five α-nearest, as in Helsgaun (2000).
pub(super) const CANDIDATES_PER_NODE: usize = 5;
/// Above this many nodes the ascent builds 1-trees of candidate edges only. A dense 1-tree takes
/// O(n²); below this size that is cheaper than the larger number of steps a sparse ascent needs.
pub(super) const MAX_DENSE_ASCENT_NODES: usize = 150;
/// Ascent towards the greedy tour. That tour is far from optimal, so full Polyak steps would
/// overshoot; a few half steps are enough to rank the candidate edges.
pub(super) const GREEDY_ASCENT: AscentSchedule = AscentSchedule {
    max_steps: 15,
    step_factor: 0.5,
    patience: 3,
};

/// A tour, node multipliers and their 1-tree; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct InitialTour {
    pub(super) edge_costs: EdgeCostMatrix,
    pub(super) multipliers: Vec<f64>,
    /// Nodes of the current tour in visiting order.
    pub(super) order: Vec<u32>,
    /// Reduced costs at the last ranking of candidate edges.
    pub(super) reduced_costs: EdgeCostMatrix,
    pub(super) one_tree: OneTree,
    pub(super) candidates: CandidateEdges,
    pub(super) local_search: LinKernighan,
    sparse_ascent: SparseAscent,
    greedy: GreedyTour,
    edge_ids: Vec<u32>,
}

impl InitialTour {
    /// Overwrites the multipliers with the node potentials of the costs or with zeros, whichever
    /// has the higher bound.
    pub(super) fn init_multipliers(&mut self) {
        let nodes = self.edge_costs.nodes();
        self.multipliers.clear();
        self.multipliers.resize(nodes, 0.0);
        // Neither start is better on all costs; comparing them takes one more 1-tree.
        let zero_bound = self.one_tree.build(&self.edge_costs, &self.multipliers);
        self.edge_costs.node_potentials(&mut self.multipliers);
        if self.one_tree.build(&self.edge_costs, &self.multipliers) < zero_bound {
            self.multipliers.fill(0.0);
            // The sparse ascent starts from the edges of this 1-tree; the dense one rebuilds it.
            if nodes > MAX_DENSE_ASCENT_NODES {
                self.one_tree.build(&self.edge_costs, &self.multipliers);
            }
        }
    }

    /// Ranks candidate edges by reduced cost under the current multipliers.
    pub(super) fn rank_by_reduced_cost(&mut self) {
        self.reduced_costs
            .reduce(&self.edge_costs, &self.multipliers);
        self.candidates
            .fill_by_cost(&self.reduced_costs, CANDIDATES_PER_NODE);
    }

    /// Ranks candidate edges by α-value with respect to the current multipliers and their 1-tree.
    pub(super) fn rank_by_alpha_value(&mut self) {
        self.reduced_costs
            .reduce(&self.edge_costs, &self.multipliers);
        self.candidates.fill_by_alpha_value(
            &self.reduced_costs,
            &self.one_tree,
            CANDIDATES_PER_NODE,
        );
    }

    /// Overwrites the tour with a greedy tour on the candidate edges.
    pub(super) fn build_greedy_tour(&mut self) {
        let order = self.greedy.tour(&self.reduced_costs, &self.candidates);
        self.order.clear();
        self.order.extend_from_slice(order);
    }

    /// Improves the tour by Lin–Kernighan with this many kicks.
    pub(super) fn improve_tour(&mut self, kicks: usize) {
        self.local_search.improve(
            &self.reduced_costs,
            &self.candidates,
            &mut self.order,
            kicks,
        );
    }

    /// Raises the 1-tree bound on the complete graph; returns the bound.
    pub(super) fn ascend_dense(&mut self, target: &AscentTarget) -> f64 {
        self.one_tree
            .ascend(&self.edge_costs, &mut self.multipliers, target)
    }

    /// Raises the 1-tree bound; for many nodes on the candidate edges, with `sparse_steps` as the
    /// maximum number of steps. Returns the bound, which is valid for the complete graph.
    pub(super) fn ascend(&mut self, target: &AscentTarget, sparse_steps: usize) -> f64 {
        // Small instances: a dense 1-tree is cheap, and bounds the complete graph directly.
        if self.edge_costs.nodes() <= MAX_DENSE_ASCENT_NODES {
            return self.ascend_dense(target);
        }
        let schedule = target.schedule.with_max_steps(sparse_steps);
        self.sparse_ascent.run(
            &self.edge_costs,
            &self.candidates,
            &mut self.one_tree,
            &mut self.multipliers,
            &AscentTarget {
                schedule,
                ..*target
            },
        )
    }

    /// Offers the current tour to the incumbent.
    pub(super) fn offer_tour(
        &mut self,
        incumbent: &mut TspIncumbent,
        costs: &[f64],
        pruning: &PruningRule,
    ) {
        let nodes = self.order.len();
        self.edge_ids.clear();
        self.edge_ids
            .extend(tour_edges(&self.order).map(|ends| edge_index_u32(nodes, ends)));
        incumbent.offer(&mut self.edge_ids, costs, pruning);
    }

    /// Offers the current 1-tree, which must be a tour, to the incumbent.
    pub(super) fn offer_one_tree(
        &mut self,
        incumbent: &mut TspIncumbent,
        costs: &[f64],
        pruning: &PruningRule,
    ) {
        let nodes = self.edge_costs.nodes();
        self.edge_ids.clear();
        self.edge_ids.extend(
            self.one_tree
                .edges()
                .map(|(i, j)| edge_index_u32(nodes, [i, j])),
        );
        incumbent.offer(&mut self.edge_ids, costs, pruning);
    }
}

/// The edges of a closed tour.
pub(super) fn tour_edges(order: &[u32]) -> impl Iterator<Item = EdgeEnds> + '_ {
    // A path of all nodes plus the edge from its last to its first node.
    let closing = order.last().copied().zip(order.first().copied());
    let path = order.windows(2).map(|pair| (pair[0], pair[1]));
    path.chain(closing).map(|(i, j)| [i.min(j), i.max(j)])
}
