//! The data of an instance that all solves share: customer demands and vehicle capacities. Edge
//! costs vary from solve to solve.

use crate::SolveFailure;
use crate::complete_graph::check_costs;

/// Relative tolerance of loads, so sums of decimal demands may fill a vehicle exactly.
const CAPACITY_TOLERANCE: f64 = 1e-9;

/// A capacitated vehicle routing problem without its edge costs: customers with demands and
/// identical vehicles.
#[derive(Debug, Clone, Default)]
pub struct CvrpInstance {
    /// Demand of each node; node 0 is the depot, with demand 0.
    pub demands: Vec<f64>,
    /// Capacity of a vehicle.
    pub capacity: f64,
    /// Maximum number of routes.
    pub vehicles: usize,
    /// Whether a route may serve a single customer.
    pub allows_single_customer_routes: bool,
}

impl CvrpInstance {
    /// Number of nodes, including the depot.
    pub fn nodes(&self) -> usize {
        self.demands.len()
    }

    /// Checks that there is a customer, and one cost per edge.
    pub(super) fn check(&self, costs: &[f64]) -> Result<(), SolveFailure> {
        if self.nodes() < 2 {
            return Err(SolveFailure::Infeasible);
        }
        check_costs(self.nodes(), costs)
    }

    /// Right-hand side of the rounded capacity inequality: ⌈load / capacity⌉, at least one.
    #[inline]
    pub fn min_vehicles(&self, load: f64) -> f64 {
        // The tolerance is subtracted before rounding up: a load that exceeds k vehicles by
        // rounding needs k of them. An empty set counts as one vehicle.
        (load / self.capacity - CAPACITY_TOLERANCE).ceil().max(1.0)
    }

    /// Whether a load fits into one vehicle.
    #[inline]
    pub fn fits(&self, load: f64) -> bool {
        load <= self.capacity * (1.0 + CAPACITY_TOLERANCE)
    }

    /// Total demand of some nodes.
    pub fn load(&self, set: &[u32]) -> f64 {
        set.iter().map(|node| self.demands[*node as usize]).sum()
    }

    /// Upper bound of an edge variable: 2 for a route of a single customer, 0 for two customers
    /// that do not fit into one vehicle.
    pub fn max_edge_uses(&self, [i, j]: [u32; 2]) -> f64 {
        let (i, j) = (i as usize, j as usize);
        match i {
            0 if self.allows_single_customer_routes => 2.0,
            0 => 1.0,
            _ => f64::from(u8::from(self.fits(self.demands[i] + self.demands[j]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CvrpInstance;

    #[test]
    fn loads_are_compared_with_a_tolerance() {
        let instance = CvrpInstance {
            demands: vec![0.0, 0.1, 0.2, 0.31],
            capacity: 0.3,
            vehicles: 2,
            allows_single_customer_routes: false,
        };
        assert!(instance.fits(0.1 + 0.2) && !instance.fits(0.3001));
        assert_eq!(
            (
                instance.min_vehicles(0.1 + 0.2),
                instance.min_vehicles(0.31),
                instance.min_vehicles(0.0)
            ),
            (1.0, 2.0, 1.0)
        );
        assert_eq!(
            (
                instance.max_edge_uses([1, 2]),
                instance.max_edge_uses([1, 3]),
                instance.max_edge_uses([0, 3])
            ),
            (1.0, 0.0, 1.0)
        );
    }
}
