//! Good routes by local search with kicks.
//!
//! All routes stand in one ring, in which the depot appears once per vehicle; two depots in a row
//! are a vehicle that stays. Turning a stretch of the ring round, moving up to three neighbours and
//! exchanging two customers then change routes and sets of routes alike (2-opt, relocate, swap,
//! cross). Only moves that bring a customer next to one of its nearest neighbours are tried. What a
//! vehicle carries too much and, where they are not allowed, single customers cost extra; only
//! rings without either count.
//!
//! From a ring that no move improves, a kick exchanges two short stretches, and the search goes on
//! from the better one, or now and then from a slightly worse one (Martin, Otto and Felten 1991).
//! Chance follows a fixed stream, so the routes depend on costs and demands only.

use super::fleet::Fleet;
use super::giant_tour::{GiantTour, LocalMove};
use crate::random::{Purpose, RandomStream};
use crate::solve::complete_graph::DistanceMatrix;

/// Nearest neighbours that are tried.
const MAX_NEIGHBORS: usize = 8;
/// Longest stretch of a kick.
const MAX_KICK_SEGMENT: usize = 6;

/// The search; one per instance.
#[derive(Debug)]
pub(super) struct IteratedLocalSearch<'a> {
    fleet: &'a Fleet,
    /// Costs with zeros between depots.
    table: Vec<f64>,
    near: Vec<Vec<u32>>,
    /// A typical difference between good and bad edges.
    spread: f64,
    /// Gains below this may be rounding: a search that took them could go in circles.
    min: f64,
    /// Whether nothing that is not allowed is tried.
    strict: bool,
    stream: RandomStream,
}

impl<'a> IteratedLocalSearch<'a> {
    pub(super) fn new(fleet: &'a Fleet, distances: &DistanceMatrix) -> Self {
        let nodes = fleet.nodes();
        let mut table = Vec::with_capacity(nodes * nodes);
        (0..nodes as u32).for_each(|node| table.extend_from_slice(distances.row(node)));
        (0..nodes).for_each(|node| table[node * (nodes + 1)] = 0.0);
        let mean: Vec<f64> = table
            .chunks(nodes)
            .map(|row| row.iter().sum::<f64>() / (nodes - 1) as f64)
            .collect();
        let mut spread = 0.0;
        let near = (0..nodes).map(|node| {
            // What all edges of a node have in common says nothing about them.
            let row = table[node * nodes..][..nodes]
                .iter()
                .zip(&mean)
                .map(|(cost, mean)| cost - mean);
            let mut list: Vec<(f64, u32)> = row
                .zip(0..)
                .filter(|(_, other)| *other as usize != node)
                .collect();
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            spread += (list[list.len() / 3].0 - list[0].0) / nodes as f64;
            list.iter()
                .take(MAX_NEIGHBORS)
                .map(|(_, other)| *other)
                .collect()
        });
        let near = near.collect();
        let spread = if spread > 0.0 {
            spread
        } else {
            distances.scale().max(1e-300)
        };
        let min = (1e-9 * spread).max(1e-14 * distances.scale());
        Self {
            fleet,
            table,
            near,
            spread,
            min,
            strict: false,
            stream: RandomStream::new(Purpose::Oracle, 0, [0, 0]),
        }
    }

    /// The best routes after this many kicks, if any were found.
    pub(super) fn search(&mut self, kicks: usize) -> Option<Vec<Vec<u32>>> {
        let mut present = self.initial_tour();
        self.improve(&mut present);
        let mut best = present.clone();
        let mut trial = present.clone();
        for _ in 0..kicks {
            trial.clone_from(&present);
            self.kick(&mut trial);
            self.improve(&mut trial);
            let better = |one: &GiantTour, other: &GiantTour| {
                (one.is_feasible(), -one.total()) > (other.is_feasible(), -other.total())
            };
            if better(&trial, &best) {
                best.clone_from(&trial);
            }
            if trial.total()
                < present.total() - 0.03 * self.spread * self.stream.unit().max(1e-12).ln()
            {
                std::mem::swap(&mut present, &mut trial);
            }
        }
        best.is_feasible().then(|| best.routes())
    }

    /// What moves without kicks make of these routes; nothing where they are none that are allowed.
    pub(super) fn descend(&mut self, routes: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
        let idle = std::iter::repeat_n(
            &[][..],
            self.fleet
                .vehicles
                .min(self.fleet.nodes())
                .saturating_sub(routes.len()),
        );
        let all = routes.iter().map(Vec::as_slice).chain(idle);
        let order = all
            .flat_map(|route| std::iter::once(0).chain(route.iter().copied()))
            .collect();
        self.strict = true;
        let mut giant_tour = self.with_cost(GiantTour::new(order, self.fleet.nodes()));
        let served: usize = routes.iter().map(Vec::len).sum();
        if !giant_tour.is_feasible() || served + 1 != self.fleet.nodes() {
            return None;
        }
        self.improve(&mut giant_tour);
        Some(giant_tour.routes())
    }

