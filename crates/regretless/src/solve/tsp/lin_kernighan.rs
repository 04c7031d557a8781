//! Local search for short tours after Lin and Kernighan (1973), chained by double bridges.
//!
//! One node t1 and a neighbour t2 are parted; what is left is a path from t2 to t1. A step joins t2
//! to a candidate t3, parts t3 from a neighbour t4, joins t4 to a candidate t5 and parts t5 from
//! t6: a sequential exchange of three edges, judged without touching the tour. The first exchange
//! that closes to a shorter tour is made; otherwise the one that leaves most gain is made on trial
//! and the path goes on from t6, until no gain is left and all trials are taken back (steps of
//! three edges as in Helsgaun 2000). When no node can be improved, a double bridge over a short
//! stretch of the tour (Martin, Otto and Felten 1991) gives the next start, and is taken back
//! unless it leads to a tour no longer than before. Kicks follow a fixed stream: the result depends
//! on costs and candidates only.

use super::array_tour::ArrayTour;
use super::candidates::CandidateEdges;
use crate::cancellation;
use crate::solve::complete_graph::DistanceMatrix;

/// Steps after which a trial is given up.
const MAX_EXCHANGE_DEPTH: usize = 6;
/// Longest stretch between two bridges of a kick.
const MAX_KICK_SEGMENT: usize = 30;

/// Improves tours; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct LinKernighan {
    tour: ArrayTour,
    queue: NodeWorklist,
    touched: Vec<u32>,
    added: Vec<(u32, u32)>,
}

/// A path from `start` to `end`, read from the closed tour in which they are neighbours.
#[derive(Debug, Clone, Copy)]
struct HamiltonianPath {
    start: u32,
    end: u32,
    /// Whether the tour's own direction leads from start to end.
    forward: bool,
}

/// An exchange: reversals of stretches of the path, the new start, and the gain before closing.
#[derive(Debug, Clone, Copy)]
struct EdgeExchange {
    reversals: [(usize, usize); 3],
    /// The nodes t3 to t6; t5 and t6 repeat t4 when only two edges are exchanged.
    nodes: [u32; 4],
    gain: f64,
}

impl LinKernighan {
    /// Tours through fewer nodes are left as they are.
    pub const MIN_NODES: usize = 5;

    /// Shortens a tour until no step helps, then tries this many kicks. Returns the new length.
    pub fn improve(
        &mut self,
        distances: &DistanceMatrix,
        candidates: &CandidateEdges,
        order: &mut [u32],
        kicks: usize,
    ) -> f64 {
        if order.len() >= Self::MIN_NODES {
            self.tour.set(order);
            self.queue.fill(order);
            let search = LinKernighanInput {
                distances,
                candidates,
                tolerance: 1e-12 * distances.scale(),
            };
            self.improve_to_local_optimum(&search);
            self.tour.keep();
            if order.len() >= 8 {
                self.kick_often(&search, kicks);
            }
            order.copy_from_slice(self.tour.order());
        }
        distances.tour_cost(order)
    }

    fn kick_often(&mut self, search: &LinKernighanInput, kicks: usize) {
        let mut random = SplitMix64(0x5EED_0F70);
        for _ in 0..kicks {
            if cancellation::requested() {
                return;
            }
            let gain = self.kick(search, &mut random) + self.improve_to_local_optimum(search);
            if gain < 0.0 {
                self.tour.undo_to(0);
            }
            self.tour.keep();
        }
    }

    /// Changes A B C D to A D C B for three short neighbouring stretches; returns the (negative)
    /// gain.
    fn kick(&mut self, search: &LinKernighanInput, random: &mut SplitMix64) -> f64 {
        let nodes = self.tour.order().len();
        let longest = MAX_KICK_SEGMENT.min((nodes - 1) / 3);
        let lengths = [0; 3].map(|_| 1 + random.below(longest));
        let start = random.below(nodes);
        let at = |tour: &ArrayTour, step: usize| tour.at((start + step) % nodes);
        let cuts = [
            0,
            lengths[0],
            lengths[0] + lengths[1],
            lengths[0] + lengths[1] + lengths[2],
        ];
        let first = cuts.map(|cut| at(&self.tour, cut + 1));
        let last = cuts.map(|cut| at(&self.tour, cut));
        let cost = |a: u32, b: u32| search.distances.between(a, b);
        let old: f64 = (0..4).map(|cut| cost(last[cut], first[cut])).sum();
        let new = cost(last[0], first[2])
            + cost(last[3], first[1])
            + cost(last[2], first[0])
            + cost(last[1], first[3]);
        let mut path = HamiltonianPath::new(&self.tour, first[0], last[0]);
        path.reverse(&mut self.tour, 0, cuts[3] - 1);
        path.reverse(&mut self.tour, 0, lengths[2] - 1);
        path.reverse(&mut self.tour, lengths[2], lengths[2] + lengths[1] - 1);
        path.reverse(&mut self.tour, lengths[2] + lengths[1], cuts[3] - 1);
        first
            .into_iter()
            .chain(last)
            .for_each(|node| self.queue.push(node));
        old - new
    }

