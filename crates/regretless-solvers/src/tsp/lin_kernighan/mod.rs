//! Local search of Lin and Kernighan (1973), chained by double-bridge kicks.
//!
//! Removing the edge between a node t1 and a neighbor t2 leaves a Hamiltonian path from t2 to t1. A
//! step adds the edge from t2 to a candidate t3, removes an edge {t3, t4}, adds the edge from t4 to
//! a candidate t5 and removes an edge {t5, t6}: a sequential 3-exchange, evaluated without
//! modifying the tour. The first exchange that closes to a cheaper tour is applied. Otherwise the
//! exchange of largest partial gain is applied tentatively and the search continues from t6, until
//! no exchange has a positive gain; then all tentative exchanges are undone (3-exchanges as basis
//! steps as in Helsgaun 2000). When no node can be improved, a double bridge on a short segment of
//! the tour (Martin, Otto and Felten 1991) yields the next start; it is undone unless the local
//! optimum reached from it is no more expensive. Kicks follow a fixed random stream: the result
//! depends on costs and candidates only.
//!
//! * `exchange`: evaluation of the exchanges. `hamiltonian_path`: the path from t2 to t1.

mod exchange;
mod hamiltonian_path;

use self::exchange::LinKernighanInput;
use self::hamiltonian_path::HamiltonianPath;
use super::array_tour::ArrayTour;
use super::candidates::CandidateEdges;
use crate::complete_graph::EdgeCostMatrix;
use regretless_base::cancellation;

/// Maximum number of 3-exchanges in one move. Deeper moves find more improvements per start, but
/// each tentative exchange reverses segments of the tour that must be reversed back on failure.
const MAX_EXCHANGE_DEPTH: usize = 6;
/// Longest segment of a double bridge. Short segments keep a kick local, so few nodes must be
/// searched again.
const MAX_KICK_SEGMENT: usize = 30;
/// Fewest nodes with which a double bridge differs from moves that the local search can undo.
const MIN_KICK_NODES: usize = 8;
/// Gains below this fraction of the largest cost are rounding.
const RELATIVE_GAIN_TOLERANCE: f64 = 1e-12;
/// Seed of the kicks; any value works.
const KICK_SEED: u64 = 0x5EED_0F70;

/// Improves tours; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub struct LinKernighan {
    tour: ArrayTour,
    worklist: NodeWorklist,
    /// End nodes of the edges exchanged by the current move.
    touched: Vec<u32>,
    /// Edges added by the current move.
    added: Vec<(u32, u32)>,
}

impl LinKernighan {
    /// Tours with fewer nodes are returned unchanged.
    pub const MIN_NODES: usize = 5;

    /// Improves a tour to a local optimum, then tries this many kicks. Returns the cost of the
    /// tour.
    pub fn improve(
        &mut self,
        edge_costs: &EdgeCostMatrix,
        candidates: &CandidateEdges,
        order: &mut [u32],
        kicks: usize,
    ) -> f64 {
        if order.len() >= Self::MIN_NODES {
            self.tour.set(order);
            self.worklist.fill(order);
            let search = LinKernighanInput {
                edge_costs,
                candidates,
                tolerance: RELATIVE_GAIN_TOLERANCE * edge_costs.scale(),
            };
            // The log restarts at the local optimum, so a kick that fails can be undone to it.
            self.improve_to_local_optimum(&search);
            self.tour.commit();
            if order.len() >= MIN_KICK_NODES {
                self.run_kicks(&search, kicks);
            }
            order.copy_from_slice(self.tour.order());
        }
        edge_costs.tour_cost(order)
    }

    fn run_kicks(&mut self, search: &LinKernighanInput, kicks: usize) {
        // The same seed in every call: the result depends on the instance alone.
        let mut random = SplitMix64(KICK_SEED);
        for _ in 0..kicks {
            // A kick is short, so this is often enough.
            if cancellation::requested() {
                return;
            }
            let gain = self.kick(search, &mut random) + self.improve_to_local_optimum(search);
            // Kicks without gain or loss are accepted, which lets the search drift on plateaus.
            if gain < 0.0 {
                self.tour.undo_to(0);
            }
            self.tour.commit();
        }
    }

