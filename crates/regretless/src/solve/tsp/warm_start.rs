//! What a search for tours keeps of an instance: the tour, multipliers that bound it from below,
//! and the tree of the search, if there was need of one.
//!
//! The old tour is the first incumbent of a warm search, the old multipliers are where its ascent
//! starts, and the old tree guides the search. The certificate is Held and Karp's (1970): the
//! cheapest 1-tree under the new costs and the old multipliers bounds every tour, so that a tour
//! that costs no more is the cheapest. It takes one tree; where the old proof was a search it takes
//! one tree per node of it. A proof that just holds fails after the slightest drift: where proofs
//! are wanted one is sought that holds even with dearer edges.
//!
//! Which of several cheapest tours a search finds depends on its way. A tour is therefore given
//! from memory only if it is the only one: it is defended with its edges dearer by a hair ε.
//! Another tour lacks at least two of them, so that it costs at least 2ε more. Whatever is not
//! proved so is searched for from nothing, and so are costs that are multiples of a unit, where
//! ties abound.

use super::one_tree::OneTree;
use super::recorded_tree::{RecordedNodeId, RecordedTree};
use super::search_tree::{PruningRule, TspIncumbent, TspSearchInput};
use super::subgradient::AscentTarget;
use super::{MAX_DENSE_ASCENT_NODES, TspBranchAndBound};
use crate::decision::Decision;
use crate::solve::complete_graph::{DistanceMatrix, order_of};
use crate::solve::warm_start::{CostSample, WarmStart, WarmStartState};
use crate::solve::{SearchLimits, Solution, SolveStatus};

/// Trees grown at the root of a warm search before it follows the old tree.
const WARM_ASCENT_STEPS: usize = 8;
/// By how many times the noise of totals edges are made dearer to see whether a tour is the only
/// one.
const UNIQUENESS_MARGIN: f64 = 4.0;
/// By how much edges are made dearer to get a proof that lasts, next to the root mean square of all
/// costs; the first proof that can be had is taken.
const CERTIFICATE_MARGINS: [f64; 3] = [0.01, 0.002, 0.0002];
/// Drift up to which a search starts warm, and up to which a certificate is tried.
pub(super) const MAX_DRIFT: f64 = 0.06;
pub(super) const MAX_CERTIFIED_DRIFT: f64 = 0.04;

/// A tour, and what bounds it.
#[derive(Debug)]
pub(super) struct TspWarmStart {
    pub(super) sample: CostSample,
    /// Sorted edge numbers.
    pub(super) tour: Box<[u32]>,
    pub(super) multipliers: Box<[f64]>,
    /// The tree of the search.
    pub(super) plan: Option<RecordedTree>,
    /// Whether multipliers, with the tree if there is one, proved the tour the cheapest.
    pub(super) proof: bool,
}

impl WarmStartState for TspWarmStart {
    fn bytes(&self) -> usize {
        let plan = self.plan.as_ref().map_or(0, RecordedTree::bytes);
        self.sample.bytes() + size_of_val(&*self.tour) + size_of_val(&*self.multipliers) + plan
    }

    fn shrink(&mut self) {
        self.proof &= self.plan.is_none();
        self.plan = None;
    }
}

impl TspWarmStart {
    /// Whether it is of use for a warm start.
    pub(super) fn fits(&self, nodes: usize, costs: &[f64]) -> bool {
        self.tour.len() == nodes && self.sample.drift(costs) <= MAX_DRIFT
    }

    /// Whether there is a proof that may still hold.
    pub(super) fn has_certificate(&self, nodes: usize, costs: &[f64]) -> bool {
        self.proof && self.tour.len() == nodes && self.sample.drift(costs) <= MAX_CERTIFIED_DRIFT
    }

    /// The nodes in the order of the tour.
    pub(super) fn order(&self) -> Vec<u32> {
        order_of(self.tour.len(), &self.tour)
    }

    /// The tour, if its multipliers prove it the cheapest under these costs as well.
    pub(super) fn certify(
        &self,
        (costs, distances): (&[f64], &DistanceMatrix),
        one_tree: &mut OneTree,
    ) -> Option<Solution> {
        let cost = self.tour.iter().map(|edge| costs[*edge as usize]).sum();
        let cutoff = PruningRule::new(distances, SearchLimits::default()).cutoff(cost);
        let decision = || Decision::from_indices(self.tour.iter().copied());
        (one_tree.build(distances, &self.multipliers) > cutoff)
            .then(|| Solution::optimal(decision(), cost))
    }
}

/// These costs with the edges of a tour dearer.
fn raise_tour_costs(costs: &[f64], tour: &[u32], by: f64) -> Vec<f64> {
    let mut dearer = costs.to_vec();
    tour.iter().for_each(|edge| dearer[*edge as usize] += by);
    dearer
}

impl TspBranchAndBound {
    pub(super) fn search_warm(&mut self, costs: &[f64], warm_start: &mut WarmStart) -> Solution {
        let known = warm_start
            .take::<TspWarmStart>()
            .filter(|known| known.fits(self.nodes, costs));
        let warm = known
            .filter(|_| DistanceMatrix::granularity_of(costs).is_none())
            .and_then(|known| self.run_from(costs, &known));
        let (solution, mut found) = warm.unwrap_or_else(|| {
            let solution = self.run(costs);
            let found = self.to_warm_start(costs, &solution);
            (solution, found)
        });
        if warm_start.collects_certificates() && found.proof {
            found = self.with_certificate_margin(costs, found);
        }
        warm_start.set(found);
        solution
    }

