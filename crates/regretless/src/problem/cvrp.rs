//! Capacitated vehicle routing problem (CVRP): routes from a depot that serve every customer once,
//! each within the capacity of a vehicle, at minimum total cost.
//!
//! Node 0 is the depot. One cost per edge {i, j}, i < j, in lexicographic order, as for tours.
//! Every customer has degree 2, the depot at most twice the number of vehicles, so that vehicles
//! may be unused.
//!
//! A route with one customer would use its depot edge twice. By default edges are used at most
//! once, as in the benchmarks of decision-focused learning, which excludes such routes; the general
//! problem allows them: then a depot edge may have the value 2.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ProblemKind;
use super::family::{
    ArgumentForm, At, FieldSize, KindConstructor, KindDefinition, KindField, LARGE_CAPACITY,
    ProblemFamily, RowPlace, TemplateRules,
};
use super::flexible_fields::PresentList;
use super::formats::tsplib::TsplibInstance;
use super::layout::DrawnNodes;
use super::subset::{MaybeSubset, Subset, absences, clear_absent, of_present, serialize_present};
#[cfg(feature = "highs")]
use super::{ChoiceFixing, EqualityConstraints, Sense, SolveCostHint, VariableBounds};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits::MAX_NODES;
use crate::solve::complete_graph::{edge_ends, num_edges, routes_from_edges};
#[cfg(feature = "highs")]
use crate::solve::complete_graph::{edges_at, edges_within};
#[cfg(feature = "highs")]
use crate::solve::cone::NormalCone;
#[cfg(feature = "highs")]
use crate::solve::cvrp::{CvrpBranchAndCut, CvrpInstance, CvrpLocalSearch, CvrpRelaxation};
#[cfg(feature = "highs")]
use crate::solve::relaxation::{CostRangeKind, CostRanging, Relaxation, RelaxationSolver};
#[cfg(feature = "highs")]
use crate::solve::{SearchLimits, Solver};

/// Relative excess of a load over the capacity that is rounding error.
const CAPACITY_TOLERANCE: f64 = 1e-8;

/// Most routes of which all subsets are checked for capacity constraints that hold with equality;
/// of more, only single routes and all together. Trades the number of rows, 2ⁿ − 1, against the
/// size of the cone.
#[cfg(feature = "highs")]
const MAX_ROUTE_SUBSET: usize = 6;

/// Vehicle routing with one depot and equal vehicles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CvrpFields")]
pub struct Cvrp {
    demands: Vec<f64>,
    capacity: f64,
    vehicles: usize,
    single_customer_routes: bool,
    #[serde(
        rename = "present",
        serialize_with = "serialize_present",
        skip_serializing_if = "Option::is_none"
    )]
    subset: Option<Arc<Subset<Self>>>,
}

/// A serialized CVRP, not validated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CvrpFields {
    demands: Vec<f64>,
    capacity: f64,
    vehicles: usize,
    #[serde(default)]
    single_customer_routes: bool,
    #[serde(default)]
    present: Option<PresentList>,
}

impl TryFrom<CvrpFields> for Cvrp {
    type Error = Error;

    fn try_from(fields: CvrpFields) -> Result<Self> {
        let limits = VehicleLimits {
            capacity: fields.capacity,
            vehicles: fields.vehicles,
            single_customer_routes: fields.single_customer_routes,
        };
        let present = fields.present.map(PresentList::into_flags);
        Self::checked(fields.demands, &limits, present)
    }
}

/// The vehicles, and which routes they may drive.
struct VehicleLimits {
    capacity: f64,
    vehicles: usize,
    single_customer_routes: bool,
}