    /// Improves until every node has been tried in vain; returns the gain.
    fn improve_to_local_optimum(&mut self, search: &LinKernighanInput) -> f64 {
        let mut gained = 0.0;
        while let Some(node) = self.queue.pop() {
            while let Some(gain) = self.improve_node(search, node) {
                gained += gain;
            }
        }
        gained
    }

    fn improve_node(&mut self, search: &LinKernighanInput, node: u32) -> Option<f64> {
        for start in [self.tour.next(node), self.tour.previous(node)] {
            let changes = self.tour.changes();
            let path = HamiltonianPath::new(&self.tour, start, node);
            if let Some(gain) = self.extend_exchange(search, path) {
                self.touched
                    .iter()
                    .for_each(|touched| self.queue.push(*touched));
                return Some(gain);
            }
            self.tour.undo_to(changes);
        }
        None
    }

    /// Makes steps from one path until the tour closes with a gain.
    fn extend_exchange(
        &mut self,
        search: &LinKernighanInput,
        mut path: HamiltonianPath,
    ) -> Option<f64> {
        self.added.clear();
        self.touched.clear();
        self.touched.extend([path.start, path.end]);
        let mut gain = search.cost(path.start, path.end);
        for _ in 0..MAX_EXCHANGE_DEPTH {
            let step = search.step(&self.tour, path, gain, &self.added)?;
            let [t3, t4, t5, t6] = step.nodes;
            self.added.extend([(path.start, t3), (t4, t5)]);
            self.touched.extend(step.nodes);
            for (from, to) in step.reversals {
                if from < to {
                    path.reverse(&mut self.tour, from, to);
                }
            }
            path = HamiltonianPath::new(&self.tour, t6, path.end);
            gain = step.gain;
            let closed = gain - search.cost(t6, path.end);
            if closed > search.tolerance {
                return Some(closed);
            }
        }
        None
    }
}

impl HamiltonianPath {
    fn new(tour: &ArrayTour, start: u32, end: u32) -> Self {
        Self {
            start,
            end,
            forward: tour.next(end) == start,
        }
    }

    /// How far a node is from the start.
    #[inline]
    fn offset(self, tour: &ArrayTour, node: u32) -> usize {
        let (from, to) = (tour.place(self.start), tour.place(node));
        let (low, high) = if self.forward { (from, to) } else { (to, from) };
        if high >= low {
            high - low
        } else {
            high + tour.order().len() - low
        }
    }

    /// The node this far from the start.
    #[inline]
    fn at(self, tour: &ArrayTour, offset: usize) -> u32 {
        let (nodes, from) = (tour.order().len(), tour.place(self.start));
        let place = if self.forward {
            from + offset
        } else {
            from + nodes - offset
        };
        tour.at(if place >= nodes { place - nodes } else { place })
    }

    /// Reverses the stretch between two offsets; the end of the path never moves.
    fn reverse(&mut self, tour: &mut ArrayTour, from: usize, to: usize) {
        let (first, last) = (self.at(tour, from), self.at(tour, to));
        if self.forward {
            tour.reverse(first, last);
        } else {
            tour.reverse(last, first);
        }
        let start = if from == 0 { last } else { self.start };
        *self = Self::new(tour, start, self.end);
    }
}

/// What a search looks at and does not change.
struct LinKernighanInput<'a> {
    distances: &'a DistanceMatrix,
    candidates: &'a CandidateEdges,
    tolerance: f64,
}

