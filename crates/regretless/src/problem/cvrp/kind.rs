//! Solvers and checks.

use super::{CAPACITY_TOLERANCE, Cvrp};
use crate::decision::Decision;
use crate::problem::subset::{MaybeSubset, PartialKind};
use crate::problem::{ChoiceFixing, EqualityConstraints, Sense, SolveCostHint, VariableBounds};
use crate::problem::{
    Choices, CostNaming, DecisionGeometry, FailureReasons, Sensitivity, SolverTraits,
};
use crate::solve::complete_graph::edges_at;
use crate::solve::complete_graph::{num_edges, routes_from_edges};
use crate::solve::cone::NormalCone;
use crate::solve::cvrp::{CvrpBranchAndCut, CvrpLocalSearch, CvrpRelaxation};
use crate::solve::relaxation::{CostRanging, Relaxation, RelaxationSolver};
use crate::solve::{SearchLimits, Solver};

impl CostNaming for Cvrp {}

impl PartialKind for Cvrp {
    fn subset(&self) -> &MaybeSubset<Self> {
        &self.subset
    }

    fn title(&self) -> String {
        format!("CVRP{}", self.nodes())
    }

    fn objective_sense(&self) -> Sense {
        Sense::Minimize
    }

    fn count_costs(&self) -> usize {
        num_edges(self.nodes())
    }

    fn full_cost_hint(&self) -> SolveCostHint {
        let nodes = (self.demands.len() + 1) as f64;
        // Fitted to medians of CVRP20 and larger benchmarks.
        SolveCostHint::estimated(0.04 * (nodes / 20.0).powf(2.0), 0.03)
    }

    fn full_solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        Box::new(CvrpBranchAndCut::new(self.solver_input(), *limits))
    }

    fn check_present(&self, decision: &Decision) -> Result<(), String> {
        self.check_routes(decision)
    }
}

impl SolverTraits for Cvrp {
    fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        let kicks = self.nodes() * self.nodes() / 3;
        Some(Box::new(CvrpLocalSearch::new(
            self.solver_input(),
            kicks,
            *limits,
        )))
    }

    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        Some(Box::new(CvrpLocalSearch::new(
            self.solver_input(),
            self.nodes(),
            *limits,
        )))
    }
}

impl FailureReasons for Cvrp {
    /// Known if the demands exceed the capacity of all vehicles, or the only customer would need a
    /// route of its own.
    fn infeasibility(&self) -> Option<String> {
        let (vehicles, capacity) = (self.vehicles, self.capacity);
        let total: f64 = self.demands.iter().sum();
        let most = vehicles as f64 * capacity;
        if total > most * (1.0 + CAPACITY_TOLERANCE) {
            return Some(format!(
                "the customers demand {total}, and {vehicles} vehicles of capacity {capacity} \
                carry {most}"
            ));
        }
        (self.demands.len() == 1 && !self.single_customer_routes).then(|| {
            "there is one customer, and a route may not serve a single customer \
            (single_customer_routes)"
                .into()
        })
    }
}

impl Sensitivity for Cvrp {
    fn relaxation_solver(
        &self,
        kind: Relaxation,
        _limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        Some(Box::new(CvrpRelaxation::new(self.solver_input(), kind)))
    }

    fn basis_ranging(&self, _limits: &SearchLimits) -> Option<Box<dyn CostRanging>> {
        let relaxation = CvrpRelaxation::new(self.solver_input(), Relaxation::Plain);
        Some(Box::new(relaxation))
    }
}

impl DecisionGeometry for Cvrp {
    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        let (nodes, customers) = (self.nodes(), self.demands.len());
        let mut point = vec![0.0; self.count_costs()];
        decision.write_dense(&mut point);
        let bounds: Vec<_> = (0..point.len())
            .map(|edge| [0.0, self.max_edge_uses(edge < customers)])
            .collect();
        let mut cone = NormalCone::new(&point, &bounds);
        let ends = |node: usize| edges_at(nodes, node).map(|edge| (edge, 1.0));
        let at_depot: f64 = point[..customers].iter().sum();
        cone.add_row_if_binding(
            [f64::NEG_INFINITY, 2.0 * self.vehicles as f64],
            at_depot,
            ends(0),
        );
        (1..nodes).for_each(|customer| cone.add_equation(ends(customer)));
        self.add_tight_capacity_rows(&mut cone, &point, &routes_from_edges(nodes, decision));
        Some(cone)
    }

    /// The degree of the depot is fixed only if all vehicles are needed.
    fn equality_constraints(&self) -> EqualityConstraints {
        let load: f64 = self.demands.iter().sum();
        EqualityConstraints::Degrees {
            nodes: self.nodes(),
            with_depot: self.solver_input().min_vehicles(load) >= self.vehicles as f64,
        }
    }

    /// Every edge has a customer as an end, at which no third edge can be.
    fn may_contain_decisions(&self) -> bool {
        false
    }
}

impl Choices for Cvrp {
    fn bounds(&self) -> VariableBounds {
        if !self.single_customer_routes {
            return VariableBounds::Binary;
        }
        let customers = self.demands.len();
        let mut upper: Vec<f64> = (0..self.count_costs())
            .map(|edge| self.max_edge_uses(edge < customers))
            .collect();
        let present = self.subset.present_costs().unwrap_or_default();
        for (upper, present) in upper.iter_mut().zip(present) {
            if !present {
                *upper = 0.0;
            }
        }
        VariableBounds::Box {
            lower: vec![0.0; self.count_costs()],
            upper,
        }
    }

    /// Edges are used a whole number of times.
    fn leave_out(&self, _costs: &[u32]) -> ChoiceFixing {
        ChoiceFixing::ByCosts
    }
}
