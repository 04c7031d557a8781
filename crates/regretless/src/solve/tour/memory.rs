//! What a search for tours keeps of an instance: the tour, and multipliers that bound it from below.
//!
//! The old tour is the first incumbent of a warm search and the old multipliers are where its ascent starts;
//! most often a few trees are then all it takes. The certificate is Held and Karp's (1970): the cheapest
//! 1-tree under the new costs and the old multipliers bounds every tour, so that a tour that costs no more
//! is the cheapest. It costs one tree.

use super::TourSearch;
use super::edges::{Distances, edge_ends};
use super::one_tree::OneTree;
use super::search::{Incumbent, Rules};
use crate::decision::Decision;
use crate::solve::memory::{Keepsake, Memory, Sample};
use crate::solve::{Limits, Solution, Status};

/// Drift up to which a search starts warm, and up to which a certificate is tried.
pub(super) const MOST_DRIFT: f64 = 0.3;

/// A tour, and what bounds it.
#[derive(Debug)]
pub(super) struct TourMemory {
    pub(super) sample: Sample,
    /// Sorted edge numbers.
    pub(super) tour: Box<[u32]>,
    pub(super) multipliers: Box<[f64]>,
    /// Whether the multipliers proved the tour the cheapest.
    pub(super) proof: bool,
}

impl Keepsake for TourMemory {
    fn bytes(&self) -> usize {
        self.sample.bytes() + size_of_val(&*self.tour) + size_of_val(&*self.multipliers)
    }
}

impl TourMemory {
    /// Whether it is of use for these costs of a tour through this many nodes.
    pub(super) fn fits(&self, nodes: usize, costs: &[f64]) -> bool {
        self.tour.len() == nodes && self.sample.drift(costs) <= MOST_DRIFT
    }

    /// The nodes in the order of the tour.
    pub(super) fn order(&self) -> Vec<u32> {
        order_of(self.tour.len(), &self.tour)
    }

    /// The tour, if its multipliers prove it the cheapest under these costs as well.
    pub(super) fn prove(&self, (costs, distances): (&[f64], &Distances), tree: &mut OneTree) -> Option<Solution> {
        let cost = self.tour.iter().map(|edge| costs[*edge as usize]).sum();
        let level = Rules::new(distances, Limits::default()).level(cost);
        let decision = || Decision::choosing(self.tour.iter().copied());
        (tree.grow(distances, &self.multipliers) > level).then(|| Solution::optimal(decision(), cost))
    }
}

/// The nodes of a tour in its order, from the sorted numbers of its edges.
fn order_of(nodes: usize, edges: &[u32]) -> Vec<u32> {
    let mut joined = vec![[u32::MAX; 2]; nodes];
    for (i, j) in edge_ends(nodes, edges) {
        for (node, other) in [(i, j), (j, i)] {
            let slot = usize::from(joined[node][0] != u32::MAX);
            joined[node][slot] = other as u32;
        }
    }
    let mut order = Vec::with_capacity(nodes);
    let (mut from, mut node) = (u32::MAX, 0);
    for _ in 0..nodes {
        order.push(node);
        let [one, other] = joined[node as usize];
        (from, node) = (node, if one == from { other } else { one });
    }
    order
}

impl TourSearch {
    pub(super) fn search_again(&mut self, costs: &[f64], memory: &mut Memory) -> Solution {
        let known = memory.take::<TourMemory>().filter(|known| known.fits(self.nodes, costs));
        let warm = known.map(|known| self.run_from(costs, &known));
        let solution = warm.filter(|warm| warm.status != Status::LimitReached).unwrap_or_else(|| self.run(costs));
        let (tour, multipliers) = (solution.decision.indices().into(), self.multipliers.as_slice().into());
        memory.keep(TourMemory { sample: Sample::of(costs), tour, multipliers, proof: self.proved });
        solution
    }

    fn run_from(&mut self, costs: &[f64], known: &TourMemory) -> Solution {
        let rules = self.load(costs);
        self.best = Incumbent::default();
        self.multipliers.clear();
        self.multipliers.extend_from_slice(&known.multipliers);
        self.order = known.order();
        self.offer_order(costs, &rules);
        self.tree.grow(&self.distances, &self.multipliers);
        self.find_neighbours();
        self.close(costs, rules)
    }

    /// The tour in memory, if its multipliers still prove it the cheapest.
    pub(super) fn prove_again(&mut self, costs: &[f64], memory: &Memory) -> Option<Solution> {
        let known = memory.recall::<TourMemory>().filter(|known| known.proof && known.fits(self.nodes, costs))?;
        self.distances.fill(self.nodes, costs);
        known.prove((costs, &self.distances), &mut self.tree)
    }
}