impl LinKernighanInput<'_> {
    #[inline]
    fn cost(&self, one: u32, other: u32) -> f64 {
        self.distances.between(one, other)
    }

    /// The first exchange that closes with a gain, else the one that leaves most gain.
    fn step(
        &self,
        tour: &ArrayTour,
        path: HamiltonianPath,
        gain: f64,
        added: &[(u32, u32)],
    ) -> Option<EdgeExchange> {
        let mut best: Option<EdgeExchange> = None;
        let last = tour.order().len() - 1;
        for (t3, cost) in self.candidates.of(path.start) {
            let gain = gain - cost;
            if gain <= self.tolerance {
                continue;
            }
            let k = path.offset(tour, *t3);
            if k < 2 || k == last {
                continue;
            }
            let third = LinKernighanStep {
                tour,
                path,
                t3: *t3,
                k,
                gain,
                added,
            };
            if self.remove_near_edge(&third, &mut best) || self.remove_far_edge(&third, &mut best) {
                break;
            }
        }
        best
    }

    /// Parts t3 from the neighbour on the start's side: still a path, which may close at once.
    fn remove_near_edge(&self, third: &LinKernighanStep, best: &mut Option<EdgeExchange>) -> bool {
        let k = third.k;
        let t4 = third.path.at(third.tour, k - 1);
        if third.was_added(third.t3, t4) {
            return false;
        }
        let gain = third.gain + self.cost(third.t3, t4);
        let two = EdgeExchange {
            reversals: [(0, k - 1), (0, 0), (0, 0)],
            nodes: [third.t3, t4, t4, t4],
            gain,
        };
        if gain - self.cost(t4, third.path.end) > self.tolerance {
            *best = Some(two);
            return true;
        }
        for (t5, cost) in self.candidates.of(t4) {
            let gain = gain - cost;
            if gain <= self.tolerance {
                continue;
            }
            let j = third.path.offset(third.tour, *t5);
            if j == k || j + 2 == k || j + 1 == k || *t5 == third.path.end {
                continue;
            }
            // In the path after the first exchange t5 is followed back to the start by t6.
            let (neighbour, upto) = if j > k {
                (j - 1, j - 1)
            } else {
                (j + 1, k - 2 - j)
            };
            let t6 = third.path.at(third.tour, neighbour);
            let reversals = [(0, k - 1), (0, upto), (0, 0)];
            if self.offer(
                third,
                EdgeExchange {
                    reversals,
                    nodes: [third.t3, t4, *t5, t6],
                    gain,
                },
                best,
            ) {
                return true;
            }
        }
        false
    }

    /// Parts t3 from the neighbour on the end's side: start to t3 is a ring, which t5 must open.
    fn remove_far_edge(&self, third: &LinKernighanStep, best: &mut Option<EdgeExchange>) -> bool {
        let k = third.k;
        let t4 = third.path.at(third.tour, k + 1);
        if third.was_added(third.t3, t4) {
            return false;
        }
        let gain = third.gain + self.cost(third.t3, t4);
        for (t5, cost) in self.candidates.of(t4) {
            let gain = gain - cost;
            if gain <= self.tolerance {
                continue;
            }
            let j = third.path.offset(third.tour, *t5);
            if j >= k {
                continue;
            }
            let t6 = third.path.at(third.tour, j + 1);
            let reversals = [(0, k), (0, k - j - 1), (k - j, k)];
            if self.offer(
                third,
                EdgeExchange {
                    reversals,
                    nodes: [third.t3, t4, *t5, t6],
                    gain,
                },
                best,
            ) {
                return true;
            }
            if j > 0 {
                let t6 = third.path.at(third.tour, j - 1);
                let reversals = [(0, j - 1), (j, k), (0, 0)];
                if self.offer(
                    third,
                    EdgeExchange {
                        reversals,
                        nodes: [third.t3, t4, *t5, t6],
                        gain,
                    },
                    best,
                ) {
                    return true;
                }
            }
        }
        false
    }

    /// Parts t5 from t6 and keeps the exchange if it is the best so far; `true` when it closes
    /// well.
    #[inline]
    fn offer(
        &self,
        third: &LinKernighanStep,
        mut exchange: EdgeExchange,
        best: &mut Option<EdgeExchange>,
    ) -> bool {
        let [_, _, t5, t6] = exchange.nodes;
        if third.was_added(t5, t6) {
            return false;
        }
        exchange.gain += self.cost(t5, t6);
        let closes = exchange.gain - self.cost(t6, third.path.end) > self.tolerance;
        if closes || best.is_none_or(|best| exchange.gain > best.gain) {
            *best = Some(exchange);
        }
        closes
    }
}

/// A path whose start is joined to t3, `k` nodes away from it.
struct LinKernighanStep<'a> {
    tour: &'a ArrayTour,
    path: HamiltonianPath,
    t3: u32,
    k: usize,
    gain: f64,
    added: &'a [(u32, u32)],
}

