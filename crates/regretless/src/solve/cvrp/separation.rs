//! Finds violated inequalities around sets of customers.
//!
//! Groups that are connected without the depot come first: for whole points these prove
//! feasibility, as every group is then one route or a ring. For fractional points sets grow from
//! every customer, each time by the customer with the strongest ties to the set (Augerat et al.
//! 1998), and the promising ones are improved by adding, dropping and exchanging customers. Every
//! set on the way is tried as the set of a capacity inequality and as the handle of a blossom.

use std::collections::HashSet;

use super::cuts::{CvrpCut, EdgeEnds};
use super::fleet::Fleet;
use super::support_graph::CvrpSupportGraph;

/// Least violation, in units of vehicles, that is worth a row.
const MIN_VIOLATION: f64 = 0.01;
/// Sets that miss violation by less than this are improved.
const IMPROVEMENT_THRESHOLD: f64 = 0.35;
/// Most changes to a promising set.
const MAX_SET_CHANGES: usize = 6;
/// Most rows of each kind that one round adds.
const MAX_CUTS_PER_ROUND: usize = 25;

/// A set that grows and shrinks.
#[derive(Debug, Clone, Default)]
struct CandidateSet {
    inside: Vec<bool>,
    members: Vec<u32>,
    /// Edges between each customer and the set.
    ties: Vec<f64>,
    load: f64,
    /// Half the edges that leave.
    half: f64,
    /// Identifies the set.
    print: u64,
}

impl CandidateSet {
    fn clear(&mut self, nodes: usize) {
        self.inside.clear();
        self.inside.resize(nodes, false);
        self.members.clear();
        self.ties.clear();
        self.ties.resize(nodes, 0.0);
        (self.load, self.half, self.print) = (0.0, 0.0, 0);
    }

    fn flip(&mut self, support: &CvrpSupportGraph, fleet: &Fleet, node: u32) {
        let place = node as usize;
        let sign = if self.inside[place] { -1.0 } else { 1.0 };
        self.half += sign * (1.0 - self.ties[place]);
        self.load += sign * fleet.demands[place];
        self.print ^= fingerprint(node);
        self.ties
            .iter_mut()
            .zip(support.row(node))
            .for_each(|(tie, value)| *tie += sign * value);
        self.inside[place] = !self.inside[place];
        if self.inside[place] {
            self.members.push(node);
        } else {
            self.members.retain(|member| *member != node);
        }
    }

    /// By how many vehicles too few the set is visited.
    fn violation(&self, fleet: &Fleet) -> f64 {
        fleet.min_vehicles(self.load) - self.half
    }
}

