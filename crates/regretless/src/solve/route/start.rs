//! Good routes by ruin and recreate: strings of neighbouring customers leave their routes and return one
//! by one where they cost least (Christiaens and Vanden Berghe 2020).
//!
//! A change is kept when it is an improvement up to a threshold that falls while the search goes on.
//! Customers that find no room, and single ones where those are not allowed, cost extra in the
//! meantime; only routes without either count. Chance follows a fixed stream, so the routes depend on
//! costs and demands only.

use super::fleet::Fleet;
use crate::random::{Purpose, Stream};
use crate::solve::tour::edges::Distances;

/// Most customers that leave one route.
const STRING: usize = 8;
/// Share of places that an insertion overlooks.
const BLINK: f64 = 0.02;

/// Routes under way.
#[derive(Debug, Clone, Default)]
struct Plan {
    routes: Vec<Vec<u32>>,
    loads: Vec<f64>,
    absent: Vec<u32>,
    cost: f64,
    sound: bool,
}

/// The search; one per instance.
#[derive(Debug)]
pub(super) struct Start<'a> {
    fleet: &'a Fleet,
    distances: &'a Distances,
    /// Other customers of each customer, nearest first.
    near: Vec<Vec<u32>>,
    /// A typical difference between good and bad edges.
    spread: f64,
    stream: Stream,
}

impl<'a> Start<'a> {
    pub(super) fn new(fleet: &'a Fleet, distances: &'a Distances) -> Self {
        let nodes = fleet.nodes() as u32;
        let mut near: Vec<Vec<u32>> = (0..nodes).map(|i| (1..nodes).filter(|j| *j != i).collect()).collect();
        let mut spread = 0.0;
        for (i, list) in near.iter_mut().enumerate() {
            let row = distances.row(i as u32);
            list.sort_by(|a, b| row[*a as usize].total_cmp(&row[*b as usize]).then(a.cmp(b)));
            if let (Some(best), Some(middling)) = (list.first(), list.get(list.len() / 3)) {
                spread += (row[*middling as usize] - row[*best as usize]) / f64::from(nodes);
            }
        }
        let spread = if spread > 0.0 { spread } else { distances.scale().max(1e-300) };
        Self { fleet, distances, near, spread, stream: Stream::new(Purpose::Oracle, 0, [0, 0]) }
    }

    /// The best routes after this many attempts, if any were found.
    pub(super) fn search(&mut self, attempts: usize) -> Option<Vec<Vec<u32>>> {
        let mut present = self.first();
        let mut best = present.sound.then(|| present.clone());
        let mut trial = Plan::default();
        let (mut heat, last) = (0.3 * self.spread, 0.005 * self.spread);
        let cooling = (last / heat).powf(1.0 / attempts.max(1) as f64);
        for _ in 0..attempts {
            trial.clone_from(&present);
            self.ruin(&mut trial);
            self.recreate(&mut trial);
            heat *= cooling;
            if trial.sound && best.as_ref().is_none_or(|best| trial.cost < best.cost) {
                best = Some(trial.clone());
            }
            if trial.cost < present.cost - heat * self.stream.unit().max(1e-12).ln() {
                std::mem::swap(&mut present, &mut trial);
            }
        }
        best.map(|plan| plan.routes.into_iter().filter(|route| !route.is_empty()).collect())
    }

    fn first(&mut self) -> Plan {
        let vehicles = self.fleet.vehicles.min(self.fleet.nodes());
        let absent = (1..self.fleet.nodes() as u32).collect();
        let mut plan = Plan { routes: vec![Vec::new(); vehicles], loads: vec![0.0; vehicles], absent, ..Plan::default() };
        self.recreate(&mut plan);
        plan
    }

    /// Takes strings around a random customer out of a few routes.
    fn ruin(&mut self, plan: &mut Plan) {
        let customers = self.fleet.nodes() - 1;
        let seed = 1 + self.stream.below(customers);
        let mut strings = 1 + self.stream.below(3);
        let mut touched = vec![false; plan.routes.len()];
        for place in 0..customers {
            let customer = if place == 0 { seed as u32 } else { self.near[seed][place - 1] };
            let Some((route, at)) = find(plan, customer) else { continue };
            if touched[route] {
                continue;
            }
            touched[route] = true;
            self.cut_string(plan, route, at);
            strings -= 1;
            if strings == 0 {
                break;
            }
        }
    }

