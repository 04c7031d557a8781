//! Iterated local search on the giant tour, with 2-opt, or-opt and swap moves.
//!
//! All routes are one cyclic sequence in which the depot appears once per vehicle; two consecutive
//! depots are an unused vehicle. The moves reverse a segment, move up to three consecutive nodes,
//! or exchange two nodes, and thus change single routes and several routes alike (2-opt, relocate,
//! swap, cross exchange). Only moves that make a customer adjacent to one of its nearest neighbors
//! are tried. Overloaded vehicles and, if they are not allowed, routes of a single customer are
//! penalized; only sequences without penalty are feasible.
//!
//! A kick exchanges two short adjacent segments of a local optimum. The search continues from the
//! new local optimum if it is better, and with a probability that falls exponentially with the
//! difference if it is worse (Martin, Otto and Felten 1991). The random stream is fixed, so the
//! routes depend on costs and demands only.

use super::giant_tour::{GiantTour, LocalMove};
use super::instance::CvrpInstance;
use crate::complete_graph::EdgeCostMatrix;
use regretless_base::random::{Purpose, RandomStream};

/// Nearest neighbors of each node that moves are tried with. The time of a local search is
/// proportional to it; farther neighbors rarely yield improving moves.
const MAX_NEIGHBORS: usize = 8;
/// Longest segment of a kick. Longer kicks destroy more of a good solution.
const MAX_KICK_SEGMENT: usize = 6;
/// Mean accepted increase of the cost per kick, in units of `cost_spread`: small enough to stay
/// near the best routes, large enough to leave a local optimum.
const ACCEPTANCE_TEMPERATURE: f64 = 0.03;
/// Smallest random number whose logarithm is taken: it caps the accepted increase.
const MIN_ACCEPTANCE_DRAW: f64 = 1e-12;
/// The neighbor at this fraction of the ranking, one over the divisor, represents a poor edge in
/// `cost_spread`; untuned.
const SPREAD_RANK_DIVISOR: usize = 3;
/// Penalty of a unit of overload, relative to the capacity, in units of `cost_spread`. A larger
/// value makes more local optima feasible; a smaller one lets the search pass through infeasible
/// routes.
const OVERLOAD_PENALTY: f64 = 10.0;
/// Overload that is added to every overloaded route, so small overloads are removed too.
const OVERLOAD_OFFSET: f64 = 0.1;
/// Smallest `cost_spread`, for instances whose costs are all zero: penalties must be positive.
const MIN_COST_SPREAD: f64 = 1e-300;
/// Smallest gain of a move relative to `cost_spread`, and relative to the largest cost: smaller
/// ones may be rounding, and a search that accepted them could cycle.
const RELATIVE_SPREAD_TOLERANCE: f64 = 1e-9;
/// See [`RELATIVE_SPREAD_TOLERANCE`].
const RELATIVE_SCALE_TOLERANCE: f64 = 1e-14;

/// The iterated local search of one instance.
#[derive(Debug)]
pub(super) struct IteratedLocalSearch<'a> {
    instance: &'a CvrpInstance,
    /// Cost matrix with a zero diagonal, also between copies of the depot.
    costs: Vec<f64>,
    /// Nearest neighbors of each node, nearest first.
    neighbors: Vec<Vec<u32>>,
    /// The mean over all nodes of the cost difference between a poor and the nearest neighbor.
    cost_spread: f64,
    /// Moves must gain more than this.
    min_gain: f64,
    /// Whether infeasible moves are rejected instead of penalized.
    feasible_only: bool,
    stream: RandomStream,
}

impl<'a> IteratedLocalSearch<'a> {
    pub(super) fn new(instance: &'a CvrpInstance, edge_costs: &EdgeCostMatrix) -> Self {
        let nodes = instance.nodes();
        let mut costs = Vec::with_capacity(nodes * nodes);
        for node in 0..nodes {
            costs.extend_from_slice(edge_costs.row(node as u32));
            // An edge between two copies of the depot costs nothing: the vehicle is not used.
            costs[node * (nodes + 1)] = 0.0;
        }
        let rows = costs.chunks(nodes);
        let mean: Vec<f64> = rows
            .map(|row| row.iter().sum::<f64>() / (nodes - 1) as f64)
            .collect();
        let mut cost_spread = 0.0;
        let mut neighbors = Vec::with_capacity(nodes);
        for node in 0..nodes {
            let row = &costs[node * nodes..][..nodes];
            let mut ranked: Vec<(f64, u32)> = Vec::with_capacity(nodes);
            for (other, (cost, mean)) in row.iter().zip(&mean).enumerate() {
                if other != node {
                    // Every solution has two edges at the other node, so the mean cost of its edges
                    // does not distinguish good neighbors from bad ones.
                    ranked.push((cost - mean, other as u32));
                }
            }
            ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let poor = ranked[ranked.len() / SPREAD_RANK_DIVISOR].0;
            cost_spread += (poor - ranked[0].0) / nodes as f64;
            let nearest = ranked.iter().take(MAX_NEIGHBORS);
            neighbors.push(nearest.map(|(_, other)| *other).collect());
        }
        let cost_spread = if cost_spread > 0.0 {
            // Without differences between neighbors the largest cost is the only scale there is.
            cost_spread
        } else {
            edge_costs.scale().max(MIN_COST_SPREAD)
        };
        let scale_tolerance = RELATIVE_SCALE_TOLERANCE * edge_costs.scale();
        Self {
            instance,
            costs,
            neighbors,
            cost_spread,
            // A gain below rounding errors could be undone by the same errors: the search would
            // cycle.
            min_gain: (RELATIVE_SPREAD_TOLERANCE * cost_spread).max(scale_tolerance),
            feasible_only: false,
            stream: RandomStream::new(Purpose::Oracle, 0, [0, 0]),
        }
    }