    /// Double bridge: changes A B C D to A D C B for three consecutive short segments; returns its
    /// gain, usually negative.
    fn kick(&mut self, search: &LinKernighanInput, random: &mut SplitMix64) -> f64 {
        let nodes = self.tour.order().len();
        // Three segments must fit beside the edge that is cut.
        let max_length = MAX_KICK_SEGMENT.min((nodes - 1) / 3);
        let lengths = [0; 3].map(|_| 1 + random.below(max_length));
        let start = random.below(nodes);
        let at = |tour: &ArrayTour, offset: usize| tour.at((start + offset) % nodes);
        let cuts = [
            // Four edges are removed: the cuts are between the offsets c and c + 1.
            0,
            lengths[0],
            lengths[0] + lengths[1],
            lengths[0] + lengths[1] + lengths[2],
        ];
        let first = cuts.map(|cut| at(&self.tour, cut + 1));
        let last = cuts.map(|cut| at(&self.tour, cut));
        let cost = |a: u32, b: u32| search.edge_costs.between(a, b);
        let old: f64 = (0..4).map(|cut| cost(last[cut], first[cut])).sum();
        let new = cost(last[0], first[2])
            + cost(last[3], first[1])
            + cost(last[2], first[0])
            + cost(last[1], first[3]);
        let mut path = HamiltonianPath::new(&self.tour, first[0], last[0]);
        // A double bridge out of reversals: all three segments together are reversed, then each of
        // them, which restores its direction.
        path.reverse(&mut self.tour, 0, cuts[3] - 1);
        path.reverse(&mut self.tour, 0, lengths[2] - 1);
        path.reverse(&mut self.tour, lengths[2], lengths[2] + lengths[1] - 1);
        path.reverse(&mut self.tour, lengths[2] + lengths[1], cuts[3] - 1);
        // Only nodes whose edges changed can have new improving moves.
        for node in first.into_iter().chain(last) {
            self.worklist.push(node);
        }
        old - new
    }

    /// Improves until no node has an improving move; returns the total gain.
    fn improve_to_local_optimum(&mut self, search: &LinKernighanInput) -> f64 {
        let mut total_gain = 0.0;
        while let Some(node) = self.worklist.pop() {
            // A node that was improved may be improved again, since its edges are others now.
            while let Some(gain) = self.improve_node(search, node) {
                total_gain += gain;
            }
        }
        total_gain
    }

    /// Applies one improving move that removes an edge at a node, if there is one; returns its
    /// gain.
    fn improve_node(&mut self, search: &LinKernighanInput, node: u32) -> Option<f64> {
        // Both edges at the node are tried as the first to be removed.
        for start in [self.tour.next(node), self.tour.previous(node)] {
            let changes = self.tour.changes();
            let path = HamiltonianPath::new(&self.tour, start, node);
            if let Some(gain) = self.extend_exchange(search, path) {
                for touched in &self.touched {
                    self.worklist.push(*touched);
                }
                return Some(gain);
            }
            // A move that did not close is undone before the next start.
            self.tour.undo_to(changes);
        }
        None
    }

