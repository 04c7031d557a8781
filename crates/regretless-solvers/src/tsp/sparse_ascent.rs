//! Subgradient ascent on the sparse graph of candidate edges: with many nodes much faster
//! than on the complete graph.
//!
//! The minimum 1-tree of a few good edges per node is not a lower bound, because a missing edge
//! might be cheaper. The multipliers found are therefore evaluated by a 1-tree of all edges, and
//! kept only if its bound is higher.

use super::candidates::CandidateEdges;
use super::one_tree::OneTree;
use super::sparse_graph::SparseGraph;
use super::sparse_one_tree::{SparseOneTree, SparseOneTreeView};
use super::subgradient::{AscentTarget, SubgradientAscent};
use crate::complete_graph::EdgeCostMatrix;

/// Subgradient ascent on sparse graphs; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct SparseAscent {
    edges: Vec<(u32, u32)>,
    graph: SparseGraph,
    one_tree: SparseOneTree,
    ascent: SubgradientAscent,
    trial: Vec<f64>,
}

impl SparseAscent {
    /// Raises the bound of a 1-tree already built with these multipliers. Overwrites the
    /// multipliers and the 1-tree with the better ones; returns their bound, which is valid for the
    /// complete graph.
    pub fn run(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        candidates: &CandidateEdges,
        one_tree: &mut OneTree,
        multipliers: &mut [f64],
        target: &AscentTarget,
    ) -> f64 {
        self.build_graph(edge_costs, candidates, one_tree);
        self.trial.clear();
        self.trial.extend_from_slice(multipliers);
        let mut view = SparseOneTreeView {
            one_tree: &mut self.one_tree,
            graph: &self.graph,
        };
        self.ascent.run(&mut view, &mut self.trial, target);
        // Building a 1-tree returns its lower bound.
        let before = one_tree.build(edge_costs, multipliers);
        let after = one_tree.build(edge_costs, &self.trial);
        if after > before {
            multipliers.copy_from_slice(&self.trial);
            return after;
        }
        one_tree.build(edge_costs, multipliers)
    }

    /// The graph of all candidate edges and the edges of the 1-tree, which keep it connected.
    fn build_graph(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        candidates: &CandidateEdges,
        one_tree: &OneTree,
    ) {
        self.edges.clear();
        for (i, j) in candidates.pairs().chain(one_tree.edges()) {
            self.edges.push((i.min(j), i.max(j)));
        }
        self.edges.sort_unstable();
        self.edges.dedup();
        let edges = self.edges.iter();
        let weighted = edges.map(|(i, j)| (*i, *j, edge_costs.between(*i, *j)));
        self.graph.reset(edge_costs.nodes(), weighted);
        self.one_tree.reset(&self.graph);
    }
}
