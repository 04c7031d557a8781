//! Traveling salesperson problem (TSP): the cheapest tour that visits every node once.
//!
//! One cost per edge {i, j}, i < j, in lexicographic order.

use serde::{Deserialize, Serialize};

use super::{ProblemKind, Sense, SolveCostHint, check_binary};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits::MAX_NODES;
use crate::solve::complete_graph::{edge_ends, edges_at, edges_within, num_edges, tour_order};
use crate::solve::cone::NormalCone;
#[cfg(feature = "highs")]
use crate::solve::relaxation::{CostRangeKind, CostRanging, Relaxation, RelaxationSolver};
#[cfg(feature = "highs")]
use crate::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use crate::solve::tsp::{TspBranchAndBound, TspLocalSearch};
use crate::solve::{SearchLimits, Solver};

/// A tour through all nodes of a complete graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TspFields")]
pub struct Tsp {
    nodes: usize,
}

/// A serialized TSP, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TspFields {
    nodes: usize,
}

impl TryFrom<TspFields> for Tsp {
    type Error = Error;

    fn try_from(fields: TspFields) -> Result<Self> {
        Self::new(fields.nodes)
    }
}

impl Tsp {
    /// The nodes of a tour in visiting order, from node 0; the decision must be a tour.
    pub fn tour_order(nodes: usize, decision: &Decision) -> Vec<u32> {
        tour_order(nodes, decision.indices())
    }

    /// Up to this number of nodes branch and bound on 1-trees is faster than branch and cut.
    const BRANCH_AND_BOUND_MAX_NODES: usize = 64;

    /// A tour through `nodes` nodes.
    ///
    /// # Errors
    /// When there are fewer than 3 nodes, or more than `MAX_NODES`.
    pub fn new(nodes: usize) -> Result<Self> {
        if !(3..=MAX_NODES).contains(&nodes) {
            return Err(Error::setting(format!(
                "a tour has 3 to {MAX_NODES} nodes, not {nodes}"
            )));
        }
        Ok(Self { nodes })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The normal cone of a tour, with the subtour constraints of these sets of nodes that hold
    /// with equality: the cone in a relaxation to which a solver has added these cuts.
    pub fn cone_with_subtours(&self, tour: &Decision, sets: &[Vec<usize>]) -> NormalCone {
        let nodes = self.nodes;
        let mut cone = NormalCone::binary(tour, self.num_costs());
        for node in 0..nodes {
            cone.add_equation(edges_at(nodes, node).map(|edge| (edge, 1.0)));
        }
        for set in sets {
            let inside: Vec<usize> = edges_within(nodes, set).collect();
            let used: f64 = inside.iter().map(|edge| tour.value(*edge)).sum();
            let max = set.len() as f64 - 1.0;
            cone.add_row_if_binding(
                [f64::NEG_INFINITY, max],
                used,
                inside.into_iter().map(|edge| (edge, 1.0)),
            );
        }
        cone
    }
}

impl ProblemKind for Tsp {
    fn name(&self) -> String {
        format!("TSP{}", self.nodes)
    }

    fn solve_cost_hint(&self) -> SolveCostHint {
        // Fitted to medians of synthetic benchmarks.
        let seconds = 1e-4 * (self.nodes as f64 / 20.0).powf(2.3);
        let relaxed_ratio = if self.nodes <= Self::BRANCH_AND_BOUND_MAX_NODES {
            1.0
        } else {
            0.3
        };
        SolveCostHint::estimated(seconds, relaxed_ratio)
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        num_edges(self.nodes)
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        #[cfg(feature = "highs")]
        if self.nodes > Self::BRANCH_AND_BOUND_MAX_NODES {
            return Box::new(TspBranchAndCut::new(self.nodes, *limits));
        }
        Box::new(TspBranchAndBound::new(self.nodes, *limits))
    }

    fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        Some(Box::new(TspLocalSearch::new(self.nodes, *limits)))
    }

    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        Some(Box::new(TspLocalSearch::fast(self.nodes, *limits)))
    }

    #[cfg(feature = "highs")]
    fn relaxation_solver(
        &self,
        kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(TspRelaxation::new(self.nodes, kind)))
    }

    #[cfg(feature = "highs")]
    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        match kind {
            CostRangeKind::Basis => {
                Some(Box::new(TspRelaxation::new(self.nodes, Relaxation::Plain)))
            }
            CostRangeKind::Exact => None,
        }
    }

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        Some(self.cone_with_subtours(decision, &[]))
    }

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let mut neighbors = vec![[usize::MAX; 2]; self.nodes];
        for (i, j) in edge_ends(self.nodes, decision.indices()) {
            for (node, other) in [(i, j), (j, i)] {
                let slots = &mut neighbors[node];
                match slots.iter_mut().find(|slot| **slot == usize::MAX) {
                    Some(slot) => *slot = other,
                    None => return Err(format!("node {node} has more than two edges")),
                }
            }
        }
        if let Some(node) = neighbors.iter().position(|slots| slots[1] == usize::MAX) {
            return Err(format!("node {node} has fewer than two edges"));
        }
        let (mut from, mut node, mut visited) = (0, neighbors[0][0], 1);
        while node != 0 {
            let [first, second] = neighbors[node];
            (from, node) = (node, if first == from { second } else { first });
            visited += 1;
        }
        let all = self.nodes;
        if visited == all {
            Ok(())
        } else {
            Err(format!(
                "the tour of node 0 visits {visited} of {all} nodes"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ProblemKind, Tsp};
    use crate::decision::Decision;
    use crate::solve::complete_graph::edge_index;

    fn choosing(pairs: &[(usize, usize)]) -> Decision {
        Decision::from_indices(pairs.iter().map(|(i, j)| edge_index(6, *i, *j) as u32))
    }

    #[test]
    fn only_one_tour_through_all_nodes_is_accepted() {
        let problem = Tsp::new(6).unwrap();
        assert_eq!(
            problem.check(&choosing(&[(0, 3), (3, 1), (1, 5), (5, 2), (2, 4), (4, 0)])),
            Ok(())
        );
        let subtours = choosing(&[(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]);
        assert!(problem.check(&subtours).unwrap_err().contains("3 of 6"));
        assert!(
            problem
                .check(&choosing(&[(0, 1), (0, 2), (0, 3)]))
                .unwrap_err()
                .contains("node 0")
        );
        assert!(
            problem
                .check(&choosing(&[(0, 1), (1, 2), (0, 2)]))
                .unwrap_err()
                .contains("fewer")
        );
    }

    #[test]
    fn fewer_than_three_nodes_are_refused() {
        assert!(Tsp::new(2).is_err());
        assert!(Tsp::new(3).is_ok());
        assert!(serde_json::from_str::<Tsp>(r#"{"nodes": 2}"#).is_err());
    }
}