    /// The best feasible routes after this many kicks, if there are any.
    pub(super) fn search(&mut self, kicks: usize) -> Option<Vec<Vec<u32>>> {
        let is_better = |trial: &GiantTour, best: &GiantTour| {
            // Feasible tours are better than infeasible ones, whatever they cost.
            (trial.is_feasible(), -trial.penalized_cost())
                > (best.is_feasible(), -best.penalized_cost())
        };
        let mut current = self.initial_tour();
        self.improve(&mut current);
        let mut best = current.clone();
        let mut trial = current.clone();
        for _ in 0..kicks {
            // Kicks start from the current tour, which may be worse than the best one.
            trial.clone_from(&current);
            self.kick(&mut trial);
            self.improve(&mut trial);
            if is_better(&trial, &best) {
                best.clone_from(&trial);
            }
            // The logarithm of a uniform number is exponentially distributed: increases are
            // accepted as in simulated annealing at a constant temperature.
            let log_draw = self.stream.standard_uniform().max(MIN_ACCEPTANCE_DRAW).ln();
            let max_increase = -(ACCEPTANCE_TEMPERATURE * self.cost_spread * log_draw);
            if trial.penalized_cost() < current.penalized_cost() + max_increase {
                std::mem::swap(&mut current, &mut trial);
            }
        }
        best.is_feasible().then(|| best.routes())
    }

    /// The local optimum reached from these routes by feasible moves without kicks; `None` when the
    /// routes are infeasible.
    pub(super) fn descend(&mut self, routes: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
        let vehicles = self.instance.vehicles.min(self.instance.nodes());
        // Unused vehicles are empty routes, so moves can open a route.
        let unused = vehicles.saturating_sub(routes.len());
        let mut order = Vec::new();
        for route in routes {
            order.push(0);
            order.extend_from_slice(route);
        }
        // Depot copies at the end are empty routes.
        order.resize(order.len() + unused, 0);
        self.feasible_only = true;
        let mut giant_tour = self.with_cost(GiantTour::new(order, self.instance.nodes()));
        let served: usize = routes.iter().map(Vec::len).sum();
        // Costs are not checked here: routes that do not serve every customer once are no start.
        if !giant_tour.is_feasible() || served + 1 != self.instance.nodes() {
            return None;
        }
        self.improve(&mut giant_tour);
        Some(giant_tour.routes())
    }

    /// Assigns customers by decreasing demand to the vehicle of smallest load.
    fn initial_tour(&self) -> GiantTour {
        let mut customers: Vec<u32> = (1..self.instance.nodes() as u32).collect();
        let demand = |customer: u32| self.instance.demands[customer as usize];
        // A stable sort, so equal demands stay in the order of the customers.
        customers.sort_by(|a, b| demand(*b).total_cmp(&demand(*a)));
        let vehicles = self.instance.vehicles.min(self.instance.nodes());
        let mut loads = vec![0.0; vehicles];
        let mut routes = vec![Vec::new(); vehicles];
        for customer in customers {
            // Large demands first, each to the emptiest vehicle: loads become as equal as possible,
            // and the first tour is rarely overloaded.
            let smallest = (0..vehicles).reduce(|a, b| if loads[b] < loads[a] { b } else { a });
            if let Some(vehicle) = smallest {
                loads[vehicle] += demand(customer);
                routes[vehicle].push(customer);
            }
        }
        let mut order = Vec::new();
        for route in routes {
            order.push(0);
            order.extend(route);
        }
        self.with_cost(GiantTour::new(order, self.instance.nodes()))
    }

    /// Computes cost and penalty of a giant tour.
    fn with_cost(&self, mut giant_tour: GiantTour) -> GiantTour {
        giant_tour.cost = giant_tour.pairs().map(|(i, j)| self.between(i, j)).sum();
        giant_tour.penalty = self.penalty(&giant_tour.order);
        giant_tour
    }

    #[inline]
    fn between(&self, first: u32, second: u32) -> f64 {
        self.costs[first as usize * self.instance.nodes() + second as usize]
    }

