//! Heuristic separation of rounded capacity and blossom inequalities.
//!
//! Connected components without the depot come first: for integral points they decide feasibility,
//! because every component is then one route or a subtour. For fractional points a set is grown
//! greedily from every customer, each time by the customer of largest total edge value to the set
//! (Augerat et al. 1998), and promising sets are improved by adding, removing and exchanging
//! customers. Every set along the way is tried as the set of a rounded capacity inequality; a grown
//! set that violates none is tried as the handle of a blossom inequality.

use std::collections::HashSet;

use super::cuts::{CvrpCut, EdgeEnds};
use super::instance::CvrpInstance;
use super::support_graph::CvrpSupportGraph;

/// Smallest violation, in vehicles, of a reported cut. Less violated cuts rarely raise the bound.
const MIN_VIOLATION: f64 = 0.01;
/// Sets whose violation exceeds minus this are improved. A larger threshold tries more sets, few of
/// which become violated.
const IMPROVEMENT_THRESHOLD: f64 = 0.35;
/// Maximum number of changes to a promising set; each scans all customers, and all
/// pairs of one inside and one outside.
const MAX_SET_CHANGES: usize = 6;
/// Smallest increase of the violation that counts as an improvement: above rounding errors.
const MIN_IMPROVEMENT: f64 = 1e-6;
/// Maximum number of cuts of each family per round, the most violated first. More rows slow down
/// the LP, and many would be redundant.
const MAX_CUTS_PER_ROUND: usize = 25;
/// Sets S with x(δ(S))/2 strictly between this and [`MAX_BRANCH_CROSSINGS`] are candidates for
/// branching: away from the integral values 1 and 2.
const MIN_BRANCH_CROSSINGS: f64 = 1.1;
/// See [`MIN_BRANCH_CROSSINGS`].
const MAX_BRANCH_CROSSINGS: f64 = 1.9;

/// A set of customers that is changed one customer at a time.
#[derive(Debug, Clone, Default)]
struct CandidateSet {
    contains: Vec<bool>,
    customers: Vec<u32>,
    /// Total value of the edges between each customer and the set.
    adjacency: Vec<f64>,
    load: f64,
    /// x(δ(S))/2, the number of times that vehicles visit the set.
    crossings: f64,
    /// Hash of the set.
    fingerprint: u64,
}

impl CandidateSet {
    fn clear(&mut self, nodes: usize) {
        self.contains.clear();
        self.contains.resize(nodes, false);
        self.customers.clear();
        self.adjacency.clear();
        self.adjacency.resize(nodes, 0.0);
        (self.load, self.crossings, self.fingerprint) = (0.0, 0.0, 0);
    }

    /// Adds a customer, or removes it if it is in the set.
    fn toggle(&mut self, support: &CvrpSupportGraph, instance: &CvrpInstance, customer: u32) {
        let index = customer as usize;
        let sign = if self.contains[index] { -1.0 } else { 1.0 };
        // By the degree equations, a customer adds 2 − 2·(its edges to the set) to x(δ(S)), here
        // halved.
        self.crossings += sign * (1.0 - self.adjacency[index]);
        self.load += sign * instance.demands[index];
        // The exclusive or makes the hash independent of the order, and lets a customer be removed
        // as it was added.
        self.fingerprint ^= fingerprint(customer);
        for (adjacency, value) in self.adjacency.iter_mut().zip(support.row(customer)) {
            *adjacency += sign * value;
        }
        self.contains[index] = !self.contains[index];
        if self.contains[index] {
            self.customers.push(customer);
        } else {
            self.customers.retain(|other| *other != customer);
        }
    }

    /// Violation of the rounded capacity inequality, in vehicles.
    fn violation(&self, instance: &CvrpInstance) -> f64 {
        instance.min_vehicles(self.load) - self.crossings
    }
}