/// The kind, as problem files and Python see it.
pub(super) static FAMILY: ProblemFamily = ProblemFamily {
    name: "cvrp",
    summary: "The cheapest routes of a fleet that serve all customers from a depot.",
    fields: &[
        KindField::required(
            "demands",
            "array_like of shape (customers,) or columns",
            "Demands of the customers.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::Items),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::required("capacity", "float or column", "Capacity of a vehicle.")
            .rows(&[RowPlace::number(LARGE_CAPACITY)]),
        KindField::required("vehicles", "int or column", "Number of vehicles.")
            .rows(&[RowPlace::whole(1)]),
        KindField::optional(
            "single_customer_routes",
            "bool, default True",
            "Whether a route may serve a single customer.",
        )
        .annotated("bool")
        .default("True")
        .form(ArgumentForm::Flag),
        KindField::optional(
            "customers",
            "int, optional",
            "Number of customers, where the demands come from columns.",
        )
        .annotated("int | None"),
        KindField::present(
            "array_like of shape (customers,) or columns, optional",
            "Which customers are served (1 or 0); all by default. Costs of edges of absent \
             customers may be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a capacitated vehicle routing problem: the cheapest routes from a depot, \
                  node 0.",
        positional: 3,
        examples: &[">>> problem = rl.Problem.cvrp(rl.columns(\"demand\"), 10, 2, customers=4)"],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        items_key: Some("customers"),
        listed_items: customers_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn customers_of_file(file: &Value) -> Option<usize> {
    let length = |key: &str| file.get(key)?.as_array().map(Vec::len);
    length("demands").or_else(|| length("present"))
}

impl KindDefinition for Cvrp {
    #[cfg(feature = "highs")]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    #[cfg(not(feature = "highs"))]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Err(Error::setting(
            "vehicle routing needs HiGHS, which this build was made without (cargo feature `highs`)",
        ))
    }

    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        Some(DrawnNodes {
            count: self.nodes(),
            depot: true,
            arcs: None,
        })
    }
}

impl Cvrp {
    /// The customers of each route in visiting order, without the depot; the decision must be
    /// feasible.
    pub fn routes(nodes: usize, decision: &Decision) -> Vec<Vec<u32>> {
        routes_from_edges(nodes, decision)
    }

    /// Number of nodes with the depot.
    pub fn nodes(&self) -> usize {
        self.demands.len() + 1
    }

    /// Customers with these demands, customer i at node i + 1, and at most `vehicles` routes with
    /// this capacity, none of which serves a single customer.
    ///
    /// # Errors
    /// When there is no customer or no vehicle, or a demand is negative or above the capacity.
    pub fn new(demands: Vec<f64>, capacity: f64, vehicles: usize) -> Result<Self> {
        let limits = VehicleLimits {
            capacity,
            vehicles,
            single_customer_routes: false,
        };
        Self::checked(demands, &limits, None)
    }

    /// The same problem in which routes serve only some of the customers: one flag per customer, as
    /// for demands. It is solved as the problem of these customers.
    ///
    /// # Errors
    /// When the number of flags is not that of the customers, or no customer is present.
    pub fn with_present(self, present: Vec<bool>) -> Result<Self> {
        let limits = self.vehicle_limits();
        Self::checked(self.demands, &limits, Some(present))
    }

    /// Whether each customer is present; `None` where all are.
    pub fn present(&self) -> Option<&[bool]> {
        self.subset.present()
    }

    fn vehicle_limits(&self) -> VehicleLimits {
        VehicleLimits {
            capacity: self.capacity,
            vehicles: self.vehicles,
            single_customer_routes: self.single_customer_routes,
        }
    }

