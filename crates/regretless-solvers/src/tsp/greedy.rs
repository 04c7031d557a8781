//! Greedy edge construction of a tour: the cheapest candidate edges that keep all components paths
//! are added first; then the paths are joined, always to the nearest path end.

use super::candidates::CandidateEdges;
use super::path_fragments::PathFragments;
use crate::complete_graph::EdgeCostMatrix;

/// Builds greedy tours; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct GreedyTour {
    edges: Vec<(f64, u32, u32)>,
    paths: PathFragments,
    order: Vec<u32>,
}

impl GreedyTour {
    /// A greedy tour; ties go to the edge with the smaller nodes.
    pub fn tour(&mut self, edge_costs: &EdgeCostMatrix, candidates: &CandidateEdges) -> &[u32] {
        self.edges.clear();
        for (i, j) in candidates.pairs() {
            self.edges
                .push((edge_costs.between(i, j), i.min(j), i.max(j)));
        }
        self.edges
            // A pair that is a candidate of both ends occurs twice; `add_edge` refuses it the
            // second time.
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        self.paths.reset(edge_costs.nodes());
        for (_, i, j) in &self.edges {
            self.paths.add_edge(*i, *j);
        }
        // Candidate edges may leave several paths.
        self.paths.join(edge_costs, &mut self.order);
        &self.order
    }
}
