//! Capacitated vehicle routing problem (CVRP): routes from a depot that serve every customer once,
//! each within the capacity of a vehicle, at minimum total cost.
//!
//! Node 0 is the depot. One cost per edge {i, j}, i < j, in lexicographic order, as for tours.
//! Every customer has degree 2, the depot at most twice the number of vehicles, so vehicles may be
//! unused.
//!
//! A route with one customer would use its depot edge twice. By default edges are used at most
//! once, as in the benchmarks of decision-focused learning, which excludes such routes; the general
//! problem allows them: then a depot edge may have the value 2.

use serde::{Deserialize, Serialize};

use super::flexible_fields::PresentList;
use super::formats::tsplib::TsplibInstance;
use super::subset::{MaybeSubset, Subset, absences, clear_absent, of_present};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::size_limits::MAX_NODES;
#[cfg(feature = "highs")]
use crate::solve::complete_graph::edges_within;
use crate::solve::complete_graph::{edge_ends, num_edges, routes_from_edges};
#[cfg(feature = "highs")]
use crate::solve::cone::NormalCone;
#[cfg(feature = "highs")]
use crate::solve::cvrp::CvrpInstance;

mod family;
#[cfg(feature = "highs")]
mod kind;

pub(super) use family::FAMILY;

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
    #[serde(rename = "present", skip_serializing_if = "MaybeSubset::is_all")]
    subset: MaybeSubset<Self>,
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

    /// Whether each customer is present; `None` if all are.
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
            let smaller = Self::of_limits(of_present(&demands, &present), limits, MaybeSubset::ALL);
            MaybeSubset::of(Subset::of_nodes(
                "customer",
                present,
                customers + 1,
                smaller,
            ))
        });
        let subset = subset.unwrap_or(MaybeSubset::ALL);
        Ok(Self::of_limits(demands, limits, subset))
    }

    fn of_limits(demands: Vec<f64>, limits: &VehicleLimits, subset: MaybeSubset<Self>) -> Self {
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
        if let Some(subset) = self.subset.get() {
            let smaller = subset
                .smaller()
                .clone()
                .with_single_customer_routes(allowed);
            self.subset = MaybeSubset::of(subset.with_smaller(smaller));
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
        // A route begins at both of its ends: the second time all of its customers are served
        // already, and the load is 0.
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

#[cfg(test)]
mod tests;
