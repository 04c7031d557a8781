//! Warm starts and certificates of the 1-tree search: the tour, the multipliers of its bound, and
//! the search tree, if the root was not enough.
//!
//! A warm search starts with the old tour as its incumbent, runs its ascent from the old
//! multipliers, and follows the old tree. The certificate is that of Held and Karp (1970): the
//! minimum 1-tree under the new costs and the old multipliers is a lower bound on every tour, so a
//! tour that costs no more is optimal. It takes one 1-tree; if the old proof was a search, one
//! 1-tree per node of its tree. A proof without slack fails after the smallest drift of the costs.
//! If certificates are requested, the search therefore looks for a proof that holds even when the
//! tour's edges are more expensive.
//!
//! Which of several optimal tours a search finds depends on its path. An old tour is therefore
//! returned only if it is the unique optimum: its proof must hold with its edges more expensive by
//! a margin ε. Another tour lacks at least two of these edges and thus costs at least 2ε more.
//! Everything else is solved cold, and so are costs that are multiples of a unit, where ties are
//! common.

use super::initial_tour::MAX_DENSE_ASCENT_NODES;
#[cfg(feature = "highs")]
use super::one_tree::OneTree;
use super::recorded_tree::{RecordedNodeId, RecordedTree};
use super::search_tree::{PruningRule, TspIncumbent, TspSearchInput};
use super::{ROOT_ASCENT, TspBranchAndBound};
#[cfg(feature = "highs")]
use crate::SearchLimits;
use crate::complete_graph::{EdgeCostMatrix, tour_order};
use crate::warm_start::{CostSample, WarmStart, WarmStartState};
use crate::{Solution, SolveStatus};
use regretless_base::decision::Decision;

/// Steps of the root ascent of a warm search that follows an old tree. Its multipliers start near
/// the optimum, and those of the tree replace them in its nodes.
const WARM_ASCENT_STEPS: usize = 8;
/// Margin of the uniqueness test in units of the tolerance of total costs. Another tour then
/// differs by at least eight tolerances, well above rounding.
const UNIQUENESS_MARGIN: f64 = 4.0;
/// Margins of a certificate relative to the root mean square of all costs, tried in this order. A
/// larger margin stays valid under more drift but is harder to prove.
const CERTIFICATE_MARGINS: [f64; 3] = [0.01, 0.002, 0.0002];
/// Largest drift of the costs for a warm search: beyond it the old tour and multipliers save little
/// time.
pub(super) const MAX_DRIFT: f64 = 0.06;
/// Largest drift for which a certificate is tried: beyond it most proofs fail.
pub(super) const MAX_CERTIFIED_DRIFT: f64 = 0.04;

/// A tour and the proof of its bound.
#[derive(Debug)]
pub(super) struct TspWarmStart {
    pub(super) sample: CostSample,
    /// Sorted edge indices.
    pub(super) tour: Box<[u32]>,
    pub(super) multipliers: Box<[f64]>,
    /// The tree of the search, if there was one.
    pub(super) recorded_tree: Option<RecordedTree>,
    /// Whether the multipliers, with the recorded tree if there is one, proved the tour optimal.
    pub(super) has_proof: bool,
}

impl WarmStartState for TspWarmStart {
    fn bytes(&self) -> usize {
        let tree = self.recorded_tree.as_ref().map_or(0, RecordedTree::bytes);
        self.sample.bytes() + size_of_val(&*self.tour) + size_of_val(&*self.multipliers) + tree
    }

    fn shrink(&mut self) {
        // A proof that needs the tree is lost with it.
        self.has_proof &= self.recorded_tree.is_none();
        self.recorded_tree = None;
    }
}

impl TspWarmStart {
    /// Whether these costs are close enough for a warm search.
    pub(super) fn fits(&self, nodes: usize, costs: &[f64]) -> bool {
        self.tour.len() == nodes && self.sample.drift(costs) <= MAX_DRIFT
    }

    /// Whether there is a proof that may still hold under these costs.
    pub(super) fn has_certificate(&self, nodes: usize, costs: &[f64]) -> bool {
        self.has_proof
            && self.tour.len() == nodes
            && self.sample.drift(costs) <= MAX_CERTIFIED_DRIFT
    }

    /// The nodes of the tour in visiting order.
    pub(super) fn order(&self) -> Vec<u32> {
        tour_order(self.tour.len(), &self.tour)
    }

