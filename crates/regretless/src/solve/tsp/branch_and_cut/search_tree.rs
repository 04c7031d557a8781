//! Branch and cut below the root: best bound first, diving into the better child.
//!
//! A node is a set of edges that are in or out. Its relaxation is solved by dual simplex from the
//! basis of its parent, cut, and priced over the spare edges that the root could not exclude. A
//! node goes when prices prove a bound above the level (never by the solver's word alone), when it
//! has no point, or when its point is a tour. Otherwise an edge with a fractional value is decided
//! both ways: the one whose penalties promise most. On these relaxations one step of dual simplex
//! chooses as well as the usual ten (strong branching), in a tenth of the time.

use std::rc::Rc;

use super::branch_penalty::BranchPenalties;
use super::initial_tour::number;
use super::master::{EdgeEnds, TspMasterLp};
use super::pricing::DualPrices;
use super::root::{CutFamily, MAX_TAILING_ROUNDS, MIN_RELATIVE_GAIN, violated};
use super::support_graph::TspSupportGraph;
use crate::solve::complete_graph::DistanceMatrix;
use crate::solve::cutting_plane::{NodeQueue, SearchResult, TailingOff};
use crate::solve::highs::{LpStatus, SimplexMethod};
use crate::solve::tsp::search_tree::{PruningRule, TspIncumbent};
use crate::solve::{SolveFailure, check_not_cancelled};

/// Fractional edges whose gain is estimated from one row of the inverse.
const MAX_ESTIMATED_EDGES: usize = 24;

/// What the search works on.
pub(super) struct TspCutSearchInput<'a> {
    pub(super) distances: &'a DistanceMatrix,
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
    pub(super) most_nodes: u64,
}

/// Decisions from a node up to the root.
#[derive(Debug)]
struct TspBranchPath {
    column: usize,
    value: f64,
    above: Option<Rc<TspBranchPath>>,
}

/// A fractional edge and what deciding it would gain.
#[derive(Debug, Clone, Copy)]
struct BranchEstimate {
    column: usize,
    value: f64,
    /// Rise of the objective without and with the edge.
    gain: [f64; 2],
}

impl BranchEstimate {
    fn fractionality(&self) -> f64 {
        self.value.min(1.0 - self.value)
    }

    /// Both children should gain; one that gains enough to be closed is best.
    fn score(&self, max: f64) -> f64 {
        let [down, up] = self.gain.map(|gain| gain + 1e-6 * max);
        down * up
    }
}

/// How a node ended.
enum TspCutNodeOutcome {
    Closed,
    Split { bound: f64 },
}

/// The search.
pub(super) struct TspCutTree<'a> {
    task: TspCutSearchInput<'a>,
    master: TspMasterLp,
    prices: DualPrices,
    support: TspSupportGraph,
    /// Edges that are no columns yet but might be in a better tour, with their reduced cost at the
    /// root.
    spare_edges: Vec<(EdgeEnds, f64)>,
    /// Bound and reduced costs at the root.
    root_bound: f64,
    node_queue: NodeQueue<TspBranchPath>,
    penalties: BranchPenalties,
}

impl<'a> TspCutTree<'a> {
    /// A search below a root that was solved and priced.
    pub(super) fn new(
        task: TspCutSearchInput<'a>,
        master: TspMasterLp,
        spare_edges: Vec<(EdgeEnds, f64)>,
        root_bound: f64,
    ) -> Self {
        Self {
            task,
            master,
            prices: DualPrices::default(),
            support: TspSupportGraph::default(),
            spare_edges,
            root_bound,
            node_queue: NodeQueue::default(),
            penalties: BranchPenalties::default(),
        }
    }

    /// Searches all nodes or up to the limit. Before a node is split `late` may make a better tour
    /// of its point.
    pub(super) fn run(
        mut self,
        best: &mut TspIncumbent,
        primal_heuristic: &mut dyn FnMut(u64, &TspMasterLp, &mut TspIncumbent),
    ) -> Result<SearchResult, SolveFailure> {
        let mut present: Option<Rc<TspBranchPath>> = None;
        let (mut bound, mut solved) = (self.root_bound, 0);
        loop {
            check_not_cancelled()?;
            if solved >= self.task.most_nodes {
                return Ok(self.node_queue.result_at_limit(bound));
            }
            solved = self.node_queue.count_node();
            if let TspCutNodeOutcome::Split { bound: raised } = self.explore(bound, best)? {
                primal_heuristic(solved, &self.master, best);
                bound = raised.max(bound);
                if let Some(child) = self.branch(bound, &present, best)? {
                    present = Some(child);
                    continue;
                }
            }
            match self.next(best)? {
                Some((branch_path, raised)) => (present, bound) = (Some(branch_path), raised),
                None => return Ok(self.node_queue.final_result()),
            }
        }
    }

