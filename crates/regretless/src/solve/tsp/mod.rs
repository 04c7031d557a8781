//! Shortest tours through all nodes of a complete graph with arbitrary symmetric costs.
//!
//! Costs may be negative, real and far from metric: nothing here assumes more than symmetry. A
//! local search finds a good tour, 1-trees bound it from below, and branch and bound closes the
//! gap. The answer depends on the costs only; of tours whose costs differ by less than rounding
//! noise (10⁻¹² of the largest cost per node) the first one found is kept.
//!
//! * [`edges`]: how edges are numbered, costs as a table.
//! * [`one_tree`], [`ascent`], [`sparse_ascent`]: the bound and its multipliers.
//! * [`candidates`], [`start`], [`local`], [`mod@array`]: good tours.
//! * `graph`, `sparse_tree`, `search`: the exact search. `memory`, `plan`: what it keeps of an
//!   instance.
//! * `cut`: branch and cut on a linear relaxation, for more nodes, and that relaxation itself.

use super::warm_start::WarmStart;
use super::{SearchLimits, Solution, SolveFailure, Solver};
use crate::decision::Decision;

pub mod array_tour;
#[cfg(feature = "highs")]
pub mod branch_and_cut;
pub mod candidates;
pub mod greedy;
pub mod lin_kernighan;
pub mod one_tree;
mod recorded_tree;
mod search_tree;
pub mod sparse_ascent;
mod sparse_graph;
mod sparse_one_tree;
pub mod subgradient;
mod warm_start;

use crate::solve::complete_graph::{self, DistanceMatrix, edge_index};
use candidates::CandidateEdges;
use greedy::GreedyTour;
use lin_kernighan::LinKernighan;
use one_tree::OneTree;
use recorded_tree::RecordedTree;
use search_tree::{PruningRule, TspIncumbent, TspSearchInput, TspSearchTree};
use sparse_ascent::SparseAscent;
use subgradient::AscentTarget;

/// Neighbours per node that the local search looks at.
const CANDIDATES_PER_NODE: usize = 5;
/// Beyond this many nodes the ascent looks at candidate edges only.
const MAX_DENSE_ASCENT_NODES: usize = 150;

/// The exact solver: local search, 1-tree bound, branch and bound.
#[derive(Debug, Clone, Default)]
pub struct TspBranchAndBound {
    nodes: usize,
    limits: SearchLimits,
    distances: DistanceMatrix,
    reduced: DistanceMatrix,
    multipliers: Vec<f64>,
    one_tree: OneTree,
    sparse: SparseAscent,
    candidates: CandidateEdges,
    greedy: GreedyTour,
    local: LinKernighan,
    order: Vec<u32>,
    numbers: Vec<u32>,
    survivors: Vec<(u32, u32, f64)>,
    near: Vec<f64>,
    best: TspIncumbent,
    search: TspSearchTree,
}

