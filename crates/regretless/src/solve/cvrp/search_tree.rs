//! Branch and cut: best bound first, diving into the better child.
//!
//! A node is a list of decisions: an edge is used at most or at least so often, or a set of
//! customers is visited once or at least twice (Augerat et al. 1998). Its relaxation is solved by
//! dual simplex from the basis of its parent, and cut. A node goes when its duals prove a bound
//! above the level (never by the solver's word alone), when it has no point, or when its point is a
//! set of routes. At the root, edges whose reduced cost exceeds what is left to the best routes are
//! dropped for good.

use std::rc::Rc;

use super::branching::{BranchingRule, CvrpBranchPath};
use super::fleet::Fleet;
use super::incumbent::CvrpIncumbent;
use super::master::CvrpMasterLp;
use super::separation::CutSeparator;
use super::support_graph::CvrpSupportGraph;
use crate::solve::complete_graph::edge_index;
use crate::solve::cutting_plane::{NodeQueue, SearchResult, TailingOff};
use crate::solve::highs::LpStatus;
use crate::solve::pruning::PruningRule;
use crate::solve::{SolveFailure, check_not_cancelled};

/// Share of what is left, or of a twentieth of the objective, that a round of cuts should gain.
const MIN_RELATIVE_GAIN: f64 = 0.02;
/// Rounds in a row that may gain less.
const MAX_TAILING_ROUNDS: u32 = 3;

/// What the search works on.
pub(super) struct CvrpSearchInput<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) costs: &'a [f64],
    pub(super) pruning: PruningRule,
}

/// How a node ended.
enum CvrpNodeOutcome {
    Closed,
    Split { bound: f64 },
}

/// The search.
pub(super) struct CvrpSearchTree<'a> {
    task: CvrpSearchInput<'a>,
    master: CvrpMasterLp,
    separator: CutSeparator,
    support: CvrpSupportGraph,
    branching: BranchingRule,
    reduced: Vec<f64>,
    /// Bound and reduced costs at the root.
    root: (f64, Vec<f64>),
    node_queue: NodeQueue<CvrpBranchPath>,
}

impl<'a> CvrpSearchTree<'a> {
    pub(super) fn new(task: CvrpSearchInput<'a>, master: CvrpMasterLp) -> Self {
        Self {
            task,
            master,
            separator: CutSeparator::default(),
            support: CvrpSupportGraph::default(),
            branching: BranchingRule::default(),
            reduced: Vec::new(),
            root: (f64::NEG_INFINITY, Vec::new()),
            node_queue: NodeQueue::default(),
        }
    }

    /// Searches all nodes or up to the limit, which does not count the root.
    pub(super) fn run(mut self, best: &mut CvrpIncumbent) -> Result<SearchResult, SolveFailure> {
        let Some(mut bound) = self.solve_root(best)? else {
            return Ok(self.node_queue.final_result());
        };
        if self.task.pruning.limits.nodes == 0 {
            return Ok(self.node_queue.result_at_limit(bound));
        }
        let mut present = self.branch(bound, None, best)?;
        for _ in 0..self.task.pruning.limits.nodes {
            check_not_cancelled()?;
            self.node_queue.count_node();
            match self.explore(bound, best)? {
                CvrpNodeOutcome::Split { bound: raised } => {
                    bound = raised.max(bound);
                    present = self.branch(bound, Some(&present), best)?;
                }
                CvrpNodeOutcome::Closed => match self.next(best)? {
                    Some((branch_path, raised)) => (present, bound) = (branch_path, raised),
                    None => return Ok(self.node_queue.final_result()),
                },
            }
        }
        Ok(self.node_queue.result_at_limit(bound))
    }

    /// Solves the root twice: with all edges, and with those that better routes can use. Returns
    /// its bound unless it is closed.
    fn solve_root(&mut self, best: &mut CvrpIncumbent) -> Result<Option<f64>, SolveFailure> {
        let CvrpNodeOutcome::Split { bound } = self.explore(f64::NEG_INFINITY, best)? else {
            return Ok(None);
        };
        self.root = (bound, self.reduced.clone());
        self.exclude(best)?;
        match self.explore(bound, best)? {
            CvrpNodeOutcome::Split { bound: raised } => Ok(Some(raised.max(bound))),
            CvrpNodeOutcome::Closed => Ok(None),
        }
    }

    /// Goes to the waiting node with the lowest bound.
    fn next(
        &mut self,
        best: &CvrpIncumbent,
    ) -> Result<Option<(Rc<CvrpBranchPath>, f64)>, SolveFailure> {
        let Some(open) = self.node_queue.next(best.cutoff) else {
            return Ok(None);
        };
        self.master.reset_bounds()?;
        open.branch_path.apply(&mut self.master)?;
        if let Some(basis) = &open.basis {
            self.master.restore(basis)?;
        }
        Ok(Some((open.branch_path, open.bound)))
    }