    /// Penalty of overloads and of routes with a single customer.
    fn penalty(&self, order: &[u32]) -> f64 {
        let Some(first) = order.iter().position(|node| *node == 0) else {
            return f64::INFINITY;
        };
        // Starting behind a depot, every route is met as a whole, and the last one ends with that
        // depot.
        let (mut overload, mut single_routes) = (0.0, 0);
        let (mut load, mut customers) = (0.0, 0);
        let (before, after) = order.split_at(first + 1);
        for node in after.iter().chain(before) {
            if *node != 0 {
                load += self.instance.demands[*node as usize];
                customers += 1;
                continue;
            }
            let fits = self.instance.fits(load);
            let is_forbidden_single =
                customers == 1 && !self.instance.allows_single_customer_routes;
            if self.feasible_only && (!fits || is_forbidden_single) {
                return f64::INFINITY;
            }
            // The offset makes every overloaded route cost at least something that is worth
            // removing.
            if !fits {
                overload += OVERLOAD_OFFSET + load / self.instance.capacity - 1.0;
            }
            single_routes += usize::from(is_forbidden_single);
            (load, customers) = (0.0, 0);
        }
        self.cost_spread * (OVERLOAD_PENALTY * overload + single_routes as f64)
    }

    /// Exchanges two random adjacent segments.
    fn kick(&mut self, giant_tour: &mut GiantTour) {
        let size = giant_tour.order.len();
        let max_length = MAX_KICK_SEGMENT.min(size / 2).max(1);
        // Segments are drawn before the check, so the number of draws does not depend on the tour.
        let first_length = 1 + self.stream.index_below(max_length);
        let second_length = 1 + self.stream.index_below(max_length);
        let start = self.stream.index_below(size);
        let end = first_length + second_length;
        if end < size {
            // Rotated to the front, so neither segment crosses the end of the array.
            giant_tour.order.rotate_left(start);
            giant_tour.order[..end].rotate_left(first_length);
            giant_tour.update_positions();
            // The six nodes at the three changed edges.
            let changed = [0, second_length - 1, second_length, end - 1, end, size - 1];
            for position in changed {
                giant_tour.activate(giant_tour.order[position]);
            }
        }
        // Computed anew, so rounding errors of the gains do not accumulate over kicks.
        giant_tour.cost = giant_tour.pairs().map(|(i, j)| self.between(i, j)).sum();
        giant_tour.penalty = self.penalty(&giant_tour.order);
    }

    /// Applies improving moves to a local optimum.
    fn improve(&self, giant_tour: &mut GiantTour) {
        let mut buffer = Vec::new();
        while let Some(customer) = giant_tour.next_active() {
            while self.improve_at(giant_tour, customer, &mut buffer) {}
        }
    }

    /// Applies the first improving move that makes a customer adjacent to a near node; whether
    /// there was one.
    fn improve_at(&self, giant_tour: &mut GiantTour, customer: u32, buffer: &mut Vec<u32>) -> bool {
        let at = giant_tour.position(customer);
        let max_removed = self
            .between(customer, giant_tour.after(at))
            .max(self.between(customer, giant_tour.before(at)));
        for neighbor in &self.neighbors[customer as usize] {
            let added = self.between(customer, *neighbor);
            // A removed edge must be more expensive than the added one, unless the move may also
            // reduce the penalty.
            // Every move removes an edge at the customer or at its neighbor; the neighbor is tried
            // from its own side.
            if added >= max_removed && giant_tour.penalty == 0.0 {
                continue;
            }
            let is_depot = *neighbor == 0;
            // The depot has a copy per vehicle, and each is another place in the sequence.
            let copies = if is_depot { giant_tour.depots.len() } else { 1 };
            for copy in 0..copies {
                let other = if is_depot {
                    giant_tour.depots[copy] as usize
                } else {
                    giant_tour.position(*neighbor)
                };
                for local_move in LocalMove::joining(at, other, giant_tour.order.len()) {
                    if self.try_move(giant_tour, local_move, buffer) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Applies a move if it improves the cost with penalties; whether it did.
    fn try_move(
        &self,
        giant_tour: &mut GiantTour,
        local_move: LocalMove,
        buffer: &mut Vec<u32>,
    ) -> bool {
        let gain = local_move.gain(&giant_tour.order, |i, j| self.between(i, j));
        // Without any penalty after the move the gain would still be too small: no need to compute
        // it.
        if gain + giant_tour.penalty <= self.min_gain {
            return false;
        }
        local_move.write(&giant_tour.order, buffer);
        let penalty = self.penalty(buffer);
        if gain + giant_tour.penalty - penalty <= self.min_gain {
            return false;
        }
        // Before the order is replaced: these are positions of the old order.
        for position in local_move.changed_positions(giant_tour.order.len()) {
            giant_tour.activate(giant_tour.order[position]);
        }
        std::mem::swap(&mut giant_tour.order, buffer);
        giant_tour.update_positions();
        giant_tour.cost -= gain;
        giant_tour.penalty = penalty;
        true
    }
}