/// Hash of a customer; the hash of a set is the exclusive or of its customers' hashes (Zobrist
/// 1970).
fn fingerprint(customer: u32) -> u64 {
    let mut mixed = (u64::from(customer) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Separates rounded capacity and blossom inequalities; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct CutSeparator {
    set: CandidateSet,
    improved: CandidateSet,
    /// Fingerprints of the sets that were checked.
    checked: HashSet<u64>,
    /// Fingerprints of the sets that were reached by greedy growth.
    grown: HashSet<u64>,
    /// Violated rounded capacity inequalities: violation and set.
    capacity_sets: Vec<(f64, Vec<u32>)>,
    /// Violated blossom inequalities: violation, handle and teeth.
    blossoms: Vec<(f64, Vec<u32>, Vec<EdgeEnds>)>,
    /// Candidates for branching: x(δ(S))/2 and set.
    pub(super) branch_sets: Vec<(f64, Vec<u32>)>,
}

impl CutSeparator {
    /// Violated cuts at a point. An integral point has none if and only if it is a set of routes.
    pub(super) fn find(
        &mut self,
        support: &CvrpSupportGraph,
        instance: &CvrpInstance,
    ) -> Vec<CvrpCut> {
        self.capacity_sets.clear();
        self.blossoms.clear();
        self.branch_sets.clear();
        self.checked.clear();
        self.grown.clear();
        self.check_components(support, instance);
        // Integral points: components and their complements are enough, since every violated set
        // contains one.
        if !support.is_integral() {
            for seed in 1..support.nodes as u32 {
                self.grow(seed, support, instance);
            }
        }
        let mut cuts = Vec::new();
        // Ties are broken by the set, so the cuts do not depend on the order in which sets were
        // found.
        self.capacity_sets
            .sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, set) in self.capacity_sets.drain(..).take(MAX_CUTS_PER_ROUND) {
            let vehicles = instance.min_vehicles(instance.load(&set));
            cuts.push(CvrpCut::capacity(set, vehicles));
        }
        self.blossoms
            .sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, handle, teeth) in self.blossoms.drain(..).take(MAX_CUTS_PER_ROUND) {
            cuts.push(CvrpCut::blossom(handle, teeth));
        }
        cuts
    }

    /// Checks the connected components without the depot, and their complements.
    fn check_components(&mut self, support: &CvrpSupportGraph, instance: &CvrpInstance) {
        for component in support.components() {
            // A capacity inequality of the complement can be violated where that of the component
            // is not.
            let customers = 1..support.nodes as u32;
            let complement = customers
                .filter(|customer| !component.contains(customer))
                .collect();
            for set in [component, complement] {
                let crossings = support.cut_value(&set) / 2.0;
                let violation = instance.min_vehicles(instance.load(&set)) - crossings;
                if violation > MIN_VIOLATION && !set.is_empty() {
                    let hash = set.iter().fold(0, |hash, node| hash ^ fingerprint(*node));
                    if self.checked.insert(hash) {
                        self.capacity_sets.push((violation, set));
                    }
                }
            }
        }
    }

    /// Grows a set greedily from one customer to all customers.
    fn grow(&mut self, seed: u32, support: &CvrpSupportGraph, instance: &CvrpInstance) {
        self.set.clear(support.nodes);
        let mut next = Some(seed);
        while let Some(customer) = next {
            self.set.toggle(support, instance, customer);
            // Greedy growth depends on the set alone, so two seeds that meet stay together.
            if !self.grown.insert(self.set.fingerprint) {
                // Greedy growth reached this set before, and so all sets that follow.
                return;
            }
            // The same set may have been checked by an improvement, without being grown.
            if self.checked.insert(self.set.fingerprint) {
                self.check_set(support, instance);
            }
            next = most_adjacent(&self.set);
        }
    }

    /// Checks the current set for violated cuts and as a candidate for branching.
    fn check_set(&mut self, support: &CvrpSupportGraph, instance: &CvrpInstance) {
        let (violation, crossings) = (self.set.violation(instance), self.set.crossings);
        if violation > MIN_VIOLATION {
            self.capacity_sets
                .push((violation, self.set.customers.clone()));
        } else {
            // The handle of a violated capacity inequality needs no second cut.
            self.try_blossom(support, instance);
            let is_between = crossings > MIN_BRANCH_CROSSINGS && crossings < MAX_BRANCH_CROSSINGS;
            if is_between && self.set.customers.len() > 1 {
                self.branch_sets
                    .push((crossings, self.set.customers.clone()));
            }
        }
        // Sets that are close to violated can become violated by few changes.
        if violation > -IMPROVEMENT_THRESHOLD {
            self.improve(support, instance);
        }
    }

    /// Tries the current set as the handle of a blossom inequality. Leaving edges of value above
    /// one half become teeth; if their number is even, the edge whose change from tooth to
    /// non-tooth, or back, reduces the violation least makes it odd.
    fn try_blossom(&mut self, support: &CvrpSupportGraph, instance: &CvrpInstance) {
        let mut left_side = 0.0;
        let (mut min_flip_cost, mut cheapest) = (f64::INFINITY, [0, 0]);
        let mut teeth: Vec<EdgeEnds> = Vec::new();
        for (ends, value) in &support.edges {
            if self.set.contains[ends[0] as usize] == self.set.contains[ends[1] as usize] {
                continue;
            }
            // Blossom inequalities need teeth that are used at most once; a depot edge of a
            // single-customer route may be used twice.
            let can_be_tooth = instance.max_edge_uses(*ends) <= 1.0;
            let is_tooth = can_be_tooth && *value > 0.5;
            left_side += if is_tooth { 1.0 - value } else { *value };
            // Every further edge adds to the left side, so no violation is left.
            if left_side >= 1.0 {
                return;
            }
            if is_tooth {
                teeth.push(*ends);
            }
            let flip_cost = if can_be_tooth {
                (1.0 - 2.0 * value).abs()
            } else {
                f64::INFINITY
            };
            if flip_cost < min_flip_cost {
                (min_flip_cost, cheapest) = (flip_cost, *ends);
            }
        }
        if teeth.len().is_multiple_of(2) {
            // Changing the cheapest edge makes the number of teeth odd; infinite if no edge can be
            // a tooth.
            left_side += min_flip_cost;
            match teeth.iter().position(|ends| *ends == cheapest) {
                Some(index) => drop(teeth.remove(index)),
                None => teeth.push(cheapest),
            }
        }
        // In units of vehicles, as the violations of capacity inequalities.
        let violation = (1.0 - left_side) / 2.0;
        if violation > MIN_VIOLATION && !teeth.is_empty() {
            self.blossoms
                .push((violation, self.set.customers.clone(), teeth));
        }
    }

    /// Changes a copy of the current set while that increases its violation.
    fn improve(&mut self, support: &CvrpSupportGraph, instance: &CvrpInstance) {
        let mut set = std::mem::take(&mut self.improved);
        // A copy whose buffers are kept: the growth continues with the original.
        set.clone_from(&self.set);
        for _ in 0..MAX_SET_CHANGES {
            let Some(change) = best_change(&set, support, instance) else {
                break;
            };
            for customer in change.into_iter().flatten() {
                set.toggle(support, instance, customer);
            }
            // The changes from a set that was checked were tried from there.
            if !self.checked.insert(set.fingerprint) {
                break;
            }
            let violation = set.violation(instance);
            if violation > MIN_VIOLATION {
                self.capacity_sets.push((violation, set.customers.clone()));
            }
        }
        self.improved = set;
    }
}