    /// Applies exchanges from one path until the tour closes with a gain.
    fn extend_exchange(
        &mut self,
        search: &LinKernighanInput,
        mut path: HamiltonianPath,
    ) -> Option<f64> {
        self.added.clear();
        self.touched.clear();
        self.touched.extend([path.start, path.end]);
        let mut gain = search.cost(path.start, path.end);
        // Each step extends the best partial exchange, without backtracking beyond the second
        // level.
        for _ in 0..MAX_EXCHANGE_DEPTH {
            let step = search.best_exchange(&self.tour, path, gain, &self.added)?;
            let [t3, t4, t5, t6] = step.nodes;
            self.added.extend([(path.start, t3), (t4, t5)]);
            self.touched.extend(step.nodes);
            for (from, to) in step.reversals {
                // Equal offsets are no reversal.
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

/// Nodes to be searched again, each at most once, first in first out.
#[derive(Debug, Clone, Default)]
struct NodeWorklist {
    nodes: std::collections::VecDeque<u32>,
    is_queued: Vec<bool>,
}

impl NodeWorklist {
    fn fill(&mut self, order: &[u32]) {
        self.nodes.clear();
        self.is_queued.clear();
        self.is_queued.resize(order.len(), false);
        order.iter().for_each(|node| self.push(*node));
    }

    fn push(&mut self, node: u32) {
        // A node is queued once; further changes before its turn need no second search.
        if !std::mem::replace(&mut self.is_queued[node as usize], true) {
            self.nodes.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let node = self.nodes.pop_front()?;
        self.is_queued[node as usize] = false;
        Some(node)
    }
}

/// The pseudorandom generator of Steele, Lea and Flood (2014).
struct SplitMix64(u64);

impl SplitMix64 {
    /// A number below `bound`. The bias is negligible because `bound` is tiny compared with 2³².
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        // The upper 32 bits scaled to the range: multiplication instead of a remainder.
        ((((mixed ^ (mixed >> 31)) >> 32) * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{CandidateEdges, EdgeCostMatrix, LinKernighan, LinKernighanInput, SplitMix64};
    use crate::complete_graph::num_edges;
    use regretless_base::random::{Purpose, RandomStream};

    fn random(nodes: usize, seed: u64) -> (EdgeCostMatrix, CandidateEdges) {
        let mut stream = RandomStream::new(Purpose::Benchmark, seed, [nodes as u64, 0]);
        let costs: Vec<f64> = (0..num_edges(nodes))
            .map(|_| stream.uniform(-20.0, 5.0))
            .collect();
        let edge_costs = EdgeCostMatrix::new(nodes, &costs);
        let mut candidates = CandidateEdges::default();
        candidates.fill_by_cost(&edge_costs, 6);
        (edge_costs, candidates)
    }

    fn input<'a>(
        edge_costs: &'a EdgeCostMatrix,
        candidates: &'a CandidateEdges,
    ) -> LinKernighanInput<'a> {
        LinKernighanInput {
            edge_costs,
            candidates,
            tolerance: 1e-9,
        }
    }

    /// A search at the tour 0, 1, 2, …, and this tour.
    fn at_first_tour(nodes: usize) -> (LinKernighan, Vec<u32>) {
        let mut local = LinKernighan::default();
        let order: Vec<u32> = (0..nodes as u32).collect();
        local.tour.set(&order);
        (local, order)
    }

    #[test]
    fn gains_sum_to_the_change_in_cost() {
        for (nodes, seed) in (5..60).zip(0..) {
            let (edge_costs, candidates) = random(nodes, seed);
            let search = input(&edge_costs, &candidates);
            let (mut local, order) = at_first_tour(nodes);
            local.worklist.fill(&order);
            let gain = local.improve_to_local_optimum(&search);
            let after = edge_costs.tour_cost(local.tour.order());
            assert!(
                (edge_costs.tour_cost(&order) - gain - after).abs() < 1e-9,
                "{nodes} nodes"
            );
        }
    }

    #[test]
    fn a_kick_and_the_moves_after_it_are_undone_exactly() {
        let mut stream = SplitMix64(1);
        for (nodes, seed) in (8..60).zip(0..) {
            let (edge_costs, candidates) = random(nodes, seed);
            let search = input(&edge_costs, &candidates);
            let (mut local, order) = at_first_tour(nodes);
            local.worklist.is_queued = vec![false; nodes];
            let gain = local.kick(&search, &mut stream);
            let kicked = edge_costs.tour_cost(local.tour.order());
            assert!(
                (edge_costs.tour_cost(&order) - gain - kicked).abs() < 1e-9,
                "{nodes} nodes"
            );
            local.improve_to_local_optimum(&search);
            local.tour.undo_to(0);
            assert_eq!(local.tour.order(), order);
        }
    }

    #[test]
    fn kicks_never_make_a_tour_more_expensive_and_are_deterministic() {
        let (edge_costs, candidates) = random(80, 4);
        let start: Vec<u32> = (0..80).collect();
        let costs = [0, 20, 200].map(|kicks| {
            let mut orders = [start.clone(), start.clone()];
            let improved = orders.each_mut().map(|order| {
                LinKernighan::default().improve(&edge_costs, &candidates, order, kicks)
            });
            assert_eq!((improved[0], &orders[0]), (improved[1], &orders[1]));
            improved[0]
        });
        // The cost of the same tour from another start node differs by rounding only.
        assert!(costs[0] + 1e-9 > costs[1] && costs[1] + 1e-9 > costs[2]);
        assert!(costs[2] < edge_costs.tour_cost(&start) - 1.0);
    }
}