    /// Routes for the present customers; the demands of the others do not count.
    fn checked(
        mut demands: Vec<f64>,
        limits: &VehicleLimits,
        present: Option<Vec<bool>>,
    ) -> Result<Self> {
        let (capacity, vehicles) = (limits.capacity, limits.vehicles);
        let customers = demands.len();
        if !(1..MAX_NODES).contains(&customers) {
            return Err(Error::setting(format!(
                "routes serve 1 to {} customers, not {customers}",
                MAX_NODES - 1
            )));
        }
        if vehicles == 0 || !(capacity.is_finite() && capacity > 0.0) {
            return Err(Error::setting(format!(
                "{vehicles} vehicles of capacity {capacity} cannot serve a customer"
            )));
        }
        let present = absences(present, customers, "customer")?;
        clear_absent(&mut demands, present.as_deref());
        let is_present = |i: usize| present.as_ref().is_none_or(|present| present[i]);
        let range = 0.0..=capacity * (1.0 + CAPACITY_TOLERANCE);
        let is_bad = |i: &usize| is_present(*i) && !range.contains(&demands[*i]);
        if let Some(i) = (0..customers).find(is_bad) {
            return Err(
                Error::setting(format!("customer {} demands {}", i + 1, demands[i]))
                    .with_remedy(format!("a vehicle carries 0 to {capacity}")),
            );
        }
        let subset = present.map(|present| {
            let smaller = Self::of_limits(of_present(&demands, &present), limits, None);
            Arc::new(Subset::of_nodes(present, customers + 1, smaller))
        });
        Ok(Self::of_limits(demands, limits, subset))
    }

    fn of_limits(
        demands: Vec<f64>,
        limits: &VehicleLimits,
        subset: Option<Arc<Subset<Self>>>,
    ) -> Self {
        Self {
            demands,
            capacity: limits.capacity,
            vehicles: limits.vehicles,
            single_customer_routes: limits.single_customer_routes,
            subset,
        }
    }

    /// The same problem; routes with a single customer are allowed or not.
    #[must_use]
    pub fn with_single_customer_routes(mut self, allowed: bool) -> Self {
        self.single_customer_routes = allowed;
        if let Some(subset) = &self.subset {
            let smaller = subset
                .smaller()
                .clone()
                .with_single_customer_routes(allowed);
            self.subset = Some(Arc::new(subset.with_smaller(smaller)));
        }
        self
    }

    /// The demand of each customer; customer i is node i + 1.
    pub fn demands(&self) -> &[f64] {
        &self.demands
    }

    /// The capacity of a vehicle.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Most routes.
    pub fn vehicles(&self) -> usize {
        self.vehicles
    }

    /// Whether a route may serve a single customer.
    pub fn allows_single_customer_routes(&self) -> bool {
        self.single_customer_routes
    }

    /// A published instance as the general problem: a route may serve a single customer, and the
    /// number of vehicles is the number after `-k` in the name (`E-n22-k4` has at most 4).
    ///
    /// # Errors
    /// When the instance lacks capacity, demands or a number of vehicles, or its depot is not the
    /// first node or has a demand.
    pub fn published(instance: &TsplibInstance) -> Result<Self> {
        let name = &instance.name;
        let refused = |message: String| Err(Error::data(format!("'{name}' {message}")));
        let Some(capacity) = instance.capacity else {
            return refused("has no capacity".into());
        };
        if instance.depots != [0] {
            let depots: Vec<String> = instance
                .depots
                .iter()
                .map(|depot| (depot + 1).to_string())
                .collect();
            let depots = if depots.is_empty() {
                "none".into()
            } else {
                depots.join(", ")
            };
            return refused(format!(
                "needs one depot, which is its first node; its depots are: {depots}"
            ));
        }
        if instance.demands.len() != instance.nodes {
            return refused("has no demands".into());
        }
        if instance.demands[0] != 0.0 {
            return refused(format!(
                "has a depot that demands {}; a depot demands 0",
                instance.demands[0]
            ));
        }
        let vehicles = name
            .rsplit_once("-k")
            .and_then(|(_, number)| number.trim().parse().ok());
        let Some(vehicles) = vehicles else {
            return refused(
                "does not end in -k and the number of vehicles; state the number of vehicles"
                    .into(),
            );
        };
        let problem = Self::new(instance.demands[1..].to_vec(), capacity, vehicles)?;
        Ok(problem.with_single_customer_routes(true))
    }

