//! Initial tour of branch and cut, and the edges that the master LP starts with.

use crate::Solution;
use crate::complete_graph::EdgeEnds;
use crate::tsp::initial_tour::{CANDIDATES_PER_NODE, GREEDY_ASCENT, InitialTour, tour_edges};
use crate::tsp::subgradient::{AscentSchedule, AscentTarget};
use crate::tsp::warm_start::TspWarmStart;

/// Edges per node that the master LP starts with. More columns make every LP slower, fewer require
/// more rounds of pricing.
const COLUMNS_PER_NODE: usize = 5;
/// Steps on candidate edges per step on the complete graph: a sparse step is cheaper.
const SPARSE_STEPS_PER_STEP: usize = 3;
/// Ascent towards a locally optimal tour: full Polyak steps. The caller sets the number of steps.
const TOUR_ASCENT: AscentSchedule = AscentSchedule {
    max_steps: 0,
    step_factor: 1.0,
    patience: 5,
};

impl InitialTour {
    /// Loads costs and finds a tour and multipliers: a greedy tour, this many ascent steps, and a
    /// local search without kicks.
    pub(super) fn start(&mut self, nodes: usize, costs: &[f64], steps: usize) {
        self.edge_costs.fill(nodes, costs);
        // The potentials of the first ascent rank other edges first, so tour and candidates are
        // renewed.
        self.init_multipliers();
        self.rank_by_reduced_cost();
        self.build_greedy_tour();
        self.ascend_to_tour(GREEDY_ASCENT.with_max_steps(steps), f64::INFINITY);
        self.rank_by_reduced_cost();
        self.build_greedy_tour();
        self.improve_tour(0);
    }

    /// Loads costs, and the tour and multipliers of earlier costs of the same instance; improves
    /// the tour.
    pub(super) fn load_warm_start(&mut self, costs: &[f64], previous: &TspWarmStart) {
        self.order = previous.order();
        self.edge_costs.fill(self.order.len(), costs);
        self.multipliers.clear();
        self.multipliers.extend_from_slice(&previous.multipliers);
        self.rank_by_potentials(&previous.multipliers);
        self.improve_tour(0);
    }

    /// The tour of a warm start, if its multipliers prove it optimal under these costs as well.
    pub(super) fn certify(&mut self, costs: &[f64], previous: &TspWarmStart) -> Option<Solution> {
        self.edge_costs.fill(previous.tour.len(), costs);
        previous.certify(costs, &self.edge_costs, &mut self.one_tree)
    }

    /// Raises the 1-tree bound towards the cost of the current tour, at most to `cutoff`; returns
    /// it.
    pub(super) fn raise_bound(&mut self, steps: usize, cutoff: f64) -> f64 {
        self.ascend_to_tour(TOUR_ASCENT.with_max_steps(steps), cutoff)
    }

    fn ascend_to_tour(&mut self, schedule: AscentSchedule, cutoff: f64) -> f64 {
        let target = AscentTarget {
            tour_cost: self.edge_costs.tour_cost(&self.order),
            cutoff,
            schedule,
        };
        self.ascend(&target, SPARSE_STEPS_PER_STEP * schedule.max_steps)
    }

    /// Ranks candidate edges by α-value with respect to the 1-tree under these node potentials.
    pub(super) fn rank_by_potentials(&mut self, potentials: &[f64]) {
        self.one_tree.build(&self.edge_costs, potentials);
        self.reduced_costs.reduce(&self.edge_costs, potentials);
        self.candidates.fill_by_alpha_value(
            &self.reduced_costs,
            &self.one_tree,
            CANDIDATES_PER_NODE,
        );
    }

    /// The edges of the tour and the few of smallest reduced cost at every node, sorted.
    pub(super) fn initial_columns(&mut self) -> Vec<EdgeEnds> {
        // Reduced costs under good multipliers are close to the duals of the LP, so few of the
        // other edges price out.
        self.reduced_costs
            .reduce(&self.edge_costs, &self.multipliers);
        self.candidates
            .fill_by_cost(&self.reduced_costs, COLUMNS_PER_NODE);
        self.candidate_edges()
    }

    /// The edges of the tour and the candidate edges, sorted.
    pub(super) fn candidate_edges(&self) -> Vec<EdgeEnds> {
        // Columns are stored once, from the smaller to the larger node; a tour edge is mostly a
        // candidate too.
        let candidates = self.candidates.pairs().map(|(i, j)| [i.min(j), i.max(j)]);
        let mut edges: Vec<EdgeEnds> = candidates.chain(tour_edges(&self.order)).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
