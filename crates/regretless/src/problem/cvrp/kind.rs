//! Solvers and checks.

use super::{CAPACITY_TOLERANCE, Cvrp};
use crate::decision::Decision;
use crate::problem::ProblemKind;
use crate::problem::subset::MaybeSubset;
use crate::problem::{ChoiceFixing, EqualityConstraints, Sense, SolveCostHint, VariableBounds};
use crate::solve::complete_graph::edges_at;
use crate::solve::complete_graph::{num_edges, routes_from_edges};
use crate::solve::cone::NormalCone;
use crate::solve::cvrp::{CvrpBranchAndCut, CvrpLocalSearch, CvrpRelaxation};
use crate::solve::relaxation::{CostRangeKind, CostRanging, Relaxation, RelaxationSolver};
use crate::solve::{SearchLimits, Solver};

impl ProblemKind for Cvrp {
    fn name(&self) -> String {
        format!(
            "CVRP{}{}",
            self.nodes(),
            self.subset.name_suffix("customer")
        )
    }

    fn present_costs(&self) -> Option<&[bool]> {
        self.subset.present_costs()
    }

    /// Known where the demands exceed the capacity of all vehicles, or the only customer would need
    /// a route of its own.
    fn infeasibility(&self) -> Option<String> {
        if let Some(subset) = &self.subset {
            return subset.smaller().infeasibility();
        }
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

    fn solve_cost_hint(&self) -> SolveCostHint {
        if let Some(subset) = &self.subset {
            return subset.smaller().solve_cost_hint();
        }
        let nodes = (self.demands.len() + 1) as f64;
        // Fitted to medians of CVRP20 and larger benchmarks.
        SolveCostHint::estimated(0.04 * (nodes / 20.0).powf(2.0), 0.03)
    }

    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    fn num_costs(&self) -> usize {
        num_edges(self.nodes())
    }

    fn bounds(&self) -> VariableBounds {
        if !self.single_customer_routes {
            return VariableBounds::Binary;
        }
        let customers = self.demands.len();
        let mut upper: Vec<f64> = (0..self.num_costs())
            .map(|edge| self.max_edge_uses(edge < customers))
            .collect();
        let present = self.subset.present_costs().unwrap_or_default();
        for (upper, present) in upper.iter_mut().zip(present) {
            if !present {
                *upper = 0.0;
            }
        }
        VariableBounds::Box {
            lower: vec![0.0; self.num_costs()],
            upper,
        }
    }

    /// Edges are used a whole number of times.
    fn leave_out(&self, _costs: &[u32]) -> ChoiceFixing {
        ChoiceFixing::ByCosts
    }

    fn solver(&self, limits: &SearchLimits) -> Box<dyn Solver> {
        if let Some(subset) = &self.subset {
            return subset.solver(limits);
        }
        Box::new(CvrpBranchAndCut::new(self.solver_input(), *limits))
    }

    fn local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        if let Some(subset) = &self.subset {
            return subset.local_search(limits);
        }
        let kicks = self.nodes() * self.nodes() / 3;
        Some(Box::new(CvrpLocalSearch::new(
            self.solver_input(),
            kicks,
            *limits,
        )))
    }

    fn fast_local_search(&self, limits: &SearchLimits) -> Option<Box<dyn Solver>> {
        if let Some(subset) = &self.subset {
            return subset.fast_local_search(limits);
        }
        Some(Box::new(CvrpLocalSearch::new(
            self.solver_input(),
            self.nodes(),
            *limits,
        )))
    }

    fn relaxation_solver(
        &self,
        kind: Relaxation,
        limits: &SearchLimits,
    ) -> Option<Box<dyn RelaxationSolver>> {
        if let Some(subset) = &self.subset {
            return subset.relaxation_solver(kind, limits);
        }
        Some(Box::new(CvrpRelaxation::new(self.solver_input(), kind)))
    }

    fn cost_ranging(
        &self,
        kind: CostRangeKind,
        limits: &SearchLimits,
    ) -> Option<Box<dyn CostRanging>> {
        if let Some(subset) = &self.subset {
            return subset.cost_ranging(kind, limits);
        }
        match kind {
            CostRangeKind::Basis => Some(Box::new(CvrpRelaxation::new(
                self.solver_input(),
                Relaxation::Plain,
            ))),
            CostRangeKind::Exact => None,
        }
    }

    fn has_cones(&self) -> bool {
        true
    }

    fn cone(&self, decision: &Decision) -> Option<NormalCone> {
        if let Some(subset) = &self.subset {
            return subset.cone(decision);
        }
        let (nodes, customers) = (self.nodes(), self.demands.len());
        let mut point = vec![0.0; self.num_costs()];
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

    /// The degree of the depot is fixed only where all vehicles are needed.
    fn equality_constraints(&self) -> EqualityConstraints {
        if let Some(subset) = &self.subset {
            return subset.equality_constraints();
        }
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

    fn check(&self, decision: &Decision) -> Result<(), String> {
        self.check_routes(decision)
    }
}