impl LinKernighanStep<'_> {
    /// Whether this trial itself put the edge there: it must stay, or the trial could go in
    /// circles.
    #[inline]
    fn was_added(&self, one: u32, other: u32) -> bool {
        self.added
            .iter()
            .any(|pair| *pair == (one, other) || *pair == (other, one))
    }
}

/// Nodes that are worth another try, each at most once, first in first out.
#[derive(Debug, Clone, Default)]
struct NodeWorklist {
    node_queue: std::collections::VecDeque<u32>,
    inside: Vec<bool>,
}

impl NodeWorklist {
    fn fill(&mut self, order: &[u32]) {
        self.node_queue.clear();
        self.inside.clear();
        self.inside.resize(order.len(), false);
        order.iter().for_each(|node| self.push(*node));
    }

    fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.inside[node as usize], true) {
            self.node_queue.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let node = self.node_queue.pop_front()?;
        self.inside[node as usize] = false;
        Some(node)
    }
}

/// The generator of Steele, Lea and Flood (2014): kicks need spread, not secrecy.
struct SplitMix64(u64);

impl SplitMix64 {
    /// A number below `bound`, which is tiny against 2^32: its bias does not matter.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((((mixed ^ (mixed >> 31)) >> 32) * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{CandidateEdges, DistanceMatrix, LinKernighan, LinKernighanInput, SplitMix64};
    use crate::random::{Purpose, RandomStream};
    use crate::solve::complete_graph::num_edges;

    fn random(nodes: usize, seed: u64) -> (DistanceMatrix, CandidateEdges) {
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [nodes as u64, 0]);
        let costs: Vec<f64> = (0..num_edges(nodes))
            .map(|_| stream.uniform(-20.0, 5.0))
            .collect();
        let distances = DistanceMatrix::new(nodes, &costs);
        let mut candidates = CandidateEdges::default();
        candidates.by_cost(&distances, 6);
        (distances, candidates)
    }

    #[test]
    fn gains_add_up_to_the_change_in_length() {
        for (nodes, seed) in (5..60).zip(0..) {
            let (distances, candidates) = random(nodes, seed);
            let search = LinKernighanInput {
                distances: &distances,
                candidates: &candidates,
                tolerance: 1e-9,
            };
            let mut local = LinKernighan::default();
            let order: Vec<u32> = (0..nodes as u32).collect();
            local.tour.set(&order);
            local.queue.fill(&order);
            let gain = local.improve_to_local_optimum(&search);
            let after = distances.tour_cost(local.tour.order());
            assert!(
                (distances.tour_cost(&order) - gain - after).abs() < 1e-9,
                "{nodes} nodes"
            );
        }
    }

    #[test]
    fn a_kick_and_its_repair_can_be_taken_back_exactly() {
        let mut stream = SplitMix64(1);
        for (nodes, seed) in (8..60).zip(0..) {
            let (distances, candidates) = random(nodes, seed);
            let search = LinKernighanInput {
                distances: &distances,
                candidates: &candidates,
                tolerance: 1e-9,
            };
            let mut local = LinKernighan::default();
            let order: Vec<u32> = (0..nodes as u32).collect();
            local.tour.set(&order);
            local.queue.inside = vec![false; nodes];
            let gain = local.kick(&search, &mut stream);
            let kicked = distances.tour_cost(local.tour.order());
            assert!(
                (distances.tour_cost(&order) - gain - kicked).abs() < 1e-9,
                "{nodes} nodes"
            );
            local.improve_to_local_optimum(&search);
            local.tour.undo_to(0);
            assert_eq!(local.tour.order(), order);
        }
    }

    #[test]
    fn kicks_never_lengthen_a_tour_and_are_the_same_every_time() {
        let (distances, candidates) = random(80, 4);
        let start: Vec<u32> = (0..80).collect();
        let lengths = [0, 20, 200].map(|kicks| {
            let mut orders = [start.clone(), start.clone()];
            let found = orders.each_mut().map(|order| {
                LinKernighan::default().improve(&distances, &candidates, order, kicks)
            });
            assert_eq!((found[0], &orders[0]), (found[1], &orders[1]));
            found[0]
        });
        // The same tour read from another node sums to the same length but for rounding.
        assert!(lengths[0] + 1e-9 > lengths[1] && lengths[1] + 1e-9 > lengths[2]);
        assert!(lengths[2] < distances.tour_cost(&start) - 1.0);
    }
}