    /// The tour, if a single 1-tree under its multipliers proves it optimal for these costs.
    #[cfg(feature = "highs")]
    pub(super) fn certify(
        &self,
        costs: &[f64],
        edge_costs: &EdgeCostMatrix,
        one_tree: &mut OneTree,
    ) -> Option<Solution> {
        let cost = self.tour.iter().map(|edge| costs[*edge as usize]).sum();
        let cutoff = PruningRule::new(edge_costs, SearchLimits::default()).cutoff(cost);
        // Not above the cutoff: another tour might be better by more than the tolerance.
        if one_tree.build(edge_costs, &self.multipliers) <= cutoff {
            return None;
        }
        let decision = Decision::from_indices(self.tour.iter().copied());
        Some(Solution::optimal(decision, cost))
    }
}

/// These costs with the edges of a tour more expensive by `margin`.
fn raise_tour_costs(costs: &[f64], tour: &[u32], margin: f64) -> Vec<f64> {
    let mut raised = costs.to_vec();
    for edge in tour {
        // With the tour made more expensive, a proof shows that it is optimal by this margin, so it
        // is the unique optimum.
        raised[*edge as usize] += margin;
    }
    raised
}

impl TspBranchAndBound {
    /// Solves, warm if the warm start fits and proves a unique optimum, else cold; replaces the
    /// warm start.
    pub(super) fn search_warm(&mut self, costs: &[f64], warm_start: &mut WarmStart) -> Solution {
        let previous = warm_start
            .take::<TspWarmStart>()
            .filter(|previous| previous.fits(self.nodes, costs));
        let warm = previous
            // Among whole-number costs ties are frequent, and a unique optimum is rarely provable.
            .filter(|_| EdgeCostMatrix::detect_granularity(costs).is_none())
            .and_then(|previous| self.run_from(costs, &previous));
        // The cold search decides among several optima, so the result is that without a warm start.
        let (solution, mut state) = warm.unwrap_or_else(|| {
            let solution = self.run(costs);
            let state = self.take_warm_start(costs, &solution);
            (solution, state)
        });
        if warm_start.collects_certificates() && state.has_proof {
            state = self.with_certificate_margin(costs, state);
        }
        warm_start.set(state);
        solution
    }

    /// The warm start of the search just done.
    fn take_warm_start(&mut self, costs: &[f64], solution: &Solution) -> TspWarmStart {
        let searched = self.tree.recording.root() != RecordedNodeId::NONE;
        let recorded_tree = self.tree.recording.take();
        // A tree that was too large to be recorded is a proof that cannot be repeated.
        let is_proven = recorded_tree.is_some() || !searched;
        TspWarmStart {
            sample: CostSample::new(costs),
            tour: solution.decision.indices().into(),
            multipliers: self.initial.multipliers.as_slice().into(),
            recorded_tree,
            has_proof: solution.status == SolveStatus::Optimal && is_proven,
        }
    }

    /// Warm search: the optimal tour and its proof; `None` unless the optimum is unique.
    fn run_from(
        &mut self,
        costs: &[f64],
        previous: &TspWarmStart,
    ) -> Option<(Solution, TspWarmStart)> {
        let margin = UNIQUENESS_MARGIN * EdgeCostMatrix::tour_cost_tolerance(costs, self.nodes);
        let mut solution =
            self.search_from(&raise_tour_costs(costs, &previous.tour, margin), previous);
        let mut state = self.take_warm_start(costs, &solution);
        // Another tour is better: its own uniqueness must be proven in the same way.
        if solution.status == SolveStatus::Optimal && *state.tour != *previous.tour {
            let raised = raise_tour_costs(costs, &state.tour, margin);
            solution = self.prove_optimal(&raised, &state)?;
            state = self.take_warm_start(costs, &solution);
        }
        if solution.status != SolveStatus::Optimal {
            return None;
        }
        // The objective under the true costs, without the margin.
        let objective = solution.decision.dot(costs);
        Some((Solution::optimal(solution.decision, objective), state))
    }

    /// Searches from the old tour, improved by local search.
    fn search_from(&mut self, costs: &[f64], previous: &TspWarmStart) -> Solution {
        let (pruning, bound) = self.load_warm_start(costs, previous);
        if let Some(lower_bound) = self.bound_if_closed(bound, costs, &pruning) {
            return self.take_solution(lower_bound, true);
        }
        self.initial.rank_by_alpha_value();
        // The old tour is nearly optimal, so local search without kicks is enough.
        self.initial.order = previous.order();
        self.initial.improve_tour(0);
        self.offer_tour(costs, &pruning);
        self.search(costs, pruning, bound, previous.recorded_tree.as_ref())
    }