    fn cut_string(&mut self, plan: &mut Plan, route: usize, at: usize) {
        let size = plan.routes[route].len();
        let length = 1 + self.stream.below(size.min(STRING));
        let earliest = (at + 1).saturating_sub(length);
        let latest = at.min(size - length);
        let first = earliest + self.stream.below(latest - earliest + 1);
        plan.absent.extend(plan.routes[route].drain(first..first + length));
        plan.loads[route] = self.fleet.load(&plan.routes[route]);
    }

    /// Puts the absent back in one of several orders, each where it costs least.
    fn recreate(&mut self, plan: &mut Plan) {
        let mut waiting = std::mem::take(&mut plan.absent);
        self.stream.shuffle(&mut waiting);
        let from_depot = self.distances.row(0);
        match self.stream.below(6) {
            0 | 1 => waiting.sort_by(|a, b| self.demand(*b).total_cmp(&self.demand(*a))),
            2 => waiting.sort_by(|a, b| from_depot[*b as usize].total_cmp(&from_depot[*a as usize])),
            3 => waiting.sort_by(|a, b| from_depot[*a as usize].total_cmp(&from_depot[*b as usize])),
            _ => {}
        }
        for customer in waiting {
            match self.best_place(plan, customer) {
                Some((route, at)) => {
                    plan.routes[route].insert(at, customer);
                    plan.loads[route] += self.demand(customer);
                }
                None => plan.absent.push(customer),
            }
        }
        self.price(plan);
    }

    fn demand(&self, customer: u32) -> f64 {
        self.fleet.demands[customer as usize]
    }

    fn best_place(&mut self, plan: &Plan, customer: u32) -> Option<(usize, usize)> {
        let row = self.distances.row(customer);
        let mut best: Option<(f64, usize, usize)> = None;
        let mut tried_empty = false;
        for (route, stops) in plan.routes.iter().enumerate() {
            if (stops.is_empty() && tried_empty) || !self.fleet.fits(plan.loads[route] + self.demand(customer)) {
                continue;
            }
            tried_empty |= stops.is_empty();
            let mut before = 0;
            for at in 0..=stops.len() {
                let after = stops.get(at).copied().unwrap_or(0);
                let added = row[before as usize] + row[after as usize] - self.link(stops, before, after);
                before = after;
                if best.is_none_or(|(least, _, _)| added < least) && self.stream.unit() >= BLINK {
                    best = Some((added, route, at));
                }
            }
        }
        best.map(|(_, route, at)| (route, at))
    }

    /// Cost of what an insertion replaces.
    fn link(&self, stops: &[u32], before: u32, after: u32) -> f64 {
        match stops {
            [] => -self.lonely(),
            [only] if before == 0 || after == 0 => self.distances.between(0, *only) + self.lonely(),
            _ => self.distances.between(before, after),
        }
    }

    /// What a single customer costs beside its edges.
    fn lonely(&self) -> f64 {
        if self.fleet.singles { 0.0 } else { self.spread }
    }

    fn price(&self, plan: &mut Plan) {
        let mut cost = 0.0;
        let mut lonely = 0;
        for stops in &plan.routes {
            let mut before = 0;
            for stop in stops {
                cost += self.distances.between(before, *stop);
                before = *stop;
            }
            if before != 0 {
                cost += self.distances.between(before, 0);
            }
            lonely += usize::from(stops.len() == 1);
        }
        let missing = self.fleet.load(&plan.absent) / self.fleet.capacity + plan.absent.len() as f64;
        plan.cost = cost + self.lonely() * lonely as f64 + 30.0 * self.spread * missing;
        plan.sound = plan.absent.is_empty() && (lonely == 0 || self.fleet.singles);
    }
}

fn find(plan: &Plan, customer: u32) -> Option<(usize, usize)> {
    let places = plan.routes.iter().map(|route| route.iter().position(|stop| *stop == customer));
    places.enumerate().find_map(|(route, at)| at.map(|at| (route, at)))
}