/// The customer outside the set of largest total edge value to it.
fn most_adjacent(set: &CandidateSet) -> Option<u32> {
    // Strictly larger keeps the smaller customer.
    let outside = (1..set.adjacency.len()).filter(|customer| !set.contains[*customer]);
    let larger = |a: usize, b: usize| {
        if set.adjacency[b] > set.adjacency[a] {
            b
        } else {
            a
        }
    };
    outside.reduce(larger).map(|customer| customer as u32)
}

/// One or two customers whose addition or removal increases the violation most.
fn best_change(
    set: &CandidateSet,
    support: &CvrpSupportGraph,
    instance: &CvrpInstance,
) -> Option<[Option<u32>; 2]> {
    // Above rounding errors, or else the changes could go back and forth.
    let (mut max_violation, mut best) = (set.violation(instance) + MIN_IMPROVEMENT, None);
    let mut offer = |load: f64, crossings: f64, change: [Option<u32>; 2]| {
        let violation = instance.min_vehicles(load) - crossings;
        if violation > max_violation {
            (max_violation, best) = (violation, Some(change));
        }
    };
    for node in 1..set.adjacency.len() {
        let is_member = set.contains[node];
        // The empty set has no capacity inequality.
        if is_member && set.customers.len() == 1 {
            continue;
        }
        let sign = if is_member { -1.0 } else { 1.0 };
        let load = set.load + sign * instance.demands[node];
        let crossings = set.crossings + sign * (1.0 - set.adjacency[node]);
        offer(load, crossings, [Some(node as u32), None]);
        if is_member {
            let row = support.row(node as u32);
            for other in (1..set.adjacency.len()).filter(|other| !set.contains[*other]) {
                // The edge between both, which was inside of the set, leaves it with the first one.
                let crossings = crossings + 1.0 - (set.adjacency[other] - row[other]);
                let exchange = [Some(node as u32), Some(other as u32)];
                offer(load + instance.demands[other], crossings, exchange);
            }
        }
    }
    best
}