    /// Searches for a proof that the tour of a warm start is optimal; `None` if there is a better
    /// tour.
    fn prove_optimal(&mut self, costs: &[f64], previous: &TspWarmStart) -> Option<Solution> {
        let (pruning, bound) = self.load_warm_start(costs, previous);
        let solution = match self.bound_if_closed(bound, costs, &pruning) {
            Some(lower_bound) => self.take_solution(lower_bound, true),
            None => {
                let initial = &mut self.initial;
                initial
                    .reduced_costs
                    .reduce(&initial.edge_costs, &initial.multipliers);
                self.search(costs, pruning, bound, previous.recorded_tree.as_ref())
            }
        };
        // Another tour of the same cost would be no proof.
        let is_same_tour = *solution.decision.indices() == *previous.tour;
        (solution.status == SolveStatus::Optimal && is_same_tour).then_some(solution)
    }

    /// Loads costs, a tour and its multipliers, and runs the root ascent; returns the root's bound.
    fn load_warm_start(&mut self, costs: &[f64], previous: &TspWarmStart) -> (PruningRule, f64) {
        let pruning = self.load_tour(costs, previous);
        // A sparse ascent needs candidate edges, which the ranking gives it.
        if self.nodes > MAX_DENSE_ASCENT_NODES {
            let initial = &mut self.initial;
            initial
                .one_tree
                .build(&initial.edge_costs, &initial.multipliers);
            initial.rank_by_alpha_value();
        }
        let bound = match previous.recorded_tree {
            Some(_) => {
                // The nodes of the tree have multipliers of their own, so the root's need few
                // steps.
                let schedule = ROOT_ASCENT.with_max_steps(WARM_ASCENT_STEPS);
                self.initial.ascend_dense(&self.ascent_target(schedule))
            }
            None => self.run_root_ascent(),
        };
        (pruning, bound)
    }

    /// Loads costs, multipliers and the tour as the incumbent.
    fn load_tour(&mut self, costs: &[f64], previous: &TspWarmStart) -> PruningRule {
        let pruning = self.load(costs);
        self.initial.multipliers.clear();
        self.initial
            .multipliers
            .extend_from_slice(&previous.multipliers);
        self.incumbent = TspIncumbent::default();
        self.incumbent
            .offer(&mut previous.tour.to_vec(), costs, &pruning);
        pruning
    }

    /// The same tour with a proof that holds with a margin, if one is found.
    fn with_certificate_margin(&mut self, costs: &[f64], previous: TspWarmStart) -> TspWarmStart {
        // Margins in units of the costs, so they mean the same on any scale.
        let squares = costs.iter().map(|cost| cost * cost);
        let root_mean_square = (squares.sum::<f64>() / costs.len() as f64).sqrt();
        for margin in CERTIFICATE_MARGINS {
            let raised = raise_tour_costs(costs, &previous.tour, margin * root_mean_square);
            if let Some(solution) = self.prove_optimal(&raised, &previous) {
                let improved = self.take_warm_start(costs, &solution);
                // With a larger margin the tree may overflow: then the old proof is kept.
                return if improved.has_proof {
                    improved
                } else {
                    previous
                };
            }
        }
        previous
    }

    /// The tour of a warm start, if its proof still shows that it is the unique optimum.
    pub(super) fn certify_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        let previous = warm_start
            .get::<TspWarmStart>()
            .filter(|previous| previous.has_certificate(self.nodes, costs))?;
        let margin = UNIQUENESS_MARGIN * EdgeCostMatrix::tour_cost_tolerance(costs, self.nodes);
        if !self.proof_holds(&raise_tour_costs(costs, &previous.tour, margin), previous) {
            return None;
        }
        let decision = Decision::from_indices(previous.tour.iter().copied());
        let objective = decision.dot(costs);
        Some(Solution::optimal(decision, objective))
    }

    /// Whether the multipliers, or one 1-tree in each node of the recorded tree, exclude a better
    /// tour.
    fn proof_holds(&mut self, costs: &[f64], previous: &TspWarmStart) -> bool {
        let pruning = self.load_tour(costs, previous);
        let initial = &mut self.initial;
        let bound = initial
            .one_tree
            .build(&initial.edge_costs, &initial.multipliers);
        if bound > self.incumbent.cutoff {
            return true;
        }
        let Some(recorded) = &previous.recorded_tree else {
            return false;
        };
        initial
            .reduced_costs
            .reduce(&initial.edge_costs, &initial.multipliers);
        self.fix_edges_by_bound(bound);
        self.reset_tree();
        let input = TspSearchInput {
            costs,
            pruning,
            bound,
            recorded: Some(recorded),
            strict: true,
        };
        // The tree must be searched completely and find no better tour.
        let (_, complete) = self.tree.run(&input, &mut self.incumbent);
        complete && *self.incumbent.edges == *previous.tour
    }
}