fn fingerprint(node: u32) -> u64 {
    let mut mixed = (u64::from(node) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Looks for violated inequalities; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct CutSeparator {
    set: CandidateSet,
    other: CandidateSet,
    /// Sets that were judged.
    seen: HashSet<u64>,
    /// Sets that were reached by growing.
    grown: HashSet<u64>,
    short: Vec<(f64, Vec<u32>)>,
    odd: Vec<(f64, Vec<u32>, Vec<EdgeEnds>)>,
    /// Sets that are visited neither once nor twice, with half the edges that leave them.
    pub(super) between: Vec<(f64, Vec<u32>)>,
}

impl CutSeparator {
    /// Rows that a point violates; for a whole point, none if and only if it is a set of routes.
    pub(super) fn find(&mut self, support: &CvrpSupportGraph, fleet: &Fleet) -> Vec<CvrpCut> {
        self.short.clear();
        self.odd.clear();
        self.between.clear();
        self.seen.clear();
        self.grown.clear();
        self.try_groups(support, fleet);
        if !support.is_integral() {
            (1..support.nodes as u32).for_each(|seed| self.grow(seed, support, fleet));
        }
        let mut cuts = Vec::new();
        self.short
            .sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, set) in self.short.drain(..).take(MAX_CUTS_PER_ROUND) {
            let trips = fleet.min_vehicles(fleet.load(&set));
            cuts.push(CvrpCut::capacity(set, trips));
        }
        self.odd
            .sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        cuts.extend(
            self.odd
                .drain(..)
                .take(MAX_CUTS_PER_ROUND)
                .map(|(_, set, teeth)| CvrpCut::blossom(set, teeth)),
        );
        cuts
    }

    fn try_groups(&mut self, support: &CvrpSupportGraph, fleet: &Fleet) {
        let groups = support.groups();
        let all: Vec<u32> = (1..support.nodes as u32).collect();
        for group in &groups {
            let rest = all
                .iter()
                .copied()
                .filter(|node| !group.contains(node))
                .collect();
            for set in [group.clone(), rest] {
                let shortage = fleet.min_vehicles(fleet.load(&set)) - support.cut_value(&set) / 2.0;
                if shortage > MIN_VIOLATION && !set.is_empty() {
                    let print = set.iter().fold(0, |print, node| print ^ fingerprint(*node));
                    if self.seen.insert(print) {
                        self.short.push((shortage, set));
                    }
                }
            }
        }
    }

    /// Grows a set from one customer to all.
    fn grow(&mut self, seed: u32, support: &CvrpSupportGraph, fleet: &Fleet) {
        self.set.clear(support.nodes);
        let mut next = Some(seed);
        while let Some(node) = next {
            self.set.flip(support, fleet, node);
            if !self.grown.insert(self.set.print) {
                // The set was reached before, and so was all that follows.
                return;
            }
            if self.seen.insert(self.set.print) {
                self.check_set(support, fleet);
            }
            next = strongest(&self.set);
        }
    }

    /// Notes what the present set is good for.
    fn check_set(&mut self, support: &CvrpSupportGraph, fleet: &Fleet) {
        let shortage = self.set.violation(fleet);
        if shortage > MIN_VIOLATION {
            self.short.push((shortage, self.set.members.clone()));
        } else {
            self.try_blossom(support, fleet);
            if self.set.half > 1.1 && self.set.half < 1.9 && self.set.members.len() > 1 {
                self.between.push((self.set.half, self.set.members.clone()));
            }
        }
        if shortage > -IMPROVEMENT_THRESHOLD {
            self.improve(support, fleet);
        }
    }

    /// The set as a handle: leaving edges with large values are teeth, made odd in number.
    fn try_blossom(&mut self, support: &CvrpSupportGraph, fleet: &Fleet) {
        let mut slack = 0.0;
        let mut min = (f64::INFINITY, [0, 0]);
        let mut teeth: Vec<EdgeEnds> = Vec::new();
        for (ends, value) in &support.edges {
            if self.set.inside[ends[0] as usize] == self.set.inside[ends[1] as usize] {
                continue;
            }
            let single = fleet.max_edge_uses(*ends) <= 1.0;
            let chosen = single && *value > 0.5;
            slack += if chosen { 1.0 - value } else { *value };
            if slack >= 1.0 {
                return;
            }
            if chosen {
                teeth.push(*ends);
            }
            let price = if single {
                (1.0 - 2.0 * value).abs()
            } else {
                f64::INFINITY
            };
            if price < min.0 {
                min = (price, *ends);
            }
        }
        if teeth.len().is_multiple_of(2) {
            slack += min.0;
            match teeth.iter().position(|ends| *ends == min.1) {
                Some(place) => drop(teeth.remove(place)),
                None => teeth.push(min.1),
            }
        }
        let violation = (1.0 - slack) / 2.0;
        if violation > MIN_VIOLATION && !teeth.is_empty() {
            self.odd.push((violation, self.set.members.clone(), teeth));
        }
    }

    /// Changes a copy of the present set while that makes its shortage larger.
    fn improve(&mut self, support: &CvrpSupportGraph, fleet: &Fleet) {
        let mut set = std::mem::take(&mut self.other);
        set.clone_from(&self.set);
        for _ in 0..MAX_SET_CHANGES {
            let Some(flips) = best_change(&set, support, fleet) else {
                break;
            };
            flips
                .into_iter()
                .flatten()
                .for_each(|node| set.flip(support, fleet, node));
            if !self.seen.insert(set.print) {
                break;
            }
            let shortage = set.violation(fleet);
            if shortage > MIN_VIOLATION {
                self.short.push((shortage, set.members.clone()));
            }
        }
        self.other = set;
    }
}

/// The customer outside with the strongest ties.
fn strongest(set: &CandidateSet) -> Option<u32> {
    let outside = (1..set.ties.len()).filter(|node| !set.inside[*node]);
    let stronger = |a: usize, b: usize| if set.ties[b] > set.ties[a] { b } else { a };
    outside.reduce(stronger).map(|node| node as u32)
}

/// One or two customers to flip so that the shortage grows most.
fn best_change(
    set: &CandidateSet,
    support: &CvrpSupportGraph,
    fleet: &Fleet,
) -> Option<[Option<u32>; 2]> {
    let mut best = (set.violation(fleet) + 1e-6, None);
    let mut offer = |load: f64, half: f64, flips: [Option<u32>; 2]| {
        let shortage = fleet.min_vehicles(load) - half;
        if shortage > best.0 {
            best = (shortage, Some(flips));
        }
    };
    for node in 1..set.ties.len() {
        let sign = if set.inside[node] { -1.0 } else { 1.0 };
        if set.inside[node] && set.members.len() == 1 {
            continue;
        }
        let load = set.load + sign * fleet.demands[node];
        let half = set.half + sign * (1.0 - set.ties[node]);
        offer(load, half, [Some(node as u32), None]);
        if set.inside[node] {
            let row = support.row(node as u32);
            for other in (1..set.ties.len()).filter(|other| !set.inside[*other]) {
                let half = half + 1.0 - (set.ties[other] - row[other]);
                offer(
                    load + fleet.demands[other],
                    half,
                    [Some(node as u32), Some(other as u32)],
                );
            }
        }
    }
    best.1
}
