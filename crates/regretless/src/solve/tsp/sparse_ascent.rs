//! Subgradient ascent on candidate edges only: for many nodes a fraction of the time.
//!
//! The tree of a few good edges per node is not a bound, because a missing edge might be cheaper;
//! so the multipliers found are judged by a tree of all edges, and kept only if their bound is
//! higher.

use super::candidates::CandidateEdges;
use super::one_tree::OneTree;
use super::sparse_graph::SparseGraph;
use super::sparse_one_tree::{SparseOneTree, SparseOneTreeView};
use super::subgradient::{AscentTarget, SubgradientAscent};
use crate::solve::complete_graph::DistanceMatrix;

/// Raises bounds on sparse graphs; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct SparseAscent {
    edges: Vec<(u32, u32)>,
    graph: SparseGraph,
    one_tree: SparseOneTree,
    ascent: SubgradientAscent,
    trial: Vec<f64>,
}

impl SparseAscent {
    /// Raises the bound of a tree already grown under these multipliers. Leaves the better
    /// multipliers in their place and their tree in `tree`; returns its bound, which holds for all
    /// edges.
    pub fn run(
        &mut self,
        distances: &DistanceMatrix,
        candidates: &CandidateEdges,
        (one_tree, multipliers): (&mut OneTree, &mut [f64]),
        goal: &AscentTarget,
    ) -> f64 {
        self.collect(distances, candidates, one_tree);
        self.trial.clear();
        self.trial.extend_from_slice(multipliers);
        let mut pair = SparseOneTreeView {
            one_tree: &mut self.one_tree,
            graph: &self.graph,
        };
        self.ascent.run(&mut pair, &mut self.trial, goal);
        let before = one_tree.build(distances, multipliers);
        let after = one_tree.build(distances, &self.trial);
        if after > before {
            multipliers.copy_from_slice(&self.trial);
            return after;
        }
        one_tree.build(distances, multipliers)
    }

    /// The graph of all candidate edges and the edges of the tree, which keep it in one piece.
    fn collect(
        &mut self,
        distances: &DistanceMatrix,
        candidates: &CandidateEdges,
        one_tree: &OneTree,
    ) {
        self.edges.clear();
        self.edges.extend(
            candidates
                .pairs()
                .chain(one_tree.edges())
                .map(|(i, j)| (i.min(j), i.max(j))),
        );
        self.edges.sort_unstable();
        self.edges.dedup();
        let priced = self
            .edges
            .iter()
            .map(|(i, j)| (*i, *j, distances.between(*i, *j)));
        self.graph.reset(distances.nodes(), priced);
        self.one_tree.reset(&self.graph);
    }
}