    /// The input of the solvers.
    #[cfg(feature = "highs")]
    fn solver_input(&self) -> CvrpInstance {
        let demands = std::iter::once(0.0)
            .chain(self.demands.iter().copied())
            .collect();
        let (capacity, vehicles, allows_single_customer_routes) =
            (self.capacity, self.vehicles, self.single_customer_routes);
        CvrpInstance {
            demands,
            capacity,
            vehicles,
            allows_single_customer_routes,
        }
    }

    /// Adds the capacity constraints of unions of routes that no fewer vehicles could serve: these
    /// hold with equality at this decision.
    #[cfg(feature = "highs")]
    fn add_tight_capacity_rows(&self, cone: &mut NormalCone, point: &[f64], routes: &[Vec<u32>]) {
        let (instance, count) = (self.solver_input(), routes.len());
        let mut add = |is_chosen: &dyn Fn(usize) -> bool| {
            let chosen: Vec<&[u32]> = (0..count)
                .filter(|route| is_chosen(*route))
                .map(|route| &routes[route][..])
                .collect();
            let set = chosen.concat();
            let max = set.len() as f64 - instance.min_vehicles(instance.load(&set));
            let set: Vec<usize> = set.iter().map(|customer| *customer as usize).collect();
            let inside: Vec<usize> = edges_within(self.nodes(), &set).collect();
            let used = inside.iter().map(|edge| point[*edge]).sum();
            cone.add_row_if_binding(
                [f64::NEG_INFINITY, max],
                used,
                inside.into_iter().map(|edge| (edge, 1.0)),
            );
        };
        if count <= MAX_ROUTE_SUBSET {
            for subset in 1_usize..1 << count {
                add(&|route| subset >> route & 1 == 1);
            }
        } else {
            for single in 0..count {
                add(&|route| route == single);
            }
            add(&|_| true);
        }
    }

    /// The most uses of an edge.
    fn max_edge_uses(&self, depot: bool) -> f64 {
        if depot && self.single_customer_routes {
            2.0
        } else {
            1.0
        }
    }

    /// Checks a decision against the constraints, independently of any solver.
    ///
    /// # Errors
    /// The first violated constraint, as a message.
    pub fn check_routes(&self, decision: &Decision) -> std::result::Result<(), String> {
        let nodes = self.nodes();
        if let Some(bad) = decision
            .indices()
            .last()
            .filter(|last| **last as usize >= num_edges(nodes))
        {
            return Err(format!(
                "variable {bad} of {} does not exist",
                num_edges(nodes)
            ));
        }
        let mut degrees = vec![0.0; nodes];
        let mut adjacent = vec![Vec::new(); nodes];
        let is_absent = |node: &usize| *node > 0 && !self.subset.is_present(node - 1);
        for ((i, j), (_, value)) in edge_ends(nodes, decision.indices()).zip(decision.iter()) {
            if let Some(absent) = [i, j].into_iter().find(is_absent) {
                return Err(format!("a route serves customer {absent}, who is absent"));
            }
            if value != 1.0 && value != self.max_edge_uses(i == 0) {
                return Err(format!(
                    "the edge from {i} to {j} cannot be used {value} times"
                ));
            }
            degrees[i] += value;
            degrees[j] += value;
            adjacent[i].push(j);
            adjacent[j].push(i);
        }
        let has_wrong_degree = |node: &usize| !is_absent(node) && degrees[*node] != 2.0;
        if let Some(bad) = (1..nodes).find(has_wrong_degree) {
            return Err(format!("customer {bad} has degree {}, not 2", degrees[bad]));
        }
        if degrees[0] > 2.0 * self.vehicles as f64 {
            return Err(format!(
                "{} routes for {} vehicles",
                degrees[0] / 2.0,
                self.vehicles
            ));
        }
        self.check_loads(&adjacent)
    }

