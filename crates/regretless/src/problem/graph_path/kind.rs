//! Solvers and checks.

use std::sync::Arc;

use super::fixing::NO_FORCING;
use super::{GraphPath, NodeGrid, ShapeKind};
use crate::data::CostNames;
use crate::decision::Decision;
use crate::problem::{
    ChoiceFixing, Choices, CostNaming, DecisionGeometry, EqualityConstraints, FailureReasons,
    FixedChoices, KindCapabilities, ProblemKind, Sense, Sensitivity, SolveCostHint, check_binary,
};
use crate::solve::cone::NormalCone;
use crate::solve::graph_path::{CostPlace, GraphPathSolver};
use crate::solve::relaxation::{
    AdjacentVertices, CostRangeKind, CostRanging, Relaxation, RelaxationSolver,
};
use crate::solve::{SearchLimits, Solver};
use crate::text::first_names;

impl ProblemKind for GraphPath {
    fn name(&self) -> String {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => {
                let nodes = arcs.nodes().list().len();
                format!("path in a graph of {nodes} nodes and {} arcs", arcs.len())
            }
            ShapeKind::Grid(grid) => {
                let NodeGrid {
                    rows,
                    cols,
                    neighbors,
                } = grid;
                format!("path over the nodes of a {rows}x{cols} grid with {neighbors} neighbors")
            }
        }
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        self.shape.graph.num_costs()
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.present.as_deref()
    }

    /// Fitted to medians on road-like networks with random ends: 7 µs for 2,163 arcs, 1.1 ms for
    /// 100,000.
    fn solve_cost_hint(&self) -> SolveCostHint {
        let arcs = self.shape.graph.num_arcs() as f64;
        SolveCostHint::estimated(
            3e-10 * arcs * arcs.log2().max(1.0).powi(2) / 8.0 + 1e-6,
            1.0,
        )
    }

    fn solver(&self, _limits: &SearchLimits) -> Box<dyn Solver> {
        self.path_solver()
    }

    fn reuse_solver(&self, solver: &mut dyn Solver) -> bool {
        let solver: &mut dyn std::any::Any = solver;
        solver
            .downcast_mut::<GraphPathSolver>()
            .is_some_and(|solver| solver.move_to(&self.network()))
    }

    fn check(&self, decision: &Decision) -> Result<(), String> {
        check_binary(decision, self.num_costs())?;
        let chosen = decision.indices();
        if let Some(closed) = chosen.iter().find(|cost| !self.is_open(**cost)) {
            return Err(match &self.shape.kind {
                ShapeKind::Arcs(arcs) => format!("{} is closed", arcs.describe(*closed as usize)),
                ShapeKind::Grid(_) => format!("{} is closed", self.shape.describe(*closed)),
            });
        }
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.check_arcs(arcs, chosen),
            ShapeKind::Grid(_) => self.check_nodes(chosen),
        }
    }

    fn capabilities(&self) -> KindCapabilities<'_> {
        KindCapabilities::of(self)
    }
}

impl CostNaming for GraphPath {
    fn cost_names(&self) -> Option<&CostNames> {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => arcs.cost_names(),
            ShapeKind::Grid(_) => None,
        }
    }

    fn may_have_cost_names(&self) -> bool {
        matches!(self.shape.kind, ShapeKind::Arcs(_))
    }
}

impl FailureReasons for GraphPath {
    fn infeasibility(&self) -> Option<String> {
        if self.network().is_connected() {
            return None;
        }
        let [source, target] = [self.source, self.target].map(|node| self.shape.describe(node));
        let reason = if self.present.is_some() {
            format!(" along the {}s that are open", self.shape.item())
        } else {
            String::new()
        };
        Some(format!("{target} cannot be reached from {source}{reason}"))
    }

    fn unusable_costs(&self, costs: &[f64]) -> Option<String> {
        let cycle = self.path_solver().negative_cycle(costs).ok()??;
        let nodes = cycle.iter().map(|node| self.shape.describe(*node));
        Some(format!(
            "the costs of the cycle through {} add up to less than 0, so no path is the shortest",
            first_names(nodes)
        ))
    }
}

impl Sensitivity for GraphPath {
    fn relaxation_solver(
        &self,
        _kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(self.path_solver())
    }

