//! Traveling salesperson problem (TSP): the cheapest tour that visits every node once.
//!
//! One cost per edge {i, j}, i < j, in lexicographic order.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::family::{KindConstructor, KindDefinition, KindField, ProblemFamily, TemplateRules};
use super::flexible_fields::PresentList;
use super::layout::DrawnNodes;
use super::subset::{MaybeSubset, PartialKind, Subset, absences};
use super::{
    Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons, ProblemKind, Sense,
    Sensitivity, SolveCostHint, SolverTraits, check_binary,
};
use super::{Problem, ProblemSpec};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits::MAX_NODES;
use crate::solve::complete_graph::{edge_ends, edges_at, edges_within, num_edges, tour_order};
use crate::solve::cone::NormalCone;
#[cfg(feature = "highs")]
use crate::solve::relaxation::{CostRanging, Relaxation, RelaxationSolver};
#[cfg(feature = "highs")]
use crate::solve::tsp::branch_and_cut::{TspBranchAndCut, TspRelaxation};
use crate::solve::tsp::{TspBranchAndBound, TspLocalSearch};
use crate::solve::{SearchLimits, Solver};

/// Minimum number of nodes of a tour: two nodes would use their edge twice.
const MIN_NODES: usize = 3;

/// A tour through all nodes of a complete graph, or through those that are present.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TspFields")]
pub struct Tsp {
    nodes: usize,
    #[serde(rename = "present", skip_serializing_if = "MaybeSubset::is_all")]
    subset: MaybeSubset<Self>,
}

/// A serialized TSP, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TspFields {
    nodes: usize,
    #[serde(default)]
    present: Option<PresentList>,
}

impl TryFrom<TspFields> for Tsp {
    type Error = Error;

