//! Branch and cut for tours on a linear relaxation (Padberg and Rinaldi 1991), for more nodes than
//! the 1-tree search can manage.
//!
//! A local search finds a good tour and 1-trees find multipliers; the relaxation starts with the
//! few best edges of every node, and cuts and edges join until neither is violated at the root.
//! Edges whose reduced cost exceeds the gap are out for good; what is left is searched.
//!
//! * `begin`: tour and multipliers. `master`: the linear relaxation. `price`: what duals prove.
//! * `cuts`, `support`, `ring`, `blossom`: inequalities and how violated ones are found.
//! * `root`: the relaxation over all edges. `tree`: the search below it.
//! * `relax`, `range`: the relaxation as an end in itself, and how far costs may move.
//! * `memory`: what is kept of an instance.

use super::search_tree::{PruningRule, TspIncumbent};
use super::warm_start::TspWarmStart;
use crate::decision::Decision;
use crate::solve::complete_graph::check;
use crate::solve::warm_start::{CostSample, WarmStart};
use crate::solve::{SearchLimits, Solution, SolveFailure, SolveStatus, Solver};

mod blossom;
mod branch_penalty;
mod cost_ranges;
mod cuts;
mod initial_tour;
mod master;
mod pricing;
mod relaxation;
mod root;
mod rounding;
mod search_tree;
mod subtour;
mod support_graph;
mod warm_start;

pub use relaxation::{RelaxationResult, TspRelaxation};

use initial_tour::InitialTour;
use master::{EdgeEnds, TspMasterLp};
use root::{CutFamily, RootRelaxation};
use search_tree::{TspCutSearchInput, TspCutTree};
use warm_start::{RootWarmStart, TspCutWarmStart};

/// Trees grown before and after the first tour.
const ASCENT_STEPS: [usize; 2] = [15, 20];
/// After so many nodes of the search the point of one is rounded to a tour.
const ROUNDING_INTERVAL_NODES: u64 = 5;

/// The exact solver for larger tours.
#[derive(Debug, Default)]
pub struct TspBranchAndCut {
    nodes: usize,
    limits: SearchLimits,
    begin: InitialTour,
    /// Whether the root is to be kept, and what is kept of it.
    remember: bool,
    root: Option<RootWarmStart>,
    searched: u64,
}

