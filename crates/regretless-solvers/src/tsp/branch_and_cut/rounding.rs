//! Rounding heuristic: a tour from a fractional point of the relaxation.
//!
//! Edges are added by decreasing value as long as they form paths; then the paths are joined by
//! cheap edges. Edges on which the relaxation is almost integral thus stay in the tour, which the
//! local search improves.

use super::support_graph::INTEGRALITY_TOLERANCE;
use crate::complete_graph::EdgeEnds;
use crate::tsp::initial_tour::InitialTour;
use crate::tsp::path_fragments::PathFragments;

impl InitialTour {
    /// Rounds a fractional point to a tour and improves it with this many kicks; it replaces the
    /// current tour if it is cheaper.
    pub(super) fn round(&mut self, edges: &[EdgeEnds], values: &[f64], kicks: usize) {
        let mut support: Vec<(f64, EdgeEnds)> = Vec::new();
        for (ends, value) in edges.iter().zip(values) {
            if *value > INTEGRALITY_TOLERANCE {
                support.push((*value, *ends));
            }
        }
        // Largest values first: they are edges of most good tours near the point.
        support.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (mut paths, mut order) = (PathFragments::default(), Vec::new());
        paths.reset(self.order.len());
        for (_, [i, j]) in support {
            paths.add_edge(i, j);
        }
        // Fragments are joined by nearest ends, so every point gives a tour.
        paths.join(&self.reduced_costs, &mut order);
        self.local_search
            .improve(&self.reduced_costs, &self.candidates, &mut order, kicks);
        // Compared under the true costs: reduced costs only guide the search.
        if self.edge_costs.tour_cost(&order) < self.edge_costs.tour_cost(&self.order) {
            self.order = order;
        }
    }
}