    /// Customers by falling demand, each with the vehicle that has most room.
    fn initial_tour(&self) -> GiantTour {
        let mut customers: Vec<u32> = (1..self.fleet.nodes() as u32).collect();
        let demand = |customer: u32| self.fleet.demands[customer as usize];
        customers.sort_by(|a, b| demand(*b).total_cmp(&demand(*a)));
        let vehicles = self.fleet.vehicles.min(self.fleet.nodes());
        let mut routes = vec![(0.0, Vec::new()); vehicles];
        for customer in customers {
            let min = (0..vehicles).reduce(|a, b| if routes[b].0 < routes[a].0 { b } else { a });
            if let Some(route) = min {
                routes[route].0 += demand(customer);
                routes[route].1.push(customer);
            }
        }
        let order = routes
            .into_iter()
            .flat_map(|(_, route)| std::iter::once(0).chain(route))
            .collect();
        self.with_cost(GiantTour::new(order, self.fleet.nodes()))
    }

    /// Notes what a ring costs.
    fn with_cost(&self, mut giant_tour: GiantTour) -> GiantTour {
        giant_tour.cost = giant_tour.pairs().map(|(i, j)| self.between(i, j)).sum();
        giant_tour.penalty = self.penalty(&giant_tour.order);
        giant_tour
    }

    #[inline]
    fn between(&self, one: u32, other: u32) -> f64 {
        self.table[one as usize * self.fleet.nodes() + other as usize]
    }

    /// What overloads and single customers cost.
    fn penalty(&self, order: &[u32]) -> f64 {
        let Some(first) = order.iter().position(|node| *node == 0) else {
            return f64::INFINITY;
        };
        let (mut over, mut lonely, mut load, mut stops) = (0.0, 0, 0.0, 0);
        let (before, after) = order.split_at(first + 1);
        for node in after.iter().chain(before) {
            if *node != 0 {
                load += self.fleet.demands[*node as usize];
                stops += 1;
                continue;
            }
            let (fits, alone) = (self.fleet.fits(load), stops == 1 && !self.fleet.singles);
            if self.strict && (!fits || alone) {
                return f64::INFINITY;
            }
            if !fits {
                over += 0.1 + load / self.fleet.capacity - 1.0;
            }
            lonely += usize::from(alone);
            (load, stops) = (0.0, 0);
        }
        self.spread * (10.0 * over + lonely as f64)
    }

    /// Exchanges two neighbouring stretches somewhere.
    fn kick(&mut self, giant_tour: &mut GiantTour) {
        let size = giant_tour.order.len();
        let mut length = || {
            1 + self
                .stream
                .index_below(MAX_KICK_SEGMENT.min(size / 2).max(1))
        };
        let (one, other) = (length(), length());
        let first = self.stream.index_below(size);
        if one + other < size {
            giant_tour.order.rotate_left(first);
            giant_tour.order[..one + other].rotate_left(one);
            giant_tour.update_positions();
            for place in [0, other - 1, other, one + other - 1, one + other, size - 1] {
                giant_tour.activate(giant_tour.order[place]);
            }
        }
        giant_tour.cost = giant_tour.pairs().map(|(i, j)| self.between(i, j)).sum();
        giant_tour.penalty = self.penalty(&giant_tour.order);
    }

    /// Makes improving moves until there is none.
    fn improve(&self, giant_tour: &mut GiantTour) {
        let mut buffer = Vec::new();
        while let Some(customer) = giant_tour.next_active() {
            while self.improve_at(giant_tour, customer, &mut buffer) {}
        }
    }

    /// Makes one move that brings a customer next to a near node, if one improves the ring.
    fn improve_at(&self, giant_tour: &mut GiantTour, customer: u32, buffer: &mut Vec<u32>) -> bool {
        let at = giant_tour.place(customer);
        let dearest = self
            .between(customer, giant_tour.after(at))
            .max(self.between(customer, giant_tour.before(at)));
        for near in &self.near[customer as usize] {
            let added = self.between(customer, *near);
            // One of the edges that go must be dearer than the one that comes, unless vehicles are
            // overloaded.
            if added >= dearest && giant_tour.penalty == 0.0 {
                continue;
            }
            let others = if *near == 0 {
                0..giant_tour.depots.len()
            } else {
                0..1
            };
            for which in others {
                let other = if *near == 0 {
                    giant_tour.depots[which] as usize
                } else {
                    giant_tour.place(*near)
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

    /// Makes a change if it is an improvement.
    fn try_move(
        &self,
        giant_tour: &mut GiantTour,
        local_move: LocalMove,
        buffer: &mut Vec<u32>,
    ) -> bool {
        let gain = local_move.gain(&giant_tour.order, |i, j| self.between(i, j));
        if gain + giant_tour.penalty <= self.min {
            return false;
        }
        local_move.write(&giant_tour.order, buffer);
        let penalty = self.penalty(buffer);
        if gain + giant_tour.penalty - penalty <= self.min {
            return false;
        }
        local_move
            .ends(giant_tour.order.len())
            .into_iter()
            .for_each(|place| giant_tour.activate(giant_tour.order[place]));
        std::mem::swap(&mut giant_tour.order, buffer);
        giant_tour.update_positions();
        giant_tour.cost -= gain;
        giant_tour.penalty = penalty;
        true
    }
}