    /// Goes to the waiting node with the lowest bound.
    fn next(
        &mut self,
        best: &TspIncumbent,
    ) -> Result<Option<(Rc<TspBranchPath>, f64)>, SolveFailure> {
        let Some(open) = self.node_queue.next(best.cutoff) else {
            return Ok(None);
        };
        self.enter(&open.branch_path)?;
        if let Some(basis) = &open.basis {
            self.master.restore(basis)?;
        }
        Ok(Some((open.branch_path, open.bound)))
    }

    /// Sets the bounds of all columns to a node's decisions.
    fn enter(&mut self, branch_path: &Rc<TspBranchPath>) -> Result<(), SolveFailure> {
        let mut bounds = vec![[0.0, 1.0]; self.master.edges.len()];
        let mut at = Some(branch_path);
        while let Some(decision) = at {
            bounds[decision.column] = [decision.value; 2];
            at = decision.above.as_ref();
        }
        bounds
            .into_iter()
            .enumerate()
            .try_for_each(|(column, bounds)| self.master.set_bounds(column, bounds))
    }

    /// Solves, cuts and prices the present node.
    fn explore(
        &mut self,
        inherited: f64,
        best: &mut TspIncumbent,
    ) -> Result<TspCutNodeOutcome, SolveFailure> {
        self.master.set_objective_bound(best.cutoff)?;
        let mut outcome = self.master.solve(SimplexMethod::Dual)?;
        let mut tail = TailingOff::new(inherited, MAX_TAILING_ROUNDS);
        loop {
            check_not_cancelled()?;
            match outcome {
                LpStatus::Optimal => {}
                LpStatus::ObjectiveBound => {
                    if self.is_pruned(best) {
                        return Ok(TspCutNodeOutcome::Closed);
                    }
                    outcome = self.continue_solve()?;
                    continue;
                }
                LpStatus::Infeasible if self.spare_edges.is_empty() => {
                    return Ok(TspCutNodeOutcome::Closed);
                }
                LpStatus::Infeasible => {
                    let all = std::mem::take(&mut self.spare_edges);
                    self.join(&all)?;
                    outcome = self.master.solve(SimplexMethod::Dual)?;
                    continue;
                }
                LpStatus::Unbounded
                | LpStatus::UnboundedOrInfeasible
                | LpStatus::IterationLimit
                | LpStatus::NodeLimit => {
                    return Err(SolveFailure::Engine(format!(
                        "the relaxation of a node ended as {outcome:?}"
                    )));
                }
            }
            if self.master.objective() > best.cutoff && self.is_pruned(best) {
                return Ok(TspCutNodeOutcome::Closed);
            }
            self.support.fill(
                self.master.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = violated(&self.support, CutFamily::All);
            let needed = self.support.is_integral();
            let objective = self.master.objective();
            if !cuts.is_empty()
                && (needed
                    || !tail
                        .is_tailing_off(objective, MIN_RELATIVE_GAIN * (best.cutoff - objective)))
            {
                self.master.add_cuts(cuts)?;
                outcome = self.master.solve(SimplexMethod::Dual)?;
                continue;
            }
            if self.add_negative_columns()? {
                outcome = self.master.solve(SimplexMethod::Primal)?;
                continue;
            }
            return self.finish(best);
        }
    }

    /// After a solve that stopped above the level without proof: more columns, or on to the end.
    fn continue_solve(&mut self) -> Result<LpStatus, SolveFailure> {
        self.master.set_objective_bound(f64::INFINITY)?;
        let method = if self.add_negative_columns()? {
            SimplexMethod::Primal
        } else {
            SimplexMethod::Dual
        };
        self.master.solve(method)
    }

    /// Whether prices prove that the node holds nothing better.
    fn is_pruned(&mut self, best: &TspIncumbent) -> bool {
        let bound = self.dual_bound();
        let hopeless = bound > best.cutoff;
        if hopeless {
            self.node_queue.record_pruned(bound);
        }
        hopeless
    }

    /// The bound that the present duals prove, spare edges included.
    fn dual_bound(&mut self) -> f64 {
        self.master.read_prices(&mut self.prices);
        let distances = self.task.distances;
        let reduced = |[i, j]: EdgeEnds| self.prices.reduced(distances.between(i, j), i, j);
        let spare_edges: f64 = self
            .spare_edges
            .iter()
            .map(|(ends, _)| reduced(*ends).min(0.0))
            .sum();
        self.master.bound(distances, &self.prices) + spare_edges
    }

    /// Lets the spare edges of negative reduced cost join; whether there were any.
    fn add_negative_columns(&mut self) -> Result<bool, SolveFailure> {
        if self.spare_edges.is_empty() {
            return Ok(false);
        }
        self.master.read_prices(&mut self.prices);
        let slack = 1e-9 / self.master.factor();
        let (prices, distances) = (&self.prices, self.task.distances);
        let negative = |[i, j]: EdgeEnds| prices.reduced(distances.between(i, j), i, j) < -slack;
        let (joining, rest): (Vec<_>, Vec<_>) = self
            .spare_edges
            .iter()
            .partition(|(ends, _)| negative(*ends));
        if joining.is_empty() {
            return Ok(false);
        }
        self.spare_edges = rest;
        self.join(&joining)?;
        Ok(true)
    }

    fn join(&mut self, edges: &[(EdgeEnds, f64)]) -> Result<(), SolveFailure> {
        let edges: Vec<EdgeEnds> = edges.iter().map(|(ends, _)| *ends).collect();
        self.master.add_edges(self.task.distances, &edges)
    }

    /// A point that no cut or edge improves: a tour, or a reason to branch.
    fn finish(&mut self, best: &mut TspIncumbent) -> Result<TspCutNodeOutcome, SolveFailure> {
        let bound = self.dual_bound();
        if bound > best.cutoff {
            self.node_queue.record_pruned(bound);
            return Ok(TspCutNodeOutcome::Closed);
        }
        if !self.support.is_integral() {
            return Ok(TspCutNodeOutcome::Split { bound });
        }
        let nodes = self.master.nodes();
        let mut tour: Vec<u32> = self
            .support
            .edges
            .iter()
            .map(|(ends, _)| number(nodes, *ends))
            .collect();
        let cost: f64 = tour
            .iter()
            .map(|edge| self.task.costs[*edge as usize])
            .sum();
        if tour.len() != nodes || !self.support.is_connected() {
            return Err(SolveFailure::WrongAnswer(
                "a whole point without violated cuts is no tour".into(),
            ));
        }
        if bound < cost - 10.0 * self.task.distances.tolerance() {
            self.node_queue.record_pruned(bound);
        }
        best.offer(&mut tour, self.task.costs, &self.task.pruning);
        self.prune_spare_edges(best);
        Ok(TspCutNodeOutcome::Closed)
    }

    /// Forgets spare edges that a better tour cannot use any more.
    fn prune_spare_edges(&mut self, best: &TspIncumbent) {
        let (bound, node_queue) = (self.root_bound, &mut self.node_queue);
        self.spare_edges.retain(|(_, reduced)| {
            let useful = bound + reduced <= best.cutoff;
            if !useful {
                node_queue.record_pruned(bound + reduced);
            }
            useful
        });
    }

    /// Splits the present node; one child waits, the other is entered and returned.
    fn branch(
        &mut self,
        bound: f64,
        above: &Option<Rc<TspBranchPath>>,
        best: &TspIncumbent,
    ) -> Result<Option<Rc<TspBranchPath>>, SolveFailure> {
        let basis = self.master.snapshot().map(Rc::new);
        let Some((column, [down, up])) = self.choose(best)? else {
            return Err(SolveFailure::WrongAnswer(
                "a fractional point has no fractional edge".into(),
            ));
        };
        let (first, second) = if down <= up { (0.0, 1.0) } else { (1.0, 0.0) };
        let child = |value: f64| {
            Rc::new(TspBranchPath {
                column,
                value,
                above: above.clone(),
            })
        };
        self.node_queue.add(bound, child(second), basis);
        self.master.set_bounds(column, [first, first])?;
        Ok(Some(child(first)))
    }

    /// The edge to decide, and the objectives expected without and with it.
    fn choose(&mut self, best: &TspIncumbent) -> Result<Option<(usize, [f64; 2])>, SolveFailure> {
        let max = 2.0 * (best.cutoff - self.master.objective()).max(0.0);
        let estimates = self.estimate(max)?;
        let chosen = estimates
            .iter()
            .reduce(|a, b| if b.score(max) > a.score(max) { b } else { a });
        Ok(chosen.map(|chosen| (chosen.column, chosen.gain)))
    }

    /// Fractional edges with the least that deciding them gains.
    fn estimate(&mut self, max: f64) -> Result<Vec<BranchEstimate>, SolveFailure> {
        let values = self.master.values().iter().enumerate();
        let mut estimates: Vec<BranchEstimate> = values
            .map(|(column, value)| BranchEstimate {
                column,
                value: *value,
                gain: [0.0; 2],
            })
            .filter(|estimate| {
                estimate.fractionality() > super::support_graph::INTEGRALITY_TOLERANCE
            })
            .collect();
        estimates.sort_unstable_by(|a, b| {
            b.fractionality()
                .total_cmp(&a.fractionality())
                .then(a.column.cmp(&b.column))
        });
        estimates.truncate(MAX_ESTIMATED_EDGES);
        // The bound of this node was just proven: its prices are loaded.
        if self
            .penalties
            .load(&mut self.master, self.task.distances, &self.prices)?
        {
            for estimate in &mut estimates {
                let gain = self
                    .penalties
                    .of(&mut self.master, estimate.column, estimate.value)?;
                estimate.gain = gain.map(|gain| gain.min(max));
            }
        }
        Ok(estimates)
    }
}