impl TspBranchAndCut {
    /// An engine for tours through this many nodes, at least 5.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            nodes,
            limits,
            ..Self::default()
        }
    }

    /// Nodes of the search tree behind the last answer; 0 when the root was enough.
    pub fn tree_nodes(&self) -> u64 {
        self.searched
    }

    fn run(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        (self.root, self.searched) = (None, 0);
        self.begin.start(self.nodes, costs, ASCENT_STEPS[0]);
        let mut best = TspIncumbent::default();
        let pruning = PruningRule::new(&self.begin.distances, self.limits);
        self.begin.offer(&mut best, costs, &pruning);
        let bound = self.begin.ascend(ASCENT_STEPS[1], best.cutoff);
        if bound > best.cutoff {
            return Ok(self.to_solution(&mut best, bound, true));
        }
        self.begin.improve(self.nodes / 10);
        self.begin.offer(&mut best, costs, &pruning);
        if bound > best.cutoff {
            return Ok(self.to_solution(&mut best, bound, true));
        }
        let edges = self.begin.promising_edges();
        let root = RootRelaxation::new(
            &self.begin.distances,
            &self.begin.multipliers,
            &edges,
            &self.begin.order,
        )?;
        self.close_gap((costs, pruning), best, root)
    }

    /// The same from tour, multipliers and root of earlier costs of the instance.
    fn run_from(
        &mut self,
        costs: &[f64],
        known: &TspCutWarmStart,
    ) -> Result<Solution, SolveFailure> {
        (self.root, self.searched) = (None, 0);
        self.begin.load_warm_start(costs, &known.tour);
        let mut best = TspIncumbent::default();
        let pruning = PruningRule::new(&self.begin.distances, self.limits);
        self.begin.offer(&mut best, costs, &pruning);
        if let Some(root) = &known.root {
            let root = RootRelaxation::resume(&self.begin.distances, root, None)?;
            return self.close_gap((costs, pruning), best, root);
        }
        let bound = self
            .begin
            .ascend(ASCENT_STEPS[0] + ASCENT_STEPS[1], best.cutoff);
        if bound > best.cutoff {
            return Ok(self.to_solution(&mut best, bound, true));
        }
        let edges = self.begin.promising_edges();
        let root = RootRelaxation::new(
            &self.begin.distances,
            &self.begin.multipliers,
            &edges,
            &self.begin.order,
        )?;
        self.close_gap((costs, pruning), best, root)
    }

    /// Closes the gap between a tour and a root.
    fn close_gap(
        &mut self,
        (costs, pruning): (&[f64], PruningRule),
        mut best: TspIncumbent,
        mut root: RootRelaxation,
    ) -> Result<Solution, SolveFailure> {
        let bound =
            root.add_cuts_and_columns(&self.begin.distances, CutFamily::All, best.cutoff)?;
        if self.remember {
            self.root = RootWarmStart::of(&root, &self.begin.distances);
            self.begin.multipliers = root.prices.symmetric_potentials();
        }
        if bound > best.cutoff {
            return Ok(self.to_solution(&mut best, bound, true));
        }
        self.begin
            .set_candidate_potentials(&root.prices.symmetric_potentials());
        self.begin
            .round(&root.master.edges, root.master.values(), self.nodes / 4);
        self.begin.kick(self.nodes / 4);
        self.begin.offer(&mut best, costs, &pruning);
        if bound > best.cutoff {
            return Ok(self.to_solution(&mut best, bound, true));
        }
        let (spare_edges, dropped) = self.exclude(&mut root, bound, best.cutoff)?;
        let distances = self.begin.distances.clone();
        let task = TspCutSearchInput {
            distances: &distances,
            costs,
            pruning,
            most_nodes: self.limits.nodes,
        };
        let mut primal_heuristic = |solved: u64, master: &TspMasterLp, best: &mut TspIncumbent| {
            if solved.is_multiple_of(ROUNDING_INTERVAL_NODES) {
                self.begin
                    .round(&master.edges, master.values(), self.nodes / 10);
                self.begin.offer(best, costs, &pruning);
            }
        };
        let verdict = TspCutTree::new(task, root.master, spare_edges, bound)
            .run(&mut best, &mut primal_heuristic)?;
        self.searched = verdict.solved;
        Ok(self.to_solution(
            &mut best,
            verdict.lower_bound.min(dropped),
            verdict.complete,
        ))
    }

    /// Drops the edges that no better tour can use. Returns those that are left but no columns, and
    /// what a tour with a dropped one costs at least.
    fn exclude(
        &self,
        root: &mut RootRelaxation,
        bound: f64,
        cutoff: f64,
    ) -> Result<(Vec<(EdgeEnds, f64)>, f64), SolveFailure> {
        let distances = &self.begin.distances;
        let mut spare_edges = Vec::new();
        root.prices
            .scan(distances, cutoff - bound, |i, j, reduced| {
                if !root.has([i, j]) {
                    spare_edges.push(([i, j], reduced));
                }
            });
        let reduced = |[i, j]: EdgeEnds| root.prices.reduced(distances.between(i, j), i, j);
        let columns = root.master.edges.iter().zip(root.master.values());
        let delete = columns
            .map(|(ends, value)| *value == 0.0 && bound + reduced(*ends) > cutoff)
            .collect();
        root.master.drop_edges(delete)?;
        // Whatever was left out costs more than the level.
        Ok((spare_edges, cutoff.next_up()))
    }

    /// The best tour, and what is known given that all other tours cost at least `floor`.
    fn to_solution(&self, best: &mut TspIncumbent, lower_bound: f64, complete: bool) -> Solution {
        let objective = best.cost;
        let decision = Decision::from_indices(best.edges.drain(..));
        PruningRule::new(&self.begin.distances, self.limits).to_solution(
            decision,
            objective,
            (lower_bound, complete),
        )
    }
}

impl TspBranchAndCut {
    /// Warm where the costs moved little; what fails or ends at a limit that way is done from
    /// nothing.
    fn run_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        let known = warm_start
            .take::<TspCutWarmStart>()
            .filter(|known| known.tour.fits(self.nodes, costs));
        let warm = known.and_then(|known| self.run_from(costs, &known).ok());
        let finished = warm.filter(|warm| warm.status != SolveStatus::LimitReached);
        let solution = finished.map_or_else(|| self.run(costs), Ok)?;
        let root = self.root.take();
        let (tour, multipliers) = (
            solution.decision.indices().into(),
            self.begin.multipliers.as_slice().into(),
        );
        let (sample, proof) = (CostSample::of(costs), root.is_none());
        let tour = TspWarmStart {
            sample,
            tour,
            multipliers,
            plan: None,
            proof,
        };
        warm_start.set(TspCutWarmStart { tour, root });
        Ok(solution)
    }
}

impl Solver for TspBranchAndCut {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        check(self.nodes, costs)?;
        self.run(costs)
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        check(self.nodes, costs)?;
        if self.limits.gap > 0.0 {
            return self.run(costs);
        }
        self.remember = true;
        let solution = self.run_warm(costs, warm_start);
        self.remember = false;
        solution
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        let known = &warm_start.get::<TspCutWarmStart>()?.tour;
        known
            .has_certificate(self.nodes, costs)
            .then(|| self.begin.certify(costs, known))
            .flatten()
    }
}