impl TspBranchAndBound {
    /// An engine for tours through this many nodes, at least 3.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            nodes,
            limits,
            ..Self::default()
        }
    }

    /// A greedy tour to aim at, a few steps up from it, and a local search along the way.
    fn first_tour(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.best = TspIncumbent::default();
        self.first_multipliers();
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates.by_cost(&self.reduced, CANDIDATES_PER_NODE);
        self.order.clear();
        self.order
            .extend_from_slice(self.greedy.tour(&self.reduced, &self.candidates));
        self.offer_order(costs, pruning);
        // A greedy tour is far from optimal, so full steps towards it would overshoot.
        self.run_ascent(AscentTarget {
            steps: 15,
            pace: 0.5,
            patience: 3,
            ..self.goal()
        });
        self.update_candidates();
        self.order.clear();
        self.order
            .extend_from_slice(self.greedy.tour(&self.reduced, &self.candidates));
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, 0);
        self.offer_order(costs, pruning);
    }

    /// A local search from a known tour.
    fn improve_from(&mut self, tour: &Decision, costs: &[f64], pruning: &PruningRule) {
        self.best = TspIncumbent::default();
        self.first_multipliers();
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates.by_cost(&self.reduced, CANDIDATES_PER_NODE);
        self.order = complete_graph::order_of(self.nodes, tour.indices());
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, 0);
        self.offer_order(costs, pruning);
    }

    /// The common part of the costs or nothing, whichever gives the higher bound.
    fn first_multipliers(&mut self) {
        self.multipliers.clear();
        self.multipliers.resize(self.nodes, 0.0);
        let plain = self.one_tree.build(&self.distances, &self.multipliers);
        self.distances.node_potentials(&mut self.multipliers);
        if self.one_tree.build(&self.distances, &self.multipliers) < plain {
            self.multipliers.fill(0.0);
        }
    }

    /// Kicks the tour, as often as its size makes it worthwhile against searching for a proof.
    fn perturb_tour(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.update_candidates();
        let kicks = (self.nodes * self.nodes / 200).min(self.nodes);
        self.local
            .improve(&self.reduced, &self.candidates, &mut self.order, kicks);
        self.offer_order(costs, pruning);
    }

    /// Candidates by nearness to the present tree.
    fn update_candidates(&mut self) {
        self.reduced.reduce(&self.distances, &self.multipliers);
        self.candidates
            .by_alpha_value(&self.reduced, &self.one_tree, CANDIDATES_PER_NODE);
    }

    fn goal(&self) -> AscentTarget {
        AscentTarget {
            target: self.best.cost,
            enough: self.best.cutoff,
            steps: 60,
            pace: 1.0,
            patience: 5,
        }
    }

    fn run_ascent(&mut self, goal: AscentTarget) -> f64 {
        self.one_tree
            .ascend(&self.distances, &mut self.multipliers, &goal)
    }

    fn run_root_ascent(&mut self) -> f64 {
        let goal = self.goal();
        if self.nodes <= MAX_DENSE_ASCENT_NODES {
            return self.run_ascent(goal);
        }
        let state = (&mut self.one_tree, &mut self.multipliers[..]);
        self.sparse.run(
            &self.distances,
            &self.candidates,
            state,
            &AscentTarget { steps: 150, ..goal },
        )
    }

    fn offer_order(&mut self, costs: &[f64], pruning: &PruningRule) {
        let closing = self.order.last().copied().zip(self.order.first().copied());
        let pairs = self
            .order
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .chain(closing);
        self.numbers.clear();
        self.numbers
            .extend(pairs.map(|(i, j)| edge_index(self.nodes, i as usize, j as usize) as u32));
        self.best.offer(&mut self.numbers, costs, pruning);
    }

    /// Offers the present 1-tree, which is a tour.
    fn offer_tree(&mut self, costs: &[f64], pruning: &PruningRule) {
        self.numbers.clear();
        let pairs = self.one_tree.edges();
        self.numbers
            .extend(pairs.map(|(i, j)| edge_index(self.nodes, i as usize, j as usize) as u32));
        self.best.offer(&mut self.numbers, costs, pruning);
    }

    /// Keeps the edges that a tour at or below the level can use. Returns the least cost of a tour
    /// that uses another.
    fn fix_edges_by_bound(&mut self, bound: f64) -> f64 {
        self.near.resize(self.nodes, 0.0);
        self.survivors.clear();
        let mut lower_bound = f64::INFINITY;
        for i in 0..self.nodes {
            self.one_tree
                .alpha_values(&self.reduced, i as u32, &mut self.near);
            for j in i + 1..self.nodes {
                let min = bound + self.near[j];
                if min > self.best.cutoff {
                    lower_bound = min.min(lower_bound);
                } else {
                    self.survivors
                        .push((i as u32, j as u32, self.distances.row(i as u32)[j]));
                }
            }
        }
        lower_bound
    }

    fn run(&mut self, costs: &[f64]) -> Solution {
        let pruning = self.load(costs);
        self.first_tour(costs, &pruning);
        let bound = self.run_root_ascent();
        if let Some(lower_bound) = self.bound_if_closed(bound, costs, &pruning) {
            return self.to_solution(lower_bound, true);
        }
        self.perturb_tour(costs, &pruning);
        self.search((costs, pruning), bound, None)
    }

    fn load(&mut self, costs: &[f64]) -> PruningRule {
        self.distances.fill(self.nodes, costs);
        PruningRule::new(&self.distances, self.limits)
    }

    /// What all other tours cost at least, if the bound of the present tree, or that tree itself,
    /// ends it.
    fn bound_if_closed(&mut self, bound: f64, costs: &[f64], pruning: &PruningRule) -> Option<f64> {
        self.search.plan.clear();
        if bound > self.best.cutoff {
            return Some(bound);
        }
        self.one_tree.is_tour().then(|| {
            self.offer_tree(costs, pruning);
            f64::INFINITY
        })
    }

    /// Searches what the bound of the root leaves open, along the tree of an earlier search if
    /// there is one.
    fn search(
        &mut self,
        (costs, pruning): (&[f64], PruningRule),
        bound: f64,
        recorded: Option<&RecordedTree>,
    ) -> Solution {
        if bound > self.best.cutoff {
            return self.to_solution(bound, true);
        }
        let dropped = self.fix_edges_by_bound(bound);
        self.search.reset(
            self.nodes,
            self.survivors.iter().copied(),
            &self.multipliers,
        );
        let task = TspSearchInput {
            costs,
            pruning,
            bound,
            recorded,
            strict: false,
        };
        let (lower_bound, complete) = self.search.run(&task, &mut self.best);
        self.to_solution(lower_bound.min(dropped), complete)
    }

    /// The best tour, and what is known given that all other tours cost at least `floor`.
    fn to_solution(&mut self, lower_bound: f64, complete: bool) -> Solution {
        let objective = self.best.cost;
        let decision = Decision::from_indices(self.best.edges.drain(..));
        PruningRule::new(&self.distances, self.limits).to_solution(
            decision,
            objective,
            (lower_bound, complete),
        )
    }
}

