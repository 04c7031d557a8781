//! What comes before any linear programme: a good tour, node multipliers, and the edges to start
//! with.

use super::master::EdgeEnds;
use super::rounding::tour_of;
use super::support_graph::INTEGRALITY_TOLERANCE;
use crate::solve::Solution;
use crate::solve::complete_graph::{DistanceMatrix, edge_index};
use crate::solve::tsp::candidates::CandidateEdges;
use crate::solve::tsp::greedy::GreedyTour;
use crate::solve::tsp::lin_kernighan::LinKernighan;
use crate::solve::tsp::one_tree::OneTree;
use crate::solve::tsp::search_tree::{PruningRule, TspIncumbent};
use crate::solve::tsp::sparse_ascent::SparseAscent;
use crate::solve::tsp::subgradient::AscentTarget;
use crate::solve::tsp::warm_start::TspWarmStart;

/// Neighbours per node that the local search looks at.
const CANDIDATES_PER_NODE: usize = 5;
/// Edges per node that the linear relaxation starts with.
const COLUMNS_PER_NODE: usize = 5;

/// Beyond this many nodes the ascent looks at candidate edges only, in more steps.
const MAX_DENSE_ASCENT_NODES: usize = 150;

/// A first tour and multipliers; buffers are kept between calls.
#[derive(Debug, Clone, Default)]
pub(super) struct InitialTour {
    pub(super) distances: DistanceMatrix,
    pub(super) multipliers: Vec<f64>,
    pub(super) order: Vec<u32>,
    reduced: DistanceMatrix,
    one_tree: OneTree,
    sparse: SparseAscent,
    candidates: CandidateEdges,
    greedy: GreedyTour,
    local: LinKernighan,
}