    /// Solves and cuts the present node.
    fn explore(
        &mut self,
        inherited: f64,
        best: &mut CvrpIncumbent,
    ) -> Result<CvrpNodeOutcome, SolveFailure> {
        self.master.set_objective_bound(best.cutoff)?;
        let mut tail = TailingOff::new(inherited, MAX_TAILING_ROUNDS);
        loop {
            check_not_cancelled()?;
            match self.master.solve()? {
                LpStatus::Optimal => {}
                LpStatus::ObjectiveBound if self.is_pruned(best) => {
                    return Ok(CvrpNodeOutcome::Closed);
                }
                LpStatus::ObjectiveBound => {
                    self.master.set_objective_bound(f64::INFINITY)?;
                    continue;
                }
                LpStatus::Infeasible => return Ok(CvrpNodeOutcome::Closed),
                other @ (LpStatus::Unbounded
                | LpStatus::UnboundedOrInfeasible
                | LpStatus::IterationLimit
                | LpStatus::NodeLimit) => {
                    return Err(SolveFailure::Engine(format!(
                        "the relaxation of a node ended as {other:?}"
                    )));
                }
            }
            if self.master.objective() > best.cutoff && self.is_pruned(best) {
                return Ok(CvrpNodeOutcome::Closed);
            }
            self.support.fill(
                self.task.fleet.nodes(),
                &self.master.edges,
                self.master.values(),
            );
            let cuts = self.separator.find(&self.support, self.task.fleet);
            let needed = self.support.is_integral();
            let objective = self.master.objective();
            let little = MIN_RELATIVE_GAIN * (best.cutoff - objective).min(0.05 * objective.abs());
            if cuts.is_empty() || (!needed && tail.is_tailing_off(objective, little)) {
                return self.finish(best);
            }
            self.master.add_cuts(&cuts)?;
        }
    }

    /// Whether the duals prove that the node holds nothing better.
    fn is_pruned(&mut self, best: &CvrpIncumbent) -> bool {
        let bound = self.master.bound(&mut self.reduced);
        let hopeless = bound > best.cutoff;
        if hopeless {
            self.node_queue.record_pruned(bound);
        }
        hopeless
    }

    /// A point that no row improves: routes, or a reason to branch.
    fn finish(&mut self, best: &mut CvrpIncumbent) -> Result<CvrpNodeOutcome, SolveFailure> {
        let bound = self.master.bound(&mut self.reduced);
        if bound > best.cutoff {
            self.node_queue.record_pruned(bound);
            return Ok(CvrpNodeOutcome::Closed);
        }
        if !self.support.is_integral() {
            return Ok(CvrpNodeOutcome::Split { bound });
        }
        let nodes = self.support.nodes;
        let number = |[i, j]: [u32; 2]| edge_index(nodes, i as usize, j as usize) as u32;
        let uses: Vec<(u32, f64)> = self
            .support
            .edges
            .iter()
            .map(|(ends, value)| (number(*ends), value.round()))
            .collect();
        let cost: f64 = uses
            .iter()
            .map(|(edge, times)| times * self.task.costs[*edge as usize])
            .sum();
        if bound < cost - 5.0 * self.task.pruning.tolerance {
            self.node_queue.record_pruned(bound);
        }
        if best.offer(uses, self.task.costs, &self.task.pruning) {
            self.tighten(best)?;
        }
        Ok(CvrpNodeOutcome::Closed)
    }

    /// Drops the edges that no better routes can use.
    fn exclude(&mut self, best: &CvrpIncumbent) -> Result<(), SolveFailure> {
        let (bound, reduced) = &self.root;
        let delete: Vec<bool> = reduced
            .iter()
            .map(|reduced| bound + reduced > best.cutoff)
            .collect();
        let gone = self.master.drop_edges(delete)?;
        let min = reduced
            .iter()
            .zip(&gone)
            .filter(|(_, gone)| **gone)
            .map(|(reduced, _)| bound + reduced);
        min.for_each(|min| self.node_queue.record_pruned(min));
        let mut gone = gone.into_iter();
        self.root.1.retain(|_| !gone.next().unwrap_or(false));
        self.tighten(best)
    }

    /// Bounds edges by their reduced costs at the root.
    fn tighten(&mut self, best: &CvrpIncumbent) -> Result<(), SolveFailure> {
        let bound = self.root.0;
        if bound > best.cutoff {
            // Nothing is left: every node that waits goes by its bound.
            return Ok(());
        }
        for (column, reduced) in self.root.1.iter().enumerate() {
            let room = (best.cutoff - bound) / reduced.abs();
            let [lower, upper] = self.master.base[column];
            let steps = room.floor();
            if lower < upper && steps < upper - lower && *reduced != 0.0 {
                self.node_queue
                    .record_pruned(bound + (steps + 1.0) * reduced.abs());
                let bounds = if *reduced > 0.0 {
                    [lower, lower + steps]
                } else {
                    [upper - steps, upper]
                };
                self.master.base[column] = bounds;
            }
        }
        (0..self.root.1.len()).try_for_each(|column| {
            let ([low, high], [lower, upper]) =
                (self.master.bounds(column), self.master.base[column]);
            if low > upper || high < lower {
                return Ok(());
            }
            self.master
                .set_bounds(column, [low.max(lower), high.min(upper)])
        })
    }

    /// Splits the present node; one child waits, the other is entered and returned.
    fn branch(
        &mut self,
        bound: f64,
        above: Option<&Rc<CvrpBranchPath>>,
        best: &CvrpIncumbent,
    ) -> Result<Rc<CvrpBranchPath>, SolveFailure> {
        let basis = self.master.snapshot().map(Rc::new);
        let between = std::mem::take(&mut self.separator.between);
        let Some(split) =
            self.branching
                .choose(&mut self.master, &between, basis.as_deref(), best.cutoff)?
        else {
            return Err(SolveFailure::WrongAnswer(
                "a fractional point has nothing to branch on".into(),
            ));
        };
        let [first, second] = split.children.map(|limits| {
            Rc::new(CvrpBranchPath {
                at: split.at,
                limits,
                above: above.cloned(),
            })
        });
        self.node_queue.add(bound, second, basis);
        first.enforce(&mut self.master)?;
        Ok(first)
    }
}