    fn try_from(fields: TspFields) -> Result<Self> {
        let problem = Self::new(fields.nodes)?;
        match fields.present {
            Some(present) => problem.with_present(present.into_flags()),
            None => Ok(problem),
        }
    }
}

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "tsp",
    summary: "The shortest tour through the nodes of a complete graph.",
    starter: "\
# the fastest round through all places: one cost per pair
kind = \"tsp\"
nodes = 4                  # fill in
",
    fields: &[
        KindField::required(
            "nodes",
            "int",
            "Number of nodes. Costs are those of the edges 0-1, 0-2, …, 1-2, ….",
        )
        .annotated("int"),
        KindField::present(
            "array_like of shape (nodes,) or columns, optional",
            "Which nodes are visited (1 or 0); all by default. Costs of edges of absent nodes may \
             be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a traveling salesperson problem: the shortest tour through the nodes.",
        positional: 1,
        notes: "Edges have one cost for both directions. For other tours, such as with time \
                windows, use `Problem.from_solver`.",
        examples: &[">>> problem = rl.Problem.tsp(6, present=rl.columns(\"visit\"))"],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        listed_items: nodes_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn nodes_of_file(file: &Value) -> Option<usize> {
    file.get("nodes")?.as_u64().map(|nodes| nodes as usize)
}

impl KindDefinition for Tsp {
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        Some(DrawnNodes {
            count: self.nodes,
            depot: false,
            arcs: None,
        })
    }
}

impl Tsp {
    /// The nodes of a tour in visiting order, from the first one; the decision must be a tour.
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
        if !(MIN_NODES..=MAX_NODES).contains(&nodes) {
            return Err(Error::setting(format!(
                "a tour has {MIN_NODES} to {MAX_NODES} nodes, not {nodes}"
            )));
        }
        Ok(Self {
            nodes,
            subset: MaybeSubset::ALL,
        })
    }

    /// The same problem in which the tour visits only some of the nodes: one flag per node. It is
    /// solved as the problem of these nodes.
    ///
    /// # Errors
    /// When the number of flags is not that of the nodes, or fewer than 3 nodes are present.
    pub fn with_present(mut self, present: Vec<bool>) -> Result<Self> {
        self.subset = MaybeSubset::ALL;
        let Some(present) = absences(Some(present), self.nodes, "node")? else {
            return Ok(self);
        };
        let count = present.iter().filter(|present| **present).count();
        if count < MIN_NODES {
            let nodes = self.nodes;
            return Err(Error::setting(format!(
                "a tour needs {MIN_NODES} present nodes; of {nodes} nodes, {count} are present"
            )));
        }
        let smaller = Self {
            nodes: count,
            subset: MaybeSubset::ALL,
        };
        let subset = Subset::of_nodes("node", present, self.nodes, smaller);
        self.subset = MaybeSubset::of(subset);
        Ok(self)
    }

    /// Whether each node is present; `None` if all are.
    pub fn present(&self) -> Option<&[bool]> {
        self.subset.present()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The normal cone of a tour, with the subtour constraints of these sets of nodes that hold
    /// with equality: the cone in a relaxation to which a solver has added these cuts.
    pub fn cone_with_subtours(&self, tour: &Decision, sets: &[Vec<usize>]) -> NormalCone {
        let nodes = self.nodes;
        let is_present = |node: &usize| self.subset.is_present(*node);
        let mut cone = NormalCone::binary(tour, self.num_costs());
        for node in (0..nodes).filter(is_present) {
            let edges = edges_at(nodes, node).filter(|edge| self.subset.has_cost(*edge));
            cone.add_equation(edges.map(|edge| (edge, 1.0)));
        }
        for set in sets {
            let set: Vec<usize> = set.iter().copied().filter(is_present).collect();
            let inside: Vec<usize> = edges_within(nodes, &set).collect();
            let used: f64 = inside.iter().map(|edge| tour.value(*edge)).sum();
            let max = set.len() as f64 - 1.0;
            cone.add_row_if_binding(
                [f64::NEG_INFINITY, max],
                used,
                inside.into_iter().map(|edge| (edge, 1.0)),
            );
        }
        cone.without_absent(self.subset.present_costs())
    }
}

impl Problem {
    /// The shortest tour through all nodes of a complete graph. Edge costs are predicted, in the
    /// order 0–1, 0–2, …, 1–2, ….
    ///
    /// ```
    /// use regretless::Problem;
    ///
    /// let problem = Problem::tsp(4)?;
    /// let tour = problem.solve(&[1.0, 9.0, 1.0, 1.0, 9.0, 1.0])?;
    /// assert_eq!(tour.objective, 4.0);
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are fewer than three nodes or too many.
    pub fn tsp(nodes: usize) -> Result<Self> {
        Self::from_spec(ProblemSpec::Tsp(Tsp::new(nodes)?))
    }
}

impl CostNaming for Tsp {}
impl FailureReasons for Tsp {}
impl Choices for Tsp {}

impl PartialKind for Tsp {
    fn subset(&self) -> &MaybeSubset<Self> {
        &self.subset
    }

    fn title(&self) -> String {
        format!("TSP{}", self.nodes)
    }

    fn objective_sense(&self) -> Sense {
        Sense::Minimize
    }

    fn count_costs(&self) -> usize {
        num_edges(self.nodes)
    }

    fn full_cost_hint(&self) -> SolveCostHint {
        // Fitted to medians of synthetic benchmarks.
        let seconds = 1e-4 * (self.nodes as f64 / 20.0).powf(2.3);
        let relaxed_ratio = if self.nodes <= Self::BRANCH_AND_BOUND_MAX_NODES {
            1.0
        } else {
            0.3
        };
        SolveCostHint::estimated(seconds, relaxed_ratio)
    }

    fn full_solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        #[cfg(feature = "highs")]
        if self.nodes > Self::BRANCH_AND_BOUND_MAX_NODES {
            return Box::new(TspBranchAndCut::new(self.nodes, *limits));
        }
        Box::new(TspBranchAndBound::new(self.nodes, *limits))
    }

    fn check_present(&self, decision: &Decision) -> std::result::Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let mut neighbors = vec![[usize::MAX; 2]; self.nodes];
        for (i, j) in edge_ends(self.nodes, decision.indices()) {
            for (node, other) in [(i, j), (j, i)] {
                if !self.subset.is_present(node) {
                    return Err(format!("the tour visits node {node}, which is absent"));
                }
                let slots = &mut neighbors[node];
                match slots.iter_mut().find(|slot| **slot == usize::MAX) {
                    Some(slot) => *slot = other,
                    None => return Err(format!("node {node} has more than two edges")),
                }
            }
        }
        let present: Vec<usize> = (0..self.nodes)
            .filter(|node| self.subset.is_present(*node))
            .collect();
        let has_few_edges = |node: &&usize| neighbors[**node][1] == usize::MAX;
        if let Some(node) = present.iter().find(has_few_edges) {
            return Err(format!("node {node} has fewer than two edges"));
        }
        let first = present[0];
        // Every present node has two neighbors, so the walk comes back to its first node; nodes
        // that it has not met are on other tours.
        let (mut from, mut node, mut visited) = (first, neighbors[first][0], 1);
        while node != first {
            let [first, second] = neighbors[node];
            (from, node) = (node, if first == from { second } else { first });
            visited += 1;
        }
        let all = present.len();
        if visited == all {
            Ok(())
        } else {
            Err(format!(
                "the tour of node {first} visits {visited} of {all} nodes"
            ))
        }
    }
}

impl SolverTraits for Tsp {
    fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        Some(Box::new(TspLocalSearch::new(self.nodes, *limits)))
    }

    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        Some(Box::new(TspLocalSearch::fast(self.nodes, *limits)))
    }
}

impl Sensitivity for Tsp {
    #[cfg(feature = "highs")]
    fn relaxation_solver(
        &self,
        kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(TspRelaxation::new(self.nodes, kind)))
    }

    #[cfg(feature = "highs")]
    fn basis_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let relaxation = TspRelaxation::new(self.nodes, Relaxation::Plain);
        Some(Box::new(relaxation))
    }
}

impl DecisionGeometry for Tsp {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        Some(self.cone_with_subtours(decision, &[]))
    }

    fn equality_constraints(&self) -> EqualityConstraints {
        EqualityConstraints::Degrees {
            nodes: self.nodes,
            with_depot: true,
        }
    }

    /// All tours have equally many edges.
    fn may_contain_decisions(&self) -> bool {
        false
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