    /// Follows every route from the depot.
    fn check_loads(&self, adjacent: &[Vec<usize>]) -> std::result::Result<(), String> {
        let mut served = vec![false; adjacent.len()];
        for first in &adjacent[0] {
            let (mut current, mut load) = (Some(*first), 0.0);
            while let Some(customer) = current.filter(|customer| !served[*customer]) {
                served[customer] = true;
                load += self.demands[customer - 1];
                current = adjacent[customer]
                    .iter()
                    .copied()
                    .find(|next| *next != 0 && !served[*next]);
            }
            if load > self.capacity * (1.0 + CAPACITY_TOLERANCE) {
                return Err(format!(
                    "the route over customer {first} carries {load} of {}",
                    self.capacity
                ));
            }
        }
        let is_unserved =
            |customer: &usize| self.subset.is_present(customer - 1) && !served[*customer];
        match (1..served.len()).find(is_unserved) {
            Some(lost) => Err(format!("customer {lost} is not connected to the depot")),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "highs")]
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

    fn check(&self, decision: &Decision) -> std::result::Result<(), String> {
        self.check_routes(decision)
    }
}

#[cfg(test)]
mod tests {
    use super::Cvrp;
    use crate::decision::Decision;
    use crate::solve::complete_graph::edge_index;

    fn problem(single_customer_routes: bool) -> Cvrp {
        Cvrp::new(vec![4.0, 5.0, 1.0, 3.0], 9.0, 2)
            .unwrap()
            .with_single_customer_routes(single_customer_routes)
    }

    fn using(edges: &[(usize, usize, f64)]) -> Decision {
        let mut dense = [0.0; 10];
        edges
            .iter()
            .for_each(|(i, j, value)| dense[edge_index(5, *i, *j)] = *value);
        Decision::from_dense(&dense)
    }

    fn complaint(single: bool, edges: &[(usize, usize, f64)]) -> String {
        problem(single).check_routes(&using(edges)).unwrap_err()
    }

    #[test]
    fn routes_within_capacity_are_accepted_and_others_named() {
        let two = [
            (0, 1, 1.0),
            (1, 2, 1.0),
            (0, 2, 1.0),
            (0, 3, 1.0),
            (3, 4, 1.0),
            (0, 4, 1.0),
        ];
        assert_eq!(problem(false).check_routes(&using(&two)), Ok(()));
        let all = [
            (0, 1, 1.0),
            (1, 2, 1.0),
            (2, 3, 1.0),
            (3, 4, 1.0),
            (0, 4, 1.0),
        ];
        assert!(complaint(false, &all).contains("carries 13"));
        let apart = [(0, 4, 1.0), (0, 1, 1.0), (1, 4, 1.0)];
        assert!(complaint(false, &apart).contains("customer 2 has degree 0"));
    }

    #[test]
    fn a_subtour_without_the_depot_is_refused() {
        let mut problem = problem(true);
        problem.capacity = 20.0;
        let subtour = using(&[(0, 1, 2.0), (2, 3, 1.0), (3, 4, 1.0), (2, 4, 1.0)]);
        assert!(
            problem
                .check_routes(&subtour)
                .unwrap_err()
                .contains("customer 2 is not connected")
        );
    }

    #[test]
    fn single_customers_need_permission_and_a_vehicle() {
        let single = [
            (0, 2, 2.0),
            (0, 1, 1.0),
            (1, 3, 1.0),
            (3, 4, 1.0),
            (0, 4, 1.0),
        ];
        assert_eq!(problem(true).check_routes(&using(&single)), Ok(()));
        assert!(complaint(false, &single).contains("2 times"));
        let three = [
            (0, 2, 2.0),
            (0, 1, 2.0),
            (0, 3, 1.0),
            (3, 4, 1.0),
            (0, 4, 1.0),
        ];
        assert!(complaint(true, &three).contains("3 routes for 2 vehicles"));
    }

    #[test]
    fn demands_that_no_vehicle_carries_are_refused() {
        let error = Cvrp::new(vec![4.0, 5.0, 9.5, 3.0], 9.0, 2).unwrap_err();
        assert!(error.to_string().contains("customer 3 demands 9.5"));
        let json = r#"{"demands": [1.0], "capacity": 0.5, "vehicles": 1}"#;
        assert!(serde_json::from_str::<Cvrp>(json).is_err());
    }
}