    /// What is to be kept of the search just done.
    fn to_warm_start(&mut self, costs: &[f64], solution: &Solution) -> TspWarmStart {
        let searched = self.search.plan.root() != RecordedNodeId::NONE;
        let plan = self.search.plan.take();
        let proof = solution.status == SolveStatus::Optimal && (plan.is_some() || !searched);
        let (tour, multipliers) = (
            solution.decision.indices().into(),
            self.multipliers.as_slice().into(),
        );
        TspWarmStart {
            sample: CostSample::of(costs),
            tour,
            multipliers,
            plan,
            proof,
        }
    }

    /// The cheapest tour and its proof, from what is known; `None` unless it is the only one.
    fn run_from(
        &mut self,
        costs: &[f64],
        known: &TspWarmStart,
    ) -> Option<(Solution, TspWarmStart)> {
        let hair = UNIQUENESS_MARGIN * DistanceMatrix::tolerance_of(costs, self.nodes);
        let mut found = self.search_from(&raise_tour_costs(costs, &known.tour, hair), known);
        let mut kept = self.to_warm_start(costs, &found);
        if found.status == SolveStatus::Optimal && *kept.tour != *known.tour {
            found = self.search_better_than(&raise_tour_costs(costs, &kept.tour, hair), &kept)?;
            kept = self.to_warm_start(costs, &found);
        }
        found.objective = found.decision.dot(costs);
        (found.status == SolveStatus::Optimal)
            .then(|| (Solution::optimal(found.decision, found.objective), kept))
    }

    /// Searches from the old tour, made better if possible.
    fn search_from(&mut self, costs: &[f64], known: &TspWarmStart) -> Solution {
        let (pruning, bound) = self.load_warm_start(costs, known);
        if let Some(lower_bound) = self.bound_if_closed(bound, costs, &pruning) {
            return self.to_solution(lower_bound, true);
        }
        self.update_candidates();
        self.order = known.order();
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, 0);
        self.offer_order(costs, &pruning);
        self.search((costs, pruning), bound, known.plan.as_ref())
    }

    /// Searches for a tour better than a known one; `None` if there is one.
    fn search_better_than(&mut self, costs: &[f64], known: &TspWarmStart) -> Option<Solution> {
        let (pruning, bound) = self.load_warm_start(costs, known);
        let found = match self.bound_if_closed(bound, costs, &pruning) {
            Some(lower_bound) => self.to_solution(lower_bound, true),
            None => {
                self.reduced.reduce(&self.distances, &self.multipliers);
                self.search((costs, pruning), bound, known.plan.as_ref())
            }
        };
        (found.status == SolveStatus::Optimal && *found.decision.indices() == *known.tour)
            .then_some(found)
    }

    /// Starts from a tour and its multipliers; returns the bound of the root.
    fn load_warm_start(&mut self, costs: &[f64], known: &TspWarmStart) -> (PruningRule, f64) {
        let pruning = self.load_tour(costs, known);
        if self.nodes > MAX_DENSE_ASCENT_NODES {
            self.one_tree.build(&self.distances, &self.multipliers);
            self.update_candidates();
        }
        let bound = match known.plan {
            Some(_) => self.run_ascent(AscentTarget {
                steps: WARM_ASCENT_STEPS,
                ..self.goal()
            }),
            None => self.run_root_ascent(),
        };
        (pruning, bound)
    }

    fn load_tour(&mut self, costs: &[f64], known: &TspWarmStart) -> PruningRule {
        let pruning = self.load(costs);
        self.multipliers.clear();
        self.multipliers.extend_from_slice(&known.multipliers);
        self.best = TspIncumbent::default();
        self.best.offer(&mut known.tour.to_vec(), costs, &pruning);
        pruning
    }

    /// The same with a proof that lasts, if one can be had.
    fn with_certificate_margin(&mut self, costs: &[f64], known: TspWarmStart) -> TspWarmStart {
        let size = (costs.iter().map(|cost| cost * cost).sum::<f64>() / costs.len() as f64).sqrt();
        for margin in CERTIFICATE_MARGINS {
            if let Some(found) = self
                .search_better_than(&raise_tour_costs(costs, &known.tour, margin * size), &known)
            {
                let better = self.to_warm_start(costs, &found);
                return if better.proof { better } else { known };
            }
        }
        known
    }

    /// The tour in memory, if what is kept with it still proves it the only cheapest one.
    pub(super) fn certify_warm_start(
        &mut self,
        costs: &[f64],
        warm_start: &WarmStart,
    ) -> Option<Solution> {
        let known = warm_start
            .get::<TspWarmStart>()
            .filter(|known| known.has_certificate(self.nodes, costs))?;
        let hair = UNIQUENESS_MARGIN * DistanceMatrix::tolerance_of(costs, self.nodes);
        let decision = || Decision::from_indices(known.tour.iter().copied());
        self.proves(&raise_tour_costs(costs, &known.tour, hair), known)
            .then(decision)
            .map(|decision| {
                let objective = decision.dot(costs);
                Solution::optimal(decision, objective)
            })
    }

    /// Whether the multipliers, or one tree in each node of the old search, rule out a better tour.
    fn proves(&mut self, costs: &[f64], known: &TspWarmStart) -> bool {
        let pruning = self.load_tour(costs, known);
        let bound = self.one_tree.build(&self.distances, &self.multipliers);
        if bound > self.best.cutoff {
            return true;
        }
        let Some(plan) = &known.plan else {
            return false;
        };
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.fix_edges_by_bound(bound);
        self.search.reset(
            self.nodes,
            self.survivors.iter().copied(),
            &self.multipliers,
        );
        let task = TspSearchInput {
            costs,
            pruning,
            bound,
            recorded: Some(plan),
            strict: true,
        };
        let (_, complete) = self.search.run(&task, &mut self.best);
        complete && *self.best.edges == *known.tour
    }
}