    /// Exact ranges are at least as wide as those of any basis, so they serve both kinds.
    fn cost_ranging(
        &self,
        _kind: CostRangeKind,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        Some(self.path_solver())
    }

    /// With costs on nodes the polytope of the paths is not known.
    fn adjacent_vertices(&self, _limits: &SearchLimits) -> Option<Box<dyn AdjacentVertices>> {
        match self.shape.graph.cost_place() {
            CostPlace::Arcs => Some(self.path_solver()),
            CostPlace::Nodes => None,
        }
    }
}

impl DecisionGeometry for GraphPath {
    fn has_cones(&self) -> bool {
        self.shape.graph.cost_place() == CostPlace::Arcs
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let ShapeKind::Arcs(arcs) = &self.shape.kind else {
            return None;
        };
        let mut cone = NormalCone::binary(decision, self.num_costs());
        let mut balances = vec![Vec::new(); self.shape.graph.num_nodes()];
        for (arc, [from, to]) in arcs.ends().iter().enumerate() {
            if self.is_open(arc as u32) {
                balances[*from as usize].push((arc, 1.0));
                balances[*to as usize].push((arc, -1.0));
            }
        }
        for balance in balances {
            if !balance.is_empty() {
                cone.add_equation(balance);
            }
        }
        Some(cone.without_absent(self.present.as_deref()))
    }

    /// With costs on nodes there are none: a path visits a node once or not at all.
    fn equality_constraints(&self) -> EqualityConstraints {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => EqualityConstraints::flow_balances(
                self.shape.graph.num_nodes(),
                arcs.ends().iter().copied(),
                |arc| self.is_open(arc as u32),
            ),
            ShapeKind::Grid(_) => EqualityConstraints::None,
        }
    }

    /// A path over the nodes of a grid may visit all nodes of another one and more.
    fn may_contain_decisions(&self) -> bool {
        match &self.shape.kind {
            ShapeKind::Arcs(_) => false,
            ShapeKind::Grid(_) => true,
        }
    }
}

impl Choices for GraphPath {
    fn fix_choices(&self, fixed: &FixedChoices) -> ChoiceFixing {
        if fixed.contradict(|cost| self.is_open(cost)) {
            return ChoiceFixing::Infeasible;
        }
        let nodes = match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.nodes_along(arcs, &fixed.forced),
            ShapeKind::Grid(_) => self.beginning_of_nodes(&fixed.forced),
        };
        match nodes {
            Some(nodes) => {
                let problem = self.continued_from(&nodes, &fixed.forbidden);
                let mut added = fixed.forced.clone();
                if self.shape.graph.cost_place() == CostPlace::Nodes {
                    // The path that goes on begins with the last node.
                    added.retain(|node| *node != problem.source);
                }
                ChoiceFixing::Restricted {
                    problem: Arc::new(problem),
                    added,
                }
            }
            None if self.shape.graph.is_acyclic() => ChoiceFixing::ByCosts,
            None => ChoiceFixing::Unsupported(NO_FORCING),
        }
    }

    fn choices_in_order(&self, decision: &Decision) -> Vec<u32> {
        match &self.shape.kind {
            ShapeKind::Arcs(arcs) => self.order_along(arcs, decision.indices()),
            ShapeKind::Grid(_) => decision.indices().to_vec(),
        }
    }

    /// Paths over the nodes of a grid are divided by the node at which they leave the best one.
    /// Several orders of the same nodes are one decision, which then is the best of several parts.
    fn divide_decisions(&self, fixed: &FixedChoices, best: &Decision) -> Option<Vec<FixedChoices>> {
        if self.shape.graph.cost_place() == CostPlace::Arcs {
            return None;
        }
        let beginning = self.beginning_of_nodes(&fixed.forced)?;
        let order = self.order_of_nodes(&beginning, best.indices()).ok()?;
        let mut parts = Vec::new();
        for place in beginning.len()..order.len() {
            let passed = &order[..place];
            for arc in self.shape.graph.leaving(order[place - 1]) {
                let is_new = arc.node != order[place] && !passed.contains(&arc.node);
                if is_new && self.is_open(arc.node) {
                    parts.push(FixedChoices {
                        forced: [passed, &[arc.node]].concat(),
                        forbidden: fixed.forbidden.clone(),
                    });
                }
            }
        }
        Some(parts)
    }
}