impl InitialTour {
    /// Takes over costs and finds a tour and multipliers by them, after so many trees and no kicks.
    pub(super) fn start(&mut self, nodes: usize, costs: &[f64], steps: usize) {
        self.distances.fill(nodes, costs);
        self.first_multipliers();
        self.find_cheap_tour();
        // A greedy tour is far from optimal, so full steps towards it would overshoot.
        self.run_ascent(AscentTarget {
            target: 0.0,
            enough: f64::INFINITY,
            steps,
            pace: 0.5,
            patience: 3,
        });
        self.find_cheap_tour();
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, 0);
    }

    /// Takes over costs, and tour and multipliers of earlier costs of the same instance; improves
    /// the tour.
    pub(super) fn load_warm_start(&mut self, costs: &[f64], known: &TspWarmStart) {
        self.order = known.order();
        self.distances.fill(self.order.len(), costs);
        self.multipliers.clear();
        self.multipliers.extend_from_slice(&known.multipliers);
        self.set_candidate_potentials(&known.multipliers);
        self.kick(0);
    }

    /// The tour in memory, if its multipliers prove it the cheapest under these costs as well.
    pub(super) fn certify(&mut self, costs: &[f64], known: &TspWarmStart) -> Option<Solution> {
        self.distances.fill(known.tour.len(), costs);
        known.certify((costs, &self.distances), &mut self.one_tree)
    }

    /// The common part of the costs or nothing, whichever gives the higher bound.
    fn first_multipliers(&mut self) {
        self.multipliers.clear();
        self.multipliers.resize(self.distances.nodes(), 0.0);
        let plain = self.one_tree.build(&self.distances, &self.multipliers);
        self.distances.node_potentials(&mut self.multipliers);
        if self.one_tree.build(&self.distances, &self.multipliers) < plain {
            self.multipliers.fill(0.0);
            self.one_tree.build(&self.distances, &self.multipliers);
        }
    }

    /// Candidates by reduced cost, and a greedy tour of them.
    fn find_cheap_tour(&mut self) {
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates.by_cost(&self.reduced, CANDIDATES_PER_NODE);
        self.order.clear();
        self.order
            .extend_from_slice(self.greedy.tour(&self.reduced, &self.candidates));
    }

    /// Raises the 1-tree bound towards the present tour; returns it.
    pub(super) fn ascend(&mut self, steps: usize, enough: f64) -> f64 {
        self.run_ascent(AscentTarget {
            target: 0.0,
            enough,
            steps,
            pace: 1.0,
            patience: 5,
        })
    }

    fn run_ascent(&mut self, goal: AscentTarget) -> f64 {
        let goal = AscentTarget {
            target: self.distances.tour_cost(&self.order),
            ..goal
        };
        if self.distances.nodes() <= MAX_DENSE_ASCENT_NODES {
            return self
                .one_tree
                .ascend(&self.distances, &mut self.multipliers, &goal);
        }
        let state = (&mut self.one_tree, &mut self.multipliers[..]);
        self.sparse.run(
            &self.distances,
            &self.candidates,
            state,
            &AscentTarget {
                steps: 3 * goal.steps,
                ..goal
            },
        )
    }

    /// Searches a better tour among the edges near to the 1-tree.
    pub(super) fn improve(&mut self, kicks: usize) {
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates
            .by_alpha_value(&self.reduced, &self.one_tree, CANDIDATES_PER_NODE);
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, kicks);
    }

    /// Looks from now on at the edges near to the 1-tree under these potentials.
    pub(super) fn set_candidate_potentials(&mut self, potentials: &[f64]) {
        self.one_tree.build(&self.distances, potentials);
        self.reduced.reduce(&self.distances, potentials);
        self.candidates
            .by_alpha_value(&self.reduced, &self.one_tree, CANDIDATES_PER_NODE);
    }

    /// Kicks the present tour.
    pub(super) fn kick(&mut self, kicks: usize) {
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, kicks);
    }

    /// Rounds a fractional point to a tour and improves it; it replaces the present one if it is
    /// shorter.
    pub(super) fn round(&mut self, edges: &[EdgeEnds], values: &[f64], kicks: usize) {
        let mut used: Vec<(f64, EdgeEnds)> = edges
            .iter()
            .zip(values)
            .filter(|(_, value)| **value > INTEGRALITY_TOLERANCE)
            .map(|(ends, value)| (*value, *ends))
            .collect();
        used.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let reduced = &self.reduced;
        let mut order = tour_of(
            self.order.len(),
            used.into_iter().map(|(_, ends)| ends),
            |i, j| reduced.between(i, j),
        );
        self.local
            .improve(reduced, &self.candidates, &mut order, kicks);
        if self.distances.tour_cost(&order) < self.distances.tour_cost(&self.order) {
            self.order = order;
        }
    }

    /// Offers the present tour.
    pub(super) fn offer(&self, best: &mut TspIncumbent, costs: &[f64], pruning: &PruningRule) {
        let mut numbers: Vec<u32> = tour_edges(&self.order)
            .map(|ends| number(self.order.len(), ends))
            .collect();
        best.offer(&mut numbers, costs, pruning);
    }

    /// The edges of the tour and the cheapest few at every node by reduced cost, sorted.
    pub(super) fn promising_edges(&mut self) -> Vec<EdgeEnds> {
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates.by_cost(&self.reduced, COLUMNS_PER_NODE);
        self.candidate_edges()
    }

    /// The edges of the tour and the candidates, sorted.
    pub(super) fn candidate_edges(&self) -> Vec<EdgeEnds> {
        let near = self.candidates.pairs().map(|(i, j)| [i.min(j), i.max(j)]);
        let mut edges: Vec<EdgeEnds> = near.chain(tour_edges(&self.order)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// The number of an edge among the costs.
pub(super) fn number(nodes: usize, [i, j]: EdgeEnds) -> u32 {
    edge_index(nodes, i as usize, j as usize) as u32
}

/// The edges of a closed tour.
pub(super) fn tour_edges(order: &[u32]) -> impl Iterator<Item = EdgeEnds> + '_ {
    let closing = order.last().copied().zip(order.first().copied());
    let pairs = order
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .chain(closing);
    pairs.map(|(i, j)| [i.min(j), i.max(j)])
}