/// Good tours without a search for the best: what [`TspBranchAndBound`] knows before it begins to branch.
#[derive(Debug, Clone, Default)]
pub struct TspLocalSearch {
    search: TspBranchAndBound,
    quick: bool,
}

impl TspLocalSearch {
    /// An engine for tours through this many nodes, at least 3.
    pub fn new(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            search: TspBranchAndBound::new(nodes, limits),
            quick: false,
        }
    }

    /// The same without kicks and with a rough bound.
    pub fn fast(nodes: usize, limits: SearchLimits) -> Self {
        Self {
            quick: true,
            ..Self::new(nodes, limits)
        }
    }
}

impl Solver for TspLocalSearch {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        let search = &mut self.search;
        complete_graph::check(search.nodes, costs)?;
        let pruning = search.load(costs);
        search.first_tour(costs, &pruning);
        if self.quick {
            return Ok(search.to_solution(f64::NEG_INFINITY, false));
        }
        let bound = search.run_root_ascent();
        search.perturb_tour(costs, &pruning);
        Ok(search.to_solution(bound, false))
    }

    fn solve_from(&mut self, costs: &[f64], start: &Decision) -> Result<Solution, SolveFailure> {
        let search = &mut self.search;
        complete_graph::check(search.nodes, costs)?;
        if search.nodes < LinKernighan::MIN_NODES {
            return self.solve(costs);
        }
        let pruning = search.load(costs);
        search.improve_from(start, costs, &pruning);
        Ok(search.to_solution(f64::NEG_INFINITY, false))
    }
}

impl Solver for TspBranchAndBound {
    fn solve(&mut self, costs: &[f64]) -> Result<Solution, SolveFailure> {
        complete_graph::check(self.nodes, costs)?;
        Ok(self.run(costs))
    }

    fn solve_warm(
        &mut self,
        costs: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<Solution, SolveFailure> {
        complete_graph::check(self.nodes, costs)?;
        Ok(if self.limits.gap > 0.0 {
            self.run(costs)
        } else {
            self.search_warm(costs, warm_start)
        })
    }

    fn certify(&mut self, costs: &[f64], warm_start: &WarmStart) -> Option<Solution> {
        complete_graph::check(self.nodes, costs).ok()?;
        self.certify_warm_start(costs, warm_start)
    }
}
