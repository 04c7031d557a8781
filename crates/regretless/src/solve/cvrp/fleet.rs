//! Who is served by what, and which loads a vehicle carries.

use crate::solve::SolveFailure;
use crate::solve::complete_graph::check_costs;

/// Share of the capacity that counts as rounding.
const CAPACITY_TOLERANCE: f64 = 1e-9;

/// Customers with demands and the vehicles that serve them.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// Demand of each node; node 0 is the depot and demands nothing.
    pub demands: Vec<f64>,
    /// What a vehicle carries.
    pub capacity: f64,
    /// Most routes.
    pub vehicles: usize,
    /// Whether a route may serve a single customer.
    pub singles: bool,
}

impl Fleet {
    /// Number of nodes with the depot.
    pub fn nodes(&self) -> usize {
        self.demands.len()
    }

    /// Checks that there is someone to serve and a cost for every edge.
    pub(super) fn check(&self, costs: &[f64]) -> Result<(), SolveFailure> {
        if self.nodes() < 2 {
            return Err(SolveFailure::Infeasible);
        }
        check_costs(self.nodes(), costs)
    }

    /// Fewest vehicles that carry a load, if it could be split at will; at least one.
    #[inline]
    pub fn min_vehicles(&self, load: f64) -> f64 {
        (load / self.capacity - CAPACITY_TOLERANCE).ceil().max(1.0)
    }

    /// Whether one vehicle carries a load.
    #[inline]
    pub fn fits(&self, load: f64) -> bool {
        load <= self.capacity * (1.0 + CAPACITY_TOLERANCE)
    }

    /// Demand of some nodes together.
    pub fn load(&self, set: &[u32]) -> f64 {
        set.iter().map(|node| self.demands[*node as usize]).sum()
    }

    /// Most uses of an edge.
    pub fn max_edge_uses(&self, [i, j]: [u32; 2]) -> f64 {
        let (i, j) = (i as usize, j as usize);
        match i {
            0 if self.singles => 2.0,
            0 => 1.0,
            _ => f64::from(u8::from(self.fits(self.demands[i] + self.demands[j]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fleet;

    #[test]
    fn loads_are_compared_with_a_tolerance() {
        let fleet = Fleet {
            demands: vec![0.0, 0.1, 0.2, 0.31],
            capacity: 0.3,
            vehicles: 2,
            singles: false,
        };
        assert!(fleet.fits(0.1 + 0.2) && !fleet.fits(0.3001));
        assert_eq!(
            (
                fleet.min_vehicles(0.1 + 0.2),
                fleet.min_vehicles(0.31),
                fleet.min_vehicles(0.0)
            ),
            (1.0, 2.0, 1.0)
        );
        assert_eq!(
            (
                fleet.max_edge_uses([1, 2]),
                fleet.max_edge_uses([1, 3]),
                fleet.max_edge_uses([0, 3])
            ),
            (1.0, 0.0, 1.0)
        );
    }
}
